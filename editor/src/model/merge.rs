//! Two versions of a flow that began as one: where they differ, and the flow that takes each part from one of them.
//!
//! Guarantees: a part that only one side changed is taken from that side; only a part that both changed, each in its
//! own way, needs a person; the merged flow has no edge, place or pin of a node it does not have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use weir_shared::flow::{Edge, Flow, Node, Note, Place, START};
use weir_shared::layout::tidy;

use super::item::EdgeKey;

/// A version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Mine,
    Theirs,
}

/// What is taken as a whole from one version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Setting(Setting),
    /// A node with its place and its pin.
    Node(String),
    Edge(EdgeKey),
    Note(String),
}

/// Something of the flow itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    Name,
    Description,
    Goal,
    Inputs,
    OnFailure,
    Concurrency,
    Schedules,
    /// Where Start stands.
    Start,
    /// Keys that the page does not model.
    Others,
}

/// What a version did to a part since both began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Untouched,
    Added,
    Changed,
    Removed,
}

/// A part that is not the same in both versions.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub part: Part,
    pub mine: Change,
    pub theirs: Change,
}

impl Difference {
    /// Whether both sides changed it, so that a person has to choose.
    pub fn is_conflict(&self) -> bool {
        self.mine != Change::Untouched && self.theirs != Change::Untouched
    }

    /// The side that is taken unless a person says otherwise: the one that changed it; mine when both did.
    pub fn side(&self) -> Side {
        if self.mine == Change::Untouched { Side::Theirs } else { Side::Mine }
    }
}

const SETTINGS: [Setting; 9] = [
    Setting::Name,
    Setting::Description,
    Setting::Goal,
    Setting::Inputs,
    Setting::OnFailure,
    Setting::Concurrency,
    Setting::Schedules,
    Setting::Start,
    Setting::Others,
];

impl Setting {
    fn is_same(self, one: &Flow, other: &Flow) -> bool {
        match self {
            Setting::Name => one.name == other.name,
            Setting::Description => one.description == other.description,
            Setting::Goal => one.goal == other.goal,
            Setting::Inputs => one.inputs == other.inputs,
            Setting::OnFailure => one.on_failure == other.on_failure,
            Setting::Concurrency => one.concurrency == other.concurrency,
            Setting::Schedules => one.schedules == other.schedules,
            Setting::Start => one.layout.get(START) == other.layout.get(START),
            Setting::Others => {
                (one.format, &one.schema, &one.extensions) == (other.format, &other.schema, &other.extensions)
            }
        }
    }

    fn take(self, from: &Flow, into: &mut Flow) {
        match self {
            Setting::Name => into.name.clone_from(&from.name),
            Setting::Description => into.description.clone_from(&from.description),
            Setting::Goal => into.goal.clone_from(&from.goal),
            Setting::Inputs => into.inputs.clone_from(&from.inputs),
            Setting::OnFailure => into.on_failure = from.on_failure,
            Setting::Concurrency => into.concurrency.clone_from(&from.concurrency),
            Setting::Schedules => into.schedules.clone_from(&from.schedules),
            Setting::Start => match from.layout.get(START) {
                Some(place) => {
                    into.layout.insert(START.to_owned(), *place);
                }
                None => {
                    into.layout.remove(START);
                }
            },
            Setting::Others => {
                into.format = from.format;
                into.schema.clone_from(&from.schema);
                into.extensions.clone_from(&from.extensions);
            }
        }
    }

    /// Where it stands in a file; absent for what has no one place.
    pub fn key(self) -> Option<&'static str> {
        match self {
            Setting::Name => Some("/name"),
            Setting::Description => Some("/description"),
            Setting::Goal => Some("/goal"),
            Setting::Inputs => Some("/inputs"),
            Setting::OnFailure => Some("/onFailure"),
            Setting::Concurrency => Some("/concurrency"),
            Setting::Schedules => Some("/schedules"),
            Setting::Start => Some("/layout/$start"),
            Setting::Others => None,
        }
    }

    /// What a person calls it.
    pub fn words(self) -> &'static str {
        match self {
            Setting::Name => "Name of the flow",
            Setting::Description => "Description of the flow",
            Setting::Goal => "Goal",
            Setting::Inputs => "Inputs",
            Setting::OnFailure => "When a step fails",
            Setting::Concurrency => "Runs at once",
            Setting::Schedules => "Schedules",
            Setting::Start => "Place of Start",
            Setting::Others => "Other keys of the file",
        }
    }
}

type WholeNode<'a> = (&'a Node, Option<&'a Place>, Option<&'a Value>);

fn node<'a>(flow: &'a Flow, id: &str) -> Option<WholeNode<'a>> {
    flow.node(id).map(|node| (node, flow.layout.get(id), flow.pins.get(id)))
}

fn edge<'a>(flow: &'a Flow, key: &EdgeKey) -> Option<&'a Edge> {
    flow.edges.iter().find(|edge| key.names(edge))
}

