//! `GET /api/health`: whether the worker is up. Open to everybody, and says no more than that.

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::StatusCode;
use warp::reply::Response;
use weir_shared::wire::Health;

use super::answer::{json, settle};

/// The worker listens only once flows are loaded and recovery is done, so whoever gets an answer gets `ok`.
pub(super) fn routes() -> BoxedFilter<(Response,)> {
    warp::path!("api" / "health")
        .and(warp::get())
        .map(|| {
            let health = Health { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
            settle(json(StatusCode::OK, &health))
        })
        .boxed()
}
