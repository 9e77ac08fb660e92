//! Flows to plans: the order, what edges become, and what references become.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use weir_shared::check::{PlanRules, check_plan};
use weir_shared::compile::compile;
use weir_shared::flow::{Edge, Flow, Node, Place};
use weir_shared::layout::tidy;
use weir_shared::reference::steps_named;

use crate::catalog::{catalog, checked};
use crate::fixture;

#[test]
fn a_flow_becomes_the_plan_it_describes() {
    let text = json!({
        "format": 1, "name": "Orders", "goal": "Report {{inputs.day}}", "onFailure": "cancel",
        "inputs": { "type": "object", "properties": { "day": { "type": "string" } } },
        "nodes": [
            { "id": "mail", "tool": "execute_command", "title": "Mail", "description": "Tell them", "approval": true,
              "idempotent": true, "timeoutSeconds": 30, "stop": { "signal": "INT" },
              "args": { "command": "echo {{node.fetch-1.result.stdout}} '{{inputs.day}}' {{ node.fetch-1.input.command }}" } },
            { "id": "busy", "tool": "flow_if",
              "args": { "left": "{{node.fetch-1.result.exitCode}}", "operator": "gt", "right": ["{{node.fetch-1.result['a b']}}"] } },
            { "id": "fetch-1", "tool": "execute_command", "args": { "command": "true" } },
            { "id": "quiet", "tool": "text_template", "disabled": true, "args": { "template": "{% raw %}{{node.fetch-1.result}}{% endraw %}" } },
        ],
        "edges": [
            { "source": "fetch-1", "target": "busy" },
            { "source": "busy", "port": "true", "target": "mail" },
            { "source": "busy", "port": "false", "target": "quiet" },
            { "source": "busy", "port": "true", "target": "quiet" },
            { "source": "fetch-1", "target": "quiet" },
        ],
        "layout": { "busy": { "x": 5, "y": 0 }, "quiet": { "x": 9, "y": -1 }, "mail": { "x": 9, "y": 0 } },
    });
    let checked = checked(&text.to_string());
    let plan = checked.plan.unwrap_or_else(|| panic!("{:?}", checked.findings));
    insta::assert_snapshot!(serde_json::to_string_pretty(&plan).unwrap());
    let rules = PlanRules { catalog: &catalog(), most_steps: 64, read_only: false };
    assert_eq!(check_plan(&plan, &rules), []);
}

#[test]
fn a_name_that_reads_like_a_template_stays_a_name() {
    let flow = Flow { name: "{{x}}".to_owned(), ..Flow::new("") };
    assert_eq!(compile(&flow, &catalog()).unwrap().goal, "{% raw %}{{x}}{% endraw %}");
}

/// A flow whose node `n<k>` refers to, or is joined to, some of the nodes before it, written in another order.
fn acyclic() -> impl Strategy<Value = Flow> {
    (vec((vec(any::<u8>(), 0..3), any::<bool>(), -3..3_i64, -3..3_i64), 1..14))
        .prop_flat_map(|nodes| {
            let order: Vec<usize> = (0..nodes.len()).collect();
            (Just(nodes), Just(order).prop_shuffle())
        })
        .prop_map(|(shapes, order)| {
            let mut flow = Flow::new("Random");
            for at in order {
                let (before, is_reference, x, y) = &shapes[at];
                let before: Vec<usize> = before.iter().filter(|_| at > 0).map(|pick| usize::from(*pick) % at).collect();
                let texts: Vec<Value> = before
                    .iter()
                    .filter(|_| *is_reference)
                    .map(|it| json!(format!("a {{{{node.n{it}.result.text}}}}")))
                    .collect();
                flow.nodes.push(Node {
                    id: format!("n{at}"),
                    tool: "json_format".to_owned(),
                    args: json!({ "json": texts }).as_object().cloned(),
                    ..Node::default()
                });
                if !is_reference {
                    for it in before {
                        flow.edges.push(Edge { source: format!("n{it}"), target: format!("n{at}"), ..Edge::default() });
                    }
                }
                flow.layout.insert(format!("n{at}"), Place { x: *x, y: *y });
            }
            flow
        })
}

proptest! {
    #[test]
    fn every_step_comes_after_what_it_waits_for(flow in acyclic()) {
        let plan = compile(&flow, &catalog()).unwrap();
        prop_assert_eq!(plan.steps.len(), flow.nodes.len());
        let at = |id: &str| plan.steps.iter().position(|step| step.node_id.as_ref().is_some_and(|it| it.as_str() == id)).unwrap();
        for edge in &flow.edges {
            let (source, target) = (at(&edge.source), at(&edge.target));
            prop_assert!(source < target);
            prop_assert!(plan.steps[target].depends_on.iter().any(|step| step.at() == source));
        }
        for step in &plan.steps {
            let written = flow.node(step.node_id.as_ref().unwrap().as_str()).unwrap().args.clone().unwrap();
            let mut expected: Vec<usize> = flow
                .nodes
                .iter()
                .filter(|node| json!(written).to_string().contains(&format!("node.{}.", node.id)))
                .map(|node| at(&node.id))
                .collect();
            expected.sort_unstable();
            let named: Vec<usize> = steps_named(step).into_iter().map(weir_shared::ids::StepIndex::at).collect();
            prop_assert_eq!(named, expected);
            prop_assert!(!json!(step.args).to_string().contains("node."));
        }
    }

    /// Of neighbours that could change places, the one further left comes first, then the upper one, then file order.
    #[test]
    fn free_neighbours_stand_by_layout(flow in acyclic()) {
        let plan = compile(&flow, &catalog()).unwrap();
        let rank = |at: usize| {
            let id = plan.steps[at].node_id.as_ref().unwrap().as_str();
            let place = flow.layout[id];
            (place.x, place.y, flow.nodes.iter().position(|node| node.id == id).unwrap())
        };
        for (at, step) in plan.steps.iter().enumerate().skip(1) {
            let waits = step.depends_on.iter().copied().chain(steps_named(step)).any(|it| it.at() == at - 1);
            prop_assert!(waits || rank(at - 1) < rank(at));
        }
    }

    #[test]
    fn a_tidy_flow_runs_left_to_right_and_no_card_covers_another(flow in acyclic()) {
        let places = tidy(&flow);
        prop_assert_eq!(&places, &tidy(&flow));
        prop_assert_eq!(places.len(), flow.nodes.len() + 1);
        for edge in &flow.edges {
            prop_assert!(places[&edge.source].x + 304 <= places[&edge.target].x);
        }
        let mut taken: Vec<Place> = places.values().copied().collect();
        prop_assert!(taken.iter().all(|place| place.x % 16 == 0 && place.y % 16 == 0));
        taken.sort_by_key(|place| (place.x, place.y));
        prop_assert!(taken.windows(2).all(|pair| pair[0].x != pair[1].x || pair[1].y - pair[0].y >= 96));
    }
}

#[test]
fn a_flow_that_waits_for_itself_is_laid_out_all_the_same() {
    let flow = checked(&fixture("findings/cycle.flow.json")).flow.unwrap();
    assert_eq!(tidy(&flow).len(), 5);
}
