//! The surface: layers under one transform, and the events of pointers and wheel turned into gestures.

use leptos::html::{Div, Main};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, MouseEvent, PointerEvent, ResizeObserver, WheelEvent};

use super::asking::AskList;
use super::card::CardView;
use super::controls::Controls;
use super::link::{EdgeTools, LinkView};
use super::map::CanvasMap;
use super::note::{NoteTools, NoteView};
use super::overlay::{NewEdge, Overlay, aimed_at, is_connecting};
use crate::geometry::card::GRID;
use crate::geometry::plane::{Point, Size};
use crate::gesture::input::{Button, End, Input, Joining, PointerKind, Press, Source, Target};
use crate::gesture::machine::Gesture;
use crate::gesture::wheel::{Turn, WheelAction, WheelUnit, action};
use crate::model::item::{EdgeKey, Item};
use crate::state::stage::{Question, Stage};

/// What an element stands for, by the attributes that cards, edges and notes carry.
fn target_of(element: Option<Element>) -> Target {
    let Some(part) = element.and_then(|element| element.closest("[data-part]").ok().flatten()) else {
        return Target::Canvas;
    };
    let read = |name: &str| part.get_attribute(name);
    match (read("data-part").as_deref(), read("data-id")) {
        (Some("card"), Some(id)) => Target::Item(Item::Node(id)),
        (Some("card"), None) => Target::Item(Item::Start),
        (Some("start-output"), _) => Target::StartOutput,
        (Some("note"), Some(id)) => Target::Item(Item::Note(id)),
        (Some("output"), Some(node)) => {
            Target::Output(Source { node, port: read("data-port").filter(|port| !port.is_empty()) })
        }
        (Some("note-corner"), Some(id)) => Target::NoteCorner(id),
        (Some(part @ ("edge" | "edge-source" | "edge-target")), _) => {
            let (Some(source), Some(target)) = (read("data-source"), read("data-target")) else {
                return Target::Canvas;
            };
            let edge = EdgeKey { source, port: read("data-port"), target };
            match part {
                "edge-source" => Target::EdgeEnd { edge, end: End::Source },
                "edge-target" => Target::EdgeEnd { edge, end: End::Target },
                _ => Target::Item(Item::Edge(edge)),
            }
        }
        _ => Target::Canvas,
    }
}

fn element_of(event: &web_sys::Event) -> Option<Element> {
    event.target()?.dyn_into().ok()
}

/// Whether an element belongs to controls that float over the canvas and mind themselves.
fn is_free(event: &web_sys::Event) -> bool {
    element_of(event).is_some_and(|element| matches!(element.closest("[data-free]"), Ok(Some(_))))
}

/// A pointer event as the gesture machine knows it; `None` for buttons that mean nothing here.
pub(crate) fn press_of(event: &PointerEvent, at: Point) -> Option<Press> {
    let button = match event.button() {
        0 => Button::Main,
        1 => Button::Middle,
        _ => return None,
    };
    let kind = if event.pointer_type() == "touch" { PointerKind::Touch } else { PointerKind::Mouse };
    let joins = event.shift_key() || event.ctrl_key() || event.meta_key();
    let joining = if joins { Joining::Toggle } else { Joining::Replace };
    Some(Press { id: event.pointer_id(), kind, button, at, joining, boxing: event.shift_key() })
}

