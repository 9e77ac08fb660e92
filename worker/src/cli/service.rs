//! `weir service`: the worker as a systemd user service.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command as Program, Stdio};

use clap::{Args, Subcommand};

use super::connect::Worker;
use super::exit::{Exit, Stop};
use super::{Done, configuration, output};
use crate::config::{Config, Key};
use crate::service::{Activation, Units, WRITTEN_BY};

const SERVICE: &str = "weir.service";
const SOCKET: &str = "weir.socket";

/// Run the worker as a systemd user service
#[derive(Debug, Args)]
pub(super) struct Service {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write the user unit, for these directories and this PATH
    ///
    /// Steps of the service may write in the flow directory, the state directory and `files.roots`; the rest of the
    /// file system is read-only to them. Give `--writable` for more.
    Install(Install),
    /// Stop the service and remove its units
    Uninstall,
    /// Say whether it is installed and whether the worker answers
    Status,
}

#[derive(Debug, Args)]
struct Install {
    /// Directory of the flow files [default: flows]
    #[arg(long, value_name = "DIR")]
    flows: Option<PathBuf>,
    /// Directory for the store, the runs and the token [default: `$XDG_STATE_HOME/weir`]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Address to listen on [default: 127.0.0.1:9347]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// A further directory in which steps may write; again for each
    #[arg(long, value_name = "DIR")]
    writable: Vec<PathBuf>,
    /// Let systemd listen, and start the worker at the first request
    #[arg(long)]
    socket: bool,
    /// Start it now, and with every session from now on
    #[arg(long)]
    now: bool,
    /// Replace units that somebody else wrote
    #[arg(long)]
    force: bool,
}

impl Service {
    pub(super) fn execute(self) -> Done {
        match self.command {
            Command::Install(install) => install.execute(),
            Command::Uninstall => uninstall(),
            Command::Status => status(),
        }
    }
}

impl Install {
    fn execute(&self) -> Done {
        let path = |key, path: &Option<PathBuf>| path.as_ref().map(|path| (key, path.display().to_string()));
        let flags = [
            path(Key::Flows, &self.flows),
            path(Key::State, &self.state),
            self.listen.clone().map(|listen| (Key::Listen, listen)),
        ];
        let config = configuration(flags.into_iter().flatten().collect())?;
        if !config.listen.ip().is_loopback() {
            return Err(Stop::usage(&format!(
                "{} can be reached from elsewhere, and the API speaks plain HTTP: let the service listen on loopback, \
                 with a proxy that speaks TLS in front",
                config.listen
            )));
        }
        let units = self.units(&config)?;
        let directory = directory()?;
        let written = [(SERVICE, Some(units.service())), (SOCKET, units.socket())];
        if !self.force {
            for (name, _) in &written {
                refuse_foreign(&directory.join(name))?;
            }
        }
        // What the unit lets the worker write in has to be there when it starts.
        for needed in [&units.flows, &units.state, &directory] {
            fs::create_dir_all(needed).map_err(|error| failed(needed, &error))?;
        }
        for (name, text) in &written {
            let path = directory.join(name);
            match text {
                Some(text) => fs::write(&path, text).map_err(|error| failed(&path, &error))?,
                None => remove(&path)?,
            }
        }
        output::data(&format!("{}\n", directory.join(SERVICE).display()))?;
        let unit = if self.socket { SOCKET } else { SERVICE };
        if self.now {
            systemctl(&["daemon-reload"])?;
            systemctl(&["enable", "--now", unit])?;
        } else {
            output::tell(&format!(
                "to start it: systemctl --user daemon-reload && systemctl --user enable --now {unit}"
            ));
        }
        output::tell("to keep it running without a session: loginctl enable-linger");
        output::tell("to let it in again with your browser: weir open");
        Ok(Exit::Done)
    }

    fn units(&self, config: &Config) -> Result<Units, Stop> {
        let absolute = |path: &Path| std::path::absolute(path).map_err(|error| failed(path, &error));
        let named: Result<Vec<PathBuf>, Stop> = self.writable.iter().map(|path| absolute(path)).collect();
        Ok(Units {
            program: std::env::current_exe().map_err(|error| Stop::failed(&error))?,
            flows: absolute(&config.flows)?,
            state: absolute(&config.state)?,
            writable: config.file_roots.iter().cloned().chain(named?).collect(),
            listen: config.listen.to_string(),
            activation: if self.socket { Activation::Socket } else { Activation::Own },
            grace: config.shutdown_grace,
            path: std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned()),
        })
    }
}

fn uninstall() -> Done {
    let directory = directory()?;
    let installed: Vec<&str> = [SOCKET, SERVICE].into_iter().filter(|name| directory.join(name).exists()).collect();
    if installed.is_empty() {
        output::tell("it is not installed");
        return Ok(Exit::Done);
    }
    for name in &installed {
        refuse_foreign(&directory.join(name))?;
    }
    // The files go even when no manager can be asked: without them it starts nothing.
    if let Err(stop) = systemctl(&[&["disable", "--now"], installed.as_slice()].concat()) {
        output::tell(&stop.message);
    }
    for name in installed {
        remove(&directory.join(name))?;
    }
    if let Err(stop) = systemctl(&["daemon-reload"]) {
        output::tell(&stop.message);
    }
    output::tell("removed; flows and state are where they were");
    Ok(Exit::Done)
}

fn status() -> Done {
    let path = directory()?.join(SERVICE);
    let unit = match fs::read_to_string(&path) {
        Ok(text) if text.starts_with(WRITTEN_BY) => format!("installed: {}", path.display()),
        Ok(_) => format!("installed by somebody else: {}", path.display()),
        Err(_) => "not installed".to_owned(),
    };
    let answers = Worker::running(&configuration(Vec::new())?)?;
    let worker = answers.as_ref().map_or_else(|| "no worker answers".to_owned(), |worker| worker.url("/"));
    output::data(&format!("{unit}\n{worker}\n"))?;
    Ok(if answers.is_some() { Exit::Done } else { Exit::Failed })
}

/// Where user units are.
fn directory() -> Result<PathBuf, Stop> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    base.map(|base| base.join("systemd/user"))
        .ok_or_else(|| Stop::usage(&"HOME is not set, so there is no place for units"))
}

fn refuse_foreign(path: &Path) -> Result<(), Stop> {
    match fs::read_to_string(path) {
        Ok(text) if !text.starts_with(WRITTEN_BY) => Err(Stop::usage(&format!(
            "{} was not written by `weir service install`; move it away, or give --force to `install`",
            path.display()
        ))),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed(path, &error)),
    }
}

fn remove(path: &Path) -> Result<(), Stop> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(path, &error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn systemctl(arguments: &[&str]) -> Result<(), Stop> {
    let said = Program::new("systemctl").arg("--user").args(arguments).stdin(Stdio::null()).output();
    let said = said.map_err(|error| Stop::failed(&format!("systemctl: {error}")))?;
    if said.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&said.stderr);
    Err(Stop::failed(&format!("systemctl --user {}: {}", arguments.join(" "), reason.trim())))
}

fn failed(path: &Path, error: &io::Error) -> Stop {
    Stop::failed(&format!("{}: {error}", path.display()))
}
