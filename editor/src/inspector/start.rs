//! The flow's inputs: rows, and the JSON Schema they stand for.

use leptos::prelude::*;
use serde_json::Value;
use weir_shared::tool::Widget;

use super::inputs_schema::{
    InputKind, InputRow, RowChange, add, change, label, name_fault, remove, rename, rows, shift,
};
use super::node::FindingLines;
use crate::form::control::ValueControl;
use crate::form::schema::{FieldSpec, of_schema, plain};
use crate::model::edit::{Edit, FlowField};
use crate::state::builder::Builder;
use crate::ui::button::{Button, IconButton, Weight};
use crate::ui::choice::{Choice, Select, Switch};
use crate::ui::field::Field;
use crate::ui::icon::{Glyph, Icon};
use crate::ui::json::JsonField;
use crate::ui::tabs::Tabs;
use crate::ui::text::{TextArea, TextInput};

/// The inspector of Start.
#[component]
pub(crate) fn StartInspector() -> impl IntoView {
    let builder: Builder = expect_context();
    let tab = RwSignal::new("fields".to_owned());
    let look = crate::face::look::Look::start();
    let schema = Memo::new(move |_| builder.flow.with(|flow| flow.inputs.clone()));
    let set = move |schema: Option<Value>| builder.apply(Edit::Flow(FlowField::Inputs(schema)));
    let open = RwSignal::new(None::<String>);
    let names = Memo::new(move |_| {
        schema.with(|schema| rows(schema.as_ref()).into_iter().map(|row| row.name).collect::<Vec<_>>())
    });
    view! {
        <div class="inspector-head">
            <span class="inspector-badge" style:background-color=look.color.to_string() style:color=look.color.darken(0.75).to_string()>
                <Icon glyph=Glyph::Play size=20 />
            </span>
            <div class="inspector-title">
                <h2>"Start"</h2>
                <p class="faint">"What a run is asked for"</p>
            </div>
        </div>
        <Tabs name="Parts of Start" value=tab choices=vec![Choice::new("fields", "Inputs"), Choice::new("schema", "JSON Schema")]
            on_change=move |chosen| tab.set(chosen) />
        <div class="inspector-body" on:focusout=move |_| builder.pause_typing()>
            <FindingLines node=None prefix="inputs" />
            {move || match tab.get().as_str() {
                "schema" => {
                    view! {
                        <Field label="Inputs" control="inputs-schema" data_type="object" help="JSON Schema, 2020-12, with an object at its root.">
                            <JsonField id="inputs-schema" value=schema on_change=set />
                        </Field>
                    }
                        .into_any()
                }
                _ => {
                    view! {
                        <Show when=move || names.with(Vec::is_empty)>
                            <p class="muted">
                                "This flow asks for nothing. Add an input to be asked for it at every run, and refer to it as {{inputs.name}}."
                            </p>
                        </Show>
                        <div class="input-rows">
                            <For each=move || names.get() key=Clone::clone let(name)>
                                <InputLine name schema open />
                            </For>
                        </div>
                        <div class="small">
                            <Button weight=Weight::Outline glyph=Glyph::Plus
                                on_press=move || {
                                    let (grown, name) = schema.with_untracked(|schema| add(schema.as_ref()));
                                    set(Some(grown));
                                    open.set(Some(name));
                                }>
                                "Add an input"
                            </Button>
                        </div>
                    }
                        .into_any()
                }
            }}
        </div>
    }
}

#[component]
fn InputLine(name: String, schema: Memo<Option<Value>>, open: RwSignal<Option<String>>) -> impl IntoView {
    let own = name.clone();
    let row = Memo::new(move |_| schema.with(|schema| rows(schema.as_ref()).into_iter().find(|row| row.name == own)));
    let own = name.clone();
    let is_open = Memo::new(move |_| open.with(|open| open.as_deref() == Some(own.as_str())));
    let own = StoredValue::new(name);
    let head = move || {
        row.get().map(|row| {
            view! {
                <i class=format!("dot type-dot type-{}", row.data_type)></i>
                <b class="ellipsis">{label(&row)}</b>
                <span class="faint mono ellipsis">{row.name.clone()}</span>
                <span class="push"></span>
                {row.required.then(|| view! { <span class="required">"required"</span> })}
                <span class=format!("type type-{}", row.data_type)>{row.kind.words()}</span>
            }
        })
    };
    view! {
        <div class="input-row" class:open=move || is_open.get()>
            <button type="button" class="input-row-head" aria-expanded=move || if is_open.get() { "true" } else { "false" }
                on:click=move |_| open.set((!is_open.get_untracked()).then(|| own.get_value()))>
                {head}
            </button>
            <Show when=move || is_open.get()>
                <InputForm name=own.get_value() row schema open />
            </Show>
        </div>
    }
}

