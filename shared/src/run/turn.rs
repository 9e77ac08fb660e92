//! One turn of a run: inputs in, everything that follows from them out, ready to be committed in one piece.

use std::collections::BTreeMap;

use crate::ids::StepIndex;
use crate::plan::Step;
use crate::reference::Resolved;
use crate::run::decide::{Action, Decided, Input, Surroundings, Verdict, decide};
use crate::run::event::{CoveredFile, Recorded};
use crate::run::reduce::{BadHistory, reduce};
use crate::run::state::RunState;

/// What came of a turn. Nothing in it has happened yet: the facts are not committed, the actions not taken.
#[derive(Debug, Default)]
pub struct Turn {
    pub state: RunState,
    /// The new facts, in order, numbered on from the state's last.
    pub recorded: Vec<Recorded>,
    /// What to do once they are committed.
    pub actions: Vec<Action>,
    /// The arguments of every step that was judged, in both forms.
    pub resolved: BTreeMap<StepIndex, Resolved>,
}

/// Who is asked within a turn, before anything of it is committed.
pub trait Guard {
    /// What is to be done about a step with its resolved arguments.
    fn judge(&mut self, state: &RunState, step: &Step, resolved: &Resolved) -> Verdict;

    /// The files that the command of an approved step names, as they are now.
    fn look_again(&mut self, state: &RunState, step: &Step) -> Vec<CoveredFile>;
}

/// Takes the inputs one after the other, each with all that follows from it.
pub fn take_turn(
    state: RunState,
    inputs: impl IntoIterator<Item = Input>,
    around: &Surroundings<'_>,
    guard: &mut dyn Guard,
) -> Result<Turn, BadHistory> {
    let mut turn = Turn { state, ..Turn::default() };
    for input in inputs {
        turn.absorb(input, around, guard)?;
        while turn.absorb(Input::Continue, around, guard)? {}
    }
    Ok(turn)
}

impl Turn {
    /// Takes one input; says whether anything followed.
    fn absorb(&mut self, input: Input, around: &Surroundings<'_>, guard: &mut dyn Guard) -> Result<bool, BadHistory> {
        let Decided { events, actions } = decide(&self.state, input, around);
        let mut followed = !events.is_empty();
        for event in events {
            let recorded = Recorded { seq: self.state.last.next(), ts: around.now, event };
            self.state = reduce(std::mem::take(&mut self.state), &recorded)?;
            self.recorded.push(recorded);
        }
        for action in actions {
            let answer = match action {
                Action::Judge { index, resolved } => self.judge(index, resolved, guard),
                Action::Recheck { index } => self.step(index).map(|step| {
                    let files = guard.look_again(&self.state, step);
                    Input::Rechecked { index, files }
                }),
                Action::Start { .. } | Action::Wake { .. } | Action::Stop { .. } => {
                    self.actions.push(action);
                    None
                }
            };
            if let Some(answer) = answer {
                followed |= self.absorb(answer, around, guard)?;
            }
        }
        Ok(followed)
    }

    fn judge(&mut self, index: StepIndex, resolved: Box<Resolved>, guard: &mut dyn Guard) -> Option<Input> {
        let verdict = guard.judge(&self.state, self.step(index)?, &resolved);
        let args = std::sync::Arc::new(serde_json::Value::Object(resolved.shown.clone()));
        self.resolved.insert(index, *resolved);
        Some(Input::Judged { index, args, verdict })
    }

    fn step(&self, index: StepIndex) -> Option<&Step> {
        self.state.plan.as_deref().and_then(|plan| plan.step(index))
    }
}
