//! Programs in languages that are not parsed here (PHP, Lua, Tcl, PowerShell …): calls that delete or write, and what they
//! hand to a shell.

use selfheal_core::admission::Danger::{High, Medium};

use super::places::Place;
use super::{Stdin, Walk, code};

/// Words of calls that delete or empty files, in lower case.
const DELETES: &[&str] = &[
    "unlink",
    "rmdir",
    "os.remove",
    "os.rename",
    "file delete",
    "file rename",
    "remove-item",
    "clear-content",
    "deletedir",
    "file_put_contents",
    "fopen",
    "io.open",
    "deletefile",
    "rmtree",
    "unlink(",
    "erase",
    "set-content",
    "out-file",
    "file.remove",
    "rm(",
    "delete-file",
    "delete-directory",
];

/// Words that a command for a shell follows to the end of the line.
const RUNS: &[&str] = &["exec ", "spawn ", "start-process ", "invoke-expression ", "iex ", "& "];

/// Judges a program text.
pub fn judge(walk: &mut Walk<'_>, text: &str, (line, subject): (u32, &str)) {
    for own in text.lines().take(400) {
        let low = own.to_lowercase();
        for mark in RUNS {
            if let Some(at) = low.find(mark) {
                let rest =
                    own.get(at + mark.len()..).unwrap_or_default().trim_matches(['[', ']', '{', '}', ' ']);
                walk.text(rest, &Stdin::Nothing, Some(line));
            }
        }
        if ["system", "exec", "popen", "passthru", "os.execute", "`"].iter().any(|call| low.contains(call)) {
            for inner in code::quoted(own) {
                walk.text(&inner, &Stdin::Nothing, Some(line));
            }
        }
        if !DELETES.iter().any(|call| low.contains(call)) {
            continue;
        }
        let reads = ["'r'", "\"r\"", "'rb'", "\"rb\""].iter().any(|mode| low.contains(mode));
        let words =
            own.split([' ', '(', ')', ',', ';', '\t', '"', '\'']).filter(|word| word.starts_with(['/', '~']));
        let places: Vec<Place> = words.filter(|_| !reads).map(|word| walk.places().text(word)).collect();
        for place in places {
            let danger = match place {
                Place::Temporary | Place::Nothing | Place::Inside | Place::OwnTemporary => Medium,
                _ => High,
            };
            walk.hit(
                (line, subject),
                danger,
                "danger/delete",
                "it deletes or overwrites files outside of the job's folder",
            );
        }
    }
}
