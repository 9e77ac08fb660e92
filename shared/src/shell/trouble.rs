//! Why no value is safe in a place, in words: where it stands, and what to write instead.
//!
//! `{value}` in an advice stands for the reference as it is written.

use super::places::Place;

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    At(Place),
    Unsafe(Trouble),
}

/// A place in which no value is safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    /// "in `$(( ))`"
    pub(super) context: String,
    pub(super) instead: String,
}

impl Trouble {
    pub(super) fn new(context: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { context: context.into(), instead: instead.into() }
    }
}

/// Text that cannot be read on from a place, or that shells read in different ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    /// The byte of the command.
    pub(super) at: usize,
    /// "the single quote is never closed"
    pub(super) reason: String,
    pub(super) instead: &'static str,
}

/// What encloses a value so that no expansion of it is safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enclosure {
    Backslash,
    Dollar,
    Arithmetic,
    Parameter,
    Backquotes,
    AnsiQuotes,
    LocaleQuotes,
    QuotedDocument,
    Delimiter,
    Array,
}

impl Enclosure {
    pub(super) fn trouble(self) -> Trouble {
        let (context, instead) = match self {
            Enclosure::Backslash => {
                ("right after a backslash", "Leave the backslash out: the value is taken as it is.")
            }
            Enclosure::Dollar => ("right after a `$`", "Leave the `$` out, or write '$' in single quotes before it."),
            Enclosure::Arithmetic => (
                "in `$(( ))`, where a shell runs what a value holds",
                "Work the number out in an expression, such as {{ inputs.count + 1 }}.",
            ),
            Enclosure::Parameter => {
                ("in `${ }`", "Give it to a variable first, as in fallback={value}, and write \"${name:-$fallback}\".")
            }
            Enclosure::Backquotes => ("between backticks", "Write $( ) for the backticks: a value is safe there."),
            Enclosure::AnsiQuotes => {
                ("in `$' '`", "Close the quotes before it and open them again after it: $'\\t'{value}$'\\n'.")
            }
            Enclosure::LocaleQuotes => ("in `$\" \"`", "Leave the `$` before the double quotes out."),
            Enclosure::QuotedDocument => (
                "in a here-document whose delimiter is quoted, where nothing is expanded",
                "Leave the quotes of the delimiter out, and write \\$ for each $ that is meant as itself.",
            ),
            Enclosure::Delimiter => ("in the delimiter of a here-document", "Write a fixed word such as EOF."),
            Enclosure::Array => ("in a list for an array", "Write set -- {value} and use \"$@\": sh has no arrays."),
        };
        Trouble::new(context, instead)
    }
}
