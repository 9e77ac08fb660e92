//! Control groups: a unit that has one cannot leave it, whatever it does to its environment, group or session.
//!
//! A worker makes groups below one directory of the kernel's control groups (version 2): its own when that was
//! delegated to it (a service unit with `Delegate=yes`), or one that the settings name. Guarantees: every unit's group
//! is killed as a whole and removed when the unit ends, and what an earlier worker left in groups is ended at the next
//! start. A controller that the kernel does not have here holds nothing, and [`Cgroups::holds`] says so.

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::limits::UnitLimits;
use super::marks::Marks;

/// How long what an earlier worker left in a group may take to die.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it is looked whether it has.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Where the settings want control groups.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum CgroupPlace {
    /// Below the worker's own group, when it was delegated to the worker.
    #[default]
    Delegated,
    /// Nowhere.
    None,
    /// Below this directory of the control groups.
    Directory(PathBuf),
}

impl CgroupPlace {
    /// The place of this name in the settings: `delegated`, `none`, or an absolute directory.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "delegated" => Some(Self::Delegated),
            "none" => Some(Self::None),
            path => Path::new(path).is_absolute().then(|| Self::Directory(path.into())),
        }
    }
}

impl fmt::Display for CgroupPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delegated => f.write_str("delegated"),
            Self::None => f.write_str("none"),
            Self::Directory(directory) => directory.display().fmt(f),
        }
    }
}

/// Which units get a control group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Contained {
    /// Those with a limit that a group holds.
    #[default]
    Limited,
    All,
}

impl Contained {
    /// The choice of this name in the settings: `limited` or `all`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Limited, Self::All].into_iter().find(|choice| choice.as_str() == name)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Limited => "limited",
            Self::All => "all",
        }
    }
}

impl fmt::Display for Contained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the settings say about control groups.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CgroupSettings {
    pub(crate) place: CgroupPlace,
    pub(crate) contained: Contained,
}

#[cfg(test)]
impl CgroupSettings {
    /// No control groups, also where some were delegated to the tests.
    pub(crate) fn none() -> Self {
        Self { place: CgroupPlace::None, contained: Contained::Limited }
    }
}

/// Why the groups that the settings name cannot be had.
#[derive(Debug, thiserror::Error)]
#[error(
    "`cgroup.directory`: no control groups can be made in {}: {source}; name a directory of a cgroup2 file system that this user may write",
    directory.display()
)]
pub(crate) struct NoCgroups {
    directory: PathBuf,
    source: io::Error,
}

/// A limit of a whole unit that a group could hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    Memory,
    Processes,
}

impl Controller {
    const ALL: [Controller; 2] = [Controller::Memory, Controller::Processes];

    /// Its name in the kernel's files.
    fn name(self) -> &'static str {
        match self {
            Controller::Memory => "memory",
            Controller::Processes => "pids",
        }
    }
}

/// The place where one worker makes its groups.
#[derive(Debug)]
pub(super) struct Cgroups {
    directory: PathBuf,
    contained: Contained,
    controllers: Vec<Controller>,
    /// Groups made: an attempt may be several processes, one after the other.
    made: AtomicU64,
}

impl Cgroups {
    /// The groups of the worker with this id, emptied of what an earlier one left. None when the settings want none,
    /// or nothing was delegated to this worker.
    pub(super) fn open(settings: &CgroupSettings, worker: &str) -> Result<Option<Self>, NoCgroups> {
        let parent = match &settings.place {
            CgroupPlace::None => return Ok(None),
            CgroupPlace::Directory(directory) => directory.clone(),
            CgroupPlace::Delegated => match delegated() {
                Some(directory) => directory,
                None => return Ok(None),
            },
        };
        let open = || Self::below(&parent, worker, settings.contained);
        match (open(), &settings.place) {
            (Ok(groups), _) => Ok(Some(groups)),
            (Err(source), CgroupPlace::Directory(_)) => Err(NoCgroups { directory: parent.clone(), source }),
            (Err(error), CgroupPlace::Delegated | CgroupPlace::None) => {
                tracing::warn!(directory = %parent.display(), %error, "no control groups, though some were delegated");
                Ok(None)
            }
        }
    }

    fn below(parent: &Path, worker: &str, contained: Contained) -> io::Result<Self> {
        // Any directory could be made in; only one of the kernel's has this file.
        let offered = fs::read_to_string(parent.join("cgroup.controllers"))?;
        let directory = parent.join(format!("weir-{worker}"));
        match fs::create_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => end_leftovers(&directory),
            made => made?,
        }
        let wanted = Controller::ALL.into_iter().filter(|controller| has_word(&offered, controller.name()));
        // Each by itself: one that cannot be had must not cost the other.
        for controller in wanted {
            let enable = format!("+{}", controller.name());
            let enabled = [parent, &directory]
                .into_iter()
                .try_for_each(|group| fs::write(group.join("cgroup.subtree_control"), &enable));
            if let Err(error) = enabled {
                tracing::debug!(controller = controller.name(), %error, "a controller cannot be had");
            }
        }
        let enabled = fs::read_to_string(directory.join("cgroup.subtree_control"))?;
        let controllers = Controller::ALL.into_iter().filter(|controller| has_word(&enabled, controller.name()));
        Ok(Self { controllers: controllers.collect(), directory, contained, made: AtomicU64::new(0) })
    }

    /// Whether the groups here hold this limit.
    pub(super) fn holds(&self, controller: Controller) -> bool {
        self.controllers.contains(&controller)
    }

    /// Whether a unit with these limits gets a group.
    pub(super) fn contain(&self, limits: UnitLimits) -> bool {
        match self.contained {
            Contained::All => true,
            Contained::Limited => limits.want_a_group(),
        }
    }

    /// Makes the group of one attempt.
    pub(super) fn make(&self, marks: &Marks, limits: UnitLimits) -> io::Result<Cgroup> {
        let Marks { worker: _, run, step, attempt } = marks;
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let path = self.directory.join(format!("{run}-{step}-{attempt}-{number}"));
        fs::create_dir(&path)?;
        // Removes it again when the rest fails.
        let made = Removed(path);
        let limit = |controller, file: &str, most: Option<u64>| match most {
            Some(most) if self.holds(controller) => fs::write(made.0.join(file), most.to_string()),
            Some(_) | None => Ok(()),
        };
        limit(Controller::Memory, "memory.max", limits.memory_bytes())?;
        // All of a unit or nothing: half of a pipeline is no result.
        limit(Controller::Memory, "memory.oom.group", limits.memory_mb.map(|_| 1))?;
        limit(Controller::Processes, "pids.max", limits.processes)?;
        let directory = fs::File::open(&made.0)?.into();
        Ok(Cgroup { directory, path: made })
    }
}

