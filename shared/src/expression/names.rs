//! What an expression names, and what is wrong with it, told from its syntax tree.
//!
//! Every variable that the expression does not itself give a value is reported with the constant keys that follow it:
//! a [`Chain`]. What a chain means is not known here. minijinja's own `undeclared_variables` would not do: it cuts a
//! chain at brackets and leaves out the arguments of filter blocks.

use std::ops::Range;

use minijinja::ErrorKind;
use minijinja::machinery::ast::{Call, CallType, Expr};
use minijinja::machinery::{Span, parse, parse_expr};
use minijinja::value::{Value, ValueKind};

use super::environment::{environment, path_function, reference_function, syntax};
use super::walk::{self, Descend, Visit};

/// A key that is written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Name(String),
    Index(u64),
}

/// A variable and the constant keys after it, as far as they are constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) root: String,
    /// Each with the byte of the source at which it ends.
    pub(crate) keys: Vec<(Key, usize)>,
    /// Whether keys follow that are worked out only when the expression runs.
    pub(crate) goes_on: bool,
    /// The bytes of the whole in the source.
    pub(crate) range: Range<usize>,
}

/// What is known about a source without running it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) chains: Vec<Chain>,
    /// Why it cannot run: at which byte, and the reason.
    pub(crate) problems: Vec<(usize, String)>,
}

/// Names that begin a reference, which no expression may give another meaning.
const RESERVED: [&str; 7] = ["inputs", "node", "steps", "last", "run", "flow", "secrets"];

/// What one expression names.
pub(crate) fn of_expression(source: &str) -> Found {
    match parse_expr(source) {
        Ok(tree) => {
            let mut finder = Finder::default();
            walk::expression(&tree, &mut finder);
            finder.found
        }
        Err(error) => unreadable(source, &error),
    }
}

/// What a text with statements names.
pub(crate) fn of_template(source: &str) -> Found {
    match parse(source, "<text>", syntax()) {
        Ok(tree) => {
            let mut finder = Finder::default();
            walk::statement(&tree, &mut finder);
            finder.found
        }
        Err(error) => unreadable(source, &error),
    }
}

fn unreadable(source: &str, error: &minijinja::Error) -> Found {
    let line = error.line().unwrap_or(1);
    let place = source.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let reason = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    Found { chains: Vec::new(), problems: vec![(place, reason)] }
}

#[derive(Default)]
struct Finder {
    found: Found,
    /// Names that the source gives a value, by scope; the outermost is always there.
    outer: Vec<String>,
    scopes: Vec<Vec<String>>,
}

impl Finder {
    fn problem(&mut self, at: Span, reason: impl Into<String>) {
        self.found.problems.push((offset(at.start_offset), reason.into()));
    }

    fn is_given(&self, name: &str) -> bool {
        self.scopes.iter().chain([&self.outer]).flatten().any(|known| known == name)
    }

    fn give(&mut self, name: &str) {
        self.scopes.last_mut().unwrap_or(&mut self.outer).push(name.to_owned());
    }

    /// The chain that this expression is the end of, if its root is a variable.
    fn chain(&mut self, expression: &Expr<'_>) -> bool {
        let mut keys = Vec::new();
        let mut here = expression;
        let root = loop {
            here = match here {
                Expr::Var(root) => break root,
                Expr::GetAttr(attribute) => {
                    keys.push((Some(Key::Name(attribute.name.to_owned())), end(here)));
                    &attribute.expr
                }
                Expr::GetItem(item) => {
                    let key = constant(&item.subscript_expr);
                    if key.is_none() {
                        walk::expression(&item.subscript_expr, self);
                    }
                    keys.push((key, end(here)));
                    &item.expr
                }
                _ => return false,
            };
        };
        keys.reverse();
        if self.is_given(root.id) || is_global(root.id) {
            return true;
        }
        let constant: Vec<(Key, usize)> = keys.iter().map_while(|(key, to)| Some((key.clone()?, *to))).collect();
        let goes_on = constant.len() < keys.len();
        let start = offset(root.span().start_offset);
        let to = constant.last().map_or_else(|| offset(root.span().end_offset), |(_, to)| *to);
        self.found.chains.push(Chain { root: root.id.to_owned(), keys: constant, goes_on, range: start..to });
        true
    }

    fn call(&mut self, call: &Call<'_>, at: Span) {
        match call.identify_call() {
            CallType::Function(name) if is_global(name) => {}
            CallType::Function(name) => self.problem(at, format!("there is no function `{name}`")),
            CallType::Method(value, name) => {
                walk::expression(value, self);
                self.problem(at, format!("values have no methods: write `| {name}` if there is such a filter"));
            }
            CallType::Object(_) => self.problem(at, "only functions can be called"),
        }
        walk::arguments(&call.args, self);
    }
}

impl Visit for Finder {
    fn expression(&mut self, expression: &Expr<'_>) -> Descend {
        match expression {
            Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_) if self.chain(expression) => Descend::Done,
            Expr::Call(call) => {
                self.call(call, call.span());
                Descend::Done
            }
            Expr::Filter(filter) if !has_filter(filter.name) => {
                let more = if filter.name == "shell" { ": `| shell` stands in commands only, at the end" } else { "" };
                self.problem(filter.span(), format!("there is no filter `{}`{more}", filter.name));
                Descend::Further
            }
            Expr::Test(test) if !has_test(test.name) => {
                self.problem(test.span(), format!("there is no test `{}`", test.name));
                Descend::Further
            }
            _ => Descend::Further,
        }
    }

    fn assign(&mut self, target: &Expr<'_>) {
        match target {
            Expr::Var(name) if RESERVED.contains(&name.id) => {
                let reason = format!("`{}` always means the run's own: take another name", name.id);
                self.problem(name.span(), reason);
            }
            Expr::Var(name) => self.give(name.id),
            Expr::List(list) => list.items.iter().for_each(|item| self.assign(item)),
            Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| self.assign(item)),
            // An attribute of a namespace.
            other => walk::expression(other, self),
        }
    }

    fn enter_scope(&mut self) {
        self.scopes.push(Vec::new());
    }

    fn leave_scope(&mut self) {
        self.scopes.pop();
    }

    fn enter_loop(&mut self) {
        self.scopes.push(vec!["loop".to_owned()]);
    }
}

fn constant(subscript: &Expr<'_>) -> Option<Key> {
    let value = subscript.as_const()?;
    match value.kind() {
        ValueKind::String => value.as_str().map(|name| Key::Name(name.to_owned())),
        ValueKind::Number => value.as_usize().and_then(|index| u64::try_from(index).ok()).map(Key::Index),
        _ => None,
    }
}

fn offset(bytes: u32) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn end(expression: &Expr<'_>) -> usize {
    offset(expression.span().end_offset)
}

fn is_global(name: &str) -> bool {
    name == reference_function() || name == path_function() || environment().globals().any(|(known, _)| known == name)
}

fn has_filter(name: &str) -> bool {
    let outcome = environment().empty_state().apply_filter(name, &[] as &[Value]);
    !outcome.is_err_and(|error| error.kind() == ErrorKind::UnknownFilter)
}

fn has_test(name: &str) -> bool {
    let outcome = environment().empty_state().perform_test(name, &[] as &[Value]);
    !outcome.is_err_and(|error| error.kind() == ErrorKind::UnknownTest)
}
