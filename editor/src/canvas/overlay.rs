//! What a gesture shows while it lasts: the selection box, an edge in the hand with the reason when it is refused, a
//! tool on its way from the palette.

use leptos::prelude::*;

use crate::face::card::tool_label;
use crate::face::look::Look;
use crate::geometry::card::{any_output, input, output};
use crate::geometry::curve::Curve;
use crate::geometry::plane::{Point, Rect};
use crate::gesture::input::End;
use crate::gesture::machine::Gesture;
use crate::model::item::Item;
use crate::state::stage::Stage;
use crate::ui::icon::{Glyph, Icon};

/// The edge in the hand, drawn on the canvas.
#[component]
pub(crate) fn NewEdge(stage: Stage) -> impl IntoView {
    let end_of = move |node: &str, port: Option<&String>| {
        let cards = stage.cards.get();
        let card = cards.iter().find(|card| card.node() == Some(node))?;
        let rect = card.rect();
        Some(card.face.with(|face| {
            let index = face.outputs.iter().position(|output| Some(output) == port);
            let out = index.map_or_else(|| any_output(&rect), |index| output(&rect, index, face.outputs.len()));
            (out, input(&rect), face.look.color.to_string())
        }))
    };
    let drawn = move || {
        let hand = |at: Point| stage.viewport.get().to_canvas(at);
        stage.gesture.with(|gesture| match gesture {
            Gesture::Connect { from, at, .. } => {
                let (out, _, color) = end_of(&from.node, from.port.as_ref())?;
                Some((out, hand(*at), hand(*at), color))
            }
            Gesture::Reconnect { edge, end: End::Target, at, .. } => {
                let (out, _, color) = end_of(&edge.source, edge.port.as_ref())?;
                Some((out, hand(*at), hand(*at), color))
            }
            Gesture::Reconnect { edge, end: End::Source, at, .. } => {
                let (_, into, color) = end_of(&edge.target, None)?;
                Some((hand(*at), into, hand(*at), color))
            }
            _ => None,
        })
    };
    move || {
        drawn().map(|(from, to, held, color)| {
            let path = Curve::between(from, to).path();
            let class = if stage.refusal().is_some() { "new-edge refused" } else { "new-edge" };
            view! {
                <g class=class color=color>
                    <path class="line" d=path stroke="currentColor" />
                    <circle cx=held.x.to_string() cy=held.y.to_string() r="5" fill="currentColor" />
                </g>
            }
        })
    }
}

/// What floats over the surface, in its own units.
#[component]
pub(crate) fn Overlay(stage: Stage) -> impl IntoView {
    let boxed = move || {
        stage.gesture.with(|gesture| match gesture {
            Gesture::Box { from, at, .. } => Some(Rect::between(stage.viewport.get().to_screen(*from), *at)),
            _ => None,
        })
    };
    let reason = move || {
        let refusal = stage.refusal()?;
        let at = stage.gesture.with(|gesture| match gesture {
            Gesture::Connect { at, .. } | Gesture::Reconnect { at, .. } => Some(*at),
            _ => None,
        })?;
        Some((refusal.to_string(), at))
    };
    let placing = Memo::new(move |_| {
        stage.gesture.with(|gesture| match gesture {
            Gesture::Placing { tool, .. } => Some(tool.clone()),
            _ => None,
        })
    });
    let placing_at = move || {
        stage.gesture.with(|gesture| match gesture {
            Gesture::Placing { at, .. } => *at,
            _ => Point::default(),
        })
    };
    let moved = |at: Point| format!("translate({}px, {}px)", at.x, at.y);
    view! {
        {move || {
            boxed()
                .map(|rect| {
                    view! {
                        <div class="select-box" style:transform=moved(rect.at)
                            style:width=format!("{}px", rect.size.width) style:height=format!("{}px", rect.size.height)>
                        </div>
                    }
                })
        }}
        {move || {
            reason()
                .map(|(text, at)| {
                    view! { <div class="refusal" role="status" style:transform=moved(at + Point::new(14.0, 14.0))>{text}</div> }
                })
        }}
        {move || {
            placing
                .get()
                .map(|tool| {
                    let catalog = stage.builder().catalog.get_untracked();
                    let declared = catalog.get(&tool);
                    let look = Look::of(&tool, declared);
                    let glyph = Glyph::named(&look.glyph).unwrap_or(Glyph::Tools);
                    let label = tool_label(&tool, declared).to_owned();
                    view! {
                        <div class="ghost" style:transform=move || moved(placing_at())
                            style=("--c", look.color.to_string()) style=("--fill", look.color.darken(0.7).to_string())>
                            <span class="badge"><Icon glyph size=22 /></span>
                            <b>{label}</b>
                        </div>
                    }
                })
        }}
    }
}

/// Whether outputs are to be seen everywhere: while an edge is in the hand.
pub(crate) fn is_connecting(gesture: &Gesture) -> bool {
    matches!(gesture, Gesture::Connect { .. } | Gesture::Reconnect { .. })
}

/// The card under the edge in the hand.
pub(crate) fn aimed_at(gesture: &Gesture) -> Option<Item> {
    match gesture {
        Gesture::Connect { over, .. } | Gesture::Reconnect { over, .. } => {
            over.node().map(|id| Item::Node(id.to_owned()))
        }
        _ => None,
    }
}
