use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use weir_shared::plan::StopPolicy;

use super::*;
use crate::tool::ToolSettings;
use crate::tool::call::{StopReason, ToolOutcome};
use crate::tool::desk::{Desk, failure, result};

/// Where a test may make control groups: the root of version 2, for root alone.
fn root_of_groups() -> Option<PathBuf> {
    let root = mounted_at(&fs::read_to_string("/proc/self/mountinfo").ok()?)?;
    let trial = root.join(format!("weir-trial-{}", std::process::id()));
    let may = fs::create_dir(&trial).and_then(|()| fs::remove_dir(&trial)).is_ok();
    may.then_some(root)
}

/// A desk whose processes are all in control groups; none on a machine where none can be made.
fn contained() -> Option<Desk> {
    let Some(root) = root_of_groups() else {
        eprintln!("no control groups can be made here, so nothing is shown of them");
        return None;
    };
    let settings = CgroupSettings { place: CgroupPlace::Directory(root), contained: Contained::All };
    Some(Desk::of(ToolSettings::default(), &settings))
}

/// Whether this process is there and no zombie.
fn lives(pid: u32) -> bool {
    super::super::sys::stat(pid).is_some_and(|stat| !stat.zombie)
}

#[tokio::test]
async fn what_leaves_its_group_its_session_and_its_environment_is_gone_with_its_step() {
    let Some(desk) = contained() else { return };
    // Nothing marks the one that stays: an empty environment, a session of its own, and no parent.
    let line = "(setsid env -i sh -c 'echo $$ > pid; exec sleep 930' > /dev/null 2>&1 &); \
                until [ -s pid ]; do sleep 0.01; done; cat pid";
    let outcome = desk.command(line).await;
    let pid: u32 = result(&outcome)["stdout"].as_str().unwrap().trim().parse().unwrap();
    assert!(!lives(pid), "{pid} outlived its step");
    let report = outcome.report.as_ref().unwrap();
    assert_eq!((report.exit_code, report.swept), (Some(0), 1), "{report:?}");
}

#[tokio::test]
async fn a_cancelled_step_takes_its_whole_control_group_along() {
    let Some(mut desk) = contained() else { return };
    desk.policy = StopPolicy { grace_seconds: 0, ..StopPolicy::default() };
    let line = "(setsid env -i sh -c 'trap \"\" TERM; echo $$ > pid; sleep 931; :' > /dev/null 2>&1 &); \
                until [ -s pid ]; do sleep 0.01; done; cat pid; echo ready; sleep 932";
    let running = tokio::spawn(desk.call("execute_command", json!({ "command": line })));
    desk.heard.until("ready").await;
    desk.stop(StopReason::Cancelled);
    let outcome = running.await.unwrap();
    assert_eq!(failure(&outcome).message, "cancelled");
    let pid = fs::read_to_string(desk.run_dir().work().join("pid")).unwrap();
    assert!(!lives(pid.trim().parse().unwrap()), "{pid} outlived its step");
}

#[tokio::test]
async fn a_process_inside_a_group_is_started_like_any_other() {
    let Some(desk) = contained() else { return };
    let outcome =
        desk.command("cat /proc/self/cgroup; echo $WEIR_NODE_ID; pwd; trap; cat; printf out; printf err >&2").await;
    let text = result(&outcome)["stdout"].as_str().unwrap().to_owned();
    let group = text.lines().find(|line| line.starts_with("0::")).unwrap();
    assert!(group.contains("/weir-"), "{text}");
    assert!(text.contains("\ncheck\n") && text.ends_with("out"), "{text}");
    assert!(text.contains(desk.run_dir().work().to_str().unwrap()), "{text}");
    assert_eq!(result(&outcome)["stderr"], "err");
    let report = outcome.report.as_ref().unwrap();
    assert_eq!((report.exit_code, report.leaked), (Some(0), false));

    // Its own process group, and the signals of a process that was started outside of any.
    let line = "[ \"$(cut -d' ' -f5 /proc/$$/stat)\" = $$ ] && grep -E 'SigBlk|SigIgn|SigCgt' /proc/self/status";
    // 32 and 33 are the C library's own.
    let signals = |outcome: &ToolOutcome| -> Vec<u64> {
        let text = result(outcome)["stdout"].as_str().unwrap().to_owned();
        let masks = text.lines().map(|line| u64::from_str_radix(line.rsplit('\t').next().unwrap(), 16).unwrap());
        masks.map(|mask| mask & !(0b11 << 31)).collect()
    };
    let inside = signals(&desk.command(line).await);
    assert_eq!((inside.len(), inside[0], inside[1]), (3, 0, 0), "blocked, ignored, caught");
    assert_eq!(inside, signals(&Desk::new().command(line).await));
}

