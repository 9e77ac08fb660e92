//! Edges: a cubic curve that leaves a card to the right and enters one from the left.

use std::fmt::Write;

use super::plane::{Point, Rect, Size};

/// How far the curve bulges when the target lies left of the source.
pub const CURVATURE: f64 = 0.25;

/// One edge from `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    pub from: Point,
    pub leave: Point,
    pub enter: Point,
    pub to: Point,
}

fn offset(distance: f64) -> f64 {
    if distance >= 0.0 { 0.5 * distance } else { 25.0 * CURVATURE * (-distance).sqrt() }
}

impl Curve {
    /// The curve between two handles.
    pub fn between(from: Point, to: Point) -> Self {
        let bulge = offset(to.x - from.x);
        Self { from, leave: Point::new(from.x + bulge, from.y), enter: Point::new(to.x - bulge, to.y), to }
    }

    /// The point at `t` of the way, 0 to 1.
    pub fn at(&self, t: f64) -> Point {
        let s = 1.0 - t;
        self.from * (s * s * s)
            + self.leave * (3.0 * s * s * t)
            + self.enter * (3.0 * s * t * t)
            + self.to * (t * t * t)
    }

    /// Its middle, where the button stands that removes it.
    pub fn middle(&self) -> Point {
        self.at(0.5)
    }

    /// Whether it comes as near as this to a point.
    pub fn passes(&self, point: Point, near: f64) -> bool {
        let length = self.bounds().size.width + self.bounds().size.height;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a few hundred")]
        let steps = (length / near.max(1.0)).clamp(8.0, 400.0) as u32;
        (0..=steps).any(|step| self.at(f64::from(step) / f64::from(steps)).distance(point) <= near)
    }

    /// How far along, 0 to 1, a grip stands this far from its beginning; never nearer the middle than a third.
    pub fn grip(&self, far: f64) -> f64 {
        (far / self.from.distance(self.to).max(1.0)).min(0.34)
    }

    /// A rectangle that holds all of it: of the four points that make it.
    pub fn bounds(&self) -> Rect {
        let points = [self.from, self.leave, self.enter, self.to];
        Rect::around(points.map(|point| Rect::new(point, Size::default()))).unwrap_or_default()
    }

    /// Appends the SVG path to `text`, so that a caller that draws each frame keeps one buffer.
    pub fn write(&self, text: &mut String) {
        let (from, leave, enter, to) = (self.from, self.leave, self.enter, self.to);
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
            from.x, from.y, leave.x, leave.y, enter.x, enter.y, to.x, to.y
        );
    }

    /// The SVG path.
    pub fn path(&self) -> String {
        let mut text = String::with_capacity(64);
        self.write(&mut text);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwards_the_bulge_is_half_the_way() {
        let curve = Curve::between(Point::new(0.0, 0.0), Point::new(200.0, 100.0));
        assert_eq!((curve.leave, curve.enter), (Point::new(100.0, 0.0), Point::new(100.0, 100.0)));
        assert_eq!(curve.middle(), Point::new(100.0, 50.0));
        assert_eq!(curve.path(), "M0.0 0.0C100.0 0.0 100.0 100.0 200.0 100.0");
    }

    #[test]
    fn it_passes_near_its_own_points_and_not_far_ones() {
        let curve = Curve::between(Point::new(0.0, 0.0), Point::new(400.0, 300.0));
        assert!(curve.passes(curve.at(0.37) + Point::new(3.0, 3.0), 10.0));
        assert!(!curve.passes(Point::new(20.0, 280.0), 14.0));
        assert!(curve.grip(25.0) < 0.06 && curve.grip(4000.0) < 0.35);
    }

    #[test]
    fn backwards_it_bulges_out() {
        let curve = Curve::between(Point::new(0.0, 0.0), Point::new(-100.0, 0.0));
        assert_eq!((curve.leave, curve.enter), (Point::new(62.5, 0.0), Point::new(-162.5, 0.0)));
        assert_eq!(curve.middle(), Point::new(-50.0, 0.0));
        assert!(curve.bounds().contains(curve.at(0.2)));
    }
}
