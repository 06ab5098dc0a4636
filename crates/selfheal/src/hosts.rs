//! What kind of host this is, as far as it changes what selfheal can do: containers, confinement, read-only roots, no
//! home. `docs/hosts.md` says what each means.

use std::path::Path;

use crate::context::Context;

/// Words in a process's control groups that tell of a container.
const CONTAINER_GROUPS: [&str; 6] = ["docker", "kubepods", "containerd", "libpod", "lxc", "garden"];

/// One kind of host: a row of the matrix that `doctor` prints. `docs/hosts.md` says more; a test holds its words to these.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The word of its [`Trait`].
    pub word: &'static str,
    /// What becomes of the job's runs.
    pub runs: &'static str,
    /// What becomes of boxes, so of proofs and repairs.
    pub boxes: &'static str,
    /// How that was tested.
    pub tested: &'static str,
}

const fn row(word: &'static str, runs: &'static str, boxes: &'static str, tested: &'static str) -> Row {
    Row { word, runs, boxes, tested }
}

/// Every kind of host that is known.
pub const MATRIX: [Row; 10] = [
    row("container", "as usual", "as its seccomp profile allows namespaces", "a filter that refuses them"),
    row("AppArmor", "as usual", "a profile may refuse namespaces to ordinary users", "recognition only"),
    row("SELinux", "as usual", "as the policy allows", "recognition only"),
    row("no new privileges", "as usual, sudo does nothing", "yes", "setpriv --no-new-privs"),
    row("seccomp", "as usual", "none without namespaces", "a filter that refuses them"),
    row("read-only root", "as usual", "yes, where the state folder can be written", "unshare, remounted"),
    row("no HOME", "state in /var/tmp, root's as usual", "yes", "variable unset"),
    row("network folder", "as usual", "yes; files there are always held", "recognition only"),
    row("sudo", "with root's record and settings", "yes", "SUDO_USER set"),
    row("not root", "as usual", "with namespaces for ordinary users", "setpriv --reuid"),
];

/// One thing about the host: a word, and what it means here.
pub type Trait = (&'static str, String);

/// The texts that the answers are read from.
#[derive(Debug, Default)]
struct Sources {
    status: String,
    cgroup: String,
    mountinfo: String,
    apparmor: String,
    selinux: String,
    container_file: bool,
}

/// What is special about this host, the most telling first.
#[must_use]
pub fn traits(context: &Context) -> Vec<Trait> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let sources = Sources {
        status: read("/proc/self/status"),
        cgroup: read("/proc/self/cgroup"),
        mountinfo: read("/proc/self/mountinfo"),
        apparmor: read("/proc/self/attr/apparmor/current"),
        selinux: read("/sys/fs/selinux/enforce"),
        container_file: Path::new("/.dockerenv").exists() || Path::new("/run/.containerenv").exists(),
    };
    let mut out = of_system(&sources);
    out.extend(of_user(context));
    out
}

fn of_system(sources: &Sources) -> Vec<Trait> {
    let mut out = Vec::new();
    if sources.container_file || CONTAINER_GROUPS.iter().any(|word| sources.cgroup.contains(word)) {
        out.push((
            "container",
            "where no box can be built, it must allow namespaces (docs/hosts.md)".to_owned(),
        ));
    }
    let field = |name: &str| sources.status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if field("NoNewPrivs:") == Some("1") {
        out.push(("no new privileges", "sudo and other setuid programs do nothing in jobs here".to_owned()));
    }
    if field("Seccomp:") == Some("2") {
        out.push(("seccomp", "system calls are filtered; a box may not be possible".to_owned()));
    }
    let profile = sources.apparmor.trim_end_matches(['\0', '\n']);
    if !profile.is_empty() && profile != "unconfined" {
        out.push(("AppArmor", format!("confined by {profile}")));
    }
    match sources.selinux.trim() {
        "1" => {
            out.push(("SELinux", "enforcing: a refused access may have no reason in file modes".to_owned()))
        }
        "0" => out.push(("SELinux", "permissive".to_owned())),
        _ => {}
    }
    if root_is_read_only(&sources.mountinfo) {
        out.push(("read-only root", "repairs apply only to files on other file systems".to_owned()));
    }
    out
}

/// The last mount on `/` counts: an earlier one lies below it.
fn root_is_read_only(mountinfo: &str) -> bool {
    let mut on_root = mountinfo.lines().filter(|line| line.split(' ').nth(4) == Some("/"));
    on_root
        .next_back()
        .and_then(|line| line.split(' ').nth(5))
        .is_some_and(|options| options.split(',').any(|option| option == "ro"))
}

fn of_user(context: &Context) -> Vec<Trait> {
    let mut out = Vec::new();
    match context.var("HOME") {
        None => out.push(("no HOME", format!("state is in {}", context.state.display()))),
        Some(home) if !Path::new(&home).is_dir() => out.push(("no HOME", format!("{home} is not there"))),
        Some(_) => {}
    }
    if selfheal_store::on_network(&context.cwd) {
        out.push(("network folder", "files here are never repaired unattended".to_owned()));
    }
    if let Some(user) = context.var("SUDO_USER") {
        out.push((
            "sudo",
            format!("run for {}, with root's record and settings", crate::terminal::clean(&user)),
        ));
    }
    if context.uid != 0 {
        out.push(("not root", "only files of this user are repaired".to_owned()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(sources: &Sources) -> Vec<&'static str> {
        of_system(sources).into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn the_matrix_names_every_trait_and_is_in_the_documentation() {
        let page = include_str!("../../../docs/hosts.md");
        for row in &MATRIX {
            let line = format!("| {} | {} | {} | {} |", row.word, row.runs, row.boxes, row.tested);
            assert!(page.contains(&line), "{line}");
        }
        assert!(
            ["container", "seccomp", "no HOME"].iter().all(|word| MATRIX.iter().any(|row| row.word == *word))
        );
    }

    #[test]
    fn hosts_are_told_by_what_the_system_says() {
        let sources = Sources {
            status: "Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\n".into(),
            cgroup: "0::/system.slice/docker-4f.scope\n".into(),
            mountinfo: "1 0 8:1 / / ro,relatime - ext4 /dev/sda1 ro\n2 1 0:5 / /proc rw - proc proc rw\n"
                .into(),
            apparmor: "docker-default (enforce)\n".into(),
            selinux: "1".into(),
            container_file: false,
        };
        let all = ["container", "no new privileges", "seccomp", "AppArmor", "SELinux", "read-only root"];
        assert_eq!(words(&sources), all);
        let plain = Sources {
            status: "NoNewPrivs:\t0\nSeccomp:\t0\n".into(),
            cgroup: "0::/user.slice\n".into(),
            mountinfo: "1 0 8:1 / / ro - ext4 a ro\n3 0 8:2 / / rw - ext4 b rw\n".into(),
            apparmor: "unconfined\n".into(),
            ..Sources::default()
        };
        assert!(words(&plain).is_empty());
    }
}
