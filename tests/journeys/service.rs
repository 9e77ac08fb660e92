//! The worker as a service: units that systemd accepts, what the service manager is told, a socket that was there
//! before the worker.

use std::net::TcpListener;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nix::sys::signal::Signal;
use weir_shared::wire::Health;
use weir_tests::client::Client;
use weir_tests::command_line;
use weir_tests::processes;
use weir_tests::wait::{PATIENCE, until};
use weir_tests::worker::World;

/// A process that is gone when the test is.
struct Ended(Child);

impl Ended {
    fn spawn(command: &mut Command) -> Result<Self> {
        Ok(Self(command.spawn().with_context(|| format!("{command:?}"))?))
    }

    fn signal(&self, signal: Signal) {
        processes::signal(self.0.id().cast_signed(), signal);
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

fn verify(world: &World, unit: &Path) -> Result<()> {
    let mut verify = world.command("systemd-analyze");
    verify.args(["--user", "verify"]).arg(unit).env("XDG_RUNTIME_DIR", world.path("tmp"));
    let said = command_line::run(&mut verify)?;
    ensure!(said.code == 0 && !said.stderr.contains("weir."), "{}: {said:?}", unit.display());
    Ok(())
}

#[test]
fn systemd_accepts_the_units_and_they_hold_the_directories_as_they_are() -> Result<()> {
    let world = World::new()?;
    let flows = world.path("100% of my \"flows\"");
    let named = flows.display().to_string();
    for more in [&["--socket"][..], &[]] {
        let arguments = [&["service", "install", "--flows", &named, "--listen", "127.0.0.1:9400"], more].concat();
        let said = command_line::run(&mut world.weir(&arguments))?;
        ensure!(said.code == 0, "{said:?}");
        let service = world.path("config/systemd/user/weir.service");
        ensure!(said.stdout.trim() == service.display().to_string(), "{said:?}");
        ensure!(said.stderr.contains("loginctl enable-linger"), "{said:?}");
        let socket = service.with_extension("socket");
        ensure!(socket.exists() != more.is_empty(), "installing again leaves no unit that is not wanted");
        verify(&world, &service)?;
        if socket.exists() {
            verify(&world, &socket)?;
        }
        ensure!(flows.is_dir() && world.state().is_dir(), "what the unit names is there");
    }
    let status = command_line::run(&mut world.weir(&["service", "status"]))?;
    ensure!(status.code == 1 && status.stdout.contains("installed: "), "{status:?}");
    let removed = command_line::run(&mut world.weir(&["service", "uninstall"]))?;
    ensure!(removed.code == 0 && !world.path("config/systemd/user/weir.service").exists(), "{removed:?}");
    Ok(())
}

#[test]
fn a_unit_of_somebody_else_is_left_alone() -> Result<()> {
    let world = World::new()?;
    let unit = world.path("config/systemd/user/weir.service");
    std::fs::create_dir_all(world.path("config/systemd/user"))?;
    std::fs::write(&unit, "[Service]\nExecStart=/bin/mine\n")?;
    for command in ["install", "uninstall"] {
        let said = command_line::run(&mut world.weir(&["service", command]))?;
        ensure!(said.code == 2 && said.stderr.contains("was not written by"), "{said:?}");
        ensure!(std::fs::read_to_string(&unit)?.contains("/bin/mine"));
    }
    let forced = command_line::run(&mut world.weir(&["service", "install", "--force"]))?;
    ensure!(forced.code == 0, "{forced:?}");
    verify(&world, &unit)
}

/// What a service manager would have heard so far.
struct Manager {
    socket: UnixDatagram,
    heard: Vec<String>,
}

impl Manager {
    fn listen(path: &Path) -> Result<Self> {
        let socket = UnixDatagram::bind(path)?;
        socket.set_read_timeout(Some(Duration::from_millis(100)))?;
        Ok(Self { socket, heard: Vec::new() })
    }

    /// Hears until a message has this line, and answers with the messages from here on.
    fn wait_for(&mut self, line: &str) -> Result<Vec<String>> {
        let begin = self.heard.len();
        let deadline = Instant::now() + PATIENCE;
        let mut bytes = [0; 4096];
        while Instant::now() < deadline {
            let Ok(length) = self.socket.recv(&mut bytes) else { continue };
            self.heard.push(String::from_utf8_lossy(&bytes[..length]).into_owned());
            if self.heard.last().is_some_and(|message| message.lines().any(|found| found == line)) {
                return Ok(self.heard[begin..].to_vec());
            }
        }
        bail!("no `{line}` was heard: {:?}", self.heard)
    }
}

#[test]
fn the_manager_is_told_of_readiness_life_reloading_and_the_end() -> Result<()> {
    let world = World::new()?;
    let notify = world.path("tmp/notify");
    let mut manager = Manager::listen(&notify)?;
    let mut serve = world.weir(&["serve", "--flows", "flows", "--listen", "127.0.0.1:0"]);
    serve.env("NOTIFY_SOCKET", &notify).env("WATCHDOG_USEC", "400000");
    serve.stdout(std::fs::File::create(world.path("stdout"))?);
    let mut worker = Ended::spawn(&mut serve)?;

    let heard = manager.wait_for("READY=1")?;
    let ready = heard.last().context("a message")?;
    ensure!(ready.contains("STATUS=0 flows; 0 runs at work, 0 waiting, 0 at a gate"), "{ready}");
    let address = std::fs::read_to_string(world.path("stdout"))?;
    let address = address.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    Client::anonymous(&address).get("/api/health")?.having::<Health>(200)?;

    for _ in 0..3 {
        manager.wait_for("WATCHDOG=1")?;
    }
    // A worker that hangs is one that says nothing.
    worker.signal(Signal::SIGSTOP);
    while manager.socket.recv(&mut [0; 4096]).is_ok() {}
    std::thread::sleep(Duration::from_secs(1));
    ensure!(manager.socket.recv(&mut [0; 4096]).is_err(), "a stopped worker feeds no watchdog");
    worker.signal(Signal::SIGCONT);
    manager.wait_for("WATCHDOG=1")?;

    worker.signal(Signal::SIGHUP);
    let reloading = manager.wait_for("RELOADING=1")?;
    ensure!(reloading.iter().any(|message| message.contains("MONOTONIC_USEC=")), "{reloading:?}");
    manager.wait_for("READY=1")?;

    worker.signal(Signal::SIGTERM);
    manager.wait_for("STOPPING=1")?;
    let ended = until("the worker ends", PATIENCE, || worker.0.try_wait().ok().flatten())?;
    ensure!(ended.success(), "{ended}");
    Ok(())
}

/// The first request waits in the socket while the worker starts, and is answered.
#[test]
fn the_first_request_starts_a_worker_whose_socket_systemd_holds() -> Result<()> {
    let world = World::new()?;
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let weir = world.weir(&[]);
    let mut activate = world.command("systemd-socket-activate");
    activate.arg("--listen").arg(&address);
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
        activate.arg(format!("--setenv={name}"));
    }
    activate.arg(weir.get_program()).args(["serve", "--flows", "flows", "--listen", "127.0.0.1:1"]);
    let worker = Ended::spawn(&mut activate)?;
    let client = Client::anonymous(&address);
    // Refused until systemd listens; answered by the worker from then on.
    let health = until("an answer", PATIENCE, || client.get("/api/health").ok())?;
    health.having::<Health>(200)?;
    // Written in the moment in which the first request is answered.
    let card = || std::fs::read_to_string(world.state().join("worker.json")).ok();
    let card = until("the worker says where it is", PATIENCE, card)?;
    ensure!(card.contains(&address), "{card}");
    worker.signal(Signal::SIGTERM);
    Ok(())
}
