//! # A tool that goes by another name here
//!
//! ## What it finds
//! A command is not found, and the same tool is installed under another name: `gsed` for `sed`, `python` for `python3`,
//! `nodejs` for `node`, `fd` for `fdfind`, …
//!
//! ## Why it fails
//! Systems name the same tool differently: the GNU tools have a `g` before their name where others came first, Debian
//! renames tools whose names clash, and old names go away.
//!
//! ## Fix
//! The command is called by its name here, and so are all others of the script that are missing in the same way.
//!
//! ## Example
//! ```sh
//! part=$(gmktemp)
//! gsed -e '/^#/d' "$feed" >> "$part"
//! ```
//! ```sh
//! part=$(mktemp)
//! sed -e '/^#/d' "$feed" >> "$part"
//! ```
//!
//! ## Safety
//! Only names of the same tool, from a table, and only when the name is missing and the other is there.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::shell::{Script, splice, unquoted};
use crate::text;

rule!(ToolName, "tool_name", Safe, propose);

/// Names of the same tool. The GNU names with `g` are made from [`GNU`].
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("python", &["python3"]),
    ("python2", &[]),
    ("pip", &["pip3", "python3 -m pip"]),
    ("pip2", &[]),
    ("nodejs", &["node"]),
    ("node", &["nodejs"]),
    ("fd", &["fdfind"]),
    ("fdfind", &["fd"]),
    ("bat", &["batcat"]),
    ("batcat", &["bat"]),
    ("ack-grep", &["ack"]),
    ("ack", &["ack-grep"]),
    ("egrep", &["grep -E"]),
    ("fgrep", &["grep -F"]),
    ("nawk", &["awk"]),
    ("netcat", &["nc"]),
    ("nc", &["netcat", "ncat"]),
    ("7z", &["7zz", "7za"]),
    ("7za", &["7z", "7zz"]),
    ("convert", &["magick"]),
    ("docker-compose", &["docker compose"]),
    ("mailx", &["mail"]),
    ("mail", &["mailx"]),
    ("lua", &["lua5.4", "lua5.3"]),
    ("ksh", &["ksh93", "mksh"]),
    ("which", &["command -v"]),
    ("pkgconf", &["pkg-config"]),
    ("pkg-config", &["pkgconf"]),
    ("shasum", &["sha1sum"]),
    ("hostname", &["uname -n"]),
    ("gpg2", &["gpg"]),
    ("gpg", &["gpg2"]),
    ("rg", &["ripgrep"]),
    ("sqlite", &["sqlite3"]),
    ("zsh5", &["zsh"]),
    ("make", &["gmake"]),
];

/// GNU tools that other systems install with a `g` before their name.
const GNU: &[&str] = &[
    "sed",
    "awk",
    "grep",
    "tar",
    "find",
    "xargs",
    "make",
    "date",
    "stat",
    "mktemp",
    "readlink",
    "realpath",
    "sort",
    "split",
    "head",
    "tail",
    "cut",
    "tr",
    "wc",
    "cp",
    "mv",
    "rm",
    "ln",
    "ls",
    "mkdir",
    "chmod",
    "chown",
    "touch",
    "tee",
    "seq",
    "shuf",
    "base64",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "timeout",
    "numfmt",
    "nproc",
    "paste",
    "join",
    "comm",
    "uniq",
    "install",
    "du",
    "df",
    "dd",
    "env",
    "id",
    "basename",
    "dirname",
    "cat",
    "echo",
    "printf",
    "expr",
    "test",
    "tac",
    "od",
    "truncate",
    "csplit",
    "fold",
    "fmt",
    "nl",
    "patch",
    "diff",
    "which",
    "indent",
    "m4",
];

/// Words that start the command that follows them.
const WRAPPERS: &[&str] = &[
    "sudo", "env", "xargs", "exec", "nohup", "time", "nice", "command", "timeout", "ionice", "then", "setsid",
];

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = case.faults().find_map(|fault| match fault {
        Fault::CommandNotFound { name } => Some(name.clone()),
        Fault::NoSuchPath { path } if path.components().count() == 1 => {
            Some(path.to_string_lossy().into_owned())
        }
        _ => None,
    });
    let Some((missing, new)) = missing.and_then(|name| Some((name.clone(), other(case, &name)?))) else {
        return Vec::new();
    };
    let cause = format!("{missing} is not installed here under that name; {new} is the same tool");
    let mut draft = Draft::new("tool_name", cause, "call the tool by its name here")
        .evidence(format!("{new} is on the PATH"));
    let mut found = false;
    for file in case.files() {
        let parts =
            if file.language.is_shell() { in_shell(case, &file) } else { in_text(case, &file, &missing) };
        let hit = parts.iter().any(|(span, _)| {
            file.text.get(span.clone()).is_some_and(|old| old.trim_matches(['"', '\'']) == missing)
        });
        if !hit {
            continue;
        }
        found = true;
        let names: Vec<String> = parts.iter().map(|(_, new)| new.clone()).collect();
        draft = draft.rewrite(&file, splice(&file.text, parts), format!("call {}", names.join(", ")));
    }
    if found { draft.done().into_iter().collect() } else { Vec::new() }
}

