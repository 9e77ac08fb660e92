//! How a node behaves: whether it asks, how long it may take, how it is stopped, whether it is tried again.

use leptos::prelude::*;
use weir_shared::flow::{Node, Retry, Stop, StopSignal};
use weir_shared::limits::{DEFAULT_GRACE_SECONDS, MAX_ATTEMPTS};
use weir_shared::tool::ToolDeclaration;

use super::node::FindingLines;
use crate::model::edit::{Edit, NodeField};
use crate::state::builder::Builder;
use crate::ui::choice::{Choice, Select, Switch};
use crate::ui::field::Field;
use crate::ui::text::{NumberInput, TextArea};

/// The behaviour of a node.
#[component]
pub(crate) fn Behaviour(id: String, tool: Memo<Option<ToolDeclaration>>) -> impl IntoView {
    let builder: Builder = expect_context();
    let own = id.clone();
    let node = Memo::new(move |_| builder.flow.with(|flow| flow.node(&own).cloned()).unwrap_or_default());
    let id = StoredValue::new(id);
    let edit = move |field: NodeField| builder.apply(Edit::Node { id: id.get_value(), field });
    let of = move |read: fn(&Node) -> String| Signal::derive(move || node.with(read));
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let default_timeout = move || {
        tool.with_untracked(|tool| tool.as_ref().and_then(|tool| tool.timeout_seconds))
            .map_or_else(|| "none".to_owned(), |seconds| format!("{seconds} (the tool's own)"))
    };
    let safe = move || {
        let node = node.get();
        let args = node.args.clone().unwrap_or_default();
        tool.with(|tool| tool.as_ref().is_some_and(|tool| tool.is_retry_safe(&args, node.idempotent)))
    };
    let signals: Vec<Choice> = StopSignal::NAMES.iter().map(|name| Choice::plain(*name)).collect();
    let set_stop = move |change: &dyn Fn(&mut Stop)| {
        let mut stop = node.with_untracked(|node| node.stop.clone()).unwrap_or_default();
        change(&mut stop);
        let empty = stop == Stop::default();
        edit(NodeField::Stop((!empty).then_some(stop)));
    };
    let set_retry = move |change: &dyn Fn(&mut Retry)| {
        let mut retry = node.with_untracked(|node| node.retry.clone()).unwrap_or_default();
        change(&mut retry);
        let empty = retry == Retry::default();
        edit(NodeField::Retry((!empty).then_some(retry)));
    };
    view! {
        <SwitchLine id="node-approval" label="Ask before it runs" about="A person approves the resolved arguments first, unless the run has full access."
            on=Signal::derive(move || node.with(|node| node.approval == Some(true)))
            on_change=move |on: bool| edit(NodeField::Approval(on.then_some(true))) />
        <SwitchLine id="node-disabled" label="Disabled" about="The step is skipped; what waits for it goes on as if it were done."
            on=Signal::derive(move || node.with(|node| node.disabled == Some(true)))
            on_change=move |on: bool| edit(NodeField::Disabled(on.then_some(true))) />
        <Field label="Timeout" control="node-timeout" data_type="seconds"
            help="One attempt may take this long; then it is stopped and fails.">
            <NumberInput id="node-timeout" placeholder=default_timeout()
                value=of(|node| node.timeout_seconds.map(|n| n.to_string()).unwrap_or_default())
                on_input=move |typed: String| {
                    if typed.trim().is_empty() || number(&typed).is_some() {
                        edit(NodeField::TimeoutSeconds(number(&typed)));
                    }
                } />
            <FindingLines node=Some(id.get_value()) prefix="timeoutSeconds" />
        </Field>
        <div class="pair">
            <Field label="Stop signal" control="node-signal">
                <Select id="node-signal" choices=signals
                    value=of(|node| {
                        let signal = node.stop.as_ref().and_then(|stop| stop.signal).unwrap_or_default();
                        signal_name(signal).to_owned()
                    })
                    on_change=move |name: String| {
                        let signal = signal_named(&name).filter(|signal| *signal != StopSignal::default());
                        set_stop(&|stop| stop.signal = signal);
                    } />
            </Field>
            <Field label="Grace" control="node-grace" data_type="seconds">
                <NumberInput id="node-grace" placeholder=DEFAULT_GRACE_SECONDS.to_string()
                    value=of(|node| {
                        node.stop.as_ref().and_then(|stop| stop.grace_seconds).map(|n| n.to_string()).unwrap_or_default()
                    })
                    on_input=move |typed: String| {
                        if typed.trim().is_empty() || number(&typed).is_some() {
                            set_stop(&|stop| stop.grace_seconds = number(&typed));
                        }
                    } />
            </Field>
        </div>
        <FindingLines node=Some(id.get_value()) prefix="stop" />
        <div class="pair">
            <Field label="Attempts" control="node-attempts">
                <NumberInput id="node-attempts" placeholder="1"
                    value=of(|node| {
                        node.retry.as_ref().and_then(|retry| retry.max_attempts).map(|n| n.to_string()).unwrap_or_default()
                    })
                    on_input=move |typed: String| {
                        if typed.trim().is_empty() || number(&typed).is_some() {
                            set_retry(&|retry| retry.max_attempts = number(&typed));
                        }
                    } />
            </Field>
            <Field label="First wait" control="node-backoff" data_type="ms">
                <NumberInput id="node-backoff" placeholder="0"
                    value=of(|node| {
                        node.retry.as_ref().and_then(|retry| retry.backoff_ms).map(|n| n.to_string()).unwrap_or_default()
                    })
                    on_input=move |typed: String| {
                        if typed.trim().is_empty() || number(&typed).is_some() {
                            set_retry(&|retry| retry.backoff_ms = number(&typed));
                        }
                    } />
            </Field>
        </div>
        <FindingLines node=Some(id.get_value()) prefix="retry" />
        <p class="help">
            {move || {
                if safe() {
                    format!("Repeating this call does no harm. Up to {MAX_ATTEMPTS} attempts.")
                } else {
                    "Repeating this call may do harm, so it is tried once. Say below that it is safe to change that.".to_owned()
                }
            }}
        </p>
        <SwitchLine id="node-idempotent" label="Safe to repeat" about="Your word that running it twice does no harm."
            on=Signal::derive(move || node.with(|node| node.idempotent == Some(true)))
            on_change=move |on: bool| edit(NodeField::Idempotent(on.then_some(true))) />
        <Field label="Description" control="node-description" help="For the one who reads this flow next.">
            <TextArea id="node-description" value=of(|node| node.description.clone().unwrap_or_default())
                on_input=move |typed: String| edit(NodeField::Description((!typed.is_empty()).then_some(typed))) />
        </Field>
    }
}

#[component]
fn SwitchLine(
    id: &'static str,
    label: &'static str,
    about: &'static str,
    on: Signal<bool>,
    #[prop(into)] on_change: Callback<(bool,)>,
) -> impl IntoView {
    view! {
        <div class="switch-line">
            <div>
                <label for=id>{label}</label>
                <p class="help">{about}</p>
            </div>
            <Switch id on on_change />
        </div>
    }
}

fn signal_name(signal: StopSignal) -> &'static str {
    match signal {
        StopSignal::Term => "TERM",
        StopSignal::Int => "INT",
        StopSignal::Hup => "HUP",
        StopSignal::Quit => "QUIT",
        StopSignal::Usr1 => "USR1",
        StopSignal::Usr2 => "USR2",
        StopSignal::Kill => "KILL",
    }
}

fn signal_named(name: &str) -> Option<StopSignal> {
    use StopSignal::{Hup, Int, Kill, Quit, Term, Usr1, Usr2};
    [Term, Int, Hup, Quit, Usr1, Usr2, Kill].into_iter().find(|signal| signal_name(*signal) == name)
}
