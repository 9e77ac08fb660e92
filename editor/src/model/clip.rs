//! Parts of a flow that travel: taken from one flow as text, put into the same or another one.
//!
//! Guarantees: what is pasted never replaces anything; an id that is taken becomes another one, in the edges, pins
//! and references of what is pasted too; references to nodes that did not come along stay as they are.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use weir_shared::flow::{Edge, Flow, Node, Note, Place};
use weir_shared::layout::tidy;
use weir_shared::read::read;

use super::edit::{Edit, Piece};
use super::item::{EdgeKey, Item, Selection};
use super::remap::{Renames, rename_in};

/// The format this build writes.
const FORMAT: u64 = 1;

/// What was copied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clip {
    /// Tells a clip from any other text.
    #[serde(rename = "weir_clip")]
    format: u64,
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub edges: Vec<Edge>,
    #[serde(default)]
    pub notes: Vec<Note>,
    #[serde(default)]
    pub pins: Map<String, Value>,
    #[serde(default)]
    pub layout: BTreeMap<String, Place>,
}

impl Clip {
    /// What is selected, with the edges between its nodes; `None` when nothing of it can be copied.
    pub fn of(flow: &Flow, selection: &Selection) -> Option<Self> {
        let chosen = |id: &str| selection.contains(&Item::Node(id.to_owned()));
        let nodes: Vec<Node> = flow.nodes.iter().filter(|node| chosen(&node.id)).cloned().collect();
        let notes: Vec<Note> =
            flow.notes.iter().filter(|note| selection.contains(&Item::Note(note.id.clone()))).cloned().collect();
        if nodes.is_empty() && notes.is_empty() {
            return None;
        }
        let edges = flow.edges.iter().filter(|edge| chosen(&edge.source) && chosen(&edge.target)).cloned().collect();
        let pins = flow.pins.iter().filter(|(id, _)| chosen(id)).map(|(id, pin)| (id.clone(), pin.clone())).collect();
        let layout = flow.layout.iter().filter(|(id, _)| chosen(id)).map(|(id, at)| (id.clone(), *at)).collect();
        Some(Self { format: FORMAT, nodes, edges, notes, pins, layout })
    }

    /// Reads what `text` writes, and the text of a whole flow file as well; `None` for any other text.
    pub fn read(text: &str) -> Option<Self> {
        if !text.trim_start().starts_with('{') {
            return None;
        }
        if let Ok(clip) = serde_json::from_str::<Self>(text) {
            return (clip.format == FORMAT && !(clip.nodes.is_empty() && clip.notes.is_empty())).then_some(clip);
        }
        let mut flow = read(text.as_bytes()).flow?;
        for (id, place) in tidy(&flow) {
            flow.layout.entry(id).or_insert(place);
        }
        let everything = flow.nodes.iter().map(|node| Item::Node(node.id.clone()));
        let notes = flow.notes.iter().map(|note| Item::Note(note.id.clone()));
        Self::of(&flow, &everything.chain(notes).collect())
    }

    /// The text that goes to the clipboard.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// The corner from which everything in it lies right and below.
    pub fn corner(&self) -> Place {
        let notes = self.notes.iter().map(|note| Place { x: note.x, y: note.y });
        let places = self.layout.values().copied().chain(notes);
        places
            .reduce(|one, other| Place { x: one.x.min(other.x), y: one.y.min(other.y) })
            .unwrap_or(Place { x: 0, y: 0 })
    }

    /// The edit that puts it into a flow with its corner at a place, and what is then selected.
    pub fn paste(mut self, flow: &Flow, corner: Place) -> (Edit, Selection) {
        let renames = self.rename_taken(flow);
        let from = self.corner();
        let moved = |at: Place| Place { x: at.x - from.x + corner.x, y: at.y - from.y + corner.y };
        let named = |id: &String| renames.get(id).unwrap_or(id).clone();
        for edge in &mut self.edges {
            edge.source = named(&edge.source);
            edge.target = named(&edge.target);
        }
        for args in self.nodes.iter_mut().filter_map(|node| node.args.as_mut()) {
            args.values_mut().for_each(|value| rename_in(value, &renames));
        }
        let pasted: BTreeSet<&str> = self.nodes.iter().map(|node| node.id.as_str()).collect();
        let (mut present, mut edges) = (BTreeSet::new(), Vec::new());
        for edge in &self.edges {
            let joins = pasted.contains(edge.source.as_str()) && pasted.contains(edge.target.as_str());
            if joins && present.insert(EdgeKey::of(edge)) {
                edges.push(edge.clone());
            }
        }
        let layout = self
            .nodes
            .iter()
            .filter_map(|node| {
                let old = renames.iter().find(|(_, new)| **new == node.id).map_or(&node.id, |(old, _)| old);
                Some((node.id.clone(), moved(self.layout.get(old).copied()?)))
            })
            .collect();
        let pins = self.pins.iter().map(|(id, pin)| (named(id), pin.clone()));
        let pins = pins.filter(|(id, _)| pasted.contains(id.as_str()));
        let pins = pins.enumerate().map(|(at, (id, pin))| (flow.pins.len() + at, id, pin)).collect();
        for note in &mut self.notes {
            let at = moved(Place { x: note.x, y: note.y });
            (note.x, note.y) = (at.x, at.y);
        }
        let items = self.nodes.iter().map(|node| Item::Node(node.id.clone()));
        let selection = items.chain(self.notes.iter().map(|note| Item::Note(note.id.clone()))).collect();
        let piece = Piece {
            nodes: after(flow.nodes.len(), self.nodes),
            edges: after(flow.edges.len(), edges),
            notes: after(flow.notes.len(), self.notes),
            layout,
            pins,
        };
        (Edit::Insert(Box::new(piece)), selection)
    }

