//! Where each reference of a command stands, told by following its quotes from the first character.

use std::ops::Range;

use super::words::{interpreter, takes_name};
use crate::reference::{Content, Template};

/// The quoting a reference stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Bare,
    DoubleQuoted,
    SingleQuoted,
    /// After `#`: nothing there is read.
    Comment,
}

impl Place {
    /// What is written there so that the variable's value is one piece of one word.
    pub fn expansion(self, variable: &str) -> String {
        match self {
            Place::Bare => format!("\"${variable}\""),
            Place::DoubleQuoted => format!("${{{variable}}}"),
            // The quotes are closed and opened again, since nothing is expanded within them.
            Place::SingleQuoted => format!("'\"${variable}\"'"),
            Place::Comment => String::new(),
        }
    }
}

/// A place at which no value is safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reference's bytes in the command.
    pub range: Range<usize>,
    /// Where it stands: "in a command with a backtick".
    pub context: String,
    /// What to write instead.
    pub instead: String,
}

/// The place of every reference of a command, in order; or, of each reference that cannot be placed, why.
pub fn places(command: &Template<'_>) -> Result<Vec<Place>, Vec<Refusal>> {
    if command.values().next().is_none() {
        return Ok(Vec::new());
    }
    if let Some((context, instead)) = unsafe_command(command) {
        return Err(refuse_all(command, &context, instead));
    }
    let mut quotes = Quotes::default();
    let mut places = Vec::new();
    let mut refusals = Vec::new();
    for (at, piece) in command.pieces.iter().enumerate() {
        match &piece.content {
            Content::Text(text) => text.chars().for_each(|c| quotes.read(c)),
            Content::Fault(_) | Content::RawShell(_) | Content::Statement => quotes.pass_value(),
            Content::Reference(_) | Content::Expression(_) => {
                match quotes.refusal(command.pieces.get(at + 1).map(|next| &next.content)) {
                    None => places.push(quotes.place()),
                    Some((context, instead)) => refusals.push(Refusal {
                        range: piece.range.clone(),
                        context: context.to_owned(),
                        instead: instead.to_owned(),
                    }),
                }
                quotes.pass_value();
            }
        }
    }
    if quotes.has_backslash {
        return Err(refuse_all(
            command,
            "in a command with a backslash",
            "Write the text in single quotes, where a backslash is only itself, or in a script file.",
        ));
    }
    if let Some(open) = quotes.unclosed() {
        let last = command.values().last().cloned().unwrap_or_default();
        refusals.push(Refusal {
            range: last,
            context: format!("in a command whose {open} is never closed"),
            instead: "Close the quote.".to_owned(),
        });
    }
    if refusals.is_empty() { Ok(places) } else { Err(refusals) }
}

fn refuse_all(command: &Template<'_>, context: &str, instead: &str) -> Vec<Refusal> {
    let refuse = |range: &Range<usize>| Refusal {
        range: range.clone(),
        context: context.to_owned(),
        instead: instead.to_owned(),
    };
    command.values().map(refuse).collect()
}

const WRITE_A_SCRIPT: &str = "Put this part into a script file and pass it the value as an argument.";

