//! # A program splits a table that is written in another way
//!
//! ## What it finds
//! A Perl or JavaScript program splits the lines of a table at one separator, and the table has another one; with it often come
//! decimal commas, a byte order mark and the line ends of another system.
//!
//! ## Why it fails
//! Spreadsheets and exports follow the settings of their system: semicolons and decimal commas in much of Europe, a byte order
//! mark and CRLF on Windows. The program takes the whole line for one field then.
//!
//! ## Fix
//! The program splits at the separator that the table has, passes over the mark, and takes the comma for the decimal point where
//! it reads a column of such numbers.
//!
//! ## Example
//! ```perl
//! my ($vehicle, $litres) = split /,/;
//! ```
//! ```perl
//! my ($vehicle, $litres) = split /;/;
//! tr{,}{.} for grep { defined } $litres;
//! ```
//!
//! ## Safety
//! Only when the head line does not have the program's separator, and the new one gives every line the same number of columns. A
//! column counts as one of decimal commas only when all of it are numbers and one has other than three digits behind its comma. It
//! changes what is read, so the risk is medium.

use std::ops::Range;
use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;

use super::awk_table::{has_decimal_commas, separator};
use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::python::line_of;
use crate::shell::splice;
use crate::text;

rule!(SplitDialect, "split_dialect", Unsafe, propose);

/// Lines of a table that are looked at.
const MOST_LINES: usize = 20_000;
/// Tables that a program names, at most.
const MOST_TABLES: usize = 5;

type Part = (Range<usize>, String);

fn propose(case: &Case) -> Vec<Candidate> {
    let fits = case.faults().any(|fault| {
        matches!(
            fault,
            Fault::Other { .. } | Fault::BadValue { .. } | Fault::Mismatch { .. } | Fault::SilentExit { .. }
        )
    });
    let files = case
        .files()
        .into_iter()
        .filter(|file| fits && matches!(file.language, Language::Perl | Language::Node));
    let found = files.filter_map(|file| {
        let split = splits(&file.text).into_iter().next()?;
        tables(case, &file).iter().find_map(|path| mended(case, &file, &split, path))
    });
    found.take(1).collect()
}

/// A place where a program splits a line: the separator, and where it is written.
struct Split {
    mark: char,
    at: Range<usize>,
}

/// `split /,/`, `split(',', …)` and `.split(",")`, at one character.
fn splits(program: &str) -> Vec<Split> {
    let mut out = Vec::new();
    for at in text::whole_words(program, "split") {
        let begin = at + "split".len();
        let rest = program.get(begin..).unwrap_or_default();
        let inner = rest.trim_start_matches([' ', '(']);
        let start = begin + rest.len() - inner.len();
        let Some(quote) = inner.chars().next().filter(|c| matches!(c, '/' | '\'' | '"')) else { continue };
        let Some(body) = inner.get(1..).and_then(|body| body.split(quote).next()) else { continue };
        let mark = match body {
            "\\t" => Some('\t'),
            "\\|" => Some('|'),
            _ => body.chars().next().filter(|_| body.chars().count() == 1),
        };
        let Some(mark) = mark.filter(|mark| matches!(mark, ',' | ';' | '\t' | '|')) else { continue };
        out.push(Split { mark, at: start + 1..start + 1 + body.len() });
    }
    out
}

/// The tables that a program is given or names, as they are.
fn tables(case: &Case, file: &ScriptFile) -> Vec<PathBuf> {
    let given = case.argv.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    let quoted = file.text.split(['\'', '"', '`']).filter(|word| word.contains('.') && word.len() < 200);
    // `${__dirname}/list.csv` is a file beside the program.
    let named = quoted.map(|word| word.rsplit_once("}/").map_or(word, |(_, name)| name).to_owned());
    let mut out: Vec<PathBuf> = Vec::new();
    for name in given.chain(named) {
        let path = case.find(Path::new(&name));
        let data = path.filter(|path| *path != file.path && Language::of(path, "") == Language::Other);
        if let Some(path) = data
            && !out.contains(&path)
            && out.len() < MOST_TABLES
        {
            out.push(path);
        }
    }
    out
}

