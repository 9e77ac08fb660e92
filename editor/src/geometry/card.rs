//! Sizes of cards and the places of their handles, all by formula.
//!
//! A card is drawn with exactly the size worked out here, so an edge ends where its handle is without asking the
//! browser for a single measurement.

use super::plane::{Point, Rect, Size};

/// The widest a card gets; longer labels end in an ellipsis.
pub const MOST_WIDTH: f64 = 320.0;
/// The narrowest, so that a column of cards reads as one.
pub const LEAST_WIDTH: f64 = 176.0;
/// The step of the grid and of the dots.
pub const GRID: f64 = 16.0;
/// Half an output's disc: it stands on the right border.
const DISC_RADIUS: f64 = 10.0;
/// How far the input's bar stands out on the left.
const BAR_OUT: f64 = 2.0;
/// Padding, badge, gap and border beside a card's words: 12 + 40 + 12 + 16, and 1 on each side.
const BESIDE_WORDS: f64 = 82.0;
/// Height of one row of the start card.
const ROW: f64 = 20.0;

/// Which lettering a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lettering {
    /// 13.6 px, weight 500.
    Title,
    /// 11 px.
    Small,
}

/// Knows how wide a text is, in canvas units.
pub trait Ruler {
    fn width(&self, text: &str, lettering: Lettering) -> f64;
}

/// A ruler that knows no font: a generous mean width for each character.
#[derive(Debug, Clone, Copy, Default)]
pub struct MeanWidth;

impl Ruler for MeanWidth {
    fn width(&self, text: &str, lettering: Lettering) -> f64 {
        let size = match lettering {
            Lettering::Title => 13.6,
            Lettering::Small => 11.0,
        };
        // Ideographs are as wide as they are high; Latin letters a little over half.
        text.chars().map(|c| if u32::from(c) >= 0x2E80 { size } else { size * 0.58 }).sum()
    }
}

/// The width of a card with these lines of text.
pub fn width<'a>(lines: impl IntoIterator<Item = (&'a str, Lettering)>, ruler: &dyn Ruler) -> f64 {
    let widest = lines.into_iter().map(|(text, lettering)| ruler.width(text, lettering)).fold(0.0, f64::max);
    let exact = (widest + BESIDE_WORDS).clamp(LEAST_WIDTH, MOST_WIDTH);
    ((exact / GRID).ceil() * GRID).min(MOST_WIDTH)
}

/// The height of a card with this many outputs.
#[expect(clippy::cast_precision_loss, reason = "a tool declares a handful of ports")]
pub fn height(outputs: usize) -> f64 {
    (20.0 * outputs as f64 + 40.0).max(60.0)
}

/// The height of the start card with this many rows.
#[expect(clippy::cast_precision_loss, reason = "a flow declares some dozens of inputs")]
pub fn start_height(rows: usize) -> f64 {
    if rows == 0 { height(1) } else { 52.0 + ROW * rows as f64 }
}

/// Where an edge enters a card: the outer edge of its bar.
pub fn input(card: &Rect) -> Point {
    Point::new(card.at.x - BAR_OUT, card.at.y + card.size.height / 2.0)
}

/// The height of the `index`th of `count` outputs, from the card's top.
#[expect(clippy::cast_precision_loss, reason = "a tool declares a handful of ports")]
pub fn output_height(height: f64, index: usize, count: usize) -> f64 {
    height * (index as f64 + 1.0) / (count as f64 + 1.0)
}

/// Where an edge leaves a card by its `index`th of `count` outputs: the outer edge of the disc.
pub fn output(card: &Rect, index: usize, count: usize) -> Point {
    Point::new(card.right() + DISC_RADIUS, card.at.y + output_height(card.size.height, index, count))
}

/// Which of `count` outputs is nearest to a point.
pub fn nearest_output(card: &Rect, at: Point, count: usize) -> usize {
    let far = |index: &usize| output(card, *index, count).distance(at);
    (0..count).min_by(|one, other| far(one).total_cmp(&far(other))).unwrap_or(0)
}

/// Where an edge leaves a card that follows any of its branches: half way down.
pub fn any_output(card: &Rect) -> Point {
    output(card, 0, 1)
}

/// The size of a note, with what it is when the file says nothing.
#[expect(clippy::cast_precision_loss, reason = "a note is some hundred units wide")]
pub fn note_size(width: Option<u64>, height: Option<u64>) -> Size {
    let bounded = |side: Option<u64>, otherwise: f64| side.map_or(otherwise, |side| (side as f64).clamp(60.0, 4000.0));
    Size::new(bounded(width, 220.0), bounded(height, 96.0))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "whole numbers worked out by one formula are compared")]
mod tests {
    use super::*;

    #[test]
    fn a_card_grows_with_its_outputs() {
        assert_eq!([0, 1, 2, 3, 5].map(height), [60.0, 60.0, 80.0, 100.0, 140.0]);
        assert_eq!([0, 1, 3].map(start_height), [60.0, 72.0, 112.0]);
    }

    #[test]
    fn a_long_label_does_not_widen_a_card_without_end() {
        let long = "a very long label ".repeat(20);
        assert_eq!(width([(long.as_str(), Lettering::Title)], &MeanWidth), MOST_WIDTH);
        assert_eq!(width([("If", Lettering::Title)], &MeanWidth), LEAST_WIDTH);
        let some = width([("Fetch the orders of a day", Lettering::Title)], &MeanWidth);
        assert!(some > LEAST_WIDTH && some < MOST_WIDTH && some % GRID == 0.0, "{some}");
    }

    #[test]
    fn handles_stand_where_the_formula_says() {
        let card = Rect::new(Point::new(100.0, 200.0), Size::new(180.0, 100.0));
        assert_eq!(input(&card), Point::new(98.0, 250.0));
        assert_eq!(output(&card, 0, 3), Point::new(290.0, 225.0));
        assert_eq!(output(&card, 2, 3), Point::new(290.0, 275.0));
        assert_eq!(any_output(&card), Point::new(290.0, 250.0));
        assert_eq!([210.0, 260.0, 400.0].map(|y| nearest_output(&card, Point::new(300.0, y), 3)), [0, 1, 2]);
    }

    #[test]
    fn a_note_has_a_size_when_the_file_gives_none() {
        assert_eq!(note_size(None, None), Size::new(220.0, 96.0));
        assert_eq!(note_size(Some(10), Some(90)), Size::new(60.0, 90.0));
    }
}
