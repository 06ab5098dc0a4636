//! # Numbers with a decimal point in shell arithmetic
//!
//! ## What it finds
//! `$((…))`, `((…))` or a test with `-gt` gets a number with a decimal point: `syntax error: invalid arithmetic operator`,
//! `integer expression expected`.
//!
//! ## Why it fails
//! The shell calculates with whole numbers only. The data were whole for a long time, or were never tried.
//!
//! ## Fix
//! awk calculates, wherever the script calculates with that value or with what came out of it. What is no number still fails the
//! step, and awk says so.
//!
//! ## Example
//! ```sh
//! over=$((temp - limit))
//! ```
//! ```sh
//! over=$(awk -v temp="$temp" -v limit="$limit" 'BEGIN { if ((temp " " limit) ~ /[^-+.0-9 ]/) { print "not a number" > "/dev/stderr"; exit 2 } printf "%.14g\n", temp - limit }')
//! ```
//!
//! ## Safety
//! Only plain calculations (`+ - * /` and comparisons) of variables and numbers; a rest, bits, or a count in a place where only a
//! whole number makes sense are left alone. A division gives parts of a whole where it was cut off before. It changes what is
//! computed, so the risk is medium.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Script, splice, unquoted};
use crate::text::is_name;

rule!(DecimalArithmetic, "decimal_arithmetic", Unsafe, propose);

/// Names that mean something to awk.
const OF_AWK: &[&str] = &[
    "BEGIN", "END", "NF", "NR", "FS", "OFS", "RS", "ORS", "FNR", "FILENAME", "ENVIRON", "SUBSEP", "RSTART",
    "RLENGTH", "ARGC", "ARGV", "CONVFMT", "OFMT", "if", "else", "in", "for", "while", "do", "next", "exit",
    "print", "printf", "delete", "function", "func", "return", "length", "index", "substr", "split", "sub",
    "gsub", "match", "int", "log", "exp", "sqrt", "sin", "cos", "atan2", "rand", "srand", "close", "system",
    "getline", "tolower", "toupper", "sprintf", "break", "continue", "default", "switch", "case",
];
/// What awk does with a value that is no number: the shell would have said so too, in a test that ends quietly above all.
const NO_NUMBER: &str = "{ print \"not a number\" > \"/dev/stderr\"; exit 2 }";
/// Rounds in which what came out of a decimal number is followed.
const MOST_ROUNDS: usize = 20;

/// A place where the shell calculates.
struct Site {
    span: Range<usize>,
    line: u32,
    kind: Kind,
    /// The expression as awk has it, and the variables in it; `None` where awk has no such thing.
    sum: Option<Sum>,
    /// The names of all variables that the source may mean.
    names: Vec<String>,
    /// Whether a number with a decimal point stands in it.
    decimal: bool,
    /// The variable that gets the result.
    sets: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `$((…))`.
    Value,
    /// A comparison whose status counts.
    Test,
    /// `((x += …))`.
    Change,
}

#[derive(Clone)]
struct Sum {
    text: String,
    names: Vec<String>,
}

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().any(|fault| match fault {
        Fault::BadValue { value, message } => {
            value.as_deref().is_some_and(is_decimal) || message.split(['"', ' ']).any(is_decimal)
        }
        _ => false,
    });
    let Some(file) = case.failing_file().filter(|file| told && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let Some(line) = case.line_in(&file) else { return Vec::new() };
    let sites = sites(&script);
    let Some(parts) = mended(case, &sites, line) else { return Vec::new() };
    let lines: Vec<String> = parts.iter().map(|(span, _)| script.line_of(span.start).to_string()).collect();
    Draft::new(
        "decimal_arithmetic",
        format!(
            "line {line}: a number has a decimal point, and the shell calculates with whole numbers only"
        ),
        "let awk calculate with these numbers",
    )
    .evidence(crate::text::shortened(&case.report.core_error, 120))
    .meaning()
    .rewrite(&file, splice(&file.text, parts), format!("line {}: awk calculates", lines.join(", ")))
    .done()
    .into_iter()
    .collect()
}

