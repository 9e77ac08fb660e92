//! The HTTP API and the page: one resource a file, read from here like a table of contents.
//!
//! Only this module knows warp. A request comes in through `serve` (connections) and `door` (who is it, how large is
//! its body), meets its resource, and every error leaves through `problem`.

mod answer;
mod ask;
mod body;
mod door;
mod flow_view;
mod gates;
mod health;
mod hooks;
mod library_events;
mod linger;
mod openapi;
mod output;
mod page;
mod plugins;
mod problem;
mod query;
mod refusals;
mod route;
mod runs;
mod schedules;
pub(crate) mod serve;
mod session;
mod sse;
mod start;
mod stream;
mod table;
mod tasks;
#[cfg(test)]
mod tests;
mod tools;
mod versions;
mod webhooks;
mod workflows;

use std::path::PathBuf;
use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::filters::path::FullPath;
use warp::reply::Response;
use weir_shared::limits::Limits;

pub(crate) use door::{Access, Door, Rules};
pub(crate) use session::Sessions;

use table::{Asked, Table};

use crate::access::scope::Caller;
use crate::assets::Page;
use crate::engine::Runs;
use crate::intake::schedule::Schedules;
use crate::intake::webhook::Webhooks;
use crate::library::Library;
use crate::published::Published;
use crate::secret::Secrets;
use crate::shutdown::ShutdownWatch;
use crate::store::Store;
use crate::tool::Toolbox;
use crate::tool::plugin::Plugins;

/// What the resources are made of.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) access: Arc<Access>,
    pub(crate) page: Arc<Page>,
    pub(crate) worker: Arc<WorkerFacts>,
    pub(crate) store: Store,
    pub(crate) library: Library,
    pub(crate) published: Published,
    pub(crate) runs: Runs,
    pub(crate) toolbox: Toolbox,
    pub(crate) plugins: Plugins,
    pub(crate) webhooks: Webhooks,
    pub(crate) schedules: Schedules,
    pub(crate) limits: Limits,
    pub(crate) secrets: Secrets,
    /// The state directory, where runs keep their files.
    pub(crate) state: PathBuf,
    pub(crate) shutdown: ShutdownWatch,
}

/// What the worker says about itself.
#[derive(Debug)]
pub(crate) struct WorkerFacts {
    pub(crate) id: String,
    pub(crate) flows: PathBuf,
}

/// Every route, by resource: what answers, and what `/api/openapi.json` describes. The order does not matter but to a
/// reader of the description.
fn table() -> Table {
    Table::of(vec![
        ("health", health::routes()),
        ("session", session::routes()),
        ("flows", workflows::routes()),
        ("flows", library_events::routes()),
        ("flows", versions::routes()),
        ("flows", start::routes()),
        ("runs", stream::routes()),
        ("runs", gates::routes()),
        ("runs", runs::routes()),
        ("runs", output::routes()),
        ("tasks", tasks::routes()),
        ("webhooks", webhooks::routes()),
        ("webhooks", hooks::routes()),
        ("schedules", schedules::routes()),
        ("tools", tools::routes()),
        ("plugins", plugins::routes()),
        ("description", openapi::routes()),
    ])
}

/// Everything behind the door: the table, the page at every address outside `/api`, and what there is not.
pub(crate) fn routes(api: &Api) -> BoxedFilter<(Response,)> {
    let table = Arc::new(table());
    let page = page::routes(api.page.clone());
    let api = api.clone();
    warp::method()
        .and(warp::path::full())
        .and(warp::query())
        .and(warp::header::headers_cloned())
        .and(warp::ext::optional::<Caller>())
        .and(warp::body::bytes())
        .and_then(move |method, path: FullPath, query, headers, caller, body| {
            let (table, api) = (table.clone(), api.clone());
            let asked = Asked { method, path: path.as_str().to_owned(), query, headers, caller, body };
            async move { table.answer(api, asked).await.ok_or_else(warp::reject::not_found) }
        })
        .or(page)
        .unify()
        .recover(problem::of_rejection)
        .unify()
        .boxed()
}
