use std::process::Command;

use super::*;
use crate::library::catalog::Flows;
use crate::library::load::Rules;
use crate::library::scan::Scan;

/// C001: a watcher bound to a file's inode sees the first save by renaming, or none, and misses the rest.
#[tokio::test]
async fn every_way_of_saving_is_seen_every_time() {
    let home = Home::new();
    home.write("a", &text("zero"));
    let library = home.open();
    let mut changes = library.subscribe();
    let file = home.file("a");
    let sed = |from: &str, to: &str, path: &Path| {
        let status = Command::new("sed").arg("-i").arg(format!("s/{from}/{to}/")).arg(path).status().unwrap();
        assert!(status.success());
    };

    sed("zero", "one", &file);
    until_named(&mut changes, "one").await;
    sed("one", "two", &file);
    until_named(&mut changes, "two").await;

    let copy = home.flows.join("n.json");
    fs::copy(&file, &copy).unwrap();
    sed("two", "three", &copy);
    fs::rename(&copy, &file).unwrap();
    until_named(&mut changes, "three").await;

    // As vim does with `backupcopy=no`.
    let backup = home.flows.join("a.flow.json~");
    for name in ["four", "five"] {
        fs::rename(&file, &backup).unwrap();
        fs::write(&file, text(name)).unwrap();
        fs::remove_file(&backup).unwrap();
        until_named(&mut changes, name).await;
    }

    // In place, and to the same length.
    fs::write(&file, text("nine")).unwrap();
    until_named(&mut changes, "nine").await;
    fs::write(&file, text("four")).unwrap();
    until_named(&mut changes, "four").await;
    assert_eq!(library.get(&id("a")).unwrap().revision, Revision::of(text("four").as_bytes()));
}

#[tokio::test]
async fn deletion_and_return_are_told() {
    let home = Home::new();
    home.write("a", &text("one"));
    let library = home.open();
    let mut changes = library.subscribe();
    fs::remove_file(home.file("a")).unwrap();
    assert_eq!(next(&mut changes).await, LibraryChange::Removed(id("a")));
    assert_eq!(library.get(&id("a")), None);
    home.write("a", &text("two"));
    until_named(&mut changes, "two").await;
}

#[tokio::test]
async fn a_broken_save_leaves_the_last_good_flow_in_sight() {
    let home = Home::new();
    home.write("a", &text("good"));
    let library = home.open();
    let mut changes = library.subscribe();
    let broken = "{ \"format\": 1, \"nam";
    home.write("a", broken);
    until(
        &mut changes,
        |change| matches!(change, LibraryChange::Changed(entry) if entry.text.as_deref() == Some(broken)),
    )
    .await;
    let entry = library.get(&id("a")).unwrap();
    assert_eq!(name_of(&entry), "good");
    assert_eq!(entry.revision, Revision::of(broken.as_bytes()));
    assert_eq!(entry.flow_revision, Some(Revision::of(text("good").as_bytes())));
    assert_eq!(entry.plan, None);
    assert!(!entry.findings.is_empty());

    home.write("a", &text("better"));
    until_named(&mut changes, "better").await;
    let entry = library.get(&id("a")).unwrap();
    assert_eq!(entry.flow_revision.as_ref(), Some(&entry.revision));
}

#[tokio::test]
async fn a_directory_that_is_made_later_is_found() {
    let home = Home::new();
    let later = home.flows.join("not/yet");
    let library = Library::open(later.clone(), Arc::new(Catalog::default()), Limits::default(), None);
    assert!(library.list().is_empty());
    let mut changes = library.subscribe();
    fs::create_dir_all(&later).unwrap();
    fs::write(later.join("a.flow.json"), text("one")).unwrap();
    until_named(&mut changes, "one").await;
    // Its own watch is in place now.
    fs::write(later.join("a.flow.json"), text("two")).unwrap();
    until_named(&mut changes, "two").await;
}

