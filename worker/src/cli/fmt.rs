//! `weir fmt`: flow files in their canonical form.

use std::path::{Path, PathBuf};

use clap::Args;
use weir_shared::{canonical, read};

use super::exit::{Exit, Stop};
use super::{Done, configuration, flow_files, output};

/// Write flow files in their canonical form
///
/// A file that cannot be read as a flow is left as it is, and the command ends with 3.
#[derive(Debug, Args)]
pub(super) struct Fmt {
    /// Flow files, or directories of them [default: the flow directory]
    paths: Vec<PathBuf>,
    /// Change nothing; name the files that would change, and end with 1 if there are any
    #[arg(long)]
    check: bool,
}

/// What a file is.
enum Form {
    Canonical,
    Other { canonical: String },
    Unreadable,
}

impl Fmt {
    pub(super) fn execute(self) -> Done {
        let paths = if self.paths.is_empty() { vec![configuration(Vec::new())?.flows] } else { self.paths };
        let mut exit = Exit::Done;
        for path in flow_files::named(&paths)? {
            match form(&path)? {
                Form::Canonical => {}
                Form::Other { .. } if self.check => {
                    output::data(&format!("{}\n", path.display()))?;
                    exit = worse(exit, Exit::Failed);
                }
                Form::Other { canonical } => {
                    replace(&path, &canonical)?;
                    output::data(&format!("{}\n", path.display()))?;
                }
                Form::Unreadable => {
                    output::tell(&format!("{} cannot be read as a flow; see `weir check`", path.display()));
                    exit = worse(exit, Exit::Findings);
                }
            }
        }
        Ok(exit)
    }
}

fn worse(one: Exit, other: Exit) -> Exit {
    if one == Exit::Findings { one } else { other }
}

fn form(path: &Path) -> Result<Form, Stop> {
    let bytes = flow_files::read(path)?;
    let reading = read::read(&bytes);
    let is_writable = reading.is_writable();
    Ok(match reading.flow {
        Some(flow) if is_writable => {
            let canonical = canonical::print(&flow);
            if canonical.as_bytes() == bytes { Form::Canonical } else { Form::Other { canonical } }
        }
        Some(_) | None => Form::Unreadable,
    })
}

/// Writes beside the file and renames, so that nobody ever reads half a flow. A link stays a link.
fn replace(path: &Path, text: &str) -> Result<(), Stop> {
    let write = || {
        let real = std::fs::canonicalize(path)?;
        let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let fresh = real.with_file_name(format!(".{name}.{}.new", std::process::id()));
        let mode = std::fs::metadata(&real)?.permissions();
        let written = std::fs::write(&fresh, text)
            .and_then(|()| std::fs::set_permissions(&fresh, mode))
            .and_then(|()| std::fs::File::open(&fresh)?.sync_all())
            .and_then(|()| std::fs::rename(&fresh, &real));
        if written.is_err() {
            // The error that is told is the first one.
            let _gone = std::fs::remove_file(&fresh);
        }
        written
    };
    write().map_err(|error: std::io::Error| Stop::failed(&format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UGLY: &str = r#"{"nodes":[],"edges":[],"name":"U","format":1}"#;

    #[test]
    fn fmt_writes_the_canonical_form_once_and_check_writes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("u.flow.json");
        std::fs::write(&file, UGLY).unwrap();
        let fmt = |check| Fmt { paths: vec![directory.path().to_owned()], check }.execute().unwrap();
        assert_eq!(fmt(true), Exit::Failed);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), UGLY);
        assert_eq!(fmt(false), Exit::Done);
        assert!(std::fs::read_to_string(&file).unwrap().starts_with("{\n  \"format\": 1,"));
        assert_eq!(fmt(true), Exit::Done);
    }

    #[test]
    fn what_cannot_be_read_is_left_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("u.flow.json");
        std::fs::write(&file, "{\"format\": 1").unwrap();
        assert_eq!(Fmt { paths: vec![file.clone()], check: false }.execute().unwrap(), Exit::Findings);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"format\": 1");
    }
}
