//! Configuration: defaults, then `config.toml`, then `WEIR_CFG_*` variables, then flags; each later one wins.
//!
//! Every setting is a [`Key`] with one name in the file (`shutdown.graceSeconds`) and one in the environment
//! (`WEIR_CFG_SHUTDOWN_GRACE_SECONDS`). A name that is no key is an error, and says which key is near: a mistyped
//! limit must not be no limit. Putting the sources together is pure; reading them is [`Sources`].

mod key;
mod shown;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir_shared::limits::Limits;

pub(crate) use key::Key;

use crate::process::{CgroupPlace, CgroupSettings, Contained};
use crate::retention;
use crate::secret::SecretSources;
use key::PREFIX;

/// What the worker and the commands go by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// The flow library.
    pub(crate) flows: PathBuf,
    /// Store, runs, token.
    pub(crate) state: PathBuf,
    pub(crate) listen: SocketAddr,
    /// A build of the page to serve in place of the embedded one.
    pub(crate) page: Option<PathBuf>,
    /// Further names that requests may call this worker by.
    pub(crate) hosts: Vec<String>,
    /// Origins of pages served from elsewhere.
    pub(crate) allow_origins: Vec<String>,
    /// Steps of one run at once.
    pub(crate) run_parallel: usize,
    /// Days until a gate that nobody answers counts as rejected.
    pub(crate) gate_expires_days: u32,
    /// How long running steps may go on after SIGTERM.
    pub(crate) shutdown_grace: Duration,
    /// How much of ended runs is kept.
    pub(crate) retention: retention::Limits,
    pub(crate) limits: Limits,
    /// Bytes of one stream of one attempt that a run's directory keeps.
    pub(crate) output_max_bytes: u64,
    /// Absolute directories that the file tools may use beside a run's own.
    pub(crate) file_roots: Vec<PathBuf>,
    /// Whether tools may call the public Internet alone; none: as each tool has it.
    pub(crate) public_only: Option<bool>,
    /// Whether webhooks are answered to peers on other machines.
    pub(crate) remote_webhooks: bool,
    /// Where control groups of units are made, and for which units.
    pub(crate) cgroups: CgroupSettings,
    /// Where secrets are looked for.
    pub(crate) secrets: SecretSources,
    /// `tokens.toml`, which names tokens beside the state directory's own; none where there is no home.
    pub(crate) tokens: Option<PathBuf>,
    /// The user's own plugins, beside those of the flow directory; none where there is no home.
    pub(crate) user_plugins: Option<PathBuf>,
}

/// Why there is no configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("{origin}: `{name}` is no setting{}", near(nearest.as_deref()))]
    Unknown { origin: String, name: String, nearest: Option<String> },
    #[error("{origin}: `{name}` should be {expected}, and is {given}")]
    Bad { origin: String, name: &'static str, expected: &'static str, given: String },
    #[error("{path}: {reason}", path = path.display())]
    File { path: PathBuf, reason: String },
    #[error("neither XDG_STATE_HOME nor HOME is set, so there is no place for the state: give --state")]
    NoHome,
}

fn near(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

/// Where settings come from, read but not judged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    /// Where the file is, and its text when it is there.
    pub(crate) file: Option<(PathBuf, String)>,
    /// All of the environment.
    pub(crate) environment: BTreeMap<String, String>,
    /// Settings given as flags.
    pub(crate) flags: Vec<(Key, String)>,
}

impl Sources {
    /// The file and the environment of this process, with these flags.
    pub(crate) fn read(flags: Vec<(Key, String)>) -> Result<Self, ConfigError> {
        let environment: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let file = match base(&environment, "XDG_CONFIG_HOME", ".config") {
            Some(base) => read_file(base.join("weir/config.toml"))?,
            None => None,
        };
        Ok(Self { file, environment, flags })
    }
}

fn read_file(path: PathBuf) -> Result<Option<(PathBuf, String)>, ConfigError> {
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((path, text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ConfigError::File { path, reason: error.to_string() }),
    }
}

