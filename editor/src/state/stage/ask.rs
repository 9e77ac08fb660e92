//! Lists to choose from at a place of the canvas: a tool to add, a node to connect to, a node to find.

use leptos::prelude::*;
use weir_shared::tool::ToolDeclaration;

use super::Stage;
use super::commands::Command;
use crate::face::card::{Face, tool_label};
use crate::face::look::Look;
use crate::face::search::{score, tool_score};
use crate::geometry::plane::Point;
use crate::gesture::input::{Joining, Source};
use crate::model::connect::targets;
use crate::model::item::{EdgeKey, Item, Selection};

/// The most offers shown; who wants another types a letter more.
const MOST: usize = 60;

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Question {
    /// A tool to add around a point of the canvas.
    Add { at: Point },
    /// A tool that goes on from an output, at a point of the canvas.
    After { source: Source, at: Point },
    /// A tool to put into an edge.
    Into { edge: EdgeKey, at: Point },
    /// A node that is to wait for this one.
    Target { node: String },
    /// Anything on the canvas.
    Find,
    /// Something to do, or anything on the canvas.
    Command,
}

impl Question {
    /// What the list is for.
    pub(crate) fn words(&self) -> &'static str {
        match self {
            Question::Add { .. } => "Add a node",
            Question::After { .. } => "Add the next node",
            Question::Into { .. } => "Insert a node",
            Question::Target { .. } => "Connect to",
            Question::Find => "Find in this flow",
            Question::Command => "Do something, or go to a node",
        }
    }
}

/// What an offer does.
#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Tool(String),
    Connect(EdgeKey),
    Show(Item),
    Do(Command),
}

/// One entry of the list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Offer {
    answer: Answer,
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) look: Look,
}

impl Stage {
    /// Asks for a node that is to wait for the selected one.
    pub(crate) fn ask_target(self) {
        let selection = self.builder.selection.get_untracked();
        if let Some(Item::Node(node)) = selection.first().filter(|_| selection.len() == 1) {
            self.asked.set(Some(Question::Target { node: node.clone() }));
        }
    }

    /// Where on the surface the list opens; absent for the middle of its top.
    pub(crate) fn asked_at(self) -> Option<Point> {
        let at = match self.asked.get()? {
            Question::Add { at } | Question::After { at, .. } | Question::Into { at, .. } => at,
            Question::Target { node } => {
                let cards = self.cards.get();
                let rect = cards.iter().find(|card| card.node() == Some(&node))?.rect();
                Point::new(rect.right() + 24.0, rect.at.y)
            }
            Question::Find | Question::Command => return None,
        };
        Some(self.viewport.get().to_screen(at))
    }

    /// What fits the question and a few letters, the best first.
    pub(crate) fn offers(self, query: &str) -> Vec<Offer> {
        let Some(question) = self.asked.get() else { return Vec::new() };
        let mut offers = match question {
            Question::Add { .. } | Question::After { .. } | Question::Into { .. } => self.tools(query),
            Question::Target { node } => best(query, self.targets_of(&node)),
            Question::Find => best(query, self.everything()),
            Question::Command => best(query, self.commands().into_iter().chain(self.everything()).collect()),
        };
        offers.truncate(MOST);
        offers
    }

    fn tools(self, query: &str) -> Vec<Offer> {
        let catalog = self.builder.catalog.get();
        let usable = catalog.iter().filter(|tool| tool.trusted);
        let scored = |tool: &ToolDeclaration| if query.trim().is_empty() { 1.0 } else { tool_score(query, tool) };
        // Tools without a display come last: people look for the others.
        let mut tools: Vec<(bool, f64, &ToolDeclaration)> =
            usable.map(|tool| (tool.node.is_none(), scored(tool), tool)).filter(|(_, score, _)| *score > 0.0).collect();
        tools.sort_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
        tools
            .into_iter()
            .map(|(_, _, tool)| Offer {
                answer: Answer::Tool(tool.name.clone()),
                title: tool_label(&tool.name, Some(tool)).to_owned(),
                about: tool.description.split_terminator(['.', '\n']).next().unwrap_or_default().to_owned(),
                look: Look::of(&tool.name, Some(tool)),
            })
            .collect()
    }

