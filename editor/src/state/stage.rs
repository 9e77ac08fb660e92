//! The canvas as it stands: where each card is, what the hand does, through which viewport it is seen.
//!
//! The document changes only at the end of a gesture; while it lasts, the places here run ahead of it. Every card has
//! signals of its own, so that a drag wakes the moved cards and their edges and nothing else, and one edit wakes the
//! cards it changed. Lists change only when cards come or go.

use std::collections::{BTreeMap, BTreeSet};

use leptos::prelude::*;
use weir_shared::finding::Severity;
use weir_shared::flow::{Flow, Node, Note, NoteColor, Place, START};

use super::builder::Builder;
use super::card::CardState;
use crate::canvas::ruler::CanvasRuler;
use crate::face::card::Face;
use crate::geometry::arrange::{Direction, free_place, neighbour, snapped_way};
use crate::geometry::card::{GRID, any_output, input, note_size, output};
use crate::geometry::plane::{Point, Rect, Size, Viewport, ZOOM_STEP};
use crate::gesture::input::{Ground, Input, Joining, Source, Target};
use crate::gesture::machine::{Effect as Act, Gesture, Hold, step};
use crate::model::connect::{Refusal, refusal};
use crate::model::document::fresh_node_id;
use crate::model::edit::Edit;
use crate::model::item::{EdgeKey, Item, Selection};
use crate::ui::toast::Toasts;

/// How near to a card a new edge catches it. Canvas units.
const CATCH: f64 = 20.0;

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
    /// Absent for the line from Start to a first step, which is no edge of the flow.
    pub(crate) edge: Option<EdgeKey>,
    pub(crate) from: Card,
    pub(crate) to: Card,
    /// Its output among those of its source; absent when it follows any branch.
    pub(crate) output: Option<(usize, usize)>,
    pub(crate) selected: ArcRwSignal<bool>,
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
    moving: StoredValue<Option<Moving>>,
    panning_key: StoredValue<bool>,
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
    /// Where it leaves and where it enters; the caller follows both cards.
    pub(crate) fn ends(&self) -> (Point, Point) {
        let from = self.from.rect();
        let leaves = match self.output {
            Some((index, count)) => output(&from, index, count),
            None => any_output(&from),
        };
        (leaves, input(&self.to.rect()))
    }
}

impl NoteCard {
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
            moving: StoredValue::new(None),
            panning_key: StoredValue::new(false),
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

    fn follow_flow(self) {
        let flow = self.builder.flow.get();
        let catalog = self.builder.catalog.get();
        let ruler = CanvasRuler;
        let place = |key: &str| flow.layout.get(key).copied().map(point_of).unwrap_or_default();
        let mut wanted = vec![(Item::Start, Face::of_start(&flow, &ruler), place(START))];
        let mut seen = BTreeSet::new();
        // Of two nodes with one id (a finding) the first is drawn.
        for node in flow.nodes.iter().filter(|node| seen.insert(node.id.as_str())) {
            wanted.push((Item::Node(node.id.clone()), Face::of(node, &flow, &catalog, &ruler), place(&node.id)));
        }
        let old: BTreeMap<Item, Card> =
            self.cards.with_untracked(|cards| cards.iter().map(|card| (card.item.clone(), card.clone())).collect());
        let cards: Vec<Card> = wanted
            .into_iter()
            .map(|(item, face, at)| match old.get(&item) {
                Some(card) => {
                    set_if_other(&card.face, face);
                    set_if_other(&card.at, at);
                    card.clone()
                }
                None => Card::new(item, face, at),
            })
            .collect();
        let links = self.links_of(&flow, &cards);
        if self.cards.with_untracked(|now| !now.iter().map(|card| &card.item).eq(cards.iter().map(|card| &card.item))) {
            self.cards.set(cards);
        }
        if self.links.with_untracked(|now| !now.iter().map(|link| &link.id).eq(links.iter().map(|link| &link.id))) {
            self.links.set(links);
        }
        self.follow_notes(&flow);
    }

