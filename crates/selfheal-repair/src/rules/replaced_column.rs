//! # A column that others took the place of
//!
//! ## What it finds
//! A query asks for a column that the table does not have, and the notes beside the job (or the remarks of the schema) say what
//! has taken its place: two columns that give it together, a column in hundredths, or a time as text for one in seconds.
//!
//! ## Why it fails
//! The owner of the database changed how it keeps a value, not only what it calls it.
//!
//! ## Fix
//! The query asks for the same value as before: an expression over the new columns stands where the old one stood.
//!
//! ## Example
//! ```sql
//! SELECT customer, SUM(total) FROM orders
//! ```
//! ```sql
//! SELECT customer, SUM(((net_cents + tax_cents) / 100.0)) FROM orders
//! ```
//!
//! ## Safety
//! Only where one sentence names the old column and columns that the schema has, and every unit in it is understood; a unit that
//! is not said of both is no reason to calculate. Nothing is done to queries that write. It changes what is read, so the risk is
//! medium.

use std::ops::Range;

use selfheal_core::fault::Fault;
use selfheal_syntax::python::Module;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::notes::notes;
use crate::rules::renamed_column::{Table, tables};
use crate::shell::{Script, splice};
use crate::text::{is_name, whole_words};
use crate::units;

rule!(ReplacedColumn, "replaced_column", Unsafe, propose);

/// Words that say that something is another thing now.
const CHANGED: &[&str] = &[
    "gone", "removed", "dropped", "replaced", "replaces", "split", "instead", "now", "renamed", "became",
    "moved", "was", "longer", "since",
];
/// Words that say that values are to be added up.
const ADDED: &[&str] = &["together", "sum", "plus", "add", "added", "total"];
/// Units that no expression here is for.
const OTHER_UNITS: &[&str] = &[
    "milliseconds",
    "millis",
    "ms",
    "minutes",
    "hours",
    "days",
    "percent",
    "bytes",
    "kilobytes",
    "kb",
    "mb",
    "grams",
    "metres",
    "meters",
    "km",
    "miles",
    "local",
];

fn propose(case: &Case) -> Vec<Candidate> {
    let Some(told) = told(case) else { return Vec::new() };
    let mut draft = Draft::new(
        "replaced_column",
        format!(
            "the database has no column {} any more; what it held is {} now",
            told.old,
            told.columns.join(", ")
        ),
        format!("ask for {} in its place", told.expression("")),
    )
    .evidence(crate::text::shortened(&told.sentence, 160))
    .meaning();
    for file in case.files() {
        let parts = match file.language {
            Language::Python => in_python(&file, &told),
            language if language.is_shell() => in_shell(&file.text, &told),
            _ => None,
        };
        let Some(parts) = parts else { return Vec::new() };
        if !parts.is_empty() {
            let summary = format!("{} for {}", told.expression(""), told.old);
            draft = draft.rewrite(&file, splice(&file.text, parts), summary);
        }
    }
    draft.done().into_iter().collect()
}

/// What the notes say of a column that is gone.
pub(super) struct Told {
    old: String,
    columns: Vec<String>,
    hundredths: bool,
    time: bool,
    sentence: String,
}

impl Told {
    /// The expression that gives what the old column gave; `of` stands before each column.
    fn expression(&self, of: &str) -> String {
        let columns: Vec<String> = self.columns.iter().map(|column| format!("{of}{column}")).collect();
        let sum = columns.join(" + ");
        let sum = if columns.len() > 1 { format!("({sum})") } else { sum };
        match (self.hundredths, self.time) {
            (true, _) => format!("({sum} / 100.0)"),
            (_, true) => format!("CAST(strftime('%s', {sum}) AS INTEGER)"),
            _ => sum,
        }
    }
}

/// What has taken the place of the column that a failure names, if more than its name has changed.
pub(super) fn told(case: &Case) -> Option<Told> {
    let old = case.faults().find_map(|fault| match fault {
        Fault::NoSuchObject { kind, name } if kind == "column" => name.rsplit('.').next().map(str::to_owned),
        _ => None,
    })?;
    let tables = tables(case);
    if tables.iter().any(|table| table.has(&old)) {
        return None;
    }
    let script = case.script.map_or("", |script| script.text.as_str());
    let notes = notes(case);
    let lines = notes.iter().skip(1).flat_map(|note| note.text.lines().map(str::to_owned));
    let paragraphs = notes.iter().skip(1).flat_map(|note| paragraphs(&note.text));
    lines.chain(paragraphs).flat_map(|text| sentences(&text)).find_map(|it| read(&it, &old, &tables, script))
}

