//! `GET /api/agent/tools`: what a step can call.

use serde_json::Map;
use warp::http::StatusCode;
use weir_shared::tool::{ToolDeclaration, ToolView};

use super::answer::json;
use super::route::{Route, get, list_of};
use crate::access::scope::Scope;

/// The one route.
pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/api/agent/tools", "listTools", "What a step can call")
            .answers(StatusCode::OK, list_of::<ToolView>(), "The catalog")
            .to(Scope::Read, |ask| async move {
                let tools: Vec<ToolView> = ask.api.toolbox.catalog().iter().map(show).collect();
                json(StatusCode::OK, &tools)
            }),
    ]
}

/// A declaration, and whether a call without special arguments may be repeated.
fn show(tool: &ToolDeclaration) -> ToolView {
    ToolView { tool: tool.clone(), retry_safe: tool.is_retry_safe(&Map::new(), None) }
}
