//! The environment of a job in a box: its own, less what leads out of the box or hands out secrets.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use selfheal_core::redact::names_a_secret;

/// Variables that lead to services outside, or that run code of others in every program.
const REMOVED: [&str; 12] = [
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "XAUTHORITY",
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LD_PRELOAD",
    "LD_AUDIT",
    "BASH_ENV",
    "ENV",
];

/// Beginnings of names that are removed.
const REMOVED_BEGINNINGS: [&str; 3] = ["DBUS_", "SELFHEAL_", "BASH_FUNC_"];

/// What remains of an environment in a box, and the names of what was taken out because it is secret.
pub(crate) fn for_box(given: &BTreeMap<OsString, OsString>) -> (BTreeMap<OsString, OsString>, Vec<String>) {
    let mut kept = BTreeMap::new();
    let mut secret = Vec::new();
    for (name, value) in given {
        let text = name.to_string_lossy();
        if names_a_secret(&text) {
            secret.push(text.into_owned());
        } else if !is_removed(name) {
            kept.insert(name.clone(), value.clone());
        }
    }
    (kept, secret)
}

fn is_removed(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    REMOVED.contains(&name) || REMOVED_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_out_what_leads_outside_and_what_is_secret() {
        let given =
            ["PATH", "HOME", "DBUS_SESSION_BUS_ADDRESS", "LD_PRELOAD", "DB_PASSWORD", "GITHUB_TOKEN", "ENV"]
                .map(|name| (OsString::from(name), OsString::from("x")));
        let (kept, secret) = for_box(&given.into_iter().collect());
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["HOME", "PATH"]);
        assert_eq!(secret, ["DB_PASSWORD", "GITHUB_TOKEN"]);
    }
}
