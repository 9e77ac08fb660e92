//! `weir trust`: what plugins there are, and letting one run on this machine.

use std::path::PathBuf;

use clap::Args;
use weir_shared::finding::Severity;
use weir_shared::wire::{PluginEffects, PluginView, TrustPlugin};

use super::connect::Worker;
use super::decisions::Decisions;
use super::exit::{Exit, Stop};
use super::{Done, configuration, gate, output};
use crate::config::{Config, Key};
use crate::tool::plugin::{Homes, as_they_stand};

/// List plugins, or trust one on this machine
///
/// A plugin offers nothing until its folder, as it is, is trusted here; a changed folder is untrusted again. Without a
/// name the plugins of the flow directory and of the user are listed. Through the worker when one runs, else by itself.
#[derive(Debug, Args)]
pub(super) struct Trust {
    /// The plugin to trust: its id
    plugin: Option<String>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Trust only a folder with this digest
    #[arg(long, value_name = "SHA256")]
    digest: Option<String>,
    /// Let its tools count as what they declare; else each counts as a command at least, and is asked about
    #[arg(long)]
    declared_effects: bool,
    /// Print what there is as JSON
    #[arg(long)]
    json: bool,
    /// Directory of the flow files [default: flows]
    #[arg(long, value_name = "DIR")]
    flows: Option<PathBuf>,
    /// State directory of the worker [default: `$XDG_STATE_HOME/weir`]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

/// Where plugins are seen and decided about.
enum Door {
    Worker(Worker),
    Alone(Decisions),
}

impl Trust {
    pub(super) fn execute(self) -> Done {
        let path = |key, path: &Option<PathBuf>| path.as_ref().map(|path| (key, path.display().to_string()));
        let flags = [path(Key::Flows, &self.flows), path(Key::State, &self.state)];
        let config = configuration(flags.into_iter().flatten().collect())?;
        let door = match Worker::running(&config)? {
            Some(worker) => Door::Worker(worker),
            None => Door::Alone(Decisions::open(&config)?),
        };
        let plugins = door.list(&config)?;
        let Some(id) = &self.plugin else { return self.show(&plugins) };
        let plugin = plugins.iter().find(|plugin| plugin.id == *id).ok_or_else(|| {
            let known: Vec<_> = plugins.iter().map(|plugin| plugin.id.as_str()).collect();
            Stop::usage(&format!("there is no plugin `{id}`; there are: {}", known.join(", ")))
        })?;
        output::tell(&described(plugin));
        let digest = self.looked_at(plugin)?;
        if !self.yes {
            if !gate::somebody_is_there() {
                return Err(Stop::usage(&"nobody can be asked; give --yes once you have looked at its files"));
            }
            if gate::ask(&format!("trust the plugin `{id}` as it is?")) != gate::Said::Yes {
                return Ok(Exit::Failed);
            }
        }
        let effects = if self.declared_effects { PluginEffects::Declared } else { PluginEffects::Command };
        door.trust(id, TrustPlugin { digest, effects })?;
        output::tell(&format!("trusted: {id}"));
        Ok(Exit::Done)
    }

    /// The digest of the folder, if it can be trusted and is the one that was named.
    fn looked_at(&self, plugin: &PluginView) -> Result<String, Stop> {
        if plugin.findings.iter().any(|finding| finding.severity == Severity::Error) {
            return Err(Stop {
                exit: Exit::Findings,
                message: format!("`{}` has errors and offers nothing", plugin.id),
            });
        }
        let digest = plugin.digest.clone().unwrap_or_default();
        match &self.digest {
            Some(named) if *named != digest => {
                Err(Stop::usage(&format!("the folder's digest is {digest}, not the one that was given")))
            }
            Some(_) | None => Ok(digest),
        }
    }

    fn show(&self, plugins: &[PluginView]) -> Done {
        if self.json {
            output::data(&output::json_line(&plugins)?)?;
            return Ok(Exit::Done);
        }
        let rows: Vec<[String; 5]> = plugins.iter().map(row).collect();
        output::data(&output::table(["PLUGIN", "VERSION", "STATE", "TOOLS", "FOLDER"], &rows))?;
        Ok(Exit::Done)
    }
}

impl Door {
    fn list(&self, config: &Config) -> Result<Vec<PluginView>, Stop> {
        match self {
            Door::Worker(worker) => Ok(worker.get("/api/plugins")?),
            Door::Alone(decisions) => {
                let flows = std::path::absolute(&config.flows).map_err(|error| Stop::failed(&error))?;
                let homes = Homes::of(&flows, config.user_plugins.as_deref());
                Ok(as_they_stand(&homes, &decisions.records()?).0)
            }
        }
    }

    fn trust(&self, id: &str, asked: TrustPlugin) -> Result<(), Stop> {
        match self {
            Door::Worker(worker) => {
                let _now: PluginView = worker.post(&format!("/api/plugins/{id}/trust"), &asked)?;
                Ok(())
            }
            Door::Alone(decisions) => decisions.trust(id, asked),
        }
    }
}

fn state(plugin: &PluginView) -> &'static str {
    let broken = plugin.findings.iter().any(|finding| finding.severity == Severity::Error);
    match (broken, plugin.enabled, plugin.trusted) {
        (true, _, _) => "broken",
        (false, false, _) => "disabled",
        (false, true, true) => "trusted",
        (false, true, false) => "not trusted",
    }
}

fn row(plugin: &PluginView) -> [String; 5] {
    [
        plugin.id.clone(),
        plugin.version.clone(),
        state(plugin).to_owned(),
        plugin.tools.join(", "),
        plugin.folder.clone(),
    ]
}

/// All that a person should see before they trust it.
fn described(plugin: &PluginView) -> String {
    let head = format!(
        "{} {} ({}), {}\ndigest {}\ntools: {}",
        plugin.name,
        plugin.version,
        plugin.folder,
        state(plugin),
        plugin.digest.as_deref().unwrap_or("none"),
        plugin.tools.join(", ")
    );
    let files = plugin.files.iter().map(|file| {
        let runs = if file.executable { ", executable" } else { "" };
        format!("  {} ({} bytes{runs})", file.path, file.bytes)
    });
    let findings =
        plugin.findings.iter().map(|finding| format!("  {}: {} [{}]", finding.path, finding.message, finding.code));
    std::iter::once(head).chain(files).chain(findings).collect::<Vec<_>>().join("\n")
}