fn note<'a>(flow: &'a Flow, id: &str) -> Option<&'a Note> {
    flow.notes.iter().find(|note| note.id == id)
}

fn change<T: PartialEq>(base: Option<T>, now: Option<T>) -> Change {
    match (base, now) {
        (None, Some(_)) => Change::Added,
        (Some(_), None) => Change::Removed,
        (None, None) => Change::Untouched,
        (Some(base), Some(now)) if base == now => Change::Untouched,
        (Some(_), Some(_)) => Change::Changed,
    }
}

/// A version with a place for everything it leaves without one: the base's, so that what nobody moved counts as
/// unmoved, else one that is worked out.
pub fn placed(mut version: Flow, base: &Flow) -> Flow {
    for (id, place) in &base.layout {
        version.layout.entry(id.clone()).or_insert(*place);
    }
    for (id, place) in tidy(&version) {
        version.layout.entry(id).or_insert(place);
    }
    let ids: BTreeSet<&str> = version.nodes.iter().map(|node| node.id.as_str()).collect();
    version.layout.retain(|id, _| id == START || ids.contains(id.as_str()));
    version
}

/// Three versions of one flow.
#[derive(Debug, Clone, Copy)]
pub struct Versions<'a> {
    /// What both began as.
    pub base: &'a Flow,
    pub mine: &'a Flow,
    pub theirs: &'a Flow,
}

impl Versions<'_> {
    /// Every part that is not the same in both, settings first.
    pub fn differences(self) -> Vec<Difference> {
        let Versions { base, mine, theirs } = self;
        let mut found = Vec::new();
        for setting in SETTINGS.into_iter().filter(|setting| !setting.is_same(mine, theirs)) {
            let of = |now: &Flow| if setting.is_same(base, now) { Change::Untouched } else { Change::Changed };
            found.push(Difference { part: Part::Setting(setting), mine: of(mine), theirs: of(theirs) });
        }
        for id in ids(self, |flow| flow.nodes.iter().map(|node| node.id.clone()).collect()) {
            let (was, here, there) = (node(base, &id), node(mine, &id), node(theirs, &id));
            if here != there {
                let (mine, theirs) = (change(was, here), change(was, there));
                found.push(Difference { part: Part::Node(id), mine, theirs });
            }
        }
        for key in ids(self, |flow| flow.edges.iter().map(EdgeKey::of).collect()) {
            let (was, here, there) = (edge(base, &key), edge(mine, &key), edge(theirs, &key));
            if here != there {
                let (mine, theirs) = (change(was, here), change(was, there));
                found.push(Difference { part: Part::Edge(key), mine, theirs });
            }
        }
        for id in ids(self, |flow| flow.notes.iter().map(|note| note.id.clone()).collect()) {
            let (was, here, there) = (note(base, &id), note(mine, &id), note(theirs, &id));
            if here != there {
                let (mine, theirs) = (change(was, here), change(was, there));
                found.push(Difference { part: Part::Note(id), mine, theirs });
            }
        }
        found
    }

    /// The flow that takes each part from one side: from the one a person chose, else as [`Difference::side`] says.
    pub fn merged(self, chosen: &[(Part, Side)]) -> Flow {
        let Versions { mine, theirs, .. } = self;
        let mut flow = mine.clone();
        for difference in self.differences() {
            let said = chosen.iter().find(|(part, _)| *part == difference.part).map(|(_, side)| *side);
            match said.unwrap_or(difference.side()) {
                Side::Mine => {}
                Side::Theirs => take(&difference.part, theirs, &mut flow),
            }
        }
        let there: BTreeSet<String> = flow.nodes.iter().map(|node| node.id.clone()).collect();
        flow.edges.retain(|edge| there.contains(&edge.source) && there.contains(&edge.target));
        flow.layout.retain(|id, _| id == START || there.contains(id));
        flow.pins.retain(|id, _| there.contains(id));
        flow
    }
}

/// What mine has, then what only theirs has; what neither has differs nowhere.
fn ids<T: Clone + Ord>(versions: Versions<'_>, of: impl Fn(&Flow) -> Vec<T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    let all = of(versions.mine).into_iter().chain(of(versions.theirs));
    all.filter(|id| seen.insert(id.clone())).collect()
}

/// Makes a part what it is in `from`.
fn take(part: &Part, from: &Flow, into: &mut Flow) {
    match part {
        Part::Setting(setting) => setting.take(from, into),
        Part::Node(id) => {
            put(&mut into.nodes, |node| node.id == *id, from.node(id).cloned());
            put_entry(&mut into.layout, id, from.layout.get(id).copied());
            match from.pins.get(id) {
                Some(value) => {
                    into.pins.insert(id.clone(), value.clone());
                }
                None => {
                    into.pins.shift_remove(id);
                }
            }
        }
        Part::Edge(key) => put(&mut into.edges, |edge| key.names(edge), edge(from, key).cloned()),
        Part::Note(id) => put(&mut into.notes, |note| note.id == *id, note(from, id).cloned()),
    }
}

