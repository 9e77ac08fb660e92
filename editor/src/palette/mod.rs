//! The palette: every tool that can be put on the canvas, by group, found by a few letters.
//!
//! A tool is added by dragging it, by a click, or by Enter in the search box for the best match.

use leptos::prelude::*;
use web_sys::PointerEvent;
use weir_shared::tool::ToolDeclaration;

use crate::canvas::surface::press_of;
use crate::face::card::tool_label;
use crate::face::look::Look;
use crate::face::search::tool_score;
use crate::gesture::input::{Input, Target};
use crate::state::stage::Stage;
use crate::ui::icon::{Glyph, Icon};

/// Groups in the order people look for them; others follow by name.
const FIRST: [&str; 5] = ["flow", "commands", "http", "data", "files"];

/// One group with its tools.
#[derive(Debug, Clone, PartialEq)]
struct Group {
    name: String,
    tools: Vec<ToolDeclaration>,
}

fn group_of(tool: &ToolDeclaration) -> &str {
    let category = tool.node.as_ref().map(|node| node.category.as_str()).filter(|category| !category.is_empty());
    category.unwrap_or(if tool.group.is_empty() { "Other" } else { &tool.group })
}

/// What the palette lists: everything by group, or what fits the query, best first.
fn listed(tools: impl Iterator<Item = ToolDeclaration>, query: &str) -> Vec<Group> {
    if !query.trim().is_empty() {
        let mut found: Vec<(f64, ToolDeclaration)> =
            tools.map(|tool| (tool_score(query, &tool), tool)).filter(|(score, _)| *score > 0.0).collect();
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        let tools: Vec<ToolDeclaration> = found.into_iter().map(|(_, tool)| tool).collect();
        return if tools.is_empty() { Vec::new() } else { vec![Group { name: "Found".to_owned(), tools }] };
    }
    let mut groups: Vec<Group> = Vec::new();
    for tool in tools {
        let name = group_of(&tool);
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.tools.push(tool),
            None => groups.push(Group { name: name.to_owned(), tools: vec![tool] }),
        }
    }
    let rank = |group: &Group| {
        let name = group.name.to_lowercase();
        FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len())
    };
    groups.sort_by(|one, other| rank(one).cmp(&rank(other)).then_with(|| one.name.cmp(&other.name)));
    groups
}

/// The palette at the left of the canvas.
#[component]
pub(crate) fn Palette(stage: Stage) -> impl IntoView {
    let query = RwSignal::new(String::new());
    let all = RwSignal::new(false);
    let catalog = stage.builder().catalog;
    // A tool without a display is a fallback node, behind "show all tools"; one not trusted offers nothing.
    let groups = Memo::new(move |_| {
        let catalog = catalog.get();
        let shown = catalog.iter().filter(|tool| tool.trusted && (all.get() || tool.node.is_some())).cloned();
        listed(shown, &query.get())
    });
    let has_hidden =
        Memo::new(move |_| catalog.with(|catalog| catalog.iter().any(|tool| tool.trusted && tool.node.is_none())));
    let add_best = move || {
        let best = groups.with_untracked(|groups| Some(groups.first()?.tools.first()?.name.clone()));
        if let Some(tool) = best {
            stage.add(&tool, None);
            query.set(String::new());
        }
    };
    view! {
        <nav class="palette" aria-label="Tools">
            <div class="palette-search">
                <Icon glyph=Glyph::Search />
                <input type="search" id="palette-search" aria-label="Search tools" placeholder="Search tools"
                    autocomplete="off" spellcheck="false" prop:value=move || query.get()
                    on:input=move |event| query.set(event_target_value(&event))
                    on:keydown=move |event| {
                        if event.is_composing() {
                            return;
                        }
                        match event.key().as_str() {
                            "Enter" => add_best(),
                            "Escape" => query.set(String::new()),
                            _ => {}
                        }
                    } />
            </div>
            <div class="palette-list">
                <For each=move || groups.get() key=|group| {
                    (group.name.clone(), group.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>())
                } let(group)>
                    <section>
                        <h3 class="palette-group">
                            <span>{group.name}</span>
                            <span>{group.tools.len()}</span>
                        </h3>
                        {group.tools.into_iter().map(|tool| view! { <ToolRow tool stage /> }).collect_view()}
                    </section>
                </For>
                <Show when=move || groups.with(Vec::is_empty)>
                    <p class="palette-none">"No tool is called anything like this."</p>
                </Show>
            </div>
            <Show when=move || has_hidden.get()>
                <label class="palette-all">
                    <span>"Show all tools"</span>
                    <input type="checkbox" prop:checked=move || all.get()
                        on:change=move |event| all.set(event_target_checked(&event)) />
                </label>
            </Show>
        </nav>
    }
}

#[component]
fn ToolRow(tool: ToolDeclaration, stage: Stage) -> impl IntoView {
    let look = Look::of(&tool.name, Some(&tool));
    let glyph = Glyph::named(&look.glyph).unwrap_or(Glyph::Tools);
    let label = tool_label(&tool.name, Some(&tool)).to_owned();
    let about = tool.description.split_terminator(['.', '\n']).next().unwrap_or_default().to_owned();
    let title = if tool.description.is_empty() { label.clone() } else { tool.description.clone() };
    let name = StoredValue::new(tool.name);
    let at = move |event: &PointerEvent| stage.on_surface(f64::from(event.client_x()), f64::from(event.client_y()));
    let down = move |event: PointerEvent| {
        let at = at(&event);
        let Some(press) = press_of(&event, at) else { return };
        if let Some(row) = event.current_target().and_then(|row| {
            use wasm_bindgen::JsCast;
            row.dyn_into::<web_sys::Element>().ok()
        }) {
            // Without the capture the drag ends where it leaves the row.
            let _ = row.set_pointer_capture(press.id);
        }
        stage.feed(Input::Pick { press, tool: name.get_value() });
    };
    let fed = move |event: &PointerEvent| (event.pointer_id(), at(event), Target::Canvas);
    view! {
        <button type="button" class="tool" title=title style=("--c", look.color.to_string())
            style=("--ink", look.color.darken(0.8).to_string())
            on:pointerdown=down
            on:pointermove=move |event| {
                let (id, at, over) = fed(&event);
                stage.feed(Input::Move { id, at, over });
            }
            on:pointerup=move |event| {
                let (id, at, over) = fed(&event);
                stage.feed(Input::Up { id, at, over });
            }
            on:pointercancel=move |event| stage.feed(Input::Lost { id: event.pointer_id() })
            on:click=move |event| {
                // A click of a pointer was a gesture already; this one is a key's.
                if event.detail() == 0 {
                    stage.add(&name.get_value(), None);
                }
            }>
            <span class="tool-badge"><Icon glyph size=18 /></span>
            <span class="tool-words">
                <b>{label}</b>
                <small>{about}</small>
            </span>
        </button>
    }
}
