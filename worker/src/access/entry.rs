//! The order in which a request is asked who it is: name, origin, credential, and what a credential rests on.
//!
//! Two questions with a look-up between them: [`approach`] says which credential a request offers, the caller of this
//! module finds out whom it belongs to, and [`admit`] has the last word.

use crate::access::origin::{Names, OriginStanding};
use crate::access::scope::Caller;
use crate::access::session::{SessionCookie, SessionSecret};

/// What a request says about itself before its body.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head<'a> {
    /// Upper case.
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    /// Of an absolute-form request target.
    pub(crate) authority: Option<&'a str>,
    /// Every `Host` header.
    pub(crate) hosts: Vec<&'a str>,
    pub(crate) origin: Option<&'a str>,
    /// `Sec-Fetch-Site`: what a browser says about who caused the request.
    pub(crate) fetch_site: Option<&'a str>,
    pub(crate) content_type: Option<&'a str>,
    /// `X-Weir-Token`.
    pub(crate) token: Option<&'a str>,
    pub(crate) authorization: Option<&'a str>,
    /// Every `Cookie` header.
    pub(crate) cookies: Vec<&'a str>,
}

/// What a method may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    /// GET, HEAD.
    Read,
    /// OPTIONS: a browser asks before it asks.
    Ask,
    /// Everything else.
    Change,
}

impl Head<'_> {
    fn verb(&self) -> Verb {
        match self.method {
            "GET" | "HEAD" => Verb::Read,
            "OPTIONS" => Verb::Ask,
            _ => Verb::Change,
        }
    }
}

/// What a request offers to be let in by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    /// In a header, or in the query of a stream: no browser adds it by itself.
    Token(String),
    /// In a cookie, which a browser adds to whatever a page asks for.
    Session(SessionSecret),
    Nothing,
}

/// A request that got past the name and the origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Approach {
    pub(crate) origin: OriginStanding,
    pub(crate) credential: Credential,
}

/// Why a request is not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("this worker does not answer to the name `{name}`; use its own address, or name the host under `hosts`")]
    UnknownName { name: String },
    #[error("pages from `{origin}` may not use this worker; name the origin under `allowOrigins` to let them")]
    ForeignOrigin { origin: String },
    #[error("a request that rests on the session cookie must say its Origin; send the token in X-Weir-Token instead")]
    UnknownOrigin,
    #[error("a request that rests on the session cookie must have Content-Type application/json")]
    ContentType,
    #[error("no valid token: send it as X-Weir-Token; it is in the file `token` of the state directory")]
    NoCredential,
}

/// Paths that answer with a stream of events, where a token may stand in the query: `EventSource` sends no headers.
pub(crate) const STREAMS: [&str; 2] = ["/api/agent/stream", "/api/workflows/events"];

/// Whether a request calls this worker by a name that it has.
pub(crate) fn check_name(head: &Head<'_>, names: &Names) -> Result<(), Refusal> {
    let [host] = head.hosts.as_slice() else {
        return Err(Refusal::UnknownName { name: head.hosts.join(", ") });
    };
    for name in [Some(*host), head.authority].into_iter().flatten() {
        if !names.knows(name) {
            return Err(Refusal::UnknownName { name: name.to_owned() });
        }
    }
    Ok(())
}

/// The first question: by which name, from which page, with what in hand.
pub(crate) fn approach(head: &Head<'_>, names: &Names, cookie: &SessionCookie) -> Result<Approach, Refusal> {
    check_name(head, names)?;
    let origin = names.standing(head.origin);
    if origin == OriginStanding::Foreign {
        return Err(Refusal::ForeignOrigin { origin: head.origin.unwrap_or_default().to_owned() });
    }
    Ok(Approach { origin, credential: credential(head, cookie) })
}

fn credential(head: &Head<'_>, cookie: &SessionCookie) -> Credential {
    let bearer = head.authorization.and_then(bearer);
    let in_query = STREAMS.contains(&head.path).then(|| query_value(head.query, "token")).flatten();
    match head.token.or(bearer).or(in_query) {
        Some(token) => Credential::Token(token.trim().to_owned()),
        None => cookie.find(head.cookies.iter().copied()).map_or(Credential::Nothing, Credential::Session),
    }
}

