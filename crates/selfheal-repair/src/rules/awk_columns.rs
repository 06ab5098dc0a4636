//! # An awk program goes by places of columns that have moved
//!
//! ## What it finds
//! An awk program in a shell script takes columns by number from a table that has a heading; a remark of the script says which
//! columns it expects, or notes beside it say which column is new, and the heading has them in another order. Or the program takes
//! the heading for a row.
//!
//! ## Why it fails
//! Whoever writes the table added a heading or a column, or moved columns. A program that goes by numbers gets other values.
//!
//! ## Fix
//! The numbers are those of the heading's columns now, and the heading is passed over. An amount that is in cents now is divided.
//!
//! ## Example
//! ```sh
//! # volumes.txt: name, percent, mount
//! awk '$2 > 90 { print $3 }' volumes.txt
//! ```
//! ```sh
//! # volumes.txt: name, percent, mount
//! awk 'FNR == 1 { next } $4 > 90 { print $2 }' volumes.txt
//! ```
//!
//! ## Safety
//! Only for programs that read one table. Every column that the remark names must be exactly one of the heading; what notes say is
//! used only when the failure shows a value of a column that moved. It changes what is read, so the risk is medium.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::notes::{notes, remarks};
use crate::shell::{Command, Script, Values, splice, unquoted};
use crate::tables::{Headed, bare, mentions};
use crate::text::whole_words;

rule!(AwkColumns, "awk_columns", Unsafe, propose);

const AWKS: &[&str] = &["awk", "gawk", "mawk", "nawk"];

fn propose(case: &Case) -> Vec<Candidate> {
    let files = case.files().into_iter().filter(|file| file.language.is_shell());
    files.filter_map(|file| in_file(case, &file)).take(1).collect()
}

fn in_file(case: &Case, file: &ScriptFile) -> Option<Candidate> {
    let script = Script::new(&file.text);
    let values = Values::new(case, &script, file.folder());
    let awks = script.commands.iter().filter(|command| AWKS.contains(&script.name(command).as_str()));
    awks.filter_map(|command| program(case, &script, &values, command)).find_map(|it| mended(case, file, &it))
}

/// A program with the one table that it reads.
struct Program {
    /// Where it stands, without its quotes.
    span: Range<usize>,
    table: Headed,
    /// The table's name.
    name: String,
}

fn program(case: &Case, script: &Script<'_>, values: &Values<'_>, command: &Command) -> Option<Program> {
    let is_program = |span: &Range<usize>| {
        let word = script.get(span);
        word.len() > 2 && word.starts_with('\'') && word.ends_with('\'') && word.contains(['{', '$'])
    };
    let at = command.words.iter().position(is_program)?;
    let quoted = command.words.get(at)?;
    let read = command.redirects.iter().filter(|(operator, _)| script.get(operator) == "<").map(|(_, to)| to);
    let mut files = command
        .words
        .iter()
        .skip(at + 1)
        .filter(|span| !unquoted(script.get(span)).contains('='))
        .chain(read);
    let (one, None) = (files.next()?, files.next()) else { return None };
    let path = case.find(Path::new(&values.word(script.get(one))?))?;
    let text = String::from_utf8(case.scene.read(&path, crate::case::LARGEST)?).ok()?;
    let name = path.file_name()?.to_string_lossy().into_owned();
    Some(Program { span: quoted.start + 1..quoted.end - 1, table: Headed::read(&text)?, name })
}

/// The new places of columns by their old ones, from 1, and whether it is in hundredths now.
type Places = BTreeMap<usize, (usize, bool)>;

fn mended(case: &Case, file: &ScriptFile, program: &Program) -> Option<Candidate> {
    let text = file.text.get(program.span.clone())?;
    let passes = ["NR", "FNR"].iter().any(|word| mentions(text, word));
    let table = &program.table;
    let by_remark = by_remark(file, table);
    let by_notes = || by_notes(case, text, table);
    let shown = table.heading.iter().any(|name| mentions(&case.report.core_error, name));
    let (places, why) = match by_remark.map(|places| (places, "a remark of the script")) {
        Some(found) => found,
        None => match by_notes() {
            Some(found) => (found, "a note beside it"),
            None if !passes && shown => (Places::new(), "the message"),
            None => return None,
        },
    };
    let mut parts = if places.is_empty() { Vec::new() } else { moved(text, &places)? };
    if !passes {
        parts.push((0..0, skip(text)));
    }
    let start = program.span.start;
    let parts: Vec<(Range<usize>, String)> =
        parts.into_iter().map(|(at, new)| (start + at.start..start + at.end, new)).collect();
    let line = crate::python::line_of(&file.text, start);
    let name = &program.name;
    let what = if places.is_empty() { "has a heading" } else { "has its columns in another order" };
    Draft::new(
        "awk_columns",
        format!("line {line}: {name} {what} now, and the program goes by numbers"),
        "take the columns from where the heading has them",
    )
    .evidence(format!("the heading of {name} is {}; {why} says what is meant", table.heading.join(", ")))
    .meaning()
    .rewrite(
        file,
        splice(&file.text, parts),
        format!("line {line}: the columns as the heading of {name} has them"),
    )
    .done()
}

fn skip(text: &str) -> String {
    let indent: String = text
        .strip_prefix('\n')
        .map_or_else(String::new, |rest| rest.chars().take_while(|c| *c == ' ' || *c == '\t').collect());
    if text.starts_with('\n') {
        format!("\n{indent}FNR == 1 {{ next }}")
    } else {
        "FNR == 1 { next } ".to_owned()
    }
}

