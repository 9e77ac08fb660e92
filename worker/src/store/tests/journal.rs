use std::sync::Arc;

use weir_shared::ids::Seq;
use weir_shared::run::state::RunStatus;

use super::*;
use crate::store::{Kept, StoreError};

#[tokio::test]
async fn events_come_back_as_they_went_in_and_after_a_restart() {
    let home = Home::new();
    let store = home.open();
    store.append(run(1), vec![created(1), event(2)], row(1)).await.unwrap();
    store.append(run(2), vec![created(2)], row(2)).await.unwrap();
    store.append(run(1), vec![event(3)], row(1)).await.unwrap();
    store.close().await;

    let store = home.open();
    assert_eq!(store.events(&run(1), Seq(0), 10).unwrap(), vec![created(1), event(2), event(3)]);
    assert_eq!(store.events(&run(1), Seq(1), 1).unwrap(), vec![event(2)]);
    assert_eq!(store.events(&run(1), Seq(3), 10).unwrap(), vec![]);
    assert_eq!(store.events(&run(2), Seq(0), 10).unwrap(), vec![created(2)]);
    assert_eq!(store.events(&run(3), Seq(0), 10).unwrap(), vec![]);
}

#[tokio::test]
async fn events_that_leave_a_gap_or_repeat_are_refused_whole() {
    let home = Home::new();
    let store = home.open();
    store.append(run(1), vec![created(1)], row(1)).await.unwrap();
    for (events, refused) in [(vec![event(3)], 3), (vec![event(1)], 1), (vec![event(2), event(4)], 4)] {
        let row = RunRow { goal: "changed".to_owned(), ..row(1) };
        let error = store.append(run(1), events, row).await.unwrap_err();
        assert_eq!(error, StoreError::OutOfOrder { run: run(1), seq: Seq(refused) });
    }
    assert_eq!(store.events(&run(1), Seq(0), 10).unwrap(), vec![created(1)]);
    assert_eq!(store.run(&run(1)).unwrap(), Some(row(1)));
}

#[tokio::test]
async fn many_writers_at_once_are_all_answered_and_a_refusal_concerns_one_of_them() {
    let home = Home::new();
    let store = Arc::new(home.open());
    let writers: Vec<_> = (0..200)
        .map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                // Every tenth begins with its second event.
                let first = if n % 10 == 0 { event(2) } else { created(n) };
                store.append(run(n), vec![first], row(n)).await
            })
        })
        .collect();
    for (n, writer) in writers.into_iter().enumerate() {
        assert_eq!(writer.await.unwrap().is_ok(), n % 10 != 0, "run {n}");
    }
    for n in 0..200 {
        let expected = if n % 10 == 0 { vec![] } else { vec![created(n)] };
        assert_eq!(store.events(&run(n), Seq(0), 10).unwrap(), expected);
        assert_eq!(store.run(&run(n)).unwrap().is_some(), n % 10 != 0);
    }
}

#[tokio::test]
async fn closing_commits_what_waits_and_refuses_what_comes_after() {
    let home = Home::new();
    let store = home.open();
    let waiting = store.append(run(1), vec![created(1)], row(1));
    let (stored, ()) = tokio::join!(waiting, store.close());
    stored.unwrap();
    assert_eq!(store.append(run(1), vec![event(2)], row(1)).await, Err(StoreError::Closed));
    assert_eq!(store.events(&run(1), Seq(0), 10), Err(StoreError::Closed));
    assert_eq!(home.open().events(&run(1), Seq(0), 10).unwrap(), vec![created(1)]);
}

#[tokio::test]
async fn only_an_ended_run_is_deleted_and_nothing_of_it_stays() {
    let home = Home::new();
    let store = home.open();
    let flow = Some(flow("report"));
    store.append(run(1), vec![created(1)], RunRow { flow_id: flow.clone(), ..row(1) }).await.unwrap();
    assert_eq!(store.delete_run(run(1)).await, Err(StoreError::NotEnded { run: run(1) }));

    let ended = RunRow { flow_id: flow, status: RunStatus::Completed, ..row(1) };
    store.append(run(1), vec![event(2)], ended).await.unwrap();
    assert_eq!(store.delete_run(run(1)).await, Ok(true));
    assert_eq!(store.delete_run(run(1)).await, Ok(false));
    assert_eq!(store.events(&run(1), Seq(0), 10).unwrap(), vec![]);
    assert_eq!(store.run(&run(1)).unwrap(), None);
    assert!(store.last_runs().unwrap().is_empty());
    assert!(store.runs(&crate::store::RunQuery::default()).unwrap().runs.is_empty());
}

#[tokio::test]
async fn pruning_keeps_the_newest_the_young_and_those_that_have_not_ended() {
    let home = Home::new();
    let store = home.open();
    let appends = (1..=200).map(|n| {
        let status = if n == 5 { RunStatus::AwaitingStepApproval } else { RunStatus::Completed };
        store.append(run(n), vec![created(n)], RunRow { status, ..row(n) })
    });
    for stored in futures_util::future::join_all(appends).await {
        stored.unwrap();
    }
    let gone = store.prune(Kept { newest: 50, since: Timestamp(0) }).await.unwrap();
    assert_eq!(gone, (1..=150).filter(|n| *n != 5).map(run).collect::<Vec<_>>());
    assert!(store.run(&run(5)).unwrap().is_some());
    assert_eq!(store.events(&run(150), Seq(0), 1).unwrap(), vec![]);
    assert_eq!(store.events(&run(151), Seq(0), 1).unwrap(), vec![created(151)]);

    let gone = store.prune(Kept { newest: 1_000, since: Timestamp(199_000) }).await.unwrap();
    assert_eq!(gone, (151..=198).map(run).collect::<Vec<_>>());
}

#[tokio::test]
async fn space_of_pruned_runs_is_used_again() {
    let home = Home::new();
    let store = home.open();
    let big = |n: u32| Recorded {
        seq: Seq(1),
        ts: Timestamp(0),
        event: Event::Complete { summary: "x".repeat(20_000), result: Arc::new(json!(n)) },
    };
    let mut sizes = Vec::new();
    for round in 0..10_u32 {
        let appends = (round * 200..(round + 1) * 200).map(|n| {
            let row = RunRow { status: RunStatus::Completed, ..row(n) };
            store.append(run(n), vec![big(n)], row)
        });
        for stored in futures_util::future::join_all(appends).await {
            stored.unwrap();
        }
        store.prune(Kept { newest: 10, since: Timestamp(0) }).await.unwrap();
        sizes.push(std::fs::metadata(home.path()).unwrap().len());
    }
    // It has room for what is new beside what goes, in regions that double; how much of them a round fills depends on
    // how the writer groups it.
    assert!(sizes[9] <= 2 * sizes[1], "the file grows though as much is removed as comes in: {sizes:?}");
}
