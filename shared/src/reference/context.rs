//! What an expression sees of a run: what it names, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value as Seen;

use super::grammar::{Fact, Root, Segment};
use super::naming::Names;
use super::resolve::{Lookup, Values};
use super::walk::step_of;
use crate::expression::{Context, seen};
use crate::ids::StepIndex;

/// The context of an expression of the step at `here`. `secret` gives what stands for a secret.
///
/// A skipped step, and one that has left nothing, is undefined.
pub(super) fn context<E>(
    names: &Names,
    values: &dyn Values,
    here: StepIndex,
    mut secret: impl FnMut(&str) -> Result<String, E>,
) -> Result<Context, E> {
    let mut inputs: BTreeSet<&str> = BTreeSet::new();
    let mut steps: BTreeMap<StepIndex, BTreeMap<&str, Seen>> = BTreeMap::new();
    let mut last: BTreeMap<&str, Seen> = BTreeMap::new();
    let mut facts: BTreeMap<&str, BTreeMap<&str, Seen>> = BTreeMap::new();
    let mut secrets: BTreeMap<&str, Seen> = BTreeMap::new();
    for named in &names.named {
        let reference = &named.reference;
        match &reference.root {
            Root::Inputs => match reference.path.first() {
                Some(Segment::Key(name) | Segment::Number(name)) => {
                    inputs.insert(name);
                }
                None => {}
            },
            Root::StepResult(_) | Root::StepInput(_) | Root::LastResult => {
                let Some(step) = step_of(reference, here) else { continue };
                let (half, found) = match &reference.root {
                    Root::StepInput(_) => ("input", values.step_input(step)),
                    _ => ("result", values.result(step)),
                };
                let into = if reference.root == Root::LastResult { &mut last } else { steps.entry(step).or_default() };
                if let Lookup::Value(value) = found
                    && !into.contains_key(half)
                {
                    into.insert(half, seen(value));
                }
            }
            Root::Fact(fact) => {
                if let (Some((root, key)), Some(value)) = (split(*fact), values.fact(*fact)) {
                    facts.entry(root).or_default().insert(key, seen(&value));
                }
            }
            Root::Secret(name) => {
                secrets.insert(name, Seen::from(secret(name)?));
            }
            Root::NodeResult(_) | Root::NodeInput(_) => {}
        }
    }
    let given = values.inputs().iter();
    let given = given.filter(|(name, _)| names.takes_all_inputs || inputs.contains(name.as_str()));
    let mut context = Context::default();
    context.set("inputs", Seen::from_pairs(given.map(|(name, value)| (name.clone(), seen(value)))));
    context.set("steps", Seen::from_pairs(steps.into_iter().flat_map(|(step, halves)| by_either(step, halves))));
    context.set("last", Seen::from_pairs(last));
    context.set("secrets", Seen::from_pairs(secrets));
    for (root, facts) in ["run", "flow"].map(|root| (root, facts.remove(root).unwrap_or_default())) {
        context.set(root, Seen::from_pairs(facts));
    }
    Ok(context)
}

/// A step is found as `steps.0`, `steps[0]` and `steps['0']`.
fn by_either(step: StepIndex, halves: BTreeMap<&str, Seen>) -> [(Seen, Seen); 2] {
    let halves = Seen::from_pairs(halves);
    [(Seen::from(step.0), halves.clone()), (Seen::from(step.to_string()), halves)]
}

fn split(fact: Fact) -> Option<(&'static str, &'static str)> {
    fact.name().split_once('.')
}
