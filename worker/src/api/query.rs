//! The query of a request: closed, like every object of the API. A mistyped filter must not be a list of everything.

use std::str::FromStr;

use super::problem::ApiError;

/// Names and values, decoded.
#[derive(Debug, Clone, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// A query with no other names than these; each at most once.
    pub(super) fn of(pairs: Vec<(String, String)>, known: &[&str]) -> Result<Self, ApiError> {
        for (at, (name, _)) in pairs.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                let message = format!("`{name}` is no parameter here; known are: {}", known.join(", "));
                return Err(ApiError::Malformed { code: "unknown_parameter", message });
            }
            if pairs[..at].iter().any(|(earlier, _)| earlier == name) {
                let message = format!("`{name}` is given twice");
                return Err(ApiError::Malformed { code: "duplicate_parameter", message });
            }
        }
        Ok(Self(pairs))
    }

    /// The text of a parameter; none when it is absent or empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// The value of a parameter.
    pub(super) fn value<T: FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>, ApiError> {
        self.text(name)
            .map(|text| {
                text.parse().map_err(|_| ApiError::Malformed {
                    code: "bad_parameter",
                    message: format!("`{name}` is `{text}`, and should be {expected}"),
                })
            })
            .transpose()
    }
}

/// A word of a closed set, as it stands in JSON.
pub(super) fn word<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> Result<T, ApiError> {
    serde_json::from_value(serde_json::Value::from(text))
        .map_err(|error| ApiError::Malformed { code: "bad_parameter", message: format!("`{name}`: {error}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_query_is_closed() {
        let query = Query::of(pairs(&[("limit", "5"), ("q", "")]), &["limit", "q"]).unwrap();
        assert_eq!(query.value::<usize>("limit", "a number").unwrap(), Some(5));
        assert_eq!(query.text("q"), None);
        assert!(Query::of(pairs(&[("limt", "5")]), &["limit"]).is_err());
        assert!(Query::of(pairs(&[("q", "a"), ("q", "b")]), &["q"]).is_err());
        let bad = Query::of(pairs(&[("limit", "five")]), &["limit"]).unwrap();
        assert!(bad.value::<usize>("limit", "a number").is_err());
    }
}
