use std::collections::BTreeMap;

use super::*;

fn rule(preset: SignaturePreset) -> SignatureRule {
    SignatureRule {
        secret: "KEY".to_owned(),
        preset: Some(preset),
        header: None,
        prefix: None,
        timestamp_header: None,
        tolerance_seconds: None,
    }
}

fn own(header: &str, prefix: Option<&str>, timestamp_header: Option<&str>) -> SignatureRule {
    SignatureRule {
        preset: None,
        header: Some(header.to_owned()),
        prefix: prefix.map(str::to_owned),
        timestamp_header: timestamp_header.map(str::to_owned),
        ..rule(SignaturePreset::GitHub)
    }
}

/// Whether a call with these headers is let in at this second.
fn verify(rule: &SignatureRule, headers: &[(&str, &str)], body: &[u8], (key, seconds): (&str, i64)) -> bool {
    let headers: BTreeMap<&str, &[u8]> = headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    let look = |name: &str| headers.get(name).copied();
    Scheme::of(rule).unwrap().verify(&look, body, (key.as_bytes(), Timestamp(seconds * 1000)))
}

/// RFC 4231, test case 2.
#[test]
fn the_published_vector_of_hmac_sha256_is_met() {
    let signature = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    let rule = own("X-Signature", None, None);
    assert!(verify(&rule, &[("x-signature", signature)], b"what do ya want for nothing?", ("Jefe", 0)));
    assert!(verify(&rule, &[("x-signature", &signature.to_uppercase())], b"what do ya want for nothing?", ("Jefe", 0)));
    let base64 = "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=";
    assert!(verify(&rule, &[("x-signature", base64)], b"what do ya want for nothing?", ("Jefe", 0)));
}

/// The example in GitHub's documentation of how deliveries are validated.
#[test]
fn github_signs_the_body() {
    let rule = rule(SignaturePreset::GitHub);
    let key = ("It's a Secret to Everybody", 0);
    let right = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    assert!(verify(&rule, &[("x-hub-signature-256", right)], b"Hello, World!", key));
    for (headers, body) in [
        (vec![("x-hub-signature-256", right)], &b"Hello, World! "[..]),
        (vec![("x-hub-signature-256", right.strip_prefix("sha256=").unwrap())], b"Hello, World!"),
        (vec![("x-hub-signature-256", "sha256=")], b"Hello, World!"),
        (vec![("x-hub-signature-256", "")], b"Hello, World!"),
        (vec![("x-hub-signature", right)], b"Hello, World!"),
        (vec![], b"Hello, World!"),
    ] {
        assert!(!verify(&rule, &headers, body, key), "{headers:?}");
    }
    assert!(!verify(&rule, &[("x-hub-signature-256", right)], b"Hello, World!", ("It's a Secret to Everyone", 0)));
}

/// The example in Slack's documentation of how requests are verified.
#[test]
fn slack_signs_the_moment_and_the_body() {
    let rule = rule(SignaturePreset::Slack);
    let body = b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&\
        channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&\
        response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&\
        trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    let key = "8f742231b10e8888abcd99yyyzzz85a5";
    let signature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";
    let signed = [("x-slack-signature", signature), ("x-slack-request-timestamp", "1531420618")];
    assert!(verify(&rule, &signed, body, (key, 1_531_420_618)));
    assert!(verify(&rule, &signed, body, (key, 1_531_420_618 + 300)));
    assert!(!verify(&rule, &signed, body, (key, 1_531_420_618 + 301)), "stale");
    assert!(!verify(&rule, &signed, body, (key, 1_531_420_618 - 301)), "from the future");
    let moved = [("x-slack-signature", signature), ("x-slack-request-timestamp", "1531420619")];
    assert!(!verify(&rule, &moved, body, (key, 1_531_420_618)));
    assert!(!verify(&rule, &signed[..1], body, (key, 1_531_420_618)));
}

