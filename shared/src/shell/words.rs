//! The words of programs that take some of them for code, for names, or for commands of their own.

use super::judge::{Judge, NAME_ADVICE, program_name};
use super::programs::{After, Interpreter, Operand, Program, Takes, find_runs, find_takes_word, program};
use super::tree::Word;

const ARGUMENT_ADVICE: &str = "Work the value in by an expression of the flow, or put the code into a script file that takes \
                               it as an argument.";

impl Judge<'_, '_> {
    pub(super) fn all_code(&mut self, name: &str, words: &[Word], input: &[usize]) {
        let context = format!("in what `{name}` takes for code");
        for word in words {
            self.code(word, &context, ARGUMENT_ADVICE);
        }
        self.refuse(input, &context, ARGUMENT_ADVICE);
    }

    /// `read`, `let` and their like.
    pub(super) fn names(&mut self, name: &str, words: &[Word], input: &[usize]) {
        let context = format!("where `{name}` takes a name or arithmetic");
        let is_integer = words.iter().any(|word| word.lead().starts_with('-') && word.lead().contains(['i', 'n']));
        for word in words {
            self.refuse(&word.values(), &context, NAME_ADVICE);
            if matches!(name, "let" | "[[") {
                self.code(word, &context, NAME_ADVICE);
                word.lead()
                    .split(|c: char| !super::tree::is_name_char(c))
                    .for_each(|named| self.evaluate(named, &context));
            }
            if matches!(name, "declare" | "typeset") {
                self.hold(word.assigned().unwrap_or_default(), word);
                if is_integer {
                    self.evaluate(word.assigned().unwrap_or(&word.lead()), &context);
                }
            }
            if matches!(name, "read" | "mapfile" | "readarray" | "getopts") {
                self.hold_values(&word.lead(), input);
            }
        }
    }

    /// `export`, `readonly`, `local`.
    pub(super) fn declares(&mut self, name: &str, words: &[Word]) {
        let has_options = words.iter().any(|word| word.lead().starts_with('-'));
        for word in words {
            if word.assigned().is_some() && !has_options {
                self.assignment(word);
            } else {
                self.refuse(&word.values(), &format!("where `{name}` takes a variable's name"), NAME_ADVICE);
            }
        }
    }

    pub(super) fn source(&mut self, name: &str, words: &[Word]) {
        if let Some((script, rest)) = words.split_first() {
            self.script(name, script, ARGUMENT_ADVICE);
            for word in rest {
                self.hold("@", word);
            }
        }
    }

    /// The file that code is read from: a value may name a part of its path.
    fn script(&mut self, name: &str, word: &Word, instead: &str) {
        let mut values = word.substituted_values();
        if word.begins_with_value() {
            values.extend(word.values());
        }
        self.refuse(&values, &format!("where `{name}` takes the file of its code"), instead);
    }

    pub(super) fn interpreter(&mut self, name: &str, interpreter: &Interpreter, words: &[Word], input: &[usize]) {
        if self.options_of(name, interpreter, words) == Code::FromInput {
            self.refuse(input, &format!("in the input of `{name}`, which takes it for code"), interpreter.instead);
        }
    }

