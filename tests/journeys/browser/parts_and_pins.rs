//! A part of a flow is run, its results are looked at and pinned, and a run of the past is put on the canvas.

use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use weir_shared::ids::RunId;
use weir_shared::run::state::RunStatus;
use weir_tests::flows::{command_node, flow};
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::Worker;

use super::chromium::Chromium;
use super::{in_chromium, open_flow};

const SAVED: &str = "return document.querySelector('.save-state').innerText.trim() === 'Saved'";

/// Three commands in a row, each saying what came before it.
fn relay() -> Value {
    let nodes = [
        command_node("first", "echo baton"),
        command_node("second", "echo second has {{node.first.result.stdout}}"),
        command_node("third", "echo third has {{node.second.result.stdout}}"),
    ];
    let mut flow = flow("Relay", &nodes, &[("first", "second"), ("second", "third")]);
    flow["layout"] = json!({
        "$start": { "x": -304, "y": 0 }, "first": { "x": 0, "y": 0 }, "second": { "x": 304, "y": 0 }, "third": { "x": 608, "y": 0 },
    });
    flow
}

async fn run(page: &Chromium, mode: &str) -> Result<()> {
    page.see("#run-mode").await?.select_by_label(mode).await?;
    page.see_path("//dialog[@open]//button[normalize-space(.)='Run']").await?.click().await?;
    Ok(())
}

async fn choose_node(page: &Chromium, id: &str) -> Result<()> {
    page.see(&format!("[data-part=card][data-id={id}]")).await?.click().await?;
    page.control("Run to here").await.map(drop)
}

fn newest(worker: &Worker) -> Result<(RunId, RunStatus)> {
    let runs = worker.client()?.runs("flow=relay")?.runs;
    let run = runs.first().context("a run")?;
    Ok((run.run_id.clone(), run.status))
}

#[test]
fn a_part_is_run_its_result_pinned_and_the_run_found_again_on_the_canvas() -> Result<()> {
    in_chromium(async |worker, page| {
        open_flow(worker, page, "relay", &relay()).await?;
        choose_node(page, "second").await?;
        page.press("Run to here").await?;
        run(page, "Full access").await?;
        page.read("second has baton").await?;
        page.see("[data-part=card][data-id=second] .st.ok").await?;
        page.see_count("[data-part=card][data-id=third] .st", 0).await?;
        let (partial, status) = newest(worker)?;
        assert_eq!(status, RunStatus::Completed);

        page.see_path("//*[@role='tab'][normalize-space(.)='Output']").await?.click().await?;
        page.press("Pin").await?;
        page.control("Unpin").await?;
        page.keys(&['\u{e009}', 's']).await?;
        page.until(SAVED).await?;
        let pinned = until("the pin on disk", PATIENCE, || {
            let text = std::fs::read_to_string(worker.world().flow_file("relay")).ok()?;
            serde_json::from_str::<Value>(&text).ok()?.pointer("/pins/second/stdout").cloned()
        })?;
        assert_eq!(pinned.as_str().map(str::trim), Some("second has baton"));

        choose_node(page, "third").await?;
        page.press("Run this node").await?;
        run(page, "Full access").await?;
        page.see("[data-part=card][data-id=third] .st.ok").await?;
        page.read("third has second has baton").await?;

        page.open(&worker.url(&format!("/runs/{partial}"))).await?;
        page.press("Show on the canvas").await?;
        page.see("[data-part=card][data-id=second] .st.ok").await?;
        page.see_count("[data-part=card][data-id=third] .st", 0).await?;
        Ok(())
    })
}

#[test]
fn a_gate_lists_the_files_that_an_answer_covers_and_nothing_lies_over_the_cards() -> Result<()> {
    in_chromium(async |worker, page| {
        let script = worker.world().path("prune");
        std::fs::write(&script, "#!/bin/sh\necho pruned\n")?;
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))?;
        let node = command_node("prune", &script.display().to_string());
        open_flow(worker, page, "prune", &flow("Prune", &[node], &[])).await?;
        page.press("Run").await?;
        run(page, "Ask for approval").await?;
        let files = page.see(".gate .gate-files").await?.text().await?;
        assert!(files.contains(&script.display().to_string()) && files.contains("22 B"), "{files}");
        page.shot("gate").await?;
        // The panel took half of the canvas; each card is still what a press on its middle reaches.
        page.until(
            "return [...document.querySelectorAll('[data-part=card]')].every(card => {
                const box = card.getBoundingClientRect();
                const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
                return hit !== null && card.contains(hit);
            })",
        )
        .await?;
        page.press("Approve").await?;
        page.see("[data-part=card][data-id=prune] .st.ok").await?;

        page.see("[data-part=card][data-id=prune]").await?.click().await?;
        let label = page.see("label[for=arg-command]").await?;
        let (_, _, _, height) = label.rectangle().await?;
        assert!(height < 30.0, "the label `Command` stands on one line, not on {height} px");
        Ok(())
    })
}
