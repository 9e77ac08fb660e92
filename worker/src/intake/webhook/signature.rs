//! Signatures of senders: HMAC-SHA256 over the exact bytes that came, with the moment of signing where there is one.
//!
//! Pure: headers, body, key and time in, yes or no out. How a sender signs is read once from its rule. Verifying
//! computes one HMAC whatever the headers hold, so that what is refused early takes as long as what is refused late.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use weir_shared::ids::Timestamp;
use weir_shared::webhook::{SignaturePreset, SignatureRule};

/// How far the moment of signing may be from now where a rule does not say, in seconds. Stripe and Slack use the same.
const TOLERANCE_SECONDS: u32 = 300;
/// The most a rule may allow: a day.
const MOST_TOLERANCE_SECONDS: u32 = 86_400;
/// Bytes of an HMAC-SHA256.
const MAC_BYTES: usize = 32;

/// How a sender signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scheme {
    /// The header with the signature, in lower case.
    header: String,
    form: Form,
    tolerance_seconds: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// The signature after a prefix, of the body alone: GitHub.
    Body { prefix: String },
    /// The same, of the moment, a dot and the body.
    Timed { prefix: String, timestamp_header: String },
    /// `t=<moment>,v1=<signature>`, several signatures while a key is replaced; of the moment, a dot and the body.
    Stripe,
    /// `v0=<signature>`, of `v0:<moment>:<body>`.
    Slack,
}

/// Why a rule says no way of signing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadRule {
    #[error("say a `preset` (github, stripe, slack), or the `header` that carries the signature")]
    NoHeader,
    #[error("`{key}` is settled by the preset; leave it out")]
    Settled { key: &'static str },
    #[error("`{name}` is no name of a header that can carry it")]
    Header { name: String },
    #[error("`prefix` has more than 64 characters, or one that no header holds")]
    Prefix,
    #[error("`toleranceSeconds` goes with a signed moment (`timestampHeader`, stripe, slack), from 1 to 86400")]
    Tolerance,
}

/// The value of a header by its name in lower case; none when it is not there.
pub(crate) type Headers<'a> = &'a (dyn Fn(&str) -> Option<&'a [u8]> + Sync);

/// Headers in which the presets look for a signature.
const PRESET_HEADERS: [&str; 3] = ["x-hub-signature-256", "stripe-signature", "x-slack-signature"];

impl Scheme {
    /// The way of signing that a rule says.
    pub(crate) fn of(rule: &SignatureRule) -> Result<Self, BadRule> {
        let (header, form) = match rule.preset {
            Some(preset) => of_preset(preset, rule)?,
            None => own(rule)?,
        };
        let is_timed = !matches!(form, Form::Body { .. });
        let tolerance_seconds = match rule.tolerance_seconds {
            None => TOLERANCE_SECONDS,
            Some(seconds) if is_timed && (1..=MOST_TOLERANCE_SECONDS).contains(&seconds) => seconds,
            Some(_) => return Err(BadRule::Tolerance),
        };
        Ok(Self { header, form, tolerance_seconds })
    }

    /// The header with the signature, in lower case.
    pub(crate) fn header(&self) -> &str {
        &self.header
    }

    /// Whether these bytes were signed with this key, and not too far from now.
    pub(crate) fn verify(&self, headers: Headers<'_>, body: &[u8], (key, now): (&[u8], Timestamp)) -> bool {
        let sent = headers(&self.header).unwrap_or_default();
        let (before_body, signatures, is_fresh) = match &self.form {
            Form::Body { prefix } => (Vec::new(), vec![after(sent, prefix)], true),
            Form::Timed { prefix, timestamp_header } => {
                let moment = headers(timestamp_header).unwrap_or_default();
                ([moment, b"."].concat(), vec![after(sent, prefix)], self.is_fresh(moment, now))
            }
            Form::Stripe => {
                let moment = fields(sent, b"t").next().unwrap_or_default();
                ([moment, b"."].concat(), fields(sent, b"v1").map(Some).collect(), self.is_fresh(moment, now))
            }
            Form::Slack => {
                let moment = headers("x-slack-request-timestamp").unwrap_or_default();
                ([b"v0:", moment, b":"].concat(), vec![after(sent, "v0=")], self.is_fresh(moment, now))
            }
        };
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return false };
        mac.update(&before_body);
        mac.update(body);
        let right = mac.finalize().into_bytes();
        let mut is_right = false;
        for signature in signatures.into_iter().flatten() {
            let decoded = decode(signature).unwrap_or_default();
            let equal: bool = decoded.as_slice().ct_eq(right.as_slice()).into();
            is_right |= equal;
        }
        is_right && is_fresh
    }

    fn is_fresh(&self, moment: &[u8], now: Timestamp) -> bool {
        let seconds = std::str::from_utf8(moment).ok().and_then(|text| text.parse::<i64>().ok());
        seconds.is_some_and(|signed| (now.0.div_euclid(1000)).abs_diff(signed) <= u64::from(self.tolerance_seconds))
    }
}

