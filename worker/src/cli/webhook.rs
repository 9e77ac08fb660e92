//! `weir webhook`: addresses that start a flow when somebody posts to them.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;
use weir_shared::ids::TriggerId;
use weir_shared::webhook::{
    AskedRate, CreateTrigger, Delivery, DeliveryList, SignaturePreset, SignatureRule, Trigger, TriggerList,
    TriggerSecret, TriggerState,
};
use weir_shared::wire::FlowView;

use super::connect::Worker;
use super::exit::{Exit, Stop};
use super::run::{Mode, flow_id};
use super::{Done, Place, output, run_inputs};

/// Start a flow from elsewhere: an address with a secret of its own
#[derive(Debug, Args)]
pub(super) struct Webhook {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Create(Create),
    List(List),
    Delete(Delete),
    Rotate(Rotate),
    Deliveries(Deliveries),
}

impl Webhook {
    pub(super) fn execute(self) -> Done {
        match self.command {
            Command::Create(create) => create.execute(),
            Command::List(list) => list.execute(),
            Command::Delete(delete) => delete.execute(),
            Command::Rotate(rotate) => rotate.execute(),
            Command::Deliveries(deliveries) => deliveries.execute(),
        }
    }
}

/// Make a webhook for a published flow, and print the curl line that calls it
///
/// Its secret is shown this once; Weir keeps a digest of it.
#[derive(Debug, Args)]
struct Create {
    /// The flow: its id, or its file `…/<id>.flow.json`
    flow: String,
    /// A name to know it by
    #[arg(long)]
    name: Option<String>,
    /// An input that calls may override, as name=value; again for each
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,
    /// What may run without asking
    #[arg(long, value_enum, default_value = "ask-for-approval")]
    permission_mode: Mode,
    /// Calls are signed as this sender signs, in place of carrying a secret
    #[arg(long, value_enum, requires = "signed_with")]
    signed_by: Option<Sender>,
    /// The name of this machine's secret that calls are signed with
    #[arg(long, value_name = "SECRET", requires = "signed_by")]
    signed_with: Option<String>,
    /// Take any number of calls a minute
    #[arg(long)]
    unlimited: bool,
    /// Print what the API answers, as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sender {
    Github,
    Stripe,
    Slack,
}

impl From<Sender> for SignaturePreset {
    fn from(sender: Sender) -> Self {
        match sender {
            Sender::Github => SignaturePreset::GitHub,
            Sender::Stripe => SignaturePreset::Stripe,
            Sender::Slack => SignaturePreset::Slack,
        }
    }
}

impl Create {
    fn execute(self) -> Done {
        let worker = Worker::find(&self.place.config()?)?;
        let flow = flow_id(&self.flow)?;
        let view: FlowView = worker.get(&format!("/api/workflows/{flow}"))?;
        let schema = view.flow.as_ref().and_then(|flow| flow.inputs.as_ref());
        let default_inputs = run_inputs::assemble(schema, None, &self.inputs).map_err(|error| Stop::usage(&error))?;
        let rule = |(sender, secret): (Sender, String)| SignatureRule {
            secret,
            preset: Some(sender.into()),
            header: None,
            prefix: None,
            timestamp_header: None,
            tolerance_seconds: None,
        };
        let body = CreateTrigger {
            workflow_id: flow,
            name: self.name,
            default_inputs,
            permission_mode: self.permission_mode.into(),
            signature: self.signed_by.zip(self.signed_with).map(rule),
            require_secret: None,
            rate_limit: if self.unlimited { AskedRate::Unlimited } else { AskedRate::Standard },
        };
        let made: TriggerSecret = worker.post("/api/agent/webhook-triggers", &body)?;
        output::tell(&format!("webhook {} of {}", made.trigger.trigger_id, made.trigger.workflow_id));
        if self.json {
            output::data(&output::json_line(&made)?)?;
            return Ok(Exit::Done);
        }
        print_line(&made)
    }
}

