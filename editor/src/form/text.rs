//! Values as they are typed, and back.
//!
//! Nothing typed is ever thrown away: what is not yet a number stays the text it is, and the checks say so.

use serde_json::Value;

/// A value in the text of a field.
pub fn of_value(value: Option<&Value>) -> String {
    value.map(super::schema::plain).unwrap_or_default()
}

/// What a typed text stands for in a field of this type. An empty text is no value.
pub fn to_value(data_type: &str, text: &str) -> Option<Value> {
    if text.is_empty() {
        return None;
    }
    let typed = match data_type {
        "number" | "integer" => serde_json::from_str::<Value>(text.trim()).ok().filter(Value::is_number),
        "boolean" => match text.trim() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        "object" | "array" => {
            serde_json::from_str::<Value>(text).ok().filter(|value| value.is_object() || value.is_array())
        }
        _ => None,
    };
    Some(typed.unwrap_or_else(|| Value::String(text.to_owned())))
}

/// What is missing or does not fit in a value, in words; `None` when it may be right. The worker has the last word.
pub fn misfit(data_type: &str, required: bool, value: Option<&Value>) -> Option<String> {
    let Some(value) = value else {
        return required.then(|| "This is required.".to_owned());
    };
    let fits = match data_type {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    let wanted = match data_type {
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        _ => "a text",
    };
    (!fits).then(|| format!("This takes {wanted}."))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_half_typed_stays_what_it_is() {
        assert_eq!(to_value("number", "-"), Some(json!("-")));
        assert_eq!(to_value("number", "-1.5"), Some(json!(-1.5)));
        assert_eq!(to_value("integer", "{{inputs.n}}"), Some(json!("{{inputs.n}}")));
        assert_eq!(to_value("string", "12"), Some(json!("12")));
        assert_eq!(to_value("any", "12"), Some(json!("12")));
        assert_eq!(to_value("object", "{\"a\": 1}"), Some(json!({"a": 1})));
        assert_eq!(to_value("string", ""), None);
    }

    #[test]
    fn a_misfit_says_what_is_taken() {
        assert_eq!(misfit("integer", false, Some(&json!(1.5))).as_deref(), Some("This takes a whole number."));
        assert_eq!(misfit("integer", false, Some(&json!(2.0))), None);
        assert_eq!(misfit("string", true, None).as_deref(), Some("This is required."));
        assert_eq!(misfit("any", true, Some(&json!(null))), None);
    }
}
