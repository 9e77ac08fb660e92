//! Plain references: what is one, what it yields, and what is said when it cannot.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use weir_shared::ids::StepIndex;
use weir_shared::plan::Step;
use weir_shared::reference::{
    Content, Dialect, Fact, Lookup, Syntax, Unresolved, Values, parse, references_in_flow, resolve_args, resolve_goal,
    steps_named,
};

use crate::catalog::catalog;

/// What a run knows, from plain tables.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) inputs: Map<String, Value>,
    pub(crate) results: BTreeMap<u32, Option<Value>>,
}

impl Values for Known {
    fn inputs(&self) -> &Map<String, Value> {
        &self.inputs
    }

    fn result(&self, step: StepIndex) -> Lookup<'_> {
        match self.results.get(&step.0) {
            Some(Some(value)) => Lookup::Value(value),
            Some(None) => Lookup::Skipped,
            None => Lookup::Absent,
        }
    }

    fn step_input(&self, step: StepIndex) -> Lookup<'_> {
        self.result(step)
    }

    fn fact(&self, name: Fact) -> Option<Value> {
        match name {
            Fact::RunId => Some(json!("run-1")),
            Fact::RunStartedAt => Some(json!("2026-11-30T00:00:00.000Z")),
            Fact::FlowId | Fact::FlowRevision => None,
        }
    }
}

/// A step at index 5 that calls this tool with these arguments.
pub(crate) fn step(tool: &str, args: &Value) -> Step {
    let mut step = Step::new(StepIndex(5), tool.parse().unwrap());
    step.args.clone_from(args.as_object().unwrap());
    step
}

fn known() -> Known {
    let result = json!({
        "json": { "count": 3, "a b": [ { "0": "zero", "x-y": null } ], "0": "key" }, "text": "ok", "list": [],
    });
    Known {
        inputs: json!({ "day": "Monday", "n": 2.5, "deep": { "a": [1, 2] } }).as_object().unwrap().clone(),
        results: [(0, Some(result)), (1, None), (4, Some(json!({ "n": 4 })))].into(),
    }
}

fn resolved(text: &str) -> Result<Value, String> {
    let step = step("json_format", &json!({ "json": text }));
    let catalog = catalog();
    match resolve_args(&step, catalog.get("json_format").unwrap(), &known()) {
        Ok(resolved) => {
            assert_eq!(resolved.shown, resolved.call);
            assert!(resolved.environment.is_empty());
            Ok(resolved.call["json"].clone())
        }
        Err(Unresolved::Skipped { step }) => Err(format!("skipped {step}")),
        Err(Unresolved::Failed { message }) => Err(message),
    }
}

#[test]
fn a_text_that_is_one_reference_keeps_the_type_and_any_other_becomes_text() {
    for (text, value) in [
        ("{{inputs.n}}", json!(2.5)),
        ("{{ inputs.deep }}", json!({ "a": [1, 2] })),
        ("{{inputs.deep.a[1]}}", json!(2)),
        ("{{inputs.deep.a.1}}", json!(2)),
        ("{{inputs['deep']['a'].0}}", json!(1)),
        ("{{steps.0.result.json.count}}", json!(3)),
        ("{{steps.0.result.json['a b'][0].0}}", json!("zero")),
        ("{{steps.0.result.json[\"a b\"][0]['x-y']}}", json!(null)),
        ("{{steps.0.result.json['a b'][0].x-y}}", json!(null)),
        ("{{steps.0.result.json.0}}", json!("key")),
        ("{{last.result.n}}", json!(4)),
        ("{{run.id}}", json!("run-1")),
        (" {{inputs.n}}", json!(" 2.5")),
        ("{{inputs.day}}s, {{inputs.deep}}", json!("Mondays, {\"a\":[1,2]}")),
        ("{{ '{{' }}inputs.day{{ \"}}\" }}", json!("{{inputs.day}}")),
        ("{% raw %}{{inputs.day}} {%{% endraw %}!", json!("{{inputs.day}} {%!")),
        ("plain } text {", json!("plain } text {")),
    ] {
        assert_eq!(resolved(text), Ok(value), "{text}");
    }
}

