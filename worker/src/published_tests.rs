use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use weir_shared::diff::Change;
use weir_shared::ids::Timestamp;
use weir_shared::limits::{FLOW_FILE_BYTES, Limits};
use weir_shared::tool::ToolDeclaration;

use super::*;
use crate::clock::Clock;
use crate::store::Tombstone;

/// A machine: its flows, its store, and what it has published.
struct Machine {
    home: tempfile::TempDir,
    library: Library,
    store: Store,
    published: Published,
}

fn catalog() -> Arc<Catalog> {
    let tool = |name: &str| -> ToolDeclaration {
        serde_json::from_value(json!({
            "name": name, "title": name, "description": "", "effect": "read", "group": "", "inputSchema": {},
            "source": "builtin", "trusted": true
        }))
        .unwrap()
    };
    Arc::new(Catalog::new([tool("look"), tool("think")]))
}

fn id(text: &str) -> FlowId {
    text.parse().unwrap()
}

/// A flow of one node that looks for this.
fn flow(what: &str) -> Value {
    json!({
        "format": 1, "name": "Report",
        "nodes": [{ "id": "a", "tool": "look", "args": { "what": what } }], "edges": []
    })
}

impl Machine {
    async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("flows")).unwrap();
        Self::on(home).await
    }

    async fn on(home: tempfile::TempDir) -> Self {
        let library = Library::open(home.path().join("flows"), catalog(), Limits::default(), None);
        let store = Store::open(&home.path().join("weir.redb")).unwrap();
        let published = Published::open(library.clone(), store.clone(), Clock::system()).await.unwrap();
        Self { home, library, store, published }
    }

    /// The same directories with a worker that was started anew.
    async fn again(self) -> Self {
        let Self { home, library, store, published } = self;
        drop((library, published));
        store.close().await;
        drop(store);
        Self::on(home).await
    }

    fn write(&self, name: &str, what: &str) -> Revision {
        let library = &self.library;
        let text = flow(what).to_string();
        let entry = match library.get(&id(name)) {
            None => library.create(Some(id(name)), text.as_bytes()),
            Some(entry) => library.save(&id(name), text.as_bytes(), &entry.revision),
        };
        entry.unwrap().revision.clone()
    }

    fn entry(&self, name: &str) -> Arc<Entry> {
        self.library.get(&id(name)).unwrap()
    }

    fn list(&self, name: &str) -> VersionList {
        self.published.list(&self.entry(name)).unwrap()
    }

    fn standings(&self, name: &str) -> Vec<(u64, Standing)> {
        self.list(name).versions.iter().map(|version| (version.number, version.standing)).collect()
    }

    /// What the active version looks for.
    fn active(&self, name: &str) -> Value {
        let active = self.published.active(&id(name)).unwrap();
        active.flow.nodes[0].args.as_ref().unwrap()["what"].clone()
    }

    fn file(&self, name: &str, number: u64) -> PathBuf {
        self.home.path().join(format!("flows/published/{name}/{number}.json"))
    }
}

#[tokio::test]
async fn what_is_published_runs_and_the_draft_goes_on() {
    let machine = Machine::new().await;
    let first = machine.write("report", "one");
    assert!(matches!(machine.published.active(&id("report")), Err(NotActive::NotPublished(_))));
    assert!(!machine.list("report").state.published);

    machine.published.publish(&id("report"), &first).await.unwrap();
    assert_eq!(machine.standings("report"), [(1, Standing::Active)]);
    let state = machine.list("report").state;
    assert_eq!(state, PublishState { published: true, published_version: Some(1), has_unpublished_changes: false });

    let second = machine.write("report", "two");
    assert!(machine.list("report").state.has_unpublished_changes);
    assert_eq!(machine.active("report"), "one", "an edit changes nothing that is active");
    assert!(matches!(
        machine.published.publish(&id("report"), &first).await,
        Err(PublishError::Save(SaveError::Conflict { .. }))
    ));
    machine.published.publish(&id("report"), &second).await.unwrap();
    assert_eq!(machine.standings("report"), [(2, Standing::Active), (1, Standing::Accepted)]);
    assert_eq!(machine.active("report"), "two");
    let earlier = machine.published.accepted(&id("report"), 1).unwrap();
    assert_eq!(earlier.flow.nodes[0].args.as_ref().unwrap()["what"], "one");

    // Nothing has changed, so there is no third.
    machine.published.publish(&id("report"), &second).await.unwrap();
    assert_eq!(machine.standings("report").len(), 2);

    let machine = machine.again().await;
    assert_eq!(machine.active("report"), "two");
}

