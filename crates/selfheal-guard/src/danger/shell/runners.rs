//! Programs that run another one somewhere in their words: launchers, environments, containers, and whatever is not known.

use selfheal_core::admission::Danger::High;

use super::argv::Arg;
use super::{Stdin, Walk};

/// Programs whose words are data, names or their own sub-commands, never a command to run.
const DATA: &[&str] = &[
    "echo",
    "printf",
    "print",
    "logger",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "ack",
    "which",
    "type",
    "whereis",
    "man",
    "info",
    "apropos",
    "whatis",
    "help",
    "test",
    "[",
    "[[",
    "expr",
    "true",
    "false",
    ":",
    "say",
    "wall",
    "git",
    "hg",
    "svn",
    "aws",
    "gsutil",
    "gcloud",
    "az",
    "s3cmd",
    "mc",
    "rclone",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
    "helm",
    "apt",
    "apt-get",
    "yum",
    "dnf",
    "apk",
    "brew",
    "pacman",
    "zypper",
    "dpkg",
    "rpm",
    "cat",
    "ls",
    "head",
    "tail",
    "wc",
    "sort",
    "uniq",
    "cut",
    "tr",
    "diff",
    "cmp",
    "stat",
    "file",
    "du",
    "df",
    "cd",
    "pushd",
    "export",
    "local",
    "declare",
    "readonly",
    "unset",
    "set",
    "read",
    "alias",
    "trap",
    "return",
    "exit",
    "sed",
    "awk",
    "jq",
    "tee",
    "touch",
    "mkdir",
    "cp",
    "mv",
    "ln",
    "install",
    "rm",
    "chmod",
    "chown",
    "tar",
    "zip",
    "unzip",
    "date",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "mail",
    "sendmail",
    "notify-send",
    "hash",
    "command",
    "log",
    "warn",
    "die",
    "fail",
    "usage",
    "note",
    "debug",
    "error",
    "bats",
    "shellcheck",
    "bash",
    "sh",
];

/// Programs that do harm by their words, or run a text.
const HARMFUL: &[&str] = &[
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "dd",
    "truncate",
    "wipefs",
    "blkdiscard",
    "chmod",
    "chown",
    "mkswap",
    "find",
    "bash",
    "sh",
    "dash",
    "zsh",
    "ksh",
    "python",
    "python3",
    "perl",
    "ruby",
    "node",
    "php",
    "eval",
    "xargs",
    "sudo",
    "env",
    "dropdb",
    "mysql",
    "psql",
    "redis-cli",
    "iptables",
    "systemctl",
    "kill",
    "pkill",
    "killall",
    "reboot",
    "shutdown",
    "poweroff",
    "halt",
    "userdel",
    "crontab",
    "mv",
    "rsync",
    "tee",
    "curl",
    "wget",
    "nc",
];

/// Programs that take a line for a shell: whatever of their words looks like one is judged as one.
const LINES: &[&str] = &[
    "hyperfine",
    "vagrant",
    "nix-shell",
    "nix",
    "guix",
    "salt",
    "salt-call",
    "salt-ssh",
    "watchexec",
    "nodemon",
    "entr",
    "concurrently",
    "tmux",
    "screen",
    "xterm",
    "gnome-terminal",
    "konsole",
    "pm2",
    "forever",
    "pdsh",
    "pssh",
    "clush",
    "ansible",
    "machinectl",
    "lxc",
    "incus",
    "multipass",
    "limactl",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "bun",
    "poetry",
    "uv",
    "pipenv",
    "conda",
    "mamba",
    "gcloud",
    "fly",
    "flyctl",
    "heroku",
    "aws",
    "az",
    "doctl",
    "wsl",
    "distrobox",
    "toolbox",
    "flatpak-spawn",
    "apptainer",
    "singularity",
    "srun",
    "sbatch",
    "qsub",
    "bsub",
    "mpirun",
    "daemonize",
    "daemon",
    "start-stop-daemon",
    "cpulimit",
    "retry",
    "tsp",
    "ts",
    "task-spooler",
    "just",
    "fswatch",
    "inotify-hookable",
    "reflex",
    "air",
    "cargo",
    "docker-compose",
    "compose",
    "expect",
    "dsh",
    "fab",
    "mosh",
];

/// How many places of one command are tried.
const MAX_PLACES: usize = 8;

/// Judges what may be a command inside of another one's words. Only what is highly dangerous counts, because the words may
/// be something else.
pub fn judge(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], stdin: &Stdin, line: u32) {
    let before = walk.out.len();
    if LINES.contains(&name) {
        let lines: Vec<String> =
            arguments.iter().filter_map(Arg::known).filter(|text| is_line(text)).collect();
        for text in lines.into_iter().take(MAX_PLACES) {
            walk.text(&text, &Stdin::Nothing, Some(line));
        }
    }
    if !DATA.contains(&name) && walk.depth < 4 {
        let places = arguments.iter().enumerate().filter(|(_, arg)| {
            let word = arg.spelled();
            let base = word.rsplit('/').next().unwrap_or(&word);
            HARMFUL.contains(&base) || base.starts_with("mkfs")
        });
        let places: Vec<usize> = places.map(|(at, _)| at).take(MAX_PLACES).collect();
        if let Some(first) = places.first() {
            let rest = arguments.get(*first..).unwrap_or_default().to_vec();
            // `start-stop-daemon --exec /bin/rm -- -rf x`: the words behind the dashes belong to the program.
            let dashes = rest.get(1).is_some_and(|arg| arg.spelled() == "--");
            let list: Vec<Arg> = rest
                .into_iter()
                .enumerate()
                .filter(|(at, _)| !(dashes && *at == 1))
                .map(|(_, arg)| arg)
                .collect();
            walk.judge(&list, stdin, line);
        }
    }
    let mut at = 0;
    walk.out.retain(|found| {
        at += 1;
        at <= before || found.danger == High
    });
}

/// Whether a word looks like a line for a shell that begins with a program that does harm.
fn is_line(text: &str) -> bool {
    let first = text.split([' ', ';', '\n']).next().unwrap_or_default();
    let base = first.rsplit('/').next().unwrap_or(first);
    text.contains(' ') && (HARMFUL.contains(&base) || base.starts_with("mkfs") || base == "cd")
}
