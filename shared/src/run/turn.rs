//! One turn of a run: inputs in, everything that follows from them out, ready to be committed in one piece.

use std::collections::BTreeMap;

use crate::ids::StepIndex;
use crate::plan::Step;
use crate::reference::Resolved;
use crate::run::decide::{Action, Decided, Input, Surroundings, Verdict, decide};
use crate::run::event::Recorded;
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

/// Asks the guard about a step with its resolved arguments.
pub type Judge<'a> = dyn FnMut(&RunState, &Step, &Resolved) -> Verdict + 'a;

/// Takes the inputs one after the other, each with all that follows from it.
pub fn take_turn(
    state: RunState,
    inputs: impl IntoIterator<Item = Input>,
    around: &Surroundings<'_>,
    judge: &mut Judge<'_>,
) -> Result<Turn, BadHistory> {
    let mut turn = Turn { state, ..Turn::default() };
    for input in inputs {
        turn.absorb(input, around, judge)?;
        while turn.absorb(Input::Continue, around, judge)? {}
    }
    Ok(turn)
}

impl Turn {
    /// Takes one input; says whether anything followed.
    fn absorb(&mut self, input: Input, around: &Surroundings<'_>, judge: &mut Judge<'_>) -> Result<bool, BadHistory> {
        let Decided { events, actions } = decide(&self.state, input, around);
        let mut followed = !events.is_empty();
        for event in events {
            let recorded = Recorded { seq: self.state.last.next(), ts: around.now, event };
            self.state = reduce(std::mem::take(&mut self.state), &recorded)?;
            self.recorded.push(recorded);
        }
        for action in actions {
            let Action::Judge { index, resolved } = action else {
                self.actions.push(action);
                continue;
            };
            let plan = self.state.plan.clone();
            let Some(step) = plan.as_deref().and_then(|plan| plan.step(index)) else {
                continue;
            };
            let verdict = judge(&self.state, step, &resolved);
            let args = std::sync::Arc::new(serde_json::Value::Object(resolved.shown.clone()));
            self.resolved.insert(index, *resolved);
            followed |= self.absorb(Input::Judged { index, args, verdict }, around, judge)?;
        }
        Ok(followed)
    }
}
