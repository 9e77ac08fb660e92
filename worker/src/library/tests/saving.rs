use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::library::SaveError;

#[test]
fn a_new_flow_gets_an_id_of_its_name_and_its_canonical_form() {
    let home = Home::new();
    let library = home.open();
    let loose = r#"{"name":"Nightly report","format":1,"edges":[],"nodes":[]}"#;
    let first = library.create(None, loose.as_bytes()).unwrap();
    let second = library.create(None, loose.as_bytes()).unwrap();
    assert_eq!((first.id.as_str(), second.id.as_str()), ("nightly-report", "nightly-report-2"));
    let written = fs::read_to_string(home.file("nightly-report")).unwrap();
    assert!(written.starts_with("{\n  \"format\": 1,\n  \"name\": \"Nightly report\",\n"), "{written}");
    assert_eq!(first.revision, Revision::of(written.as_bytes()));
    assert_eq!(library.get(&first.id), Some(first));
    assert_eq!(names(&home.flows), ["nightly-report-2.flow.json", "nightly-report.flow.json"]);
}

#[test]
fn a_given_id_that_is_taken_is_refused_in_any_case() {
    let home = Home::new();
    fs::write(home.flows.join("Report.flow.json"), "theirs").unwrap();
    let library = home.open();
    let error = library.create(Some(id("report")), text("x").as_bytes()).unwrap_err();
    assert_eq!(error, SaveError::Exists { id: id("report") });
    library.create(Some(id("a")), text("first").as_bytes()).unwrap();
    let error = library.create(Some(id("a")), text("second").as_bytes()).unwrap_err();
    assert_eq!(error, SaveError::Exists { id: id("a") });
    assert_eq!(fs::read_to_string(home.file("a")).unwrap(), text("first"));
}

#[test]
fn the_directory_is_made_with_the_first_flow() {
    let home = Home::new();
    let later = home.flows.join("not/yet");
    let library = Library::open(later.clone(), Arc::new(Catalog::default()), Limits::default(), None);
    library.create(Some(id("a")), text("first").as_bytes()).unwrap();
    assert_eq!(names(&later), ["a.flow.json"]);
}

/// C112: two open editors, and a file changed under an open tab.
#[test]
fn a_save_over_bytes_that_were_not_shown_is_a_conflict_with_both_reachable() {
    let home = Home::new();
    home.write("a", &text("start"));
    let library = home.open();
    let start = library.get(&id("a")).unwrap().revision.clone();
    let saved = library.save(&id("a"), text("tab A").as_bytes(), &start).unwrap();
    assert_eq!(name_of(&saved), "tab A");

    let conflict = |outcome| match outcome {
        Err(SaveError::Conflict { current }) => current,
        other => panic!("{other:?}"),
    };
    let current = conflict(library.save(&id("a"), text("tab B").as_bytes(), &start));
    assert_eq!(current.revision, saved.revision);
    assert_eq!(name_of(&current), "tab A");
    assert_eq!(fs::read_to_string(home.file("a")).unwrap(), text("tab A"));

    // Another program, just now: whether the watcher has seen it makes no difference.
    home.write("a", &text("elsewhere"));
    let current = conflict(library.save(&id("a"), text("tab A again").as_bytes(), &saved.revision));
    assert_eq!(name_of(&current), "elsewhere");
    let current = conflict(library.delete(&id("a"), Some(&saved.revision)).map(|()| saved));
    assert_eq!(name_of(&current), "elsewhere");
    assert_eq!(fs::read_to_string(home.file("a")).unwrap(), text("elsewhere"));
}

