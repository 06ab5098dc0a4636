//! Values that a renamed column is compared with: where what the job reads holds none of them, more than the name has
//! changed, and the new name alone would make a comparison that is never true.

use std::collections::BTreeSet;
use std::path::PathBuf;

use selfheal_core::scene::{Kind, absolute};

use crate::case::Case;
use crate::text::{is_name, whole_words};

/// Bytes of a file that are looked at.
const LARGEST: usize = 256 * 1024;
/// Files that are looked at.
const MOST_FILES: usize = 40;
/// A column shows which values it knows once it has so many.
const SHOWS: usize = 2;
/// Signs and words of comparisons, longest first.
const COMPARES: [&str; 8] = ["===", "!==", "==", "!=", "<>", " eq ", " ne ", "="];
/// With what a file of SQLite begins.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// A new name, with a text that it is compared with.
#[derive(Debug, PartialEq, Eq)]
struct Compared {
    name: String,
    value: String,
}

/// Whether a change compares a name that it brings in with a text that the column of this name never holds.
pub(crate) fn with_what_never_comes(case: &Case, before: &str, added: &[&str]) -> bool {
    let new = |one: &Compared| whole_words(before, &one.name).next().is_none();
    let compared: Vec<Compared> = added.iter().flat_map(|line| comparisons(line)).filter(new).collect();
    if compared.is_empty() {
        return false;
    }
    if compared.iter().any(Compared::is_of_another_kind) {
        return true;
    }
    let files: Vec<Vec<u8>> = files(case, before);
    compared.iter().any(|one| {
        let mut seen = files.iter().filter_map(|bytes| holds(bytes, one)).peekable();
        seen.peek().is_some() && !seen.any(|holds| holds)
    })
}

/// Whether a change reads the number of a row of another table in place of what stood there: `reader_id`, which the schema
/// says refers to `readers`, is no other spelling of `reader`, unless the other table is joined.
pub(crate) fn reads_a_reference(case: &Case, before: &str, added: &[&str]) -> bool {
    let words = added.iter().flat_map(|line| line.split(|c: char| !is_name(c)));
    let brought: BTreeSet<&str> = words
        .filter(|word| {
            word.strip_suffix("_id").is_some_and(|stem| whole_words(before, stem).next().is_some())
        })
        .filter(|word| whole_words(before, word).next().is_none())
        .collect();
    if brought.is_empty() || added.iter().any(|line| line.to_lowercase().contains("join")) {
        return false;
    }
    let refers = |text: &str, name: &str| {
        text.split([',', '(', '\n']).any(|part| {
            part.to_lowercase().contains("references") && whole_words(part, name).next().is_some()
        })
    };
    let files = files(case, before);
    let texts: Vec<_> = files.iter().map(|bytes| String::from_utf8_lossy(bytes)).collect();
    texts.iter().any(|text| text.contains("CREATE TABLE") && brought.iter().any(|name| refers(text, name)))
}

impl Compared {
    /// Whether the name says that it holds times or numbers of rows, and the value is neither.
    fn is_of_another_kind(&self) -> bool {
        let ends = ["_on", "_at", "_date", "_day", "_time", "_id"];
        ends.iter().any(|end| self.name.ends_with(end)) && !self.value.contains(|c: char| c.is_ascii_digit())
    }
}

/// The comparisons of a line with a text in quotes: `row["paid"] == "Y"`, `paid = 'yes'`.
fn comparisons(line: &str) -> Vec<Compared> {
    let mut found = Vec::new();
    for (at, quote) in line.match_indices(['"', '\'']) {
        let (head, tail) = (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default());
        // A sign of its own: `<=` and `>=` compare with an order and are left out.
        let Some(left) =
            COMPARES.iter().find_map(|sign| head.trim_end_matches(' ').strip_suffix(sign.trim_end()))
        else {
            continue;
        };
        let assigns = head.trim_end().ends_with('=') && !head.trim_end().ends_with("==");
        let Some(value) = tail.split(quote).next().filter(|value| !value.is_empty() && !value.contains('%'))
        else {
            continue;
        };
        // One `=` compares in SQL alone, where texts stand in single quotes.
        if assigns && (quote != "'" || head.ends_with('=') && !head.contains(' '))
            || left.ends_with(['<', '>'])
        {
            continue;
        }
        let left = left.trim_end().trim_end_matches([')', ']', '}', '"', '\'', ' ']);
        let start = left.rfind(|c: char| !is_name(c)).map_or(0, |at| at + 1);
        let name = left.get(start..).unwrap_or_default();
        if name.chars().next().is_some_and(char::is_alphabetic) {
            found.push(Compared { name: name.to_owned(), value: value.to_owned() });
        }
    }
    found
}

/// The files beside the job, and those that it names.
fn files(case: &Case, script: &str) -> Vec<Vec<u8>> {
    let base = case.base();
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    let named = script.split(|c: char| !is_path(c)).filter(|word| word.contains('.') && word.len() > 3);
    let mut places: BTreeSet<PathBuf> = named.map(|word| absolute(&base, word.as_ref())).collect();
    places.extend(case.scene.names(&base).iter().map(|name| base.join(name)));
    if let Some(script) = &case.job.script {
        places.remove(script);
    }
    let file = |place: &PathBuf| case.scene.facts(place).is_some_and(|facts| facts.kind == Kind::File);
    places
        .iter()
        .filter(|place| file(place))
        .take(MOST_FILES)
        .filter_map(|place| case.scene.read(place, LARGEST))
        .collect()
}

