//! Danger in the other languages: strings that are run are judged as shell, calls by tables of patterns.

mod strings;
mod tables;

use selfheal_core::admission::Danger::{self, High, Medium};
use selfheal_syntax::Language;

use super::shell::places::{Cwd, Place, Places};
use super::{Operation, recipes, shell, sql, variables};
use crate::scope::Roots;
use strings::{
    at_home, concatenated, interpolated, interpolations, strings, without_data, without_messages,
    without_strings,
};
use tables::{Row, patterns};

/// The dangerous operations of a text.
pub fn operations(language: Language, text: &str, roots: &Roots) -> Option<Vec<Operation>> {
    match language {
        Language::Make | Language::Yaml | Language::Docker => recipes::lines_of_shell(language, text, roots),
        Language::Perl | Language::Node | Language::Ruby => Some(by_tables(language, text, roots)),
        Language::Awk => shell::operations(&format!("awk '{}'", text.replace('\'', "'\\''")), roots),
        _ => Some(Vec::new()),
    }
}

fn by_tables(language: Language, text: &str, roots: &Roots) -> Vec<Operation> {
    let (rows, runs, touches) = patterns();
    let mut out = Vec::new();
    let comment = if language == Language::Node { "//" } else { "#" };
    let joined = concatenated(&variables::followed(language, &concatenated(text)));
    let joined = at_home(&without_data(language, &joined));
    for (at, line) in joined.lines().enumerate() {
        let number = at as u32 + 1;
        let line = line.trim();
        // Two signs are no call.
        if line.len() < 3 || line.starts_with(comment) {
            continue;
        }
        let mut bare = without_strings(line);
        if language == Language::Ruby {
            bare.push_str(&interpolated(line));
        }
        for (regex, Row(languages, _, danger, rule, why)) in rows {
            if languages.contains(&language)
                && (regex.is_match(&bare)
                    || (regex.as_str().contains("\\x22") || regex.as_str().contains("[\"'"))
                        && regex.is_match(line))
            {
                out.push(operation(number, *danger, rule, why, line));
            }
        }
        // Backquotes only make a text in JavaScript.
        let runs_here = match language {
            // Only that of `zx` is a command.
            Language::Node if bare.contains("$`") => bare.clone(),
            Language::Node => bare.replace('`', ""),
            _ => bare.clone(),
        };
        if runs.as_ref().is_some_and(|regex| regex.is_match(&runs_here)) {
            out.extend(run(number, &interpolations(&without_messages(line)), roots));
            if language == Language::Ruby {
                out.extend(run(number, &interpolated(line), roots));
            }
        }
        let runs_something =
            runs.as_ref().is_some_and(|regex| regex.is_match(&bare)) || bare.contains("eval");
        if runs_something && DECODERS.iter().any(|decoder| bare.contains(decoder)) {
            out.push(operation(number, High, "danger/hidden-command", "it runs what it decodes", line));
        }
        out.extend(statements_in(number, &bare, line));
        if touches.as_ref().is_some_and(|regex| regex.is_match(&bare)) {
            out.extend(touched(number, &interpolations(line), roots));
        }
    }
    temporary(text, &mut out);
    out
}

/// Calls that make a text out of another.
const DECODERS: &[&str] = &[
    "decode_base64",
    "Base64",
    "base64",
    "unpack",
    "pack(",
    "fromCharCode",
    "atob(",
    "rot13",
    "reverse(",
    ".reverse",
    "chr(",
];

/// Calls whose strings are statements for a database.
const QUERIES: &[&str] = &[
    ".query(",
    ".execute(",
    "->do(",
    "->prepare(",
    ".exec(",
    ".exec_query(",
    ".run(",
    "sequelize",
    "connection.execute",
    ".raw(",
];

/// Statements for a database in the strings of a line.
fn statements_in(line: u32, bare: &str, text: &str) -> Vec<Operation> {
    if !QUERIES.iter().any(|call| bare.contains(call)) {
        return Vec::new();
    }
    let local = ["sqlite", "SQLite"].iter().any(|name| text.contains(name));
    let found = strings(text).into_iter().flat_map(|string| sql::operations(&string));
    found
        .map(|found| Operation { line, danger: if local { Medium } else { found.danger }, ..found })
        .collect()
}