    /// Goes through an interpreter's words, and tells where its code comes from.
    pub(super) fn options_of(&mut self, name: &str, interpreter: &Interpreter, words: &[Word]) -> Code {
        let code = format!("in code for `{name}`");
        let option = format!("in an option of `{name}`");
        let mut has_code = false;
        let mut reads_options = true;
        let mut from = Code::FromInput;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let lead = word.lead();
            if reads_options && lead == "--" && word.text().is_some() {
                reads_options = false;
                continue;
            }
            if reads_options && lead.starts_with('-') {
                let Some(text) = word.text() else {
                    // awk -F{{…}}
                    let is_data = (interpreter.option)(&lead) == Takes::Data;
                    if !is_data {
                        self.code(word, &option, interpreter.instead);
                    }
                    has_code |= (interpreter.option)(&lead) == Takes::Code;
                    from = if has_code { Code::Given } else { from };
                    continue;
                };
                match (interpreter.option)(&text) {
                    Takes::Nothing => {
                        // `--eval=…` gives code in the same word.
                        let long = text.split_once('=').map(|(long, _)| (interpreter.option)(long));
                        has_code |= matches!(long, Some(Takes::Code | Takes::Script));
                    }
                    Takes::Code => {
                        if let Some(word) = words.next() {
                            self.code(word, &code, interpreter.instead);
                            // `sh -c -e code`: which word the code is depends on what each option takes.
                            if word.lead().starts_with(['-', '+']) {
                                for word in words.by_ref() {
                                    self.code(word, &code, interpreter.instead);
                                }
                            }
                        }
                        has_code = true;
                        if interpreter.after == After::Data && interpreter.operand == Operand::Script {
                            return Code::Given;
                        }
                    }
                    Takes::Script => {
                        if let Some(word) = words.next() {
                            from = self.script_source(name, word, interpreter.instead, from);
                        }
                        has_code = true;
                        if interpreter.after == After::Data && interpreter.operand == Operand::Script {
                            return Code::Given;
                        }
                    }
                    Takes::Input => return Code::FromInput,
                    Takes::Fixed => {
                        if let Some(word) = words.next() {
                            self.code(word, &option, interpreter.instead);
                        }
                    }
                    Takes::Data => {
                        words.next();
                    }
                    Takes::NameAndData => {
                        if let Some(word) = words.next() {
                            self.refuse(&word.values(), &option, NAME_ADVICE);
                        }
                        words.next();
                    }
                    Takes::Assignment => {
                        if let Some(word) = words.next().filter(|word| word.assigned().is_none()) {
                            self.refuse(&word.values(), &option, NAME_ADVICE);
                        }
                    }
                }
                from = if has_code { Code::Given } else { from };
                continue;
            }
            if has_code {
                if reads_options && interpreter.after == After::Options && word.begins_with_value() {
                    self.refuse_option(name, word);
                }
                continue;
            }
            has_code = true;
            match interpreter.operand {
                Operand::Code => {
                    self.code(word, &code, interpreter.instead);
                    from = Code::Given;
                }
                Operand::Script => return self.script_source(name, word, interpreter.instead, Code::Given),
            }
        }
        from
    }

    fn script_source(&mut self, name: &str, word: &Word, instead: &str, otherwise: Code) -> Code {
        self.script(name, word, instead);
        let path = word.lead();
        let is_input =
            path == "-" || path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/");
        if is_input { Code::FromInput } else { otherwise }
    }

    /// `[` and `test`: two words side by side could be `-v` and an index, which bash works out.
    pub(super) fn test(&mut self, name: &str, words: &[Word]) {
        let takes_name = words.iter().any(|word| matches!(word.lead().as_str(), "-v" | "-R"));
        for (at, word) in words.iter().enumerate() {
            if takes_name {
                self.code(word, &format!("in a test of `{name}` by a variable's name"), NAME_ADVICE);
            } else if at > 0 && words[at - 1].begins_with_value() && !word.values().is_empty() {
                let context = format!("right after another value in `{name}`, which could be an operator");
                self.refuse(&word.values(), &context, "Write an operator between them, such as =.");
            }
            if word.splits() {
                let context =
                    format!("in `$( )` without double quotes in `{name}`, where its words could be operators");
                self.refuse(&word.substituted_values(), &context, "Write double quotes around the `$( )`.");
            }
        }
    }

    /// `printf -v` takes a name, and a format that is a value could be `-v`.
    pub(super) fn printf(&mut self, words: &[Word]) {
        let Some(first) = words.first() else { return };
        if first.lead().starts_with("-v") {
            let names = if first.lead() == "-v" { words.get(1) } else { Some(first) };
            if let Some(word) = names {
                self.code(word, "where `printf -v` takes a variable's name", NAME_ADVICE);
            }
        } else if first.begins_with_value() {
            self.refuse(
                &first.values(),
                "where `printf` takes its format",
                "Write a format before it: printf '%s' {value}.",
            );
        }
    }

    /// `find`: the words of `-exec` are a command; words of data stand right after their test.
    pub(super) fn find(&mut self, words: &[Word], input: &[usize]) {
        let mut open = Vec::new();
        let mut runs_code = false;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.text().unwrap_or_default();
            at += 1;
            if find_runs(&text) {
                let length = words[at..].iter().position(|word| matches!(word.text().as_deref(), Some(";" | "+")));
                let command = &words[at..length.map_or(words.len(), |length| at + length)];
                self.run(command, input);
                let name = command.first().and_then(program_name);
                let has_files_in_code =
                    command.iter().filter(|word| word.lead().contains("{}")).any(|word| word.lead() != "{}");
                let is_interpreter =
                    name.is_none_or(|name| !matches!(program(&name), Program::Other | Program::Printf));
                runs_code |=
                    is_interpreter && (has_files_in_code || command.get(1).is_some_and(|word| word.lead() == "{}"));
                at += command.len();
            } else if find_takes_word(&text) {
                at += 1;
            } else if !word.values().is_empty() {
                open.push(word);
            }
        }
        if runs_code {
            for word in words {
                let instead = "Hand the file names over after the code: -exec sh -c '… \"$1\" …' sh {} \\;";
                self.refuse(&word.values(), "in a `find` whose file names are taken for code", instead);
            }
        }
        let can_be_options = open.iter().filter(|word| word.begins_with_value()).count();
        if can_be_options > 1 {
            for word in open.iter().filter(|word| word.begins_with_value()) {
                let context = "beside another value in `find`, which together could be `-exec`";
                self.refuse(
                    &word.values(),
                    context,
                    "Write a fixed beginning, as in ./{value}, or run one find for each.",
                );
            }
        }
    }
}

/// Where an interpreter takes its code from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    Given,
    FromInput,
}
