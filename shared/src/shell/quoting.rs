//! Words: quotes, backslashes and expansions, and the place of each value in them.
//!
//! What shells read in different ways, so that the text after it could stand in quotes for one of them and not for
//! another, is refused here.

use super::places::Place;
use super::reader::{Reader, unreadable};
use super::source::{Mark, Symbol};
use super::tree::{Part, Quotes, Word, is_name, is_name_char};
use super::trouble::{Enclosure, Unreadable};

const NO_QUOTES_THERE: &str = "Leave these quotes out, or give the text to a variable first.";

/// Blanks and operators of the shell; other white space belongs to words.
pub(super) fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>')
}

impl Reader {
    /// The word that begins here; without parts if none does.
    pub(super) fn word(&mut self) -> Result<Word, Unreadable> {
        let start = self.at;
        let mut word = Word::default();
        while let Some(mark) = self.peek() {
            match mark {
                Mark::Char(c @ ('<' | '>')) if self.is_char_at(self.at + 1, '(') => {
                    self.take(c.encode_utf8(&mut [0; 4]));
                    word.parts.push(self.substitution(Quotes::None)?);
                }
                Mark::Char(c) if ends_word(c) => break,
                Mark::Char('\'') => self.single_quoted(&mut word)?,
                Mark::Char('"') => self.double_quoted(&mut word)?,
                mark => self.bare(mark, &mut word)?,
            }
        }
        let spans_lines = self.symbols[start..self.at].iter().any(|symbol| symbol.mark == Mark::Char('\n'));
        if spans_lines && !self.pending.is_empty() {
            return Err(unreadable(
                self.symbols[start].at,
                "a word goes on in the next line, where a here-document begins",
                "Put the `<<` of the here-document last on its line, after this word.",
            ));
        }
        Ok(word)
    }

    /// One symbol outside quotes, with what belongs to it.
    fn bare(&mut self, mark: Mark, word: &mut Word) -> Result<(), Unreadable> {
        match mark {
            Mark::Char('\\') => self.backslash(word, |_| true),
            Mark::Char('$') => self.dollar(Quotes::None, word)?,
            Mark::Char('`') => word.parts.push(self.backquoted(Quotes::None)?),
            mark => self.plain(mark, Place::Bare, word),
        }
        Ok(())
    }

    /// A symbol that means itself.
    fn plain(&mut self, mark: Mark, place: Place, word: &mut Word) {
        self.next();
        match mark {
            Mark::Char(c) => word.push(c, place != Place::Bare),
            Mark::Opaque => word.parts.push(Part::Opaque),
            Mark::Value(value) => {
                self.stand(value, place);
                word.parts.push(Part::Value(value));
            }
        }
    }

    /// A backslash, with what it takes the meaning from.
    fn backslash(&mut self, word: &mut Word, escapes: impl Fn(char) -> bool) {
        self.next();
        match self.peek() {
            Some(Mark::Char('\n')) => self.at += 1,
            Some(Mark::Char(c)) if escapes(c) => {
                self.at += 1;
                word.push(c, true);
            }
            Some(Mark::Value(value)) => {
                self.at += 1;
                self.stand_unsafe(value, Enclosure::Backslash);
                word.parts.push(Part::Value(value));
            }
            Some(Mark::Char(_) | Mark::Opaque) | None => word.push('\\', true),
        }
    }