/// The name of the same tool that is here, for a name that is not.
fn other(case: &Case, name: &str) -> Option<String> {
    if name.contains('/') || !case.scene.which(name).is_empty() {
        return None;
    }
    let gnu = name.strip_prefix('g').filter(|plain| GNU.contains(plain));
    let table = OTHER_NAMES.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, others)| others);
    let here = |other: &&str| {
        let program = other.split(' ').next().unwrap_or_default();
        program == "command" || !case.scene.which(program).is_empty()
    };
    gnu.into_iter().chain(table.iter().copied()).find(here).map(str::to_owned)
}

fn in_shell(case: &Case, file: &ScriptFile) -> Vec<(Range<usize>, String)> {
    let script = Script::new(&file.text);
    let functions: Vec<String> = script
        .blocks
        .iter()
        .filter_map(|block| match &block.kind {
            crate::shell::BlockKind::Function { name } => Some(name.clone()),
            _ => None,
        })
        .collect();
    let mut spans: Vec<Range<usize>> = Vec::new();
    for command in &script.commands {
        let mut words = command.words.iter();
        spans.extend(words.next().cloned());
        let name = script.name(command);
        if WRAPPERS.contains(&name.as_str()) {
            spans.extend(
                words
                    .find(|word| !script.get(word).starts_with('-') && !script.get(word).contains('='))
                    .cloned(),
            );
        }
        if matches!(name.as_str(), "command" | "type" | "which" | "hash") {
            spans.extend(command.words.iter().skip(1).cloned());
        }
    }
    // `SED=gsed`, used as `$SED`.
    spans.extend(script.assignments().map(|(_, value, _)| value));
    let name_of = |span: &Range<usize>| unquoted(script.get(span));
    spans.retain(|span| !functions.contains(&name_of(span)));
    spans.sort_by_key(|span| span.start);
    spans.dedup();
    spans.into_iter().filter_map(|span| Some((span.clone(), other(case, &name_of(&span))?))).collect()
}

/// In other languages: the missing name where it is a whole string or a recipe's command.
fn in_text(_case: &Case, file: &ScriptFile, missing: &str) -> Vec<(Range<usize>, String)> {
    let Some(new) = other(_case, missing).filter(|new| !new.contains(' ')) else { return Vec::new() };
    let make = file.language == crate::case::Language::Make;
    text::whole_words(&file.text, missing)
        .filter(|at| {
            let before = file.text.get(..*at).unwrap_or_default();
            let after = file.text.get(at + missing.len()..).unwrap_or_default();
            let quoted = before.ends_with(['"', '\'']) && after.starts_with(['"', '\'', ' ']);
            let recipe =
                make && before.ends_with(['\t', '@', '(', ' ', '=']) && after.starts_with([' ', '\n', ')']);
            quoted || recipe
        })
        .map(|at| (at..at + missing.len(), new.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn missing(name: &str) -> Fault {
        Fault::CommandNotFound { name: name.into() }
    }

    #[test]
    fn calls_all_gnu_tools_by_their_plain_names() {
        let scene = TestScene::new()
            .command("sed", "/bin/sed")
            .command("stat", "/bin/stat")
            .command("gawk", "/bin/gawk");
        let text =
            "gsed -e s/a/b/ x | gawk 1\necho \"$(gstat -c %s x)\" gsed\nSED=gsed\nfind . | xargs gsed p\n";
        let case = TestCase::new("x.sh", text, scene).fault(missing("gsed")).at(1);
        assert_eq!(
            case.healed(&ToolName),
            "sed -e s/a/b/ x | gawk 1\necho \"$(stat -c %s x)\" gsed\nSED=sed\nfind . | xargs sed p\n"
        );
    }

    #[test]
    fn knows_other_names() {
        let scene = TestScene::new().command("python3", "/usr/bin/python3");
        let case = TestCase::new("x.sh", "exec python -u job.py\n", scene).fault(missing("python"));
        assert_eq!(case.healed(&ToolName), "exec python3 -u job.py\n");
        let scene = TestScene::new().command("python3", "/usr/bin/python3");
        let case = TestCase::new("run.py", "subprocess.run([\"python\", \"x.py\"])\n", scene)
            .fault(missing("python"));
        assert_eq!(case.healed(&ToolName), "subprocess.run([\"python3\", \"x.py\"])\n");
    }

    #[test]
    fn leaves_unknown_tools_and_functions_alone() {
        let case = TestCase::new("x.sh", "orderstat a\n", TestScene::new()).fault(missing("orderstat"));
        assert!(case.silent(&ToolName));
        let case = TestCase::new("x.sh", "gsed x\n", TestScene::new()).fault(missing("gsed"));
        assert!(case.silent(&ToolName));
    }
}
