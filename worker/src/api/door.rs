//! The door: one service around all routes. It asks `access` who a request is, bounds its body, and puts the headers
//! on every answer that keep a browser from doing more than the page needs.
//!
//! It stands around the routes and not among them: a refusal must come before the question whether a path exists.
//! Calls of webhooks have a door of their own (`hooks`), to which this one shows them once their Host is right.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::Full;
use hyper::body::{Body, Bytes};
use tower_service::Service;
use warp::http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HOST, HeaderName, HeaderValue, ORIGIN,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use warp::http::request::Parts;
use warp::http::{HeaderMap, Method, Request, StatusCode};
use warp::reply::Response;
use weir_shared::wire::TOKEN_HEADER;

use super::answer::empty;
use super::body;
use super::hooks;
use super::problem::{ApiError, refuse};
use super::session::Sessions;
use crate::access::code::Codes;
use crate::access::entry::{Approach, Credential, Head, admit, approach, check_name};
use crate::access::named::NamedTokens;
use crate::access::origin::{Names, OriginStanding};
use crate::access::scope::Caller;
use crate::access::session::SessionCookie;
use crate::access::token::{OpenedBy, Token};
use crate::intake::webhook::Webhooks;
use crate::live::Live;

/// Scripts and styles from the worker alone, none inline; WASM may be compiled; nobody may frame the page.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
     img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// What the door goes by.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) rules: Live<Rules>,
    pub(crate) cookie: SessionCookie,
    pub(crate) token: Token,
    /// What may open a session in the token's place.
    pub(crate) codes: Codes,
    pub(crate) sessions: Sessions,
}

/// What of it may change while the worker runs, all at once.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) names: Names,
    pub(crate) tokens: NamedTokens,
}

impl Access {
    /// Whom a token lets in.
    pub(super) fn caller_of(&self, token: &str) -> Option<Caller> {
        if self.token.matches(token) { Some(Caller::local()) } else { self.rules.get().tokens.caller_of(token) }
    }

    /// Whom something lets in that stands on this token, while there is the token.
    pub(super) fn caller_on(&self, token: OpenedBy) -> Option<Caller> {
        match token {
            OpenedBy::Local => Some(Caller::local()),
            OpenedBy::Named(digest) => self.rules.get().tokens.caller(&digest),
        }
    }

    fn known(&self, credential: &Credential) -> Option<Caller> {
        match credential {
            Credential::Token(token) => self.caller_of(token),
            Credential::Session(secret) => self.caller_on(self.sessions.find(&secret.digest())?.opened_by),
            Credential::Nothing => None,
        }
    }
}

/// The service around the routes.
#[derive(Clone)]
pub(crate) struct Door<S> {
    access: Arc<Access>,
    webhooks: Webhooks,
    routes: S,
}

impl<S> Door<S> {
    /// A door before these routes.
    pub(crate) fn new(access: Arc<Access>, webhooks: Webhooks, routes: S) -> Self {
        Self { access, webhooks, routes }
    }
}

impl<S, B> Service<Request<B>> for Door<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (access, webhooks, routes) = (self.access.clone(), self.webhooks.clone(), self.routes.clone());
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let rules = access.rules.get();
            if let Some(trigger) = hooks::trigger_of(&parts) {
                let mut response = match check_name(&head_of(&parts), &rules.names) {
                    Ok(()) => hooks::receive(&webhooks, trigger, &parts, body).await,
                    Err(refusal) => turn_away(&parts, body, &refusal.into()).await,
                };
                guard(response.headers_mut(), true);
                return Ok(response);
            }
            let approach = approach(&head_of(&parts), &rules.names, &access.cookie);
            let origin = approach.as_ref().map_or(OriginStanding::Absent, |approach| approach.origin.clone());
            let is_api = parts.uri.path().starts_with("/api");
            let mut response = match approach {
                Ok(approach) => pass(&access, &approach, routes, parts, body).await,
                Err(refusal) => turn_away(&parts, body, &refusal.into()).await,
            };
            guard(response.headers_mut(), is_api);
            allow_origin(response.headers_mut(), &origin);
            Ok(response)
        })
    }
}

/// Lets a request in whose name and origin are known, or not.
async fn pass<S, B>(access: &Access, approach: &Approach, mut routes: S, mut parts: Parts, body: B) -> Response
where
    S: Service<Request<Full<Bytes>>, Response = Response, Error = Infallible> + Send,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + Unpin,
{
    let caller = match admit(&head_of(&parts), approach, access.known(&approach.credential)) {
        Ok(caller) => caller,
        Err(refusal) => return turn_away(&parts, body, &refusal.into()).await,
    };
    if let Some(answer) = preflight(&parts, &approach.origin) {
        return answer;
    }
    let bytes = match body::read(&parts.headers, body, body::limit_of(parts.uri.path())).await {
        Ok(bytes) => bytes,
        Err(error) => return refuse(&error),
    };
    if let Some(caller) = caller {
        parts.extensions.insert(caller);
    }
    // The connection drops the body of an answer to HEAD by itself.
    if parts.method == Method::HEAD {
        parts.method = Method::GET;
    }
    match routes.call(Request::from_parts(parts, Full::new(bytes))).await {
        Ok(response) => response,
    }
}

async fn turn_away<B>(parts: &Parts, mut body: B, error: &ApiError) -> Response
where
    B: Body<Data = Bytes> + Unpin,
{
    body::drain(&parts.headers, &mut body).await;
    refuse(error)
}

/// A header that is not text cannot be right: it is read as one that matches nothing.
fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or("\u{fffd}")
}

fn head_of(parts: &Parts) -> Head<'_> {
    let header = |name: &str| parts.headers.get(name).map(text);
    Head {
        method: parts.method.as_str(),
        path: parts.uri.path(),
        query: parts.uri.query().unwrap_or_default(),
        authority: parts.uri.authority().map(warp::http::uri::Authority::as_str),
        hosts: parts.headers.get_all(HOST).iter().map(text).collect(),
        origin: header(ORIGIN.as_str()),
        fetch_site: header("sec-fetch-site"),
        content_type: header(CONTENT_TYPE.as_str()),
        token: header(TOKEN_HEADER),
        authorization: header(AUTHORIZATION.as_str()),
        cookies: parts.headers.get_all(COOKIE).iter().map(text).collect(),
    }
}

/// A browser's question before its question, from a page that may ask.
fn preflight(parts: &Parts, origin: &OriginStanding) -> Option<Response> {
    let asks = parts.method == Method::OPTIONS && parts.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    match origin {
        OriginStanding::Allowed(_) if asks => {
            let mut response = empty(StatusCode::NO_CONTENT);
            let headers = response.headers_mut();
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE"));
            headers.insert(
                ACCESS_CONTROL_ALLOW_HEADERS,
                HeaderValue::from_static("authorization, content-type, if-match, last-event-id, x-weir-token"),
            );
            headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
            Some(response)
        }
        OriginStanding::Absent | OriginStanding::Same | OriginStanding::Allowed(_) | OriginStanding::Foreign => None,
    }
}

/// Puts on every answer what keeps a browser in bounds. What the API says is nobody's to keep.
fn guard(headers: &mut HeaderMap, is_api: bool) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin"));
    if is_api && !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// Tells the browser of an allowed page that it may read the answer.
fn allow_origin(headers: &mut HeaderMap, origin: &OriginStanding) {
    let OriginStanding::Allowed(origin) = origin else { return };
    let Ok(origin) = HeaderValue::from_str(origin) else { return };
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("etag"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("cross-origin"));
    headers.append(VARY, HeaderValue::from_static("Origin"));
}
