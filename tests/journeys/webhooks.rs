//! Webhooks from outside: real calls, real `curl`, a worker that is killed in between.
//!
//! The kinds of C051 (retries that arrive together), C053 (bodies without a length) and C138 (calls of foreign pages),
//! and wishes 23 to 26.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_shared::ids::RunId;
use weir_shared::run::state::RunStatus;
use weir_shared::webhook::{DeliveryAnswer, DeliveryList, DeliveryStatus, SECRET_HEADER, TriggerList, TriggerSecret};
use weir_tests::client::{Answer, Client, Request};
use weir_tests::command_line;
use weir_tests::flows::{command_node, flow, one_command_flow};
use weir_tests::processes;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::Worker;

/// A webhook and whoever may call it.
struct Hook {
    made: TriggerSecret,
    sender: Client,
}

impl Hook {
    /// Makes one for a flow, with full access.
    fn make(worker: &Worker, flow: &str) -> Result<Self> {
        let body = json!({ "workflowId": flow, "permissionMode": "full-access", "rateLimit": null });
        let made = worker.client()?.post("/api/agent/webhook-triggers", &body)?.having(201)?;
        Ok(Self { made, sender: Client::anonymous(worker.address()) })
    }

    fn secret(&self) -> &str {
        self.made.secret.as_deref().unwrap_or_default()
    }

    fn call(&self, query: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Answer> {
        let path = format!("{}{query}", self.made.trigger.path);
        let headers = [&[(SECRET_HEADER, self.secret())], headers].concat();
        self.sender.send(&Request { method: "POST", path: &path, headers: &headers, body: Some(body) })
    }

    fn event(&self, event: &str) -> Result<Answer> {
        self.call("", &[("x-weir-event-id", event)], b"{}")
    }

    fn deliveries(&self, client: &Client) -> Result<DeliveryList> {
        client.get(&format!("/api/agent/webhook-triggers/{}/deliveries", self.made.trigger.trigger_id))?.having(200)
    }
}

/// A flow that adds a line to a file for every run.
fn counter() -> Value {
    one_command_flow("Counter", "echo ran >> \"$HOME/count\"")
}

fn counted(worker: &Worker) -> usize {
    std::fs::read_to_string(worker.world().path("home/count")).unwrap_or_default().lines().count()
}

#[test]
fn fifty_calls_with_one_event_start_one_run_also_across_a_power_cut() -> Result<()> {
    let mut worker = Worker::start()?;
    worker.client()?.publish_flow("counter", &counter())?;
    let hook = Hook::make(&worker, "counter")?;
    let storm = |count: usize| -> Vec<Result<Answer>> {
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..count).map(|_| scope.spawn(|| hook.event("order-1"))).collect();
            calls.into_iter().map(|call| call.join().expect("a call does not panic")).collect()
        })
    };
    // Killed while calls come in: whatever was answered holds, and what was not is tried again.
    let before = std::thread::scope(|scope| -> Result<Vec<DeliveryAnswer>> {
        let calls = scope.spawn(|| storm(50));
        until("the first run", PATIENCE, || (counted(&worker) > 0).then_some(()))?;
        processes::signal(worker.pid(), nix::sys::signal::Signal::SIGKILL);
        let answers = calls.join().expect("calls do not panic");
        answers.into_iter().filter_map(Result::ok).map(|answer| told(&answer)).collect()
    })?;
    worker.kill()?;
    worker.start_again()?;
    let after: Vec<DeliveryAnswer> = storm(50).into_iter().map(|answer| told(&answer?)).collect::<Result<_>>()?;
    let run = &after[0].run_id;
    assert!(before.iter().chain(&after).all(|answer| answer.run_id == *run && answer.accepted), "{before:?} {after:?}");
    assert_eq!(before.iter().filter(|answer| !answer.duplicate).count().max(1), 1);
    assert!(after.iter().all(|answer| answer.duplicate));
    assert_eq!(counted(&worker), 1);
    let client = worker.client()?;
    assert_eq!(client.runs("limit=10")?.runs.len(), 1);
    let kept = hook.deliveries(&client)?.deliveries;
    assert_eq!(kept.len(), 1);
    assert!(kept[0].duplicates >= 50, "{kept:?}");
    Ok(())
}

fn told(answer: &Answer) -> Result<DeliveryAnswer> {
    ensure!(matches!(answer.status, 200 | 202), "{answer:?}");
    Ok(serde_json::from_slice(&answer.body)?)
}

