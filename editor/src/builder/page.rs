//! `/flows/{id}`: loads the flow and the tools, and opens the workbench on them. Another id opens another one.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_params_map;
use weir_shared::ids::FlowId;
use weir_shared::layout::tidy;
use weir_shared::tool::Catalog;
use weir_shared::wire::FlowView;

use super::unreadable::Unreadable;
use super::workbench::Workbench;
use crate::backend::answer::CallError;
use crate::backend::api::Api;
use crate::model::document::Document;
use crate::state::drafts::{self, Draft};
use crate::ui::empty::Empty;
use crate::ui::icon::Glyph;
use crate::ui::toast::Toasts;

/// How far the page is with a flow.
#[derive(Debug, Clone)]
enum Loaded {
    Waiting,
    Failed(CallError),
    NoSuchId(String),
    Unreadable(Box<FlowView>),
    Flow { id: FlowId, draft: Box<Draft>, catalog: Arc<Catalog> },
}

/// The page.
#[component]
pub(crate) fn BuilderPage() -> impl IntoView {
    let params = use_params_map();
    let wanted = Memo::new(move |_| params.with(|params| params.get("id").unwrap_or_default()));
    let loaded = RwSignal::new(Loaded::Waiting);
    let api = Api::from_context();
    let toasts = Toasts::from_context();
    let load = move || {
        let text = wanted.get();
        let Ok(id) = text.parse::<FlowId>() else {
            loaded.set(Loaded::NoSuchId(text));
            return;
        };
        loaded.set(Loaded::Waiting);
        spawn_local(async move {
            let found = open(api, toasts, id).await;
            // Another flow may have been asked for while this one was on its way.
            if wanted.try_get_untracked() == Some(text) {
                loaded.try_set(found);
            }
        });
    };
    Effect::new(move |_| load());
    move || match loaded.get() {
        Loaded::Waiting => view! { <p class="builder-wait" role="status">"Opening…"</p> }.into_any(),
        Loaded::Failed(error) => view! {
            <Empty glyph=Glyph::Alert title="The flow could not be opened" text=error.message()>
                <a class="btn outline" href="/">"All flows"</a>
            </Empty>
        }
        .into_any(),
        Loaded::NoSuchId(text) => view! {
            <Empty glyph=Glyph::Search title="There is no such flow"
                text=format!("`{text}` cannot be the id of a flow.")>
                <a class="btn outline" href="/">"All flows"</a>
            </Empty>
        }
        .into_any(),
        Loaded::Unreadable(found) => view! { <Unreadable found=*found /> }.into_any(),
        Loaded::Flow { id, draft, catalog } => view! { <Workbench id draft=*draft catalog /> }.into_any(),
    }
}

async fn open(api: Api, toasts: Toasts, id: FlowId) -> Loaded {
    let tools = match api.tools().await {
        Ok(tools) => tools,
        Err(error) => return Loaded::Failed(error),
    };
    let catalog = Arc::new(Catalog::new(tools));
    if let Some(draft) = drafts::take(&id) {
        toasts.say("Your unsaved changes are still here.");
        return Loaded::Flow { id, draft: Box::new(draft), catalog };
    }
    let found = match api.flow(&id).await {
        Ok(found) => found,
        Err(error) => return Loaded::Failed(error),
    };
    // A file that was broken since it was last read shows its text; saving the last good flow would hide that.
    match (found.flow.clone(), found.text.is_some()) {
        (Some(flow), false) => {
            let places = tidy(&flow);
            let document = Document::open(flow, &places);
            let draft = Draft { document, revision: found.revision };
            Loaded::Flow { id, draft: Box::new(draft), catalog }
        }
        (Some(_) | None, _) => Loaded::Unreadable(Box::new(found)),
    }
}
