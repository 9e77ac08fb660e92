//! Plugins from a folder to a flow that may run.

use serde_json::{Value, json};

use super::server::Server;

#[tokio::test]
async fn a_flow_can_run_once_the_plugin_of_its_tool_is_trusted() {
    let server = Server::start().await;
    let folder = server.flows().join("plugins/echo");
    std::fs::create_dir_all(&folder).unwrap();
    let manifest = json!({ "schema": 1, "id": "echo", "name": "Echo", "version": "1", "tools": [{
        "name": "echo", "effect": "read", "inputSchema": { "type": "object" }, "run": { "command": ["cat"] } }] });
    std::fs::write(folder.join("plugin.json"), manifest.to_string()).unwrap();
    let flow =
        json!({ "format": 1, "name": "E", "nodes": [{ "id": "a", "tool": "echo", "args": { "x": 1 } }], "edges": [] });
    let check = json!({ "flow": flow }).to_string();

    // Asking to trust looks at the folder first, so no event has to be waited for.
    let wrong = server.ask("POST", "/api/plugins/echo/trust").body(r#"{"digest": "00"}"#).send(server.address).await;
    assert_eq!(wrong.status, 409, "{}", wrong.body);
    assert_eq!(wrong.json()["code"], "digest_changed");
    let before = server.ask("POST", "/api/workflows/check").body(check.as_str()).send(server.address).await.json();
    assert_eq!(before["findings"][0]["code"], "untrusted_tool", "{before}");
    let listed = server.ask("GET", "/api/plugins").send(server.address).await.json();
    assert_eq!(
        (&listed[0]["id"], &listed[0]["trusted"], &listed[0]["source"]),
        (&json!("echo"), &json!(false), &json!("flows"))
    );
    assert_eq!(listed[0]["files"][0]["path"], "plugin.json");

    let digest = json!({ "digest": listed[0]["digest"], "effects": "declared" }).to_string();
    let trusted = server.ask("POST", "/api/plugins/echo/trust").body(digest.as_str()).send(server.address).await;
    assert_eq!(trusted.status, 200, "{}", trusted.body);
    let after = server.ask("POST", "/api/workflows/check").body(check.as_str()).send(server.address).await.json();
    assert_eq!(after["findings"], json!([]), "{after}");
    let tools = server.ask("GET", "/api/agent/tools").send(server.address).await.json();
    let echo = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "echo").unwrap();
    assert_eq!((&echo["source"], &echo["trusted"], &echo["countsAs"]), (&json!("echo"), &json!(true), &Value::Null));

    let off =
        server.ask("POST", "/api/plugins/echo/enabled").body(r#"{"enabled": false}"#).send(server.address).await.json();
    assert_eq!(off["enabled"], false);
    let gone = server.ask("POST", "/api/workflows/check").body(check.as_str()).send(server.address).await.json();
    assert_eq!(gone["findings"][0]["code"], "unavailable_tool", "{gone}");
    let nobody =
        server.ask("POST", "/api/plugins/nobody/enabled").body(r#"{"enabled": true}"#).send(server.address).await;
    assert_eq!(nobody.status, 404);
    server.end().await;
}
