//! Expressions: what they yield, what they name, what is said when they fail, and how secrets pass through them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use weir_shared::expression;
use weir_shared::finding::Code;
use weir_shared::ids::StepIndex;
use weir_shared::reference::{
    Dialect, Resolved, Syntax, Unresolved, fill_args, parse, references_in_flow, resolve_args, steps_named,
};

use crate::catalog::{catalog, checked};
use crate::references::{Known, step};

fn known() -> Known {
    let result = json!({
        "items": [{ "name": "a", "n": 1 }, { "name": "b", "n": 2 }], "none": null, "text": "x\ny\n", "f": 2.0,
        "big": u64::MAX,
    });
    Known {
        inputs: json!({ "day": "Monday", "key": "items", "html": "<a&'\"é>" }).as_object().unwrap().clone(),
        results: [(0, Some(result)), (1, None), (4, Some(json!({ "n": 4 })))].into(),
    }
}

fn args(tool: &str, argument: &str, text: &str) -> Result<Resolved, String> {
    let step = step(tool, &json!({ argument: text }));
    resolve_args(&step, catalog().get(tool).unwrap(), &known()).map_err(|error| match error {
        Unresolved::Skipped { step } => format!("skipped {step}"),
        Unresolved::Failed { message } => message,
    })
}

fn resolved(text: &str) -> Result<Value, String> {
    args("json_format", "json", text).map(|resolved| {
        assert_eq!(resolved.shown, resolved.call);
        resolved.call["json"].clone()
    })
}

#[test]
fn an_expression_alone_keeps_its_type_and_within_text_becomes_text() {
    for (text, value) in [
        ("{{ steps.0.result.items | length }}", json!(2)),
        ("{{ steps[0].result.items[0] }}", json!({ "name": "a", "n": 1 })),
        ("{{ steps['0'].result.items | map(attribute='name') | list }}", json!(["a", "b"])),
        ("{{ last.result.n + 1 }}", json!(5)),
        ("{{ inputs[inputs.key] is defined }}", json!(false)),
        ("{{ steps.0.result[inputs.key] | length }}", json!(2)),
        ("{{ steps.0.result.big + 0 }}", json!(u64::MAX)),
        ("{{ steps.0.result.none or none }}", json!(null)),
        ("{{ run.id ~ '!' }}", json!("run-1!")),
        ("{{ {'a': {'b': inputs.day}} }}", json!({ "a": { "b": "Monday" } })),
        ("{{ true }}", json!(true)),
        ("n={{ last.result.n + 1 }}.", json!("n=5.")),
        ("f={{ steps.0.result.f * 2 }}", json!("f=4.0")),
        (
            "{{ inputs.html | upper }} {{ steps.0.result.items }}",
            json!("<A&'\"É> [{\"name\":\"a\",\"n\":1},{\"name\":\"b\",\"n\":2}]"),
        ),
        ("{{ inputs.day | lower }}\n", json!("monday\n")),
        ("{{ '{{' ~ '}}' }}", json!("{{}}")),
    ] {
        assert_eq!(resolved(text), Ok(value), "{text}");
    }
}

#[test]
fn a_text_with_statements_is_one_template() {
    for (text, value) in [
        ("{% for item in steps.0.result.items %}{{ item.name }}={{ item.n }};{% endfor %}\n", "a=1;b=2;\n"),
        ("{% if last.result.n > 3 %}big {{inputs.day}}{% else %}{{inputs.gone}}{% endif %}", "big Monday"),
        ("{# nothing to see #}{{last.result.n}}", "4"),
        ("a  {{- inputs.day -}}  b {{ 1 }}", "aMondayb 1"),
        ("{% raw %}{{ x }}{% endraw %}{% if true %}{{ '{{' }}{% endif %}", "{{ x }}{{"),
        ("{% set n = last.result %}{{ n.n }} {{ inputs.html }}", "4 <a&'\"é>"),
        ("{% if steps.1.result is defined %}ran{% else %}skipped{% endif %}", "skipped"),
    ] {
        assert_eq!(resolved(text), Ok(json!(value)), "{text}");
    }
    assert_eq!(resolved("{% if true %}{{steps.1.result}}{% endif %}"), Err("skipped 1".to_owned()));
    assert_eq!(resolved("{% if false %}{{steps.1.result}}{% endif %}-"), Ok(json!("-")));
}

