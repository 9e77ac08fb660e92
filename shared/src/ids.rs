//! Names of things, each checked once where it enters and never again.
//!
//! Every id is a newtype over the text that stands in files, URLs and the journal. Parsing tells why a text is not
//! an id; holding one means it is. This module knows no file, no clock and no randomness: run and task ids are made
//! by the worker (UUID version 7) and only recognised here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why a text is not the id it was read as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadId {
    #[error(
        "`{text}` is not a flow id: use 1 to 64 lower-case letters, digits and hyphens, beginning with a letter or digit"
    )]
    Flow { text: String },
    #[error("`{text}` is a reserved word of the API and cannot be a flow id")]
    Reserved { text: String },
    #[error("`{text}` is not a node id: use 1 to 64 letters, digits, hyphens and underscores, beginning with a letter")]
    Node { text: String },
    #[error(
        "`{text}` is not a tool name: use 1 to 128 letters, digits, hyphens and underscores, beginning with a letter"
    )]
    Tool { text: String },
    #[error("`{text}` is not a run id")]
    Run { text: String },
    #[error("`{text}` is not a task id")]
    Task { text: String },
    #[error("`{text}` is not a gate id")]
    Gate { text: String },
    #[error("`{text}` is not the id of a webhook trigger")]
    Trigger { text: String },
    #[error("`{text}` is not the id of a delivery")]
    Delivery { text: String },
    #[error("`{text}` is not the id of a schedule")]
    Schedule { text: String },
    #[error("`{text}` is not a revision: it is 16 lower-case hexadecimal digits")]
    Revision { text: String },
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $check:expr, $error:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The id as it is written in files, URLs and the journal.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                let check: fn(&str) -> bool = $check;
                if check(text) { Ok(Self(text.to_owned())) } else { Err(BadId::$error { text: text.to_owned() }) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

fn is_word(text: &str, most: usize) -> bool {
    let bytes = text.as_bytes();
    !bytes.is_empty()
        && bytes.len() <= most
        && bytes[0].is_ascii_alphabetic()
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'-')
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

text_id!(
    /// A node of a flow: `^[A-Za-z][A-Za-z0-9_-]{0,63}$`, unique in its flow.
    NodeId,
    |text| is_word(text, 64),
    Node
);
text_id!(
    /// A tool of the catalog: `^[A-Za-z][A-Za-z0-9_-]{0,127}$`. A tool of an MCP server is `<server>__<tool>`.
    ToolName,
    |text| is_word(text, 128),
    Tool
);
text_id!(
    /// One execution of a plan. A version 7 UUID, so ids sort by the time they were made.
    RunId,
    is_uuid,
    Run
);
text_id!(
    /// A body admitted to the queue. A version 7 UUID.
    TaskId,
    is_uuid,
    Task
);
text_id!(
    /// A webhook's trigger: the last part of the address that senders post to. A version 7 UUID.
    TriggerId,
    is_uuid,
    Trigger
);
text_id!(
    /// One accepted call of a webhook. A version 7 UUID.
    DeliveryId,
    is_uuid,
    Delivery
);
text_id!(
    /// A place where a run waits for a person: `g1`, `g2`, … counted within the run.
    GateId,
    |text| text.len() > 1 && text.len() <= 12 && text.starts_with('g') && text[1..].bytes().all(|b| b.is_ascii_digit()),
    Gate
);
text_id!(
    /// A schedule, of a file or of the API. A version 7 UUID.
    ScheduleId,
    is_uuid,
    Schedule
);
text_id!(
    /// The first 16 hexadecimal digits of the SHA-256 of a file's bytes.
    Revision,
    |text| text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')),
    Revision
);

macro_rules! from_bytes {
    ($name:ident) => {
        impl $name {
            /// The id with these 16 bytes, a UUID made elsewhere.
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                let mut text = String::with_capacity(36);
                for (at, byte) in bytes.iter().enumerate() {
                    if matches!(at, 4 | 6 | 8 | 10) {
                        text.push('-');
                    }
                    text.push_str(&hex(*byte));
                }
                Self(text)
            }
        }
    };
}

from_bytes!(RunId);
from_bytes!(TaskId);
from_bytes!(TriggerId);
from_bytes!(DeliveryId);
from_bytes!(ScheduleId);

fn hex(byte: u8) -> String {
    format!("{byte:02x}")
}

/// Ids that the API uses as path segments beside flow ids.
pub const RESERVED_FLOW_IDS: [&str; 2] = ["events", "check"];

/// A flow: the stem of its file `<id>.flow.json`, `^[a-z0-9][a-z0-9-]{0,63}$`, and not a reserved word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(String);

