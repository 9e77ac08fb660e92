//! `/api/agent/webhook-triggers`: making, listing and removing webhooks. Whoever owns one sees it, and an admin sees
//! all; only an admin makes, removes or rotates: a webhook lets others start runs.

use hyper::body::Bytes;
use serde_json::json;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::StatusCode;
use warp::reply::Response;
use weir_shared::webhook::{CreateTrigger, DeliveryList, Trigger, TriggerList, TriggerSecret};

use super::Api;
use super::answer::{Answer, json as answer, settle};
use super::ask::{body, caller, query, read, require, with};
use super::problem::ApiError;
use super::query::Query;
use crate::access::scope::{Caller, Scope};
use crate::intake::webhook::WebhookSecret;

/// Deliveries of an answer when the caller does not say, and at most.
const DELIVERIES: usize = 20;
const MOST_DELIVERIES: usize = 100;

/// The routes.
pub(super) fn routes(api: &Api) -> BoxedFilter<(Response,)> {
    let create = warp::path!("api" / "agent" / "webhook-triggers")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(warp::header::<String>("host"))
        .and(body())
        .then(|api: Api, caller: Caller, host: String, body: Bytes| async move {
            settle(create(&api, caller, (&host, &body)).await)
        });
    let list = warp::path!("api" / "agent" / "webhook-triggers")
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .map(|api: Api, caller: Caller| settle(list(&api, &caller)));
    let remove = warp::path!("api" / "agent" / "webhook-triggers" / String)
        .and(warp::delete())
        .and(with(api))
        .and(caller())
        .then(|id: String, api: Api, caller: Caller| async move { settle(remove(&api, &caller, &id).await) });
    let rotate = warp::path!("api" / "agent" / "webhook-triggers" / String / "rotate-secret")
        .and(warp::post())
        .and(with(api))
        .and(caller())
        .and(warp::header::<String>("host"))
        .then(|id: String, api: Api, caller: Caller, host: String| async move {
            settle(rotate(&api, &caller, (&host, &id)).await)
        });
    let deliveries = warp::path!("api" / "agent" / "webhook-triggers" / String / "deliveries")
        .and(warp::get())
        .and(with(api))
        .and(caller())
        .and(query())
        .map(|id: String, api: Api, caller: Caller, query| settle(deliveries(&api, &caller, &id, query)));
    create.or(list).unify().or(remove).unify().or(rotate).unify().or(deliveries).unify().boxed()
}

async fn create(api: &Api, caller: Caller, (host, body): (&str, &[u8])) -> Answer {
    require(&caller, Scope::Admin)?;
    let asked: CreateTrigger = read(body)?;
    if !caller.may_run_in(asked.permission_mode) {
        return Err(ApiError::PermissionMode { most: caller.most });
    }
    let (trigger, secret) = api.webhooks.create(asked, caller.owner).await?;
    answer(StatusCode::CREATED, &with_secret(trigger, secret.as_ref(), host))
}

fn list(api: &Api, caller: &Caller) -> Answer {
    require(caller, Scope::Read)?;
    answer(StatusCode::OK, &TriggerList { triggers: api.webhooks.list(caller.sees_only().as_ref())? })
}

async fn remove(api: &Api, caller: &Caller, id: &str) -> Answer {
    require(caller, Scope::Admin)?;
    api.webhooks.remove(id, caller.sees_only().as_ref()).await?;
    answer(StatusCode::OK, &json!({ "ok": true }))
}

async fn rotate(api: &Api, caller: &Caller, (host, id): (&str, &str)) -> Answer {
    require(caller, Scope::Admin)?;
    let (trigger, secret) = api.webhooks.rotate(id, caller.sees_only().as_ref()).await?;
    answer(StatusCode::OK, &with_secret(trigger, Some(&secret), host))
}

fn deliveries(api: &Api, caller: &Caller, id: &str, query: Vec<(String, String)>) -> Answer {
    require(caller, Scope::Read)?;
    let expected = "a number from 1 to 100";
    let limit = Query::of(query, &["limit"])?.value::<usize>("limit", expected)?.unwrap_or(DELIVERIES);
    if !(1..=MOST_DELIVERIES).contains(&limit) {
        return Err(ApiError::bad_parameter("limit", &limit.to_string(), expected));
    }
    let deliveries = api.webhooks.deliveries(id, (caller.sees_only().as_ref(), limit))?;
    answer(StatusCode::OK, &DeliveryList { deliveries })
}

/// The one answer that holds a secret. The address is the name by which the caller reached this worker.
fn with_secret(trigger: Trigger, secret: Option<&WebhookSecret>, host: &str) -> TriggerSecret {
    let url = format!("http://{host}{}", trigger.path);
    let secret = secret.map(|secret| secret.reveal().to_owned());
    let curl = trigger.secret_header.as_ref().zip(secret.as_ref()).map(|(header, secret)| {
        format!("curl -X POST '{url}' -H '{header}: {secret}' -H 'Content-Type: application/json' -d '{{}}'")
    });
    TriggerSecret { trigger, secret, url, curl }
}
