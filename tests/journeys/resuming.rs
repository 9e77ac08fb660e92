//! A stream that is cut and resumed shows every event once, wherever it was cut.
//!
//! The kind of C088: clients that reconnected got the whole history again, or lost what lay between a status frame
//! with an invented id and the next event.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use weir_shared::ids::RunId;
use weir_tests::client::{Client, Followed};
use weir_tests::flows::{command_step, plan};
use weir_tests::stream::{Frame, Stream};
use weir_tests::worker::Worker;

/// A chain of commands that print, with one approval in the middle.
fn chain_with_a_gate() -> Value {
    let mut steps: Vec<Value> = (0..8)
        .map(|index| {
            let after: Vec<usize> = (index > 0).then(|| index - 1).into_iter().collect();
            command_step(index, &format!("echo line {index}"), &after)
        })
        .collect();
    steps[4]["requiresApproval"] = json!(true);
    plan(&steps)
}

/// Runs everything but what asks for a person itself.
fn only_declared_gates() -> Value {
    json!({ "requireStepApproval": false })
}

/// The frames that can be resumed from, which must count up by one from `after`.
fn facts(frames: &[Frame], after: u64) -> Vec<Frame> {
    let facts: Vec<Frame> = frames.iter().filter(|frame| frame.id.is_some()).cloned().collect();
    for (place, fact) in facts.iter().enumerate() {
        assert_eq!(fact.id, Some(after + 1 + place as u64), "a gap or a repeat at {fact:?}");
        assert_eq!(fact.data["seq"], json!(fact.id), "the id is the event's place in the journal");
    }
    for frame in frames.iter().filter(|frame| frame.id.is_none()) {
        assert_eq!(frame.event, "step_output", "only output cannot be resumed from");
    }
    facts
}

fn read_facts(stream: &mut Stream, count: usize) -> Result<Vec<Frame>> {
    let mut frames = Vec::new();
    let mut left = count;
    while left > 0 {
        let frame = stream.frame()?.context("the stream of a live run ended")?;
        left -= usize::from(frame.id.is_some());
        frames.push(frame);
    }
    Ok(frames)
}

fn status(client: &Client, run: &RunId, last: &str) -> Result<u16> {
    Ok(client.try_to_follow(run, Some(last))?.status())
}

#[test]
fn cut_at_every_event_it_goes_on_without_gap_or_repeat() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let run = client.run_plan_as(&chain_with_a_gate(), &only_declared_gates())?;

    let mut stream = client.follow(&run)?;
    let mut frames = Vec::new();
    while frames.last().is_none_or(|frame: &Frame| frame.event != "step_approval_requested") {
        frames.push(stream.frame()?.context("the run ended before its gate")?);
    }
    assert_eq!(stream.retry, Some(1000));
    drop(stream);
    let live = facts(&frames, 0);

    // While it lives, parked at its gate.
    for cut in 0..=live.len() {
        let mut resumed = client.follow_after(&run, Some(&cut.to_string()))?;
        let rest = read_facts(&mut resumed, live.len() - cut)?;
        assert_eq!(facts(&rest, cut as u64), live[cut..], "cut after {cut}");
    }
    assert_eq!(status(&client, &run, &(live.len() + 1).to_string())?, 400, "past the end of a live run");
    assert_eq!(status(&client, &run, "99999999")?, 400);
    assert_eq!(status(&client, &run, "abc")?, 400);

    client.approve(&run, &json!({}))?.having::<Value>(202)?;
    let all = facts(&client.follow(&run)?.to_end()?, 0);
    assert_eq!(all[..live.len()], live[..], "what was shown stays as it was shown");
    assert_eq!(all.last().map(|frame| frame.event.as_str()), Some("complete"));

    // After its end.
    for cut in 0..all.len() {
        let rest = client.follow_after(&run, Some(&cut.to_string()))?.to_end()?;
        assert_eq!(facts(&rest, cut as u64), all[cut..], "cut after {cut}");
    }
    for past in [all.len().to_string(), (all.len() + 1).to_string(), "99999999".to_owned()] {
        assert_eq!(status(&client, &run, &past)?, 204, "a browser stops at 204, asked after {past}");
    }
    assert_eq!(status(&client, &run, "abc")?, 400);
    Ok(())
}

#[test]
fn a_line_that_breaks_after_every_event_of_a_working_run_loses_nothing() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let steps: Vec<Value> = (0..20)
        .map(|index| {
            let after: Vec<usize> = (index > 0).then(|| index - 1).into_iter().collect();
            command_step(index, &format!("echo line {index}"), &after)
        })
        .collect();
    let run = client.run_plan(&plan(&steps))?;

    let mut seen = Vec::new();
    loop {
        let last = seen.len().to_string();
        let Followed::Stream(mut stream) = client.try_to_follow(&run, (!seen.is_empty()).then_some(&*last))? else {
            break;
        };
        // The worker may also end the stream where the run has ended.
        while let Some(frame) = stream.frame()? {
            if frame.id.is_some() {
                seen.push(frame);
                break;
            }
        }
    }
    assert_eq!(facts(&seen, 0), facts(&client.follow(&run)?.to_end()?, 0));
    assert_eq!(seen.last().map(|frame| frame.event.as_str()), Some("complete"));
    Ok(())
}

#[test]
fn an_id_of_another_run_never_shows_that_runs_events() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let long = client.run_plan(&plan(&(0..6).map(|i| command_step(i, "echo long", &[])).collect::<Vec<_>>()))?;
    let short = client.run_plan(&plan(&[command_step(0, "echo short", &[])]))?;
    let of_long = client.follow(&long)?.to_end()?;
    let of_short = facts(&client.follow(&short)?.to_end()?, 0);

    let foreign = of_long.iter().filter_map(|frame| frame.id).max().unwrap();
    assert!(foreign > of_short.len() as u64);
    assert_eq!(status(&client, &short, &foreign.to_string())?, 204);
    let within = client.follow_after(&short, Some("2"))?.to_end()?;
    assert_eq!(facts(&within, 2), of_short[2..]);
    Ok(())
}

#[test]
fn the_header_wins_over_the_address_and_an_unknown_run_is_404() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let run = client.run_plan(&plan(&[command_step(0, "echo x", &[])]))?;
    let all = facts(&client.follow(&run)?.to_end()?, 0);

    let token = worker.token()?;
    let after = client.get(&format!("/api/agent/stream?runId={run}&after={}", all.len() - 1))?;
    assert_eq!(after.status, 200);
    assert!(after.text().contains("event: complete") || after.text().contains("event:complete"), "{}", after.text());
    let both = client.send(&weir_tests::client::Request {
        method: "GET",
        path: &format!("/api/agent/stream?runId={run}&after=1"),
        headers: &[("x-weir-token", &token), ("last-event-id", &all.len().to_string())],
        body: None,
    })?;
    assert_eq!(both.status, 204);

    let unknown = "/api/agent/stream?runId=00000000-0000-7000-8000-000000000000";
    assert!(!client.get(unknown)?.problem(404)?.success);
    Ok(())
}
