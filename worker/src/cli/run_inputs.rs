//! What `weir run` is given for a flow's inputs: a file, then `name=value` over it.

use serde_json::{Map, Value};

/// The inputs of a run. `schema` is the flow's: it says which values are text, so that `--input zip=01234` stays one.
pub(super) fn assemble(
    schema: Option<&Value>,
    file: Option<&str>,
    pairs: &[String],
) -> Result<Map<String, Value>, String> {
    let mut inputs = match file {
        Some(text) => serde_json::from_str(text).map_err(|error| format!("the inputs are no JSON object: {error}"))?,
        None => Map::new(),
    };
    for pair in pairs {
        let (name, value) = pair.split_once('=').ok_or_else(|| format!("`{pair}`: write --input name=value"))?;
        inputs.insert(name.to_owned(), read(schema, name, value));
    }
    Ok(inputs)
}

/// A value as the schema wants it: text stays text; anything else is read as JSON when it is JSON.
fn read(schema: Option<&Value>, name: &str, value: &str) -> Value {
    let wanted = schema.and_then(|schema| schema.get("properties")?.get(name)?.get("type")?.as_str());
    match wanted {
        Some("string") => Value::from(value),
        Some(_) | None => serde_json::from_str(value).unwrap_or_else(|_| Value::from(value)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_schema_says_what_is_text() {
        let schema = json!({"properties": {"zip": {"type": "string"}, "count": {"type": "integer"}}});
        let pairs = ["zip=01234", "count=3", "on=true", "free=a=b", "count2=x"].map(str::to_owned);
        let inputs = assemble(Some(&schema), Some(r#"{"zip": "0", "kept": null}"#), &pairs).unwrap();
        let expected = json!({"zip": "01234", "kept": null, "count": 3, "on": true, "free": "a=b", "count2": "x"});
        assert_eq!(Value::Object(inputs), expected);
    }

    #[test]
    fn what_is_no_pair_or_no_object_is_said() {
        assert!(assemble(None, None, &["zip".to_owned()]).unwrap_err().contains("--input name=value"));
        assert!(assemble(None, Some("[]"), &[]).unwrap_err().contains("no JSON object"));
    }
}
