//! Danger in playbooks: modules that destroy something on the hosts that they manage.

use selfheal_core::admission::Danger::{self, High, Medium};
use selfheal_syntax::yaml::{Entry, below, entries};

use super::Operation;
use super::shell::places::{Cwd, Place, Places};
use crate::scope::Roots;

/// A module, by the last part of its name; what must stand in its settings (key, value; empty for any); how dangerous; why.
struct Row(&'static [&'static str], &'static [(&'static str, &'static str)], Danger, &'static str);

/// From the index of modules of Ansible.
const ROWS: &[Row] = &[
    Row(
        &["filesystem", "parted", "lvol", "lvg", "zfs", "luks_device", "crypttab", "mdadm"],
        &[("dev", ""), ("state", "absent"), ("force", ""), ("device", "")],
        High,
        "makes or destroys file systems and volumes",
    ),
    Row(
        &[
            "postgresql_db",
            "mysql_db",
            "mongodb_user",
            "postgresql_user",
            "mysql_user",
            "postgresql_schema",
            "postgresql_table",
            "redis_data",
            "influxdb_database",
            "mssql_db",
        ],
        &[("state", "absent"), ("truncate", ""), ("state", "drop")],
        High,
        "destroys data in a database",
    ),
    Row(
        &[
            "user",
            "group",
            "cron",
            "authorized_key",
            "apt",
            "yum",
            "dnf",
            "package",
            "docker_volume",
            "docker_container",
            "docker_image",
            "docker_network",
            "k8s",
            "ec2_instance",
            "s3_bucket",
            "route53",
            "helm",
            "gcp_compute_instance",
            "azure_rm_virtualmachine",
            "hcloud_server",
            "lxd_container",
            "virt",
            "snapshot",
        ],
        &[("state", "absent"), ("state", "deleted"), ("state", "terminated"), ("state", "destroyed")],
        High,
        "takes away something of the managed hosts",
    ),
    Row(
        &["iptables", "ufw", "firewalld", "nftables"],
        &[("flush", ""), ("state", "reset"), ("state", "disabled"), ("state", "absent"), ("policy", "")],
        High,
        "changes the firewall",
    ),
    Row(
        &["service", "systemd", "systemd_service", "sysvinit"],
        &[("state", "stopped"), ("enabled", "false"), ("enabled", "no"), ("masked", "")],
        High,
        "stops services",
    ),
    Row(&["reboot", "shutdown"], &[], High, "restarts or stops the managed hosts"),
    Row(
        &["selinux", "sysctl", "mount"],
        &[("state", "disabled"), ("state", "absent"), ("state", "unmounted"), ("policy", "")],
        High,
        "changes the state of the system",
    ),
    Row(
        &["service", "systemd", "systemd_service"],
        &[("state", "restarted"), ("state", "started"), ("state", "reloaded")],
        Medium,
        "starts services",
    ),
];

/// The dangerous operations of the modules of a playbook.
pub fn operations(text: &str, roots: &Roots) -> Vec<Operation> {
    let all = entries(text);
    let mut out = Vec::new();
    for (at, entry) in all.iter().enumerate() {
        let module = entry.key.rsplit('.').next().unwrap_or_default();
        let settings = settings(&all, at);
        out.extend(ROWS.iter().filter_map(|row| judge(row, module, &settings, entry)));
        let host = entry.item && (entry.value.starts_with("/:") || entry.value.contains("docker.sock:"))
            || entry.key == "path"
                && entry.value == "/"
                && at > 0
                && all.get(at - 1).is_some_and(|above| above.key == "hostPath");
        if host
            || matches!(
                entry.key.as_str(),
                "privileged" | "hostPID" | "hostNetwork" | "allowPrivilegeEscalation"
            ) && entry.value == "true"
        {
            out.push(operation(entry, High, "gives a container the whole host"));
        }
        if matches!(module, "file" | "win_file") {
            out.extend(removed(&settings, entry, roots));
        }
    }
    out
}

/// The settings of a module: those below it, and those on its own line (`path=/x state=absent`).
fn settings(all: &[Entry], at: usize) -> Vec<(String, String)> {
    let Some(entry) = all.get(at) else { return Vec::new() };
    let inner = below(all, at).iter().take(64).map(|one| (one.key.clone(), one.value.to_lowercase()));
    let inline = entry.value.trim_matches(['{', '}']).split([' ', ',']).filter_map(|word| {
        let (key, value) = word.split_once(['=', ':'])?;
        Some((key.trim().to_owned(), value.trim().to_lowercase()))
    });
    inner.chain(inline).collect()
}

fn judge(row: &Row, module: &str, settings: &[(String, String)], entry: &Entry) -> Option<Operation> {
    let Row(modules, needs, danger, why) = row;
    let fits = needs.is_empty()
        || settings.iter().any(|(key, value)| {
            needs.iter().any(|(own, want)| own == key && (want.is_empty() || want == value))
        });
    (modules.contains(&module) && fits && (needs.is_empty() || !settings.is_empty()))
        .then(|| operation(entry, *danger, why))
}

/// `file: path=… state=absent`.
fn removed(settings: &[(String, String)], entry: &Entry, roots: &Roots) -> Option<Operation> {
    let value = |names: &[&str]| {
        settings.iter().find(|(key, _)| names.contains(&key.as_str())).map(|(_, value)| value.clone())
    };
    let path = value(&["path", "dest", "name"])?;
    if value(&["state"])? != "absent" {
        return None;
    }
    let place = Places { roots, cwd: &Cwd::Own }.text(&path);
    let danger = match place {
        Place::Inside | Place::Temporary | Place::OwnTemporary => Medium,
        _ => High,
    };
    Some(operation(entry, danger, "deletes files of the managed hosts"))
}

fn operation(entry: &Entry, danger: Danger, why: &str) -> Operation {
    Operation {
        line: entry.line,
        danger,
        rule: "danger/playbook".to_owned(),
        why: format!("`{}` {why}", entry.key),
        subject: entry.key.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worst(text: &str) -> Option<Danger> {
        operations(text, &Roots::default()).into_iter().map(|found| found.danger).max()
    }

    #[test]
    fn modules_are_judged_by_their_settings() {
        assert_eq!(worst("- name: x\n  file:\n    path: /srv/x\n    state: absent\n"), Some(High));
        assert_eq!(worst("- file: path=/srv/x state=absent\n"), Some(High));
        assert_eq!(worst("- file:\n    path: /srv/x\n    state: directory\n"), None);
        assert_eq!(worst("- user:\n    name: bob\n"), None);
        assert_eq!(worst("- ansible.builtin.user:\n    name: bob\n    state: absent\n"), Some(High));
        assert_eq!(worst("- reboot:\n"), Some(High));
    }
}
