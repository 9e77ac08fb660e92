//! A join runs when the branch that was taken has ended, however early the other one was skipped.
//!
//! The kind of C019: the skip of the branch not taken arrived first, and the join was skipped with it.

use anyhow::Result;
use serde_json::{Map, Value, json};
use weir_shared::run::event::{Event, SkipReason};
use weir_shared::run::state::{RunStatus, StepStatus};
use weir_shared::wire::{Execution, RunDetail};
use weir_tests::flows::command_node;
use weir_tests::worker::Worker;

/// `pick` takes branch `a`, never `b`; `join` follows both, its edges in this order.
fn fork_and_join(first: &str, second: &str) -> Value {
    json!({
        "format": 1,
        "name": format!("Join of {first} and {second}"),
        "nodes": [
            { "id": "pick", "tool": "flow_if", "args": { "left": "1", "operator": "eq", "right": "1" } },
            command_node("a", "sleep 0.05; echo A"),
            command_node("b", "echo B"),
            command_node("join", "echo {{node.a.result.stdout}}"),
        ],
        "edges": [
            { "source": "pick", "port": "true", "target": "a" },
            { "source": "pick", "port": "false", "target": "b" },
            { "source": first, "target": "join" },
            { "source": second, "target": "join" },
        ],
    })
}

fn execution<'a>(run: &'a RunDetail, node: &str) -> &'a Execution {
    run.executions.iter().find(|step| step.node_id.as_ref().is_some_and(|id| id.as_str() == node)).unwrap()
}

#[test]
fn the_join_waits_for_the_branch_that_was_taken() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let flows = [
        client.create_flow("ab", &fork_and_join("a", "b"))?.id,
        client.create_flow("ba", &fork_and_join("b", "a"))?.id,
    ];
    // 50 runs in all, ten at a time.
    for _ in 0..5 {
        let mut runs = Vec::new();
        for flow in flows.iter().cycle().take(10) {
            runs.push(client.run_flow(flow, &Map::new())?);
        }
        for run in runs {
            let run = client.finish(&run)?;
            assert_eq!(run.row.status, RunStatus::Completed);
            let join = execution(&run, "join");
            assert_eq!(join.status, StepStatus::Completed);
            assert_eq!(join.result.as_ref().unwrap()["stdout"], "A\n\n");
            let skipped = execution(&run, "b");
            assert_eq!((skipped.status, skipped.skip_reason), (StepStatus::Skipped, Some(SkipReason::Branch)));

            let place = |wanted: &dyn Fn(&Event) -> bool| run.events.iter().position(|e| wanted(&e.event)).unwrap();
            let (a, j) = (execution(&run, "a").index, join.index);
            let a_ended = place(&|event| matches!(event, Event::StepComplete { index, .. } if *index == a));
            let j_began = place(&|event| matches!(event, Event::StepStart { index, .. } if *index == j));
            assert!(a_ended < j_began);
        }
    }
    Ok(())
}

#[test]
fn the_join_is_skipped_only_when_everything_before_it_was() -> Result<()> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let mut flow = fork_and_join("a", "b");
    flow["nodes"][3] = command_node("join", "echo joined");
    flow["edges"][0]["port"] = json!("false");
    let id = client.create_flow("none", &flow)?.id;
    let run = client.run_flow(&id, &Map::new())?;
    let run = client.finish(&run)?;
    assert_eq!(run.row.status, RunStatus::Completed);
    let join = execution(&run, "join");
    assert_eq!((join.status, join.skip_reason), (StepStatus::Skipped, Some(SkipReason::Prerequisites)));
    Ok(())
}