    fn single_quoted(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        let open = self.place();
        self.next();
        word.push_quotes();
        loop {
            match self.peek() {
                None => return Err(unclosed(open, "single quote")),
                Some(Mark::Char('\'')) => {
                    self.at += 1;
                    return Ok(());
                }
                Some(mark) => self.plain(mark, Place::SingleQuoted, word),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        let open = self.place();
        self.next();
        word.push_quotes();
        loop {
            match self.peek() {
                None => return Err(unclosed(open, "double quote")),
                Some(Mark::Char('"')) => {
                    self.at += 1;
                    return Ok(());
                }
                Some(mark) => self.expanding(mark, Quotes::Double, word)?,
            }
        }
    }

    /// One symbol where only `$`, backticks and backslashes are special.
    pub(super) fn expanding(&mut self, mark: Mark, quotes: Quotes, word: &mut Word) -> Result<(), Unreadable> {
        match mark {
            Mark::Char('\\') => {
                self.backslash(word, |c| matches!(c, '$' | '`' | '\\') || c == '"' && quotes == Quotes::Double);
            }
            Mark::Char('$') => self.dollar(quotes, word)?,
            Mark::Char('`') => word.parts.push(self.backquoted(quotes)?),
            mark => {
                let place = if quotes == Quotes::Document { Place::HereDocument } else { Place::DoubleQuoted };
                self.plain(mark, place, word);
            }
        }
        Ok(())
    }

    /// `$`, with the expansion it begins.
    fn dollar(&mut self, quotes: Quotes, word: &mut Word) -> Result<(), Unreadable> {
        let open = self.place();
        self.next();
        self.skip_joints();
        match self.peek() {
            Some(Mark::Value(value)) => {
                self.at += 1;
                self.stand_unsafe(value, Enclosure::Dollar);
                word.parts.push(Part::Value(value));
            }
            Some(Mark::Char('(')) if self.is_text("((") => word.parts.push(self.arithmetic(open)?),
            Some(Mark::Char('(')) => word.parts.push(self.substitution(quotes)?),
            Some(Mark::Char('{')) => word.parts.push(self.parameter(open, quotes)?),
            Some(Mark::Char('[')) => {
                let instead = "Write $(( )) for a number, or '$[' in single quotes for the characters.";
                return Err(unreadable(open, "`$[` is read differently by different shells", instead));
            }
            Some(Mark::Char('\'')) if quotes == Quotes::None => self.ansi_quoted(open, word)?,
            Some(Mark::Char('"')) if quotes == Quotes::None => {
                self.enclosed(Enclosure::LocaleQuotes, |reader| reader.double_quoted(word))?;
            }
            Some(Mark::Char(c)) if is_name_char(c) || "@*#?-$!".contains(c) => {
                let name = self.parameter_name();
                word.parts.push(Part::Parameter { name, inner: Word::default(), is_evaluated: false, quotes });
            }
            Some(Mark::Char(_) | Mark::Opaque) | None => word.push('$', quotes != Quotes::None),
        }
        Ok(())
    }

    /// A name, a digit or a special parameter.
    fn parameter_name(&mut self) -> String {
        let mut name = String::new();
        while let Some(Mark::Char(c)) = self.peek() {
            let is_whole = name.starts_with(|first: char| !is_name_char(first) || first.is_ascii_digit());
            if is_whole || !(is_name_char(c) || name.is_empty() && "@*#?-$!".contains(c)) {
                break;
            }
            name.push(c);
            self.at += 1;
        }
        name
    }

    /// `$' '`, in which a shell that does not know it ends at the first quote.
    fn ansi_quoted(&mut self, open: usize, word: &mut Word) -> Result<(), Unreadable> {
        self.next();
        word.push_quotes();
        self.enclosed(Enclosure::AnsiQuotes, |reader| {
            loop {
                match reader.peek() {
                    None => return Err(unclosed(open, "quote of `$'`")),
                    Some(Mark::Char('\'')) => {
                        reader.at += 1;
                        return Ok(());
                    }
                    Some(Mark::Char('\\')) if reader.is_char_at(reader.at + 1, '\'') => {
                        let reason = "`\\'` in `$' '` is read differently by different shells";
                        return Err(reader.unreadable(reason, "Write \"'\" in double quotes for a single quote."));
                    }
                    Some(Mark::Char('\\')) => {
                        // What is escaped is not known to every shell; no text is read out of it.
                        reader.at += 1;
                        word.parts.push(Part::Opaque);
                        match reader.peek() {
                            Some(mark @ Mark::Char(_)) => reader.plain(mark, Place::SingleQuoted, word),
                            Some(Mark::Value(_) | Mark::Opaque) | None => {}
                        }
                    }
                    Some(mark) => reader.plain(mark, Place::SingleQuoted, word),
                }
            }
        })
    }

    /// `( … )` after a `$`, or after `<` or `>`.
    fn substitution(&mut self, quotes: Quotes) -> Result<Part, Unreadable> {
        let open = self.place();
        self.next();
        let outer = std::mem::take(&mut self.pending);
        let (start, documents) = (self.at, self.documents.len());
        let list = self.deeper(Reader::list_until_parenthesis)?;
        let rest = &self.symbols[self.body_end.clamp(start, self.at)..self.at];
        let is_blank = |symbol: &Symbol| matches!(symbol.mark, Mark::Char(' ' | '\t' | '\n'));
        if self.documents.len() > documents && !rest.iter().all(is_blank) {
            // bash 5.2 loses a `;` there, so that a command becomes words of the one before.
            let reason = "something follows a here-document within `$( )`, which bash reads wrongly";
            let instead =
                "Let the here-document be the last thing within the `$( )`, or use printf '%s\\n' instead of it.";
            return Err(unreadable(open, reason, instead));
        }
        if !self.take(")") {
            return Err(unclosed(open, "parenthesis"));
        }
        self.no_document_pending()?;
        self.pending = outer;
        Ok(Part::Substitution { list, quotes })
    }

    /// `(( … ))` after a `$`.
    fn arithmetic(&mut self, open: usize) -> Result<Part, Unreadable> {
        self.take("((");
        let (mut names, mut inner, mut parentheses) = (Vec::new(), Word::default(), 0_usize);
        let read = |reader: &mut Reader| {
            loop {
                match reader.peek() {
                    None => return Err(unclosed(open, "`$((`")),
                    Some(Mark::Char(')')) if parentheses == 0 => {
                        if reader.take("))") {
                            return Ok(());
                        }
                        let reason = "`$((` is closed by one parenthesis only";
                        return Err(unreadable(open, reason, "Write `$( (` for a subshell within `$( )`."));
                    }
                    Some(Mark::Char(c @ ('(' | ')'))) => {
                        parentheses = if c == '(' { parentheses + 1 } else { parentheses - 1 };
                        reader.at += 1;
                    }
                    Some(Mark::Char('\'' | '"')) => {
                        let reason = "a quote in `$(( ))` is read differently by different shells";
                        return Err(reader.unreadable(reason, "Leave the quotes out: arithmetic needs none."));
                    }
                    Some(Mark::Char(c)) if is_name_char(c) => {
                        let mut name = String::new();
                        while let Some(Mark::Char(c)) =
                            reader.peek().filter(|it| matches!(it, Mark::Char(c) if is_name_char(*c)))
                        {
                            name.push(c);
                            reader.at += 1;
                        }
                        if is_name(&name) {
                            names.push(name);
                        }
                    }
                    Some(mark) => reader.expanding(mark, Quotes::Double, &mut inner)?,
                }
            }
        };
        self.deeper(|reader| reader.enclosed(Enclosure::Arithmetic, read))?;
        names.extend(inner.variables().into_iter().map(str::to_owned));
        Ok(Part::Arithmetic { names, inner })
    }

    /// `{ … }` after a `$`.
    fn parameter(&mut self, open: usize, quotes: Quotes) -> Result<Part, Unreadable> {
        self.next();
        let is_length = self.is_char('#')
            && !matches!(self.mark_at(self.at + 1), Some(Mark::Char('}' | ':' | '-' | '+' | '=' | '?' | '%')));
        let is_indirect =
            self.is_char('!') && matches!(self.mark_at(self.at + 1), Some(Mark::Char(c)) if is_name_char(c));
        if is_length || is_indirect {
            self.at += 1;
        }
        // A number may have several digits here.
        let mut name = self.parameter_name();
        while let Some(Mark::Char(c)) = self.peek().filter(|_| name.starts_with(|c: char| c.is_ascii_digit())) {
            if !c.is_ascii_digit() {
                break;
            }
            name.push(c);
            self.at += 1;
        }
        if name.is_empty() && !matches!(self.peek(), Some(Mark::Value(_) | Mark::Opaque)) {
            return Err(unreadable(open, "no name follows `${`", "Write a variable's name there, or '${' in quotes."));
        }
        // An index and a range are arithmetic.
        let is_range =
            self.is_char(':') && !matches!(self.mark_at(self.at + 1), Some(Mark::Char('-' | '=' | '?' | '+')));
        let is_evaluated = is_indirect || self.is_char('[') || is_range;
        let mut inner = Word::default();
        let read = |reader: &mut Reader| {
            loop {
                match reader.peek() {
                    None => return Err(unclosed(open, "`${`")),
                    Some(Mark::Char('}')) => {
                        reader.at += 1;
                        return Ok(());
                    }
                    Some(Mark::Char('\'' | '"')) if quotes != Quotes::None => {
                        let reason = "a quote in `${ }` within double quotes is read differently by different shells";
                        return Err(reader.unreadable(reason, NO_QUOTES_THERE));
                    }
                    Some(Mark::Char('\'')) => reader.single_quoted(&mut inner)?,
                    Some(Mark::Char('"')) => reader.double_quoted(&mut inner)?,
                    Some(mark) if quotes == Quotes::None => reader.bare(mark, &mut inner)?,
                    Some(Mark::Char('\\')) => reader.backslash(&mut inner, |_| true),
                    Some(mark) => reader.expanding(mark, quotes, &mut inner)?,
                }
            }
        };
        self.deeper(|reader| reader.enclosed(Enclosure::Parameter, read))?;
        Ok(Part::Parameter { name, inner, is_evaluated, quotes })
    }

    /// Backticks: the inside is taken up to the next one without a backslash, and read then.
    fn backquoted(&mut self, quotes: Quotes) -> Result<Part, Unreadable> {
        let open = self.place();
        self.next();
        let mut inside: Vec<Symbol> = Vec::new();
        loop {
            let symbol = self.symbols.get(self.at).copied().ok_or_else(|| unclosed(open, "backtick"))?;
            self.at += 1;
            if symbol.mark == Mark::Char('`') {
                break;
            }
            let escaped = self.symbols.get(self.at).copied();
            let is_escape = matches!(escaped.map(|it| it.mark), Some(Mark::Char(c)) if matches!(c, '`' | '\\' | '$') || c == '"' && quotes == Quotes::Double);
            match escaped {
                Some(escaped) if symbol.mark == Mark::Char('\\') && is_escape => {
                    inside.push(escaped);
                    self.at += 1;
                }
                _ => inside.push(symbol),
            }
        }
        let list = self.enclosed(Enclosure::Backquotes, |reader| reader.aside(inside, Reader::whole))?;
        Ok(Part::Substitution { list, quotes })
    }
}

fn unclosed(at: usize, what: &str) -> Unreadable {
    unreadable(at, format!("the {what} is never closed"), "Close it.")
}
