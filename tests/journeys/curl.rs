//! The whole of a flow's life with `curl` alone: what README shows, done for real.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_tests::command_line::{self, Said};
use weir_tests::flows::{command_node, flow};
use weir_tests::processes;
use weir_tests::wait::until;
use weir_tests::worker::Worker;

struct Curl<'a> {
    worker: &'a Worker,
    token: String,
}

impl<'a> Curl<'a> {
    fn new(worker: &'a Worker) -> Result<Self> {
        Ok(Self { worker, token: worker.token()? })
    }

    fn run(&self, path: &str, arguments: &[&str]) -> Result<Said> {
        let mut command = self.worker.world().command("curl");
        command.args(["-sS", "--noproxy", "*", "-H", &format!("X-Weir-Token: {}", self.token)]);
        command.args(arguments).arg(self.worker.url(path));
        command_line::run(&mut command)
    }

    fn json(&self, path: &str, arguments: &[&str]) -> Result<Value> {
        let said = self.run(path, arguments)?;
        ensure!(said.code == 0, "curl {path}: {said:?}");
        serde_json::from_str(&said.stdout).with_context(|| format!("curl {path}: {}", said.stdout))
    }

    /// Starts a flow and returns its run.
    fn start(&self, flow: &str, body: &str) -> Result<String> {
        let accepted = self.json(&format!("/api/workflows/{flow}/run"), &["-d", body])?;
        Ok(accepted["runId"].as_str().with_context(|| accepted.to_string())?.to_owned())
    }
}

/// The ids of a stream as it was printed.
fn ids(stream: &str) -> Vec<u64> {
    stream
        .lines()
        .filter_map(|line| line.strip_prefix("id:"))
        .map(|id| id.trim().parse().expect("an id is a number"))
        .collect()
}

#[test]
fn create_run_follow_cut_resume_and_approve() -> Result<()> {
    let worker = Worker::start()?;
    let curl = Curl::new(&worker)?;

    let mut deploy = command_node("deploy", "echo deployed {{inputs.to}} {{node.build.result.stdout}}");
    deploy["approval"] = json!(true);
    let mut flow = flow("Ship it", &[command_node("build", "printf 1.2.3"), deploy], &[("build", "deploy")]);
    flow["inputs"] = json!({
        "type": "object",
        "properties": { "to": { "type": "string", "default": "staging" } },
    });
    let created = curl.json("/api/workflows", &["-d", &json!({ "flow": flow }).to_string()])?;
    assert_eq!(created["id"], "ship-it");
    assert!(worker.world().flow_file("ship-it").exists());

    let run = curl.start("ship-it", r#"{"inputs": {"to": "production"}, "config": {"requireStepApproval": false}}"#)?;
    let stream = format!("/api/agent/stream?runId={run}");
    // Parked at its gate the run is live: curl is cut off by its own time limit (code 28).
    let cut = curl.run(&stream, &["-N", "--max-time", "2"])?;
    assert_eq!(cut.code, 28, "{cut:?}");
    assert!(cut.stdout.contains("step_approval_requested"), "{}", cut.stdout);
    assert!(cut.stdout.contains("deployed production 1.2.3"), "the gate shows what will run: {}", cut.stdout);
    let first = ids(&cut.stdout);

    let detail = curl.json(&format!("/api/agent/runs/{run}"), &[])?;
    assert_eq!(detail["status"], "awaiting_step_approval");
    let approved = curl.run(&format!("/api/agent/{run}/approve"), &["-X", "POST", "-w", "%{http_code}"])?;
    assert!(approved.stdout.ends_with("202"), "{approved:?}");

    let last = format!("Last-Event-ID: {}", first.last().context("no event came")?);
    let rest = curl.run(&stream, &["-N", "-H", &last])?;
    assert_eq!(rest.code, 0, "after the end the stream closes: {rest:?}");
    assert!(rest.stdout.contains("complete"), "{}", rest.stdout);
    let all: Vec<u64> = first.into_iter().chain(ids(&rest.stdout)).collect();
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>(), "no gap and no repeat");

    let detail = curl.json(&format!("/api/agent/runs/{run}"), &[])?;
    assert_eq!(detail["status"], "completed");
    assert_eq!(detail["executions"][1]["result"]["stdout"], "deployed production 1.2.3\n");
    let output = curl.run(&format!("/api/agent/runs/{run}/steps/1/output?attempt=1&stream=stdout&offset=0"), &[])?;
    assert_eq!(output.stdout, "deployed production 1.2.3\n");
    let again = curl.run(&format!("/api/agent/{run}/approve"), &["-X", "POST", "-w", "%{http_code}"])?;
    assert!(again.stdout.ends_with("409"), "a late answer releases nothing: {again:?}");
    Ok(())
}

#[test]
fn reject_a_gate() -> Result<()> {
    let worker = Worker::start()?;
    let curl = Curl::new(&worker)?;
    let flow = flow("Ask", &[command_node("ask", "touch \"$HOME/ran\"")], &[]);
    curl.json("/api/workflows", &["-d", &json!({ "id": "ask", "flow": flow }).to_string()])?;
    let run = curl.start("ask", "{}")?;
    let client = worker.client()?;
    let id = run.parse()?;
    client.follow(&id)?.until("step_approval_requested", |_| true)?;
    curl.json(&format!("/api/agent/{run}/approve"), &["-d", r#"{"approved": false, "reason": "not today"}"#])?;
    let detail = client.finish(&id)?;
    assert_eq!(detail.row.status.as_str(), "failed");
    assert!(detail.row.error.as_deref().unwrap_or("").contains("not today"), "{:?}", detail.row.error);
    assert!(!worker.world().path("home/ran").exists());
    Ok(())
}

#[test]
fn cancel_a_tree_of_processes() -> Result<()> {
    let worker = Worker::start()?;
    let curl = Curl::new(&worker)?;
    let mut node = command_node("tree", "setsid sleep 941.1 & bash -c 'sleep 941.2 & sleep 941.3 & wait'");
    node["stop"] = json!({ "graceSeconds": 1 });
    let flow = flow("Tree", &[node], &[]);
    curl.json("/api/workflows", &["-d", &json!({ "id": "tree", "flow": flow }).to_string()])?;
    let run = curl.start("tree", r#"{"config": {"permissionMode": "full-access"}}"#)?;
    until("the tree", weir_tests::wait::PATIENCE, || (processes::running("sleep 941.").len() >= 3).then_some(()))?;

    let cancelled = curl.run(&format!("/api/agent/{run}/cancel"), &["-X", "POST", "-w", "%{http_code}"])?;
    assert!(cancelled.stdout.ends_with("202"), "{cancelled:?}");
    until("nothing of it to be left", std::time::Duration::from_secs(2), || {
        processes::running("sleep 941.").is_empty().then_some(())
    })?;
    let stream = curl.run(&format!("/api/agent/stream?runId={run}"), &["-N"])?;
    assert!(stream.stdout.contains("\"cancelled\""), "{}", stream.stdout);
    Ok(())
}
