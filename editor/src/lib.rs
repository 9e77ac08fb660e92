//! The page of Weir: library, builder and runs.
//!
//! Two halves. The pure half knows no browser and is tested on the host:
//! - [`model`]: the flow being edited, the edits and their inverses, undo
//! - [`geometry`]: sizes, handles, curves, zoom, colours, by formula
//! - [`gesture`]: what a hand does on the canvas
//! - [`face`]: what a card shows
//! - [`backend`]: addresses and answers; the calls themselves are drawn half
//! - [`form`], [`inspector`]: fields made from schemas, values to refer to, the flow's inputs as rows
//! - [`library`], [`runs`]: how flows are ordered and sketched; a run's stream folded, its steps as rows
//! - [`webhooks`]: what their states are called
//! - [`ui`]: what values look like to people; the controls themselves are drawn half
//!
//! The drawing half exists for wasm32 only. A component gets values and a way to say what the user did; only
//! `state` and the pages themselves talk to the worker.

#![cfg_attr(
    target_arch = "wasm32",
    expect(
        unreachable_pub,
        clippy::needless_pass_by_value,
        reason = "the component macro makes properties `pub`, and a component owns what it is given"
    ),
    expect(
        clippy::large_types_passed_by_value,
        reason = "a stage is a handful of signal handles, copied like each of them"
    )
)]

pub mod backend;
pub mod face;
pub mod form;
pub mod geometry;
pub mod gesture;
pub mod inspector;
pub mod library;
pub mod model;
pub mod runs;
pub mod ui;
pub mod webhooks;

#[cfg(target_arch = "wasm32")]
mod app;
#[cfg(target_arch = "wasm32")]
mod builder;
#[cfg(target_arch = "wasm32")]
mod canvas;
#[cfg(target_arch = "wasm32")]
mod palette;
#[cfg(target_arch = "wasm32")]
mod shell;
#[cfg(target_arch = "wasm32")]
mod state;

/// Starts the page: mounts the application under the document's body.
#[cfg(target_arch = "wasm32")]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| {
        console_error_panic_hook::hook(panic);
        state::local::rescue();
    }));
    leptos::mount::mount_to_body(app::App);
}
