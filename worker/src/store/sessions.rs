//! Browser sessions, by the digest of their cookie: the cookie itself is never stored.

use redb::ReadTransaction;
use serde::{Deserialize, Serialize};
use weir_shared::flow::PermissionMode;
use weir_shared::ids::{Owner, Timestamp};

use super::error::StoreError;
use super::tables::{self, OpenTables, SESSIONS};

/// SHA-256 of a session's cookie.
pub(crate) type SessionDigest = [u8; 32];

/// What a session stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionRecord {
    pub(crate) owner: Owner,
    /// `read`, `run` or `admin`; the store does not judge it.
    pub(crate) scope: String,
    /// The most that a run started through it may do without asking.
    pub(crate) permission_mode: PermissionMode,
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
    let session: SessionRecord = serde_json::from_slice(json.value())
        .map_err(|error| StoreError::Damaged { reason: format!("a session cannot be read: {error}") })?;
    Ok((session.expires_at > now).then_some(session))
}
