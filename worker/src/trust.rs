//! What this machine thinks of a plugin: a decision about one exact folder, by its digest.
//!
//! Pure. The decision is kept in the store and never in the folder or beside the flows: a clone of them on another
//! machine is trusted there by whoever looks at it there.

use serde::{Deserialize, Serialize};
use weir_shared::wire::PluginEffects;

/// What was decided about the plugin of one id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PluginRecord {
    /// The folder that is trusted, by its digest; any other is not.
    pub(crate) trusted: Option<String>,
    pub(crate) effects: PluginEffects,
    /// Whether it is to offer anything at all.
    pub(crate) enabled: bool,
}

impl Default for PluginRecord {
    fn default() -> Self {
        Self { trusted: None, effects: PluginEffects::default(), enabled: true }
    }
}

/// How a folder stands with this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Trusted(PluginEffects),
    /// Never looked at, or changed since.
    Untrusted,
    Disabled,
}

impl PluginRecord {
    /// How a folder with this digest stands; none: a folder that cannot be read as a whole.
    pub(crate) fn standing(&self, digest: Option<&str>) -> Standing {
        match (&self.trusted, digest) {
            _ if !self.enabled => Standing::Disabled,
            (Some(trusted), Some(digest)) if trusted == digest => Standing::Trusted(self.effects),
            (Some(_) | None, Some(_) | None) => Standing::Untrusted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_in_one_exact_folder() {
        let record =
            PluginRecord { trusted: Some("a".to_owned()), effects: PluginEffects::Declared, ..PluginRecord::default() };
        assert_eq!(record.standing(Some("a")), Standing::Trusted(PluginEffects::Declared));
        assert_eq!(record.standing(Some("b")), Standing::Untrusted);
        assert_eq!(record.standing(None), Standing::Untrusted);
        assert_eq!(PluginRecord::default().standing(Some("a")), Standing::Untrusted);
        let off = PluginRecord { enabled: false, ..record };
        assert_eq!(off.standing(Some("a")), Standing::Disabled);
    }
}
