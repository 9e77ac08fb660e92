//! One route: what it answers, and what is told about it, in one value.
//!
//! A resource lists its routes as these values. The table finds the right one for a request, the description of the API
//! is made from the same ones, and what a route says of its scope, its query and its parameters is what holds: the
//! request is judged by it before the route's own code sees it. So a route cannot be without a description, and
//! nothing is described that is not there. This module knows no resource.

use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;

use hyper::body::Bytes;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use warp::http::{HeaderMap, Method, StatusCode};

use super::Api;
use super::answer::Answer;
use super::problem::ApiError;
use super::query::Query;
use super::refusals::Refusals;
use crate::access::scope::{Caller, Scope};

/// A request that has found its route.
#[derive(Clone)]
pub(super) struct Ask<C = Caller> {
    pub(super) api: Api,
    /// Who asks; nothing where everybody may.
    pub(super) caller: C,
    pub(super) at: Vec<(&'static str, String)>,
    /// With no other names than the route's.
    pub(super) query: Query,
    pub(super) headers: HeaderMap,
    /// The whole body, which the door has bounded.
    pub(super) body: Bytes,
}

impl<C> Ask<C> {
    /// The part of the path that stands in the place of `{name}`. There is nothing at the address of what is none.
    pub(super) fn at<T: FromStr>(&self, name: &str) -> Result<T, ApiError> {
        let part = self.at.iter().find(|(known, _)| *known == name).map(|(_, part)| part);
        part.and_then(|part| part.parse().ok()).ok_or(ApiError::UnknownPath)
    }

    /// The same request of another caller.
    pub(super) fn of<D>(self, caller: D) -> Ask<D> {
        let Self { api, caller: _, at, query, headers, body } = self;
        Ask { api, caller, at, query, headers, body }
    }
}

type Pending = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Who may use a route, and what then answers.
#[derive(Clone)]
pub(super) enum Entry {
    /// Callers of this scope.
    Scoped(Scope, Arc<dyn Fn(Ask) -> Pending + Send + Sync>),
    /// Everybody.
    Open(Arc<dyn Fn(Ask<()>) -> Pending + Send + Sync>),
    /// Whoever has a webhook's secret. The door answers, before a body is read.
    Webhook,
}

/// Schemas by name.
pub(super) type Schemas = Vec<(String, RefOr<Schema>)>;

/// The shape of a value: its schema, and the schemas that this one names.
#[derive(Clone)]
pub(super) struct Shape {
    pub(super) schema: RefOr<Schema>,
    pub(super) named: fn(&mut Schemas),
}

/// The shape of a type of the wire.
pub(super) fn of<T: ToSchema>() -> Shape {
    Shape {
        schema: Ref::from_schema_name(T::name()).into(),
        named: |schemas| {
            schemas.push((T::name().into_owned(), T::schema()));
            T::schemas(schemas);
        },
    }
}

/// A list of them.
pub(super) fn list_of<T: ToSchema>() -> Shape {
    let Shape { schema, named } = of::<T>();
    Shape { schema: ArrayBuilder::new().items(schema).into(), named }
}

/// A whole number.
pub(super) fn whole(range: RangeInclusive<u64>) -> Shape {
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(*range.start()));
    let open_ended = *range.end() == u64::MAX;
    Shape { schema: if open_ended { number } else { number.maximum(Some(*range.end())) }.into(), named: |_| {} }
}

/// Any text.
pub(super) fn text() -> Shape {
    Shape { schema: ObjectBuilder::new().schema_type(Type::String).into(), named: |_| {} }
}

/// Any object.
pub(super) fn any_object(words: &str) -> Shape {
    let object = ObjectBuilder::new().schema_type(Type::Object).description(Some(words));
    Shape { schema: object.into(), named: |_| {} }
}

/// A parameter: its name, its shape and what it says.
pub(super) type Parameter = (&'static str, Shape, &'static str);

/// A body that a route takes.
pub(super) enum Takes {
    Nothing,
    May(Shape),
    Must(Shape),
}

