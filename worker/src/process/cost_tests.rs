//! What a unit costs beside a bare spawn and wait. No assertion on time: a table, made by hand with
//! `cargo test --release -p weir -- --ignored --nocapture cost_of_a_unit`.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::tool::desk::{Desk, result};

const ROUNDS: usize = 400;
const AT_ONCE: usize = 16;

fn bare() {
    let output = Command::new("/bin/sh")
        .args(["-c", "/bin/true"])
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(output.status.success());
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement, not a test"]
async fn cost_of_a_unit_beside_a_bare_spawn() {
    let desk = Desk::new();
    let mut bare_times = Vec::new();
    let mut unit_times = Vec::new();
    // In turns, so that both see the same machine.
    for _ in 0..ROUNDS {
        let began = Instant::now();
        tokio::task::spawn_blocking(bare).await.unwrap();
        bare_times.push(began.elapsed());
        let began = Instant::now();
        let call = desk.call("execute_command", json!({ "command": "/bin/true" }));
        result(&tokio::spawn(call).await.unwrap());
        unit_times.push(began.elapsed());
    }
    println!("one at a time, median: bare {:?}, unit {:?}", median(bare_times), median(unit_times));

    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| (0..ROUNDS / AT_ONCE).for_each(|_| bare()));
        }
    });
    let bare_all = began.elapsed();
    let began = Instant::now();
    let lanes: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let calls: Vec<_> = (0..ROUNDS / AT_ONCE)
                .map(|_| desk.call("execute_command", json!({ "command": "/bin/true" })))
                .collect();
            tokio::spawn(async move {
                for call in calls {
                    result(&call.await);
                }
            })
        })
        .collect();
    for lane in lanes {
        lane.await.unwrap();
    }
    println!("{ROUNDS} at {AT_ONCE} a time: bare {bare_all:?}, units {:?}", began.elapsed());
}
