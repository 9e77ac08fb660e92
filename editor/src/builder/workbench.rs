//! The panels around the canvas, and what they share.

use std::sync::Arc;

use leptos::ev;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use weir_shared::ids::{FlowId, RunId};
use weir_shared::tool::Catalog;

use super::clipboard;
use super::compare::Compare;
use super::conflict::ConflictBar;
use super::findings::FindingsPanel;
use super::keys::listen;
use super::recovered::Recovered;
use super::shortcuts::Shortcuts;
use super::toolbar::Toolbar;
use crate::backend::api::Api;
use crate::canvas::surface::Surface;
use crate::inspector::Inspector;
use crate::palette::Palette;
use crate::runs::dialog::RunDialog;
use crate::runs::panel::RunPanel;
use crate::state::builder::Builder;
use crate::state::drafts::{self, Draft};
use crate::state::local;
use crate::state::stage::Stage;
use crate::ui::dialog::Dialog;
use crate::webhooks::section::Webhooks;

/// One flow on the bench.
#[component]
pub(crate) fn Workbench(id: FlowId, draft: Draft, catalog: Arc<Catalog>) -> impl IntoView {
    let builder = Builder::new(id, draft, catalog);
    provide_context(builder);
    // A run of the past, named in the address, is shown like one that was just started.
    let named = use_query_map().with_untracked(|query| query.get("run"));
    builder.run.set(named.and_then(|run| run.parse::<RunId>().ok()));
    let stage = Stage::new(builder);
    provide_context(stage);
    let sheet = RwSignal::new(false);
    listen(stage, sheet);
    clipboard::listen(stage);
    builder.follow_file(Api::from_context());
    local::keep(builder);
    on_cleanup(move || builder.keep_draft());
    let leaving = window_event_listener(ev::beforeunload, move |event| {
        if builder.is_dirty_untracked() || drafts::any() {
            event.prevent_default();
        }
    });
    on_cleanup(move || leaving.remove());
    let comparing = RwSignal::new(false);
    let findings_open = RwSignal::new(false);
    let webhooks_open = RwSignal::new(false);
    view! {
        <div class="builder">
            <Toolbar findings_open webhooks_open />
            <Palette stage />
            <Surface stage on_help=move || sheet.set(true) />
            <ConflictBar comparing />
            <Compare open=comparing />
            <Recovered />
            <FindingsPanel open=findings_open />
            <div class="inspector-dock">
                <Inspector />
            </div>
            <section class="run-dock" aria-label="Run">
                <RunPanel />
            </section>
            <RunDialog />
            <Dialog open=webhooks_open title="Webhooks">
                <div class="dialog-body">
                    <Webhooks id=builder.id inputs=Signal::derive(move || builder.flow.with(|flow| flow.inputs.clone())) />
                </div>
            </Dialog>
            <Shortcuts open=sheet />
        </div>
    }
}
