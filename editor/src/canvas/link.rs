//! One line between two cards, and the button that removes an edge.

use leptos::prelude::*;

use crate::geometry::curve::Curve;
use crate::model::edit::Edit;
use crate::model::item::{EdgeKey, Item};
use crate::state::card::CardState;
use crate::state::stage::{Card, Link, Stage};
use crate::ui::icon::{Glyph, Icon};

/// How far an output stands out from its card.
const REACH: f64 = 10.0;

/// Whether something goes along an edge now: its target runs and its source has ended.
fn flows(from: &Card, to: &Card) -> bool {
    let runs = to.state.with(|state| matches!(state, Some(CardState::Running { .. } | CardState::Retrying { .. })));
    runs && from.state.with(|state| matches!(state, Some(CardState::Done { .. }) | None))
}

fn is_skipped(to: &Card) -> bool {
    to.state.with(|state| matches!(state, Some(CardState::Skipped { .. })))
}

/// The line. An edge of the flow can be pointed at; the line from Start cannot.
#[component]
pub(crate) fn LinkView(link: Link, stage: Stage) -> impl IntoView {
    let gradient = format!("edge-{}", link.number);
    let stroke = format!("url(#{gradient})");
    let ends = {
        let link = link.clone();
        Memo::new(move |_| link.ends())
    };
    let path = Memo::new(move |_| {
        let (from, to) = ends.get();
        // From the card's border to where its handle ends, so that nothing gapes while the handle is hidden.
        let mut path = format!("M{:.1} {:.1}h{REACH}", from.x - REACH, from.y);
        Curve::between(from, to).write(&mut path);
        path
    });
    let color = |card: &Card| {
        let face = card.face.clone();
        move || face.with(|face| face.look.color.to_string())
    };
    let class = {
        let Link { edge, from, to, selected, .. } = link.clone();
        let is_hovered = {
            let edge = edge.clone();
            Memo::new(move |_| edge.is_some() && stage.hovered.with(|hovered| *hovered == edge))
        };
        move || {
            let mut class = if edge.is_some() { "edge".to_owned() } else { "edge from-start".to_owned() };
            let flags = [
                (selected.get(), " selected"),
                (is_hovered.get(), " hovered"),
                (flows(&from, &to), " flowing"),
                (is_skipped(&to), " skipped"),
            ];
            for (_, word) in flags.iter().filter(|(on, _)| *on) {
                class.push_str(word);
            }
            class
        }
    };
    let hit = link.edge.as_ref().map(|EdgeKey { source, port, target }| {
        view! {
            <path class="hit" d=move || path.get() data-part="edge" data-source=source.clone() data-port=port.clone()
                data-target=target.clone() />
        }
    });
    view! {
        <g class=class>
            <linearGradient id=gradient gradientUnits="userSpaceOnUse" x1=move || ends.get().0.x.to_string()
                y1=move || ends.get().0.y.to_string() x2=move || ends.get().1.x.to_string()
                y2=move || ends.get().1.y.to_string()>
                <stop offset="0" stop-color=color(&link.from) />
                <stop offset="1" stop-color=color(&link.to) />
            </linearGradient>
            <path class="line" d=move || path.get() stroke=stroke />
            {hit}
        </g>
    }
}

/// The button in the middle of the edge that is under the pointer or selected.
#[component]
pub(crate) fn CutButton(stage: Stage) -> impl IntoView {
    let builder = stage.builder();
    let shown = Memo::new(move |_| {
        let selected = builder.selection.with(|selection| match selection.first() {
            Some(Item::Edge(key)) if selection.len() == 1 => Some(key.clone()),
            Some(_) | None => None,
        });
        stage.hovered.get().or(selected)
    });
    let link = Memo::new(move |_| {
        let key = shown.get()?;
        stage.links.with(|links| links.iter().position(|link| link.edge.as_ref() == Some(&key)))
    });
    let middle = move || {
        let at = link.get()?;
        let found = stage.links.with(|links| links.get(at).cloned())?;
        let (from, to) = found.ends();
        Some(Curve::between(from, to).middle())
    };
    let cut = move |_| {
        if let Some(key) = shown.get_untracked() {
            stage.hovered.set(None);
            builder.apply(Edit::disconnect(key));
        }
    };
    view! {
        <Show when=move || link.get().is_some()>
            <button type="button" class="cut" data-free="" aria-label="Remove this edge" title="Remove this edge"
                style:transform=move || {
                    middle().map(|at| format!("translate({}px, {}px) translate(-50%, -50%)", at.x, at.y))
                }
                on:click=cut>
                <Icon glyph=Glyph::X size=12 />
            </button>
        </Show>
    }
}
