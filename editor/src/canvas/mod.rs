//! The canvas: cards, edges and notes, drawn in layers under one transform.
//!
//! Pan and zoom change one style on one element; a drag changes the moved cards and their edges. Nothing here
//! measures the page while a hand moves: sizes and handles come from `geometry`.
//!
//! - `surface`: the layers, and the events of pointers and wheel
//! - `card`, `link`, `note`: what stands on it
//! - `status`: what a run makes of a card
//! - `overlay`: what a gesture shows: box, new edge, refusal, a tool on its way
//! - `controls`: zoom, fit, snap, dots
//! - `asking`: the list that opens on it: a tool, a target, a node
//! - `map`: the small map
//! - `ruler`: how wide a text is

pub(crate) mod asking;
pub(crate) mod card;
pub(crate) mod controls;
pub(crate) mod link;
pub(crate) mod map;
pub(crate) mod note;
pub(crate) mod overlay;
pub(crate) mod ruler;
pub(crate) mod status;
pub(crate) mod surface;
