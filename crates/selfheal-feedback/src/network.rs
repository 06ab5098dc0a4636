//! The host that a network failure is about, and what a short look at it says now. Only what the output names is looked
//! at, and only where the scene lets it.

use std::net::SocketAddr;

use selfheal_core::fault::Fault;
use selfheal_core::scene::{PortAnswer, Reach};

use crate::report::Case;

/// How far behind a host its port may stand, in bytes.
const NEAR: usize = 60;
/// The longest name of a host.
const LONGEST: usize = 253;

/// A host, and the port of it that was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub host: String,
    pub port: Option<u16>,
}

/// What is seen of the host that the failure is about.
pub(crate) fn look(case: &Case<'_>) -> Option<(Target, Reach)> {
    let first = case.first().filter(|_| !case.is_remote())?;
    let Fault::Network { how, host } = &first.fault else { return None };
    if how == "tls" {
        return None;
    }
    let target = target(&first.text, host.as_deref())?;
    let reach = case.input.scene.reach(&target.host, target.port)?;
    Some((target, reach))
}

/// The host and port in a message.
fn target(text: &str, host: Option<&str>) -> Option<Target> {
    let by_address = || {
        text.split([' ', '(', ')', '"', '\'', ','])
            .find_map(|word| word.trim_end_matches([':', '.']).parse::<SocketAddr>().ok())
    };
    let by_url = || {
        let (_, behind) = text.split_once("://")?;
        behind.split(['/', ' ', '?', '"', '\'', ')']).next()?.rsplit('@').next()
    };
    let named = match host.or_else(by_url) {
        Some(named) => named.to_owned(),
        None => {
            let address = by_address()?;
            return Some(Target { host: address.ip().to_string(), port: Some(address.port()) });
        }
    };
    let (name, own) = match named.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') => (name.to_owned(), port.parse().ok()),
        _ => (named, None),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    let valid =
        !name.is_empty() && name.len() <= LONGEST && name.chars().all(plain) && !name.starts_with('-');
    valid.then(|| Target { port: own.or_else(|| port(text, &name)), host: name })
}

/// The port behind a host in a message, else the usual one of its scheme.
fn port(text: &str, host: &str) -> Option<u16> {
    let (before, behind) = text.split_once(host)?;
    let near = crate::parsers::cut(behind, NEAR);
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text.get(..end)?.parse::<u16>().ok().filter(|port| *port > 0)
    };
    let said = near
        .strip_prefix(':')
        .and_then(number)
        .or_else(|| near.split_once("port ").and_then(|(_, behind)| number(behind)));
    let usual = || match () {
        () if before.ends_with("https://") => Some(443),
        () if before.ends_with("http://") => Some(80),
        () if before.starts_with("ssh: ") => Some(22),
        () => None,
    };
    said.or_else(usual)
}

impl Target {
    /// As a person names it.
    fn named(&self) -> String {
        match self.port {
            Some(port) => format!("{} port {port}", self.host),
            None => self.host.clone(),
        }
    }

    /// What bears the failure out now, as evidence.
    pub fn evidence(&self, how: &str, reach: &Reach) -> Option<String> {
        let named = self.named();
        Some(match (how, reach.port) {
            ("resolve", _) if reach.addresses.is_empty() => {
                format!("{} does not resolve now either", self.host)
            }
            ("refused", Some(PortAnswer::Refused)) => format!("{named} refuses connections now too"),
            ("timeout", Some(PortAnswer::Silent)) => format!("{named} gives no answer now either"),
            (_, Some(PortAnswer::Unreachable)) => format!("{named} cannot be reached now"),
            _ if reach.route == Some(false) => format!("this machine knows no way to {}", self.host),
            _ => return None,
        })
    }

    /// What shows that the failure has passed.
    pub fn passed(&self, how: &str, reach: &Reach) -> Option<String> {
        let resolves = || format!("{} resolves now to {}", self.host, reach.addresses.join(", "));
        match how {
            "resolve" => (!reach.addresses.is_empty()).then(resolves),
            "refused" | "timeout" | "unreachable" | "reset" => (reach.port == Some(PortAnswer::Open))
                .then(|| format!("{} takes connections now", self.named())),
            _ => None,
        }
    }
}

/// What was seen, for the context of a report.
pub(crate) fn facts(case: &Case<'_>, out: &mut Vec<(String, String)>) {
    let Some((target, reach)) = look(case) else { return };
    let addresses = match reach.addresses.is_empty() {
        true => "none: the name does not resolve now".to_owned(),
        false => reach.addresses.join(", "),
    };
    out.push((format!("address of {}", target.host), addresses));
    let way = reach.route.map(|there| if there { "there is one" } else { "there is none" });
    out.extend(way.map(|way| (format!("way to {}", target.host), way.to_owned())));
    let answer = reach.port.map(|answer| match answer {
        PortAnswer::Open => "takes connections",
        PortAnswer::Refused => "refuses connections",
        PortAnswer::Silent => "gives no answer",
        PortAnswer::Unreachable => "cannot be reached",
    });
    out.extend(answer.map(|answer| (format!("{} now", target.named()), answer.to_owned())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_are_read_from_messages() {
        for (text, host, expected) in [
            (
                "curl: (7) Failed to connect to db.x.org port 5432 after 0 ms",
                Some("db.x.org"),
                ("db.x.org", Some(5432)),
            ),
            ("connect ECONNREFUSED 127.0.0.1:9", None, ("127.0.0.1", Some(9))),
            (
                "fatal: unable to access 'https://git.x.org/a.git/': Could not resolve host",
                None,
                ("git.x.org", Some(443)),
            ),
            ("ssh: connect to host web1 port 2222: Connection refused", Some("web1"), ("web1", Some(2222))),
            (
                "connection to server at \"db1\" (10.0.0.1), port 5432 failed: Connection refused",
                Some("db1"),
                ("db1", Some(5432)),
            ),
            ("could not resolve mail.x.org", Some("mail.x.org"), ("mail.x.org", None)),
            ("dial tcp 10.1.2.3:443: i/o timeout", None, ("10.1.2.3", Some(443))),
        ] {
            let seen = target(text, host).map(|target| (target.host, target.port));
            assert_eq!(seen, Some((expected.0.to_owned(), expected.1)), "{text}");
        }
        assert_eq!(target("https://-oProxyCommand=x/", None), None);
        assert_eq!(target("connection refused", None), None);
    }

    #[test]
    fn what_passed_is_told_from_what_lasts() {
        let target = Target { host: "db1".into(), port: Some(5432) };
        let open =
            Reach { addresses: vec!["10.0.0.1".into()], route: Some(true), port: Some(PortAnswer::Open) };
        assert_eq!(target.evidence("refused", &open), None);
        assert!(target.passed("refused", &open).is_some() && target.passed("resolve", &open).is_some());
        let none = Reach::default();
        assert!(target.evidence("resolve", &none).is_some());
        assert_eq!(target.passed("resolve", &none), None);
    }
}
