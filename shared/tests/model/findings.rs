//! A fixture for each finding: its code, place, words and hint.

use std::collections::BTreeSet;
use std::fmt::Write;

use weir_shared::check::{Surroundings, bad_flow_id, check_flow, check_text};
use weir_shared::finding::{Code, Finding};
use weir_shared::limits::Limits;

use crate::catalog::{catalog, checked};
use crate::{fixture, fixtures};

/// One finding as a few lines.
fn shown(finding: &Finding) -> String {
    let place = format!("{}:{}", finding.line.unwrap_or(0), finding.column.unwrap_or(0));
    let node = finding.node_id.as_deref().map_or_else(String::new, |id| format!(" node {id}"));
    let field = finding.field.as_deref().map_or_else(String::new, |field| format!(" field {field}"));
    let hint = finding.hint.as_deref().unwrap_or("NO HINT");
    format!(
        "  {place} {:?} {}{node}{field}\n    {}\n    {hint}\n",
        finding.severity,
        finding.code.as_str(),
        finding.message
    )
}

#[test]
fn every_code_has_a_fixture_that_brings_it_up() {
    let mut all = String::new();
    for code in Code::ALL.iter().filter(|code| **code != Code::BadFlowId) {
        let text = fixture(&format!("findings/{}.flow.json", code.as_str()));
        let findings = checked(&text).findings;
        assert!(findings.iter().any(|finding| finding.code == *code), "{}: {findings:?}", code.as_str());
        let _ = writeln!(all, "{}", code.as_str());
        for finding in &findings {
            assert!(finding.line.is_some() && finding.column.is_some(), "without a place: {finding:?}");
            assert!(!finding.message.is_empty() && finding.hint.is_some(), "without words: {finding:?}");
            all.push_str(&shown(finding));
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn no_fixture_is_left_over() {
    let codes: BTreeSet<String> = Code::ALL.iter().map(|code| format!("{}.flow.json", code.as_str())).collect();
    for entry in std::fs::read_dir(fixtures().join("findings")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(codes.contains(&name), "{name} is the fixture of no finding");
    }
}

#[test]
fn a_file_name_that_is_no_id_has_a_finding_too() {
    let finding = bad_flow_id("Nightly Report");
    assert_eq!(finding.code, Code::BadFlowId);
    assert!(finding.message.contains("Nightly Report"));
}

#[test]
fn a_flow_is_refused_a_plan_only_for_errors() {
    let warned = checked(&fixture("findings/unknown_field_reference.flow.json"));
    assert!(warned.plan.is_some() && warned.canonical.is_some());
    let wrong = checked(&fixture("findings/cycle.flow.json"));
    assert!(wrong.plan.is_none() && wrong.canonical.is_some());
    let unreadable = checked(&fixture("findings/unknown_key.flow.json"));
    assert!(unreadable.plan.is_none() && unreadable.canonical.is_none() && unreadable.flow.is_none());
    let newer = checked(&fixture("findings/unsupported_format.flow.json"));
    assert!(newer.flow.is_some() && newer.plan.is_none() && newer.canonical.is_none());
}

#[test]
fn a_flow_without_text_is_told_where_in_its_canonical_text() {
    let text = checked(&fixture("findings/type_mismatch.flow.json"));
    let (catalog, limits) = (catalog(), Limits::default());
    let around = Surroundings { catalog: &catalog, limits: &limits, secrets: None };
    let flow = check_flow(text.flow.as_ref().unwrap(), &around);
    let canonical = text.canonical.unwrap();
    assert_eq!(flow.findings, check_text(canonical.as_bytes(), &around).findings);
    assert_eq!(flow.canonical, Some(canonical));
}

/// A key that means "wait for a person" was put where no step knows it, and the flow ran past its gate.
#[test]
fn a_misplaced_or_mistyped_gate_is_refused_with_its_path_and_the_keys_that_are_known() {
    let shell = |node: &str, more: &str| {
        format!(
            r#"{{"format":1,"name":"n","nodes":[{{"id":"a","tool":"execute_command",{node}"args":{{"command":"touch ran"}}}}],"edges":[]{more}}}"#
        )
    };
    for (text, path, says) in [
        (shell(r#""aproval":true,"#, ""), "nodes[0].aproval", "Did you mean `approval`?"),
        (shell("", r#","approval":true"#), "approval", "`approval` belongs to a node"),
        (shell(r#""retry":{"max":2},"#, ""), "nodes[0].retry.max", "maxAttempts"),
        (shell("", r#","schedules":[{"cron":"0 9 * * *","wait":true}]"#), "schedules[0].wait", "catchUp"),
        (
            r#"{"steps":[{"id":"a","requires_aproval":true,"run":["touch","ran"]}]}"#.to_owned(),
            "steps",
            "Known here: $schema, format, name",
        ),
    ] {
        let checked = checked(&text);
        assert!(checked.flow.is_none() && checked.plan.is_none(), "{text}");
        let finding = checked.findings.iter().find(|it| it.code == Code::UnknownKey).expect(&text);
        assert_eq!(finding.params["path"], path);
        assert!(finding.hint.as_ref().unwrap().contains(says), "{finding:?}");
    }
}

#[test]
fn a_retry_is_judged_by_what_the_call_would_do() {
    let flow = |tool: &str, more: &str, args: &str| {
        checked(&format!(
            r#"{{"format":1,"name":"n","nodes":[{{"id":"a","tool":"{tool}",{more}"retry":{{"maxAttempts":2}},"args":{args}}}],"edges":[]}}"#
        ))
    };
    let unsafe_retry = |checked: weir_shared::check::CheckedText| {
        checked.findings.iter().any(|finding| finding.code == Code::UnsafeRetry)
    };
    assert!(!unsafe_retry(flow("http_request", "", r#"{"url":"https://example.org"}"#)));
    assert!(!unsafe_retry(flow("http_request", "", r#"{"url":"https://example.org","method":"PUT"}"#)));
    assert!(unsafe_retry(flow("http_request", "", r#"{"url":"https://example.org","method":"POST"}"#)));
    assert!(unsafe_retry(flow("http_request", "", r#"{"url":"https://example.org","method":"{{run.id}}"}"#)));
    assert!(unsafe_retry(flow("execute_command", "", r#"{"command":"true"}"#)));
    assert!(!unsafe_retry(flow("execute_command", r#""idempotent":true,"#, r#"{"command":"true"}"#)));
}

#[test]
fn a_template_of_a_tool_is_read_before_it_runs() {
    let findings = |template: &str| -> Vec<(Code, Option<u32>, String)> {
        let flow = serde_json::json!({
            "format": 1, "name": "Text",
            "nodes": [{ "id": "fill", "tool": "text_template", "args": { "template": template, "input": [] } }],
            "edges": []
        });
        let found = checked(&flow.to_string()).findings;
        found.into_iter().map(|finding| (finding.code, finding.column, finding.message)).collect()
    };
    assert_eq!(findings("{% for one in input %}{{ one.id | upper }} {{ loop.index }}{% endfor %}"), []);
    for (template, words) in [
        ("{{ input.name", "expected end of variable block"),
        ("{{ input | shout }}", "there is no filter `shout`"),
        ("{% if input %}", "unexpected end of input"),
        ("{{ node.fetch.result }}", "there is no `node` here, only `input`"),
        ("{{ inputs.day }}", "there is no `inputs` here, only `input`"),
    ] {
        let found = findings(template);
        let [(Code::InvalidArguments, Some(_), message)] = found.as_slice() else { panic!("{template}: {found:?}") };
        assert!(message.contains(words) && message.contains("`template`"), "{template}: {message}");
    }
    let (_, one, _) = findings("{{ gone }}").remove(0);
    let (_, later, _) = findings("......{{ gone }}").remove(0);
    assert_eq!(later.unwrap() - one.unwrap(), 6, "it points into the text");
}
