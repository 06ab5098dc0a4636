//! Masking in SQL scripts, statement by statement.

use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::diff;

use super::change::compiled;
use crate::danger::sql_statements;
use crate::finding::{at, whole};

/// Words that must not become fewer: what makes a statement fail, or a row unfit. Upper case.
const STRICT: &[(&str, &str)] = &[
    ("NOT NULL", "a check of the database is gone"),
    ("PRIMARY KEY", "a check of the database is gone"),
    ("UNIQUE", "a check of the database is gone"),
    ("CHECK (", "a check of the database is gone"),
    ("CHECK(", "a check of the database is gone"),
    ("REFERENCES", "a check of the database is gone"),
    ("FOREIGN KEY", "a check of the database is gone"),
    ("RAISE EXCEPTION", "an error is no longer raised"),
    ("RAISERROR", "an error is no longer raised"),
    ("THROW", "an error is no longer raised"),
    ("SIGNAL SQLSTATE", "an error is no longer raised"),
    ("ASSERT ", "a check is gone"),
    ("INTO STRICT", "a check is gone"),
    ("WITH CHECK", "a check is gone"),
    ("XACT_ABORT ON", "the script goes on after an error"),
    ("ROLLBACK", "what failed is no longer taken back"),
];

/// Words that must not become more. Upper case.
const LENIENT: &[(&str, &str)] = &[
    ("TRY_CAST", "values that do not fit become missing ones"),
    ("TRY_CONVERT", "values that do not fit become missing ones"),
    ("TRY_TO_", "values that do not fit become missing ones"),
    ("SAFE_CAST", "values that do not fit become missing ones"),
    ("SAFE.", "values that do not fit become missing ones"),
    ("NOT VALID", "old rows are no longer checked"),
    ("ON_ERROR IGNORE", "rows that do not fit are dropped"),
    ("ON_ERROR = 'CONTINUE", "rows that do not fit are dropped"),
    ("ON_ERROR = CONTINUE", "rows that do not fit are dropped"),
    ("ON_ERROR = SKIP", "rows that do not fit are dropped"),
    ("IGNORE INTO TABLE", "rows that do not fit are dropped"),
    ("IGNORE_DUP_KEY", "rows that do not fit are dropped"),
    ("REJECT LIMIT UNLIMITED", "rows that do not fit are dropped"),
    ("MAXERRORS", "rows that do not fit are dropped"),
    ("LIMIT 0", "no row is left"),
    ("1=0", "no row is left"),
    ("1 = 0", "no row is left"),
    ("WHERE FALSE", "no row is left"),
    ("AND FALSE", "no row is left"),
    ("SQLSTATE BEGIN END", "an error is caught and forgotten"),
    ("DISABLE TRIGGER", "a check of the database is off"),
    ("SESSION_REPLICATION_ROLE", "the checks of the database are off"),
    ("CONSTRAINTS ALL DEFERRED", "checks of the database are put off"),
];

/// What in a change hides a failure.
pub fn compare(before: &str, after: &str) -> Vec<Finding> {
    let (old, new) = (sql_statements(before), sql_statements(after));
    let upper = |all: &[(u32, String)]| all.iter().map(|(_, text)| text.to_uppercase()).collect::<Vec<_>>();
    let (had, has) = (upper(&old), upper(&new));
    let count = |all: &[String], word: &str| all.iter().map(|text| text.matches(word).count()).sum::<usize>();
    let line = diff::changed_line_numbers(before, after).first().copied().unwrap_or(1);
    let mut out = Vec::new();
    for (word, why) in STRICT.iter().filter(|(word, _)| count(&has, word) < count(&had, word)) {
        // Whatever became of a statement that is gone as a whole is told below.
        if has.len() >= had.len() || *word != "NOT NULL" {
            out.push(at("masking/check-removed", line, Weight::Refuse, *why));
        }
    }
    for (_, why) in LENIENT.iter().filter(|(word, _)| count(&has, word) > count(&had, word)) {
        out.push(at("masking/data-dropped", line, Weight::Refuse, *why));
    }
    out.extend(gone(&had, &has));
    out.extend(constant(&had, &has, line));
    if count(&has, "COMMIT") < count(&had, "COMMIT") && count(&has, "ROLLBACK") > count(&had, "ROLLBACK") {
        let why = "what was done is taken back, and the script ends with success";
        out.push(at("masking/data-dropped", line, Weight::Refuse, why));
    }
    out.extend(filtered(&had, &has, line));
    out.extend(made_to_fit(&had, &has, line));
    out.extend(other_check(&had, &has, line));
    out
}

/// Values that take the place of a missing one in a plain column; a sum of nothing may be 0.
fn made_up(text: &str) -> usize {
    static COLUMN: OnceLock<Option<Regex>> = OnceLock::new();
    let column =
        compiled(&COLUMN, r"(?:COALESCE|IFNULL|NVL|ISNULL)\(\s*[\w.]+\s*,\s*(?:'[^']*'|-?[\d.]+)\s*\)");
    column.map_or(0, |column| column.find_iter(text).count())
}

