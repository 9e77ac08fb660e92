//! This machine's secrets: where they come from, and how they stay out of all that is kept and sent.
//!
//! A flow names a secret (`{{secrets.NAME}}`); its value is put in for one call, by `shared::reference::fill_args`, and
//! is in no event, no answer and no log.
//!
//! - `sources`: credentials of systemd, `secrets.toml`, `WEIR_SECRET_<NAME>`
//! - `mask`: values and their encodings replaced in bytes, texts and JSON, across the edges of pieces
//! - `log`: the same for what is logged

mod log;
mod mask;
mod sources;

pub(crate) use log::{MaskedLog, hide_in_log, masked_for_log};
pub(crate) use mask::{Masked, Masker};
pub(crate) use sources::{SecretError, SecretSources, Secrets};
