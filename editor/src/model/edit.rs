//! Every change of a flow that a person can make, each with its inverse.
//!
//! Applying an edit gives the edit that takes it back exactly, the order of lists and keys included. An edit about
//! something that is not there changes nothing. Edits never judge: what may be connected is `connect`'s business,
//! and a flow with findings is edited like any other.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use weir_shared::flow::{Concurrency, Edge, Flow, Node, Note, NoteColor, OnFailure, Place, Retry, Schedule, Stop};

use super::item::{EdgeKey, Item, Selection};

/// One change of a flow.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Adds nodes, edges and notes with their places and pins.
    Insert(Box<Piece>),
    /// Removes items; a node takes its edges, its place and its pin with it.
    Remove(Selection),
    /// Puts Start, nodes and notes at places; `None` forgets a node's place.
    Move(BTreeMap<Item, Option<Place>>),
    Node {
        id: String,
        field: NodeField,
    },
    Note {
        id: String,
        field: NoteField,
    },
    Flow(FlowField),
    /// Serves a value instead of calling the node's tool, or calls it again.
    Pin {
        node: String,
        value: Option<Value>,
    },
    /// Another text of the same flow, as after a reload.
    Replace(Box<Flow>),
    /// Several edits as one.
    Group(Vec<Edit>),
}

/// Parts of a flow with their positions in its lists, in ascending order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Piece {
    pub nodes: Vec<(usize, Node)>,
    pub edges: Vec<(usize, Edge)>,
    pub notes: Vec<(usize, Note)>,
    pub layout: BTreeMap<String, Place>,
    pub pins: Vec<(usize, String, Value)>,
}

/// A field of a node with its new value.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeField {
    Title(Option<String>),
    Description(Option<String>),
    Disabled(Option<bool>),
    Approval(Option<bool>),
    Idempotent(Option<bool>),
    Retry(Option<Retry>),
    TimeoutSeconds(Option<u64>),
    Stop(Option<Stop>),
    /// One argument; `None` removes it.
    Arg {
        name: String,
        value: Option<Value>,
    },
    Args(Option<Map<String, Value>>),
}

/// A field of a note with its new value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteField {
    Text(String),
    Color(Option<NoteColor>),
    Size { width: Option<u64>, height: Option<u64> },
}

/// A field of the flow itself with its new value.
#[derive(Debug, Clone, PartialEq)]
pub enum FlowField {
    Name(String),
    Description(Option<String>),
    Goal(Option<String>),
    Inputs(Option<Value>),
    OnFailure(Option<OnFailure>),
    Concurrency(Option<Concurrency>),
    Schedules(Option<Vec<Schedule>>),
    Pins(Map<String, Value>),
}

impl Edit {
    /// Adds one node at a place, after the others.
    pub fn add_node(flow: &Flow, node: Node, place: Place) -> Self {
        let layout = BTreeMap::from([(node.id.clone(), place)]);
        Self::Insert(Box::new(Piece { nodes: vec![(flow.nodes.len(), node)], layout, ..Piece::default() }))
    }

    /// Adds one note, after the others.
    pub fn add_note(flow: &Flow, note: Note) -> Self {
        Self::Insert(Box::new(Piece { notes: vec![(flow.notes.len(), note)], ..Piece::default() }))
    }

    /// Joins two nodes.
    pub fn connect(flow: &Flow, key: &EdgeKey) -> Self {
        Self::Insert(Box::new(Piece { edges: vec![(flow.edges.len(), key.to_edge())], ..Piece::default() }))
    }

    /// Removes one edge.
    pub fn disconnect(key: EdgeKey) -> Self {
        Self::Remove(BTreeSet::from([Item::Edge(key)]))
    }

    /// Sets one argument of a node; `None` removes it.
    pub fn set_arg(node: &str, name: &str, value: Option<Value>) -> Self {
        Self::Node { id: node.to_owned(), field: NodeField::Arg { name: name.to_owned(), value } }
    }