fn put_entry(places: &mut BTreeMap<String, Place>, id: &str, place: Option<Place>) {
    match place {
        Some(place) => {
            places.insert(id.to_owned(), place);
        }
        None => {
            places.remove(id);
        }
    }
}

/// Replaces, adds or removes the one element that `is_it`.
fn put<T>(list: &mut Vec<T>, is_it: impl Fn(&T) -> bool, value: Option<T>) {
    let at = list.iter().position(is_it);
    match (at, value) {
        (Some(at), Some(value)) => list[at] = value,
        (Some(at), None) => {
            list.remove(at);
        }
        (None, Some(value)) => list.push(value),
        (None, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flow(nodes: &[(&str, &str)], edges: &[(&str, &str)]) -> Flow {
        let mut flow = Flow::new("Report");
        for (id, title) in nodes {
            let title = Some((*title).to_owned());
            flow.nodes.push(Node { id: (*id).to_owned(), tool: "delay".to_owned(), title, ..Node::default() });
        }
        for (source, target) in edges {
            let (source, target) = ((*source).to_owned(), (*target).to_owned());
            flow.edges.push(Edge { source, target, ..Edge::default() });
        }
        flow
    }

    fn titles(flow: &Flow) -> Vec<&str> {
        flow.nodes.iter().map(Node::label).collect()
    }

    #[test]
    fn what_one_side_changed_is_taken_and_what_both_changed_is_asked() {
        let base = flow(&[("a", "A"), ("b", "B"), ("c", "C")], &[("a", "b")]);
        let mut mine = flow(&[("a", "A mine"), ("b", "B mine"), ("c", "C")], &[("a", "b"), ("b", "c")]);
        mine.name = "Mine".to_owned();
        let mut theirs = flow(&[("a", "A"), ("b", "B theirs"), ("d", "D")], &[("a", "b"), ("a", "d")]);
        theirs.goal = Some("Goal".to_owned());
        let versions = Versions { base: &base, mine: &mine, theirs: &theirs };

        let asked: Vec<Difference> = versions.differences().into_iter().filter(Difference::is_conflict).collect();
        assert_eq!(asked.iter().map(|difference| &difference.part).collect::<Vec<_>>(), [&Part::Node("b".to_owned())]);

        let merged = versions.merged(&[]);
        assert_eq!((merged.name.as_str(), merged.goal.as_deref()), ("Mine", Some("Goal")));
        assert_eq!(titles(&merged), ["A mine", "B mine", "D"]);
        let ends: Vec<_> = merged.edges.iter().map(|edge| (edge.source.as_str(), edge.target.as_str())).collect();
        assert_eq!(ends, [("a", "b"), ("a", "d")], "the edge to the removed node went with it");

        let picked = versions.merged(&[(Part::Node("b".to_owned()), Side::Theirs)]);
        assert_eq!(titles(&picked), ["A mine", "B theirs", "D"]);
    }

    #[test]
    fn all_of_one_side_gives_that_side() {
        let base = flow(&[("a", "A")], &[]);
        let mut mine = flow(&[("a", "A"), ("b", "B")], &[("a", "b")]);
        mine.layout.insert("a".to_owned(), Place { x: 16, y: 0 });
        let mut theirs = flow(&[("a", "A2")], &[]);
        theirs.pins.insert("a".to_owned(), json!({ "stdout": "x" }));
        let versions = Versions { base: &base, mine: &mine, theirs: &theirs };
        for (side, whole) in [(Side::Mine, &mine), (Side::Theirs, &theirs)] {
            let all: Vec<_> = versions.differences().into_iter().map(|difference| (difference.part, side)).collect();
            assert_eq!(&versions.merged(&all), whole);
        }
    }

    #[test]
    fn a_version_without_places_moved_nothing() {
        let bare = flow(&[("a", "A"), ("b", "B")], &[("a", "b")]);
        let base = placed(bare.clone(), &Flow::new("Report"));
        let theirs = placed(flow(&[("a", "A"), ("b", "B"), ("c", "C")], &[("a", "b")]), &base);
        let versions = Versions { base: &base, mine: &base, theirs: &theirs };
        let parts: Vec<Part> = versions.differences().into_iter().map(|difference| difference.part).collect();
        assert_eq!(parts, [Part::Node("c".to_owned())]);
        assert!(versions.merged(&[]).layout.contains_key("c"));
    }

    #[test]
    fn the_same_change_on_both_sides_is_no_difference() {
        let base = flow(&[("a", "A")], &[]);
        let both = flow(&[("a", "Same")], &[]);
        let versions = Versions { base: &base, mine: &both, theirs: &both.clone() };
        assert_eq!(versions.differences(), []);
        assert_eq!(versions.merged(&[]), both);
    }
}
