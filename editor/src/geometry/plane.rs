//! Points, rectangles, and the viewport through which the canvas is seen.

/// A point, or the way from one to another.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

impl Point {
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// How far it is to `other`.
    pub fn distance(self, other: Self) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }

    /// Half way to `other`.
    #[must_use]
    pub fn middle(self, other: Self) -> Self {
        Self::new(f64::midpoint(self.x, other.x), f64::midpoint(self.y, other.y))
    }
}

impl std::ops::Add for Point {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y)
    }
}

impl std::ops::Sub for Point {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y)
    }
}

impl std::ops::Mul<f64> for Point {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::new(self.x * factor, self.y * factor)
    }
}

/// Width and height.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Size {
    pub width: f64,
    pub height: f64,
}

impl Size {
    pub const fn new(width: f64, height: f64) -> Self {
        Self { width, height }
    }
}

/// A rectangle by its top left corner.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rect {
    pub at: Point,
    pub size: Size,
}

impl Rect {
    pub const fn new(at: Point, size: Size) -> Self {
        Self { at, size }
    }

    /// The rectangle with these two corners, whichever way they lie.
    pub fn between(one: Point, other: Point) -> Self {
        let at = Point::new(one.x.min(other.x), one.y.min(other.y));
        Self { at, size: Size::new((one.x - other.x).abs(), (one.y - other.y).abs()) }
    }

    pub fn right(&self) -> f64 {
        self.at.x + self.size.width
    }

    pub fn bottom(&self) -> f64 {
        self.at.y + self.size.height
    }

    pub fn center(&self) -> Point {
        Point::new(self.at.x + self.size.width / 2.0, self.at.y + self.size.height / 2.0)
    }

    pub fn contains(&self, point: Point) -> bool {
        point.x >= self.at.x && point.x <= self.right() && point.y >= self.at.y && point.y <= self.bottom()
    }

    /// Whether `other` lies wholly inside.
    pub fn encloses(&self, other: &Rect) -> bool {
        self.contains(other.at) && self.contains(Point::new(other.right(), other.bottom()))
    }

    /// Whether the two share more than an edge.
    pub fn overlaps(&self, other: &Rect) -> bool {
        self.at.x < other.right()
            && other.at.x < self.right()
            && self.at.y < other.bottom()
            && other.at.y < self.bottom()
    }

    /// Larger by `by` on every side.
    #[must_use]
    pub fn grown(&self, by: f64) -> Self {
        Self {
            at: Point::new(self.at.x - by, self.at.y - by),
            size: Size::new(self.size.width + 2.0 * by, self.size.height + 2.0 * by),
        }
    }

    /// The smallest rectangle around all of them; `None` of none.
    pub fn around(rects: impl IntoIterator<Item = Rect>) -> Option<Self> {
        rects.into_iter().reduce(|one, other| {
            let at = Point::new(one.at.x.min(other.at.x), one.at.y.min(other.at.y));
            let size = Size::new(one.right().max(other.right()) - at.x, one.bottom().max(other.bottom()) - at.y);
            Rect { at, size }
        })
    }
}

/// The smallest zoom: a flow of some hundred nodes still fits.
pub const LEAST_ZOOM: f64 = 0.1;
/// The largest zoom.
pub const MOST_ZOOM: f64 = 2.0;
/// One press of a zoom button.
pub const ZOOM_STEP: f64 = 1.2;

/// How the canvas lies under the surface: screen = canvas · zoom + shift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewport {
    pub shift: Point,
    pub zoom: f64,
}

impl Default for Viewport {
    fn default() -> Self {
        Self { shift: Point::new(0.0, 0.0), zoom: 1.0 }
    }
}

impl Viewport {
    /// Where a point of the canvas is on the surface.
    pub fn to_screen(&self, point: Point) -> Point {
        point * self.zoom + self.shift
    }

    /// Which point of the canvas is at a point of the surface.
    pub fn to_canvas(&self, point: Point) -> Point {
        (point - self.shift) * (1.0 / self.zoom)
    }

