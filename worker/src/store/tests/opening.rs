use std::os::unix::fs::PermissionsExt;

use redb::ReadableDatabase;
use weir_shared::run::state::RunStatus;

use super::*;
use crate::store::tables::META;
use crate::store::{OpenError, RunQuery, StoreError};

#[tokio::test]
async fn the_worker_keeps_its_name_and_the_file_is_its_owners_alone() {
    let home = Home::new();
    let store = home.open();
    let name = store.worker_id();
    store.close().await;
    assert_eq!(home.open().worker_id(), name);
    assert_ne!(Home::new().open().worker_id(), name);
    assert_eq!(std::fs::metadata(home.path()).unwrap().permissions().mode() & 0o777, 0o600);
    let files: Vec<_> = std::fs::read_dir(home.directory.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(files, vec!["weir.redb"], "making it leaves nothing else");
}

#[tokio::test]
async fn a_store_that_is_open_is_not_opened_again() {
    let home = Home::new();
    let _store = home.open();
    assert!(matches!(Store::open(&home.path()), Err(OpenError::Held { .. })));
}

#[tokio::test]
async fn a_store_of_a_newer_format_is_refused_and_left_alone() {
    let home = Home::new();
    home.open().close().await;
    {
        let database = redb::Database::open(home.path()).unwrap();
        let transaction = database.begin_write().unwrap();
        transaction.open_table(META).unwrap().insert("format", 7_u32.to_le_bytes().as_slice()).unwrap();
        transaction.commit().unwrap();
    }
    let before = std::fs::read(home.path()).unwrap();
    let error = Store::open(&home.path()).unwrap_err();
    assert!(matches!(error, OpenError::Newer { found: 7, known: 1, .. }), "{error}");
    assert_eq!(std::fs::read(home.path()).unwrap(), before);
    assert!(redb::Database::open(home.path()).unwrap().begin_read().is_ok());
}

/// The sample was written by the first version of this format; what it holds is told in `tests/old_formats/README.md`.
#[tokio::test]
async fn a_store_of_format_1_opens_with_all_it_holds() {
    let home = Home::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/old_formats/store-1.redb");
    std::fs::copy(sample, home.path()).unwrap();
    let store = home.open();
    assert_eq!(store.worker_id().as_str(), "01890a5d-ac96-774b-bcce-b302099a8057");
    let ended = RunRow { flow_id: Some(flow("report")), status: RunStatus::Failed, ..row(1) };
    let ended = RunRow { error: Some("exit code 2: no such file".to_owned()), ..ended };
    assert_eq!(store.run(&run(1)).unwrap(), Some(ended));
    assert_eq!(store.events(&run(1), Seq(0), 10).unwrap(), vec![created(1), event(2)]);
    assert_eq!(store.events(&run(2), Seq(0), 10).unwrap(), vec![created(2)]);
    assert_eq!(store.unfinished().unwrap(), vec![run(2)]);
    assert_eq!(store.last_runs().unwrap()["report"].run_id, run(1));
    let search = RunQuery { q: Some("NO SUCH".to_owned()), status: Some(RunStatus::Failed), ..RunQuery::default() };
    assert_eq!(store.runs(&search).unwrap().runs.len(), 1);
    assert_eq!(store.session(&[7; 32], Timestamp(0)).unwrap(), None, "it does not say which token it stands on");
    store.append(run(2), vec![event(2)], row(2)).await.unwrap();
}

#[tokio::test]
async fn a_damaged_store_is_reported_and_left_alone() {
    let home = Home::new();
    let store = home.open();
    for n in 0..50 {
        store.append(run(n), vec![created(n)], row(n)).await.unwrap();
    }
    store.close().await;
    let whole = std::fs::read(home.path()).unwrap();

    let mut zeroed = whole.clone();
    zeroed[..4096].fill(0);
    let mut garbled = whole.clone();
    garbled[64..320].fill(0x5a);
    let text = b"this is a text file, and a long enough one to hold a header. ".repeat(100);
    let cases = [
        ("empty", Vec::new()),
        ("cut short", whole[..whole.len() / 2].to_vec()),
        ("a header alone", whole[..100].to_vec()),
        ("a header of zeroes", zeroed),
        ("garbled slots", garbled),
        ("something else", text),
    ];
    for (what, bytes) in cases {
        std::fs::write(home.path(), &bytes).unwrap();
        let error = Store::open(&home.path()).expect_err(what);
        assert!(matches!(error, OpenError::Damaged { .. }), "{what}: {error}");
        assert!(std::fs::read(home.path()).unwrap() == bytes, "{what}: the file was changed");
    }
    std::fs::write(home.path(), &whole).unwrap();
    assert_eq!(home.open().events(&run(49), Seq(0), 1).unwrap(), vec![created(49)]);
}

#[tokio::test]
async fn a_foreign_database_is_not_taken_for_a_store() {
    let home = Home::new();
    drop(redb::Database::create(home.path()).unwrap());
    assert!(matches!(Store::open(&home.path()), Err(OpenError::Damaged { .. })));
}

#[test]
fn a_place_where_no_file_can_be_says_so() {
    let error = Store::open(std::path::Path::new("/proc/no/such/place/weir.redb")).unwrap_err();
    assert!(matches!(error, OpenError::Io { .. }), "{error}");
    assert_eq!(StoreError::from(std::io::Error::from(std::io::ErrorKind::StorageFull)), StoreError::Full);
}
