//! # A read loop that loses its results or the last line
//!
//! ## What it finds
//! `cat file | while read …` whose variables are used after the loop, or a file whose last line has no newline, read by
//! `while read`, and the job fails on a total that does not agree.
//!
//! ## Why it fails
//! The loop at the end of a pipe runs in a process of its own, and its variables are gone with it. And `read` answers "end of
//! file" for a last line without a newline, although it has read it.
//!
//! ## Fix
//! `lastpipe` keeps the last part of a pipe in the script's own process (where there is none, in `sh`, the loop gets the
//! file by a redirection), and the loop takes the last line, too.
//!
//! ## Example
//! ```sh
//! cat "$feed" | while read -r line; do
//!   n=$((n + 1))
//! done
//! ```
//! ```sh
//! shopt -s lastpipe
//! cat "$feed" | while read -r line || [ -n "$line" ]; do
//!   n=$((n + 1))
//! done
//! ```
//!
//! ## Safety
//! Only loops whose variables are used behind them, or whose file does lack the newline. It changes what is computed, so the
//! risk is medium.

use std::ops::Range;
use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::scene::absolute;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};
use crate::shell::{Block, BlockKind, Command, Script, Values, splice, unquoted};
use crate::text;

rule!(ReadLoop, "read_loop", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let fits = case.faults().all(|fault| {
        matches!(
            fault,
            Fault::Mismatch { .. }
                | Fault::Other { .. }
                | Fault::SilentExit { .. }
                | Fault::BadValue { .. }
                | Fault::UnsetVariable { .. }
        )
    });
    let Some(file) = case.failing_file().filter(|file| fits && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let values = Values::new(case, &script, file.folder());
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    let mut lastpipe = false;
    for block in script.blocks.iter().filter(|block| block.kind == BlockKind::While) {
        let Some(read) = script.commands.iter().find(|c| is_read(&script, c, block)) else { continue };
        let piped = block.before == "|";
        let feeder = script.commands.iter().find(|c| {
            piped && c.after == "|" && c.span.end <= block.span.start && gap(&script, c, block) == "|"
        });
        let line = script.line_of(block.span.start);
        if piped && loses(&script, block) {
            match feeder.and_then(|command| plain_cat(&script, command)) {
                // Nothing of the pipe needs to change where bash can keep its last part.
                _ if file.language == Language::Bash => lastpipe = true,
                Some((span, target)) => {
                    parts.push((span.start..block.span.start, String::new()));
                    parts.push((block.span.end..block.span.end, format!(" < {target}")));
                }
                None => continue,
            }
            notes.push(format!("line {line}: the loop runs in the script's own process"));
        }
        if reads_without_end(case, &script, &values, block, feeder) && read.after != "||" {
            parts.extend(last_line(&script, read));
            notes.push(format!("line {line}: the last line counts without its newline"));
        }
    }
    if lastpipe {
        let at = script.after_head(false);
        parts.push((at..at, "shopt -s lastpipe\n".to_owned()));
    }
    if parts.is_empty() {
        return Vec::new();
    }
    let draft = Draft::new(
        "read_loop",
        "the read loop loses what it computes, or the last line of its input",
        "keep the loop in the script's own process, and take a last line without a newline",
    )
    .meaning()
    .rewrite(&file, splice(&file.text, parts), notes.join("; "));
    draft.done().into_iter().collect()
}

fn is_read(script: &Script<'_>, command: &Command, block: &Block) -> bool {
    block.span.start < command.span.start && command.span.start < block.body && script.name(command) == "read"
}

fn gap(script: &Script<'_>, command: &Command, block: &Block) -> String {
    let text = script.text.get(command.span.end..block.span.start).unwrap_or_default();
    text.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect()
}

/// Whether a variable that the loop sets is used behind it.
fn loses(script: &Script<'_>, block: &Block) -> bool {
    let behind = script.text.get(block.span.end..).unwrap_or_default();
    let inside = |at: usize| block.body <= at && at < block.span.end;
    script.assignments().filter(|(_, value, _)| inside(value.start)).any(|(name, ..)| {
        text::whole_words(behind, name).any(|at| {
            behind.get(..at).is_some_and(|b| {
                b.ends_with('$') || b.ends_with("${") || b.ends_with("((") || b.ends_with(' ')
            })
        })
    })
}

/// `cat FILE` at the beginning of a pipe: its place and the file.
fn plain_cat(script: &Script<'_>, command: &Command) -> Option<(Range<usize>, String)> {
    let words = script.words(command);
    match words.as_slice() {
        ["cat", file]
            if command.before.is_empty() && command.redirects.is_empty() && !file.starts_with('-') =>
        {
            Some((command.span.clone(), (*file).to_owned()))
        }
        _ => None,
    }
}

/// Whether the file that the loop reads lacks the newline at its end.
fn reads_without_end(
    case: &Case,
    script: &Script<'_>,
    values: &Values<'_>,
    block: &Block,
    feeder: Option<&Command>,
) -> bool {
    let behind = script.commands.iter().find(|command| {
        command.words.is_empty()
            && script
                .text
                .get(block.span.end..command.span.start)
                .is_some_and(|gap| gap.trim_matches(' ').is_empty())
    });
    let redirected = behind
        .into_iter()
        .flat_map(|command| &command.redirects)
        .filter(|(operator, _)| script.get(operator) == "<");
    let mut words: Vec<String> = redirected.map(|(_, target)| script.get(target).to_owned()).collect();
    words.extend(feeder.and_then(|command| plain_cat(script, command)).map(|(_, file)| file));
    words.iter().filter_map(|word| values.word(word)).any(|value| {
        let bytes = case.scene.read(&absolute(&case.base(), Path::new(&value)), crate::case::LARGEST);
        bytes.is_some_and(|bytes| {
            bytes.len() < crate::case::LARGEST && bytes.last().is_some_and(|byte| *byte != b'\n')
        })
    })
}

fn last_line(script: &Script<'_>, read: &Command) -> Option<(Range<usize>, String)> {
    let words = script.words(read);
    let names: Vec<String> =
        words.iter().skip(1).filter(|word| !word.starts_with('-')).map(|word| unquoted(word)).collect();
    let name = names
        .first()
        .filter(|name| name.chars().all(text::is_name))
        .cloned()
        .unwrap_or_else(|| "REPLY".to_owned());
    Some((read.span.end..read.span.end, format!(" || [ -n \"${name}\" ]")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, feed: &str) -> TestCase {
        TestCase::new("x.sh", text, TestScene::new().file("feed", feed))
            .fault(Fault::Mismatch { message: "totals".into() })
    }

    #[test]
    fn keeps_the_sums_and_the_last_line() {
        let text = "n=0\nfeed=feed\ncat \"$feed\" | while IFS=';' read -r a b; do\n  n=$((n + b))\ndone\n[ \"$n\" -eq 3 ]\n";
        assert_eq!(
            case(text, "x;1\ny;2").healed(&ReadLoop),
            "shopt -s lastpipe\nn=0\nfeed=feed\ncat \"$feed\" | while IFS=';' read -r a b || [ -n \"$a\" ]; do\n  n=$((n + b))\ndone\n[ \"$n\" -eq 3 ]\n"
        );
        let text = "#!/bin/sh\ncat feed | while read -r a; do n=$((n + 1)); done\necho $n\n";
        assert_eq!(
            case(text, "x\n").healed(&ReadLoop),
            "#!/bin/sh\nwhile read -r a; do n=$((n + 1)); done < feed\necho $n\n"
        );
    }

    #[test]
    fn turns_lastpipe_on_for_other_feeders() {
        let text = "set -e\nn=0\ngrep x feed | while read -r a; do n=$((n + 1)); done\necho $n\n";
        assert_eq!(
            case(text, "x\n").healed(&ReadLoop),
            text.replace("set -e\n", "set -e\nshopt -s lastpipe\n")
        );
    }

    #[test]
    fn leaves_good_loops_alone() {
        assert!(case("while read -r a; do n=$((n + 1)); done < feed\necho $n\n", "x\n").silent(&ReadLoop));
        assert!(case("cat feed | while read -r a; do echo $a; done\n", "x\n").silent(&ReadLoop));
    }
}