#[test]
fn default_stands_in_at_any_depth_and_for_null() {
    for text in [
        "{{ inputs.gone | default('d') }}",
        "{{ inputs.gone.deeper['still deeper'][0].x | default('d') }}",
        "{{ steps.0.result.none | default('d') }}",
        "{{ steps.0.result.none.x.y | d('d') }}",
        "{{ steps.0.result[inputs.key][7].name | default('d') }}",
        "{{ steps.1.result.x.y | default('d') }}",
        "{{ steps.0.result.gone.x | default(steps.0.result.gone.y | default('d')) }}",
        "{{ '' | default('d', true) }}",
        "{% if steps.0.result.gone.x is undefined %}{{ inputs.a.b | default('d') }}{% endif %}",
    ] {
        assert_eq!(resolved(text), Ok(json!("d")), "{text}");
    }
    assert_eq!(resolved("{{ steps.0.result.items[1].name | default('d') }}"), Ok(json!("b")));
}

#[test]
fn our_own_filters_do_what_is_documented() {
    for (expression, value) in [
        ("'{\"a\":[1,2.5]}' | fromjson", json!({ "a": [1, 2.5] })),
        ("[1, 'x<&'] | tojson", json!("[1,\"x<&\"]")),
        ("{'a': 1} | tojson(indent=2)", json!("{\n  \"a\": 1\n}")),
        ("'hi' | b64encode", json!("aGk=")),
        ("'aGk' | b64decode", json!("hi")),
        ("'8J-YgA==' | b64decode", json!("😀")),
        ("'a b&c/é' | urlencode", json!("a%20b%26c%2F%C3%A9")),
        ("{'a': 'x y', 'b': 1, 'c': none} | urlencode", json!("a=x%20y&b=1")),
        ("'hi' | sha256", json!("8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4")),
        ("'a\\r\\nb\\n' | lines", json!(["a", "b"])),
        ("'/tmp/a.csv' | basename", json!("a.csv")),
        ("'/tmp/dir/' | basename", json!("dir")),
        ("'/tmp/a.csv' | dirname", json!("/tmp")),
        ("'/a' | dirname", json!("/")),
        ("'/' | dirname", json!("/")),
        ("'a.csv' | dirname", json!(".")),
    ] {
        assert_eq!(expression::query(expression, &Value::Null), Ok(value), "{expression}");
    }
}

#[test]
fn what_fails_says_what_and_why() {
    for (text, says) in [
        (
            "{{ inputs.gone + 1 }}",
            "`{{ inputs.gone + 1 }}` cannot be evaluated: `{{inputs.gone}}` cannot be resolved: the run's inputs are day, key, html",
        ),
        ("{{ steps.0.result.items[0].gone | upper }}", "an object with the keys name, n"),
        ("{{ steps.0.result.gone ~ '' }}", "an object with the keys items"),
        ("so {{ inputs['gone'] | upper }}", "`{{ inputs['gone'] | upper }}`"),
        ("so {{ steps.0.result.none or none }}", "is null, which has no text"),
        ("{{ steps.1.result | upper }}", "step 1 was skipped and has no result"),
        ("{% if true %}{{inputs.gone}}{% endif %}", "the run's inputs are"),
        ("{{ 'x' * 100000000 }}", "more than 200000 units of work"),
        ("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", "units of work"),
        ("{{ 'x' * 1100000 }}", "more than 1024 KiB"),
        ("{% for a in range(20) %}{{ 'x' * 60000 }}{% endfor %}", "more than 1024 KiB"),
        ("{{ 'no' | fromjson }}", "fromjson: not JSON"),
        ("{{ 1 / 0 }}", "`{{ 1 / 0 }}` cannot be evaluated: "),
        ("{{ inputs.day | nothing }}", "there is no filter `nothing`"),
        ("{{ inputs.day | }}", "unexpected"),
    ] {
        let error = resolved(text).unwrap_err();
        assert!(error.contains(says) || says.contains("no filter"), "{text}: {error}");
    }
}