#[tokio::test]
async fn a_flow_with_errors_and_one_that_is_not_there_are_not_published() {
    let machine = Machine::new().await;
    let text = json!({ "format": 1, "name": "Bad", "nodes": [{ "id": "a", "tool": "gone" }], "edges": [] });
    let entry = machine.library.create(Some(id("bad")), text.to_string().as_bytes()).unwrap();
    let refused = machine.published.publish(&id("bad"), &entry.revision).await;
    let Err(PublishError::Findings(findings)) = refused else { panic!("{refused:?}") };
    assert_eq!(findings[0].code.as_str(), "unavailable_tool");
    let absent = machine.published.publish(&id("absent"), &entry.revision).await;
    assert!(matches!(absent, Err(PublishError::Save(SaveError::Unknown { .. }))));
}

#[tokio::test]
async fn pins_stay_with_the_draft() {
    let machine = Machine::new().await;
    let mut pinned = flow("one");
    pinned["pins"] = json!({ "a": { "seen": true } });
    let entry = machine.library.create(Some(id("report")), pinned.to_string().as_bytes()).unwrap();
    machine.published.publish(&id("report"), &entry.revision).await.unwrap();
    let active = machine.published.active(&id("report")).unwrap();
    assert!(active.flow.pins.is_empty() && active.plan.steps[0].pinned_result.is_none());
    assert!(!machine.list("report").state.has_unpublished_changes, "a pin is no change to publish");
}

#[tokio::test]
async fn pins_outlive_a_restored_version_where_their_nodes_do() {
    let machine = Machine::new().await;
    let first = machine.write("report", "one");
    machine.published.publish(&id("report"), &first).await.unwrap();
    let mut pinned = flow("two");
    pinned["nodes"].as_array_mut().unwrap().push(json!({ "id": "b", "tool": "think" }));
    pinned["pins"] = json!({ "a": 1, "b": 2 });
    let draft = machine.library.save(&id("report"), pinned.to_string().as_bytes(), &first).unwrap();
    let restored = machine.published.restore(&id("report"), 1, draft.revision.clone()).await.unwrap();
    let pins = restored.flow.as_ref().unwrap().pins.clone();
    assert_eq!(Value::Object(pins), json!({ "a": 1 }));
    assert!(!machine.list("report").state.has_unpublished_changes);
}

/// Each line of a flow stands two spaces further in in its snapshot: the largest flow that can be saved can be published.
#[tokio::test]
async fn the_largest_flow_is_a_version_too() {
    let machine = Machine::new().await;
    let mut large = flow("one");
    large["description"] = json!("");
    let frame = canonical::print(&serde_json::from_value::<Flow>(large.clone()).unwrap()).len();
    large["description"] = json!("x".repeat(FLOW_FILE_BYTES - frame));
    let entry = machine.library.create(Some(id("report")), large.to_string().as_bytes()).unwrap();
    machine.published.publish(&id("report"), &entry.revision).await.unwrap();
    assert!(fs::metadata(machine.file("report", 1)).unwrap().len() > FLOW_FILE_BYTES as u64);
    assert_eq!(machine.active("report"), "one");
}

/// What a worker leaves that is killed between the file and the store: listed, and running nowhere.
#[tokio::test]
async fn a_version_that_was_written_and_not_accepted_runs_nowhere_and_keeps_its_number() {
    let machine = Machine::new().await;
    let revision = machine.write("report", "one");
    let draft = machine.entry("report").flow.clone().unwrap();
    machine.library.add_version(&Snapshot::of(&draft, id("report"), 1, Timestamp(0))).unwrap();
    let machine = machine.again().await;
    assert_eq!(machine.standings("report"), [(1, Standing::Unaccepted)]);
    assert!(matches!(machine.published.active(&id("report")), Err(NotActive::Unaccepted { newest: 1, .. })));
    machine.published.publish(&id("report"), &revision).await.unwrap();
    assert_eq!(machine.standings("report"), [(2, Standing::Active), (1, Standing::Unaccepted)]);
}

