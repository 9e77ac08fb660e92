//! Published versions on disk: `published/<id>/<n>.json` beside the flows, and the mark of a flow that was taken out of
//! service.
//!
//! A version is written once, whole, under a number that no file has, and never touched again. What a machine thinks of
//! a version is not known here. Like flow files, these are never followed out of the directory and never read beyond
//! a bound; what cannot be read is listed with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weir_shared::ids::FlowId;
use weir_shared::limits::SNAPSHOT_FILE_BYTES;
use weir_shared::published::{BadSnapshot, Snapshot};

use super::load::{self, Content, OnDisk};
use super::save::{Fresh, SaveError, sync_directory, sync_directory_of};
use super::scan::Marks;

/// Where versions are, below the directory of flows.
const PUBLISHED: &str = "published";
/// The file that takes a flow out of service.
const OUT_OF_SERVICE: &str = "UNPUBLISHED";
const OUT_OF_SERVICE_TEXT: &[u8] = b"This flow was taken out of service: no schedule and no webhook starts it.\n";

/// One version as it stands in its file.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) number: u64,
    pub(crate) content: Result<Snapshot, Unfit>,
}

/// Why the file of a version is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    #[error(transparent)]
    Bad(#[from] BadSnapshot),
    #[error("it cannot be read: {0}")]
    NotRead(String),
}

impl Unfit {
    /// Whether it was a version, and is changed.
    pub(crate) fn is_tampering(&self) -> bool {
        match self {
            Unfit::Bad(BadSnapshot::Digest | BadSnapshot::Misplaced { .. }) => true,
            Unfit::Bad(BadSnapshot::Shape(_) | BadSnapshot::Format(_) | BadSnapshot::Flow(_)) | Unfit::NotRead(_) => {
                false
            }
        }
    }
}

/// The versions of one flow.
#[derive(Debug, Default)]
pub(crate) struct VersionFiles {
    /// By number.
    pub(crate) versions: Vec<Arc<Version>>,
    /// Whether the flow is in service, where it has versions.
    pub(crate) service: Service,
}

/// Whether a published flow may be started by schedules and webhooks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Service {
    #[default]
    In,
    Out,
}

/// By number, with the marks of the file when it was read.
type ReadVersions = BTreeMap<u64, (Marks, Arc<Version>)>;

/// What was seen of versions: read once, and looked at again.
#[derive(Debug, Default)]
pub(super) struct Versions {
    read: Mutex<BTreeMap<FlowId, ReadVersions>>,
    /// What the last look found: a change of it is told.
    seen: Mutex<BTreeMap<FlowId, BTreeMap<String, Marks>>>,
}

impl Versions {
    /// The versions of a flow as they are on disk now. A file that is as it was is not read again.
    pub(super) fn of(&self, directory: &Path, id: &FlowId) -> VersionFiles {
        let place = place(directory, id);
        let Some(names) = names(directory, &place) else { return VersionFiles::default() };
        let service = if names.contains(OUT_OF_SERVICE) { Service::Out } else { Service::In };
        let numbers: BTreeSet<u64> = names.iter().filter_map(|name| number(name)).collect();
        let mut read = guard(&self.read);
        let known = read.entry(id.clone()).or_default();
        known.retain(|number, _| numbers.contains(number));
        let mut versions = Vec::with_capacity(numbers.len());
        for number in numbers {
            let marks = fs::metadata(place.join(file_name(number)));
            if let (Some((marks, version)), Ok(now)) = (known.get(&number), &marks)
                && marks.still_holds(now)
            {
                versions.push(Arc::clone(version));
                continue;
            }
            // It went between the two looks.
            let Some((marks, version)) = read_version(&place, id, number) else { continue };
            let version = Arc::new(version);
            known.insert(number, (marks, Arc::clone(&version)));
            versions.push(version);
        }
        VersionFiles { versions, service }
    }

    /// The flows whose versions are not what the last look found.
    pub(super) fn look(&self, directory: &Path) -> Vec<FlowId> {
        let mut now = BTreeMap::new();
        for id in published_flows(directory) {
            let place = place(directory, &id);
            let marks = |name: String| Some((name.clone(), Marks::of(&fs::metadata(place.join(&name)).ok()?).kept()));
            let files: BTreeMap<String, Marks> =
                names(directory, &place).unwrap_or_default().into_iter().filter_map(marks).collect();
            now.insert(id, files);
        }
        let mut seen = guard(&self.seen);
        let ids: BTreeSet<&FlowId> = now.keys().chain(seen.keys()).collect();
        let changed = ids.into_iter().filter(|id| now.get(*id) != seen.get(*id)).cloned().collect();
        *seen = now;
        changed
    }
}

/// The directories that hold versions, for whoever watches them.
pub(super) fn places(directory: &Path) -> Vec<PathBuf> {
    let below = published_flows(directory).into_iter().map(|id| place(directory, &id));
    std::iter::once(directory.join(PUBLISHED)).chain(below).collect()
}

