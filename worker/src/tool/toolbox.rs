//! The way into the tools: finds the tool of a call, checks what goes in and what comes out, and bounds the call by
//! its timeout and by requests to stop.
//!
//! It knows nothing of runs: whether a step is allowed, skipped or tried again is decided before it is called.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::future::Future;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use serde_json::Value;
use weir_shared::run::event::ProcessReport;
use weir_shared::tool::Catalog;

use super::call::{StopReason, StopReceiver, ToolCall, ToolFailure, ToolOutcome};
use super::catalog::{Builtin, builtin_declarations};
use super::files::{
    Abandoned, Roots, delete_file, edit_file, glob, grep, list_directory, make_directory, move_file, read_file,
    write_file,
};
use super::git::GitTool;
use super::git::command::Git;
use super::http::{Network, http_request, web_fetch};
use super::plugin::{self, Offered, PluginTool};
use super::schema::{ToolSchema, UnusableSchema};
use super::{delay, execute_command, flow_if, flow_switch, json_format, json_query, text_template};
use crate::clock::Clock;
use crate::process::{self, Supervisor};
use crate::secret::Secrets;

/// What the settings say about tools.
#[derive(Debug, Clone)]
pub(crate) struct ToolSettings {
    /// Bytes of one stream of one attempt that the run's directory keeps (`output.maxBytes`).
    pub(crate) output_file_bytes: u64,
    /// Absolute directories that the file tools may use beside the run's own (`files.roots`).
    pub(crate) file_roots: Arc<[PathBuf]>,
    /// The flow directory, absolute, for the git tools; none: they fail.
    pub(crate) flows: Option<PathBuf>,
    /// Where the tools that call other machines may go (`network.publicOnly`).
    pub(crate) network: Network,
    /// Hidden in whatever a tool gives back.
    pub(crate) secrets: Secrets,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            output_file_bytes: process::DEFAULT_FILE_BYTES,
            file_roots: Arc::new([]),
            flows: None,
            network: Network::default(),
            secrets: Secrets::default(),
        }
    }
}

/// Every tool that can be called. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Toolbox(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    supervisor: Supervisor,
    clock: Clock,
    settings: ToolSettings,
    /// What plugins offer, and the catalog of that and of the built-in tools: one is never seen without the other.
    offer: RwLock<Offer>,
    tools: HashMap<String, Tool>,
}

/// The tools of plugins, and the catalog with them in it.
#[derive(Debug, Clone)]
struct Offer {
    plugins: Arc<Offered>,
    catalog: Arc<Catalog>,
}

#[derive(Debug)]
struct Tool {
    builtin: Builtin,
    schema: ToolSchema,
    timeout: Option<Duration>,
}

/// What a tool's own code answers: its result or what went wrong, for a person.
pub(super) type Answer = Result<Value, ToolFailure>;

impl Toolbox {
    /// The toolbox of the built-in tools.
    pub(crate) fn new(supervisor: Supervisor, clock: Clock, settings: ToolSettings) -> Result<Self, UnusableSchema> {
        let mut tools = HashMap::new();
        let mut declarations = Vec::new();
        for builtin in Builtin::ALL {
            let declaration = builtin.declaration();
            let schema = ToolSchema::of(&declaration)?;
            let timeout = declaration.timeout_seconds.map(Duration::from_secs);
            tools.insert(declaration.name.clone(), Tool { builtin, schema, timeout });
            declarations.push(declaration);
        }
        let offer = Offer { plugins: Arc::default(), catalog: Arc::new(Catalog::new(declarations)) };
        let supervisor = supervisor.hiding(settings.secrets.masker());
        Ok(Self(Arc::new(Inner { supervisor, clock, settings, offer: RwLock::new(offer), tools })))
    }

