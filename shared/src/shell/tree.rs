//! A command taken apart: lists of pipelines of commands, and their words.
//!
//! As deep as judging values asks for: connectors and the branches of conditions are lists like any other.

/// Pipelines one after another, whatever joins them.
pub(super) type List = Vec<Pipeline>;

/// Commands, each of which reads what the one before writes.
pub(super) type Pipeline = Vec<Command>;

/// A whole command text.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) list: List,
    /// The bodies of here-documents, by number.
    pub(super) documents: Vec<Word>,
}

#[derive(Debug)]
pub(super) struct Command {
    pub(super) body: Body,
    pub(super) redirections: Vec<Redirection>,
}

#[derive(Debug)]
pub(super) enum Body {
    /// Assignments, a program and its arguments.
    Simple(Vec<Word>),
    /// Braces, a subshell, a condition or a loop, with all their branches.
    Group(List),
    For {
        name: Word,
        words: Vec<Word>,
        body: List,
    },
    Case {
        word: Word,
        patterns: Vec<Word>,
        arms: List,
    },
    Function {
        name: Word,
        body: Box<Command>,
    },
}

#[derive(Debug)]
pub(super) enum Redirection {
    File(Word),
    /// Of `>&` or `<&`: a descriptor's number, or a file.
    Descriptor(Word),
    HereString(Word),
    /// By the number of its body.
    HereDocument(usize),
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    #[default]
    None,
    Double,
    /// In the body of a here-document, or its like: `"` is only itself.
    Document,
}

/// A word, or the body of a here-document.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
}

#[derive(Debug)]
pub(super) enum Part {
    /// Text that the shell takes as it is, its quotes removed.
    Text {
        text: String,
        is_quoted: bool,
    },
    Value(usize),
    Opaque,
    /// `$name`, or `${name…}` with what follows the name in it.
    Parameter {
        name: String,
        inner: Word,
        is_evaluated: bool,
        quotes: Quotes,
    },
    /// `$(( ))`, with the names in it.
    Arithmetic {
        names: Vec<String>,
        inner: Word,
    },
    /// `$( )`, backticks, or `<( )`.
    Substitution {
        list: List,
        quotes: Quotes,
    },
}

impl Word {
    /// Adds a character of text.
    pub(super) fn push(&mut self, c: char, is_quoted: bool) {
        if let Some(Part::Text { text, is_quoted: before }) = self.parts.last_mut()
            && *before == is_quoted
        {
            text.push(c);
        } else {
            self.parts.push(Part::Text { text: c.into(), is_quoted });
        }
    }

    /// An empty pair of quotes makes a word too.
    pub(super) fn push_quotes(&mut self) {
        self.parts.push(Part::Text { text: String::new(), is_quoted: true });
    }

    /// Its text, where it is text only.
    pub(super) fn text(&self) -> Option<String> {
        self.parts
            .iter()
            .map(|part| if let Part::Text { text, .. } = part { Some(text.as_str()) } else { None })
            .collect()
    }

    /// Its text up to the first part that is none.
    pub(super) fn lead(&self) -> String {
        let texts = self
            .parts
            .iter()
            .map_while(|part| if let Part::Text { text, .. } = part { Some(text.as_str()) } else { None });
        texts.collect()
    }

