use weir_shared::run::state::RunStatus;

use super::*;
use crate::store::RunQuery;

/// Twenty runs of two flows and none, of two owners, in several states.
async fn some_history(home: &Home) -> Store {
    let store = home.open();
    for n in 1..=20_u32 {
        let ended = n % 4 == 0;
        let row = RunRow {
            flow_id: match n % 3 {
                0 => None,
                1 => Some(flow("report")),
                _ => Some(flow("report-2")),
            },
            owner: if n % 5 == 0 { "ada" } else { "local" }.to_owned(),
            status: if ended { RunStatus::Failed } else { RunStatus::Queued },
            cause: if n % 2 == 0 { Cause::Webhook } else { Cause::Manual },
            error: ended.then(|| format!("Exit code {n}: ÄRGER mit dem Drucker")),
            summary: (n == 7).then(|| "Ein Erfolg".to_owned()),
            ..row(n)
        };
        store.append(run(n), vec![created(n)], row).await.unwrap();
    }
    store
}

fn numbers(store: &Store, query: &RunQuery) -> Vec<u32> {
    let ids = store.runs(query).unwrap().runs.into_iter().map(|row| row.run_id);
    ids.map(|id| u32::from_str_radix(&id.as_str()[28..], 16).unwrap()).collect()
}

#[tokio::test]
async fn a_list_is_newest_first_and_goes_on_where_the_page_before_ended() {
    let home = Home::new();
    let store = some_history(&home).await;
    let mut seen = Vec::new();
    let mut query = RunQuery { limit: 7, ..RunQuery::default() };
    loop {
        let page = store.runs(&query).unwrap();
        seen.extend(page.runs.iter().map(|row| row.run_id.clone()));
        let Some(next) = page.next else { break };
        query.before = Some(next.parse().unwrap());
    }
    assert_eq!(seen, (1..=20).rev().map(run).collect::<Vec<_>>());
    let exact = store.runs(&RunQuery { limit: 20, ..RunQuery::default() }).unwrap();
    assert_eq!(exact.next, None, "a full last page promises nothing more");
}

#[tokio::test]
async fn every_filter_narrows_alone_and_together() {
    let home = Home::new();
    let store = some_history(&home).await;
    let all = RunQuery { limit: 100, ..RunQuery::default() };
    let status = RunQuery { status: Some(RunStatus::Failed), ..all.clone() };
    assert_eq!(numbers(&store, &status), vec![20, 16, 12, 8, 4]);
    let flowing = RunQuery { flow: Some(flow("report")), ..all.clone() };
    assert_eq!(numbers(&store, &flowing), vec![19, 16, 13, 10, 7, 4, 1]);
    let owned = RunQuery { owner: Some(Owner("ada".to_owned())), ..all.clone() };
    assert_eq!(numbers(&store, &owned), vec![20, 15, 10, 5]);
    let caused = RunQuery { cause: Some(Cause::Webhook), ..all.clone() };
    assert_eq!(numbers(&store, &caused), (1..=10).rev().map(|n| n * 2).collect::<Vec<_>>());
    let together =
        RunQuery { flow: Some(flow("report")), status: Some(RunStatus::Failed), before: Some(run(16)), ..all };
    assert_eq!(numbers(&store, &together), vec![4]);
}

#[tokio::test]
async fn a_search_finds_goal_summary_and_error_in_any_case() {
    let home = Home::new();
    let store = some_history(&home).await;
    let search = |q: &str| numbers(&store, &RunQuery { q: Some(q.to_owned()), limit: 100, ..RunQuery::default() });
    assert_eq!(search("GOAL 7"), vec![7]);
    assert_eq!(search("erfolg"), vec![7]);
    assert_eq!(search("ärger MIT"), vec![20, 16, 12, 8, 4]);
    assert_eq!(search("nowhere"), Vec::<u32>::new());
    assert_eq!(search("").len(), 20);
}

#[tokio::test]
async fn the_row_its_search_text_and_the_indexes_follow_a_run_to_its_end() {
    let home = Home::new();
    let store = home.open();
    let report = Some(flow("report"));
    let queued = RunRow { flow_id: report.clone(), ..row(1) };
    store.append(run(1), vec![created(1)], queued.clone()).await.unwrap();
    store.append(run(2), vec![created(2)], RunRow { flow_id: Some(flow("other")), ..row(2) }).await.unwrap();
    assert_eq!(store.unfinished().unwrap(), vec![run(1), run(2)]);

    let done = RunRow { status: RunStatus::Completed, summary: Some("All well".to_owned()), ..queued };
    store.append(run(1), vec![event(2)], done.clone()).await.unwrap();
    assert_eq!(store.run(&run(1)).unwrap(), Some(done));
    assert_eq!(store.unfinished().unwrap(), vec![run(2)]);
    assert_eq!(numbers(&store, &RunQuery { q: Some("all well".to_owned()), ..RunQuery::default() }), vec![1]);

    store.append(run(3), vec![created(3)], RunRow { flow_id: report, ..row(3) }).await.unwrap();
    let last = store.last_runs().unwrap();
    assert_eq!(last.len(), 2);
    assert_eq!(last["report"].run_id, run(3));
    assert_eq!(last["other"].run_id, run(2));
}