    fn face_of(self, node: &str) -> Option<Face> {
        let cards = self.cards.get_untracked();
        cards.iter().find(|card| card.node() == Some(node)).map(|card| card.face.get_untracked())
    }

    fn targets_of(self, node: &str) -> Vec<Offer> {
        let flow = self.builder.flow.get();
        let ports = self.face_of(node).map(|face| face.outputs).unwrap_or_default();
        let mut offers = Vec::new();
        for port in ports {
            let port = Some(port).filter(|port| !port.is_empty());
            for target in targets(&flow, node, port.as_deref()) {
                let Some(face) = self.face_of(&target.id) else { continue };
                let about = match &port {
                    Some(port) => format!("{port} → {}", target.id),
                    None => target.id.clone(),
                };
                let key = EdgeKey { source: node.to_owned(), port: port.clone(), target: target.id.clone() };
                offers.push(Offer { answer: Answer::Connect(key), title: face.title, about, look: face.look });
            }
        }
        offers
    }

    fn commands(self) -> Vec<Offer> {
        let offer = |command: Command| Offer {
            answer: Answer::Do(command),
            title: command.title().to_owned(),
            about: command.key().to_owned(),
            look: Look::command(command.glyph()),
        };
        Command::ALL.into_iter().filter(|command| self.is_possible(*command)).map(offer).collect()
    }

    fn everything(self) -> Vec<Offer> {
        let cards = self.cards.get();
        let notes = self.notes.get();
        let of_cards = cards.iter().map(|card| {
            let face = card.face.get_untracked();
            let id = card.node().unwrap_or_default();
            let about = if id.is_empty() { face.subtitle } else { format!("{id} · {}", face.subtitle) };
            Offer { answer: Answer::Show(card.item.clone()), title: face.title, about, look: face.look }
        });
        let of_notes = notes.iter().map(|note| Offer {
            answer: Answer::Show(Item::Note(note.id.clone())),
            title: note.text.with_untracked(|text| text.lines().next().unwrap_or_default().to_owned()),
            about: "note".to_owned(),
            look: Look::note(),
        });
        of_cards.chain(of_notes).collect()
    }

    /// Does what was chosen and closes the list.
    pub(crate) fn choose(self, offer: Offer) {
        let Some(question) = self.asked.get_untracked() else { return };
        self.asked.set(None);
        match (offer.answer, question) {
            (Answer::Tool(tool), Question::Add { at }) => self.add(&tool, Some(at)),
            (Answer::Tool(tool), Question::After { source, at }) => self.add_after(&source, &tool, at),
            (Answer::Tool(tool), Question::Into { edge, .. }) => self.insert_into(&edge, &tool),
            (Answer::Connect(key), _) => {
                let EdgeKey { source, port, target } = key;
                self.connect(Source { node: source, port }, target);
            }
            (Answer::Show(item), _) => {
                self.builder.selection.set(Selection::new());
                self.select(item.clone(), Joining::Replace);
                self.reveal(&item);
            }
            (Answer::Do(command), _) => self.obey(command),
            (Answer::Tool(_), Question::Target { .. } | Question::Find | Question::Command) => {}
        }
    }
}

fn best(query: &str, offers: Vec<Offer>) -> Vec<Offer> {
    if query.trim().is_empty() {
        return offers;
    }
    let scored = |offer: &Offer| score(query, &offer.title).max(score(query, &offer.about) * 0.9);
    let mut found: Vec<(f64, Offer)> =
        offers.into_iter().map(|offer| (scored(&offer), offer)).filter(|(score, _)| *score > 0.0).collect();
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found.into_iter().map(|(_, offer)| offer).collect()
}
