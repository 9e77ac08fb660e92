//! What the system says about processes, read from `/proc`.

use std::path::PathBuf;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use weir_shared::ids::RunId;

/// Processes whose environment holds this text and that still run: a zombie has no environment left.
pub fn marked(text: &str) -> Vec<i32> {
    all().filter(|(_, folder)| holds(&folder.join("environ"), text)).map(|(pid, _)| pid).collect()
}

/// Processes of a run, by the mark that every step's environment carries.
pub fn of_run(run: &RunId) -> Vec<i32> {
    marked(&format!("WEIR_RUN_ID={run}"))
}

/// Processes whose command line holds this text, its words separated by one space.
pub fn running(words: &str) -> Vec<i32> {
    all()
        .filter(|(_, folder)| {
            let line = std::fs::read(folder.join("cmdline")).unwrap_or_default();
            let line: Vec<u8> = line.into_iter().map(|byte| if byte == 0 { b' ' } else { byte }).collect();
            String::from_utf8_lossy(&line).contains(words)
        })
        .map(|(pid, _)| pid)
        .collect()
}

/// Sends a signal to one process; one that is gone already is fine.
pub fn signal(pid: i32, signal: Signal) {
    let _ = kill(Pid::from_raw(pid), signal);
}

/// Resident memory of a process in KiB, and the clock ticks it has used.
pub fn memory_and_ticks(pid: i32) -> Option<(u64, u64)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let resident = resident.trim().trim_end_matches("kB").trim().parse().ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program may hold spaces; fields are counted after its closing bracket.
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some((resident, ticks))
}

fn all() -> impl Iterator<Item = (i32, PathBuf)> {
    std::fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| {
        let entry = entry.ok()?;
        let pid = entry.file_name().to_str()?.parse().ok()?;
        Some((pid, entry.path()))
    })
}

fn holds(file: &std::path::Path, text: &str) -> bool {
    let bytes = std::fs::read(file).unwrap_or_default();
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Open descriptors of a process.
pub fn descriptors(pid: i32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

/// Threads of a process.
pub fn threads(pid: i32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

/// Processes whose parent is this one, ended ones that nobody waited for included.
pub fn children(pid: i32) -> Vec<i32> {
    let parent = |folder: &std::path::Path| -> Option<i32> {
        let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
    };
    all().filter(|(_, folder)| parent(folder) == Some(pid)).map(|(pid, _)| pid).collect()
}

/// What these processes are, for whoever has to find out why they are there: a line each with state, ids and command.
pub fn described(pids: &[i32]) -> String {
    let line = |pid: &i32| {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        format!("{} [{}]", read("stat").trim(), read("cmdline").replace('\0', " ").trim())
    };
    pids.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The most memory a process has had resident, in KiB.
pub fn most_memory(pid: i32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    most.trim().trim_end_matches("kB").trim().parse().ok()
}
