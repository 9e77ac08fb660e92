//! Lists of runs: newest first, filtered, searched, a page at a time.
//!
//! A list with a filter reads only the narrow table until its page is full, and the rows of that page.

use redb::ReadTransaction;
use weir_shared::ids::{FlowId, Owner, RunId};
use weir_shared::run::event::Cause;
use weir_shared::run::state::RunStatus;
use weir_shared::wire::{RunPage, RunRow};

use super::error::StoreError;
use super::history;
use super::keys::{self, RunKey};
use super::run_text::{self, Wanted};
use super::tables::{self, FLOW_RUNS, ROWS, RUN_TEXT};

/// Which runs a list holds.
#[derive(Debug, Clone)]
pub(crate) struct RunQuery {
    /// Whose; `None`: everybody's.
    pub(crate) owner: Option<Owner>,
    /// Found in goal, summary or error, in any case.
    pub(crate) q: Option<String>,
    pub(crate) status: Option<RunStatus>,
    pub(crate) flow: Option<FlowId>,
    pub(crate) cause: Option<Cause>,
    /// Rows of a page.
    pub(crate) limit: usize,
    /// Only runs older than this one.
    pub(crate) before: Option<RunId>,
}

impl RunQuery {
    /// Rows of a page when the caller does not say.
    pub(crate) const LIMIT: usize = 50;
    /// Rows of a page at most.
    pub(crate) const MOST: usize = 500;
}

impl Default for RunQuery {
    fn default() -> Self {
        Self { owner: None, q: None, status: None, flow: None, cause: None, limit: Self::LIMIT, before: None }
    }
}

/// The page that a query asks for.
pub(super) fn page(transaction: &ReadTransaction, query: &RunQuery) -> Result<RunPage, StoreError> {
    let mut page = RunPage { runs: Vec::new(), next: None };
    let (Some(rows), Some(texts)) = (tables::readable(transaction, ROWS)?, tables::readable(transaction, RUN_TEXT)?)
    else {
        return Ok(page);
    };
    let wanted = wanted(query);
    let before = query.before.as_ref().map(keys::run_key);
    let mut take = |run: &RunKey, text: &[u8]| -> Result<Go, StoreError> {
        let matches = wanted.matches(text).ok_or_else(|| StoreError::Damaged {
            reason: format!("the search text of run {} is malformed", uuid::Uuid::from_bytes(*run)),
        })?;
        if !matches {
            return Ok(Go::On);
        }
        if page.runs.len() == query.limit {
            page.next = page.runs.last().map(|row: &RunRow| row.run_id.to_string());
            return Ok(Go::Stop);
        }
        if let Some(json) = rows.get(run)? {
            page.runs.push(history::decode(run, json.value())?);
        }
        Ok(Go::On)
    };

    if let Some(flow) = &query.flow {
        let Some(by_flow) = tables::readable(transaction, FLOW_RUNS)? else { return Ok(page) };
        let first = keys::flow_run_key(flow, &[0; 16]);
        let end = keys::flow_run_key(flow, &before.unwrap_or([255; 16]));
        for entry in by_flow.range::<&[u8]>(first.as_slice()..end.as_slice())?.rev() {
            let (key, _) = entry?;
            let (_, run) = keys::flow_and_run(key.value())?;
            let Some(text) = texts.get(&run)? else { continue };
            if let Go::Stop = take(&run, text.value())? {
                break;
            }
        }
    } else {
        let end = before.unwrap_or([255; 16]);
        for entry in texts.range::<&[u8; 16]>(..&end)?.rev() {
            let (key, text) = entry?;
            if let Go::Stop = take(key.value(), text.value())? {
                break;
            }
        }
    }
    Ok(page)
}

/// Whether a list goes on after a run.
enum Go {
    On,
    Stop,
}

fn wanted(query: &RunQuery) -> Wanted {
    Wanted {
        status: query.status.map(run_text::status_code),
        cause: query.cause.map(run_text::cause_code),
        owner: query.owner.as_ref().map(|owner| Wanted::owner_bytes(&owner.0)),
        flow: query.flow.as_ref().map(|flow| flow.as_str().as_bytes().to_vec()),
        text: query.q.as_deref().and_then(Wanted::text_in_any_case),
    }
}