#[test]
fn what_is_missing_is_named_with_what_was_there_instead() {
    for (text, says) in [
        ("{{inputs.other}}", "`{{inputs.other}}` cannot be resolved: the run's inputs are day, n, deep"),
        ("{{inputs.day.x}}", "`inputs.day` is a text"),
        ("{{inputs.deep.a[2]}}", "`inputs.deep.a` is a list of 2 elements"),
        ("{{inputs.deep.a.b}}", "`inputs.deep.a` is a list of 2 elements"),
        ("{{steps.0.result.json.c}}", "`steps.0.result.json` is an object with the keys count, a b, 0"),
        ("{{steps.0.result.list[0]}}", "`steps.0.result.list` is an empty list"),
        ("{{steps.0.result.json['a b'][0].x-y.z}}", "`steps.0.result.json['a b'][0].x-y` is null"),
        ("so {{steps.0.result.json['a b'][0].x-y}}", "is null, which has no text"),
        ("{{steps.3.result}}", "step 3 has left nothing yet"),
        ("{{flow.id}}", "this run belongs to no flow"),
        ("{{inputs}}", "is not a reference: write inputs.NAME"),
        ("{{node.a.result}}", "a plan has no nodes"),
    ] {
        let error = resolved(text).unwrap_err();
        assert!(error.contains(says), "{text}: {error}");
    }
    assert_eq!(resolved("{{steps.1.result.x}}"), Err("skipped 1".to_owned()));
    assert_eq!(resolved("a {{steps.1.input}}"), Err("skipped 1".to_owned()));
}

#[test]
fn pieces_cover_the_text_and_tell_faults_from_references() {
    for (text, kinds) in [
        ("a{{inputs.x}}b", "text ref text"),
        ("{{inputs.x}}}", "ref text"),
        ("{{{inputs.x}}}", "expression"),
        ("{{inputs.x", "malformed text"),
        ("{{}}", "malformed"),
        ("{{inputs.x|upper}}", "expression"),
        ("{{ 'a' ~ 'b' }}", "expression"),
        ("{{- inputs.x -}}", "ref"),
        ("{{ {'a': {'b': 1}} }}", "expression"),
        ("{{inputs.x['}}']}}", "ref"),
        ("{{it's}} {{inputs.x}}", "malformed text ref"),
        ("{% if a %}{{inputs.x}}{# b #}", "statement ref statement"),
        ("{% for a in b %}{{a.c}}{% endfor %}", "statement expression statement"),
        ("50{% of", "text malformed text"),
        ("{{Inputs.x}}", "malformed"),
        ("{{node.a-b.result}}", "ref"),
        ("{{node.a-b}}", "malformed"),
        ("{{node['a'].result}}", "expression"),
        ("{{node.a.result.}}", "malformed"),
        ("{{node.a.result[x]}}", "malformed"),
        ("{{steps.1.result}}", "malformed"),
        ("{{last.result}}", "malformed"),
        ("{{run.name}}", "malformed"),
        ("{{ true }}", "expression"),
    ] {
        let template = parse(text, Dialect::Flow, Syntax::Text);
        let mut end = 0;
        let mut found = Vec::new();
        for piece in &template.pieces {
            assert_eq!(piece.range.start, end, "{text}");
            end = piece.range.end;
            found.push(match &piece.content {
                Content::Text(_) => "text",
                Content::Reference(_) => "ref",
                Content::Expression(_) => "expression",
                Content::RawShell(_) => "shell",
                Content::Statement => "statement",
                Content::Fault(_) => "malformed",
            });
        }
        assert_eq!(end, text.len(), "{text}");
        assert_eq!(found.join(" "), kinds, "{text}");
    }
    let shell = parse("date +{%H} {# {{inputs.x}}", Dialect::Flow, Syntax::Shell);
    assert_eq!(shell.references().count(), 1);
    assert_eq!(shell.pieces.len(), 2);
}

#[test]
fn references_print_in_one_spelling_that_reads_back() {
    for text in ["{{inputs.a['b c'].0[1]}}", "{{ node.x-1.input['it\\'s'] }}", "{{run.startedAt}}", "{{secrets.A_B}}"] {
        let (range, reference) = references_in_flow(text, Syntax::Text).remove(0);
        assert_eq!(range, 0..text.len());
        let printed = format!("{{{{{reference}}}}}");
        assert_eq!(references_in_flow(&printed, Syntax::Text), vec![(0..printed.len(), reference)]);
    }
}

#[test]
fn a_step_names_earlier_steps_once_each() {
    let named = steps_named(&step(
        "json_format",
        &json!({ "json": ["{{steps.3.result}} {{steps.0.input}}", { "k": "{{last.result}} {{steps.3.result.x}}" }, "{{steps.7.result}}"] }),
    ));
    assert_eq!(named, [StepIndex(0), StepIndex(3), StepIndex(4)]);
}

#[test]
fn a_raw_argument_is_no_template() {
    let text = "{{ input }} {% if x %}";
    let step = step("text_template", &json!({ "template": text, "input": "{{inputs.n}}" }));
    let resolved = resolve_args(&step, catalog().get("text_template").unwrap(), &known()).unwrap();
    assert_eq!(Value::Object(resolved.call), json!({ "template": text, "input": 2.5 }));
}

#[test]
fn a_goal_takes_inputs_and_facts() {
    assert_eq!(resolve_goal("Report of {{inputs.day}} ({{run.id}})", &known()).unwrap(), "Report of Monday (run-1)");
    assert!(resolve_goal("{{inputs.none}}", &known()).is_err());
}
