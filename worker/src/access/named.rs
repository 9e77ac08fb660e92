//! Named tokens: what `tokens.toml` lets in beside the token of the state directory.
//!
//! The file holds digests, so that reading it opens nothing:
//!
//! ```toml
//! [[token]]
//! name = "laptop"
//! owner = "ada"
//! scope = "run"
//! maxPermissionMode = "ask-for-approval"
//! sha256 = "…"
//! ```
//!
//! A token is found by its digest, so how long a look-up takes says nothing about a token. What stands on a token (a
//! session, a code) names its digest and ends with it.

use serde::{Deserialize, Serialize};
use weir_shared::flow::PermissionMode;
use weir_shared::ids::Owner;

use super::scope::{Caller, Scope};
use super::token::{OpenedBy, digest, hexadecimal};

/// Characters of a name, and of an owner, at most.
const NAME_CHARS: usize = 64;

/// SHA-256 of a named token.
type TokenDigest = [u8; 32];

/// One token of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NamedToken {
    /// What a person calls it; no two have the same.
    pub(crate) name: String,
    /// Whose everything is that is started with it. Several tokens may share an owner.
    pub(crate) owner: String,
    pub(crate) scope: Scope,
    /// The widest permission mode of a run that it starts.
    #[serde(default)]
    pub(crate) max_permission_mode: PermissionMode,
    /// SHA-256 of the token's text, in hexadecimal.
    pub(crate) sha256: String,
}

/// All of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NamedTokens(Vec<(TokenDigest, NamedToken)>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "token")]
    tokens: Vec<NamedToken>,
}

/// Why a token of the file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadTokens {
    #[error("{0}")]
    Shape(String),
    #[error("{what} `{text}` should have 1 to {NAME_CHARS} letters, digits, `.`, `_`, `@` or `-`")]
    Name { what: &'static str, text: String },
    #[error("the token `{name}`: `sha256` should be 64 hexadecimal digits; `weir token new` writes them")]
    Digest { name: String },
    #[error("two tokens are called `{name}`")]
    SameName { name: String },
    #[error("the tokens `{first}` and `{second}` have the same digest: a token is one person's or one program's")]
    SameDigest { first: String, second: String },
}

impl NamedToken {
    /// An entry for a token of this text.
    pub(crate) fn of(token: &str, name: String, owner: String, (scope, most): (Scope, PermissionMode)) -> Self {
        Self { name, owner, scope, max_permission_mode: most, sha256: hexadecimal(&digest(token)) }
    }

    /// Whether it could stand in the file.
    pub(crate) fn check(&self) -> Result<TokenDigest, BadTokens> {
        let is_name = |text: &str| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'@' | b'-');
            (1..=NAME_CHARS).contains(&text.len()) && text.bytes().all(fits)
        };
        for (what, text) in [("the name", &self.name), ("the owner", &self.owner)] {
            if !is_name(text) {
                return Err(BadTokens::Name { what, text: text.clone() });
            }
        }
        read_digest(&self.sha256).ok_or_else(|| BadTokens::Digest { name: self.name.clone() })
    }
}

impl NamedTokens {
    /// The tokens of this text. One that cannot be used is an error, never one that is quietly left out.
    pub(crate) fn read(text: &str) -> Result<Self, BadTokens> {
        let file: File = toml::from_str(text).map_err(|error: toml::de::Error| BadTokens::Shape(error.to_string()))?;
        let mut tokens: Vec<(TokenDigest, NamedToken)> = Vec::with_capacity(file.tokens.len());
        for token in file.tokens {
            let digest = token.check()?;
            for (other_digest, other) in &tokens {
                if other.name == token.name {
                    return Err(BadTokens::SameName { name: token.name });
                }
                if *other_digest == digest {
                    return Err(BadTokens::SameDigest { first: other.name.clone(), second: token.name });
                }
            }
            tokens.push((digest, token));
        }
        Ok(Self(tokens))
    }

    /// Whom a token of this text lets in.
    pub(crate) fn caller_of(&self, sent: &str) -> Option<Caller> {
        self.caller(&digest(sent))
    }

    /// Whom the token of this digest lets in.
    pub(crate) fn caller(&self, digest: &TokenDigest) -> Option<Caller> {
        let (digest, token) = self.0.iter().find(|(known, _)| known == digest)?;
        let owner = Owner(token.owner.clone());
        Some(Caller { owner, scope: token.scope, most: token.max_permission_mode, by: OpenedBy::Named(*digest) })
    }

    /// As they stand in the file.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &NamedToken> {
        self.0.iter().map(|(_, token)| token)
    }
}

fn read_digest(text: &str) -> Option<TokenDigest> {
    let mut digest = [0; 32];
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != digest.len() || !rest.is_empty() {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(pairs) {
        let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
        *byte = u8::try_from(high? * 16 + low?).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, token: &str) -> String {
        let sha256 = hexadecimal(&digest(token));
        format!("[[token]]\nname = \"{name}\"\nowner = \"ada\"\nscope = \"run\"\nsha256 = \"{sha256}\"\n")
    }

    #[test]
    fn a_token_lets_in_whom_the_file_names_and_asks_by_default() {
        let tokens = NamedTokens::read(&entry("laptop", "secret")).unwrap();
        let caller = tokens.caller_of("secret").unwrap();
        assert_eq!((caller.owner, caller.scope), (Owner("ada".to_owned()), Scope::Run));
        assert_eq!((caller.most, caller.by), (PermissionMode::AskForApproval, OpenedBy::Named(digest("secret"))));
        assert_eq!(tokens.caller_of("Secret"), None);
        assert_eq!(tokens.caller_of(&hexadecimal(&digest("secret"))), None, "a digest is no token");
        assert_eq!(NamedTokens::read("").unwrap(), NamedTokens::default());
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let good = entry("laptop", "secret");
        for (text, says) in [
            (good.replace("\"run\"", "\"root\""), "unknown variant `root`, expected one of `read`, `run`, `admin`"),
            (good.replace("scope", "scop"), "unknown field `scop`"),
            (good.replace("\"ada\"", "\"a b\""), "the owner `a b` should have"),
            (good.replace("\"laptop\"", "\"\""), "the name `` should have"),
            (format!("{good}{good}"), "two tokens are called `laptop`"),
            (format!("{good}{}", entry("phone", "secret")), "`laptop` and `phone` have the same digest"),
            (good.replace("sha256 = \"", "sha256 = \"0"), "64 hexadecimal digits"),
            (good.replace("sha256 = \"", "sha256 = \"é"), "64 hexadecimal digits"),
            ("token = 1".to_owned(), "token"),
        ] {
            let error = NamedTokens::read(&text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
