//! One note. It lies under everything else and never hides a card.

use leptos::prelude::*;
use weir_shared::flow::NoteColor;

use crate::state::stage::NoteCard;

/// The note, as text.
#[component]
pub(crate) fn NoteView(note: NoteCard) -> impl IntoView {
    let NoteCard { id, text, color, size, at, selected } = note;
    let class = move || {
        let color = match color.get() {
            NoteColor::Yellow => "yellow",
            NoteColor::Green => "green",
            NoteColor::Blue => "blue",
            NoteColor::Pink => "pink",
        };
        format!("note {color}{}", if selected.get() { " selected" } else { "" })
    };
    let height = size.clone();
    view! {
        <div class=class data-part="note" data-id=id tabindex="0" role="note"
            style:transform=move || at.with(|at| format!("translate({}px, {}px)", at.x, at.y))
            style:width=move || size.with(|size| format!("{}px", size.width))
            style:height=move || height.with(|size| format!("{}px", size.height))>
            {move || text.get()}
        </div>
    }
}
