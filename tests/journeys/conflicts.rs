//! A save never overwrites what its author has not seen.
//!
//! The kind of C112: of two open editors the second one won without a question.

use anyhow::Result;
use serde_json::json;
use weir_shared::ids::Revision;
use weir_tests::flows::one_command_flow;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::Worker;

#[test]
fn the_second_of_two_editors_is_refused_and_shown_the_first_ones_version() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let opened = client.create_flow("shared", &one_command_flow("Shared", "echo start"))?;

    let by_a = one_command_flow("Renamed by A", "echo start");
    assert_eq!(client.save_flow("shared", &by_a, &opened.revision)?.status, 200);
    let on_disk = std::fs::read(worker.world().flow_file("shared"))?;

    let by_b = one_command_flow("Shared", "echo moved by B");
    let conflict = client.save_flow("shared", &by_b, &opened.revision)?.problem(409)?;
    assert_eq!(conflict.code, "revision_conflict");
    assert_eq!(conflict.more["revision"], json!(Revision::of(&on_disk)));
    assert_eq!(conflict.more["flow"]["name"], "Renamed by A");
    assert_eq!(std::fs::read(worker.world().flow_file("shared"))?, on_disk, "A's change is still there");

    let delete = client.delete(&format!("/api/workflows/shared?expectedRevision={}", opened.revision))?;
    assert_eq!(delete.status, 409);
    assert_eq!(client.put("/api/workflows/shared", &json!({ "flow": by_b }))?.status, 428);
    Ok(())
}

#[test]
fn a_change_on_disk_counts_like_any_other() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let opened = client.create_flow("edited", &one_command_flow("Edited", "echo one"))?;

    let sed =
        worker.world().command("sed").args(["-i", "s/one/two/"]).arg(worker.world().flow_file("edited")).status()?;
    assert!(sed.success());
    // At once, before any watcher could have told: the bytes on disk decide.
    let refused = client.save_flow("edited", &one_command_flow("Edited", "echo mine"), &opened.revision)?;
    assert_eq!(refused.problem(409)?.code, "revision_conflict");
    assert!(std::fs::read_to_string(worker.world().flow_file("edited"))?.contains("echo two"));

    let seen = until("the new revision", PATIENCE, || {
        client.flow("edited").ok().filter(|flow| flow.revision != opened.revision)
    })?;
    assert_eq!(client.save_flow("edited", &one_command_flow("Edited", "echo mine"), &seen.revision)?.status, 200);
    Ok(())
}

#[test]
fn saving_what_is_there_writes_the_same_bytes() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let made = client.create_flow("same", &one_command_flow("Same", "echo one"))?;
    let before = std::fs::read(worker.world().flow_file("same"))?;
    let flow = serde_json::to_value(made.flow)?;
    let saved: weir_shared::wire::FlowView = client.save_flow("same", &flow, &made.revision)?.having(200)?;
    assert_eq!(saved.revision, made.revision);
    assert_eq!(std::fs::read(worker.world().flow_file("same"))?, before);
    Ok(())
}
