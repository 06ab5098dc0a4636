//! Tables of patterns for languages that are compared line by line: what must not be new, and what must not be gone.
//!
//! Whole-line comments are left out before anything is counted, so a commented-out line counts as gone. Each pattern
//! stands for a documented feature of its language or tool.

use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::{Language, diff};

use crate::finding::{at, whole};

/// One row: languages, name, pattern, weight, what it means.
struct Row {
    languages: &'static [Language],
    rule: &'static str,
    pattern: &'static str,
    weight: Weight,
    why: &'static str,
}

const NODE: &[Language] = &[Language::Node];
const PERL: &[Language] = &[Language::Perl];
const RUBY: &[Language] = &[Language::Ruby];
const MAKE: &[Language] = &[Language::Make];
const SQL: &[Language] = &[Language::Sql];
const DOCKER: &[Language] = &[Language::Docker];

const fn row(
    languages: &'static [Language],
    rule: &'static str,
    pattern: &'static str,
    why: &'static str,
) -> Row {
    Row { languages, rule, pattern, weight: Weight::Refuse, why }
}

const fn softer(row: Row) -> Row {
    Row { weight: Weight::Medium, ..row }
}

/// What must not be new.
const ADDED: &[Row] = &[
    row(
        NODE,
        "swallowed",
        r"\|\|\s*(true|:|exit 0|echo\b|/bin/true)",
        "a command may fail without anybody noticing",
    ),
    row(NODE, "swallowed", r#";\s*(true|exit 0)\s*["']?\s*$"#, "a command may fail without anybody noticing"),
    row(NODE, "errexit-off", r"\bset \+e\b", "failures no longer end the commands"),
    // Node.
    row(
        NODE,
        "test-skipped",
        r"\b(it|test|describe)\.(skip|todo)\b|\bx(it|describe|test)\(",
        "a test is left out",
    ),
    row(
        NODE,
        "tls-off",
        r"rejectUnauthorized\s*:\s*false|NODE_TLS_REJECT_UNAUTHORIZED",
        "certificates are no longer checked",
    ),
    row(
        NODE,
        "errors-ignored",
        r"--passWithNoTests|--unhandled-rejections=(warn|none)|--no-verify|--ignore-scripts|ignoreErrors\s*:\s*true",
        "errors are ignored",
    ),
    // Perl.
    row(PERL, "exit-zero", r"\$SIG\{['\x22]?__(DIE|WARN)__['\x22]?\}", "what happens at an error is another"),
    row(PERL, "exit-zero", r"\$\?\s*=\s*0|POSIX::_exit\(\s*0", "the status is forced to success"),
    row(PERL, "strict-off", r"\bno\s+(strict|warnings|autodie)\b", "checks of the language are switched off"),
    row(
        PERL,
        "errors-ignored",
        r"\b(RaiseError|autodie|AutoDie|HandleError)\s*=>\s*(0|undef)\b",
        "errors of the database are no longer raised",
    ),
    row(PERL, "tls-off", r"verify_hostname\s*=>\s*0|SSL_VERIFY_NONE", "certificates are no longer checked"),
    row(PERL, "unreachable", r"\bif\s*\(\s*0\s*\)|\bunless\s*\(\s*1\s*\)", "code can no longer be reached"),
    // Ruby.
    row(RUBY, "tls-off", r"VERIFY_NONE|verify_mode\s*=\s*0", "certificates are no longer checked"),
    row(
        RUBY,
        "data-dropped",
        r"\.scrub\b|(invalid|undef):\s*:replace|liberal_parsing:\s*true|on_error:\s*:skip",
        "what cannot be decoded is dropped",
    ),
    row(RUBY, "test-skipped", r"\b(xit|xdescribe|pending|skip)\b", "a test is left out"),
    row(RUBY, "unreachable", r"\bif\s+(false|nil)\b", "code can no longer be reached"),
    // Make.
    row(MAKE, "errors-ignored", r"(?m)^\.IGNORE\b", "the status of commands is ignored"),
    row(
        MAKE,
        "errors-ignored",
        r"(?m)^\s*MAKEFLAGS\s*[+:?]?=.*(-i|-k|--ignore-errors|--keep-going)",
        "the status of commands is ignored",
    ),
    row(
        MAKE,
        "errors-ignored",
        r"\$\(MAKE\)\s+(-\w*[ik]|--keep-going|--ignore-errors)",
        "the status of commands is ignored",
    ),
    // SQL.
    row(
        SQL,
        "errors-ignored",
        r"(?i)\\set\s+ON_ERROR_STOP\s+(off|0|false)",
        "the script goes on after an error",
    ),
    row(
        SQL,
        "errors-ignored",
        r"(?i)\bINSERT\s+(OR\s+)?IGNORE\b|\bOR\s+IGNORE\b|UPDATE\s+IGNORE",
        "rows that do not fit are dropped",
    ),
    row(
        SQL,
        "errors-ignored",
        r"(?i)\bON\s+CONFLICT\b[^;]*\bDO\s+NOTHING\b",
        "rows that do not fit are dropped",
    ),
    row(
        SQL,
        "swallowed",
        r"(?is)\bEXCEPTION\s+WHEN\s+OTHERS\s+THEN\s+(NULL|RAISE\s+(NOTICE|WARNING|INFO)[^;]*|RETURN[^;]*)\s*;",
        "an error is caught and forgotten",
    ),
    row(
        SQL,
        "errors-ignored",
        r"(?i)\bDECLARE\s+CONTINUE\s+HANDLER\b|\.bail\s+off|WHENEVER\s+SQLERROR\s+CONTINUE|SET\s+XACT_ABORT\s+OFF",
        "the script goes on after an error",
    ),
    row(
        SQL,
        "check-disabled",
        r"(?i)\bDISABLE\s+(TRIGGER|CONSTRAINT)|FOREIGN_KEY_CHECKS\s*=\s*0|foreign_keys\s*=\s*(off|0)|NOCHECK\s+CONSTRAINT|\bDROP\s+CONSTRAINT",
        "a check of the database is off",
    ),
    row(SQL, "check-disabled", r"(?i)sql_mode\s*=\s*''", "the strict mode of the database is off"),
    // Docker.
    row(DOCKER, "check-disabled", r"(?m)^HEALTHCHECK\s+NONE", "the health check is off"),
    row(
        DOCKER,
        "errors-ignored",
        r"--allow-unauthenticated|--nogpgcheck|--no-check-certificate|--insecure|--trusted-host|curl\s+-\w*k",
        "checks of what is fetched are off",
    ),
];

/// What must not become less.
const REMOVED: &[Row] = &[
    row(PERL, "strict-removed", r"\buse\s+(strict|warnings|autodie)\b", "checks of the language are gone"),
    row(
        SQL,
        "errors-ignored",
        r"(?i)ON_ERROR_STOP\s+(on|1|true)|\.bail\s+on|WHENEVER\s+SQLERROR\s+EXIT|XACT_ABORT\s+ON",
        "the script goes on after an error",
    ),
    softer(row(
        SQL,
        "transaction-removed",
        r"(?i)\b(BEGIN|START\s+TRANSACTION|COMMIT)\b",
        "a transaction is gone",
    )),
    row(DOCKER, "step-deleted", r"(?m)^(COPY|ADD|HEALTHCHECK|USER)\b", "a step is gone"),
    row(
        DOCKER,
        "pipefail-removed",
        r"pipefail",
        "`pipefail` is gone, so only the last member of a pipeline counts",
    ),
    row(
        MAKE,
        "strict-removed",
        r"(?m)^\.(DELETE_ON_ERROR|SHELLFLAGS)|pipefail|-Werror|--strict\b|--error-exitcode|--fail-under",
        "a strict setting is gone",
    ),
];

/// Patterns compiled once.
struct Compiled {
    added: Vec<(Regex, &'static Row)>,
    removed: Vec<(Regex, &'static Row)>,
}

fn compiled() -> &'static Compiled {
    static ONCE: OnceLock<Compiled> = OnceLock::new();
    let compile = |rows: &'static [Row]| {
        rows.iter().filter_map(|row| Regex::new(row.pattern).ok().map(|regex| (regex, row))).collect()
    };
    ONCE.get_or_init(|| Compiled { added: compile(ADDED), removed: compile(REMOVED) })
}

/// What a change brings or takes by the tables.
pub fn compare(language: Language, before: &str, after: &str) -> Vec<Finding> {
    let tables = compiled();
    let mut out = Vec::new();
    let (old, new) = (without_comments(language, before), without_comments(language, after));
    for (regex, row) in tables.added.iter().filter(|(_, row)| row.languages.contains(&language)) {
        let matches: Vec<usize> = regex.find_iter(&new).map(|found| found.start()).take(64).collect();
        if matches.len() > regex.find_iter(&old).take(64).count() {
            let line = line_of_new(before, after, regex).unwrap_or(1);
            out.push(at(&format!("masking/{}", row.rule), line, row.weight, row.why));
        }
    }
    for (regex, row) in tables.removed.iter().filter(|(_, row)| row.languages.contains(&language)) {
        if regex.find_iter(&new).count() < regex.find_iter(&old).count() {
            out.push(whole(&format!("masking/{}", row.rule), row.weight, row.why));
        }
    }
    out.extend(gone(language, &old, &new));
    out
}

/// The first changed line that a pattern matches.
fn line_of_new(before: &str, after: &str, regex: &Regex) -> Option<u32> {
    let hunks = diff::hunks(before, after);
    let first = hunks.first().map(|hunk| hunk.new.start);
    let found = hunks.iter().find_map(|hunk| {
        let mut lines = hunk.new.clone().zip(&hunk.added);
        lines.find(|(_, text)| regex.is_match(text)).map(|(line, _)| line)
    });
    found.or(first)
}

/// Lines that are only gone, with nothing in their place, in languages whose steps are not followed.
fn gone(language: Language, old: &str, new: &str) -> Option<Finding> {
    if language != Language::Awk {
        return None;
    }
    let lost = diff::hunks(old, new).into_iter().find(|hunk| {
        hunk.added.iter().all(|line| line.trim().is_empty())
            && hunk.removed.iter().any(|line| line.trim().len() > 2)
    })?;
    let lines = lost.removed.iter().filter(|line| line.trim().len() > 2).count();
    Some(whole(
        "masking/lines-deleted",
        Weight::Medium,
        format!("{lines} lines are gone with nothing in their place"),
    ))
}

/// The text without lines that are only a comment.
fn without_comments(language: Language, text: &str) -> String {
    let marks: &[&str] = match language {
        Language::Node => &["//", "/*", "* "],
        Language::Sql => &["--"],
        _ => &["#"],
    };
    let keeps = |line: &&str| !marks.iter().any(|mark| line.trim_start().starts_with(mark));
    text.split_inclusive('\n').filter(keeps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for row in ADDED.iter().chain(REMOVED) {
            assert!(Regex::new(row.pattern).is_ok(), "{}", row.pattern);
        }
    }
}