#[test]
fn a_delivery_that_a_power_cut_interrupts_says_so_and_is_not_run_again() -> Result<()> {
    let mut worker = Worker::start()?;
    worker.client()?.publish_flow("slow", &one_command_flow("Slow", "echo ran >> \"$HOME/count\"; sleep 952.1"))?;
    let hook = Hook::make(&worker, "slow")?;
    let first = told(&hook.event("order-1")?)?;
    until("the step", PATIENCE, || (counted(&worker) > 0).then_some(()))?;
    assert_eq!(hook.deliveries(&worker.client()?)?.deliveries[0].status, DeliveryStatus::Submitted);
    worker.kill()?;
    worker.start_again()?;
    let again = told(&hook.event("order-1")?)?;
    assert_eq!((again.duplicate, again.delivery_status), (true, DeliveryStatus::Interrupted));
    assert_eq!(again.run_id, first.run_id);
    let kept = hook.deliveries(&worker.client()?)?.deliveries;
    assert_eq!((kept.len(), kept[0].status), (1, DeliveryStatus::Interrupted));
    assert_eq!(counted(&worker), 1);
    Ok(())
}

#[test]
fn a_body_without_a_length_is_cut_at_its_limit_and_memory_stays_flat() -> Result<()> {
    let worker = Worker::start()?;
    worker.client()?.publish_flow("counter", &counter())?;
    let hook = Hook::make(&worker, "counter")?;
    told(&hook.call("?wait=60", &[], b"{}")?)?;
    let before = peak_kib(&worker)?;
    let senders = 4;
    std::thread::scope(|scope| -> Result<()> {
        let sending: Vec<_> = (0..senders).map(|_| scope.spawn(|| pour(&worker, &hook, hook.secret()))).collect();
        // Other clients are served meanwhile.
        for _ in 0..5 {
            assert_eq!(hook.call("", &[], b"{}")?.status, 202);
        }
        for one in sending {
            let (sent, answer) = one.join().expect("a sender does not panic")?;
            assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
            // What the answer waits for, what is read after it so that it arrives, and what lay in the buffers.
            assert!(sent < 40 * 1024 * 1024, "{sent} bytes were taken");
        }
        Ok(())
    })?;
    // A stranger is told nothing, however much it sends.
    let (_, answer) = pour(&worker, &hook, "wrong")?;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    let grown = peak_kib(&worker)?.saturating_sub(before);
    assert!(grown < 10 * 1024, "the worker's memory peaked {grown} KiB higher");
    Ok(())
}

/// Sends 50 MiB in chunks, until the worker has had enough; tells how much went out and what came back.
fn pour(worker: &Worker, hook: &Hook, secret: &str) -> Result<(usize, String)> {
    let mut stream = TcpStream::connect(worker.address())?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let address = worker.address();
    let path = &hook.made.trigger.path;
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\n{SECRET_HEADER}: {secret}\r\nTransfer-Encoding: chunked\r\n\
         Connection: close\r\n\r\n"
    )?;
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x1_0000));
    let mut sent = 0;
    while sent < 50 * 1024 * 1024 && stream.write_all(chunk.as_bytes()).is_ok() {
        sent += 0x1_0000;
    }
    let mut answer = Vec::new();
    // The rest of what was sent may be refused after the answer.
    let _reset = stream.read_to_end(&mut answer);
    Ok((sent, String::from_utf8_lossy(&answer).into_owned()))
}

/// The most memory that the worker ever had, in KiB.
fn peak_kib(worker: &Worker) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", worker.pid()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("VmHWM")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

