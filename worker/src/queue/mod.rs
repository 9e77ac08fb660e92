//! Admission of runs: bounds and order.
//!
//! - `admission`: may another body enter, and does it start or wait; pure
//! - `line`: who of those that wait is next; pure
//! - `capacity`: what runs and waits, as the API shows it
//! - `pump`: the queue itself: places that are granted, parked and given back
//!
//! Every run holds a [`pump::Place`] from its admission to its end; dropping it, also in a panic, frees it.

pub(crate) mod admission;
mod capacity;
mod line;
pub(crate) mod pump;
