//! Admission of runs: bounds and order.
