//! `GET /api/openapi.json`: the whole of this API, described (`OpenAPI` 3.1).
//!
//! Made from the table of routes and from the schemas of what is on the wire: nothing about a route is written here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use hyper::body::Bytes;
use utoipa::ToSchema as _;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::{
    HttpMethod, Operation, OperationBuilder, Parameter as Described, ParameterBuilder, ParameterIn, PathsBuilder,
};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::{AllOfBuilder, ComponentsBuilder, ObjectBuilder, Type};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{
    Content, Header, InfoBuilder, OpenApi, OpenApiBuilder, PathItem, Ref, RefOr, Required, Response, ResponseBuilder,
    Schema,
};
use warp::http::{Method, StatusCode};
use weir_shared::webhook::SECRET_HEADER;
use weir_shared::wire::{Problem, TOKEN_HEADER};

use super::answer::bytes_of;
use super::refusals;
use super::route::{EVENTS, Entry, Holds, Parameter, Route, Schemas, Shape, Success, Takes, any_object, get, of, text};
use super::table::Table;
use crate::access::scope::Scope;

const JSON: &str = "application/json";

const ABOUT: &str = "Flows, runs and tasks of one Weir worker. Everything that is no success is a `Problem` with a \
     stable `code`. Objects of requests are closed, and so are queries: what is not described is refused. The page \
     itself is served at every other path, by GET. HEAD is taken wherever GET is.";

/// The description does not change while the worker runs.
static DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| serde_json::to_vec(&document(&super::table())).unwrap_or_default().into());

/// The one route.
pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/api/openapi.json", "describeApi", "This description")
            .answers(StatusCode::OK, any_object("An OpenAPI document"), "The description")
            .to(Scope::Read, |_| async { Ok(bytes_of(StatusCode::OK, JSON, DOCUMENT.clone())) }),
    ]
}

/// The description of a table.
pub(super) fn document(table: &Table) -> OpenApi {
    let mut schemas: Schemas = Vec::new();
    of::<Problem>().name_into(&mut schemas);
    let mut paths = PathsBuilder::new();
    for (resource, route) in table.routes() {
        let operation = operation(resource, route, &mut schemas);
        paths = paths.path(route.path, PathItem::new(method(&route.method), operation));
    }
    let components = ComponentsBuilder::new().schemas_from_iter(schemas);
    let components = schemes().into_iter().fold(components, |all, (name, scheme)| all.security_scheme(name, scheme));
    OpenApiBuilder::new()
        .info(InfoBuilder::new().title("Weir").version(env!("CARGO_PKG_VERSION")).description(Some(ABOUT)))
        .paths(paths)
        .components(Some(components.build()))
        .build()
}

impl Shape {
    fn name_into(&self, schemas: &mut Schemas) -> RefOr<Schema> {
        (self.named)(schemas);
        self.schema.clone()
    }
}

/// The ways of saying who one is.
fn schemes() -> [(&'static str, SecurityScheme); 4] {
    let key = ApiKeyValue::with_description;
    let cookie = "Set by `POST /api/session`; its name ends with the worker's id. What rests on it must also have \
         Content-Type `application/json` and an Origin that is known, when it changes anything.";
    [
        ("token", SecurityScheme::ApiKey(ApiKey::Header(key(TOKEN_HEADER, "Of the state directory's file `token`")))),
        ("bearer", SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build())),
        ("session", SecurityScheme::ApiKey(ApiKey::Cookie(key("weir-session-{workerId}", cookie)))),
        ("webhook", SecurityScheme::ApiKey(ApiKey::Header(key(SECRET_HEADER, "The secret of one webhook")))),
    ]
}

