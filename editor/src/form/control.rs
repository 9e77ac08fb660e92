//! The right control for a field of a form.
//!
//! The value outside is the truth. What is being typed is kept beside it only while the two say the same, so that
//! `1.50` is not rewritten to `1.5` under the hand that types it.

use leptos::prelude::*;
use serde_json::Value;
use weir_shared::tool::Widget;

use super::schema::{FieldSpec, plain};
use super::text::{of_value, to_value};
use crate::ui::button::{Button, IconButton, Weight};
use crate::ui::choice::{Choice, Select, Switch};
use crate::ui::icon::Glyph;
use crate::ui::json::JsonField;
use crate::ui::text::{NumberInput, TextArea, TextInput};

/// Edits one value.
#[component]
pub(crate) fn ValueControl(
    #[prop(into)] id: String,
    spec: FieldSpec,
    #[prop(into)] value: Signal<Option<Value>>,
    #[prop(optional, into)] invalid: Signal<bool>,
    on_change: Callback<(Option<Value>,)>,
) -> impl IntoView {
    // A template in a field that is no text is still shown, as the text it is.
    let is_template =
        Memo::new(move |_| value.with(|value| matches!(value, Some(Value::String(text)) if text.contains("{{"))));
    let spec = StoredValue::new(spec);
    move || {
        let (id, spec) = (id.clone(), spec.get_value());
        match (spec.widget, is_template.get()) {
            (Widget::Textarea, _) => view! { <Typed id spec value invalid on_change shape=Shape::Lines /> }.into_any(),
            (Widget::Text, _) | (_, true) => {
                view! { <Typed id spec value invalid on_change shape=Shape::Line /> }.into_any()
            }
            (Widget::Number, false) => {
                view! { <Typed id spec value invalid on_change shape=Shape::Number /> }.into_any()
            }
            (Widget::Date, false) => view! { <Typed id spec value invalid on_change shape=Shape::Date /> }.into_any(),
            (Widget::Switch, false) => {
                let fallback = spec.default.as_ref().and_then(Value::as_bool).unwrap_or(false);
                let on = Signal::derive(move || {
                    value.with(|value| value.as_ref().and_then(Value::as_bool).unwrap_or(fallback))
                });
                view! { <Switch id on on_change=move |on: bool| on_change.run((Some(Value::Bool(on)),)) /> }.into_any()
            }
            (Widget::Select, false) => view! { <Options id spec value invalid on_change /> }.into_any(),
            (Widget::Json, false) => view! { <JsonField id value placeholder=spec.placeholder on_change /> }.into_any(),
            (Widget::Rows, false) => view! { <Rows id spec value on_change /> }.into_any(),
        }
    }
}

/// How a typed value is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Line,
    Lines,
    Number,
    Date,
}

#[component]
fn Typed(
    id: String,
    spec: FieldSpec,
    value: Signal<Option<Value>>,
    invalid: Signal<bool>,
    on_change: Callback<(Option<Value>,)>,
    shape: Shape,
) -> impl IntoView {
    let data_type = StoredValue::new(spec.data_type.clone());
    let text = RwSignal::new(value.with_untracked(|value| of_value(value.as_ref())));
    Effect::new(move |_| {
        let outside = value.get();
        let inside = text.with_untracked(|text| data_type.with_value(|data_type| to_value(data_type, text)));
        if inside != outside {
            text.set(of_value(outside.as_ref()));
        }
    });
    let typed = Callback::new(move |(typed,): (String,)| {
        let parsed = data_type.with_value(|data_type| to_value(data_type, &typed));
        text.set(typed);
        on_change.run((parsed,));
    });
    let placeholder = spec.placeholder;
    match shape {
        Shape::Line if spec.sensitive => {
            view! { <TextInput id kind="password" value=text placeholder invalid on_input=typed /> }.into_any()
        }
        Shape::Line => view! { <TextInput id value=text placeholder invalid on_input=typed /> }.into_any(),
        Shape::Date => view! { <TextInput id kind="date" value=text placeholder invalid on_input=typed /> }.into_any(),
        Shape::Number => view! { <NumberInput id value=text placeholder invalid on_input=typed /> }.into_any(),
        Shape::Lines => {
            let class = if spec.shell || spec.raw { "control mono" } else { "control" };
            view! { <TextArea id value=text placeholder class invalid on_input=typed /> }.into_any()
        }
    }
}

#[component]
fn Options(
    id: String,
    spec: FieldSpec,
    value: Signal<Option<Value>>,
    invalid: Signal<bool>,
    on_change: Callback<(Option<Value>,)>,
) -> impl IntoView {
    let default = spec.default.as_ref().map(plain);
    let mut choices: Vec<Choice> = spec.options.iter().map(|option| Choice::plain(plain(option))).collect();
    if !spec.required && default.is_none() {
        choices.insert(0, Choice::new("", "—"));
    }
    let shown = Signal::derive(move || {
        value.with(|value| value.as_ref().map(plain)).or_else(|| default.clone()).unwrap_or_default()
    });
    let options = spec.options;
    view! {
        <Select id value=shown choices invalid
            on_change=move |chosen: String| {
                on_change.run((options.iter().find(|option| plain(option) == chosen).cloned(),));
            } />
    }
}

#[component]
fn Rows(
    id: String,
    spec: FieldSpec,
    value: Signal<Option<Value>>,
    on_change: Callback<(Option<Value>,)>,
) -> impl IntoView {
    let item_type = spec.schema.get("items").map_or_else(|| "string".to_owned(), super::schema::data_type);
    let (title, heading) = (spec.title.clone(), spec.title);
    let item_type = StoredValue::new(item_type);
    let items =
        Memo::new(move |_| value.with(|value| value.as_ref().and_then(Value::as_array).cloned().unwrap_or_default()));
    let change = move |edit: &dyn Fn(&mut Vec<Value>)| {
        let mut list = items.get_untracked();
        edit(&mut list);
        on_change.run(((!list.is_empty()).then_some(Value::Array(list)),));
    };
    let positions = Memo::new(move |_| (0..items.with(Vec::len)).collect::<Vec<_>>());
    view! {
        <div class="rows" id=id role="group" aria-label=heading>
            <For each=move || positions.get() key=|at| *at let(at)>
                <div class="rows-line small">
                    <TextInput id=format!("row-{at}") name=format!("{title}, row {}", at + 1)
                        value=Signal::derive(move || items.with(|items| of_value(items.get(at))))
                        on_input=move |typed: String| {
                            change(&|list| {
                                if let Some(slot) = list.get_mut(at) {
                                    *slot = item_type
                                        .with_value(|item| to_value(item, &typed))
                                        .unwrap_or_else(|| Value::String(String::new()));
                                }
                            });
                        } />
                    <IconButton glyph=Glyph::X name=format!("Remove row {}", at + 1)
                        on_press=move || {
                            change(&|list| {
                                if at < list.len() {
                                    list.remove(at);
                                }
                            });
                        } />
                </div>
            </For>
            <div class="small">
                <Button weight=Weight::Outline glyph=Glyph::Plus
                    on_press=move || change(&|list| list.push(Value::String(String::new())))>"Add a row"</Button>
            </div>
        </div>
    }
}
