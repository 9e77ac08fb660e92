//! Stories of stores that are looked after: what a check sees, what a repair brings back, what an export says.

use serde_json::Value;
use weir_shared::ids::{Seq, Timestamp};
use weir_shared::run::reduce::replay;
use weir_shared::run::view;

use super::super::tables::{ROWS, RUN_TEXT};
use super::super::{CareError, OpenError, Store, care};
use super::{Home, created, run};

/// A store with three runs that were only created, closed.
async fn with_three_runs(home: &Home) {
    let store = home.open();
    for n in 1..=3 {
        let row = view::row(&replay(&[created(n)]).unwrap()).unwrap();
        store.append(run(n), vec![created(n)], row).await.unwrap();
    }
    store.close().await;
}

#[tokio::test]
async fn a_sound_store_is_left_byte_for_byte_as_it_is() {
    let home = Home::new();
    with_three_runs(&home).await;
    let before = std::fs::read(home.path()).unwrap();
    let checked = care::check(&home.path()).unwrap();
    assert!(checked.is_sound(), "{checked:?}");
    assert_eq!((checked.runs, checked.events), (3, 3));
    assert_eq!(std::fs::read(home.path()).unwrap(), before);
}

#[tokio::test]
async fn rows_are_made_again_from_the_journal() {
    let home = Home::new();
    with_three_runs(&home).await;
    let database = redb::Database::open(home.path()).unwrap();
    let key = super::super::keys::run_key(&run(2));
    let transaction = database.begin_write().unwrap();
    transaction.open_table(ROWS).unwrap().remove(&key).unwrap();
    transaction.open_table(RUN_TEXT).unwrap().insert(&key, b"spoilt".as_slice()).unwrap();
    transaction.commit().unwrap();
    drop(database);

    let checked = care::check(&home.path()).unwrap();
    assert_eq!(checked.stale, [(run(2), "it has no row".to_owned())]);
    care::rebuild(&home.path(), &checked).unwrap();
    assert!(care::check(&home.path()).unwrap().is_sound());
    let store = home.open();
    assert_eq!(store.run(&run(2)).unwrap().unwrap().goal, "Goal 2");
    assert_eq!(store.events(&run(2), Seq(0), 9).unwrap(), [created(2)]);
}

#[tokio::test]
async fn a_journal_that_cannot_be_followed_is_named_and_left() {
    let home = Home::new();
    with_three_runs(&home).await;
    let store = home.open();
    let row = store.run(&run(1)).unwrap().unwrap();
    let mut twice = created(1);
    twice.seq = Seq(2);
    store.append(run(1), vec![twice], row).await.unwrap();
    store.close().await;
    let checked = care::check(&home.path()).unwrap();
    assert_eq!(checked.broken.len(), 1, "{checked:?}");
    care::rebuild(&home.path(), &checked).unwrap();
    assert_eq!(care::check(&home.path()).unwrap().broken, checked.broken);
}

#[tokio::test]
async fn a_store_that_cannot_be_opened_is_set_aside_with_its_runs() {
    let home = Home::new();
    with_three_runs(&home).await;
    let mut bytes = std::fs::read(home.path()).unwrap();
    bytes.truncate(bytes.len() / 3);
    std::fs::write(home.path(), &bytes).unwrap();
    let runs = home.directory.path().join("runs");
    std::fs::create_dir(&runs).unwrap();
    assert!(matches!(care::check(&home.path()), Err(CareError::Open(OpenError::Damaged { .. }))));
    assert_eq!(std::fs::read(home.path()).unwrap(), bytes, "a check changes nothing");

    let moved = care::set_aside(&home.path(), &runs, Timestamp(7)).unwrap();
    assert_eq!(std::fs::read(&moved[1]).unwrap(), bytes);
    assert!(moved[0].is_dir() && !runs.exists());
    assert!(Store::open(&home.path()).is_ok());
}

#[tokio::test]
async fn compacting_gives_freed_space_back() {
    let home = Home::new();
    with_three_runs(&home).await;
    let database = redb::Database::open(home.path()).unwrap();
    for fill in [true, false] {
        let transaction = database.begin_write().unwrap();
        {
            let mut texts = transaction.open_table(RUN_TEXT).unwrap();
            for n in 100..200_u32 {
                let key = super::super::keys::run_key(&run(n));
                if fill {
                    texts.insert(&key, vec![b'x'; 40_000].as_slice()).unwrap();
                } else {
                    texts.remove(&key).unwrap();
                }
            }
        }
        transaction.commit().unwrap();
    }
    drop(database);
    let (before, after) = care::compact(&home.path()).unwrap();
    assert!(after < before, "{before} to {after}");
    assert!(care::check(&home.path()).unwrap().is_sound());
}

#[tokio::test]
async fn an_export_holds_every_run_before_its_events() {
    let home = Home::new();
    with_three_runs(&home).await;
    let mut out = Vec::new();
    care::export(&home.path(), &mut out).unwrap();
    let lines: Vec<Value> =
        std::str::from_utf8(&out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["store", "run", "event", "run", "event", "run", "event"]);
    assert_eq!(lines[1]["row"]["runId"], run(1).as_str());
    assert_eq!(lines[2]["runId"], run(1).as_str());
    assert_eq!(lines[2]["event"]["event"], "run_created");
    assert_eq!(lines[0]["format"], 1);
}
