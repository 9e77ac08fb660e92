//! `weir`: a flow worker for one Linux machine. One process watches a directory of flows, runs them and serves the
//! API and the page. `cli` is the way in; `daemon` puts the parts together; ARCHITECTURE.md draws the map.

mod access;
mod api;
mod assets;
mod cli;
mod clock;
mod config;
mod daemon;
mod engine;
mod feed;
mod guard;
mod intake;
mod library;
mod live;
mod parts;
mod patience;
mod process;
mod published;
mod queue;
mod reload;
mod retention;
mod run_dir;
mod run_request;
mod secret;
mod service;
mod shutdown;
mod signals;
mod state_dir;
mod store;
mod task;
mod token_file;
mod tool;
mod trust;
mod watching;

fn main() -> std::process::ExitCode {
    cli::main()
}
