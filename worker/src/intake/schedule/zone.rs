//! Time zones by name: the system's data, or what is built in where the system has none.

use jiff::tz::TimeZone;

/// A name that no zone has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` names no time zone")]
pub(crate) struct UnknownZone {
    pub(crate) name: String,
}

/// The zone of this name; without one the machine's: `TZ`, else `/etc/localtime`, else UTC.
pub(crate) fn zone(name: Option<&str>) -> Result<TimeZone, UnknownZone> {
    match name {
        Some(name) => TimeZone::get(name).map_err(|_| UnknownZone { name: name.to_owned() }),
        None => Ok(TimeZone::try_system().ok().filter(|zone| !zone.is_unknown()).unwrap_or(TimeZone::UTC)),
    }
}

/// What a zone is called where it is shown; the machine's may have no name (`TZ=/some/file`).
pub(crate) fn name_of(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or("local")
}