#[tokio::test]
async fn a_version_that_cannot_run_here_is_not_accepted() {
    let machine = Machine::new().await;
    machine.write("report", "one");
    let mut strange = flow("theirs");
    strange["nodes"][0]["tool"] = json!("tool_of_another_machine");
    let strange: Flow = serde_json::from_value(strange).unwrap();
    let theirs = Snapshot::of(&strange, id("report"), 4, Timestamp(0));
    machine.library.add_version(&theirs).unwrap();
    let refused = machine.published.accept(&id("report"), 4, &theirs.sha256).await;
    let Err(PublishError::Findings(findings)) = refused else { panic!("{refused:?}") };
    assert_eq!(findings[0].code.as_str(), "unavailable_tool");
    assert_eq!(machine.standings("report"), [(4, Standing::Unaccepted)]);
}

#[tokio::test]
async fn a_number_is_never_given_twice() {
    let machine = Machine::new().await;
    let first = machine.write("report", "one");
    machine.published.publish(&id("report"), &first).await.unwrap();
    let second = machine.write("report", "two");
    machine.published.publish(&id("report"), &second).await.unwrap();
    fs::remove_file(machine.file("report", 2)).unwrap();
    assert_eq!(machine.active("report"), "one", "what is gone runs nowhere");
    machine.published.publish(&id("report"), &second).await.unwrap();
    assert_eq!(machine.standings("report"), [(3, Standing::Active), (1, Standing::Accepted)]);

    // Also not after the flow was deleted and made anew.
    machine.published.delete(&id("report"), None).await.unwrap();
    let anew = machine.write("report", "four");
    assert!(matches!(machine.published.active(&id("report")), Err(NotActive::NotPublished(_))));
    machine.published.publish(&id("report"), &anew).await.unwrap();
    assert_eq!(machine.standings("report"), [(4, Standing::Active)]);
}

#[tokio::test]
async fn a_version_that_came_by_git_runs_once_somebody_here_accepts_it() {
    let (here, there) = (Machine::new().await, Machine::new().await);
    let revision = there.write("report", "theirs");
    there.published.publish(&id("report"), &revision).await.unwrap();
    here.write("report", "theirs");
    fs::create_dir_all(here.file("report", 1).parent().unwrap()).unwrap();
    fs::copy(there.file("report", 1), here.file("report", 1)).unwrap();

    assert_eq!(here.standings("report"), [(1, Standing::Unaccepted)]);
    assert!(matches!(here.published.active(&id("report")), Err(NotActive::Unaccepted { newest: 1, .. })));
    assert!(matches!(here.published.accepted(&id("report"), 1), Err(NotActive::NotAccepted { number: 1, .. })));
    let seen = here.published.show(&here.entry("report"), 1).unwrap();
    let wrong = here.published.accept(&id("report"), 1, "0000").await;
    assert!(matches!(wrong, Err(PublishError::OtherVersion { number: 1, .. })));
    assert!(matches!(here.published.accept(&id("report"), 9, "0000").await, Err(PublishError::NoVersion { .. })));
    here.published.accept(&id("report"), 1, &seen.sha256.unwrap()).await.unwrap();
    assert_eq!(here.active("report"), "theirs");
}

#[tokio::test]
async fn a_changed_version_is_named_and_runs_nowhere() {
    let machine = Machine::new().await;
    for what in ["one", "two"] {
        let revision = machine.write("report", what);
        machine.published.publish(&id("report"), &revision).await.unwrap();
    }
    let file = machine.file("report", 2);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("two", "evil")).unwrap();
    assert_eq!(machine.standings("report"), [(2, Standing::Tampered), (1, Standing::Active)]);
    assert_eq!(machine.active("report"), "one");
    assert!(machine.list("report").versions[0].reason.as_ref().unwrap().contains("digest"));

    // With its digest made to fit it is still not what was accepted here.
    let forged: Flow = serde_json::from_value(flow("evil")).unwrap();
    fs::write(&file, Snapshot::of(&forged, id("report"), 2, Timestamp(0)).print()).unwrap();
    assert_eq!(machine.standings("report"), [(2, Standing::Tampered), (1, Standing::Active)]);
    assert!(machine.list("report").versions[0].reason.as_ref().unwrap().contains("accepted on this machine"));
    assert!(matches!(machine.published.accepted(&id("report"), 2), Err(NotActive::NotAccepted { .. })));

    fs::write(&file, "{").unwrap();
    assert_eq!(machine.standings("report")[0].1, Standing::Unreadable);
    fs::write(&file, text).unwrap();
    assert_eq!(machine.active("report"), "two", "as it was, it runs again");

    // A version of another flow under this name is none.
    fs::copy(machine.file("report", 1), machine.file("report", 3)).unwrap();
    assert_eq!(machine.standings("report")[0], (3, Standing::Tampered));
}

