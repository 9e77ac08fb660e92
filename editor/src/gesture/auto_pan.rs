//! How a drag near the surface's edge moves the canvas.

use crate::geometry::plane::{Point, Size};

/// Nearer to the surface's edge than this, a drag moves the canvas. Screen units.
const MARGIN: f64 = 40.0;
/// How far it moves it in a second at most. Screen units.
const SPEED: f64 = 900.0;

/// How far the canvas moves by itself in `elapsed` milliseconds while a drag is at a point of the surface. Scaled by
/// time, since frames come twice as often on some screens.
pub fn auto_pan(at: Point, surface: Size, elapsed: f64) -> Point {
    let most = SPEED * elapsed / 1000.0;
    let along = |at: f64, side: f64| {
        let depth = if at < MARGIN {
            MARGIN - at
        } else if at > side - MARGIN {
            side - MARGIN - at
        } else {
            return 0.0;
        };
        most * depth.signum() * depth.abs().clamp(1.0, MARGIN) / MARGIN
    };
    Point::new(along(at.x, surface.width), along(at.y, surface.height))
}
