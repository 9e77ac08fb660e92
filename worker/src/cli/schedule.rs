//! `weir schedule`: when schedules come round. A preview needs no worker: the reckoning is here.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use weir_shared::finding::Fault;
use weir_shared::flow::Calendar;
use weir_shared::ids::Timestamp;
use weir_shared::read::read;
use weir_shared::recurrence::RuleText;
use weir_shared::schedule::{PREVIEW_COUNT, Preview, ScheduleList, ScheduleRow, ScheduleState};

use super::connect::Worker;
use super::exit::{Exit, Stop};
use super::{Done, Place, flow_files, output};
use crate::clock::Clock;
use crate::intake::schedule::{Timetable, judged, moment_of, preview};

/// When schedules come round
#[derive(Debug, Args)]
pub(super) struct Schedule {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Preview(PreviewCommand),
    List(List),
}

/// List the schedules of the running worker
#[derive(Debug, Args)]
struct List {
    /// Print what the API answers, as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Show the next fires of a rule, or of every schedule of a flow file
///
/// It needs no worker. What the clock does in the zone, at the changes to and from summer time too, is in the answer.
#[derive(Debug, Args)]
struct PreviewCommand {
    /// A flow file: the schedules in it
    #[arg(value_name = "FILE", required_unless_present = "rule", conflicts_with_all = ["rule", "zone"])]
    flow: Option<PathBuf>,
    #[command(flatten)]
    rule: RuleOptions,
    /// Time zone, such as Europe/Berlin [default: the machine's]
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// Fires after this moment, such as 2027-03-01T00:00:00Z [default: now]
    #[arg(long, value_name = "MOMENT")]
    from: Option<String>,
    /// How many fires
    #[arg(long, value_name = "N", default_value_t = PREVIEW_COUNT)]
    count: usize,
    /// Print what the API answers, as JSON
    #[arg(long)]
    json: bool,
}

/// One of the three kinds of rules.
#[derive(Debug, Args)]
#[group(id = "rule", multiple = false)]
struct RuleOptions {
    /// Five fields of cron, such as '30 7 * * mon-fri', or @daily and its kin
    #[arg(long, value_name = "RULE")]
    cron: Option<String>,
    /// A calendar rule as JSON, such as '{"frequency":"monthly","monthDay":"last","time":"18:00"}'
    #[arg(long, value_name = "JSON")]
    calendar: Option<String>,
    /// Seconds between two fires, 60 or more
    #[arg(long, value_name = "SECONDS")]
    every: Option<u64>,
}

impl Schedule {
    pub(super) fn execute(self) -> Done {
        match self.command {
            Command::Preview(preview) => preview.execute(),
            Command::List(list) => list.execute(),
        }
    }
}

impl List {
    fn execute(self) -> Done {
        let list: ScheduleList = Worker::find(&self.place.config()?)?.get("/api/agent/schedules")?;
        if self.json {
            output::data(&output::json_line(&list)?)?;
            return Ok(Exit::Done);
        }
        let rows: Vec<[String; 7]> = list.schedules.iter().map(row).collect();
        output::data(&output::table(["FLOW", "RULE", "ZONE", "STATE", "NEXT", "FIRES", "MISSED"], &rows))?;
        Ok(Exit::Done)
    }
}

fn row(schedule: &ScheduleRow) -> [String; 7] {
    let state = match (schedule.state, schedule.paused_reason) {
        (ScheduleState::Active, _) => "active".to_owned(),
        (ScheduleState::Paused, None) => "paused".to_owned(),
        (ScheduleState::Paused, Some(reason)) => format!("paused: {}", reason.words()),
        (ScheduleState::Completed, _) => "completed".to_owned(),
        (ScheduleState::Expired, _) => "expired".to_owned(),
        (ScheduleState::Cancelled, _) => "cancelled".to_owned(),
    };
    [
        schedule.workflow_id.to_string(),
        schedule.rule_words(),
        schedule.time_zone.clone(),
        state,
        schedule.next_fire_at.map_or_else(|| "-".to_owned(), |next| next.to_string()),
        schedule.fires.to_string(),
        schedule.missed_fires.to_string(),
    ]
}

impl PreviewCommand {
    fn execute(self) -> Done {
        let from = match &self.from {
            None => Clock::system().now(),
            Some(text) => {
                let moment: jiff::Timestamp =
                    text.parse().map_err(|_| Stop::usage(&format!("--from: `{text}` is no moment")))?;
                Timestamp(moment.as_millisecond())
            }
        };
        let previews = match &self.flow {
            Some(path) => self.of_file(path, from)?,
            None => vec![(None, self.of_rule(from)?)],
        };
        for (name, preview) in previews {
            if self.json {
                output::data(&output::json_line(&preview)?)?;
                continue;
            }
            if let Some(name) = name {
                output::tell(&name);
            }
            let rows: Vec<[String; 2]> =
                preview.fires.into_iter().map(|fire| [fire.local, fire.utc.to_string()]).collect();
            output::data(&output::table([&preview.time_zone, "UTC"], &rows))?;
        }
        Ok(Exit::Done)
    }

    fn of_rule(&self, from: Timestamp) -> Result<Preview, Stop> {
        let calendar: Option<Calendar> = match &self.rule.calendar {
            Some(json) => {
                Some(serde_json::from_str(json).map_err(|error| Stop::usage(&format!("--calendar: {error}")))?)
            }
            None => None,
        };
        let RuleOptions { cron, every, .. } = &self.rule;
        let text = RuleText { calendar: calendar.as_ref(), cron: cron.as_deref(), interval_seconds: *every };
        self.shown(text, self.zone.as_deref(), from)
    }

    /// The schedules of a flow file, each under its name.
    fn of_file(&self, path: &std::path::Path, from: Timestamp) -> Result<Vec<(Option<String>, Preview)>, Stop> {
        let flow = read(&flow_files::read(path)?).flow.ok_or_else(|| Stop {
            exit: Exit::Findings,
            message: format!("{} cannot be read as a flow; `weir check` says why", path.display()),
        })?;
        let schedules = flow.schedules.unwrap_or_default();
        if schedules.is_empty() {
            return Err(Stop::usage(&format!("{} has no schedules", path.display())));
        }
        let named = schedules.iter().enumerate().map(|(at, schedule)| {
            let name = schedule.name.clone().unwrap_or_else(|| format!("number {}", at + 1));
            let shown = self.shown(RuleText::of(schedule), schedule.time_zone.as_deref(), from);
            let shown = shown.map_err(|stop| Stop { message: format!("{name}: {}", stop.message), ..stop })?;
            Ok((Some(name), shown))
        });
        named.collect()
    }

    fn shown(&self, text: RuleText<'_>, zone: Option<&str>, from: Timestamp) -> Result<Preview, Stop> {
        let (rule, zone) = judged(text, zone).map_err(|faults| Stop::usage(&lines(&faults)))?;
        let timetable = Timetable::beginning(rule, zone, moment_of(from));
        Ok(preview(&timetable, from, Some(self.count)))
    }
}

fn lines(faults: &[Fault]) -> String {
    let line = |fault: &Fault| {
        if fault.path.is_empty() { fault.message.clone() } else { format!("{}: {}", fault.path, fault.message) }
    };
    faults.iter().map(line).collect::<Vec<_>>().join("\n")
}
