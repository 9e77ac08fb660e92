//! Browser sessions, by the digest of their cookie: the cookie itself is never stored.

use redb::ReadTransaction;
use serde::{Deserialize, Serialize};
use weir_shared::ids::Timestamp;

use super::error::StoreError;
use super::tables::{self, OpenTables, SESSIONS};
use crate::access::token::OpenedBy;

/// SHA-256 of a session's cookie.
pub(crate) type SessionDigest = [u8; 32];

/// What a session stands on, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionRecord {
    pub(crate) opened_by: OpenedBy,
    /// From this moment on it is as if it were not there.
    pub(crate) expires_at: Timestamp,
}

/// Stores a session and drops those that expired before `now`.
pub(super) fn put(
    tables: &mut OpenTables<'_>,
    digest: &SessionDigest,
    session: &SessionRecord,
    now: Timestamp,
) -> Result<(), StoreError> {
    // One that cannot be read opens nothing: it goes with the expired ones.
    let lives =
        |json: &[u8]| serde_json::from_slice::<SessionRecord>(json).is_ok_and(|session| session.expires_at > now);
    tables.sessions.retain(|_, json| lives(json))?;
    let json = serde_json::to_vec(session).map_err(|error| StoreError::Io { reason: error.to_string() })?;
    tables.sessions.insert(digest, json.as_slice())?;
    Ok(())
}

/// Ends a session.
pub(super) fn remove(tables: &mut OpenTables<'_>, digest: &SessionDigest) -> Result<(), StoreError> {
    tables.sessions.remove(digest)?;
    Ok(())
}

/// The session of this digest, unless it has expired.
pub(super) fn get(
    transaction: &ReadTransaction,
    digest: &SessionDigest,
    now: Timestamp,
) -> Result<Option<SessionRecord>, StoreError> {
    let Some(sessions) = tables::readable(transaction, SESSIONS)? else { return Ok(None) };
    let Some(json) = sessions.get(digest)? else { return Ok(None) };
    // One of an older worker, which knew no named tokens, says not whose it is: it opens nothing.
    let Ok(session) = serde_json::from_slice::<SessionRecord>(json.value()) else { return Ok(None) };
    Ok((session.expires_at > now).then_some(session))
}
