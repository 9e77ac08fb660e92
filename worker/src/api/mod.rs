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
mod output;
mod page;
mod plugins;
mod problem;
mod query;
mod runs;
mod schedules;
pub(crate) mod serve;
mod session;
mod sse;
mod start;
mod stream;
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
use warp::reply::Response;
use weir_shared::limits::Limits;

pub(crate) use door::{Access, Door, Rules};
pub(crate) use session::Sessions;

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

/// Every route. The order does not matter: each matches its whole path, then its method.
pub(crate) fn routes(api: &Api) -> BoxedFilter<(Response,)> {
    let resources = [
        health::routes(),
        session::routes(api),
        workflows::routes(api),
        library_events::routes(api),
        versions::routes(api),
        start::routes(api),
        stream::routes(api),
        gates::routes(api),
        runs::routes(api),
        output::routes(api),
        tasks::routes(api),
        webhooks::routes(api),
        schedules::routes(api),
        tools::routes(api),
        plugins::routes(api),
        page::routes(api.page.clone()),
    ];
    let nothing = warp::any().and_then(|| std::future::ready(Err(warp::reject::not_found()))).boxed();
    let all = resources.into_iter().fold(nothing, |before, resource| before.or(resource).unify().boxed());
    all.recover(problem::of_rejection).unify().boxed()
}
