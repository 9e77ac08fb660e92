//! Placing: the grid, a place that covers nothing, and which neighbour an arrow key means.

use super::card::GRID;
use super::plane::{Point, Rect, Size};

/// Space that a new card keeps to the others.
const CLEARANCE: f64 = 8.0;

/// The nearest crossing of the grid.
pub fn snapped(point: Point) -> Point {
    Point::new((point.x / GRID).round() * GRID, (point.y / GRID).round() * GRID)
}

/// The way that what is dragged moves when the item under the pointer snaps: the others keep their distance to it.
pub fn snapped_way(grabbed: Point, way: Point) -> Point {
    snapped(grabbed + way) - grabbed
}

/// The place nearest to `wanted`, on the grid, where a card of this size covers none of `taken`.
pub fn free_place(wanted: Point, size: Size, taken: &[Rect]) -> Point {
    let start = snapped(wanted);
    let covers = |at: Point| {
        let card = Rect::new(at, size).grown(CLEARANCE);
        taken.iter().any(|other| card.overlaps(other))
    };
    if !covers(start) {
        return start;
    }
    // Rings of the grid around the wanted place; on each the nearest free crossing wins. Each ring lies outside the
    // one before, and the cards cover a finite area, so there is always a ring with a free place.
    let mut ring = 1_i32;
    loop {
        let mut best: Option<Point> = None;
        for step in -ring..=ring {
            for (column, row) in [(step, -ring), (step, ring), (-ring, step), (ring, step)] {
                let at = start + Point::new(f64::from(column) * GRID, f64::from(row) * GRID);
                let nearer = best.is_none_or(|best| at.distance(start) < best.distance(start));
                if nearer && !covers(at) {
                    best = Some(at);
                }
            }
        }
        if let Some(best) = best {
            return best;
        }
        ring += 1;
    }
}

/// A way an arrow key points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Left,
    Right,
    Up,
    Down,
}

impl Direction {
    /// One step of `length` this way.
    pub fn step(self, length: f64) -> Point {
        match self {
            Direction::Left => Point::new(-length, 0.0),
            Direction::Right => Point::new(length, 0.0),
            Direction::Up => Point::new(0.0, -length),
            Direction::Down => Point::new(0.0, length),
        }
    }
}

/// Which of the others lies nearest in a direction; being off the straight line counts double.
pub fn neighbour<'a, T>(
    from: &Rect,
    direction: Direction,
    others: impl IntoIterator<Item = (&'a T, Rect)>,
) -> Option<&'a T> {
    let origin = from.center();
    others
        .into_iter()
        .filter_map(|(name, rect)| {
            let way = rect.center() - origin;
            let (along, across) = match direction {
                Direction::Left => (-way.x, way.y),
                Direction::Right => (way.x, way.y),
                Direction::Up => (-way.y, way.x),
                Direction::Down => (way.y, way.x),
            };
            (along > 1.0).then(|| (name, along + 2.0 * across.abs()))
        })
        .min_by(|one, other| one.1.total_cmp(&other.1))
        .map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_new_card_covers_none(places in prop::collection::vec((-40_i32..40, -40_i32..40), 0..40), x in -300.0..300.0, y in -300.0..300.0) {
            let size = Size::new(176.0, 60.0);
            let taken: Vec<Rect> = places
                .iter()
                .map(|(column, row)| Rect::new(Point::new(f64::from(*column) * 16.0, f64::from(*row) * 16.0), size))
                .collect();
            let at = free_place(Point::new(x, y), size, &taken);
            prop_assert!(!taken.iter().any(|other| other.overlaps(&Rect::new(at, size))));
            prop_assert_eq!(at, snapped(at));
        }
    }

    #[test]
    fn a_free_place_is_taken_as_it_is_wished() {
        assert_eq!(free_place(Point::new(7.0, 9.0), Size::new(10.0, 10.0), &[]), Point::new(0.0, 16.0));
    }

    #[test]
    fn the_grabbed_item_lands_on_the_grid() {
        assert_eq!(snapped_way(Point::new(5.0, 5.0), Point::new(20.0, 0.0)), Point::new(27.0, -5.0));
    }

    #[test]
    fn arrows_prefer_what_lies_straight_ahead() {
        let at = |x: f64, y: f64| Rect::new(Point::new(x, y), Size::new(10.0, 10.0));
        let names = ["far", "near but off", "behind"];
        let rects = [at(200.0, 0.0), at(100.0, 90.0), at(-50.0, 0.0)];
        let all = || names.iter().zip(rects);
        assert_eq!(neighbour(&at(0.0, 0.0), Direction::Right, all()), Some(&"far"));
        assert_eq!(neighbour(&at(0.0, 0.0), Direction::Left, all()), Some(&"behind"));
        assert_eq!(neighbour(&at(0.0, 0.0), Direction::Up, all()), None);
    }
}
