//! The command line: one command a file.
//!
//! Standard output is data, standard error is talk; a reader that goes away is a success. What a command does with a
//! worker it does over the API, like any other caller.

mod alone;
mod approve;
mod cancel;
mod check;
mod config;
mod connect;
mod decisions;
mod events;
mod exit;
mod flow_files;
mod fmt;
mod gate;
mod list;
mod log;
mod logs;
mod open;
mod output;
mod progress;
mod publish;
mod run;
mod run_inputs;
mod runs;
mod schedule;
mod schema;
mod serve;
mod service;
mod shell;
mod store;
mod telling;
mod token;
mod trust;
mod webhook;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::config::{Config, Key, Sources};
use exit::{Exit, Stop};

/// A flow worker for one Linux machine: flows are files, steps are processes, runs are journals.
#[derive(Debug, Parser)]
#[command(name = "weir", version, disable_help_subcommand = true, after_help = EXIT_CODES)]
struct Weir {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong use or no worker, 3 refused by findings, \
4 a gate waits and nobody can be asked, 130 cancelled.";

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Run(run::Run),
    Publish(publish::Publish),
    Check(check::Check),
    Fmt(fmt::Fmt),
    List(list::List),
    Runs(runs::Runs),
    Cancel(cancel::Cancel),
    Approve(approve::Approve),
    Store(store::Store),
    Logs(logs::Logs),
    Trust(trust::Trust),
    Service(service::Service),
    Token(token::Tokens),
    Webhook(webhook::Webhook),
    Open(open::Open),
    Schedule(schedule::Schedule),
    Schema(schema::Schema),
    Config(config::Configuration),
    Completions(shell::Completions),
    /// Print the manual page
    ///
    /// To read it: weir man | man -l -
    Man,
}

/// Where a command finds the worker.
#[derive(Debug, Args)]
struct Place {
    /// State directory of the worker [default: `$XDG_STATE_HOME/weir`]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

impl Place {
    fn config(&self) -> Result<Config, Stop> {
        configuration(self.state.iter().map(|state| (Key::State, state.display().to_string())).collect())
    }
}

/// The configuration with these flags over it.
fn configuration(flags: Vec<(Key, String)>) -> Result<Config, Stop> {
    Sources::read(flags).and_then(|sources| Config::of(&sources)).map_err(|error| Stop::usage(&error))
}

/// Runs the command that the process was started with.
pub(crate) fn main() -> ExitCode {
    let done = match Weir::parse().command {
        Command::Serve(serve) => serve.execute(),
        Command::Run(run) => run.execute(),
        Command::Publish(publish) => publish.execute(),
        Command::Check(check) => check.execute(),
        Command::Fmt(fmt) => fmt.execute(),
        Command::List(list) => list.execute(),
        Command::Runs(runs) => runs.execute(),
        Command::Cancel(cancel) => cancel.execute(),
        Command::Approve(approve) => approve.execute(),
        Command::Store(store) => store.execute(),
        Command::Logs(logs) => logs.execute(),
        Command::Trust(trust) => trust.execute(),
        Command::Service(service) => service.execute(),
        Command::Token(tokens) => tokens.execute(),
        Command::Webhook(webhook) => webhook.execute(),
        Command::Open(open) => open.execute(),
        Command::Schedule(schedule) => schedule.execute(),
        Command::Schema(schema) => schema.execute(),
        Command::Config(config) => config.execute(),
        Command::Completions(completions) => completions.execute(),
        Command::Man => shell::man(),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(Stop { exit, message }) => {
            output::tell(&format!("weir: {message}"));
            exit.into()
        }
    }
}

/// A command that ends well.
type Done = Result<Exit, Stop>;

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Weir::command().debug_assert();
    }
}
