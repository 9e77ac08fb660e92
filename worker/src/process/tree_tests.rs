//! Stories of whole trees of real processes: how they are stopped, and that nothing of them is left.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use weir_shared::flow::StopSignal;
use weir_shared::ids::StepIndex;
use weir_shared::plan::StopPolicy;
use weir_shared::run::event::OutputStream;

use crate::tool::call::{StopReason, ToolOutcome};
use crate::tool::desk::{Desk, failure, result};

/// Runs the line until it says `ready`, stops it, and gives back how it ended and how long that took.
async fn stopped_when_ready(desk: &Desk, line: &str) -> (ToolOutcome, Duration) {
    let running = tokio::spawn(desk.call("execute_command", json!({ "command": line })));
    desk.heard.until("ready").await;
    let asked = Instant::now();
    desk.stop(StopReason::Cancelled);
    let outcome = running.await.unwrap();
    (outcome, asked.elapsed())
}

/// Waits for something that no event tells, and fails the test when it takes too long.
async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::task::yield_now().await;
    }
}

fn grace(seconds: u64) -> StopPolicy {
    StopPolicy { grace_seconds: seconds, ..StopPolicy::default() }
}

#[tokio::test]
async fn a_cancel_ends_the_whole_tree_and_not_only_the_shell() {
    for line in [
        "sleep 900 & sleep 901 & echo ready; wait",
        "sh -c 'sleep 902' & echo ready; wait",
        "sh -c 'sh -c \"sleep 903; true\"; true' & echo ready; wait",
        "echo ready; sleep 904 | sleep 905",
    ] {
        let desk = Desk::new();
        let (outcome, took) = stopped_when_ready(&desk, line).await;
        assert_eq!(failure(&outcome).message, "cancelled", "{line}");
        assert!(took < Duration::from_secs(4), "{line}: nothing here ignores SIGTERM, yet it took {took:?}");
        assert!(desk.is_quiet(), "{line}");
        assert!(!desk.run_dir().pids().exists());
    }
}

#[tokio::test]
async fn a_command_that_ignores_the_signal_is_killed_after_its_grace() {
    let mut desk = Desk::new();
    desk.policy = grace(1);
    let line = "trap '' TERM; echo ready; while :; do sleep 0.2; done";
    let (outcome, took) = stopped_when_ready(&desk, line).await;
    assert!((Duration::from_secs(1)..Duration::from_secs(3)).contains(&took), "{took:?}");
    let report = outcome.report.as_ref().unwrap();
    assert_eq!(report.stopped_by.as_deref(), Some("SIGKILL"));
    assert_eq!(report.signal.as_deref(), Some("SIGKILL"));
    assert!(desk.is_quiet());
}

#[tokio::test]
async fn what_left_by_setsid_and_double_fork_and_ignores_signals_is_gone_too() {
    let mut desk = Desk::new();
    desk.policy = grace(1);
    let line = "trap '' TERM; \
                setsid sh -c 'trap \"\" TERM HUP; (setsid sleep 906 &); echo ready; sleep 907; :' & \
                while :; do sleep 0.2; done";
    let (outcome, took) = stopped_when_ready(&desk, line).await;
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert!(outcome.report.as_ref().unwrap().swept >= 2, "{:?}", outcome.report);
    assert!(desk.is_quiet());
}

#[tokio::test]
async fn a_child_left_behind_does_not_hold_its_step() {
    // The second keeps no pipe, so there is nothing to wait for.
    for (line, leaks, sweeps) in [
        ("sleep 910 & echo done", true, 0),
        ("sleep 911 > /dev/null 2>&1 & echo done", false, 0),
        ("setsid sleep 912 & echo done", true, 1),
        ("(setsid sleep 913 > /dev/null 2>&1 &); echo done", false, 1),
    ] {
        for limit in [None, Some(Duration::from_secs(5))] {
            let mut desk = Desk::new();
            desk.node_timeout = limit;
            let outcome = desk.command(line).await;
            assert_eq!(result(&outcome)["stdout"], "done\n", "{line}");
            assert!(outcome.duration < Duration::from_secs(2), "{line}: {:?}", outcome.duration);
            let report = outcome.report.as_ref().unwrap();
            // Whether setsid was through before the shell ended is a race; that it is gone is not.
            assert_eq!((report.leaked, report.swept.min(sweeps)), (leaks, report.swept), "{line}: {report:?}");
            assert!(desk.is_quiet(), "{line}");
        }
    }
}

#[tokio::test]
async fn a_limit_holds_in_every_form_of_a_tree() {
    for line in ["sleep 920 & wait", "setsid sleep 921 & wait", "setsid -w sleep 922", "sleep 923 | cat"] {
        let mut desk = Desk::new();
        desk.policy = grace(1);
        desk.node_timeout = Some(Duration::from_millis(300));
        let outcome = desk.command(line).await;
        assert!(failure(&outcome).timed_out, "{line}");
        assert!(outcome.duration < Duration::from_millis(2_300), "{line}: {:?}", outcome.duration);
        assert!(desk.is_quiet(), "{line}");
    }
}

#[tokio::test]
async fn a_program_behind_a_shell_may_clean_up_although_the_shell_dies_at_once() {
    let desk = Desk::new();
    let line = "sh -c 'trap \"sleep 0.3; echo cleaned; exit 0\" TERM; echo ready; while :; do sleep 0.05; done'; true";
    let (outcome, _) = stopped_when_ready(&desk, line).await;
    assert_eq!(outcome.report.as_ref().unwrap().stopped_by.as_deref(), Some("SIGTERM"));
    desk.heard.until("cleaned").await;
    assert!(desk.is_quiet());
}

