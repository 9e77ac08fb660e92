//! What a pass lets go and what it keeps, and what it finishes after a crash.

use weir_shared::run::state::RunStatus;
use weir_shared::wire::RunRow;

use super::*;
use crate::store::tests::{created, row, run};

const DAY: Duration = Duration::from_hours(24);

/// A store with runs, each with a directory of its own.
struct Kept {
    home: tempfile::TempDir,
    store: Store,
}

impl Kept {
    /// Runs 1 to 10, of which the third has not ended. The nth was made n seconds after the beginning of time.
    async fn ten() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(&home.path().join("weir.redb")).unwrap();
        for n in 1..=10 {
            let status = if n == 3 { RunStatus::AwaitingStepApproval } else { RunStatus::Completed };
            store.append(run(n), vec![created(n)], RunRow { status, ..row(n) }).await.unwrap();
            let output = RunDirectory::of(home.path(), &run(n)).path().join("output");
            std::fs::create_dir_all(&output).unwrap();
            std::fs::write(output.join("0.1.stdout"), vec![b'x'; 100_000]).unwrap();
        }
        Self { home, store }
    }

    async fn pass(&self, limits: Limits) -> Pass {
        let clock = Clock::system();
        Retention::new(self.store.clone(), self.home.path().to_owned(), clock, Live::new(limits)).pass().await.unwrap()
    }

    /// The runs that the store has and those that have a directory.
    fn left(&self) -> (Vec<RunId>, Vec<RunId>) {
        let stored = (1..=10).map(run).filter(|run| self.store.run(run).unwrap().is_some()).collect();
        (stored, runs_on_disk(self.home.path()).unwrap())
    }
}

fn runs(numbers: &[u32]) -> Vec<RunId> {
    numbers.iter().map(|n| run(*n)).collect()
}

/// Nothing is past these.
const ALL: Limits = Limits { runs: 1_000, age: Duration::from_hours(3_504_000), bytes: u64::MAX };

#[tokio::test]
async fn within_the_limits_nothing_goes() {
    let kept = Kept::ten().await;
    assert_eq!(kept.pass(ALL).await, Pass::default());
    let all: Vec<RunId> = (1..=10).map(run).collect();
    assert_eq!(kept.left(), (all.clone(), all));
}

#[tokio::test]
async fn what_is_past_the_number_goes_with_its_directory_and_what_has_not_ended_stays() {
    let kept = Kept::ten().await;
    assert_eq!(kept.pass(Limits { runs: 4, ..ALL }).await, Pass { surplus: 5, ..Pass::default() });
    let left = runs(&[3, 7, 8, 9, 10]);
    assert_eq!(kept.left(), (left.clone(), left));
}

#[tokio::test]
async fn what_is_too_old_goes() {
    let kept = Kept::ten().await;
    assert_eq!(kept.pass(Limits { age: DAY, ..ALL }).await.surplus, 9);
    assert_eq!(kept.left(), (runs(&[3]), runs(&[3])));
}

#[tokio::test]
async fn past_the_bytes_the_oldest_ended_runs_go_until_the_rest_fits() {
    let kept = Kept::ten().await;
    let one = RunDirectory::of(kept.home.path(), &run(1)).bytes();
    assert_eq!(kept.pass(Limits { bytes: 6 * one, ..ALL }).await, Pass { heavy: 4, ..Pass::default() });
    let left = runs(&[3, 6, 7, 8, 9, 10]);
    assert_eq!(kept.left(), (left.clone(), left));
    assert_eq!(kept.pass(Limits { bytes: 0, ..ALL }).await.heavy, 5);
    assert_eq!(kept.left(), (runs(&[3]), runs(&[3])));
}

#[tokio::test]
async fn what_a_crash_left_between_row_and_directory_goes_with_the_next_pass() {
    let kept = Kept::ten().await;
    assert!(kept.store.delete_run(run(1)).await.unwrap());
    assert_eq!(kept.pass(ALL).await, Pass { stray: 1, ..Pass::default() });
    assert_eq!(kept.left().1, (2..=10).map(run).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_run_is_forgotten_whole_or_refused_whole() {
    let kept = Kept::ten().await;
    let state = kept.home.path();
    assert!(forget(&kept.store, state, run(2)).await.unwrap());
    assert!(!forget(&kept.store, state, run(2)).await.unwrap());
    assert!(!RunDirectory::of(state, &run(2)).path().exists());
    let refused = forget(&kept.store, state, run(3)).await;
    assert_eq!(refused, Err(StoreError::NotEnded { run: run(3) }));
    assert!(RunDirectory::of(state, &run(3)).path().exists());
}
