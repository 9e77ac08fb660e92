//! `/runs`: every run, newest first, searched and filtered by the worker.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use weir_shared::ids::Timestamp;
use weir_shared::run::state::RunStatus;
use weir_shared::wire::RunRow;

use super::words;
use crate::backend::address::RunsWanted;
use crate::backend::api::Api;
use crate::shell::Shell;
use crate::ui::button::{Button, Weight};
use crate::ui::chip::Fact;
use crate::ui::choice::{Choice, Select};
use crate::ui::empty::Empty;
use crate::ui::icon::Glyph;
use crate::ui::readable::{age, duration};
use crate::ui::readout::{local_time, ticking};
use crate::ui::text::SearchBox;
use crate::ui::toast::Toasts;

/// Rows fetched at a time.
const PAGE: u32 = 50;
/// Between looks for news on the first page.
const FRESHEN: Duration = Duration::from_secs(3);
/// Typing pauses this long before the worker is asked.
const SETTLE: Duration = Duration::from_millis(200);

/// What the list holds.
#[derive(Debug, Clone, Default, PartialEq)]
struct Listed {
    rows: Vec<RunRow>,
    next: Option<String>,
    /// How many pages it is.
    pages: u32,
    loaded: bool,
    failed: Option<String>,
}

/// The list of runs.
#[component]
pub(crate) fn RunsPage() -> impl IntoView {
    let (api, toasts) = (Api::from_context(), Toasts::from_context());
    let search = RwSignal::new(String::new());
    let status = RwSignal::new(None::<RunStatus>);
    let listed = RwSignal::new(Listed::default());
    // Answers to questions that were asked before the last change of the filter are dropped.
    let question = StoredValue::new(0_u32);
    let now = ticking(Duration::from_secs(5));

    let ask = move || {
        let asked = question.get_value();
        let wanted = RunsWanted {
            q: search.get_untracked(),
            status: status.get_untracked(),
            limit: PAGE,
            ..RunsWanted::default()
        };
        spawn_local(async move {
            let answer = api.runs(&wanted).await;
            if question.try_get_value() != Some(asked) {
                return;
            }
            listed.update(|listed| match answer {
                // A person who has paged on keeps what was paged to; only what is new is put before it.
                Ok(page) if listed.pages > 1 => merge(&mut listed.rows, page.runs),
                Ok(page) => *listed = Listed { rows: page.runs, next: page.next, pages: 1, loaded: true, failed: None },
                Err(error) => listed.failed = Some(error.message()),
            });
        });
    };
    Effect::new(move |before: Option<()>| {
        search.track();
        status.track();
        question.update_value(|question| *question += 1);
        let asked = question.get_value();
        let settle = if before.is_some() { SETTLE } else { Duration::ZERO };
        set_timeout(
            move || {
                if question.try_get_value() == Some(asked) {
                    listed.update(|listed| listed.pages = 0);
                    ask();
                }
            },
            settle,
        );
    });
    if let Ok(interval) = set_interval_with_handle(
        move || {
            if !document().hidden() && listed.with_untracked(|listed| listed.loaded) {
                ask();
            }
        },
        FRESHEN,
    ) {
        on_cleanup(move || interval.clear());
    }
    let more = move || {
        let Some(before) = listed.with_untracked(|listed| listed.next.clone()) else { return };
        let asked = question.get_value();
        let wanted = RunsWanted {
            q: search.get_untracked(),
            status: status.get_untracked(),
            before: Some(before),
            limit: PAGE,
            ..RunsWanted::default()
        };
        spawn_local(async move {
            match api.runs(&wanted).await {
                Ok(page) if question.try_get_value() == Some(asked) => listed.update(|listed| {
                    listed.rows.extend(page.runs);
                    listed.next = page.next;
                    listed.pages += 1;
                }),
                Ok(_) => {}
                Err(error) => toasts.fail(error.message()),
            }
        });
    };
    let statuses: Vec<Choice> = std::iter::once(Choice::new("", "Any status"))
        .chain(RunStatus::ALL.into_iter().map(|status| Choice::new(status.as_str(), words::run_status(status))))
        .collect();
    let rows = Memo::new(move |_| listed.with(|listed| listed.rows.clone()));
    let filtered = move || !search.with(|search| search.trim().is_empty()) || status.get().is_some();
    view! {
        <Shell>
            <div class="page-top">
                <h1>"Runs"</h1>
                <span class="push"></span>
                <SearchBox name="Search runs" value=search on_input=move |typed| search.set(typed) />
                <div class="status-select">
                    <Select id="run-status" name="Status".to_owned()
                        value=Signal::derive(move || status.get().map_or("", RunStatus::as_str).to_owned()) choices=statuses
                        on_change=move |word: String| {
                            status.set(RunStatus::ALL.into_iter().find(|status| status.as_str() == word));
                        } />
                </div>
            </div>
            <Show when=move || !rows.with(Vec::is_empty)>
                <div class="runs-table">
                    <div class="runs-row runs-head">
                        <span>"Status"</span>
                        <span>"Flow"</span>
                        <span>"Goal, summary or error"</span>
                        <span>"Started"</span>
                        <span class="numeric">"Took"</span>
                        <span class="numeric">"When"</span>
                    </div>
                    <For each=move || rows.get() key=|row| (row.run_id.clone(), row.status, row.completed_at) let(row)>
                        <Row row now />
                    </For>
                </div>
                <Show when=move || listed.with(|listed| listed.next.is_some())>
                    <div class="runs-more">
                        <Button weight=Weight::Outline on_press=more>"Show older runs"</Button>
                    </div>
                </Show>
            </Show>
            {move || {
                let (loaded, failed, none) = listed.with(|listed| (listed.loaded, listed.failed.clone(), listed.rows.is_empty()));
                match (loaded, failed) {
                    (false, Some(why)) => {
                        view! { <Empty glyph=Glyph::Alert title="The runs cannot be listed" text=why /> }.into_any()
                    }
                    (true, _) if none && filtered() => {
                        view! {
                            <Empty glyph=Glyph::Search title="No run matches" text="The search looks at goals, summaries and errors.">
                                <Button weight=Weight::Outline
                                    on_press=move || {
                                        search.set(String::new());
                                        status.set(None);
                                    }>
                                    "Show all runs"
                                </Button>
                            </Empty>
                        }
                            .into_any()
                    }
                    (true, _) if none => {
                        view! {
                            <Empty glyph=Glyph::Play title="Nothing has run yet"
                                text="Open a flow and press Run, or start one from a shell: weir run <flow>.">
                                <a class="btn outline" href="/">"All flows"</a>
                            </Empty>
                        }
                            .into_any()
                    }
                    (false | true, _) => ().into_any(),
                }
            }}
        </Shell>
    }
}

