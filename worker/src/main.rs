//! `weir`: a flow worker for one Linux machine. One process watches a directory of flows, runs them and serves the
//! API and the page. `cli` is the way in; `daemon` puts the parts together; ARCHITECTURE.md draws the map.

mod access;
mod api;
mod assets;
mod cli;
mod clock;
mod config;
mod daemon;
#[expect(dead_code, unused_imports, reason = "what webhooks are let in by, which uses it, comes next")]
mod engine;
mod feed;
mod guard;
mod library;
mod parts;
mod patience;
mod process;
mod queue;
mod retention;
mod run_dir;
mod run_request;
mod secret;
mod shutdown;
mod state_dir;
#[expect(dead_code, unused_imports, reason = "what webhooks are let in by, which uses it, comes next")]
mod store;
mod task;
mod tool;
mod trust;
mod watching;

fn main() -> std::process::ExitCode {
    cli::main()
}
