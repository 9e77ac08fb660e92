//! The arguments of a node: one field each, written by hand or taken from another node.

use leptos::prelude::*;
use serde_json::Value;
use wasm_bindgen::JsCast;
use weir_shared::finding::Severity;
use weir_shared::tool::{ToolDeclaration, Widget};

use super::node::{FindingLine, FindingLines};
use super::picker::{Chip, Picker};
use super::source::{Source, exact, insert};
use super::tree::Leaf;
use crate::form::control::ValueControl;
use crate::form::schema::{FieldSpec, of_tool};
use crate::model::connect::{leads_to, refusal};
use crate::model::edit::{Edit, NodeField};
use crate::model::item::EdgeKey;
use crate::state::builder::Builder;
use crate::ui::button::IconButton;
use crate::ui::choice::{Choice, Segmented};
use crate::ui::field::Field;
use crate::ui::icon::Glyph;
use crate::ui::json::JsonField;

/// Every argument the tool has, and those it does not.
#[component]
pub(crate) fn Arguments(id: String, tool: Memo<Option<ToolDeclaration>>) -> impl IntoView {
    let node = id.clone();
    move || {
        let id = node.clone();
        let Some(tool) = tool.get() else { return view! { <RawArguments id /> }.into_any() };
        let (usual, advanced): (Vec<FieldSpec>, Vec<FieldSpec>) =
            of_tool(&tool).into_iter().partition(|spec| !spec.advanced);
        let field = |spec: FieldSpec| view! { <Argument node=id.clone() spec /> };
        let none = usual.is_empty() && advanced.is_empty();
        let usual = usual.into_iter().map(field).collect_view();
        let advanced = (!advanced.is_empty()).then(|| {
            let fields = advanced.into_iter().map(field).collect_view();
            view! {
                <details class="form-part">
                    <summary>"More settings"</summary>
                    {fields}
                </details>
            }
        });
        view! {
            {usual}
            {advanced}
            {none.then(|| view! { <p class="muted">"This tool takes no arguments."</p> })}
            <Strangers id=id.clone() tool />
        }
        .into_any()
    }
}

/// One argument.
#[component]
fn Argument(node: String, spec: FieldSpec) -> impl IntoView {
    let builder: Builder = expect_context();
    let control = format!("arg-{}", spec.name);
    let (node, name) = (StoredValue::new(node), StoredValue::new(spec.name.clone()));
    let value = Memo::new(move |_| {
        builder.flow.with(|flow| {
            let node = node.with_value(|node| flow.node(node))?;
            node.args.as_ref()?.get(&name.get_value()).cloned()
        })
    });
    let source = RwSignal::new(value.with_untracked(|value| Source::of(value.as_ref())));
    let picking = RwSignal::new(false);
    // Undo, or an edit elsewhere, may have made it another kind of value.
    Effect::new(move |_| {
        if value.with(|value| Source::of(value.as_ref())) == Source::Reference {
            source.set(Source::Reference);
        }
    });
    let set = move |value: Option<Value>| {
        builder.apply(Edit::set_arg(&node.get_value(), &name.get_value(), value));
    };
    let field = format!("args.{}", spec.name);
    let (for_errors, for_notes) = (field.clone(), field.clone());
    let mine = move |field: &str, prefix: &str| {
        field == prefix || field.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(['.', '[']))
    };
    let found = Memo::new(move |_| {
        builder.findings.with(|findings| {
            let of_field = |finding: &&weir_shared::finding::Finding| {
                finding.node_id.as_deref() == Some(node.get_value().as_str())
                    && finding.field.as_deref().is_some_and(|field| mine(field, &for_errors))
            };
            findings.iter().filter(of_field).cloned().collect::<Vec<_>>()
        })
    });
    let invalid =
        Signal::derive(move || found.with(|found| found.iter().any(|finding| finding.severity == Severity::Error)));
    let (templated, is_text) = (!spec.raw, matches!(spec.widget, Widget::Text | Widget::Textarea));
    let id_of_control = StoredValue::new(control.clone());
    let choose = Callback::new(move |(leaf, from): (Leaf, Option<String>)| {
        let text = match source.get_untracked() {
            Source::Reference => format!("{{{{{}}}}}", leaf.path),
            Source::Manual => {
                let now = value.get_untracked().map(|value| crate::form::schema::plain(&value)).unwrap_or_default();
                insert(&now, caret(&id_of_control.get_value()), &leaf.path).0
            }
        };
        picking.set(false);
        builder.apply(with_edge(
            builder,
            &node.get_value(),
            from,
            Edit::set_arg(&node.get_value(), &name.get_value(), Some(Value::String(text))),
        ));
        builder.pause_typing();
    });
    let wanted = StoredValue::new(spec.data_type.clone());
    // Put into a text, any value becomes text.
    let wanted = Signal::derive(move || match source.get() {
        Source::Reference => wanted.get_value(),
        Source::Manual => "any".to_owned(),
    });
    let beside = templated.then(|| {
        let choices = vec![Choice::new("manual", "Manual"), Choice::new("reference", "Reference")];
        view! {
            <Show when=move || is_text && source.get() == Source::Manual>
                <span class="insert tip-left">
                    <IconButton glyph=Glyph::Braces name="Insert a value" pressed=picking.into()
                        on_press=move || picking.update(|picking| *picking = !*picking) />
                </span>
            </Show>
            <Segmented name=format!("Source of {}", spec.title) value=Signal::derive(move || source.get().word().to_owned()) choices
                on_change=move |word: String| {
                    let chosen = Source::of_word(&word);
                    picking.set(chosen == Source::Reference && value.with_untracked(|value| Source::of(value.as_ref())) == Source::Manual);
                    source.set(chosen);
                } />
        }
        .into_any()
    });
    let wants_focus = field;
    let anchor = NodeRef::<leptos::html::Div>::new();
    Effect::new(move |_| {
        let wanted = builder.wanted_field.with(|wanted| {
            wanted.as_ref().is_some_and(|wanted| {
                wanted.node.as_deref() == Some(node.get_value().as_str())
                    && wanted.field.as_deref().is_some_and(|field| mine(field, &wants_focus))
            })
        });
        if wanted && let Some(anchor) = anchor.get() {
            builder.wanted_field.set(None);
            request_animation_frame(move || {
                anchor.scroll_into_view();
                let control =
                    anchor.query_selector("input, textarea, select, [role=switch], .reference-button").ok().flatten();
                if let Some(control) = control.and_then(|control| control.dyn_into::<web_sys::HtmlElement>().ok()) {
                    // An element that is gone again takes no focus.
                    let _ = control.focus();
                }
            });
        }
    });
    let spec_for_control = StoredValue::new(spec.clone());
    let control_id = control.clone();
    view! {
        <div class="argument" node_ref=anchor data-field=for_notes>
            <Field label=spec.title.clone() control=control required=spec.required data_type=spec.data_type.clone() help=spec.help.clone()
                beside=beside.unwrap_or_else(|| ().into_any())>
                {move || match source.get() {
                    Source::Reference => {
                        view! {
                            <Chip value=Signal::derive(move || value.with(|value| value.as_ref().and_then(exact).map(str::to_owned)))
                                open=picking on_clear=move || set(None) />
                        }
                            .into_any()
                    }
                    Source::Manual => {
                        view! {
                            <ValueControl id=control_id.clone() spec=spec_for_control.get_value() value=value invalid
                                on_change=Callback::new(move |(value,)| set(value)) />
                        }
                            .into_any()
                    }
                }}
                <Show when=move || picking.get()>
                    <Picker node=node.get_value() wanted on_choose=choose />
                </Show>
                <For each=move || found.get() key=|finding| (finding.code, finding.message.clone()) let(finding)>
                    <FindingLine finding />
                </For>
            </Field>
        </div>
    }
}

