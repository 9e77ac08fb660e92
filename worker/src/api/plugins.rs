//! `/api/plugins`: what plugins there are, and what this machine decided about them. They have no owner: whoever may
//! look sees all of them, and only an admin decides.

use hyper::body::Bytes;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::StatusCode;
use warp::reply::Response;
use weir_shared::wire::{EnablePlugin, TrustPlugin};

use super::Api;
use super::answer::{Answer, json, settle};
use super::ask::{body, caller, read, require, with};
use crate::access::scope::{Caller, Scope};

/// The three routes.
pub(super) fn routes(api: &Api) -> BoxedFilter<(Response,)> {
    let list = warp::path!("api" / "plugins")
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .map(|api: Api, caller: Caller| settle(list(&api, &caller)));
    let trust = warp::path!("api" / "plugins" / String / "trust")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|id: String, api: Api, caller: Caller, body: Bytes| async move {
            settle(trust(&api, &caller, &id, &body).await)
        });
    let enable = warp::path!("api" / "plugins" / String / "enabled")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(body())
        .then(|id: String, api: Api, caller: Caller, body: Bytes| async move {
            settle(enable(&api, &caller, &id, &body).await)
        });
    list.or(trust).unify().or(enable).unify().boxed()
}

fn list(api: &Api, caller: &Caller) -> Answer {
    require(caller, Scope::Read)?;
    json(StatusCode::OK, &api.plugins.list())
}

/// Trusts the folder that the caller has looked at, and no other.
async fn trust(api: &Api, caller: &Caller, id: &str, body: &[u8]) -> Answer {
    require(caller, Scope::Admin)?;
    let TrustPlugin { digest, effects } = read(body)?;
    json(StatusCode::OK, &api.plugins.trust(id, &digest, effects).await?)
}

async fn enable(api: &Api, caller: &Caller, id: &str, body: &[u8]) -> Answer {
    require(caller, Scope::Admin)?;
    let EnablePlugin { enabled } = read(body)?;
    json(StatusCode::OK, &api.plugins.set_enabled(id, enabled).await?)
}
