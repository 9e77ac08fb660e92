//! Stories of a directory of flows: what is done to it by others, and through the library.

mod loading;
mod saving;
mod watching;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::Receiver;
use weir_shared::canonical;
use weir_shared::flow::Flow;
use weir_shared::ids::{FlowId, Revision};
use weir_shared::limits::Limits;
use weir_shared::tool::Catalog;

use super::{Entry, Library, LibraryChange};

/// Long enough for the slowest machine, and the end of a test that would hang.
const PATIENCE: Duration = Duration::from_secs(20);

struct Home {
    _directory: tempfile::TempDir,
    flows: PathBuf,
}

impl Home {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let flows = directory.path().join("flows");
        fs::create_dir(&flows).unwrap();
        Self { flows, _directory: directory }
    }

    fn open(&self) -> Library {
        Library::open(self.flows.clone(), Arc::new(Catalog::default()), Limits::default(), None)
    }

    fn file(&self, id: &str) -> PathBuf {
        self.flows.join(format!("{id}.flow.json"))
    }

    fn write(&self, id: &str, text: &str) {
        fs::write(self.file(id), text).unwrap();
    }
}

/// The canonical text of a flow of this name.
fn text(name: &str) -> String {
    canonical::print(&Flow::new(name))
}

fn id(text: &str) -> FlowId {
    text.parse().unwrap()
}

fn name_of(entry: &Entry) -> &str {
    &entry.flow.as_ref().unwrap().name
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(directory).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The next change of the library.
async fn next(changes: &mut Receiver<LibraryChange>) -> LibraryChange {
    tokio::time::timeout(PATIENCE, changes.recv()).await.expect("a change of the library").unwrap()
}

/// Waits until a change makes this so.
async fn until(changes: &mut Receiver<LibraryChange>, mut so: impl FnMut(&LibraryChange) -> bool) {
    while !so(&next(changes).await) {}
}

/// Waits until the flow `a` has this name on disk.
async fn until_named(changes: &mut Receiver<LibraryChange>, name: &str) {
    let named = |entry: &Entry| {
        entry.id == id("a") && entry.flow.as_ref().is_some_and(|flow| flow.name == name) && entry.text.is_none()
    };
    until(changes, |change| matches!(change, LibraryChange::Changed(entry) if named(entry))).await;
}
