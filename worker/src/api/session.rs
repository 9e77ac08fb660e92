//! Sessions: a page trades the token for a cookie that scripts cannot read, and gives it back.

use std::time::Instant;

use warp::http::header::{COOKIE, HeaderValue, SET_COOKIE};
use warp::http::{HeaderMap, StatusCode};
use warp::reply::Response;
use weir_shared::ids::Timestamp;
use weir_shared::wire::{OpenSession, Session, SessionCode};

use super::Api;
use super::answer::{Answer, empty, json};
use super::ask::read;
use super::problem::ApiError;
use super::refusals::NO_CREDENTIAL;
use super::route::{Route, delete, get, of, post};
use crate::access::code::CODE_LIFE;
use crate::access::entry::Refusal;
use crate::access::scope::{Caller, Scope};
use crate::access::session::{SESSION_LIFE, SessionSecret};
use crate::access::token::{OpenedBy, SECRET_BYTES, hexadecimal};
use crate::clock::Clock;
use crate::store::{SessionRecord, Store, StoreError};

/// The sessions of this worker: digests in the store.
#[derive(Debug, Clone)]
pub(crate) struct Sessions {
    store: Store,
    clock: Clock,
}

impl Sessions {
    /// The sessions in this store.
    pub(crate) fn in_store(store: Store, clock: Clock) -> Self {
        Self { store, clock }
    }

    /// The session of this digest, while it lasts. A store that cannot be read has none.
    pub(super) fn find(&self, digest: &[u8; 32]) -> Option<SessionRecord> {
        let record = self.store.session(digest, self.clock.now()).inspect_err(|error| {
            tracing::warn!(%error, "sessions cannot be read");
        });
        record.ok()?
    }

    async fn open(&self, opened_by: OpenedBy) -> Result<SessionSecret, ApiError> {
        let mut random = [0; SECRET_BYTES];
        getrandom::fill(&mut random).map_err(|error| ApiError::Internal { reason: error.to_string() })?;
        let secret = SessionSecret::of(&random);
        let now = self.clock.now();
        let life = i64::try_from(SESSION_LIFE.as_millis()).unwrap_or(i64::MAX);
        let record = SessionRecord { opened_by, expires_at: Timestamp(now.0.saturating_add(life)) };
        self.store.put_session(secret.digest(), record, now).await?;
        Ok(secret)
    }

    async fn close(&self, secret: &SessionSecret) -> Result<(), StoreError> {
        self.store.drop_session(secret.digest()).await
    }
}

/// `POST`, `GET` and `DELETE /api/session`, and `POST /api/session/code`.
pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/api/session", "openSession", "Trades a token, or a code, for a session: the answer sets its cookie")
            .takes(of::<OpenSession>())
            .answers(StatusCode::OK, of::<Session>(), "Who the caller is now")
            .refuses(NO_CREDENTIAL)
            .for_everybody(|ask| async move { open(&ask.api, &ask.body).await }),
        get("/api/session", "showSession", "Who the caller is, and what this worker is")
            .answers(StatusCode::OK, of::<Session>(), "The caller and the worker")
            .to(Scope::Read, |ask| async move { json(StatusCode::OK, &view(&ask.api, &ask.caller)) }),
        delete("/api/session", "closeSession", "Ends the session that the request rests on, if it does")
            .answers_nothing(StatusCode::NO_CONTENT, "There is no such session any more")
            .to(Scope::Read, |ask| async move { close(&ask.api, &ask.headers).await }),
        post("/api/session/code", "makeSessionCode", "A code that opens one session in the token's place")
            .answers(StatusCode::CREATED, of::<SessionCode>(), "The code, good for a minute")
            .to(Scope::Admin, |ask| async move { new_code(&ask.api, &ask.caller) }),
    ]
}

async fn open(api: &Api, body: &[u8]) -> Answer {
    let OpenSession { token } = read(body)?;
    let token = token.trim();
    let caller =
        api.access.caller_of(token).or_else(|| api.access.caller_on(api.access.codes.spend(token, Instant::now())?));
    let caller = caller.ok_or(Refusal::NoCredential)?;
    let secret = api.access.sessions.open(caller.by).await?;
    let mut response = json(StatusCode::OK, &view(api, &caller))?;
    set_cookie(&mut response, &api.access.cookie.open(&secret))?;
    Ok(response)
}

/// A code that opens one session of the caller's own.
fn new_code(api: &Api, caller: &Caller) -> Answer {
    let mut random = [0; SECRET_BYTES];
    getrandom::fill(&mut random).map_err(|error| ApiError::Internal { reason: error.to_string() })?;
    let code = hexadecimal(&random);
    api.access.codes.admit(&code, caller.by, Instant::now());
    json(StatusCode::CREATED, &SessionCode { code, expires_in_seconds: CODE_LIFE.as_secs() })
}

fn view(api: &Api, caller: &Caller) -> Session {
    Session {
        owner: caller.owner.0.clone(),
        scope: caller.scope.as_str().to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        worker_id: api.worker.id.clone(),
        flows_directory: api.worker.flows.display().to_string(),
    }
}

async fn close(api: &Api, headers: &HeaderMap) -> Answer {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    if let Some(secret) = api.access.cookie.find(cookies) {
        api.access.sessions.close(&secret).await?;
    }
    let mut response = empty(StatusCode::NO_CONTENT);
    set_cookie(&mut response, &api.access.cookie.close())?;
    Ok(response)
}

fn set_cookie(response: &mut Response, cookie: &str) -> Result<(), ApiError> {
    let value = HeaderValue::from_str(cookie).map_err(|error| ApiError::Internal { reason: error.to_string() })?;
    response.headers_mut().append(SET_COOKIE, value);
    Ok(())
}