#[tokio::test]
async fn out_of_service_nothing_runs_until_it_is_published_again() {
    let machine = Machine::new().await;
    let revision = machine.write("report", "one");
    let none = machine.published.unpublish(&id("report"), &revision).await;
    assert!(matches!(none, Err(PublishError::NotActive(NotActive::NotPublished(_)))));
    machine.published.publish(&id("report"), &revision).await.unwrap();
    machine.published.unpublish(&id("report"), &revision).await.unwrap();
    assert!(matches!(machine.published.active(&id("report")), Err(NotActive::OutOfService(_))));
    assert_eq!(machine.standings("report"), [(1, Standing::Accepted)]);
    let machine = machine.again().await;
    assert!(!machine.list("report").state.published);
    machine.published.publish(&id("report"), &revision).await.unwrap();
    assert_eq!((machine.active("report"), machine.standings("report").len()), (json!("one"), 1));
}

#[tokio::test]
async fn a_tool_that_went_away_makes_the_version_unfit_until_it_is_back() {
    let machine = Machine::new().await;
    let revision = machine.write("report", "one");
    machine.published.publish(&id("report"), &revision).await.unwrap();
    assert!(machine.published.active(&id("report")).is_ok());
    machine.library.judge_by(Arc::default());
    assert!(matches!(machine.published.active(&id("report")), Err(NotActive::Findings { number: 1, .. })));
    machine.library.judge_by(catalog());
    assert!(machine.published.active(&id("report")).is_ok());
}

#[tokio::test]
async fn restoring_changes_the_draft_alone_and_a_diff_tells_what() {
    let machine = Machine::new().await;
    let first = machine.write("report", "one");
    machine.published.publish(&id("report"), &first).await.unwrap();
    let mut other = flow("two");
    other["nodes"].as_array_mut().unwrap().push(json!({ "id": "b", "tool": "think" }));
    other["edges"] = json!([{ "source": "a", "target": "b" }]);
    let entry = machine.library.save(&id("report"), other.to_string().as_bytes(), &first).unwrap();
    machine.published.publish(&id("report"), &entry.revision).await.unwrap();

    let diff = machine.published.diff(&machine.entry("report"), (Side::Number(1), Side::Active)).unwrap();
    let nodes: Vec<_> = diff.flow.nodes.iter().map(|node| (node.id.as_str(), node.change)).collect();
    assert_eq!(nodes, [("a", Change::Changed), ("b", Change::Added)]);
    assert_eq!(diff.flow.nodes[0].fields, ["args.what"]);
    assert_eq!((diff.flow.edges.len(), diff.flow.edges[0].change), (1, Change::Added));
    assert!(diff.text.starts_with("--- 1\n+++ 2\n") && diff.text.contains('+'), "{}", diff.text);
    let same = machine.published.diff(&machine.entry("report"), (Side::Active, Side::Draft)).unwrap();
    assert_eq!((same.text.as_str(), same.flow.nodes.len()), ("", 0));

    let stale = machine.published.restore(&id("report"), 1, first.clone()).await;
    assert!(matches!(stale, Err(PublishError::Save(SaveError::Conflict { .. }))));
    let restored = machine.published.restore(&id("report"), 1, entry.revision.clone()).await.unwrap();
    assert_eq!(restored.revision, first, "the same text has the same revision");
    assert_eq!(machine.active("report"), "two");
    assert!(machine.list("report").state.has_unpublished_changes);
}

