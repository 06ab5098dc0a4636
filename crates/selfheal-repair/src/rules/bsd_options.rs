//! # Options of the BSD tools given to the GNU tools
//!
//! ## What it finds
//! `sed -i ''`, `date -v`, `date -j -f`, `date -r`, `stat -f`, `base64 -D`, `tail -r`, `find -E`, `md5 -q`, `xargs -J` where the GNU tools
//! are installed.
//!
//! ## Why it fails
//! The tools have the same names and different options. The script comes from a Mac or a BSD.
//!
//! ## Fix
//! The options are translated to those of the GNU tools.
//!
//! ## Example
//! ```sh
//! sed -i '' -e "s/a/b/" "$out"
//! yesterday=$(date -v-1d +%F)
//! ```
//! ```sh
//! sed -i -e "s/a/b/" "$out"
//! yesterday=$(date -d "1 day ago" +%F)
//! ```
//!
//! ## Safety
//! Only forms whose meaning is the same in both. A month is counted from its first day, since BSD stays in a month that is
//! shorter and GNU does not; where the day of such a date is used, too, the form is left alone.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, splice, unquoted};

rule!(BsdOptions, "bsd_options", Safe, propose);

/// Formats of `stat -f` and what `stat -c` calls them.
const STAT: &[(&str, &str)] = &[
    ("%z", "%s"),
    ("%m", "%Y"),
    ("%a", "%X"),
    ("%c", "%Z"),
    ("%Su", "%U"),
    ("%Sg", "%G"),
    ("%u", "%u"),
    ("%g", "%g"),
    ("%Lp", "%a"),
    ("%OLp", "%a"),
    ("%A", "%a"),
    ("%p", "%a"),
    ("%N", "%n"),
    ("%i", "%i"),
    ("%l", "%h"),
    ("%HT", "%F"),
];

/// Options with another letter: tool, BSD, GNU.
const LETTERS: &[(&str, &str, &str)] =
    &[("base64", "-D", "-d"), ("find", "-E", "-regextype posix-extended"), ("ls", "-G", "--color=auto")];

