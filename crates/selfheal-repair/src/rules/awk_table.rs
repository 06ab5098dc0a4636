//! # awk reads a table that is written in another way
//!
//! ## What it finds
//! An awk program, in a file or within a shell script, splits a table at one separator or at blanks, and the table has another one; with
//! it often come decimal commas and dates with the day first.
//!
//! ## Why it fails
//! Programs that export tables follow the settings of their system. awk takes the whole line for one field then.
//!
//! ## Fix
//! The separator that the table has is set. Where a column holds decimal commas, they become points before the program
//! computes with them; where the program's own text shows dates as `2024-05-31` and a column has them as `31.05.2024`, these
//! are turned round.
//!
//! ## Example
//! ```awk
//! BEGIN { FS = "," }
//! { sum += $2 }
//! ```
//! ```awk
//! BEGIN { FS = ";" }
//! { sub(/,/, ".", $2) }
//! { sum += $2 }
//! ```
//!
//! ## Safety
//! Only when the program's separator is not in the head line, and the new one gives every line the same number of columns,
//! enough for the program. A column counts as one of decimal commas only when all of it are numbers and one has other than
//! three digits behind its comma. It changes what is read, so the risk is medium.

use std::ops::Range;
use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::shell::{Command, Script, Values, splice, unquoted};

rule!(AwkTable, "awk_table", Unsafe, propose);

const AWKS: &[&str] = &["awk", "gawk", "mawk", "nawk"];
const SEPARATORS: &[char] = &[';', ',', '\t', '|'];
/// Lines of a table that are looked at.
const MOST_LINES: usize = 20_000;

/// An awk program with the table that it reads.
struct Program {
    file: ScriptFile,
    /// Where the program stands in its file.
    text: Range<usize>,
    /// The separator that it sets, and where.
    separator: (char, Range<usize>),
    table: PathBuf,
}

fn propose(case: &Case) -> Vec<Candidate> {
    let fits = case.faults().any(|fault| {
        matches!(
            fault,
            Fault::Other { .. } | Fault::SilentExit { .. } | Fault::BadValue { .. } | Fault::Mismatch { .. }
        )
    });
    if !fits {
        return Vec::new();
    }
    let programs = own_program(case).into_iter().chain(in_scripts(case));
    programs.filter_map(|program| mended(case, &program)).take(1).collect()
}

/// `awk -f program table`.
fn own_program(case: &Case) -> Option<Program> {
    let words: Vec<String> = case.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let name = Path::new(words.first()?).file_name()?.to_string_lossy().into_owned();
    let at = words.iter().position(|word| word == "-f").filter(|_| AWKS.contains(&name.as_str()))?;
    let file = case.file(&case.find(Path::new(words.get(at + 1)?))?)?;
    let table = words.iter().skip(at + 2).find_map(|word| case.find(Path::new(word)))?;
    let separator = set_inside(&file.text, 0)?;
    Some(Program { text: 0..file.text.len(), separator, table, file })
}

fn in_scripts(case: &Case) -> Vec<Program> {
    let mut out = Vec::new();
    for file in case.files().into_iter().filter(|file| file.language.is_shell()) {
        let script = Script::new(&file.text);
        let values = Values::new(case, &script, file.folder());
        let awks = script.commands.iter().filter(|command| AWKS.contains(&script.name(command).as_str()));
        out.extend(awks.filter_map(|command| in_command(case, &file, &script, &values, command)));
    }
    out
}

fn in_command(
    case: &Case,
    file: &ScriptFile,
    script: &Script<'_>,
    values: &Values<'_>,
    command: &Command,
) -> Option<Program> {
    let at = command.words.iter().position(|span| {
        let word = script.get(span);
        word.starts_with('\'') && word.ends_with('\'') && word.contains(['{', '$'])
    })?;
    let quoted = command.words.get(at)?;
    let text = quoted.start + 1..quoted.end - 1;
    let given = command.words.iter().take(at).skip(1).find_map(|span| {
        let word = script.get(span);
        let mark = one_mark(&unquoted(word.strip_prefix("-F")?))?;
        Some((mark, span.start + 2..span.end))
    });
    // Without a separator awk splits at blanks, which a table with another one has within its fields.
    let blanks = || {
        let end = command.words.first()?.end;
        let own = crate::text::whole_words(script.get(&text), "FS").next().is_none();
        (own && last_field(script.get(&text)) > 1).then_some((' ', end..end))
    };
    let separator = given.or_else(|| set_inside(script.get(&text), text.start)).or_else(blanks)?;
    let read = command.redirects.iter().filter(|(operator, _)| script.get(operator) == "<").map(|(_, to)| to);
    let names = command.words.iter().skip(at + 1).chain(read);
    let table = names
        .filter_map(|span| values.word(script.get(span)))
        .find_map(|name| case.find(Path::new(&name)))?;
    Some(Program { file: file.clone(), text, separator, table })
}

