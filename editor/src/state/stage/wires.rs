//! Adding nodes and leading edges: what a gesture, a list or a key asks for, done to the document.

use std::collections::{BTreeMap, BTreeSet};

use leptos::prelude::*;
use weir_shared::flow::{Flow, Node, Place};

use super::{Card, Stage, place_of};
use crate::canvas::ruler::CanvasRuler;
use crate::face::card::Face;
use crate::geometry::arrange::{free_place, snapped};
use crate::geometry::card::{GRID, nearest_output};
use crate::geometry::curve::Curve;
use crate::geometry::plane::{Point, Rect};
use crate::gesture::input::{End, Joining, Source, Target};
use crate::gesture::machine::Gesture;
use crate::model::connect::{Refusal, refusal, refusal_instead};
use crate::model::document::fresh_node_id;
use crate::model::edit::Edit;
use crate::model::insert;
use crate::model::item::{EdgeKey, Item};

/// How near to a card a new edge catches it. Canvas units.
const CATCH: f64 = 20.0;
/// Between a card and the next along an edge.
const SPACE: f64 = 5.0 * GRID;
/// How near to an edge a tool let go goes into it. Screen units.
const NEAR_EDGE: f64 = 14.0;

impl Stage {
    pub(crate) fn connect(self, from: Source, to: String) {
        let key = EdgeKey { source: from.node, port: from.port, target: to };
        let flow = self.builder.flow.get_untracked();
        match refusal(&flow, &key) {
            // Let go where it began: no edge was meant.
            Some(Refusal::Itself) => {}
            Some(refusal) => self.toasts.fail(refusal.to_string()),
            None => self.builder.apply(Edit::connect(&flow, &key)),
        }
    }

    /// Leads an end of an edge to a node; of several outputs to the one nearest to a point.
    pub(super) fn reconnect(self, edge: &EdgeKey, end: End, to: String, at: Point) {
        let Some(new) = self.led_to(edge, end, to, at) else { return };
        if new == *edge {
            return;
        }
        let flow = self.builder.flow.get_untracked();
        match refusal_instead(&flow, &new, Some(edge)) {
            Some(refusal) => self.toasts.fail(refusal.to_string()),
            None => {
                self.hovered.set(None);
                self.builder.apply(insert::reconnect(&flow, edge, &new));
                self.select(Item::Edge(new), Joining::Replace);
            }
        }
    }

    /// What an edge is once this end leads to that node.
    fn led_to(self, edge: &EdgeKey, end: End, to: String, at: Point) -> Option<EdgeKey> {
        match end {
            End::Target => Some(EdgeKey { target: to, ..edge.clone() }),
            End::Source => {
                let cards = self.cards.get_untracked();
                let card = cards.iter().find(|card| card.node() == Some(&to))?;
                let outputs = card.face.with_untracked(|face| face.outputs.clone());
                let port = outputs.get(nearest_output(&card.rect_now(), at, outputs.len()));
                Some(EdgeKey {
                    source: to,
                    port: port.filter(|port| !port.is_empty()).cloned(),
                    target: edge.target.clone(),
                })
            }
        }
    }

    /// Why the edge in the hand would be refused by the card under it. Follows the gesture.
    pub(crate) fn refusal(self) -> Option<Refusal> {
        let (key, instead) = self.gesture.with(|gesture| match gesture {
            Gesture::Connect { from, over, .. } => {
                let target = over.node()?.to_owned();
                Some((EdgeKey { source: from.node.clone(), port: from.port.clone(), target }, None))
            }
            Gesture::Reconnect { edge, end, at, over, .. } => {
                let at = self.viewport.get_untracked().to_canvas(*at);
                Some((self.led_to(edge, *end, over.node()?.to_owned(), at)?, Some(edge.clone())))
            }
            _ => None,
        })?;
        // Back where it was, nothing changes.
        if instead.as_ref() == Some(&key) {
            return None;
        }
        self.builder.flow.with(|flow| refusal_instead(flow, &key, instead.as_ref()))
    }

    /// The node at a point of the surface that a new edge would lead to.
    pub(crate) fn caught(self, at: Point) -> Target {
        let point = self.viewport.get_untracked().to_canvas(at);
        let distance = |rect: &Rect| rect.center().distance(point);
        self.cards.with_untracked(|cards| {
            let near = cards.iter().filter_map(|card| {
                let rect = card.rect_now();
                let node = card.node()?;
                rect.grown(CATCH).contains(point).then(|| (node, !rect.contains(point), distance(&rect)))
            });
            let best = near.min_by(|one, other| one.1.cmp(&other.1).then(one.2.total_cmp(&other.2)));
            best.map_or(Target::Canvas, |(node, ..)| Target::Item(Item::Node(node.to_owned())))
        })
    }

