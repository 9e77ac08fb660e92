//! `weir schema`: the JSON Schema of a flow file, by which any editor completes and checks one.

use clap::Args;

use super::exit::Exit;
use super::{Done, output};

/// Written by hand: what the reader takes, no more. A test holds the samples and the canonical fixtures against it.
const SCHEMA: &str = include_str!("flow.schema.json");

/// Print the JSON Schema of flow files
///
/// Save it, and name it under `$schema` at the top of a flow: editors then complete and check the file. What the
/// schema cannot say, `weir check` does.
#[derive(Debug, Args)]
pub(super) struct Schema {}

impl Schema {
    #[expect(clippy::unused_self, reason = "every command is executed alike")]
    pub(super) fn execute(self) -> Done {
        output::data(SCHEMA)?;
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};
    use weir_shared::schema::{check_schema, validate};

    use super::*;

    fn schema() -> Value {
        serde_json::from_str(SCHEMA).unwrap()
    }

    #[test]
    fn it_takes_what_the_reader_takes() {
        let schema = schema();
        assert!(check_schema(&schema).is_empty(), "{:?}", check_schema(&schema));
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut seen = 0;
        for folder in ["flows", "tests/fixtures/canonical"] {
            for file in std::fs::read_dir(repository.join(folder)).unwrap() {
                let path = file.unwrap().path();
                if path.is_file() {
                    let flow: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
                    assert_eq!(validate(&schema, &flow, "flow"), [], "{}", path.display());
                    seen += 1;
                }
            }
        }
        assert!(seen >= 4, "{seen}");
    }

    #[test]
    fn it_refuses_what_the_reader_refuses() {
        let flow = |node: Value| json!({ "format": 1, "name": "F", "nodes": [node], "edges": [] });
        for node in [
            json!({ "id": "a" }),
            json!({ "id": "1", "tool": "delay" }),
            json!({ "id": "a", "tool": "delay", "aproval": true }),
            json!({ "id": "a", "tool": "delay", "retry": { "maxAttempts": 6 } }),
        ] {
            assert!(!validate(&schema(), &flow(node.clone()), "flow").is_empty(), "{node}");
        }
        assert!(validate(&schema(), &flow(json!({ "id": "a", "tool": "delay", "x-mine": 1 })), "flow").is_empty());
    }
}