/// The canvas with everything on it.
#[component]
pub(crate) fn Surface(stage: Stage, #[prop(into)] on_help: Callback<()>) -> impl IntoView {
    let surface = NodeRef::<Main>::new();
    let world = NodeRef::<Div>::new();
    watch_size(surface, stage);
    Effect::new(move |_| {
        let viewport = stage.viewport.get();
        let (Some(world), Some(surface)) = (world.get(), surface.get()) else { return };
        let style = web_sys::HtmlElement::style(&world);
        // Whole pixels keep text sharp; setting a known property cannot fail.
        let (x, y) = (viewport.shift.x.round(), viewport.shift.y.round());
        let _ = style.set_property("transform", &format!("translate({x}px, {y}px) scale({})", viewport.zoom));
        // Dots nearer than 8 px are noise: then every second one is drawn.
        let mut gap = GRID * viewport.zoom;
        while gap < 8.0 {
            gap *= 2.0;
        }
        let style = web_sys::HtmlElement::style(&surface);
        let _ = style.set_property("background-size", &format!("{gap}px {gap}px"));
        let _ = style.set_property("background-position", &format!("{}px {}px", x - gap / 2.0, y - gap / 2.0));
    });
    let on_down = move |event: PointerEvent| {
        if is_free(&event) {
            return;
        }
        let Some(surface) = surface.get_untracked() else { return };
        learn(&surface, stage);
        let at = stage.on_surface(f64::from(event.client_x()), f64::from(event.client_y()));
        let Some(press) = press_of(&event, at) else { return };
        if press.button == Button::Middle {
            event.prevent_default();
        }
        // Without the capture a drag that leaves the surface ends there.
        let _ = surface.set_pointer_capture(press.id);
        let over =
            if stage.gesture.with_untracked(is_connecting) { stage.caught(at) } else { target_of(element_of(&event)) };
        stage.feed(Input::Down { press, over });
    };
    let place = move |event: &PointerEvent| {
        let at = stage.on_surface(f64::from(event.client_x()), f64::from(event.client_y()));
        let over = if stage.gesture.with_untracked(is_connecting) { stage.caught(at) } else { Target::Canvas };
        (event.pointer_id(), at, over)
    };
    let on_move = move |event: PointerEvent| {
        stage.point_at(stage.on_surface(f64::from(event.client_x()), f64::from(event.client_y())));
        if stage.gesture.with_untracked(|gesture| *gesture == Gesture::Idle) {
            hover(&event, stage);
            return;
        }
        let (id, at, over) = place(&event);
        stage.feed(Input::Move { id, at, over });
    };
    let on_up = move |event: PointerEvent| {
        let (id, at, over) = place(&event);
        stage.feed(Input::Up { id, at, over });
    };
    // The surface has captured the pointer, so the event itself says nothing of what lies under it.
    let on_twice = move |event: MouseEvent| {
        let (x, y) = (event.client_x(), event.client_y());
        #[expect(clippy::cast_precision_loss, reason = "a point of the window")]
        let under = document().element_from_point(x as f32, y as f32);
        if is_free(&event) || under.as_ref().is_some_and(|under| matches!(under.closest("[data-free]"), Ok(Some(_)))) {
            return;
        }
        match target_of(under) {
            Target::Item(Item::Note(note)) => stage.write_in(&note),
            Target::Canvas => {
                let at = stage.viewport.get_untracked().to_canvas(stage.on_surface(f64::from(x), f64::from(y)));
                stage.asked.set(Some(Question::Add { at }));
            }
            _ => {}
        }
    };
    let on_lost = move |event: PointerEvent| stage.feed(Input::Lost { id: event.pointer_id() });
    let on_wheel = move |event: WheelEvent| turn(&event, stage);
    // Far out, words are noise: first the small ones go, then all.
    let level = Memo::new(move |_| match stage.viewport.get().zoom {
        zoom if zoom < 0.25 => " far farther",
        zoom if zoom < 0.4 => " far",
        _ => "",
    });
    let class = move || {
        let mut class = "surface".to_owned();
        if stage.dots.get() {
            class.push_str(" dots");
        }
        let word = stage.gesture.with(|gesture| match gesture {
            Gesture::Connect { .. } | Gesture::Reconnect { .. } => " connecting",
            Gesture::Resize { .. } => " resizing",
            Gesture::Pan { .. } => " panning",
            Gesture::Drag { .. } => " dragging",
            Gesture::Idle
            | Gesture::Pressed { .. }
            | Gesture::Box { .. }
            | Gesture::Pinch { .. }
            | Gesture::Picked { .. }
            | Gesture::Placing { .. } => "",
        });
        class.push_str(word);
        class.push_str(level.get());
        class
    };
    let aimed = Memo::new(move |_| stage.gesture.with(aimed_at));
    let ring = move || {
        let item = aimed.get()?;
        let rect = stage.cards.with(|cards| cards.iter().find(|card| card.item == item).map(|card| card.rect()))?;
        let class = if stage.refusal().is_some() { "aim refused" } else { "aim" };
        Some(view! {
            <div class=class style:transform=format!("translate({}px, {}px)", rect.at.x, rect.at.y)
                style:width=format!("{}px", rect.size.width) style:height=format!("{}px", rect.size.height)></div>
        })
    };
    view! {
        <main class=class node_ref=surface aria-label="Canvas" on:pointerdown=on_down on:pointermove=on_move
            on:pointerup=on_up on:pointercancel=on_lost on:wheel=on_wheel on:dblclick=on_twice tabindex="-1"
            on:pointerleave=move |_| stage.hovered.set(None)
            on:contextmenu=move |event| event.prevent_default()>
            <div class="world" node_ref=world>
                <For each=move || stage.notes.get() key=|note| note.id.clone() let(note)>
                    <NoteView note stage />
                </For>
                <svg class="edges" width="1" height="1" aria-hidden="true">
                    <For each=move || stage.links.get() key=|link| link.number let(link)>
                        <LinkView link stage />
                    </For>
                    <NewEdge stage />
                </svg>
                <For each=move || stage.cards.get() key=|card| card.item.clone() let(card)>
                    <CardView card />
                </For>
                {ring}
                <EdgeTools stage />
            </div>
            <Overlay stage />
            <Controls stage on_help />
            <CanvasMap stage />
            <NoteTools stage />
            <AskList stage />
        </main>
    }
}

