//! Copy, paste, duplicate. What travels is text; the browser's events carry it, see `builder::clipboard`.

use leptos::prelude::*;
use weir_shared::flow::Place;

use super::{Stage, place_of, point_of};
use crate::canvas::ruler::CanvasRuler;
use crate::face::card::Face;
use crate::geometry::arrange::free_place;
use crate::geometry::card::{GRID, note_size};
use crate::geometry::plane::{Point, Rect, Size};
use crate::model::clip::Clip;

impl Stage {
    /// What is selected, as text; `None` when nothing of it can be copied.
    pub(crate) fn copied(self) -> Option<String> {
        Some(self.clip()?.text())
    }

    fn clip(self) -> Option<Clip> {
        let selection = self.builder.selection.get_untracked();
        Clip::of(&self.builder.flow.get_untracked(), &selection)
    }

    /// Puts copied text at the pointer; false when it is no part of a flow.
    pub(crate) fn paste(self, text: &str) -> bool {
        let Some(clip) = Clip::read(text) else { return false };
        let half = self.size_of(&clip);
        self.put_in(clip, self.pointed_at() - Point::new(half.width / 2.0, half.height / 2.0));
        true
    }

    /// Puts a copy of what is selected beside it.
    pub(crate) fn duplicate(self) {
        if let Some(clip) = self.clip() {
            let corner = point_of(clip.corner()) + Point::new(2.0 * GRID, 2.0 * GRID);
            self.put_in(clip, corner);
        }
    }

    fn put_in(self, clip: Clip, wanted: Point) {
        let flow = self.builder.flow.get_untracked();
        let size = self.size_of(&clip);
        let taken: Vec<Rect> = self.cards.with_untracked(|cards| cards.iter().map(super::Card::rect_now).collect());
        let corner = free_place(wanted, size, &taken);
        let (edit, selection) = clip.paste(&flow, place_of(corner));
        self.builder.apply(edit);
        self.builder.selection.set(selection);
        self.reveal_rect(Rect::new(corner, size));
    }

    /// The room that everything in it takes.
    fn size_of(self, clip: &Clip) -> Size {
        let (flow, catalog) = (self.builder.flow.get_untracked(), self.builder.catalog.get_untracked());
        let nodes = clip.nodes.iter().map(|node| {
            let at = clip.layout.get(&node.id).copied().map(point_of).unwrap_or_default();
            Rect::new(at, Face::of(node, &flow, &catalog, &CanvasRuler).size)
        });
        let notes = clip.notes.iter().map(|note| {
            let at = point_of(Place { x: note.x, y: note.y });
            Rect::new(at, note_size(note.width, note.height))
        });
        Rect::around(nodes.chain(notes)).map(|bounds| bounds.size).unwrap_or_default()
    }
}
