use std::os::unix::fs::symlink;

use weir_shared::finding::Code;
use weir_shared::limits::FLOW_FILE_BYTES;

use super::*;

fn codes(entry: &Entry) -> Vec<Code> {
    entry.findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn every_flow_is_loaded_and_what_editors_leave_behind_is_not() {
    let home = Home::new();
    home.write("a", &text("First"));
    home.write("b-2", &text("Second"));
    for name in
        [".a.flow.json.swp", "a.flow.json~", ".a.flow.json.0.tmp", ".#a.flow.json", "#a.flow.json#", "4913", "a.json"]
    {
        fs::write(home.flows.join(name), "x").unwrap();
    }
    let library = home.open();
    let list = library.list();
    assert_eq!(list.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>(), ["a", "b-2"]);
    assert_eq!(name_of(&list[1]), "Second");
    assert_eq!(list[0].revision, Revision::of(text("First").as_bytes()));
    assert_eq!(list[0].flow_revision.as_ref(), Some(&list[0].revision));
    assert_eq!(list[0].text, None);
    assert!(list[0].plan.is_some());
    assert!(library.refused().is_empty());
}

#[test]
fn names_that_cannot_be_ids_are_refused_with_a_finding() {
    let home = Home::new();
    for name in ["Report", "report", "my flow", "events", "a.sync-conflict-1"] {
        home.write(name, &text(name));
    }
    let library = home.open();
    assert_eq!(library.list().len(), 1, "`Report` differs from `report` only in case");
    let refused: Vec<_> = library.refused().into_iter().map(|refused| (refused.name, refused.finding.code)).collect();
    let expected = ["Report", "a.sync-conflict-1", "events", "my flow"];
    assert_eq!(refused, expected.map(|name| (format!("{name}.flow.json"), Code::BadFlowId)));
}

#[test]
fn links_that_leave_the_directory_and_what_is_no_plain_file_are_not_followed() {
    let home = Home::new();
    let outside = home.flows.with_file_name("outside.json");
    fs::write(&outside, text("Outside")).unwrap();
    symlink(&outside, home.file("leaves")).unwrap();
    symlink(home.flows.join("nowhere"), home.file("dangling")).unwrap();
    fs::create_dir(home.flows.join("archive")).unwrap();
    fs::write(home.flows.join("archive/in.json"), text("Inside")).unwrap();
    symlink("archive/in.json", home.file("stays")).unwrap();
    fs::create_dir(home.file("folder")).unwrap();
    nix::unistd::mkfifo(&home.file("pipe"), nix::sys::stat::Mode::S_IRUSR).unwrap();

    let library = home.open();
    for refused in ["leaves", "dangling", "folder", "pipe"] {
        let entry = library.get(&id(refused)).unwrap_or_else(|| panic!("{refused} is shown"));
        assert_eq!(codes(&entry), [Code::UnreadableFile], "{refused}");
        assert_eq!((&entry.flow, &entry.text), (&None, &None), "{refused}");
    }
    assert_eq!(name_of(&library.get(&id("stays")).unwrap()), "Inside");
}

#[test]
fn a_file_past_the_limit_is_refused_and_not_cut() {
    let home = Home::new();
    let padded = |bytes: usize| {
        let flow = text("Large");
        format!("{flow}{}", " ".repeat(bytes - flow.len()))
    };
    home.write("fits", &padded(FLOW_FILE_BYTES));
    home.write("large", &padded(FLOW_FILE_BYTES + 1));
    let library = home.open();
    assert_eq!(name_of(&library.get(&id("fits")).unwrap()), "Large");
    let large = library.get(&id("large")).unwrap();
    assert_eq!(codes(&large), [Code::UnreadableFile]);
    assert!(large.findings[0].message.contains("too large"), "{}", large.findings[0].message);
    assert_eq!(large.flow, None);
}

#[test]
fn a_flow_with_an_error_is_shown_and_has_no_plan() {
    let home = Home::new();
    home.write("a", r#"{"format":1,"name":"A","nodes":[{"id":"x","tool":"no_such_tool"}],"edges":[]}"#);
    let entry = home.open().get(&id("a")).unwrap();
    assert_eq!(codes(&entry), [Code::UnavailableTool]);
    assert_eq!((name_of(&entry), &entry.text, &entry.plan), ("A", &None, &None));
    assert_eq!(entry.flow_revision.as_ref(), Some(&entry.revision));
}

#[test]
fn an_unreadable_file_shows_its_text_and_its_findings() {
    let home = Home::new();
    home.write("a", "{ \"format\": 1, ");
    let entry = home.open().get(&id("a")).unwrap();
    assert_eq!(entry.text.as_deref(), Some("{ \"format\": 1, "));
    assert_eq!((&entry.flow, &entry.flow_revision, &entry.plan), (&None, &None, &None));
    assert!(codes(&entry).contains(&Code::UnreadableFile));
}