    /// A new node of a tool, and its card.
    fn new_node(self, flow: &Flow, tool: &str) -> (Node, Face) {
        let node = Node { id: fresh_node_id(flow, tool), tool: tool.to_owned(), ..Node::default() };
        let face = Face::of(&node, flow, &self.builder.catalog.get_untracked(), &CanvasRuler);
        (node, face)
    }

    fn taken(self) -> Vec<Rect> {
        self.cards.with_untracked(|cards| cards.iter().map(Card::rect_now).collect())
    }

    fn show_new(self, id: String, rect: Rect) {
        self.select(Item::Node(id), Joining::Replace);
        self.reveal_rect(rect);
    }

    /// Adds a node of a tool around a point, else beside what is selected or in the middle of what is seen.
    pub(crate) fn add(self, tool: &str, around: Option<Point>) {
        let flow = self.builder.flow.get_untracked();
        let (node, face) = self.new_node(&flow, tool);
        let half = Point::new(face.size.width / 2.0, face.size.height / 2.0);
        let corner = around.map(|at| at - half).or_else(|| self.beside_selection());
        let corner =
            corner.unwrap_or_else(|| self.viewport.get_untracked().seen(self.surface.get_untracked()).center() - half);
        let at = free_place(corner, face.size, &self.taken());
        let id = node.id.clone();
        self.builder.apply(Edit::add_node(&flow, node, place_of(at)));
        self.show_new(id, Rect::new(at, face.size));
    }

    /// Adds a node of a tool that waits for an output, its input at a point.
    pub(super) fn add_after(self, source: &Source, tool: &str, at: Point) {
        let flow = self.builder.flow.get_untracked();
        let (node, face) = self.new_node(&flow, tool);
        let corner = at - Point::new(0.0, face.size.height / 2.0);
        let at = free_place(corner, face.size, &self.taken());
        let id = node.id.clone();
        self.builder.apply(insert::after_output(&flow, node, place_of(at), &source.node, source.port.as_deref()));
        self.show_new(id, Rect::new(at, face.size));
    }

    /// Puts a node of a tool into an edge; what waits behind it makes room.
    pub(super) fn insert_into(self, edge: &EdgeKey, tool: &str) {
        let flow = self.builder.flow.get_untracked();
        let cards = self.cards.get_untracked();
        let rect = |id: &str| cards.iter().find(|card| card.node() == Some(id)).map(Card::rect_now);
        let (Some(from), Some(to)) = (rect(&edge.source), rect(&edge.target)) else { return };
        let (node, face) = self.new_node(&flow, tool);
        let free = to.at.x - from.right();
        let missing = if free > 0.0 { (face.size.width + 2.0 * SPACE - free).max(0.0) } else { 0.0 };
        let way = Point::new((missing / GRID).ceil() * GRID, 0.0);
        let behind = if way.x > 0.0 { insert::downstream(&flow, &edge.target) } else { BTreeSet::new() };
        let moves = |card: &Card| card.node().is_some_and(|id| behind.contains(id));
        let moved: BTreeMap<Item, Option<Place>> = cards
            .iter()
            .filter(|card| moves(card))
            .map(|card| (card.item.clone(), Some(place_of(card.rect_now().at + way))))
            .collect();
        let taken: Vec<Rect> = cards
            .iter()
            .map(|card| {
                let rect = card.rect_now();
                if moves(card) { Rect::new(rect.at + way, rect.size) } else { rect }
            })
            .collect();
        let middle = from.center().middle(to.center() + way);
        let left = if free > 0.0 { from.right() + (free + way.x - face.size.width) / 2.0 } else { middle.x };
        let at = free_place(snapped(Point::new(left, middle.y - face.size.height / 2.0)), face.size, &taken);
        let port = face.outputs.first().filter(|port| !port.is_empty()).cloned();
        let id = node.id.clone();
        self.hovered.set(None);
        self.builder.apply(insert::into_edge(&flow, edge, node, place_of(at), port.as_deref(), moved));
        self.show_new(id, Rect::new(at, face.size));
    }

    /// The edge that passes near a point of the canvas.
    pub(super) fn edge_near(self, at: Point) -> Option<EdgeKey> {
        let near = NEAR_EDGE / self.viewport.get_untracked().zoom;
        self.links.with_untracked(|links| {
            let passes = |link: &&super::Link| {
                let (from, to) = link.ends_now();
                let curve = Curve::between(from, to);
                curve.bounds().grown(near).contains(at) && curve.passes(at, near)
            };
            links.iter().filter(passes).find_map(|link| link.edge().cloned())
        })
    }

    fn beside_selection(self) -> Option<Point> {
        let cards = self.cards.get_untracked();
        let selection = self.builder.selection.get_untracked();
        let beside = cards.iter().rfind(|card| selection.contains(&card.item))?.rect_now();
        Some(Point::new(beside.right() + 4.0 * GRID, beside.at.y))
    }
}