    /// What flows are checked against and `GET /api/agent/tools` serves.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.offer().catalog
    }

    /// Offers these tools of plugins from now on, in the place of those before. Calls that run go on as they were.
    pub(crate) fn offer_plugins(&self, tools: Vec<PluginTool>) {
        let (offered, unusable) = Offered::of(tools);
        for error in unusable {
            tracing::error!(%error, "a tool of a plugin is not offered");
        }
        // The built-in ones last: of two with one name the later stays.
        let catalog = Catalog::new(offered.declarations().chain(builtin_declarations()));
        let offer = Offer { plugins: Arc::new(offered), catalog: Arc::new(catalog) };
        *self.0.offer.write().unwrap_or_else(PoisonError::into_inner) = offer;
    }

    fn offer(&self) -> Offer {
        self.0.offer.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Where commands look for programs.
    pub(crate) fn search_path(&self) -> &OsStr {
        self.0.supervisor.search_path()
    }

    /// The secrets that calls are filled with.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.0.settings.secrets
    }

    /// Makes one call, to its end: a process tool's whole tree is gone by then. No secret is in what it gives back.
    pub(crate) async fn call(&self, call: ToolCall) -> ToolOutcome {
        let began = Instant::now();
        let (ended, report) = self.dispatch(call).await;
        let masker = self.0.settings.secrets.masker();
        let ended = match ended {
            Ok(result) => Ok(masker.value(result)),
            Err(failure) => Err(ToolFailure { message: masker.text(failure.message), ..failure }),
        };
        ToolOutcome { ended, duration: began.elapsed(), report }
    }

    async fn dispatch(&self, mut call: ToolCall) -> (Answer, Option<Box<ProcessReport>>) {
        let Some(tool) = self.0.tools.get(call.tool.as_str()) else {
            return self.dispatch_to_plugin(call).await;
        };
        let arguments = Value::Object(std::mem::take(&mut call.args));
        if let Err(faults) = tool.schema.check_input(&arguments) {
            return (Err(ToolFailure::because(faults)), None);
        }
        if let Err(failure) = make_workspace(&call) {
            return (Err(failure), None);
        }
        let (answer, report) = match tool.builtin {
            Builtin::ExecuteCommand => {
                let file_bytes = self.0.settings.output_file_bytes;
                execute_command::call(&self.0.supervisor, arguments, call, file_bytes).await
            }
            Builtin::Delay => {
                let timeout = call.node_timeout.or(tool.timeout);
                let wait = delay::call(arguments, &self.0.clock);
                (bounded(wait, timeout, call.stopping).await, None)
            }
            Builtin::FlowIf => (flow_if::call(arguments).map_err(ToolFailure::because), None),
            Builtin::FlowSwitch => (flow_switch::call(arguments).map_err(ToolFailure::because), None),
            Builtin::JsonFormat => (json_format::call(arguments).map_err(ToolFailure::because), None),
            Builtin::JsonQuery => (json_query::call(arguments).map_err(ToolFailure::because), None),
            Builtin::TextTemplate => (text_template::call(arguments).map_err(ToolFailure::because), None),
            Builtin::ReadFile => (self.on_files(read_file::call, arguments, call).await, None),
            Builtin::ListDirectory => (self.on_files(list_directory::call, arguments, call).await, None),
            Builtin::Glob => (self.on_tree(glob::call, arguments, call, tool.timeout).await, None),
            Builtin::Grep => (self.on_tree(grep::call, arguments, call, tool.timeout).await, None),
            Builtin::WriteFile => (self.on_files(write_file::call, arguments, call).await, None),
            Builtin::EditFile => (self.on_files(edit_file::call, arguments, call).await, None),
            Builtin::MakeDirectory => (self.on_files(make_directory::call, arguments, call).await, None),
            Builtin::MoveFile => (self.on_files(move_file::call, arguments, call).await, None),
            Builtin::DeleteFile => (self.on_files(delete_file::call, arguments, call).await, None),
            Builtin::HttpRequest => (http_request::call(&self.0.settings.network, arguments, call).await, None),
            Builtin::WebFetch => (web_fetch::call(&self.0.settings.network, arguments, call).await, None),
            Builtin::GitStatus => self.on_git(GitTool::Status, arguments, call).await,
            Builtin::GitDiff => self.on_git(GitTool::Diff, arguments, call).await,
            Builtin::GitLog => self.on_git(GitTool::Log, arguments, call).await,
            Builtin::GitCommit => self.on_git(GitTool::Commit, arguments, call).await,
        };
        let answer = answer.and_then(|result| match tool.schema.check_output(&result) {
            Ok(()) => Ok(result),
            Err(faults) => Err(ToolFailure::because(faults)),
        });
        (answer, report)
    }

    async fn dispatch_to_plugin(&self, mut call: ToolCall) -> (Answer, Option<Box<ProcessReport>>) {
        let Some(tool) = self.offer().plugins.get(&call.tool) else {
            return (Err(ToolFailure::because(format!("there is no tool `{}`", call.tool))), None);
        };
        if let Err(failure) = make_workspace(&call) {
            return (Err(failure), None);
        }
        let arguments = Value::Object(std::mem::take(&mut call.args));
        plugin::call(&self.0.supervisor, &tool, arguments, call, self.0.settings.output_file_bytes).await
    }

    /// Calls a file tool on a thread that may block.
    ///
    /// It is not cut off by a stop: it is over in a moment, and a file that is still being written after the end of
    /// its step would be worse than the moment.
    async fn on_files(&self, tool: FileTool, arguments: Value, mut call: ToolCall) -> Answer {
        if let Some(reason) = *call.stopping.borrow_and_update() {
            return Err(ToolFailure::stopped(reason));
        }
        let roots = self.roots(&call);
        let done = tokio::task::spawn_blocking(move || tool(arguments, &roots)).await;
        let answer = done.unwrap_or_else(|panic| Err(format!("the tool broke off: {panic}")));
        answer.map_err(ToolFailure::because)
    }

    /// Calls a tool that searches on a thread that may block. One that takes long is cut off by a stop and by its
    /// time, and its thread gives up soon after.
    async fn on_tree(&self, tool: SearchTool, arguments: Value, call: ToolCall, timeout: Option<Duration>) -> Answer {
        let roots = self.roots(&call);
        let (waiting, abandoned) = Abandoned::when_dropped();
        let search = async move {
            let _waiting = waiting;
            let done = tokio::task::spawn_blocking(move || tool(arguments, &roots, &abandoned)).await;
            done.unwrap_or_else(|panic| Err(format!("the tool broke off: {panic}")))
        };
        bounded(search, call.node_timeout.or(timeout), call.stopping).await
    }

    async fn on_git(&self, tool: GitTool, arguments: Value, call: ToolCall) -> (Answer, Option<Box<ProcessReport>>) {
        let Some(directory) = self.0.settings.flows.clone() else {
            return (Err(ToolFailure::because("there is no flow directory here")), None);
        };
        let called = match Git::new(&self.0.supervisor, directory, call, self.0.settings.output_file_bytes) {
            Ok(git) => tool.call(arguments, &git).await,
            Err(failure) => Err((failure, None)),
        };
        match called {
            Ok((result, report)) => (Ok(result), Some(report)),
            Err((failure, report)) => (Err(failure), report),
        }
    }

    fn roots(&self, call: &ToolCall) -> Roots {
        Roots { workspace: call.run_dir.work(), others: Arc::clone(&self.0.settings.file_roots) }
    }
}

