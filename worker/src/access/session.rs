//! A session: what a page holds in place of the token, in a cookie that scripts cannot read.
//!
//! Cookies ignore ports, so the cookie's name holds the worker's id: two workers on one host do not throw each other
//! out. The store keeps a digest only; whoever reads the store cannot enter with it.

use std::fmt;
use std::time::Duration;

use crate::access::token::{SECRET_BYTES, digest, hexadecimal};

/// How long a session lasts.
pub(crate) const SESSION_LIFE: Duration = Duration::from_hours(24);

/// The secret in the cookie.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SessionSecret(String);

impl SessionSecret {
    /// The secret of these random bytes.
    pub(crate) fn of(random: &[u8; SECRET_BYTES]) -> Self {
        Self(hexadecimal(random))
    }

    /// What the store knows it by.
    pub(crate) fn digest(&self) -> [u8; 32] {
        digest(&self.0)
    }
}

impl fmt::Debug for SessionSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionSecret(***)")
    }
}

/// The cookie of one worker.
#[derive(Debug, Clone)]
pub(crate) struct SessionCookie {
    name: String,
}

impl SessionCookie {
    /// The cookie of the worker with this id.
    pub(crate) fn of(worker_id: &str) -> Self {
        Self { name: format!("weir-session-{worker_id}") }
    }

    /// The secret among the cookies of a request, given the values of its `Cookie` headers.
    pub(crate) fn find<'a>(&self, headers: impl IntoIterator<Item = &'a str>) -> Option<SessionSecret> {
        headers
            .into_iter()
            .flat_map(|header| header.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(name, value)| *name == self.name && !value.is_empty())
            .map(|(_, value)| SessionSecret(value.to_owned()))
    }

    /// The `Set-Cookie` that opens a session.
    pub(crate) fn open(&self, secret: &SessionSecret) -> String {
        format!("{}={}; {}; Max-Age={}", self.name, secret.0, Self::ATTRIBUTES, SESSION_LIFE.as_secs())
    }

    /// The `Set-Cookie` that makes the browser forget it.
    pub(crate) fn close(&self) -> String {
        format!("{}=; {}; Max-Age=0", self.name, Self::ATTRIBUTES)
    }

    const ATTRIBUTES: &str = "HttpOnly; SameSite=Strict; Path=/";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_travels_in_the_cookie_of_its_own_worker() {
        let cookie = SessionCookie::of("w1");
        let secret = SessionSecret::of(&[7; SECRET_BYTES]);
        let set = cookie.open(&secret);
        assert!(set.ends_with("; HttpOnly; SameSite=Strict; Path=/; Max-Age=86400"), "{set}");
        let sent = set.split(';').next().unwrap();
        assert_eq!(cookie.find([format!("theme=dark; {sent}").as_str()]), Some(secret.clone()));
        assert_eq!(cookie.find(["theme=dark", sent]), Some(secret));
        assert_eq!(SessionCookie::of("w2").find([sent]), None);
        assert_eq!(cookie.find([cookie.close().split(';').next().unwrap()]), None);
    }
}
