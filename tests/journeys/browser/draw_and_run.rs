//! Open with the token, draw a flow, save it, see the file, run it and watch it complete.

use anyhow::Result;
use weir_tests::worker::Worker;

use super::chromium::Chromium;

#[test]
fn the_token_of_the_address_opens_the_library_and_leaves_the_address_bar() -> Result<()> {
    in_chromium(async |worker: &Worker, page: &Chromium| {
        page.open(&worker.url(&format!("/#token={}", worker.token()?))).await?;
        page.control("New flow").await?;
        page.shot("library").await?;
        let address = page.address().await?;
        assert!(!address.contains("token"), "{address}");
        Ok(())
    })
}

fn in_chromium(journey: impl AsyncFnOnce(&Worker, &Chromium) -> Result<()>) -> Result<()> {
    let worker = Worker::start()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let page = Chromium::start(worker.world()).await?;
        journey(&worker, &page).await?;
        page.close().await
    })
}
