//! When to look at the plugins again: soon after something happened in one of their homes, and every 30 seconds as a
//! net. Events only say when; what is there is found by looking.
//!
//! A thread of its own: reading folders blocks, and a look may be long.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::plugins::{Settled, Shared};
use crate::watching::{Signal, Stopped, may_change, until_quiet};

/// The net under lost events.
const NET: Duration = Duration::from_secs(30);
/// After a folder was read while it may still have been changing.
const AGAIN: Duration = Duration::from_millis(100);

/// Ends the thread when it is dropped.
#[derive(Debug)]
pub(super) struct Watch(Sender<Signal>);

impl Watch {
    /// Watches the homes of these plugins from now on.
    pub(super) fn start(plugins: &Arc<Shared>) -> Self {
        let (signals, received) = channel();
        let mut eyes = Eyes::open(plugins.homes.paths().map(Path::to_owned).collect(), signals.clone());
        eyes.follow();
        let plugins = Arc::clone(plugins);
        let thread =
            std::thread::Builder::new().name("weir-plugins".to_owned()).spawn(move || run(eyes, &received, &plugins));
        if let Err(error) = thread {
            tracing::error!(%error, "cannot watch the plugins: changes are seen when a tool is called, not before");
        }
        Self(signals)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // An error means that the thread has ended.
        let _ended = self.0.send(Signal::Stop);
    }
}

fn run(mut eyes: Eyes, signals: &Receiver<Signal>, plugins: &Shared) {
    let mut wait = AGAIN;
    loop {
        if let Err(Stopped) = until_quiet(signals, wait) {
            return;
        }
        eyes.follow();
        wait = match plugins.look() {
            Ok(Settled::Yes) => NET,
            Ok(Settled::Not) => AGAIN,
            Err(error) => {
                tracing::warn!(%error, "the decisions about plugins cannot be read");
                NET
            }
        };
    }
}

/// The watches: on each home that is there, with all below it, and on what is nearest above each.
struct Eyes {
    homes: Vec<PathBuf>,
    watcher: Option<RecommendedWatcher>,
    watched: Vec<Place>,
}

/// A directory: where, which, and whether what is below it counts.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    device: u64,
    inode: u64,
    below: Below,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    Counts,
    /// It is only watched for a home to appear in it.
    DoesNot,
}

impl Eyes {
    fn open(homes: Vec<PathBuf>, signals: Sender<Signal>) -> Self {
        let here = homes.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if event.map_or(true, |event| concerns(&here, &event)) {
                // An error means that the loop has ended.
                let _ended = signals.send(Signal::Touched);
            }
        });
        let watcher = watcher.inspect_err(|error| {
            tracing::warn!(%error, "cannot watch the plugins; looking every {} seconds", NET.as_secs());
        });
        Self { homes, watcher: watcher.ok(), watched: Vec::new() }
    }

    /// Moves the watches when the homes, or what is above them, are no longer what they were.
    fn follow(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let mut places: Vec<Place> = Vec::new();
        for place in self.homes.iter().flat_map(|home| places_of(home)) {
            if places.iter().all(|known| known.path != place.path) {
                places.push(place);
            }
        }
        if places == self.watched {
            return;
        }
        for place in self.watched.drain(..) {
            // It fails for a directory that is gone, whose watch went with it.
            let _gone = watcher.unwatch(&place.path);
        }
        for place in &places {
            let mode = match place.below {
                Below::Counts => RecursiveMode::Recursive,
                Below::DoesNot => RecursiveMode::NonRecursive,
            };
            if let Err(error) = watcher.watch(&place.path, mode) {
                tracing::warn!(path = %place.path.display(), %error, "cannot watch a directory of plugins");
            }
        }
        self.watched = places;
    }
}

/// The home, if it is there, and the nearest directory above it that is.
fn places_of(home: &Path) -> impl Iterator<Item = Place> {
    let place = |path: &Path, below| {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_dir)?;
        Some(Place { path: path.to_owned(), device: metadata.dev(), inode: metadata.ino(), below })
    };
    let above = home.ancestors().skip(1).find_map(|path| place(path, Below::DoesNot));
    place(home, Below::Counts).into_iter().chain(above)
}

/// Whether an event may have changed a plugin. Reading does not, and our own looks are made of it.
fn concerns(homes: &[PathBuf], event: &Event) -> bool {
    if event.need_rescan() {
        return true;
    }
    if !may_change(event) {
        return false;
    }
    event.paths.iter().any(|path| homes.iter().any(|home| path.starts_with(home) || home.starts_with(path)))
}
