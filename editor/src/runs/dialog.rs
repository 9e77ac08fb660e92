//! Starting a run of the flow on the canvas: its inputs as a form, and how much it may do without asking.
//!
//! What runs is the file: the builder saves before, or the person is told that unsaved changes are not in it.

use std::collections::BTreeMap;

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Map, Value};
use weir_shared::bind::bind;
use weir_shared::finding::Severity;
use weir_shared::flow::PermissionMode;
use weir_shared::run::event::RunConfig;
use weir_shared::wire::RunFlow;

use super::words;
use crate::backend::answer::CallError;
use crate::backend::api::Api;
use crate::form::control::ValueControl;
use crate::form::schema::{FieldSpec, of_schema};
use crate::state::builder::{Builder, RunPart};
use crate::ui::button::{Button, Weight};
use crate::ui::choice::{Choice, Select};
use crate::ui::dialog::Dialog;
use crate::ui::field::Field;
use crate::ui::readable::count;

/// The run dialog of the builder: opens on `builder.run_dialog`.
#[component]
pub(crate) fn RunDialog() -> impl IntoView {
    let builder: Builder = expect_context();
    let title = Signal::derive(move || {
        builder.flow.with(|flow| {
            let label = |id: &str| flow.node(id).map_or_else(|| id.to_owned(), |node| node.label().to_owned());
            builder.run_part.with(|part| match part {
                RunPart::Whole => format!("Run “{}”", flow.name),
                RunPart::UpTo(node) => format!("Run up to “{}”", label(node)),
                RunPart::Only(node) => format!("Run “{}” alone", label(node)),
            })
        })
    });
    view! {
        <Dialog open=builder.run_dialog title>
            <RunForm />
        </Dialog>
    }
}

#[component]
fn RunForm() -> impl IntoView {
    let builder: Builder = expect_context();
    let api = Api::from_context();
    let schema = builder.flow.with_untracked(|flow| flow.inputs.clone());
    let specs = schema.as_ref().map(of_schema).unwrap_or_default();
    let schema = StoredValue::new(schema);
    let part = StoredValue::new(builder.run_part.get_untracked());
    let inputs = RwSignal::new(Map::<String, Value>::new());
    let mode = RwSignal::new(PermissionMode::default());
    // Faults show once a run was asked for: an untouched form is not wrong yet.
    let asked = RwSignal::new(false);
    let sending = RwSignal::new(false);
    let refused = RwSignal::new(None::<CallError>);
    let faults = Memo::new(move |_| {
        schema.with_value(|schema| inputs.with(|inputs| bind(schema.as_ref(), inputs))).err().unwrap_or_default()
    });
    let by_input = Memo::new(move |_| {
        let mut sorted: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for fault in faults.get() {
            sorted.entry(input_of(&fault.path)).or_default().push(fault.message);
        }
        sorted
    });
    let errors = builder
        .findings
        .with_untracked(|findings| findings.iter().filter(|finding| finding.severity == Severity::Error).count());
    let dirty = untrack(|| builder.is_dirty());
    let start = Callback::new(move |()| {
        asked.set(true);
        if !faults.with_untracked(Vec::is_empty) || sending.get_untracked() {
            return;
        }
        sending.set(true);
        let (up_to, only) = match part.get_value() {
            RunPart::Whole => (None, None),
            RunPart::UpTo(node) => (Some(node), None),
            RunPart::Only(node) => (None, Some(node)),
        };
        let run = RunFlow {
            up_to,
            only,
            inputs: inputs.get_untracked(),
            config: RunConfig { permission_mode: mode.get_untracked(), ..RunConfig::default() },
            ..RunFlow::default()
        };
        let id = builder.id.get_untracked();
        spawn_local(async move {
            let answer = api.run_flow(&id, &run).await;
            sending.try_set(false);
            match answer {
                Ok(accepted) => {
                    builder.run.set(Some(accepted.run_id));
                    builder.run_dialog.set(false);
                }
                Err(error) => {
                    refused.try_set(Some(error));
                }
            }
        });
    });
    let has_inputs = !specs.is_empty();
    let fields = specs.into_iter().map(|spec| view! { <InputField spec inputs asked by_input /> }).collect_view();
    let missing = move || {
        asked
            .get()
            .then(|| by_input.with(|faults| faults.keys().cloned().collect::<Vec<_>>()))
            .filter(|names| !names.is_empty())
    };
    view! {
        <div class="dialog-body"
            on:keydown=move |event| {
                if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) && !event.is_composing() {
                    event.prevent_default();
                    start.run(());
                }
            }>
            {(errors > 0)
                .then(|| {
                    view! {
                        <p class="detail-error" role="alert">
                            {format!("This flow has {}: it will be refused until they are mended.", count(errors, "error"))}
                        </p>
                    }
                })}
            {dirty
                .then(|| {
                    view! { <p class="run-note">"There are unsaved changes. A run takes the file as it was last saved."</p> }
                })}
            {matches!(part.get_value(), RunPart::Only(_))
                .then(|| view! { <p class="muted">"What it refers to comes from pins, else from the last run."</p> })}
            {fields}
            {(!has_inputs).then(|| view! { <p class="muted">"This flow asks for nothing."</p> })}
            <ModeField mode />
            {move || {
                refused
                    .get()
                    .map(|error| {
                        let findings = match &error {
                            CallError::Refused { problem, .. } => problem.findings.clone(),
                            CallError::Unreachable | CallError::Garbled { .. } => Vec::new(),
                        };
                        view! {
                            <div class="detail-error" role="alert">
                                <p>{error.message()}</p>
                                {findings.into_iter().map(|finding| view! { <p>{finding.message}</p> }).collect_view()}
                            </div>
                        }
                    })
            }}
        </div>
        <div class="dialog-foot">
            <span class="error">{move || missing().map(|names| format!("Look again at: {}", names.join(", ")))}</span>
            <span class="push"></span>
            <Button on_press=move || builder.run_dialog.set(false)>"Cancel"</Button>
            <Button weight=Weight::Primary disabled=sending on_press=start hint="Ctrl Enter".to_owned()>
                {move || if sending.get() { "Starting…" } else { "Run" }}
            </Button>
        </div>
    }
}

