//! Stories of plugins: what a manifest may say, what is offered, what is started, and what its end means.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use weir_shared::tool::{Catalog, Effect};
use weir_shared::wire::{PluginEffects, PluginView};

use super::load::PluginTool;
use super::manifest::Ground;
use super::{Homes, PluginError, Plugins, ProcessLimits, as_they_stand};
use crate::store::Store;
use crate::tool::desk::{Desk, failure, result};
use crate::trust::PluginRecord;

/// The end of a test that would hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// The homes of plugins, in a directory that goes with the test.
struct World {
    directory: TempDir,
}

impl World {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn homes(&self) -> Homes {
        Homes::of(self.directory.path(), Some(&self.directory.path().join("user")))
    }

    fn folder(&self, id: &str) -> PathBuf {
        self.directory.path().join("plugins").join(id)
    }

    /// A plugin of one tool that runs this script.
    fn plugin(&self, id: &str, tool: &Value, script: &str) -> PathBuf {
        let folder = self.folder(id);
        write(&folder, &manifest(id, std::slice::from_ref(tool)), script);
        folder
    }

    /// What there is when each of these plugins is trusted as it is now.
    fn trusting(&self, ids: &[&str], effects: PluginEffects) -> (Vec<PluginView>, Vec<PluginTool>) {
        let (views, _) = as_they_stand(&self.homes(), &BTreeMap::new());
        let trusted = views.into_iter().filter(|view| ids.contains(&view.id.as_str()));
        let records = trusted
            .map(|view| (view.id, PluginRecord { trusted: view.digest, effects, ..PluginRecord::default() }))
            .collect();
        as_they_stand(&self.homes(), &records)
    }
}

fn write(folder: &Path, manifest: &Value, script: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("plugin.json"), manifest.to_string()).unwrap();
    fs::write(folder.join("run.sh"), script).unwrap();
    fs::set_permissions(folder.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
}

fn manifest(id: &str, tools: &[Value]) -> Value {
    json!({ "schema": 1, "id": id, "name": "A plugin", "version": "1", "tools": tools })
}

/// A tool that takes anything, with this way to run it.
fn tool(name: &str, run: Value) -> Value {
    let mut tool = json!({ "name": name, "effect": "read", "inputSchema": { "type": "object", "properties": {
        "path": { "type": "string" }, "n": { "type": "integer" } } } });
    tool["run"] = run;
    tool
}

fn script_tool(name: &str) -> Value {
    tool(name, json!({ "command": ["./run.sh"] }))
}

/// A desk that has these plugins' tools.
fn desk(tools: Vec<PluginTool>) -> Desk {
    let desk = Desk::new();
    desk.toolbox.offer_plugins(tools);
    desk
}

/// A desk with one trusted tool that runs this script.
fn desk_with(run: Value, script: &str) -> (World, Desk) {
    let world = World::new();
    world.plugin("probe", &tool("probe", run), script);
    let (_, tools) = world.trusting(&["probe"], PluginEffects::Command);
    (world, desk(tools))
}

fn codes(view: &PluginView) -> Vec<&str> {
    view.findings.iter().map(|finding| finding.code.as_str()).collect()
}

#[tokio::test]
async fn arguments_come_as_json_and_the_whole_output_is_the_result() {
    let (_world, desk) = desk_with(json!({ "command": ["./run.sh"] }), "#!/bin/sh\ncat\n");
    let echoed = desk.call("probe", json!({ "path": "a \"b\" {{c}}", "n": 3 })).await;
    assert_eq!(*result(&echoed), json!({ "path": "a \"b\" {{c}}", "n": 3 }));
    let report = echoed.report.unwrap();
    assert_eq!(report.exit_code, Some(0));
}

