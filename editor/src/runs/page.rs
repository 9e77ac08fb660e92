//! `/runs/{id}`: one run by itself.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use weir_shared::ids::RunId;

use super::panel::RunWatch;
use super::view::RunView;
use crate::shell::Shell;

/// One run, live or from the journal.
#[component]
pub(crate) fn RunPage() -> impl IntoView {
    let params = use_params_map();
    let view = RunView::new();
    Effect::new(move |_| {
        let run = params.with(|params| params.get("id")).and_then(|id| id.parse::<RunId>().ok());
        view.follow(run);
    });
    let flow =
        Memo::new(move |_| view.with(|state| state.created.as_ref().and_then(|created| created.flow_id.clone())));
    let goal = move || {
        view.with(|state| state.created.as_ref().map(|created| created.goal.clone())).filter(|goal| !goal.is_empty())
    };
    view! {
        <Shell>
            <div class="run-page">
                <div class="page-top">
                    <h1 class="ellipsis">
                        <a class="faint" href="/runs">"Runs"</a>
                        <span class="faint">" / "</span>
                        {move || goal().or_else(|| flow.get().map(|flow| flow.to_string())).unwrap_or_else(|| "Run".to_owned())}
                    </h1>
                    <span class="push"></span>
                    {move || flow.get().map(|flow| {
                        let on_canvas = view.run.get().map(|run| format!("/flows/{flow}?run={run}"));
                        view! { <a class="btn outline" href=on_canvas>"Show on the canvas"</a> }
                    })}
                </div>
                <RunWatch view />
            </div>
        </Shell>
    }
}
