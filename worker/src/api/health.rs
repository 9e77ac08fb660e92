//! `GET /api/health`: whether the worker is up. Open to everybody, and says no more than that.

use warp::http::StatusCode;
use weir_shared::wire::Health;

use super::answer::json;
use super::route::{Route, get, of};

/// The worker listens only once flows are loaded and recovery is done, so whoever gets an answer gets `ok`.
pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/api/health", "showHealth", "Whether the worker is up; open to everybody")
            .answers(StatusCode::OK, of::<Health>(), "It is: flows are loaded, and recovery is done")
            .for_everybody(|_| async {
                let health = Health { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
                json(StatusCode::OK, &health)
            }),
    ]
}
