//! Walks a command and judges its values by what becomes of the words they stand in.
//!
//! A value can be one word and still be run: as code for an interpreter, as a name, or by way of a variable that is
//! worked out elsewhere. What a value stands in as data stays as it was placed.

use std::collections::BTreeMap;

use super::programs::{Launcher, Program, Takes, holds_code, program};
use super::tree::{Body, Command, List, Part, Quotes, Redirection, Tree, Word, is_name_char};
use super::trouble::{Standing, Trouble};

pub(super) const PROGRAM_ADVICE: &str = "Write the program's name, and choose between programs by the value: case {value} in a) first ;; b) second ;; esac.";
pub(super) const NAME_ADVICE: &str = "Write the name itself, and refer to its value only.";

/// Judges every value, and changes its standing where it is not safe.
pub(super) fn judge(tree: &Tree, standings: &mut [Option<Standing>]) {
    let mut judge = Judge { tree, standings, held: BTreeMap::new(), evaluated: Vec::new() };
    judge.list(&tree.list, &[]);
    for document in &tree.documents {
        judge.inside(document, &[]);
    }
    judge.variables();
}

pub(super) struct Judge<'t, 's> {
    tree: &'t Tree,
    standings: &'s mut [Option<Standing>],
    /// Variable → the values and the variables that are put into it. All arguments of the shell are `@`.
    held: BTreeMap<String, (Vec<usize>, Vec<String>)>,
    /// Variables that are taken for code, with where.
    evaluated: Vec<(String, String)>,
}

impl Judge<'_, '_> {
    /// `input`: the values that may be read from the standard input there.
    fn list(&mut self, list: &List, input: &[usize]) {
        for pipeline in list {
            let mut upstream = input.to_vec();
            for command in pipeline {
                self.command(command, &upstream);
                upstream.extend(command.values());
                upstream.extend(self.in_documents(command.documents()));
            }
        }
    }

    fn in_documents(&self, numbers: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let words = numbers.into_iter().filter_map(|number| self.tree.documents.get(number));
        words.flat_map(Word::values).collect()
    }

    fn command(&mut self, command: &Command, upstream: &[usize]) {
        let mut input = upstream.to_vec();
        input.extend(self.in_documents(command.own_documents()));
        for redirection in &command.redirections {
            match redirection {
                Redirection::HereString(word) => {
                    self.inside(word, upstream);
                    input.extend(word.values());
                }
                Redirection::File(word) => {
                    self.inside(word, upstream);
                    input.extend(word.substituted_values());
                }
                // Bash expands what this expands to a second time, unless it is a number.
                Redirection::Descriptor(word) => {
                    self.inside(word, upstream);
                    self.code(
                        word,
                        "after `>&` or `<&`, where bash expands it twice",
                        "Write the file after `>`, as in > {value} 2>&1.",
                    );
                }
                Redirection::HereDocument(_) => {}
            }
        }
        match &command.body {
            Body::Simple(words) => {
                for word in words {
                    self.inside(word, &input);
                }
                self.simple(words, &input);
            }
            Body::Group(list) => self.list(list, &input),
            Body::For { name, words, body } => {
                self.refuse(&name.values(), "where a variable's name is", NAME_ADVICE);
                for word in words {
                    self.inside(word, &input);
                    self.hold(&name.lead(), word);
                }
                self.list(body, &input);
            }
            Body::Case { word, patterns, arms } => {
                self.inside(word, &input);
                for pattern in patterns {
                    self.inside(pattern, &input);
                }
                self.list(arms, &input);
            }
            Body::Function { name, body } => {
                self.refuse(&name.values(), "where a function's name is", NAME_ADVICE);
                self.command(body, &input);
            }
        }
    }

    /// What runs within a word.
    fn inside(&mut self, word: &Word, input: &[usize]) {
        for part in &word.parts {
            match part {
                Part::Text { .. } | Part::Value(_) | Part::Opaque => {}
                Part::Substitution { list, .. } => self.list(list, input),
                Part::Arithmetic { names, inner } => {
                    for name in names {
                        self.evaluate(name, "in `$(( ))`");
                    }
                    self.inside(inner, input);
                }
                Part::Parameter { name, inner, is_evaluated, .. } => {
                    if *is_evaluated {
                        let shown = format!("in `${{{name}…}}`");
                        let named = inner.lead();
                        let named = named.split(|c| !is_name_char(c)).map(str::to_owned).collect::<Vec<_>>();
                        named.iter().chain([name]).for_each(|name| self.evaluate(name, &shown));
                        inner.variables().into_iter().for_each(|name| self.evaluate(name, &shown));
                    }
                    self.inside(inner, input);
                }
            }
        }
    }

    fn simple(&mut self, words: &[Word], input: &[usize]) {
        let is_assignment = |word: &&Word| word.assigned().is_some();
        let (assignments, rest) = words.split_at(words.iter().take_while(is_assignment).count());
        for word in assignments {
            self.assignment(word);
        }
        self.run(rest, input);
    }

