//! Flow files that a command is given: files as they are, directories as the flows in them.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::exit::Stop;
use weir_shared::limits::FLOW_FILE_BYTES;

/// How a flow file's name ends.
const ENDING: &str = ".flow.json";

/// The flow files that these paths name; of a directory those in it, by name, hidden ones left out.
pub(super) fn named(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Stop> {
    let mut files = Vec::new();
    for path in paths {
        let failed = |error: io::Error| Stop::usage(&format!("{}: {error}", path.display()));
        if std::fs::metadata(path).map_err(failed)?.is_dir() {
            files.extend(in_directory(path).map_err(failed)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn in_directory(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(ENDING) && !name.starts_with('.') {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// The stem of a flow file's name; none when the name is not that of a flow file.
pub(super) fn stem(path: &Path) -> Option<String> {
    path.file_name()?.to_string_lossy().strip_suffix(ENDING).map(str::to_owned)
}

/// The bytes of a file, or one more than a flow may have.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(FLOW_FILE_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| Stop::usage(&format!("{}: {error}", path.display())))?;
    Ok(bytes)
}