impl Drop for Cgroups {
    fn drop(&mut self) {
        // Still in use, or not there: then the next start takes it away.
        let _left = fs::remove_dir(&self.directory);
    }
}

/// The group of one unit. Dropping it ends what is left in it, and removes it.
#[derive(Debug)]
pub(super) struct Cgroup {
    directory: OwnedFd,
    path: Removed,
}

/// A directory that is removed when this is dropped.
#[derive(Debug)]
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _left = fs::remove_dir(&self.0);
    }
}

impl Cgroup {
    /// SIGKILL to everything in the group, also to what is being forked right now.
    pub(super) fn kill(&self) {
        // An error: the group is not there any more, and so is nobody in it.
        let _gone = fs::write(self.path.0.join("cgroup.kill"), "1");
    }

    /// The processes in the group, zombies left out.
    pub(super) fn processes(&self) -> Vec<u32> {
        processes(&self.path.0)
    }

    /// The most memory that the unit had at once, in bytes; none where the kernel does not count it.
    pub(super) fn peak_memory(&self) -> Option<u64> {
        fs::read_to_string(self.path.0.join("memory.peak")).ok()?.trim().parse().ok()
    }

    /// Whether the kernel ended the unit because it was over its limit of memory.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.path.0.join("memory.events")).unwrap_or_default();
        events.lines().filter_map(|line| line.strip_prefix("oom_kill ")).any(|count| count.trim() != "0")
    }
}

impl AsFd for Cgroup {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        if !self.processes().is_empty() {
            self.kill();
        }
    }
}

fn processes(group: &Path) -> Vec<u32> {
    let list = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    list.lines().filter_map(|pid| pid.parse().ok()).collect()
}

fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// Ends what is left in the groups below this directory, and removes them.
fn end_leftovers(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let groups: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    for group in &groups {
        let _gone = fs::write(group.join("cgroup.kill"), "1");
    }
    let deadline = Instant::now() + PATIENCE;
    for group in groups {
        while !processes(&group).is_empty() && Instant::now() < deadline {
            std::thread::sleep(BETWEEN_LOOKS);
        }
        if let Err(error) = fs::remove_dir(&group) {
            tracing::warn!(group = %group.display(), %error, "a control group of an earlier worker is still in use");
        }
    }
}

/// The worker's own group, when whoever started the worker gave it away; the worker moves to a group below it first,
/// since the kernel lets no group with processes hand its controllers on.
fn delegated() -> Option<PathBuf> {
    let own = own_group(&fs::read_to_string("/proc/self/cgroup").ok()?)?.to_owned();
    let mounted = mounted_at(&fs::read_to_string("/proc/self/mountinfo").ok()?)?;
    let directory = mounted.join(own.trim_start_matches('/'));
    if !is_marked_as_delegated(&directory) {
        return None;
    }
    let leaf = directory.join("worker");
    let moved = fs::create_dir(&leaf)
        .or_else(|error| if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })
        .and_then(|()| fs::write(leaf.join("cgroup.procs"), "0"));
    match moved {
        Ok(()) => Some(directory),
        Err(error) => {
            tracing::warn!(directory = %directory.display(), %error, "the delegated control group cannot be used");
            None
        }
    }
}

/// The path of a process's group of version 2, from its `/proc/<pid>/cgroup`.
fn own_group(cgroup: &str) -> Option<&str> {
    cgroup.lines().find_map(|line| line.strip_prefix("0::"))
}

/// Where control groups of version 2 are mounted, from a `mountinfo` (proc(5)).
fn mounted_at(mountinfo: &str) -> Option<PathBuf> {
    mountinfo.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let (root, at) = (fields.next()?, fields.next()?);
        // A mount of a part would put the names of groups out of step with their paths.
        (kind.starts_with("cgroup2 ") && root == "/").then(|| PathBuf::from(at))
    })
}

/// systemd marks the groups that it delegates: for the system's services, and for those of a user.
fn is_marked_as_delegated(directory: &Path) -> bool {
    ["trusted.delegate", "user.delegate"].into_iter().any(|mark| {
        let mut value = [0_u8; 4];
        rustix::fs::getxattr(directory, mark, &mut value[..]).is_ok_and(|length| value.get(..length) == Some(b"1"))
    })
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