fn method(method: &Method) -> HttpMethod {
    match *method {
        Method::POST => HttpMethod::Post,
        Method::PUT => HttpMethod::Put,
        Method::PATCH => HttpMethod::Patch,
        Method::DELETE => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

fn operation(resource: &str, route: &Route, schemas: &mut Schemas) -> Operation {
    let mut operation = OperationBuilder::new().tag(resource).operation_id(Some(route.id)).summary(Some(route.summary));
    let places =
        [(ParameterIn::Path, &route.at), (ParameterIn::Query, &route.query), (ParameterIn::Header, &route.headers)];
    for (place, parameters) in places {
        for described in parameters {
            operation = operation.parameter(parameter(&place, described, schemas));
        }
    }
    operation = match &route.takes {
        Takes::Nothing => operation,
        Takes::May(shape) => operation.request_body(Some(body(shape, Required::False, schemas))),
        Takes::Must(shape) => operation.request_body(Some(body(shape, Required::True, schemas))),
    };
    for (status, described) in answers(route, schemas) {
        operation = operation.response(status.to_string(), described);
    }
    operation.securities(Some(securities(&route.entry))).build()
}

/// Who may use a route: each is a way by itself. The scope stands where roles do.
fn securities(entry: &Entry) -> Vec<SecurityRequirement> {
    match entry {
        Entry::Scoped(scope, _) => {
            ["token", "bearer", "session"].map(|scheme| SecurityRequirement::new(scheme, [scope.as_str()])).to_vec()
        }
        Entry::Open(_) => Vec::new(),
        // A webhook may go by a signature alone.
        Entry::Webhook => vec![SecurityRequirement::new("webhook", [""; 0]), SecurityRequirement::default()],
    }
}

fn parameter(place: &ParameterIn, (name, shape, words): &Parameter, schemas: &mut Schemas) -> Described {
    let required = if *place == ParameterIn::Path { Required::True } else { Required::False };
    ParameterBuilder::new()
        .name(*name)
        .parameter_in(place.clone())
        .required(required)
        .description(Some(*words))
        .schema(Some(shape.name_into(schemas)))
        .build()
}

fn body(shape: &Shape, required: Required, schemas: &mut Schemas) -> RequestBody {
    let content = Content::new(Some(shape.name_into(schemas)));
    RequestBodyBuilder::new().required(Some(required)).content(JSON, content).build()
}

/// Every answer by status.
fn answers(route: &Route, schemas: &mut Schemas) -> BTreeMap<u16, Response> {
    let mut answers: BTreeMap<u16, Response> =
        route.successes.iter().map(|success| (success.status.as_u16(), of_success(success, schemas))).collect();
    let mut codes: BTreeMap<u16, BTreeSet<&str>> = BTreeMap::new();
    for (status, code) in refusals::of(route) {
        codes.entry(status).or_default().insert(code);
    }
    answers.extend(codes.into_iter().map(|(status, codes)| (status, of_refusal(status, &codes))));
    answers
}

fn of_success(success: &Success, schemas: &mut Schemas) -> Response {
    let described = ResponseBuilder::new().description(success.words);
    match &success.holds {
        Holds::Nothing => described,
        Holds::Json(shape) => described.content(JSON, Content::new(Some(shape.name_into(schemas)))),
        // A stream is a text to `OpenAPI` 3.1, which has no word for what it is made of.
        Holds::Other(EVENTS, shape) => {
            let event = serde_json::to_value(shape.name_into(schemas)).unwrap_or_default();
            let events = ExtensionsBuilder::new().add("x-weir-event", event).build();
            let content = Content::builder().schema(Some(text().schema)).extensions(Some(events));
            described.content(EVENTS, content.build())
        }
        Holds::Other(content, shape) => described.content(*content, Content::new(Some(shape.name_into(schemas)))),
    }
    .build()
}

fn of_refusal(status: u16, codes: &BTreeSet<&str>) -> Response {
    let words: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
    let code = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(codes.iter().copied()));
    let schema = AllOfBuilder::new()
        .item(Ref::from_schema_name(Problem::name()))
        .item(ObjectBuilder::new().property("code", code).required("code"));
    let described = ResponseBuilder::new()
        .description(words.join(", "))
        .content(JSON, Content::new(Some(RefOr::<Schema>::from(schema))));
    let header = match status {
        429 => Some(("Retry-After", Type::Integer)),
        401 => Some(("WWW-Authenticate", Type::String)),
        _ => None,
    };
    match header {
        Some((name, kind)) => described.header(name, Header::new(ObjectBuilder::new().schema_type(kind))).build(),
        None => described.build(),
    }
}
