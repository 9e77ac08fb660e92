//! Adding, connecting and copying without a mouse; one gesture is one step of undo.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use weir_tests::flows::{command_node, flow};

use super::chromium::Chromium;
use super::{in_chromium, open_flow};

const CTRL: char = '\u{e009}';
const ENTER: char = '\u{e007}';

const COPY: &str = "const data = new DataTransfer();
    document.activeElement.dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true }));
    return data.getData('text/plain')";
const PASTE: &str = "const data = new DataTransfer(); data.setData('text/plain', arguments[0]);
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))";

fn two() -> Value {
    let mut flow =
        flow("Two", &[command_node("one", "echo one"), command_node("two", "echo {{node.one.result.stdout}}")], &[]);
    flow["layout"] = json!({ "$start": { "x": -304, "y": 0 }, "one": { "x": 0, "y": 0 }, "two": { "x": 304, "y": 0 } });
    flow
}

async fn choose(page: &Chromium, letters: &str) -> Result<()> {
    page.see(".ask input").await?;
    page.type_text(letters).await?;
    page.see(".ask [role=option][aria-selected=true]").await?;
    page.keys(&[ENTER]).await
}

#[test]
fn nodes_are_added_and_connected_by_keys_and_each_is_one_step() -> Result<()> {
    in_chromium(async |worker, page| {
        open_flow(worker, page, "two", &two()).await?;
        page.see_count(".edge.reference", 1).await?;
        page.keys(&['n']).await?;
        choose(page, "wait").await?;
        page.see_count("[data-part=card][data-id]", 3).await?;
        // The new node is selected; C connects it.
        page.keys(&['c']).await?;
        choose(page, "one").await?;
        page.see("[data-part=edge][data-source=delay_1][data-target=one]").await?;
        page.keys(&[CTRL, 'z']).await?;
        page.see_count("[data-part=edge]", 0).await?;
        page.keys(&[CTRL, 'z']).await?;
        page.see_count("[data-part=card][data-id]", 2).await?;
        page.see_path("//*[@role='status'][normalize-space(.)='Saved']").await?;
        Ok(())
    })
}

#[test]
fn a_command_is_found_by_its_name_and_so_is_a_node() -> Result<()> {
    in_chromium(async |worker, page| {
        open_flow(worker, page, "two", &two()).await?;
        page.keys(&[CTRL, 'k']).await?;
        choose(page, "select every").await?;
        page.see_count("[data-part=card][data-id].selected", 2).await?;
        page.keys(&[CTRL, 'k']).await?;
        choose(page, "delete the").await?;
        page.see_count("[data-part=card][data-id]", 0).await?;
        page.keys(&[CTRL, 'k']).await?;
        choose(page, "undo").await?;
        page.see_count("[data-part=card][data-id]", 2).await?;
        page.keys(&[CTRL, 'k']).await?;
        choose(page, "two").await?;
        page.see("[data-part=card][data-id=two].selected").await?;
        page.see_count("[data-part=card][data-id].selected", 1).await?;
        Ok(())
    })
}

#[test]
fn copies_get_new_ids_and_a_paste_into_a_field_is_the_fields() -> Result<()> {
    in_chromium(async |worker, page| {
        open_flow(worker, page, "two", &two()).await?;
        page.keys(&[CTRL, 'a']).await?;
        let copied = page.script(COPY, Vec::new()).await?;
        assert!(copied.as_str().context("text")?.contains("node.one.result"), "{copied}");
        page.script(PASTE, vec![copied.clone()]).await?;
        page.see_count("[data-part=card][data-id]", 4).await?;
        page.see("[data-part=card][data-id=one_1]").await?;
        page.see("[data-part=card][data-id=two_1]").await?;
        // The copy refers to the copy, not to the original.
        page.see_count(".edge.reference", 2).await?;
        page.keys(&[CTRL, 'z']).await?;
        page.see_count("[data-part=card][data-id]", 2).await?;

        page.see("input.toolbar-name").await?.click().await?;
        page.script(PASTE, vec![copied]).await?;
        page.keys(&['\u{e017}']).await?;
        page.keys(&['n']).await?;
        page.see_count("[data-part=card][data-id]", 2).await?;
        page.see_count(".ask", 0).await?;
        Ok(())
    })
}
