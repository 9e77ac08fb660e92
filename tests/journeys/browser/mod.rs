//! Journeys in a real Chromium, with the page as the worker serves it.

mod build_by_keys;
mod chromium;
mod draw_and_run;
mod nothing_lost;
mod parts_and_pins;
mod webhooks;

use anyhow::Result;
use weir_tests::worker::Worker;

use chromium::Chromium;

/// A worker with an empty library, and a browser.
fn in_chromium(journey: impl AsyncFnOnce(&Worker, &Chromium) -> Result<()>) -> Result<()> {
    let worker = Worker::start()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let page = Chromium::start(worker.world()).await?;
        journey(&worker, &page).await?;
        page.close().await
    })
}

/// Enters with the token, writes a flow as git would, and opens it.
async fn open_flow(worker: &Worker, page: &Chromium, id: &str, flow: &serde_json::Value) -> Result<()> {
    worker.world().write_flow(id, flow)?;
    page.open(&worker.url(&format!("/#token={}", worker.token()?))).await?;
    page.see(&format!("a[href=\"/flows/{id}\"]")).await?;
    page.open(&worker.url(&format!("/flows/{id}"))).await?;
    page.see("[data-part=card][data-id]").await?;
    Ok(())
}