/// A base directory of the XDG specification: its variable when absolute, else below the home directory.
fn base(environment: &BTreeMap<String, String>, variable: &str, below_home: &str) -> Option<PathBuf> {
    let named = environment.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| {
        environment.get("HOME").filter(|home| !home.is_empty()).map(|home| Path::new(home).join(below_home))
    })
}

/// A value as its source gives it.
enum Given<'a> {
    Toml(&'a toml::Value),
    Text(&'a str),
}

impl Config {
    /// The configuration that these sources add up to.
    pub(crate) fn of(sources: &Sources) -> Result<Self, ConfigError> {
        let mut state = base(&sources.environment, "XDG_STATE_HOME", ".local/state").map(|base| base.join("weir"));
        let mut config = Self {
            flows: PathBuf::from("flows"),
            state: PathBuf::new(),
            listen: SocketAddr::from(([127, 0, 0, 1], 9347)),
            page: None,
            hosts: Vec::new(),
            allow_origins: Vec::new(),
            run_parallel: 16,
            gate_expires_days: 7,
            shutdown_grace: Duration::from_secs(20),
            retention: retention::Limits::default(),
            limits: Limits::default(),
            output_max_bytes: 64 * 1024 * 1024,
            file_roots: Vec::new(),
            public_only: None,
            remote_webhooks: false,
            cgroups: CgroupSettings::default(),
            secrets: SecretSources::default(),
            tokens: None,
            user_plugins: base(&sources.environment, "XDG_DATA_HOME", ".local/share")
                .map(|base| base.join("weir/plugins")),
        };
        let beside = base(&sources.environment, "XDG_CONFIG_HOME", ".config").map(|base| base.join("weir"));
        config.secrets = SecretSources::of(&sources.environment, beside.as_deref());
        config.tokens = beside.map(|beside| beside.join("tokens.toml"));
        if let Some((path, text)) = &sources.file {
            let table: toml::Table = text.parse().map_err(|error: toml::de::Error| ConfigError::File {
                path: path.clone(),
                reason: error.to_string(),
            })?;
            let origin = path.display().to_string();
            let mut settings = Vec::new();
            flatten(&table, "", &mut settings);
            for (name, value) in settings {
                let key = Key::named(&name)
                    .ok_or_else(|| unknown(&origin, &name, &Key::ALL.map(|key| key.name().to_owned())))?;
                config.set(&mut state, key, &Given::Toml(value), &origin)?;
            }
        }
        for (name, value) in sources.environment.iter().filter(|(name, _)| name.starts_with(PREFIX)) {
            let key =
                Key::of_variable(name).ok_or_else(|| unknown("environment", name, &Key::ALL.map(Key::variable)))?;
            config.set(&mut state, key, &Given::Text(value), "environment")?;
        }
        for (key, value) in &sources.flags {
            config.set(&mut state, *key, &Given::Text(value), "command line")?;
        }
        config.state = state.ok_or(ConfigError::NoHome)?;
        Ok(config)
    }

    fn set(
        &mut self,
        state: &mut Option<PathBuf>,
        key: Key,
        given: &Given<'_>,
        origin: &str,
    ) -> Result<(), ConfigError> {
        let bad = |expected: &'static str| ConfigError::Bad {
            origin: origin.to_owned(),
            name: key.name(),
            expected,
            given: match given {
                Given::Toml(value) => value.to_string(),
                Given::Text(text) => format!("`{text}`"),
            },
        };
        let path = || given.text().map(PathBuf::from).ok_or_else(|| bad("a path"));
        match key {
            Key::Flows => self.flows = path()?,
            Key::State => *state = Some(path()?),
            Key::Page => self.page = Some(path()?),
            Key::Listen => {
                let expected = "an address and a port, such as 127.0.0.1:9347";
                self.listen = given.text().and_then(address).ok_or_else(|| bad(expected))?;
            }
            Key::Hosts => self.hosts = given.list().ok_or_else(|| bad("a list of host names"))?,
            Key::AllowOrigins => self.allow_origins = given.list().ok_or_else(|| bad("a list of origins"))?,
            Key::RunParallel => {
                self.run_parallel = given.whole(1, 1024).ok_or_else(|| bad("a number from 1 to 1024"))?;
            }
            Key::GateExpiresDays => {
                self.gate_expires_days = given.whole(1, 3650).ok_or_else(|| bad("a number of days from 1 to 3650"))?;
            }
            Key::ShutdownGraceSeconds => {
                let seconds = given.whole(0, 3600).ok_or_else(|| bad("a number of seconds from 0 to 3600"))?;
                self.shutdown_grace = Duration::from_secs(seconds);
            }
            Key::RetentionRuns => {
                self.retention.runs =
                    given.whole(1, 10_000_000).ok_or_else(|| bad("a number of runs from 1 to 10000000"))?;
            }
            Key::RetentionDays => {
                let days: u64 = given.whole(1, 36_500).ok_or_else(|| bad("a number of days from 1 to 36500"))?;
                self.retention.age = Duration::from_secs(days * 86_400);
            }
            Key::RetentionOutputBytes => {
                self.retention.bytes = given.whole(0, i64::MAX).ok_or_else(|| bad("a number of bytes from 0"))?;
            }
            Key::LimitsFlowSteps => {
                self.limits.flow_steps = given.whole(1, 10_000).ok_or_else(|| bad("a number from 1 to 10000"))?;
            }
            Key::OutputMaxBytes => {
                let expected = "a number of bytes from 0 to 1099511627776";
                self.output_max_bytes = given.whole(0, 1 << 40).ok_or_else(|| bad(expected))?;
            }
            Key::FilesRoots => {
                let roots: Option<Vec<PathBuf>> =
                    given.list().map(|roots| roots.into_iter().map(PathBuf::from).collect());
                let roots = roots.filter(|roots| roots.iter().all(|root| root.is_absolute()));
                self.file_roots = roots.ok_or_else(|| bad("a list of absolute directories"))?;
            }
            Key::NetworkPublicOnly => {
                self.public_only = Some(given.truth().ok_or_else(|| bad("true or false"))?);
            }
            Key::WebhooksAllowRemote => {
                self.remote_webhooks = given.truth().ok_or_else(|| bad("true or false"))?;
            }
            Key::CgroupDirectory => {
                let expected = "`delegated`, `none` or an absolute directory of a cgroup2 file system";
                self.cgroups.place = given.text().and_then(CgroupPlace::named).ok_or_else(|| bad(expected))?;
            }
            Key::CgroupFor => {
                let named = given.text().and_then(Contained::named);
                self.cgroups.contained = named.ok_or_else(|| bad("`limited` or `all`"))?;
            }
        }
        Ok(())
    }
}