#[tokio::test]
async fn a_value_in_the_command_is_one_argument_whatever_is_in_it() {
    let run =
        json!({ "command": ["./run.sh", "--", "{{input.path}}", "n={{input.n}}"], "input": "none", "output": "text" });
    let (_world, desk) = desk_with(run, "#!/bin/sh\necho \"$#\"\nprintf '<%s>' \"$@\"\ncat\n");
    let value = "a b'\"; echo $(id) *\n{{input.n}}";
    let said = desk.call("probe", json!({ "path": value, "n": 7 })).await;
    assert_eq!(*result(&said), json!({ "stdout": format!("3\n<--><{value}><n=7>"), "stderr": "", "exitCode": 0 }));
    let missing = desk.call("probe", json!({ "n": 7 })).await;
    assert!(failure(&missing).message.contains("`path`"), "{missing:?}");
}

#[tokio::test]
async fn a_child_that_never_reads_its_input_is_not_hung_and_not_failed() {
    let (_world, desk) = desk_with(json!({ "command": ["./run.sh"] }), "#!/bin/sh\necho '\"done\"'\n");
    // More than any pipe holds.
    let done = desk.call("probe", json!({ "path": "x".repeat(1 << 20) })).await;
    assert_eq!(*result(&done), json!("done"));
    assert!(desk.is_quiet());
}

#[tokio::test]
async fn a_failure_is_told_in_the_programs_own_words() {
    let script = "#!/bin/sh\nread -r line\ncase $line in\n*1*) echo '{\"error\": \"no such order\"}'; exit 3;;\n\
                  *2*) echo progress >&2; echo 'it broke' >&2; exit 4;;\n*3*) echo 'not json';;\n*4*) ;;\n\
                  *5*) kill -9 $$;;\nesac\n";
    let (_world, desk) = desk_with(json!({ "command": ["./run.sh"] }), script);
    for (n, said) in [
        (1, "exit code 3: no such order"),
        (2, "exit code 4: it broke"),
        (3, "standard output is no JSON: "),
        (4, "standard output is empty"),
        (5, "ended by SIGKILL"),
    ] {
        let outcome = desk.call("probe", json!({ "n": n })).await;
        assert!(failure(&outcome).message.starts_with(said), "{n}: {outcome:?}");
    }
}

#[tokio::test]
async fn the_least_timeout_of_node_and_plugin_counts() {
    let (_world, mut desk) =
        desk_with(json!({ "command": ["./run.sh"], "timeoutSeconds": 3600 }), "#!/bin/sh\nsleep 982\n");
    desk.node_timeout = Some(Duration::from_millis(100));
    let outcome = desk.call("probe", json!({})).await;
    assert!(failure(&outcome).timed_out, "{outcome:?}");
    assert!(desk.is_quiet(), "nothing outlives its step");
}

#[tokio::test]
async fn the_environment_is_built_and_listed_names_pass() {
    let run = json!({ "command": ["./run.sh"], "input": "none", "output": "text", "env": ["CARGO_MANIFEST_DIR", "NOT_SET_ANYWHERE"] });
    let (_world, desk) = desk_with(run, "#!/bin/sh\nenv | sed 's/=.*//' | sort\npwd\n");
    let said = desk.call("probe", json!({})).await;
    let text = result(&said)["stdout"].as_str().unwrap();
    for name in ["CARGO_MANIFEST_DIR", "PATH", "WEIR_RUN_ID", "WEIR_IDEMPOTENCY_KEY", "WEIR_ATTEMPT"] {
        assert!(text.lines().any(|line| line == name), "{name}: {text}");
    }
    assert!(!text.contains("CARGO_PKG_NAME") && !text.contains("NOT_SET_ANYWHERE"), "{text}");
    assert!(text.trim_end().ends_with("/work"), "it runs in the run's own directory: {text}");
}

