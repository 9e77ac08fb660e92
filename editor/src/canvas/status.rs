//! What a run makes of a card, in its corner: a word or a time, and a glyph that repeats it.

use std::time::Duration;

use leptos::leptos_dom::helpers::IntervalHandle;
use leptos::prelude::*;
use weir_shared::ids::Timestamp;

use crate::state::card::CardState;
use crate::ui::icon::{Glyph, Icon};
use crate::ui::readable::duration;

/// How often a running card's time is renewed.
const TICK: Duration = Duration::from_millis(100);

fn now() -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "a date in milliseconds")]
    let millis = js_sys::Date::now() as i64;
    Timestamp(millis)
}

/// The badge; nothing while the node is not in a run or not yet at its turn.
#[component]
pub(crate) fn StatusBadge(state: ArcRwSignal<Option<CardState>>) -> impl IntoView {
    move || {
        let state = state.get()?;
        let (class, glyph, words) = match &state {
            CardState::Waiting => return None,
            CardState::Running { since, .. } => return Some(view! { <Running since=*since /> }.into_any()),
            CardState::Retrying { .. } => ("st run", Glyph::Reload, state.words()),
            CardState::WaitsForYou => ("st wait", Glyph::Pause, state.words()),
            CardState::Done { duration_ms, branch } => {
                ("st ok", Glyph::Check, branch.clone().unwrap_or_else(|| duration(*duration_ms)))
            }
            CardState::Failed { .. } => ("st bad", Glyph::Alert, state.words()),
            CardState::Interrupted => ("st bad", Glyph::Stop, state.words()),
            CardState::Skipped { .. } => ("st skip", Glyph::Minus, state.words()),
            CardState::Cancelled => ("st skip", Glyph::Ban, state.words()),
        };
        let title = state.details();
        Some(
            view! {
                <span class=class title=title>
                    <Icon glyph size=12 />
                    {words}
                </span>
            }
            .into_any(),
        )
    }
}

#[component]
fn Running(since: Timestamp) -> impl IntoView {
    let elapsed = RwSignal::new(now().millis_since(since));
    let ticking: Option<IntervalHandle> =
        set_interval_with_handle(move || elapsed.set(now().millis_since(since)), TICK).ok();
    on_cleanup(move || {
        if let Some(ticking) = ticking {
            ticking.clear();
        }
    });
    view! {
        <span class="st run">
            <Icon glyph=Glyph::Loader size=12 />
            {move || duration(elapsed.get())}
        </span>
    }
}