impl Given<'_> {
    fn text(&self) -> Option<&str> {
        let text = match self {
            Given::Toml(value) => value.as_str()?,
            Given::Text(text) => text,
        };
        (!text.is_empty()).then_some(text)
    }

    fn whole<T: TryFrom<i64>>(&self, least: i64, most: i64) -> Option<T> {
        let number = match self {
            Given::Toml(value) => value.as_integer()?,
            Given::Text(text) => text.trim().parse().ok()?,
        };
        (least..=most).contains(&number).then_some(number).and_then(|number| T::try_from(number).ok())
    }

    fn truth(&self) -> Option<bool> {
        match self {
            Given::Toml(value) => value.as_bool(),
            Given::Text(text) => text.trim().parse().ok(),
        }
    }

    /// A list; in the environment, with commas between.
    fn list(&self) -> Option<Vec<String>> {
        match self {
            Given::Toml(value) => value.as_array()?.iter().map(|one| one.as_str().map(str::to_owned)).collect(),
            Given::Text(text) => {
                Some(text.split(',').map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect())
            }
        }
    }
}

/// An address to listen on; `localhost` is the loopback address.
fn address(text: &str) -> Option<SocketAddr> {
    let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    numeric.as_deref().unwrap_or(text).parse().ok()
}

fn flatten<'a>(table: &'a toml::Table, prefix: &str, settings: &mut Vec<(String, &'a toml::Value)>) {
    for (name, value) in table {
        let name = format!("{prefix}{name}");
        match value {
            toml::Value::Table(inner) => flatten(inner, &format!("{name}."), settings),
            _ => settings.push((name, value)),
        }
    }
}