fn mended(case: &Case, file: &ScriptFile, split: &Split, path: &Path) -> Option<Candidate> {
    let data = String::from_utf8(case.scene.read(path, crate::case::LARGEST)?).ok()?;
    let marked = data.starts_with('\u{feff}');
    let rows: Vec<&str> = data
        .trim_start_matches('\u{feff}')
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(MOST_LINES)
        .collect();
    let (new, columns) = separator(&rows, split.mark)?;
    let mut parts: Vec<Part> = splits(&file.text)
        .into_iter()
        .filter(|other| other.mark == split.mark)
        .map(|other| (other.at.clone(), written(file, &other.at, new)))
        .collect();
    let numbers: Vec<usize> = (0..columns).filter(|column| is_decimal(&rows, new, *column)).collect();
    let heads: Vec<&str> = rows.first()?.split(new).map(|name| name.trim().trim_matches('"')).collect();
    if file.language == Language::Perl {
        parts.extend(perl_numbers(&file.text, split, &numbers));
        parts.extend(marked.then(|| perl_mark(&file.text)).flatten());
    } else {
        parts.extend(node_numbers(&file.text, &numbers, &heads));
        parts.extend(node_reading(&file.text, marked, data.contains("\r\n")));
    }
    let name = path.file_name()?.to_string_lossy().into_owned();
    let line = line_of(&file.text, split.at.start);
    let comma = if numbers.is_empty() { "" } else { ", with decimal commas" };
    let mark = if marked { ", behind a byte order mark" } else { "" };
    Draft::new(
        "split_dialect",
        format!(
            "line {line}: {name} separates its columns with {new:?}, not with {:?}{comma}{mark}",
            split.mark
        ),
        "read the table the way it is written",
    )
    .evidence(format!("read so, every line of {name} has {columns} columns"))
    .meaning()
    .rewrite(file, splice(&file.text, parts), format!("line {line}: {new:?} separates columns{comma}{mark}"))
    .done()
}

/// The new separator as it is written in place of the old one: in a pattern the bar stands for something else.
fn written(file: &ScriptFile, at: &Range<usize>, mark: char) -> String {
    let pattern =
        file.language == Language::Perl || file.text.get(..at.start).is_some_and(|head| head.ends_with('/'));
    match mark {
        '\t' => "\\t".to_owned(),
        '|' if pattern => "\\|".to_owned(),
        other => other.to_string(),
    }
}

fn is_decimal(rows: &[&str], mark: char, column: usize) -> bool {
    let values: Vec<&str> = rows
        .iter()
        .skip(1)
        .filter_map(|row| row.split(mark).nth(column))
        .map(|value| value.trim().trim_matches('"'))
        .collect();
    has_decimal_commas(&values)
}

/// The variables that get columns of decimal commas in `my ($a, $b) = split …;`, turned behind that statement.
fn perl_numbers(program: &str, split: &Split, numbers: &[usize]) -> Option<Part> {
    let begin = program.get(..split.at.start)?.rfind('\n').map_or(0, |at| at + 1);
    let head = program.get(begin..split.at.start)?;
    let open = head.find("my (")?;
    let list = head.get(open + 4..)?.split(')').next()?;
    let names: Vec<&str> = list.split(',').map(str::trim).collect();
    let chosen: Vec<&str> = numbers
        .iter()
        .filter_map(|at| names.get(*at).copied())
        .filter(|name| name.starts_with('$') && *name != "$_")
        .collect();
    let end = split.at.start + program.get(split.at.start..)?.find('\n')? + 1;
    let whole = program.get(begin..end)?.trim_end().ends_with(';');
    let indent = head.get(..head.len() - head.trim_start().len())?;
    (whole && !chosen.is_empty())
        .then(|| (end..end, format!("{indent}tr{{,}}{{.}} for grep {{ defined }} {};\n", chosen.join(", "))))
}

/// The mark is taken off the first line, in the loop that reads the lines.
fn perl_mark(program: &str) -> Option<Part> {
    let line = text::whole_words(program, "split").next()?;
    let begin = program.get(..line)?.rfind("while")?;
    let end = begin + program.get(begin..)?.find('\n')? + 1;
    Some((end..end, "    s/^(?:\\x{FEFF}|\\xEF\\xBB\\xBF)// if $. == 1;\n".to_owned()))
}

