//! C096: a disk that is full or fails at any write or sync, and power lost at any moment. Whatever happens, an
//! acknowledged event is there, none is half there, and the store goes on when the disk does.

use weir_shared::run::state::RunStatus;

use super::faulty_disk::{Fault, FaultyDisk, Lasting};
use super::*;
use crate::store::StoreError;

/// Appends of the story: run `n` is made with three events, then gets two more.
const STORY: [(u32, &[u64]); 4] = [(1, &[1, 2, 3]), (1, &[4, 5]), (2, &[1, 2, 3]), (2, &[4, 5])];

async fn tell(store: &Store, (n, seqs): (u32, &[u64])) -> Result<(), StoreError> {
    // Several pages, so that a commit is many writes.
    let events = seqs.iter().map(|seq| Recorded {
        event: Event::Complete { summary: "x".repeat(6_000), result: Arc::new(json!(seq)) },
        ..event(*seq)
    });
    let status = if seqs.contains(&5) { RunStatus::Completed } else { RunStatus::Executing };
    store.append(run(n), events.collect(), RunRow { status, ..row(n) }).await
}

/// Checks that the first `acknowledged` parts of the story are there, and of the rest each whole or not at all.
fn check(store: &Store, acknowledged: usize, what: &str) {
    for (at, (n, seqs)) in STORY.into_iter().enumerate() {
        let events = store.events(&run(n), Seq(seqs[0] - 1), seqs.len()).unwrap();
        let found: Vec<u64> = events.iter().map(|event| event.seq.0).collect();
        assert!(found.is_empty() || found == seqs, "{what}: part {at} is half there: {found:?}");
        assert!(at >= acknowledged || !found.is_empty(), "{what}: part {at} was acknowledged and is gone");
        let row = store.run(&run(n)).unwrap();
        let ended = store.events(&run(n), Seq(4), 1).unwrap().len() == 1;
        let any = store.events(&run(n), Seq(0), 1).unwrap().len() == 1;
        let status = any.then_some(if ended { RunStatus::Completed } else { RunStatus::Executing });
        assert_eq!(row.map(|row| row.status), status, "{what}: the row of run {n} does not fit its events");
        assert_eq!(store.unfinished().unwrap().contains(&run(n)), any && !ended, "{what}");
    }
}

/// Meets a fault at every write and sync of the story in turn, until the story is over before the fault.
async fn meet_everywhere(fault: Fault, lasting: Lasting) {
    let fresh = FaultyDisk::with_a_store();
    for n in 0.. {
        let what = format!("{fault:?} {lasting:?} at {n}");
        let disk = fresh.copy();
        let store = disk.open();
        disk.fail_at(n, fault, lasting);
        let mut acknowledged = 0;
        let mut error = None;
        for part in STORY {
            match tell(&store, part).await {
                Ok(()) => acknowledged += 1,
                Err(met) => {
                    error = Some(met);
                    break;
                }
            }
        }
        let Some(error) = error else {
            assert_eq!(acknowledged, STORY.len());
            if !disk.has_failed() {
                assert!(n > 20, "the story is too short to mean anything: {n}");
                return;
            }
            continue;
        };
        match fault {
            Fault::Full => assert_eq!(error, StoreError::Full, "{what}"),
            Fault::Broken => assert!(matches!(error, StoreError::Io { .. }), "{what}: {error}"),
        }
        // While the disk is as it is, everything acknowledged can be read, and writing says the same again.
        check(&store, acknowledged, &what);
        if lasting == Lasting::UntilMended {
            assert!(tell(&store, (9, &[1, 2, 3])).await.is_err(), "{what}");
            check(&store, acknowledged, &what);
        }
        // Power is lost now: on another disk, for the story goes on here too.
        for seed in 0..2 {
            let what = format!("{what}, power lost {seed}");
            check(&disk.after_power_loss(seed).open(), acknowledged, &what);
        }
        // The disk works again: the story is told to its end by reading how far it came.
        disk.mend();
        for part in STORY {
            if store.events(&run(part.0), Seq(part.1[0] - 1), 1).unwrap().is_empty() {
                tell(&store, part).await.unwrap_or_else(|error| panic!("{what}: after mending: {error}"));
            }
        }
        check(&store, STORY.len(), &what);
        store.close().await;
        check(&disk.open(), STORY.len(), &format!("{what}, closed"));
    }
}

#[tokio::test]
async fn a_disk_that_is_full_for_a_while() {
    meet_everywhere(Fault::Full, Lasting::UntilMended).await;
}

#[tokio::test]
async fn a_write_that_finds_no_room_once() {
    meet_everywhere(Fault::Full, Lasting::Once).await;
}

#[tokio::test]
async fn a_disk_that_fails_from_some_moment_on() {
    meet_everywhere(Fault::Broken, Lasting::UntilMended).await;
}

#[tokio::test]
async fn a_passing_error() {
    meet_everywhere(Fault::Broken, Lasting::Once).await;
}

#[tokio::test]
async fn opening_writes_nothing_until_something_is_stored() {
    let disk = FaultyDisk::with_a_store();
    let store = disk.open();
    tell(&store, STORY[0]).await.unwrap();
    // Not closed: the next opening repairs, with no room to do it in.
    let crashed = disk.after_power_loss(0);
    crashed.fail_at(0, Fault::Full, Lasting::UntilMended);
    let store = crashed.open();
    check(&store, 1, "opened on a full disk");
    assert!(!crashed.has_failed());
    assert_eq!(tell(&store, STORY[1]).await, Err(StoreError::Full));
    check(&store, 1, "after a refused write");
    crashed.mend();
    tell(&store, STORY[1]).await.unwrap();
    check(&store, 2, "after mending");
}
