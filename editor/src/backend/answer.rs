//! What a call gave: its value, or an error a page can tell apart and say to a person.

use serde::de::DeserializeOwned;
use weir_shared::wire::Problem;

/// Why a call gave no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum CallError {
    /// The worker cannot be reached.
    Unreachable,
    /// The worker answered with a problem.
    Refused { status: u16, problem: Box<Problem> },
    /// The answer is not what this page understands: another version, or a proxy in between.
    Garbled { status: u16, why: String },
}

impl CallError {
    /// One or two sentences for a person.
    pub fn message(&self) -> String {
        match self {
            CallError::Unreachable => "The worker does not answer. Nothing was changed.".to_owned(),
            CallError::Refused { problem, .. } => {
                let mut text = problem.error.clone();
                for fault in &problem.faults {
                    text.extend([" ", &fault.path, ": ", fault.message.trim_end_matches('.'), "."]);
                }
                text
            }
            CallError::Garbled { status, why } => {
                format!("The answer of the worker ({status}) cannot be read: {why}. Reload the page after an update.")
            }
        }
    }

    /// The problem's stable word, when the worker named one.
    pub fn code(&self) -> Option<&str> {
        match self {
            CallError::Refused { problem, .. } => Some(&problem.code),
            CallError::Unreachable | CallError::Garbled { .. } => None,
        }
    }

    /// Whether the session is missing or over.
    pub fn is_unauthorized(&self) -> bool {
        matches!(self, CallError::Refused { status: 401, .. })
    }
}

/// An answer as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub body: String,
}

/// Reads an answer: the value of a success, the problem of anything else.
pub fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, CallError> {
    let status = answer.status;
    if (200..300).contains(&status) {
        return serde_json::from_str(&answer.body)
            .map_err(|error| CallError::Garbled { status, why: error.to_string() });
    }
    match serde_json::from_str(&answer.body) {
        Ok(problem) => Err(CallError::Refused { status, problem: Box::new(problem) }),
        // A proxy in front of a worker that is not there.
        Err(_) if matches!(status, 502..=504) => Err(CallError::Unreachable),
        Err(error) => Err(CallError::Garbled { status, why: error.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        Answer { status, body: body.to_owned() }
    }

    #[test]
    fn a_problem_keeps_its_code_and_says_every_fault() {
        let body = r#"{"success": false, "code": "bad_inputs", "error": "The inputs do not fit.",
            "faults": [{"path": "inputs.day", "code": "missing", "message": "is required"}]}"#;
        let error = read::<String>(&answer(422, body)).expect_err("a refusal");
        assert_eq!(error.code(), Some("bad_inputs"));
        assert_eq!(error.message(), "The inputs do not fit. inputs.day: is required.");
    }

    #[test]
    fn what_is_not_the_worker_is_told_apart() {
        assert_eq!(read::<String>(&answer(502, "<html>")), Err(CallError::Unreachable));
        assert!(matches!(read::<String>(&answer(200, "<html>")), Err(CallError::Garbled { status: 200, .. })));
        assert_eq!(read::<u32>(&answer(200, "7")), Ok(7));
    }
}
