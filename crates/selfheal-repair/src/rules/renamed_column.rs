//! # A column that the database calls differently
//!
//! ## What it finds
//! A query of a script or program asks for a column that the table does not have, while the schema has one of almost the
//! same name.
//!
//! ## Why it fails
//! The owner of the database renamed the column.
//!
//! ## Fix
//! The query asks for the column by its new name.
//!
//! ## Example
//! ```sql
//! SELECT customer_name FROM orders
//! ```
//! ```sql
//! SELECT customerName FROM orders
//! ```
//!
//! ## Safety
//! The schema is read from the database file or from `.sql` files beside the job; exactly one column must be that near. It
//! changes what is read, so the risk is medium.

use std::collections::BTreeSet;
use std::path::Path;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::tables;
use crate::text::{distance, is_name, replace_word, whole_words};

rule!(RenamedColumn, "renamed_column", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = case.faults().find_map(|fault| match fault {
        Fault::NoSuchObject { kind, name } if matches!(kind.as_str(), "column" | "table") => {
            Some((kind.clone(), name.rsplit('.').next().unwrap_or(name).to_owned()))
        }
        _ => None,
    });
    let Some((kind, name)) = missing else { return Vec::new() };
    let known = schema(case, &kind);
    let Some(new) = other(&known, &name) else { return Vec::new() };
    let mut draft = Draft::new(
        "renamed_column",
        format!("the database has no {kind} {name}; it calls it {new}"),
        format!("ask for {new}"),
    )
    .evidence(format!("the schema names {new} and not {name}"))
    .meaning();
    for file in case.files().into_iter().chain(queries(case)).filter(|file| file.language != Language::Make) {
        let uses = whole_words(&file.text, &name).count();
        let in_query =
            file.text.to_lowercase().contains("select") || file.text.to_lowercase().contains("insert");
        if uses > 0 && in_query {
            draft = draft.rewrite(&file, in_queries(&file.text, &name, new), format!("{new} for {name}"));
        }
    }
    draft.done().into_iter().collect()
}

/// The files of queries that the script names.
fn queries(case: &Case) -> Vec<ScriptFile> {
    let apart = |c: char| c.is_whitespace() || "\"'`()<>;=,|&".contains(c);
    let text = case.script.map_or("", |script| script.text.as_str());
    let named = text.split(apart).filter(|word| word.ends_with(".sql")).take(20);
    let files = named.filter_map(|word| case.file(&case.find(Path::new(word))?));
    // A schema says what is there; only a query can ask for something else.
    files.filter(|file| !file.text.to_uppercase().contains("CREATE TABLE")).collect()
}

/// A table of a schema.
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
    /// The columns that cannot be empty.
    pub(super) required: Vec<String>,
    definitions: Vec<(String, String)>,
}

impl Table {
    /// Whether it has a column.
    pub(super) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|own| own == column)
    }

    /// Whether the type that a column is declared with is one of these.
    pub(super) fn column_holds(&self, column: &str, types: &[&str]) -> bool {
        let upper =
            self.definitions.iter().find(|(name, _)| name == column).map(|(_, text)| text.to_uppercase());
        upper.is_some_and(|text| types.iter().any(|wanted| text.contains(wanted)))
    }

    /// Whether a column is declared to refer to another table.
    pub(super) fn refers(&self, column: &str, other: &str) -> bool {
        let to = |text: &str| {
            text.to_lowercase().split_once("references").is_some_and(|(_, rest)| {
                rest.trim_start().trim_matches('"').starts_with(&other.to_lowercase())
            })
        };
        self.definitions.iter().any(|(name, text)| name == column && to(text))
    }
}

