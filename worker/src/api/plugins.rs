//! `/api/plugins`: what plugins there are, and what this machine decided about them. They have no owner: whoever may
//! look sees all of them, and only an admin decides.

use warp::http::StatusCode;
use weir_shared::wire::{EnablePlugin, PluginView, TrustPlugin};

use super::Api;
use super::answer::{Answer, json};
use super::ask::read;
use super::refusals::PLUGIN;
use super::route::{Route, get, list_of, of, post, text};
use crate::access::scope::Scope;

/// The three routes.
pub(super) fn routes() -> Vec<Route> {
    let id = || ("id", text(), "The name of the plugin's folder");
    vec![
        get("/api/plugins", "listPlugins", "What plugins there are, trusted or not")
            .answers(StatusCode::OK, list_of::<PluginView>(), "The plugins")
            .to(Scope::Read, |ask| async move { json(StatusCode::OK, &ask.api.plugins.list()) }),
        post("/api/plugins/{id}/trust", "trustPlugin", "Trusts the folder that the caller has looked at, and no other")
            .at(id())
            .takes(of::<TrustPlugin>())
            .answers(StatusCode::OK, of::<PluginView>(), "The plugin as it is now")
            .refuses(PLUGIN)
            .to(Scope::Admin, |ask| async move { trust(&ask.api, &ask.at::<String>("id")?, &ask.body).await }),
        post("/api/plugins/{id}/enabled", "enablePlugin", "Whether a plugin offers its tools")
            .at(id())
            .takes(of::<EnablePlugin>())
            .answers(StatusCode::OK, of::<PluginView>(), "The plugin as it is now")
            .refuses(PLUGIN)
            .to(Scope::Admin, |ask| async move { enable(&ask.api, &ask.at::<String>("id")?, &ask.body).await }),
    ]
}

/// Trusts the folder that the caller has looked at, and no other.
async fn trust(api: &Api, id: &str, body: &[u8]) -> Answer {
    let TrustPlugin { digest, effects } = read(body)?;
    json(StatusCode::OK, &api.plugins.trust(id, &digest, effects).await?)
}

async fn enable(api: &Api, id: &str, body: &[u8]) -> Answer {
    let EnablePlugin { enabled } = read(body)?;
    json(StatusCode::OK, &api.plugins.set_enabled(id, enabled).await?)
}
