//! Committed events and live output to subscribers; lag means "read the journal".