/// The tables of the schemas that lie beside the job. A database file of SQLite holds the text of its `CREATE TABLE`
/// statements.
pub(super) fn tables(case: &Case) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let base = case.base();
    let files =
        case.scene.names(&base).into_iter().filter(|name| {
            [".sql", ".db", ".sqlite", ".sqlite3"].iter().any(|ending| name.ends_with(ending))
        });
    for name in files.take(20) {
        let bytes = case.scene.read(&base.join(name), crate::case::LARGEST).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        for (at, _) in text.match_indices("CREATE TABLE").take(500) {
            let rest = text.get(at + "CREATE TABLE".len()..).unwrap_or_default();
            let rest: String = rest.chars().take(20_000).collect();
            let Some((head, body)) = rest.split_once('(') else { continue };
            let Some(name) = head.split(|c: char| !is_name(c)).rfind(|word| !word.is_empty()) else {
                continue;
            };
            if !tables.iter().any(|known| known.name == name) {
                tables.push(table(name, body));
            }
        }
    }
    tables
}

fn table(name: &str, body: &str) -> Table {
    let definitions = definitions(body);
    let full = |text: &str| {
        let text = text.to_uppercase();
        text.contains("NOT NULL") || text.contains("PRIMARY KEY")
    };
    Table {
        name: name.to_owned(),
        columns: definitions.iter().map(|(name, _)| name.clone()).collect(),
        required: definitions.iter().filter(|(_, text)| full(text)).map(|(name, _)| name.clone()).collect(),
        definitions,
    }
}

/// The names of columns or tables in the schemas that lie beside the job.
fn schema(case: &Case, kind: &str) -> BTreeSet<String> {
    let tables = tables(case);
    match kind {
        "table" => tables.into_iter().map(|table| table.name).collect(),
        _ => tables.into_iter().flat_map(|table| table.columns).collect(),
    }
}

/// The columns that stand in `( … )`, each with the text of its definition.
fn definitions(body: &str) -> Vec<(String, String)> {
    let mut depth = 0_i32;
    let mut definitions = vec![String::new()];
    let plain: String =
        body.lines().map(|line| line.split("--").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    for c in plain.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            ',' if depth == 0 => definitions.push(String::new()),
            _ => {}
        }
        if let Some(last) = definitions.last_mut().filter(|_| c != ',') {
            last.push(c);
        }
    }
    let first = |text: &String| {
        text.trim().trim_matches(['"', '`', '[']).split(|c: char| !is_name(c)).next().map(str::to_owned)
    };
    let keywords = ["PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "CONSTRAINT"];
    definitions
        .iter()
        .filter_map(|text| Some((first(text)?, text.trim().to_owned())))
        .filter(|(word, _)| !word.is_empty() && !keywords.contains(&word.to_uppercase().as_str()))
        .collect()
}

/// The one name like the missing one.
fn other<'k>(known: &'k BTreeSet<String>, name: &str) -> Option<&'k String> {
    let bare = |text: &str| text.replace('_', "").to_lowercase();
    let alike = |other: &&String| {
        let words = other.to_lowercase();
        let one_more = words.split('_').count() == name.split('_').count() + 1
            && words.split('_').any(|part| part == name.to_lowercase());
        let plural = |one: &str, many: &str| many.to_lowercase() == format!("{}s", one.to_lowercase());
        bare(other) == bare(name)
            || same_parts(name, other)
            || plural(name, other)
            || plural(other, name)
            || distance(other, name, 2) <= usize::from(name.len() > 4)
            || (one_more && name.len() > 3)
    };
    if known.contains(name) {
        return None;
    }
    // `price_2025` is no other spelling of `price_2026`.
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let mut found = known.iter().filter(alike).filter(|other| digits(other) == digits(name));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Whether two names have the same words, some of them in another form: `finish_time` and `finished_time`, `account_no` and
/// `account_number`.
fn same_parts(name: &str, other: &str) -> bool {
    let (name, other) = (name.to_lowercase(), other.to_lowercase());
    let (one, two): (Vec<&str>, Vec<&str>) = (name.split('_').collect(), other.split('_').collect());
    let stem = |a: &str, b: &str| {
        b.strip_prefix(a).is_some_and(|ending| a.len() > 3 && ["ed", "d", "ing", "s", "es"].contains(&ending))
    };
    let short =
        |a: &str, b: &str| matches!((a, b), ("no" | "nr" | "num", "number")) || tables::abbreviates(a, b);
    let alike = |(a, b): (&&str, &&str)| a == b || stem(a, b) || stem(b, a) || short(a, b) || short(b, a);
    one.len() > 1
        && one.len() == two.len()
        && one.iter().zip(&two).any(|(a, b)| a == b)
        && one.iter().zip(&two).all(alike)
}