    /// `NAME=value`.
    pub(super) fn assignment(&mut self, word: &Word) {
        let Some(name) = word.assigned().map(str::to_owned) else { return };
        if word.bare_lead()[name.len()..].starts_with('[') {
            let advice = "Work the index out in an expression, or in a script file.";
            self.refuse(&word.values(), "beside an index, which a shell works out as arithmetic", advice);
        }
        if holds_code(&name) {
            let context = format!("in the variable `{name}`, whose value is taken for code");
            self.refuse(&word.values(), &context, "Write its value as fixed text.");
        }
        self.hold(&name, word);
    }

    /// A command from its program on.
    pub(super) fn run(&mut self, words: &[Word], input: &[usize]) {
        let Some((first, rest)) = words.split_first() else { return };
        if is_assignment_by_value(first) {
            self.refuse(&first.values(), "where a variable's name is", NAME_ADVICE);
        }
        self.refuse(&first.substituted_values(), "in what becomes the program's name", PROGRAM_ADVICE);
        for name in first.variables() {
            self.evaluate(name, "as a program's name");
        }
        let Some(name) = program_name(first) else {
            if !first.parts.iter().any(|part| matches!(part, Part::Opaque)) {
                let beside = "beside a program that is not named here, which could take it for code";
                for word in rest {
                    self.refuse(&word.values(), beside, PROGRAM_ADVICE);
                }
                // What an expansion comes to may be split, and the value then stands behind the program's name.
                let substitutes = first.parts.iter().any(|part| matches!(part, Part::Substitution { .. }));
                if substitutes || !first.variables().is_empty() {
                    self.refuse(&first.values(), beside, PROGRAM_ADVICE);
                }
                self.refuse(
                    input,
                    "in the input of a program that is not named here, which could take it for code",
                    PROGRAM_ADVICE,
                );
            }
            return;
        };
        match program(&name) {
            Program::AllCode => self.all_code(&name, rest, input),
            Program::Names => self.names(&name, rest, input),
            Program::Declares => self.declares(&name, rest),
            Program::ChangesReading => {
                let all: Vec<usize> = (0..self.standings.len()).collect();
                let context = format!("in a command with `{name}`, which changes how the rest is read");
                self.refuse(&all, &context, "Leave it out, or put it into a script file.");
            }
            Program::Interpreter(interpreter) => self.interpreter(&name, &interpreter, rest, input),
            Program::Launcher(launcher) => self.launcher(&name, &launcher, rest, input),
            Program::Find => self.find(rest, input),
            Program::Test => self.test(&name, rest),
            Program::Printf => self.printf(rest),
            Program::Source => self.source(&name, rest),
            Program::Set => rest.iter().for_each(|word| self.hold("@", word)),
            Program::Other => self.other(rest),
        }
    }

    /// A program that is not listed may itself run an interpreter that its words name: `docker exec box sh -c …`.
    fn other(&mut self, words: &[Word]) {
        for word in words {
            self.hold("@", word);
        }
        for (at, word) in words.iter().enumerate() {
            let Some(name) = word.text().and_then(|_| program_name(word)) else { continue };
            let Program::Interpreter(interpreter) = program(&name) else { continue };
            let context = format!("in code for `{name}`");
            for pair in words[at + 1..].windows(2).filter(|pair| (interpreter.option)(&pair[0].lead()) == Takes::Code) {
                for word in pair {
                    self.code(word, &context, interpreter.instead);
                }
            }
        }
    }

    fn launcher(&mut self, name: &str, launcher: &Launcher, words: &[Word], input: &[usize]) {
        let Some(start) = self.launched(name, launcher, words) else {
            let context = format!("after an option of `{name}` that is not known here, so what it runs is not known");
            for word in words {
                self.refuse(&word.values(), &context, PROGRAM_ADVICE);
            }
            return self.refuse(input, &context, PROGRAM_ADVICE);
        };
        let command = &words[start..];
        self.run(command, input);
        let runs_code = command
            .first()
            .and_then(program_name)
            .is_none_or(|name| !matches!(program(&name), Program::Other | Program::Printf));
        if launcher.feeds && runs_code && !command.is_empty() {
            let context = format!("in the input of `{name}`, which makes words of a program out of it");
            self.refuse(input, &context, "Read the input line by line: while IFS= read -r line; do … \"$line\"; done.");
        }
    }

    /// Where the launched program stands; nothing, if an option is not known.
    fn launched(&mut self, name: &str, launcher: &Launcher, words: &[Word]) -> Option<usize> {
        let mut at = 0;
        let mut is_after_options = false;
        while let Some(word) = words.get(at) {
            let lead = word.lead();
            if !lead.starts_with('-') || lead == "-" {
                break;
            }
            at += 1;
            let option = word.text()?;
            if option == "--" {
                is_after_options = true;
                break;
            }
            if option.starts_with("--") {
                if !option.contains('=') && !launcher.long.contains(&option.as_str()) {
                    return None;
                }
                if option.starts_with("--split-string") {
                    return None;
                }
                continue;
            }
            let mut letters = option[1..].chars();
            while let Some(letter) = letters.next() {
                if launcher.with_word.contains(letter) {
                    if letters.as_str().is_empty() {
                        let context = format!("in an option of `{name}`");
                        let values = words.get(at).map(Word::values).unwrap_or_default();
                        self.refuse(&values, &context, "Write the option as fixed text.");
                        at += 1;
                    }
                    break;
                }
                if !launcher.flags.contains(letter) {
                    return None;
                }
            }
        }
        while let Some(word) = words.get(at).filter(|word| launcher.assigns && word.lead().contains('=')) {
            self.assignment(word);
            if word.assigned().is_none() {
                self.refuse(&word.values(), "where a variable's name is", NAME_ADVICE);
            }
            at += 1;
        }
        for word in words.iter().skip(at).take(launcher.operands) {
            if word.begins_with_value() && !is_after_options {
                self.refuse_option(name, word);
            }
            at += 1;
        }
        Some(at)
    }

