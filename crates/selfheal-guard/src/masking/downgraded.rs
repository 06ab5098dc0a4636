//! `https://host/` that became `http://host/`: nobody checks any more whom the job talks to, and what cannot be checked
//! cannot fail.

use selfheal_core::admission::{Finding, Weight};

use super::change::Place;
use crate::finding::at;

/// Addresses whose certificate is no longer asked for.
pub fn compare(places: &[Place]) -> Vec<Finding> {
    let mut out = Vec::new();
    for place in places {
        let old: Vec<&str> = place.old.iter().flat_map(|line| hosts(line, "https://")).collect();
        for (line, code) in &place.new {
            let kept: Vec<&str> = hosts(code, "https://").collect();
            if hosts(code, "http://").any(|host| old.contains(&host) && !kept.contains(&host)) {
                let why = "certificates are no longer checked: `https` became `http`";
                out.push(at("masking/check-off", *line, Weight::Refuse, why));
            }
        }
    }
    out
}

/// The hosts behind a scheme in a line.
fn hosts<'a>(line: &'a str, scheme: &'static str) -> impl Iterator<Item = &'a str> {
    let behind = line.split(scheme).skip(1).take(32);
    behind.map(|rest| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "-._:$@[]".contains(c))).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::masking::change::places;
    use selfheal_syntax::Language;

    #[test]
    fn a_host_that_was_asked_for_its_certificate_is_still_asked() {
        let found = |old: &str, new: &str| compare(&places(Language::Shell, old, new)).len();
        assert_eq!(found("curl https://a.org/x\n", "curl http://a.org/x\n"), 1);
        assert_eq!(found("curl https://a.org/x\n", "curl https://a.org/y\n"), 0);
        assert_eq!(found("curl http://a.org/x\n", "curl https://a.org/x\n"), 0);
        assert_eq!(found("curl https://a.org/x\n", "curl http://localhost:80/x\n"), 0);
    }
}
