//! A webhook made in the builder: refused with the reason, made, called with the line that it shows, replaced, removed.

use anyhow::{Context, Result};
use weir_tests::client::{Answer, Client, Request};
use weir_tests::flows::one_command_flow;

use super::{in_chromium, open_flow};

const LINE: &str = "return document.querySelector('.webhooks-line').textContent";

#[test]
fn a_webhook_is_made_called_replaced_and_removed_in_the_page() -> Result<()> {
    in_chromium(async |worker, page| {
        open_flow(worker, page, "hooked", &one_command_flow("Hooked", "true")).await?;
        let client = worker.client()?;
        client.publish("hooked", &client.flow("hooked")?.revision)?;
        page.press("Webhooks").await?;
        page.press("New webhook").await?;
        page.press("Make webhook").await?;
        page.read("nobody is there to answer a gate").await?;
        page.see("#webhook-mode").await?.select_by_label("Full access").await?;
        page.press("Make webhook").await?;
        page.see(".webhooks-fresh").await?;
        let line = page.script(LINE, Vec::new()).await?;
        let line = line.as_str().context("a line")?.to_owned();
        assert_eq!(call(worker.address(), &line)?.status, 202);
        page.press("Done").await?;
        page.see("body:not(:has(.webhooks-fresh))").await?;

        page.press("Deliveries").await?;
        page.see(".deliveries > li a[href^=\"/runs/\"]").await?;
        page.press("New secret").await?;
        page.press("Replace the secret").await?;
        page.see(".webhooks-fresh").await?;
        let fresh = page.script(LINE, Vec::new()).await?;
        let fresh = fresh.as_str().context("a line")?;
        assert_eq!((call(worker.address(), &line)?.status, call(worker.address(), fresh)?.status), (401, 202));

        page.press("Remove").await?;
        page.press("Remove the webhook").await?;
        page.see("body:not(:has(.webhook))").await?;
        assert_eq!(call(worker.address(), fresh)?.status, 401);
        Ok(())
    })
}

/// Does what a line of `curl` says.
fn call(address: &str, line: &str) -> Result<Answer> {
    let quoted: Vec<&str> = line.split('\'').collect();
    let path = quoted.get(1).and_then(|url| url.strip_prefix(&format!("http://{address}"))).context("an address")?;
    let (name, value) = quoted.get(3).and_then(|header| header.split_once(": ")).context("a secret")?;
    let headers = [(name, value)];
    Client::anonymous(address).send(&Request { method: "POST", path, headers: &headers, body: Some(b"{}") })
}