/// Whether a file has a value in the column of a name; nothing where it has no such column, or too few values.
fn holds(bytes: &[u8], one: &Compared) -> Option<bool> {
    if bytes.starts_with(SQLITE) {
        let text = String::from_utf8_lossy(bytes);
        let schema = text.match_indices("CREATE TABLE").any(|(at, _)| {
            let body: String = text.get(at..).unwrap_or_default().chars().take(4_000).collect();
            whole_words(&body, &one.name).next().is_some()
        });
        return schema.then(|| text.contains(&one.value));
    }
    let text = std::str::from_utf8(bytes).ok()?.trim_start_matches('\u{feff}');
    let values = in_table(text, &one.name).or_else(|| in_json(text, &one.name))?;
    (values.len() >= SHOWS).then(|| values.contains(&one.value.as_str()))
}

/// The values of a column of a table with a heading.
fn in_table<'t>(text: &'t str, name: &str) -> Option<Vec<&'t str>> {
    let heading = text.lines().next()?;
    let separator = [';', '\t', ',', '|'].into_iter().max_by_key(|mark| heading.matches(*mark).count())?;
    let bare = |field: &'t str| field.trim().trim_matches('"');
    let at = heading.split(separator).position(|field| bare(field) == name)?;
    heading.contains(separator).then_some(())?;
    let values = text.lines().skip(1).filter_map(|line| line.split(separator).nth(at)).map(bare);
    Some(values.filter(|value| !value.is_empty()).collect())
}

/// The texts under a key of JSON.
fn in_json<'t>(text: &'t str, name: &str) -> Option<Vec<&'t str>> {
    let key = format!("\"{name}\"");
    let value = |at: usize| {
        let rest = text.get(at + key.len()..)?.trim_start().strip_prefix(':')?.trim_start();
        rest.strip_prefix('"')?.split('"').next()
    };
    let values: Vec<&str> = text.match_indices(&key).filter_map(|(at, _)| value(at)).collect();
    (!values.is_empty()).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn never(scene: TestScene, before: &str, after: &str) -> bool {
        let case = TestCase::new("x.py", before, scene);
        with_what_never_comes(&case.case(), before, &after.lines().collect::<Vec<_>>())
    }

    #[test]
    fn comparisons_are_found_in_the_forms_of_languages() {
        let found = |line: &str| -> Vec<(String, String)> {
            comparisons(line).into_iter().map(|one| (one.name, one.value)).collect()
        };
        let paid = |value: &str| vec![("paid".to_owned(), value.to_owned())];
        assert_eq!(found("if row[\"paid\"] == \"Y\":"), paid("Y"));
        assert_eq!(found("if (row.paid !== 'Y') {"), paid("Y"));
        assert_eq!(found("WHERE day < ? AND paid = 'no'"), paid("no"));
        assert_eq!(found("if ($row{paid} eq 'Y')"), paid("Y"));
        assert_eq!(found("paid = \"Y\""), []);
        assert_eq!(found("PAID='Y'"), []);
        assert_eq!(found("x >= 'Y'"), []);
    }

    #[test]
    fn a_value_that_a_table_never_has_is_seen() {
        let table = "id;insured\n1;yes\n2;no\n";
        let (before, after) = ("if row[\"Insured\"] == \"Y\":\n", "if row[\"insured\"] == \"Y\":\n");
        assert!(never(TestScene::new().file("a.csv", table), before, after));
        assert!(!never(TestScene::new().file("a.csv", &table.replace("no", "Y")), before, after));
        assert!(!never(TestScene::new().file("a.csv", "id;other\n1;yes\n2;no\n"), before, after));
        assert!(!never(TestScene::new().file("a.csv", "id;insured\n1;yes\n"), before, after));
        assert!(!never(TestScene::new().file("a.csv", table), after, after));
    }

    #[test]
    fn times_and_numbers_of_rows_are_not_compared_with_words() {
        let before = "where returned = 'no'\n";
        assert!(never(TestScene::new(), before, "where returned_on = 'no'\n"));
        assert!(!never(TestScene::new(), before, "where returned_on = '2024-01-01'\n"));
        assert!(!never(TestScene::new(), before, "where is_returned = 'no'\n"));
    }

    #[test]
    fn a_number_of_a_row_elsewhere_is_not_what_stood_there() {
        let schema = "CREATE TABLE loans (\n  reader_id INTEGER REFERENCES readers(id),\n  due_on TEXT\n);\n";
        let before = "select reader from loans\n";
        let reads = |schema: &str, after: &str| {
            let case = TestCase::new("x.py", before, TestScene::new().file("schema.sql", schema));
            reads_a_reference(&case.case(), before, &[after])
        };
        assert!(reads(schema, "select reader_id from loans"));
        assert!(!reads(schema, "select name from loans join readers on readers.id = reader_id"));
        assert!(!reads(&schema.replace("REFERENCES readers(id)", ""), "select reader_id from loans"));
    }

    #[test]
    fn a_value_that_json_or_a_database_never_has_is_seen() {
        let (before, after) = ("if x['State'] == 'open':\n", "if x['state'] == 'open':\n");
        let json = r#"[{"state": "closed"}, {"state": "waiting"}]"#;
        assert!(never(TestScene::new().file("a.json", json), before, after));
        assert!(!never(TestScene::new().file("a.json", &json.replace("waiting", "open")), before, after));
        let database = "SQLite format 3\0CREATE TABLE t (id, back TEXT)\0\u{1}2024-05-02";
        let (before, after) = ("where returned = 'no'\n", "where back = 'no'\n");
        assert!(never(TestScene::new().file("a.db", database), before, after));
        assert!(!never(TestScene::new().file("a.db", &format!("{database}no")), before, after));
    }
}
