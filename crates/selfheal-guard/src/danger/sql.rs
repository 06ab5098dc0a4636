//! Statements of SQL that destroy data.

use selfheal_core::admission::Danger;

use super::Operation;

/// How a statement begins (upper case, single blanks) and what it must lack to be dangerous.
const STATEMENTS: &[(&str, &str)] = &[
    ("DROP", ""),
    ("REVOKE", ""),
    ("SET GLOBAL", ""),
    ("SET PASSWORD", ""),
    ("FLUSH", ""),
    ("KILL", ""),
    ("REASSIGN OWNED", ""),
    ("ALTER DATABASE", ""),
    ("DELETE", " WHERE "),
    ("TRUNCATE", ""),
    ("DELETE FROM", " WHERE "),
    ("UPDATE", " WHERE "),
    ("ALTER SYSTEM", ""),
    ("RESET MASTER", ""),
    ("PURGE", ""),
    ("GRANT ALL", ""),
    ("ALTER USER", ""),
    ("ALTER ROLE", ""),
    ("CREATE USER", ""),
    ("CREATE ROLE", ""),
    ("SHUTDOWN", ""),
];

/// What reaches out of the database, ends the work of others, or deletes inside of another statement. Upper case.
const REACHES_OUT: &[&str] = &[
    "INTO OUTFILE",
    "INTO DUMPFILE",
    "PG_TERMINATE_BACKEND",
    "PG_CANCEL_BACKEND",
    "LO_EXPORT",
    "LO_IMPORT",
    "PG_READ_FILE",
    "PG_READ_BINARY_FILE",
    "PG_LS_DIR",
    "LOAD_FILE(",
    "LOAD_EXTENSION",
    "DBLINK",
    "(DELETE FROM",
    "( DELETE FROM",
    "THEN DELETE",
    "SP_CONFIGURE",
    "UTL_HTTP",
    "UTL_FILE",
    "SYS_EXEC",
    "SYS_EVAL",
];

/// The dangerous statements of a text.
pub fn operations(text: &str) -> Vec<Operation> {
    let mut out: Vec<Operation> =
        statements(text).into_iter().filter_map(|(line, statement)| judge(line, &statement)).collect();
    out.extend(put_together(text));
    out
}

/// `EXECUTE 'DROP TABLE ' || name`: a statement that is put together from texts.
fn put_together(text: &str) -> Option<Operation> {
    let upper = text.to_uppercase();
    let at = [
        "EXECUTE '",
        "EXECUTE FORMAT(",
        "EXEC('",
        "EXEC ('",
        "EXECUTE IMMEDIATE '",
        "SP_EXECUTESQL",
        "PREPARE ",
    ]
    .iter()
    .find_map(|word| upper.find(word))?;
    let rest = upper.get(at..)?;
    let destroys = ["DROP ", "TRUNCATE ", "DELETE FROM", "ALTER "].iter().any(|word| rest.contains(word));
    destroys.then(|| Operation {
        line: upper.get(..at).map_or(1, |before| before.matches('\n').count() as u32 + 1),
        danger: Danger::High,
        rule: "danger/database".to_owned(),
        why: "it puts a statement together that destroys data".to_owned(),
        subject: rest.chars().take(120).collect(),
    })
}

fn judge(line: u32, statement: &str) -> Option<Operation> {
    let upper = statement.to_uppercase();
    let plain = upper.strip_prefix("BEGIN ").unwrap_or(&upper);
    // It carries the statement out.
    let plain = plain.strip_prefix("EXPLAIN ANALYZE ").unwrap_or(plain);
    let plain = plain.strip_prefix("EXPLAIN (ANALYZE) ").unwrap_or(plain);
    let begins =
        |begin: &str| plain == begin || plain.strip_prefix(begin).is_some_and(|rest| rest.starts_with(' '));
    let known = STATEMENTS
        .iter()
        .find(|(begin, lacks)| begins(begin) && (lacks.is_empty() || !plain.contains(lacks)));
    let always =
        plain.contains(" WHERE 1=1") || plain.contains(" WHERE TRUE") || plain.contains(" WHERE 1 = 1");
    let wide = always && (begins("DELETE FROM") || begins("UPDATE"));
    let alters = begins("ALTER TABLE") && (plain.contains(" DROP ") || plain.contains(" RENAME "));
    let runs = plain.contains(" FROM PROGRAM ")
        || plain.contains(" TO PROGRAM ")
        || plain.contains("XP_CMDSHELL")
        || REACHES_OUT.iter().any(|word| plain.contains(word));
    // A temporary table is the statement's own.
    if begins("DROP TEMPORARY TABLE") || begins("DROP TEMP TABLE") {
        return None;
    }
    let shell =
        statement.starts_with("\\!") || statement.starts_with(".shell") || statement.starts_with(".system");
    let high = known.is_some() || wide || alters || runs || shell;
    // Some rows of a table: what is wrong with them can be put right, if somebody knows.
    let bounded = begins("DELETE FROM") || begins("UPDATE") || begins("MERGE INTO") || begins("REPLACE INTO");
    (high || bounded).then(|| Operation {
        line,
        danger: if high { Danger::High } else { Danger::Medium },
        rule: "danger/database".to_owned(),
        why: "it destroys or rewrites data in a database".to_owned(),
        subject: statement.chars().take(120).collect(),
    })
}

/// The statements of a text with the line where each begins; comments, and the contents of strings, are taken out.
pub fn statements(text: &str) -> Vec<(u32, String)> {
    let mut out = Vec::new();
    let (mut current, mut line, mut begun) = (String::new(), 1_u32, 1_u32);
    let mut chars = text.chars().peekable();
    let mut quote = None;
    while let Some(c) = chars.next() {
        if c == '\n' {
            line += 1;
        }
        match (quote, c) {
            (Some(open), c) => {
                if c == open {
                    quote = None;
                    current.push('\'');
                }
            }
            (None, '\'') => {
                quote = Some('\'');
                current.push('\'');
            }
            (None, '-') if chars.peek() == Some(&'-') => skip_line(&mut chars, &mut line),
            (None, '#') if current.trim().is_empty() => skip_line(&mut chars, &mut line),
            (None, '/') if chars.peek() == Some(&'*') => {
                current.push(' ');
                skip_block(&mut chars, &mut line);
            }
            (None, ';') => push(&mut out, &mut current, begun),
            (None, '\n') if current.trim_start().starts_with(['\\', '.']) => {
                push(&mut out, &mut current, begun)
            }
            (None, c) => {
                if current.trim().is_empty() {
                    begun = line;
                }
                current.push(c);
            }
        }
    }
    push(&mut out, &mut current, begun);
    out
}

fn push(out: &mut Vec<(u32, String)>, current: &mut String, line: u32) {
    let text = current.split_whitespace().collect::<Vec<_>>().join(" ");
    current.clear();
    if !text.is_empty() {
        out.push((line, text));
    }
}

fn skip_line(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, line: &mut u32) {
    if chars.by_ref().any(|c| c == '\n') {
        *line += 1;
    }
}

fn skip_block(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, line: &mut u32) {
    let mut star = false;
    for c in chars.by_ref().skip(1) {
        *line += u32::from(c == '\n');
        if star && c == '/' {
            break;
        }
        star = c == '*';
    }
}