/// Prints the one answer that holds a secret as a line to call the webhook with.
fn print_line(made: &TriggerSecret) -> Done {
    if made.secret.is_some() {
        output::tell("its secret is in the line below and is not shown again");
    }
    output::data(&format!("{}\n", made.curl.as_ref().unwrap_or(&made.url)))?;
    Ok(Exit::Done)
}

/// List the webhooks
#[derive(Debug, Args)]
struct List {
    /// Print what the API answers, as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl List {
    fn execute(self) -> Done {
        let list: TriggerList = Worker::find(&self.place.config()?)?.get("/api/agent/webhook-triggers")?;
        if self.json {
            output::data(&output::json_line(&list)?)?;
            return Ok(Exit::Done);
        }
        let rows: Vec<[String; 5]> = list.triggers.into_iter().map(row).collect();
        output::data(&output::table(["WEBHOOK", "FLOW", "NAME", "STATE", "LAST CALL"], &rows))?;
        Ok(Exit::Done)
    }
}

fn row(trigger: Trigger) -> [String; 5] {
    let state = match (trigger.state, trigger.paused_reason) {
        (TriggerState::Active, _) => "active".to_owned(),
        (TriggerState::Paused, None) => "paused".to_owned(),
        (TriggerState::Paused, Some(reason)) => format!("paused ({})", word(reason)),
    };
    let last = trigger.last_delivery.map(|last| format!("{} {}", last.accepted_at, word(last.status)));
    [
        trigger.trigger_id.to_string(),
        trigger.workflow_id.to_string(),
        trigger.name.unwrap_or_default(),
        state,
        last.unwrap_or_else(|| "-".to_owned()),
    ]
}

/// A word of the API as it is written there.
fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Remove a webhook; runs that it started go on
#[derive(Debug, Args)]
struct Delete {
    webhook: TriggerId,
    #[command(flatten)]
    place: Place,
}

impl Delete {
    fn execute(self) -> Done {
        let worker = Worker::find(&self.place.config()?)?;
        let _gone: Value = worker.delete(&format!("/api/agent/webhook-triggers/{}", self.webhook))?;
        output::tell("removed");
        Ok(Exit::Done)
    }
}

/// Give a webhook another secret; the old one opens nothing from then on
#[derive(Debug, Args)]
struct Rotate {
    webhook: TriggerId,
    /// Print what the API answers, as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Rotate {
    fn execute(self) -> Done {
        let worker = Worker::find(&self.place.config()?)?;
        let path = format!("/api/agent/webhook-triggers/{}/rotate-secret", self.webhook);
        let made: TriggerSecret = worker.post(&path, &serde_json::json!({}))?;
        if self.json {
            output::data(&output::json_line(&made)?)?;
            return Ok(Exit::Done);
        }
        print_line(&made)
    }
}

/// List the newest accepted calls of a webhook
#[derive(Debug, Args)]
struct Deliveries {
    webhook: TriggerId,
    /// How many at most
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    limit: u8,
    /// Print what the API answers, as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Deliveries {
    fn execute(self) -> Done {
        let path = format!("/api/agent/webhook-triggers/{}/deliveries?limit={}", self.webhook, self.limit);
        let list: DeliveryList = Worker::find(&self.place.config()?)?.get(&path)?;
        if self.json {
            output::data(&output::json_line(&list)?)?;
            return Ok(Exit::Done);
        }
        let rows: Vec<[String; 5]> = list.deliveries.iter().map(delivery_row).collect();
        output::data(&output::table(["ACCEPTED", "STATUS", "TOOK", "DUPLICATES", "RUN"], &rows))?;
        Ok(Exit::Done)
    }
}

fn delivery_row(delivery: &Delivery) -> [String; 5] {
    [
        delivery.accepted_at.to_string(),
        word(delivery.status),
        delivery.duration_ms.map_or_else(|| "-".to_owned(), output::took),
        delivery.duplicates.to_string(),
        delivery.run_id.to_string(),
    ]
}
