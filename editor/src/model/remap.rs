//! Renaming the nodes that texts refer to: what pasted nodes need to keep naming each other.
//!
//! Only what stands between braces is touched, in plain references and in expressions alike; a command that happens
//! to hold the words `node.a` stays as it is.

use std::collections::BTreeMap;

use serde_json::Value;

/// New ids by old ones.
pub type Renames = BTreeMap<String, String>;

/// Renames in every string of a value.
pub fn rename_in(value: &mut Value, renames: &Renames) {
    match value {
        Value::String(text) => {
            if let Some(renamed) = renamed(text, renames) {
                *text = renamed;
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| rename_in(element, renames)),
        Value::Object(members) => members.values_mut().for_each(|member| rename_in(member, renames)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text with its references renamed; `None` when it holds none of the old ids.
fn renamed(text: &str, renames: &Renames) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut changed = false;
    while let Some(open) = next_open(rest) {
        let (before, inside) = rest.split_at(open);
        out.push_str(before);
        let close = if inside.starts_with("{{") { "}}" } else { "%}" };
        let Some(end) = inside.find(close).map(|at| at + close.len()) else {
            rest = inside;
            break;
        };
        let (braces, after) = inside.split_at(end);
        changed |= write_renamed(&mut out, braces, renames);
        rest = after;
    }
    out.push_str(rest);
    changed.then_some(out)
}

fn next_open(text: &str) -> Option<usize> {
    [text.find("{{"), text.find("{%")].into_iter().flatten().min()
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// Writes the part between braces; whether an id in it is another now.
fn write_renamed(out: &mut String, braces: &str, renames: &Renames) -> bool {
    const ROOT: &str = "node.";
    let (mut rest, mut changed) = (braces, false);
    let mut before: Option<char> = None;
    while let Some(at) = rest.find(ROOT) {
        let (head, tail) = rest.split_at(at + ROOT.len());
        out.push_str(head);
        let starts = rest[..at].chars().next_back().or(before).is_none_or(|c| !in_word(c) && c != '.');
        let length = tail.find(|c| !in_word(c)).unwrap_or(tail.len());
        let (id, after) = tail.split_at(length);
        match renames.get(id).filter(|_| starts) {
            Some(new) => {
                out.push_str(new);
                changed |= new != id;
            }
            None => out.push_str(id),
        }
        before = id.chars().next_back().or(Some('.'));
        rest = after;
    }
    out.push_str(rest);
    changed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_and_expressions_are_renamed_and_nothing_else() {
        let renames = Renames::from([("a".to_owned(), "a_1".to_owned()), ("a_b".to_owned(), "c".to_owned())]);
        let mut value = json!({
            "plain": "{{node.a.result.id}} and {{ node.a_b.result }}",
            "expression": "{% if node.a.result.ok %}{{ inputs.x ~ node.a.input.y | upper }}{% endif %}",
            "not braces": "cat node.a.txt; echo {{node.other.result}} {{ last_node.a }} {{ inputs.node.a }}",
            "open": "{{ node.a",
            "list": [1, "{{node.a.result}}", null],
        });
        rename_in(&mut value, &renames);
        assert_eq!(
            value,
            json!({
                "plain": "{{node.a_1.result.id}} and {{ node.c.result }}",
                "expression": "{% if node.a_1.result.ok %}{{ inputs.x ~ node.a_1.input.y | upper }}{% endif %}",
                "not braces": "cat node.a.txt; echo {{node.other.result}} {{ last_node.a }} {{ inputs.node.a }}",
                "open": "{{ node.a",
                "list": [1, "{{node.a_1.result}}", null],
            })
        );
    }
}
