//! `/api/agent/webhook-triggers`: making, listing and removing webhooks. Whoever owns one sees it, and an admin sees
//! all; only an admin makes, removes or rotates: a webhook lets others start runs.

use warp::http::HeaderMap;
use warp::http::StatusCode;
use warp::http::header::HOST;
use weir_shared::ids::TriggerId;
use weir_shared::webhook::{CreateTrigger, DeliveryList, Trigger, TriggerList, TriggerSecret};
use weir_shared::wire::Done;

use super::Api;
use super::answer::{Answer, json};
use super::ask::read;
use super::problem::ApiError;
use super::query::Query;
use super::refusals::{MODE, NOT_ACTIVE, TRIGGER, UNFIT};
use super::route::{Route, delete, get, of, post, whole};
use crate::access::scope::{Caller, Scope};
use crate::intake::webhook::WebhookSecret;

/// Deliveries of an answer when the caller does not say, and at most.
const DELIVERIES: usize = 20;
const MOST_DELIVERIES: usize = 100;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    let all = "/api/agent/webhook-triggers";
    let id = || ("id", of::<TriggerId>(), "The webhook");
    vec![
        post(all, "createWebhook", "Makes a webhook that starts the active version of a flow")
            .takes(of::<CreateTrigger>())
            .answers(StatusCode::CREATED, of::<TriggerSecret>(), "The webhook, with its secret: it is not told again")
            .refuses(MODE)
            .refuses(NOT_ACTIVE)
            .refuses(UNFIT)
            .refuses(TRIGGER)
            .to(Scope::Admin, |ask| async move { create(&ask.api, ask.caller, (host(&ask.headers), &ask.body)).await }),
        get(all, "listWebhooks", "The webhooks that there are, newest first")
            .answers(StatusCode::OK, of::<TriggerList>(), "The webhooks, without their secrets")
            .to(Scope::Read, |ask| async move { list(&ask.api, &ask.caller) }),
        delete("/api/agent/webhook-triggers/{id}", "removeWebhook", "Removes a webhook: it is dead at once")
            .at(id())
            .answers(StatusCode::OK, of::<Done>(), "It is gone")
            .to(Scope::Admin, |ask| async move { remove(&ask.api, &ask.caller, &ask.at::<String>("id")?).await }),
        post(
            "/api/agent/webhook-triggers/{id}/rotate-secret",
            "rotateWebhookSecret",
            "Replaces the secret of a webhook",
        )
        .at(id())
        .answers(StatusCode::OK, of::<TriggerSecret>(), "The webhook, with its new secret: it is not told again")
        .refuses(TRIGGER)
        .to(Scope::Admin, |ask| async move {
            rotate(&ask.api, &ask.caller, (host(&ask.headers), &ask.at::<String>("id")?)).await
        }),
        get(
            "/api/agent/webhook-triggers/{id}/deliveries",
            "listDeliveries",
            "The calls that a webhook has taken, newest first",
        )
        .at(id())
        .query(("limit", whole(1..=100), "Calls of the answer; 20 when it is not said"))
        .answers(StatusCode::OK, of::<DeliveryList>(), "The calls")
        .to(Scope::Read, |ask| async move { deliveries(&ask.api, &ask.caller, &ask.at::<String>("id")?, &ask.query) }),
    ]
}

/// The name by which the caller reached this worker. The door has seen to it that there is one.
fn host(headers: &HeaderMap) -> &str {
    headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default()
}

async fn create(api: &Api, caller: Caller, (host, body): (&str, &[u8])) -> Answer {
    let asked: CreateTrigger = read(body)?;
    if !caller.may_run_in(asked.permission_mode) {
        return Err(ApiError::PermissionMode { most: caller.most });
    }
    let (trigger, secret) = api.webhooks.create(asked, caller.owner).await?;
    json(StatusCode::CREATED, &with_secret(trigger, secret.as_ref(), host))
}

fn list(api: &Api, caller: &Caller) -> Answer {
    json(StatusCode::OK, &TriggerList { triggers: api.webhooks.list(caller.sees_only().as_ref())? })
}

async fn remove(api: &Api, caller: &Caller, id: &str) -> Answer {
    api.webhooks.remove(id, caller.sees_only().as_ref()).await?;
    json(StatusCode::OK, &Done { ok: true })
}

async fn rotate(api: &Api, caller: &Caller, (host, id): (&str, &str)) -> Answer {
    let (trigger, secret) = api.webhooks.rotate(id, caller.sees_only().as_ref()).await?;
    json(StatusCode::OK, &with_secret(trigger, Some(&secret), host))
}

fn deliveries(api: &Api, caller: &Caller, id: &str, query: &Query) -> Answer {
    let expected = "a number from 1 to 100";
    let limit = query.value::<usize>("limit", expected)?.unwrap_or(DELIVERIES);
    if !(1..=MOST_DELIVERIES).contains(&limit) {
        return Err(ApiError::bad_parameter("limit", &limit.to_string(), expected));
    }
    let deliveries = api.webhooks.deliveries(id, (caller.sees_only().as_ref(), limit))?;
    json(StatusCode::OK, &DeliveryList { deliveries })
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
