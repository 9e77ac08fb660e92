//! `weir config show`: every setting, its value, and where the value comes from.

use clap::{Args, Subcommand};

use super::exit::{Exit, Stop};
use super::{Done, output};
use crate::config::{Config, Sources};

/// Look at the configuration
#[derive(Debug, Args)]
pub(super) struct Configuration {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print every setting, its value, and where it comes from
    Show {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
}

impl Configuration {
    pub(super) fn execute(self) -> Done {
        let Command::Show { json } = self.command;
        let sources = Sources::read(Vec::new()).map_err(|error| Stop::usage(&error))?;
        let config = Config::of(&sources).map_err(|error| Stop::usage(&error))?;
        let settings = config.shown(&sources);
        if json {
            output::data(&output::json_line(&settings)?)?;
            return Ok(Exit::Done);
        }
        let rows: Vec<[String; 3]> =
            settings.into_iter().map(|setting| [setting.name.to_owned(), setting.value, setting.origin]).collect();
        output::data(&output::table(["SETTING", "VALUE", "FROM"], &rows))?;
        Ok(Exit::Done)
    }
}
