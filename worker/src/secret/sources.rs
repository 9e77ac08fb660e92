//! Where secrets come from: systemd's credentials, then `secrets.toml` beside the configuration, then
//! `WEIR_SECRET_<NAME>`; each later one wins.
//!
//! A secret is at least eight bytes of text: what is shorter would be found by chance in any output, and masking it
//! would take the output apart. What cannot be used is an error at start, never a secret that is quietly missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::mask::Masker;

/// Bytes of the shortest secret.
const LEAST_BYTES: usize = 8;
/// What a variable's name begins with.
const PREFIX: &str = "WEIR_SECRET_";

/// The secrets of this machine, by name. Cheap to clone; shows no value.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Known>);

#[derive(Default)]
struct Known {
    values: BTreeMap<String, String>,
    names: BTreeSet<String>,
    masker: Masker,
}

/// Why the secrets cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretError {
    #[error("{path} can be read by others (mode {mode:o}): chmod 600 {path}", path = path.display())]
    Open { path: PathBuf, mode: u32 },
    #[error("{path}: {reason}", path = path.display())]
    File { path: PathBuf, reason: String },
    #[error("the secret `{name}` of {origin} has {bytes} bytes, and needs at least {LEAST_BYTES}")]
    Short { name: String, origin: String, bytes: usize },
    #[error("the secret `{name}` of {origin} {reason}")]
    Unusable { name: String, origin: String, reason: &'static str },
}

/// Where to look.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct SecretSources {
    /// `$CREDENTIALS_DIRECTORY`.
    pub(crate) credentials: Option<PathBuf>,
    /// `secrets.toml`; it need not be there.
    pub(crate) file: Option<PathBuf>,
    /// Variables with the prefix, by the rest of their names.
    pub(crate) variables: BTreeMap<String, String>,
}

impl fmt::Debug for SecretSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.variables.keys().collect();
        let mut shown = f.debug_struct("SecretSources");
        shown.field("credentials", &self.credentials).field("file", &self.file).field("variables", &names).finish()
    }
}

impl SecretSources {
    /// The sources that this environment names, with the file in this directory.
    pub(crate) fn of(environment: &BTreeMap<String, String>, configuration: Option<&Path>) -> Self {
        let set = |value: &&String| !value.is_empty();
        let variables = environment.iter().filter(|(_, value)| set(value));
        let variables = variables.filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?, value.clone())));
        Self {
            credentials: environment.get("CREDENTIALS_DIRECTORY").filter(set).map(PathBuf::from),
            file: configuration.map(|directory| directory.join("secrets.toml")),
            variables: variables.map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }

    /// Reads them all.
    pub(crate) fn read(&self) -> Result<Secrets, SecretError> {
        let mut values = BTreeMap::new();
        if let Some(directory) = &self.credentials {
            read_credentials(directory, &mut values)?;
        }
        if let Some(path) = &self.file {
            read_toml(path, &mut values)?;
        }
        for (name, value) in &self.variables {
            values.insert(name.clone(), usable(name, value.clone(), "the environment")?);
        }
        Ok(Secrets::of(values))
    }
}

impl Secrets {
    fn of(values: BTreeMap<String, String>) -> Self {
        let masker = Masker::of(values.values().map(String::as_str));
        Self(Arc::new(Known { names: values.keys().cloned().collect(), masker, values }))
    }

    /// By name. For the moment of a call, and never to be kept.
    pub(crate) fn values(&self) -> &BTreeMap<String, String> {
        &self.0.values
    }

    /// What flows are checked against.
    pub(crate) fn names(&self) -> &BTreeSet<String> {
        &self.0.names
    }

    /// What hides them.
    pub(crate) fn masker(&self) -> Masker {
        self.0.masker.clone()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Secrets").field(&self.0.names).finish()
    }
}

