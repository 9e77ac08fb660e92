//! Which inspector shows: of a node, of the flow's inputs, of several things, or of the flow itself.

use leptos::prelude::*;

use super::about::FlowAbout;
use super::node::NodeInspector;
use super::start::StartInspector;
use crate::model::item::Item;
use crate::state::builder::Builder;
use crate::ui::readable::count;

/// What is inspected.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    Flow,
    Start,
    Node(String),
    Several(usize),
    Other(&'static str),
}

/// The panel at the right of the builder.
#[component]
pub(crate) fn Inspector() -> impl IntoView {
    let builder: Builder = expect_context();
    let subject = Memo::new(move |_| {
        builder.selection.with(|selection| match selection.iter().next() {
            None => Subject::Flow,
            Some(_) if selection.len() > 1 => Subject::Several(selection.len()),
            Some(Item::Start) => Subject::Start,
            Some(Item::Node(id)) => Subject::Node(id.clone()),
            Some(Item::Note(_)) => Subject::Other("A note. Double-click it on the canvas to write in it."),
            Some(Item::Edge(_)) => {
                Subject::Other("A connection: the second node waits for the first. Delete removes it.")
            }
        })
    });
    view! {
        <aside class="inspector" aria-label="Inspector">
            {move || match subject.get() {
                Subject::Flow => view! { <FlowAbout /> }.into_any(),
                Subject::Start => view! { <StartInspector /> }.into_any(),
                Subject::Node(id) => view! { <NodeInspector id /> }.into_any(),
                Subject::Several(n) => {
                    view! {
                        <div class="inspector-note">
                            <h2>{count(n, "item")} " selected"</h2>
                            <p class="muted">"Drag moves them together; Delete removes them; select one to configure it."</p>
                        </div>
                    }
                        .into_any()
                }
                Subject::Other(text) => {
                    view! {
                        <div class="inspector-note">
                            <p class="muted">{text}</p>
                        </div>
                    }
                        .into_any()
                }
            }}
        </aside>
    }
}
