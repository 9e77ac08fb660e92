//! The file tools against real directories, and what tries to lead them out.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use super::*;

/// A run's working directory and a root beside it, with something outside of both.
struct Disk {
    _directory: tempfile::TempDir,
    outside: PathBuf,
    root: PathBuf,
    roots: Roots,
}

fn disk() -> Disk {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| {
        let path = directory.path().join(name);
        fs::create_dir(&path).unwrap();
        path
    };
    let (outside, root, workspace) = (at("outside"), at("root"), at("work"));
    fs::write(outside.join("secret"), "secret").unwrap();
    let roots = Roots { workspace, others: vec![root.clone()].into() };
    Disk { _directory: directory, outside, root, roots }
}

impl Disk {
    fn work(&self, path: &str) -> PathBuf {
        self.roots.workspace.join(path)
    }

    /// Writes past the tools, also where they would not.
    fn write_plainly(&self, path: &str, content: &str) {
        let path = self.work(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, path: &str) -> Result<Value, String> {
        read_file::call(json!({ "path": path }), &self.roots)
    }

    fn write(&self, path: &str, content: &str) -> Result<Value, String> {
        write_file::call(json!({ "path": path, "content": content }), &self.roots)
    }
}

#[test]
fn a_file_is_written_whole_and_read_by_lines() {
    let disk = disk();
    let written = disk.write("a/b/report.md", "one\ntwo\nthree\n").unwrap();
    assert_eq!(written, json!({ "path": "a/b/report.md", "bytes": 14, "created": true }));
    assert_eq!(fs::read_dir(disk.work("a/b")).unwrap().count(), 1, "nothing is left beside it");
    let part = json!({ "path": "./a//b/report.md", "offset": 2, "limit": 1, "lineNumbers": true });
    let read = read_file::call(part, &disk.roots).unwrap();
    assert_eq!((&read["text"], &read["firstLine"], &read["lines"]), (&json!("2\ttwo\n"), &json!(2), &json!(1)));
    assert_eq!(read["truncated"], true);
    let all = disk.read("a/b/report.md").unwrap();
    assert_eq!((&all["text"], &all["truncated"]), (&json!("one\ntwo\nthree\n"), &json!(false)));
    let past = read_file::call(json!({ "path": "a/b/report.md", "offset": 9 }), &disk.roots).unwrap();
    assert_eq!((&past["text"], &past["lines"]), (&json!(""), &json!(0)));
}

#[test]
fn a_replaced_file_keeps_its_permissions_and_may_be_kept() {
    let disk = disk();
    fs::write(disk.work("run.sh"), "old").unwrap();
    fs::set_permissions(disk.work("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    assert_eq!(disk.write("run.sh", "new").unwrap()["created"], false);
    assert_eq!(fs::metadata(disk.work("run.sh")).unwrap().permissions().mode() & 0o777, 0o750);
    let kept = write_file::call(json!({ "path": "run.sh", "content": "x", "overwrite": false }), &disk.roots);
    assert!(kept.unwrap_err().contains("File exists"));
    assert_eq!(fs::read_to_string(disk.work("run.sh")).unwrap(), "new");
    assert_eq!(fs::read_dir(&disk.roots.workspace).unwrap().count(), 1);
}

#[test]
fn nothing_leads_out() {
    let disk = disk();
    let secret = disk.outside.join("secret").display().to_string();
    symlink(&disk.outside, disk.work("out")).unwrap();
    symlink(disk.outside.join("secret"), disk.work("link")).unwrap();
    symlink("../outside/secret", disk.work("relative")).unwrap();
    fs::create_dir(disk.work("deep")).unwrap();
    symlink("/proc/self/root", disk.work("deep/magic")).unwrap();
    for path in ["out/secret", "link", "relative", "deep/magic/etc/hostname"] {
        assert!(disk.read(path).unwrap_err().contains("leads out"), "{path}");
    }
    assert!(disk.read("../outside/secret").unwrap_err().contains("`..`"));
    assert!(disk.read("deep/../../outside/secret").unwrap_err().contains("`..`"));
    assert!(disk.read(&secret).unwrap_err().contains("files.roots"));
    for path in ["out/new", "link", "relative"] {
        disk.write(path, "x").unwrap_err();
    }
    move_file::call(json!({ "from": "deep", "to": "out/deep" }), &disk.roots).unwrap_err();
    make_directory::call(json!({ "path": "out/new" }), &disk.roots).unwrap_err();
    delete_file::call(json!({ "path": "out/secret", "confirm": true }), &disk.roots).unwrap_err();
    assert!(disk.outside.join("secret").exists() && !disk.outside.join("new").exists());
    assert_eq!(fs::read_to_string(disk.outside.join("secret")).unwrap(), "secret");
}

#[test]
fn a_root_of_the_settings_is_reached_by_its_absolute_path() {
    let disk = disk();
    let path = disk.root.join("sub/data.txt").display().to_string();
    disk.write(&path, "there").unwrap();
    assert_eq!(disk.read(&path).unwrap()["text"], "there");
    let beside = format!("{}-not", disk.root.display());
    assert!(disk.read(&beside).unwrap_err().contains("files.roots"), "a name that only begins alike");
}

#[test]
fn no_tool_writes_into_git() {
    let disk = disk();
    fs::create_dir_all(disk.work("repository/.git/hooks")).unwrap();
    symlink(".git", disk.work("repository/alias")).unwrap();
    for path in ["repository/.git/hooks/pre-commit", "repository/alias/hooks/pre-commit", "repository/.GIT"] {
        assert!(disk.write(path, "#!/bin/sh").unwrap_err().contains(".git"), "{path}");
    }
    assert!(make_directory::call(json!({ "path": "new/.git" }), &disk.roots).unwrap_err().contains(".git"));
    assert!(
        move_file::call(json!({ "from": "repository/.git", "to": "x" }), &disk.roots).unwrap_err().contains(".git")
    );
    let delete = delete_file::call(json!({ "path": "repository/.git/hooks", "confirm": true }), &disk.roots);
    assert!(delete.unwrap_err().contains(".git"));
    fs::write(disk.work("repository/.git/HEAD"), "ref").unwrap();
    assert_eq!(disk.read("repository/.git/HEAD").unwrap()["text"], "ref", "reading is fine");
}

#[test]
fn an_edit_needs_its_passage_exactly_once() {
    let disk = disk();
    disk.write("flow.md", "status: draft\nowner: ada\nstatus: draft\nlast\n").unwrap();
    let edit = |old: &str, new: &str| {
        edit_file::call(json!({ "path": "flow.md", "oldText": old, "newText": new }), &disk.roots)
    };
    assert!(edit("status: draft", "status: final").unwrap_err().contains("more than once"));
    assert!(edit("nothing like it", "x").unwrap_err().contains("does not hold"));
    let edited = edit("owner: ada\nstatus: draft", "owner: ada\nstatus: final").unwrap();
    let diff = edited["diff"].as_str().unwrap();
    assert!(diff.starts_with("--- flow.md\n+++ flow.md\n@@ "), "{diff}");
    assert!(diff.contains("\n-status: draft\n+status: final\n"), "{diff}");
    assert_eq!(fs::read_to_string(disk.work("flow.md")).unwrap(), "status: draft\nowner: ada\nstatus: final\nlast\n");
    disk.write("flow.md", "aaa").unwrap();
    assert!(edit("aa", "b").unwrap_err().contains("more than once"), "they overlap");
}

#[test]
fn directories_are_made_listed_moved_and_deleted() {
    let disk = disk();
    let made = make_directory::call(json!({ "path": "a/b" }), &disk.roots).unwrap();
    assert_eq!(made, json!({ "path": "a/b", "created": true }));
    assert_eq!(make_directory::call(json!({ "path": "a/b" }), &disk.roots).unwrap()["created"], false);
    disk.write("a/z.txt", "12345").unwrap();
    symlink("z.txt", disk.work("a/link")).unwrap();
    let listed = list_directory::call(json!({ "path": "a" }), &disk.roots).unwrap();
    let entries = listed["entries"].as_array().unwrap();
    let shown: Vec<_> = entries.iter().map(|entry| (&entry["name"], &entry["type"])).collect();
    assert_eq!(json!(shown), json!([["b", "directory"], ["link", "link"], ["z.txt", "file"]]));
    assert_eq!(entries[2]["size"], 5);
    assert_eq!(list_directory::call(json!({ "path": "a", "limit": 1 }), &disk.roots).unwrap()["truncated"], true);
    disk.write("c.txt", "here first").unwrap();
    let onto = json!({ "from": "a/z.txt", "to": "c.txt" });
    assert!(move_file::call(onto, &disk.roots).unwrap_err().contains("there already"));
    move_file::call(json!({ "from": "a/z.txt", "to": "new/c.txt" }), &disk.roots).unwrap();
    assert_eq!(disk.read("new/c.txt").unwrap()["text"], "12345");
    let full = delete_file::call(json!({ "path": "a", "confirm": true }), &disk.roots);
    assert!(full.unwrap_err().contains("not empty"));
    for path in ["a/b", "a/link", "new/c.txt"] {
        delete_file::call(json!({ "path": path, "confirm": true }), &disk.roots).unwrap();
    }
    assert!(
        delete_file::call(json!({ "path": "new/c.txt", "confirm": true }), &disk.roots)
            .unwrap_err()
            .contains("does not exist")
    );
    assert!(
        delete_file::call(json!({ "path": ".", "confirm": true }), &disk.roots).unwrap_err().contains("root itself")
    );
}

#[test]
fn what_is_no_text_file_is_told() {
    let disk = disk();
    fs::write(disk.work("image"), b"\x89PNG\0\0").unwrap();
    assert_eq!(disk.read("image").unwrap_err(), "image is no text file");
    assert_eq!(disk.read(".").unwrap_err(), ".: is a directory");
    assert_eq!(disk.read("missing").unwrap_err(), "missing does not exist");
    nix::unistd::mkfifo(&disk.work("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(disk.read("pipe").unwrap_err(), "pipe: is no ordinary file");
    fs::write(disk.work("latin"), b"caf\xe9\n").unwrap();
    assert_eq!(disk.read("latin").unwrap()["text"], "caf\u{fffd}\n");
}

#[test]
fn files_are_found_by_pattern_without_following_links() {
    let disk = disk();
    for path in ["a.md", "docs/b.md", "docs/deep/c.md", "docs/d.txt", "node_modules/e.md", "x/.git/f.md"] {
        disk.write_plainly(path, "text\n");
    }
    symlink(&disk.outside, disk.work("docs/out")).unwrap();
    symlink("..", disk.work("docs/round")).unwrap();
    let found = |args: Value| glob::call(args, &disk.roots, &Abandoned::default()).unwrap();
    let all = found(json!({ "pattern": "**/*.md" }));
    assert_eq!(all, json!({ "path": ".", "paths": ["a.md", "docs/b.md", "docs/deep/c.md"], "truncated": false }));
    assert_eq!(found(json!({ "pattern": "*.md" }))["paths"], json!(["a.md"]));
    assert_eq!(found(json!({ "pattern": "*.{md,txt}", "path": "docs" }))["paths"], json!(["b.md", "d.txt"]));
    let page = found(json!({ "pattern": "**/*.md", "offset": 1, "limit": 1 }));
    assert_eq!((&page["paths"], &page["truncated"]), (&json!(["docs/b.md"]), &json!(true)));
    let secrets = found(json!({ "pattern": "**", "directories": true }));
    assert!(!secrets["paths"].to_string().contains("secret"), "{secrets}");
    assert_eq!(found(json!({ "pattern": "*.md", "path": "node_modules" }))["paths"], json!(["e.md"]), "named itself");
    let outside = glob::call(json!({ "pattern": "*", "path": "docs/out" }), &disk.roots, &Abandoned::default());
    assert!(outside.unwrap_err().contains("leads out"));
}

#[test]
fn a_walk_ends_after_its_number_of_entries() {
    let disk = disk();
    fs::create_dir(disk.work("many")).unwrap();
    for number in 0..walk::MOST_ENTRIES + 5 {
        fs::File::create(disk.work(&format!("many/{number:05}"))).unwrap();
    }
    let found = glob::call(json!({ "pattern": "many/0000*" }), &disk.roots, &Abandoned::default()).unwrap();
    assert_eq!(found["truncated"], true);
    let none = glob::call(json!({ "pattern": "none" }), &disk.roots, &Abandoned::default()).unwrap();
    assert_eq!((&none["paths"], &none["truncated"]), (&json!([]), &json!(true)), "there may be more");
}

#[test]
fn lines_are_found_by_pattern() {
    let disk = disk();
    disk.write_plainly("notes/today.md", "first\r\nTODO: call Ada\r\nlast TODO");
    disk.write_plainly("notes/other.txt", "todo: nothing\n");
    disk.write_plainly("notes/image", "TODO\0");
    symlink(disk.outside.join("secret"), disk.work("notes/link")).unwrap();
    let found = |args: Value| grep::call(args, &disk.roots, &Abandoned::default()).unwrap();
    assert_eq!(
        found(json!({ "pattern": "TODO" })),
        json!({ "path": ".", "truncated": false, "matches": [
            { "path": "notes/today.md", "line": 2, "text": "TODO: call Ada" },
            { "path": "notes/today.md", "line": 3, "text": "last TODO" }
        ] })
    );
    let lines = |args: Value| found(args)["matches"].as_array().unwrap().len();
    assert_eq!(lines(json!({ "pattern": "^todo", "ignoreCase": true })), 2);
    assert_eq!(lines(json!({ "pattern": "todo", "ignoreCase": true, "files": "**/*.txt" })), 1);
    assert_eq!(lines(json!({ "pattern": "Ada$", "path": "notes/today.md" })), 1);
    assert_eq!(lines(json!({ "pattern": "secret" })), 0);
    let page = found(json!({ "pattern": "TODO", "limit": 1 }));
    assert_eq!((page["matches"].as_array().unwrap().len(), &page["truncated"]), (1, &json!(true)));
    let rest = found(json!({ "pattern": "TODO", "offset": 1, "limit": 1 }));
    assert_eq!((&rest["matches"][0]["line"], &rest["truncated"]), (&json!(3), &json!(false)));
    let broken = grep::call(json!({ "pattern": "(" }), &disk.roots, &Abandoned::default());
    assert!(broken.unwrap_err().starts_with("the pattern cannot be used"));
}

#[test]
fn a_hostile_pattern_and_a_line_without_end_are_quick() {
    let disk = disk();
    disk.write_plainly("long", &"a".repeat(4 * 1024 * 1024));
    let began = std::time::Instant::now();
    let found = grep::call(json!({ "pattern": "(a*)*(a|aa)+$b" }), &disk.roots, &Abandoned::default()).unwrap();
    assert_eq!(found["matches"], json!([]));
    assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
    let shown = grep::call(json!({ "pattern": "a" }), &disk.roots, &Abandoned::default()).unwrap();
    assert_eq!(shown["matches"][0]["text"].as_str().unwrap().len(), 2_000);
    let huge = grep::call(json!({ "pattern": "(a{1000}){1000}" }), &disk.roots, &Abandoned::default());
    assert!(huge.unwrap_err().starts_with("the pattern cannot be used"));
}

#[test]
fn a_search_that_nobody_waits_for_ends() {
    let disk = disk();
    disk.write_plainly("a.md", "text\n");
    let (waiting, abandoned) = Abandoned::when_dropped();
    assert!(glob::call(json!({ "pattern": "*" }), &disk.roots, &abandoned).is_ok());
    drop(waiting);
    glob::call(json!({ "pattern": "*" }), &disk.roots, &abandoned).unwrap_err();
    grep::call(json!({ "pattern": "text" }), &disk.roots, &abandoned).unwrap_err();
}
