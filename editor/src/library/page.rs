//! `/`: the library.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_navigate;
use weir_shared::flow::Flow;
use weir_shared::limits::NAME_CHARS;
use weir_shared::wire::FlowSummary;

use super::card::{CardVerbs, FlowCard};
use super::dialogs::{DeleteDialog, NewFlowDialog};
use super::order::{Order, shown};
use super::shelf::{Shelf, ShelfHandle};
use crate::backend::answer::CallError;
use crate::backend::api::Api;
use crate::shell::Shell;
use crate::ui::button::{Button, Weight};
use crate::ui::choice::{Choice, Select};
use crate::ui::empty::Empty;
use crate::ui::icon::Glyph;
use crate::ui::readout::ticking;
use crate::ui::text::SearchBox;
use crate::ui::toast::Toasts;

/// The list of flows.
#[component]
pub(crate) fn LibraryPage() -> impl IntoView {
    let library = ShelfHandle::open();
    let (api, toasts) = (Api::from_context(), Toasts::from_context());
    let navigate = StoredValue::new_local(use_navigate());
    let go =
        move |path: String| navigate.with_value(|navigate| navigate(&path, leptos_router::NavigateOptions::default()));
    let search = RwSignal::new(String::new());
    let order = RwSignal::new(Order::default());
    let naming = RwSignal::new(false);
    let (deleting, doomed) = (RwSignal::new(false), RwSignal::new(None::<FlowSummary>));
    let now = ticking(Duration::from_secs(5));

    let create = Callback::new(move |(name,): (String,)| {
        spawn_local(async move {
            match api.create_flow(&Flow::new(&name)).await {
                Ok(made) => go(format!("/flows/{}", made.id)),
                Err(error) => toasts.fail(error.message()),
            }
        });
    });
    let duplicate = Callback::new(move |(flow,): (FlowSummary,)| {
        spawn_local(async move {
            match copy(api, &flow).await {
                Ok(name) => {
                    toasts.say(format!("“{name}” is a copy of “{}”.", flow.name));
                    library.refresh();
                }
                Err(why) => toasts.fail(why),
            }
        });
    });
    let delete = Callback::new(move |(flow,): (FlowSummary,)| {
        spawn_local(async move {
            match api.delete_flow(&flow.id, &flow.revision).await {
                Ok(_) => {
                    toasts.say(format!("“{}” is deleted.", flow.name));
                    library.refresh();
                }
                Err(error) => toasts.fail(error.message()),
            }
        });
    });
    let verbs = CardVerbs {
        open: Callback::new(move |(flow,): (FlowSummary,)| go(format!("/flows/{}", flow.id))),
        duplicate,
        delete: Callback::new(move |(flow,)| {
            doomed.set(Some(flow));
            deleting.set(true);
        }),
    };

    let cards = Memo::new(move |_| {
        library.shelf.with(|shelf| match shelf {
            Shelf::Loaded(flows) => search.with(|search| shown(flows, search, order.get())),
            Shelf::Loading | Shelf::Failed(_) => Vec::new(),
        })
    });
    let orders = Order::ALL.into_iter().map(|order| Choice::new(order.word(), order.words())).collect::<Vec<_>>();
    view! {
        <Shell>
            <div class="page-top">
                <h1>"Flows"</h1>
                <span class="push"></span>
                <SearchBox name="Search flows" value=search on_input=move |typed| search.set(typed) />
                <div class="order-select">
                    <Select id="order" name="Order of the flows".to_owned() value=Signal::derive(move || order.get().word().to_owned())
                        choices=orders
                        on_change=move |word: String| {
                            if let Some(chosen) = Order::of_word(&word) {
                                order.set(chosen);
                            }
                        } />
                </div>
                <Button weight=Weight::Primary glyph=Glyph::Plus on_press=move || naming.set(true)>"New flow"</Button>
            </div>
            <div class="flow-grid">
                <For each=move || cards.get() key=|flow| serde_json::to_string(flow).unwrap_or_default() let(flow)>
                    <FlowCard flow now catalog=library.catalog.into() verbs />
                </For>
            </div>
            {move || match library.shelf.get() {
                Shelf::Loading => view! { <p class="faint">"Reading the flow directory…"</p> }.into_any(),
                Shelf::Failed(why) => {
                    view! {
                        <Empty glyph=Glyph::Alert title="The flows cannot be listed" text=why>
                            <Button weight=Weight::Outline glyph=Glyph::Reload on_press=move || library.refresh()>"Try again"</Button>
                        </Empty>
                    }
                        .into_any()
                }
                Shelf::Loaded(flows) if flows.is_empty() => {
                    view! {
                        <Empty glyph=Glyph::Sitemap title="No flows yet"
                            text="A flow is a file of tools and the order they run in. Draw one here, or put a .flow.json into the flow directory: it shows at once.">
                            <Button weight=Weight::Primary glyph=Glyph::Plus on_press=move || naming.set(true)>"New flow"</Button>
                        </Empty>
                    }
                        .into_any()
                }
                Shelf::Loaded(_) if cards.with(Vec::is_empty) => {
                    view! {
                        <Empty glyph=Glyph::Search title="Nothing matches" text="No flow has all of these words in its name or description.">
                            <Button weight=Weight::Outline on_press=move || search.set(String::new())>"Clear the search"</Button>
                        </Empty>
                    }
                        .into_any()
                }
                Shelf::Loaded(_) => ().into_any(),
            }}
            <NewFlowDialog open=naming on_name=create />
            <DeleteDialog open=deleting flow=doomed on_delete=delete />
        </Shell>
    }
}

/// Keeps a copy of a flow under a new name; gives that name, or why there is none.
async fn copy(api: Api, flow: &FlowSummary) -> Result<String, String> {
    let view = api.flow(&flow.id).await.map_err(|error: CallError| error.message())?;
    let mut copied = view.flow.ok_or_else(|| format!("“{}” cannot be copied: its file is not readable.", flow.name))?;
    let stem: String = copied.name.chars().take(NAME_CHARS - 7).collect();
    copied.name = format!("{stem} (copy)");
    let made = api.create_flow(&copied).await.map_err(|error| error.message())?;
    Ok(made.flow.map_or(copied.name, |flow| flow.name))
}
