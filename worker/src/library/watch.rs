//! When to look at the directory: soon after something happened in it, and every 30 seconds as a net.
//!
//! The directory itself is watched, with those of published versions below it, and the nearest directory above it that
//! exists: so it is noticed when it is made, moved away or replaced. Events are only counted, never interpreted: what is there is found by looking.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::load;
use super::scan::Settled;
use super::versions;
use crate::watching::{Signal, Stopped, may_change, until_quiet};

/// The net under lost events.
const NET: Duration = Duration::from_secs(30);
/// The net where the system gives no watch (its limit is reached): all there is then.
const NET_ALONE: Duration = Duration::from_secs(1);
/// After a file was read while it may still have been changing.
const AGAIN: Duration = Duration::from_millis(100);

/// Calls `look` whenever the directory may have changed, until it is told to stop.
pub(super) fn run(mut eyes: Eyes, signals: &Receiver<Signal>, mut look: impl FnMut() -> Settled) {
    // Whatever happened between the first look and the first watch is found here.
    let mut settled = look();
    loop {
        let wait = match (settled, eyes.sees) {
            (Settled::Not, _) => AGAIN,
            (Settled::Yes, Sees::All) => NET,
            (Settled::Yes, Sees::Nothing) => NET_ALONE,
        };
        if let Err(Stopped) = until_quiet(signals, wait) {
            return;
        }
        eyes.follow();
        settled = look();
    }
}

/// Whether events can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sees {
    All,
    Nothing,
}

/// The watches on the directory and above it.
pub(super) struct Eyes {
    directory: PathBuf,
    watcher: Option<RecommendedWatcher>,
    /// Which directories are watched, by path and by what they are.
    watched: Vec<Place>,
    sees: Sees,
}

/// A directory: where, and which.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Eyes {
    /// Watches this directory, or waits for it to be made. What happens is told to `signals`.
    pub(super) fn open(directory: &Path, signals: Sender<Signal>) -> Self {
        let here = directory.to_owned();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if event.map_or(true, |event| concerns(&here, &event)) {
                // An error means that the loop has ended.
                let _ended = signals.send(Signal::Touched);
            }
        });
        let watcher = watcher.inspect_err(|error| no_watch(directory, error)).ok();
        let mut eyes = Self { directory: directory.to_owned(), watcher, watched: Vec::new(), sees: Sees::Nothing };
        eyes.follow();
        eyes
    }

    /// Moves the watches when the directory, or what is above it, is no longer what it was.
    fn follow(&mut self) {
        // Placing a watch and looking again closes the gap in which the directory may have been replaced.
        while let Some(watcher) = &mut self.watcher {
            let places = places(&self.directory);
            if places == self.watched && self.sees == Sees::All {
                return;
            }
            for place in self.watched.drain(..) {
                // It fails for a directory that is gone, whose watch went with it.
                let _gone = watcher.unwatch(&place.path);
            }
            let placed = places.iter().try_for_each(|place| watcher.watch(&place.path, RecursiveMode::NonRecursive));
            let before = self.sees;
            self.watched = places;
            self.sees = if placed.is_ok() { Sees::All } else { Sees::Nothing };
            if let Err(error) = placed {
                if before == Sees::All {
                    no_watch(&self.directory, &error);
                }
                return;
            }
        }
    }
}

fn no_watch(directory: &Path, error: &notify::Error) {
    tracing::warn!(directory = %directory.display(), %error, "cannot watch the directory of flows; looking every second");
}

/// The directory, if it is there, those of versions below it, and the nearest one above it.
fn places(directory: &Path) -> Vec<Place> {
    let place = |path: &Path| {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_dir)?;
        Some(Place { path: path.to_owned(), device: metadata.dev(), inode: metadata.ino() })
    };
    let above = directory.ancestors().skip(1).find_map(place);
    let versions = versions::places(directory).into_iter().filter_map(|path| place(&path));
    place(directory).into_iter().chain(above).chain(versions).collect()
}

/// Whether an event may have changed a flow. Reading does not, and our own looks are made of it.
fn concerns(directory: &Path, event: &Event) -> bool {
    if event.need_rescan() {
        return true;
    }
    if !may_change(event) {
        return false;
    }
    event.paths.iter().any(|path| {
        let is_flow = path.parent() == Some(directory)
            && path.file_name().is_some_and(|name| load::stem(&name.to_string_lossy()).is_some());
        is_flow || versions::concerns(directory, path) || directory.starts_with(path)
    })
}