/// Deletes of what the program itself made as temporary are no danger.
fn temporary(text: &str, out: &mut Vec<Operation>) {
    let makes = ["mkdtemp", "mkdtempSync", "Dir.mktmpdir", "tempdir(", "Tempfile"]
        .iter()
        .any(|call| text.contains(call));
    if makes {
        out.retain(|operation| operation.rule != "danger/delete" || operation.danger == High);
    }
}

fn operation(line: u32, danger: Danger, rule: &str, why: &str, subject: &str) -> Operation {
    let subject = subject.trim().chars().take(160).collect();
    Operation { line, danger, rule: rule.to_owned(), why: why.to_owned(), subject }
}

/// The strings of a line that runs something: each for itself, and all of them as the words of one command.
fn run(line: u32, text: &str, roots: &Roots) -> Vec<Operation> {
    let all = strings(text);
    let mut lines: Vec<String> =
        all.iter().filter(|string| string.contains(' ') || all.len() == 1).cloned().collect();
    let quoted = |word: &String| {
        if word.contains(' ') { format!("'{}'", word.replace('\'', "'\\''")) } else { word.clone() }
    };
    let skip = all.iter().position(|word| word == "child_process" || word == "open3").map_or(0, |at| at + 1);
    lines.push(all.iter().skip(skip).map(quoted).collect::<Vec<_>>().join(" "));
    let variables = text.contains('$') && text.contains("system");
    let mut out: Vec<Operation> = lines
        .iter()
        .flat_map(|text| shell::operations(text, roots).unwrap_or_default())
        .map(|found| Operation { line, ..found })
        .collect();
    // `my $c = "rm"; system($c, "-rf", "/")`: a variable and the rest together.
    if variables || text.contains(';') {
        let joined = all.iter().map(quoted).collect::<Vec<_>>().join(" ");
        out.extend(
            shell::operations(&joined, roots)
                .unwrap_or_default()
                .into_iter()
                .map(|found| Operation { line, ..found }),
        );
    }
    out
}

/// The strings of a line that touches files.
fn touched(line: u32, text: &str, roots: &Roots) -> Vec<Operation> {
    let reads = (text.contains("\"<\"")
        || text.contains("'<'")
        || text.contains("readFile")
        || text.contains("File.read"))
        && !text.contains("write");
    let places = Places { roots, cwd: &Cwd::Own };
    let mut out = Vec::new();
    let deletes = [
        "unlink",
        "rm(",
        "rmSync",
        "rmdir",
        "rm_rf",
        "rm_r",
        "rmtree",
        "remove_",
        "rimraf",
        "removeSync",
        "emptyDir",
        "truncate",
        "File.delete",
        "FileUtils.rm",
        "FileUtils.remove",
    ]
    .iter()
    .any(|word| text.contains(word));
    // What is joined to a temporary folder is no path of its own.
    let joined = text.contains("tmpdir") || text.contains("mkdtemp");
    for string in strings(text).into_iter().filter(|_| !joined) {
        let path = string.trim_start_matches(['>', '+', '<', ' ']);
        let place = if let Some(rest) = path.strip_prefix("${HOME}") {
            if crate::scope::is_private(std::path::Path::new(rest.trim_start_matches('/'))) {
                Place::Private
            } else {
                Place::Home
            }
        } else if path.starts_with("${") && path.contains("}/") && deletes {
            Place::Above
        } else if path.starts_with('~') {
            Place::Home
        } else if path.starts_with('/') || path.contains("..") {
            places.text(path)
        } else {
            continue;
        };
        let danger = match place {
            Place::Private => High,
            Place::System | Place::Device | Place::Top | Place::Home | Place::Above if !reads => High,
            Place::Outside if !reads && deletes => High,
            Place::Outside if !reads => Medium,
            _ => continue,
        };
        out.push(operation(
            line,
            danger,
            "danger/write",
            "it touches files outside of the job's folder",
            text,
        ));
    }
    out
}
