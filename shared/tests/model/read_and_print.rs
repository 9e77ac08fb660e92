//! Reading and printing flow files: inverses of each other, strict, and exact about places.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Number, Value, json};
use weir_shared::canonical::print;
use weir_shared::finding::Finding;
use weir_shared::flow::{
    Concurrency, Edge, Flow, Node, Note, OnFailure, OnLimit, Place, Retry, START, Stop, StopSignal,
};
use weir_shared::read::read;

use crate::fixture;

/// `code path line:column` of each finding.
fn brief(findings: &[Finding]) -> Vec<String> {
    let place = |finding: &Finding| format!("{}:{}", finding.line.unwrap_or(0), finding.column.unwrap_or(0));
    let path = |finding: &Finding| finding.params.get("path").and_then(|it| it.as_str()).unwrap_or("").to_owned();
    findings.iter().map(|it| format!("{} {} {}", it.code.as_str(), path(it), place(it))).collect()
}

#[test]
fn a_canonical_file_is_a_fixed_point() {
    let text = fixture("canonical/stock-watch.flow.json");
    let reading = read(text.as_bytes());
    assert_eq!(brief(&reading.findings), Vec::<String>::new());
    assert_eq!(print(&reading.flow.unwrap()), text);
}

#[test]
fn moving_a_node_changes_one_line() {
    let text = fixture("canonical/stock-watch.flow.json");
    let mut flow = read(text.as_bytes()).flow.unwrap();
    flow.layout.get_mut("count").unwrap().x += 16;
    let moved = print(&flow);
    let changed = text.lines().zip(moved.lines()).filter(|(before, after)| before != after).count();
    assert_eq!((changed, moved.lines().count()), (1, text.lines().count()));
}

#[test]
fn places_of_absent_nodes_are_dropped_and_keys_come_into_order() {
    let text = r#"{"edges":[],"nodes":[{"tool":"delay","id":"wait"}],"layout":{"wait":{"y":1.6,"x":0},"gone":{"x":1,"y":1}},
        "name":"n","format":1}"#;
    let printed = print(&read(text.as_bytes()).flow.unwrap());
    assert_eq!(
        printed,
        "{\n  \"format\": 1,\n  \"name\": \"n\",\n  \"nodes\": [\n    {\n      \"id\": \"wait\",\n      \"tool\": \
         \"delay\"\n    }\n  ],\n  \"edges\": [],\n  \"layout\": {\n    \"wait\": { \"x\": 0, \"y\": 2 }\n  }\n}\n"
    );
}

#[test]
fn every_level_is_closed_and_everything_is_named_at_once() {
    let text = r#"{
  "format": 1,
  "name": "n",
  "aproval": true,
  "nodes": [
    { "id": "a", "tool": "t", "requires_aproval": true, "retry": { "max": 2 }, "stop": { "x-why": 1, "sig": "INT" } },
    { "id": "b", "tool": "t", "args": { "k": 1, "k": 2, "big": 18446744073709551616 } }
  ],
  "edges": [{ "source": "a", "target": "b", "approval": true }],
  "schedules": [{ "calender": {}, "calendar": { "hour": 3 } }],
  "layout": { "a": { "x": 0, "y": 0, "z": 0 } },
  "notes": [{ "id": "n", "text": "t", "x": 0, "y": 0, "colour": "blue" }]
}"#;
    let reading = read(text.as_bytes());
    assert!(reading.flow.is_none());
    assert_eq!(
        brief(&reading.findings),
        [
            "unknown_key aproval 4:3",
            "unknown_key nodes[0].requires_aproval 6:31",
            "unknown_key nodes[0].retry.max 6:68",
            "unknown_key nodes[0].stop.sig 6:102",
            "duplicate_key nodes[1].args.k 7:49",
            "number_out_of_range nodes[1].args.big 7:64",
            "unknown_key edges[0].approval 9:45",
            "unknown_key schedules[0].calender 10:19",
            "unknown_key schedules[0].calendar.hour 10:49",
            "unknown_key layout.a.z 11:38",
            "unknown_key notes[0].colour 12:55",
        ]
    );
}