#[tokio::test]
async fn the_nodes_own_signal_comes_first() {
    let mut desk = Desk::new();
    desk.policy = StopPolicy { signal: StopSignal::Usr1, grace_seconds: 30 };
    let line = "trap 'echo usr1; exit 7' USR1; echo ready; while :; do sleep 0.05; done";
    let (outcome, _) = stopped_when_ready(&desk, line).await;
    desk.heard.until("usr1").await;
    let report = outcome.report.as_ref().unwrap();
    assert_eq!((report.exit_code, report.stopped_by.as_deref()), (Some(7), Some("SIGUSR1")));
    assert_eq!(failure(&outcome).stopped, Some(StopReason::Cancelled));
}

#[tokio::test]
async fn a_second_request_does_not_wait_for_the_grace() {
    let mut desk = Desk::new();
    desk.policy = grace(600);
    let line = "trap 'echo asked' TERM; echo ready; while :; do sleep 0.05; done";
    let running = tokio::spawn(desk.call("execute_command", json!({ "command": line })));
    desk.heard.until("ready").await;
    desk.stop(StopReason::Cancelled);
    desk.heard.until("asked").await;
    desk.stop(StopReason::ShuttingDown);
    let outcome = running.await.unwrap();
    assert_eq!(failure(&outcome).stopped, Some(StopReason::ShuttingDown));
    assert_eq!(outcome.report.unwrap().stopped_by.as_deref(), Some("SIGKILL"));
    assert!(desk.is_quiet());
}

#[tokio::test]
async fn a_process_that_closes_its_outputs_lives_on() {
    let desk = Desk::new();
    let outcome = desk.command("exec > /dev/null 2>&1; sleep 0.2; exit 4").await;
    assert_eq!(failure(&outcome).message, "exit code 4");
    assert!(outcome.duration >= Duration::from_millis(200));
}

#[tokio::test]
async fn much_output_is_kept_in_part_and_spilled_whole() {
    let desk = Desk::new();
    let outcome = desk.command("head -c 12582912 /dev/zero | tr '\\0' x; echo; echo the end; echo err >&2").await;
    let said = result(&outcome);
    let text = said["stdout"].as_str().unwrap();
    assert_eq!(text.chars().count(), 65_536);
    assert!(text.starts_with("xxxx") && text.ends_with("x\nthe end\n"));
    assert_eq!((&said["stdoutTruncated"], &said["stderrTruncated"]), (&json!(true), &json!(false)));
    let report = outcome.report.as_ref().unwrap();
    assert_eq!((report.stdout_bytes, report.dropped_bytes), (12_582_921, 0));
    let file = desk.run_dir().output(StepIndex(3), 1, OutputStream::Stdout);
    assert_eq!(fs::metadata(file).unwrap().len(), 12_582_921);
    // The pieces that a subscriber sees are the stream itself, without a hole or a repeat.
    let mut next = 0;
    for (stream, offset, bytes) in desk.heard.pieces() {
        if stream == OutputStream::Stdout {
            assert_eq!(offset, next);
            next += bytes.len() as u64;
        }
    }
    assert_eq!(next, 12_582_921);
}

#[tokio::test]
async fn bytes_that_are_not_utf_8_stay_in_the_file() {
    let desk = Desk::new();
    let outcome = desk.command("printf 'a\\377b'").await;
    assert_eq!(result(&outcome)["stdout"], "a\u{fffd}b");
    let file = desk.run_dir().output(StepIndex(3), 1, OutputStream::Stdout);
    assert_eq!(fs::read(file).unwrap(), b"a\xffb");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_at_once_each_get_their_own_exit() {
    let desk = Arc::new(Desk::new());
    let running: Vec<_> = (0..64)
        .map(|code| {
            let line = format!("(true &); (setsid true &); exit {code}");
            tokio::spawn(desk.call("execute_command", json!({ "command": line })))
        })
        .collect();
    for (code, running) in running.into_iter().enumerate() {
        let outcome = running.await.unwrap();
        let report = outcome.report.as_ref().unwrap();
        assert_eq!(report.exit_code, i32::try_from(code).ok());
        assert!(report.user_ms.is_some(), "someone else reaped this leader");
    }
    assert!(desk.is_quiet());
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_any_more_leaves_nothing() {
    let desk = Desk::new();
    let running = tokio::spawn(desk.call("execute_command", json!({ "command": "echo ready; sleep 930" })));
    desk.heard.until("ready").await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    eventually("the abandoned group is gone", || desk.is_quiet()).await;
}

#[tokio::test]
async fn a_long_command_is_written_down_while_it_runs() {
    let desk = Desk::new();
    let running = tokio::spawn(desk.call("execute_command", json!({ "command": "echo ready $$; sleep 931" })));
    desk.heard.until("ready").await;
    let pids = desk.run_dir().pids();
    eventually("the pids file is written", || fs::read_to_string(&pids).is_ok_and(|text| text.ends_with('\n'))).await;
    let noted = fs::read_to_string(&pids).unwrap();
    let said = desk.heard.pieces().remove(0).2;
    let pid = String::from_utf8(said).unwrap().trim().strip_prefix("ready ").unwrap().to_owned();
    assert_eq!(noted.split_ascii_whitespace().nth(1), Some(pid.as_str()));
    desk.stop(StopReason::Cancelled);
    running.await.unwrap();
    assert!(!pids.exists());
}