/// What makes the whole command unfit for references, wherever they stand.
fn unsafe_command(command: &Template<'_>) -> Option<(String, &'static str)> {
    const MARKS: [(&str, &str, &str); 7] = [
        ("`", "a backtick", "Run the inner command in a step of its own and refer to its result."),
        ("$(", "`$(`", "Run the inner command in a step of its own and refer to its result."),
        ("${", "`${`", "Write $NAME for a plain variable, or work the value out in a step of its own."),
        ("$'", "`$'`", "Write the characters themselves in plain quotes."),
        ("$[", "`$[`", "Work the number out in a step of its own and refer to its result."),
        ("<<", "`<<`", "Pass the text with printf and a pipe: printf '%s' {{inputs.text}} | program"),
        ("\0", "a NUL character", "Remove it."),
    ];
    let literal: Vec<&str> = command
        .pieces
        .iter()
        .filter_map(|piece| match &piece.content {
            Content::Text(text) => Some(*text),
            _ => None,
        })
        .collect();
    // A mark may also be completed by what follows a reference, so pieces are looked at one by one and, for words,
    // joined by a character that is in no word.
    for (mark, name, instead) in MARKS {
        if literal.iter().any(|text| text.contains(mark)) {
            return Some((format!("in a command with {name}"), instead));
        }
    }
    if literal.iter().any(|text| text.ends_with('$')) {
        return Some(("right after or before a `$`".to_owned(), WRITE_A_SCRIPT));
    }
    let joined = literal.join("\u{FFFD}");
    interpreter(&joined).map(|word| (format!("in a command with `{word}`, which takes text for code"), WRITE_A_SCRIPT))
}

/// Follows the quotes of a command.
#[derive(Debug, Default)]
struct Quotes {
    state: State,
    /// The last character read; none at the start and after a reference.
    before: Option<char>,
    /// The current bare word so far, each reference as one character that is in no word.
    word: String,
    /// The words of the current simple command before it.
    words: Vec<String>,
    /// A backslash outside single quotes was read.
    has_backslash: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Bare,
    Double,
    Single,
    Comment,
}

impl Quotes {
    fn read(&mut self, c: char) {
        self.state = match (self.state, c) {
            (State::Bare, '\'') | (State::Single, _) if !(self.state == State::Single && c == '\'') => State::Single,
            (State::Bare, '"') => State::Double,
            (State::Double, '"') | (State::Single, '\'') | (State::Comment, '\n') => State::Bare,
            (State::Bare, '#') if self.is_at_word_start() => State::Comment,
            (state, _) => state,
        };
        self.has_backslash |= c == '\\' && matches!(self.state, State::Bare | State::Double);
        if self.state == State::Bare {
            if is_word_end(c) {
                let word = std::mem::take(&mut self.word);
                if !word.is_empty() {
                    self.words.push(word);
                }
                if matches!(c, ';' | '&' | '|' | '(' | ')' | '\n') {
                    self.words.clear();
                }
            } else {
                self.word.push(c);
            }
        }
        self.before = Some(c);
    }

    fn is_at_word_start(&self) -> bool {
        self.word.is_empty() && self.before.is_none_or(is_word_end)
    }

    /// A value stands here: whatever it is, a word has begun.
    fn pass_value(&mut self) {
        self.before = Some('\u{FFFD}');
        if self.state == State::Bare {
            self.word.push('\u{FFFD}');
        }
    }

    fn place(&self) -> Place {
        match self.state {
            State::Bare => Place::Bare,
            State::Double => Place::DoubleQuoted,
            State::Single => Place::SingleQuoted,
            State::Comment => Place::Comment,
        }
    }

    /// Why no value is safe here, with what to write instead.
    fn refusal(&self, next: Option<&Content<'_>>) -> Option<(&'static str, &'static str)> {
        if self.state != State::Bare {
            return None;
        }
        let is_value = self.word.contains('=');
        if !is_value && takes_name(&self.words) {
            return Some(("where a variable's name is", "Write the name itself, and refer to its value only."));
        }
        let is_assigned = matches!(next, Some(Content::Text(text)) if text.starts_with('=') || text.starts_with("+="));
        if is_assigned && self.word.is_empty() {
            return Some(("where a variable's name is", "Write the name itself, and refer to its value only."));
        }
        if self.word.contains('[') && self.word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return Some(("in an index", "Work the index out in a step of its own, or in a script file."));
        }
        None
    }

    fn unclosed(&self) -> Option<&'static str> {
        match self.state {
            State::Double => Some("double quote"),
            State::Single => Some("single quote"),
            State::Bare | State::Comment => None,
        }
    }
}

/// Blanks and operators of the shell; other white space belongs to words.
fn is_word_end(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>')
}