fn unknown(origin: &str, name: &str, known: &[String]) -> ConfigError {
    let nearest = weir_shared::nearest::nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
    ConfigError::Unknown { origin: origin.to_owned(), name: name.to_owned(), nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(file: &str, environment: &[(&str, &str)], flags: &[(Key, &str)]) -> Sources {
        let home = [("HOME".to_owned(), "/home/ada".to_owned())];
        let given = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Sources {
            file: Some(("config.toml".into(), file.to_owned())),
            environment: home.into_iter().chain(given).collect(),
            flags: flags.iter().map(|(key, value)| (*key, (*value).to_owned())).collect(),
        }
    }

    #[test]
    fn a_later_source_wins() {
        let file = "listen = \"127.0.0.1:1\"\nallowOrigins = [\"https://a.example\"]\n[run]\nparallel = 4\n";
        let from_file = Config::of(&sources(file, &[], &[])).unwrap();
        assert_eq!((from_file.listen.port(), from_file.run_parallel), (1, 4));
        assert_eq!(from_file.allow_origins, ["https://a.example"]);
        assert_eq!(from_file.state, Path::new("/home/ada/.local/state/weir"));

        let environment =
            [("WEIR_CFG_LISTEN", "localhost:2"), ("WEIR_CFG_RUN_PARALLEL", "8"), ("XDG_STATE_HOME", "/s")];
        let from_environment = Config::of(&sources(file, &environment, &[])).unwrap();
        assert_eq!((from_environment.listen.port(), from_environment.run_parallel), (2, 8));
        assert_eq!(from_environment.state, Path::new("/s/weir"));

        let from_flags = Config::of(&sources(file, &environment, &[(Key::Listen, "0.0.0.0:3")])).unwrap();
        assert_eq!(from_flags.listen.port(), 3);
    }

    #[test]
    fn an_unknown_setting_names_the_nearest() {
        for (file, environment, expected) in [
            ("lisen = \"x\"", ("OTHER", ""), "config.toml: `lisen` is no setting; did you mean `listen`?"),
            ("[shutdown]\ngraceSecond = 1", ("OTHER", ""), "did you mean `shutdown.graceSeconds`?"),
            (
                "",
                ("WEIR_CFG_LISTENS", "x"),
                "environment: `WEIR_CFG_LISTENS` is no setting; did you mean `WEIR_CFG_LISTEN`?",
            ),
        ] {
            let error = Config::of(&sources(file, &[environment], &[])).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_bad_value_says_what_it_should_be() {
        for (file, expected) in [
            ("listen = \"here\"", "`listen` should be an address and a port, such as 127.0.0.1:9347, and is \"here\""),
            ("[run]\nparallel = 0", "`run.parallel` should be a number from 1 to 1024, and is 0"),
            ("hosts = \"one\"", "`hosts` should be a list of host names"),
            ("listen = ", "config.toml: "),
            ("[files]\nroots = [\"here\"]", "`files.roots` should be a list of absolute directories"),
            ("[network]\npublicOnly = 1", "`network.publicOnly` should be true or false, and is 1"),
        ] {
            let error = Config::of(&sources(file, &[], &[])).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn every_key_is_found_by_both_of_its_names() {
        for key in Key::ALL {
            assert_eq!(Key::named(key.name()), Some(key));
            assert_eq!(Key::of_variable(&key.variable()), Some(key));
        }
        assert_eq!(Key::ShutdownGraceSeconds.variable(), "WEIR_CFG_SHUTDOWN_GRACE_SECONDS");
    }
}