    fn links_of(self, flow: &Flow, cards: &[Card]) -> Vec<Link> {
        let by_id: BTreeMap<&str, &Card> = cards.iter().filter_map(|card| Some((card.node()?, card))).collect();
        let old: BTreeMap<String, Link> =
            self.links.with_untracked(|links| links.iter().map(|link| (link.id.clone(), link.clone())).collect());
        let selection = self.builder.selection.get_untracked();
        let mut links: Vec<Link> = Vec::with_capacity(flow.edges.len());
        let mut seen = BTreeSet::new();
        for edge in &flow.edges {
            let (Some(from), Some(to)) = (by_id.get(edge.source.as_str()), by_id.get(edge.target.as_str())) else {
                continue;
            };
            let key = EdgeKey::of(edge);
            if !seen.insert(key.clone()) {
                continue;
            }
            let output = from.face.with_untracked(|face| {
                let index = face.outputs.iter().position(|output| Some(output) == edge.port.as_ref())?;
                Some((index, face.outputs.len()))
            });
            let id = format!("{}>{}>{}>{output:?}", edge.source, edge.port.as_deref().unwrap_or_default(), edge.target);
            links.push(old.get(&id).cloned().unwrap_or_else(|| Link {
                id,
                selected: ArcRwSignal::new(selection.contains(&Item::Edge(key.clone()))),
                edge: Some(key),
                from: (*from).clone(),
                to: (*to).clone(),
                output,
            }));
        }
        let followed: BTreeSet<&str> = flow.edges.iter().map(|edge| edge.target.as_str()).collect();
        let Some(start) = cards.iter().find(|card| card.item == Item::Start) else { return links };
        for (node, card) in by_id.iter().filter(|(node, _)| !followed.contains(*node)) {
            let id = format!("{START}>{node}");
            links.push(old.get(&id).cloned().unwrap_or_else(|| Link {
                id,
                edge: None,
                from: start.clone(),
                to: (*card).clone(),
                output: None,
                selected: ArcRwSignal::new(false),
            }));
        }
        links
    }

    fn follow_notes(self, flow: &Flow) {
        let old: BTreeMap<String, NoteCard> =
            self.notes.with_untracked(|notes| notes.iter().map(|note| (note.id.clone(), note.clone())).collect());
        let mut seen = BTreeSet::new();
        let notes: Vec<NoteCard> = flow
            .notes
            .iter()
            .filter(|note| seen.insert(note.id.as_str()))
            .map(|note| {
                let Note { id, text, color, x, y, width, height, .. } = note;
                let at = point_of(Place { x: *x, y: *y });
                let size = note_size(*width, *height);
                let color = color.unwrap_or_default();
                match old.get(id) {
                    Some(card) => {
                        set_if_other(&card.text, text.clone());
                        set_if_other(&card.color, color);
                        set_if_other(&card.size, size);
                        set_if_other(&card.at, at);
                        card.clone()
                    }
                    None => NoteCard {
                        id: id.clone(),
                        text: ArcRwSignal::new(text.clone()),
                        color: ArcRwSignal::new(color),
                        size: ArcRwSignal::new(size),
                        at: ArcRwSignal::new(at),
                        selected: ArcRwSignal::new(false),
                    },
                }
            })
            .collect();
        if self.notes.with_untracked(|now| !now.iter().map(|note| &note.id).eq(notes.iter().map(|note| &note.id))) {
            self.notes.set(notes);
        }
    }

    fn follow_selection(self) {
        let selection = self.builder.selection.get();
        for card in self.cards.get() {
            set_if_other(&card.selected, selection.contains(&card.item));
        }
        for link in self.links.get() {
            let selected = link.edge.as_ref().is_some_and(|key| selection.contains(&Item::Edge(key.clone())));
            set_if_other(&link.selected, selected);
        }
        for note in self.notes.get() {
            set_if_other(&note.selected, selection.contains(&Item::Note(note.id.clone())));
        }
    }

    fn follow_run(self) {
        let states = self.builder.card_states.get();
        for card in self.cards.get() {
            let state = card.node().and_then(|id| states.get(id)).cloned();
            set_if_other(&card.state, state);
        }
    }

    fn follow_findings(self) {
        let findings = self.builder.findings.get();
        for card in self.cards.get() {
            let worst = findings
                .iter()
                .filter(|finding| finding.node_id.as_deref().is_some_and(|id| card.node() == Some(id)))
                .map(|finding| finding.severity)
                .filter(|severity| *severity >= Severity::Warning)
                .max();
            set_if_other(&card.trouble, worst);
        }
    }

    // ---- the hand ----

    /// Where the surface is, learnt when it appears, changes its size, or is pressed.
    pub(crate) fn learn_surface(self, origin: Point, size: Size) {
        self.origin.set_value(origin);
        if self.surface.get_untracked() != size {
            let first = self.surface.get_untracked() == Size::default();
            self.surface.set(size);
            if first {
                self.fit();
            }
        }
    }

