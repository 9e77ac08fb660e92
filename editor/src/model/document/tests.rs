//! Edits and their inverses, on small flows made at random, and the stories of dirty and undo.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use weir_shared::flow::{Flow, Node, Note, Place};

use super::super::connect;
use super::super::edit::{Edit, FlowField, NodeField, NoteField, Piece};
use super::super::item::{EdgeKey, Item, Selection};
use super::super::undo::{STEPS, TYPING_PAUSE_MS};
use super::*;

fn text(flow: &Flow) -> String {
    serde_json::to_string(flow).unwrap()
}

fn node(id: &str) -> Node {
    Node { id: id.to_owned(), tool: "delay".to_owned(), ..Node::default() }
}

fn place(x: i64, y: i64) -> Place {
    Place { x, y }
}

/// Three nodes in a chain, a pin, a note.
fn sample() -> Flow {
    let mut flow = Flow::new("Sample");
    for (at, id) in (0..).zip(["a", "b", "c"]) {
        flow.nodes.push(node(id));
        flow.layout.insert(id.to_owned(), place(at * 304, 0));
    }
    flow.edges = [("a", "b"), ("b", "c")].map(|(source, target)| edge(source, target).to_edge()).to_vec();
    flow.notes.push(Note { id: "note_1".to_owned(), text: "why".to_owned(), ..Note::default() });
    flow.pins.insert("b".to_owned(), json!({"n": 1}));
    flow.pins.insert("c".to_owned(), json!(2));
    flow
}

fn edge(source: &str, target: &str) -> EdgeKey {
    EdgeKey { source: source.to_owned(), port: None, target: target.to_owned() }
}

/// What a person might do next, by three numbers.
fn some_edit(flow: &Flow, kind: u8, one: u8, two: u8) -> Edit {
    let pick = |at: u8| flow.nodes.get(usize::from(at) % flow.nodes.len().max(1)).map(|node| node.id.clone());
    let (Some(first), Some(second)) = (pick(one), pick(two)) else {
        let id = fresh_node_id(flow, "delay");
        return Edit::add_node(flow, node(&id), place(i64::from(one), i64::from(two)));
    };
    match kind % 12 {
        0 => {
            let id = fresh_node_id(flow, "delay");
            Edit::add_node(flow, node(&id), place(i64::from(one), i64::from(two)))
        }
        1 => Edit::Remove(Selection::from([Item::Node(first), Item::Note("note_1".to_owned())])),
        2 => Edit::Remove(Selection::from([Item::Node(first), Item::Node(second)])),
        3 => Edit::Move(BTreeMap::from([
            (Item::Node(first), Some(place(i64::from(one), 7))),
            (Item::Start, Some(place(-9, i64::from(two)))),
            (Item::Note("note_1".to_owned()), Some(place(1, i64::from(two)))),
        ])),
        4 => {
            let key = EdgeKey { source: first, port: one.is_multiple_of(3).then(|| "true".to_owned()), target: second };
            match connect::refusal(flow, &key) {
                None => Edit::connect(flow, &key),
                Some(_) => Edit::disconnect(key),
            }
        }
        5 => Edit::set_arg(&first, ["x", "y", "z"][usize::from(one % 3)], Some(json!(two))),
        6 => Edit::set_arg(&first, ["x", "y", "z"][usize::from(one % 3)], None),
        7 => Edit::Node { id: first, field: NodeField::Title(Some(format!("Title {two}"))) },
        8 => Edit::Pin { node: first, value: two.is_multiple_of(2).then(|| Value::from(one)) },
        9 => Edit::Flow(FlowField::Name(format!("Name {two}"))),
        10 => Edit::Note { id: "note_1".to_owned(), field: NoteField::Text(format!("text {two}")) },
        _ => Edit::Group(vec![
            Edit::Node { id: first.clone(), field: NodeField::Disabled(Some(two.is_multiple_of(2))) },
            Edit::Remove(Selection::from([Item::Node(first)])),
        ]),
    }
}

proptest! {
    #[test]
    fn every_edit_is_taken_back_exactly(walk in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>()), 1..40)) {
        let mut flow = sample();
        for (kind, one, two) in walk {
            let before = text(&flow);
            let edit = some_edit(&flow, kind, one, two);
            let back = edit.apply(&mut flow);
            let after = text(&flow);
            for edge in &flow.edges {
                prop_assert!(flow.node(&edge.source).is_some() && flow.node(&edge.target).is_some());
            }
            for id in flow.pins.keys() {
                prop_assert!(flow.node(id).is_some());
            }
            let again = back.apply(&mut flow);
            prop_assert_eq!(text(&flow), before);
            let _ = again.apply(&mut flow);
            prop_assert_eq!(text(&flow), after);
        }
    }

    #[test]
    fn undo_all_and_redo_all_come_back(walk in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), 0_u16..2000), 1..30)) {
        let mut document = Document::open(sample(), &BTreeMap::new());
        let start = text(document.flow());
        let mut now = 0.0;
        for (kind, one, two, pause) in walk {
            now += f64::from(pause);
            let edit = some_edit(document.flow(), kind, one, two);
            document.apply(edit, now);
        }
        let end = text(document.flow());
        while document.undo() {}
        prop_assert_eq!(text(document.flow()), start);
        prop_assert!(!document.is_dirty());
        while document.redo() {}
        prop_assert_eq!(text(document.flow()), end);
    }
}

