//! A dead worker is played by this test: it starts marked processes without a unit, and writes the `pids` files.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command};

use super::*;

const RUN: &str = "0191d9a0-0000-7000-8000-000000000002";

struct Dead {
    state: tempfile::TempDir,
    worker: String,
}

impl Dead {
    fn worker() -> Self {
        let state = tempfile::tempdir().unwrap();
        let worker = format!("worker of {}", state.path().display());
        fs::create_dir_all(state.path().join("runs").join(RUN)).unwrap();
        Self { state, worker }
    }

    fn run_dir(&self) -> PathBuf {
        self.state.path().join("runs").join(RUN)
    }

    /// Starts what such a worker would have started, a line that becomes `sleep`.
    fn left(line: &str, worker: &str, run_dir: &Path) -> Child {
        let child = Command::new("/bin/sh")
            .args(["-c", line])
            .env(marks::WORKER, worker)
            .env(marks::RUN_ID, RUN)
            .env(marks::STEP_INDEX, "0")
            .env(marks::ATTEMPT, "1")
            .env(marks::RUN_DIR, run_dir)
            .process_group(0)
            .spawn()
            .unwrap();
        // In the middle of an exec a process has no environment to be recognised by.
        while fs::read_to_string(format!("/proc/{}/comm", child.id())).unwrap() != "sleep\n" {
            std::thread::yield_now();
        }
        child
    }

    fn note(&self, boot: &str, pid: u32, start_time: u64) {
        append(&self.run_dir().join("pids"), &format!("{boot} {pid} {start_time}\n")).unwrap();
    }

    fn start_again(&self) -> Leftovers {
        end_leftovers(self.state.path(), &self.worker)
    }
}

fn killed(child: &mut Child) -> bool {
    child.wait().unwrap().signal() == Some(9)
}

/// Whether it still runs; it is ended on the way.
fn spared(child: &mut Child) -> bool {
    let runs = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    runs
}

#[test]
fn what_carries_the_marks_of_this_worker_is_ended() {
    let dead = Dead::worker();
    let mut left = Dead::left("exec sleep 940", &dead.worker, &dead.run_dir());
    let mut of_another_worker = Dead::left("exec sleep 941", "another", &dead.run_dir());
    let mut of_a_copied_store =
        Dead::left("exec sleep 942", &dead.worker, Path::new("/elsewhere/runs").join(RUN).as_path());
    let found = dead.start_again();
    assert_eq!(found, Leftovers { killed: 1, remaining: 0 });
    assert!(killed(&mut left));
    assert!(spared(&mut of_another_worker) && spared(&mut of_a_copied_store));
    assert_eq!(dead.start_again(), Leftovers::default());
}

#[test]
fn what_is_written_down_is_ended_with_its_group_though_it_wiped_its_environment() {
    let dead = Dead::worker();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut wiped = Command::new("/bin/sh")
        .args(["-c", "sleep 943 & echo; exec sleep 944"])
        .env_clear()
        .stdout(writer)
        .process_group(0)
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(reader), &mut line).unwrap();
    dead.note(&BOOT_ID, wiped.id(), sys::stat(wiped.id()).unwrap().start_time);
    assert_eq!(dead.start_again().killed, 1);
    assert!(killed(&mut wiped));
    assert!(!dead.run_dir().join("pids").exists());
}

#[test]
fn a_reused_id_another_boot_and_another_workers_process_are_spared() {
    let dead = Dead::worker();
    let mut innocent = Command::new("/bin/sleep").arg("945").process_group(0).spawn().unwrap();
    let start_time = sys::stat(innocent.id()).unwrap().start_time;
    dead.note(&BOOT_ID, innocent.id(), start_time + 1);
    dead.note("another-boot", innocent.id(), start_time);
    let mut of_another = Dead::left("exec sleep 946", "another", &dead.run_dir());
    dead.note(&BOOT_ID, of_another.id(), sys::stat(of_another.id()).unwrap().start_time);
    // A line that the crash cut off.
    append(&dead.run_dir().join("pids"), &BOOT_ID).unwrap();
    assert_eq!(dead.start_again(), Leftovers::default());
    assert!(spared(&mut innocent) && spared(&mut of_another));
}
