//! Open with the token, draw a flow, save it, see the file, run it and watch it complete.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use weir_shared::run::state::RunStatus;
use weir_tests::command_line;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::Worker;

use super::chromium::Chromium;
use super::in_chromium;

#[test]
fn a_flow_is_drawn_saved_as_a_file_run_and_watched() -> Result<()> {
    in_chromium(async |worker, page| {
        open_library(worker, page).await?;
        new_flow(page, "Count words").await?;
        draw(page).await?;
        save(page).await?;
        let flow = saved_flow(worker)?;
        let nodes = flow["nodes"].as_array().context("nodes")?;
        assert_eq!(nodes.len(), 2);
        assert_eq!(nodes[0]["args"]["command"], "echo one two three");
        let (first, second) = (nodes[0]["id"].as_str().unwrap(), nodes[1]["id"].as_str().unwrap());
        assert_eq!(nodes[1]["args"]["command"], format!("echo got {{{{node.{first}.result.stdout}}}}"));
        let edges = flow["edges"].as_array().context("edges")?;
        assert_eq!(edges.len(), 1, "one edge, drawn by hand; the reference adds no second one");
        assert_eq!((edges[0]["source"].as_str(), edges[0]["target"].as_str()), (Some(first), Some(second)));
        let check =
            command_line::run(worker.world().weir(&["fmt", "--check"]).arg(worker.world().flow_file("count-words")))?;
        assert_eq!(check.code, 0, "what the page saves is canonical: {check:?}");

        run_with_full_access(page).await?;
        page.read("got one two three").await?;
        page.see_count("[data-part=card][data-id] .st.ok", 2).await?;
        page.shot("run").await?;
        let runs = worker.client()?.runs("flow=count-words")?.runs;
        assert_eq!(runs.iter().map(|run| run.status).collect::<Vec<_>>(), [RunStatus::Completed]);
        Ok(())
    })
}

#[test]
fn a_change_on_disk_shows_in_the_library_at_once() -> Result<()> {
    in_chromium(async |worker, page| {
        open_library(worker, page).await?;
        worker.world().write_flow("by-git", &weir_tests::flows::one_command_flow("Came by git", "true"))?;
        page.read("Came by git").await?;
        std::fs::remove_file(worker.world().flow_file("by-git"))?;
        page.see("body:not(:has(a[href=\"/flows/by-git\"]))").await?;
        Ok(())
    })
}

async fn open_library(worker: &Worker, page: &Chromium) -> Result<()> {
    page.open(&worker.url(&format!("/#token={}", worker.token()?))).await?;
    page.control("New flow").await?;
    page.shot("library").await?;
    let address = page.address().await?;
    ensure!(!address.contains("token"), "the token leaves the address bar: {address}");
    Ok(())
}

async fn new_flow(page: &Chromium, name: &str) -> Result<()> {
    page.press("New flow").await?;
    page.see("#new-flow-name").await?.send_keys(name).await?;
    page.press("Create flow").await?;
    page.see("[data-part=card]").await?;
    Ok(())
}

/// Two commands from the palette, the second one fed by the first.
async fn draw(page: &Chromium) -> Result<()> {
    let tool = page.see("nav[aria-label=Tools] .tool[title^='Runs'], nav[aria-label=Tools] .tool").await?;
    drop(tool);
    let command = page.see_path("//nav[@aria-label='Tools']//button[.//b='Command']").await?;
    let from = Chromium::middle(&command).await?;
    let (left, top, width, height) = page.see("main[aria-label=Canvas]").await?.rectangle().await?;
    page.drag(from, (left + width * 0.42, top + height * 0.3)).await?;
    page.see_count("[data-part=card][data-id]", 1).await?;
    page.see("#arg-command").await?.send_keys("echo one two three").await?;

    page.drag(from, (left + width * 0.62, top + height * 0.62)).await?;
    let cards = page.see_count("[data-part=card][data-id]", 2).await?;
    page.see("#arg-command").await?.send_keys("echo got ").await?;

    let first = Chromium::middle(&cards[0]).await?;
    page.hover(first).await?;
    let output = page.see("[data-part=card][data-id] [data-part=output]").await?;
    page.drag(Chromium::middle(&output).await?, Chromium::middle(&cards[1]).await?).await?;
    page.see("[data-part=edge]").await?;

    page.press("Insert a value").await?;
    page.see_path("//*[@role='treeitem'][contains(@title, 'stdout')]").await?.click().await?;
    page.shot("builder").await
}

async fn save(page: &Chromium) -> Result<()> {
    page.see_path("//header//button[starts-with(normalize-space(.), 'Save')][not(@disabled)]").await?.click().await?;
    page.see_path("//*[@role='status'][normalize-space(.)='Saved']").await?;
    Ok(())
}

fn saved_flow(worker: &Worker) -> Result<Value> {
    let path = worker.world().flow_file("count-words");
    let text = until("the drawn flow on disk", PATIENCE, || {
        std::fs::read_to_string(&path).ok().filter(|text| text.contains("got"))
    })?;
    Ok(serde_json::from_str(&text)?)
}

async fn run_with_full_access(page: &Chromium) -> Result<()> {
    page.see_path("//header//button[normalize-space(.)='Run']").await?.click().await?;
    page.see("#run-mode").await?.select_by_label("Full access").await?;
    page.see_path("//dialog//button[normalize-space(.)='Run']").await?.click().await?;
    Ok(())
}
