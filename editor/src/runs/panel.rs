//! One run, watched: its head, its steps, what waits for an answer, and the chosen step.
//!
//! [`RunWatch`] is drawn both under the canvas ([`RunPanel`]) and on the run's own page.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use weir_shared::ids::StepIndex;
use weir_shared::run::state::{RunEnd, StepStatus};
use weir_shared::wire::Approve;

use super::detail::StepDetail;
use super::gate::Gates;
use super::steps::{NoSteps, StepList};
use super::view::{Following, RunView, moving};
use super::words;
use crate::backend::api::Api;
use crate::state::builder::Builder;
use crate::state::card::{CardState, StepResult};
use crate::ui::button::{Button, IconButton, Weight};
use crate::ui::chip::{Chip, Tone};
use crate::ui::icon::Glyph;
use crate::ui::readable::{count, duration};
use crate::ui::readout::{Json, local_time};
use crate::ui::toast::Toasts;

/// The run panel of the builder: shows the builder's run and paints it onto the cards.
#[component]
pub(crate) fn RunPanel() -> impl IntoView {
    let builder: Builder = expect_context();
    let view = RunView::new();
    Effect::new(move |_| view.follow(builder.run.get()));
    let states = Memo::new(move |_| {
        view.with(|state| {
            let plan = state.plan.as_ref()?;
            let nodes = plan.steps.iter().zip(&state.steps);
            let of_nodes = nodes.filter_map(|(step, at)| Some((step.node_id.as_ref()?.to_string(), CardState::of(at))));
            Some(of_nodes.collect::<BTreeMap<_, _>>())
        })
        .unwrap_or_default()
    });
    Effect::new(move |_| builder.card_states.set(Arc::new(states.get())));
    let results = Memo::new(move |_| {
        view.with(|state| {
            let plan = state.plan.as_ref()?;
            let nodes = plan.steps.iter().zip(&state.steps);
            let of_nodes =
                nodes.filter_map(|(step, at)| Some((step.node_id.as_ref()?.to_string(), StepResult::of(at)?)));
            Some(of_nodes.collect::<BTreeMap<_, _>>())
        })
        .unwrap_or_default()
    });
    Effect::new(move |_| builder.results.set(Arc::new(results.get())));
    view! {
        <Show when=move || builder.run.get().is_some()>
            <section class="run-panel" aria-label="Run">
                <RunWatch view close=Callback::new(move |()| builder.run.set(None)) />
            </section>
        </Show>
    }
}

/// A run with its head, steps and details. With `close`, there is a button for it and a link to the run's own page.
#[component]
pub(crate) fn RunWatch(view: RunView, #[prop(optional)] close: Option<Callback<()>>) -> impl IntoView {
    let (api, toasts) = (Api::from_context(), Toasts::from_context());
    let picked = RwSignal::new(None::<StepIndex>);
    let goes_on = Memo::new(move |_| view.status().is_some_and(|status| !status.is_terminal()));
    let now = moving(goes_on.into());
    // Until a person picks one, the details follow what is going on.
    let busiest = Memo::new(move |_| view.with(busiest));
    let chosen = Memo::new(move |_| picked.get().or_else(|| busiest.get()));
    Effect::new(move |_| {
        view.run.track();
        picked.set(None);
    });
    let answer = Callback::new(move |(answer,): (Approve,)| {
        if let Some(run) = view.run.get_untracked() {
            spawn_local(async move {
                if let Err(error) = api.approve(&run, &answer).await {
                    toasts.fail(error.message());
                }
            });
        }
    });
    let has_steps = Memo::new(move |_| view.with(|state| !state.steps.is_empty()));
    view! {
        <div class="run-watch">
            <RunHead view now close />
            <div class="run-body">
                <div class="run-left">
                    <Gates view on_answer=answer chosen=picked />
                    <Show when=move || has_steps.get() fallback=NoSteps>
                        <StepList view now chosen=picked />
                    </Show>
                </div>
                <div class="run-right">
                    <Ending view />
                    {move || chosen.get().map(|index| view! { <StepDetail view index /> })}
                </div>
            </div>
        </div>
    }
}

