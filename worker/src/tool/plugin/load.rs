//! The two homes of plugins, to plugins: what each folder holds, how it stands, and what is wrong with it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir_shared::finding::Severity;
use weir_shared::tool::{Effect, ToolDeclaration};
use weir_shared::wire::{PluginEffects, PluginFile, PluginFinding, PluginSource, PluginView};

use super::folder::{self, Marks};
use super::manifest::{self, Ground, Manifest, ProcessLimits, RunSpec};
use crate::trust::{PluginRecord, Standing};

/// Where plugins live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Homes {
    places: Vec<(PluginSource, PathBuf)>,
}

impl Homes {
    /// The home beside these flows, and the user's where there is one.
    pub(crate) fn of(flows: &Path, user: Option<&Path>) -> Self {
        let mut places = vec![(PluginSource::Flows, flows.join("plugins"))];
        places.extend(user.map(|user| (PluginSource::User, user.to_owned())));
        Self { places }
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.places.iter().map(|(_, path)| path.as_path())
    }

    /// Every folder that could be a plugin. A home that is not there, or cannot be read, has none.
    fn folders(&self) -> Vec<(PluginSource, PathBuf)> {
        let mut folders = Vec::new();
        for (source, home) in &self.places {
            let Ok(entries) = fs::read_dir(home) else { continue };
            for entry in entries.flatten() {
                let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                // A link to a folder elsewhere is fine: trust is in what it holds, wherever it is.
                if !hidden && entry.path().is_dir() {
                    folders.push((*source, entry.path()));
                }
            }
        }
        folders.sort();
        folders
    }
}

/// A folder as it was read.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    pub(super) source: PluginSource,
    pub(super) path: PathBuf,
    pub(super) id: String,
    pub(super) digest: Option<String>,
    files: Vec<PluginFile>,
    manifest: Manifest,
    /// Of the folder alone.
    findings: Vec<PluginFinding>,
    marks: Option<Marks>,
}

/// A tool of a plugin, ready to be offered.
#[derive(Debug, Clone)]
pub(crate) struct PluginTool {
    /// With its trust, and what it counts as.
    pub(crate) declaration: ToolDeclaration,
    pub(super) plugin: Arc<PluginPlace>,
    pub(super) run: RunSpec,
}

/// Which folder a tool runs from.
#[derive(Debug)]
pub(super) struct PluginPlace {
    pub(super) id: String,
    pub(super) folder: PathBuf,
    /// What was trusted; none while it is not.
    pub(super) trusted: Option<String>,
}

/// Reads every folder. What has the marks it had `before` is taken from there.
pub(super) fn folders(homes: &Homes, before: &[Folder], ground: Ground) -> Vec<Folder> {
    let read = |(source, path): (PluginSource, PathBuf)| {
        let known = before.iter().find(|folder| folder.path == path);
        // Marks before contents: what changes in between is found at the next look.
        let marks = folder::marks(&path).ok();
        match known {
            Some(known) if known.marks == marks && marks.as_ref().is_some_and(|marks| marks.settled) => known.clone(),
            Some(_) | None => read(source, path, marks, ground),
        }
    };
    homes.folders().into_iter().map(read).collect()
}

fn read(source: PluginSource, path: PathBuf, marks: Option<Marks>, ground: Ground) -> Folder {
    let id = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut folder = Folder {
        source,
        id,
        digest: None,
        files: Vec::new(),
        manifest: Manifest::default(),
        findings: Vec::new(),
        marks,
        path,
    };
    match folder::read(&folder.path) {
        Err(fault) => folder.findings.push(manifest::error("bad_folder", "", fault.to_string())),
        Ok(contents) => {
            folder.digest = Some(contents.digest);
            folder.files = contents.files;
            if let Some(bytes) = contents.manifest {
                let reading = manifest::read(&folder.id, &bytes, ground);
                folder.manifest = reading.manifest.unwrap_or_default();
                folder.findings = reading.findings;
            } else {
                folder.findings.push(manifest::error("no_manifest", "", "the folder has no file `plugin.json`"));
            }
        }
    }
    folder
}

/// Whether every folder was still for long enough to show its next change.
pub(super) fn are_settled(folders: &[Folder]) -> bool {
    folders.iter().all(|folder| folder.marks.as_ref().is_none_or(|marks| marks.settled))
}

/// A plugin: its folder, how it stands, and all that is wrong with it, other plugins considered.
#[derive(Debug, Clone)]
pub(crate) struct Plugin {
    pub(super) folder: Folder,
    pub(super) record: PluginRecord,
    pub(super) findings: Vec<PluginFinding>,
}

