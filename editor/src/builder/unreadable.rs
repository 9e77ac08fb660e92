//! A file that is no flow: its findings with their lines, and its text, so that it can be mended where it lives.

use leptos::prelude::*;
use weir_shared::wire::FlowView;

/// The findings and the text.
#[component]
pub(crate) fn Unreadable(found: FlowView) -> impl IntoView {
    let text = found.text.unwrap_or_default();
    let findings = found
        .findings
        .into_iter()
        .map(|finding| {
            let place = finding.line.map(|line| format!("Line {line}"));
            view! {
                <li>
                    <b>{place}</b>
                    " "
                    {finding.message}
                    {finding.hint.map(|hint| view! { <small>{hint}</small> })}
                </li>
            }
        })
        .collect_view();
    let lines = text
        .lines()
        .enumerate()
        .map(|(at, line)| view! { <li value=(at + 1).to_string()>{line.to_owned()}</li> })
        .collect_view();
    view! {
        <main class="unreadable">
            <a class="btn outline" href="/">"All flows"</a>
            <h1>{format!("{}.flow.json cannot be read", found.id)}</h1>
            <p class="muted">"Mend the file in an editor; nothing here will write over it."</p>
            <ul class="unreadable-findings" role="alert">{findings}</ul>
            <ol class="unreadable-text">{lines}</ol>
        </main>
    }
}