#[tokio::test]
async fn input_and_result_are_held_against_the_schemas() {
    let world = World::new();
    let mut branching = script_tool("probe");
    branching["ports"] = json!(["yes", "no"]);
    branching["outputSchema"] = json!({ "type": "object", "required": ["branch"] });
    world.plugin("probe", &branching, "#!/bin/sh\nread -r line\ncase $line in *1*) echo '{\"branch\": \"yes\"}';; *2*) echo '{\"branch\": \"maybe\"}';; *) echo '{}';; esac\n");
    let desk = desk(world.trusting(&["probe"], PluginEffects::Command).1);
    assert!(failure(&desk.call("probe", json!({ "n": "x" })).await).message.contains("args.n"));
    assert_eq!(result(&desk.call("probe", json!({ "n": 1 })).await)["branch"], "yes");
    assert!(failure(&desk.call("probe", json!({ "n": 2 })).await).message.contains("none of yes, no"));
    assert!(failure(&desk.call("probe", json!({ "n": 3 })).await).message.contains("branch"));
}

#[tokio::test]
async fn nothing_is_started_that_is_not_what_was_trusted() {
    let world = World::new();
    let folder = world.plugin("probe", &script_tool("probe"), "#!/bin/sh\ntouch started\necho 1\n");
    let (views, untrusted) = world.trusting(&[], PluginEffects::Command);
    assert!(!views[0].trusted && views[0].tools == ["probe"]);
    let desk = desk(untrusted);
    assert!(!desk.toolbox.catalog().get("probe").unwrap().trusted);
    assert!(failure(&desk.call("probe", json!({})).await).message.contains("not trusted"));

    desk.toolbox.offer_plugins(world.trusting(&["probe"], PluginEffects::Command).1);
    assert!(desk.toolbox.catalog().get("probe").unwrap().trusted);
    fs::write(folder.join("lib.sh"), "").unwrap();
    assert!(failure(&desk.call("probe", json!({})).await).message.contains("has changed"));
    assert!(!desk.run_dir().work().join("started").exists());
    fs::remove_file(folder.join("lib.sh")).unwrap();
    assert_eq!(*result(&desk.call("probe", json!({})).await), json!(1), "the folder is again what was trusted");
}

#[tokio::test]
async fn a_program_that_cannot_be_started_says_why() {
    let world = World::new();
    let folder = world.plugin("a", &tool("absent", json!({ "command": ["./gone"] })), "");
    let plain = world.plugin("b", &script_tool("plain"), "#!/bin/sh\n");
    fs::set_permissions(plain.join("run.sh"), fs::Permissions::from_mode(0o644)).unwrap();
    world.plugin("c", &tool("system", json!({ "command": ["cat"] })), "");
    let desk = desk(world.trusting(&["a", "b", "c"], PluginEffects::Command).1);
    let absent = desk.call("absent", json!({})).await;
    assert!(failure(&absent).message.contains(&format!("program not found: {}", folder.display())), "{absent:?}");
    assert!(failure(&desk.call("plain", json!({})).await).message.contains("chmod +x"));
    assert_eq!(*result(&desk.call("system", json!({ "n": 1 })).await), json!({ "n": 1 }), "a program of the system");
}

#[tokio::test]
async fn a_limit_of_memory_holds() {
    let run = json!({ "command": ["./run.sh"], "input": "none", "output": "text", "limits": { "memoryMb": 64 } });
    let (_world, desk) = desk_with(run, "#!/bin/sh\nulimit -v\n");
    assert_eq!(result(&desk.call("probe", json!({})).await)["stdout"], "65536\n");
}

#[test]
fn a_manifest_is_read_strictly_and_every_unknown_key_is_named() {
    let world = World::new();
    let mut bad = script_tool("probe");
    bad["inputSchem"] = json!({});
    bad["run"]["comand"] = json!([]);
    bad["node"] = json!({ "outputs": [{ "name": "x", "properties": [{ "nmae": "y" }] }] });
    let mut whole = manifest("probe", &[bad]);
    whole["tool"] = json!([]);
    write(&world.folder("probe"), &whole, "");
    let (views, tools) = world.trusting(&["probe"], PluginEffects::Command);
    assert!(tools.is_empty(), "a broken one offers nothing");
    assert_eq!(codes(&views[0]), ["unknown_key"; 4]);
    let told: Vec<_> =
        views[0].findings.iter().map(|finding| format!("{}: {}", finding.path, finding.message)).collect();
    for words in [
        "tools[0].inputSchem: `inputSchem` is no key here; did you mean `inputSchema`?",
        "tools[0].run.comand: `comand` is no key here; did you mean `command`?",
        "tools[0].node.outputs[0].properties[0].nmae: `nmae`",
        "tool: `tool` is no key here; did you mean `tools`?",
    ] {
        assert!(told.iter().any(|line| line.starts_with(words)), "{words}: {told:?}");
    }
}