/// `FS = ","` in a program that begins at a place of its file.
fn set_inside(program: &str, start: usize) -> Option<(char, Range<usize>)> {
    crate::text::whole_words(program, "FS").find_map(|at| {
        let rest = program.get(at + 2..)?;
        let value = rest.trim_start().strip_prefix('=')?.trim_start();
        let inner = value.strip_prefix('"')?;
        let (written, _) = inner.split_once('"')?;
        let mark = one_mark(written)?;
        let from = start + program.len() - value.len();
        Some((mark, from..from + written.len() + 2))
    })
}

/// The one character that a separator is, a tab as `\t` too.
fn one_mark(written: &str) -> Option<char> {
    let mut marks = written.chars();
    match (written, marks.next(), marks.next()) {
        ("\\t", ..) => Some('\t'),
        (_, Some(mark), None) => Some(mark),
        _ => None,
    }
}

fn mended(case: &Case, program: &Program) -> Option<Candidate> {
    let bytes = case.scene.read(&program.table, crate::case::LARGEST)?;
    let data = String::from_utf8(bytes).ok()?;
    let rows: Vec<&str> = data.lines().filter(|line| !line.trim().is_empty()).take(MOST_LINES).collect();
    let (old, place) = &program.separator;
    let source = program.file.text.get(program.text.clone())?;
    let (new, columns) = separator(&rows, *old)?;
    if last_field(source) > columns {
        return None;
    }
    let name = program.table.file_name()?.to_string_lossy().into_owned();
    let line = crate::python::line_of(&program.file.text, place.start);
    let in_text = program.file.text.get(place.clone())?.starts_with('"');
    let mark = if new == '\t' { "\\t".to_owned() } else { new.to_string() };
    let written = match (in_text, place.is_empty()) {
        (true, _) => format!("\"{mark}\""),
        (false, true) => format!(" -F'{mark}'"),
        (false, false) => format!("'{mark}'"),
    };
    let mut parts = vec![(place.clone(), written)];
    let normal = normal_forms(&rows, new, source, &program.file.text);
    if !normal.is_empty() {
        parts.push(put_first(program, source, &normal.join("; ")));
    }
    let more = if normal.is_empty() { "" } else { ", and numbers and dates as the program wants them" };
    Draft::new(
        "awk_table",
        format!("line {line}: {name} separates its columns with {new:?}, not with {old:?}"),
        "read the table the way it is written",
    )
    .evidence(format!("read so, every line of {name} has {columns} columns"))
    .meaning()
    .rewrite(
        &program.file,
        splice(&program.file.text, parts),
        format!("line {line}: {new:?} separates columns{more}"),
    )
    .done()
}

