//! References in shell commands: each must stand where its value is one piece of one word.

use serde_json::json;

use super::ground::Ground;
use crate::finding::Code;
use crate::found::{At, Found};
use crate::reference::Syntax;
use crate::shell::places;

pub(super) fn commands(ground: &Ground<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for text in ground.texts.iter().filter(|text| text.syntax == Syntax::Shell && !text.template.is_literal()) {
        for refusal in places(&text.template).err().into_iter().flatten() {
            let params = json!({
                "reference": &text.template.text[refusal.range.clone()], "place": refusal.place,
                "context": refusal.context, "instead": refusal.instead,
            });
            found.push(Found::new(Code::ShellContext, text.pointer(), params).at(At::Inside(refusal.place)));
        }
    }
    found
}