/// The code of one tool that searches.
type SearchTool = fn(Value, &Roots, &Abandoned) -> Result<Value, String>;

/// Makes the working directory that a run's steps share.
fn make_workspace(call: &ToolCall) -> Result<(), ToolFailure> {
    let directory = call.run_dir.work();
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.map_err(|error| ToolFailure::because(format!("{}: {error}", directory.display())))
}

/// The code of one file tool.
type FileTool = fn(Value, &Roots) -> Result<Value, String>;

/// Runs an in-process tool until it answers, its time is up, or it is asked to stop.
pub(super) async fn bounded<T>(
    tool: impl Future<Output = Result<T, String>>,
    timeout: Option<Duration>,
    mut stopping: StopReceiver,
) -> Result<T, ToolFailure> {
    if let Some(reason) = *stopping.borrow_and_update() {
        return Err(ToolFailure::stopped(reason));
    }
    let expiry = async {
        match timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        answer = tool => answer.map_err(ToolFailure::because),
        () = expiry => Err(ToolFailure::timed_out(timeout.unwrap_or_default())),
        reason = process::next_request(&mut stopping) => Err(ToolFailure::stopped(reason)),
    }
}

impl ToolFailure {
    /// A failure of the tool itself.
    pub(super) fn because(message: impl Into<String>) -> Self {
        Self { message: message.into(), timed_out: false, stopped: None }
    }

    pub(super) fn timed_out(after: Duration) -> Self {
        Self { message: process::timed_out_after(after), timed_out: true, stopped: Some(StopReason::TimedOut) }
    }

    fn stopped(reason: StopReason) -> Self {
        Self { message: process::stop_message(reason).to_owned(), timed_out: false, stopped: Some(reason) }
    }
}

#[cfg(test)]
#[path = "toolbox_tests.rs"]
mod tests;
