//! The colour arithmetic of cards: fills, borders and inks from one colour.
//!
//! Channels are cut off, not rounded, as the arithmetic this look comes from does.

use std::fmt;

/// A colour without transparency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// The colour of a node whose tool declares none.
pub const FALLBACK: Rgb = Rgb(0x66, 0x66, 0x66);

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a channel; cut off on purpose")]
fn channel(value: f64) -> u8 {
    value.clamp(0.0, 255.0) as u8
}

impl Rgb {
    /// Reads `#rrggbb`, in either case.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
        let at = |from: usize| u8::from_str_radix(&digits[from..from + 2], 16).ok();
        Some(Self(at(0)?, at(2)?, at(4)?))
    }

    fn map(self, change: impl Fn(f64) -> f64) -> Self {
        let each = |value: u8| channel(change(f64::from(value)));
        Self(each(self.0), each(self.1), each(self.2))
    }

    /// Towards black by `by` of the way.
    #[must_use]
    pub fn darken(self, by: f64) -> Self {
        self.map(|value| value * (1.0 - by))
    }

    /// Towards white by `by` of the way.
    #[must_use]
    pub fn lighten(self, by: f64) -> Self {
        self.map(|value| value + (255.0 - value) * by)
    }

    /// As CSS with transparency.
    pub fn alpha(self, alpha: f64) -> String {
        format!("rgba({}, {}, {}, {alpha})", self.0, self.1, self.2)
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Colour, dark at rest, dark hovered, light at rest, light hovered: measured on the look this one follows.
    const MEASURED: [[&str; 5]; 16] = [
        ["#7EE787", "#192e1a", "#254528", "#f2fcf3", "#e5fae7"],
        ["#64B5F6", "#132431", "#1e3649", "#eff7fe", "#e0f0fd"],
        ["#4DD0E1", "#0f292c", "#173e43", "#edfafc", "#dbf5f9"],
        ["#FFB938", "#32240b", "#4c3710", "#fff8eb", "#fff1d7"],
        ["#ff8fab", "#321c22", "#4c2a33", "#fff3f6", "#ffe8ee"],
        ["#6E6EFD", "#151532", "#21214b", "#f0f0fe", "#e2e2fe"],
        ["#FFA07A", "#321f18", "#4c3024", "#fff5f1", "#ffece4"],
        ["#4DDBBB", "#0f2b25", "#174138", "#edfbf8", "#dbf7f1"],
        ["#E4B7FF", "#2d2432", "#44364c", "#fcf7ff", "#f9f0ff"],
        ["#d4a373", "#2a2016", "#3f3022", "#faf5f1", "#f6ece3"],
        ["#b8bedd", "#24252c", "#373942", "#f7f8fb", "#f0f2f8"],
        ["#FF7F7F", "#321919", "#4c2626", "#fff2f2", "#ffe5e5"],
        ["#9C89B8", "#1f1b24", "#2e2937", "#f5f3f7", "#ebe7f0"],
        ["#a3b18a", "#20231b", "#303529", "#f5f7f3", "#ecefe7"],
        ["#fee440", "#322d0c", "#4c4413", "#fefceb", "#fef9d8"],
        ["#666666", "#141414", "#1e1e1e", "#efefef", "#e0e0e0"],
    ];

    #[test]
    fn fills_are_the_measured_ones() {
        for [color, dark, dark_hover, light, light_hover] in MEASURED {
            let color = Rgb::parse(color).unwrap();
            let fills = [color.darken(0.8), color.darken(0.7), color.lighten(0.9), color.lighten(0.8)];
            assert_eq!(fills.map(|fill| fill.to_string()), [dark, dark_hover, light, light_hover], "{color}");
        }
    }

    #[test]
    fn only_six_digits_are_a_color() {
        assert_eq!(Rgb::parse("#0aF1b2"), Some(Rgb(10, 241, 178)));
        for bad in ["", "0af1b2", "#fff", "#12345g", "#12345ü", "red"] {
            assert_eq!(Rgb::parse(bad), None, "{bad}");
        }
        assert_eq!(Rgb(1, 2, 3).alpha(0.5), "rgba(1, 2, 3, 0.5)");
    }
}
