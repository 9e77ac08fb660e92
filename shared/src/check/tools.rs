//! Whether the tool of a node is there, trusted, and safe to call again where that is asked for.

use serde_json::{Map, json};

use super::ground::Ground;
use crate::finding::Code;
use crate::found::Found;
use crate::nearest::nearest;

/// Tools by which a model runs flows; a saved flow may not.
pub(super) const NESTED: &str = "run_workflow_";

pub(super) fn tools(ground: &Ground<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (node, pointer) in ground.nodes() {
        let at = pointer.key("tool");
        if node.tool.starts_with(NESTED) {
            found.push(Found::new(Code::NestedWorkflow, &at, json!({ "tool": node.tool })));
            continue;
        }
        let Some(tool) = ground.tool(node) else {
            let names = ground.around.catalog.iter().map(|tool| tool.name.as_str());
            let params = json!({ "tool": node.tool, "nearest": nearest(&node.tool, names) });
            found.push(Found::new(Code::UnavailableTool, &at, params));
            continue;
        };
        if !tool.trusted {
            let params = json!({ "tool": tool.name, "source": tool.source });
            found.push(Found::new(Code::UntrustedTool, &at, params));
        }
        let attempts = node.retry.as_ref().and_then(|retry| retry.max_attempts).unwrap_or(1);
        let none = Map::new();
        if attempts > 1 && !tool.is_retry_safe(node.args.as_ref().unwrap_or(&none), node.idempotent) {
            let params = json!({ "tool": tool.name, "attempts": attempts, "effect": tool.effect });
            found.push(Found::new(Code::UnsafeRetry, pointer.key("retry"), params));
        }
    }
    found
}
