//! Configuration: file, then environment, then flags.