#[test]
fn removing_a_node_takes_its_edges_place_and_pin_and_undo_brings_all_back() {
    let mut document = Document::open(sample(), &BTreeMap::new());
    let before = text(document.flow());
    document.apply(Edit::Remove(Selection::from([Item::Node("b".to_owned())])), 0.0);
    let flow = document.flow();
    assert!(flow.edges.is_empty());
    assert!(!flow.layout.contains_key("b"));
    assert_eq!(flow.pins.keys().collect::<Vec<_>>(), ["c"]);
    assert!(document.is_dirty());
    document.undo();
    assert_eq!(text(document.flow()), before);
    assert!(!document.is_dirty());
}

#[test]
fn typing_is_one_step_until_a_pause_or_another_field() {
    let mut document = Document::open(sample(), &BTreeMap::new());
    let typed = |text: &str| Edit::set_arg("a", "seconds", Some(json!(text)));
    document.apply(typed("1"), 0.0);
    document.apply(typed("12"), 600.0);
    document.apply(typed("123"), 1200.0);
    document.apply(typed("4"), 1200.0 + TYPING_PAUSE_MS + 1.0);
    document.undo();
    assert_eq!(document.flow().nodes[0].args.as_ref().unwrap()["seconds"], "123");
    document.undo();
    assert_eq!(document.flow().nodes[0].args, None);
    assert!(!document.can_undo());

    document.apply(typed("1"), 5000.0);
    document.pause();
    document.apply(typed("12"), 5001.0);
    document.undo();
    assert_eq!(document.flow().nodes[0].args.as_ref().unwrap()["seconds"], "1");
}

#[test]
fn an_edit_that_changes_nothing_is_no_step() {
    let mut document = Document::open(sample(), &BTreeMap::new());
    assert!(!document.apply(Edit::Flow(FlowField::Name("Sample".to_owned())), 0.0));
    assert!(!document.apply(Edit::set_arg("ghost", "x", Some(json!(1))), 0.0));
    assert!(!document.can_undo());
}

#[test]
fn fifty_steps_are_kept() {
    let mut document = Document::open(sample(), &BTreeMap::new());
    for n in 0..60 {
        document.apply(Edit::Move(BTreeMap::from([(Item::Start, Some(place(n, 1)))])), 0.0);
    }
    let mut undone = 0;
    while document.undo() {
        undone += 1;
    }
    assert_eq!(undone, STEPS);
    assert_eq!(document.flow().layout["$start"], place(9, 1));
}

#[test]
fn working_out_places_is_not_dirty_and_what_was_sent_is_what_is_saved() {
    let mut flow = sample();
    flow.layout.remove("c");
    let mut document = Document::open(flow, &BTreeMap::from([("c".to_owned(), place(5, 5))]));
    assert!(!document.is_dirty());
    assert_eq!(document.flow().layout["c"], place(5, 5));

    document.apply(Edit::Flow(FlowField::Name("Sent".to_owned())), 0.0);
    let sent = document.flow().clone();
    document.apply(Edit::Flow(FlowField::Name("Typed while the save was under way".to_owned())), 10_000.0);
    document.mark_saved(&sent);
    assert!(document.is_dirty());
    document.undo();
    assert!(!document.is_dirty());
}

#[test]
fn ids_are_the_smallest_free() {
    let mut flow = sample();
    assert_eq!(fresh_node_id(&flow, "delay"), "delay_1");
    flow.nodes.push(node("delay_1"));
    flow.nodes.push(node("delay_3"));
    assert_eq!(fresh_node_id(&flow, "delay"), "delay_2");
    assert_eq!(fresh_note_id(&flow), "note_2");
    assert!(fresh_node_id(&flow, &"t".repeat(128)).len() <= 64);
}

#[test]
fn a_piece_goes_back_to_the_positions_it_came_from() {
    let mut flow = sample();
    let back = Edit::Remove(Selection::from([Item::Node("a".to_owned()), Item::Node("c".to_owned())])).apply(&mut flow);
    let Edit::Insert(piece) = &back else { panic!("removing is taken back by inserting") };
    let Piece { nodes, edges, pins, .. } = piece.as_ref();
    assert_eq!(nodes.iter().map(|(at, node)| (*at, node.id.as_str())).collect::<Vec<_>>(), [(0, "a"), (2, "c")]);
    assert_eq!(edges.len(), 2);
    assert_eq!(pins.len(), 1);
}

#[test]
fn a_reload_is_clean_and_undo_brings_back_what_was_here() {
    let mut document = Document::open(sample(), &BTreeMap::new());
    let mine = document.flow().clone();
    let mut theirs = sample();
    theirs.name = "Theirs".to_owned();
    assert!(document.reload(theirs.clone(), &BTreeMap::new(), 0.0));
    assert!(!document.is_dirty() && document.says(&theirs, &BTreeMap::new()));
    assert!(!document.reload(theirs, &BTreeMap::new(), 1.0), "the same again is no step");
    assert!(document.undo());
    assert_eq!(document.flow().name, mine.name);
    assert!(document.is_dirty(), "the file says something else now");
}
