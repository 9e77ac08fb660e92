//! The canvas as it stands: where each card is, what the hand does, through which viewport it is seen.
//!
//! The document changes only at the end of a gesture; while it lasts, the places here run ahead of it. Every card has
//! signals of its own, so that a drag wakes the moved cards and their edges and nothing else, and one edit wakes the
//! cards it changed. Lists change only when cards come or go.
//!
//! - `ask`: lists to choose from: a tool, a target, a node
//! - `clipboard`: copy, paste, duplicate
//! - `commands`: what can be done, by name
//! - `follow`: what keeps it in step with the document, the selection, the run and the findings
//! - `hand`: gestures and what they do
//! - `notes`: writing, colouring and resizing notes
//! - `wires`: adding nodes and leading edges
//! - `view`: what of the canvas is seen

mod ask;
mod clipboard;
mod commands;
mod follow;
mod hand;
mod notes;
mod view;
mod wires;

use std::collections::BTreeMap;

use leptos::prelude::*;
use weir_shared::finding::Severity;
use weir_shared::flow::{NoteColor, Place};

use super::builder::Builder;
use super::card::CardState;
use crate::face::card::Face;
use crate::geometry::card::{any_output, input, output};
use crate::geometry::plane::{Point, Rect, Size, Viewport};
use crate::gesture::machine::Gesture;
use crate::model::item::{EdgeKey, Item};
use crate::ui::toast::Toasts;

pub(crate) use ask::Question;
pub(crate) use view::Closer;

/// A card: Start or a node.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub(crate) item: Item,
    pub(crate) face: ArcRwSignal<Face>,
    pub(crate) at: ArcRwSignal<Point>,
    pub(crate) selected: ArcRwSignal<bool>,
    pub(crate) state: ArcRwSignal<Option<CardState>>,
    /// The worst of its findings.
    pub(crate) trouble: ArcRwSignal<Option<Severity>>,
}

/// A line between two cards.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    /// Tells this line from the others of the list.
    pub(crate) id: String,
    /// The same for names in the drawing; never used twice.
    pub(crate) number: u32,
    pub(crate) kind: LinkKind,
    pub(crate) from: Card,
    pub(crate) to: Card,
    /// Its output among those of its source; absent when it follows any branch.
    pub(crate) output: Option<(usize, usize)>,
    pub(crate) selected: ArcRwSignal<bool>,
}

/// What a line stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LinkKind {
    Edge(EdgeKey),
    /// From Start to a first step, which is no edge of the flow.
    FromStart,
    /// A reference that no edge follows.
    Reference,
}

/// A note.
#[derive(Debug, Clone)]
pub(crate) struct NoteCard {
    pub(crate) id: String,
    pub(crate) text: ArcRwSignal<String>,
    pub(crate) color: ArcRwSignal<NoteColor>,
    pub(crate) size: ArcRwSignal<Size>,
    pub(crate) at: ArcRwSignal<Point>,
    pub(crate) selected: ArcRwSignal<bool>,
}

/// What moves with the pointer, and from where.
#[derive(Debug, Clone)]
struct Moving {
    grabbed: Point,
    starts: BTreeMap<Item, Point>,
}

/// The canvas's shared state. Copying it copies handles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage {
    builder: Builder,
    toasts: Toasts,
    pub(crate) viewport: RwSignal<Viewport>,
    /// The size of the surface; zero until it is on the page.
    pub(crate) surface: RwSignal<Size>,
    /// Where the surface is in the window.
    origin: StoredValue<Point>,
    pub(crate) gesture: RwSignal<Gesture>,
    pub(crate) cards: RwSignal<Vec<Card>>,
    pub(crate) links: RwSignal<Vec<Link>>,
    pub(crate) notes: RwSignal<Vec<NoteCard>>,
    /// Whether what is dragged lands on the grid.
    pub(crate) snaps: RwSignal<bool>,
    pub(crate) dots: RwSignal<bool>,
    /// The edge under the pointer.
    pub(crate) hovered: RwSignal<Option<EdgeKey>>,
    /// The list that is open.
    pub(crate) asked: RwSignal<Option<Question>>,
    /// The note that is being written in.
    pub(crate) writing: RwSignal<Option<String>>,
    /// Where the pointer was last on the surface.
    pointer: StoredValue<Option<Point>>,
    moving: StoredValue<Option<Moving>>,
    /// The note being resized, and its size before.
    resizing: StoredValue<Option<(String, Size)>>,
    panning_key: StoredValue<bool>,
    /// Whether the flow was brought into view.
    fitted: StoredValue<bool>,
    /// The next line's number.
    numbers: StoredValue<u32>,
    /// When the running gesture had its last frame.
    frame: StoredValue<Option<f64>>,
}