/// Stripe publishes its way and no vector; these signatures were reckoned with Python's `hmac`.
#[test]
fn stripe_names_the_moment_and_as_many_signatures_as_there_are_keys() {
    let rule = rule(SignaturePreset::Stripe);
    let (key, body, at) = ("whsec_test_secret", br#"{"id":"evt_1"}"#, 1_492_774_577);
    let right = "t=1492774577,v1=799c4ba7bb339f3c8601adfd112f0e477c930a268be1243d341abb8286501c2f,v0=00";
    let other = "0".repeat(64);
    let rolled = right.replace("v1=", &format!("v1={other},v1="));
    for header in [right, rolled.as_str(), &right.replace(',', ", ")] {
        assert!(verify(&rule, &[("stripe-signature", header)], body, (key, at)), "{header}");
    }
    assert!(!verify(&rule, &[("stripe-signature", right)], body, (key, at + 301)), "stale");
    assert!(!verify(&rule, &[("stripe-signature", right)], br#"{ "id": "evt_1" }"#, (key, at)), "spaced otherwise");
    for header in ["", "t=1492774577", &right.replace("t=1492774577", "t=1492774578"), &right.replace("v1=", "v0=")] {
        assert!(!verify(&rule, &[("stripe-signature", header)], body, (key, at)), "{header}");
    }
    let wide = SignatureRule { tolerance_seconds: Some(3600), ..rule.clone() };
    assert!(verify(&wide, &[("stripe-signature", right)], body, (key, at + 3600)));
}

#[test]
fn a_rule_of_its_own_signs_the_moment_too_where_it_names_one() {
    let rule = own("X-Sig", Some("v2,"), Some("X-Sig-Time"));
    let signed = [
        ("x-sig", "v2,09a16ee11541b20c7b6c69904fce87d118a1abf7120247b4347daf5561c1f82e"),
        ("x-sig-time", "1700000000"),
    ];
    assert!(verify(&rule, &signed, b"{}", ("0123456789", 1_700_000_000)));
    assert!(!verify(&rule, &signed, b"{}", ("0123456789", 1_700_000_301)));
    assert!(!verify(&rule, &signed[..1], b"{}", ("0123456789", 1_700_000_000)));
}

#[test]
fn a_rule_that_says_no_way_of_signing_is_refused_with_the_reason() {
    let preset = rule(SignaturePreset::GitHub);
    let tolerance = |rule: SignatureRule, seconds| SignatureRule { tolerance_seconds: Some(seconds), ..rule };
    for (rule, expected) in [
        (SignatureRule { preset: None, ..preset.clone() }, BadRule::NoHeader),
        (SignatureRule { header: Some("X-A".to_owned()), ..preset.clone() }, BadRule::Settled { key: "header" }),
        (own("X A", None, None), BadRule::Header { name: "X A".to_owned() }),
        (own("Cookie", None, None), BadRule::Header { name: "Cookie".to_owned() }),
        (own("X-Weir-Webhook-Secret", None, None), BadRule::Header { name: "X-Weir-Webhook-Secret".to_owned() }),
        (own("X-A", Some("a\nb"), None), BadRule::Prefix),
        (tolerance(own("X-A", None, None), 60), BadRule::Tolerance),
        (tolerance(own("X-A", None, Some("X-T")), 0), BadRule::Tolerance),
        (tolerance(preset, 60), BadRule::Tolerance),
    ] {
        assert_eq!(Scheme::of(&rule), Err(expected));
    }
}

#[test]
fn a_call_says_to_be_signed_by_a_header_that_somebody_looks_at() {
    let look = |name: &str| (name == "x-own").then_some(&b"x"[..]);
    assert!(!claims_to_be_signed(&look, []));
    assert!(claims_to_be_signed(&look, ["x-own"]));
    assert!(claims_to_be_signed(&|name| (name == "stripe-signature").then_some(&b""[..]), []));
}
