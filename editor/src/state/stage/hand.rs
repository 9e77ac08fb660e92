//! What the hand does to the canvas: gestures fed to the machine, and what it says carried out.

use std::collections::BTreeMap;

use leptos::prelude::*;
use weir_shared::flow::Node;

use super::{Card, Moving, Stage, place_of, set_if_other};
use crate::canvas::ruler::CanvasRuler;
use crate::face::card::Face;
use crate::geometry::arrange::{Direction, free_place, neighbour, snapped_way};
use crate::geometry::card::GRID;
use crate::geometry::plane::{Point, Rect};
use crate::gesture::input::{Ground, Input, Joining, Source, Target};
use crate::gesture::machine::{Effect as Act, Gesture, Hold, step};
use crate::model::connect::{Refusal, refusal};
use crate::model::document::fresh_node_id;
use crate::model::edit::Edit;
use crate::model::item::{EdgeKey, Item, Selection};
use crate::state::builder::now_ms;

/// How near to a card a new edge catches it. Canvas units.
const CATCH: f64 = 20.0;

impl Stage {
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
        self.frame.set_value(Some(now_ms()));
        request_animation_frame(move || {
            // The page may have been left meanwhile.
            let Some(Some(last)) = self.frame.try_get_value() else { return };
            self.frame.set_value(None);
            let elapsed = (now_ms() - last).clamp(0.0, 100.0);
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
}
