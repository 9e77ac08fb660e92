//! How wide a text is in this browser's font, asked of a canvas that is never shown, and remembered.

use std::cell::RefCell;
use std::collections::HashMap;

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use crate::geometry::card::{Lettering, MeanWidth, Ruler};

/// The same family as the token `--sans`; a canvas takes no variables.
const FAMILY: &str = "ui-sans-serif, system-ui, \"Segoe UI\", Roboto, \"Noto Sans\", sans-serif";
/// Texts that are remembered; typing a title makes one more with each key.
const REMEMBERED: usize = 4096;

thread_local! {
    static CONTEXT: Option<CanvasRenderingContext2d> = context();
    static WIDTHS: RefCell<HashMap<(String, Lettering), f64>> = RefCell::default();
}

fn context() -> Option<CanvasRenderingContext2d> {
    let canvas: HtmlCanvasElement = document().create_element("canvas").ok()?.dyn_into().ok()?;
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

/// Measures with the browser's own letters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CanvasRuler;

impl Ruler for CanvasRuler {
    fn width(&self, text: &str, lettering: Lettering) -> f64 {
        let key = (text.to_owned(), lettering);
        if let Some(width) = WIDTHS.with_borrow(|widths| widths.get(&key).copied()) {
            return width;
        }
        let width = CONTEXT.with(|context| {
            let context = context.as_ref()?;
            let font = match lettering {
                Lettering::Title => format!("500 13.6px {FAMILY}"),
                Lettering::Small => format!("400 11px {FAMILY}"),
            };
            context.set_font(&font);
            context.measure_text(text).ok().map(|metrics| metrics.width().ceil())
        });
        let width = width.unwrap_or_else(|| MeanWidth.width(text, lettering));
        WIDTHS.with_borrow_mut(|widths| {
            if widths.len() >= REMEMBERED {
                widths.clear();
            }
            widths.insert(key, width);
        });
        width
    }
}