    /// A point of the window as a point of the surface.
    pub(crate) fn on_surface(self, x: f64, y: f64) -> Point {
        Point::new(x, y) - self.origin.get_value()
    }

    /// Space went down or up.
    pub(crate) fn hold_panning_key(self, held: bool) {
        self.panning_key.set_value(held);
    }

    /// What the hand did.
    pub(crate) fn feed(self, input: Input) {
        let ground = Ground {
            viewport: self.viewport.get_untracked(),
            surface: self.surface.get_untracked(),
            panning_key: self.panning_key.get_value(),
        };
        let before = self.gesture.get_untracked();
        let (after, acts) = step(before.clone(), input, &ground);
        if after != before {
            self.gesture.set(after);
        }
        for act in acts {
            self.act(act);
        }
        self.keep_frames();
    }

    /// Asks for frames while a gesture may pan by itself.
    fn keep_frames(self) {
        let needs = self.gesture.with_untracked(|gesture| match gesture {
            Gesture::Drag { .. } | Gesture::Box { .. } | Gesture::Connect { hold: Hold::Pointer(_), .. } => true,
            Gesture::Idle
            | Gesture::Pressed { .. }
            | Gesture::Pan { .. }
            | Gesture::Connect { hold: Hold::Clicked, .. }
            | Gesture::Pinch { .. }
            | Gesture::Picked { .. }
            | Gesture::Placing { .. } => false,
        });
        if !needs {
            self.frame.set_value(None);
            return;
        }
        if self.frame.get_value().is_some() {
            return;
        }
        self.frame.set_value(Some(super::builder::now_ms()));
        request_animation_frame(move || {
            // The page may have been left meanwhile.
            let Some(Some(last)) = self.frame.try_get_value() else { return };
            self.frame.set_value(None);
            let elapsed = (super::builder::now_ms() - last).clamp(0.0, 100.0);
            self.feed(Input::Frame { elapsed });
        });
    }

    fn act(self, act: Act) {
        match act {
            Act::PanBy(by) => self.viewport.update(|viewport| *viewport = viewport.panned(by)),
            Act::ZoomAbout { at, factor } => self.viewport.update(|viewport| *viewport = viewport.zoomed(at, factor)),
            Act::Select { item, joining } => self.select(item, joining),
            Act::ClearSelection => self.builder.selection.set(Selection::new()),
            Act::SelectIn { rect, joining } => self.select_in(&rect, joining),
            Act::BeginDrag { grabbed } => self.begin_drag(&grabbed),
            Act::DragTo { way } => self.drag_to(way),
            Act::EndDrag => self.end_drag(),
            Act::CancelDrag => self.cancel_drag(),
            Act::Connect { from, to } => self.connect(from, to),
            Act::Place { tool, at } => self.add(&tool, Some(at)),
            Act::Add { tool } => self.add(&tool, None),
            // A list of tools to go on with belongs here; until then, letting go on nothing changes nothing.
            Act::ConnectToNothing { .. } => {}
            // The element that saw the press has captured the pointer.
            Act::Capture { .. } => {}
        }
    }

    /// Selects an item, alone or with what is selected.
    pub(crate) fn select(self, item: Item, joining: Joining) {
        self.builder.selection.update(|selection| match joining {
            Joining::Replace => *selection = Selection::from([item]),
            Joining::Toggle => {
                if !selection.remove(&item) {
                    selection.insert(item);
                }
            }
        });
    }

    fn select_in(self, rect: &Rect, joining: Joining) {
        let mut found: Selection = Selection::new();
        self.cards.with_untracked(|cards| {
            found.extend(cards.iter().filter(|card| rect.encloses(&card.rect_now())).map(|card| card.item.clone()));
        });
        self.notes.with_untracked(|notes| {
            let inside = notes.iter().filter(|note| rect.encloses(&note.rect_now()));
            found.extend(inside.map(|note| Item::Note(note.id.clone())));
        });
        self.builder.selection.update(|selection| match joining {
            Joining::Replace => *selection = found,
            Joining::Toggle => selection.extend(found),
        });
    }

    /// Selects everything that can be moved.
    pub(crate) fn select_all(self) {
        let mut all: Selection =
            self.cards.with_untracked(|cards| cards.iter().map(|card| card.item.clone()).collect());
        self.notes.with_untracked(|notes| all.extend(notes.iter().map(|note| Item::Note(note.id.clone()))));
        self.builder.selection.set(all);
    }

