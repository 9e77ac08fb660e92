//! Paths that may lead nowhere.
//!
//! Undefined values are refused, so `a.b.c` fails where `a.b` is missing, before a filter could say what to take
//! instead. A path right before `default`, `is defined` or `is undefined` is therefore rewritten to a call that
//! follows it as far as it goes. The rewriting works on the bytes of the source and changes nothing else; a path that
//! it does not fully understand stays as it is, and strict.

use minijinja::machinery::ast::Expr;

use super::environment::path_function;
use super::walk::{Descend, Visit};

/// A replacement of some bytes of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    from: usize,
    to: usize,
    text: String,
}

/// The source with the paths before `default` and its kin rewritten.
pub(super) fn soften(source: &str, walk: impl FnOnce(&mut dyn Visit)) -> String {
    let mut softener = Softener { source, edits: Vec::new() };
    walk(&mut softener);
    let mut edits = softener.edits;
    if edits.is_empty() {
        return source.to_owned();
    }
    edits.sort_by_key(|edit| (edit.from, edit.to));
    let mut out = String::with_capacity(source.len() + 32 * edits.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(source.get(at..edit.from).unwrap_or_default());
        out.push_str(&edit.text);
        at = edit.to;
    }
    out + source.get(at..).unwrap_or_default()
}

struct Softener<'s> {
    source: &'s str,
    edits: Vec<Edit>,
}

impl Visit for Softener<'_> {
    fn expression(&mut self, expression: &Expr<'_>) -> Descend {
        let path = match expression {
            Expr::Filter(filter) if matches!(filter.name, "default" | "d") => filter.expr.as_ref(),
            Expr::Test(test) if matches!(test.name, "defined" | "undefined") => Some(&test.expr),
            _ => None,
        };
        if let Some(edits) = path.and_then(|path| self.call(path)) {
            self.edits.extend(edits);
        }
        Descend::Further
    }
}

impl Softener<'_> {
    /// What makes a call of a path with at least two keys.
    fn call(&self, path: &Expr<'_>) -> Option<Vec<Edit>> {
        // From the last key to the first; a span's start is not that of the whole path, its end is.
        let mut keys = Vec::new();
        let mut here = path;
        let root = loop {
            here = match here {
                Expr::GetAttr(attribute) => {
                    let from = end(&attribute.expr);
                    keys.push(self.attribute(from, end(here), attribute.name)?);
                    &attribute.expr
                }
                Expr::GetItem(item) => {
                    let from = end(&item.expr);
                    keys.push(self.item(from, end(here))?);
                    &item.expr
                }
                Expr::Var(root) => break root.span(),
                _ => return None,
            };
        };
        if keys.len() < 2 {
            return None;
        }
        let start = usize::try_from(root.start_offset).ok()?;
        let close = Edit { from: end(path), to: end(path), text: ")".to_owned() };
        let open = Edit { from: start, to: start, text: format!("{}(", path_function()) };
        Some([open].into_iter().chain(keys.into_iter().rev().flatten()).chain([close]).collect())
    }

    /// `.name` as a further argument.
    fn attribute(&self, from: usize, to: usize, name: &str) -> Option<Vec<Edit>> {
        let written = self.source.get(from..to)?.trim_start().strip_prefix('.')?.trim();
        (written == name).then(|| vec![Edit { from, to, text: format!(", '{name}'") }])
    }

    /// `[key]` or `.0` as a further argument; what stands in the brackets stays where it is.
    fn item(&self, from: usize, to: usize) -> Option<Vec<Edit>> {
        let written = self.source.get(from..to)?;
        if let Some(digits) = written.trim_start().strip_prefix('.') {
            let digits = digits.trim();
            let is_index = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            return is_index.then(|| vec![Edit { from, to, text: format!(", {digits}") }]);
        }
        let open = from + written.find('[')?;
        let is_all = self.source.get(from..open)?.trim().is_empty() && written.ends_with(']');
        let opened = Edit { from, to: open + 1, text: ", (".to_owned() };
        is_all.then(|| vec![opened, Edit { from: to - 1, to, text: ")".to_owned() }])
    }
}

/// Where an expression ends in its source.
fn end(expression: &Expr<'_>) -> usize {
    usize::try_from(expression.span().end_offset).unwrap_or(usize::MAX)
}
