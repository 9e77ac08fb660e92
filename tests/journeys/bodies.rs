//! Bodies that are larger than they say, or than they may be.
//!
//! The kind of C053: a limit that looked at the declared length alone let a body without one into memory whole.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use weir_tests::command_line;
use weir_tests::flows::one_command_flow;
use weir_tests::processes;
use weir_tests::wait::PATIENCE;
use weir_tests::worker::Worker;

/// What a refused body may cost in KiB: the limit of a body, and what an allocator keeps.
const MEMORY_KIB: u64 = 24 * 1024;

/// The status and the body that curl gets for `head -c BYTES /dev/zero`, sent in chunks.
fn send_zeros(worker: &Worker, path: &str, bytes: &str) -> Result<(String, String)> {
    let zeros = Command::new("head").args(["-c", bytes, "/dev/zero"]).stdout(Stdio::piped()).spawn()?;
    let mut curl = worker.world().command("curl");
    curl.args(["-sS", "--noproxy", "*", "-X", "POST", "-w", "\n%{http_code}", "-H", "Transfer-Encoding: chunked"])
        .args(["-H", &format!("X-Weir-Token: {}", worker.token()?), "-T", "-"])
        .arg(worker.url(path))
        .stdin(zeros.stdout.context("head has an output")?);
    let said = command_line::run(&mut curl)?;
    let (body, status) = said.stdout.rsplit_once('\n').with_context(|| format!("{said:?}"))?;
    Ok((status.to_owned(), body.to_owned()))
}

#[test]
fn a_body_without_a_length_is_cut_where_its_limit_is() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    client.create_flow("a", &one_command_flow("A", "echo a"))?;
    let before = processes::most_memory(worker.pid()).context("the worker is gone")?;
    for path in ["/api/workflows/a/run", "/api/workflows", "/api/agent/run", "/api/agent/tasks/wait", "/api/session"] {
        let (status, body) = send_zeros(&worker, path, "52428800")?;
        ensure!(status == "413", "{path}: {status} {body}");
        ensure!(body.contains("\"too_large\""), "{path}: {body}");
    }
    let most = processes::most_memory(worker.pid()).context("the worker is gone")?;
    ensure!(most <= before + MEMORY_KIB, "five bodies of 50 MiB took the worker from {before} to {most} KiB");
    ensure!(client.runs("limit=1")?.runs.is_empty(), "a refused body started something");
    Ok(())
}

/// Sends these bytes as they are, and gives back what the worker answered until it closed or fell silent.
fn exchange(worker: &Worker, bytes: &[u8]) -> Result<String> {
    let mut stream = TcpStream::connect(worker.address())?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(bytes)?;
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece)? {
            0 => break,
            read => answer.extend_from_slice(&piece[..read]),
        }
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[test]
fn a_false_length_a_packed_body_and_deep_nesting_start_nothing_and_disturb_nobody() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    client.create_flow("a", &one_command_flow("A", "echo a"))?;
    let run = client.run_plan(&weir_tests::flows::one_command("echo watched"))?;
    let head = |more: &str| -> Result<String> {
        Ok(format!(
            "POST /api/workflows/a/run HTTP/1.1\r\nHost: {}\r\nX-Weir-Token: {}\r\nContent-Type: application/json\r\n\
             Connection: close\r\n{more}\r\n\r\n",
            worker.address(),
            worker.token()?
        ))
    };
    // Two bytes are announced: what follows them is no part of the body.
    let short = format!("{}{}", head("Content-Length: 2")?, "{}".repeat(512 * 1024));
    let answer = exchange(&worker, short.as_bytes())?;
    ensure!(answer.starts_with("HTTP/1.1 202") || answer.starts_with("HTTP/1.1 4"), "{answer}");

    let packed = format!("{}x", head("Content-Encoding: gzip\r\nContent-Length: 1")?);
    let answer = exchange(&worker, packed.as_bytes())?;
    ensure!(answer.starts_with("HTTP/1.1 415"), "{answer}");

    let nested = format!("{{\"inputs\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let answer =
        exchange(&worker, format!("{}{nested}", head(&format!("Content-Length: {}", nested.len()))?).as_bytes())?;
    ensure!(answer.starts_with("HTTP/1.1 400"), "{answer}");

    ensure!(client.finish(&run)?.row.error.is_none(), "another's run was disturbed");
    ensure!(client.post("/api/workflows/a/run", &json!({}))?.status == 202, "the worker goes on");
    Ok(())
}
