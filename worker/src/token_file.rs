//! `tokens.toml` beside the configuration: read by the worker, written by `weir token`.
//!
//! The file need not be there. Whoever can write it can let anybody in, so one that others may write is refused.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use crate::access::named::{BadTokens, NamedToken, NamedTokens};

/// The file at this place.
#[derive(Debug, Clone)]
pub(crate) struct TokenFile(PathBuf);

/// Why the tokens cannot be used, or not be changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenFileError {
    #[error("{path} can be written by others (mode {mode:o}): chmod 600 {path}", path = path.display())]
    Open { path: PathBuf, mode: u32 },
    #[error("{path}: {source}", path = path.display())]
    Bad { path: PathBuf, source: BadTokens },
    #[error("{path}: {source}", path = path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{path} has no token `{name}`", path = path.display())]
    Unknown { path: PathBuf, name: String },
}

impl TokenFile {
    /// Names the file; nothing is touched.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The tokens that it names; none when it is not there.
    pub(crate) fn read(&self) -> Result<NamedTokens, TokenFileError> {
        NamedTokens::read(&self.text()?).map_err(|source| self.bad(source))
    }

    /// Adds a token. What else stands in the file stays as it is, remarks too.
    pub(crate) fn add(&self, token: &NamedToken) -> Result<(), TokenFileError> {
        token.check().map_err(|source| self.bad(source))?;
        self.change(|tokens| {
            let mut table = Table::new();
            table["name"] = value(&token.name);
            table["owner"] = value(&token.owner);
            table["scope"] = value(token.scope.as_str());
            table["maxPermissionMode"] = value(token.max_permission_mode.as_str());
            table["sha256"] = value(&token.sha256);
            tokens.push(table);
            Ok(())
        })
    }

    /// Removes the token of this name.
    pub(crate) fn remove(&self, name: &str) -> Result<(), TokenFileError> {
        self.change(|tokens| {
            let place = tokens.iter().position(|table| table.get("name").and_then(Item::as_str) == Some(name));
            let unknown = || TokenFileError::Unknown { path: self.0.clone(), name: name.to_owned() };
            tokens.remove(place.ok_or_else(unknown)?);
            Ok(())
        })
    }

    /// Writes the file anew with other tokens, if it was good before and is good then.
    fn change(
        &self,
        change: impl FnOnce(&mut ArrayOfTables) -> Result<(), TokenFileError>,
    ) -> Result<(), TokenFileError> {
        let shape = |error: toml_edit::TomlError| self.bad(BadTokens::Shape(error.to_string()));
        self.read()?;
        let mut document: DocumentMut = self.text()?.parse().map_err(shape)?;
        let tokens = document.entry("token").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        let tokens = tokens.as_array_of_tables_mut();
        change(tokens.ok_or_else(|| self.bad(BadTokens::Shape("write every token as [[token]]".to_owned())))?)?;
        let text = document.to_string();
        NamedTokens::read(&text).map_err(|source| self.bad(source))?;
        self.write(&text).map_err(|error| self.failed(error))
    }

    fn text(&self) -> Result<String, TokenFileError> {
        let text = match fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(self.failed(error)),
        };
        let mode = fs::metadata(&self.0).map_err(|error| self.failed(error))?.permissions().mode() & 0o777;
        if mode & 0o022 == 0 { Ok(text) } else { Err(TokenFileError::Open { path: self.0.clone(), mode }) }
    }

    /// Whole or not at all: a reader sees the old file or the new one.
    fn write(&self, text: &str) -> io::Result<()> {
        if let Some(directory) = self.0.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        let unfinished = self.0.with_extension("toml.new");
        let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&unfinished)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, &self.0)
    }

    fn bad(&self, source: BadTokens) -> TokenFileError {
        TokenFileError::Bad { path: self.0.clone(), source }
    }

    fn failed(&self, source: io::Error) -> TokenFileError {
        TokenFileError::Io { path: self.0.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use weir_shared::flow::PermissionMode;

    use super::*;
    use crate::access::scope::Scope;

    fn token(name: &str) -> NamedToken {
        NamedToken::of(name, name.to_owned(), "ada".to_owned(), (Scope::Run, PermissionMode::AskForApproval))
    }

    #[test]
    fn tokens_come_and_go_and_remarks_stay() {
        let directory = tempfile::tempdir().unwrap();
        let file = TokenFile::at(directory.path().join("weir/tokens.toml"));
        assert_eq!(file.read().unwrap(), NamedTokens::default());
        file.add(&token("laptop")).unwrap();
        let mode = fs::metadata(file.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        file.add(&token("phone")).unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        fs::write(file.path(), text.replace("name = \"phone\"", "name = \"phone\" # the old one")).unwrap();
        assert!(file.add(&token("phone")).unwrap_err().to_string().contains("two tokens are called `phone`"));
        file.remove("laptop").unwrap();
        assert!(file.remove("laptop").unwrap_err().to_string().contains("has no token `laptop`"));
        let names: Vec<String> = file.read().unwrap().iter().map(|token| token.name.clone()).collect();
        assert_eq!(names, ["phone"]);
        assert!(file.read().unwrap().caller_of("phone").is_some());
        assert!(fs::read_to_string(file.path()).unwrap().contains("# the old one"));
    }

    #[test]
    fn a_file_that_others_may_write_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = TokenFile::at(directory.path().join("tokens.toml"));
        file.add(&token("laptop")).unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o660)).unwrap();
        assert!(file.read().unwrap_err().to_string().contains("(mode 660)"));
        assert!(file.add(&token("phone")).is_err());
    }
}
