//! Short ways to write the flows and plans that tests run.

use serde_json::{Value, json};

/// A step of a plan that runs a shell command after these steps.
pub fn command_step(index: usize, command: &str, after: &[usize]) -> Value {
    json!({ "index": index, "toolName": "execute_command", "args": { "command": command }, "dependsOn": after })
}

/// A plan of these steps.
pub fn plan(steps: &[Value]) -> Value {
    json!({ "steps": steps })
}

/// A plan that runs one shell command.
pub fn one_command(command: &str) -> Value {
    plan(&[command_step(0, command, &[])])
}

/// A node that runs a shell command.
pub fn command_node(id: &str, command: &str) -> Value {
    json!({ "id": id, "tool": "execute_command", "args": { "command": command } })
}

/// A flow of these nodes, with edges `source → target`.
pub fn flow(name: &str, nodes: &[Value], edges: &[(&str, &str)]) -> Value {
    let edges: Vec<Value> =
        edges.iter().map(|(source, target)| json!({ "source": source, "target": target })).collect();
    json!({ "format": 1, "name": name, "nodes": nodes, "edges": edges })
}

/// A flow that runs one shell command.
pub fn one_command_flow(name: &str, command: &str) -> Value {
    flow(name, &[command_node("only", command)], &[])
}
