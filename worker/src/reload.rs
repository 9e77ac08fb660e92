//! What SIGHUP reads again while the worker runs: the configuration, the named tokens, and the plugins' manifests.
//!
//! All of it is read before any of it holds: when one file cannot be used, everything stays as it was. Settings that
//! shape what is already running (the address, the directories, how many steps at once) hold from the next start on,
//! and are named.

use std::net::SocketAddr;

use crate::access::named::NamedTokens;
use crate::access::origin::Names;
use crate::api::Rules;
use crate::config::{Config, ConfigError, Key, Sources};
use crate::live::Live;
use crate::retention;
use crate::token_file::{TokenFile, TokenFileError};
use crate::tool::plugin::{PluginError, Plugins};

/// Reads them again.
#[derive(Debug)]
pub(crate) struct Reload {
    /// As the worker runs with it.
    pub(crate) config: Config,
    /// Settings given as flags, which go on winning.
    pub(crate) flags: Vec<(Key, String)>,
    /// Where the worker listens.
    pub(crate) address: SocketAddr,
    pub(crate) plugins: Plugins,
    pub(crate) rules: Live<Rules>,
    pub(crate) retention: Live<retention::Limits>,
}

/// Why everything stays as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReloadError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Tokens(#[from] TokenFileError),
    #[error(transparent)]
    Plugins(#[from] PluginError),
}

impl Reload {
    /// Reads all of it, and lets it hold. Answers the settings that changed and wait for the next start.
    pub(crate) async fn run(&self) -> Result<Vec<&'static str>, ReloadError> {
        let config = Config::of(&Sources::read(self.flags.clone())?)?;
        let rules = rules(&config, self.address)?;
        self.plugins.look().await?;
        self.rules.replace(rules);
        self.retention.replace(config.retention);
        let waiting = self.config.differing(&config).into_iter().filter(|key| !holds_at_once(*key));
        Ok(waiting.map(Key::name).collect())
    }
}

/// What the door goes by, with this configuration.
pub(crate) fn rules(config: &Config, address: SocketAddr) -> Result<Rules, TokenFileError> {
    let tokens = match &config.tokens {
        Some(path) => TokenFile::at(path.clone()).read()?,
        None => NamedTokens::default(),
    };
    Ok(Rules { names: Names::of(address, &config.hosts, &config.allow_origins), tokens })
}

fn holds_at_once(key: Key) -> bool {
    match key {
        Key::Hosts | Key::AllowOrigins | Key::RetentionRuns | Key::RetentionDays | Key::RetentionOutputBytes => true,
        Key::Flows
        | Key::State
        | Key::Listen
        | Key::Page
        | Key::RunParallel
        | Key::GateExpiresDays
        | Key::ShutdownGraceSeconds
        | Key::LimitsFlowSteps
        | Key::OutputMaxBytes
        | Key::FilesRoots
        | Key::NetworkPublicOnly
        | Key::WebhooksAllowRemote
        | Key::CgroupDirectory
        | Key::CgroupFor => false,
    }
}
