//! The access token: 32 random bytes, written as 64 hexadecimal digits.
//!
//! A token never shows in `Debug` and is compared in constant time. Where it is kept is the state directory's
//! business.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Random bytes in a token, and in the secret of a session.
pub(crate) const SECRET_BYTES: usize = 32;

/// The secret that lets a caller in.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// The token of these random bytes.
    pub(crate) fn of(random: &[u8; SECRET_BYTES]) -> Self {
        Self(hexadecimal(random))
    }

    /// The token that a file holds; `None` when its text is not one, such as after a half-finished write.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let whole = text.len() == SECRET_BYTES * 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        whole.then(|| Self(text.to_owned()))
    }

    /// The text a caller sends. For the token's file, for the address printed on a terminal, and for requests of the
    /// command line; never for a log.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether this is what a caller sent. Takes the same time wherever the two differ.
    pub(crate) fn matches(&self, sent: &str) -> bool {
        digest(&self.0).ct_eq(&digest(sent)).into()
    }
}

/// Which token a caller, a session or a code stands on: what a token opened ends with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum OpenedBy {
    /// The state directory's own.
    Local,
    /// The named token of this SHA-256.
    Named([u8; 32]),
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

/// SHA-256 of a secret: what is compared and what is stored in its place.
pub(crate) fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// Lower-case hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back_and_only_matches_itself() {
        let token = Token::of(&[0xab; SECRET_BYTES]);
        let again = Token::read(&format!("{}\n", token.reveal())).unwrap();
        assert!(again.matches(token.reveal()));
        for wrong in ["", "ab", &"a".repeat(64), &token.reveal().to_uppercase()] {
            assert!(!token.matches(wrong), "{wrong}");
        }
    }

    #[test]
    fn half_a_token_is_none() {
        for text in ["", "abc", &"g".repeat(64), &"a".repeat(63)] {
            assert!(Token::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_token_does_not_show_in_debug() {
        assert_eq!(format!("{:?}", Token::of(&[1; SECRET_BYTES])), "Token(***)");
    }
}