#[test]
fn every_fault_of_a_manifest_has_its_code() {
    let cases: [(&str, Value); 17] = [
        ("not_json", json!("{")),
        ("unsupported_schema", json!({ "schema": 2, "more": 1 })),
        ("wrong_shape", json!({ "schema": 1, "id": "p" })),
        ("bad_id", manifest("other", &[])),
        ("not_supported_yet", json!({ "schema": 1, "id": "p", "name": "P", "version": "1", "hooks": [{}] })),
        ("bad_name", json!({ "schema": 1, "id": "p", "name": " ", "version": "1" })),
        (
            "not_enforced",
            json!({ "schema": 1, "id": "p", "name": "P", "version": "1", "permissions": { "network": true } }),
        ),
        ("reserved_name", manifest("p", &[script_tool("execute_command")])),
        ("reserved_name", manifest("p", &[script_tool("run_workflow_x")])),
        ("duplicate_tool", manifest("p", &[script_tool("a"), script_tool("a")])),
        ("bad_name", manifest("p", &[script_tool("a b")])),
        ("bad_command", manifest("p", &[tool("a", json!({ "command": [] }))])),
        ("bad_command", manifest("p", &[tool("a", json!({ "command": ["{{input.path}}"] }))])),
        ("bad_command", manifest("p", &[tool("a", json!({ "command": ["./x", "{{input.nothing}}"] }))])),
        ("bad_timeout", manifest("p", &[tool("a", json!({ "command": ["./x"], "timeoutSeconds": 0 }))])),
        ("bad_variable", manifest("p", &[tool("a", json!({ "command": ["./x"], "env": ["WEIR_CFG_LISTEN"] }))])),
        ("not_enforced", manifest("p", &[tool("a", json!({ "command": ["./x"], "limits": { "processes": 3 } }))])),
    ];
    let process_limits = ProcessLimits::NotHeld;
    let ground = Ground { is_reserved: crate::tool::is_builtin, process_limits };
    for (code, manifest) in cases {
        let bytes = manifest.as_str().map_or_else(|| manifest.to_string(), str::to_owned);
        let reading = super::manifest::read("p", bytes.as_bytes(), ground);
        let codes: Vec<_> = reading.findings.iter().map(|finding| finding.code.as_str()).collect();
        assert_eq!(codes, [code], "{manifest}");
    }
    let twice = br#"{"schema": 1, "id": "p", "id": "p", "name": "P", "version": "1"}"#;
    let twice = super::manifest::read("p", twice, ground);
    assert!(twice.findings[0].message.contains("duplicate field `id`"), "{twice:?}");
}

#[test]
fn of_two_plugins_with_one_tool_name_neither_is_used_and_both_are_named() {
    let world = World::new();
    world.plugin("one", &script_tool("same"), "");
    world.plugin("two", &script_tool("same"), "");
    world.plugin("three", &script_tool("other"), "");
    let (views, tools) = world.trusting(&["one", "two", "three"], PluginEffects::Command);
    let names: Vec<_> = tools.iter().map(|tool| tool.declaration.name.as_str()).collect();
    assert_eq!(names, ["other"]);
    for (id, other) in [("one", "`two`"), ("two", "`one`")] {
        let view = views.iter().find(|view| view.id == id).unwrap();
        assert_eq!(codes(view), ["duplicate_tool"]);
        assert!(view.findings[0].message.contains(other), "{view:?}");
    }
    // The same id in both homes.
    write(&world.directory.path().join("user/three"), &manifest("three", &[script_tool("third")]), "");
    let (views, tools) = world.trusting(&["three"], PluginEffects::Command);
    assert!(tools.is_empty());
    assert_eq!(views.iter().filter(|view| codes(view) == ["duplicate_plugin"]).count(), 2);
}

