//! The list that opens on the canvas: type a few letters, choose by arrows and Enter or by a press.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::geometry::plane::Point;
use crate::state::builder::now_ms;
use crate::state::stage::{Question, Stage};
use crate::ui::icon::{Glyph, Icon};

/// Its width and the most of its height, as the style sheet has them.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 360.0;

/// The open list; nothing while none is.
#[component]
pub(crate) fn AskList(stage: Stage) -> impl IntoView {
    move || stage.asked.get().map(|question| view! { <OpenList stage question /> })
}

#[component]
fn OpenList(stage: Stage, question: Question) -> impl IntoView {
    let query = RwSignal::new(String::new());
    let at = RwSignal::new(0_usize);
    let offers = Memo::new(move |_| query.with(|query| stage.offers(query)));
    let field = NodeRef::<html::Input>::new();
    let root = NodeRef::<html::Div>::new();
    Effect::new(move |_| {
        if let Some(field) = field.get() {
            // A field that is on the page can be focused.
            let _ = field.focus();
        }
    });
    // The press that opened it may still be on its way up to the window.
    let opened = now_ms();
    let outside = window_event_listener(ev::pointerdown, move |event| {
        if event.time_stamp() <= opened {
            return;
        }
        let target = event.target().and_then(|target| target.dyn_into::<web_sys::Node>().ok());
        let inside = root.get_untracked().is_some_and(|root| root.contains(target.as_ref()));
        if !inside {
            stage.asked.try_set(None);
        }
    });
    on_cleanup(move || outside.remove());
    let choose = move |index: usize| {
        let offer = offers.with_untracked(|offers| offers.get(index).cloned());
        if let Some(offer) = offer {
            stage.choose(offer);
            focus_canvas();
        }
    };
    let place = move || {
        let surface = stage.surface.get();
        let wanted = stage.asked_at().unwrap_or(Point::new((surface.width - WIDTH) / 2.0, 16.0));
        let inside = |at: f64, side: f64, own: f64| at.min(side - own - 8.0).max(8.0);
        let (x, y) = (inside(wanted.x, surface.width, WIDTH), inside(wanted.y, surface.height, HEIGHT));
        format!("translate({x}px, {y}px)")
    };
    let on_key = move |event: web_sys::KeyboardEvent| {
        if event.is_composing() || event.key_code() == 229 {
            return;
        }
        let last = offers.with_untracked(Vec::len).saturating_sub(1);
        match event.key().as_str() {
            "ArrowDown" => at.update(|at| *at = (*at + 1).min(last)),
            "ArrowUp" => at.update(|at| *at = at.saturating_sub(1)),
            "Enter" => choose(at.get_untracked()),
            "Escape" | "Tab" => {
                stage.asked.set(None);
                focus_canvas();
            }
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let nothing = match question {
        Question::Add { .. } | Question::After { .. } | Question::Into { .. } => {
            "No tool is called anything like this."
        }
        Question::Target { .. } => "Nothing here may wait for this node.",
        Question::Command => "Nothing is called anything like this.",
        Question::Find => "Nothing in this flow is called anything like this.",
    };
    view! {
        <div class="ask" data-free="" node_ref=root style:transform=place>
            <div class="ask-field">
                <Icon glyph=Glyph::Search />
                <input type="text" role="combobox" aria-label=question.words() placeholder=question.words()
                    aria-expanded="true" aria-controls="ask-list" autocomplete="off" spellcheck="false" node_ref=field
                    aria-activedescendant=move || format!("ask-{}", at.get())
                    on:input=move |event| {
                        query.set(event_target_value(&event));
                        at.set(0);
                    }
                    on:keydown=on_key />
            </div>
            <div class="ask-list" id="ask-list" role="listbox" aria-label=question.words()>
                {move || {
                    offers
                        .get()
                        .into_iter()
                        .enumerate()
                        .map(|(index, offer)| {
                            let chosen = Memo::new(move |_| at.get() == index);
                            let glyph = Glyph::named(&offer.look.glyph).unwrap_or(Glyph::Tools);
                            let row = NodeRef::<html::Button>::new();
                            Effect::new(move |_| {
                                if chosen.get() && index > 0 && let Some(row) = row.get() {
                                    row.scroll_into_view_with_bool(false);
                                }
                            });
                            view! {
                                <button type="button" class="tool" role="option" tabindex="-1" id=format!("ask-{index}")
                                    node_ref=row aria-selected=move || chosen.get().to_string()
                                    style=("--c", offer.look.color.to_string())
                                    style=("--ink", offer.look.color.darken(0.8).to_string())
                                    on:pointermove=move |_| {
                                        if at.get_untracked() != index {
                                            at.set(index);
                                        }
                                    }
                                    on:click=move |_| choose(index)>
                                    <span class="tool-badge"><Icon glyph size=18 /></span>
                                    <span class="tool-words">
                                        <b>{offer.title}</b>
                                        <small>{offer.about}</small>
                                    </span>
                                </button>
                            }
                        })
                        .collect_view()
                }}
                <Show when=move || offers.with(Vec::is_empty)>
                    <p class="palette-none">{nothing}</p>
                </Show>
            </div>
        </div>
    }
}

/// Gives the focus back to what is selected, else to the canvas.
fn focus_canvas() {
    request_animation_frame(|| {
        let document = document();
        let found = document.query_selector(".card.selected").ok().flatten();
        let found = found.or_else(|| document.query_selector("main.surface").ok().flatten());
        if let Some(element) = found.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
            let options = web_sys::FocusOptions::new();
            options.set_prevent_scroll(true);
            let _ = element.focus_with_options(&options);
        }
    });
}