    /// Places of what is selected and can be moved.
    fn places(self) -> BTreeMap<Item, Point> {
        let selection = self.builder.selection.get_untracked();
        let mut places = BTreeMap::new();
        self.cards.with_untracked(|cards| {
            for card in cards.iter().filter(|card| selection.contains(&card.item)) {
                places.insert(card.item.clone(), card.at.get_untracked());
            }
        });
        self.notes.with_untracked(|notes| {
            for note in notes {
                let item = Item::Note(note.id.clone());
                if selection.contains(&item) {
                    places.insert(item, note.at.get_untracked());
                }
            }
        });
        places
    }

    fn begin_drag(self, grabbed: &Item) {
        if !self.builder.selection.with_untracked(|selection| selection.contains(grabbed)) {
            self.select(grabbed.clone(), Joining::Replace);
        }
        let starts = self.places();
        let grabbed = starts.get(grabbed).copied().unwrap_or_default();
        self.moving.set_value(Some(Moving { grabbed, starts }));
    }

    fn drag_to(self, way: Point) {
        let Some(Moving { grabbed, starts }) = self.moving.get_value() else { return };
        let way = if self.snaps.get_untracked() {
            snapped_way(grabbed, way)
        } else {
            Point::new(way.x.round(), way.y.round())
        };
        self.put(starts.into_iter().map(|(item, start)| (item, start + way)).collect());
    }

    /// Puts items at places without changing the document.
    fn put(self, places: BTreeMap<Item, Point>) {
        self.cards.with_untracked(|cards| {
            for card in cards {
                if let Some(at) = places.get(&card.item) {
                    set_if_other(&card.at, *at);
                }
            }
        });
        self.notes.with_untracked(|notes| {
            for note in notes {
                if let Some(at) = places.get(&Item::Note(note.id.clone())) {
                    set_if_other(&note.at, *at);
                }
            }
        });
    }

    fn end_drag(self) {
        if self.moving.get_value().is_none() {
            return;
        }
        self.moving.set_value(None);
        self.keep_places(self.places());
    }

    fn keep_places(self, places: BTreeMap<Item, Point>) {
        let moved = places.into_iter().map(|(item, at)| (item, Some(place_of(at)))).collect();
        self.builder.apply(Edit::Move(moved));
    }

    fn cancel_drag(self) {
        if let Some(Moving { starts, .. }) = self.moving.get_value() {
            self.put(starts);
        }
        self.moving.set_value(None);
    }

    /// Moves what is selected by one step of the grid.
    pub(crate) fn nudge(self, direction: Direction) {
        let moved = self.places().into_iter().map(|(item, at)| (item, at + direction.step(GRID))).collect();
        self.keep_places(moved);
    }

    /// The card next to the selected one, selected instead.
    pub(crate) fn go(self, direction: Direction) -> Option<Item> {
        let cards = self.cards.get_untracked();
        let selection = self.builder.selection.get_untracked();
        let from = cards.iter().find(|card| selection.contains(&card.item)).or(cards.first())?;
        let others = cards.iter().filter(|card| card.item != from.item).map(|card| (&card.item, card.rect_now()));
        let next = neighbour(&from.rect_now(), direction, others)?.clone();
        self.select(next.clone(), Joining::Replace);
        self.reveal(&next);
        Some(next)
    }

    fn connect(self, from: Source, to: String) {
        let key = EdgeKey { source: from.node, port: from.port, target: to };
        let flow = self.builder.flow.get_untracked();
        match refusal(&flow, &key) {
            // Let go where it began: no edge was meant.
            Some(Refusal::Itself) => {}
            Some(refusal) => self.toasts.fail(refusal.to_string()),
            None => self.builder.apply(Edit::connect(&flow, &key)),
        }
    }

    /// Why the edge in the hand would be refused by the card under it. Follows the gesture.
    pub(crate) fn refusal(self) -> Option<Refusal> {
        self.gesture.with(|gesture| match gesture {
            Gesture::Connect { from, over, .. } => {
                let target = over.node()?;
                let key = EdgeKey { source: from.node.clone(), port: from.port.clone(), target: target.to_owned() };
                self.builder.flow.with(|flow| refusal(flow, &key))
            }
            Gesture::Idle
            | Gesture::Pressed { .. }
            | Gesture::Pan { .. }
            | Gesture::Box { .. }
            | Gesture::Drag { .. }
            | Gesture::Pinch { .. }
            | Gesture::Picked { .. }
            | Gesture::Placing { .. } => None,
        })
    }