    /// A word that could be an option, where an option could run code.
    pub(super) fn refuse_option(&mut self, name: &str, word: &Word) {
        let context = format!("where `{name}` would take it for an option if it began with `-`");
        self.refuse(&word.values(), &context, "Write -- before it.");
    }

    /// What is put into a variable.
    pub(super) fn hold(&mut self, name: &str, word: &Word) {
        let values = word.values();
        let variables = word.variables();
        if values.is_empty() && variables.is_empty() {
            return;
        }
        let held = self.held.entry(canonical(name)).or_default();
        held.0.extend(values);
        held.1.extend(variables.into_iter().map(canonical));
    }

    /// Values that are put into a variable by way of what a command reads.
    pub(super) fn hold_values(&mut self, name: &str, values: &[usize]) {
        self.held.entry(canonical(name)).or_default().0.extend(values);
    }

    /// A variable is taken for code.
    pub(super) fn evaluate(&mut self, name: &str, place: &str) {
        self.evaluated.push((canonical(name), place.to_owned()));
    }

    /// A word is taken for code.
    pub(super) fn code(&mut self, word: &Word, context: &str, instead: &str) {
        self.refuse(&word.values(), context, instead);
        word.variables().into_iter().for_each(|name| self.evaluate(name, context));
    }

    /// Refuses the values of variables that are taken for code.
    fn variables(&mut self) {
        for (name, place) in std::mem::take(&mut self.evaluated) {
            let mut seen = vec![name.clone()];
            let mut at = 0;
            while let Some(variable) = seen.get(at).cloned() {
                at += 1;
                let Some((values, from)) = self.held.get(&variable).cloned() else { continue };
                seen.extend(
                    from.into_iter().filter(|from| !seen.contains(from)).collect::<std::collections::BTreeSet<_>>(),
                );
                let shown =
                    if name == "@" { "the shell's arguments".to_owned() } else { format!("the variable `{name}`") };
                let context = format!("in {shown}, whose value is taken for code {place}");
                self.refuse(
                    &values,
                    &context,
                    "Use an expression of the flow there, or a script that checks the value first.",
                );
            }
        }
    }

    pub(super) fn refuse(&mut self, values: &[usize], context: &str, instead: &str) {
        for value in values {
            if let Some(Some(standing)) = self.standings.get_mut(*value)
                && matches!(standing, Standing::At(place) if place.is_read())
            {
                *standing = Standing::Unsafe(Trouble::new(context, instead));
            }
        }
    }
}

/// `@`, `*` and numbers are the shell's arguments.
fn canonical(name: &str) -> String {
    let is_argument = matches!(name, "@" | "*") || !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if is_argument { "@".to_owned() } else { name.to_owned() }
}

/// The name of the program a word names, without its folder; nothing if a value or an expansion may decide it.
pub(super) fn program_name(word: &Word) -> Option<String> {
    let mut name = String::new();
    let mut is_open = false;
    for part in &word.parts {
        match part {
            Part::Text { text, .. } => match text.rsplit_once('/') {
                Some((_, last)) => {
                    is_open = false;
                    last.clone_into(&mut name);
                }
                None => name.push_str(text),
            },
            // Unquoted, it may become several words, the first of which is the program.
            Part::Substitution { quotes: Quotes::None, .. } | Part::Parameter { quotes: Quotes::None, .. } => {
                return None;
            }
            Part::Value(_)
            | Part::Opaque
            | Part::Parameter { .. }
            | Part::Arithmetic { .. }
            | Part::Substitution { .. } => {
                is_open = true;
            }
        }
    }
    if name.is_empty() && word.parts.iter().any(|part| matches!(part, Part::Text { text, .. } if text == ".")) {
        return Some(".".to_owned());
    }
    (!is_open).then_some(name)
}

/// `{{…}}=…`: a value where an assignment has its name.
fn is_assignment_by_value(word: &Word) -> bool {
    let mut has_value = false;
    for part in &word.parts {
        match part {
            Part::Value(_) => has_value = true,
            Part::Text { text, is_quoted: false } => {
                let end = text.find(|c| !is_name_char(c));
                if let Some(end) = end {
                    let rest = &text[end..];
                    return has_value && (rest.starts_with('=') || rest.starts_with("+=") || rest.starts_with('['));
                }
            }
            _ => return false,
        }
    }
    false
}
