//! A shell command: its values travel beside it, as environment variables.
//!
//! What is pasted as shell text (`| shell`) is pasted first, and only then is it told where the values stand: a quote
//! that the pasted text opens is a quote for all that follows it.

use super::parse::{Content, Dialect, Piece, Syntax, Template, parse};
use super::resolve::{Resolver, Unresolved, failed};
use crate::limits::ENVIRONMENT_STRING_BYTES;
use crate::shell::{Place, places};

/// A command for people, and for the shell.
pub(super) struct Command {
    /// With its values filled in.
    pub(super) shown: String,
    /// With expansions in their place.
    pub(super) call: String,
}

impl Resolver<'_> {
    /// Resolves a command, and adds its variables to `environment`.
    pub(super) fn command(
        &self,
        command: &str,
        environment: &mut Vec<(String, String)>,
    ) -> Result<Command, Unresolved> {
        let written = parse(command, Dialect::Plan, Syntax::Shell);
        let pasted = self.pasted(&written)?;
        let template = paste(&written, &pasted);
        let places = places(&template).map_err(|refusals| {
            let first = refusals.into_iter().next();
            failed(first.map_or_else(
                || "the command has no safe place for a value".to_owned(),
                |it| format!("`{}` stands {}, where no value is safe. {}", &command[it.range], it.context, it.instead),
            ))
        })?;
        let mut places = places.into_iter();
        // The inside of the braces and the name of its variable: the same value is handed over once.
        let mut names: Vec<(String, String)> = Vec::new();
        let (mut shown, mut call) = (String::new(), String::new());
        for piece in &template.pieces {
            let inside = match &piece.content {
                Content::Text(text) => {
                    shown.push_str(text);
                    call.push_str(text);
                    continue;
                }
                Content::Reference(reference) => reference.to_string(),
                Content::Expression(source) | Content::RawShell(source) => source.source.to_owned(),
                Content::Statement | Content::Fault(_) => String::new(),
            };
            let value = self.piece(&template, piece)?;
            let place = places.next().unwrap_or(Place::Comment);
            shown.push_str(&value);
            if place == Place::Comment {
                continue;
            }
            let known = names.iter().find(|(known, _)| *known == inside).map(|(_, name)| name.clone());
            let name = if let Some(name) = known {
                name
            } else {
                let name = format!("WEIR_{}", environment.len() + 1);
                environment.push((name.clone(), fit_for_environment(&inside, &name, value)?));
                names.push((inside, name.clone()));
                name
            };
            call.push_str(&place.expansion(&name));
        }
        Ok(Command { shown, call })
    }

    /// The texts of what is pasted as shell text, in order.
    fn pasted(&self, command: &Template<'_>) -> Result<Vec<String>, Unresolved> {
        let raw = command.pieces.iter().filter(|piece| matches!(piece.content, Content::RawShell(_)));
        raw.map(|piece| self.piece(command, piece)).collect()
    }
}

/// The command with its shell text in place.
fn paste<'t>(command: &Template<'t>, pasted: &'t [String]) -> Template<'t> {
    let mut pasted = pasted.iter();
    let piece = |piece: &Piece<'t>| match (&piece.content, &mut pasted) {
        (Content::RawShell(_), pasted) => {
            let text = pasted.next().map_or("", String::as_str);
            Piece { range: piece.range.clone(), content: Content::Text(text) }
        }
        _ => piece.clone(),
    };
    Template { pieces: command.pieces.iter().map(piece).collect(), ..command.clone() }
}

/// An environment string holds no NUL, and Linux bounds it with its name and its terminator.
fn fit_for_environment(inside: &str, name: &str, value: String) -> Result<String, Unresolved> {
    if value.contains('\0') {
        return Err(failed(format!("`{{{{{inside}}}}}` holds a NUL character, which no command can be given")));
    }
    if name.len() + 1 + value.len() + 1 > ENVIRONMENT_STRING_BYTES {
        return Err(failed(format!(
            "`{{{{{inside}}}}}` has {} bytes, and a command can be given {ENVIRONMENT_STRING_BYTES} at most: write it \
             to a file in the run directory ($WEIR_RUN_DIR) in a step before, and name the file here",
            value.len()
        )));
    }
    Ok(value)
}