/// Puts newer rows before the known ones and brings known ones up to date.
fn merge(rows: &mut Vec<RunRow>, fresh: Vec<RunRow>) {
    let mut new = Vec::new();
    for row in fresh {
        match rows.iter_mut().find(|known| known.run_id == row.run_id) {
            Some(known) => *known = row,
            None => new.push(row),
        }
    }
    rows.splice(0..0, new);
}

#[component]
fn Row(row: RunRow, now: Signal<Timestamp>) -> impl IntoView {
    let started = row.started_at.unwrap_or(row.created_at);
    let took = move || match (row.duration_ms, row.completed_at, row.started_at) {
        (Some(took), _, _) => duration(took),
        (None, None, Some(started)) => duration(now.get().millis_since(started)),
        (None, _, _) => "–".to_owned(),
    };
    let about = row.error.clone().or(row.summary.clone()).unwrap_or_else(|| row.goal.clone());
    let flow = row.flow_id.as_ref().map_or_else(|| "a plan".to_owned(), ToString::to_string);
    view! {
        <a class="runs-row" href=format!("/runs/{}", row.run_id)>
            <Fact tone=words::run_tone(row.status) text=words::run_status(row.status).to_owned() />
            <b class="ellipsis">{flow}</b>
            <span class="ellipsis muted" title=about.clone()>{about.clone()}</span>
            <span class="faint">{words::cause(row.cause)}</span>
            <span class="numeric">{took}</span>
            <span class="numeric" title=local_time(started)>{move || age(started, now.get())}</span>
        </a>
    }
}
