//! Reading and printing flow files: inverses of each other, strict, and exact about places.

use std::path::PathBuf;

use weir_shared::canonical::print;
use weir_shared::finding::{Code, Finding};
use weir_shared::read::read;

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

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
