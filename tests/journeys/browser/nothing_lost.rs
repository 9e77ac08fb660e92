//! Unsaved work outlives the tab, and a file that changes under the page is taken or asked about, never lost.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use weir_tests::flows::{command_node, flow};
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::Worker;

use super::chromium::Chromium;
use super::{in_chromium, open_flow};

const SAVED: &str = "return document.querySelector('.save-state').innerText.trim() === 'Saved'";
const UNSAVED: &str = "return document.querySelector('.save-state').innerText.trim() !== 'Saved'";
const KEPT: &str = "return Object.keys(localStorage).some(key => key.startsWith('weir.draft/report/'))";
const NOT_KEPT: &str = "return !Object.keys(localStorage).some(key => key.startsWith('weir.draft/report/'))";

fn report(title: &str) -> Value {
    let mut node = command_node("disks", "df");
    node["title"] = json!(title);
    flow("Report", &[node], &[])
}

fn on_disk(worker: &Worker) -> Result<Value> {
    Ok(serde_json::from_str(&std::fs::read_to_string(worker.world().flow_file("report"))?)?)
}

async fn rename_flow(page: &Chromium, more: &str) -> Result<()> {
    page.see("input.toolbar-name").await?.send_keys(more).await?;
    page.until(UNSAVED).await
}

#[test]
fn unsaved_work_survives_a_killed_tab() -> Result<()> {
    in_chromium(async |worker, page| {
        open_flow(worker, page, "report", &report("Disks")).await?;
        page.until(SAVED).await?;
        page.until(NOT_KEPT).await?;
        rename_flow(page, " of tonight").await?;
        page.until(KEPT).await?;
        page.kill_tab().await?;
        page.open(&worker.url("/flows/report")).await?;
        page.press("Restore").await?;
        page.until("return document.querySelector('input.toolbar-name').value === 'Report of tonight'").await?;
        page.until(UNSAVED).await?;
        page.press("Undo (Ctrl Z)").await?;
        page.until(SAVED).await?;
        page.press("Redo (Ctrl Shift Z)").await?;
        page.keys(&['\u{e009}', 's']).await?;
        page.until(SAVED).await?;
        page.until(NOT_KEPT).await?;
        assert_eq!(on_disk(worker)?["name"], "Report of tonight");
        Ok(())
    })
}

#[test]
fn a_clean_page_follows_its_file_and_stays_clean() -> Result<()> {
    in_chromium(async |worker, page| {
        open_flow(worker, page, "report", &report("Disks")).await?;
        page.until(SAVED).await?;
        worker.world().write_flow("report", &report("Disks, by git"))?;
        page.see("[data-part=card][aria-label^='Disks, by git']").await?;
        page.until(SAVED).await?;
        rename_flow(page, " again").await?;
        page.keys(&['\u{e009}', 's']).await?;
        page.until(SAVED).await?;
        let flow = on_disk(worker)?;
        assert_eq!(flow["nodes"][0]["title"], "Disks, by git", "the save builds on what git brought");
        assert_eq!(flow["name"], "Report again");
        Ok(())
    })
}

#[test]
fn a_file_changed_under_unsaved_work_is_asked_about_and_either_way_nothing_is_lost() -> Result<()> {
    in_chromium(async |worker, page| {
        open_flow(worker, page, "report", &report("Disks")).await?;
        rename_flow(page, " mine").await?;
        worker.world().write_flow("report", &report("Theirs"))?;
        page.press("Take theirs").await?;
        page.see("[data-part=card][aria-label^='Theirs']").await?;
        page.until(SAVED).await?;
        page.press("Undo (Ctrl Z)").await?;
        page.until("return document.querySelector('input.toolbar-name').value === 'Report mine'").await?;

        worker.world().write_flow("report", &report("Theirs again"))?;
        page.press("Keep mine").await?;
        page.until(SAVED).await?;
        let flow =
            until("mine on disk", PATIENCE, || on_disk(worker).ok().filter(|flow| flow["name"] == "Report mine"))?;
        assert_eq!(flow["nodes"].as_array().context("nodes")?[0]["title"], "Disks");
        Ok(())
    })
}

#[test]
fn two_versions_are_compared_part_by_part_and_saved_together() -> Result<()> {
    in_chromium(async |worker, page| {
        let mut base = report("Disks");
        base["nodes"].as_array_mut().context("nodes")?.push(command_node("memory", "free"));
        open_flow(worker, page, "report", &base).await?;
        rename_flow(page, " mine").await?;
        page.see("[data-part=card][data-id=disks]").await?.click().await?;
        page.see("input.title-input").await?.send_keys(" mine").await?;

        let mut theirs = report("Disks theirs");
        theirs["nodes"][0]["args"]["command"] = json!("df -h");
        let nodes = theirs["nodes"].as_array_mut().context("nodes")?;
        nodes.push(command_node("memory", "free -m"));
        nodes.push(command_node("load", "uptime"));
        worker.world().write_flow("report", &theirs)?;
        page.press("Compare…").await?;
        // Only one part was changed on both sides; theirs is picked for it.
        page.see_count(".compare-row.asked", 1).await?;
        page.shot("compare").await?;
        let theirs = "//details[contains(@class,'asked')]//button[@role='radio'][normalize-space(.)='Theirs']";
        page.see_path(theirs).await?.click().await?;
        page.press("Save the two together").await?;
        page.until(SAVED).await?;
        let flow = until("both versions on disk", PATIENCE, || {
            on_disk(worker).ok().filter(|flow| flow["name"] == "Report mine")
        })?;
        assert_eq!(flow["nodes"][0]["title"], "Disks theirs");
        assert_eq!(flow["nodes"][0]["args"]["command"], "df -h");
        assert_eq!(flow["nodes"][1]["args"]["command"], "free -m", "what only they changed is theirs");
        assert_eq!(flow["nodes"][2]["id"], "load", "and so is what only they added");
        page.press("Undo (Ctrl Z)").await?;
        page.see("[data-part=card][aria-label^='Disks mine']").await?;
        Ok(())
    })
}
