//! # A reader that stops early ends the pipeline with 141
//!
//! ## What it finds
//! With `pipefail`, a pipeline ends in `head`, `sed 5q` or `grep -q`, and the job ends with 141 (SIGPIPE).
//!
//! ## Why it fails
//! These readers stop when they have enough. What writes into the pipe is then ended by a signal, and `pipefail` makes that
//! the result of the whole pipeline. It depends on how much there is to write, so it passes on small days.
//!
//! ## Fix
//! A reader that gives the same output but reads to the end.
//!
//! ## Example
//! ```sh
//! sort -rn list | head -n "$TOP"
//! ```
//! ```sh
//! sort -rn list | awk -v n="$TOP" 'NR <= n'
//! ```
//!
//! ## Safety
//! `pipefail` stays on, so real errors of the writers still count. Where no reader to the end gives the same, `cat` reads
//! what is left.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, splice, unquoted};

rule!(ClosedPipe, "closed_pipe", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let pipe = case.faults().any(|fault| matches!(fault, Fault::SilentExit { code: 141 }))
        || case.report.command.as_ref().is_some_and(|command| command.status == Some(141))
        || case.report.status.contains("141");
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell() && pipe) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let found: Vec<(&Command, String)> =
        script.commands.iter().filter_map(|command| Some((command, better(&script, command)?))).collect();
    let Some((first, _)) = found.first() else { return Vec::new() };
    let lines: Vec<String> = found.iter().map(|(c, _)| script.line_of(c.span.start).to_string()).collect();
    let parts = found.iter().map(|(command, new)| (words_span(command), new.clone())).collect();
    let draft = Draft::new(
        "closed_pipe",
        format!(
            "line {}: {} stops reading early; what writes into the pipe is ended by SIGPIPE (141), and pipefail makes that \
             the result",
            script.line_of(first.span.start),
            script.name(first)
        ),
        "read to the end and give the same lines",
    )
    .evidence("the exit code is 141, that is 128 and the number of SIGPIPE")
    .rewrite(&file, splice(&file.text, parts), format!("line {}: a reader that reads to the end", lines.join(", ")));
    draft.done().into_iter().collect()
}

/// The command's words without its redirections.
fn words_span(command: &Command) -> std::ops::Range<usize> {
    let end = command.words.last().map_or(command.span.end, |word| word.end);
    command.span.start..end
}

fn better(script: &Script<'_>, command: &Command) -> Option<String> {
    if !matches!(command.before.as_str(), "|" | "|&") {
        return None;
    }
    let words = script.words(command);
    match words.as_slice() {
        ["head"] => Some("awk 'NR <= 10'".to_owned()),
        ["head", "-n", count] | ["head", "--lines", count] => first_lines(count),
        ["head", option] => first_lines(
            option.strip_prefix("--lines=").or(option.strip_prefix("-n")).or(option.strip_prefix('-'))?,
        ),
        ["sed", program] if unquoted(program).trim_end_matches('q').parse::<u32>().is_ok() => {
            let count = unquoted(program).strip_suffix('q')?.parse::<u32>().ok()?;
            Some(format!("sed -n '1,{count}p'"))
        }
        ["grep", rest @ ..] if rest.contains(&"-q") => {
            let rest: Vec<&str> = rest.iter().copied().filter(|word| *word != "-q").collect();
            Some(format!("grep {} > /dev/null", rest.join(" ")))
        }
        _ if stops_early(&words) => {
            let own = script.text.get(words_span(command)).unwrap_or_default();
            Some(format!("{{ {own} && cat > /dev/null; }}"))
        }
        _ => None,
    }
}

/// Whether a reader of standard input ends before its input does; what it leaves has to be read by someone else.
fn stops_early(words: &[&str]) -> bool {
    let Some((name, arguments)) = words.split_first() else { return false };
    let options = || arguments.iter().copied().filter(|word| word.starts_with('-'));
    let plain: Vec<String> =
        arguments.iter().filter(|word| !word.starts_with('-')).map(|word| unquoted(word)).collect();
    match *name {
        "head" => {
            options().any(|word| word.starts_with("-c") || word.starts_with("--bytes")) && plain.len() <= 1
        }
        "grep" | "egrep" | "fgrep" => {
            options().any(|word| word.starts_with("-m") || word.starts_with("--max-count="))
                && !options().any(|word| matches!(word, "-r" | "-R" | "-f"))
                && plain.len() <= if options().any(|word| word == "-m") { 2 } else { 1 }
        }
        "sed" => plain.len() == 1 && !options().any(|word| word.starts_with("-i")) && quits(plain.first()),
        "awk" | "gawk" | "mawk" => {
            options().next().is_none()
                && plain.len() == 1
                && plain.first().is_some_and(|program| exits(program))
        }
        _ => false,
    }
}

/// Whether a program of sed ends with the command `q`.
fn quits(program: Option<&String>) -> bool {
    program.is_some_and(|program| program.trim_end_matches(['}', ';', ' ']).ends_with(['q', 'Q']))
}

/// Whether a program of awk ends by itself, and with status 0.
fn exits(program: &str) -> bool {
    let plain = |at: usize| {
        let rest = program.get(at + 4..).unwrap_or_default().trim_start();
        rest.starts_with(['}', ';']) || rest.starts_with("0 ")
    };
    !program.contains("END") && crate::text::whole_words(program, "exit").any(plain)
}

fn first_lines(count: &str) -> Option<String> {
    if let Ok(count) = unquoted(count).parse::<u32>() {
        return Some(if count == 1 { "awk 'NR == 1'".to_owned() } else { format!("awk 'NR <= {count}'") });
    }
    let bare = count.replace('"', "");
    (bare.starts_with('$') && !bare.contains(' ')).then(|| format!("awk -v n=\"{bare}\" 'NR <= n'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str) -> TestCase {
        TestCase::new("x.sh", text, TestScene::new()).fault(Fault::SilentExit { code: 141 })
    }

    #[test]
    fn reads_to_the_end() {
        let text = "set -o pipefail\nsort -rn l \\\n  | head -n \"$TOP\" > out\nls | head -1\nx | sed 3q\ny | grep -q z && w\n";
        assert_eq!(
            case(text).healed(&ClosedPipe),
            "set -o pipefail\nsort -rn l \\\n  | awk -v n=\"$TOP\" 'NR <= n' > out\nls | awk 'NR == 1'\nx | sed -n '1,3p'\ny | grep z > /dev/null && w\n"
        );
    }

    #[test]
    fn has_the_rest_read_where_the_reader_has_to_stop() {
        let text = "set -o pipefail\nx=$(tr -d a < f | grep -m1 .)\ny | head -c 10 > out\ny | sed '/^$/q'\ny | awk '/a/ { print; exit }'\n";
        assert_eq!(
            case(text).healed(&ClosedPipe),
            "set -o pipefail\nx=$(tr -d a < f | { grep -m1 . && cat > /dev/null; })\n\
             y | { head -c 10 && cat > /dev/null; } > out\ny | { sed '/^$/q' && cat > /dev/null; }\n\
             y | { awk '/a/ { print; exit }' && cat > /dev/null; }\n"
        );
    }

    #[test]
    fn leaves_files_and_other_ends_alone() {
        assert!(
            case("head -n 3 list\ncat a | sed 's/q/r/'\na | awk 'END { exit 3 }'\na | grep -m1 x file\n")
                .silent(&ClosedPipe)
        );
        let other =
            TestCase::new("x.sh", "a | head -1\n", TestScene::new()).fault(Fault::SilentExit { code: 1 });
        assert!(other.silent(&ClosedPipe));
    }
}
