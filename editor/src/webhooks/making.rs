//! The form for a new webhook: a name, how far its runs may go by themselves, and inputs that calls may override.

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Map, Value};
use weir_shared::flow::PermissionMode;
use weir_shared::ids::FlowId;
use weir_shared::webhook::{AskedRate, CreateTrigger, TriggerSecret};

use crate::backend::answer::CallError;
use crate::backend::api::Api;
use crate::form::control::ValueControl;
use crate::form::schema::{FieldSpec, of_schema};
use crate::runs::words::permission_mode;
use crate::ui::button::{Button, Weight};
use crate::ui::choice::{Choice, Select};
use crate::ui::field::Field;
use crate::ui::text::TextInput;

const MODES: [PermissionMode; 3] =
    [PermissionMode::AskForApproval, PermissionMode::ApproveForMe, PermissionMode::FullAccess];

/// The form.
#[component]
pub(super) fn Making(
    id: Signal<FlowId>,
    schema: Signal<Option<Value>>,
    #[prop(into)] on_made: Callback<(TriggerSecret,)>,
    #[prop(into)] on_cancel: Callback<()>,
) -> impl IntoView {
    let api = Api::from_context();
    let name = RwSignal::new(String::new());
    let mode = RwSignal::new(PermissionMode::default());
    let inputs = RwSignal::new(Map::<String, Value>::new());
    let refused = RwSignal::new(None::<CallError>);
    let sending = RwSignal::new(false);
    let make = Callback::new(move |()| {
        if sending.get_untracked() {
            return;
        }
        sending.set(true);
        let asked = CreateTrigger {
            workflow_id: id.get_untracked(),
            name: Some(name.get_untracked().trim().to_owned()).filter(|name| !name.is_empty()),
            default_inputs: inputs.get_untracked(),
            permission_mode: mode.get_untracked(),
            signature: None,
            require_secret: None,
            rate_limit: AskedRate::Standard,
        };
        spawn_local(async move {
            let answer = api.create_webhook(&asked).await;
            sending.try_set(false);
            match answer {
                Ok(made) => on_made.run((made,)),
                Err(error) => {
                    refused.try_set(Some(error));
                }
            }
        });
    });
    let specs = schema.with_untracked(|schema| schema.as_ref().map(of_schema)).unwrap_or_default();
    let has_inputs = !specs.is_empty();
    let fields = specs.into_iter().map(|spec| view! { <DefaultInput spec inputs /> }).collect_view();
    let choices: Vec<Choice> = MODES.iter().map(|mode| Choice::plain(permission_mode(*mode).0)).collect();
    view! {
        <div class="webhooks-form">
            <Field label="Name" control="webhook-name" help="What you know it by, such as its sender.">
                <TextInput id="webhook-name" value=name placeholder="Orders" on_input=move |typed| name.set(typed) on_enter=make />
            </Field>
            <Field label="Permission" control="webhook-mode"
                help=Signal::derive(move || permission_mode(mode.get()).1.to_owned())>
                <Select id="webhook-mode" choices value=Signal::derive(move || permission_mode(mode.get()).0.to_owned())
                    on_change=move |chosen: String| {
                        if let Some(chosen) = MODES.into_iter().find(|mode| permission_mode(*mode).0 == chosen) {
                            mode.set(chosen);
                        }
                    } />
            </Field>
            {has_inputs
                .then(|| {
                    view! {
                        <details class="webhooks-inputs">
                            <summary>"Inputs when a call does not say"</summary>
                            <div class="webhooks-fields">{fields}</div>
                        </details>
                    }
                })}
            {move || refused.get().map(|error| view! { <p class="detail-error" role="alert">{error.message()}</p> })}
            <div class="webhooks-foot">
                <Button on_press=on_cancel>"Cancel"</Button>
                <Button weight=Weight::Primary disabled=sending on_press=make>
                    {move || if sending.get() { "Making…" } else { "Make webhook" }}
                </Button>
            </div>
        </div>
    }
}

#[component]
fn DefaultInput(spec: FieldSpec, inputs: RwSignal<Map<String, Value>>) -> impl IntoView {
    let control = format!("webhook-input-{}", spec.name);
    let name = StoredValue::new(spec.name.clone());
    let value = Signal::derive(move || inputs.with(|inputs| name.with_value(|name| inputs.get(name).cloned())));
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
        <Field label=spec.title.clone() control=control.clone() data_type=spec.data_type.clone() help=spec.help.clone()>
            <ValueControl id=control spec value invalid=false on_change=set />
        </Field>
    }
}
