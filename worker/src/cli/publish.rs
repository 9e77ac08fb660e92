//! `weir publish`: which version of a flow runs without a person.

use clap::{ArgGroup, Args};
use weir_shared::ids::FlowId;
use weir_shared::published::{Accept, Publish as Asked, Restore, Standing, VersionDiff, VersionList, VersionView};
use weir_shared::wire::FlowView;

use super::connect::Worker;
use super::exit::{Exit, Stop};
use super::run::flow_id;
use super::{Done, Place, gate, output};

/// Publish a flow: schedules and webhooks run what is published, never the draft
///
/// Without an option the flow as it is in its file becomes the next version.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own, as clap reads them")]
#[command(group = ArgGroup::new("what").multiple(false))]
pub(super) struct Publish {
    /// The flow: its id, or its file `…/<id>.flow.json`
    flow: String,
    /// List the versions, and how each stands on this machine
    #[arg(long, group = "what")]
    versions: bool,
    /// Accept a version that came from elsewhere, by git say; shows what it changes, and asks
    #[arg(long, value_name = "NUMBER", group = "what")]
    accept: Option<u64>,
    /// Show what differs, from the active version to the draft or to a version
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, default_missing_value = "draft", group = "what")]
    diff: Option<String>,
    /// Copy a version into the draft; nothing that is active changes
    #[arg(long, value_name = "NUMBER", group = "what")]
    restore: Option<u64>,
    /// Take the flow out of service; publishing puts it back
    #[arg(long, group = "what")]
    unpublish: bool,
    /// Do not ask
    #[arg(long, requires = "accept")]
    yes: bool,
    /// Print what the API answers, as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Publish {
    pub(super) fn execute(self) -> Done {
        let worker = Worker::find(&self.place.config()?)?;
        let flow = flow_id(&self.flow)?;
        let at = |rest: &str| format!("/api/workflows/{flow}/{rest}");
        if self.versions {
            return self.show(&worker.get(&at("revisions"))?);
        }
        if let Some(to) = &self.diff {
            return self.show_diff(&worker.get(&at(&format!("diff?from={}&to={to}", from_side(&worker, &flow)?)))?);
        }
        if let Some(number) = self.accept {
            return self.accept(&worker, &flow, number);
        }
        let revision = worker.get::<FlowView>(&format!("/api/workflows/{flow}"))?.revision;
        if let Some(number) = self.restore {
            let path = at(&format!("revisions/{number}/restore"));
            let view: FlowView = worker.post(&path, &Restore { expected_revision: Some(revision.to_string()) })?;
            output::tell(&format!("version {number} is in the draft, at revision {}", view.revision));
            return Ok(Exit::Done);
        }
        let asked = Asked { published: !self.unpublish, expected_revision: Some(revision.to_string()) };
        let list: VersionList = worker.post(&at("publish"), &asked)?;
        self.told(&list)
    }

    /// Shows what a version changes, asks, and accepts just what was shown.
    fn accept(&self, worker: &Worker, flow: &FlowId, number: u64) -> Done {
        let version: VersionView = worker.get(&format!("/api/workflows/{flow}/revisions/{number}"))?;
        let sha256 = version.sha256.clone().ok_or_else(|| {
            let reason = version.reason.clone().unwrap_or_else(|| "it cannot be read".to_owned());
            Stop::failed(&format!("version {number} cannot be accepted: {reason}"))
        })?;
        if !self.yes {
            let from = from_side(worker, flow)?;
            let diff: VersionDiff = worker.get(&format!("/api/workflows/{flow}/diff?from={from}&to={number}"))?;
            output::tell(&described(&diff));
            if !gate::somebody_is_there() {
                return Err(Stop::usage(&"nobody can be asked; give --yes once you have looked at the difference"));
            }
            if gate::ask(&format!("accept version {number} of `{flow}`?")) != gate::Said::Yes {
                return Ok(Exit::Failed);
            }
        }
        let list: VersionList = worker.post(&format!("/api/workflows/{flow}/accept"), &Accept { number, sha256 })?;
        self.told(&list)
    }

    fn told(&self, list: &VersionList) -> Done {
        if self.json {
            output::data(&output::json_line(list)?)?;
        } else {
            output::tell(&match list.state.published_version {
                Some(number) => format!("version {number} of {} is active", list.id),
                None => format!("{} is out of service: nothing starts it but a person", list.id),
            });
        }
        Ok(Exit::Done)
    }

    fn show(&self, list: &VersionList) -> Done {
        if self.json {
            output::data(&output::json_line(list)?)?;
            return Ok(Exit::Done);
        }
        let rows: Vec<[String; 4]> = list.versions.iter().map(row).collect();
        output::data(&output::table(["VERSION", "STATE", "PUBLISHED", "SHA-256"], &rows))?;
        if list.state.has_unpublished_changes {
            output::tell("the draft has changes that are not published");
        }
        Ok(Exit::Done)
    }

    fn show_diff(&self, diff: &VersionDiff) -> Done {
        output::data(&if self.json { output::json_line(diff)? } else { diff.text.clone() })?;
        Ok(Exit::Done)
    }
}

/// The active version where there is one, else the draft.
fn from_side(worker: &Worker, flow: &FlowId) -> Result<String, Stop> {
    let list: VersionList = worker.get(&format!("/api/workflows/{flow}/revisions"))?;
    Ok(list.state.published_version.map_or_else(|| "draft".to_owned(), |number| number.to_string()))
}

fn described(diff: &VersionDiff) -> String {
    if diff.text.is_empty() {
        return format!("{} and {} are the same", diff.from, diff.to);
    }
    diff.text.trim_end().to_owned()
}

fn row(version: &VersionView) -> [String; 4] {
    let standing = match version.standing {
        Standing::Active => "active",
        Standing::Accepted => "accepted",
        Standing::Unaccepted => "not accepted",
        Standing::Tampered => "tampered with",
        Standing::Unreadable => "unreadable",
    };
    let standing =
        version.reason.as_ref().map_or_else(|| standing.to_owned(), |reason| format!("{standing}: {reason}"));
    [
        version.number.to_string(),
        standing,
        version.published_at.map(|at| at.to_string()).unwrap_or_default(),
        version.sha256.clone().unwrap_or_default(),
    ]
}
