//! Whether a turn of the wheel pans or zooms, and how far.
//!
//! Two fingers on a trackpad pan; a pinch, or the wheel with Ctrl or Cmd, zooms about the pointer; the wheel of a
//! mouse zooms. A trackpad and a mouse send the same event, so they are told apart by its numbers: a mouse turns in
//! lines or pages, or in whole notches of at least 100 pixels straight up or down.

use crate::geometry::plane::Point;

/// The unit of a wheel's numbers, as the browser says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WheelUnit {
    Pixel,
    Line,
    Page,
}

/// One event of a wheel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    pub delta: Point,
    pub unit: WheelUnit,
    /// Ctrl or Cmd held; browsers also set Ctrl on a pinch.
    pub zoom_key: bool,
    /// Shift held: an upright wheel turns sideways.
    pub sideways: bool,
}

/// What a turn does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WheelAction {
    /// By this way on the screen.
    Pan(Point),
    /// By this factor, about the pointer.
    Zoom(f64),
}

/// The most that one event zooms, as a power of two.
const MOST_POWER: f64 = 0.25;
/// A notch of a mouse's wheel is at least this many pixels.
const NOTCH: f64 = 100.0;

/// What this turn does.
pub fn action(turn: &Turn) -> WheelAction {
    let Turn { delta, unit, zoom_key, sideways } = *turn;
    let notch = delta.x == 0.0 && delta.y.abs() >= NOTCH && delta.y.fract() == 0.0;
    let is_mouse = unit != WheelUnit::Pixel || notch;
    if zoom_key || (is_mouse && !sideways) {
        let scale = match unit {
            WheelUnit::Pixel => 0.002,
            WheelUnit::Line => 0.05,
            WheelUnit::Page => 1.0,
        };
        // A pinch sends steps of a few pixels, so it counts ten times as much as a notch.
        let pinch = if zoom_key && unit == WheelUnit::Pixel && !notch { 10.0 } else { 1.0 };
        return WheelAction::Zoom((-delta.y * scale * pinch).clamp(-MOST_POWER, MOST_POWER).exp2());
    }
    let pixels = match unit {
        WheelUnit::Pixel => 1.0,
        WheelUnit::Line => 20.0,
        WheelUnit::Page => 400.0,
    };
    let way = if sideways && delta.x == 0.0 { Point::new(delta.y, 0.0) } else { delta };
    WheelAction::Pan(way * -pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(x: f64, y: f64) -> Turn {
        Turn { delta: Point::new(x, y), unit: WheelUnit::Pixel, zoom_key: false, sideways: false }
    }

    fn factor(turn: Turn) -> f64 {
        match action(&turn) {
            WheelAction::Zoom(factor) => factor,
            WheelAction::Pan(way) => panic!("panned by {way:?}"),
        }
    }

    #[test]
    fn two_fingers_pan() {
        assert_eq!(action(&turn(3.0, 12.0)), WheelAction::Pan(Point::new(-3.0, -12.0)));
        assert_eq!(action(&turn(0.0, 4.5)), WheelAction::Pan(Point::new(0.0, -4.5)));
        assert_eq!(action(&turn(120.0, 100.0)), WheelAction::Pan(Point::new(-120.0, -100.0)));
    }

    #[test]
    fn one_notch_of_a_mouse_zooms_by_at_most_a_fifth() {
        let closer = factor(turn(0.0, -100.0));
        assert!(closer > 1.1 && closer <= 1.2, "{closer}");
        assert!((closer * factor(turn(0.0, 100.0)) - 1.0).abs() < 1e-9);
        let lines = factor(Turn { unit: WheelUnit::Line, ..turn(0.0, -3.0) });
        assert!(lines > 1.05 && lines <= 1.2, "{lines}");
    }

    #[test]
    fn a_wild_turn_is_tamed_and_a_pinch_is_felt() {
        assert!(factor(turn(0.0, -9000.0)) <= 1.2);
        assert!(factor(Turn { zoom_key: true, ..turn(0.0, -5.0) }) > 1.05);
    }

    #[test]
    fn shift_turns_sideways() {
        let sideways = Turn { sideways: true, ..turn(0.0, 100.0) };
        assert_eq!(action(&sideways), WheelAction::Pan(Point::new(-100.0, 0.0)));
    }
}
