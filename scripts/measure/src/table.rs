//! The figures, for people and for programs.

use std::fmt::Write;

use serde_json::{Value, json};

/// One figure.
#[derive(Debug)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// The most it may be, where the specification names a bound.
    pub(crate) most: Option<f64>,
}

impl Figure {
    /// A figure that stands beside others for scale.
    pub(crate) fn plain(name: &'static str, value: f64, unit: &'static str) -> Self {
        Self { name, value, unit, most: None }
    }

    /// A figure with a bound.
    pub(crate) fn bounded(name: &'static str, value: f64, unit: &'static str, most: f64) -> Self {
        Self { name, value, unit, most: Some(most) }
    }

    fn verdict(&self) -> &'static str {
        match self.most {
            None => "",
            Some(most) if self.value <= most => "holds",
            Some(_) => "OVER",
        }
    }
}

/// A table in Markdown.
pub(crate) fn print(figures: &[Figure]) -> String {
    let mut text = String::from("| figure | value | unit | at most | |\n| --- | ---: | --- | ---: | --- |\n");
    for figure in figures {
        let most = figure.most.map(|most| format!("{most}")).unwrap_or_default();
        let Figure { name, value, unit, .. } = figure;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {name} | {value:.2} | {unit} | {most} | {} |", figure.verdict());
    }
    text
}

/// The same as a list of objects.
pub(crate) fn json(figures: &[Figure]) -> Value {
    figures
        .iter()
        .map(|figure| {
            json!({
                "name": figure.name,
                "value": figure.value,
                "unit": figure.unit,
                "atMost": figure.most,
                "holds": figure.most.map(|most| figure.value <= most),
            })
        })
        .collect()
}
