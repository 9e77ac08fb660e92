//! Where the value of an argument comes from.

use serde_json::Value;

/// How a value is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Written by hand; a text may hold references among its words.
    Manual,
    /// One value from elsewhere, with its type.
    Reference,
}

impl Source {
    /// Its value in a list.
    pub fn word(self) -> &'static str {
        match self {
            Source::Manual => "manual",
            Source::Reference => "reference",
        }
    }

    /// The source with this value.
    pub fn of_word(word: &str) -> Self {
        if word == "reference" { Source::Reference } else { Source::Manual }
    }

    /// What a value as written is.
    pub fn of(value: Option<&Value>) -> Self {
        match value.and_then(exact) {
            Some(_) => Source::Reference,
            None => Source::Manual,
        }
    }
}

/// The inside of a value that is exactly one `{{…}}`.
pub fn exact(value: &Value) -> Option<&str> {
    let inside = value.as_str()?.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inside.contains("{{") && !inside.contains("}}")).then(|| inside.trim())
}

/// A text with a reference put in at `at`, a place in UTF-16 units as a text field tells it; and the place after it.
pub fn insert(text: &str, at: Option<u32>, path: &str) -> (String, u32) {
    let reference = format!("{{{{{path}}}}}");
    let units = at.map_or(usize::MAX, |at| at as usize);
    let mut passed = 0;
    let byte = text
        .char_indices()
        .find(|(_, c)| {
            let here = passed >= units;
            passed += c.len_utf16();
            here
        })
        .map_or(text.len(), |(byte, _)| byte);
    let (before, after) = text.split_at(byte);
    let end = before.encode_utf16().count() + reference.encode_utf16().count();
    (format!("{before}{reference}{after}"), u32::try_from(end).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_one_whole_reference_is_a_reference() {
        assert_eq!(Source::of(Some(&json!(" {{ inputs.day }} "))), Source::Reference);
        assert_eq!(Source::of(Some(&json!("{{inputs.a}}{{inputs.b}}"))), Source::Manual);
        assert_eq!(Source::of(Some(&json!("on {{inputs.day}}"))), Source::Manual);
        assert_eq!(Source::of(Some(&json!(3))), Source::Manual);
        assert_eq!(Source::of(None), Source::Manual);
    }

    #[test]
    fn a_reference_goes_in_where_the_caret_stands() {
        assert_eq!(insert("a😀b", Some(3), "inputs.x"), ("a😀{{inputs.x}}b".to_owned(), 15));
        assert_eq!(insert("ab", None, "inputs.x"), ("ab{{inputs.x}}".to_owned(), 14));
        assert_eq!(insert("", Some(0), "inputs.x").0, "{{inputs.x}}");
    }
}