fn findings(text: &str) -> Vec<(Code, String)> {
    let flow = json!({
        "format": 1, "name": "n", "inputs": { "type": "object", "properties": { "who": { "type": "string" } } },
        "nodes": [
            { "id": "my-id", "tool": "json_format", "args": { "json": 1 } },
            { "id": "b", "tool": "json_format", "args": { "json": text } },
        ],
        "edges": [{ "source": "my-id", "target": "b" }],
    });
    let found = checked(&flow.to_string()).findings;
    found.into_iter().map(|finding| (finding.code, finding.message)).collect()
}

#[test]
fn what_an_expression_names_is_checked_before_it_runs() {
    for (text, code, says) in [
        ("{{ inputs.woh | upper }}", Code::UndeclaredInput, "woh"),
        ("{{ node.c.result | length }}", Code::UnknownNodeReference, "c"),
        ("{{ node['my-id'].result.nothing | length }}", Code::UnknownFieldReference, "nothing"),
        ("{% for x in inputs.woh %}{{ x }}{% endfor %}", Code::UndeclaredInput, "woh"),
        ("{% filter upper | replace('a', inputs.woh) %}a{% endfilter %}", Code::UndeclaredInput, "woh"),
        ("{% set n = node.c.result %}{{ n.x }}", Code::UnknownNodeReference, "c"),
        ("{{ node | length }}", Code::MalformedReference, "name the node here"),
        ("{{ node[inputs.who].result | length }}", Code::MalformedReference, "name the node here"),
        ("{{ node.b.reslt | length }}", Code::MalformedReference, "node.b.result or node.b.input"),
        ("{{ node.my-id.result | length }}", Code::MalformedReference, "node['my-id'].result"),
        ("{{ secrets | length }}", Code::MalformedReference, "write secrets.NAME"),
        ("{{ secrets[inputs.who] ~ '' }}", Code::MalformedReference, "write secrets.NAME"),
        ("{{ steps.0.result | length }}", Code::MalformedReference, "counted in plans only"),
        ("{{ inputs.who | nothing }}", Code::MalformedReference, "there is no filter `nothing`"),
        ("{{ inputs.who is nothing }}", Code::MalformedReference, "there is no test `nothing`"),
        ("{{ inputs.who | shell }}", Code::MalformedReference, "stands in commands only"),
        ("{{ nothing() }}", Code::MalformedReference, "there is no function `nothing`"),
        ("{{ inputs.who.upper() }}", Code::MalformedReference, "values have no methods"),
        ("{{ inputs.who + }}", Code::MalformedReference, "unexpected"),
        ("{% for inputs in [1] %}{% endfor %}", Code::MalformedReference, "take another name"),
        ("{% for x in [1] %}{{ y.z }}{% endfor %}", Code::MalformedReference, "`y` is not known here"),
        ("{% if inputs.who %}", Code::MalformedReference, "unexpected end"),
        ("{% include 'x' %}", Code::MalformedReference, "unknown statement include"),
        ("{% macro m() %}{% endmacro %}", Code::MalformedReference, "unknown statement macro"),
        ("{{ secrets.A ~ '' }}", Code::UnknownSecret, "`A`"),
    ] {
        let found = findings(text);
        assert!(found.iter().any(|(it, message)| *it == code && message.contains(says)), "{text}: {found:?}");
    }
    for text in [
        "{{ inputs.who | default('x') | upper }}",
        "{{ inputs | tojson }}",
        "{% for x in range(3) %}{{ loop.index }} {{ x.y }}{% endfor %}",
        "{{ node['my-id'].result.text | lines | first }} {{node.my-id.result.text}}",
        "{{ node['my-id'] is defined }}",
        "{{ {'node': 1}.node }}",
    ] {
        assert_eq!(findings(text), [], "{text}");
    }
}

