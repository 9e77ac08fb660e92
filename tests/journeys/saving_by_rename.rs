//! However a file is replaced, the new text is what shows and what runs.
//!
//! The kind of C001: a watcher bound to the file follows its inode and misses every save by rename after the first.

use anyhow::{Context, Result, ensure};
use serde_json::Map;
use weir_shared::ids::FlowId;
use weir_tests::client::Client;
use weir_tests::flows::one_command_flow;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::Worker;

/// Waits until the flow shows this word, runs it and finds the word in what it printed.
fn shows_and_prints(client: &Client, id: &FlowId, word: &str) -> Result<()> {
    until(word, PATIENCE, || {
        let flow = client.flow(id.as_str()).ok()?.flow?;
        let command = flow.nodes[0].args.as_ref()?.get("command")?.as_str()?;
        command.contains(word).then_some(())
    })?;
    let run = client.run_flow(id, &Map::new())?;
    let run = client.finish(&run)?;
    let result = run.executions[0].result.as_ref().context("the step has no result")?;
    ensure!(result["stdout"] == format!("{word}\n"), "{result}");
    Ok(())
}

#[test]
fn every_replacement_is_seen_and_run() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let id = client.create_flow("a", &one_command_flow("Words", "echo one"))?.id;
    shows_and_prints(&client, &id, "one")?;

    let shell = |script: &str| -> Result<()> {
        let status =
            worker.world().command("/bin/sh").args(["-ec", script]).current_dir(worker.world().flows()).status()?;
        ensure!(status.success(), "{script}: {status}");
        Ok(())
    };
    shell("sed -i s/one/two/ a.flow.json")?;
    shows_and_prints(&client, &id, "two")?;
    shell("sed -i s/two/three/ a.flow.json")?;
    shows_and_prints(&client, &id, "three")?;
    shell("cp a.flow.json new.tmp && sed -i s/three/four/ new.tmp && mv new.tmp a.flow.json")?;
    shows_and_prints(&client, &id, "four")?;
    // An editor that keeps the old file aside and writes a new one.
    shell("mv a.flow.json a.flow.json~ && sed s/four/five/ a.flow.json~ > a.flow.json")?;
    shows_and_prints(&client, &id, "five")?;
    // Deleted, and made again.
    shell("mv a.flow.json a.flow.json~")?;
    until("the flow to go", PATIENCE, || (client.get("/api/workflows/a").ok()?.status == 404).then_some(()))?;
    shell("sed s/five/six/ a.flow.json~ > a.flow.json")?;
    shows_and_prints(&client, &id, "six")?;
    assert_eq!(client.flows()?.len(), 1, "neither backups nor temporary files are flows");
    Ok(())
}
