//! The small map: every card in its colour or the colour of its state, and what is seen of them. Press or drag to go.

use leptos::html::Canvas;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, PointerEvent};

use crate::geometry::plane::{Point, Rect, Size, Viewport};
use crate::state::card::CardState;
use crate::state::stage::{Card, Stage};

const SIZE: Size = Size::new(184.0, 124.0);
/// Pixels of the drawing for each of the page's, so that it is sharp on fine screens.
const FINE: f64 = 2.0;

fn color(card: &Card) -> String {
    let by_state = card.state.with(|state| match state {
        Some(CardState::Running { .. } | CardState::Retrying { .. }) => Some("#f5b83d"),
        Some(CardState::WaitsForYou) => Some("#b18cff"),
        Some(CardState::Done { .. }) => Some("#2fbf71"),
        Some(CardState::Failed { .. } | CardState::Interrupted) => Some("#ef5a5a"),
        Some(CardState::Skipped { .. } | CardState::Cancelled) => Some("#7c828d"),
        Some(CardState::Waiting) | None => None,
    });
    by_state.map_or_else(|| card.face.with(|face| face.look.color.to_string()), str::to_owned)
}

/// The map.
#[component]
pub(crate) fn CanvasMap(stage: Stage) -> impl IntoView {
    let node = NodeRef::<Canvas>::new();
    // How the canvas lies under the map; kept for the pointer, which goes the way back.
    let view_of_all = StoredValue::new(Viewport::default());
    Effect::new(move |_| {
        let Some(canvas) = node.get() else { return };
        let Ok(Some(context)) = canvas.get_context("2d") else { return };
        let Ok(context) = context.dyn_into::<CanvasRenderingContext2d>() else { return };
        let cards: Vec<(Rect, String)> = stage.cards.get().iter().map(|card| (card.rect(), color(card))).collect();
        let seen = stage.viewport.get().seen(stage.surface.get());
        let all = cards.iter().map(|(rect, _)| *rect).chain([seen]);
        let Some(bounds) = Rect::around(all) else { return };
        let fitted = Viewport::fitting(bounds, SIZE);
        view_of_all.set_value(fitted);
        context.set_transform(FINE, 0.0, 0.0, FINE, 0.0, 0.0).ok();
        context.clear_rect(0.0, 0.0, SIZE.width, SIZE.height);
        for (rect, color) in cards {
            let at = fitted.to_screen(rect.at);
            context.set_fill_style_str(&color);
            context.fill_rect(
                at.x,
                at.y,
                (rect.size.width * fitted.zoom).max(2.0),
                (rect.size.height * fitted.zoom).max(2.0),
            );
        }
        let at = fitted.to_screen(seen.at);
        context.set_stroke_style_str("#4aa8ff");
        context.set_line_width(1.0);
        context.stroke_rect(at.x, at.y, seen.size.width * fitted.zoom, seen.size.height * fitted.zoom);
    });
    let go = move |event: &PointerEvent| {
        let at = Point::new(f64::from(event.offset_x()), f64::from(event.offset_y()));
        stage.center_on(view_of_all.get_value().to_canvas(at));
    };
    view! {
        <canvas class="canvas-map" data-free="" node_ref=node width=(SIZE.width * FINE).to_string()
            height=(SIZE.height * FINE).to_string() role="img" aria-label="Map of the flow"
            on:pointerdown=move |event| {
                if let Some(canvas) = node.get_untracked() {
                    // Without the capture a drag still works while it stays on the map.
                    let _ = canvas.set_pointer_capture(event.pointer_id());
                }
                go(&event);
            }
            on:pointermove=move |event| {
                if event.buttons() & 1 == 1 {
                    go(&event);
                }
            }></canvas>
    }
}