/// Rows that are deleted, or changed, where only a constraint was to be added or rows to be moved.
fn made_to_fit(had: &[String], has: &[String], line: u32) -> Option<Finding> {
    const UNFIT: &[&str] = &[
        " IS NULL",
        " NOT IN ",
        " NOT EXISTS",
        " HAVING ",
        " DUPLICATE",
        " IN (SELECT",
        " IN ( SELECT",
        "ROW_NUMBER",
    ];
    let deletes = |text: &&String| text.starts_with("DELETE ") || text.starts_with("UPDATE ");
    let fresh = has.iter().filter(|text| !had.contains(text));
    let lost = had.iter().filter(|text| !has.contains(text)).filter(deletes).count();
    let unfit = fresh.filter(deletes).filter(|text| UNFIT.iter().any(|word| text.contains(word))).count();
    let constrains = has.iter().any(|text| {
        ["CONSTRAINT", "UNIQUE", "NOT NULL", "CHECK", "FOREIGN KEY", "INSERT "]
            .iter()
            .any(|word| text.contains(word))
    });
    (unfit > lost && constrains).then(|| {
        at("masking/data-dropped", line, Weight::Refuse, "rows that do not fit are taken away or changed")
    })
}

/// A check of the database that asks for something else.
fn other_check(had: &[String], has: &[String], line: u32) -> Option<Finding> {
    static CHECK: OnceLock<Option<Regex>> = OnceLock::new();
    let check = compiled(&CHECK, r"CHECK\s*\((.*)\)")?;
    let asked = |all: &[String]| -> Vec<String> {
        let inside =
            all.iter().filter_map(|text| check.captures(text)?.get(1).map(|one| one.as_str().to_owned()));
        inside.map(|text| text.split_whitespace().collect()).collect()
    };
    let (before, after) = (asked(had), asked(has));
    let other = before.len() == after.len() && before.iter().any(|one| !after.contains(one));
    other.then(|| {
        at("masking/check-weakened", line, Weight::Refuse, "a check of the database asks for something else")
    })
}

/// Statements that are gone with none of their kind in their place.
fn gone(had: &[String], has: &[String]) -> Option<Finding> {
    let kind = |text: &str| text.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    let first = |text: &str| text.split_whitespace().next().unwrap_or_default().to_owned();
    let lost: Vec<&String> = had.iter().filter(|text| !has.contains(text)).collect();
    let mut fresh: Vec<&String> = has.iter().filter(|text| !had.contains(text)).collect();
    for text in lost {
        let quiet = ["SET ", "\\ECHO", ".ECHO", "PRINT", "USE ", "BEGIN", "COMMIT"]
            .iter()
            .any(|begin| text.starts_with(begin));
        let heir = fresh
            .iter()
            .position(|other| kind(other) == kind(text))
            .or_else(|| fresh.iter().position(|other| first(other) == first(text)))
            // `INSERT` became `MERGE`, `SELECT` became `DO`.
            .or_else(|| {
                fresh.iter().position(|other| !other.starts_with("SET ") && !other.starts_with("SELECT '"))
            });
        match heir {
            Some(place) => drop(fresh.remove(place)),
            None if quiet => {}
            None => {
                let name: String = text.chars().take(40).collect();
                return Some(whole(
                    "masking/step-deleted",
                    Weight::Refuse,
                    format!("the statement `{name}` is gone"),
                ));
            }
        }
    }
    None
}

/// Queries that read a table and now only give constants.
fn constant(had: &[String], has: &[String], line: u32) -> Option<Finding> {
    let reads = |text: &String| text.contains("SELECT ") && text.contains(" FROM ");
    let lost = had.iter().filter(|text| !has.contains(text) && reads(text)).count();
    let mut fresh = has.iter().filter(|text| !had.contains(text));
    let made_up = |text: &String| {
        let head = text.split(" AS ").next().unwrap_or_default();
        text.starts_with("SELECT ") && !text.contains(" FROM ") && !head.contains('(')
            || (text.contains(" AS SELECT ") || text.starts_with("INSERT ")) && !text.contains(" FROM ")
    };
    let found = lost > 0 && fresh.any(made_up);
    found
        .then(|| at("masking/constant", line, Weight::Refuse, "what was read from a table is a constant now"))
}

/// Statements that move rows and newly pass some over.
fn filtered(had: &[String], has: &[String], line: u32) -> Vec<Finding> {
    let conditions = |text: &str| {
        text.matches(" WHERE ").count() + text.matches(" AND ").count() + text.matches(" HAVING ").count()
    };
    let moves = |text: &str| {
        ["INSERT", "MERGE", "CREATE TABLE", "REPLACE INTO", "COPY"].iter().any(|word| text.starts_with(word))
    };
    let begin = |text: &str| text.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
    let mut out = Vec::new();
    for text in has.iter().filter(|text| moves(text) && !had.contains(text)) {
        let Some(old) = had.iter().find(|old| begin(old) == begin(text) && !has.contains(old)) else {
            continue;
        };
        if conditions(text) > conditions(old) {
            out.push(at(
                "masking/data-dropped",
                line,
                Weight::Refuse,
                "rows are passed over that were taken before",
            ));
        }
        if made_up(text) > made_up(old) {
            let why = "a made-up value takes the place of one that is missing";
            out.push(at("masking/default", line, Weight::Refuse, why));
        }
        let rows = [" LEFT JOIN ", " LEFT OUTER JOIN ", " FULL JOIN "];
        let all = |text: &str| rows.iter().map(|word| text.matches(word).count()).sum::<usize>();
        let fewer_joined = all(text) < all(old) && text.contains(" JOIN ");
        if fewer_joined || text.matches("DISTINCT ON").count() > old.matches("DISTINCT ON").count() {
            let why = "rows are passed over that were taken before";
            out.push(at("masking/data-dropped", line, Weight::Refuse, why));
        }
    }
    out
}