    /// Its unquoted text up to the first part that is none.
    pub(super) fn bare_lead(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text { text, is_quoted: false }) => text,
            _ => "",
        }
    }

    /// The variable it assigns to, if it is an assignment: `NAME=…`, `NAME+=…`, `NAME[…]=…`.
    pub(super) fn assigned(&self) -> Option<&str> {
        let lead = self.bare_lead();
        let end = lead.find(|c: char| !is_name_char(c))?;
        let is_assignment =
            lead[end..].starts_with('=') || lead[end..].starts_with("+=") || lead[end..].starts_with('[');
        (is_assignment && is_name(&lead[..end])).then_some(&lead[..end])
    }

    /// The values in it, at any depth.
    pub(super) fn values(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.each(&mut |part| found.extend(if let Part::Value(value) = part { Some(*value) } else { None }));
        found
    }

    /// The variables it names, at any depth.
    pub(super) fn variables(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.each(&mut |part| {
            found.extend(if let Part::Parameter { name, .. } = part { Some(name.as_str()) } else { None });
        });
        found
    }

    /// The values that its commands make their output of.
    pub(super) fn substituted_values(&self) -> Vec<usize> {
        let mut found = Vec::new();
        for part in &self.parts {
            if let Part::Substitution { list, .. } = part {
                each_in_list(list, &mut |part| {
                    found.extend(if let Part::Value(value) = part { Some(*value) } else { None });
                });
            }
        }
        found
    }

    /// Whether a value may be its first character, so that it can be an option.
    pub(super) fn begins_with_value(&self) -> bool {
        match self.parts.iter().find(|part| !matches!(part, Part::Text { text, .. } if text.is_empty())) {
            Some(Part::Value(_)) => true,
            Some(Part::Text { .. } | Part::Opaque | Part::Arithmetic { .. }) | None => false,
            Some(Part::Parameter { inner, .. }) => !inner.values().is_empty(),
            Some(Part::Substitution { .. }) => !self.substituted_values().is_empty(),
        }
    }

    /// Whether the output of a command may become several words in its place.
    pub(super) fn splits(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Substitution { quotes: Quotes::None, .. }))
    }

    /// Shows every part, at any depth.
    fn each<'w>(&'w self, see: &mut dyn FnMut(&'w Part)) {
        for part in &self.parts {
            see(part);
            match part {
                Part::Text { .. } | Part::Value(_) | Part::Opaque => {}
                Part::Parameter { inner, .. } | Part::Arithmetic { inner, .. } => inner.each(see),
                Part::Substitution { list, .. } => each_in_list(list, see),
            }
        }
    }
}

fn each_in_list<'w>(list: &'w List, see: &mut dyn FnMut(&'w Part)) {
    list.iter().flatten().for_each(|command| command.each(see));
}

impl Command {
    /// The values of its words and of all within it, here-documents not counted.
    pub(super) fn values(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.each(&mut |part| found.extend(if let Part::Value(value) = part { Some(*value) } else { None }));
        found
    }

    /// The here-documents of it and of all within it, by number.
    pub(super) fn documents(&self) -> Vec<usize> {
        let mut found: Vec<usize> = self.own_documents().collect();
        let inner: &[&List] = match &self.body {
            Body::Simple(_) => &[],
            Body::Group(list) | Body::For { body: list, .. } | Body::Case { arms: list, .. } => &[list],
            Body::Function { body, .. } => {
                found.extend(body.documents());
                &[]
            }
        };
        found.extend(inner.iter().flat_map(|list| list.iter().flatten()).flat_map(Command::documents));
        found
    }

    /// The here-documents it reads itself.
    pub(super) fn own_documents(&self) -> impl Iterator<Item = usize> {
        self.redirections
            .iter()
            .filter_map(|it| if let Redirection::HereDocument(number) = it { Some(*number) } else { None })
    }

    fn each<'w>(&'w self, see: &mut dyn FnMut(&'w Part)) {
        match &self.body {
            Body::Simple(words) => words.iter().for_each(|word| word.each(see)),
            Body::Group(list) => each_in_list(list, see),
            Body::For { name, words, body } => {
                name.each(see);
                for word in words {
                    word.each(see);
                }
                each_in_list(body, see);
            }
            Body::Case { word, patterns, arms } => {
                word.each(see);
                for word in patterns {
                    word.each(see);
                }
                each_in_list(arms, see);
            }
            Body::Function { name, body } => {
                name.each(see);
                body.each(see);
            }
        }
        for redirection in &self.redirections {
            match redirection {
                Redirection::File(word) | Redirection::Descriptor(word) | Redirection::HereString(word) => {
                    word.each(see);
                }
                Redirection::HereDocument(_) => {}
            }
        }
    }
}

/// Whether it can be a variable's name.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(is_name_char)
}

pub(super) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
