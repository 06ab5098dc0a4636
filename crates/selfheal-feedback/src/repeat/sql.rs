//! Whether the arguments of a database client hold statements, and only such that read.

/// Options whose value is a statement.
const STATEMENT: [&str; 8] = ["-c", "--command", "-e", "--execute", "--query", "-q", "-Q", "--eval"];
/// Words that begin a statement which reads.
const READS: [&str; 9] =
    ["select", "show", "explain", "describe", "desc", "values", "pragma", "table", "with"];
/// Words that change something wherever they stand.
const WRITES: [&str; 14] = [
    "insert", "update", "delete", "merge", "into", "create", "drop", "alter", "truncate", "call", "replace",
    "copy", "grant", "do",
];
/// Functions that only compute; any other may do anything.
const FUNCTIONS: [&str; 42] = [
    "count",
    "sum",
    "min",
    "max",
    "avg",
    "now",
    "coalesce",
    "nullif",
    "lower",
    "upper",
    "trim",
    "length",
    "substr",
    "substring",
    "concat",
    "round",
    "abs",
    "floor",
    "ceil",
    "date",
    "date_trunc",
    "extract",
    "to_char",
    "to_date",
    "strftime",
    "datetime",
    "julianday",
    "cast",
    "greatest",
    "least",
    "row_number",
    "rank",
    "over",
    "in",
    "exists",
    "version",
    "current_database",
    "group_concat",
    "string_agg",
    "array_agg",
    "pg_database_size",
    "pg_size_pretty",
];

/// Whether a client (`psql -c TEXT`, `mysql -e TEXT`, `sqlite3 FILE TEXT`) gets statements in its arguments, all of which
/// read. One without any reads them from elsewhere.
pub fn only_reads(client: &str, arguments: &[String]) -> bool {
    let mut statements: Vec<&str> = Vec::new();
    let mut plain: Vec<&str> = Vec::new();
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let attached = STATEMENT.iter().find_map(|option| {
            let rest = word.strip_prefix(option)?;
            match option.starts_with("--") {
                true => rest.strip_prefix('='),
                false => (!rest.is_empty() && !word.starts_with("--")).then_some(rest),
            }
        });
        match attached {
            Some(text) => statements.push(text),
            None if STATEMENT.contains(&word) => statements.extend(words.next()),
            None if word == "-l" || word == "--list" => statements.push("show"),
            None if ["-f", "--file", "<", "--init-command"].contains(&word) => return false,
            None if word.starts_with('-') => {}
            None => plain.push(word),
        }
    }
    if statements.is_empty() && matches!(client, "sqlite3" | "duckdb") {
        statements.extend(plain.into_iter().skip(1));
    }
    !statements.is_empty() && statements.iter().all(|text| reads(text))
}

fn reads(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split(';').map(str::trim).filter(|statement| !statement.is_empty()).all(|statement| {
        let words: Vec<&str> =
            statement.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
        let first = words.iter().find(|word| !word.is_empty());
        (statement.starts_with(['\\', '.']) && !statement.contains(['!', '|'])
            || first.is_some_and(|word| READS.contains(word)))
            && !words.iter().any(|word| WRITES.contains(word))
            && calls(statement)
                .all(|name| name.is_empty() || FUNCTIONS.contains(&name) || READS.contains(&name))
    })
}

/// The names before opening brackets.
fn calls(statement: &str) -> impl Iterator<Item = &str> {
    statement.match_indices('(').map(|(at, _)| {
        let before = statement.get(..at).unwrap_or_default().trim_end();
        before.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(client: &str, arguments: &[&str]) -> bool {
        only_reads(client, &arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn statements_that_read_are_told_from_those_that_may_write() {
        assert!(only("psql", &["-At", "-c", "select count(*), max(a) from t where b in (1,2)"]));
        assert!(only("mysql", &["-eSHOW STATUS", "db"]));
        assert!(only("sqlite3", &["x.db", "select 1; select lower(a) from t;"]));
        assert!(only("psql", &["-c", "\\dt"]));
        for text in [
            "select charge_all()",
            "select 1; delete from t",
            "with x as (insert into t values (1)) select 1",
            "vacuum",
            "select nextval('a')",
            "select 1 into x",
        ] {
            assert!(!only("psql", &["-c", text]), "{text}");
        }
        assert!(!only("psql", &["db"]));
        assert!(!only("sqlite3", &["x.db"]));
        assert!(!only("psql", &["-c", "select 1", "-f", "x.sql"]));
    }
}
