//! Where things are and how large, by formula: nothing here measures the page.
//!
//! Canvas units are CSS pixels at zoom 1; screen units are CSS pixels from the surface's top left corner.
//!
//! - `plane`: points, rectangles, the viewport with zoom and fit
//! - `color`: the colour arithmetic of cards
//! - `card`: sizes of cards and the places of their handles
//! - `curve`: edges
//! - `arrange`: snapping, free places, neighbours

pub mod arrange;
pub mod card;
pub mod color;
pub mod curve;
pub mod plane;