/// The paragraphs and items of a text, each on one line.
fn paragraphs(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', '|', '*', '-']) {
            out.push(String::new());
        }
        if let Some(last) = out.last_mut() {
            last.push_str(bare);
            last.push(' ');
        }
    }
    out
}

fn sentences(text: &str) -> Vec<String> {
    text.split(". ").flat_map(|part| part.split(';')).map(|part| part.trim().to_owned()).collect()
}

fn read(sentence: &str, old: &str, tables: &[Table], script: &str) -> Option<Told> {
    whole_words(sentence, old).next()?;
    let lower = sentence.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !is_name(c)).filter(|word| !word.is_empty()).collect();
    let says = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let known =
        tables.iter().filter(|table| whole_words(script, &table.name).next().is_some()).find_map(|table| {
            let columns = named_together(sentence, old, table);
            (!columns.is_empty()).then_some((table, columns))
        });
    let (table, columns) = known.filter(|_| says(CHANGED) && !says(OTHER_UNITS))?;
    let is_part = |word: &str| units::hundredths().any(|unit| word.eq_ignore_ascii_case(unit));
    let is_whole = |word: &str| units::currencies().any(|unit| word.eq_ignore_ascii_case(unit));
    let in_parts = |name: &str| name.split('_').any(is_part);
    let says_whole = words.iter().copied().any(is_whole);
    let new_parts = columns.iter().filter(|column| in_parts(column)).count();
    let hundredths = new_parts > 0 || (words.iter().copied().any(is_part) && says_whole);
    let whole_before = says_whole || script.split(|c: char| !c.is_alphabetic()).any(is_whole);
    let time = says(&["seconds", "epoch", "unix"]);
    let as_text =
        says(&["text", "iso", "string"]) && table.column_holds(columns.first()?, &["TEXT", "CHAR", "DATE"]);
    let sum = columns.len() > 1;
    let clear = (!sum || says(ADDED))
        && (!hundredths || (whole_before && !in_parts(old) && new_parts % columns.len() == 0))
        && (time == as_text)
        && !(time && (sum || hundredths));
    // A mere new name is another rule's.
    (clear && (sum || hundredths || time)).then(|| Told {
        old: old.to_owned(),
        columns,
        hundredths,
        time,
        sentence: sentence.to_owned(),
    })
}

/// The first columns of a table that a sentence names in one go: `net and tax`. A column may be called by a word that people
/// use in sentences, so that those further on may be no columns at all.
fn named_together(sentence: &str, old: &str, table: &Table) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for word in sentence.split(|c: char| !is_name(c)).filter(|word| !word.is_empty() && *word != old) {
        let joins = ["and", "plus", "with"].contains(&word.to_lowercase().as_str());
        if table.has(word) && !columns.iter().any(|known| known == word) {
            columns.push(word.to_owned());
        } else if !columns.is_empty() && !joins {
            break;
        }
    }
    columns
}

/// The edits of a query, from `start` on; `None` where it writes.
fn in_query(query: &str, start: usize, told: &Told) -> Option<Vec<(Range<usize>, String)>> {
    let lower = query.to_lowercase();
    let uses: Vec<usize> = whole_words(query, &told.old).collect();
    if uses.is_empty() || !lower.contains("select") {
        return Some(Vec::new());
    }
    if ["insert ", "update ", "delete ", "replace into"].iter().any(|word| lower.contains(word)) {
        return None;
    }
    let edit = |at: usize| {
        let before = query.get(..at).unwrap_or_default();
        let end = at + told.old.len();
        let head = before.strip_suffix('.').map_or("", |head| {
            head.get(head.rfind(|c: char| !is_name(c)).map_or(0, |at| at + 1)..).unwrap_or_default()
        });
        let from = if head.is_empty() { at } else { at - head.len() - 1 };
        let of = if head.is_empty() { String::new() } else { format!("{head}.") };
        let name =
            if is_column_of_result(query, from, end) { format!(" AS {}", told.old) } else { String::new() };
        (start + from..start + end, format!("{}{name}", told.expression(&of)))
    };
    Some(uses.into_iter().map(edit).collect())
}