fn propose(case: &Case) -> Vec<Candidate> {
    let tool = case.faults().any(|fault| match fault {
        Fault::UnknownOption { command, .. } => {
            matches!(
                command.rsplit('/').next(),
                Some("date" | "stat" | "base64" | "find" | "tail" | "sed" | "xargs")
            )
        }
        Fault::NoSuchPath { .. }
        | Fault::UnmatchedGlob { .. }
        | Fault::BadValue { .. }
        | Fault::CommandNotFound { .. }
        | Fault::Syntax { .. }
        | Fault::Other { .. } => true,
        _ => false,
    });
    let Some(file) = case.failing_file().filter(|file| tool && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let parts: Vec<(Range<usize>, String)> = script
        .commands
        .iter()
        .filter_map(|command| Some((words_span(command)?, translated(case, &script, command)?)))
        .collect();
    let line = case.line_in(&file);
    let hit = parts.iter().any(|(span, _)| {
        line.is_none_or(|line| script.line_of(span.start) <= line && line <= script.line_of(span.end))
    });
    if !hit {
        return Vec::new();
    }
    let names: Vec<String> = parts.iter().map(|(span, _)| script.line_of(span.start).to_string()).collect();
    let draft = Draft::new(
        "bsd_options",
        format!(
            "line {} uses an option of the BSD tools, and the GNU tools are installed here",
            line.map_or(names.join(", "), |l| l.to_string())
        ),
        "use the options of the GNU tools that mean the same",
    )
    .rewrite(
        &file,
        splice(&file.text, parts),
        format!("line {}: options of the GNU tools", names.join(", ")),
    );
    draft.done().into_iter().collect()
}

fn words_span(command: &Command) -> Option<Range<usize>> {
    Some(command.words.first()?.start..command.words.last()?.end)
}

fn translated(case: &Case, script: &Script<'_>, command: &Command) -> Option<String> {
    let words = script.words(command);
    match script.name(command).as_str() {
        "sed" => sed(&words),
        "date" => date(&words),
        "stat" => stat(&words),
        "xargs" => xargs(&words),
        "tail" if words.contains(&"-r") => Some(
            words
                .iter()
                .map(|word| if *word == "tail" { "tac" } else { word })
                .filter(|word| *word != "-r")
                .collect::<Vec<_>>()
                .join(" "),
        ),
        "md5" if case.scene.which("md5").is_empty() && words.get(1) == Some(&"-q") => {
            Some(format!("md5sum {} | cut -d' ' -f1", words.get(2..)?.join(" ")))
        }
        name => {
            let (_, bsd, gnu) = LETTERS.iter().find(|(tool, bsd, _)| *tool == name && words.contains(bsd))?;
            if name == "ls" {
                return None;
            }
            if name == "find" {
                // The option stands before the paths; GNU wants it behind them.
                let rest: Vec<&str> = words.iter().skip(1).copied().filter(|word| word != bsd).collect();
                let at = rest.iter().position(|word| word.starts_with('-')).unwrap_or(rest.len());
                return Some(format!(
                    "find {} {gnu} {}",
                    rest.get(..at)?.join(" "),
                    rest.get(at..)?.join(" ")
                ));
            }
            Some(words.iter().map(|word| if word == bsd { *gnu } else { word }).collect::<Vec<_>>().join(" "))
        }
    }
}

/// `sed -i '' …` and `sed -i .bak …`.
fn sed(words: &[&str]) -> Option<String> {
    let at = words.iter().position(|word| *word == "-i")?;
    let suffix = words.get(at + 1)?;
    let mut out: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    match *suffix {
        "''" | "\"\"" => {
            out.remove(at + 1);
        }
        ".bak" | "'.bak'" | "\".bak\"" | ".orig" | "'.orig'" | ".old" => {
            let joined = format!("-i{}", unquoted(suffix));
            out.splice(at..at + 2, [joined]);
        }
        _ => return None,
    }
    Some(out.join(" "))
}

/// Commands of which one call for every name does the same as one call for all.
const ONE_BY_ONE: &[&str] = &["mv", "cp", "ln", "install", "rm", "touch", "chmod", "echo"];

/// `xargs -J % mv % to/`: BSD puts all names in the place of the mark, GNU can do it one by one.
fn xargs(words: &[&str]) -> Option<String> {
    let at = words.iter().position(|word| word.starts_with("-J"))?;
    let joined = words.get(at)?.strip_prefix("-J").filter(|mark| !mark.is_empty());
    let (mark, count) = joined.map_or((words.get(at + 1).copied(), 2), |mark| (Some(mark), 1));
    let (mark, behind) = (mark?, words.get(at + count..)?);
    let mut rest = behind.iter().skip_while(|word| word.starts_with('-'));
    let known = rest.next().is_some_and(|name| ONE_BY_ONE.contains(name));
    if !known
        || rest.clone().filter(|word| **word == mark).count() != 1
        || rest.filter(|word| word.contains(mark)).count() != 1
    {
        return None;
    }
    let mut out: Vec<&str> = words.get(..at)?.to_vec();
    out.extend(["-I", mark]);
    out.extend(behind);
    Some(out.join(" "))
}

fn stat(words: &[&str]) -> Option<String> {
    let at = words.iter().position(|word| *word == "-f" || *word == "-nf" || word.starts_with("-f%"))?;
    let joined = words.get(at)?.strip_prefix("-f").filter(|rest| !rest.is_empty());
    let count = if joined.is_some() { 1 } else { 2 };
    let format = unquoted(joined.or(words.get(at + 1).copied())?);
    if !format.contains('%') || format == "%s" {
        return None;
    }
    let mut new = String::new();
    let mut rest = format.as_str();
    while let Some(percent) = rest.find('%') {
        new.push_str(rest.get(..percent)?);
        let tail = rest.get(percent..)?;
        let (bsd, gnu) =
            STAT.iter().filter(|(bsd, _)| tail.starts_with(bsd)).max_by_key(|(bsd, _)| bsd.len())?;
        new.push_str(gnu);
        rest = tail.get(bsd.len()..)?;
    }
    new.push_str(rest);
    let mut out: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let plain = new.chars().all(|c| c.is_ascii_alphanumeric() || c == '%');
    out.splice(at..at + count, ["-c".to_owned(), if plain { new } else { format!("'{new}'") }]);
    Some(out.join(" "))
}

/// `date [-j] [-u] [-v…]… [-f FORMAT VALUE] [+FORMAT]`, `date -r SECONDS`.
fn date(words: &[&str]) -> Option<String> {
    let (mut utc, mut shifts, mut given, mut seconds, mut output) = (false, Vec::new(), None, None, None);
    let mut rest = words.iter().skip(1);
    let mut bsd = false;
    while let Some(word) = rest.next() {
        match *word {
            "-u" => utc = true,
            "-j" | "-n" | "-jn" => bsd = true,
            "-ju" | "-uj" => (bsd, utc) = (true, true),
            "-f" | "-jf" | "-juf" | "-ujf" => {
                bsd = true;
                utc = utc || word.contains('u');
                given = Some((unquoted(rest.next()?), *rest.next()?));
            }
            "-r" => seconds = Some(*rest.next()?),
            "-v" => shifts.push(unquoted(rest.next()?)),
            word if word.starts_with("-v") => shifts.push(unquoted(word.get(2..)?)),
            word if unquoted(word).starts_with('+') => output = Some(word),
            _ => return None,
        }
    }
    let is_seconds = seconds.is_some_and(|value| {
        value.starts_with("\"$") || value.starts_with('$') || value.parse::<u64>().is_ok()
    });
    if !bsd && shifts.is_empty() && !is_seconds {
        return None;
    }
    Shifted { utc, shifts, given, seconds: seconds.filter(|_| is_seconds), output }.gnu()
}

struct Shifted<'w> {
    utc: bool,
    shifts: Vec<String>,
    given: Option<(String, &'w str)>,
    seconds: Option<&'w str>,
    output: Option<&'w str>,
}

impl Shifted<'_> {
    fn gnu(&self) -> Option<String> {
        let shown = self.output.map(unquoted).unwrap_or_default();
        let by_day =
            ["%d", "%e", "%F", "%D", "%j", "%x", "%c", "%s"].iter().any(|format| shown.contains(format));
        let by_time = ["%H", "%M", "%S", "%T", "%s", "%R", "%c", "%X", "%z", "%Z"]
            .iter()
            .any(|format| shown.contains(format));
        let bare = |word: &str| word.replace('"', "");
        let (mut start, pure_date) = match (&self.given, self.seconds) {
            (Some((format, value)), _) => match format.as_str() {
                "%Y-%m-%d" | "%Y%m%d" | "%F" => (bare(value), true),
                "%Y-%m-%d %H:%M:%S" | "%F %T" | "%Y-%m-%dT%H:%M:%S" => (bare(value), false),
                "%s" => (format!("@{}", bare(value)), false),
                _ => return None,
            },
            (None, Some(seconds)) => (format!("@{}", bare(seconds)), false),
            (None, None) => (String::new(), false),
        };
        let months = self.shifts.iter().any(|shift| shift.ends_with('m') || shift.ends_with('y'));
        if months {
            if by_day {
                return None;
            }
            // Counted from the first of the month: GNU would leave a month that is shorter.
            let utc = if self.utc || pure_date { "-u " } else { "" };
            let of = if start.is_empty() { String::new() } else { format!(" -d \"{start}\"") };
            start = format!(
                "$(date {utc}{}+%Y-%m-01)",
                of.trim_start().to_owned() + if of.is_empty() { "" } else { " " }
            );
        }
        let shifts: Vec<String> = self.shifts.iter().map(|shift| words_of(shift)).collect::<Option<_>>()?;
        let all: Vec<String> =
            std::iter::once(start).filter(|start| !start.is_empty()).chain(shifts).collect();
        let utc = if self.utc || (pure_date && !by_time) { " -u" } else { "" };
        let of = if all.is_empty() { String::new() } else { format!(" -d \"{}\"", all.join(" ")) };
        let output = self.output.map_or(String::new(), |output| format!(" {output}"));
        Some(format!("date{utc}{of}{output}"))
    }
}

