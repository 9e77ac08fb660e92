//! What a text names: its plain references, and what its expressions and statements name.
//!
//! Both are told as references with their place, so a rule, a compiler and a graph need not know which they look at.
//! What an expression works out only when it runs (`inputs[key]`) is told as far as it is written.

use std::ops::Range;

use super::grammar::{Fact, Reference, Root, Segment, is_name};
use super::parse::{Content, Dialect, Template};
use super::script::Script;
use crate::expression::{Chain, Found, Key, of_expression, of_template};
use crate::ids::StepIndex;

/// A reference that a text makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub reference: Reference,
    /// Its bytes in the text; of a plain reference with its braces.
    pub range: Range<usize>,
    /// The bytes of `node.<id>` or `node['<id>']` in it, of a reference to a node.
    pub node: Option<Range<usize>>,
}

/// All that a text names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    pub named: Vec<Named>,
    /// An expression takes all inputs, or one that it works out.
    pub takes_all_inputs: bool,
    /// What cannot be resolved or evaluated.
    pub problems: Vec<Problem>,
}

/// Why an expression cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The byte of the text that it concerns.
    pub place: usize,
    /// The expression, or what of it is wrong.
    pub written: String,
    pub reason: String,
}

impl Template<'_> {
    /// What the text names, in order.
    pub fn names(&self) -> Names {
        let mut names = Names::default();
        for (range, reference) in self.references() {
            let named =
                Named { reference: reference.clone(), range: range.clone(), node: self.node_in(range, reference) };
            names.named.push(named);
        }
        if self.is_script() {
            let script = Script::of(self);
            names.add(self, &of_template(&script.source), |at| script.place(at));
        } else {
            for piece in &self.pieces {
                if let Content::Expression(source) | Content::RawShell(source) = &piece.content {
                    names.add(self, &of_expression(source.source), |at| source.at + at);
                }
            }
        }
        names.named.sort_by_key(|named| named.range.start);
        names
    }

    /// Where a plain reference names its node.
    fn node_in(&self, range: &Range<usize>, reference: &Reference) -> Option<Range<usize>> {
        let (Root::NodeResult(id) | Root::NodeInput(id)) = &reference.root else { return None };
        let root = format!("node.{id}");
        let at = range.start + self.text[range.clone()].find(&root)?;
        Some(at..at + root.len())
    }
}

impl Names {
    fn add(&mut self, template: &Template<'_>, found: &Found, place: impl Fn(usize) -> usize) {
        for chain in &found.chains {
            let range = place(chain.range.start)..place(chain.range.end);
            match meaning(chain, template.dialect) {
                Ok(Meaning::References(references)) => {
                    let node = chain.keys.first().map(|(_, end)| range.start..place(*end));
                    for reference in references {
                        let is_of_node = matches!(reference.root, Root::NodeResult(_) | Root::NodeInput(_));
                        let node = node.clone().filter(|_| is_of_node);
                        self.named.push(Named { reference, range: range.clone(), node });
                    }
                }
                Ok(Meaning::AllInputs) => self.takes_all_inputs = true,
                Err(reason) => {
                    let written = template.text.get(range.clone()).unwrap_or_default().to_owned();
                    self.problems.push(Problem { place: range.start, written, reason });
                }
            }
        }
        for (at, reason) in &found.problems {
            let place = place(*at);
            let piece = template.pieces.iter().find(|piece| piece.range.contains(&place));
            let written = piece.map_or("", |piece| &template.text[piece.range.clone()]).to_owned();
            self.problems.push(Problem { place, written, reason: reason.clone() });
        }
    }
}

enum Meaning {
    References(Vec<Reference>),
    AllInputs,
}

