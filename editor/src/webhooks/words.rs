//! What the page calls the states of a webhook and of what came in.

use weir_shared::webhook::{DeliveryStatus, PausedReason, SignaturePreset, Trigger};

use crate::ui::tone::Tone;

/// A delivery's status in a word.
pub fn delivery_status(status: DeliveryStatus) -> &'static str {
    match status {
        DeliveryStatus::Claimed => "claimed",
        DeliveryStatus::Queued => "queued",
        DeliveryStatus::Submitted => "running",
        DeliveryStatus::Completed => "completed",
        DeliveryStatus::Failed => "failed",
        DeliveryStatus::Cancelled => "cancelled",
        DeliveryStatus::Interrupted => "interrupted",
    }
}

/// What a delivery's status means for the person.
pub fn delivery_tone(status: DeliveryStatus) -> Tone {
    match status {
        DeliveryStatus::Claimed | DeliveryStatus::Queued | DeliveryStatus::Submitted => Tone::Active,
        DeliveryStatus::Completed => Tone::Good,
        DeliveryStatus::Failed => Tone::Bad,
        DeliveryStatus::Cancelled | DeliveryStatus::Interrupted => Tone::Faint,
    }
}

/// Whether a webhook takes calls, and if not, why.
pub fn state(paused: Option<PausedReason>) -> (Tone, &'static str) {
    match paused {
        None => (Tone::Good, "Takes calls"),
        Some(PausedReason::FlowMissing) => (Tone::Waiting, "Paused: the flow's file is away"),
        Some(PausedReason::NotPublished) => (Tone::Waiting, "Paused: no version is published"),
        Some(PausedReason::FlowInvalid) => (Tone::Bad, "Paused: the flow has errors"),
        Some(PausedReason::NeedsPerson) => (Tone::Bad, "Paused: the published version could need a person"),
        Some(PausedReason::SandboxWeakened) => (Tone::Bad, "Paused: runs are confined less than before"),
    }
}

/// How a webhook knows its callers.
pub fn proof(trigger: &Trigger) -> String {
    let signed = trigger.signature.as_ref().map(|rule| match rule.preset {
        Some(SignaturePreset::GitHub) => format!("signed by GitHub with {}", rule.secret),
        Some(SignaturePreset::Stripe) => format!("signed by Stripe with {}", rule.secret),
        Some(SignaturePreset::Slack) => format!("signed by Slack with {}", rule.secret),
        None => format!("signed in {} with {}", rule.header.as_deref().unwrap_or_default(), rule.secret),
    });
    match (trigger.secret_header.is_some(), signed) {
        (true, None) => "a secret of its own".to_owned(),
        (true, Some(signed)) => format!("a secret of its own, and {signed}"),
        (false, signed) => signed.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use weir_shared::webhook::TriggerSecret;

    use super::*;

    fn trigger(more: &str) -> Trigger {
        let text = format!(
            r#"{{"triggerId":"01890a5d-ac96-774b-bcce-b302099a8057","workflowId":"a","name":null,"owner":"local",
            "path":"/","eventIdHeader":"e","rateLimit":null,"defaultInputs":{{}},"permissionMode":"full-access",
            "sandboxProfile":"off","state":"active","createdAt":"2026-11-30T22:16:40.123Z","url":"u"{more}}}"#
        );
        serde_json::from_str::<TriggerSecret>(&text).expect("a trigger").trigger
    }

    #[test]
    fn how_callers_are_known_is_said_in_words() {
        let secret = r#","secretHeader":"X-Weir-Webhook-Secret""#;
        assert_eq!(proof(&trigger(secret)), "a secret of its own");
        let github = r#","signature":{"secret":"KEY","preset":"github"}"#;
        assert_eq!(proof(&trigger(github)), "signed by GitHub with KEY");
        let own = r#","signature":{"secret":"KEY","header":"X-Sig"}"#;
        assert_eq!(proof(&trigger(&format!("{secret}{own}"))), "a secret of its own, and signed in X-Sig with KEY");
    }
}
