//! The settings by name: in the file (`shutdown.graceSeconds`) and in the environment
//! (`WEIR_CFG_SHUTDOWN_GRACE_SECONDS`).

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Flows,
    State,
    Listen,
    Page,
    Hosts,
    AllowOrigins,
    RunParallel,
    GateExpiresDays,
    ShutdownGraceSeconds,
    RetentionRuns,
    RetentionDays,
    RetentionOutputBytes,
    LimitsFlowSteps,
    OutputMaxBytes,
    FilesRoots,
    NetworkPublicOnly,
    WebhooksAllowRemote,
    CgroupDirectory,
    CgroupFor,
}

impl Key {
    pub(super) const ALL: [Key; 19] = [
        Key::Flows,
        Key::State,
        Key::Listen,
        Key::Page,
        Key::Hosts,
        Key::AllowOrigins,
        Key::RunParallel,
        Key::GateExpiresDays,
        Key::ShutdownGraceSeconds,
        Key::RetentionRuns,
        Key::RetentionDays,
        Key::RetentionOutputBytes,
        Key::LimitsFlowSteps,
        Key::OutputMaxBytes,
        Key::FilesRoots,
        Key::NetworkPublicOnly,
        Key::WebhooksAllowRemote,
        Key::CgroupDirectory,
        Key::CgroupFor,
    ];

    /// Its name in the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Key::Flows => "flows",
            Key::State => "state",
            Key::Listen => "listen",
            Key::Page => "page",
            Key::Hosts => "hosts",
            Key::AllowOrigins => "allowOrigins",
            Key::RunParallel => "run.parallel",
            Key::GateExpiresDays => "gate.expiresDays",
            Key::ShutdownGraceSeconds => "shutdown.graceSeconds",
            Key::RetentionRuns => "retention.runs",
            Key::RetentionDays => "retention.days",
            Key::RetentionOutputBytes => "retention.outputBytes",
            Key::LimitsFlowSteps => "limits.flowSteps",
            Key::OutputMaxBytes => "output.maxBytes",
            Key::FilesRoots => "files.roots",
            Key::NetworkPublicOnly => "network.publicOnly",
            Key::WebhooksAllowRemote => "webhooks.allowRemote",
            Key::CgroupDirectory => "cgroup.directory",
            Key::CgroupFor => "cgroup.for",
        }
    }

    /// Its name in the environment.
    pub(super) fn variable(self) -> String {
        let mut variable = PREFIX.to_owned();
        for c in self.name().chars() {
            match c {
                '.' => variable.push('_'),
                c if c.is_ascii_uppercase() => variable.extend(['_', c]),
                c => variable.push(c.to_ascii_uppercase()),
            }
        }
        variable
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    pub(super) fn of_variable(variable: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.variable() == variable)
    }
}

/// What a variable of the environment begins with to be a setting.
pub(super) const PREFIX: &str = "WEIR_CFG_";
