//! Which addresses belong to the public Internet, by the special-purpose registries of IANA (RFC 6890 and what came
//! after it).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one of a machine on the public Internet: not this one, not one of its own network, and not
/// one that only stands for such an address.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let within = |a: u8, b: u8, c: u8, bits: u32| {
        let shift = 32 - bits;
        address.to_bits() >> shift == Ipv4Addr::new(a, b, c, 0).to_bits() >> shift
    };
    let special = within(0, 0, 0, 8)
        || within(10, 0, 0, 8)
        // Shared by the customers of a provider.
        || within(100, 64, 0, 10)
        || within(127, 0, 0, 8)
        // Link-local; clouds serve a machine's own credentials there.
        || within(169, 254, 0, 16)
        || within(172, 16, 0, 12)
        || within(192, 0, 0, 24)
        || within(192, 0, 2, 24)
        || within(192, 88, 99, 24)
        || within(192, 168, 0, 16)
        || within(198, 18, 0, 15)
        || within(198, 51, 100, 24)
        || within(203, 0, 113, 24)
        // Multicast, reserved, broadcast.
        || within(224, 0, 0, 3);
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let embedded = |from: usize| {
        let octets = address.octets();
        is_public_v4(Ipv4Addr::new(octets[from], octets[from + 1], octets[from + 2], octets[from + 3]))
    };
    if address.to_ipv4_mapped().is_some() {
        return embedded(12);
    }
    match (a, b) {
        // Translated to IPv4.
        (0x64, 0xff9b) => address.segments()[2..6] == [0; 4] && embedded(12),
        // 6to4.
        (0x2002, _) => embedded(2),
        // Teredo, benchmarking, overlays.
        (0x2001, b) if b < 0x0200 => false,
        // Documentation.
        (0x2001, 0x0db8) => false,
        (0x3fff, b) if b < 0x1000 => false,
        // The only block that global addresses come from.
        _ => a & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_and_its_network_are_not_public() {
        for address in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.0.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a00:1",
            "64:ff9b:1::808:808",
            "2002:7f00:1::",
            "2002:a00:1::",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
            "4000::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn addresses_of_the_internet_are_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "193.0.0.1",
            "198.17.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2002:808:808::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