#[test]
fn an_expression_makes_its_node_a_prerequisite_and_is_compiled_to_its_step() {
    let flow = json!({
        "format": 1, "name": "n",
        "nodes": [
            { "id": "late", "tool": "json_format",
              "args": { "json": ["{{ node['my-id'].result.text ~ node.c.input.json }} {{node.my-id.result.text}}",
                                 "{% if node.c is defined %}{{ node . c.result.text | upper }}{% endif %}",
                                 "{{ 'node.c.result' }}"] } },
            { "id": "my-id", "tool": "json_format", "args": { "json": 1 } },
            { "id": "c", "tool": "json_format", "args": { "json": 2 } },
        ],
        "edges": [],
    });
    let checked = checked(&flow.to_string());
    let plan = checked.plan.unwrap_or_else(|| panic!("{:?}", checked.findings));
    let late = plan.steps.last().unwrap();
    assert_eq!(late.node_id.as_ref().unwrap().as_str(), "late");
    assert_eq!(
        late.args["json"],
        json!([
            "{{ steps.0.result.text ~ steps.1.input.json }} {{steps.0.result.text}}",
            "{% if steps.1 is defined %}{{ steps.1.result.text | upper }}{% endif %}",
            "{{ 'node.c.result' }}",
        ])
    );
    assert_eq!(steps_named(late), [StepIndex(0), StepIndex(1)]);
}

#[test]
fn steps_are_named_in_commands_and_texts_alike() {
    let command = "echo ${#x} {{ steps.2.result.a | upper }} {% {{steps.3.result}}";
    let named = |args: &Value| steps_named(&step("execute_command", args));
    assert_eq!(named(&json!({ "command": command })), [StepIndex(2), StepIndex(3)]);
    assert_eq!(
        named(&json!({ "command": "{% for x in steps.2.result %}{{ x[last.result.n] }}{% endfor %}" })),
        [StepIndex(2), StepIndex(4)]
    );
}

#[test]
fn an_expression_in_a_command_is_a_value_and_shell_text_only_when_it_says_so() {
    let command = |text: &str| args("execute_command", "command", text);
    let value = command("echo \"{{ inputs.html | lower }}\" {{ inputs.html | lower }} {% x").unwrap();
    assert_eq!(value.call["command"], json!("echo \"${WEIR_1}\" \"$WEIR_1\" {% x"));
    assert_eq!(value.environment, [("WEIR_1".to_owned(), "<a&'\"é>".to_owned())]);
    assert_eq!(value.shown["command"], json!("echo \"<a&'\"é>\" <a&'\"é> {% x"));
    let raw = command("ls {{ ['-l', '-a'] | join(' ') | shell }} {{inputs.day}}").unwrap();
    assert_eq!(raw.call["command"], json!("ls -l -a \"$WEIR_1\""));
    // A quote that pasted text opens is a quote for what follows it.
    let quoted = command("echo {{ \"'\" | shell }}{{inputs.day}}'").unwrap();
    assert_eq!(quoted.call["command"], json!("echo ''\"$WEIR_1\"''"));
    let error = command("echo {{ '$((' | shell }}{{inputs.day}}))").unwrap_err();
    assert!(error.contains("no value is safe"), "{error}");
}

fn filled(tool: &str, argument: &str, text: &str) -> (Resolved, Result<Value, String>, Vec<(String, String)>) {
    let secrets: BTreeMap<String, String> = [("TOKEN".to_owned(), "s3cret-value".to_owned())].into();
    let (step, catalog) = (step(tool, &json!({ argument: text })), catalog());
    let shown = resolve_args(&step, catalog.get(tool).unwrap(), &known()).unwrap();
    match fill_args(&step, catalog.get(tool).unwrap(), &known(), &secrets) {
        Ok(filled) => (shown, Ok(filled.call[argument].clone()), filled.environment),
        Err(error) => (shown, Err(error.to_string()), Vec::new()),
    }
}

