//! Which names the worker answers to, and which pages may talk to it.
//!
//! A browser sends whatever name a page's address has, also one that an attacker's name server points at this
//! machine: so a name the worker does not know is refused whatever else the request holds. Names are compared
//! without case; a port must be the right one.

use std::net::{IpAddr, SocketAddr};

/// What a request may call this worker, and the pages served from elsewhere that may use it.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    /// `host:port`, lower case; without `:port` where the scheme's own is meant.
    hosts: Vec<String>,
    /// As they stand in configuration: `https://flows.example.org`.
    allowed_origins: Vec<String>,
}

/// Where a request says it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OriginStanding {
    /// No `Origin` header: not a browser, or a plain navigation.
    Absent,
    /// The worker's own page.
    Same,
    /// A page that configuration names; holds the origin as it was sent.
    Allowed(String),
    /// Any other page, `null` too.
    Foreign,
}

impl Names {
    /// The names of a worker that listens on `address`. `hosts` are further names (`weir.example.org`,
    /// `box.lan:9347`) taken as they are written.
    pub(crate) fn of(address: SocketAddr, hosts: &[String], allowed_origins: &[String]) -> Self {
        let port = address.port();
        let mut known = vec![format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")];
        match address.ip() {
            IpAddr::V4(ip) if !ip.is_unspecified() => known.push(format!("{ip}:{port}")),
            IpAddr::V6(ip) if !ip.is_unspecified() => known.push(format!("[{ip}]:{port}")),
            IpAddr::V4(_) | IpAddr::V6(_) => {}
        }
        if port == 80 {
            let bare: Vec<String> =
                known.iter().filter_map(|name| name.strip_suffix(":80")).map(str::to_owned).collect();
            known.extend(bare);
        }
        known.extend(hosts.iter().map(|host| host.to_ascii_lowercase()));
        Self {
            hosts: known,
            allowed_origins: allowed_origins
                .iter()
                .map(|origin| origin.trim_end_matches('/').to_ascii_lowercase())
                .collect(),
        }
    }

    /// Whether this is the worker's name: the value of `Host`, or the authority of an absolute-form request.
    pub(crate) fn knows(&self, authority: &str) -> bool {
        let authority = authority.to_ascii_lowercase();
        self.hosts.contains(&authority)
    }

    /// Where a request with this `Origin` comes from. Same means any of the worker's own names: `localhost` and
    /// `127.0.0.1` are one worker.
    pub(crate) fn standing(&self, origin: Option<&str>) -> OriginStanding {
        let Some(origin) = origin else { return OriginStanding::Absent };
        let lower = origin.to_ascii_lowercase();
        if self.allowed_origins.contains(&lower) {
            return OriginStanding::Allowed(origin.to_owned());
        }
        let authority = lower.strip_prefix("http://").or_else(|| lower.strip_prefix("https://"));
        match authority {
            Some(authority) if self.knows(authority) => OriginStanding::Same,
            Some(_) | None => OriginStanding::Foreign,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::of(
            "127.0.0.1:9347".parse().unwrap(),
            &["Weir.example.org".to_owned()],
            &["https://flows.example.org/".to_owned()],
        )
    }

    #[test]
    fn only_known_names_with_the_right_port_are_answered_to() {
        let names = names();
        for known in ["127.0.0.1:9347", "localhost:9347", "LOCALHOST:9347", "[::1]:9347", "weir.example.org"] {
            assert!(names.knows(known), "{known}");
        }
        for unknown in [
            "",
            "localhost",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost:9348",
            "evil.example:9347",
            "weir.example.org:9347",
            "localhost:9347.evil.example",
            "user@localhost:9347",
            "127.0.0.1:9347:9347",
            "0.0.0.0:9347",
        ] {
            assert!(!names.knows(unknown), "{unknown}");
        }
    }

    #[test]
    fn a_page_is_the_workers_own_or_allowed_or_foreign() {
        let names = names();
        assert_eq!(names.standing(None), OriginStanding::Absent);
        for same in ["http://127.0.0.1:9347", "http://localhost:9347", "https://weir.example.org"] {
            assert_eq!(names.standing(Some(same)), OriginStanding::Same, "{same}");
        }
        let allowed = "https://flows.example.org";
        assert_eq!(names.standing(Some(allowed)), OriginStanding::Allowed(allowed.to_owned()));
        for foreign in [
            "null",
            "",
            "http://localhost",
            "http://localhost:8000",
            "https://evil.example",
            "http://flows.example.org",
            "localhost:9347",
            "file://localhost:9347",
        ] {
            assert_eq!(names.standing(Some(foreign)), OriginStanding::Foreign, "{foreign}");
        }
    }

    #[test]
    fn a_worker_on_every_address_knows_loopback_and_what_it_is_told() {
        let names = Names::of("0.0.0.0:80".parse().unwrap(), &["box.lan".to_owned()], &[]);
        assert!(names.knows("localhost") && names.knows("127.0.0.1:80") && names.knows("box.lan"));
        assert!(!names.knows("0.0.0.0") && !names.knows("other.lan"));
    }
}
