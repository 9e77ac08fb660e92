//! What comes into the gesture machine.

use crate::geometry::plane::{Point, Size, Viewport};
use crate::model::item::{EdgeKey, Item};

/// Which kind of pointer: a finger is less exact than a mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointerKind {
    Mouse,
    Touch,
}

impl PointerKind {
    /// How far it moves, in screen units, before a press is a drag.
    pub fn threshold(self) -> f64 {
        match self {
            PointerKind::Mouse => 3.0,
            PointerKind::Touch => 8.0,
        }
    }
}

/// The button that went down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Button {
    Main,
    Middle,
}

/// How a selection changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joining {
    /// What was selected no longer is.
    Replace,
    /// A further one joins, one that was selected leaves.
    Toggle,
}

/// A pointer going down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Press {
    pub id: i32,
    pub kind: PointerKind,
    pub button: Button,
    /// On the surface.
    pub at: Point,
    /// Shift, Ctrl or Cmd held.
    pub joining: Joining,
    /// Shift held: on the empty canvas a box, not a pan.
    pub boxing: bool,
}

/// What is under a pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Canvas,
    /// A card, a note or an edge.
    Item(Item),
    /// An output of a node; without a port for a tool without branches.
    Output(Source),
    /// Start's output: drawn like one, and nothing can be drawn from it, since every first step follows Start anyway.
    StartOutput,
    /// The grip by which an end of an edge is led elsewhere.
    EdgeEnd {
        edge: EdgeKey,
        end: End,
    },
    /// The corner by which a note is resized.
    NoteCorner(String),
}

/// An end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Source,
    Target,
}

impl Target {
    /// The node that an edge let go here would lead to.
    pub fn node(&self) -> Option<&str> {
        match self {
            Target::Item(Item::Node(id)) | Target::Output(Source { node: id, .. }) => Some(id),
            Target::Canvas
            | Target::Item(Item::Start | Item::Note(_) | Item::Edge(_))
            | Target::StartOutput
            | Target::EdgeEnd { .. }
            | Target::NoteCorner(_) => None,
        }
    }
}

/// Where a new edge begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub node: String,
    pub port: Option<String>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    Down {
        press: Press,
        over: Target,
    },
    Move {
        id: i32,
        at: Point,
        over: Target,
    },
    Up {
        id: i32,
        at: Point,
        over: Target,
    },
    /// The browser took the pointer away.
    Lost {
        id: i32,
    },
    Escape,
    /// A frame of an ongoing gesture, with the milliseconds since the one before.
    Frame {
        elapsed: f64,
    },
    /// A pointer went down on a tool of the palette.
    Pick {
        press: Press,
        tool: String,
    },
}

/// What the machine must know of the canvas to decide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ground {
    pub viewport: Viewport,
    pub surface: Size,
    /// Whether Space is held: then every drag pans.
    pub panning_key: bool,
}
