//! The description of the API, held against the worker that it describes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::client::Ask;
use super::server::Server;
use crate::access::entry::STREAMS;
use crate::api::openapi::document;
use crate::api::route::{EVENTS, Entry, Holds, Route};
use crate::api::table;
use crate::api::table::name_of;

/// The description as a caller gets it.
async fn described(server: &Server) -> Value {
    let answer = server.ask("GET", "/api/openapi.json").send(server.address).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    answer.json()
}

/// A path of this route, with the example of each part that varies.
fn address(route: &Route, schemas: &Value) -> String {
    let part = |name: &str| {
        let (_, shape, _) = route.at.iter().find(|(known, ..)| *known == name).unwrap();
        let schema = serde_json::to_value(&shape.schema).unwrap();
        let named = schema["$ref"].as_str().map(|name| &schemas[name.rsplit('/').next().unwrap()]);
        named.map_or_else(|| "1".to_owned(), |schema| schema["examples"][0].as_str().unwrap().to_owned())
    };
    let parts: Vec<String> =
        route.path.split('/').map(|piece| name_of(piece).map_or_else(|| piece.to_owned(), part)).collect();
    parts.join("/")
}

#[tokio::test]
async fn every_route_is_there_and_asks_whom_it_says() {
    let server = Server::start().await;
    let document = described(&server).await;
    let table = table();
    for (_, route) in table.routes() {
        let path = address(route, &document["components"]["schemas"]);
        // A stream of a live worker does not end.
        let ends = !route.successes.iter().any(|success| matches!(success.holds, Holds::Other(EVENTS, _)));
        if ends {
            let answer = server.ask(route.method.as_str(), &path).send(server.address).await;
            let nothing = answer.status == 404 && answer.body.contains("at this address");
            assert!(answer.status != 405 && !nothing, "{} {path}: {answer:?}", route.method);
        }
        let stranger = Ask::new(route.method.as_str(), &path).send(server.address).await;
        match route.entry {
            Entry::Scoped(..) => assert_eq!(stranger.code(), "unauthorized", "{path}"),
            Entry::Open(_) => assert!(matches!(stranger.status, 200 | 400), "{path}: {stranger:?}"),
            Entry::Webhook => assert_eq!(stranger.status, 401, "{path}"),
        }
    }
}

#[tokio::test]
async fn another_method_is_told_which_there_are() {
    let server = Server::start().await;
    for (method, path, allowed) in [
        ("PUT", "/api/workflows", "get, head, post"),
        ("POST", "/api/workflows/check/", ""),
        ("GET", "/api/workflows/check", "post"),
        ("GET", "/api/workflow-hooks/01890a5d-ac96-774b-bcce-b302099a8057", "post"),
        ("POST", "/", "get, head"),
    ] {
        let answer = server.ask(method, path).send(server.address).await;
        let expected = if allowed.is_empty() { (400, None) } else { (405, Some(allowed)) };
        assert_eq!((answer.status, answer.header("allow")), expected, "{method} {path}: {answer:?}");
    }
}

#[test]
fn what_is_described_hangs_together() {
    let table = table();
    let mut ids = BTreeSet::new();
    let mut streams = BTreeSet::new();
    for (_, route) in table.routes() {
        assert!(ids.insert(route.id), "{} is there twice", route.id);
        let varies: Vec<_> = route.path.split('/').filter_map(name_of).collect();
        let told: Vec<_> = route.at.iter().map(|(name, ..)| *name).collect();
        assert_eq!(varies, told, "{}", route.path);
        assert!(!route.successes.is_empty() && !route.summary.is_empty(), "{}", route.path);
        if route.successes.iter().any(|success| matches!(success.holds, Holds::Other(EVENTS, _))) {
            streams.insert(route.path);
        }
    }
    assert_eq!(streams, BTreeSet::from(STREAMS), "where a token may stand in the query");

    let text = serde_json::to_string(&document(&table)).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["openapi"], "3.1.0");
    keys_are_known(&written);
    let mut references = Vec::new();
    references_of(&written, &mut references);
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference} leads elsewhere"));
        assert!(written.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
}

/// Each object of the document has the keys that version 3.1 has for it, and no others.
fn keys_are_known(document: &Value) {
    let fields = |value: &Value, known: &[&str]| -> Vec<Value> {
        let fields = value.as_object().unwrap_or_else(|| panic!("{value} is no object"));
        for key in fields.keys() {
            assert!(known.contains(&key.as_str()) || key.starts_with("x-"), "`{key}` in {value}");
        }
        fields.values().cloned().collect()
    };
    let every =
        |value: &Value| -> Vec<Value> { value.as_object().into_iter().flatten().map(|(_, one)| one.clone()).collect() };
    fields(document, &["openapi", "info", "paths", "components"]);
    fields(&document["components"], &["schemas", "securitySchemes"]);
    let operation_keys = ["tags", "summary", "operationId", "parameters", "requestBody", "responses", "security"];
    for item in every(&document["paths"]) {
        for operation in fields(&item, &["get", "put", "post", "patch", "delete"]) {
            fields(&operation, &operation_keys);
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                fields(parameter, &["name", "in", "required", "description", "schema"]);
            }
            let answers = every(&operation["responses"]);
            for answer in &answers {
                fields(answer, &["description", "headers", "content"]);
            }
            let taken = operation.get("requestBody").into_iter();
            for content in taken.chain(&answers).flat_map(|holder| every(&holder["content"])) {
                fields(&content, &["schema"]);
            }
        }
    }
}

/// Every `$ref` of a document.
fn references_of<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|value| references_of(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references_of(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// One line an operation: what a change of the API shows first.
#[test]
fn the_operations_are_these() {
    let table = table();
    let scope = |entry: &Entry| match entry {
        Entry::Scoped(scope, _) => scope.as_str(),
        Entry::Open(_) => "open",
        Entry::Webhook => "webhook",
    };
    let mut lines = BTreeMap::new();
    for (_, route) in table.routes() {
        let statuses: Vec<String> = route.successes.iter().map(|success| success.status.as_u16().to_string()).collect();
        let line = format!("{:6} {} · {} · {}", route.method, route.path, scope(&route.entry), statuses.join(" "));
        lines.insert((route.path, route.method.as_str()), line);
    }
    let lines: Vec<String> = lines.into_values().collect();
    insta::assert_snapshot!(lines.join("\n"));
}
