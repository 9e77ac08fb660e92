//! The table of all routes: finds the one that a request means, and judges the request by what that route says.

use hyper::body::Bytes;
use warp::http::{HeaderMap, Method, StatusCode};
use warp::reply::Response;

use super::Api;
use super::ask::require;
use super::problem::{ApiError, refuse_with};
use super::query::Query;
use super::refusals;
use super::route::{Ask, Entry, Parameter, Route};
use crate::access::scope::Caller;

/// Every route, by resource.
pub(super) struct Table {
    resources: Vec<(&'static str, Vec<Route>)>,
}

/// A request as the table gets it.
pub(super) struct Asked {
    pub(super) method: Method,
    /// As it was sent.
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: HeaderMap,
    pub(super) caller: Option<Caller>,
    pub(super) body: Bytes,
}

/// What varies in a path, by name.
type Parts = Vec<(&'static str, String)>;

/// What there is at an address.
enum Found<'a> {
    Route(&'a Route, Parts),
    /// Routes of other methods.
    Methods(Vec<&'a Method>),
    Nothing,
}

impl Table {
    /// A table of these resources.
    pub(super) fn of(resources: Vec<(&'static str, Vec<Route>)>) -> Self {
        Self { resources }
    }

    /// Every route with the name of its resource.
    pub(super) fn routes(&self) -> impl Iterator<Item = (&'static str, &Route)> {
        self.resources.iter().flat_map(|(resource, routes)| routes.iter().map(move |route| (*resource, route)))
    }

    /// The answer, unless there is nothing at this address.
    pub(super) async fn answer(&self, api: Api, asked: Asked) -> Option<Response> {
        let (route, at) = match self.find(&asked.method, &asked.path) {
            Found::Route(route, at) => (route, at),
            Found::Methods(methods) => {
                let allowed = methods.into_iter().cloned().collect();
                return Some(refuse_with(&ApiError::Method { allowed }).0);
            }
            Found::Nothing => return None,
        };
        let answer = match of_route(route, (api, at), asked) {
            Ok(pending) => pending.await,
            Err(error) => Err(error),
        };
        let (response, code) = match answer {
            Ok(response) => (response, None),
            Err(error) => {
                let (response, code) = refuse_with(&error);
                (response, Some(code))
            }
        };
        // Tests run a worker that stops at what nobody was told to expect.
        debug_assert!(
            tells(route, response.status(), code.as_deref()),
            "{} {} answered {} {code:?}, which its description leaves out",
            route.method,
            route.path,
            response.status()
        );
        Some(response)
    }

    /// The route that a request means. A part that is written out goes before one that varies.
    fn find(&self, method: &Method, path: &str) -> Found<'_> {
        let at_this_address = self.routes().filter_map(|(_, route)| Some((route, matched(route.path, path)?)));
        let at_this_address: Vec<_> = at_this_address.collect();
        let Some(most) = at_this_address.iter().map(|(route, _)| exactness(route.path)).max() else {
            return Found::Nothing;
        };
        let mut methods = Vec::new();
        for (route, parts) in at_this_address {
            if exactness(route.path) != most {
                continue;
            }
            if route.method == method {
                return Found::Route(route, parts);
            }
            methods.push(&route.method);
        }
        Found::Methods(methods)
    }
}

/// Judges a request by what its route says, and sets the route to work.
fn of_route(
    route: &Route,
    (api, at): (Api, Parts),
    asked: Asked,
) -> Result<impl Future<Output = super::answer::Answer> + use<>, ApiError> {
    let Asked { query, headers, caller, body, .. } = asked;
    let known: Vec<&str> = route.query.iter().map(|(name, ..): &Parameter| *name).collect();
    let ask = |query| Ask { api, caller: (), at, query, headers, body };
    match &route.entry {
        Entry::Scoped(scope, answer) => {
            // The door lets nobody else through to such a route.
            let caller = caller.ok_or_else(|| ApiError::Internal { reason: "a caller without a name".to_owned() })?;
            require(&caller, *scope)?;
            Ok(answer(ask(Query::of(query, &known)?).of(caller)))
        }
        Entry::Open(answer) => Ok(answer(ask(Query::of(query, &known)?))),
        Entry::Webhook => Err(ApiError::Internal { reason: "a webhook's call came past the door".to_owned() }),
    }
}

/// Whether a route's description holds such an answer.
fn tells(route: &Route, status: StatusCode, code: Option<&str>) -> bool {
    match code {
        None => route.successes.iter().any(|success| success.status == status),
        Some(code) => refusals::of(route).contains(&(status.as_u16(), code)),
    }
}

/// What varies in a path of this template; none: it is another path. A slash at its end does not matter.
fn matched(template: &'static str, path: &str) -> Option<Parts> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut parts = Vec::new();
    let mut given = path.split('/');
    for wanted in template.split('/') {
        let part = given.next()?;
        match name_of(wanted) {
            Some(_) if part.is_empty() => return None,
            Some(name) => parts.push((name, part.to_owned())),
            None if part == wanted => {}
            None => return None,
        }
    }
    given.next().is_none().then_some(parts)
}

/// The name of a part that varies.
pub(super) fn name_of(part: &'static str) -> Option<&'static str> {
    part.strip_prefix('{')?.strip_suffix('}')
}

/// Which parts of a template are written out: of two that match, the greater one is meant.
fn exactness(template: &'static str) -> Vec<bool> {
    template.split('/').map(|part| name_of(part).is_none()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::route::{delete, get, post};
    use super::*;
    use crate::api::answer::empty;

    fn table() -> Table {
        let nothing = || async { Ok(empty(StatusCode::NO_CONTENT)) };
        Table::of(vec![
            (
                "things",
                vec![
                    get("/api/things", "a", "").for_everybody(move |_| nothing()),
                    post("/api/things", "b", "").for_everybody(move |_| nothing()),
                    get("/api/things/{id}", "c", "").for_everybody(move |_| nothing()),
                ],
            ),
            (
                "others",
                vec![
                    post("/api/things/check", "d", "").for_everybody(move |_| nothing()),
                    delete("/api/{of}/{id}/part", "e", "").for_everybody(move |_| nothing()),
                ],
            ),
        ])
    }

    /// What is found, in words.
    fn found(method: &Method, path: &str) -> String {
        match table().find(method, path) {
            Found::Route(route, parts) => {
                let parts: Vec<String> = parts.into_iter().map(|(name, part)| format!(" {name}={part}")).collect();
                format!("{}{}", route.id, parts.concat())
            }
            Found::Methods(methods) => methods.into_iter().map(Method::as_str).collect::<Vec<_>>().join(" "),
            Found::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn a_request_finds_its_route_the_methods_that_there_are_or_nothing() {
        for (method, path, expected) in [
            (Method::GET, "/api/things", "a"),
            (Method::GET, "/api/things/", "a"),
            (Method::POST, "/api/things", "b"),
            (Method::PUT, "/api/things", "GET POST"),
            (Method::GET, "/api/things/7", "c id=7"),
            (Method::POST, "/api/things/check", "d"),
            // Written out, it is no id.
            (Method::GET, "/api/things/check", "POST"),
            (Method::DELETE, "/api/x/y/part", "e of=x id=y"),
            (Method::DELETE, "/api/x//part", "nothing"),
            (Method::GET, "/api", "nothing"),
            (Method::GET, "/api/thing", "nothing"),
            (Method::GET, "/api/things/7/8", "nothing"),
            (Method::GET, "/", "nothing"),
        ] {
            assert_eq!(found(&method, path), expected, "{method} {path}");
        }
    }
}