/// The step one would look at: what waits for a person, else what runs, else what failed, else what ended last.
fn busiest(state: &weir_shared::run::state::RunState) -> Option<StepIndex> {
    let first = |wanted: &[StepStatus]| {
        let at = state.steps.iter().position(|step| wanted.contains(&step.status()))?;
        Some(StepIndex::of(at))
    };
    first(&[StepStatus::AwaitingApproval])
        .or_else(|| first(&[StepStatus::Running, StepStatus::Retrying]))
        .or_else(|| first(&[StepStatus::Failed]))
        .or(state.last_completed)
}

#[component]
fn RunHead(view: RunView, now: Signal<weir_shared::ids::Timestamp>, close: Option<Callback<()>>) -> impl IntoView {
    let (api, toasts) = (Api::from_context(), Toasts::from_context());
    let status = Memo::new(move |_| view.status());
    let facts = move || {
        let said = view.with(|state| {
            let created = state.created.as_ref()?;
            let ended = format!("{} of {}", state.ended_steps(), count(state.steps.len(), "step"));
            Some((words::cause(created.cause), local_time(state.created_at), ended))
        });
        said.map(|(cause, at, ended)| {
            let (start, end) = view.period(now.get());
            format!("{cause} · {at} · {ended} · {}", duration(end.millis_since(start)))
        })
    };
    let stopping = move || view.with(|state| state.cancel_requested);
    let can_stop = move || status.get().is_some_and(|status| !status.is_terminal());
    let cancel = move || {
        if let Some(run) = view.run.get_untracked() {
            spawn_local(async move {
                if let Err(error) = api.cancel(&run).await {
                    toasts.fail(error.message());
                }
            });
        }
    };
    let path = move || view.run.get().map(|run| format!("/runs/{run}"));
    view! {
        <header class="run-head">
            <h2>"Run"</h2>
            {move || match status.get() {
                Some(status) => view! { <Chip tone=words::run_tone(status) text=words::run_status(status).to_owned() /> }.into_any(),
                None if view.following.get() == Following::Failed => {
                    view! { <Chip tone=Tone::Bad text="not found".to_owned() /> }.into_any()
                }
                None => view! { <Chip tone=Tone::Faint text="connecting".to_owned() /> }.into_any(),
            }}
            <span class="faint ellipsis">{facts}</span>
            <span class="push"></span>
            <div class="run-acts small tip-up tip-left">
                <Show when=can_stop>
                    <Button weight=Weight::Outline glyph=Glyph::Stop disabled=Signal::derive(stopping) on_press=cancel>
                        {move || if stopping() { "Stopping…" } else { "Cancel" }}
                    </Button>
                </Show>
                {close
                    .map(|close| {
                        view! {
                            <a class="btn" href=path>"Open run"</a>
                            <a class="btn" href="/runs">"History"</a>
                            <IconButton glyph=Glyph::X name="Close the run panel" on_press=close />
                        }
                    })}
            </div>
        </header>
    }
}

/// How the run ended, and what can be wrong with following it.
#[component]
fn Ending(view: RunView) -> impl IntoView {
    let end = Memo::new(move |_| view.with(|state| state.end.clone()));
    let broken = Memo::new(move |_| view.fold.with(|fold| fold.broken.clone()));
    view! {
        {move || {
            broken.get().map(|why| {
                view! {
                    <p class="detail-error" role="alert">
                        "The journal of this run cannot be followed here: " {why} ". Reload the page; it may be older than the worker."
                    </p>
                }
            })
        }}
        {move || match end.get() {
            Some(RunEnd::Completed { summary, result }) => {
                view! {
                    <section class="ending tone-good">
                        <p>{summary}</p>
                        {(!result.is_null())
                            .then(|| {
                                view! {
                                    <details>
                                        <summary>"Result of the run"</summary>
                                        <Json value=(*result).clone() />
                                    </details>
                                }
                            })}
                    </section>
                }
                    .into_any()
            }
            Some(RunEnd::Error { message, .. }) => {
                let tone = view.status().map_or(Tone::Bad, words::run_tone);
                let class = format!("ending {}", tone.class());
                view! {
                    <section class=class>
                        <p>{message}</p>
                    </section>
                }
                    .into_any()
            }
            None => ().into_any(),
        }}
    }
}
