//! Where something stands in a JSON text: a JSON pointer (RFC 6901) that can be shown to people as a path such as
//! `nodes[2].args.command`, and the way down to a place, from which a pointer is made once something is found there.

use std::borrow::Cow;
use std::fmt::Write;

/// A JSON pointer. The empty one is the whole text.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(String);

impl Pointer {
    /// The whole text.
    pub fn root() -> Self {
        Self::default()
    }

    /// A member of this object.
    #[must_use]
    pub fn key(&self, name: &str) -> Self {
        let mut text = String::with_capacity(self.0.len() + name.len() + 1);
        text.push_str(&self.0);
        push_key(&mut text, name);
        Self(text)
    }

    /// An element of this array.
    #[must_use]
    pub fn index(&self, at: usize) -> Self {
        Self(format!("{}/{at}", self.0))
    }

    /// As RFC 6901 writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What it stands in; nothing for the whole text.
    pub fn parent(&self) -> Option<Self> {
        self.0.rfind('/').map(|at| Self(self.0[..at].to_owned()))
    }

    /// Its unescaped steps from the root.
    pub fn steps(&self) -> impl Iterator<Item = String> + '_ {
        self.0.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"))
    }

    /// The path as people read it: `nodes[2].args.command`, `pins['a b']`; empty for the whole text.
    pub fn to_path(&self) -> String {
        path_of(self.steps())
    }
}

impl From<&Pointer> for Pointer {
    fn from(pointer: &Pointer) -> Self {
        pointer.clone()
    }
}

impl From<&Path<'_>> for Pointer {
    fn from(path: &Path<'_>) -> Self {
        let mut text = String::new();
        path.write(&mut text);
        Self(text)
    }
}

fn push_key(text: &mut String, name: &str) {
    text.push('/');
    if name.contains(['~', '/']) {
        text.push_str(&name.replace('~', "~0").replace('/', "~1"));
    } else {
        text.push_str(name);
    }
}

/// The way down to a place, kept on the stack by whoever walks: free to make, so that a walk which finds nothing
/// builds no pointer.
#[derive(Debug, Clone, Copy)]
pub struct Path<'a> {
    /// The way to what it stands in, and the step from there; nothing for the whole text.
    last: Option<(&'a Path<'a>, Step<'a>)>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl Path<'_> {
    /// The whole text.
    pub const ROOT: Path<'static> = Path { last: None };

    /// A member of this object.
    #[must_use]
    pub fn key<'s>(&'s self, name: &'s str) -> Path<'s> {
        Path { last: Some((self, Step::Key(name))) }
    }

    /// An element of this array.
    #[must_use]
    pub fn index(&self, at: usize) -> Path<'_> {
        Path { last: Some((self, Step::Index(at))) }
    }

    /// The first step from the whole text, and whether it is the only one.
    pub fn first(&self) -> Option<(Cow<'_, str>, bool)> {
        let (parent, step) = self.last?;
        if let Some((name, _)) = parent.first() {
            return Some((name, false));
        }
        let name = match step {
            Step::Key(name) => Cow::Borrowed(name),
            Step::Index(at) => Cow::Owned(at.to_string()),
        };
        Some((name, true))
    }

    /// The path as people read it.
    pub fn to_path(&self) -> String {
        Pointer::from(self).to_path()
    }

    fn write(&self, text: &mut String) {
        let Some((parent, step)) = self.last else { return };
        parent.write(text);
        match step {
            Step::Key(name) => push_key(text, name),
            Step::Index(at) => {
                let _ = write!(text, "/{at}");
            }
        }
    }
}

impl From<&str> for Pointer {
    /// Takes a text that is a JSON pointer already.
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// Joins unescaped steps to a path as people read it.
pub(crate) fn path_of(steps: impl IntoIterator<Item = String>) -> String {
    let mut path = String::new();
    for step in steps {
        if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) {
            let _ = write!(path, "[{step}]");
        } else if !step.is_empty()
            && step.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'))
        {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&step);
        } else {
            let _ = write!(path, "['{}']", step.replace('\'', "\\'"));
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_reads_as_a_path() {
        let pointer = Pointer::root().key("nodes").index(2).key("args").key("a/b~c");
        assert_eq!(pointer.as_str(), "/nodes/2/args/a~1b~0c");
        assert_eq!(pointer.to_path(), "nodes[2].args['a/b~c']");
        assert_eq!(pointer.parent(), Some(Pointer::from("/nodes/2/args")));
        let (nodes, args) = (Path::ROOT.key("nodes"), "args");
        let node = nodes.index(2);
        let way = node.key(args);
        assert_eq!(Pointer::from(&way.key("a/b~c")), pointer);
        assert_eq!(way.key("a/b~c").to_path(), pointer.to_path());
        assert_eq!(way.first(), Some(("nodes".into(), false)));
        assert_eq!(nodes.first(), Some(("nodes".into(), true)));
        assert_eq!(Path::ROOT.first(), None);
        assert_eq!(Pointer::root().to_path(), "");
        assert_eq!(Pointer::root().parent(), None);
    }
}
