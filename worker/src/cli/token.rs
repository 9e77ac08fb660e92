//! `weir token`: the named tokens of `tokens.toml`, for programs and people who may do less than you.

use clap::{Args, Subcommand, ValueEnum};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use weir_shared::flow::PermissionMode;

use super::connect::Worker;
use super::exit::{Exit, Stop};
use super::{Done, Place, output};
use crate::access::named::NamedToken;
use crate::access::scope::Scope;
use crate::access::token::{SECRET_BYTES, Token};
use crate::config::Config;
use crate::state_dir::StateDirectory;
use crate::token_file::TokenFile;

/// Make, list and remove tokens that open less than the worker's own
#[derive(Debug, Args)]
pub(super) struct Tokens {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a token and print it, once: only its digest is kept
    New {
        /// What to call it: `laptop`, `ci`
        name: String,
        /// Whose everything is that is started with it [default: the name]
        #[arg(long)]
        owner: Option<String>,
        /// What it opens
        #[arg(long, value_enum, default_value_t = Scope::Run)]
        scope: Scope,
        /// The widest permission mode of a run that it starts
        #[arg(long, value_enum, value_name = "MODE", default_value_t = Mode::AskForApproval)]
        max_permission_mode: Mode,
    },
    /// List the tokens
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a token, and with it every session that it opened
    Remove {
        /// Its name
        name: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Mode {
    AskForApproval,
    ApproveForMe,
    FullAccess,
}

impl From<Mode> for PermissionMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::AskForApproval => Self::AskForApproval,
            Mode::ApproveForMe => Self::ApproveForMe,
            Mode::FullAccess => Self::FullAccess,
        }
    }
}

impl Tokens {
    pub(super) fn execute(self) -> Done {
        let config = self.place.config()?;
        let path = config.tokens.clone();
        let path = path.ok_or_else(|| Stop::usage(&"neither XDG_CONFIG_HOME nor HOME says where tokens.toml is"))?;
        let file = TokenFile::at(path);
        match self.command {
            Command::New { name, owner, scope, max_permission_mode } => {
                let mut random = [0; SECRET_BYTES];
                getrandom::fill(&mut random).map_err(|error| Stop::failed(&error))?;
                let token = Token::of(&random);
                let owner = owner.unwrap_or_else(|| name.clone());
                let entry = NamedToken::of(token.reveal(), name, owner, (scope, max_permission_mode.into()));
                file.add(&entry).map_err(|error| Stop::usage(&error))?;
                output::data(&format!("{}\n", token.reveal()))?;
                output::tell(&format!("keep it: {} has only its digest", file.path().display()));
                tell_worker(&config)
            }
            Command::List { json } => list(&file, json),
            Command::Remove { name } => {
                file.remove(&name).map_err(|error| Stop::usage(&error))?;
                tell_worker(&config)
            }
        }
    }
}

fn list(file: &TokenFile, json: bool) -> Done {
    let tokens = file.read().map_err(|error| Stop::usage(&error))?;
    if json {
        output::data(&output::json_line(&tokens.iter().collect::<Vec<_>>())?)?;
        return Ok(Exit::Done);
    }
    let row = |token: &NamedToken| {
        let mode = token.max_permission_mode.as_str();
        [token.name.clone(), token.owner.clone(), token.scope.as_str().to_owned(), mode.to_owned()]
    };
    let rows: Vec<[String; 4]> = tokens.iter().map(row).collect();
    output::data(&output::table(["TOKEN", "OWNER", "SCOPE", "UP TO"], &rows))?;
    Ok(Exit::Done)
}

/// Lets a running worker read the file again.
fn tell_worker(config: &Config) -> Done {
    if Worker::running(config)?.is_some() {
        let card = StateDirectory::at(config.state.clone()).worker().map_err(|error| Stop::usage(&error))?;
        let pid = i32::try_from(card.pid).map_err(|error| Stop::failed(&error))?;
        kill(Pid::from_raw(pid), Signal::SIGHUP).map_err(|error| {
            Stop::failed(&format!("the worker (pid {pid}) was not told: {error}; send it SIGHUP, or start it again"))
        })?;
    }
    Ok(Exit::Done)
}