#[test]
fn what_is_not_json_is_told_with_its_place() {
    let nested = format!("{{\"a\":{}", "[".repeat(200));
    for (bytes, at, says) in [
        (&b"\xEF\xBB\xBF{}"[..], "1:1", "byte-order mark"),
        (b"{\n  \"name\": \"\xFF\"}", "2:12", "UTF-8"),
        (b"", "1:1", "not JSON"),
        (b"{\n \"a\": 1,\n}", "3:1", "not JSON"),
        (b"{ // no\n}", "1:3", "not JSON"),
        (b"{\"a\": 'x'}", "1:7", "not JSON"),
        (b"{\"a\": 01}", "1:8", "not JSON"),
        (b"{\"a\": \"\\ud800\"}", "1:14", "not JSON"),
        (b"{} {}", "1:4", "not JSON"),
        (nested.as_bytes(), "1:133", "more than 128 deep"),
        (b"[]", "1:1", "must be an object, not a list"),
    ] {
        let reading = read(bytes);
        let text = String::from_utf8_lossy(bytes);
        assert!(reading.flow.is_none(), "{text}");
        let finding = &reading.findings[0];
        assert!(finding.message.contains(says), "{text}: {}", finding.message);
        assert_eq!(format!("{}:{}", finding.line.unwrap(), finding.column.unwrap()), at, "{text}");
        assert_eq!(reading.findings.len(), 1, "{text}");
    }
}

#[test]
fn a_place_inside_a_string_steps_over_its_escapes() {
    let text =
        r#"{"format":1,"name":"n","edges":[],"nodes":[{"id":"a","tool":"t","args":{"k":"\u00e4\n\ud83d\ude00é{{x"}}]}"#;
    let reading = read(text.as_bytes());
    let string = text.find(r#""\u00e4"#).unwrap() + 1;
    assert_eq!(reading.spans.at("/nodes/0/args/k"), Some((1, u32::try_from(string).unwrap())));
    let value = reading.flow.unwrap().nodes[0].args.as_ref().unwrap()["k"].as_str().unwrap().to_owned();
    let braces = value.find("{{").unwrap();
    let column = text[..text.find("{{x").unwrap()].chars().count() + 1;
    assert_eq!(reading.spans.inside(&"/nodes/0/args/k".into(), braces), Some((1, u32::try_from(column).unwrap())));
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zA-Z0-9 _.-]{0,12}", "\\PC{0,8}", Just("{{inputs.a}} \u{0} \u{1F600}\"\\/\n".to_owned())]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |it| Number::from_f64(it).map(Value::Number)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn map() -> impl Strategy<Value = Map<String, Value>> {
    vec((text(), value()), 0..4).prop_map(|members| members.into_iter().collect())
}

fn extensions() -> impl Strategy<Value = Map<String, Value>> {
    vec(("x-[a-z]{0,4}", value()), 0..2).prop_map(|members| members.into_iter().collect())
}

fn node() -> impl Strategy<Value = Node> {
    let words = (text(), text(), option::of(text()), option::of(text()));
    let flags = (option::of(any::<bool>()), option::of(any::<bool>()), option::of(any::<bool>()));
    let retry = (option::of(any::<u64>()), option::of(any::<u64>()), extensions());
    let stop = (option::of(prop_oneof![Just(StopSignal::Kill), Just(StopSignal::Usr1)]), option::of(any::<u64>()));
    let rest = (option::of(retry), option::of(stop), option::of(any::<u64>()), option::of(map()), extensions());
    (words, flags, rest).prop_map(|(words, flags, (retry, stop, timeout_seconds, args, extensions))| Node {
        id: words.0,
        tool: words.1,
        title: words.2,
        description: words.3,
        disabled: flags.0,
        approval: flags.1,
        idempotent: flags.2,
        retry: retry.map(|(max_attempts, backoff_ms, extensions)| Retry { max_attempts, backoff_ms, extensions }),
        timeout_seconds,
        stop: stop.map(|(signal, grace_seconds)| Stop { signal, grace_seconds, extensions: Map::new() }),
        args,
        extensions,
    })
}