impl FlowId {
    /// The id as it stands in the file name and in URLs.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// An id made from a flow's name: lower case, runs of anything else become one hyphen; `flow` when nothing is
    /// left or the result is reserved. The caller makes it unique.
    pub fn from_name(name: &str) -> Self {
        let mut id = String::new();
        for c in name.chars().flat_map(char::to_lowercase) {
            if c.is_ascii_alphanumeric() {
                id.push(c);
            } else if !id.is_empty() && !id.ends_with('-') {
                id.push('-');
            }
            if id.len() >= 60 {
                break;
            }
        }
        let id = id.trim_end_matches('-');
        id.parse().unwrap_or_else(|_| Self("flow".to_owned()))
    }

    /// The `n`th variant of this id (`report-2`), cut so that it stays within 64 characters.
    #[must_use]
    pub fn numbered(&self, n: u32) -> Self {
        let suffix = format!("-{n}");
        let keep = self.0.len().min(64 - suffix.len());
        Self(format!("{}{suffix}", &self.0[..keep]))
    }
}

impl FromStr for FlowId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        let bytes = text.as_bytes();
        let letters = !bytes.is_empty()
            && bytes.len() <= 64
            && bytes[0] != b'-'
            && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-');
        if !letters {
            return Err(BadId::Flow { text: text.to_owned() });
        }
        if RESERVED_FLOW_IDS.contains(&text) {
            return Err(BadId::Reserved { text: text.to_owned() });
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for FlowId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for FlowId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Serialize for FlowId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for FlowId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl Revision {
    /// The revision of a file with these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest;
        let digest = sha2::Sha256::digest(bytes);
        let mut text = String::with_capacity(16);
        for byte in &digest[..8] {
            text.push_str(&hex(*byte));
        }
        Self(text)
    }
}

impl GateId {
    /// The `n`th gate of a run, counted from 1.
    pub fn numbered(n: u32) -> Self {
        Self(format!("g{n}"))
    }
}

/// On whose behalf something runs. `local` is the person who owns the machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Owner(pub String);

impl Owner {
    /// The owner behind the first token and the command line.
    pub fn local() -> Self {
        Self("local".to_owned())
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The place of an event in its run's journal, from 1 without gaps. 0 means "before the first".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// The next place.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The position of a step in its plan, from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepIndex(pub u32);

impl StepIndex {
    /// As an index into the plan's list of steps.
    pub fn at(self) -> usize {
        self.0 as usize
    }

    /// The index of the `position`th step. Plans hold at most 10,000 steps, so a position always fits.
    pub fn of(position: usize) -> Self {
        Self(u32::try_from(position).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for StepIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A moment: milliseconds since 1970-01-01T00:00:00Z. Written as RFC 3339 in UTC with milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Milliseconds from `earlier` to this moment; 0 when the wall clock went backwards between the two.
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let moment: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
        Ok(Self(moment.as_millisecond()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_refused_with_the_rule_it_breaks() {
        assert!("nightly-report".parse::<FlowId>().is_ok());
        for bad in ["", "-a", "A", "a_b", "ä", &"a".repeat(65)] {
            assert!(matches!(bad.parse::<FlowId>(), Err(BadId::Flow { .. })), "{bad}");
        }
        assert!(matches!("events".parse::<FlowId>(), Err(BadId::Reserved { .. })));
        assert!("a-1_b".parse::<NodeId>().is_ok());
        assert!("1a".parse::<NodeId>().is_err());
        assert!("github__create_issue".parse::<ToolName>().is_ok());
    }

    #[test]
    fn a_name_becomes_an_id() {
        assert_eq!(FlowId::from_name("Disk & memory report").as_str(), "disk-memory-report");
        assert_eq!(FlowId::from_name("日報").as_str(), "flow");
        assert_eq!(FlowId::from_name("Check").as_str(), "flow");
        assert_eq!(FlowId::from_name(&"x".repeat(200)).numbered(12).as_str().len(), 63);
    }

    #[test]
    fn a_revision_is_the_head_of_the_digest() {
        assert_eq!(Revision::of(b"abc").as_str(), "ba7816bf8f01cfea");
    }

    #[test]
    fn a_moment_is_written_as_rfc_3339_and_read_back() {
        let moment = Timestamp(1_796_077_000_123);
        let text = serde_json::to_string(&moment).unwrap();
        assert_eq!(text, "\"2026-11-30T22:16:40.123Z\"");
        assert_eq!(serde_json::from_str::<Timestamp>(&text).unwrap(), moment);
    }
}