/// Whether a name is by itself a column of what a query gives, so that the result is to be called as before.
fn is_column_of_result(query: &str, start: usize, end: usize) -> bool {
    let lower = query.to_lowercase();
    let (before, after) = (lower.get(..start).unwrap_or_default(), lower.get(end..).unwrap_or_default());
    let open = before.rfind("select").is_some_and(|select| {
        let since = before.get(select..).unwrap_or_default();
        !since.contains("from") && since.matches('(').count() == since.matches(')').count()
    });
    let alone = before.trim_end().ends_with([',']) || before.trim_end().ends_with("select");
    let ends = after.trim_start().starts_with(',') || after.trim_start().starts_with("from");
    open && alone && ends
}

fn in_python(file: &ScriptFile, told: &Told) -> Option<Vec<(Range<usize>, String)>> {
    let module = Module::parse(&file.text).ok()?;
    let mut parts = Vec::new();
    for node in module.nodes("string") {
        let source = module.text_of(node);
        let edits = in_query(source, node.start_byte(), told)?;
        // Quotes of the expression must not end the text, nor its `%` be one of a format.
        let single =
            source.trim_start_matches(char::is_alphabetic).starts_with('\'') && !source.contains("'''");
        let formatted =
            file.text.get(node.end_byte()..).is_some_and(|rest| rest.trim_start().starts_with("% "));
        if !edits.is_empty() && told.time && (single || formatted) {
            return None;
        }
        parts.extend(edits);
    }
    Some(parts)
}

fn in_shell(text: &str, told: &Told) -> Option<Vec<(Range<usize>, String)>> {
    let script = Script::new(text);
    let mut parts = Vec::new();
    let asked = script.commands.iter().filter(|command| script.name(command) == "sqlite3");
    let words = asked.flat_map(|command| command.words.iter().skip(1).cloned());
    let values =
        script.assignments().map(|(_, value, _)| value).filter(|value| !script.get(value).contains("$("));
    for span in words.chain(values) {
        let source = script.get(&span);
        let edits = in_query(source, span.start, told)?;
        if !edits.is_empty() && told.time && source.starts_with('\'') {
            return None;
        }
        parts.extend(edits);
    }
    for document in &script.here {
        parts.extend(in_query(script.get(&document.body), document.body.start, told)?);
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const SCHEMA: &str = "-- New in 4:\n--   paid (euro) is gone: net_cents and vat_cents together are what the owner paid\n--   made (seconds) is made_at now, a UTC time as text\n--   weight (grams) is mass now, in ounces\nCREATE TABLE bills (id INTEGER, owner TEXT, net_cents INTEGER, vat_cents INTEGER, made_at TEXT NOT NULL, mass REAL);\n";

    fn case(name: &str, script: &str, column: &str) -> TestCase {
        let scene = TestScene::new().file("schema.sql", SCHEMA);
        TestCase::new(name, script, scene)
            .fault(Fault::NoSuchObject { kind: "column".into(), name: column.into() })
    }

    #[test]
    fn a_query_gets_the_same_value_out_of_other_columns() {
        let text = "Q = \"\"\"\n  SELECT id, SUM(paid)\n    FROM bills\n\"\"\"\n";
        let healed = case("x.py", text, "paid").healed(&ReplacedColumn);
        assert_eq!(healed, text.replace("SUM(paid)", "SUM(((net_cents + vat_cents) / 100.0))"));
        let text = "sqlite3 b.db \"SELECT b.id, b.paid FROM bills b\"\n";
        let healed = case("x.sh", text, "b.paid").healed(&ReplacedColumn);
        assert!(healed.contains("b.id, ((b.net_cents + b.vat_cents) / 100.0) AS paid FROM"), "{healed}");
    }

    #[test]
    fn a_time_as_text_is_asked_for_in_seconds() {
        let text = "Q = \"SELECT id FROM bills WHERE made >= ?\"\n";
        let healed = case("x.py", text, "made").healed(&ReplacedColumn);
        assert!(healed.contains("WHERE CAST(strftime('%s', made_at) AS INTEGER) >= ?"), "{healed}");
        assert!(case("x.py", "Q = 'SELECT id FROM bills WHERE made >= ?'\n", "made").silent(&ReplacedColumn));
    }

    #[test]
    fn units_that_are_not_understood_and_queries_that_write_are_left_alone() {
        assert!(case("x.py", "Q = \"SELECT weight FROM bills\"\n", "weight").silent(&ReplacedColumn));
        assert!(case("x.py", "Q = \"SELECT colour FROM bills\"\n", "colour").silent(&ReplacedColumn));
        let writes = "Q = \"INSERT INTO bills SELECT paid FROM bills\"\n";
        assert!(case("x.py", writes, "paid").silent(&ReplacedColumn));
    }
}
