//! The tree of values: everything a field may refer to, searched, with what does not fit greyed and explained.

use leptos::prelude::*;

use super::tree::{Branch, Leaf, branches, matching};
use crate::state::builder::Builder;
use crate::ui::button::IconButton;
use crate::ui::icon::{Glyph, Icon};
use crate::ui::text::SearchBox;

/// The chosen reference as a button that opens the tree.
#[component]
pub(crate) fn Chip(
    value: Signal<Option<String>>,
    open: RwSignal<bool>,
    #[prop(into)] on_clear: Callback<()>,
) -> impl IntoView {
    view! {
        <div class="reference small">
            <button type="button" class="control reference-button" aria-expanded=move || if open.get() { "true" } else { "false" }
                on:click=move |_| open.update(|open| *open = !*open)>
                {move || match value.get() {
                    Some(path) => view! { <code class="reference-chip">{path}</code> }.into_any(),
                    None => view! { <span class="faint">"Choose a value…"</span> }.into_any(),
                }}
                <span class="push"></span>
                <Icon glyph=Glyph::ChevronDown size=14 />
            </button>
            <Show when=move || value.get().is_some()>
                <IconButton glyph=Glyph::X name="Take the reference away" on_press=on_clear />
            </Show>
        </div>
    }
}

/// The tree. `on_choose` gets the value and the node it comes from.
#[component]
pub(crate) fn Picker(
    node: String,
    /// The type the field takes.
    wanted: Signal<String>,
    on_choose: Callback<(Leaf, Option<String>)>,
) -> impl IntoView {
    let builder: Builder = expect_context();
    let search = RwSignal::new(String::new());
    let all = Memo::new(move |_| {
        let catalog = builder.catalog.get();
        builder.flow.with(|flow| branches(flow, &catalog, &node, &wanted.get()))
    });
    let shown = Memo::new(move |_| all.with(|all| search.with(|search| matching(all, search))));
    view! {
        <div class="picker">
            <SearchBox name="Search values" value=search on_input=move |typed| search.set(typed) />
            <div class="picker-tree" role="tree" aria-label="Values">
                {move || shown.get().into_iter().map(|branch| view! { <BranchRows branch on_choose /> }).collect_view()}
                <Show when=move || shown.with(Vec::is_empty)>
                    <p class="picker-none">"No value has these words."</p>
                </Show>
            </div>
        </div>
    }
}

#[component]
fn BranchRows(branch: Branch, on_choose: Callback<(Leaf, Option<String>)>) -> impl IntoView {
    let note = match (&branch.node, branch.connected) {
        (Some(_), true) => "result",
        (Some(_), false) => "draws the edge",
        (None, _) => "",
    };
    let (from, heading) = (branch.node, branch.title.clone());
    view! {
        <div role="group" aria-label=heading>
            <p class="picker-branch">
                <b class="ellipsis">{branch.title}</b>
                <span class="faint">{note}</span>
            </p>
            {branch
                .leaves
                .into_iter()
                .map(|leaf| view! { <LeafRow leaf from=from.clone() on_choose /> })
                .collect_view()}
        </div>
    }
}

#[component]
fn LeafRow(leaf: Leaf, from: Option<String>, on_choose: Callback<(Leaf, Option<String>)>) -> impl IntoView {
    let indent = format!("{}px", 20 + leaf.depth * 14);
    let refused = leaf.refusal.is_some();
    let beside = leaf.refusal.clone().unwrap_or_else(|| leaf.sample.clone());
    let title = format!("{} · {}", leaf.path, leaf.data_type);
    let (label, dot) = (leaf.label.clone(), format!("dot type-dot type-{}", leaf.data_type));
    view! {
        <button type="button" role="treeitem" class="picker-leaf" disabled=refused title=title style:padding-left=indent
            on:click=move |_| on_choose.run((leaf.clone(), from.clone()))>
            <i class=dot></i>
            <span class="ellipsis">{label}</span>
            <em class="ellipsis">{beside}</em>
        </button>
    }
}