/// Whether this path is where versions are.
pub(super) fn concerns(directory: &Path, path: &Path) -> bool {
    path.starts_with(directory.join(PUBLISHED))
}

/// Writes a new version; `Exists` when its number is taken.
pub(super) fn write(directory: &Path, snapshot: &Snapshot) -> Result<(), SaveError> {
    let place = place(directory, &snapshot.id);
    fs::create_dir_all(&place)?;
    if !load::stays_inside(directory, &place) {
        return Err(SaveError::NotRead { id: snapshot.id.clone() });
    }
    let path = place.join(file_name(snapshot.number));
    match Fresh::write(&path, snapshot.print().as_bytes(), None)?.name_if_free(&path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(SaveError::Exists { id: snapshot.id.clone() })
        }
        named => {
            named?;
            // The directories may be new, too.
            sync_directory_of(&place)?;
            Ok(sync_directory(directory)?)
        }
    }
}

/// Takes a flow out of service, or puts it back.
pub(super) fn set_service(directory: &Path, id: &FlowId, service: Service) -> io::Result<()> {
    let place = place(directory, id);
    let path = place.join(OUT_OF_SERVICE);
    match service {
        Service::Out => Fresh::write(&path, OUT_OF_SERVICE_TEXT, None)?.name(&path),
        Service::In => match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.and_then(|()| sync_directory(&place)),
        },
    }
}

/// Removes every version of a flow.
pub(super) fn remove(directory: &Path, id: &FlowId) -> io::Result<()> {
    if !is_inside(directory) {
        // Somebody else's, as far as this directory goes.
        return Ok(());
    }
    let place = place(directory, id);
    let is_link = fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink());
    let removed = if is_link { fs::remove_file(&place) } else { fs::remove_dir_all(&place) };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.and_then(|()| sync_directory_of(&place)),
    }
}

/// Whether the versions are in the directory of flows, and not behind a link that leaves it.
fn is_inside(directory: &Path) -> bool {
    load::stays_inside(directory, &directory.join(PUBLISHED))
}

/// Gives a flow's versions to another id, which has none. Each is written anew, since it names its flow; one that
/// cannot be read is moved as it is.
pub(super) fn rename(directory: &Path, from: &FlowId, to: &FlowId) -> Result<(), SaveError> {
    let files = Versions::default().of(directory, from);
    for version in &files.versions {
        if let Ok(snapshot) = &version.content {
            match write(directory, &Snapshot { id: to.clone(), ..snapshot.clone() }) {
                // Moved before the worker was killed.
                Err(SaveError::Exists { .. }) => {}
                written => written?,
            }
            continue;
        }
        let name = file_name(version.number);
        fs::create_dir_all(place(directory, to))?;
        fs::rename(place(directory, from).join(&name), place(directory, to).join(&name))?;
    }
    if files.service == Service::Out && !files.versions.is_empty() {
        set_service(directory, to, Service::Out)?;
    }
    Ok(remove(directory, from)?)
}

fn read_version(place: &Path, id: &FlowId, number: u64) -> Option<(Marks, Version)> {
    let on_disk = match OnDisk::read_at_most(place, &file_name(number), SNAPSHOT_FILE_BYTES) {
        Ok(on_disk) => on_disk,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            let content = Err(Unfit::NotRead(error.to_string()));
            return Some((Marks::unread(), Version { number, content }));
        }
    };
    let content = match &on_disk.content {
        Content::Bytes(bytes) => Snapshot::read(bytes, id, number).map_err(Unfit::from),
        Content::TooLarge => Err(Unfit::NotRead("it is larger than a version may be".to_owned())),
        Content::NotRead(reason) => Err(Unfit::NotRead(reason.clone())),
    };
    Some((Marks::of(&on_disk.metadata), Version { number, content }))
}

/// The flows that have a directory of versions.
fn published_flows(directory: &Path) -> Vec<FlowId> {
    let Ok(entries) = fs::read_dir(directory.join(PUBLISHED)) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The files in a directory of versions; none when there is no such directory below that of the flows.
fn names(directory: &Path, place: &Path) -> Option<BTreeSet<String>> {
    let entries = fs::read_dir(place).ok()?;
    if !load::stays_inside(directory, place) {
        return None;
    }
    Some(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// The number that a file's name stands for, written as it is printed.
fn number(name: &str) -> Option<u64> {
    let number: u64 = name.strip_suffix(".json")?.parse().ok()?;
    (number > 0 && file_name(number) == name).then_some(number)
}

fn file_name(number: u64) -> String {
    format!("{number}.json")
}

fn place(directory: &Path, id: &FlowId) -> PathBuf {
    directory.join(PUBLISHED).join(id.as_str())
}

fn guard<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panicking look left behind is at worst old.
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
