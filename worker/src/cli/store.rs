//! `weir store`: look after the store of a worker that is not running.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::exit::{Exit, Stop};
use super::{Done, Place, output};
use crate::clock::Clock;
use crate::state_dir::{StateDirectory, StateLock};
use crate::store::{self, CareError, Checked, OpenError};

/// Check, compact or export the store; the worker must not be running
#[derive(Debug, Args)]
pub(super) struct Store {
    #[command(subcommand)]
    care: Care,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Subcommand)]
enum Care {
    /// Read all of the store and report what is wrong; ends with 1 when something is
    Check {
        /// Mend what can be mended, and set a store that cannot be opened aside
        #[arg(long)]
        repair: bool,
    },
    /// Give space that pruned runs left in the store's file back to the file system
    Compact,
    /// Write all runs and their events as JSON lines, with their values as they are stored: unmasked
    Export {
        /// Write to this new file instead of standard output
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
}

impl Store {
    pub(super) fn execute(self) -> Done {
        let state = self.place.config()?.state;
        let path = state.join("weir.redb");
        if !path.exists() {
            return Err(Stop::usage(&format!("there is no store at {}", path.display())));
        }
        let _lock: StateLock = StateDirectory::at(state.clone()).take().map_err(|error| Stop::usage(&error))?;
        match self.care {
            Care::Check { repair: false } => check(&path),
            Care::Check { repair: true } => repair(&path, &state.join("runs")),
            Care::Compact => compact(&path),
            Care::Export { to } => export(&path, to.as_deref()),
        }
    }
}

fn check(path: &Path) -> Done {
    match store::check(path) {
        Ok(checked) => {
            report(&checked)?;
            if checked.is_sound() {
                return Ok(Exit::Done);
            }
            output::tell("`weir store check --repair` mends what can be told from the journals");
            Ok(Exit::Failed)
        }
        Err(CareError::Open(error @ OpenError::Damaged { .. })) => {
            output::tell(&format!("{error}"));
            output::tell(
                "`weir store check --repair` sets it aside, with the output of its runs, for a new one to begin",
            );
            Ok(Exit::Failed)
        }
        Err(error) => Err(Stop::failed(&error)),
    }
}

fn repair(path: &Path, runs: &Path) -> Done {
    match store::check(path) {
        Ok(checked) => {
            report(&checked)?;
            if checked.is_sound() {
                return Ok(Exit::Done);
            }
            store::rebuild(path, &checked).map_err(|error| Stop::failed(&error))?;
            let left = store::check(path).map_err(|error| Stop::failed(&error))?;
            if left.is_sound() {
                output::tell("mended");
                return Ok(Exit::Done);
            }
            output::tell(&format!(
                "{} runs have a journal that nothing can mend; delete them by id",
                left.broken.len()
            ));
            Ok(Exit::Failed)
        }
        Err(CareError::Open(error @ OpenError::Damaged { .. })) => {
            output::tell(&format!("{error}"));
            let moved = store::set_aside(path, runs, Clock::system().now()).map_err(|error| Stop::failed(&error))?;
            for name in moved {
                output::tell(&format!("set aside as {}", name.display()));
            }
            Ok(Exit::Done)
        }
        Err(error) => Err(Stop::failed(&error)),
    }
}

fn report(checked: &Checked) -> Result<(), Stop> {
    let mut text = format!("{} runs, {} events\n", checked.runs, checked.events);
    if checked.pages_differ {
        text.push_str("the pages of the file do not add up\n");
    }
    for (run, fault) in checked.stale.iter().chain(&checked.broken) {
        text.extend(["run ", run.as_str(), ": ", fault, "\n"]);
    }
    output::data(&text)
}

fn compact(path: &Path) -> Done {
    let (before, after) = store::compact(path).map_err(|error| Stop::failed(&error))?;
    output::data(&format!("{before} bytes before, {after} after\n"))?;
    Ok(Exit::Done)
}

fn export(path: &Path, to: Option<&Path>) -> Done {
    let write = |out: &mut dyn Write| -> Result<(), CareError> {
        let mut out = BufWriter::new(out);
        store::export(path, &mut out)?;
        Ok(out.flush()?)
    };
    let written = match to {
        // New only: an earlier export is not written over by a mistyped name.
        Some(to) => File::create_new(to).map_err(CareError::from).and_then(|mut file| {
            write(&mut file)?;
            Ok(file.sync_all()?)
        }),
        None => write(&mut io::stdout().lock()),
    };
    match written {
        Ok(()) => Ok(Exit::Done),
        Err(CareError::Write(error)) if to.is_none() && error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(error) => Err(Stop::failed(&error)),
    }
}
