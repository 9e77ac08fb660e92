//! What changed in the directory since the last look.
//!
//! Events only say *when* to look; what is there is always found by looking. So it does not matter how an editor saves,
//! what order events come in, or whether some were lost. A look costs a `stat` a file; a file is read only when its
//! marks (inode, size, times) are not those of the last reading.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use weir_shared::check::bad_flow_id;
use weir_shared::ids::FlowId;

use super::catalog::{Difference, Flows, Refused};
use super::load::{self, Content, Entry, OnDisk, Rules};

/// A file read so soon after its last change may change again without its marks showing it: the kernel's clock for
/// files ticks every few milliseconds. Such a file is read again at the next look.
const SETTLE_MS: u128 = 50;
/// Files below which a second thread costs more than it brings.
const FILES_A_THREAD: usize = 32;

/// What is remembered between looks.
#[derive(Debug, Default)]
pub(super) struct Scan {
    files: BTreeMap<FlowId, Marks>,
}

/// What tells a changed file from an unchanged one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marks {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    settled: bool,
    /// Whether its content was seen. What kept it from being read may pass without a mark on the file.
    read: bool,
}

impl Marks {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            read: true,
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            settled: !is_fresh(metadata),
        }
    }

    /// Of a file that could not be read: it is read again at the next look.
    pub(super) fn unread() -> Self {
        let (none, never) = (0, (0, 0));
        Self { device: none, inode: none, size: none, modified: never, changed: never, settled: false, read: false }
    }

    /// The same marks, whenever they were taken: what is compared with the marks of another look.
    pub(super) fn kept(self) -> Self {
        Self { settled: true, ..self }
    }

    /// Whether a file with these marks need not be read again.
    pub(super) fn still_holds(&self, now: &Metadata) -> bool {
        self.settled && Self { settled: true, ..Self::of(now) } == *self && self.read
    }
}

/// Whether the file changed just now. A time in the future (the clock went back) is not: it would stay so.
fn is_fresh(metadata: &Metadata) -> bool {
    let changed = i128::from(metadata.ctime()) * 1000 + i128::from(metadata.ctime_nsec()) / 1_000_000;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    i128::try_from(now).ok().and_then(|now| u128::try_from(now - changed).ok()).is_some_and(|age| age < SETTLE_MS)
}

/// Whether another look is due soon even if nothing happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    Yes,
    /// Some file was read while it may still have been changing.
    Not,
}

impl Scan {
    /// Looks at the directory and takes in what changed. A directory that is not there holds no flows; one that
    /// cannot be read for another reason leaves everything as it was.
    pub(super) fn look(&mut self, directory: &Path, flows: &Flows, rules: &Rules) -> Settled {
        let names = match names(directory) {
            Ok(names) => names,
            Err(error) => {
                tracing::warn!(directory = %directory.display(), %error, "cannot read the directory of flows");
                return Settled::Yes;
            }
        };
        let mut difference = Difference { refused: Some(names.refused), ..Difference::default() };
        let changed: Vec<_> = names.ids.iter().filter(|id| self.may_have_changed(directory, id)).collect();
        for (id, found) in self.read_all(directory, &changed, flows, rules) {
            self.note(id, found, &mut difference);
        }
        let gone: Vec<FlowId> = self.files.keys().filter(|id| !names.ids.contains(*id)).cloned().collect();
        for id in gone {
            self.files.remove(&id);
            difference.removed.push(id);
        }
        flows.take_in(difference);
        if self.files.values().all(|marks| marks.settled) { Settled::Yes } else { Settled::Not }
    }

    /// Lets the next look read every file, changed or not.
    pub(super) fn read_again(&mut self) {
        for marks in self.files.values_mut() {
            marks.read = false;
        }
    }

    /// Looks at one flow, whatever its marks say.
    pub(super) fn look_at(&mut self, directory: &Path, id: &FlowId, flows: &Flows, rules: &Rules) {
        let mut difference = Difference::default();
        let found = self.read_one(directory, id, flows, rules);
        self.note(id.clone(), found, &mut difference);
        flows.take_in(difference);
    }

    /// Reads and checks these files, on several threads when there are many.
    fn read_all(&self, directory: &Path, ids: &[&FlowId], flows: &Flows, rules: &Rules) -> Vec<(FlowId, Found)> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = processors.min(ids.len().div_ceil(FILES_A_THREAD)).max(1);
        let each = ids.len().div_ceil(threads).max(1);
        let read = |ids: &[&FlowId]| -> Vec<(FlowId, Found)> {
            ids.iter().map(|id| ((*id).clone(), self.read_one(directory, id, flows, rules))).collect()
        };
        let Some((here, elsewhere)) = ids.chunks(each).collect::<Vec<_>>().split_first().map(|(a, b)| (*a, b.to_vec()))
        else {
            return Vec::new();
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = elsewhere.into_iter().map(|ids| (ids, scope.spawn(move || read(ids)))).collect();
            let mut found = read(here);
            for (ids, other) in others {
                // A panic while checking one file must not lose the rest of its part: it is read again here, and shows.
                found.extend(other.join().unwrap_or_else(|_| read(ids)));
            }
            found
        })
    }

    /// Reads and checks this file. One that is as it was, and was checked by these rules, is not checked again.
    fn read_one(&self, directory: &Path, id: &FlowId, flows: &Flows, rules: &Rules) -> Found {
        let on_disk = OnDisk::read(directory, &load::file_name(id)).ok()?;
        let read = !matches!(on_disk.content, Content::NotRead(_));
        let marks = Marks { read, ..Marks::of(&on_disk.metadata) };
        let before = flows.get(id);
        let was_read = self.files.get(id).is_some_and(|marks| marks.read);
        if let Some(before) = before.as_ref().filter(|before| was_read && before.is_of(&on_disk)) {
            return Some((Arc::clone(before), marks));
        }
        Some((Arc::new(load::entry(id, on_disk, before.as_deref(), rules)), marks))
    }

    fn note(&mut self, id: FlowId, found: Found, difference: &mut Difference) {
        if let Some((entry, marks)) = found {
            self.files.insert(id, marks);
            difference.changed.push(entry);
        } else {
            self.files.remove(&id);
            difference.removed.push(id);
        }
    }

    fn may_have_changed(&self, directory: &Path, id: &FlowId) -> bool {
        let now = fs::metadata(directory.join(load::file_name(id)));
        match (self.files.get(id), now) {
            (Some(marks), Ok(now)) => !marks.still_holds(&now),
            (None, _) | (_, Err(_)) => true,
        }
    }
}

struct Names {
    ids: BTreeSet<FlowId>,
    refused: Vec<Refused>,
}

fn names(directory: &Path) -> io::Result<Names> {
    let mut names = Names { ids: BTreeSet::new(), refused: Vec::new() };
    let files = match fs::read_dir(directory) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(names),
        Err(error) => return Err(error),
    };
    for file in files {
        let name = file?.file_name();
        // A name that is not UTF-8 is shown as well as it can be; it is refused below.
        let name = name.to_string_lossy();
        let Some(stem) = load::stem(&name) else { continue };
        match stem.parse() {
            Ok(id) => drop(names.ids.insert(id)),
            Err(_) => names.refused.push(Refused { name: name.clone().into_owned(), finding: bad_flow_id(stem) }),
        }
    }
    names.refused.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(names)
}

type Found = Option<(Arc<Entry>, Marks)>;