/// The one other separator with which all lines have the same number of columns, more than one.
pub(super) fn separator(rows: &[&str], old: char) -> Option<(char, usize)> {
    let head = rows.first().filter(|head| !head.contains(old) && rows.len() > 1)?;
    let even = |mark: char| {
        let columns = head.split(mark).count();
        (columns > 1 && rows.iter().all(|row| row.split(mark).count() == columns)).then_some((mark, columns))
    };
    let mut found = SEPARATORS.iter().filter(|mark| **mark != old).filter_map(|mark| even(*mark));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The highest number behind a `$` in a program.
fn last_field(program: &str) -> usize {
    let fields = program.match_indices('$').filter_map(|(at, _)| {
        let digits: String =
            program.get(at + 1..)?.chars().take_while(char::is_ascii_digit).take(4).collect();
        digits.parse().ok()
    });
    fields.max().unwrap_or(0)
}

/// What turns columns into the forms that the program computes with.
fn normal_forms(rows: &[&str], mark: char, program: &str, all: &str) -> Vec<String> {
    let mut out = Vec::new();
    let columns = rows.first().map_or(0, |head| head.split(mark).count());
    for column in 1..=columns {
        let used = crate::text::whole_words(program, &column.to_string())
            .any(|at| program.get(..at).is_some_and(|before| before.ends_with('$')));
        let values: Vec<&str> =
            rows.iter().skip(1).filter_map(|row| row.split(mark).nth(column - 1)).map(str::trim).collect();
        if !used || values.is_empty() {
            continue;
        }
        if has_decimal_commas(&values) {
            out.push(format!("sub(/,/, \".\", ${column})"));
        } else if values.iter().all(|value| is_day_first(value)) && shows_iso_dates(all) {
            out.push(format!(
                "if (split(${column}, day_of, \".\") == 3) ${column} = day_of[3] \"-\" day_of[2] \"-\" day_of[1]"
            ));
        }
    }
    out
}

/// Whether all values are numbers and one has a decimal comma beyond doubt.
pub(super) fn has_decimal_commas(values: &[&str]) -> bool {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let parts = |value: &str| {
        let value = value.trim_start_matches('-');
        match value.split_once(',') {
            Some((whole, rest)) => (digits(whole) && digits(rest)).then_some(rest.len()),
            None => digits(value).then_some(0),
        }
    };
    let lengths: Option<Vec<usize>> = values.iter().map(|value| parts(value)).collect();
    lengths.is_some_and(|lengths| lengths.iter().any(|length| *length > 0 && *length != 3))
}

fn is_day_first(value: &str) -> bool {
    let parts: Vec<&str> = value.split('.').collect();
    let [day, month, year] = parts.as_slice() else { return false };
    let number = |text: &str| text.parse::<u32>().ok();
    day.len() == 2
        && month.len() == 2
        && year.len() == 4
        && number(day).is_some_and(|day| (1..=31).contains(&day))
        && number(month).is_some_and(|month| (1..=12).contains(&month))
        && number(year).is_some()
}

/// Whether a text shows dates with the year first.
fn shows_iso_dates(text: &str) -> bool {
    let shape: Vec<char> = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let iso: Vec<char> = "0000-00-00".chars().collect();
    shape.windows(iso.len()).any(|part| part == iso)
}

/// An action before the first one that stands for every line, else at the beginning of the program.
fn put_first(program: &Program, source: &str, action: &str) -> (Range<usize>, String) {
    let mut depth = 0_i32;
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if depth == 0 && line.trim_start().starts_with('{') && at > 0 {
            let place = program.text.start + at;
            return (place..place, format!("{}{{ {action} }}\n", line.get(..indent).unwrap_or_default()));
        }
        let bare = line.split('#').next().unwrap_or_default();
        depth += bare.matches('{').count() as i32 - bare.matches('}').count() as i32;
        at += line.len();
    }
    (program.text.start..program.text.start, format!("{{ {action} }}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const DATA: &str = "day;hall;kWh\n28.04.2024;b;7,3\n01.05.2024;a;100\n";

    fn own(program: &str, data: &str) -> TestCase {
        TestCase::new("e.awk", program, TestScene::new().file("r.csv", data))
            .argv(&["awk", "-f", "e.awk", "r.csv"])
            .fault(Fault::Other { message: "3 columns expected".into() })
    }

    #[test]
    fn reads_a_table_as_it_is_written() {
        let tab = own("BEGIN { FS = \"\\t\" }\n{ s += $3 }\n", DATA).healed(&AwkTable);
        assert!(tab.starts_with("BEGIN { FS = \";\" }\n{ sub("), "{tab}");
        let program = "# from 2024-05-01\nBEGIN { FS = \",\" }\nNR == 1 { next }\n{\n  if ($1 > last) last = $1\n  sum[$2] += $3\n}\n";
        let healed = own(program, DATA).healed(&AwkTable);
        assert!(healed.contains("FS = \";\""), "{healed}");
        assert!(healed.contains("next }\n{ if (split($1, day_of"), "{healed}");
        assert!(healed.contains("; sub(/,/, \".\", $3) }\n{\n"), "{healed}");
    }

    #[test]
    fn reads_it_within_a_script() {
        let text = "set -e\nawk -F, 'NR > 1 { s += $2 }\nEND { print s }' t.csv\n";
        let case = TestCase::new("x.sh", text, TestScene::new().file("t.csv", "a\tb\nx\t1,5\n"))
            .fault(Fault::Other { message: "no".into() });
        assert_eq!(
            case.healed(&AwkTable),
            "set -e\nawk -F'\\t' '{ sub(/,/, \".\", $2) }\nNR > 1 { s += $2 }\nEND { print s }' t.csv\n"
        );
    }

    #[test]
    fn splits_at_blanks_only_where_nothing_else_separates() {
        let text = "awk 'NR > 1 { s += $3 } END { print s }' t.tsv\n";
        let ask = |data: &str| {
            TestCase::new("x.sh", text, TestScene::new().file("t.tsv", data))
                .fault(Fault::Other { message: "no".into() })
        };
        let healed = ask("row\tname\tcents\n1\tA B\t5\n2\t\t7\n").healed(&AwkTable);
        assert_eq!(healed, text.replace("awk '", "awk -F'\\t' '"));
        assert!(ask("row name cents\n1 A 5\n").silent(&AwkTable));
        assert!(ask("row\tname\n1\tA\n").silent(&AwkTable));
    }

    #[test]
    fn leaves_tables_with_the_separator_and_uneven_ones_alone() {
        let program = "BEGIN { FS = \",\" }\n{ s += $3 }\n";
        assert!(own(program, "a,b,c\n1,2,3\n").silent(&AwkTable));
        assert!(own(program, "a;b;c\n1;2\n").silent(&AwkTable));
        assert!(own(program, "a;b\n1;2\n").silent(&AwkTable));
    }

    #[test]
    fn thousands_are_no_decimals() {
        assert!(!has_decimal_commas(&["1,250", "3"]));
        assert!(has_decimal_commas(&["1,250", "3,5"]));
        assert!(!has_decimal_commas(&["1,5", "n/a"]));
    }
}
