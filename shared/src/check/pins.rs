//! Pinned values: of a node that exists, small, and something its tool could have returned.

use serde_json::json;

use super::ground::Ground;
use crate::finding::Code;
use crate::found::Found;
use crate::limits::PIN_BYTES;
use crate::nearest::nearest;
use crate::pointer::Pointer;
use crate::schema::validate;

pub(super) fn pins(ground: &Ground<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (id, value) in &ground.flow.pins {
        let at = Pointer::root().key("pins").key(id);
        let bytes = value.to_string().len();
        if bytes > PIN_BYTES {
            found.push(Found::new(Code::PinTooLarge, &at, json!({ "node": id, "bytes": bytes, "most": PIN_BYTES })));
        }
        let Some(node) = ground.flow.node(id) else {
            let near = nearest(id, ground.flow.nodes.iter().map(|node| node.id.as_str()));
            found.push(Found::new(Code::UnknownPinNode, &at, json!({ "node": id, "nearest": near })));
            continue;
        };
        if let Some(schema) = ground.tool(node).and_then(|tool| tool.output_schema.as_ref()) {
            found.extend(validate(schema, value, "result").into_iter().map(|fault| {
                let problem = format!("`{}`: {}", fault.path, fault.message);
                let params = json!({ "node": id, "path": fault.path, "problem": problem });
                Found::new(Code::PinContradictsSchema, &at, params)
            }));
        }
        found.push(Found::new(Code::Pinned, &at, json!({ "node": id })));
    }
    found
}
