//! The two questions of the library: a name for a new flow, and whether to delete one.

use leptos::prelude::*;
use weir_shared::ids::FlowId;
use weir_shared::limits::NAME_CHARS;
use weir_shared::wire::FlowSummary;

use crate::ui::button::{Button, Weight};
use crate::ui::dialog::Dialog;
use crate::ui::field::Field;
use crate::ui::text::TextInput;

/// Asks for the name of a new flow.
#[component]
pub(crate) fn NewFlowDialog(open: RwSignal<bool>, on_name: Callback<(String,)>) -> impl IntoView {
    let name = RwSignal::new(String::new());
    Effect::new(move |_| {
        if open.get() {
            name.set(String::new());
        }
    });
    let wrong = Signal::derive(move || {
        let chars = name.with(|name| name.trim().chars().count());
        if chars > NAME_CHARS {
            vec![format!("At most {NAME_CHARS} characters; these are {chars}.")]
        } else {
            Vec::new()
        }
    });
    let ready = Signal::derive(move || name.with(|name| !name.trim().is_empty()) && wrong.with(Vec::is_empty));
    let create = Callback::new(move |()| {
        if ready.get_untracked() {
            open.set(false);
            on_name.run((name.get_untracked().trim().to_owned(),));
        }
    });
    let file = Signal::derive(move || match name.with(|name| name.trim().to_owned()) {
        name if name.is_empty() => String::new(),
        name => format!("Kept as {}.flow.json", FlowId::from_name(&name)),
    });
    view! {
        <Dialog open title="New flow">
            <div class="dialog-body">
                <Field label="Name" control="new-flow-name" errors=wrong help=file>
                    <TextInput id="new-flow-name" value=name placeholder="Nightly report" on_input=move |typed| name.set(typed)
                        on_enter=create />
                </Field>
            </div>
            <div class="dialog-foot">
                <Button on_press=move || open.set(false)>"Cancel"</Button>
                <Button weight=Weight::Primary disabled=Signal::derive(move || !ready.get()) on_press=create>
                    "Create flow"
                </Button>
            </div>
        </Dialog>
    }
}

/// Asks whether to delete a flow, and says what that takes away and what stays.
#[component]
pub(crate) fn DeleteDialog(
    open: RwSignal<bool>,
    flow: RwSignal<Option<FlowSummary>>,
    on_delete: Callback<(FlowSummary,)>,
) -> impl IntoView {
    let title = Signal::derive(move || {
        flow.with(|flow| flow.as_ref().map_or_else(String::new, |flow| format!("Delete “{}”?", flow.name)))
    });
    let file = move || flow.with(|flow| flow.as_ref().map(|flow| format!("{}.flow.json", flow.id)));
    view! {
        <Dialog open title>
            <div class="dialog-body">
                <p>
                    "The file " <code>{file}</code>
                    " is removed from the flow directory. What git has committed of it stays, and so does the history of its runs."
                </p>
            </div>
            <div class="dialog-foot">
                <Button on_press=move || open.set(false)>"Keep it"</Button>
                <Button weight=Weight::Danger
                    on_press=move || {
                        open.set(false);
                        if let Some(flow) = flow.get_untracked() {
                            on_delete.run((flow,));
                        }
                    }>
                    "Delete flow"
                </Button>
            </div>
        </Dialog>
    }
}
