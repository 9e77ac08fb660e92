//! What of the canvas is seen.

use leptos::prelude::*;

use super::{Card, NoteCard, Stage};
use crate::geometry::plane::{Point, Rect, Size, Viewport, ZOOM_STEP};
use crate::model::item::Item;

/// What the controls at the bottom cover of the surface: nothing is fitted under them.
const CONTROLS_BAND: f64 = 64.0;

/// The part of a surface that nothing floats over.
fn free(surface: Size) -> Size {
    Size::new(surface.width, (surface.height - CONTROLS_BAND).max(1.0))
}

impl Stage {
    /// Where the surface is, learnt when it appears, changes its size, or is pressed.
    pub(crate) fn learn_surface(self, origin: Point, size: Size) {
        self.origin.set_value(origin);
        let before = self.surface.get_untracked();
        if before == size {
            return;
        }
        self.surface.set(size);
        self.fit_once();
        if before.width > 1.0 {
            self.keep_in_view(before);
        }
    }

    /// After a panel opened or closed: a flow that was seen whole still is; else what was in the middle stays there.
    fn keep_in_view(self, before: Size) {
        let surface = self.surface.get_untracked();
        let viewport = self.viewport.get_untracked();
        let Some(bounds) = self.bounds() else { return };
        let by = Point::new((surface.width - before.width) / 2.0, (surface.height - before.height) / 2.0);
        let panned = viewport.panned(by);
        if viewport.seen(before).encloses(&bounds) && !panned.seen(free(surface)).encloses(&bounds) {
            self.fit();
        } else {
            self.viewport.set(panned);
        }
    }

    /// What everything on the canvas takes.
    fn bounds(self) -> Option<Rect> {
        let cards = self.cards.get_untracked();
        let notes = self.notes.get_untracked();
        Rect::around(cards.iter().map(Card::rect_now).chain(notes.iter().map(NoteCard::rect_now)))
    }

    /// Shows the whole flow as soon as both the surface and the cards are there, and not again by itself.
    pub(super) fn fit_once(self) {
        let ready = self.surface.get_untracked().width > 1.0 && !self.cards.with_untracked(Vec::is_empty);
        if ready && !self.fitted.get_value() {
            self.fitted.set_value(true);
            self.fit();
        }
    }

    /// A point of the window as a point of the surface.
    pub(crate) fn on_surface(self, x: f64, y: f64) -> Point {
        Point::new(x, y) - self.origin.get_value()
    }

    /// Shows the whole flow.
    pub(crate) fn fit(self) {
        let surface = self.surface.get_untracked();
        if surface.width < 1.0 {
            return;
        }
        if let Some(bounds) = self.bounds() {
            self.viewport.set(Viewport::fitting(bounds, free(surface)));
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
        let card = self.cards.with_untracked(|cards| cards.iter().find(|card| card.item == *item).map(Card::rect_now));
        let rect = card.or_else(|| {
            let is_it = |note: &&NoteCard| *item == Item::Note(note.id.clone());
            self.notes.with_untracked(|notes| notes.iter().find(is_it).map(NoteCard::rect_now))
        });
        if let Some(rect) = rect {
            self.reveal_rect(rect);
        }
    }

    pub(super) fn reveal_rect(self, rect: Rect) {
        let surface = self.surface.get_untracked();
        let viewport = self.viewport.get_untracked();
        if !viewport.seen(free(surface)).encloses(&rect) {
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