fn flow() -> impl Strategy<Value = Flow> {
    let head = (option::of(text()), text(), option::of(text()), option::of(text()), option::of(value()));
    let runs = (
        option::of(prop_oneof![Just(OnFailure::Finish), Just(OnFailure::Cancel)]),
        option::of((any::<u64>(), option::of(Just(OnLimit::CancelOldest)), extensions())),
    );
    let edges = vec((text(), option::of(text()), text(), extensions()), 0..3);
    let notes = vec((text(), text(), any::<i32>(), option::of(any::<u32>()), extensions()), 0..3);
    let places = btree_map(0..4_usize, (any::<i32>(), any::<i32>()), 0..4);
    (head, runs, vec(node(), 0..4), edges, notes, map(), places, extensions()).prop_map(
        |(head, runs, nodes, edges, notes, pins, places, extensions)| {
            let id = |at: usize| nodes.get(at).map_or_else(|| START.to_owned(), |node: &Node| node.id.clone());
            let layout =
                places.into_iter().map(|(at, (x, y))| (id(at), Place { x: i64::from(x), y: i64::from(y) })).collect();
            let note = |(id, text, x, size, extensions): (String, String, i32, Option<u32>, _)| Note {
                id,
                text,
                color: None,
                x: i64::from(x),
                y: -i64::from(x),
                width: size.map(u64::from),
                height: size.map(u64::from),
                extensions,
            };
            Flow {
                schema: head.0,
                format: 1,
                name: head.1,
                description: head.2,
                goal: head.3,
                inputs: head.4,
                on_failure: runs.0,
                concurrency: runs.1.map(|(limit, on_limit, extensions)| Concurrency { limit, on_limit, extensions }),
                schedules: None,
                edges: edges
                    .into_iter()
                    .map(|(source, port, target, extensions)| Edge { source, port, target, extensions })
                    .collect(),
                notes: notes.into_iter().map(note).collect(),
                pins,
                layout,
                extensions,
                nodes,
            }
        },
    )
}

proptest! {
    #[test]
    fn reading_undoes_printing(flow in flow()) {
        let printed = print(&flow);
        let reading = read(printed.as_bytes());
        prop_assert_eq!(brief(&reading.findings), Vec::<String>::new());
        let read_back = reading.flow.unwrap();
        prop_assert_eq!(&read_back, &flow);
        prop_assert_eq!(print(&read_back), printed);
    }

    /// However a text is laid out, its canonical form is one, and says the same.
    #[test]
    fn canonical_text_is_a_fixed_point(flow in flow(), is_compact in any::<bool>()) {
        let value = json!(flow);
        let loose = if is_compact { value.to_string() } else { serde_json::to_string_pretty(&value).unwrap() };
        let first = print(&read(loose.as_bytes()).flow.unwrap());
        let second = print(&read(first.as_bytes()).flow.unwrap());
        prop_assert_eq!(&first, &second);
        let is_unix = first.ends_with("}\n") && !first.contains('\r');
        prop_assert!(is_unix);
    }

    #[test]
    fn no_bytes_stop_the_reader(bytes in vec(any::<u8>(), 0..200), text in "[\\[\\]{}\":,0-9a-z\\\\ \n.-]{0,80}") {
        read(&bytes);
        let reading = read(text.as_bytes());
        prop_assert!(reading.flow.is_some() || !reading.findings.is_empty());
        if reading.flow.is_some() {
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
        }
    }
}
