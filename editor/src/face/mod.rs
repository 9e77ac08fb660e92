//! What a card shows, worked out from the flow and the catalog, without a browser.
//!
//! - `look`: colour and glyph of a tool
//! - `card`: the words, ports and size of one card
//! - `search`: which tools a person means by a few letters

pub mod card;
pub mod look;
pub mod search;
