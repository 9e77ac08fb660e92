//! Schemas of what writes its own JSON, for the worker's description of its API.
//!
//! Everything else on the wire derives its schema. The patterns here are those that parsing goes by, in the words of a
//! schema; a test holds the two together.

use std::borrow::Cow;

use utoipa::openapi::schema::{AnyOfBuilder, ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::finding::Code;
use crate::ids::{
    DeliveryId, FlowId, GateId, NodeId, Owner, Revision, RunId, ScheduleId, Seq, StepIndex, TaskId, Timestamp,
    ToolName, TriggerId,
};
use crate::plan::RunWhen;

const UUID: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

macro_rules! text {
    ($($name:ident: $pattern:expr, $example:literal, $words:literal;)*) => {
        $(
            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    ObjectBuilder::new()
                        .schema_type(Type::String)
                        .pattern(Some($pattern))
                        .description(Some($words))
                        .examples([$example])
                        .into()
                }
            }

            impl ToSchema for $name {}
        )*

        /// Every id with its pattern and an example.
        #[cfg(test)]
        const TEXTS: &[(&str, &str, fn(&str) -> bool)] = &[$((
            $pattern,
            $example,
            |text| text.parse::<$name>().is_ok(),
        ),)*];
    };
}

text! {
    FlowId: "^(?!(?:events|check)$)[a-z0-9][a-z0-9-]{0,63}$", "nightly-report", "A flow: the stem of its file.";
    NodeId: "^[A-Za-z][A-Za-z0-9_-]{0,63}$", "fetch", "A node of a flow.";
    ToolName: "^[A-Za-z][A-Za-z0-9_-]{0,127}$", "run_command", "A tool of the catalog.";
    RunId: UUID, "01890a5d-ac96-774b-bcce-b302099a8057", "One execution of a plan.";
    TaskId: UUID, "01890a5d-ac96-774b-bcce-b302099a8057", "A body admitted to the queue.";
    TriggerId: UUID, "01890a5d-ac96-774b-bcce-b302099a8057", "A webhook.";
    DeliveryId: UUID, "01890a5d-ac96-774b-bcce-b302099a8057", "One accepted call of a webhook.";
    ScheduleId: UUID, "01890a5d-ac96-774b-bcce-b302099a8057", "A schedule, of a file or of the API.";
    GateId: "^g[0-9]{1,11}$", "g1", "A place where a run waits for a person, counted within the run.";
    Revision: "^[0-9a-f]{16}$", "ba7816bf8f01cfea", "The first 16 hexadecimal digits of the SHA-256 of a file's bytes.";
}

/// A number that stands for itself.
fn number(words: &str) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).description(Some(words)).into()
}

impl PartialSchema for Seq {
    fn schema() -> RefOr<Schema> {
        number("The place of an event in its run's journal, from 1 without gaps.")
    }
}

impl ToSchema for Seq {}

impl PartialSchema for StepIndex {
    fn schema() -> RefOr<Schema> {
        number("The position of a step in its plan, from 0.")
    }
}

impl ToSchema for StepIndex {}

impl PartialSchema for Owner {
    fn schema() -> RefOr<Schema> {
        let words = "On whose behalf something runs; `local` is the person who owns the machine.";
        ObjectBuilder::new().schema_type(Type::String).description(Some(words)).into()
    }
}

impl ToSchema for Owner {}

impl PartialSchema for Timestamp {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("A moment: RFC 3339 in UTC with milliseconds."))
            .examples(["2026-11-30T22:16:40.123Z"])
            .into()
    }
}

impl ToSchema for Timestamp {}

impl PartialSchema for Code {
    /// The words of a macro, which a derive does not see.
    fn schema() -> RefOr<Schema> {
        let words = Code::ALL.iter().map(|code| code.as_str());
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).into()
    }
}

impl ToSchema for Code {
    fn name() -> Cow<'static, str> {
        "FindingCode".into()
    }
}

/// A step that a condition looks at, with the condition.
fn condition(key: &str, schema: impl Into<RefOr<Schema>>) -> ObjectBuilder {
    ObjectBuilder::new()
        .property("step", Ref::from_schema_name(StepIndex::name()))
        .property(key, schema)
        .required("step")
        .required(key)
}

impl PartialSchema for RunWhen {
    /// Both ways of writing it. Answers have the first.
    fn schema() -> RefOr<Schema> {
        let port = || ObjectBuilder::new().schema_type(Type::String);
        AnyOfBuilder::new()
            .item(condition("in", ArrayBuilder::new().items(port())))
            .item(condition("equals", port()))
            .description(Some("Runs only when an earlier step took one of these branches."))
            .into()
    }
}

impl ToSchema for RunWhen {
    fn name() -> Cow<'static, str> {
        "RunWhen".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((StepIndex::name().into_owned(), StepIndex::schema()));
    }
}

#[cfg(test)]
mod tests {
    use regex_lite::Regex;

    use super::*;

    #[test]
    fn patterns_say_what_parsing_does() {
        for (pattern, example, parses) in TEXTS {
            // This engine looks at nothing ahead; the words that it would forbid are tried where ids are parsed.
            let pattern = Regex::new(&pattern.replace("(?!(?:events|check)$)", "")).unwrap();
            assert!(pattern.is_match(example) && parses(example), "{example}");
            let long = "a".repeat(129);
            for text in ["", "-a", "1a", "g", "g123456789012", "A", "a_b", "ä", "ba7816bf8f01cfeg", long.as_str()] {
                assert_eq!(pattern.is_match(text), parses(text), "{text} by {pattern}");
            }
        }
    }
}
