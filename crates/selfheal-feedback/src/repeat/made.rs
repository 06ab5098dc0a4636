//! What a script makes itself: removing, moving or extending its own work may happen twice.
//!
//! `: > report` before `>> report`, `part=$(mktemp)` before `>> "$part"`, `curl -o x.new` before `mv x.new x`: names are
//! compared as the script writes them, variables and all.

use std::collections::BTreeSet;

use crate::words::{base, commands, logical_lines};

/// The names, as written, that a script makes anew in every run.
pub struct Made {
    names: BTreeSet<String>,
    /// Folders among them that are empty when the script has made them.
    fresh: BTreeSet<String>,
}

impl Made {
    /// Reads a shell script.
    pub fn by(script: &str) -> Self {
        let mut names = BTreeSet::new();
        let mut fresh = BTreeSet::new();
        let mut removed = BTreeSet::new();
        for (_, line) in logical_lines(script) {
            let temporary = line
                .trim_start()
                .split_once("=$(mktemp")
                .or_else(|| line.trim_start().split_once("=`mktemp"));
            if let Some((name, _)) = temporary {
                let name = name.rsplit(' ').next().unwrap_or(name).trim_matches('"');
                names.extend([format!("${name}"), format!("${{{name}}}")]);
                fresh.extend([format!("${name}"), format!("${{{name}}}")]);
            }
            for words in commands(&line) {
                let made = made_by(&words);
                match words.first().map_or("", |word| base(word)) {
                    "mkdir" if !words.iter().any(|word| word.starts_with('-') && word.contains('p')) => {
                        fresh.extend(made.clone());
                    }
                    "rm" => removed.extend(words.iter().skip(1).cloned()),
                    _ => {}
                }
                names.extend(made);
            }
        }
        // `rm -rf X` with `mkdir -p X` makes X anew; `mkdir -p X` alone keeps what X had.
        fresh.extend(removed.intersection(&names).cloned());
        Self { names, fresh }
    }

    /// Whether a command only removes, moves or extends what the script makes itself.
    pub fn covers(&self, words: &[String]) -> bool {
        let Some((name, arguments)) = words.split_first() else { return false };
        let appended = target(words, ">>");
        if !appended.is_empty() {
            return appended.iter().all(|name| self.has(name));
        }
        let plain: Vec<&String> = arguments
            .iter()
            .take_while(|word| !word.starts_with(['>', '<']) && *word != "2")
            .filter(|word| !word.starts_with('-'))
            .collect();
        match base(name) {
            "rm" | "rmdir" | "unlink" => !plain.is_empty() && plain.iter().all(|name| self.has(name)),
            "mv" => plain
                .split_last()
                .is_some_and(|(_, from)| !from.is_empty() && from.iter().all(|name| self.has(name))),
            _ => false,
        }
    }

    /// Whether that is so for every command of a line which removes, moves or extends something.
    pub fn covers_line(&self, line: &str) -> bool {
        let all = commands(line);
        let mut acting = all
            .iter()
            .filter(|words| {
                words.iter().any(|word| word == ">>")
                    || words
                        .first()
                        .is_some_and(|word| matches!(base(word), "rm" | "rmdir" | "unlink" | "mv"))
            })
            .peekable();
        acting.peek().is_some() && acting.all(|words| self.covers(words))
    }

    /// The name itself, or one below a folder that was made empty.
    pub fn has(&self, name: &str) -> bool {
        let below = |at: usize| name.get(..at).is_some_and(|folder| self.fresh.contains(folder));
        name == "/dev/null" || self.names.contains(name) || name.match_indices('/').any(|(at, _)| below(at))
    }
}

/// What follows a redirection.
fn target(words: &[String], sign: &str) -> Vec<String> {
    words
        .iter()
        .zip(words.iter().skip(1))
        .filter(|(word, _)| *word == sign)
        .map(|(_, name)| name.clone())
        .collect()
}

/// The names that a command makes anew.
fn made_by(words: &[String]) -> Vec<String> {
    let mut out = target(words, ">");
    out.extend(target(words, ">|"));
    for option in ["-o", "--output", "-O", "--output-document"] {
        out.extend(target(words, option));
    }
    let plain = words.iter().skip(1).filter(|word| !word.starts_with(['-', '>', '<']));
    match words.first().map_or("", |word| base(word)) {
        "mkdir" => out.extend(plain.cloned()),
        "cp" => out.extend(plain.cloned().next_back()),
        _ => {}
    }
    out.retain(|name| name.len() > 1 && !name.starts_with('/') || name.starts_with("/tmp/"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(script: &str, line: &str) -> bool {
        Made::by(script).covers_line(line)
    }

    #[test]
    fn own_work_may_be_replaced() {
        assert!(covers(": > \"$report\"\n", "echo x >> \"$report\""));
        assert!(covers("part=$(mktemp)\n", "sed x y >> \"$part\" && mv \"$part\" z"));
        assert!(covers("curl -o feed.new u\n", "mv feed.new feed"));
        assert!(covers("rm -rf out; mkdir out\n", "rm -rf out"));
    }

    #[test]
    fn other_peoples_files_may_not() {
        assert!(!covers("echo x >> log\n", "echo x >> log"));
        assert!(!covers("sort in > out\n", "mv in done/"));
        assert!(!covers("sort in > out\n", "rm -f in"));
        assert!(!covers("mkdir -p inbox\n", "rm -f inbox/*"));
    }
}
