//! A real worker in a world of its own.

use std::fs::File;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::Signal;
use tempfile::TempDir;

use crate::client::Client;
use crate::{processes, program, wait};

/// A directory with a home, flows and state, in which programs run as if for a user of their own.
#[derive(Debug)]
pub struct World {
    root: TempDir,
    /// When its workers start, if not now.
    clock: Option<String>,
}

impl World {
    /// An empty one.
    pub fn new() -> Result<Self> {
        let root = tempfile::Builder::new().prefix("weir-test-").tempdir()?;
        for folder in ["home", "flows", "config", "state", "data", "tmp"] {
            std::fs::create_dir(root.path().join(folder))?;
        }
        Ok(Self { root, clock: None })
    }

    /// The flow directory.
    pub fn flows(&self) -> PathBuf {
        self.root.path().join("flows")
    }

    /// The state directory, where `weir` looks for it by itself.
    pub fn state(&self) -> PathBuf {
        self.root.path().join("state/weir")
    }

    /// Has workers that start from now on believe that it is this moment in UTC, `2027-01-31 23:59:58`. The clock of
    /// their system goes on from there, as fast as ever; timers and children are not deceived.
    pub fn set_clock(&mut self, moment: &str) {
        self.clock = Some(moment.to_owned());
    }

    /// The command of a worker that serves this world.
    fn serve(&self, arguments: &[&str]) -> Result<Command> {
        let mut command = self.weir(arguments);
        if let Some(moment) = &self.clock {
            // Not by the program `faketime`, which would be a process between the test and its worker.
            command.env("LD_PRELOAD", faketime()?).env("FAKETIME", format!("@{moment}")).env("TZ", "UTC");
            command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        Ok(command)
    }

    /// Writes the configuration.
    pub fn configure(&self, toml: &str) -> Result<()> {
        let folder = self.path("config/weir");
        std::fs::create_dir_all(&folder)?;
        Ok(std::fs::write(folder.join("config.toml"), toml)?)
    }

    /// Writes the file of a flow, as an author would.
    pub fn write_flow(&self, id: &str, flow: &serde_json::Value) -> Result<()> {
        Ok(std::fs::write(self.flow_file(id), format!("{flow:#}\n"))?)
    }

    /// A path in the world.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The file of a flow.
    pub fn flow_file(&self, id: &str) -> PathBuf {
        self.flows().join(format!("{id}.flow.json"))
    }

    /// A command of `weir` in this world, with no environment but what a login would give.
    pub fn weir(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(program::weir());
        command.args(arguments);
        command
    }

    /// Any program in this world.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANG", "C.UTF-8")
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_DATA_HOME", self.path("data"))
            .current_dir(self.root.path())
            .stdin(Stdio::null());
        command
    }

    /// Processes of this world, whoever started them.
    fn inhabitants(&self) -> Vec<i32> {
        processes::marked(&format!("HOME={}", self.path("home").display()))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for pid in self.inhabitants() {
            processes::signal(pid, Signal::SIGKILL);
        }
    }
}

/// A worker that serves a world. Ended with everything it started when it is dropped.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    address: String,
    /// Arguments beyond flows, state and address, for a restart.
    more: Vec<String>,
    world: World,
}

impl Worker {
    /// Starts a worker in a new world and waits until it answers.
    pub fn start() -> Result<Self> {
        Self::start_in(World::new()?)
    }

    /// Starts a worker in a world that a test has prepared.
    pub fn start_in(world: World) -> Result<Self> {
        Self::start_with(world, &[])
    }

    /// Starts a worker with further arguments of `weir serve`.
    pub fn start_with(mut world: World, more: &[&str]) -> Result<Self> {
        let more: Vec<String> = more.iter().map(|word| (*word).to_owned()).collect();
        // Between finding a port free and listening on it another test may take it: then another one is tried.
        let mut attempts = 0;
        loop {
            attempts += 1;
            let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
            let child = spawn(&world, &address, &more)?;
            let mut worker = Self { child, address, more: more.clone(), world };
            match worker.wait_until_ready() {
                Ok(()) => return Ok(worker),
                Err(error) if attempts == 3 || !worker.log().contains("in use") => return Err(error),
                Err(_) => world = worker.into_world()?,
            }
        }
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let deadline = Instant::now() + wait::PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait()? {
                bail!("the worker ended with {status} before it answered:\n{}", self.log());
            }
            if Client::anonymous(&self.address).get("/api/health").is_ok_and(|answer| answer.status == 200) {
                return Ok(());
            }
            if Instant::now() >= deadline {
                bail!("the worker does not answer:\n{}", self.log());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Where it listens, `127.0.0.1:port`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Its process id.
    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// The world it serves.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The token of owner `local`.
    pub fn token(&self) -> Result<String> {
        let path = self.world.state().join("token");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(text.trim().to_owned())
    }

    /// A client with that token.
    pub fn client(&self) -> Result<Client> {
        Ok(Client::anonymous(&self.address).with_token(&self.token()?))
    }

    /// A URL on this worker.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What it has written to its standard error and output.
    pub fn log(&self) -> String {
        let read = |name: &str| std::fs::read_to_string(self.world.path(name)).unwrap_or_default();
        format!("{}{}", read("stderr"), read("stdout"))
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        processes::signal(self.pid(), signal);
    }

    /// Waits for its end, for at most this long.
    pub fn wait_for_end(&mut self, most: Duration) -> Result<ExitStatus> {
        let child = &mut self.child;
        wait::until("the end of the worker", most, || child.try_wait().ok().flatten()).with_context(|| self.log())
    }

    /// Ends it without a chance to say goodbye, as a power cut would.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Sets the clock that it starts with the next time; see [`World::set_clock`].
    pub fn set_clock(&mut self, moment: &str) {
        self.world.set_clock(moment);
    }

    /// Starts it again in the same world, at the same address.
    pub fn start_again(&mut self) -> Result<()> {
        self.child = spawn(&self.world, &self.address, &self.more)?;
        self.wait_until_ready()
    }

    /// Ends it and gives its world back.
    fn into_world(mut self) -> Result<World> {
        self.end();
        Ok(std::mem::replace(&mut self.world, World::new()?))
    }

    /// Asks twice, which forces it, and then does not ask any more.
    fn end(&mut self) {
        for signal in [Signal::SIGTERM, Signal::SIGTERM] {
            if matches!(self.child.try_wait(), Ok(None)) {
                self.signal(signal);
            }
        }
        if self.wait_for_end(Duration::from_secs(5)).is_err() {
            let _ = self.kill();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
        if std::thread::panicking() {
            eprintln_log(&self.log());
        }
    }
}

#[expect(clippy::print_stderr, reason = "a failed test shows what its worker said")]
fn eprintln_log(log: &str) {
    eprintln!("--- the worker said ---\n{log}");
}

fn spawn(world: &World, address: &str, more: &[String]) -> Result<Child> {
    let log = |name: &str| -> Result<File> { Ok(File::options().create(true).append(true).open(world.path(name))?) };
    let mut command = world.serve(&["serve", "--listen", address])?;
    command.arg("--flows").arg(world.flows()).args(more);
    command.stdout(log("stdout")?).stderr(log("stderr")?);
    command.spawn().with_context(|| format!("cannot start {}", program::weir().display()))
}

/// The library that sets a program's clock.
fn faketime() -> Result<PathBuf> {
    let places = std::fs::read_dir("/usr/lib")?.filter_map(|entry| Some(entry.ok()?.path()));
    let found = places.map(|place| place.join("faketime/libfaketime.so.1")).find(|library| library.exists());
    found.context("there is no libfaketime; scripts/setup test installs it")
}
