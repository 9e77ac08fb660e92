//! The steps of a run as a list: status, name, time and a bar on the run's own time.

use leptos::prelude::*;
use weir_shared::ids::{StepIndex, Timestamp};
use weir_shared::run::state::StepStatus;

use super::timeline::{StepRow, busy_until, rows};
use super::view::RunView;
use super::words;
use crate::ui::icon::{Glyph, Icon};
use crate::ui::readable::duration;

/// The list. `chosen` is the step whose details show.
#[component]
pub(crate) fn StepList(view: RunView, now: Signal<Timestamp>, chosen: RwSignal<Option<StepIndex>>) -> impl IntoView {
    let list = Memo::new(move |_| view.with(rows));
    let period = Memo::new(move |_| {
        let (start, end) = view.period(now.get());
        (start, list.with(|rows| busy_until(rows, end)))
    });
    let indexes = Memo::new(move |_| list.with(|rows| rows.iter().map(|row| row.index).collect::<Vec<_>>()));
    view! {
        <div class="steps" role="listbox" aria-label="Steps of the run" tabindex="0"
            on:keydown=move |event| {
                let step: i64 = match event.key().as_str() {
                    "ArrowDown" => 1,
                    "ArrowUp" => -1,
                    _ => return,
                };
                event.prevent_default();
                let count = i64::try_from(indexes.with_untracked(Vec::len)).unwrap_or(0);
                let at = chosen.get_untracked().map_or(-1, |index| i64::from(index.0));
                if let Ok(next) = u32::try_from((at + step).clamp(0, (count - 1).max(0))) {
                    chosen.set(Some(StepIndex(next)));
                }
            }>
            <For each=move || indexes.get() key=|index| *index let(index)>
                <StepLine row=Signal::derive(move || list.with(|rows| rows.get(index.at()).cloned())) period=period.into() now chosen />
            </For>
        </div>
    }
}

#[component]
fn StepLine(
    row: Signal<Option<StepRow>>,
    period: Signal<(Timestamp, Timestamp)>,
    now: Signal<Timestamp>,
    chosen: RwSignal<Option<StepIndex>>,
) -> impl IntoView {
    let row = Memo::new(move |_| row.get());
    let of = move |read: fn(&StepRow) -> String| row.with(|row| row.as_ref().map(read).unwrap_or_default());
    let status = Memo::new(move |_| row.with(|row| row.as_ref().map_or(StepStatus::Waiting, |row| row.status)));
    let index = move || row.with(|row| row.as_ref().map(|row| row.index));
    let selected = Memo::new(move |_| chosen.get().is_some() && chosen.get() == index());
    let bar = move || {
        let (start, end) = period.get();
        row.with(|row| row.as_ref().and_then(|row| row.span.bar(start, end)))
    };
    let took = move || row.with(|row| row.as_ref().and_then(|row| row.span.millis(now.get())).map(duration));
    view! {
        <div role="option" class=move || format!("step {}", words::step_tone(status.get()).class())
            class:spins=move || status.get() == StepStatus::Running aria-selected=move || if selected.get() { "true" } else { "false" }
            on:click=move |_| chosen.set(index())>
            <span class="step-glyph" title=move || words::step_status(status.get())>
                <Icon glyph=Signal::derive(move || words::step_glyph(status.get())) />
                <span class="for-readers">{move || words::step_status(status.get())}</span>
            </span>
            <span class="ellipsis">
                {move || of(|row| row.title.clone())}
                <span class="faint">" "{move || row.with(|row| row.as_ref().and_then(|row| row.remark.clone()))}</span>
            </span>
            <span class="step-time">{took}</span>
            <span class="step-bar">
                <Show when=move || bar().is_some()>
                    <i style:left=move || bar().map(|bar| format!("{:.2}%", bar.left))
                        style:width=move || bar().map(|bar| format!("{:.2}%", bar.width))></i>
                </Show>
            </span>
        </div>
    }
}

/// A placeholder while the run has not told its plan.
#[component]
pub(crate) fn NoSteps() -> impl IntoView {
    view! {
        <p class="steps-none">
            <Icon glyph=Glyph::Clock />
            "No step yet: the run waits for its turn."
        </p>
    }
}