#[test]
fn a_secret_is_a_placeholder_until_the_call() {
    for (text, shown, call) in [
        ("{{secrets.TOKEN}}", "{{secrets.TOKEN}}", "s3cret-value"),
        ("Bearer {{secrets.TOKEN}}!", "Bearer {{secrets.TOKEN}}!", "Bearer s3cret-value!"),
        ("{{ 'Bearer ' ~ secrets.TOKEN }}", "Bearer {{secrets.TOKEN}}", "Bearer s3cret-value"),
        ("x {{ secrets.TOKEN | b64encode }}", "x {{ secrets.TOKEN | b64encode }}", "x czNjcmV0LXZhbHVl"),
        ("{% if true %}{{secrets.TOKEN}}{% endif %}", "{{secrets.TOKEN}}", "s3cret-value"),
    ] {
        let (resolved, filled, _) = filled("json_format", "json", text);
        assert_eq!(resolved.shown["json"], json!(shown), "{text}");
        assert_eq!(resolved.call["json"], json!(shown), "{text}");
        assert_eq!(resolved.secrets.iter().collect::<Vec<_>>(), ["TOKEN"], "{text}");
        assert_eq!(filled, Ok(json!(call)), "{text}");
    }
    let (_, missing, _) = filled("json_format", "json", "{{secrets.OTHER}}");
    assert!(missing.unwrap_err().contains("no secret `OTHER`: set WEIR_SECRET_OTHER"));
    let (resolved, command, environment) = filled("execute_command", "command", "curl -H '{{secrets.TOKEN}}'");
    assert_eq!(resolved.shown["command"], json!("curl -H '{{secrets.TOKEN}}'"));
    assert_eq!(command, Ok(json!("curl -H ''\"$WEIR_1\"''")));
    assert_eq!(environment, [("WEIR_1".to_owned(), "s3cret-value".to_owned())]);
}

/// A result that reads like a placeholder would otherwise fetch itself the machine's secrets.
#[test]
fn a_value_that_reads_like_a_placeholder_stays_text() {
    let known = Known { inputs: json!({ "x": "{{secrets.TOKEN}}" }).as_object().unwrap().clone(), ..Known::default() };
    let secrets = [("TOKEN".to_owned(), "s3cret-value".to_owned())].into();
    for text in ["{{inputs.x}}", "{{ inputs.x ~ '' }}", "{% if true %}{{ inputs.x }}{% endif %}"] {
        let step = step("json_format", &json!({ "json": text }));
        let filled = fill_args(&step, catalog().get("json_format").unwrap(), &known, &secrets).unwrap();
        assert_eq!(filled.call["json"], json!("{{secrets.TOKEN}}"), "{text}");
    }
}

#[test]
fn queries_and_templates_see_their_input_alone() {
    let input = json!({ "orders": [{ "total": 3 }, { "total": 4 }] });
    assert_eq!(expression::query("input.orders | map(attribute='total') | sum", &input), Ok(json!(7)));
    assert_eq!(expression::query("input.gone.deeper | default(none)", &input), Ok(Value::Null));
    assert!(expression::query("inputs.x", &input).unwrap_err().contains("only `input` is known"));
    assert!(expression::query("input.orders |", &input).is_err());
    let text = "{% for order in input.orders %}{{ order.total }}\n{% endfor %}";
    assert_eq!(expression::template(text, &input), Ok("3\n4\n".to_owned()));
    assert!(expression::template("{{ input.gone }}", &input).is_err());
}

/// What tests make templates of.
const PARTS: [&str; 24] = [
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "'",
    "\"",
    "-",
    "|",
    ".",
    "[",
    "]",
    "(",
    "inputs.who",
    "node.my-id.result",
    " ",
    "for x in ",
    "endfor",
    "if ",
    "raw",
    "endraw",
    "é",
    "default(1)",
];

proptest! {
    #[test]
    fn no_text_is_too_odd_to_be_taken_apart(parts in proptest::collection::vec(0..PARTS.len(), 0..24)) {
        let text: String = parts.into_iter().map(|part| PARTS[part]).collect();
        for syntax in [Syntax::Text, Syntax::Shell] {
            let template = parse(&text, Dialect::Flow, syntax);
            prop_assert_eq!(template.pieces.iter().map(|piece| piece.range.len()).sum::<usize>(), text.len());
            let names = template.names();
            for named in &names.named {
                prop_assert!(text.get(named.range.clone()).is_some(), "{:?}", named);
            }
            prop_assert!(references_in_flow(&text, syntax).len() <= names.named.len());
        }
        let _either = resolved(&text);
    }

    #[test]
    fn encodings_have_inverses(text in "\\PC{0,40}") {
        let input = json!(text);
        prop_assert_eq!(expression::query("input | b64encode | b64decode", &input), Ok(input.clone()));
        prop_assert_eq!(expression::query("input | tojson | fromjson", &input), Ok(input.clone()));
        let listed = expression::query("input | lines", &input).unwrap();
        prop_assert_eq!(listed.as_array().unwrap().len(), text.lines().count());
    }
}
