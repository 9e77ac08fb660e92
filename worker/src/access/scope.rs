//! What a caller may do, and on whose behalf.

use serde::{Deserialize, Serialize};
use weir_shared::flow::PermissionMode;
use weir_shared::ids::Owner;

use super::token::OpenedBy;

/// What a token or a session opens. A wider scope holds every narrower one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    /// Sees flows and its own runs
    Read,
    /// Also starts saved flows, and cancels its own runs
    Run,
    /// Also writes, approves, sends plans of its own, and sees everybody's runs
    Admin,
}

impl Scope {
    /// The scope as it stands in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Run => "run",
            Scope::Admin => "admin",
        }
    }
}

/// Who sent a request, once that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) owner: Owner,
    pub(crate) scope: Scope,
    /// The widest permission mode of a run that this caller starts.
    pub(crate) most: PermissionMode,
    /// The token that it stands on.
    pub(crate) by: OpenedBy,
}

impl Caller {
    /// The person who owns the machine: the holder of the state directory's token.
    pub(crate) fn local() -> Self {
        Self { owner: Owner::local(), scope: Scope::Admin, most: PermissionMode::FullAccess, by: OpenedBy::Local }
    }

    /// Whether this caller may do what needs `scope`.
    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.scope >= scope
    }

    /// Whether this caller may choose this permission mode.
    pub(crate) fn may_run_in(&self, mode: PermissionMode) -> bool {
        mode <= self.most
    }

    /// Whose this caller sees: everybody's (`None`), or its own only.
    pub(crate) fn sees_only(&self) -> Option<Owner> {
        (self.scope != Scope::Admin).then(|| self.owner.clone())
    }

    /// Whether this caller sees what belongs to `owner`. Another's looks like it does not exist.
    pub(crate) fn sees(&self, owner: &Owner) -> bool {
        self.scope == Scope::Admin || self.owner == *owner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_scope_holds_the_narrower_ones() {
        let most = PermissionMode::AskForApproval;
        let caller = Caller { owner: Owner("ci".to_owned()), scope: Scope::Run, most, by: OpenedBy::Local };
        assert!(caller.may(Scope::Read) && caller.may(Scope::Run) && !caller.may(Scope::Admin));
        assert!(caller.sees(&Owner("ci".to_owned())) && !caller.sees(&Owner::local()));
        assert!(caller.may_run_in(PermissionMode::AskForApproval) && !caller.may_run_in(PermissionMode::ApproveForMe));
        assert!(Caller::local().may_run_in(PermissionMode::FullAccess));
        assert!(Caller::local().sees(&Owner("ci".to_owned())));
    }
}
