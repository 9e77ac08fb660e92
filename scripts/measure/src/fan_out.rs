//! A plan of 500 steps, one root, one join and the rest between them, beside ninja with the same commands and the
//! same sixteen at a time.

use std::fmt::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use weir_tests::client::Client;
use weir_tests::flows::{command_step, plan};
use weir_tests::worker::{Worker, World};

use crate::median::{self, timed};
use crate::table::Figure;

const STEPS: usize = 500;
const ROUNDS: usize = 7;

pub(crate) fn measure() -> Result<Vec<Figure>> {
    let worker = Worker::start()?;
    let client = worker.client()?;
    let plan = fan_out();
    let ninja = World::new()?;
    std::fs::write(ninja.path("build.ninja"), build_file())?;

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        theirs.push(timed(|| run_ninja(&ninja))?);
        ours.push(timed(|| run_plan(&client, &plan))?);
    }
    let (ours, theirs) = (median::of(ours), median::of(theirs));
    Ok(vec![
        Figure::plain("fan-out of 500 steps, Weir", ours, "ms"),
        Figure::plain("fan-out of 500 steps, ninja -j16", theirs, "ms"),
        Figure::bounded("fan-out, ratio to ninja", ours / theirs, "times", 1.25),
    ])
}

fn fan_out() -> Value {
    let last = STEPS - 1;
    let steps: Vec<Value> = (0..STEPS)
        .map(|index| {
            let after: Vec<usize> = match index {
                0 => Vec::new(),
                index if index == last => (1..last).collect(),
                _ => vec![0],
            };
            command_step(index, "/bin/true", &after)
        })
        .collect();
    plan(&steps)
}

/// From the request to the terminal event.
fn run_plan(client: &Client, plan: &Value) -> Result<()> {
    let run = client.run_plan(plan)?;
    let frames = client.follow(&run)?.to_end()?;
    let last = frames.last().context("no event came")?;
    ensure!(last.event == "complete", "{last:?}");
    ensure!(last.data["summary"] != json!(null));
    Ok(())
}

/// The same graph for ninja. Its outputs are never made, so every command runs each time.
fn build_file() -> String {
    let last = STEPS - 1;
    let mut text = String::from("rule true\n  command = /bin/true\nbuild s0: true\n");
    let mut middle = String::new();
    for index in 1..last {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "build s{index}: true s0");
        let _ = write!(middle, " s{index}");
    }
    let _ = writeln!(text, "build s{last}: true{middle}\ndefault s{last}");
    text
}

fn run_ninja(world: &World) -> Result<()> {
    let status = Command::new("ninja")
        .args(["-j16", "--quiet"])
        .current_dir(world.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .context("ninja cannot be started: scripts/setup bench installs it")?;
    ensure!(status.success(), "ninja ended with {status}");
    Ok(())
}