    /// Changes the flow, and gives the edit that takes it back.
    #[must_use = "the inverse is what undo needs"]
    pub fn apply(self, flow: &mut Flow) -> Edit {
        match self {
            Edit::Insert(piece) => insert(*piece, flow),
            Edit::Remove(items) => Edit::Insert(Box::new(remove(&items, flow))),
            Edit::Move(places) => Edit::Move(move_to(places, flow)),
            Edit::Node { id, field } => match flow.nodes.iter_mut().find(|node| node.id == id) {
                Some(node) => Edit::Node { id, field: field.swap(node) },
                None => Edit::Group(Vec::new()),
            },
            Edit::Note { id, field } => match flow.notes.iter_mut().find(|note| note.id == id) {
                Some(note) => Edit::Note { id, field: field.swap(note) },
                None => Edit::Group(Vec::new()),
            },
            Edit::Flow(field) => Edit::Flow(field.swap(flow)),
            Edit::Pin { node, value } => {
                let before = flow.pins.clone();
                match value {
                    Some(value) => {
                        flow.pins.insert(node, value);
                    }
                    None => {
                        flow.pins.shift_remove(&node);
                    }
                }
                Edit::Flow(FlowField::Pins(before))
            }
            Edit::Replace(other) => Edit::Replace(Box::new(std::mem::replace(flow, *other))),
            Edit::Group(edits) => {
                let mut inverses: Vec<Edit> = edits.into_iter().map(|edit| edit.apply(flow)).collect();
                inverses.reverse();
                Edit::Group(inverses)
            }
        }
    }

    /// What typing into one field has in common: edits of one key that follow each other closely are one step.
    pub fn typing_key(&self) -> Option<String> {
        match self {
            Edit::Node { id, field } => match field {
                NodeField::Title(_) => Some(format!("node {id} title")),
                NodeField::Description(_) => Some(format!("node {id} description")),
                NodeField::TimeoutSeconds(_) => Some(format!("node {id} timeout")),
                NodeField::Retry(_) => Some(format!("node {id} retry")),
                NodeField::Stop(_) => Some(format!("node {id} stop")),
                NodeField::Arg { name, .. } => Some(format!("node {id} args.{name}")),
                NodeField::Args(_) => Some(format!("node {id} args")),
                NodeField::Disabled(_) | NodeField::Approval(_) | NodeField::Idempotent(_) => None,
            },
            Edit::Note { id, field } => match field {
                NoteField::Text(_) => Some(format!("note {id} text")),
                NoteField::Color(_) | NoteField::Size { .. } => None,
            },
            Edit::Flow(field) => match field {
                FlowField::Name(_) => Some("flow name".to_owned()),
                FlowField::Description(_) => Some("flow description".to_owned()),
                FlowField::Goal(_) => Some("flow goal".to_owned()),
                FlowField::Inputs(_) => Some("flow inputs".to_owned()),
                FlowField::OnFailure(_) | FlowField::Concurrency(_) | FlowField::Schedules(_) | FlowField::Pins(_) => {
                    None
                }
            },
            Edit::Insert(_)
            | Edit::Remove(_)
            | Edit::Move(_)
            | Edit::Pin { .. }
            | Edit::Replace(_)
            | Edit::Group(_) => None,
        }
    }
}

impl NodeField {
    /// Sets the field and gives what it was.
    fn swap(self, node: &mut Node) -> Self {
        use std::mem::replace;
        match self {
            NodeField::Title(value) => NodeField::Title(replace(&mut node.title, value)),
            NodeField::Description(value) => NodeField::Description(replace(&mut node.description, value)),
            NodeField::Disabled(value) => NodeField::Disabled(replace(&mut node.disabled, value)),
            NodeField::Approval(value) => NodeField::Approval(replace(&mut node.approval, value)),
            NodeField::Idempotent(value) => NodeField::Idempotent(replace(&mut node.idempotent, value)),
            NodeField::Retry(value) => NodeField::Retry(replace(&mut node.retry, value)),
            NodeField::TimeoutSeconds(value) => NodeField::TimeoutSeconds(replace(&mut node.timeout_seconds, value)),
            NodeField::Stop(value) => NodeField::Stop(replace(&mut node.stop, value)),
            NodeField::Arg { name, value } => {
                // The whole map is the inverse: only it knows where among the others a removed argument stood.
                let before = node.args.clone();
                let args = node.args.get_or_insert_default();
                match value {
                    Some(value) => {
                        args.insert(name, value);
                    }
                    None => {
                        args.shift_remove(&name);
                    }
                }
                NodeField::Args(before)
            }
            NodeField::Args(value) => NodeField::Args(replace(&mut node.args, value)),
        }
    }
}

impl NoteField {
    fn swap(self, note: &mut Note) -> Self {
        use std::mem::replace;
        match self {
            NoteField::Text(value) => NoteField::Text(replace(&mut note.text, value)),
            NoteField::Color(value) => NoteField::Color(replace(&mut note.color, value)),
            NoteField::Size { width, height } => {
                NoteField::Size { width: replace(&mut note.width, width), height: replace(&mut note.height, height) }
            }
        }
    }
}

