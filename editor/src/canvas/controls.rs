//! Zoom, fit, snap, dots, tidy, a note and the keys, at the bottom of the canvas.

use leptos::prelude::*;

use crate::state::stage::{Closer, Stage};
use crate::ui::button::IconButton;
use crate::ui::icon::Glyph;

/// The row of buttons.
#[component]
pub(crate) fn Controls(stage: Stage, #[prop(into)] on_help: Callback<()>) -> impl IntoView {
    let percent = move || format!("{:.0} %", stage.viewport.get().zoom * 100.0);
    view! {
        <div class="canvas-controls tip-up" data-free="" role="toolbar" aria-label="Canvas">
            <IconButton glyph=Glyph::Minus name="Zoom out" on_press=move || stage.zoom_step(Closer::Out) />
            <output class="zoom" aria-label="Zoom">{percent}</output>
            <IconButton glyph=Glyph::Plus name="Zoom in" on_press=move || stage.zoom_step(Closer::In) />
            <IconButton glyph=Glyph::Fit name="Show everything (F)" on_press=move || stage.fit() />
            <IconButton glyph=Glyph::Magnet name="Snap to the grid" pressed=stage.snaps.into()
                on_press=move || stage.snaps.update(|snaps| *snaps = !*snaps) />
            <IconButton glyph=Glyph::Grid name="Dots" pressed=stage.dots.into()
                on_press=move || stage.dots.update(|dots| *dots = !*dots) />
            <span class="toolbar-line"></span>
            <IconButton glyph=Glyph::Sitemap name="Tidy the layout (Shift Alt T)" on_press=move || stage.tidy() />
            <IconButton glyph=Glyph::Note name="Add a note (Shift N)" on_press=move || stage.add_note() />
            <IconButton glyph=Glyph::Help name="Keys (?)" on_press=on_help />
        </div>
    }
}