/// The edit, and the edge from the node whose value was chosen when it does not lead here yet.
fn with_edge(builder: Builder, node: &str, from: Option<String>, edit: Edit) -> Edit {
    let Some(source) = from else { return edit };
    let flow = builder.flow.get_untracked();
    let key = EdgeKey { source, port: None, target: node.to_owned() };
    if leads_to(&flow, &key.source, node) || refusal(&flow, &key).is_some() {
        return edit;
    }
    Edit::Group(vec![edit, Edit::connect(&flow, &key)])
}

/// Where the caret stands in a text field.
fn caret(id: &str) -> Option<u32> {
    let element = document().get_element_by_id(id)?;
    if let Some(input) = element.dyn_ref::<web_sys::HtmlInputElement>() {
        return input.selection_start().ok().flatten();
    }
    element.dyn_ref::<web_sys::HtmlTextAreaElement>()?.selection_start().ok().flatten()
}

/// Arguments the tool does not declare: shown, so that nothing in the file is invisible, and removable.
#[component]
fn Strangers(id: String, tool: ToolDeclaration) -> impl IntoView {
    let builder: Builder = expect_context();
    let id = StoredValue::new(id);
    let strange = Memo::new(move |_| {
        builder.flow.with(|flow| {
            let Some(args) = id.with_value(|id| flow.node(id)).and_then(|node| node.args.as_ref()) else {
                return Vec::new();
            };
            args.iter()
                .filter(|(name, _)| tool.argument_schema(name).is_none())
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        })
    });
    view! {
        <For each=move || strange.get() key=|(name, value)| format!("{name} {value}") let(pair)>
            {
                let (name, value) = pair;
                let (removed, prefix) = (name.clone(), format!("args.{name}"));
                view! {
                    <div class="stranger small">
                        <code>{name}</code>
                        <span class="faint ellipsis">{value.to_string()}</span>
                        <IconButton glyph=Glyph::Trash name="Remove this argument"
                            on_press=move || builder.apply(Edit::set_arg(&id.get_value(), &removed, None)) />
                    </div>
                    <FindingLines node=Some(id.get_value()) prefix />
                }
            }
        </For>
    }
}

/// All arguments as JSON: of a tool that is not there, whose schema nobody knows.
#[component]
fn RawArguments(id: String) -> impl IntoView {
    let builder: Builder = expect_context();
    let id = StoredValue::new(id);
    let value = Signal::derive(move || {
        builder
            .flow
            .with(|flow| id.with_value(|id| flow.node(id)).and_then(|node| node.args.clone()).map(Value::Object))
    });
    let set = move |value: Option<Value>| {
        let args = match value {
            Some(Value::Object(args)) => Some(args),
            Some(_) => return,
            None => None,
        };
        builder.apply(Edit::Node { id: id.get_value(), field: NodeField::Args(args) });
    };
    view! {
        <FindingLines node=Some(id.get_value()) prefix="" />
        <Field label="Arguments" control="raw-arguments" data_type="object"
            help="The tool is not there, so its arguments show as they are written.">
            <JsonField id="raw-arguments" value on_change=set />
        </Field>
    }
}
