//! Calls through the one door, with real processes.

use serde_json::json;
use weir_shared::ids::StepIndex;
use weir_shared::run::event::OutputStream;

use super::super::desk::{Desk, RUN, failure, result, soft_limit_at_first};
use super::*;

#[tokio::test]
async fn a_command_gives_its_result_and_report() {
    let desk = Desk::new();
    let outcome = desk.command("echo out; echo err >&2").await;
    let result = result(&outcome);
    let keys: Vec<_> = result.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "success",
            "exitCode",
            "signal",
            "timedOut",
            "stdout",
            "stderr",
            "stdoutTruncated",
            "stderrTruncated",
            "durationMs"
        ]
    );
    assert_eq!(result["stdout"], "out\n");
    assert_eq!(result["stderr"], "err\n");
    assert_eq!((&result["success"], &result["exitCode"]), (&json!(true), &json!(0)));
    let report = outcome.report.unwrap();
    assert_eq!((report.exit_code, report.stdout_bytes, report.stderr_bytes), (Some(0), 4, 4));
    assert!(report.user_ms.is_some() && !report.leaked && report.swept == 0, "{report:?}");
    let spilled = desk.run_dir().output(StepIndex(3), 1, OutputStream::Stdout);
    assert_eq!(std::fs::read(spilled).unwrap(), b"out\n");
    let heard = desk.heard.pieces();
    assert!(heard.contains(&(OutputStream::Stdout, 0, b"out\n".to_vec())), "{heard:?}");
}

#[tokio::test]
async fn a_failing_command_quotes_its_last_line_of_stderr() {
    let desk = Desk::new();
    let outcome = desk.command("echo first >&2; echo 'no such thing' >&2; exit 3").await;
    assert_eq!(failure(&outcome).message, "exit code 3: no such thing");
    assert!(!failure(&outcome).timed_out);
    assert_eq!(outcome.report.unwrap().exit_code, Some(3));
    assert_eq!(failure(&desk.command("exit 200").await).message, "exit code 200");
    let crashed = desk.command("kill -SEGV $$").await;
    assert_eq!(failure(&crashed).message, "ended by SIGSEGV");
    assert_eq!(crashed.report.unwrap().signal.as_deref(), Some("SIGSEGV"));
}

#[tokio::test]
async fn a_silent_command_leaves_no_output_file() {
    let desk = Desk::new();
    result(&desk.command("true").await);
    assert!(!desk.run_dir().path().join("output").exists());
    assert!(!desk.run_dir().pids().exists());
}