/// Replaces a name in lines of queries: upper-case words of SQL are near.
fn in_queries(text: &str, old: &str, new: &str) -> String {
    let words = [
        "select", "from", "where", "order", "group", "insert", "update", "set ", "join", "and ", "sum(",
        "count(", "on ",
    ];
    let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let near = |at: usize| {
        let from = at.saturating_sub(4);
        let here = lines.get(from..(at + 3).min(lines.len())).unwrap_or_default().concat().to_lowercase();
        words.iter().any(|word| here.contains(word)) && here.contains("select")
            || here.contains("insert into")
            || here.contains("update ")
    };
    let changed = |(at, line): (usize, &String)| {
        let code = line.split('#').next().unwrap_or_default();
        let in_text = code.contains(['"', '\'']) || !code.contains('=') || code.contains('?');
        if near(at) && in_text { replace_word(line, old, new) } else { line.clone() }
    };
    lines.iter().enumerate().map(changed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(name: &str) -> TestCase {
        let scene = TestScene::new().file(
            "schema.sql",
            "CREATE TABLE orders (\n  id INTEGER, -- total\n  customer_name TEXT, placed_at TEXT\n);\n",
        );
        let text = format!(
            "import sqlite3\nQ = \"\"\"\n  SELECT {name}, count(*)\n    FROM orders\n\"\"\"\nx = 1\n"
        );
        TestCase::new("x.py", &text, scene)
            .fault(Fault::NoSuchObject { kind: "column".into(), name: name.into() })
    }

    #[test]
    fn asks_for_the_column_by_its_new_name() {
        assert!(case("customerName").healed(&RenamedColumn).contains("SELECT customer_name, count"));
        assert!(case("placed").healed(&RenamedColumn).contains("SELECT placed_at, count"));
    }

    #[test]
    fn words_of_a_name_in_another_form_and_queries_in_a_file_of_their_own() {
        assert!(same_parts("finish_time", "finished_time") && same_parts("account_no", "account_number"));
        assert!(!same_parts("finish_time", "start_time") && !same_parts("net", "nets_x"));
        let scene = TestScene::new()
            .file("schema.sql", "CREATE TABLE b (account_number TEXT, amount INTEGER);\n")
            .file("q/month.sql", "SELECT account_no,\n  SUM(amount)\nFROM b\nGROUP BY account_no;\n");
        let case = TestCase::new("x.sh", "python3 sql.py a.db q/month.sql > out\n", scene)
            .fault(Fault::NoSuchObject { kind: "column".into(), name: "account_no".into() });
        let healed = case.healed(&RenamedColumn);
        assert_eq!(healed, "SELECT account_number,\n  SUM(amount)\nFROM b\nGROUP BY account_number;\n");
    }

    #[test]
    fn leaves_columns_that_differ_in_a_number_alone() {
        let scene = TestScene::new().file("s.sql", "CREATE TABLE t (rate_2025 REAL, line1 TEXT);\n");
        let column = |name: &str| Fault::NoSuchObject { kind: "column".into(), name: name.into() };
        let case = TestCase::new("x.py", "Q = 'SELECT rate_2026 FROM t'\n", scene).fault(column("rate_2026"));
        assert!(case.silent(&RenamedColumn));
    }

    #[test]
    fn leaves_columns_that_are_gone_alone() {
        assert!(case("total").silent(&RenamedColumn));
    }
}
