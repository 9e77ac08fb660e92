//! The git tools against a real repository, and against what a repository's configuration can do.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::tool::desk::{Desk, failure, result};
use crate::tool::toolbox::ToolSettings;

/// A flow directory below the top of a repository with one commit, and a desk whose tools work on it.
struct Repository {
    directory: tempfile::TempDir,
    desk: Desk,
}

fn repository() -> Repository {
    let directory = tempfile::tempdir().unwrap();
    let flows = directory.path().join("flows");
    fs::create_dir(&flows).unwrap();
    fs::write(flows.join("report.flow.json"), "{\n  \"format\": 1\n}\n").unwrap();
    fs::write(directory.path().join("elsewhere.txt"), "not about flows\n").unwrap();
    let desk = Desk::with(ToolSettings { flows: Some(flows), ..ToolSettings::default() });
    let repository = Repository { directory, desk };
    repository.git(&["init", "--quiet", "--initial-branch=main"]);
    repository.git(&["config", "user.name", "Ada"]);
    repository.git(&["config", "user.email", "ada@example.org"]);
    repository.git(&["config", "commit.gpgSign", "false"]);
    repository.git(&["add", "--all"]);
    repository.git(&["commit", "--quiet", "--message=First\n\nIts reason."]);
    repository
}

impl Repository {
    fn git(&self, arguments: &[&str]) -> String {
        let done = Command::new("git").current_dir(self.directory.path()).args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn flow(&self, name: &str) -> PathBuf {
        self.directory.path().join("flows").join(name)
    }

    async fn call(&self, tool: &str, args: Value) -> Value {
        result(&self.desk.call(tool, args).await).clone()
    }

    /// A program that leaves a mark where it was started.
    fn trap(&self) -> (String, PathBuf) {
        let (program, mark) = (self.directory.path().join(".git/trap"), self.directory.path().join(".git/sprung"));
        fs::write(&program, format!("#!/bin/sh\ntouch '{}'\ncat \"$@\"\n", mark.display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        (program.display().to_string(), mark)
    }
}

fn is_hash(value: &Value) -> bool {
    value.as_str().is_some_and(|hash| hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[tokio::test]
async fn status_diff_and_log_are_about_the_flow_directory() {
    let repository = repository();
    let clean = repository.call("git_status", json!({})).await;
    assert_eq!((&clean["branch"], &clean["clean"], &clean["entries"]), (&json!("main"), &json!(true), &json!([])));

    fs::write(repository.directory.path().join("elsewhere.txt"), "changed\n").unwrap();
    fs::write(repository.flow("report.flow.json"), "{\n  \"format\": 2\n}\n").unwrap();
    fs::write(repository.flow("grüße an alle.flow.json"), "{}\n").unwrap();
    let status = repository.call("git_status", json!({})).await;
    assert_eq!(status["clean"], false);
    assert_eq!(
        status["entries"],
        json!([
            { "path": "report.flow.json", "staged": null, "unstaged": "modified", "from": null },
            { "path": "grüße an alle.flow.json", "staged": null, "unstaged": "untracked", "from": null }
        ])
    );
    let diff = repository.call("git_diff", json!({})).await;
    let text = diff["diff"].as_str().unwrap();
    assert!(
        text.contains("--- a/report.flow.json\n") && text.contains("\n-  \"format\": 1\n+  \"format\": 2\n"),
        "{text}"
    );
    assert!(!text.contains("elsewhere"), "{text}");
    assert_eq!((&diff["changed"], &diff["truncated"]), (&json!(true), &json!(false)));
    let staged = repository.call("git_diff", json!({ "staged": true })).await;
    assert_eq!((&staged["diff"], &staged["changed"]), (&json!(""), &json!(false)));

    let log = repository.call("git_log", json!({})).await;
    let commit = &log["commits"][0];
    assert!(is_hash(&commit["hash"]), "{commit}");
    assert_eq!((&commit["author"], &commit["subject"]), (&json!("Ada"), &json!("First")));
    assert_eq!((&commit["body"], &log["truncated"]), (&json!("Its reason."), &json!(false)));
}

#[tokio::test]
async fn a_rename_tells_both_names() {
    let repository = repository();
    repository.git(&["mv", "flows/report.flow.json", "flows/daily.flow.json"]);
    repository.git(&["mv", "elsewhere.txt", "flows/here.txt"]);
    let status = repository.call("git_status", json!({})).await;
    assert_eq!(
        status["entries"],
        json!([
            { "path": "daily.flow.json", "staged": "renamed", "unstaged": null, "from": "report.flow.json" },
            { "path": "here.txt", "staged": "added", "unstaged": null, "from": null }
        ])
    );
}

#[tokio::test]
async fn a_commit_takes_the_flow_directory_and_leaves_the_rest() {
    let repository = repository();
    fs::write(repository.directory.path().join("elsewhere.txt"), "changed\n").unwrap();
    repository.git(&["add", "elsewhere.txt"]);
    fs::remove_file(repository.flow("report.flow.json")).unwrap();
    fs::write(repository.flow("new.flow.json"), "{}\n").unwrap();
    let committed = repository.call("git_commit", json!({ "message": "--amend\n\nNot an option." })).await;
    assert_eq!((&committed["committed"], is_hash(&committed["hash"])), (&json!(true), true), "{committed}");
    let shown = repository.git(&["show", "--name-status", "--format=%s", "HEAD"]);
    assert!(shown.starts_with("--amend\n"), "{shown}");
    assert!(shown.contains("flows/new.flow.json") && !shown.contains("elsewhere"), "{shown}");
    assert_eq!(repository.git(&["diff", "--cached", "--name-only"]), "elsewhere.txt\n", "it stays staged");
    let again = repository.call("git_commit", json!({ "message": "Nothing" })).await;
    assert_eq!(again, json!({ "committed": false, "hash": null }));
    let log = repository.call("git_log", json!({ "limit": 1 })).await;
    assert_eq!((log["commits"].as_array().unwrap().len(), &log["truncated"]), (1, &json!(true)));
}

#[tokio::test]
async fn programs_that_a_repository_names_are_not_run() {
    let repository = repository();
    let (trap, mark) = repository.trap();
    fs::write(repository.directory.path().join(".gitattributes"), "*.json diff=trap\n").unwrap();
    for key in ["core.fsmonitor", "diff.external", "diff.trap.command", "diff.trap.textconv", "gpg.program"] {
        repository.git(&["config", key, &trap]);
    }
    repository.git(&["config", "log.showSignature", "true"]);
    let hooks = repository.directory.path().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["pre-commit", "commit-msg", "post-commit", "post-index-change", "prepare-commit-msg"] {
        fs::copy(&trap, hooks.join(hook)).unwrap();
    }
    fs::write(repository.flow("report.flow.json"), "{}\n").unwrap();
    for (tool, args) in [
        ("git_status", json!({})),
        ("git_diff", json!({})),
        ("git_diff", json!({ "revision": "HEAD" })),
        ("git_log", json!({})),
        ("git_commit", json!({ "message": "Changed" })),
    ] {
        repository.call(tool, args).await;
        assert!(!mark.exists(), "{tool} ran a program of the repository");
    }
}

#[tokio::test]
async fn arguments_stay_arguments_and_in_the_flow_directory() {
    let repository = repository();
    for (tool, args) in [
        ("git_diff", json!({ "revision": "--output=/tmp/x" })),
        ("git_log", json!({ "revision": "-p" })),
        ("git_diff", json!({ "paths": ["../elsewhere.txt"] })),
        ("git_commit", json!({ "message": "x", "paths": ["/etc/passwd"] })),
    ] {
        let outcome = repository.desk.call(tool, args).await;
        assert_eq!(outcome.report, None, "{tool}: git was called: {:?}", outcome.ended);
        assert!(outcome.ended.is_err());
    }
    let outcome = repository.desk.call("git_diff", json!({ "paths": ["*.json"] })).await;
    assert_eq!(result(&outcome)["diff"], "", "a path is no pattern");
}

#[tokio::test]
async fn a_directory_that_is_no_repository_says_so() {
    let directory = tempfile::Builder::new().prefix("weir-no-repository").tempdir_in(Path::new("/dev/shm")).unwrap();
    let desk = Desk::with(ToolSettings { flows: Some(directory.path().to_owned()), ..ToolSettings::default() });
    let outcome = desk.call("git_status", json!({})).await;
    let message = &failure(&outcome).message;
    assert!(message.contains("not a git repository"), "{message}");
    let none = Desk::new().call("git_status", json!({})).await;
    assert_eq!(failure(&none).message, "there is no flow directory here");
}