    /// The node at a point of the surface that a new edge would lead to.
    pub(crate) fn caught(self, at: Point) -> Target {
        let point = self.viewport.get_untracked().to_canvas(at);
        let distance = |rect: &Rect| rect.center().distance(point);
        self.cards.with_untracked(|cards| {
            let near = cards.iter().filter_map(|card| {
                let rect = card.rect_now();
                let node = card.node()?;
                rect.grown(CATCH).contains(point).then(|| (node, !rect.contains(point), distance(&rect)))
            });
            let best = near.min_by(|one, other| one.1.cmp(&other.1).then(one.2.total_cmp(&other.2)));
            best.map_or(Target::Canvas, |(node, ..)| Target::Item(Item::Node(node.to_owned())))
        })
    }

    /// Adds a node of a tool around a point, else beside what is selected or in the middle of what is seen.
    pub(crate) fn add(self, tool: &str, around: Option<Point>) {
        let flow = self.builder.flow.get_untracked();
        let id = fresh_node_id(&flow, tool);
        let node = Node { id: id.clone(), tool: tool.to_owned(), ..Node::default() };
        let catalog = self.builder.catalog.get_untracked();
        let size = Face::of(&node, &flow, &catalog, &CanvasRuler).size;
        let cards = self.cards.get_untracked();
        let corner = match around {
            Some(at) => at - Point::new(size.width / 2.0, size.height / 2.0),
            None => self.beside_selection(&cards).unwrap_or_else(|| {
                let seen = self.viewport.get_untracked().seen(self.surface.get_untracked());
                seen.center() - Point::new(size.width / 2.0, size.height / 2.0)
            }),
        };
        let taken: Vec<Rect> = cards.iter().map(Card::rect_now).collect();
        let at = free_place(corner, size, &taken);
        self.builder.apply(Edit::add_node(&flow, node, place_of(at)));
        let item = Item::Node(id);
        self.select(item, Joining::Replace);
        self.reveal_rect(Rect::new(at, size));
    }

    fn beside_selection(self, cards: &[Card]) -> Option<Point> {
        let selection = self.builder.selection.get_untracked();
        let beside = cards.iter().rfind(|card| selection.contains(&card.item))?.rect_now();
        Some(Point::new(beside.right() + 4.0 * GRID, beside.at.y))
    }

    /// Removes what is selected.
    pub(crate) fn remove_selection(self) {
        let mut items = self.builder.selection.get_untracked();
        items.remove(&Item::Start);
        if !items.is_empty() {
            self.builder.apply(Edit::Remove(items));
        }
    }

    // ---- the viewport ----

    /// Shows the whole flow.
    pub(crate) fn fit(self) {
        let surface = self.surface.get_untracked();
        if surface.width < 1.0 {
            return;
        }
        let cards = self.cards.get_untracked();
        let notes = self.notes.get_untracked();
        let all = cards.iter().map(Card::rect_now).chain(notes.iter().map(NoteCard::rect_now));
        if let Some(bounds) = Rect::around(all) {
            self.viewport.set(Viewport::fitting(bounds, surface));
        }
    }

    /// Zooms about the middle.
    pub(crate) fn zoom_step(self, closer: Closer) {
        let surface = self.surface.get_untracked();
        let middle = Point::new(surface.width / 2.0, surface.height / 2.0);
        let factor = match closer {
            Closer::In => ZOOM_STEP,
            Closer::Out => 1.0 / ZOOM_STEP,
        };
        self.viewport.update(|viewport| *viewport = viewport.zoomed(middle, factor));
    }

    /// Pans so that an item is seen, when it is not; the zoom stays.
    pub(crate) fn reveal(self, item: &Item) {
        let rect = self.cards.with_untracked(|cards| cards.iter().find(|card| card.item == *item).map(Card::rect_now));
        if let Some(rect) = rect {
            self.reveal_rect(rect);
        }
    }

    fn reveal_rect(self, rect: Rect) {
        let surface = self.surface.get_untracked();
        let viewport = self.viewport.get_untracked();
        if !viewport.seen(surface).encloses(&rect) {
            self.center_on(rect.center());
        }
    }

    /// Pans so that a point of the canvas is in the middle.
    pub(crate) fn center_on(self, point: Point) {
        let surface = self.surface.get_untracked();
        let middle = Point::new(surface.width / 2.0, surface.height / 2.0);
        self.viewport.update(|viewport| {
            let by = middle - viewport.to_screen(point);
            *viewport = viewport.panned(by);
        });
    }
}

/// Which way a zoom button goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closer {
    In,
    Out,
}