/// What a variable with its keys means, or why it means nothing.
fn meaning(chain: &Chain, dialect: Dialect) -> Result<Meaning, String> {
    let keys: Vec<&Key> = chain.keys.iter().map(|(key, _)| key).collect();
    let name = |at: usize| keys.get(at).and_then(|key| text(key));
    let rest = |from: usize| keys.iter().skip(from).map(|key| segment(key)).collect::<Vec<_>>();
    let one = |root: Root, path: Vec<Segment>| Ok(Meaning::References(vec![Reference { root, path }]));
    match (chain.root.as_str(), dialect) {
        ("inputs", _) if keys.is_empty() => Ok(Meaning::AllInputs),
        ("inputs", _) => one(Root::Inputs, rest(0)),
        ("node", Dialect::Flow) => {
            let id = name(0).ok_or("name the node here: write node.ID.result, or node['my-id'].result")?;
            halves(chain, Root::NodeResult(id.clone()), Root::NodeInput(id.clone()), rest(2))
                .ok_or_else(|| format!("write node.{id}.result or node.{id}.input"))
        }
        ("steps", Dialect::Plan) => {
            let index = match keys.first() {
                Some(Key::Index(index)) => u32::try_from(*index).ok(),
                Some(Key::Name(digits)) => digits.parse().ok(),
                None => None,
            };
            let index = index.map(StepIndex).ok_or("write steps.N.result or steps.N.input, counted from 0")?;
            halves(chain, Root::StepResult(index), Root::StepInput(index), rest(2))
                .ok_or_else(|| format!("write steps.{index}.result or steps.{index}.input"))
        }
        ("last", Dialect::Plan) => match name(0).as_deref() {
            Some("result") => one(Root::LastResult, rest(1)),
            _ => Err("write last.result".to_owned()),
        },
        ("run" | "flow", _) => {
            let facts = Fact::ALL.into_iter().filter(|fact| match name(0) {
                None => fact.name().split_once('.').is_some_and(|(root, _)| root == chain.root),
                Some(key) => fact.name() == format!("{}.{key}", chain.root),
            });
            let facts: Vec<Reference> = facts.map(|fact| Reference { root: Root::Fact(fact), path: rest(1) }).collect();
            if facts.is_empty() {
                return Err("there are run.id, run.startedAt, flow.id and flow.revision".to_owned());
            }
            Ok(Meaning::References(facts))
        }
        ("secrets", _) => match name(0).filter(|name| is_name(name)) {
            Some(name) if keys.len() == 1 && !chain.goes_on => one(Root::Secret(name), Vec::new()),
            _ => Err("write secrets.NAME".to_owned()),
        },
        ("node", Dialect::Plan) => Err("a plan has no nodes: write steps.N.result".to_owned()),
        ("steps" | "last", Dialect::Flow) => Err("steps are counted in plans only: write node.ID.result".to_owned()),
        (unknown, Dialect::Flow) => Err(format!(
            "`{unknown}` is not known here: an expression sees inputs, node, run, flow and secrets, and writes a name \
             with a hyphen as node['my-id'].result"
        )),
        (unknown, Dialect::Plan) => {
            Err(format!("`{unknown}` is not known here: an expression sees inputs, steps, last, run, flow and secrets"))
        }
    }
}

/// The result or the input of a step; both, where the expression takes the step as a whole.
fn halves(chain: &Chain, result: Root, input: Root, path: Vec<Segment>) -> Option<Meaning> {
    let half = chain.keys.get(1).map(|(key, _)| text(key).unwrap_or_default());
    let references = match half.as_deref() {
        Some("result") => vec![Reference { root: result, path }],
        Some("input") => vec![Reference { root: input, path }],
        Some(_) => return None,
        None => [result, input].map(|root| Reference { root, path: Vec::new() }).to_vec(),
    };
    Some(Meaning::References(references))
}

fn text(key: &Key) -> Option<String> {
    match key {
        Key::Name(name) => Some(name.clone()),
        Key::Index(_) => None,
    }
}

fn segment(key: &Key) -> Segment {
    match key {
        Key::Name(name) => Segment::Key(name.clone()),
        Key::Index(index) => Segment::Number(index.to_string()),
    }
}
