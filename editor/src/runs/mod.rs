//! Runs: how they are watched, answered, stopped, started and listed.
//!
//! - `words`: what statuses, causes and reasons are called (pure)
//! - `capture`: the output of one attempt, put together from pieces (pure)
//! - `fold`: a run's stream, folded by the same `reduce` as the worker's (pure)
//! - `timeline`: the steps as rows with their bars (pure)
//! - `view`: the fold as signals, fed by the stream
//! - `panel`, `steps`, `detail`, `gate`: one run, drawn; `dialog`: starting one; `list`, `page`: the pages

pub mod capture;
pub mod fold;
pub mod timeline;
pub mod words;

#[cfg(target_arch = "wasm32")]
mod detail;
#[cfg(target_arch = "wasm32")]
pub(crate) mod dialog;
#[cfg(target_arch = "wasm32")]
mod gate;
#[cfg(target_arch = "wasm32")]
mod list;
#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(target_arch = "wasm32")]
pub(crate) mod panel;
#[cfg(target_arch = "wasm32")]
mod steps;
#[cfg(target_arch = "wasm32")]
pub(crate) mod view;

#[cfg(target_arch = "wasm32")]
pub(crate) use list::RunsPage;
#[cfg(target_arch = "wasm32")]
pub(crate) use page::RunPage;
