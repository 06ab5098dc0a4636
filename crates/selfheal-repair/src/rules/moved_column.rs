//! # A column that moved to another table
//!
//! ## What it finds
//! A query asks a table for a column that it does not have, while exactly one other table has it, and the first one refers
//! to that by a key.
//!
//! ## Why it fails
//! The owner of the database keeps the column in one place only now.
//!
//! ## Fix
//! The query joins the other table by the key, and says of columns that both have which one is meant.
//!
//! ## Example
//! ```sql
//! SELECT title, due FROM loans
//! ```
//! ```sql
//! SELECT title, due FROM loans JOIN books ON books.id = loans.book_id
//! ```
//!
//! ## Safety
//! The schema is read from the database file or from `.sql` files beside the job. Only a query of one table, only one way to
//! refer to the other, and only where that key cannot be empty: else rows would be lost. It changes what is read, so the
//! risk is medium.

use std::ops::Range;

use selfheal_core::fault::Fault;

use super::renamed_column::{Table, tables};
use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};
use crate::shell::splice;
use crate::text::whole_words;

rule!(MovedColumn, "moved_column", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = case.faults().find_map(|fault| match fault {
        Fault::NoSuchObject { kind, name } if kind == "column" => {
            Some(name.rsplit('.').next().unwrap_or(name).to_owned())
        }
        _ => None,
    });
    let Some(name) = missing else { return Vec::new() };
    let tables = tables(case);
    let files = case.files().into_iter().filter(|file| file.language != Language::Make);
    for file in files {
        let Some((parts, from, to)) = joined(&file.text, &name, &tables) else { continue };
        let line = parts.first().map_or(0, |(span, _)| crate::python::line_of(&file.text, span.start));
        let draft = Draft::new(
            "moved_column",
            format!("line {line}: {from} has no column {name}; {to} has it"),
            format!("join {to}"),
        )
        .evidence(format!("the schema has {name} in {to} alone, and {from} refers to {to}"))
        .meaning()
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: {name} of {to}"));
        return draft.done().into_iter().collect();
    }
    Vec::new()
}

type Joined<'t> = (Vec<(Range<usize>, String)>, &'t str, &'t str);

/// The edits that join the table which has a column to the first query of the one that lacks it.
fn joined<'t>(text: &str, name: &str, tables: &'t [Table]) -> Option<Joined<'t>> {
    let mut owners = tables.iter().filter(|table| table.has(name));
    let owner = owners.next().filter(|_| owners.next().is_none())?;
    for table in tables.iter().filter(|table| !table.has(name)) {
        let Some((key, target)) = reference(table, owner) else { continue };
        for at in whole_words(text, &table.name) {
            let query = query_around(text, at);
            let source = text.get(query.clone())?;
            let lower = source.to_lowercase();
            let from = text.get(..at).is_some_and(|head| head.trim_end().to_lowercase().ends_with("from"));
            let single = from && !lower.contains("join ") && lower.matches("from ").count() == 1;
            let end = at + table.name.len();
            let next = text.get(end..query.end)?.trim_start();
            let aliased = !["where", "order", "group", "limit", "\"", "'", ";", ")"]
                .iter()
                .any(|word| next.to_lowercase().starts_with(word))
                && !next.is_empty();
            if !single || aliased || whole_words(source, name).next().is_none() {
                continue;
            }
            let join = format!(" JOIN {0} ON {0}.{target} = {1}.{key}", owner.name, table.name);
            let mut parts = vec![(end..end, join)];
            for column in table.columns.iter().filter(|column| owner.has(column)) {
                parts.extend(qualified(text, &query, column, &table.name));
            }
            return Some((parts, &table.name, &owner.name));
        }
    }
    None
}

/// Names of a column in a query that do not say yet whose they are.
fn qualified(text: &str, query: &Range<usize>, column: &str, table: &str) -> Vec<(Range<usize>, String)> {
    let source = text.get(query.clone()).unwrap_or_default();
    let bare = |at: &usize| !source.get(..*at).is_some_and(|head| head.ends_with(['.', '\'', '"']));
    let places = whole_words(source, column).filter(bare).map(|at| query.start + at);
    places.map(|at| (at..at, format!("{table}."))).collect()
}

/// The one key by which a table refers to another, and the column that it means there.
fn reference<'t>(table: &'t Table, owner: &'t Table) -> Option<(&'t str, &'t str)> {
    let singular = owner.name.strip_suffix('s').unwrap_or(&owner.name);
    let target = owner.columns.iter().find(|column| *column == "id").map_or(owner.columns.first()?, |id| id);
    let mut keys = table.columns.iter().filter(|column| {
        **column == format!("{singular}_id")
            || **column == format!("{}_id", owner.name)
            || table.refers(column, &owner.name)
    });
    let key = keys.next().filter(|_| keys.next().is_none())?;
    table.required.contains(key).then_some((key.as_str(), target.as_str()))
}

/// The text literal, or the lines, that a query stands in.
fn query_around(text: &str, at: usize) -> Range<usize> {
    let head = text.get(..at).unwrap_or_default();
    let start = head.to_lowercase().rfind("select").unwrap_or(0);
    let opened = text.get(..start).unwrap_or_default().trim_end();
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| opened.ends_with(quote));
    let rest = text.get(at..).unwrap_or_default();
    let end =
        quote.and_then(|quote| rest.find(quote)).unwrap_or_else(|| rest.find('\n').unwrap_or(rest.len()));
    start..at + end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const SCHEMA: &str = "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT);\nCREATE TABLE loans (id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES books(id), due TEXT);\n";

    fn case(text: &str, schema: &str) -> TestCase {
        TestCase::new("x.py", text, TestScene::new().file("s.sql", schema))
            .fault(Fault::NoSuchObject { kind: "column".into(), name: "title".into() })
    }

    #[test]
    fn joins_the_table_that_has_the_column() {
        assert_eq!(
            case("db.execute(\"SELECT id, title FROM loans WHERE due < ?\")\n", SCHEMA).healed(&MovedColumn),
            "db.execute(\"SELECT loans.id, title FROM loans JOIN books ON books.id = loans.book_id WHERE due < ?\")\n"
        );
        let healed = case("Q = \"\"\"\n  SELECT title\n    FROM loans\n   ORDER BY due\n\"\"\"\n", SCHEMA)
            .healed(&MovedColumn);
        assert!(healed.contains("FROM loans JOIN books ON books.id = loans.book_id\n"), "{healed}");
    }

    #[test]
    fn leaves_what_may_lose_rows_or_is_joined_already_alone() {
        let open = SCHEMA.replace(" NOT NULL", "");
        assert!(case("q = 'SELECT title FROM loans'\n", &open).silent(&MovedColumn));
        assert!(case("q = 'SELECT title FROM loans JOIN x ON y'\n", SCHEMA).silent(&MovedColumn));
        let two = format!("{SCHEMA}CREATE TABLE films (id INTEGER, title TEXT);\n");
        assert!(case("q = 'SELECT title FROM loans'\n", &two).silent(&MovedColumn));
    }
}
