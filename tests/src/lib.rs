//! The harness of the end-to-end tests: everything is real and nothing is shared.
//!
//! A test starts its own [`worker::Worker`]: the program `weir` on a free port, in a temporary directory with its own
//! HOME, flows and state. It talks to it through [`client::Client`], follows runs with [`stream::Stream`], and looks
//! at what the system shows ([`processes`]). Nothing here sleeps for a guessed time: a test waits for an event of a
//! stream, or for a fact with [`wait::until`], and fails when it does not come. What a worker started is gone when
//! its test ends, however it ends.

pub mod client;
pub mod command_line;
pub mod crowd;
pub mod flows;
pub mod processes;
pub mod program;
pub mod small_disk;
pub mod stream;
pub mod wait;
pub mod worker;
