//! One note, and what one does with the one that is selected. A note lies under everything else and never hides a
//! card.

use leptos::html;
use leptos::prelude::*;
use weir_shared::flow::NoteColor;

use crate::geometry::plane::Point;
use crate::model::item::Item;
use crate::state::stage::{NoteCard, Stage};
use crate::ui::button::IconButton;
use crate::ui::icon::Glyph;

const COLORS: [NoteColor; 4] = [NoteColor::Yellow, NoteColor::Green, NoteColor::Blue, NoteColor::Pink];

fn word(color: NoteColor) -> &'static str {
    match color {
        NoteColor::Yellow => "yellow",
        NoteColor::Green => "green",
        NoteColor::Blue => "blue",
        NoteColor::Pink => "pink",
    }
}

/// The note, as text or as a field to write in.
#[component]
pub(crate) fn NoteView(note: NoteCard, stage: Stage) -> impl IntoView {
    let NoteCard { id, text, color, size, at, selected } = note;
    let writes = {
        let id = id.clone();
        Memo::new(move |_| stage.writing.with(|writing| writing.as_ref() == Some(&id)))
    };
    let class = move || format!("note {}{}", word(color.get()), if selected.get() { " selected" } else { "" });
    let height = size.clone();
    let (name, corner) = (id.clone(), id.clone());
    let content = move || {
        if !writes.get() {
            let shown = text.get();
            let empty = shown.is_empty();
            let shown = if empty { "Double-click to write".to_owned() } else { shown };
            return view! { <span class=if empty { "note-text empty" } else { "note-text" }>{shown}</span> }.into_any();
        }
        let field = NodeRef::<html::Textarea>::new();
        Effect::new(move |_| {
            if let Some(field) = field.get() {
                // A field that is on the page can be focused.
                let _ = field.focus();
            }
        });
        let id = id.clone();
        view! {
            <textarea class="note-field" data-free="" aria-label="Text of the note" node_ref=field
                prop:value=text.get_untracked()
                on:input=move |event| stage.write_note(&id, event_target_value(&event))
                on:keydown=move |event| {
                    if event.key() == "Escape" && !event.is_composing() {
                        event.stop_propagation();
                        stage.stop_writing();
                    }
                }
                on:blur=move |_| stage.stop_writing()></textarea>
        }
        .into_any()
    };
    view! {
        <div class=class data-part="note" data-id=name tabindex="0" role="note"
            style:transform=move || at.with(|at| format!("translate({}px, {}px)", at.x, at.y))
            style:width=move || size.with(|size| format!("{}px", size.width))
            style:height=move || height.with(|size| format!("{}px", size.height))>
            {content}
            <i class="note-corner" data-part="note-corner" data-id=corner></i>
        </div>
    }
}

/// Colours and verbs over the one note that is selected. Drawn over the surface, so zooming does not scale it.
#[component]
pub(crate) fn NoteTools(stage: Stage) -> impl IntoView {
    let builder = stage.builder();
    let chosen = Memo::new(move |_| {
        builder.selection.with(|selection| match selection.first() {
            Some(Item::Note(id)) if selection.len() == 1 => Some(id.clone()),
            Some(_) | None => None,
        })
    });
    let place = move |note: &NoteCard| {
        let at = stage.viewport.get().to_screen(note.rect().at) - Point::new(0.0, 42.0);
        format!("translate({}px, {}px)", at.x.round(), at.y.max(4.0).round())
    };
    move || {
        let id = chosen.get()?;
        let note = stage.notes.get().into_iter().find(|note| note.id == id)?;
        let current = note.color.clone();
        let colors = COLORS
            .map(|color| {
                let (id, current) = (id.clone(), current.clone());
                let name = format!("Make the note {}", word(color));
                view! {
                    <button type="button" class=format!("note-color {}", word(color)) title=name.clone() aria-label=name
                        aria-pressed=move || (current.get() == color).to_string()
                        on:click=move |_| stage.color_note(&id, color)></button>
                }
            })
            .into_iter()
            .collect_view();
        Some(view! {
            <div class="note-tools" data-free="" role="toolbar" aria-label="Note" style:transform=move || place(&note)>
                {colors}
                <IconButton glyph=Glyph::Pencil name="Write in it" on_press=move || stage.write_in(&id) />
                <IconButton glyph=Glyph::Copy name="Duplicate (Ctrl D)" on_press=move || stage.duplicate() />
                <IconButton glyph=Glyph::Trash name="Delete (Del)" on_press=move || stage.remove_selection() />
            </div>
        })
    }
}
