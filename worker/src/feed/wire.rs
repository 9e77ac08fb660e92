//! An event as it goes out on the wire: masked, and serialised once for all who follow.
//!
//! The only place where masking meets the stream and the API of runs.

use std::sync::Arc;

use serde_json::{Map, Value};
use weir_shared::ids::{Seq, StepIndex};
use weir_shared::mask::{mask, mask_fields};
use weir_shared::plan::Plan;
use weir_shared::run::event::{Event, Recorded, RunCreated, STEP_OUTPUT, StepOutput};
use weir_shared::run::view;
use weir_shared::tool::{Catalog, ToolDeclaration};

/// One frame of a run's stream.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// Absent on frames that cannot be resumed from.
    pub(crate) id: Option<Seq>,
    pub(crate) event: &'static str,
    /// JSON.
    pub(crate) data: Arc<str>,
}

impl Frame {
    /// Whether nothing follows it.
    pub(crate) fn is_terminal(&self) -> bool {
        self.id.is_some() && matches!(self.event, "complete" | "error")
    }

    /// A piece of output.
    pub(crate) fn output(output: &StepOutput) -> Self {
        let data = serde_json::to_string(output).unwrap_or_default();
        Self { id: None, event: STEP_OUTPUT, data: data.into() }
    }
}

/// What is known about a run when its events go out: whose schema describes which value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schemas<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) plan: Option<&'a Plan>,
}

impl<'a> Schemas<'a> {
    fn tool(&self, index: StepIndex) -> Option<&'a ToolDeclaration> {
        let step = self.plan?.step(index)?;
        self.catalog.get(step.tool_name.as_str())
    }

    /// Hides what must not be read in a step's arguments.
    pub(crate) fn mask_args(&self, index: StepIndex, args: &mut Value) {
        mask(args, self.tool(index).map(|tool| &tool.input_schema));
    }

    /// Hides what must not be read in a step's result.
    pub(crate) fn mask_result(&self, index: StepIndex, result: &mut Value) {
        mask(result, self.tool(index).and_then(|tool| tool.output_schema.as_ref()));
    }

    /// Hides what must not be read in the arguments a plan holds.
    pub(crate) fn mask_plan(&self, plan: &mut Plan) {
        for step in &mut plan.steps {
            let tool = self.catalog.get(step.tool_name.as_str());
            mask_fields(&mut step.args, tool.map(|tool| &tool.input_schema));
        }
    }

    /// The event with everything hidden that must not be read.
    pub(crate) fn masked(&self, recorded: &Recorded) -> Recorded {
        let mut recorded = recorded.clone();
        match &mut recorded.event {
            Event::RunCreated(created) => mask_inputs(created),
            Event::PlanReady(plan) => self.mask_plan(Arc::make_mut(plan)),
            Event::StepApprovalRequested { index, args, .. } | Event::StepStart { index, args, .. } => {
                self.mask_args(*index, Arc::make_mut(args));
            }
            Event::StepComplete { index, result, .. } => self.mask_result(*index, Arc::make_mut(result)),
            Event::Complete { result, .. } => mask(Arc::make_mut(result), None),
            Event::RunStarted { .. }
            | Event::PlanApprovalRequested { .. }
            | Event::ApprovalResolved { .. }
            | Event::StepDecided { .. }
            | Event::StepRetry { .. }
            | Event::StepSkipped { .. }
            | Event::StepFailed(_)
            | Event::StepCancelled(_)
            | Event::StepInterrupted(_)
            | Event::CancelRequested { .. }
            | Event::HookFailed { .. }
            | Event::Error { .. } => {}
        }
        recorded
    }

    /// An event as a frame of the stream: its data, with `seq` and `ts`.
    pub(crate) fn frame(&self, recorded: &Recorded) -> Frame {
        let masked = self.masked(recorded);
        let mut data = Map::new();
        data.insert("seq".to_owned(), Value::from(masked.seq.0));
        data.insert("ts".to_owned(), Value::from(masked.ts.to_string()));
        if let Value::Object(fields) = view::data(&masked.event) {
            data.extend(fields);
        }
        Frame { id: Some(masked.seq), event: masked.event.name(), data: Value::Object(data).to_string().into() }
    }
}

/// Hides what must not be read in a run's inputs: by name, and by the marks its flow's schema made.
pub(crate) fn mask_inputs(created: &mut RunCreated) {
    let marks = created.input_marks.iter();
    let properties: Map<_, _> =
        marks.map(|(name, mark)| (name.clone(), serde_json::json!({ "x-weir-sensitive": mark }))).collect();
    mask_fields(&mut created.inputs, Some(&serde_json::json!({ "properties": properties })));
}
