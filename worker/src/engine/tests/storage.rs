//! C096 in a live worker: the disk fails or is full in the middle of a commit, or is full when the worker starts.

use weir_shared::run::state::StepStatus;

use super::*;
use crate::store::tests::faulty_disk::{Fault, FaultyDisk, Lasting};

fn engine_on(disk: &FaultyDisk) -> Engine {
    Engine::on(disk.open(), tempfile::tempdir().unwrap(), Settings::default())
}

fn two_steps() -> Value {
    json!({"steps": [command(0, "echo one", &[]), command(1, "echo two", &[0])]})
}

/// Follows a run to its end, without a gap, and gives what there is of it then.
async fn ended(engine: &Engine, run: &RunId) -> RunDetail {
    let seen: Vec<u64> = engine.end(run).await.iter().map(|frame| frame.id.unwrap().0).collect();
    let detail = engine.detail(run);
    let kept: Vec<u64> = detail.events.iter().map(|event| event.seq.0).collect();
    assert_eq!(kept, (1..=kept.len() as u64).collect::<Vec<_>>(), "the journal has a gap");
    assert_eq!(seen, kept, "what is shown is what is kept");
    detail
}

/// Meets this fault at every write and sync of a run in turn; gives the codes and messages of the runs it ended.
async fn meet_everywhere(fault: Fault) -> Vec<(Value, String)> {
    let mut met = Vec::new();
    for n in 0.. {
        let disk = FaultyDisk::with_a_store();
        let engine = engine_on(&disk);
        let before = engine.start(two_steps(), full_access()).await;
        let all_before = engine.end(&before).await.len();
        disk.fail_at(n, fault, Lasting::Once);
        let started = engine.try_start(two_steps(), full_access()).await;
        if let Ok(run) = &started {
            let detail = ended(&engine, run).await;
            for step in &detail.executions {
                assert!(step.attempts <= 1, "{fault:?} at {n}: step {} was started again", step.index);
                assert_ne!(step.status, StepStatus::Running, "{fault:?} at {n}");
            }
            match detail.row.status {
                RunStatus::Completed => {}
                RunStatus::Failed | RunStatus::Interrupted => {
                    let last = serde_json::to_value(detail.events.last().unwrap()).unwrap();
                    met.push((find(&last, "code"), detail.row.error.unwrap()));
                }
                other => panic!("{fault:?} at {n}: {other:?}"),
            }
        }
        let has_failed = disk.has_failed();
        disk.mend();
        // The worker lives on, with everything from before.
        assert_eq!(engine.detail(&before).events.len(), all_before, "{fault:?} at {n}");
        let after = engine.start(two_steps(), full_access()).await;
        assert_eq!(ended(&engine, &after).await.row.status, RunStatus::Completed, "{fault:?} at {n}");
        if !has_failed {
            assert!(n > 10, "a run is more than {n} writes");
            return met;
        }
    }
    met
}

fn find(event: &Value, name: &str) -> Value {
    event.pointer(&format!("/data/{name}")).or_else(|| event.get(name)).cloned().unwrap_or_default()
}

#[tokio::test]
async fn an_io_error_in_a_commit_interrupts_the_run_and_nothing_else() {
    let met = meet_everywhere(Fault::Broken).await;
    assert!(met.len() > 5, "{met:?}");
    for (code, message) in met {
        assert_eq!((code, &*message), (json!("interrupted"), "interrupted: the storage could not be written"));
    }
}

#[tokio::test]
async fn a_commit_without_room_ends_the_run_as_storage_full_and_nothing_else() {
    let met = meet_everywhere(Fault::Full).await;
    assert!(met.len() > 5, "{met:?}");
    for (code, message) in met {
        assert_eq!(code, json!("storage_full"), "{message}");
        assert!(message.contains("the storage is full"), "{message}");
    }
}

#[tokio::test]
async fn a_worker_started_on_a_full_disk_says_that_runs_were_interrupted_once_there_is_room() {
    let disk = FaultyDisk::with_a_store();
    let first = engine_on(&disk);
    let run = first.start(json!({"steps": [command(0, "sleep 60", &[])]}), full_access()).await;
    first.until(&run, "step_start").await;
    // Power is lost, and the disk is full when it comes back.
    let disk = disk.after_power_loss(0);
    first.runs.cancel(&run, &Owner::local()).await.unwrap();
    first.end(&run).await;

    disk.fail_at(0, Fault::Full, Lasting::UntilMended);
    let second = engine_on(&disk);
    let recovered = second.runs.recover().await.unwrap();
    assert_eq!((recovered.interrupted, recovered.waiting), (0, 1));
    assert_eq!(second.detail(&run).row.status, RunStatus::Executing);
    assert!(matches!(
        second.try_start(json!({"steps": []}), full_access()).await,
        Err(StartError::Store(crate::store::StoreError::Full))
    ));
    disk.mend();
    // Nobody drives the run, so its stream ends where its journal does: a client comes again, as this does.
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    while !second.detail(&run).row.status.is_terminal() {
        assert!(tokio::time::Instant::now() < deadline, "what became of the run is not recorded");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let detail = ended(&second, &run).await;
    assert_eq!(detail.row.status, RunStatus::Interrupted);
    assert_eq!(detail.executions[0].status, StepStatus::Interrupted);
}

#[tokio::test]
async fn while_the_disk_is_full_a_run_that_cannot_end_answers_at_once() {
    let disk = FaultyDisk::with_a_store();
    let engine = engine_on(&disk);
    let run = engine.start(json!({"steps": [command(0, "sleep 60", &[])]}), full_access()).await;
    engine.until(&run, "step_start").await;
    disk.fail_at(0, Fault::Full, Lasting::UntilMended);
    for _ in 0..3 {
        let answer = tokio::time::timeout(Duration::from_secs(20), engine.runs.cancel(&run, &Owner::local())).await;
        assert!(matches!(answer.expect("an answer"), Err(crate::engine::CancelError::Store(_))));
    }
    disk.mend();
    let detail = ended(&engine, &run).await;
    assert_eq!(detail.row.status, RunStatus::Failed);
    assert_eq!(find(&serde_json::to_value(detail.events.last().unwrap()).unwrap(), "code"), json!("storage_full"));
}
