//! `weir check`, the API, the library and the function that the page calls say the same of every fixture.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;
use weir_shared::check::{Surroundings, check_text};
use weir_shared::finding::Finding;
use weir_shared::limits::Limits;
use weir_shared::tool::{Catalog, ToolDeclaration};
use weir_shared::wire::Checked;
use weir_tests::command_line;
use weir_tests::program::repository;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::{Worker, World};

/// What `weir check --json` says of one file.
#[derive(Deserialize)]
struct OfFile {
    file: PathBuf,
    findings: Vec<Finding>,
}

/// Every fixture by an id that a flow may have.
fn fixtures() -> Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for folder in ["tests/fixtures/findings", "tests/fixtures/canonical"] {
        for entry in std::fs::read_dir(repository().join(folder)).with_context(|| folder.to_owned())? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).context("a name")?.replace('_', "-");
            if let Some(id) = name.strip_suffix(".flow.json") {
                all.insert(id.to_owned(), std::fs::read_to_string(&path)?);
            }
        }
    }
    Ok(all)
}

#[test]
fn all_doors_tell_the_same_findings() -> Result<()> {
    let world = World::new()?;
    let fixtures = fixtures()?;
    assert!(fixtures.len() > 30, "there is a fixture for each finding");
    for (id, text) in &fixtures {
        std::fs::write(world.flow_file(id), text)?;
    }
    let worker = Worker::start_in(world)?;
    let client = worker.client()?;

    let said = command_line::run(worker.world().weir(&["check", "--json"]).arg(worker.world().flows()))?;
    assert_eq!(said.code, 3, "{}", said.stderr);
    let by_command: Vec<OfFile> = serde_json::from_str(&said.stdout).context("weir check --json")?;
    let tools: Vec<ToolDeclaration> = client.get("/api/agent/tools")?.having(200)?;
    let (catalog, limits) = (Catalog::new(tools), Limits::default());
    // This worker has no secrets; a page is not told, and leaves to the worker what depends on them.
    let secrets = BTreeSet::new();
    let as_page = Surroundings { catalog: &catalog, limits: &limits, secrets: Some(&secrets) };

    assert_eq!(by_command.len(), fixtures.len());
    for of_file in by_command {
        let name = of_file.file.file_name().and_then(|name| name.to_str()).context("a name")?;
        let id = name.strip_suffix(".flow.json").context("a flow")?;
        let text = &fixtures[id];

        let by_api: Checked = client.post("/api/workflows/check", &json!({ "text": text }))?.having(200)?;
        assert_eq!(by_api.findings, of_file.findings, "the API and weir check on {id}");
        let by_page = check_text(text.as_bytes(), &as_page);
        assert_eq!(by_page.findings, of_file.findings, "the page and weir check on {id}");
        assert_eq!(by_page.canonical, by_api.canonical, "{id}");
        assert_eq!(by_page.plan, by_api.plan, "{id}");
        let shown = until("the flow to show", PATIENCE, || client.flow(id).ok())?;
        assert_eq!(shown.findings, of_file.findings, "the library and weir check on {id}");
        assert_eq!(shown.text.is_some(), by_page.flow.is_none(), "{id} shows its text when it cannot be read");
    }
    Ok(())
}