/// What is under an idle pointer: only edges care, cards are hovered by the browser itself.
fn hover(event: &PointerEvent, stage: Stage) {
    if is_free(event) {
        return;
    }
    let hovered = match target_of(element_of(event)) {
        Target::Item(Item::Edge(key)) | Target::EdgeEnd { edge: key, .. } => Some(key),
        Target::Canvas | Target::Item(_) | Target::Output(_) | Target::StartOutput | Target::NoteCorner(_) => None,
    };
    if stage.hovered.with_untracked(|now| *now != hovered) {
        stage.hovered.set(hovered);
    }
}

fn turn(event: &WheelEvent, stage: Stage) {
    if is_free(event) {
        return;
    }
    // Also keeps a sideways swipe from leaving the page.
    event.prevent_default();
    let unit = match event.delta_mode() {
        WheelEvent::DOM_DELTA_LINE => WheelUnit::Line,
        WheelEvent::DOM_DELTA_PAGE => WheelUnit::Page,
        _ => WheelUnit::Pixel,
    };
    let turned = Turn {
        delta: Point::new(event.delta_x(), event.delta_y()),
        unit,
        zoom_key: event.ctrl_key() || event.meta_key(),
        sideways: event.shift_key(),
    };
    match action(&turned) {
        WheelAction::Pan(by) => stage.viewport.update(|viewport| *viewport = viewport.panned(by)),
        WheelAction::Zoom(factor) => {
            let at = stage.on_surface(f64::from(event.client_x()), f64::from(event.client_y()));
            stage.viewport.update(|viewport| *viewport = viewport.zoomed(at, factor));
        }
    }
}

fn learn(surface: &Element, stage: Stage) {
    let rect = surface.get_bounding_client_rect();
    stage.learn_surface(Point::new(rect.left(), rect.top()), Size::new(rect.width(), rect.height()));
}

/// Keeps the stage informed of where the surface is and how large.
fn watch_size(surface: NodeRef<Main>, stage: Stage) {
    Effect::new(move |_| {
        let Some(element) = surface.get() else { return };
        learn(&element, stage);
        let watched = element.clone();
        let callback = Closure::<dyn FnMut()>::new(move || learn(&watched, stage));
        let Ok(observer) = ResizeObserver::new(callback.as_ref().unchecked_ref()) else { return };
        observer.observe(&element);
        let kept = StoredValue::new_local(Some((observer, callback)));
        on_cleanup(move || {
            if let Some(Some((observer, _callback))) = kept.try_update_value(Option::take) {
                observer.disconnect();
            }
        });
    });
}
