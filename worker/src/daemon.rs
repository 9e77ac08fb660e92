//! The composition root: start and stop order of the parts as one list.