/// `21.5`, `.5`, `-3.25`; not `1.2.3`.
fn is_decimal(text: &str) -> bool {
    let text = text.trim().trim_start_matches(['-', '+']);
    text.len() > 1
        && text.matches('.').count() == 1
        && text.ends_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// The edits of all sites that a decimal number gets to; `None` where one of them cannot be.
fn mended(case: &Case, sites: &[Site], line: u32) -> Option<Vec<(Range<usize>, String)>> {
    let here: Vec<&Site> = sites.iter().filter(|site| site.line == line).collect();
    let all: Vec<&String> = here.iter().flat_map(|site| &site.names).collect();
    let value = |name: &str| case.trace.and_then(|trace| trace.value(name));
    let mut decimal: Vec<String> =
        all.iter().filter(|name| value(name).is_some_and(is_decimal)).map(|name| (*name).clone()).collect();
    if decimal.is_empty() && !here.iter().any(|site| site.decimal) {
        decimal = all.into_iter().cloned().collect();
    }
    let touched = |site: &Site, decimal: &[String]| {
        (site.decimal && site.line == line) || site.names.iter().any(|name| decimal.contains(name))
    };
    for _ in 0..MOST_ROUNDS {
        let sets = sites.iter().filter(|site| touched(site, &decimal)).filter_map(|site| site.sets.clone());
        let new: Vec<String> = sets.filter(|name| !decimal.contains(name)).collect();
        if new.is_empty() {
            break;
        }
        decimal.extend(new);
    }
    let found: Vec<&Site> = sites.iter().filter(|site| touched(site, &decimal)).collect();
    if !found.iter().any(|site| site.line == line) {
        return None;
    }
    found.into_iter().map(|site| Some((site.span.clone(), by_awk(site)?))).collect()
}

fn by_awk(site: &Site) -> Option<String> {
    let sum = site.sum.as_ref()?;
    let own = |name: &str| if OF_AWK.contains(&name) { format!("v_{name}") } else { name.to_owned() };
    let given: String = sum.names.iter().map(|name| format!("-v {}=\"${name}\" ", own(name))).collect();
    let names: Vec<String> = sum.names.iter().map(|name| own(name)).collect();
    let guard = match names.as_slice() {
        [] => String::new(),
        [one] => format!("if ({one} ~ /[^-+.0-9]/) {NO_NUMBER} "),
        many => format!("if (({}) ~ /[^-+.0-9 ]/) {NO_NUMBER} ", many.join(" \" \" ")),
    };
    Some(match site.kind {
        Kind::Value => format!("$(awk {given}'BEGIN {{ {guard}printf \"%.14g\\n\", {} }}')", sum.text),
        Kind::Test => format!("awk {given}'BEGIN {{ {guard}exit !({}) }}'", sum.text),
        Kind::Change => {
            let set = site.sets.as_ref()?;
            format!("{set}=$(awk {given}'BEGIN {{ {guard}printf \"%.14g\\n\", {} }}')", sum.text)
        }
    })
}

/// All places of a script where the shell calculates.
fn sites(script: &Script<'_>) -> Vec<Site> {
    let mut out: Vec<Site> = Vec::new();
    let text = script.text;
    let remark = |at: usize| {
        text.get(script.line_start(at)..at).is_some_and(|lead| lead.trim_start().starts_with('#'))
    };
    for (at, _) in text.match_indices("((").take(2_000) {
        let last = out.last().map_or(0, |site| site.span.end);
        let end = text.get(at..).and_then(|rest| rest.find("))")).map(|end| at + end);
        let Some(end) = end.filter(|_| at >= last && !remark(at)) else { continue };
        let inner = text.get(at + 2..end).unwrap_or_default();
        if text.get(..at).is_some_and(|before| before.ends_with('$')) {
            let span = at - 1..end + 2;
            let sets = script
                .assignments()
                .find(|(_, value, _)| {
                    script.get(value).trim_matches('"') == script.get(&span) && covers(value, &span)
                })
                .map(|(name, ..)| name.to_owned());
            out.push(site(script, span, Kind::Value, inner, sets));
        } else {
            out.push(command_of(script, at..end + 2, inner));
        }
    }
    for command in &script.commands {
        let words = script.words(command);
        let (left, how, right) = match words.as_slice() {
            ["[", left, how, right, "]"] | ["[[", left, how, right, "]]"] | ["test", left, how, right] => {
                (left, how, right)
            }
            _ => continue,
        };
        let Some(sign) = sign_of(how) else { continue };
        let span = command.words.first().map_or(0, |word| word.start)
            ..command.words.last().map_or(0, |word| word.end);
        let inner = format!("{} {sign} {}", unquoted_value(left), unquoted_value(right));
        out.push(site(script, span, Kind::Test, &inner, None));
    }
    out
}

fn covers(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn unquoted_value(word: &str) -> String {
    let bare = word.trim_matches('"');
    if bare.starts_with('$') { bare.to_owned() } else { unquoted(word) }
}

fn sign_of(option: &str) -> Option<&'static str> {
    Some(match option {
        "-gt" => ">",
        "-ge" => ">=",
        "-lt" => "<",
        "-le" => "<=",
        "-eq" => "==",
        "-ne" => "!=",
        _ => return None,
    })
}

/// `((…))` as a command: a comparison, or a change of one variable.
fn command_of(script: &Script<'_>, span: Range<usize>, inner: &str) -> Site {
    let changed = ["+=", "-=", "*=", "/="].iter().find_map(|sign| {
        let (name, by) = inner.split_once(sign)?;
        let name = name.trim();
        (!name.is_empty() && name.chars().all(is_name)).then(|| {
            let sign = sign.get(..1).unwrap_or_default();
            (name.to_owned(), format!("{name} {sign} ({})", by.trim()))
        })
    });
    match changed {
        Some((name, sum)) => site(script, span, Kind::Change, &sum, Some(name)),
        None => {
            let compares = inner.contains(['<', '>']) || inner.contains("==") || inner.contains("!=");
            let mut test = site(script, span, Kind::Test, inner, None);
            test.sum = test.sum.filter(|_| compares);
            test
        }
    }
}

fn site(script: &Script<'_>, span: Range<usize>, kind: Kind, inner: &str, sets: Option<String>) -> Site {
    let names: Vec<String> = inner
        .split(|c: char| !is_name(c))
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .map(str::to_owned)
        .collect();
    let decimal = inner.split(|c: char| !(c.is_ascii_digit() || c == '.')).any(is_decimal);
    Site { line: script.line_of(span.start), span, kind, sum: sum(inner, kind), names, decimal, sets }
}

/// An expression as awk has it: numbers, variables, `+ - * /`, brackets, and comparisons in a test.
fn sum(inner: &str, kind: Kind) -> Option<Sum> {
    let mut text = String::new();
    let mut names: Vec<String> = Vec::new();
    let mut rest = inner.trim();
    while let Some(c) = rest.chars().next() {
        let word = |text: &str| text.find(|c: char| !(is_name(c) || c == '.')).unwrap_or(text.len());
        if c == '$' || is_name(c) || c == '.' {
            let (name, behind) = match rest.strip_prefix("${") {
                Some(inner) => inner.split_once('}')?,
                None => {
                    let bare = rest.strip_prefix('$').unwrap_or(rest);
                    bare.split_at_checked(word(bare))?
                }
            };
            rest = behind;
            if name.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
                // `$1` is an argument, `10#08` a base, `0x1f` no number of awk's.
                let plain = c != '$' && name.chars().all(|c| c.is_ascii_digit() || c == '.');
                let base =
                    rest.starts_with('#') || (name.len() > 1 && name.starts_with('0') && !name.contains('.'));
                if !plain || base {
                    return None;
                }
                text.push_str(name);
                continue;
            }
            if name.is_empty() || !name.chars().all(is_name) || rest.starts_with('[') {
                return None;
            }
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
            text.push_str(&if OF_AWK.contains(&name) { format!("v_{name}") } else { name.to_owned() });
            continue;
        }
        let sign = ["&&", "||", "<=", ">=", "==", "!="].into_iter().find(|sign| rest.starts_with(sign));
        if let Some(sign) = sign.filter(|_| kind == Kind::Test) {
            text.push_str(sign);
            rest = rest.get(sign.len()..)?;
            continue;
        }
        let doubled = ["++", "--", "**", "<<", ">>"].iter().any(|sign| rest.starts_with(sign));
        let known = matches!(c, '+' | '-' | '*' | '/' | '(' | ')' | ' ')
            || (kind == Kind::Test && matches!(c, '<' | '>'));
        if doubled || !known {
            return None;
        }
        text.push(c);
        rest = rest.get(1..)?;
    }
    let closed = text.matches('(').count() == text.matches(')').count();
    (closed && !text.is_empty()).then_some(Sum { text, names })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use selfheal_core::trace::{Frame, Trace};

    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, line: u32, values: &[(&str, &str)]) -> TestCase {
        let fault =
            Fault::BadValue { value: Some(".5".into()), message: "invalid arithmetic operator".into() };
        let values: BTreeMap<String, String> =
            values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let trace = Trace { frames: vec![Frame { values, ..Frame::default() }], ..Trace::default() };
        TestCase::new("x.sh", text, TestScene::new()).fault(fault).at(line).trace(trace)
    }

    #[test]
    fn awk_calculates_with_the_number_and_with_what_comes_out_of_it() {
        let text = "limit=30\nover=$((temp - limit))\nif [ \"$over\" -gt 0 ]; then echo $((count + 1)); fi\n";
        let healed = case(text, 2, &[("temp", "21.5"), ("limit", "30")]).healed(&DecimalArithmetic);
        assert_eq!(
            healed,
            "limit=30\nover=$(awk -v temp=\"$temp\" -v limit=\"$limit\" 'BEGIN { if ((temp \" \" limit) ~ /[^-+.0-9 ]/) { print \"not a number\" > \"/dev/stderr\"; exit 2 } printf \"%.14g\\n\", temp - limit }')\nif awk -v over=\"$over\" 'BEGIN { if (over ~ /[^-+.0-9]/) { print \"not a number\" > \"/dev/stderr\"; exit 2 } exit !(over > 0) }'; then echo $((count + 1)); fi\n"
        );
    }

    #[test]
    fn sums_that_grow_are_followed() {
        let text =
            "sum=0\nwhile read -r a b; do\n  ((sum += b)) || true\ndone < f\nif (( sum > 9 )); then x; fi\n";
        let healed = case(text, 3, &[("b", "2.5")]).healed(&DecimalArithmetic);
        assert!(healed.contains("  sum=$(awk -v sum=\"$sum\" -v b=\"$b\" 'BEGIN"), "{healed}");
        assert!(healed.contains("if awk -v sum=\"$sum\" 'BEGIN { if (sum ~ /[^-+.0-9]/) { print \"not a number\" > \"/dev/stderr\"; exit 2 } exit !(sum > 9) }'; then x; fi"), "{healed}");
        let text = "price=$(( net * 1.19 ))\n";
        let healed = case(text, 1, &[("net", "10")]).healed(&DecimalArithmetic);
        assert!(healed.contains("printf \"%.14g\\n\", net * 1.19 }')"), "{healed}");
    }

    #[test]
    fn what_needs_whole_numbers_is_left_alone() {
        assert!(case("x=$((n % 7))\n", 1, &[("n", "1.5")]).silent(&DecimalArithmetic));
        assert!(case("x=$((list[n] + 1))\n", 1, &[("n", "1.5")]).silent(&DecimalArithmetic));
        assert!(case("x=$((10#$n + 1))\n", 1, &[("n", "1.5")]).silent(&DecimalArithmetic));
        let other =
            Fault::BadValue { value: Some("1.2.3".into()), message: "invalid arithmetic operator".into() };
        let case = TestCase::new("x.sh", "x=$((n + 1))\n", TestScene::new()).fault(other).at(1);
        assert!(case.silent(&DecimalArithmetic));
    }
}
