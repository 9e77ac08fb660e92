//! The durable store: the journal of every run, its history, and what else must outlive the worker, in redb.
//!
//! A fact counts once its transaction is committed, and nothing here answers before. There is one writer thread,
//! which commits in groups; reads see the last commit and never wait for a writer. Only this module knows redb, and it
//! knows nothing of how runs are executed: events go in and come out as they are.
//!
//! - `handle`: [`Store`], what the rest of the worker holds
//! - `writer`: the one thread that commits, and its bounded queue
//! - `shelf`: the open database behind a handle that can be swapped after an I/O error
//! - `hold`: the file behind the database; nothing is written to it before it is accepted
//! - `create`: making a new store whole or not at all
//! - `migrate`: the format version and what opens which
//! - `tables`, `keys`: where things are
//! - `journal`: (run, seq) → event
//! - `flows`: accepted versions, and what was begun with a flow's files
//! - `history`: one row a run, a cache of its journal; `run_text`: its searchable form; `query`: lists of runs
//! - `retention`: removing ended runs
//! - `care`: checking, repairing, compacting and exporting a store that no worker has open
//! - `plugins`: which plugins this machine trusts
//! - `claim`: what a run is admitted for, committed with it
//! - `webhooks`: triggers; `deliveries`: their accepted calls; `event_ids`: the events those named; `hooked`: the
//!   handle's part about them
//! - `schedules`: schedules, and what became of their occurrences
//! - `sessions`: browser sessions by digest
//! - `worker_id`: the name of this store's worker
//! - `error`: why something was not stored or not opened

mod care;
mod claim;
mod create;
mod deliveries;
mod error;
mod event_ids;
mod flows;
mod handle;
mod history;
mod hold;
mod hooked;
mod journal;
mod keys;
mod migrate;
mod plugins;
mod query;
mod retention;
mod run_text;
mod schedules;
mod sessions;
mod shelf;
mod tables;
mod webhooks;
mod worker_id;
mod writer;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use care::{CareError, Checked, check, compact, export, rebuild, set_aside};
pub(crate) use claim::{Admitted, Claim, DeliveryClaim, EventDigest};
pub(crate) use error::{OpenError, StoreError};
pub(crate) use event_ids::ClaimedEvent;
pub(crate) use flows::{AcceptedVersions, Tombstone};
pub(crate) use handle::Store;
pub(crate) use query::RunQuery;
pub(crate) use retention::Kept;
pub(crate) use schedules::{FireClaim, Origin, ScheduleRecord, Standing};
pub(crate) use sessions::SessionRecord;
pub(crate) use webhooks::{SecretDigest, TriggerRecord};
