//! A desk to make calls from in tests: a state directory, a toolbox on it, and what the calls wrote.

use std::future::Future;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use weir_shared::ids::StepIndex;
use weir_shared::plan::StopPolicy;
use weir_shared::run::event::OutputStream;

use super::call::{CallIdentity, OutputTap, StopReason, ToolCall, ToolFailure, ToolOutcome};
use super::toolbox::{ToolSettings, Toolbox};
use crate::clock::Clock;
use crate::process::{self, CgroupSettings, Supervisor};
use crate::run_dir::RunDirectory;

pub(crate) const RUN: &str = "0191d9a0-0000-7000-8000-000000000001";

/// A state directory, a toolbox on it, and what calls wrote.
pub(crate) struct Desk {
    pub(crate) state: TempDir,
    pub(crate) toolbox: Toolbox,
    pub(crate) heard: Arc<Heard>,
    pub(crate) stop: watch::Sender<Option<StopReason>>,
    pub(crate) policy: StopPolicy,
    pub(crate) node_timeout: Option<Duration>,
    pub(crate) environment: Vec<(String, String)>,
}

/// Output as it came.
pub(crate) struct Heard {
    pieces: Mutex<Vec<Piece>>,
    count: watch::Sender<usize>,
}

pub(crate) type Piece = (OutputStream, u64, Vec<u8>);

impl OutputTap for Heard {
    fn write(&self, stream: OutputStream, offset: u64, bytes: &[u8]) {
        self.pieces.lock().unwrap().push((stream, offset, bytes.to_vec()));
        self.count.send_modify(|count| *count += 1);
    }
}

impl Heard {
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        self.pieces.lock().unwrap().clone()
    }

    /// Returns once a piece holds these words. Fails the test when they do not come: the call that was to write them
    /// may have ended long ago.
    pub(crate) async fn until(&self, words: &str) {
        let holds = || self.pieces().iter().any(|(_, _, bytes)| String::from_utf8_lossy(bytes).contains(words));
        let mut count = self.count.subscribe();
        let heard = tokio::time::timeout(Duration::from_mins(1), count.wait_for(|_| holds())).await;
        assert!(heard.is_ok(), "`{words}` was never written; heard: {:?}", self.pieces());
    }
}

/// Confines the test process once, like a worker that was started with this soft limit of open files.
pub(crate) fn soft_limit_at_first() -> u64 {
    static SOFT: LazyLock<u64> = LazyLock::new(|| {
        let maximum = getrlimit(Resource::Nofile).maximum;
        setrlimit(Resource::Nofile, Rlimit { current: Some(512), maximum }).unwrap();
        process::confine_worker().unwrap();
        512
    });
    *SOFT
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with(ToolSettings::default())
    }

    pub(crate) fn with(settings: ToolSettings) -> Self {
        Self::of(settings, &CgroupSettings::none())
    }

    pub(crate) fn of(settings: ToolSettings, groups: &CgroupSettings) -> Self {
        soft_limit_at_first();
        let state = tempfile::tempdir().unwrap();
        // A worker of its own for each test: their children are told apart by it.
        let worker = state.path().file_name().unwrap().to_string_lossy().into_owned();
        let supervisor = Supervisor::start(&worker, groups).unwrap();
        let toolbox = Toolbox::new(supervisor, Clock::system(), settings).unwrap();
        let (stop, _) = watch::channel(None);
        Self {
            state,
            toolbox,
            heard: Arc::new(Heard { pieces: Mutex::default(), count: watch::channel(0).0 }),
            stop,
            policy: StopPolicy::default(),
            node_timeout: None,
            environment: Vec::new(),
        }
    }

    pub(crate) fn run_dir(&self) -> RunDirectory {
        RunDirectory::of(self.state.path(), &RUN.parse().unwrap())
    }

    pub(crate) fn call(&self, tool: &str, args: Value) -> impl Future<Output = ToolOutcome> + use<> {
        let Value::Object(args) = args else { panic!("arguments are an object") };
        let call = ToolCall {
            tool: tool.parse().unwrap(),
            args,
            environment: self.environment.clone(),
            identity: CallIdentity {
                run: RUN.parse().unwrap(),
                step: StepIndex(3),
                node: Some("check".parse().unwrap()),
                attempt: 1,
                idempotency_key: format!("{RUN}:check"),
            },
            node_timeout: self.node_timeout,
            stop: self.policy,
            run_dir: self.run_dir(),
            stopping: self.stop.subscribe(),
            output: Arc::clone(&self.heard) as Arc<dyn OutputTap>,
        };
        let toolbox = self.toolbox.clone();
        async move { toolbox.call(call).await }
    }

    /// Asks everything that runs to stop.
    pub(crate) fn stop(&self, reason: StopReason) {
        self.stop.send_replace(Some(reason));
    }

    pub(crate) async fn command(&self, line: &str) -> ToolOutcome {
        self.call("execute_command", json!({ "command": line })).await
    }

    /// Whether any process is left that carries this desk's marks.
    pub(crate) fn is_quiet(&self) -> bool {
        let worker = self.state.path().display().to_string();
        let marked = |environ: Vec<u8>| {
            environ.split(|byte| *byte == 0).any(|entry| entry == format!("WEIR_WORKER={worker}").as_bytes())
        };
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        !processes.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok()).any(marked)
    }
}

pub(crate) fn result(outcome: &ToolOutcome) -> &Value {
    outcome.ended.as_ref().unwrap_or_else(|failure| panic!("{failure:?}"))
}

pub(crate) fn failure(outcome: &ToolOutcome) -> &ToolFailure {
    outcome.ended.as_ref().err().unwrap_or_else(|| panic!("{:?}", outcome.ended))
}
