//! Whether something in a box tried to use a network that is not there: what the kernel counted in its namespace.
//!
//! Without a route every connection and every datagram to another machine is counted as such; what goes to this machine
//! comes to a loopback where nobody listens, and is counted as refused. A job that asks its own server before that is
//! ready counts too: whoever must know for certain errs on the safe side.

use std::fs;

/// (row, column) of `/proc/net/snmp`: no way to the other end; nobody at a port of this machine.
const COUNTED: [(&str, &str); 3] = [("Ip:", "OutNoRoutes"), ("Udp:", "NoPorts"), ("Tcp:", "AttemptFails")];

/// The same of `/proc/net/snmp6`.
const COUNTED_SIX: [&str; 2] = ["Ip6OutNoRoutes", "Udp6NoPorts"];

/// How often something in this network namespace tried to reach what is not there.
pub(crate) fn tries() -> u64 {
    let read = |name: &str| fs::read_to_string(format!("/proc/net/{name}")).unwrap_or_default();
    sum(&read("snmp"), &read("snmp6"))
}

fn sum(four: &str, six: &str) -> u64 {
    let in_rows = COUNTED.iter().filter_map(|(row, column)| in_table(four, row, column));
    let single = six.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        COUNTED_SIX.contains(&name).then(|| words.next()?.parse::<u64>().ok()).flatten()
    });
    in_rows.chain(single).sum()
}

/// Each row stands twice: with the names of the columns, then with the numbers.
fn in_table(text: &str, row: &str, column: &str) -> Option<u64> {
    let mut rows = text.lines().filter(|line| line.starts_with(row));
    let at = rows.next()?.split_whitespace().position(|name| name == column)?;
    rows.next()?.split_whitespace().nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_had_nowhere_to_go() {
        let four = "Ip: Forwarding OutNoRoutes\nIp: 1 3\nTcp: RtoMin AttemptFails\nTcp: 200 2\nUdp: In NoPorts\nUdp: 9 1\n";
        let six = "Ip6InReceives 7\nIp6OutNoRoutes 4\n";
        assert_eq!(sum(four, six), 10);
        assert_eq!(sum("", "odd"), 0);
    }
}