#[tokio::test]
async fn a_start_that_fails_inside_a_group_says_why_and_leaves_no_group() {
    let Some(desk) = contained() else { return };
    let outcome = desk.call("execute_command", json!({ "command": "true", "workingDirectory": "gone" })).await;
    assert!(failure(&outcome).message.contains("no such directory"), "{outcome:?}");
    let long = "x".repeat(200_000);
    let outcome = desk.command(&format!("true {long}")).await;
    assert!(failure(&outcome).message.contains("argument list too long"), "{:?}", failure(&outcome).message);
    let worker = desk.run_dir().path().ancestors().nth(2).unwrap().file_name().unwrap().to_owned();
    let groups = root_of_groups().unwrap().join(format!("weir-{}", worker.to_string_lossy()));
    let left: Vec<_> = fs::read_dir(&groups).unwrap().flatten().filter(|entry| entry.path().is_dir()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_an_earlier_worker_left_in_its_groups_is_ended_at_the_next_start() {
    let Some(root) = root_of_groups() else { return };
    let name = format!("test-{}", std::process::id());
    let group = root.join(format!("weir-{name}/left"));
    fs::create_dir_all(&group).unwrap();
    let mut child = std::process::Command::new("/bin/sleep").arg("933").spawn().unwrap();
    fs::write(group.join("cgroup.procs"), child.id().to_string()).unwrap();
    let settings = CgroupSettings { place: CgroupPlace::Directory(root.clone()), contained: Contained::Limited };
    let groups = Cgroups::open(&settings, &name).unwrap().unwrap();
    let status = child.wait().unwrap();
    assert!(!status.success());
    assert!(!group.exists());
    drop(groups);
    assert!(!root.join(format!("weir-{name}")).exists(), "an empty place goes with the worker");
}

#[test]
fn a_place_that_is_none_is_refused_by_name() {
    let home = tempfile::tempdir().unwrap();
    let settings =
        CgroupSettings { place: CgroupPlace::Directory(home.path().to_owned()), contained: Contained::Limited };
    let error = Cgroups::open(&settings, "w").unwrap_err().to_string();
    assert!(error.contains("cgroup.directory") && error.contains(home.path().to_str().unwrap()), "{error}");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "nothing was made there");
}

/// A directory that looks like a group with both controllers.
fn stand_in() -> tempfile::TempDir {
    let parent = tempfile::tempdir().unwrap();
    fs::write(parent.path().join("cgroup.controllers"), "cpu memory pids\n").unwrap();
    parent
}

#[test]
fn limits_are_written_where_the_kernel_reads_them() {
    let parent = stand_in();
    let groups = Cgroups {
        directory: parent.path().to_owned(),
        contained: Contained::Limited,
        controllers: vec![Controller::Memory, Controller::Processes],
        made: AtomicU64::new(0),
    };
    let limits = UnitLimits { memory_mb: Some(512), processes: Some(32), file_mb: None };
    assert!(groups.contain(limits) && !groups.contain(UnitLimits { file_mb: Some(1), ..UnitLimits::default() }));
    let marks = Marks { worker: "w".into(), run: "r".into(), step: "3".into(), attempt: "1".into() };
    let group = groups.make(&marks, limits).unwrap();
    let read = |file: &str| fs::read_to_string(group.path.0.join(file)).unwrap();
    assert_eq!((read("memory.max").as_str(), read("memory.oom.group").as_str()), ("536870912", "1"));
    assert_eq!(read("pids.max"), "32");

    fs::write(group.path.0.join("memory.peak"), "4096\n").unwrap();
    fs::write(group.path.0.join("memory.events"), "low 0\noom 1\noom_kill 2\n").unwrap();
    assert_eq!((group.peak_memory(), group.ran_out_of_memory()), (Some(4096), true));
}

#[test]
fn the_worker_finds_its_own_group_and_where_groups_are_mounted() {
    assert_eq!(own_group("9:name=systemd:/\n0::/user.slice/weir.service\n"), Some("/user.slice/weir.service"));
    assert_eq!(own_group("4:memory:/x\n"), None);
    let mountinfo = "22 1 0:5 / /proc rw - proc proc rw\n\
                     41 24 0:36 /sub /mnt rw shared:9 - cgroup2 cgroup2 rw\n\
                     42 24 0:36 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
    assert_eq!(mounted_at(mountinfo), Some(PathBuf::from("/sys/fs/cgroup")));
    assert_eq!(mounted_at("22 1 0:5 / /proc rw - proc proc rw\n"), None);
}

#[test]
fn a_place_and_a_choice_are_named_in_the_settings() {
    for place in [CgroupPlace::Delegated, CgroupPlace::None, CgroupPlace::Directory("/sys/fs/cgroup/w".into())] {
        assert_eq!(CgroupPlace::named(&place.to_string()), Some(place));
    }
    assert_eq!(CgroupPlace::named("here"), None);
    assert_eq!(Contained::named("all"), Some(Contained::All));
    assert_eq!(Contained::named("some"), None);
}

#[tokio::test]
async fn a_limit_of_file_size_holds_for_a_plugin() {
    use crate::process::limits::{MemoryHeldBy, under_limits};
    use crate::process::spec::Start;
    let home = tempfile::tempdir().unwrap();
    let program = home.path().join("write.sh");
    fs::write(&program, "#!/bin/sh\nhead -c 2097152 /dev/zero > \"$1\"\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let written = home.path().join("written");
    let start = Start::File { program, arguments: vec![written.clone().into()] };
    let limits = UnitLimits { file_mb: Some(1), ..UnitLimits::default() };
    let (program, arguments) = under_limits(&start, limits, MemoryHeldBy::EachProcess);
    let status = std::process::Command::new(program).args(arguments).status().unwrap();
    assert!(!status.success());
    assert_eq!(fs::metadata(written).unwrap().len(), 1024 * 1024);
}
