//! The small kit: controls that every page is made of.
//!
//! A control gets values and says what the person did; it fetches nothing and knows no flow, run or route. Every one
//! has an accessible name. Its CSS stands beside it and uses only the tokens of `styles/tokens.css`.

pub mod glyph;
pub mod readable;
pub mod tone;

#[cfg(target_arch = "wasm32")]
pub(crate) mod button;
#[cfg(target_arch = "wasm32")]
pub(crate) mod chip;
#[cfg(target_arch = "wasm32")]
pub(crate) mod choice;
#[cfg(target_arch = "wasm32")]
pub(crate) mod copy;
#[cfg(target_arch = "wasm32")]
pub(crate) mod dialog;
#[cfg(target_arch = "wasm32")]
pub(crate) mod empty;
#[cfg(target_arch = "wasm32")]
pub(crate) mod field;
#[cfg(target_arch = "wasm32")]
pub(crate) mod icon;
#[cfg(target_arch = "wasm32")]
pub(crate) mod json;
#[cfg(target_arch = "wasm32")]
pub(crate) mod menu;
#[cfg(target_arch = "wasm32")]
pub(crate) mod readout;
#[cfg(target_arch = "wasm32")]
pub(crate) mod tabs;
#[cfg(target_arch = "wasm32")]
pub(crate) mod text;
#[cfg(target_arch = "wasm32")]
pub(crate) mod theme;
#[cfg(target_arch = "wasm32")]
pub(crate) mod toast;
