//! The shape of each object of a flow file, key by key, in the order in which it is printed.

use std::collections::BTreeMap;

use serde_json::json;

use super::tree::{Located, Tree};
use super::walk::{Fields, Walk, as_count};
use crate::finding::Code;
use crate::flow::{
    Calendar, Concurrency, Edge, FORMAT, Flow, LastDay, MonthDay, Node, Note, Place, Retry, Schedule, Stop, StopSignal,
};
use crate::found::Found;
use crate::pointer::Path;

const FLOW: &[&str] = &[
    "$schema",
    "format",
    "name",
    "description",
    "goal",
    "inputs",
    "onFailure",
    "concurrency",
    "schedules",
    "nodes",
    "edges",
    "notes",
    "pins",
    "layout",
];
const NODE: &[&str] = &[
    "id",
    "tool",
    "title",
    "description",
    "disabled",
    "approval",
    "idempotent",
    "retry",
    "timeoutSeconds",
    "stop",
    "args",
];
const EDGE: &[&str] = &["source", "port", "target"];
const CONCURRENCY: &[&str] = &["limit", "onLimit"];
const RETRY: &[&str] = &["maxAttempts", "backoffMs"];
const STOP: &[&str] = &["signal", "graceSeconds"];
const SCHEDULE: &[&str] = &[
    "name",
    "calendar",
    "cron",
    "intervalSeconds",
    "timeZone",
    "recurring",
    "fireImmediately",
    "expiresAt",
    "inputs",
    "permissionMode",
    "overlap",
    "catchUp",
    "enabled",
];
const CALENDAR: &[&str] = &["frequency", "time", "weekdays", "monthDay"];
const NOTE: &[&str] = &["id", "text", "color", "x", "y", "width", "height"];
const PLACE: &[&str] = &["x", "y"];

/// Where a key is at home that was put somewhere else. A key of several homes names the likeliest.
pub(super) const HOMES: &[(&[&str], &str)] = &[
    (NODE, "a node"),
    (FLOW, "the flow"),
    (RETRY, "`retry` of a node"),
    (STOP, "`stop` of a node"),
    (EDGE, "an edge"),
    (CONCURRENCY, "`concurrency`"),
    (SCHEDULE, "a schedule"),
    (CALENDAR, "`calendar` of a schedule"),
    (NOTE, "a note"),
];

/// The number under `format`, when it is one.
pub(super) fn format_of(root: &Located) -> Option<u64> {
    let Tree::Object(members) = &root.value else { return None };
    members.iter().find(|member| member.key == "format").and_then(|member| as_count(&member.value))
}

/// The ids of the nodes as far as they can be told, in file order; an empty text where there is none.
pub(super) fn node_ids(root: &Located) -> Vec<String> {
    let member = |located: &Located, key: &str| -> Option<usize> {
        let Tree::Object(members) = &located.value else { return None };
        members.iter().position(|member| member.key == key)
    };
    let Tree::Object(members) = &root.value else { return Vec::new() };
    let Some(Tree::List(nodes)) = member(root, "nodes").map(|at| &members[at].value.value) else {
        return Vec::new();
    };
    nodes
        .iter()
        .map(|node| match &node.value {
            Tree::Object(fields) => match member(node, "id").map(|at| &fields[at].value.value) {
                Some(Tree::Text(id)) => id.as_ref().to_owned(),
                _ => String::new(),
            },
            _ => String::new(),
        })
        .collect()
}