#[test]
fn what_a_call_brings_is_data_in_whatever_it_is_put() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let mut echo = flow(
        "Echo",
        &[command_node("echo", "printf '%s' {{inputs.text}}; printf '%s' {{inputs.text}} | cat > kept")],
        &[],
    );
    echo["inputs"] = json!({ "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } } });
    client.publish_flow("echo", &echo)?;
    let mut file = flow(
        "File",
        &[json!({ "id": "write", "tool": "write_file", "args": { "path": "kept", "content": "{{inputs.text}}" } })],
        &[],
    );
    file["inputs"] = echo["inputs"].clone();
    client.publish_flow("file", &file)?;
    let (echo, file) = (Hook::make(&worker, "echo")?, Hook::make(&worker, "file")?);
    for text in [
        "plain",
        "it's \"quoted\" `id` \\ and\ttabbed",
        "first\nsecond\n\nlast\n",
        "$(touch \"$HOME/pwned\")",
        "'; touch \"$HOME/pwned\"; '",
        "{{secrets.X}} {{ node.echo.result }} {% for a in b %}",
        "-n -e \\x41 %s%n",
        "\u{202e}ünï – 日本 🦀\u{7f}",
    ] {
        for hook in [&echo, &file] {
            let body = json!({ "text": text }).to_string();
            let answer = told(&hook.call("?wait=60", &[], body.as_bytes())?)?;
            assert_eq!(answer.status, Some(RunStatus::Completed), "{text:?}: {answer:?}");
            assert_eq!(kept(&worker, &answer.run_id)?, text.as_bytes());
        }
        let answer = told(&echo.call("?wait=60", &[], json!({ "text": text }).to_string().as_bytes())?)?;
        assert_eq!(answer.result.unwrap()["stdout"], text);
    }
    // A NUL goes where it can: into a file. Into a command it cannot, and the step says so.
    let nul = json!({ "text": "a\0b" }).to_string();
    let answer = told(&file.call("?wait=60", &[], nul.as_bytes())?)?;
    assert_eq!(kept(&worker, &answer.run_id)?, b"a\0b");
    let answer = told(&echo.call("?wait=60", &[], nul.as_bytes())?)?;
    assert_eq!(answer.status, Some(RunStatus::Failed));
    assert!(answer.error.as_deref().unwrap_or_default().contains("NUL"), "{answer:?}");
    assert_eq!(echo.call("", &[], b"{\"text\":\"\xff\"}")?.status, 400);
    assert!(!worker.world().path("home/pwned").exists());
    Ok(())
}

/// What a run has written to `kept`.
fn kept(worker: &Worker, run: &RunId) -> Result<Vec<u8>> {
    let path = worker.world().state().join(format!("runs/{run}/work/kept"));
    std::fs::read(&path).with_context(|| path.display().to_string())
}

#[test]
fn a_webhook_is_live_when_it_is_made_and_dead_when_it_is_removed_and_stays_so() -> Result<()> {
    let mut worker = Worker::start()?;
    let client = worker.client()?;
    client.publish_flow("counter", &counter())?;
    let (stays, goes) = (Hook::make(&worker, "counter")?, Hook::make(&worker, "counter")?);
    assert_eq!((stays.event("1")?.status, goes.event("1")?.status), (202, 202));
    let path = format!("/api/agent/webhook-triggers/{}", goes.made.trigger.trigger_id);
    assert_eq!(client.delete(&path)?.status, 200);
    assert_eq!((stays.event("2")?.status, goes.event("2")?.status), (202, 401));
    for kill in [true, false] {
        if kill {
            worker.kill()?;
        } else {
            worker.signal(nix::sys::signal::Signal::SIGTERM);
            worker.wait_for_end(Duration::from_mins(1))?;
        }
        worker.start_again()?;
        assert_eq!((stays.event("2")?.status, goes.event("2")?.status), (200, 401));
        let list: TriggerList = worker.client()?.get("/api/agent/webhook-triggers")?.having(200)?;
        assert_eq!(list.triggers.len(), 1);
    }
    Ok(())
}

/// The kind of C132: what waits must not hold the end up.
#[test]
fn a_sender_that_waits_holds_no_stop_up() -> Result<()> {
    let mut worker = Worker::start()?;
    worker.client()?.publish_flow("slow", &one_command_flow("Slow", "echo ran >> \"$HOME/count\"; sleep 952.2"))?;
    let hook = Hook::make(&worker, "slow")?;
    let answer = std::thread::scope(|scope| -> Result<Answer> {
        let waiting = scope.spawn(|| hook.call("?wait=60", &[], b"{}"));
        until("the step", PATIENCE, || (counted(&worker) > 0).then_some(()))?;
        worker.signal(nix::sys::signal::Signal::SIGTERM);
        let answer = waiting.join().expect("a call does not panic")?;
        // Its run was let be for the grace meanwhile; a second signal ends that.
        worker.signal(nix::sys::signal::Signal::SIGTERM);
        Ok(answer)
    })?;
    assert_eq!(answer.status, 202, "{answer:?}");
    let told = told(&answer)?;
    assert_eq!((told.delivery_status, told.status), (DeliveryStatus::Submitted, None));
    let ended = worker.wait_for_end(Duration::from_mins(1))?;
    assert!(ended.success(), "{ended}");
    Ok(())
}

#[test]
fn the_line_that_making_one_prints_calls_it() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    client.publish_flow("counter", &counter())?;
    let weir = |arguments: &[&str]| command_line::run(&mut worker.world().weir(arguments));
    let refused = weir(&["webhook", "create", "counter"])?;
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("only") && refused.stderr.contains("gate"), "{refused:?}");
    let made = weir(&["webhook", "create", "counter", "--name", "Ours", "--permission-mode", "full-access"])?;
    assert_eq!(made.code, 0, "{made:?}");
    let line = made.stdout.trim();
    let called = command_line::run(
        worker.world().command("sh").args(["-c", &line.replacen("curl ", "curl -sS --noproxy '*' ", 1)]),
    )?;
    let answer: DeliveryAnswer = serde_json::from_str(&called.stdout).with_context(|| format!("{called:?}"))?;
    assert!(answer.accepted);
    client.finish(&answer.run_id)?;
    assert_eq!(counted(&worker), 1);

    let id = answer.trigger_id.to_string();
    let list = weir(&["webhook", "list"])?;
    assert!(list.stdout.contains(&id) && list.stdout.contains("Ours") && list.stdout.contains("COMPLETED"), "{list:?}");
    let deliveries = weir(&["webhook", "deliveries", &id])?;
    assert!(deliveries.stdout.contains(answer.run_id.as_str()), "{deliveries:?}");
    let rotated = weir(&["webhook", "rotate", &id])?;
    assert_ne!(rotated.stdout, made.stdout);
    assert_eq!(weir(&["webhook", "delete", &id])?.code, 0);
    assert_eq!(weir(&["webhook", "delete", &id])?.code, 2);
    Ok(())
}
