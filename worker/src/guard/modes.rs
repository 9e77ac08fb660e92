//! Permission modes as a table.

use weir_shared::flow::PermissionMode;
use weir_shared::run::event::VerdictKind;
use weir_shared::tool::Effect;

/// What a mode says of an effect. A command under `approve-for-me` is asked about when it is risky, and every command
/// counts as risky until commands are taken apart.
pub(crate) fn table(mode: PermissionMode, effect: Effect) -> VerdictKind {
    use VerdictKind::{Allow, Ask};
    match (mode, effect) {
        (PermissionMode::FullAccess, _) | (_, Effect::Read) | (PermissionMode::ApproveForMe, Effect::Write) => Allow,
        (PermissionMode::AskForApproval, Effect::Write)
        | (PermissionMode::AskForApproval | PermissionMode::ApproveForMe, Effect::Command | Effect::External) => Ask,
    }
}

/// The mode as it is written.
pub(crate) fn name(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::AskForApproval => "ask-for-approval",
        PermissionMode::ApproveForMe => "approve-for-me",
        PermissionMode::FullAccess => "full-access",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_documented_one() {
        use VerdictKind::{Allow, Ask};
        let effects = [Effect::Read, Effect::Write, Effect::Command, Effect::External];
        let rows = [
            (PermissionMode::AskForApproval, [Allow, Ask, Ask, Ask]),
            (PermissionMode::ApproveForMe, [Allow, Allow, Ask, Ask]),
            (PermissionMode::FullAccess, [Allow, Allow, Allow, Allow]),
        ];
        for (mode, row) in rows {
            assert_eq!(effects.map(|effect| table(mode, effect)), row, "{}", name(mode));
        }
    }
}