/// Reads the root object.
pub(super) fn flow(walk: &mut Walk, root: &Located) -> Flow {
    let Some(fields) = walk.object(root, &Path::ROOT, FLOW) else { return Flow::default() };
    Flow {
        schema: walk.text(&fields, "$schema"),
        format: format(walk, &fields),
        name: walk.required_text(&fields, "name"),
        description: walk.text(&fields, "description"),
        goal: walk.text(&fields, "goal"),
        // Any value: whether it is a schema is judged by a rule, so that a bad one still opens.
        inputs: fields.get("inputs").map(|(located, _)| located.to_value()),
        on_failure: walk.word(&fields, "onFailure", &["finish", "cancel"]),
        concurrency: fields.get("concurrency").and_then(|(it, pointer)| concurrency(walk, it, &pointer)),
        schedules: walk.list(fields.get("schedules"), schedule),
        nodes: {
            let nodes = walk.required(&fields, "nodes", "a list");
            walk.list(nodes, node).unwrap_or_default()
        },
        edges: {
            let edges = walk.required(&fields, "edges", "a list");
            walk.list(edges, edge).unwrap_or_default()
        },
        notes: walk.list(fields.get("notes"), note).unwrap_or_default(),
        pins: walk.map(&fields, "pins").unwrap_or_default(),
        layout: layout(walk, &fields),
        extensions: fields.extensions(),
    }
}

/// A newer format is its own finding; anything else that is not the known one is a wrong shape.
fn format(walk: &mut Walk, fields: &Fields<'_, '_>) -> u64 {
    let expected = FORMAT.to_string();
    let Some((located, pointer)) = walk.required(fields, "format", &expected) else { return FORMAT };
    match as_count(located) {
        Some(FORMAT) => FORMAT,
        Some(newer) if newer > FORMAT => {
            let params = json!({ "format": newer, "supported": FORMAT });
            walk.found.push(Found::new(Code::UnsupportedFormat, &pointer, params));
            newer
        }
        _ => {
            walk.wrong_shape(located, &pointer, &expected);
            FORMAT
        }
    }
}

fn node(walk: &mut Walk, located: &Located, pointer: &Path<'_>) -> Node {
    let Some(fields) = walk.object(located, pointer, NODE) else { return Node::default() };
    Node {
        id: walk.required_text(&fields, "id"),
        tool: walk.required_text(&fields, "tool"),
        title: walk.text(&fields, "title"),
        description: walk.text(&fields, "description"),
        disabled: walk.flag(&fields, "disabled"),
        approval: walk.flag(&fields, "approval"),
        idempotent: walk.flag(&fields, "idempotent"),
        retry: fields.get("retry").and_then(|(it, pointer)| retry(walk, it, &pointer)),
        timeout_seconds: walk.count(&fields, "timeoutSeconds"),
        stop: fields.get("stop").and_then(|(it, pointer)| stop(walk, it, &pointer)),
        args: walk.map(&fields, "args"),
        extensions: fields.extensions(),
    }
}

fn retry(walk: &mut Walk, located: &Located, pointer: &Path<'_>) -> Option<Retry> {
    let fields = walk.object(located, pointer, RETRY)?;
    Some(Retry {
        max_attempts: walk.count(&fields, "maxAttempts"),
        backoff_ms: walk.count(&fields, "backoffMs"),
        extensions: fields.extensions(),
    })
}

fn stop(walk: &mut Walk, located: &Located, pointer: &Path<'_>) -> Option<Stop> {
    let fields = walk.object(located, pointer, STOP)?;
    Some(Stop {
        signal: walk.word(&fields, "signal", &StopSignal::NAMES),
        grace_seconds: walk.count(&fields, "graceSeconds"),
        extensions: fields.extensions(),
    })
}

fn edge(walk: &mut Walk, located: &Located, pointer: &Path<'_>) -> Edge {
    let Some(fields) = walk.object(located, pointer, EDGE) else { return Edge::default() };
    Edge {
        source: walk.required_text(&fields, "source"),
        port: walk.text(&fields, "port"),
        target: walk.required_text(&fields, "target"),
        extensions: fields.extensions(),
    }
}

fn concurrency(walk: &mut Walk, located: &Located, pointer: &Path<'_>) -> Option<Concurrency> {
    let fields = walk.object(located, pointer, CONCURRENCY)?;
    let limit = match walk.required(&fields, "limit", "a whole number from 1") {
        Some(_) => walk.count(&fields, "limit").unwrap_or(1),
        None => 1,
    };
    Some(Concurrency {
        limit,
        on_limit: walk.word(&fields, "onLimit", &["queue", "skip", "cancelOldest"]),
        extensions: fields.extensions(),
    })
}