#[tokio::test]
async fn the_environment_is_built_and_the_input_empty() {
    let mut desk = Desk::new();
    desk.environment = vec![("WEIR_1".to_owned(), "x; rm -rf ~".to_owned())];
    let outcome = desk
        .call("execute_command", json!({ "command": "env; cat; ulimit -Sn; ulimit -c; pwd", "env": { "N": 5 } }))
        .await;
    let said = result(&outcome)["stdout"].as_str().unwrap().to_owned();
    let lines: Vec<&str> = said.lines().collect();
    let run_dir = desk.run_dir().path().display().to_string();
    for expected in [
        "N=5".to_owned(),
        "WEIR_1=x; rm -rf ~".to_owned(),
        format!("WEIR_RUN_ID={RUN}"),
        "WEIR_STEP_INDEX=3".to_owned(),
        "WEIR_NODE_ID=check".to_owned(),
        "WEIR_ATTEMPT=1".to_owned(),
        format!("WEIR_IDEMPOTENCY_KEY={RUN}:check"),
        format!("WEIR_RUN_DIR={run_dir}"),
        format!("WEIR_WORKER={}", desk.state.path().file_name().unwrap().display()),
        soft_limit_at_first().to_string(),
        "0".to_owned(),
        format!("{run_dir}/work"),
    ] {
        assert!(lines.contains(&expected.as_str()), "{expected} in {said}");
    }
    let foreign = lines.iter().filter_map(|line| line.split_once('=')).map(|(name, _)| name).find(|name| {
        !["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "PWD", "N", "_", "OLDPWD", "SHLVL"].contains(name)
            && !name.starts_with("LC_")
            && !name.starts_with("WEIR_")
    });
    assert_eq!(foreign, None);
}

#[tokio::test]
async fn a_flow_cannot_change_whom_a_process_belongs_to() {
    let desk = Desk::new();
    let refused = desk.call("execute_command", json!({ "command": "true", "env": { "WEIR_WORKER": "another" } })).await;
    assert!(failure(&refused).message.starts_with("arguments do not fit"), "{:?}", refused.ended);
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let desk = Desk::new();
    let missing = desk.call("execute_command", json!({ "command": "true", "workingDirectory": "nowhere" })).await;
    let message = &failure(&missing).message;
    assert!(message.starts_with("no such directory: ") && message.ends_with("/work/nowhere"), "{message}");
    assert_eq!(missing.report.as_ref().unwrap().spawn_error.as_ref(), Some(message));
    let long = desk.call("execute_command", json!({ "command": ": ".repeat(100_000) })).await;
    assert!(failure(&long).message.starts_with("argument list too long"), "{}", failure(&long).message);
    let nul = desk.call("execute_command", json!({ "command": "echo a\u{0}b" })).await;
    assert!(failure(&nul).message.starts_with("a NUL character"), "{}", failure(&nul).message);
}

#[tokio::test]
async fn arguments_are_checked_before_the_call() {
    let desk = Desk::new();
    let outcome = desk.call("execute_command", json!({ "command": "true", "timeoutSeconds": 100_000 })).await;
    assert!(
        failure(&outcome).message.starts_with("arguments do not fit: args.timeoutSeconds: "),
        "{:?}",
        outcome.ended
    );
    let unknown = desk.call("no_such_tool", json!({})).await;
    assert_eq!(failure(&unknown).message, "there is no tool `no_such_tool`");
}

#[tokio::test]
async fn a_timeout_stops_a_command_and_says_so() {
    let mut desk = Desk::new();
    desk.node_timeout = Some(Duration::from_millis(100));
    let outcome = desk.call("execute_command", json!({ "command": "sleep 901", "timeoutSeconds": 30 })).await;
    let failure = failure(&outcome).clone();
    assert!(failure.timed_out && failure.stopped == Some(StopReason::TimedOut), "{failure:?}");
    assert_eq!(failure.message, "timed out after 0.1 s", "the limit, not the grace that followed");
    assert!(outcome.duration < Duration::from_secs(3), "{:?}", outcome.duration);
    let report = outcome.report.unwrap();
    assert_eq!((report.stop_reason.as_deref(), report.stopped_by.as_deref()), (Some("timed out"), Some("SIGTERM")));
    assert!(desk.is_quiet());
}

#[tokio::test]
async fn a_stop_made_before_the_start_starts_nothing() {
    let desk = Desk::new();
    desk.stop(StopReason::Cancelled);
    let outcome = desk.command("touch started").await;
    assert_eq!(failure(&outcome).stopped, Some(StopReason::Cancelled));
    assert_eq!(outcome.report.unwrap().pid, None);
    assert!(!desk.run_dir().work().join("started").exists());
    let waited = desk.call("delay", json!({ "seconds": 900 })).await;
    assert_eq!(failure(&waited).message, "cancelled");
}

#[tokio::test]
async fn a_delay_ends_at_once_when_it_is_cancelled() {
    let desk = Desk::new();
    let (waited, ()) = tokio::join!(desk.call("delay", json!({ "seconds": 900 })), async {
        desk.stop(StopReason::Cancelled);
    });
    assert_eq!(failure(&waited).stopped, Some(StopReason::Cancelled));
    assert!(waited.duration < Duration::from_secs(5));
}

#[tokio::test]
async fn a_delay_waits_its_seconds_or_until_its_moment() {
    let desk = Desk::new();
    let waited = desk.call("delay", json!({ "seconds": 0.02 })).await;
    assert!(result(&waited)["waitedSeconds"].as_f64().unwrap() >= 0.02);
    let past = desk.call("delay", json!({ "until": "2001-01-01T00:00:00+01:00" })).await;
    assert!(result(&past)["waitedSeconds"].as_f64().unwrap() < 900.0);
    let both = desk.call("delay", json!({ "seconds": 1, "until": "2001-01-01T00:00:00Z" })).await;
    assert!(failure(&both).message.starts_with("arguments do not fit"));
    let broken = desk.call("delay", json!({ "until": "tomorrow" })).await;
    assert!(failure(&broken).message.contains("args.until: a date and time with its offset"), "{:?}", broken.ended);
}
