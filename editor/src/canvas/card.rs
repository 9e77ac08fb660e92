//! One card: Start or a node. At most twelve elements; its colours come from five properties on its root.

use leptos::prelude::*;
use weir_shared::finding::Severity;

use super::status::StatusBadge;
use crate::face::card::Face;
use crate::face::look::type_color;
use crate::geometry::card::output_height;
use crate::model::item::Item;
use crate::state::card::CardState;
use crate::state::stage::Card;
use crate::ui::icon::{Glyph, Icon};

/// The DOM id of a card's element, for focus.
pub(crate) fn dom_id(item: &Item) -> Option<String> {
    match item {
        Item::Start => Some("card-start".to_owned()),
        Item::Node(id) => Some(format!("card-node-{id}")),
        Item::Note(_) | Item::Edge(_) => None,
    }
}

fn state_class(state: Option<&CardState>) -> &'static str {
    match state {
        None => "",
        Some(CardState::Waiting) => "is-waiting",
        Some(CardState::Running { .. } | CardState::Retrying { .. }) => "is-running",
        Some(CardState::WaitsForYou) => "is-asking",
        Some(CardState::Done { .. }) => "is-done",
        Some(CardState::Failed { .. } | CardState::Interrupted) => "is-failed",
        Some(CardState::Skipped { .. } | CardState::Cancelled) => "is-skipped",
    }
}

fn trouble_class(trouble: Option<Severity>) -> &'static str {
    match trouble {
        Some(Severity::Error) => "has-error",
        Some(Severity::Warning) => "has-warning",
        Some(Severity::Info) | None => "",
    }
}

/// One card.
#[component]
pub(crate) fn CardView(card: Card) -> impl IntoView {
    let Card { item, face, at, selected, state, trouble } = card;
    let id = match &item {
        Item::Node(id) => Some(id.clone()),
        Item::Start | Item::Note(_) | Item::Edge(_) => None,
    };
    let is_start = item == Item::Start;
    let dom_id = dom_id(&item);
    let class = {
        let (face, selected, state, trouble) = (face.clone(), selected.clone(), state.clone(), trouble);
        move || {
            let mut class = "card".to_owned();
            let flags = [
                (selected.get(), "selected"),
                (is_start, "start"),
                (face.with(|face| face.disabled), "disabled"),
                (face.with(|face| face.unknown), "unknown"),
                (face.with(|face| face.pinned), "pinned"),
                (face.with(|face| !face.rows.is_empty()), "tall"),
            ];
            let words = flags.iter().filter(|(on, _)| *on).map(|(_, word)| *word);
            let run = [state.with(|state| state_class(state.as_ref())), trouble_class(trouble.get())];
            for word in words.chain(run).filter(|word| !word.is_empty()) {
                class.push(' ');
                class.push_str(word);
            }
            class
        }
    };
    let of = |read: fn(&Face) -> String| {
        let face = face.clone();
        move || face.with(read)
    };
    let label = {
        let (face, state) = (face.clone(), state.clone());
        move || {
            let kind = face.with(|face| format!("{}, {}", face.title, face.subtitle));
            match state.with(|state| state.as_ref().map(CardState::words)) {
                Some(words) => format!("{kind}, {words}"),
                None => kind,
            }
        }
    };
    let glyph = {
        let face = face.clone();
        Signal::derive(move || face.with(|face| Glyph::named(&face.look.glyph).unwrap_or(Glyph::Tools)))
    };
    let outputs = {
        let (face, node) = (face.clone(), id.clone());
        let shown = Memo::new(move |_| {
            face.with(|face| {
                let color = if face.output_type == "branch" || face.output_type == "any" {
                    face.look.color.to_string()
                } else {
                    type_color(face.output_type).to_owned()
                };
                (face.outputs.clone(), face.size.height, color)
            })
        });
        move || {
            let (outputs, height, color) = shown.get();
            let count = outputs.len();
            outputs
                .into_iter()
                .enumerate()
                .map(|(index, port)| {
                    let top = output_height(height, index, count);
                    let name = if port.is_empty() { "Output".to_owned() } else { format!("Output {port}") };
                    let part = if node.is_some() { "output" } else { "start-output" };
                    view! {
                        <i class="out" data-part=part data-id=node.clone() data-port=port role="button" aria-label=name
                            style:top=format!("{top}px") style=("--disc", color.clone())></i>
                    }
                })
                .collect_view()
        }
    };
    let rows = {
        let face = face.clone();
        let rows = Memo::new(move |_| face.with(|face| face.rows.clone()));
        move || {
            let rows = rows.get();
            (!rows.is_empty()).then(|| {
                let rows = rows
                    .into_iter()
                    .map(|row| {
                        let title = format!("{}: {}", row.name, row.data_type);
                        let color = type_color(&row.data_type);
                        view! {
                            <span class="card-row" title=title style=("--disc", color)>
                                {row.name}
                                " "
                                <small>{row.note}</small>
                            </span>
                        }
                    })
                    .collect_view();
                view! { <span class="card-rows">{rows}</span> }
            })
        }
    };
    let subtitle = {
        let face = face.clone();
        move || {
            Some(face.with(|face| face.subtitle.clone())).filter(|text| !text.is_empty()).map(|text| {
                let title = text.clone();
                view! { <small title=title>{text}</small> }
            })
        }
    };
    view! {
        <article class=class id=dom_id data-part="card" data-id=id tabindex="0" role="group" aria-roledescription="node"
            aria-label=label
            style:transform=move || at.with(|at| format!("translate({}px, {}px)", at.x, at.y))
            style:width=of(|face| format!("{}px", face.size.width))
            style:height=of(|face| format!("{}px", face.size.height))
            style=("--c", of(|face| face.look.color.to_string()))
            style=("--fill", of(|face| face.look.color.darken(0.8).to_string()))
            style=("--fill-hover", of(|face| face.look.color.darken(0.7).to_string()))
            style=("--fill-light", of(|face| face.look.color.lighten(0.9).to_string()))
            style=("--fill-light-hover", of(|face| face.look.color.lighten(0.8).to_string()))>
            {(!is_start).then(|| view! { <i class="in"></i> })}
            <span class="badge"><Icon glyph size=22 /></span>
            <span class="words">
                <b title=of(|face| face.title.clone())>{of(|face| face.title.clone())}</b>
                {subtitle}
                {rows}
            </span>
            {outputs}
            <StatusBadge state />
        </article>
    }
}