fn schedule(walk: &mut Walk, located: &Located, pointer: &Path<'_>) -> Schedule {
    let Some(fields) = walk.object(located, pointer, SCHEDULE) else { return Schedule::default() };
    Schedule {
        name: walk.text(&fields, "name"),
        calendar: fields.get("calendar").and_then(|(it, pointer)| calendar(walk, it, &pointer)),
        cron: walk.text(&fields, "cron"),
        interval_seconds: walk.count(&fields, "intervalSeconds"),
        time_zone: walk.text(&fields, "timeZone"),
        recurring: walk.flag(&fields, "recurring"),
        fire_immediately: walk.flag(&fields, "fireImmediately"),
        expires_at: walk.optional(&fields, "expiresAt", "a text or null", |located| match &located.value {
            Tree::Null => Some(None),
            Tree::Text(text) => Some(Some(text.as_ref().to_owned())),
            _ => None,
        }),
        inputs: walk.map(&fields, "inputs"),
        permission_mode: walk.word(&fields, "permissionMode", &["ask-for-approval", "approve-for-me", "full-access"]),
        overlap: walk.word(&fields, "overlap", &["skip", "queue", "allow"]),
        catch_up: walk.word(&fields, "catchUp", &["latest", "none", "all"]),
        enabled: walk.flag(&fields, "enabled"),
        extensions: fields.extensions(),
    }
}

fn calendar(walk: &mut Walk, located: &Located, pointer: &Path<'_>) -> Option<Calendar> {
    let fields = walk.object(located, pointer, CALENDAR)?;
    Some(Calendar {
        frequency: walk.word(&fields, "frequency", &["daily", "weekly", "monthly"]),
        time: walk.text(&fields, "time"),
        weekdays: walk.list(fields.get("weekdays"), |walk, located, pointer| {
            as_count(located).unwrap_or_else(|| {
                walk.wrong_shape(located, pointer, "a whole number from 1 (Monday) to 7");
                1
            })
        }),
        month_day: walk.optional(&fields, "monthDay", "a day from 1 to 31, or \"last\"", |located| {
            match &located.value {
                Tree::Text(text) if text == "last" => Some(MonthDay::Last(LastDay::Last)),
                _ => as_count(located).map(MonthDay::Day),
            }
        }),
        extensions: fields.extensions(),
    })
}

fn note(walk: &mut Walk, located: &Located, pointer: &Path<'_>) -> Note {
    let Some(fields) = walk.object(located, pointer, NOTE) else { return Note::default() };
    Note {
        id: walk.required_text(&fields, "id"),
        text: walk.required_text(&fields, "text"),
        color: walk.word(&fields, "color", &["yellow", "green", "blue", "pink"]),
        x: walk.required_coordinate(&fields, "x"),
        y: walk.required_coordinate(&fields, "y"),
        width: size(walk, &fields, "width"),
        height: size(walk, &fields, "height"),
        extensions: fields.extensions(),
    }
}

fn size(walk: &mut Walk, fields: &Fields<'_, '_>, key: &str) -> Option<u64> {
    let size = walk.coordinate(fields, key)?;
    u64::try_from(size).ok().or_else(|| {
        if let Some((located, pointer)) = fields.get(key) {
            walk.wrong_shape(located, &pointer, "a number from 0");
        }
        None
    })
}

/// Free keys (node ids), closed entries.
fn layout(walk: &mut Walk, fields: &Fields<'_, '_>) -> BTreeMap<String, Place> {
    let Some((located, pointer)) = fields.get("layout") else { return BTreeMap::new() };
    let Tree::Object(members) = &located.value else {
        walk.wrong_shape(located, &pointer, "an object");
        return BTreeMap::new();
    };
    let mut places = BTreeMap::new();
    for member in members {
        let here = pointer.key(&member.key);
        if let Some(fields) = walk.object(&member.value, &here, PLACE) {
            let place = Place { x: walk.required_coordinate(&fields, "x"), y: walk.required_coordinate(&fields, "y") };
            places.entry(member.key.as_ref().to_owned()).or_insert(place);
        }
    }
    places
}