#[tokio::test]
async fn a_deletion_that_was_begun_is_finished_at_the_next_start() {
    let machine = Machine::new().await;
    let revision = machine.write("report", "one");
    machine.published.publish(&id("report"), &revision).await.unwrap();
    // Killed between the store and the file.
    let tombstone = Tombstone::Deleted { revision: machine.entry("report").revision.clone() };
    machine.store.forget_flow(id("report"), tombstone).await.unwrap();
    let machine = machine.again().await;
    assert!(machine.library.get(&id("report")).is_none());
    assert!(!machine.file("report", 1).exists());
    assert!(machine.store.tombstones().unwrap().is_empty());

    // A file that was written anew meanwhile is another flow, and stays.
    let old = machine.write("other", "old");
    machine.store.forget_flow(id("other"), Tombstone::Deleted { revision: old }).await.unwrap();
    machine.write("other", "new");
    let machine = machine.again().await;
    assert!(machine.library.get(&id("other")).is_some());
    assert!(machine.store.tombstones().unwrap().is_empty());
}

#[tokio::test]
async fn a_new_id_takes_versions_and_acceptance_along_also_when_it_was_only_begun() {
    let machine = Machine::new().await;
    let revision = machine.write("report", "one");
    machine.published.publish(&id("report"), &revision).await.unwrap();
    machine.write("taken", "x");
    let taken = machine.published.rename(&id("report"), &id("taken"), &revision).await;
    assert!(matches!(taken, Err(PublishError::Save(SaveError::Exists { .. }))));
    machine.published.rename(&id("report"), &id("news"), &revision).await.unwrap();
    assert!(machine.library.get(&id("report")).is_none() && !machine.file("report", 1).exists());
    assert_eq!((machine.active("news"), machine.standings("news")), (json!("one"), vec![(1, Standing::Active)]));

    // Killed after the store was told.
    machine.store.rename_flow(id("news"), id("daily")).await.unwrap();
    let machine = machine.again().await;
    assert!(machine.library.get(&id("news")).is_none());
    assert_eq!(machine.active("daily"), "one");
    assert!(machine.store.tombstones().unwrap().is_empty());
}

#[tokio::test]
async fn a_new_id_loses_no_version_that_is_damaged_and_takes_none_that_is_there() {
    let machine = Machine::new().await;
    let revision = machine.write("report", "one");
    machine.published.publish(&id("report"), &revision).await.unwrap();
    fs::write(machine.file("report", 2), "no snapshot").unwrap();
    // What a flow has left behind whose file went without a word.
    let gone = machine.write("gone", "old");
    machine.published.publish(&id("gone"), &gone).await.unwrap();
    machine.library.delete(&id("gone"), None).unwrap();
    let taken = machine.published.rename(&id("report"), &id("gone"), &revision).await;
    assert!(matches!(taken, Err(PublishError::Save(SaveError::Exists { .. }))), "{taken:?}");
    assert_eq!(machine.active("report"), "one");

    machine.published.rename(&id("report"), &id("news"), &revision).await.unwrap();
    assert_eq!(machine.standings("news"), [(2, Standing::Unreadable), (1, Standing::Active)]);
    assert_eq!(fs::read_to_string(machine.file("news", 2)).unwrap(), "no snapshot");
}

#[tokio::test]
async fn deleting_removes_nothing_outside_the_directory() {
    let machine = Machine::new().await;
    let revision = machine.write("report", "one");
    let outside = machine.home.path().join("outside");
    fs::create_dir_all(outside.join("report")).unwrap();
    fs::write(outside.join("report/1.json"), "theirs").unwrap();
    std::os::unix::fs::symlink(&outside, machine.home.path().join("flows/published")).unwrap();
    machine.published.delete(&id("report"), Some(&revision)).await.unwrap();
    assert!(machine.library.get(&id("report")).is_none());
    assert_eq!(fs::read_to_string(outside.join("report/1.json")).unwrap(), "theirs");
}

#[tokio::test]
async fn versions_are_not_followed_out_of_the_directory() {
    let machine = Machine::new().await;
    let revision = machine.write("report", "one");
    machine.published.publish(&id("report"), &revision).await.unwrap();
    let outside = machine.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::rename(machine.file("report", 1), outside.join("1.json")).unwrap();
    std::os::unix::fs::symlink(outside.join("1.json"), machine.file("report", 1)).unwrap();
    assert_eq!(machine.standings("report"), [(1, Standing::Unreadable)]);
    let place = machine.home.path().join("flows/published/report");
    fs::remove_dir_all(&place).unwrap();
    std::os::unix::fs::symlink(&outside, &place).unwrap();
    assert_eq!(machine.standings("report"), []);
    assert!(machine.published.active(&id("report")).is_err());
}
