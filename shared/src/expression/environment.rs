//! The language of expressions: bounds, filters, and how values become text.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, Value};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};

use super::filters;

/// Work of one expression or text; about one unit for each operation and for each small piece of data made.
pub const FUEL: u64 = 200_000;
/// Bytes of what one expression or text yields, as text or compact JSON.
pub const OUTPUT_BYTES: usize = 1024 * 1024;

/// The function that stands for a plain reference in a text with statements.
const REFERENCE: &str = "weir_reference";
/// The function that a path before `default` is rewritten to.
const PATH: &str = "weir_path";

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(build);

/// The one environment. It holds no template and no state.
pub(super) fn environment() -> &'static Environment<'static> {
    &ENVIRONMENT
}

/// The call that stands for the plain reference of this number.
pub(crate) fn ask_reference(number: usize) -> String {
    format!("{REFERENCE}({number})")
}

/// The name under which a context answers [`ask_reference`].
pub(super) fn reference_function() -> &'static str {
    REFERENCE
}

/// The name of the function that follows a path as far as it goes.
pub(super) fn path_function() -> &'static str {
    PATH
}

/// minijinja's own marks; unlike its default the newline at the end of a text stays.
pub(super) fn syntax() -> SyntaxConfig {
    SyntaxConfig::builder().keep_trailing_newline(true).build().unwrap_or_default()
}

fn build() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_syntax(syntax());
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_formatter(|out, _, value| {
        out.write_str(&text_of(value)?)?;
        Ok(())
    });
    // It would show the whole context.
    environment.remove_global("debug");
    environment.add_function(PATH, path);
    filters::add(&mut environment);
    environment
}

/// A value as it stands within a text: a string as it is, anything else as compact JSON.
pub(super) fn text_of(value: &Value) -> Result<String, Error> {
    if value.is_undefined() {
        return Err(Error::new(ErrorKind::UndefinedError, "a value to write is undefined"));
    }
    if value.is_none() {
        return Err(Error::new(ErrorKind::InvalidOperation, "a value to write is null, which has no text"));
    }
    match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => filters::compact(value),
    }
}

/// A path as far as it goes; undefined where it ends early.
#[expect(clippy::needless_pass_by_value, reason = "minijinja calls functions with values of their own")]
fn path(root: Value, keys: Rest<Value>) -> Value {
    let mut here = root;
    for key in keys.iter() {
        if here.is_undefined() || here.is_none() {
            return Value::UNDEFINED;
        }
        here = here.get_item(key).unwrap_or(Value::UNDEFINED);
    }
    here
}
