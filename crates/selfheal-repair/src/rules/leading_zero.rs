//! # A number with a leading zero
//!
//! ## What it finds
//! Shell arithmetic or `printf %d` gets `08` or `09`, usually a month, day or hour.
//!
//! ## Why it fails
//! A leading zero marks a number to the base eight, which has no digits 8 and 9. It goes well for seven months.
//!
//! ## Fix
//! The value is read to the base ten: where it is assigned, if it is used only as a number, else where it is calculated
//! with.
//!
//! ## Example
//! ```sh
//! month=${period#*-}
//! next=$((month + 1))
//! ```
//! ```sh
//! month=$((10#${period#*-}))
//! next=$((month + 1))
//! ```
//!
//! ## Safety
//! Where the digits themselves are used, as in a file name, the variable keeps its zero. Other numbers that are cut out of
//! the same date or time are mended with it.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};
use crate::shell::{Script, splice, variables};
use crate::text;

rule!(LeadingZero, "leading_zero", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let value = case.faults().find_map(|fault| match fault {
        Fault::BadValue { value: Some(value), .. } if is_octal_like(value) => Some(value.clone()),
        Fault::BadValue { value: None, message }
        | Fault::Syntax { message, .. }
        | Fault::Other { message } => {
            let words = message.split(|c: char| !c.is_ascii_digit());
            words
                .filter(|_| message.contains("base") || message.contains("octal"))
                .find(|w| is_octal_like(w))
                .map(str::to_owned)
        }
        _ => None,
    });
    let Some(value) = value else { return Vec::new() };
    let Some(file) = case.failing_file().filter(|file| file.language == Language::Bash) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let arithmetic = arithmetic_spans(&file.text);
    // The report may point at the line where the missing result is used first.
    let line =
        case.line_in(&file).filter(|line| arithmetic.iter().any(|span| script.line_of(span.start) == *line));
    let mut candidates = names(case, &script, &arithmetic, line, &value);
    let same = same_kind(&script, &candidates);
    candidates.extend(same);
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    for name in &candidates {
        parts.extend(mended(&script, &arithmetic, name));
    }
    parts.extend(direct(&file.text, &arithmetic, line, &script));
    parts.sort_by_key(|(span, _)| span.start);
    parts.dedup_by_key(|(span, _)| span.start);
    let Some((first, _)) = parts.first() else { return Vec::new() };
    let number = line.unwrap_or(script.line_of(first.start));
    let lines: Vec<String> = parts.iter().map(|(span, _)| script.line_of(span.start).to_string()).collect();
    let draft = Draft::new(
        "leading_zero",
        format!("line {number}: {value} begins with a zero, so the shell reads it to the base eight, which has no such digit"),
        "read the number to the base ten",
    )
    .evidence(format!("the value is {value}"))
    .rewrite(&file, splice(&file.text, parts), format!("line {}: to the base ten", lines.join(", ")));
    draft.done().into_iter().collect()
}

fn is_octal_like(value: &str) -> bool {
    let digits = value.trim();
    digits.len() > 1
        && digits.starts_with('0')
        && digits.chars().all(|c| c.is_ascii_digit())
        && digits.contains(['8', '9'])
}

/// The insides of `$((…))`, `((…))` and of the numeric tests in `[[ … ]]` are taken for arithmetic.
fn arithmetic_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices("((") {
        let start = at + 2;
        if spans.last().is_some_and(|last| start < last.end) {
            continue;
        }
        let end = text.get(start..).and_then(|rest| rest.find("))")).map_or(text.len(), |end| start + end);
        spans.push(start..end);
    }
    spans
}

/// The variables that may have the value: by what a probe saw, else all in the arithmetic of the failing line.
fn names(
    case: &Case,
    script: &Script<'_>,
    arithmetic: &[Range<usize>],
    line: Option<u32>,
    value: &str,
) -> Vec<String> {
    let on_line = |span: &&Range<usize>| line.is_none_or(|line| script.line_of(span.start) == line);
    let mut names: Vec<String> = Vec::new();
    for span in arithmetic.iter().filter(on_line) {
        let inner = script.get(span);
        let words = inner
            .split(|c: char| !text::is_name(c))
            .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'));
        names.extend(words.map(str::to_owned));
    }
    for command in script.commands.iter().filter(|c| line.is_some_and(|line| script.covers(c, line))) {
        let words = script.words(command);
        let numeric = words.iter().any(|w| matches!(*w, "-lt" | "-gt" | "-le" | "-ge" | "-eq" | "-ne"));
        if script.name(command) == "printf"
            || (script.name(command) == "[[" && numeric)
            || script.name(command) == "let"
        {
            names.extend(words.iter().skip(1).flat_map(|word| variables(word)));
        }
    }
    names.sort();
    names.dedup();
    let seen: Vec<String> = names
        .iter()
        .filter(|name| case.trace.and_then(|t| t.value(name)).is_some_and(|v| v == value))
        .cloned()
        .collect();
    if !seen.is_empty() {
        return seen;
    }
    // Without a probe: variables that are not set from arithmetic themselves.
    let read = |name: &String| {
        script
            .commands
            .iter()
            .any(|c| script.name(c) == "read" && script.words(c).iter().skip(1).any(|word| word == name))
    };
    names.retain(|name| {
        read(name)
            || script.assignments().any(|(known, span, _)| known == name && !script.get(&span).contains("(("))
    });
    names
}

