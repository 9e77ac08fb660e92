//! What references name: inputs, nodes and fields that exist, in a form that can be resolved.

use std::ops::Range;

use serde_json::{Value, json};

use super::ground::Ground;
use super::yields::reference_yields;
use crate::finding::Code;
use crate::found::{At, Found};
use crate::nearest::nearest;
use crate::pointer::Pointer;
use crate::reference::{Content, Dialect, Named, Names, Reference, Root, Segment, Syntax, Template, parse};
use crate::schema::{Described, Types};

pub(super) fn references(ground: &Ground<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for text in &ground.texts {
        template(ground, &text.template, &|| text.pointer(), &mut found);
    }
    if let Some(goal) = &ground.flow.goal {
        let pointer = Pointer::root().key("goal");
        let goal = parse(goal, Dialect::Flow, Syntax::Text);
        template(ground, &goal, &|| pointer.clone(), &mut found);
        for Named { reference, range, .. } in goal.names().named {
            if matches!(reference.root, Root::NodeResult(_) | Root::NodeInput(_) | Root::Secret(_)) {
                let params = json!({
                    "reference": &goal.text[range.clone()], "place": range.start,
                    "reason": "a goal is known before any step runs, so it takes inputs and facts of the run only",
                });
                found.push(Found::new(Code::MalformedReference, &pointer, params).at(At::Inside(range.start)));
            }
        }
    }
    found
}

/// `pointer` tells where the template stands: asked for only where something is found.
fn template(ground: &Ground<'_>, template: &Template<'_>, pointer: &dyn Fn() -> Pointer, found: &mut Vec<Found>) {
    let mut add = |code: Code, place: usize, params: Value| {
        found.push(Found::new(code, pointer(), params).at(At::Inside(place)));
    };
    let mut malformed = |place: usize, written: &str, reason: &str| {
        let params = json!({ "reference": short(written), "place": place, "reason": reason });
        add(Code::MalformedReference, place, params);
    };
    for piece in &template.pieces {
        if let Content::Fault(fault) = &piece.content {
            malformed(piece.range.start, &template.text[piece.range.clone()], &fault.reason);
        }
    }
    let names = template.names();
    for problem in &names.problems {
        malformed(problem.place, &problem.written, &problem.reason);
    }
    for (range, secret) in pasted_secrets(template, &names) {
        malformed(range.start, &template.text[range], &format!("the secret `{secret}` would show in the command"));
    }
    for named in &names.named {
        for (code, params) in judge(ground, &named.reference, named.range.start) {
            add(code, named.range.start, params);
        }
    }
    for piece in template.pieces.iter().filter(|piece| matches!(piece.content, Content::RawShell(_))) {
        add(Code::RawShell, piece.range.start, json!({ "place": piece.range.start }));
    }
}

/// Secrets that would be pasted into a command as shell text.
fn pasted_secrets(template: &Template<'_>, names: &Names) -> Vec<(Range<usize>, String)> {
    let is_pasted = |range: &Range<usize>| {
        let mut raw = template.pieces.iter().filter(|piece| matches!(piece.content, Content::RawShell(_)));
        raw.any(|piece| piece.range.contains(&range.start))
    };
    let secret = |named: &Named| match &named.reference.root {
        Root::Secret(name) if is_pasted(&named.range) => Some((named.range.clone(), name.clone())),
        _ => None,
    };
    names.named.iter().filter_map(secret).collect()
}

/// The text of a faulty piece, cut for a message.
fn short(written: &str) -> String {
    if written.chars().count() <= 80 { written.to_owned() } else { written.chars().take(79).chain(['…']).collect() }
}

fn judge(ground: &Ground<'_>, reference: &Reference, place: usize) -> Vec<(Code, Value)> {
    let flow = ground.flow;
    match &reference.root {
        Root::Inputs => {
            if let Some(finding) = undeclared_input(ground, reference, place) {
                return vec![finding];
            }
        }
        Root::NodeResult(id) | Root::NodeInput(id) => {
            if flow.node(id).is_none() {
                let near = nearest(id, flow.nodes.iter().map(|node| node.id.as_str()));
                let params = json!({ "node": id, "reference": reference.to_string(), "place": place, "nearest": near });
                return vec![(Code::UnknownNodeReference, params)];
            }
        }
        Root::Secret(name) => {
            let is_unknown = ground.around.secrets.is_some_and(|known| !known.contains(name));
            return is_unknown
                .then(|| (Code::UnknownSecret, json!({ "name": name, "place": place })))
                .into_iter()
                .collect();
        }
        Root::Fact(_) | Root::StepResult(_) | Root::StepInput(_) | Root::LastResult => return Vec::new(),
    }
    let Described::Undeclared { depth, known } = reference_yields(reference, flow, ground.around.catalog) else {
        return Vec::new();
    };
    let field = match reference.path.get(depth) {
        Some(Segment::Key(key) | Segment::Number(key)) => key.clone(),
        None => String::new(),
    };
    let declares = match &reference.root {
        Root::NodeResult(id) | Root::NodeInput(id) => flow.node(id).map_or("", |node| node.tool.as_str()),
        _ => "inputs",
    };
    let near = nearest(&field, known.iter().map(String::as_str)).map(str::to_owned);
    let params = json!({
        "reference": reference.to_string(), "place": place, "field": field, "tool": declares, "known": known,
        "nearest": near,
    });
    vec![(Code::UnknownFieldReference, params)]
}

/// An input counts as declared when the schema names it, or says that it takes more than it names.
fn undeclared_input(ground: &Ground<'_>, reference: &Reference, place: usize) -> Option<(Code, Value)> {
    let Some(Segment::Key(name) | Segment::Number(name)) = reference.path.first() else { return None };
    let schema = ground.flow.inputs.as_ref();
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let declared: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let first = Reference { root: Root::Inputs, path: reference.path[..1].to_vec() };
    let is_open = schema.is_some_and(|schema| {
        let describes = schema.get("properties").is_some() || schema.get("additionalProperties").is_some();
        let described = reference_yields(&first, ground.flow, ground.around.catalog);
        describes && described == Described::As(Types::ANY)
    });
    if declared.contains(&name.as_str()) || is_open {
        return None;
    }
    let near = nearest(name, declared.iter().copied());
    let params = json!({
        "input": name, "reference": reference.to_string(), "place": place, "declared": declared, "nearest": near,
    });
    Some((Code::UndeclaredInput, params))
}
