//! The flow itself: its name, what it is for, and what a failure does.

use leptos::prelude::*;
use weir_shared::flow::{Flow, OnFailure};
use weir_shared::limits::NAME_CHARS;

use super::node::FindingLines;
use crate::model::edit::{Edit, FlowField};
use crate::state::builder::Builder;
use crate::ui::choice::{Choice, Select};
use crate::ui::field::Field;
use crate::ui::text::{TextArea, TextInput};

/// The flow's own fields.
#[component]
pub(crate) fn FlowAbout() -> impl IntoView {
    let builder: Builder = expect_context();
    let of = move |read: fn(&Flow) -> String| Signal::derive(move || builder.flow.with(|flow| read(flow)));
    let edit = move |field: FlowField| builder.apply(Edit::Flow(field));
    let name = of(|flow| flow.name.clone());
    let name_errors = Signal::derive(move || {
        name.with(|name| match name.trim().chars().count() {
            0 => vec!["A flow needs a name.".to_owned()],
            n if n > NAME_CHARS => vec![format!("At most {NAME_CHARS} characters; these are {n}.")],
            _ => Vec::new(),
        })
    });
    let optional = |text: String| (!text.is_empty()).then_some(text);
    view! {
        <div class="inspector-head">
            <div class="inspector-title">
                <h2>"Flow"</h2>
                <p class="faint mono">{move || format!("{}.flow.json", builder.id.get())}</p>
            </div>
        </div>
        <div class="inspector-body" on:focusout=move |_| builder.pause_typing()>
            <Field label="Name" control="flow-name" errors=name_errors>
                <TextInput id="flow-name" value=name on_input=move |typed| edit(FlowField::Name(typed)) />
            </Field>
            <Field label="Description" control="flow-description" help="What it does, for the one who finds it in the library.">
                <TextArea id="flow-description" value=of(|flow| flow.description.clone().unwrap_or_default())
                    on_input=move |typed| edit(FlowField::Description(optional(typed))) />
            </Field>
            <Field label="Goal" control="flow-goal"
                help="What one run is for, shown in the list of runs. It may name inputs: {{inputs.day}}.">
                <TextArea id="flow-goal" value=of(|flow| flow.goal.clone().unwrap_or_default())
                    on_input=move |typed| edit(FlowField::Goal(optional(typed))) />
            </Field>
            <Field label="When a step fails" control="flow-on-failure">
                <Select id="flow-on-failure" choices=vec![
                        Choice::new("finish", "Start nothing new; let what runs finish"),
                        Choice::new("cancel", "Stop what runs, too"),
                    ]
                    value=of(|flow| match flow.on_failure.unwrap_or_default() {
                        OnFailure::Finish => "finish".to_owned(),
                        OnFailure::Cancel => "cancel".to_owned(),
                    })
                    on_change=move |chosen: String| {
                        edit(FlowField::OnFailure((chosen == "cancel").then_some(OnFailure::Cancel)));
                    } />
            </Field>
            <FindingLines node=None prefix="" />
            <p class="inspector-tip">"Select a node to configure it, or Start to name the inputs of this flow."</p>
        </div>
    }
}