/// Variables that are cut out of the same text as others, or asked of `date` like them: a leading zero is a matter of the
/// day for them, too.
fn same_kind(script: &Script<'_>, names: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for command in script.commands.iter().filter(|command| script.name(command) == "read") {
        let dated = command.assigns.iter().any(|span| {
            let value = script.get(span).strip_prefix("IFS=").map(|value| value.trim_matches(['"', '\'']));
            matches!(value, Some("-" | ":" | "/" | "." | "-:" | ":-" | "T"))
        });
        let words = script.words(command);
        if dated && words.iter().any(|word| names.iter().any(|name| name == word)) {
            found.extend(
                words.iter().skip(1).filter(|word| !word.starts_with('-')).map(|word| (*word).to_owned()),
            );
        }
    }
    let sources: Vec<String> = script
        .assignments()
        .filter(|(name, ..)| names.iter().any(|known| known == name))
        .filter_map(|(_, value, _)| cut_from(script.get(&value)))
        .collect();
    for (name, value, _) in script.assignments() {
        if cut_from(script.get(&value)).is_some_and(|source| sources.contains(&source)) {
            found.push(name.to_owned());
        }
    }
    found.retain(|name| !names.contains(name));
    found.sort();
    found.dedup();
    found
}

/// What a value is cut out of: the variable of `${now:0:2}` and `${day#*-}`, or `date` for one number of `$(date +%m)`.
fn cut_from(value: &str) -> Option<String> {
    let value = value.trim_matches('"');
    if let Some(inner) = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) {
        let end = inner.find(|c: char| !text::is_name(c)).filter(|end| *end > 0)?;
        let (name, how) = inner.split_at(end);
        let default = [":-", ":=", ":?", ":+"].iter().any(|start| how.starts_with(start));
        return (how.starts_with([':', '#', '%']) && !default).then(|| name.to_owned());
    }
    let format = value.strip_prefix("$(date ")?.strip_suffix(')')?.rsplit('+').next()?;
    let plain = format.trim_matches(['"', '\'']);
    matches!(plain, "%m" | "%d" | "%H" | "%M" | "%S" | "%j" | "%U" | "%V" | "%W" | "%y")
        .then(|| "date".to_owned())
}

/// The edits for one variable: at its assignment when it is nowhere used but as a number, else at each use as a number.
fn mended(script: &Script<'_>, arithmetic: &[Range<usize>], name: &str) -> Vec<(Range<usize>, String)> {
    let text = script.text;
    let numeric_printf = |at: usize| {
        script.commands.iter().any(|command| {
            let inside = command.span.start <= at && at < command.span.end;
            inside
                && script.name(command) == "printf"
                && script.words(command).get(1).is_some_and(|f| f.contains('d'))
        })
    };
    let in_arithmetic = |at: usize| arithmetic.iter().any(|span| span.start <= at && at < span.end);
    let uses: Vec<usize> = text::whole_words(text, name).collect();
    let assigned: Vec<Range<usize>> =
        script.assignments().filter(|(known, ..)| *known == name).map(|(_, value, _)| value).collect();
    let reads = |at: &&usize| {
        text.get(..**at).is_some_and(|before| before.ends_with('$') || before.ends_with("${"))
            || in_arithmetic(**at)
    };
    let plain_number = uses.iter().filter(reads).all(|at| in_arithmetic(*at) || numeric_printf(*at));
    if let ([value], true) = (assigned.as_slice(), plain_number) {
        let source = script.get(value).replace('"', "");
        if source.starts_with('$') && !source.starts_with("$((") {
            return vec![(value.clone(), format!("$((10#{source}))"))];
        }
    }
    uses.iter()
        .filter(reads)
        .filter_map(|at| at_use(text, name, *at, in_arithmetic(*at), numeric_printf(*at)))
        .collect()
}