    /// Gives every node and note whose id is taken, in the flow or earlier in this clip, another one.
    fn rename_taken(&mut self, flow: &Flow) -> Renames {
        let mut taken: BTreeSet<String> = flow.nodes.iter().map(|node| node.id.clone()).collect();
        taken.extend(flow.pins.keys().cloned());
        let mut renames = Renames::new();
        for node in &mut self.nodes {
            let id = free_id(&node.id, &taken);
            taken.insert(id.clone());
            if id != node.id {
                renames.insert(std::mem::replace(&mut node.id, id.clone()), id);
            }
        }
        let mut taken: BTreeSet<String> = flow.notes.iter().map(|note| note.id.clone()).collect();
        for note in &mut self.notes {
            note.id = free_id(&note.id, &taken);
            taken.insert(note.id.clone());
        }
        renames
    }
}

fn after<T>(count: usize, list: Vec<T>) -> Vec<(usize, T)> {
    list.into_iter().enumerate().map(|(at, element)| (count + at, element)).collect()
}

/// The id itself, or the same stem with the smallest number that is free.
fn free_id(id: &str, taken: &BTreeSet<String>) -> String {
    if !taken.contains(id) {
        return id.to_owned();
    }
    let stem = match id.rsplit_once('_') {
        Some((stem, number)) if !stem.is_empty() && number.parse::<u32>().is_ok() => stem,
        Some(_) | None => id,
    };
    // An id has at most 64 characters.
    let stem: String = stem.chars().take(56).collect();
    (1..=u32::MAX).map(|n| format!("{stem}_{n}")).find(|id| !taken.contains(id)).unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flow() -> Flow {
        let mut flow = Flow::new("Test");
        for (at, id) in (0..).zip(["a", "b", "step_1"]) {
            let args = json!({"text": "{{node.a.result}} {{node.step_1.result}}"});
            let args = args.as_object().cloned();
            flow.nodes.push(Node { id: id.to_owned(), tool: "delay".to_owned(), args, ..Node::default() });
            flow.layout.insert(id.to_owned(), Place { x: at * 304, y: 16 });
        }
        let edge = |source: &str, target: &str| Edge {
            source: source.to_owned(),
            target: target.to_owned(),
            ..Edge::default()
        };
        flow.edges = vec![edge("a", "b"), edge("b", "step_1")];
        flow.pins.insert("b".to_owned(), json!(7));
        flow.notes.push(Note { id: "note_1".to_owned(), text: "why".to_owned(), x: 0, y: -96, ..Note::default() });
        flow
    }

    fn items(ids: &[&str]) -> Selection {
        ids.iter().map(|id| Item::Node((*id).to_owned())).collect()
    }

    #[test]
    fn pasting_into_the_same_flow_adds_new_ids_and_keeps_outer_references() {
        let mut flow = flow();
        let mut chosen = items(&["a", "b"]);
        chosen.insert(Item::Note("note_1".to_owned()));
        let clip = Clip::read(&Clip::of(&flow, &chosen).unwrap().text()).unwrap();
        let before = flow.clone();
        let (edit, selection) = clip.paste(&flow, Place { x: 1000, y: 1000 });
        let back = edit.apply(&mut flow);
        let ids: Vec<&str> = flow.nodes.iter().map(|node| node.id.as_str()).collect();
        assert_eq!(ids, ["a", "b", "step_1", "a_1", "b_1"]);
        assert_eq!(flow.edges.len(), 3, "the one edge inside the set; the one that leads out stays behind");
        assert_eq!((flow.edges[2].source.as_str(), flow.edges[2].target.as_str()), ("a_1", "b_1"));
        let text = flow.nodes[4].args.as_ref().unwrap()["text"].as_str().unwrap();
        assert_eq!(text, "{{node.a_1.result}} {{node.step_1.result}}");
        assert_eq!(flow.pins["b_1"], json!(7));
        assert_eq!(flow.layout["a_1"], Place { x: 1000, y: 1112 });
        assert_eq!((flow.notes[1].id.as_str(), flow.notes[1].y), ("note_2", 1000));
        assert!(selection.iter().all(|item| item.exists_in(&flow)) && selection.len() == 3);
        let _ = back.apply(&mut flow);
        assert_eq!(flow, before, "one step takes it all back");
    }

    #[test]
    fn an_id_that_is_free_is_kept_and_a_number_grows() {
        let flow = flow();
        let clip = Clip::of(&flow, &items(&["a", "step_1"])).unwrap();
        let mut other = Flow::new("Other");
        let (edit, _) = clip.clone().paste(&other, Place { x: 0, y: 0 });
        let _ = edit.apply(&mut other);
        assert_eq!(other.nodes.iter().map(|node| node.id.as_str()).collect::<Vec<_>>(), ["a", "step_1"]);
        let (edit, _) = clip.paste(&other, Place { x: 0, y: 0 });
        let _ = edit.apply(&mut other);
        assert_eq!(other.nodes[3].id, "step_2");
    }

    #[test]
    fn any_other_text_is_no_clip_and_a_flow_file_is_one() {
        for text in ["", "echo hello", "{\"a\": 1}", "[]", "{\"weir_clip\": 2, \"nodes\": []}", "{{node.a.result}}"] {
            assert_eq!(Clip::read(text), None, "{text}");
        }
        let text = weir_shared::canonical::print(&flow());
        assert_eq!(Clip::read(&text).unwrap().nodes.len(), 3);
    }

    #[test]
    fn start_and_edges_alone_are_nothing_to_copy() {
        let chosen = Selection::from([Item::Start, Item::Edge(EdgeKey::of(&flow().edges[0]))]);
        assert_eq!(Clip::of(&flow(), &chosen), None);
    }
}