/// What a success holds.
pub(super) enum Holds {
    Nothing,
    Json(Shape),
    /// Another type of content, and the shape of what it is made of.
    Other(&'static str, Shape),
}

/// A success that a route answers with.
pub(super) struct Success {
    pub(super) status: StatusCode,
    pub(super) holds: Holds,
    pub(super) words: &'static str,
}

/// The content of a stream of events.
pub(super) const EVENTS: &str = "text/event-stream";

/// A route.
pub(super) struct Route {
    pub(super) method: Method,
    /// With `{name}` for a part that varies.
    pub(super) path: &'static str,
    /// Its name in the description: a verb and what it is done to.
    pub(super) id: &'static str,
    /// One sentence.
    pub(super) summary: &'static str,
    /// What varies in the path, in its order.
    pub(super) at: Vec<Parameter>,
    pub(super) query: Vec<Parameter>,
    pub(super) headers: Vec<Parameter>,
    pub(super) takes: Takes,
    pub(super) successes: Vec<Success>,
    /// Beside what every route refuses with.
    pub(super) refusals: Vec<Refusals>,
    pub(super) entry: Entry,
}

/// A route in the making. What it answers comes last.
pub(super) struct Draft(Route);

/// A route by its method, its path, its name and a sentence.
fn draft(method: Method, path: &'static str, (id, summary): (&'static str, &'static str)) -> Draft {
    let (at, query, headers) = (Vec::new(), Vec::new(), Vec::new());
    let (successes, refusals) = (Vec::new(), Vec::new());
    let (takes, entry) = (Takes::Nothing, Entry::Webhook);
    Draft(Route { method, path, id, summary, at, query, headers, takes, successes, refusals, entry })
}

/// A route that shows something.
pub(super) fn get(path: &'static str, id: &'static str, summary: &'static str) -> Draft {
    draft(Method::GET, path, (id, summary))
}

/// A route that makes or does something.
pub(super) fn post(path: &'static str, id: &'static str, summary: &'static str) -> Draft {
    draft(Method::POST, path, (id, summary))
}

/// A route that replaces something.
pub(super) fn put(path: &'static str, id: &'static str, summary: &'static str) -> Draft {
    draft(Method::PUT, path, (id, summary))
}

/// A route that changes a part of something.
pub(super) fn patch(path: &'static str, id: &'static str, summary: &'static str) -> Draft {
    draft(Method::PATCH, path, (id, summary))
}

/// A route that removes or ends something.
pub(super) fn delete(path: &'static str, id: &'static str, summary: &'static str) -> Draft {
    draft(Method::DELETE, path, (id, summary))
}

impl Draft {
    /// What stands at `{name}` of the path.
    pub(super) fn at(mut self, parameter: Parameter) -> Self {
        self.0.at.push(parameter);
        self
    }

    /// A parameter of the query. Those that are not named are refused.
    pub(super) fn query(mut self, parameter: Parameter) -> Self {
        self.0.query.push(parameter);
        self
    }

    /// A header that the route reads.
    pub(super) fn header(mut self, parameter: Parameter) -> Self {
        self.0.headers.push(parameter);
        self
    }

    /// A body that must be there.
    pub(super) fn takes(mut self, shape: Shape) -> Self {
        self.0.takes = Takes::Must(shape);
        self
    }

    /// A body that may be left out.
    pub(super) fn may_take(mut self, shape: Shape) -> Self {
        self.0.takes = Takes::May(shape);
        self
    }

    /// A success with JSON.
    pub(super) fn answers(self, status: StatusCode, shape: Shape, words: &'static str) -> Self {
        self.succeeds(Success { status, holds: Holds::Json(shape), words })
    }

    /// A success with nothing.
    pub(super) fn answers_nothing(self, status: StatusCode, words: &'static str) -> Self {
        self.succeeds(Success { status, holds: Holds::Nothing, words })
    }

    /// A success with bytes of this type of content.
    pub(super) fn answers_bytes(self, content: &'static str, words: &'static str) -> Self {
        self.succeeds(Success { status: StatusCode::OK, holds: Holds::Other(content, text()), words })
    }

    /// A stream of these events. A browser's `EventSource` sends no headers, so that the token may stand in the query.
    pub(super) fn streams(self, shape: Shape, words: &'static str) -> Self {
        self.query(("token", text(), "The token, in the place of a header")).succeeds(Success {
            status: StatusCode::OK,
            holds: Holds::Other(EVENTS, shape),
            words,
        })
    }

    fn succeeds(mut self, success: Success) -> Self {
        self.0.successes.push(success);
        self
    }

    /// What it refuses with, beside what every route does.
    pub(super) fn refuses(mut self, refusals: Refusals) -> Self {
        self.0.refusals.push(refusals);
        self
    }

    /// Answers callers of this scope.
    pub(super) fn to<F, A>(mut self, scope: Scope, answer: F) -> Route
    where
        F: Fn(Ask) -> A + Send + Sync + 'static,
        A: Future<Output = Answer> + Send + 'static,
    {
        self.0.entry = Entry::Scoped(scope, Arc::new(move |ask| Box::pin(answer(ask))));
        self.0
    }

    /// Answers everybody.
    pub(super) fn for_everybody<F, A>(mut self, answer: F) -> Route
    where
        F: Fn(Ask<()>) -> A + Send + Sync + 'static,
        A: Future<Output = Answer> + Send + 'static,
    {
        self.0.entry = Entry::Open(Arc::new(move |ask| Box::pin(answer(ask))));
        self.0
    }

    /// Leaves it to the door to answer senders of a webhook.
    pub(super) fn for_senders(mut self) -> Route {
        self.0.entry = Entry::Webhook;
        self.0
    }
}