#[test]
fn what_is_not_readable_or_of_a_newer_format_is_not_written() {
    let home = Home::new();
    home.write("a", &text("start"));
    let library = home.open();
    let before = library.get(&id("a")).unwrap();
    let newer = text("newer").replace("\"format\": 1", "\"format\": 2");
    for bad in ["{", "{\"format\":1,\"name\":\"x\",\"nodes\":[],\"edges\":[],\"colour\":1}", &newer] {
        for outcome in [library.create(None, bad.as_bytes()), library.save(&id("a"), bad.as_bytes(), &before.revision)]
        {
            match outcome {
                Err(SaveError::Unreadable { findings }) => assert!(!findings.is_empty(), "{bad}"),
                other => panic!("{bad}: {other:?}"),
            }
        }
    }
    assert_eq!(names(&home.flows), ["a.flow.json"]);
    assert_eq!(fs::read_to_string(home.file("a")).unwrap(), text("start"));
}

#[test]
fn a_save_keeps_permissions_and_links_and_leaves_nothing_else() {
    let home = Home::new();
    fs::create_dir(home.flows.join("shared")).unwrap();
    let target = home.flows.join("shared/a.json");
    fs::write(&target, text("start")).unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("shared/a.json", home.file("a")).unwrap();
    let library = home.open();
    let revision = library.get(&id("a")).unwrap().revision.clone();
    library.save(&id("a"), text("saved").as_bytes(), &revision).unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), text("saved"));
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(home.file("a")).unwrap().is_symlink());
    assert_eq!(names(&home.flows), ["a.flow.json", "shared"]);
    assert_eq!(names(&home.flows.join("shared")), ["a.json"]);
}

#[test]
fn a_save_never_leaves_the_directory() {
    let home = Home::new();
    let outside = home.flows.with_file_name("outside.json");
    fs::write(&outside, text("outside")).unwrap();
    symlink(&outside, home.file("a")).unwrap();
    let library = home.open();
    let revision = library.get(&id("a")).unwrap().revision.clone();
    let error = library.save(&id("a"), text("x").as_bytes(), &revision).unwrap_err();
    assert_eq!(error, SaveError::NotRead { id: id("a") });
    assert_eq!(fs::read_to_string(&outside).unwrap(), text("outside"));
    library.delete(&id("a"), Some(&revision)).unwrap();
    assert!(outside.exists(), "the link goes, not what it led to");
}

#[test]
fn a_text_that_was_broken_on_disk_can_be_saved_over() {
    let home = Home::new();
    home.write("a", "{ broken");
    let library = home.open();
    let revision = library.get(&id("a")).unwrap().revision.clone();
    let saved = library.save(&id("a"), text("mended").as_bytes(), &revision).unwrap();
    assert_eq!((name_of(&saved), &saved.text), ("mended", &None));
}

#[tokio::test]
async fn a_change_made_here_is_told_once() {
    let home = Home::new();
    let library = home.open();
    let mut changes = library.subscribe();
    let made = library.create(Some(id("a")), text("one").as_bytes()).unwrap();
    let same = library.save(&id("a"), text("one").as_bytes(), &made.revision).unwrap();
    assert_eq!(same, made, "the same bytes are not written again");
    let saved = library.save(&id("a"), text("two").as_bytes(), &made.revision).unwrap();
    library.delete(&id("a"), None).unwrap();
    assert_eq!(library.delete(&id("a"), None), Err(SaveError::Unknown { id: id("a") }));
    assert_eq!(
        library.save(&id("a"), text("three").as_bytes(), &saved.revision),
        Err(SaveError::Unknown { id: id("a") })
    );
    // The watcher sees all of this too, and has nothing to add before this one.
    home.write("b", &text("last"));
    assert_eq!(next(&mut changes).await, LibraryChange::Changed(made));
    assert_eq!(next(&mut changes).await, LibraryChange::Changed(saved));
    assert_eq!(next(&mut changes).await, LibraryChange::Removed(id("a")));
    until(&mut changes, |change| match change {
        LibraryChange::Changed(entry) => entry.id == id("b") && entry.text.is_none(),
        LibraryChange::Removed(gone) => panic!("{gone} is told twice"),
    })
    .await;
}
