//! `{{input.path}}` inside a program's argument: filled in from the arguments of a call, and still one argument.
//!
//! No other syntax: what a program gets is decided by the manifest, not by a language in it.

use serde_json::Value;

/// An argument of the command, in pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// The way from the arguments to a value.
    Input(Vec<String>),
}

impl Template {
    /// Reads an argument as the manifest has it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            let (before, inside) = rest.split_at(start);
            let end = inside.find("}}").ok_or_else(|| "`{{` without `}}`".to_owned())?;
            let name = inside[2..end].trim();
            let steps = name.strip_prefix("input.").map(|path| path.split('.').map(str::to_owned).collect::<Vec<_>>());
            let steps = steps.filter(|steps| steps.iter().all(|step| is_step(step)));
            let Some(steps) = steps else {
                return Err(format!(
                    "`{{{{{name}}}}}`: only `{{{{input.NAME}}}}` can stand here, with further names after dots"
                ));
            };
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            pieces.push(Piece::Input(steps));
            rest = &inside[end + 2..];
        }
        if !rest.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self(pieces))
    }

    /// The arguments of the tool that it names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Input(steps) => steps.first().map(String::as_str),
            Piece::Text(_) => None,
        })
    }

    /// The argument of one call. A text goes in as it is, anything else as compact JSON.
    pub(super) fn fill(&self, arguments: &Value) -> Result<String, String> {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Input(steps) => match find(arguments, steps) {
                    Some(Value::String(text)) => filled.push_str(text),
                    Some(value) => filled.push_str(&value.to_string()),
                    None => {
                        return Err(format!(
                            "the command needs `{}`, which the arguments do not have",
                            steps.join(".")
                        ));
                    }
                },
            }
        }
        Ok(filled)
    }
}

fn is_step(step: &str) -> bool {
    !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn find<'a>(arguments: &'a Value, steps: &[String]) -> Option<&'a Value> {
    steps.iter().try_fold(arguments, |value, step| match value {
        Value::Object(fields) => fields.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_part_of_one_argument_whatever_is_in_it() {
        let arguments = json!({ "path": "a b; $(rm)", "deep": { "list": [1, { "x": true }] } });
        for (text, filled) in [
            ("--file={{input.path}}", "--file=a b; $(rm)"),
            ("{{ input.deep.list.1 }}-{{input.deep.list.0}}", "{\"x\":true}-1"),
            ("plain } {", "plain } {"),
            ("", ""),
        ] {
            assert_eq!(Template::read(text).unwrap().fill(&arguments).as_deref(), Ok(filled), "{text}");
        }
        let missing = Template::read("{{input.gone}}").unwrap();
        assert!(missing.fill(&arguments).unwrap_err().contains("`gone`"));
        assert_eq!(Template::read("{{input.a.b}}{{input.c}}").unwrap().names().collect::<Vec<_>>(), ["a", "c"]);
    }

    #[test]
    fn nothing_else_is_syntax() {
        for text in ["{{inputs.a}}", "{{input}}", "{{input.}}", "{{input.a | upper}}", "{{input.a"] {
            assert!(Template::read(text).is_err(), "{text}");
        }
    }
}
