//! Addresses: of lists and outputs at the worker, and what the page's own address holds.

use weir_shared::ids::{FlowId, RunId, StepIndex};
use weir_shared::run::event::OutputStream;
use weir_shared::run::state::RunStatus;

/// Which runs to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunsWanted {
    /// Matches goal, summary and error.
    pub q: String,
    pub status: Option<RunStatus>,
    pub flow: Option<FlowId>,
    /// The cursor of the page before.
    pub before: Option<String>,
    pub limit: u32,
}

impl RunsWanted {
    /// The address of the page that is wanted.
    pub fn path(&self) -> String {
        let mut path = format!("/api/agent/runs?limit={}", self.limit.clamp(1, 500));
        let q = self.q.trim();
        let words = [
            ("q", (!q.is_empty()).then(|| q.to_owned())),
            ("status", self.status.map(|status| status.as_str().to_owned())),
            ("flow", self.flow.as_ref().map(ToString::to_string)),
            ("before", self.before.clone()),
        ];
        for (name, value) in words {
            if let Some(value) = value {
                path.extend(["&", name, "=", &escape(&value)]);
            }
        }
        path
    }
}

/// Which output to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputWanted {
    pub run: RunId,
    pub index: StepIndex,
    pub attempt: u32,
    pub stream: OutputStream,
}

impl OutputWanted {
    /// Its address, from `offset` on.
    pub fn path(&self, offset: u64) -> String {
        let OutputWanted { run, index, attempt, stream } = self;
        let stream = match stream {
            OutputStream::Stdout => "stdout",
            OutputStream::Stderr => "stderr",
        };
        format!("/api/agent/runs/{run}/steps/{index}/output?attempt={attempt}&stream={stream}&offset={offset}")
    }
}

/// A path or query segment with everything but unreserved characters escaped.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend([byte >> 4, byte & 15].map(|digit| char::from(b"0123456789ABCDEF"[usize::from(digit)])));
        }
    }
    out
}

/// The token of a fragment.
pub fn token_in(hash: &str) -> Option<&str> {
    hash.strip_prefix("#token=").filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_only_what_is_asked_for() {
        let all = RunsWanted { limit: 50, ..RunsWanted::default() };
        assert_eq!(all.path(), "/api/agent/runs?limit=50");
        let some =
            RunsWanted { q: " a&b ".to_owned(), status: Some(RunStatus::Failed), before: Some("x=".to_owned()), ..all };
        assert_eq!(some.path(), "/api/agent/runs?limit=50&q=a%26b&status=failed&before=x%3D");
    }

    #[test]
    fn a_segment_is_escaped_by_bytes() {
        assert_eq!(escape("a b/ü&c=1"), "a%20b%2F%C3%BC%26c%3D1");
    }

    #[test]
    fn only_a_fragment_that_is_a_token_is_one() {
        assert_eq!(token_in("#token=abc"), Some("abc"));
        assert_eq!(token_in("#token="), None);
        assert_eq!(token_in("#section"), None);
        assert_eq!(token_in(""), None);
    }
}