fn at_use(
    text: &str,
    name: &str,
    at: usize,
    arithmetic: bool,
    printf: bool,
) -> Option<(Range<usize>, String)> {
    let before = text.get(..at)?;
    let end = at + name.len();
    let rest = text.get(end..)?.trim_start();
    let (start, end) = if before.ends_with("${") {
        (at - 2, end + 1)
    } else if before.ends_with('$') {
        (at - 1, end)
    } else {
        (at, end)
    };
    let simple = !before.ends_with("${") || text.get(end - 1..end) == Some("}");
    let target = rest.starts_with("++")
        || rest.starts_with("--")
        || (rest.starts_with('=') && !rest.starts_with("=="));
    let based = text.get(..start)?.ends_with("10#");
    if !simple || target || based {
        return None;
    }
    if arithmetic {
        return Some((start..end, format!("10#${name}")));
    }
    printf.then(|| (start..end, format!("$((10#${name}))")))
}

/// `$(( $(date +%d) + 1 ))`: the substitution itself gives the number.
fn direct(
    text: &str,
    arithmetic: &[Range<usize>],
    line: Option<u32>,
    script: &Script<'_>,
) -> Vec<(Range<usize>, String)> {
    let mut parts = Vec::new();
    for span in arithmetic.iter().filter(|span| line.is_none_or(|line| script.line_of(span.start) == line)) {
        for (at, _) in script.get(span).match_indices("$(") {
            let at = span.start + at;
            if !text.get(..at).is_some_and(|before| before.ends_with("10#")) {
                parts.push((at..at, "10#".to_owned()));
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use selfheal_core::trace::{Frame, Trace};

    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, line: u32) -> TestCase {
        let fault = Fault::BadValue { value: Some("08".into()), message: "value too great for base".into() };
        TestCase::new("x.sh", text, TestScene::new()).fault(fault).at(line)
    }

    #[test]
    fn mends_the_assignment_of_a_plain_number() {
        let text = "month=${period#*-}\nn=$((month + 1))\nprintf '%02d\\n' \"$month\"\n";
        assert_eq!(case(text, 2).healed(&LeadingZero), text.replace("${period#*-}", "$((10#${period#*-}))"));
    }

    #[test]
    fn keeps_the_digits_where_they_are_used() {
        let text = "day=$(date +%d)\nnext=$(( day + 1 ))\ncp log \"log.$day\"\n";
        assert_eq!(case(text, 2).healed(&LeadingZero), text.replace("(( day", "(( 10#$day"));
    }

    #[test]
    fn mends_all_numbers_of_the_same_kind() {
        let text = "IFS=- read -r y m d < date\nif (( m >= 6 )); then x; fi\ndays=$(( d + 0 ))\n";
        let healed = text.replace("(( m", "(( 10#$m").replace("(( d", "(( 10#$d");
        assert_eq!(case(text, 3).healed(&LeadingZero), healed);
        let text = "h=${t:0:2}\nm=${t:3:2}\nn=${u%,*}\nx=$((h * 60 + y))\nz=$((m + n))\n";
        let healed = text.replace("${t:0:2}", "$((10#${t:0:2}))").replace("${t:3:2}", "$((10#${t:3:2}))");
        assert_eq!(case(text, 4).healed(&LeadingZero), healed);
        let text = "IFS=, read -r name n cost < list\nx=$(( n + 1 ))\nz=$(( cost * 2 ))\n";
        let trace = Trace {
            frames: vec![Frame {
                values: BTreeMap::from([("n".to_owned(), "08".to_owned())]),
                ..Frame::default()
            }],
            ..Trace::default()
        };
        assert_eq!(case(text, 2).trace(trace).healed(&LeadingZero), text.replace("(( n", "(( 10#$n"));
    }

    #[test]
    fn mends_a_substitution_in_arithmetic() {
        assert_eq!(
            case("x=$(( $(date +%H) * 2 ))\n", 1).healed(&LeadingZero),
            "x=$(( 10#$(date +%H) * 2 ))\n"
        );
    }

    #[test]
    fn leaves_other_bad_numbers_alone() {
        let fault = Fault::BadValue { value: Some("1,5".into()), message: String::new() };
        assert!(
            TestCase::new("x.sh", "x=$((y + 1))\n", TestScene::new()).fault(fault).at(1).silent(&LeadingZero)
        );
    }
}
