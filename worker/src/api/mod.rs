//! The HTTP API and the page: one resource a file, read from here like a table of contents.
//!
//! Only this module knows warp. A request comes in through `serve` (connections) and `door` (who is it, how large is
//! its body), meets its resource, and every error leaves through `problem`.

mod answer;
mod ask;
mod body;
mod door;
mod health;
mod page;
mod problem;
mod query;
pub(crate) mod serve;
mod session;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

pub(crate) use door::{Access, Door};
pub(crate) use session::Sessions;

use crate::assets::Page;

/// What the resources are made of.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) access: Arc<Access>,
    pub(crate) page: Arc<Page>,
    pub(crate) worker: Arc<WorkerFacts>,
}

/// What the worker says about itself.
#[derive(Debug)]
pub(crate) struct WorkerFacts {
    pub(crate) id: String,
    pub(crate) flows: PathBuf,
}

/// Every route. The order does not matter: each matches its whole path, then its method.
pub(crate) fn routes(api: &Api) -> BoxedFilter<(Response,)> {
    health::routes()
        .or(session::routes(api))
        .unify()
        .or(page::routes(api.page.clone()))
        .unify()
        .recover(problem::of_rejection)
        .unify()
        .boxed()
}