/// `-1d` in words: `1 day ago`.
fn words_of(shift: &str) -> Option<String> {
    let unit = match shift.chars().next_back()? {
        'y' => "year",
        'm' => "month",
        'w' => "week",
        'd' => "day",
        'H' => "hour",
        'M' => "minute",
        'S' => "second",
        _ => return None,
    };
    let number = shift.get(1..shift.len() - 1).filter(|number| !number.is_empty())?;
    let number = number.replace('"', "");
    match shift.chars().next()? {
        '-' => Some(format!("{number} {unit} ago")),
        '+' => Some(format!("{number} {unit}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    fn gnu(line: &str) -> String {
        let case = TestCase::new("x.sh", line, TestScene::new())
            .fault(Fault::UnknownOption { command: "date".into(), option: "-j".into() });
        case.at(1).healed(&BsdOptions)
    }

    #[test]
    fn translates_dates() {
        assert_eq!(
            gnu("y=$(date -j -v-1d -f %Y-%m-%d \"$d\" +%Y%m%d)\n"),
            "y=$(date -u -d \"$d 1 day ago\" +%Y%m%d)\n"
        );
        assert_eq!(
            gnu("m=$(date -j -v-1m -f %Y-%m-%d \"$d\" +%Y%m)\n"),
            "m=$(date -u -d \"$(date -u -d \"$d\" +%Y-%m-01) 1 month ago\" +%Y%m)\n"
        );
        assert_eq!(gnu("date -v-2H -v +3d '+%F %H'\n"), "date -d \"2 hour ago 3 day\" '+%F %H'\n");
        assert_eq!(gnu("date -r \"$t\" +%F\n"), "date -d \"@$t\" +%F\n");
    }

    #[test]
    fn translates_other_tools() {
        let case =
            TestCase::new("x.sh", "sed -i '' -e \"s/a/b/\" \"$o\"\nsed -i .bak p q\n", TestScene::new())
                .fault(no_such(""))
                .at(1);
        assert_eq!(case.healed(&BsdOptions), "sed -i -e \"s/a/b/\" \"$o\"\nsed -i.bak p q\n");
        assert_eq!(gnu("n=$(stat -f %z \"$f\")\n"), "n=$(stat -c %s \"$f\")\n");
        assert_eq!(gnu("stat -f%z f\n"), "stat -c %s f\n");
        assert_eq!(gnu("stat -f '%Su %Lp' f\n"), "stat -c '%U %a' f\n");
        assert_eq!(gnu("find a | xargs -0 -J % mv % b/\n"), "find a | xargs -0 -I % mv % b/\n");
        let case = TestCase::new("x.sh", "f() { sed -i '' \"s|^$1=.*|$1=2|\" c; x; }\n", TestScene::new())
            .fault(Fault::UnmatchedGlob { pattern: "s|^a=.*|a=2|".into() })
            .at(1);
        assert_eq!(case.healed(&BsdOptions), "f() { sed -i \"s|^$1=.*|$1=2|\" c; x; }\n");
        assert_eq!(gnu("base64 -D < x\n"), "base64 -d < x\n");
        assert_eq!(gnu("find -E . -regex '.*'\n"), "find . -regextype posix-extended -regex '.*'\n");
    }

    #[test]
    fn leaves_gnu_forms_and_unclear_ones_alone() {
        let silent = |line: &str| {
            TestCase::new("x.sh", line, TestScene::new())
                .fault(Fault::UnknownOption { command: "date".into(), option: "-q".into() })
                .silent(&BsdOptions)
        };
        assert!(
            silent("date -d yesterday +%F\n") && silent("date -r file +%F\n") && silent("stat -f -c %s /\n")
        );
        assert!(silent("date -v-1m +%F\n"));
        assert!(silent("ls | xargs -J % tar cf x %\n") && silent("ls | xargs -J % cp % a/% b/\n"));
    }
}
