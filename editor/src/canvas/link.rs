//! One line between two cards, and what one does with the edge under the pointer.

use leptos::prelude::*;

use crate::geometry::curve::Curve;
use crate::geometry::plane::Point;
use crate::gesture::machine::Gesture;
use crate::model::edit::Edit;
use crate::model::item::{EdgeKey, Item};
use crate::state::card::CardState;
use crate::state::stage::{Card, Link, LinkKind, Question, Stage};
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
        let Link { kind, from, to, selected, .. } = link.clone();
        let is_hovered = {
            let edge = link.edge().cloned();
            Memo::new(move |_| edge.is_some() && stage.hovered.with(|hovered| *hovered == edge))
        };
        let led = {
            let edge = link.edge().cloned();
            Memo::new(move |_| {
                stage.gesture.with(|gesture| match gesture {
                    Gesture::Reconnect { edge: led, .. } => edge.as_ref() == Some(led),
                    _ => false,
                })
            })
        };
        move || {
            let mut class = match &kind {
                LinkKind::Edge(_) => "edge",
                LinkKind::FromStart => "edge from-start",
                LinkKind::Reference => "edge reference",
            }
            .to_owned();
            let flags = [
                (selected.get(), " selected"),
                (is_hovered.get(), " hovered"),
                (flows(&from, &to), " flowing"),
                (is_skipped(&to), " skipped"),
                (led.get(), " led"),
            ];
            for (_, word) in flags.iter().filter(|(on, _)| *on) {
                class.push_str(word);
            }
            class
        }
    };
    let hit = link.edge().map(|EdgeKey { source, port, target }| {
        view! {
            <path class="hit" d=move || path.get() data-part="edge" data-source=source.clone() data-port=port.clone()
                data-target=target.clone() />
        }
    });
    view! {
        <g class=class style=("--mid", color(&link.from))>
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

/// How far a grip stands from the end it moves.
const GRIP: f64 = 26.0;

/// What stands on the edge that is under the pointer or selected: in its middle the buttons that insert a node and
/// remove it, near its ends the grips that lead them elsewhere.
#[component]
pub(crate) fn EdgeTools(stage: Stage) -> impl IntoView {
    let builder = stage.builder();
    let shown = Memo::new(move |_| {
        let selected = builder.selection.with(|selection| match selection.first() {
            Some(Item::Edge(key)) if selection.len() == 1 => Some(key.clone()),
            Some(_) | None => None,
        });
        stage.hovered.get().or(selected)
    });
    let idle = Memo::new(move |_| stage.gesture.with(|gesture| !matches!(gesture, Gesture::Connect { .. })));
    let curve = move || {
        let key = shown.get()?;
        let found = stage.links.with(|links| links.iter().find(|link| link.edge() == Some(&key)).cloned())?;
        let (from, to) = found.ends();
        Some(Curve::between(from, to))
    };
    let there = Memo::new(move |_| idle.get() && curve().is_some());
    let placed = move |point: fn(&Curve) -> Point| {
        move || {
            curve().map(|curve| {
                let at = point(&curve);
                format!("translate({}px, {}px) translate(-50%, -50%)", at.x, at.y)
            })
        }
    };
    let cut = move |_| {
        if let Some(key) = shown.get_untracked() {
            stage.hovered.set(None);
            builder.apply(Edit::disconnect(key));
        }
    };
    let insert = move |_| {
        let at = untrack(curve).map(|curve| curve.middle());
        if let Some((edge, at)) = shown.get_untracked().zip(at) {
            stage.asked.set(Some(Question::Into { edge, at }));
        }
    };
    let grip = move |part: &'static str, point: fn(&Curve) -> Point| {
        let of = move |read: fn(EdgeKey) -> Option<String>| move || shown.get().and_then(read);
        view! {
            <i class="grip" data-part=part data-source=of(|key| Some(key.source)) data-port=of(|key| key.port)
                data-target=of(|key| Some(key.target)) style:transform=placed(point)></i>
        }
    };
    view! {
        <Show when=move || there.get()>
            {grip("edge-source", |curve| curve.at(curve.grip(GRIP)))}
            {grip("edge-target", |curve| curve.at(1.0 - curve.grip(GRIP)))}
            <div class="edge-tools" data-free="" style:transform=placed(Curve::middle)>
                <button type="button" class="edge-tool" aria-label="Insert a node here" title="Insert a node here" on:click=insert>
                    <Icon glyph=Glyph::Plus size=12 />
                </button>
                <button type="button" class="edge-tool cut" aria-label="Remove this edge" title="Remove this edge" on:click=cut>
                    <Icon glyph=Glyph::X size=12 />
                </button>
            </div>
        </Show>
    }
}