#[component]
fn InputForm(
    name: String,
    row: Memo<Option<InputRow>>,
    schema: Memo<Option<Value>>,
    open: RwSignal<Option<String>>,
) -> impl IntoView {
    let builder: Builder = expect_context();
    let name = StoredValue::new(name);
    let set = move |schema: Option<Value>| builder.apply(Edit::Flow(FlowField::Inputs(schema)));
    let write = move |what: RowChange| {
        set(Some(schema.with_untracked(|schema| change(schema.as_ref(), &name.get_value(), what))));
    };
    let of = move |read: fn(&InputRow) -> String| {
        Signal::derive(move || row.with(|row| row.as_ref().map(read).unwrap_or_default()))
    };
    // A name is a key of the file: it changes when it is a good one and the person is done with it.
    let typed_name = RwSignal::new(name.get_value());
    let fault = Signal::derive(move || {
        let typed = typed_name.get();
        schema
            .with(|schema| name_fault(schema.as_ref(), Some(&name.get_value()), &typed))
            .into_iter()
            .collect::<Vec<_>>()
    });
    let take_name = move || {
        let typed = typed_name.get_untracked();
        if typed != name.get_value() && fault.with_untracked(Vec::is_empty) {
            let renamed = schema.with_untracked(|schema| rename(schema.as_ref(), &name.get_value(), &typed));
            open.set(Some(typed));
            set(Some(renamed));
        }
    };
    let kinds: Vec<Choice> = InputKind::ALL.iter().map(|kind| Choice::plain(kind.words())).collect();
    let kind = Memo::new(move |_| row.with(|row| row.as_ref().map(|row| row.kind)));
    let default_spec = move || {
        let mut spec =
            schema.with(|schema| of_schema(schema.as_ref()?).into_iter().find(|spec| spec.name == name.get_value()));
        if let Some(spec) = &mut spec {
            spec.required = false;
            spec.default = None;
            spec.placeholder = "none".to_owned();
        }
        spec
    };
    let control_shape = Memo::new(move |_| default_spec().map(|spec| (spec.widget, spec.data_type, spec.options)));
    let default = Signal::derive(move || row.with(|row| row.as_ref().and_then(|row| row.default.clone())));
    view! {
        <div class="input-form">
            <div class="pair">
                <Field label="Name" control="input-name" errors=fault>
                    <div on:focusout=move |_| take_name()>
                        <TextInput id="input-name" value=typed_name on_input=move |typed| typed_name.set(typed) on_enter=move || take_name() />
                    </div>
                </Field>
                <Field label="Type" control="input-kind">
                    <Select id="input-kind" value=of(|row| row.kind.words().to_owned()) choices=kinds
                        on_change=move |words: String| {
                            if let Some(kind) = InputKind::of_words(&words) {
                                write(RowChange::Kind(kind));
                            }
                        } />
                </Field>
            </div>
            <Field label="Label" control="input-title">
                <TextInput id="input-title" value=of(|row| row.title.clone()) on_input=move |typed| write(RowChange::Title(typed)) />
            </Field>
            <Field label="Help" control="input-help">
                <TextInput id="input-help" value=of(|row| row.help.clone()) on_input=move |typed| write(RowChange::Help(typed)) />
            </Field>
            <Show when=move || kind.get() == Some(InputKind::Choice)>
                <OptionsField row write=Callback::new(move |(change,)| write(change)) />
            </Show>
            {move || {
                control_shape.get()?;
                let spec: FieldSpec = default_spec()?;
                // A switch has no "none": whether there is a default is then not to be seen from it.
                let about = if spec.widget == Widget::Switch { "Off when nobody says otherwise." } else { "" };
                Some(
                    view! {
                        <Field label="Default" control="input-default" help=about.to_owned()>
                            <ValueControl id="input-default" spec value=default
                                on_change=Callback::new(move |(value,)| write(RowChange::Default(value))) />
                        </Field>
                    },
                )
            }}
            <Field label="Example" control="input-example" help="Shown where a value of this input is offered.">
                <TextInput id="input-example" value=of(|row| row.example.as_ref().map(plain).unwrap_or_default())
                    on_input=move |typed: String| {
                        let data_type = row.with_untracked(|row| row.as_ref().map(|row| row.data_type.clone())).unwrap_or_default();
                        write(RowChange::Example(crate::form::text::to_value(&data_type, &typed)));
                    } />
            </Field>
            <div class="switch-line">
                <label for="input-required">"Required"</label>
                <Switch id="input-required" on=Signal::derive(move || row.with(|row| row.as_ref().is_some_and(|row| row.required)))
                    on_change=move |on: bool| write(RowChange::Required(on)) />
            </div>
            <div class="switch-line">
                <label for="input-sensitive">"Sensitive: shown as stars"</label>
                <Switch id="input-sensitive" on=Signal::derive(move || row.with(|row| row.as_ref().is_some_and(|row| row.sensitive)))
                    on_change=move |on: bool| write(RowChange::Sensitive(on)) />
            </div>
            <div class="input-acts small">
                <IconButton glyph=Glyph::Up name="Move up"
                    on_press=move || set(Some(schema.with_untracked(|schema| shift(schema.as_ref(), &name.get_value(), -1)))) />
                <IconButton glyph=Glyph::Down name="Move down"
                    on_press=move || set(Some(schema.with_untracked(|schema| shift(schema.as_ref(), &name.get_value(), 1)))) />
                <span class="push"></span>
                <Button weight=Weight::Danger glyph=Glyph::Trash
                    on_press=move || {
                        open.set(None);
                        set(schema.with_untracked(|schema| remove(schema.as_ref(), &name.get_value())));
                    }>
                    "Remove"
                </Button>
            </div>
        </div>
    }
}

#[component]
fn OptionsField(row: Memo<Option<InputRow>>, write: Callback<(RowChange,)>) -> impl IntoView {
    let lines = move |row: &InputRow| row.options.iter().map(plain).collect::<Vec<_>>().join("\n");
    let text = RwSignal::new(row.with_untracked(|row| row.as_ref().map(lines).unwrap_or_default()));
    view! {
        <Field label="Options" control="input-options" help="One a line.">
            <TextArea id="input-options" value=text
                on_input=move |typed: String| {
                    write.run((RowChange::Options(typed.lines().map(str::to_owned).collect()),));
                    text.set(typed);
                } />
        </Field>
    }
}