fn set_if_other<T: PartialEq + Send + Sync + 'static>(signal: &ArcRwSignal<T>, value: T) {
    if signal.with_untracked(|now| *now != value) {
        signal.set(value);
    }
}

fn point_of(place: Place) -> Point {
    #[expect(clippy::cast_precision_loss, reason = "places on a canvas are far below 2^52")]
    let point = Point::new(place.x as f64, place.y as f64);
    point
}

fn place_of(point: Point) -> Place {
    #[expect(clippy::cast_possible_truncation, reason = "places on a canvas are far below 2^63")]
    let place = Place { x: point.x.round() as i64, y: point.y.round() as i64 };
    place
}

impl Card {
    fn new(item: Item, face: Face, at: Point) -> Self {
        Self {
            item,
            face: ArcRwSignal::new(face),
            at: ArcRwSignal::new(at),
            selected: ArcRwSignal::new(false),
            state: ArcRwSignal::new(None),
            trouble: ArcRwSignal::new(None),
        }
    }

    /// Where it stands; the caller follows it.
    pub(crate) fn rect(&self) -> Rect {
        Rect::new(self.at.get(), self.face.with(|face| face.size))
    }

    /// Where it stands now.
    pub(crate) fn rect_now(&self) -> Rect {
        Rect::new(self.at.get_untracked(), self.face.with_untracked(|face| face.size))
    }

    /// The node's id; Start has none.
    pub(crate) fn node(&self) -> Option<&str> {
        match &self.item {
            Item::Node(id) => Some(id),
            Item::Start | Item::Note(_) | Item::Edge(_) => None,
        }
    }
}

impl Link {
    /// The edge of the flow it draws.
    pub(crate) fn edge(&self) -> Option<&EdgeKey> {
        match &self.kind {
            LinkKind::Edge(key) => Some(key),
            LinkKind::FromStart | LinkKind::Reference => None,
        }
    }

    /// Where it leaves and where it enters; the caller follows both cards.
    pub(crate) fn ends(&self) -> (Point, Point) {
        let from = self.from.rect();
        let leaves = match self.output {
            Some((index, count)) => output(&from, index, count),
            None => any_output(&from),
        };
        (leaves, input(&self.to.rect()))
    }

    /// The same, now.
    fn ends_now(&self) -> (Point, Point) {
        untrack(|| self.ends())
    }
}

impl NoteCard {
    /// Where it stands; the caller follows it.
    pub(crate) fn rect(&self) -> Rect {
        Rect::new(self.at.get(), self.size.get())
    }

    fn rect_now(&self) -> Rect {
        Rect::new(self.at.get_untracked(), self.size.get_untracked())
    }
}

impl Stage {
    /// The canvas of a builder, kept in step with it for as long as the current owner lives.
    pub(crate) fn new(builder: Builder) -> Self {
        let stage = Self {
            builder,
            toasts: Toasts::from_context(),
            viewport: RwSignal::default(),
            surface: RwSignal::default(),
            origin: StoredValue::new(Point::default()),
            gesture: RwSignal::default(),
            cards: RwSignal::default(),
            links: RwSignal::default(),
            notes: RwSignal::default(),
            snaps: RwSignal::new(true),
            dots: RwSignal::new(true),
            hovered: RwSignal::new(None),
            asked: RwSignal::new(None),
            writing: RwSignal::new(None),
            pointer: StoredValue::new(None),
            moving: StoredValue::new(None),
            resizing: StoredValue::new(None),
            panning_key: StoredValue::new(false),
            fitted: StoredValue::new(false),
            numbers: StoredValue::new(0),
            frame: StoredValue::new(None),
        };
        Effect::new(move |_| stage.follow_flow());
        Effect::new(move |_| stage.follow_selection());
        Effect::new(move |_| stage.follow_run());
        Effect::new(move |_| stage.follow_findings());
        stage
    }

    /// The builder this canvas shows.
    pub(crate) fn builder(self) -> Builder {
        self.builder
    }
}
