//! The formats that are checked; any other is an annotation, as the standard has it.

/// What is wrong with a text that should have this format.
pub(super) fn fault(format: &str, text: &str) -> Option<&'static str> {
    let (is_right, wanted) = match format {
        "date" => (is_date(text), "a date such as 2026-11-30"),
        "time" => (is_time(text), "a time such as 07:30:00"),
        "date-time" => (is_moment(text), "a date and time with its offset, such as 2026-11-30T07:30:00Z"),
        "email" => (is_address(text), "an email address"),
        "uuid" => (is_uuid(text), "a UUID"),
        _ => return None,
    };
    (!is_right).then_some(wanted)
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_time(text: &str) -> bool {
    let clock = text.split(['Z', 'z', '+', '-']).next().unwrap_or_default();
    clock.len() >= 5 && clock.as_bytes()[2] == b':' && clock.parse::<jiff::civil::Time>().is_ok()
}

fn is_moment(text: &str) -> bool {
    matches!(text.as_bytes().get(10), Some(b'T' | b't' | b' ')) && text.parse::<jiff::Timestamp>().is_ok()
}

fn is_address(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && !host.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control())
    })
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