impl FlowField {
    fn swap(self, flow: &mut Flow) -> Self {
        use std::mem::replace;
        match self {
            FlowField::Name(value) => FlowField::Name(replace(&mut flow.name, value)),
            FlowField::Description(value) => FlowField::Description(replace(&mut flow.description, value)),
            FlowField::Goal(value) => FlowField::Goal(replace(&mut flow.goal, value)),
            FlowField::Inputs(value) => FlowField::Inputs(replace(&mut flow.inputs, value)),
            FlowField::OnFailure(value) => FlowField::OnFailure(replace(&mut flow.on_failure, value)),
            FlowField::Concurrency(value) => FlowField::Concurrency(replace(&mut flow.concurrency, value)),
            FlowField::Schedules(value) => FlowField::Schedules(replace(&mut flow.schedules, value)),
            FlowField::Pins(value) => FlowField::Pins(replace(&mut flow.pins, value)),
        }
    }
}

/// Adds the parts at their positions. The inverse restores the layout too where a place was overwritten.
fn insert(piece: Piece, flow: &mut Flow) -> Edit {
    let mut items = Selection::new();
    for (at, node) in piece.nodes {
        items.insert(Item::Node(node.id.clone()));
        flow.nodes.insert(at.min(flow.nodes.len()), node);
    }
    for (at, edge) in piece.edges {
        items.insert(Item::Edge(EdgeKey::of(&edge)));
        flow.edges.insert(at.min(flow.edges.len()), edge);
    }
    for (at, note) in piece.notes {
        items.insert(Item::Note(note.id.clone()));
        flow.notes.insert(at.min(flow.notes.len()), note);
    }
    flow.layout.extend(piece.layout);
    for (at, node, value) in piece.pins {
        let at = at.min(flow.pins.len());
        flow.pins.shift_insert(at, node, value);
    }
    Edit::Remove(items)
}

fn remove(items: &Selection, flow: &mut Flow) -> Piece {
    let gone: BTreeSet<&str> = items
        .iter()
        .filter_map(|item| match item {
            Item::Node(id) if item.exists_in(flow) => Some(id.as_str()),
            Item::Node(_) | Item::Start | Item::Note(_) | Item::Edge(_) => None,
        })
        .collect();
    let nodes = take(&mut flow.nodes, |node| gone.contains(node.id.as_str()));
    let edges = take(&mut flow.edges, |edge| {
        gone.contains(edge.source.as_str())
            || gone.contains(edge.target.as_str())
            || items.contains(&Item::Edge(EdgeKey::of(edge)))
    });
    let notes = take(&mut flow.notes, |note| items.contains(&Item::Note(note.id.clone())));
    let layout = gone.iter().filter_map(|id| flow.layout.remove_entry(*id)).collect();
    let pinned: Vec<(usize, String)> = flow
        .pins
        .keys()
        .enumerate()
        .filter(|(_, id)| gone.contains(id.as_str()))
        .map(|(at, id)| (at, id.clone()))
        .collect();
    let pins =
        pinned.into_iter().filter_map(|(at, id)| flow.pins.shift_remove(&id).map(|value| (at, id, value))).collect();
    Piece { nodes, edges, notes, layout, pins }
}

/// Takes what matches out of a list, each with the position it had.
fn take<T>(list: &mut Vec<T>, matches: impl Fn(&T) -> bool) -> Vec<(usize, T)> {
    let mut taken = Vec::new();
    let mut kept = Vec::with_capacity(list.len());
    for (at, element) in list.drain(..).enumerate() {
        if matches(&element) {
            taken.push((at, element));
        } else {
            kept.push(element);
        }
    }
    *list = kept;
    taken
}

fn move_to(places: BTreeMap<Item, Option<Place>>, flow: &mut Flow) -> BTreeMap<Item, Option<Place>> {
    let mut before = BTreeMap::new();
    for (item, place) in places {
        if !item.exists_in(flow) {
            continue;
        }
        let was = match &item {
            Item::Start | Item::Node(_) => {
                let Some(key) = item.layout_key() else { continue };
                match place {
                    Some(place) => flow.layout.insert(key.to_owned(), place),
                    None => flow.layout.remove(key),
                }
            }
            Item::Note(id) => {
                let (Some(note), Some(place)) = (flow.notes.iter_mut().find(|note| note.id == *id), place) else {
                    continue;
                };
                let was = Place { x: note.x, y: note.y };
                note.x = place.x;
                note.y = place.y;
                Some(was)
            }
            Item::Edge(_) => continue,
        };
        before.insert(item, was);
    }
    before
}
