//! What a hand does on the canvas, decided without a browser.
//!
//! - `machine`: the one gesture machine: state and input give the next state and what to do
//! - `auto_pan`: how a drag near the edge moves the canvas
//! - `input`: what comes in: pointers, keys, frames, and what lies under the pointer
//! - `wheel`: whether a turn of the wheel pans or zooms, and how far

pub mod auto_pan;
pub mod input;
pub mod machine;
pub mod wheel;
