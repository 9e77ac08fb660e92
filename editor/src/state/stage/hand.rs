//! What the hand does to the canvas: gestures fed to the machine, and what it says carried out.

use std::collections::BTreeMap;

use leptos::prelude::*;
use weir_shared::flow::START;
use weir_shared::layout::tidy;

use super::{Moving, Question, Stage, place_of, set_if_other};
use crate::geometry::arrange::{Direction, neighbour, snapped_way};
use crate::geometry::card::GRID;
use crate::geometry::plane::{Point, Rect};
use crate::gesture::input::{Ground, Input, Joining};
use crate::gesture::machine::{Effect as Act, Gesture, Hold, step};
use crate::model::edit::Edit;
use crate::model::item::{Item, Selection};
use crate::state::builder::now_ms;

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

    /// The pointer was seen here on the surface.
    pub(crate) fn point_at(self, at: Point) {
        self.pointer.set_value(Some(at));
    }

    /// The point of the canvas under the pointer, else the middle of what is seen.
    pub(crate) fn pointed_at(self) -> Point {
        let surface = self.surface.get_untracked();
        let inside = |at: &Point| Rect::new(Point::default(), surface).contains(*at);
        let middle = Point::new(surface.width / 2.0, surface.height / 2.0);
        let at = self.pointer.get_value().filter(inside).unwrap_or(middle);
        self.viewport.get_untracked().to_canvas(at)
    }

    /// Asks for frames while a gesture may pan by itself.
    fn keep_frames(self) {
        let needs = self.gesture.with_untracked(|gesture| match gesture {
            Gesture::Drag { .. }
            | Gesture::Box { .. }
            | Gesture::Reconnect { .. }
            | Gesture::Connect { hold: Hold::Pointer(_), .. } => true,
            Gesture::Resize { .. }
            | Gesture::Idle
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
            Act::Place { tool, at } => match self.edge_near(at) {
                Some(edge) => self.insert_into(&edge, &tool),
                None => self.add(&tool, Some(at)),
            },
            Act::Add { tool } => self.add(&tool, None),
            Act::ConnectToNothing { from, at } => self.asked.set(Some(Question::After { source: from, at })),
            Act::Reconnect { edge, end, to, at } => self.reconnect(&edge, end, to, at),
            Act::BeginResize { note } => self.begin_resize(note),
            Act::ResizeTo { way } => self.resize_to(way),
            Act::EndResize => self.end_resize(),
            Act::CancelResize => self.cancel_resize(),
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

    /// Lays the whole flow out in columns. One step; nothing else ever moves an untouched node.
    pub(crate) fn tidy(self) {
        let flow = self.builder.flow.get_untracked();
        let places = tidy(&flow).into_iter().map(|(id, place)| {
            let item = if id == START { Item::Start } else { Item::Node(id) };
            (item, Some(place))
        });
        self.builder.apply(Edit::Move(places.collect()));
        request_animation_frame(move || self.fit());
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
