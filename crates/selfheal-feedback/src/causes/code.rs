//! Causes of failures in program text and in the data that it reads.

use selfheal_core::fault::Fault;

use super::Likely;
use crate::report::Case;

/// Likely causes of one fault.
pub fn causes(case: &Case<'_>, fault: &Fault) -> Vec<Likely> {
    match fault {
        Fault::Syntax { near, .. } => syntax(case, near.as_deref()),
        Fault::UndefinedName { name } => vec![Likely::usual(
            "name-not-defined",
            format!(
                "{name} is used but never defined there: a spelling, a removed built-in, or a missing import."
            ),
            "The name is defined before it is used.",
        )],
        Fault::MissingName { owner, name } => vec![Likely::usual(
            "name-removed",
            format!(
                "{} has no {name} (any more): it was renamed or removed in another version.",
                or(owner, "The object")
            ),
            "The installed version documents that name.",
        )],
        Fault::KeyMissing { key } => key_missing(case, key),
        Fault::IndexOutOfRange { .. } => vec![Likely::usual(
            "other-number-of-fields",
            "A line or list has another number of fields than the program expects.",
            "All records have the expected number of fields.",
        )],
        Fault::WrongType { message } => wrong_type(message),
        Fault::BadValue { value, message } => bad_value(case, value.as_deref(), message),
        Fault::UnsetVariable { name } => unset(case, name),
        Fault::NoSuchObject { kind, name } => vec![Likely::usual(
            "schema-changed",
            format!("The database has no {kind} {name}: its schema changed, or it is another database."),
            "The schema shows that object.",
        )],
        Fault::NoSuchReference { name } => vec![Likely::usual(
            "reference-gone",
            format!("{name} was renamed or removed where it is looked up."),
            "A listing shows that name.",
        )],
        Fault::NotSorted { .. } => vec![Likely::usual(
            "other-sort-order",
            "The input is sorted by another rule (locale) than the tool checks with.",
            "The input is in order under the job's own locale.",
        )],
        Fault::Mismatch { .. } => vec![
            Likely::usual(
                "control-differs",
                "Two things that must agree do not: the data is incomplete or damaged, or it is computed wrongly.",
                "The control value itself is wrong.",
            ),
            Likely::usual(
                "lost-in-a-subshell",
                "A value was computed in a part of a pipe and lost at its end.",
                "The computing part does not run in a pipe.",
            )
            .seen_if(pipe_into_loop(case)),
        ],
        _ => Vec::new(),
    }
}

fn or<'t>(text: &'t str, other: &'t str) -> &'t str {
    if text.is_empty() { other } else { text }
}

fn syntax(case: &Case<'_>, near: Option<&str>) -> Vec<Likely> {
    let mut out = vec![Likely::usual(
        "does-not-parse",
        "The text does not parse: a quote, bracket or keyword is missing or too many near the reported line.",
        "The interpreter accepts the file as it is.",
    )];
    let here_document = case.found.iter().any(|found| found.text.contains("here-document"));
    if here_document {
        out.push(
            Likely::usual(
                "here-document-not-closed",
                format!(
                    "The end word {} of a here-document is not alone at the start of its line.",
                    near.unwrap_or_default()
                ),
                "The end word stands alone at the start of a line.",
            )
            .seen("the shell says that a here-document ended only with the file"),
        );
    }
    out.push(Likely::usual(
        "other-version",
        "The text is written for another version of the interpreter.",
        "The same version has run it before.",
    ));
    out
}

