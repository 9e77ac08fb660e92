//! Runs: one driver a run.