#[tokio::test]
async fn a_directory_named_from_here_is_watched_too() {
    let home = Home::new();
    let up = std::env::current_dir().unwrap().ancestors().skip(1).map(|_| "..").collect::<PathBuf>();
    let from_here = up.join(home.flows.strip_prefix("/").unwrap());
    let library = Library::open(from_here, Arc::new(Catalog::default()), Limits::default(), None);
    let mut changes = library.subscribe();
    home.write("a", &text("one"));
    until_named(&mut changes, "one").await;
}

#[tokio::test]
async fn a_directory_that_is_replaced_is_followed() {
    let home = Home::new();
    home.write("a", &text("one"));
    home.write("gone", &text("gone"));
    let library = home.open();
    let mut changes = library.subscribe();

    let other = home.flows.with_file_name("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("a.flow.json"), text("two")).unwrap();
    fs::rename(&home.flows, home.flows.with_file_name("old")).unwrap();
    fs::rename(&other, &home.flows).unwrap();
    let (mut removed, mut renamed) = (false, false);
    until(&mut changes, |change| {
        match change {
            LibraryChange::Removed(gone) => removed |= *gone == id("gone"),
            LibraryChange::Changed(entry) => renamed |= name_of(entry) == "two",
        }
        removed && renamed
    })
    .await;
    home.write("a", &text("three"));
    until_named(&mut changes, "three").await;

    fs::remove_dir_all(&home.flows).unwrap();
    until(&mut changes, |change| *change == LibraryChange::Removed(id("a"))).await;
    fs::create_dir(&home.flows).unwrap();
    home.write("a", &text("four"));
    until_named(&mut changes, "four").await;
}

#[tokio::test]
async fn five_hundred_files_at_once_all_arrive() {
    let home = Home::new();
    let library = home.open();
    let mut changes = library.subscribe();
    for n in 0..500 {
        home.write(&format!("flow-{n}"), &text(&format!("Flow {n}")));
    }
    let mut seen = std::collections::BTreeSet::new();
    until(&mut changes, |change| {
        if let LibraryChange::Changed(entry) = change
            && entry.text.is_none()
        {
            seen.insert(entry.id.clone());
        }
        seen.len() == 500
    })
    .await;
    assert_eq!(library.list().len(), 500);
}

/// A checkout is one change of the catalog: whoever hears of its first flow sees all of them.
#[tokio::test]
async fn one_look_takes_everything_in_before_it_tells() {
    let home = Home::new();
    let flows = Arc::new(Flows::new());
    let rules = Rules { catalog: Arc::new(Catalog::default()), limits: Limits::default(), secrets: None };
    let mut scan = Scan::default();
    for n in 0..500 {
        home.write(&format!("flow-{n}"), &text("before"));
    }
    let _settled = scan.look(&home.flows, &flows, &rules);
    let mut changes = flows.subscribe();
    for n in 0..500 {
        home.write(&format!("flow-{n}"), &text("after"));
    }
    let heard = {
        let flows = Arc::clone(&flows);
        tokio::spawn(async move {
            let first = next(&mut changes).await;
            let all = flows.list().iter().all(|entry| name_of(entry) == "after");
            (first, all)
        })
    };
    let directory = home.flows.clone();
    tokio::task::spawn_blocking(move || scan.look(&directory, &flows, &rules)).await.unwrap();
    let (first, all) = heard.await.unwrap();
    assert!(matches!(first, LibraryChange::Changed(_)));
    assert!(all);
}

#[tokio::test]
async fn what_is_as_it_was_is_not_told() {
    let home = Home::new();
    home.write("a", &text("one"));
    home.write("b", &text("one"));
    let library = home.open();
    let mut changes = library.subscribe();
    // The same bytes again in a new file, then a real change of another: only the second is told.
    let fresh = home.flows.join("fresh");
    for (id, name) in [("a", "one"), ("b", "two")] {
        fs::write(&fresh, text(name)).unwrap();
        fs::rename(&fresh, home.file(id)).unwrap();
    }
    match next(&mut changes).await {
        LibraryChange::Changed(entry) => assert_eq!((entry.id.as_str(), name_of(&entry)), ("b", "two")),
        LibraryChange::Removed(gone) => panic!("{gone} is there"),
    }
}