/// Puts folders and decisions together. Of two plugins that want one id, or one tool's name, neither gets it.
pub(super) fn plugins(folders: &[Folder], records: &BTreeMap<String, PluginRecord>) -> Vec<Plugin> {
    let record = |folder: &Folder| records.get(&folder.id).cloned().unwrap_or_default();
    let conflicts = |folder: &Folder| {
        let others = folders.iter().filter(|other| other.path != folder.path && record(other).enabled);
        others.flat_map(|other| conflicts(folder, other)).collect::<Vec<_>>()
    };
    let plugin = |folder: &Folder| {
        let findings = folder.findings.iter().cloned().chain(conflicts(folder)).collect();
        Plugin { folder: folder.clone(), record: record(folder), findings }
    };
    folders.iter().map(plugin).collect()
}

fn conflicts(folder: &Folder, other: &Folder) -> Vec<PluginFinding> {
    let place = other.path.display();
    if folder.id == other.id {
        let message = format!("{place} has the same id `{}`; neither is used until one is gone", folder.id);
        return vec![manifest::error("duplicate_plugin", "id", message)];
    }
    let mut findings = Vec::new();
    for (index, tool) in folder.manifest.tools.iter().enumerate() {
        let name = &tool.declaration.name;
        if other.manifest.tools.iter().any(|tool| tool.declaration.name == *name) {
            let message = format!(
                "the plugins `{}` and `{}` both have a tool `{name}`; neither is used until one is disabled",
                folder.id, other.id
            );
            findings.push(manifest::error("duplicate_tool", format!("tools[{index}].name"), message));
        }
    }
    findings
}

impl Plugin {
    /// Whether it can be used once it is trusted.
    pub(super) fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity != Severity::Error)
    }

    pub(super) fn standing(&self) -> Standing {
        self.record.standing(self.folder.digest.as_deref())
    }

    /// The tools that the catalog has of it: none of one that is broken or disabled; of one that is not trusted all,
    /// marked as such, so that a flow that needs them can say why it does not run.
    pub(super) fn tools(&self) -> Vec<PluginTool> {
        let effects = match self.standing() {
            Standing::Disabled => return Vec::new(),
            _ if !self.is_sound() => return Vec::new(),
            Standing::Trusted(effects) => Some(effects),
            Standing::Untrusted => None,
        };
        let place = Arc::new(PluginPlace {
            id: self.folder.id.clone(),
            folder: self.folder.path.clone(),
            trusted: effects.and(self.folder.digest.clone()),
        });
        let offer = |tool: &manifest::ManifestTool| {
            let mut declaration = tool.declaration.clone();
            declaration.trusted = effects.is_some();
            declaration.counts_as = match effects {
                Some(PluginEffects::Declared) => None,
                Some(PluginEffects::Command) | None => Some(declaration.effect.max(Effect::Command)),
            };
            PluginTool { declaration, plugin: Arc::clone(&place), run: tool.run.clone() }
        };
        self.folder.manifest.tools.iter().map(offer).collect()
    }

    /// As it is shown.
    pub(super) fn view(&self) -> PluginView {
        let Folder { source, path, id, digest, files, manifest, .. } = &self.folder;
        let effects = match self.standing() {
            Standing::Trusted(effects) => Some(effects),
            Standing::Untrusted | Standing::Disabled => None,
        };
        let trusted = digest.is_some() && self.record.trusted == *digest;
        PluginView {
            id: id.clone(),
            name: if manifest.name.is_empty() { id.clone() } else { manifest.name.clone() },
            version: manifest.version.clone(),
            source: *source,
            folder: path.display().to_string(),
            digest: digest.clone(),
            trusted,
            effects,
            enabled: self.record.enabled,
            findings: self.findings.clone(),
            tools: manifest.tools.iter().map(|tool| tool.declaration.name.clone()).collect(),
            hooks: Vec::new(),
            files: files.clone(),
        }
    }
}

/// The plugins of these homes as these decisions leave them, looked at once: for commands that need no worker.
pub(crate) fn as_they_stand(
    homes: &Homes,
    records: &BTreeMap<String, PluginRecord>,
) -> (Vec<PluginView>, Vec<PluginTool>) {
    // Where a worker would run them is not known, so nothing is said against their limits.
    let ground = Ground { is_reserved: crate::tool::is_builtin, process_limits: ProcessLimits::Held };
    let folders = folders(homes, &[], ground);
    let plugins = plugins(&folders, records);
    (plugins.iter().map(Plugin::view).collect(), plugins.iter().flat_map(Plugin::tools).collect())
}
