//! `delay`: waits for a time, or until one. A stop ends it at once, its caller sees to that.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use weir_shared::ids::Timestamp;

use crate::clock::Clock;

/// The longest wait in seconds: 366 days.
const MOST_SECONDS: u64 = 366 * 86_400;
/// How long a wait until a moment trusts its arithmetic: the clock may be set, and a laptop may sleep.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

#[derive(Debug, Deserialize)]
struct Arguments {
    seconds: Option<f64>,
    until: Option<Timestamp>,
}

pub(super) fn declaration() -> Value {
    json!({
        "name": "delay",
        "title": "Wait",
        "description": "Waits for a number of seconds, or until a moment. A moment that has passed is not waited for. \
                        Cancelling ends it at once.",
        "effect": "read",
        "idempotent": true,
        "group": "flow",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "oneOf": [{ "required": ["seconds"] }, { "required": ["until"] }],
            "properties": {
                "seconds": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": MOST_SECONDS,
                    "title": "Seconds",
                    "description": "How long to wait. Give this or a moment.",
                    "examples": [5, 0.5]
                },
                "until": {
                    "type": "string",
                    "format": "date-time",
                    "title": "Until",
                    "description": "The moment to wait for, with its offset from UTC. Give this or seconds.",
                    "examples": ["2027-01-01T06:30:00+01:00"]
                }
            }
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["waitedSeconds", "endedAt"],
            "properties": {
                "waitedSeconds": {
                    "type": "number", "title": "Seconds waited", "examples": [5.0],
                    "description": "How long it waited."
                },
                "endedAt": {
                    "type": "string", "title": "Ended at", "examples": ["2027-01-01T05:30:00.000Z"],
                    "description": "When it went on."
                }
            }
        },
        "node": {
            "label": "Wait",
            "category": "Flow",
            "kind": "control",
            "color": "#FFA07A",
            "icon": "clock",
            "inputs": [
                { "name": "seconds", "widget": "number", "placeholder": "5" },
                { "name": "until", "widget": "date", "advanced": true }
            ]
        }
    })
}

/// Waits.
pub(super) async fn call(arguments: Value, clock: &Clock) -> Result<Value, String> {
    let arguments: Arguments = serde_json::from_value(arguments)
        .map_err(|error| format!("`until` is a moment like 2027-01-01T06:30:00+01:00: {error}"))?;
    let began = tokio::time::Instant::now();
    if let Some(seconds) = arguments.seconds {
        let time = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
        tokio::time::sleep(time).await;
    }
    if let Some(until) = arguments.until {
        loop {
            let left = Duration::from_millis(until.millis_since(clock.now()));
            if left.is_zero() {
                break;
            }
            tokio::time::sleep(left.min(LOOK_AGAIN)).await;
        }
    }
    Ok(json!({ "waitedSeconds": began.elapsed().as_secs_f64(), "endedAt": clock.now() }))
}