#[test]
fn a_tool_counts_as_a_command_unless_its_declared_effect_was_trusted() {
    let world = World::new();
    world.plugin("probe", &script_tool("probe"), "");
    for (effects, guarded) in [(PluginEffects::Command, Effect::Command), (PluginEffects::Declared, Effect::Read)] {
        let (views, tools) = world.trusting(&["probe"], effects);
        assert_eq!(tools[0].declaration.effect, Effect::Read, "what it declares stays");
        assert_eq!(tools[0].declaration.guarded_effect(), guarded);
        assert_eq!(views[0].effects, Some(effects));
    }
}

/// Plugins that are watched, and the catalog as each offer leaves it.
fn watched(world: &World) -> (Plugins, watch::Receiver<Arc<Catalog>>) {
    let store = Store::open(&world.directory.path().join("weir.redb")).unwrap();
    let (sender, catalogs) = watch::channel(Arc::default());
    let offer = move |tools: Vec<PluginTool>| {
        sender.send_replace(Arc::new(Catalog::new(tools.into_iter().map(|tool| tool.declaration))));
    };
    (Plugins::open(world.homes(), ProcessLimits::NotHeld, store, Box::new(offer)).unwrap(), catalogs)
}

async fn until(catalogs: &mut watch::Receiver<Arc<Catalog>>, so: impl FnMut(&Arc<Catalog>) -> bool) {
    tokio::time::timeout(PATIENCE, catalogs.wait_for(so)).await.expect("an offer").unwrap();
}

#[tokio::test]
async fn manifests_reload_when_they_change_and_a_changed_folder_is_untrusted_again() {
    let world = World::new();
    // The home does not exist yet.
    let (plugins, mut catalogs) = watched(&world);
    assert!(plugins.list().is_empty());
    let folder = world.plugin("probe", &script_tool("probe"), "");
    until(&mut catalogs, |catalog| catalog.get("probe").is_some_and(|tool| !tool.trusted)).await;

    let digest = plugins.list()[0].digest.clone().unwrap();
    let refused = plugins.trust("probe", &"0".repeat(64), PluginEffects::Command).await;
    assert!(matches!(refused, Err(PluginError::Changed { digest: Some(now), .. }) if now == digest));
    let trusted = plugins.trust("probe", &digest, PluginEffects::Command).await.unwrap();
    assert!(trusted.trusted);
    assert!(catalogs.borrow().get("probe").unwrap().trusted, "offered by the time it is answered");

    write(&folder, &manifest("probe", &[script_tool("renamed")]), "");
    until(&mut catalogs, |catalog| catalog.get("renamed").is_some_and(|tool| !tool.trusted)).await;
    assert!(catalogs.borrow().get("probe").is_none());
    fs::write(folder.join("plugin.json"), "{").unwrap();
    until(&mut catalogs, |catalog| catalog.get("renamed").is_none()).await;
    assert_eq!(codes(&plugins.list()[0]), ["not_json"]);
}

#[tokio::test]
async fn a_disabled_plugin_offers_nothing_and_keeps_its_trust() {
    let world = World::new();
    world.plugin("probe", &script_tool("probe"), "");
    let (plugins, catalogs) = watched(&world);
    let digest = plugins.list()[0].digest.clone().unwrap();
    plugins.trust("probe", &digest, PluginEffects::Declared).await.unwrap();
    let off = plugins.set_enabled("probe", false).await.unwrap();
    assert!(!off.enabled && off.trusted);
    assert!(catalogs.borrow().get("probe").is_none());
    let on = plugins.set_enabled("probe", true).await.unwrap();
    assert_eq!(on.effects, Some(PluginEffects::Declared));
    assert!(catalogs.borrow().get("probe").unwrap().trusted);
    assert!(matches!(plugins.set_enabled("nobody", true).await, Err(PluginError::Unknown { .. })));
}
