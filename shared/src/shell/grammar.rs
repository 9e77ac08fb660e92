//! Commands: lists, pipelines, compound commands, functions and redirections, as POSIX has them and bash adds to them.

use super::quoting::ends_word;
use super::reader::{Reader, unreadable};
use super::source::Mark;
use super::tree::{Body, Command, List, Pipeline, Redirection, Word};
use super::trouble::{Enclosure, Unreadable};

/// Words that end a list, where a command would begin.
const CLOSERS: [&str; 8] = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];

/// What joins commands, the longest first.
const OPERATORS: [&str; 11] = ["&&", "||", ";;&", ";;", ";&", ";", "|&", "|", "&", "(", ")"];

/// Redirections, the longest first.
const REDIRECTIONS: [&str; 12] = ["&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">"];

const MAKE_IT_WHOLE: &str = "Complete the command, or put text that is none in quotes.";

impl Reader {
    /// All that is left.
    pub(super) fn whole(&mut self) -> Result<List, Unreadable> {
        let list = self.list(&[])?;
        match self.operator() {
            None => self.no_document_pending().map(|()| list),
            Some(operator) => Err(self.unreadable(format!("`{operator}` is not expected here"), MAKE_IT_WHOLE)),
        }
    }

    pub(super) fn list_until_parenthesis(&mut self) -> Result<List, Unreadable> {
        self.list(&[])
    }

    /// Pipelines up to one of these words, `)`, `;;` or the end.
    fn list(&mut self, closers: &[&str]) -> Result<List, Unreadable> {
        let mut list = List::new();
        loop {
            self.skip_lines()?;
            if matches!(self.operator(), Some(")" | ";;" | ";&" | ";;&")) || self.peek().is_none() {
                return Ok(list);
            }
            if let Some(word) = CLOSERS.into_iter().find(|word| self.is_reserved(word)) {
                if closers.contains(&word) {
                    return Ok(list);
                }
                return Err(self.unreadable(format!("`{word}` is not expected here"), MAKE_IT_WHOLE));
            }
            list.push(self.pipeline()?);
            self.skip_blanks();
            match self.operator() {
                Some(")" | ";;" | ";&" | ";;&") => {}
                Some(operator @ (";" | "&" | "&&" | "||")) => {
                    self.take(operator);
                }
                _ if self.peek().is_none() || self.is_char('\n') => {}
                _ => return Err(self.unreadable("the end of a command is expected here", "Write `;` or a new line.")),
            }
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, Unreadable> {
        let mut pipeline = Pipeline::new();
        loop {
            self.skip_blanks();
            while self.is_reserved("!") {
                self.take("!");
                self.skip_blanks();
            }
            pipeline.push(self.deeper(Reader::command)?);
            self.skip_blanks();
            match self.operator() {
                Some(operator @ ("|" | "|&")) => self.take(operator),
                _ => return Ok(pipeline),
            };
            self.skip_lines()?;
        }
    }

    fn command(&mut self) -> Result<Command, Unreadable> {
        let opening = ["{", "if", "while", "until", "for", "select", "case", "function"];
        let body = match opening.into_iter().find(|word| self.is_reserved(word)) {
            Some(word @ "{") => {
                self.take(word);
                Body::Group(self.closed_by("}")?)
            }
            Some("if") => self.condition()?,
            Some(word @ ("while" | "until")) => {
                self.take(word);
                let mut list = self.closed_by("do")?;
                list.extend(self.closed_by("done")?);
                Body::Group(list)
            }
            Some(word @ ("for" | "select")) => self.loop_over(word)?,
            Some("case") => self.case()?,
            Some(word) => {
                self.take(word);
                self.skip_blanks();
                let name = self.word()?;
                self.skip_blanks();
                if self.take("(") {
                    self.expect(")")?;
                }
                self.function(name)?
            }
            None if self.is_text("((") => {
                let instead = "Write ( ( for two subshells, or [ $((…)) -ne 0 ] for arithmetic.";
                return Err(self.unreadable("`((` is read differently by different shells", instead));
            }
            None if self.take("(") => {
                let list = self.list(&[])?;
                self.expect(")")?;
                Body::Group(list)
            }
            None => return self.simple(),
        };
        let mut redirections = Vec::new();
        self.skip_blanks();
        while let Some(redirection) = self.redirection()? {
            redirections.push(redirection);
            self.skip_blanks();
        }
        Ok(Command { body, redirections })
    }

    /// A list, and the word that ends it.
    fn closed_by(&mut self, word: &str) -> Result<List, Unreadable> {
        let list = self.list(&[word])?;
        if self.is_reserved(word) && self.take(word) {
            return Ok(list);
        }
        Err(self.unreadable(format!("`{word}` is missing here"), MAKE_IT_WHOLE))
    }

    fn condition(&mut self) -> Result<Body, Unreadable> {
        self.take("if");
        let mut all = self.closed_by("then")?;
        loop {
            all.extend(self.list(&["elif", "else", "fi"])?);
            if self.take("elif") {
                all.extend(self.closed_by("then")?);
            } else if self.take("else") {
                all.extend(self.closed_by("fi")?);
                return Ok(Body::Group(all));
            } else if self.take("fi") {
                return Ok(Body::Group(all));
            } else {
                return Err(self.unreadable("`fi` is missing here", MAKE_IT_WHOLE));
            }
        }
    }

    fn loop_over(&mut self, word: &str) -> Result<Body, Unreadable> {
        self.take(word);
        self.skip_blanks();
        let name = self.word()?;
        self.skip_lines()?;
        let mut words = Vec::new();
        if self.is_reserved("in") {
            self.take("in");
            self.skip_blanks();
            while !self.ends_word_here() {
                words.push(self.word()?);
                self.skip_blanks();
            }
        }
        self.skip_blanks();
        self.take(";");
        self.skip_lines()?;
        if !(self.is_reserved("do") && self.take("do")) {
            return Err(self.unreadable("`do` is missing here", MAKE_IT_WHOLE));
        }
        Ok(Body::For { name, words, body: self.closed_by("done")? })
    }

    fn case(&mut self) -> Result<Body, Unreadable> {
        self.take("case");
        self.skip_blanks();
        let word = self.word()?;
        self.skip_lines()?;
        if !(self.is_reserved("in") && self.take("in")) {
            return Err(self.unreadable("`in` is missing here", MAKE_IT_WHOLE));
        }
        let (mut patterns, mut arms) = (Vec::new(), List::new());
        loop {
            self.skip_lines()?;
            if self.is_reserved("esac") {
                self.take("esac");
                return Ok(Body::Case { word, patterns, arms });
            }
            self.take("(");
            loop {
                self.skip_blanks();
                if self.ends_word_here() {
                    return Err(self.unreadable("a pattern or `esac` is missing here", MAKE_IT_WHOLE));
                }
                patterns.push(self.word()?);
                self.skip_blanks();
                if !self.take("|") {
                    break;
                }
            }
            self.expect(")")?;
            arms.extend(self.list(&["esac"])?);
            if let Some(operator @ (";;" | ";&" | ";;&")) = self.operator() {
                self.take(operator);
            }
        }
    }

    /// A function, its name read.
    fn function(&mut self, name: Word) -> Result<Body, Unreadable> {
        self.skip_lines()?;
        let body = Box::new(self.deeper(Reader::command)?);
        Ok(Body::Function { name, body })
    }

    fn simple(&mut self) -> Result<Command, Unreadable> {
        let (mut words, mut redirections) = (Vec::new(), Vec::new());
        loop {
            self.skip_blanks();
            if let Some(redirection) = self.redirection()? {
                redirections.push(redirection);
                continue;
            }
            if self.is_char('(') && words.len() == 1 && redirections.is_empty() {
                self.take("(");
                self.expect(")")?;
                let name = words.remove(0);
                return Ok(Command { body: self.function(name)?, redirections });
            }
            if self.ends_word_here() {
                break;
            }
            let mut word = self.word()?;
            let is_list_for_array = self.is_char('(') && word.assigned().is_some() && word.lead().ends_with('=');
            if is_list_for_array {
                self.array(&mut word)?;
            }
            words.push(word);
        }
        if words.is_empty() && redirections.is_empty() {
            return Err(self.unreadable("a command is missing here", MAKE_IT_WHOLE));
        }
        if self.is_char('(') {
            return Err(self.unreadable("a parenthesis is not expected here", MAKE_IT_WHOLE));
        }
        Ok(Command { body: Body::Simple(words), redirections })
    }

    /// `( … )` after `NAME=`.
    fn array(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        self.take("(");
        let parts = self.enclosed(Enclosure::Array, |reader| {
            let mut parts = Vec::new();
            loop {
                reader.skip_lines()?;
                if reader.take(")") {
                    return Ok(parts);
                }
                if reader.ends_word_here() {
                    return Err(reader.unreadable("`)` is missing here", MAKE_IT_WHOLE));
                }
                parts.extend(reader.word()?.parts);
            }
        })?;
        word.parts.extend(parts);
        Ok(())
    }

    fn redirection(&mut self) -> Result<Option<Redirection>, Unreadable> {
        let at = self.place();
        // Digits right before it are the number of its file.
        let is_digit = |at: &usize| matches!(self.mark_at(*at), Some(Mark::Char(c)) if c.is_ascii_digit());
        let start = (self.at..usize::MAX).find(|at| !is_digit(at)).unwrap_or(self.at);
        let is_substitution = ["<(", ">("].into_iter().any(|opening| self.is_text_at(start, opening));
        let operator = REDIRECTIONS.into_iter().find(|operator| {
            self.is_text_at(start, operator) && (start == self.at || operator.starts_with(['<', '>']))
        });
        let Some(operator) = operator.filter(|_| !is_substitution) else { return Ok(None) };
        self.at = start;
        self.take(operator);
        self.skip_blanks();
        if let "<<" | "<<-" = operator {
            return self.ask_for_document(at, operator).map(|number| Some(Redirection::HereDocument(number)));
        }
        let word = self.word()?;
        if word.parts.is_empty() {
            return Err(unreadable(at, format!("nothing follows `{operator}`"), MAKE_IT_WHOLE));
        }
        Ok(Some(match operator {
            "<<<" => Redirection::HereString(word),
            ">&" | "<&" => Redirection::Descriptor(word),
            _ => Redirection::File(word),
        }))
    }

    fn expect(&mut self, operator: &str) -> Result<(), Unreadable> {
        self.skip_blanks();
        if self.take(operator) {
            return Ok(());
        }
        Err(self.unreadable(format!("`{operator}` is missing here"), MAKE_IT_WHOLE))
    }

    /// The operator that comes next; none at the end of a line.
    fn operator(&self) -> Option<&'static str> {
        if REDIRECTIONS.iter().any(|redirection| self.is_text(redirection)) {
            return None;
        }
        OPERATORS.into_iter().find(|operator| self.is_text(operator))
    }

    fn ends_word_here(&self) -> bool {
        match self.peek() {
            None => true,
            Some(Mark::Char('<' | '>')) if self.is_char_at(self.at + 1, '(') => false,
            Some(Mark::Char(c)) => ends_word(c),
            Some(Mark::Value(_) | Mark::Opaque) => false,
        }
    }

    /// Whether this whole word comes next, without quotes.
    fn is_reserved(&self, word: &str) -> bool {
        self.is_text(word)
            && match self.mark_at(self.at + word.len()) {
                None => true,
                Some(Mark::Char(c)) => ends_word(c),
                Some(Mark::Value(_) | Mark::Opaque) => false,
            }
    }

    /// Blanks, joined lines, and a comment up to the end of its line.
    fn skip_blanks(&mut self) {
        loop {
            self.skip_joints();
            match self.peek() {
                Some(Mark::Char(' ' | '\t')) => self.at += 1,
                Some(Mark::Char('#')) => self.comment(),
                _ => return,
            }
        }
    }

    fn comment(&mut self) {
        while let Some(mark) = self.peek().filter(|mark| *mark != Mark::Char('\n')) {
            self.at += 1;
            if let Mark::Value(value) = mark {
                self.stand_unread(value);
            }
        }
    }

    /// Blanks and ends of lines, with the bodies of here-documents after them.
    fn skip_lines(&mut self) -> Result<(), Unreadable> {
        loop {
            self.skip_blanks();
            if !self.take("\n") {
                return Ok(());
            }
            self.read_documents()?;
        }
    }
}