/// One file a secret, its name the file's; a newline at the end is not part of it.
fn read_credentials(directory: &Path, values: &mut BTreeMap<String, String>) -> Result<(), SecretError> {
    let failed = |path: &Path, error: &io::Error| SecretError::File { path: path.into(), reason: error.to_string() };
    let entries = std::fs::read_dir(directory).map_err(|error| failed(directory, &error))?;
    for entry in entries {
        let path = entry.map_err(|error| failed(directory, &error))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let text = std::fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
        let text = text.strip_suffix('\n').unwrap_or(&text).to_owned();
        values.insert(name.to_owned(), usable(name, text, "systemd's credentials")?);
    }
    Ok(())
}

/// `NAME = "value"`, for the owner's eyes only.
fn read_toml(path: &Path, values: &mut BTreeMap<String, String>) -> Result<(), SecretError> {
    let failed = |reason: String| SecretError::File { path: path.into(), reason };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error.to_string())),
    };
    let mode = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(SecretError::Open { path: path.into(), mode });
    }
    // The parser's own message would quote the line, and with it the secret.
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        failed(format!("line {} is no TOML: write NAME = \"value\"", before.matches('\n').count() + 1))
    })?;
    let origin = path.display().to_string();
    for (name, value) in table {
        let toml::Value::String(value) = value else {
            return Err(SecretError::Unusable { name, origin, reason: "is no text: write NAME = \"value\"" });
        };
        let value = usable(&name, value, &origin)?;
        values.insert(name, value);
    }
    Ok(())
}

fn usable(name: &str, value: String, origin: &str) -> Result<String, SecretError> {
    let unusable = |reason| SecretError::Unusable { name: name.to_owned(), origin: origin.to_owned(), reason };
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    if !is_name(name) {
        return Err(unusable("has a name that no reference can say: use letters, digits, `_` and `-`"));
    }
    if value.contains('\0') {
        return Err(unusable("holds a NUL character"));
    }
    if value.len() < LEAST_BYTES {
        return Err(SecretError::Short { name: name.to_owned(), origin: origin.to_owned(), bytes: value.len() });
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(directory: &Path, variables: &[(&str, &str)]) -> SecretSources {
        let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        SecretSources::of(&environment, Some(directory))
    }

    fn write(path: &Path, text: &str, mode: u32) {
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn later_sources_win_and_no_value_shows() {
        let directory = tempfile::tempdir().unwrap();
        let credentials = directory.path().join("credentials");
        std::fs::create_dir(&credentials).unwrap();
        for (name, text) in [("A", "from-systemd\n"), ("B", "from-systemd"), ("C", "from-systemd")] {
            write(&credentials.join(name), text, 0o400);
        }
        write(&directory.path().join("secrets.toml"), "B = \"from-the-file\"\nC = \"from-the-file\"\n", 0o600);
        let named = credentials.display().to_string();
        let variables =
            [("CREDENTIALS_DIRECTORY", named.as_str()), ("WEIR_SECRET_C", "from-the-shell"), ("WEIR_SECRET_D", "")];
        let secrets = sources(directory.path(), &variables).read().unwrap();
        let expected = [("A", "from-systemd"), ("B", "from-the-file"), ("C", "from-the-shell")];
        let values: Vec<(&str, &str)> =
            secrets.values().iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(values, expected);
        assert_eq!(format!("{secrets:?}"), r#"Secrets({"A", "B", "C"})"#);
        assert!(sources(Path::new("/nowhere"), &[]).read().unwrap().values().is_empty());
    }

    #[test]
    fn what_cannot_be_used_is_said_without_its_value() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("secrets.toml");
        for (text, mode, says) in [
            ("A = \"long enough\"", 0o644, "chmod 600"),
            ("A = \"long enough\"", 0o620, "mode 620"),
            ("A = \"long enough", 0o600, "line 1 is no TOML"),
            ("A = 12345678", 0o600, "is no text"),
            ("A = \"enough!\"", 0o600, "has 7 bytes, and needs at least 8"),
            ("\"a b\" = \"long enough\"", 0o600, "no reference can say"),
        ] {
            write(&file, text, mode);
            let error = sources(directory.path(), &[]).read().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
            assert!(!error.contains("enough!") && !error.contains("long enough"), "{error}");
        }
        write(&file, "", 0o600);
        assert!(sources(directory.path(), &[("WEIR_SECRET_X", "short")]).read().is_err());
    }
}
