//! A flow as a few boxes and lines, small enough for a card.

use weir_shared::flow::{Flow, START};

/// Size of a sketch, in its own units.
pub const WIDTH: f64 = 416.0;
/// See [`WIDTH`].
pub const HEIGHT: f64 = 104.0;
/// Free space at the edges.
const MARGIN: f64 = 18.0;
/// What a card of the canvas measures, near enough for a sketch.
const CARD: (f64, f64) = (190.0, 64.0);
/// A lone card is not blown up past this.
const LARGEST_SCALE: f64 = 0.32;

/// A box in a colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub color: String,
}

/// What is drawn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sketch {
    pub blocks: Vec<Block>,
    /// Data of SVG paths.
    pub lines: Vec<String>,
}

/// The sketch of a flow. `color` gives the colour of a tool by name, and of Start for `$start`.
pub fn sketch(flow: &Flow, color: impl Fn(&str) -> String) -> Sketch {
    // A node that has no place yet is put in a row by its position in the file.
    let place = |id: &str, nth: usize| {
        #[expect(clippy::cast_precision_loss, reason = "a sketch of places; a pixel more or less is nothing")]
        flow.layout.get(id).map_or((nth as f64 * 304.0, 0.0), |place| (place.x as f64, place.y as f64))
    };
    let mut cards: Vec<(&str, (f64, f64), String)> = Vec::new();
    if flow.layout.contains_key(START) {
        cards.push((START, place(START, 0), color(START)));
    }
    for (nth, node) in flow.nodes.iter().enumerate() {
        cards.push((&node.id, place(&node.id, nth), color(&node.tool)));
    }
    let Some(first) = cards.first().map(|(_, at, _)| *at) else { return Sketch::default() };
    let (mut low, mut high) = (first, first);
    for (_, (x, y), _) in &cards {
        low = (low.0.min(*x), low.1.min(*y));
        high = (high.0.max(*x), high.1.max(*y));
    }
    let size = (high.0 - low.0 + CARD.0, high.1 - low.1 + CARD.1);
    // Each way has its own scale: a column of twelve would otherwise be a speck in the middle.
    let across = ((WIDTH - 2.0 * MARGIN) / size.0).min(LARGEST_SCALE);
    let down = ((HEIGHT - 2.0 * MARGIN) / size.1).min(LARGEST_SCALE);
    let left = (WIDTH - size.0 * across) / 2.0;
    let top = (HEIGHT - size.1 * down) / 2.0;
    let put = |(x, y): (f64, f64)| ((x - low.0) * across + left, (y - low.1) * down + top);
    let (width, height) = (CARD.0 * across, CARD.1 * down);
    let at = |id: &str| cards.iter().find(|(card, ..)| *card == id).map(|(_, at, _)| put(*at));

    let mut lines = Vec::new();
    let starts = flow.nodes.iter().filter(|node| !flow.edges.iter().any(|edge| edge.target == node.id));
    let ends = flow
        .edges
        .iter()
        .map(|edge| (edge.source.as_str(), edge.target.as_str()))
        .chain(starts.map(|node| (START, node.id.as_str())));
    for (source, target) in ends {
        if let (Some(from), Some(to)) = (at(source), at(target)) {
            lines.push(curve((from.0 + width, from.1 + height / 2.0), (to.0, to.1 + height / 2.0)));
        }
    }
    let blocks = cards
        .iter()
        .map(|(_, at, color)| {
            let (x, y) = put(*at);
            Block { x: tenth(x), y: tenth(y), width: tenth(width), height: tenth(height), color: color.clone() }
        })
        .collect();
    Sketch { blocks, lines }
}

fn curve(from: (f64, f64), to: (f64, f64)) -> String {
    let bend = ((to.0 - from.0) / 2.0).abs().max(6.0);
    format!(
        "M{} {}C{} {} {} {} {} {}",
        tenth(from.0),
        tenth(from.1),
        tenth(from.0 + bend),
        tenth(from.1),
        tenth(to.0 - bend),
        tenth(to.1),
        tenth(to.0),
        tenth(to.1)
    )
}

fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use weir_shared::flow::{Edge, Node, Place};

    use super::*;

    fn node(id: &str) -> Node {
        Node { id: id.to_owned(), tool: "delay".to_owned(), ..Node::default() }
    }

    #[test]
    fn everything_stays_inside_and_nothing_is_blown_up() {
        let mut flow = Flow::new("test");
        flow.nodes = vec![node("a"), node("b")];
        flow.layout.insert("a".to_owned(), Place { x: 5000, y: -900 });
        flow.layout.insert("b".to_owned(), Place { x: -4000, y: 1200 });
        let drawn = sketch(&flow, |_| "#666666".to_owned());
        assert_eq!(drawn.blocks.len(), 3);
        for block in &drawn.blocks {
            assert!(block.x >= 0.0 && block.x + block.width <= WIDTH, "{block:?}");
            assert!(block.y >= 0.0 && block.y + block.height <= HEIGHT, "{block:?}");
        }
        let alone = sketch(&Flow::new("test"), |_| "#7EE787".to_owned());
        assert!(alone.blocks[0].width <= CARD.0 * LARGEST_SCALE + 0.1);
    }

    #[test]
    fn start_leads_to_what_nothing_else_leads_to() {
        let mut flow = Flow::new("test");
        flow.nodes = vec![node("a"), node("b")];
        flow.edges = vec![Edge { source: "a".to_owned(), target: "b".to_owned(), ..Edge::default() }];
        assert_eq!(sketch(&flow, |_| String::new()).lines.len(), 2);
        flow.edges.push(Edge { source: "ghost".to_owned(), target: "b".to_owned(), ..Edge::default() });
        assert_eq!(sketch(&flow, |_| String::new()).lines.len(), 2);
    }
}
