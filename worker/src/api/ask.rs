//! What routes take from a request: the pieces that every resource uses.

use serde::de::DeserializeOwned;
use weir_shared::ids::{Owner, RunId};

use super::Api;
use super::problem::ApiError;
use crate::access::scope::{Caller, Scope};

/// A body as the JSON object that is wanted. Nesting is bounded by the reader.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    let malformed = |message: String| ApiError::Malformed { code: "bad_body", message };
    // A list would otherwise be taken for the fields of an object, in the order they are declared in.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(malformed("the body is no JSON object".to_owned()));
    }
    serde_json::from_slice(body).map_err(|error| malformed(format!("the body cannot be read: {error}")))
}

/// The same for a body that may be left out.
pub(super) fn read_or_default<T: DeserializeOwned + Default>(body: &[u8]) -> Result<T, ApiError> {
    if body.trim_ascii().is_empty() { Ok(T::default()) } else { read(body) }
}

/// Refuses a caller whose scope is too narrow.
pub(super) fn require(caller: &Caller, scope: Scope) -> Result<(), ApiError> {
    if caller.may(scope) { Ok(()) } else { Err(ApiError::Scope { needs: scope }) }
}

/// The run of this id, if this caller may see it. Another's looks like it does not exist.
pub(super) fn visible_run(api: &Api, caller: &Caller, id: &str) -> Result<RunId, ApiError> {
    let unknown = || ApiError::Unknown { what: format!("run `{id}`") };
    let run: RunId = id.parse().map_err(|_| unknown())?;
    let row = api.store.run(&run)?.ok_or_else(unknown)?;
    if caller.sees(&Owner(row.owner)) { Ok(run) } else { Err(unknown()) }
}
