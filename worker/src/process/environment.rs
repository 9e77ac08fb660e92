//! The environment of a child: built from a short list, never inherited.
//!
//! It guarantees that no setting or secret of the worker's own environment reaches a child unless a tool lists it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Inherited by name when the worker has them.
const INHERITED: [&str; 6] = ["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR"];
/// What a worker without a PATH of its own (a bare service) gives its children.
const FALLBACK_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// A name that holds one of these is taken for a secret.
const SECRET_WORDS: [&str; 9] =
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "CREDENTIAL", "COOKIE", "AUTHORIZATION"];

/// What every child gets from the worker's own environment.
#[derive(Debug, Clone)]
pub(super) struct BaseEnvironment(BTreeMap<OsString, OsString>);

impl BaseEnvironment {
    /// Picks from these variables (the worker's own).
    pub(super) fn pick(own: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut picked: BTreeMap<_, _> =
            own.into_iter().filter(|(name, _)| name.to_str().is_some_and(passes)).collect();
        picked.entry("PATH".into()).or_insert_with(|| FALLBACK_PATH.into());
        Self(picked)
    }

    /// Where programs are looked for.
    pub(super) fn path(&self) -> &OsStr {
        self.0.get(OsStr::new("PATH")).map_or(OsStr::new(FALLBACK_PATH), OsString::as_os_str)
    }

    /// Every variable, by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

/// Whether a variable of the worker passes to a child that did not list it.
fn passes(name: &str) -> bool {
    let listed = INHERITED.contains(&name) || name.starts_with("LC_");
    let upper = name.to_uppercase();
    listed && !SECRET_WORDS.iter().any(|word| upper.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_gets_the_short_list_and_nothing_else() {
        let own = [
            ("PATH", "/bin"),
            ("HOME", "/home/ada"),
            ("LC_ALL", "C.UTF-8"),
            ("LC_SECRET", "x"),
            ("GITHUB_TOKEN", "x"),
            ("WEIR_CFG_LISTEN", "x"),
            ("DBUS_SESSION_BUS_ADDRESS", "x"),
            ("XDG_RUNTIME_DIR", "x"),
            ("NOTIFY_SOCKET", "x"),
            ("EDITOR", "x"),
        ];
        let base = BaseEnvironment::pick(own.map(|(name, value)| (name.into(), value.into())));
        let names: Vec<_> = base.iter().map(|(name, _)| name.to_str().unwrap_or_default().to_owned()).collect();
        assert_eq!(names, ["HOME", "LC_ALL", "PATH"]);
    }

    #[test]
    fn a_worker_without_a_path_still_gives_one() {
        let base = BaseEnvironment::pick([]);
        assert_eq!(base.path(), FALLBACK_PATH);
    }
}