    /// Moved by a way on the screen.
    #[must_use]
    pub fn panned(&self, by: Point) -> Self {
        Self { shift: self.shift + by, zoom: self.zoom }
    }

    /// Zoomed by a factor, within the bounds, so that what is at a point of the surface stays there.
    #[must_use]
    pub fn zoomed(&self, at: Point, factor: f64) -> Self {
        let zoom = (self.zoom * factor).clamp(LEAST_ZOOM, MOST_ZOOM);
        Self { shift: at - (at - self.shift) * (zoom / self.zoom), zoom }
    }

    /// The viewport that shows `bounds` in the middle of a surface, with a tenth of it free around; never larger than
    /// zoom 1, since a flow of two nodes should not fill the screen.
    pub fn fitting(bounds: Rect, surface: Size) -> Self {
        let free = |side: f64| ((side - side / 1.1) / 2.0).floor();
        let (left, top) = (free(surface.width), free(surface.height));
        let zoom = ((surface.width - 2.0 * left) / bounds.size.width.max(1.0))
            .min((surface.height - 2.0 * top) / bounds.size.height.max(1.0))
            .clamp(LEAST_ZOOM, 1.0);
        let middle = Point::new(surface.width / 2.0, surface.height / 2.0);
        Self { shift: middle - bounds.center() * zoom, zoom }
    }

    /// What of the canvas a surface shows.
    pub fn seen(&self, surface: Size) -> Rect {
        Rect::between(self.to_canvas(Point::default()), self.to_canvas(Point::new(surface.width, surface.height)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn zooming_keeps_the_point_under_the_pointer(x in -2000.0..2000.0, y in -2000.0..2000.0, zoom in 0.1..2.0, factor in 0.2..5.0) {
            let before = Viewport { shift: Point::new(31.0, -7.5), zoom };
            let at = Point::new(x, y);
            let after = before.zoomed(at, factor);
            prop_assert!(after.to_screen(before.to_canvas(at)).distance(at) < 0.01);
            prop_assert!((LEAST_ZOOM..=MOST_ZOOM).contains(&after.zoom));
        }

        #[test]
        fn screen_and_canvas_are_inverse(x in -5000.0..5000.0, y in -5000.0..5000.0, zoom in 0.1..2.0) {
            let viewport = Viewport { shift: Point::new(12.0, 400.0), zoom };
            let point = Point::new(x, y);
            prop_assert!(viewport.to_canvas(viewport.to_screen(point)).distance(point) < 1e-6);
        }

        #[test]
        fn what_was_fitted_is_seen_whole(x in -9000.0..9000.0, y in -9000.0..9000.0, width in 60.0..6000.0, height in 60.0..4000.0) {
            let bounds = Rect::new(Point::new(x, y), Size::new(width, height));
            let surface = Size::new(1000.0, 700.0);
            let fitted = Viewport::fitting(bounds, surface);
            prop_assert!(fitted.seen(surface).grown(0.01).encloses(&bounds));
            prop_assert!(fitted.zoom <= 1.0);
        }
    }

    #[test]
    fn a_small_flow_is_shown_at_its_size_in_the_middle() {
        let bounds = Rect::new(Point::new(100.0, 100.0), Size::new(200.0, 60.0));
        let fitted = Viewport::fitting(bounds, Size::new(1000.0, 600.0));
        assert_eq!(fitted, Viewport { shift: Point::new(300.0, 170.0), zoom: 1.0 });
    }

    #[test]
    fn rectangles_that_touch_do_not_overlap() {
        let one = Rect::new(Point::default(), Size::new(10.0, 10.0));
        let beside = Rect::new(Point::new(10.0, 0.0), Size::new(10.0, 10.0));
        assert!(!one.overlaps(&beside));
        assert!(one.overlaps(&beside.grown(1.0)));
        assert_eq!(Rect::around([one, beside]), Some(Rect::new(Point::default(), Size::new(20.0, 10.0))));
        assert_eq!(Rect::between(Point::new(5.0, 1.0), Point::new(2.0, 9.0)).at, Point::new(2.0, 1.0));
    }
}
