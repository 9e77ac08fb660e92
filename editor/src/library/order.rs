//! Which cards the library shows for a search, and in which order.

use weir_shared::wire::FlowSummary;

/// What the cards are ordered by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// The newest run first; flows that never ran follow, the last changed first.
    #[default]
    LastRun,
    /// By name, A to Z.
    Name,
    /// The last changed file first.
    Changed,
}

impl Order {
    /// Every order, as it is offered.
    pub const ALL: [Order; 3] = [Order::LastRun, Order::Name, Order::Changed];

    /// Its value in a list.
    pub fn word(self) -> &'static str {
        match self {
            Order::LastRun => "run",
            Order::Name => "name",
            Order::Changed => "changed",
        }
    }

    /// What a person reads.
    pub fn words(self) -> &'static str {
        match self {
            Order::LastRun => "Last run",
            Order::Name => "Name",
            Order::Changed => "Last changed",
        }
    }

    /// The order with this value.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.word() == word)
    }
}

/// The flows whose name, description or id holds every word of `search`, in this order.
pub fn shown(flows: &[FlowSummary], search: &str, order: Order) -> Vec<FlowSummary> {
    let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
    let mut shown: Vec<FlowSummary> = flows
        .iter()
        .filter(|flow| {
            let text = format!("{} {} {}", flow.name, flow.description, flow.id).to_lowercase();
            words.iter().all(|word| text.contains(word))
        })
        .cloned()
        .collect();
    match order {
        Order::LastRun => shown.sort_by(|a, b| {
            let run = |flow: &FlowSummary| flow.last_run.as_ref().map(|run| run.created_at);
            run(b).cmp(&run(a)).then(b.updated_at.cmp(&a.updated_at)).then_with(|| a.id.cmp(&b.id))
        }),
        Order::Name => shown.sort_by_cached_key(|flow| (flow.name.to_lowercase(), flow.id.clone())),
        Order::Changed => shown.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.id.cmp(&b.id))),
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flow(id: &str, name: &str, run: Option<&str>) -> FlowSummary {
        let run = run.map(|at| {
            json!({"runId": "01936d2a-0000-7000-8000-000000000001", "status": "completed", "createdAt": at,
                "completedAt": null, "durationMs": null})
        });
        serde_json::from_value(json!({
            "id": id, "name": name, "description": "Mails the team", "revision": "0123456789abcdef", "published": false,
            "publishedVersion": null, "hasUnpublishedChanges": false, "stepCount": 1,
            "findings": {"errors": 0, "warnings": 0}, "lastRun": run, "nextFireAt": null,
            "updatedAt": "2026-11-30T10:00:00Z"
        }))
        .expect("a summary")
    }

    fn ids(flows: &[FlowSummary]) -> Vec<&str> {
        flows.iter().map(|flow| flow.id.as_str()).collect()
    }

    #[test]
    fn every_word_counts_in_any_field() {
        let flows = [flow("a", "Nightly report", None), flow("b", "Backup", None)];
        assert_eq!(ids(&shown(&flows, "REPORT team", Order::Name)), ["a"]);
        assert_eq!(ids(&shown(&flows, "team", Order::Name)), ["b", "a"]);
        assert!(shown(&flows, "report backup", Order::Name).is_empty());
    }

    #[test]
    fn what_ran_last_comes_first_and_what_never_ran_last() {
        let flows = [
            flow("never", "A", None),
            flow("old", "B", Some("2026-11-29T10:00:00Z")),
            flow("new", "C", Some("2026-11-30T10:00:00Z")),
        ];
        assert_eq!(ids(&shown(&flows, "", Order::LastRun)), ["new", "old", "never"]);
    }
}
