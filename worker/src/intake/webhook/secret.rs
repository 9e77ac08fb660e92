//! The secret of a trigger: 32 random bytes as base64url, shown once. What is kept is its SHA-256.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::store::SecretDigest;

/// Random bytes in a secret.
pub(crate) const SECRET_BYTES: usize = 32;

/// A new secret, on its way to the one answer that shows it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct WebhookSecret(String);

impl WebhookSecret {
    /// The secret of these random bytes.
    pub(crate) fn of(random: &[u8; SECRET_BYTES]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(random))
    }

    /// The text that senders put into the header.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    pub(crate) fn digest(&self) -> SecretDigest {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(***)")
    }
}

/// Whether what was sent is the secret that is kept. Hashes and compares also where nothing is kept, so that a trigger
/// without a secret, or none at all, takes the same time.
pub(crate) fn matches(kept: Option<&SecretDigest>, sent: &[u8]) -> bool {
    let nothing = [0; 32];
    let equal: bool = Sha256::digest(sent).as_slice().ct_eq(kept.unwrap_or(&nothing)).into();
    equal && kept.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_matches_itself_alone_and_does_not_show() {
        let secret = WebhookSecret::of(&[0xfb; SECRET_BYTES]);
        let kept = secret.digest();
        assert_eq!(secret.reveal().len(), 43);
        assert!(secret.reveal().bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));
        assert!(matches(Some(&kept), secret.reveal().as_bytes()));
        let upper = secret.reveal().to_uppercase();
        for wrong in ["", " ", "x", upper.as_str(), &format!("{} ", secret.reveal())] {
            assert!(!matches(Some(&kept), wrong.as_bytes()), "{wrong}");
        }
        assert!(!matches(None, secret.reveal().as_bytes()));
        assert_eq!(format!("{secret:?}"), "WebhookSecret(***)");
    }

    #[test]
    fn nothing_is_not_the_secret_of_a_trigger_that_has_none() {
        assert!(!matches(None, b""));
    }
}