/// `Number(row.price)` and `parseFloat(cells[2])` where the column has decimal commas.
fn node_numbers(program: &str, numbers: &[usize], heads: &[&str]) -> Vec<Part> {
    let mut parts = Vec::new();
    for call in ["Number(", "parseFloat(", "Number.parseFloat("] {
        for (at, _) in program.match_indices(call) {
            let start = at + call.len();
            let own = program
                .get(..at)
                .and_then(|head| head.chars().next_back())
                .is_none_or(|c| !text::is_name(c) && c != '.');
            let Some(inner) = program.get(start..).and_then(|rest| rest.split(')').next()) else { continue };
            let named = |column: &usize| {
                let by_head = heads.get(*column).is_some_and(|head| {
                    inner.ends_with(&format!(".{head}"))
                        || inner.ends_with(&format!("['{head}']"))
                        || inner.ends_with(&format!("[\"{head}\"]"))
                        || inner == *head
                });
                by_head || inner.ends_with(&format!("[{column}]"))
            };
            if own && !inner.contains('(') && numbers.iter().any(named) {
                let end = start + inner.len();
                parts.push((end..end, ".replace(',', '.')".to_owned()));
            }
        }
    }
    parts
}

/// What is read, without the mark and at any line end: behind the call that reads the text, and where it is cut into lines.
fn node_reading(program: &str, marked: bool, returns: bool) -> Vec<Part> {
    let mut parts = Vec::new();
    let read = program.find("readFileSync(").or_else(|| program.find("readFile("));
    let closed = read.and_then(|at| {
        let behind = program.get(at..)?;
        behind.find(')').map(|end| at + end + 1)
    });
    let awaited = read.is_some_and(|at| program.get(at..).is_some_and(|rest| rest.starts_with("readFile(")));
    if let Some(end) = closed.filter(|_| marked && !awaited) {
        parts.push((end..end, ".replace(/^\\uFEFF/, '')".to_owned()));
    }
    if returns {
        for cut in [".split('\\n')", ".split(\"\\n\")"] {
            let found = program
                .match_indices(cut)
                .map(|(at, _)| (at..at + cut.len(), ".split(/\\r?\\n/)".to_owned()));
            parts.extend(found);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(name: &str, program: &str, table: &str) -> TestCase {
        TestCase::new(name, program, TestScene::new().file("t.csv", table))
            .fault(Fault::Other { message: "line 2: not a number".into() })
    }

    #[test]
    fn perl_reads_the_table_as_it_is_written() {
        let text = "open my $in, '<', 't.csv' or die;\nwhile (<$in>) {\n    chomp;\n    my ($day, $l, $eur) = split /,/;\n    $sum += $eur;\n}\n";
        assert_eq!(
            case("x.pl", text, "d;l;e\n1.5.;4;7,5\n2.5.;5;10,25\n").healed(&SplitDialect),
            text.replace("split /,/;\n", "split /;/;\n    tr{,}{.} for grep { defined } $eur;\n")
        );
        let bar =
            case("x.pl", "my @f = split(',', <$in>); # t.csv 't.csv'\n", "a|b\n1|2\n").healed(&SplitDialect);
        assert!(bar.contains("split('\\|', <$in>)"), "{bar}");
    }

    #[test]
    fn javascript_reads_the_table_as_it_is_written() {
        let text = "const lines = readFileSync('t.csv', 'utf8').split('\\n');\nconst heads = lines[0].split(',');\nfor (const line of lines) {\n  const c = line.split(',');\n  total += Number(c[1]) + Number(row.price) + Number(row.n);\n}\n";
        let table = "\u{feff}n;price\r\n3;7,5\r\n2;10,25\r\n";
        assert_eq!(
            case("x.mjs", text, table).healed(&SplitDialect),
            "const lines = readFileSync('t.csv', 'utf8').replace(/^\\uFEFF/, '').split(/\\r?\\n/);\nconst heads = lines[0].split(';');\nfor (const line of lines) {\n  const c = line.split(';');\n  total += Number(c[1].replace(',', '.')) + Number(row.price.replace(',', '.')) + Number(row.n);\n}\n"
        );
    }

    #[test]
    fn leaves_tables_with_the_separator_and_uneven_ones_alone() {
        let text = "my @f = split /,/, $line; # 't.csv'\n";
        assert!(case("x.pl", text, "a,b\n1,2\n").silent(&SplitDialect));
        assert!(case("x.pl", text, "a;b\n1;2;3\n").silent(&SplitDialect));
        assert!(case("x.pl", "print 't.csv';\n", "a;b\n1;2\n").silent(&SplitDialect));
    }
}
