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
const YAML: &[Language] = &[Language::Yaml];
const SQL: &[Language] = &[Language::Sql];
const DOCKER: &[Language] = &[Language::Docker];
/// Languages whose texts hold lines of shell.
const SHELL_INSIDE: &[Language] = &[Language::Node, Language::Make, Language::Yaml, Language::Docker];

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
        SHELL_INSIDE,
        "swallowed",
        r"\|\|\s*(true|:|exit 0|echo\b|/bin/true)",
        "a command may fail without anybody noticing",
    ),
    row(
        SHELL_INSIDE,
        "swallowed",
        r#";\s*(true|exit 0)\s*["']?\s*$"#,
        "a command may fail without anybody noticing",
    ),
    row(SHELL_INSIDE, "errexit-off", r"\bset \+e\b", "failures no longer end the commands"),
    // Node.
    row(
        NODE,
        "swallowed",
        r"catch\s*(\([^)]*\))?\s*\{\s*(//[^\n]*\s*)?\}",
        "an error is caught and forgotten",
    ),
    row(
        NODE,
        "message-only",
        r"catch\s*(\([^)]*\))?\s*\{\s*(console\.\w+|log\w*(\.\w+)?|logger\.\w+)\([^{}]*\);?\s*\}",
        "an error is caught and only printed",
    ),
    row(
        NODE,
        "swallowed",
        r"catch\s*(\([^)]*\))?\s*\{\s*(return|continue|break)\b[^{}]*\}",
        "an error is caught and nothing fails",
    ),
    row(
        NODE,
        "swallowed",
        r"\.catch\(\s*(\(\s*\w*\s*\)|\w+)?\s*(=>)?\s*(\{\s*\}|null|undefined|console\.\w+|\(\)|void 0|\{\s*console\.[^}]*\})?\s*\)",
        "a rejected promise is forgotten",
    ),
    row(
        NODE,
        "swallowed",
        r"\.catch\(\s*(\(\s*\w*\s*\)|\w+)\s*=>\s*(console\.\w+\([^)]*\)|\[\]|\{\}|0|''|\x22\x22|false|\(\{\}\))\s*\)",
        "a rejected promise becomes a made-up value",
    ),
    row(NODE, "exit-zero", r"process\.exit\(\s*0?\s*\)", "the program ends with success"),
    row(NODE, "exit-zero", r"process\.exitCode\s*=\s*0", "the program ends with success"),
    row(
        NODE,
        "exit-zero",
        r#"process\.on\(\s*['"](uncaughtException|unhandledRejection|exit)['"]"#,
        "unhandled errors no longer end the program",
    ),
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
    row(NODE, "unreachable", r"\bif\s*\(\s*(false|0)\s*\)", "code can no longer be reached"),
    row(
        NODE,
        "errors-ignored",
        r"--passWithNoTests|--unhandled-rejections=(warn|none)|--no-verify|--ignore-scripts|ignoreErrors\s*:\s*true",
        "errors are ignored",
    ),
    // Perl.
    row(
        PERL,
        "exit-zero",
        r"\bexit\s*\(?\s*0?\s*\)?\s*(;|\}|if\b|unless\b)",
        "the program ends with success",
    ),
    row(PERL, "exit-zero", r"\$SIG\{['\x22]?__(DIE|WARN)__['\x22]?\}", "what happens at an error is another"),
    row(
        PERL,
        "swallowed",
        r"(\|\||\bor\b)\s*(1|0|warn\b[^;]*|print\b[^;]*|next|last|return)\s*;",
        "an error is only passed over",
    ),
    row(PERL, "exit-zero", r"\$\?\s*=\s*0|POSIX::_exit\(\s*0", "the status is forced to success"),
    row(PERL, "strict-off", r"\bno\s+(strict|warnings|autodie)\b", "checks of the language are switched off"),
    row(PERL, "tls-off", r"verify_hostname\s*=>\s*0|SSL_VERIFY_NONE", "certificates are no longer checked"),
    row(PERL, "unreachable", r"\bif\s*\(\s*0\s*\)|\bunless\s*\(\s*1\s*\)", "code can no longer be reached"),
    // Ruby.
    row(
        RUBY,
        "swallowed",
        r"\brescue\s+(nil|false|0|\x22\x22|''|\[\]|\{\})",
        "an error becomes a made-up value",
    ),
    row(
        RUBY,
        "swallowed",
        r"(?m)^\s*rescue\s*(=>\s*\w+|StandardError\b[^\n]*|Exception\b[^\n]*)?\s*(;|\n)\s*((puts|warn|p|print|logger\.\w+)\b[^\n]*\n\s*)?(nil\s*|next\s*|true\s*)?end\b",
        "an error is caught and forgotten",
    ),
    row(
        RUBY,
        "exit-zero",
        r"\bexit!?\s*(\(?\s*(0|true)\s*\)?)?\s*($|;|if\b|unless\b)",
        "the program ends with success",
    ),
    row(RUBY, "exit-zero", r"\bat_exit\s*(\{|do)", "what happens at the end is another"),
    row(RUBY, "tls-off", r"VERIFY_NONE|verify_mode\s*=\s*0", "certificates are no longer checked"),
    row(RUBY, "test-skipped", r"\b(xit|xdescribe|pending|skip)\b", "a test is left out"),
    row(RUBY, "unreachable", r"\bif\s+(false|nil)\b", "code can no longer be reached"),
    // Make.
    row(MAKE, "errors-ignored", r"(?m)^\t@?-", "the status of a command is ignored"),
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
    // YAML: continuous integration and Ansible.
    row(YAML, "errors-ignored", r"\bcontinue-on-error:\s*(true|yes|\$)", "a step may fail"),
    row(YAML, "errors-ignored", r"\bcontinueOnError:\s*(true|yes)", "a step may fail"),
    row(YAML, "errors-ignored", r"\bignore_errors:\s*(true|yes)", "a task may fail"),
    row(YAML, "errors-ignored", r"\bignore_unreachable:\s*(true|yes)", "a task may fail"),
    row(YAML, "errors-ignored", r"\bfailed_when:\s*(false|no|\[\])", "a task can no longer fail"),
    row(YAML, "errors-ignored", r"\ballow_failure:", "a job may fail"),
    row(
        YAML,
        "errors-ignored",
        r"\bfail-fast:\s*false|\bfail_ci_if_error:\s*false|\bfailFast:\s*false",
        "a failure no longer ends the rest",
    ),
    row(
        YAML,
        "step-skipped",
        r"\b(if|when):\s*(false|never|\$\{\{\s*false\s*\}\}|no)\s*$",
        "a step never runs",
    ),
    row(YAML, "step-skipped", r"\bif:\s*(always|failure)\(\)", "a step runs whatever happened before"),
    row(
        YAML,
        "tls-off",
        r"\b(validate_certs|verify_ssl|ssl_verify):\s*(false|no)",
        "certificates are no longer checked",
    ),
    row(
        YAML,
        "errors-ignored",
        r"\b(no_log|skip_errors|ignore_missing):\s*(true|yes)|exit_on_error:\s*false",
        "errors are ignored",
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
    row(DOCKER, "errors-ignored", r"(?m)^SHELL\s*\[[^\]]*\]", "the shell of the build is another"),
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
    row(NODE, "check-removed", r"\bthrow\b", "an error is no longer thrown"),
    row(NODE, "check-removed", r"\bassert\w*(\.\w+)?\(|\bexpect\(", "a check is gone"),
    row(
        NODE,
        "exit-removed",
        r"process\.exit\(\s*[1-9]|process\.exitCode\s*=\s*[1-9]",
        "a failing exit is gone",
    ),
    row(PERL, "check-removed", r"\bdie\b|\bcroak\b|\bconfess\b", "a `die` is gone"),
    row(PERL, "exit-removed", r"\bexit\s*\(?\s*[1-9]", "a failing exit is gone"),
    row(PERL, "strict-removed", r"\buse\s+(strict|warnings|autodie)\b", "checks of the language are gone"),
    row(RUBY, "check-removed", r"\braise\b|\babort\b|\bfail\b", "an error is no longer raised"),
    row(
        SQL,
        "errors-ignored",
        r"(?i)ON_ERROR_STOP\s+(on|1|true)|\.bail\s+on|WHENEVER\s+SQLERROR\s+EXIT|XACT_ABORT\s+ON",
        "the script goes on after an error",
    ),
    softer(row(
        SQL,
        "check-removed",
        r"(?i)\b(CHECK|NOT\s+NULL|UNIQUE|REFERENCES|FOREIGN\s+KEY)\b",
        "a check of the database is gone",
    )),
    softer(row(
        SQL,
        "transaction-removed",
        r"(?i)\b(BEGIN|START\s+TRANSACTION|COMMIT)\b",
        "a transaction is gone",
    )),
    row(
        SQL,
        "step-deleted",
        r"(?im)^\s*(INSERT|UPDATE|DELETE|CREATE|ALTER|COPY|MERGE|REFRESH|CALL|EXEC|SELECT)\b",
        "a statement is gone",
    ),
    row(YAML, "step-deleted", r"(?m)^\s*-?\s*(run|script|command|shell|uses):", "a step is gone"),
    row(DOCKER, "step-deleted", r"(?m)^(RUN|COPY|ADD|CMD|ENTRYPOINT)\b", "a step is gone"),
    row(
        DOCKER,
        "pipefail-removed",
        r"pipefail",
        "`pipefail` is gone, so only the last member of a pipeline counts",
    ),
    row(MAKE, "step-deleted", r"(?m)^\t", "a command is gone"),
    row(
        MAKE,
        "strict-removed",
        r"(?m)^\.(DELETE_ON_ERROR|SHELLFLAGS)|pipefail|^\.SHELLFLAGS",
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
    out.extend(forgotten_eval(language, &old, &new));
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

/// More `eval { … }` in Perl than looks at `$@`.
fn forgotten_eval(language: Language, old: &str, new: &str) -> Option<Finding> {
    let blocks = |text: &str| {
        text.matches("eval {").count() + text.matches("eval{").count() + text.matches("try {").count()
    };
    let looks = |text: &str| {
        text.matches("$@").count() + text.matches("or do").count() + text.matches("catch").count()
    };
    let forgotten = blocks(new).saturating_sub(looks(new)) > blocks(old).saturating_sub(looks(old));
    (language == Language::Perl && forgotten)
        .then(|| whole("masking/swallowed", Weight::Refuse, "an error is caught and forgotten"))
}

/// Lines that are only gone, with nothing in their place, in languages whose steps are not followed.
fn gone(language: Language, old: &str, new: &str) -> Option<Finding> {
    if !matches!(language, Language::Node | Language::Perl | Language::Ruby | Language::Awk) {
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