fn key_missing(case: &Case<'_>, key: &str) -> Vec<Likely> {
    let source = case.place.command.as_ref().map_or("", |command| command.source.as_str());
    if source.contains("environ[") {
        // The mapping is the environment, and no data.
        return unset(case, key);
    }
    let data = case.input.scene.names(case.input.scene.cwd());
    let others = || {
        data.iter().filter(|name| name.ends_with(".json") || name.ends_with(".csv")).find_map(|name| {
            let bytes = case.input.scene.read(name.as_ref(), 4_096)?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').take(400).collect();
            let alike = crate::similar::close(key, words, 1);
            let mark = text.starts_with('\u{feff}').then(|| format!("{name} begins with a byte order mark"));
            mark.or_else(|| alike.first().map(|alike| format!("{name} has {alike}")))
        })
    };
    vec![
        Likely::usual(
            "key-renamed",
            format!("The data has no {key}: the other side renamed, moved or dropped it."),
            "The data of this run has that key.",
        )
        .seen_if(others()),
        Likely::usual("key-optional", format!("{key} is there in some records only."), "No record has it."),
    ]
}

fn wrong_type(message: &str) -> Vec<Likely> {
    let (id, text) = if message.contains("bytes") {
        ("bytes-for-text", "Bytes are used where text is expected, or the other way round.")
    } else if message.contains("naive") {
        ("time-without-zone", "A time without a zone is compared or subtracted with one that has a zone.")
    } else if message.contains("None") || message.contains("null") || message.contains("nil") {
        ("value-absent", "A value is absent where the program expects one.")
    } else {
        ("wrong-type", "A value has another type than the program expects.")
    };
    vec![Likely::usual(id, text, "The value has the expected type at that line.")]
}

fn bad_value(case: &Case<'_>, value: Option<&str>, message: &str) -> Vec<Likely> {
    if message.contains("too great for base") {
        return vec![
            Likely::usual(
                "leading-zero-is-octal",
                "A number with a leading zero is read as octal, in which 8 and 9 do not exist.",
                "The number has no leading zero.",
            )
            .seen(format!("the value is {}", value.unwrap_or_default())),
        ];
    }
    if message.contains("unary operator") || message.contains("too many arguments") || value == Some("") {
        return vec![
            Likely::usual(
                "unquoted-variable-in-test",
                "A variable in a test is not quoted and is empty or has several words.",
                "The variable has exactly one word.",
            )
            .seen_if(case.place.command.as_ref().map(|command| format!("the line is: {}", command.source))),
        ];
    }
    vec![Likely::usual(
        "other-format",
        format!(
            "A value cannot be read as what it should be{}.",
            value.map(|v| format!(" ({v})")).unwrap_or_default()
        ),
        "The value has the expected form.",
    )]
}

/// Variables that a login session has and a scheduler's job may not have.
const LOGIN: [&str; 20] = [
    "USER", "LOGNAME", "USERNAME", "HOME", "PATH", "SHELL", "MAIL", "LANG", "LANGUAGE", "TERM", "TMPDIR",
    "TMP", "TEMP", "HOSTNAME", "HOST", "DISPLAY", "EDITOR", "PAGER", "COLUMNS", "LINES",
];

fn unset(case: &Case<'_>, name: &str) -> Vec<Likely> {
    let elsewhere = case.input.scene.var(name).is_some();
    let of_login =
        LOGIN.contains(&name) || ["LC_", "XDG_", "SSH_", "DBUS_"].iter().any(|s| name.starts_with(s));
    let (id, says) = if of_login {
        ("not-in-this-environment", format!("{name} is set in a login session but not where the job runs."))
    } else {
        ("set-nowhere", format!("Nothing that the job reads sets {name}; it may have another name there."))
    };
    vec![
        Likely::usual(id, says, "The job sets the variable itself.")
            .seen_if((!elsewhere).then(|| format!("{name} is not in the job's environment"))),
        Likely::usual(
            "misspelt-or-not-set-yet",
            format!("{name} is misspelt, or set only on a path that this run did not take."),
            "The script sets it before that line.",
        ),
    ]
}

/// A `| while` in the script: its variables are lost.
fn pipe_into_loop(case: &Case<'_>) -> Option<String> {
    let (_, text) = case.input.script?;
    let line = text.lines().find(|line| line.contains("| while ") || line.contains("|while "))?;
    Some(format!("the script has: {}", line.trim()))
}
