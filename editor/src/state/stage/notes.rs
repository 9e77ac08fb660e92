//! Notes: adding, writing in, colouring and resizing them.

use leptos::prelude::*;
use weir_shared::flow::{Note, NoteColor};

use super::{NoteCard, Stage, place_of, set_if_other};
use crate::geometry::arrange::{free_place, snapped};
use crate::geometry::card::note_size;
use crate::geometry::plane::{Point, Rect, Size};
use crate::gesture::input::Joining;
use crate::model::document::fresh_note_id;
use crate::model::edit::{Edit, NoteField};
use crate::model::item::Item;

/// The smallest a note can be pulled to.
const LEAST: Size = Size::new(96.0, 64.0);

fn whole(side: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a side of some hundred units")]
    let side = side.round().max(0.0) as u64;
    Some(side)
}

impl Stage {
    fn note(self, id: &str) -> Option<NoteCard> {
        self.notes.with_untracked(|notes| notes.iter().find(|note| note.id == id).cloned())
    }

    /// Adds a note under the pointer and lets one write in it.
    pub(crate) fn add_note(self) {
        let flow = self.builder.flow.get_untracked();
        let size = note_size(None, None);
        let wanted = self.pointed_at() - Point::new(size.width / 2.0, size.height / 2.0);
        let taken: Vec<Rect> = self.cards.with_untracked(|cards| cards.iter().map(super::Card::rect_now).collect());
        let place = place_of(free_place(wanted, size, &taken));
        let id = fresh_note_id(&flow);
        let note = Note { id: id.clone(), x: place.x, y: place.y, ..Note::default() };
        self.builder.apply(Edit::add_note(&flow, note));
        self.select(Item::Note(id.clone()), Joining::Replace);
        self.writing.set(Some(id));
    }

    /// Lets one write in a note.
    pub(crate) fn write_in(self, note: &str) {
        self.writing.set(Some(note.to_owned()));
    }

    /// The text as it is typed; a stretch of typing is one step.
    pub(crate) fn write_note(self, note: &str, text: String) {
        self.builder.apply(Edit::Note { id: note.to_owned(), field: NoteField::Text(text) });
    }

    /// The writing is over.
    pub(crate) fn stop_writing(self) {
        self.builder.pause_typing();
        self.writing.set(None);
    }

    /// Gives a note another colour.
    pub(crate) fn color_note(self, note: &str, color: NoteColor) {
        self.builder.apply(Edit::Note { id: note.to_owned(), field: NoteField::Color(Some(color)) });
    }

    pub(super) fn begin_resize(self, note: String) {
        self.select(Item::Note(note.clone()), Joining::Replace);
        if let Some(card) = self.note(&note) {
            self.resizing.set_value(Some((note, card.size.get_untracked())));
        }
    }

    pub(super) fn resize_to(self, way: Point) {
        let Some((note, before)) = self.resizing.get_value() else { return };
        let Some(card) = self.note(&note) else { return };
        let at = card.at.get_untracked();
        let corner = at + Point::new(before.width, before.height) + way;
        // The corner lands on the grid, not the distance it was pulled.
        let corner = if self.snaps.get_untracked() { snapped(corner) } else { corner };
        let size = Size::new((corner.x - at.x).max(LEAST.width), (corner.y - at.y).max(LEAST.height));
        set_if_other(&card.size, size);
    }

    pub(super) fn end_resize(self) {
        let Some((note, before)) = self.resizing.get_value() else { return };
        self.resizing.set_value(None);
        let Some(size) = self.note(&note).map(|card| card.size.get_untracked()).filter(|size| *size != before) else {
            return;
        };
        let field = NoteField::Size { width: whole(size.width), height: whole(size.height) };
        self.builder.apply(Edit::Note { id: note, field });
    }

    pub(super) fn cancel_resize(self) {
        if let Some((note, before)) = self.resizing.get_value()
            && let Some(card) = self.note(&note)
        {
            set_if_other(&card.size, before);
        }
        self.resizing.set_value(None);
    }
}
