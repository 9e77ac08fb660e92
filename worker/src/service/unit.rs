//! The units of the worker as a systemd user service, as text.

use std::path::PathBuf;
use std::time::Duration;

/// The first line of what `weir service install` writes: what lacks it was written by somebody else.
pub(crate) const WRITTEN_BY: &str = "# Written by `weir service install`; changes belong into `systemctl --user edit`.";

/// How often the worker has to show that it lives.
const WATCHDOG: Duration = Duration::from_mins(1);
/// What ending takes beyond the grace for runs: stopping steps, recording, closing the store.
const AFTER_GRACE: Duration = Duration::from_secs(25);

/// What the units are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Units {
    /// The program, absolute.
    pub(crate) program: PathBuf,
    pub(crate) flows: PathBuf,
    pub(crate) state: PathBuf,
    /// Further directories in which steps may write.
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) listen: String,
    /// Whether systemd listens and starts the worker at the first request.
    pub(crate) activation: Activation,
    /// How long runs may go on after SIGTERM.
    pub(crate) grace: Duration,
    /// `PATH` of whoever installs it: a user service has almost none.
    pub(crate) path: String,
}

/// Who opens the worker's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activation {
    /// The worker, which is started with the session.
    Own,
    /// systemd; the worker is started by the first request.
    Socket,
}

impl Units {
    /// `weir.service`.
    pub(crate) fn service(&self) -> String {
        let words = [
            self.program.display().to_string(),
            "serve".to_owned(),
            "--flows".to_owned(),
            self.flows.display().to_string(),
            "--state".to_owned(),
            self.state.display().to_string(),
            "--listen".to_owned(),
            self.listen.clone(),
        ];
        let command: Vec<String> = words.iter().map(|word| argument(word)).collect();
        let writable = [&self.flows, &self.state].into_iter().chain(&self.writable);
        let writable: Vec<String> = writable.map(|path| word(&path.display().to_string())).collect();
        let socket = match self.activation {
            Activation::Own => "",
            Activation::Socket => "Requires=weir.socket\nAfter=weir.socket\n",
        };
        format!(
            "{WRITTEN_BY}
[Unit]
Description=Weir, a flow worker
{socket}
[Service]
Type=notify
ExecStart={command}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
# Wrong settings, or another worker holds the state: starting again changes nothing.
RestartPreventExitStatus=2
# The worker ends its steps itself; what is left after that is killed with it.
KillMode=mixed
TimeoutStartSec=5min
TimeoutStopSec={stop}
WatchdogSec={watchdog}
Delegate=yes
NoNewPrivileges=yes
PrivateTmp=yes
ProtectSystem=strict
ReadWritePaths={writable}
Environment={path}
StandardOutput=journal
StandardError=journal

[Install]
WantedBy=default.target
",
            command = command.join(" "),
            stop = (self.grace + AFTER_GRACE).as_secs(),
            watchdog = WATCHDOG.as_secs(),
            writable = writable.join(" "),
            path = word(&format!("PATH={}", self.path)),
        )
    }

    /// `weir.socket`; none when the worker listens itself.
    pub(crate) fn socket(&self) -> Option<String> {
        match self.activation {
            Activation::Own => None,
            Activation::Socket => Some(format!(
                "{WRITTEN_BY}
[Unit]
Description=Where Weir is called

[Socket]
ListenStream={listen}

[Install]
WantedBy=sockets.target
",
                listen = self.listen.replace('%', "%%"),
            )),
        }
    }
}

/// One word of a setting: in quotes, with systemd's specifiers doubled.
fn word(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '%' => quoted.push_str("%%"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// One word of a command line, where systemd also fills in variables.
fn argument(text: &str) -> String {
    word(text).replace('$', "$$")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(activation: Activation) -> Units {
        Units {
            program: "/opt/my tools/weir".into(),
            flows: "/home/ada/100% flows".into(),
            state: "/home/ada/.local/state/weir".into(),
            writable: vec!["/srv/\"x\"".into()],
            listen: "127.0.0.1:9347".to_owned(),
            activation,
            grace: Duration::from_secs(20),
            path: "/usr/bin:/bin".to_owned(),
        }
    }

    #[test]
    fn every_word_reaches_the_worker_as_it_is() {
        let text = units(Activation::Own).service();
        for line in [
            "ExecStart=\"/opt/my tools/weir\" \"serve\" \"--flows\" \"/home/ada/100%% flows\" \"--state\" \
             \"/home/ada/.local/state/weir\" \"--listen\" \"127.0.0.1:9347\"",
            "ReadWritePaths=\"/home/ada/100%% flows\" \"/home/ada/.local/state/weir\" \"/srv/\\\"x\\\"\"",
            "Environment=\"PATH=/usr/bin:/bin\"",
            "TimeoutStopSec=45",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert_eq!(argument("$HOME"), "\"$$HOME\"");
    }

    #[test]
    fn a_socket_unit_is_there_when_systemd_listens() {
        assert_eq!(units(Activation::Own).socket(), None);
        assert!(units(Activation::Socket).socket().unwrap().contains("ListenStream=127.0.0.1:9347"));
        assert!(units(Activation::Socket).service().contains("Requires=weir.socket"));
    }
}