/// A way of signing for calls of triggers that have none, or do not exist: it costs what verifying costs.
pub(crate) fn nobodys() -> Scheme {
    Scheme {
        header: PRESET_HEADERS[0].to_owned(),
        form: Form::Body { prefix: String::new() },
        tolerance_seconds: TOLERANCE_SECONDS,
    }
}

/// Whether a call says to be signed: by a header of a preset, or one of those that triggers here look at.
pub(crate) fn claims_to_be_signed<'n>(headers: Headers<'_>, own: impl IntoIterator<Item = &'n str>) -> bool {
    PRESET_HEADERS.into_iter().chain(own).any(|name| headers(name).is_some())
}

/// A preset settles all but the key and the tolerance.
fn of_preset(preset: SignaturePreset, rule: &SignatureRule) -> Result<(String, Form), BadRule> {
    let given = [
        ("header", rule.header.is_some()),
        ("prefix", rule.prefix.is_some()),
        ("timestampHeader", rule.timestamp_header.is_some()),
    ];
    if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        return Err(BadRule::Settled { key });
    }
    let [github, stripe, slack] = PRESET_HEADERS.map(str::to_owned);
    Ok(match preset {
        SignaturePreset::GitHub => (github, Form::Body { prefix: "sha256=".to_owned() }),
        SignaturePreset::Stripe => (stripe, Form::Stripe),
        SignaturePreset::Slack => (slack, Form::Slack),
    })
}

fn own(rule: &SignatureRule) -> Result<(String, Form), BadRule> {
    let header = header_name(rule.header.as_deref().ok_or(BadRule::NoHeader)?)?;
    let prefix = rule.prefix.clone().unwrap_or_default();
    if prefix.chars().count() > 64 || !prefix.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(BadRule::Prefix);
    }
    Ok(match &rule.timestamp_header {
        Some(name) => (header, Form::Timed { prefix, timestamp_header: header_name(name)? }),
        None => (header, Form::Body { prefix }),
    })
}

fn header_name(name: &str) -> Result<String, BadRule> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    // What the worker reads itself is no signature; what a proxy adds is no sender's.
    let taken = ["host", "cookie", "authorization", "content-length", "transfer-encoding", "x-weir-token"];
    let lower = name.to_ascii_lowercase();
    let fits = (1..=64).contains(&name.len()) && name.bytes().all(is_token) && !taken.contains(&lower.as_str());
    if fits && lower != weir_shared::webhook::SECRET_HEADER.to_ascii_lowercase() {
        Ok(lower)
    } else {
        Err(BadRule::Header { name: name.to_owned() })
    }
}

/// What follows the prefix.
fn after<'a>(value: &'a [u8], prefix: &str) -> Option<&'a [u8]> {
    value.strip_prefix(prefix.as_bytes())
}

/// The values of one name in `name=value,name=value`.
fn fields<'a>(value: &'a [u8], name: &'static [u8]) -> impl Iterator<Item = &'a [u8]> {
    let fields = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    fields.filter_map(move |field| field.strip_prefix(name)?.strip_prefix(b"="))
}

/// A signature in hexadecimal digits of any case, or in base64: their lengths tell them apart.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    if text.len() == MAC_BYTES * 2 {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        text.chunks_exact(2).map(|pair| Some((digit(pair[0])? << 4) | digit(pair[1])?)).collect()
    } else {
        STANDARD.decode(text).ok()
    }
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
