//! Keeps the canvas in step with the document, the selection, the run and the findings: what is there stays, with its
//! signals; only what changed is told.

use std::collections::{BTreeMap, BTreeSet};

use leptos::prelude::*;
use weir_shared::finding::Severity;
use weir_shared::flow::{Flow, Note, Place, START};

use super::{Card, Link, LinkKind, NoteCard, Stage, point_of, set_if_other};
use crate::canvas::ruler::CanvasRuler;
use crate::face::card::Face;
use crate::geometry::card::note_size;
use crate::model::item::{EdgeKey, Item};
use crate::model::loose::loose_references;

impl Stage {
    pub(super) fn follow_flow(self) {
        let flow = self.builder.flow.get();
        let catalog = self.builder.catalog.get();
        let ruler = CanvasRuler;
        let place = |key: &str| flow.layout.get(key).copied().map(point_of).unwrap_or_default();
        let mut wanted = vec![(Item::Start, Face::of_start(&flow, &ruler), place(START))];
        let mut seen = BTreeSet::new();
        // Of two nodes with one id (a finding) the first is drawn.
        for node in flow.nodes.iter().filter(|node| seen.insert(node.id.as_str())) {
            wanted.push((Item::Node(node.id.clone()), Face::of(node, &flow, &catalog, &ruler), place(&node.id)));
        }
        let old: BTreeMap<Item, Card> =
            self.cards.with_untracked(|cards| cards.iter().map(|card| (card.item.clone(), card.clone())).collect());
        let cards: Vec<Card> = wanted
            .into_iter()
            .map(|(item, face, at)| match old.get(&item) {
                Some(card) => {
                    set_if_other(&card.face, face);
                    set_if_other(&card.at, at);
                    card.clone()
                }
                None => Card::new(item, face, at),
            })
            .collect();
        let links = self.links_of(&flow, &cards);
        if self.cards.with_untracked(|now| !now.iter().map(|card| &card.item).eq(cards.iter().map(|card| &card.item))) {
            self.cards.set(cards);
        }
        if self.links.with_untracked(|now| !now.iter().map(|link| &link.id).eq(links.iter().map(|link| &link.id))) {
            self.links.set(links);
        }
        self.follow_notes(&flow);
        self.fit_once();
    }

    fn links_of(self, flow: &Flow, cards: &[Card]) -> Vec<Link> {
        let by_id: BTreeMap<&str, &Card> = cards.iter().filter_map(|card| Some((card.node()?, card))).collect();
        let old: BTreeMap<String, Link> =
            self.links.with_untracked(|links| links.iter().map(|link| (link.id.clone(), link.clone())).collect());
        let selection = self.builder.selection.get_untracked();
        let mut links: Vec<Link> = Vec::with_capacity(flow.edges.len());
        let mut seen = BTreeSet::new();
        for edge in &flow.edges {
            let (Some(from), Some(to)) = (by_id.get(edge.source.as_str()), by_id.get(edge.target.as_str())) else {
                continue;
            };
            let key = EdgeKey::of(edge);
            if !seen.insert(key.clone()) {
                continue;
            }
            let output = from.face.with_untracked(|face| {
                let index = face.outputs.iter().position(|output| Some(output) == edge.port.as_ref())?;
                Some((index, face.outputs.len()))
            });
            let id = format!("{}>{}>{}>{output:?}", edge.source, edge.port.as_deref().unwrap_or_default(), edge.target);
            links.push(old.get(&id).cloned().unwrap_or_else(|| Link {
                id,
                number: self.next_number(),
                selected: ArcRwSignal::new(selection.contains(&Item::Edge(key.clone()))),
                kind: LinkKind::Edge(key),
                from: (*from).clone(),
                to: (*to).clone(),
                output,
            }));
        }
        let catalog = self.builder.catalog.get_untracked();
        let loose = loose_references(flow, &catalog);
        let mut followed: BTreeSet<&str> = flow.edges.iter().map(|edge| edge.target.as_str()).collect();
        for (named, naming) in &loose {
            let (Some(from), Some(to)) = (by_id.get(named.as_str()), by_id.get(naming.as_str())) else { continue };
            followed.insert(naming);
            let id = format!("{named}~{naming}");
            links.push(old.get(&id).cloned().unwrap_or_else(|| Link {
                id,
                number: self.next_number(),
                kind: LinkKind::Reference,
                from: (*from).clone(),
                to: (*to).clone(),
                output: None,
                selected: ArcRwSignal::new(false),
            }));
        }
        let Some(start) = cards.iter().find(|card| card.item == Item::Start) else { return links };
        for (node, card) in by_id.iter().filter(|(node, _)| !followed.contains(*node)) {
            let id = format!("{START}>{node}");
            links.push(old.get(&id).cloned().unwrap_or_else(|| Link {
                id,
                number: self.next_number(),
                kind: LinkKind::FromStart,
                from: start.clone(),
                to: (*card).clone(),
                output: None,
                selected: ArcRwSignal::new(false),
            }));
        }
        links
    }

    fn next_number(self) -> u32 {
        let number = self.numbers.get_value();
        self.numbers.set_value(number + 1);
        number
    }

    fn follow_notes(self, flow: &Flow) {
        let old: BTreeMap<String, NoteCard> =
            self.notes.with_untracked(|notes| notes.iter().map(|note| (note.id.clone(), note.clone())).collect());
        let mut seen = BTreeSet::new();
        let notes: Vec<NoteCard> = flow
            .notes
            .iter()
            .filter(|note| seen.insert(note.id.as_str()))
            .map(|note| {
                let Note { id, text, color, x, y, width, height, .. } = note;
                let at = point_of(Place { x: *x, y: *y });
                let size = note_size(*width, *height);
                let color = color.unwrap_or_default();
                match old.get(id) {
                    Some(card) => {
                        set_if_other(&card.text, text.clone());
                        set_if_other(&card.color, color);
                        set_if_other(&card.size, size);
                        set_if_other(&card.at, at);
                        card.clone()
                    }
                    None => NoteCard {
                        id: id.clone(),
                        text: ArcRwSignal::new(text.clone()),
                        color: ArcRwSignal::new(color),
                        size: ArcRwSignal::new(size),
                        at: ArcRwSignal::new(at),
                        selected: ArcRwSignal::new(false),
                    },
                }
            })
            .collect();
        if self.notes.with_untracked(|now| !now.iter().map(|note| &note.id).eq(notes.iter().map(|note| &note.id))) {
            self.notes.set(notes);
        }
    }

    pub(super) fn follow_selection(self) {
        let selection = self.builder.selection.get();
        for card in self.cards.get() {
            set_if_other(&card.selected, selection.contains(&card.item));
        }
        for link in self.links.get() {
            let selected = link.edge().is_some_and(|key| selection.contains(&Item::Edge(key.clone())));
            set_if_other(&link.selected, selected);
        }
        for note in self.notes.get() {
            set_if_other(&note.selected, selection.contains(&Item::Note(note.id.clone())));
        }
    }

    pub(super) fn follow_run(self) {
        let states = self.builder.card_states.get();
        for card in self.cards.get() {
            let state = card.node().and_then(|id| states.get(id)).cloned();
            set_if_other(&card.state, state);
        }
    }

    pub(super) fn follow_findings(self) {
        let findings = self.builder.findings.get();
        for card in self.cards.get() {
            let worst = findings
                .iter()
                .filter(|finding| finding.node_id.as_deref().is_some_and(|id| card.node() == Some(id)))
                .map(|finding| finding.severity)
                .filter(|severity| *severity >= Severity::Warning)
                .max();
            set_if_other(&card.trouble, worst);
        }
    }
}
