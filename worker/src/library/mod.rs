//! The flow library: what is on disk, checked, and how it is saved.