/// `# table.txt: name, percent, mount` in the script, while the heading has the same names in other places.
fn by_remark(file: &ScriptFile, table: &Headed) -> Option<Places> {
    remarks(&file.text).lines().find_map(|line| {
        let list = line.split_once(':').map_or(line, |(_, list)| list);
        let list = list.split(['.', '(']).next().unwrap_or(list);
        let names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        let columns = table.columns_of(&names).filter(|_| names.len() > 1)?;
        let moved = columns.iter().enumerate().any(|(old, (new, cents))| old != *new || *cents);
        let places = columns.iter().enumerate().map(|(old, (new, cents))| (old + 1, (new + 1, *cents)));
        moved.then(|| places.collect())
    })
}

/// A note that says which column of the heading is new, where the failure shows a value of a column behind it.
fn by_notes(case: &Case, program: &str, table: &Headed) -> Option<Places> {
    const NEW: [&str; 7] = ["new", "added", "inserted", "additional", "adds", "insert", "between"];
    let says = |line: &str, name: &str| {
        let lower = line.to_lowercase();
        mentions(line, name) && lower.contains("column") && NEW.iter().any(|word| mentions(&lower, word))
    };
    let all = notes(case);
    let lines: Vec<&str> = all.iter().flat_map(|note| note.text.lines()).collect();
    // In `new column region between customer and amount`, the one behind the word is new.
    let is_new = |name: &&String| lines.iter().any(|line| says(line, name) && named_first(line, name, table));
    let new: Vec<&String> = table.heading.iter().filter(is_new).collect();
    let old: Vec<usize> = (0..table.heading.len())
        .filter(|at| table.heading.get(*at).is_some_and(|name| !new.contains(&name)))
        .collect();
    let places: Places = old.iter().enumerate().map(|(was, is)| (was + 1, (is + 1, false))).collect();
    let moved: Vec<usize> =
        places.iter().filter(|(old, (new, _))| *old != new).map(|(old, _)| *old).collect();
    let used = moved.iter().any(|at| whole_words(program, &at.to_string()).next().is_some());
    // What the program took at the old place is in the message.
    let shown = moved.iter().any(|at| {
        let values = table.rows.iter().filter_map(|row| row.get(at - 1)).chain(table.heading.get(at - 1));
        values.take(500).any(|value| mentions(&case.report.core_error, value))
    });
    (!new.is_empty() && used && shown).then_some(places)
}

/// Whether a name is the first of the heading's that a line has behind the word `column`.
fn named_first(line: &str, name: &str, table: &Headed) -> bool {
    let lower = line.to_lowercase();
    let behind = lower.find("column").and_then(|at| line.get(at..)).unwrap_or(line);
    let words = behind.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let first = words.into_iter().find(|word| table.heading.iter().any(|column| bare(column) == bare(word)));
    first.is_some_and(|first| bare(first) == bare(name))
}

/// The program's column numbers as they are now; `None` where it counts from the end.
fn moved(text: &str, places: &Places) -> Option<Vec<(Range<usize>, String)>> {
    let mut parts = Vec::new();
    for (at, _) in text.match_indices('$') {
        let rest = text.get(at + 1..).unwrap_or_default();
        if rest.starts_with("NF") || rest.starts_with('(') {
            return None;
        }
        let digits: String = rest.chars().take_while(char::is_ascii_digit).take(4).collect();
        let Some((new, cents)) = digits.parse().ok().and_then(|old: usize| places.get(&old)) else {
            continue;
        };
        let span = at..at + 1 + digits.len();
        parts.push((span, if *cents { format!("(${new} / 100)") } else { format!("${new}") }));
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    #[test]
    fn goes_by_the_columns_that_a_remark_names() {
        let text = "# v.txt: name, percent, mount\nawk '$2 > 90 { print $3, $1 }' v.txt\n";
        let case = TestCase::new(
            "x.sh",
            text,
            TestScene::new().file("v.txt", "name mount size percent\na /a 5 95\n"),
        );
        assert_eq!(
            case.healed(&AwkColumns),
            "# v.txt: name, percent, mount\nawk 'FNR == 1 { next } $4 > 90 { print $2, $1 }' v.txt\n"
        );
    }

    #[test]
    fn makes_room_for_the_column_that_a_note_says_is_new() {
        let text = "awk -F, '\nNR == 1 { next }\n{ if ($3 !~ /^[0-9]/) exit 1; s[$2] += $3 }' o.csv\n";
        let scene = || TestScene::new().file("o.csv", "id,customer,region,amount\n1,a,north,10\n");
        let note = "2.4: new column region between customer and amount.\n";
        let mut case = TestCase::new("x.sh", text, scene().file("README", note));
        assert!(case.silent(&AwkColumns));
        case.report.core_error = "line 2: not an amount: north".to_owned();
        assert_eq!(case.healed(&AwkColumns), text.replace("$3", "$4"));
        let mut bare = TestCase::new("x.sh", text, scene());
        bare.report.core_error = "line 2: not an amount: north".to_owned();
        assert!(bare.silent(&AwkColumns));
    }

    #[test]
    fn passes_over_a_heading_that_the_message_shows() {
        let mut case = TestCase::new(
            "x.sh",
            "awk '{ if ($2 !~ /^[0-9]+$/) exit 4; print }' v.txt\n",
            TestScene::new().file("v.txt", "name percent\na 95\n"),
        );
        assert!(case.silent(&AwkColumns));
        case.report.core_error = "not a percentage: percent".to_owned();
        assert!(case.healed(&AwkColumns).contains("awk 'FNR == 1 { next } {"));
    }
}
