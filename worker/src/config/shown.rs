//! Every setting as people see it: its value, and which source gave it.

use std::path::Path;

use serde::Serialize;

use super::{Config, Key, Sources, flatten};

/// One setting, shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Setting {
    /// Its name in the file.
    pub(crate) name: &'static str,
    pub(crate) value: String,
    /// `default`, the file, the variable, or `command line`.
    pub(crate) origin: String,
}

impl Config {
    /// Every setting of a configuration that these sources add up to.
    pub(crate) fn shown(&self, sources: &Sources) -> Vec<Setting> {
        let in_file = names_in_file(sources);
        let setting =
            |key: Key| Setting { name: key.name(), value: self.value(key), origin: origin(key, sources, &in_file) };
        Key::ALL.into_iter().map(setting).collect()
    }

    /// The settings whose values differ from another configuration's.
    pub(crate) fn differing(&self, other: &Self) -> Vec<Key> {
        Key::ALL.into_iter().filter(|key| self.value(*key) != other.value(*key)).collect()
    }

    fn value(&self, key: Key) -> String {
        let path = |path: &Path| path.display().to_string();
        match key {
            Key::Flows => path(&self.flows),
            Key::State => path(&self.state),
            Key::Listen => self.listen.to_string(),
            Key::Page => self.page.as_deref().map(path).unwrap_or_default(),
            Key::Hosts => self.hosts.join(", "),
            Key::AllowOrigins => self.allow_origins.join(", "),
            Key::RunParallel => self.run_parallel.to_string(),
            Key::GateExpiresDays => self.gate_expires_days.to_string(),
            Key::ShutdownGraceSeconds => self.shutdown_grace.as_secs().to_string(),
            Key::RetentionRuns => self.retention.runs.to_string(),
            Key::RetentionDays => (self.retention.age.as_secs() / 86_400).to_string(),
            Key::RetentionOutputBytes => self.retention.bytes.to_string(),
            Key::LimitsFlowSteps => self.limits.flow_steps.to_string(),
            Key::OutputMaxBytes => self.output_max_bytes.to_string(),
            Key::FilesRoots => self.file_roots.iter().map(|root| path(root)).collect::<Vec<_>>().join(", "),
            Key::CgroupDirectory => self.cgroups.place.to_string(),
            Key::CgroupFor => self.cgroups.contained.to_string(),
            Key::WebhooksAllowRemote => self.remote_webhooks.to_string(),
            Key::NetworkPublicOnly => self.public_only.map(|only| only.to_string()).unwrap_or_default(),
        }
    }
}

fn names_in_file(sources: &Sources) -> Vec<String> {
    let table = sources.file.as_ref().and_then(|(_, text)| text.parse::<toml::Table>().ok()).unwrap_or_default();
    let mut settings = Vec::new();
    flatten(&table, "", &mut settings);
    settings.into_iter().map(|(name, _)| name).collect()
}

/// The last source that has the setting: the one that counts.
fn origin(key: Key, sources: &Sources, in_file: &[String]) -> String {
    if sources.flags.iter().any(|(flag, _)| *flag == key) {
        return "command line".to_owned();
    }
    if sources.environment.contains_key(&key.variable()) {
        return key.variable();
    }
    match &sources.file {
        Some((path, _)) if in_file.iter().any(|name| name == key.name()) => path.display().to_string(),
        Some(_) | None => "default".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_names_the_source_that_counts() {
        let environment = [("HOME", "/home/ada"), ("WEIR_CFG_RUN_PARALLEL", "8"), ("WEIR_CFG_LISTEN", "localhost:2")];
        let sources = Sources {
            file: Some(("config.toml".into(), "flows = \"mine\"\n[run]\nparallel = 4\n".to_owned())),
            environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            flags: vec![(Key::Listen, "127.0.0.1:3".to_owned())],
        };
        let shown = Config::of(&sources).unwrap().shown(&sources);
        let of = |name: &str| {
            let setting = shown.iter().find(|setting| setting.name == name).unwrap();
            (setting.value.as_str(), setting.origin.as_str())
        };
        assert_eq!(of("flows"), ("mine", "config.toml"));
        assert_eq!(of("run.parallel"), ("8", "WEIR_CFG_RUN_PARALLEL"));
        assert_eq!(of("listen"), ("127.0.0.1:3", "command line"));
        assert_eq!(of("state"), ("/home/ada/.local/state/weir", "default"));
        assert_eq!(of("gate.expiresDays"), ("7", "default"));
    }
}
