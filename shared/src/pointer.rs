//! Where something stands in a JSON text: a JSON pointer (RFC 6901) that is built on the way down and can be shown
//! to people as a path such as `nodes[2].args.command`.

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
        Self(format!("{}/{}", self.0, name.replace('~', "~0").replace('/', "~1")))
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
        assert_eq!(Pointer::root().to_path(), "");
        assert_eq!(Pointer::root().parent(), None);
    }
}