/// The input a fault of `bind` is about: the first name of its path.
fn input_of(path: &str) -> String {
    let path = path.strip_prefix("inputs").map_or(path, |rest| rest.trim_start_matches(['.', '/']));
    path.trim_start_matches('/').split(['.', '[', '/']).next().unwrap_or_default().to_owned()
}

#[component]
fn InputField(
    spec: FieldSpec,
    inputs: RwSignal<Map<String, Value>>,
    asked: RwSignal<bool>,
    by_input: Memo<BTreeMap<String, Vec<String>>>,
) -> impl IntoView {
    let control = format!("input-{}", spec.name);
    let name = StoredValue::new(spec.name.clone());
    let value = Signal::derive(move || inputs.with(|inputs| name.with_value(|name| inputs.get(name).cloned())));
    let errors = Signal::derive(move || {
        if asked.get() {
            by_input.with(|faults| faults.get(&name.get_value()).cloned().unwrap_or_default())
        } else {
            Vec::new()
        }
    });
    let set = Callback::new(move |(value,): (Option<Value>,)| {
        inputs.update(|inputs| match value {
            Some(value) => {
                inputs.insert(name.get_value(), value);
            }
            None => {
                inputs.shift_remove(&name.get_value());
            }
        });
    });
    view! {
        <Field label=spec.title.clone() control=control.clone() required=spec.required data_type=spec.data_type.clone()
            help=spec.help.clone() errors>
            <ValueControl id=control spec value invalid=Signal::derive(move || !errors.with(Vec::is_empty)) on_change=set />
        </Field>
    }
}

#[component]
fn ModeField(mode: RwSignal<PermissionMode>) -> impl IntoView {
    const MODES: [PermissionMode; 3] =
        [PermissionMode::AskForApproval, PermissionMode::ApproveForMe, PermissionMode::FullAccess];
    let choices: Vec<Choice> = MODES.iter().map(|mode| Choice::plain(words::permission_mode(*mode).0)).collect();
    view! {
        <Field label="Permission" control="run-mode" help=Signal::derive(move || words::permission_mode(mode.get()).1.to_owned())>
            <Select id="run-mode" choices value=Signal::derive(move || words::permission_mode(mode.get()).0.to_owned())
                on_change=move |chosen: String| {
                    if let Some(chosen) = MODES.into_iter().find(|mode| words::permission_mode(*mode).0 == chosen) {
                        mode.set(chosen);
                    }
                } />
        </Field>
    }
}