/// The token of `Bearer …`; the scheme's case does not matter.
fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

/// The first value of a name in a query. Tokens are hexadecimal, so nothing needs decoding.
fn query_value<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// What needs no credential: the page's files, the worker's health, opening a session, and a browser's question
/// before its question.
fn is_open(head: &Head<'_>) -> bool {
    let api = head.path == "/api" || head.path.starts_with("/api/");
    match head.verb() {
        Verb::Read => !api || head.path == "/api/health",
        Verb::Ask => true,
        Verb::Change => head.method == "POST" && head.path == "/api/session",
    }
}

/// The last word. `known` is whom the credential belongs to, if to anyone; `Ok(None)` is a stranger at an open door.
pub(crate) fn admit(head: &Head<'_>, approach: &Approach, known: Option<Caller>) -> Result<Option<Caller>, Refusal> {
    if is_open(head) {
        return Ok(known);
    }
    let Some(caller) = known else { return Err(Refusal::NoCredential) };
    match approach.credential {
        Credential::Token(_) | Credential::Nothing => {}
        Credential::Session(_) => check_cookie_use(head, &approach.origin)?,
    }
    Ok(Some(caller))
}

/// A browser adds the cookie by itself: so what it is used for must be what the worker's own page meant.
fn check_cookie_use(head: &Head<'_>, origin: &OriginStanding) -> Result<(), Refusal> {
    let from_known_page = matches!(origin, OriginStanding::Same | OriginStanding::Allowed(_));
    if head.verb() == Verb::Change {
        if !from_known_page {
            return Err(Refusal::UnknownOrigin);
        }
        if !head.content_type.is_some_and(is_json) {
            return Err(Refusal::ContentType);
        }
    }
    // Another port of this host is the same site to a cookie, and an image or a script is asked for without Origin.
    if !from_known_page && matches!(head.fetch_site, Some("cross-site" | "same-site")) {
        return Err(Refusal::UnknownOrigin);
    }
    Ok(())
}

fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "right";

    fn names() -> Names {
        Names::of("127.0.0.1:9347".parse().unwrap(), &[], &["https://ally.example".to_owned()])
    }

    fn head<'a>(method: &'a str, path: &'a str) -> Head<'a> {
        Head { method, path, hosts: vec!["127.0.0.1:9347"], ..Head::default() }
    }

    /// Both questions, with one token and one session that are known.
    fn enter(head: &Head<'_>) -> Result<Option<Caller>, Refusal> {
        let approach = approach(head, &names(), &SessionCookie::of("w"))?;
        let known = match &approach.credential {
            Credential::Token(token) => (token == TOKEN).then(Caller::local),
            Credential::Session(_) => Some(Caller::local()),
            Credential::Nothing => None,
        };
        admit(head, &approach, known)
    }

    fn with_cookie<'a>(method: &'a str, path: &'a str) -> Head<'a> {
        Head { cookies: vec!["weir-session-w=s"], ..head(method, path) }
    }

    #[test]
    fn what_is_open_needs_nothing() {
        for (method, path) in [
            ("GET", "/"),
            ("GET", "/assets/a.js"),
            ("HEAD", "/flows/x"),
            ("GET", "/api/health"),
            ("POST", "/api/session"),
        ] {
            assert_eq!(enter(&head(method, path)), Ok(None), "{method} {path}");
        }
        for (method, path) in [
            ("GET", "/api"),
            ("GET", "/api/workflows"),
            ("GET", "/api/session"),
            ("DELETE", "/api/session"),
            ("POST", "/api/health"),
            ("POST", "/"),
            ("GET", "/api/unknown"),
        ] {
            assert_eq!(enter(&head(method, path)), Err(Refusal::NoCredential), "{method} {path}");
        }
    }

    #[test]
    fn a_token_lets_in_from_either_header_and_from_the_query_of_a_stream_only() {
        let run = head("POST", "/api/agent/run");
        let local = Ok(Some(Caller::local()));
        assert_eq!(enter(&Head { token: Some(TOKEN), ..run.clone() }), local);
        assert_eq!(enter(&Head { authorization: Some("bearer right"), ..run.clone() }), local);
        for wrong in ["Bearer wrong", "Basic right", "right", "Bearer"] {
            assert_eq!(
                enter(&Head { authorization: Some(wrong), ..run.clone() }),
                Err(Refusal::NoCredential),
                "{wrong}"
            );
        }
        let query = "runId=r&token=right";
        for (path, lets_in) in [
            ("/api/agent/stream", true),
            ("/api/workflows/events", true),
            ("/api/agent/runs", false),
            ("/api/workflows", false),
            ("/api/agent/stream/", false),
        ] {
            assert_eq!(enter(&Head { query, ..head("GET", path) }).is_ok(), lets_in, "{path}");
        }
    }

    #[test]
    fn a_wrong_token_is_refused_even_beside_a_good_cookie() {
        let request = Head { token: Some("wrong"), ..with_cookie("GET", "/api/workflows") };
        assert_eq!(enter(&request), Err(Refusal::NoCredential));
    }

    #[test]
    fn an_unknown_name_is_refused_whatever_else_the_request_holds() {
        let good = Head { token: Some(TOKEN), ..head("GET", "/api/agent/stream") };
        for hosts in [vec![], vec!["evil.example:9347"], vec!["127.0.0.1"], vec!["127.0.0.1:9347", "127.0.0.1:9347"]] {
            let request = Head { hosts, ..good.clone() };
            assert!(matches!(enter(&request), Err(Refusal::UnknownName { .. })), "{:?}", request.hosts);
        }
        let absolute = Head { authority: Some("evil.example:9347"), ..good.clone() };
        assert!(matches!(enter(&absolute), Err(Refusal::UnknownName { .. })));
        assert!(enter(&Head { authority: Some("localhost:9347"), ..good }).is_ok());
    }

    #[test]
    fn a_foreign_page_is_refused_even_with_a_token() {
        for origin in ["null", "https://evil.example", "http://127.0.0.1:8000"] {
            for (method, path) in
                [("GET", "/"), ("GET", "/api/health"), ("POST", "/api/agent/run"), ("OPTIONS", "/api/x")]
            {
                let request = Head { origin: Some(origin), token: Some(TOKEN), ..head(method, path) };
                assert!(matches!(enter(&request), Err(Refusal::ForeignOrigin { .. })), "{origin} {method} {path}");
            }
        }
    }

    #[test]
    fn a_cookie_changes_things_only_as_json_from_a_known_page() {
        let save = with_cookie("PUT", "/api/workflows/a");
        let own = Some("http://127.0.0.1:9347");
        let json = Some("application/json; charset=utf-8");
        assert!(enter(&Head { origin: own, content_type: json, ..save.clone() }).is_ok());
        assert!(enter(&Head { origin: Some("https://ally.example"), content_type: json, ..save.clone() }).is_ok());
        assert_eq!(enter(&Head { content_type: json, ..save.clone() }), Err(Refusal::UnknownOrigin));
        for wrong in [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/jsonp")] {
            let request = Head { origin: own, content_type: wrong, ..save.clone() };
            assert_eq!(enter(&request), Err(Refusal::ContentType), "{wrong:?}");
        }
        assert!(
            enter(&Head { token: Some(TOKEN), content_type: Some("text/plain"), ..head("PUT", "/api/workflows/a") })
                .is_ok()
        );
    }

    #[test]
    fn a_cookie_reads_nothing_for_another_site() {
        let read = with_cookie("GET", "/api/workflows");
        assert!(enter(&read).is_ok());
        for (site, lets_in) in [("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false)] {
            assert_eq!(enter(&Head { fetch_site: Some(site), ..read.clone() }).is_ok(), lets_in, "{site}");
        }
    }
}
