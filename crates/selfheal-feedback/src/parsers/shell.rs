//! What bash, dash, zsh and ksh say about a script, and the prefix that they put before it.

use std::path::PathBuf;

use selfheal_core::fault::Fault;

use super::{Line, Row, Spot, bounded, row};
use crate::template::unquote;

/// Names that shells use where there is no script file.
const NO_FILE: [&str; 9] = ["bash", "sh", "dash", "zsh", "ksh", "-c", "main", "environment", "/dev/stdin"];

/// Tools that name a line of their own program in the same form.
const NO_SHELL: [&str; 10] = ["yaml", "awk", "gawk", "mawk", "nawk", "sed", "bc", "make", "find", "jq"];
/// The word for `line`, as bash puts it before the number, in a few languages.
const LINE_WORDS: [&str; 17] = [
    "line ",
    "Zeile ",
    "ligne ",
    "línea ",
    "行 ",
    "行",
    "第 ",
    "第",
    "riga ",
    "linha ",
    "строка ",
    "linia ",
    "regel ",
    "rad ",
    "řádek ",
    "satır ",
    "рядок ",
];
/// The ends of the names of shell scripts, for prefixes that a daemon's process number looks like.
const SCRIPTS: [&str; 5] = [".sh", ".ksh", ".mksh", ".bash", ".zsh"];

/// Reads a shell's prefix: `x.sh: line 12: ` (bash, ksh), `x.sh: 12: ` (dash), `x.sh:12: ` and `x.sh:cd:12: ` (zsh),
/// `x.sh[12]: ` (ksh, mksh), `x.sh: cd: line 12: ` (busybox). Answers the place, which is absent where the prefix names
/// a shell and not a script, and what stands behind the prefix.
pub fn prefix(text: &str) -> Option<(Option<Spot>, &str)> {
    let text = text.strip_prefix("E: ").unwrap_or(text);
    if let Some(found) = bracketed(text) {
        return Some(found);
    }
    let (file, behind) = text.split_once(':')?;
    if file.is_empty() || file.len() > 1_000 || file.contains(['\t', '"', '\'']) {
        return None;
    }
    let (number, rest) = numbered(behind).or_else(|| {
        // The builtin that complains stands between.
        let (word, behind) = behind.trim_start().split_once(':')?;
        let plain = !word.is_empty() && word.len() < 20 && word.bytes().all(|byte| byte.is_ascii_lowercase());
        let named = plain && (behind.starts_with(" line ") || SCRIPTS.iter().any(|end| file.ends_with(end)));
        named.then(|| numbered(behind)).flatten()
    })?;
    let base = file.rsplit('/').next().unwrap_or(file);
    if NO_SHELL.contains(&file) {
        return None;
    }
    let named = !NO_FILE.contains(&base) && !NO_FILE.contains(&file);
    // `12:30:15: started` is a time, and a sentence with blanks is no file.
    if file.bytes().all(|byte| byte.is_ascii_digit()) || file.split(' ').count() > 6 {
        return None;
    }
    Some((named.then(|| Spot::new(file, number)), rest))
}

/// The number of a line behind a file's name, and what stands behind both.
fn numbered(behind: &str) -> Option<(u32, &str)> {
    let behind = behind.strip_prefix(' ').unwrap_or(behind);
    let behind = LINE_WORDS.iter().find_map(|word| behind.strip_prefix(word)).unwrap_or(behind);
    let behind = behind.trim_start_matches(' ');
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = behind.split_at_checked(digits)?;
    let rest = rest.strip_prefix(" 行").unwrap_or(rest);
    let rest = rest.trim_start_matches([' ', '\u{a0}']);
    let rest = rest
        .strip_prefix(": ")
        .or_else(|| rest.strip_prefix(":\u{a0}"))
        .or_else(|| rest.strip_prefix('：'))
        .or_else(|| rest.strip_prefix(':').filter(|rest| rest.starts_with(' ')))?;
    Some((number.parse().ok().filter(|number| *number > 0)?, rest))
}

/// `x.sh[12]: `.
fn bracketed(text: &str) -> Option<(Option<Spot>, &str)> {
    let (file, behind) = text.split_once('[')?;
    let (number, rest) = behind.split_once("]: ")?;
    let script = SCRIPTS.iter().any(|end| file.ends_with(end)) && !file.contains(' ');
    let number: u32 = number.parse().ok().filter(|number| *number > 0 && script)?;
    let (number, rest) = in_functions(number, rest);
    Some((Some(Spot::new(file, number)), rest))
}

/// ksh names the functions on the way down, each with a line of the file: `x.sh[9]: report[6]: stamp[3]: y: not found`.
fn in_functions(number: u32, rest: &str) -> (u32, &str) {
    let (mut number, mut rest) = (number, rest);
    while let Some((name, behind)) = rest.split_once('[') {
        let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let inner = behind.split_once("]: ").filter(|_| plain);
        let Some((line, behind)) = inner.and_then(|(line, behind)| Some((line.parse().ok()?, behind))) else {
            break;
        };
        (number, rest) = (line, behind);
    }
    (number, rest)
}

/// fish names the place below its message: `fish: Unknown command: x`, `job.fish (line 3): `.
pub fn fish_block(lines: &[Line<'_>]) -> super::Block {
    let first = lines.first()?;
    let message = first.text.strip_prefix("fish: ")?;
    let place = |text: &str| {
        let (file, behind) = text.split_once(" (line ")?;
        let number = behind.split(')').next()?.parse().ok()?;
        Some(Spot::new(file, number))
    };
    let spot = lines.iter().skip(1).take(4).find_map(|line| place(line.text))?;
    let fault = match message.split_once("nknown command: ") {
        Some((_, name)) => missing_command(name.split_whitespace().next()?)?,
        None => Fault::Other { message: bounded(message) },
    };
    Some((vec![super::Found::new(fault, first).at(vec![spot])], 3))
}

/// A carriage return that got into a word, as shells and tools show it.
pub fn carriage_return(line: &Line<'_>) -> Option<Fault> {
    const SHOWN: [&str; 9] = ["\r'", "\r’", "\r: ", "\r\"", "\\r'", "\\r’", "^M: ", "^M'", "\\r\""];
    let rest = line.rest;
    let hit = SHOWN.iter().any(|shown| rest.contains(shown)) || rest.contains("'\\r");
    // A progress line rewrites itself with carriage returns; an error names something with one in it.
    let error = super::sounds_like_error(&rest.to_lowercase()) || line.spot.is_some();
    (hit && error).then(|| match rest.split_once(": bad interpreter") {
        Some((_, _)) | None if rest.contains("bad interpreter") => bad_interpreter(line),
        _ => Fault::CarriageReturn { path: line.spot.as_ref().map(|spot| spot.file.clone()) },
    })
}

/// `./x.sh: /bin/bash^M: bad interpreter: No such file or directory`.
fn bad_interpreter(line: &Line<'_>) -> Fault {
    let before = line.rest.split(": bad interpreter").next().unwrap_or_default();
    let (script, interpreter) = before.rsplit_once(": ").unwrap_or(("", before));
    let script = script.rsplit(": ").next().unwrap_or(script);
    Fault::BadInterpreter { script: PathBuf::from(script), interpreter: interpreter.replace("^M", "\r") }
}

/// Words of bash that other shells take for the name of a command.
const BASH_WORDS: [&str; 13] = [
    "[[",
    "source",
    "declare",
    "typeset",
    "let",
    "shopt",
    "function",
    "pushd",
    "popd",
    "mapfile",
    "readarray",
    "select",
    "((",
];

/// A command that a shell does not know: another dialect's word, or a missing program.
fn missing_command(name: &str) -> Option<Fault> {
    let name = unquote(name);
    if name.is_empty() || name.len() > 300 {
        return None;
    }
    if BASH_WORDS.contains(&name) {
        return Some(Fault::Dialect { construct: name.to_owned() });
    }
    Some(Fault::CommandNotFound { name: name.to_owned() })
}

/// `x.sh: 3: tool: not found` of dash, `sh: tool: not found` of busybox. Without such a prefix it is somebody's sentence.
pub fn not_found(line: &Line<'_>) -> Option<Fault> {
    let rest = line.rest.strip_suffix(": not found")?;
    let bare = ["sh: ", "ash: ", "dash: ", "ksh: "].iter().find_map(|shell| rest.strip_prefix(shell));
    let prefixed = line.rest.len() < line.text.len();
    let name =
        bare.or_else(|| prefixed.then_some(rest)).filter(|name| !name.contains(char::is_whitespace))?;
    if name.contains('/') {
        // dash says the same of a script whose interpreter is missing.
        return Some(Fault::BadInterpreter { script: PathBuf::from(name), interpreter: String::new() });
    }
    missing_command(name)
}

/// `X: must be set`, the words that a script gives `${X:?…}` itself.
pub fn required(line: &Line<'_>) -> Option<Fault> {
    line.spot.as_ref()?;
    let (name, words) = line.rest.split_once(": ")?;
    let upper = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    (upper && !name.is_empty() && !words.is_empty()).then(|| Fault::UnsetVariable { name: name.to_owned() })
}

/// A name in quotes or not, or nothing where it is empty.
fn name(text: &str) -> Option<String> {
    let text = unquote(text);
    (!text.is_empty()).then(|| text.to_owned())
}

fn syntax(near: &str, message: &str) -> Option<Fault> {
    Some(Fault::Syntax { near: name(near), message: bounded(message) })
}

fn dialect(construct: &str) -> Option<Fault> {
    Some(Fault::Dialect { construct: construct.to_owned() })
}

fn bad_value(value: Option<&str>, message: &str) -> Option<Fault> {
    Some(Fault::BadValue { value: value.map(|value| unquote(value).to_owned()), message: bounded(message) })
}

/// The messages of shells, behind their prefix.
pub fn rows() -> Vec<Row> {
    let mut rows = missing_rows();
    rows.extend(syntax_rows());
    rows.extend(value_rows());
    rows
}

fn missing_rows() -> Vec<Row> {
    vec![
        row("{interpreter}: bad interpreter: ", |h| {
            let (script, interpreter) = h.get("interpreter").rsplit_once(": ")?;
            Some(Fault::BadInterpreter {
                script: PathBuf::from(script.rsplit(": ").next()?),
                interpreter: interpreter.replace("^M", "\r"),
            })
        }),
        row("^{script:w}: cannot execute: required file not found$", |h| {
            Some(Fault::BadInterpreter { script: h.path("script"), interpreter: String::new() })
        }),
        row("^/usr/bin/env: {name:q}: No such file or directory$", |h| {
            Some(Fault::CommandNotFound { name: h.text("name") })
        }),
        row("^env: {name:q}: No such file or directory$", |h| {
            Some(Fault::CommandNotFound { name: h.text("name") })
        }),
        row("^{tool:w}: failed to execute {name:q}: No such file or directory", |h| {
            Some(Fault::CommandNotFound { name: h.text("name") })
        }),
        row("^nice: {name:q}: No such file or directory", |h| {
            Some(Fault::CommandNotFound { name: h.text("name") })
        }),
        row("^sudo: {name:w}: command not found", |h| missing_command(h.get("name"))),
        row("^nohup: failed to run command {name:q}: No such file or directory", |h| {
            Some(Fault::CommandNotFound { name: h.text("name") })
        }),
        row("^timeout: failed to run command {name:q}: No such file or directory", |h| {
            Some(Fault::CommandNotFound { name: h.text("name") })
        }),
        row("^xargs: {name:w}: No such file or directory$", |h| {
            Some(Fault::CommandNotFound { name: h.text("name") })
        }),
        row("^command not found: {name:w}$", |h| missing_command(h.get("name"))),
        row("^{shell:w}: command not found: {name:w}$", |h| missing_command(h.get("name"))),
        row("^{name:w}: command not found", |h| missing_command(h.get("name"))),
        row("^{shell:w}: {name:w}: command not found", |h| missing_command(h.get("name"))),
        row("^{name:w}: Befehl nicht gefunden", |h| missing_command(h.get("name"))),
        row("^{name:w}: Kommando nicht gefunden", |h| missing_command(h.get("name"))),
        row("^{name:w} : commande introuvable", |h| missing_command(h.get("name"))),
        row("^{name:w}: commande introuvable", |h| missing_command(h.get("name"))),
        row("^{name:w}: 未找到命令", |h| missing_command(h.get("name"))),
        row("^{name:w}：未找到命令", |h| missing_command(h.get("name"))),
        row("^{name:w}: unbound variable", |h| Some(Fault::UnsetVariable { name: h.text("name") })),
        row("^{name:w}: parameter not set", |h| Some(Fault::UnsetVariable { name: h.text("name") })),
        row("^{name:w}: parameter null or not set", |h| Some(Fault::UnsetVariable { name: h.text("name") })),
        row("^{name:w}: Nicht gesetzte Variable", |h| Some(Fault::UnsetVariable { name: h.text("name") })),
        row("^{name:w}: 未绑定的变量", |h| Some(Fault::UnsetVariable { name: h.text("name") })),
    ]
}

fn syntax_rows() -> Vec<Row> {
    vec![
        row("syntax error near unexpected token {near}$", |h| {
            syntax(h.get("near"), &format!("syntax error near unexpected token {}", h.get("near")))
        }),
        row("syntax error: unexpected end of file", |_| syntax("", "syntax error: unexpected end of file")),
        row("syntax error in conditional expression", |_| {
            syntax("", "syntax error in conditional expression")
        }),
        row("unexpected EOF while looking for matching {near}$", |h| {
            syntax(h.get("near"), &format!("unexpected EOF while looking for matching {}", h.get("near")))
        }),
        row("warning: here-document at line {at:n} delimited by end-of-file (wanted {near:q}", |h| {
            let near = h.get("near").trim_end_matches(')');
            syntax(
                near,
                &format!("here-document at line {} delimited by end-of-file (wanted {near})", h.get("at")),
            )
        }),
        row("^Syntax error: \"(\" unexpected", |_| dialect("(")),
        row("^Syntax error: redirection unexpected", |_| dialect("<<<")),
        row("^Syntax error: Bad for loop variable", |_| dialect("for ((")),
        row("^Bad substitution$", |_| dialect("${")),
        row("^set: Illegal option -o {option:w}$", |h| dialect(&format!("set -o {}", h.get("option")))),
        row("^set: Illegal option {option:w}$", |h| dialect(&format!("set {}", h.get("option")))),
        row("^read: Illegal option {option:w}$", |h| dialect(&format!("read {}", h.get("option")))),
        row("^Syntax error: {message}$", |h| {
            let near = h.get("message").split('"').nth(1).unwrap_or_default();
            syntax(near, h.get("message"))
        }),
        row("^{near:w}: bad substitution$", |h| syntax(h.get("near"), "bad substitution")),
        row("^parse error near {near}$", |h| syntax(h.get("near"), "parse error")),
        row("bad pattern: {near}$", |h| syntax(h.get("near"), "bad pattern")),
        row("^syntax error at line {at:n}: {message}$", |h| syntax("", h.get("message"))),
        row("^{file:w}: syntax error at line {line:n}: {message}$", |h| syntax("", h.get("message"))),
        row("^no matches found: {pattern}$", |h| Some(Fault::UnmatchedGlob { pattern: h.text("pattern") })),
        row("^no match: {pattern}$", |h| Some(Fault::UnmatchedGlob { pattern: h.text("pattern") })),
    ]
}

fn value_rows() -> Vec<Row> {
    vec![
        row("{value:w}: value too great for base (error token is {token:q}", |h| {
            let token = h.get("token").trim_end_matches(')');
            bad_value(Some(token), "value too great for base")
        }),
        row("^[: too many arguments", |_| bad_value(None, "[: too many arguments")),
        row("^test: too many arguments", |_| bad_value(None, "test: too many arguments")),
        row("^[: {op:w}: unary operator expected", |h| {
            bad_value(Some(""), &format!("[: {}: unary operator expected", h.get("op")))
        }),
        row("^[: {op:w}: binary operator expected", |h| {
            bad_value(None, &format!("[: {}: binary operator expected", h.get("op")))
        }),
        row("^[: {value}: integer expression expected", |h| {
            bad_value(Some(h.get("value")), "[: integer expression expected")
        }),
        row("^[: {value}: integer expected", |h| bad_value(Some(h.get("value")), "[: integer expected")),
        row("^Illegal number: {value}$", |h| bad_value(Some(h.get("value")), "Illegal number")),
        row("^cannot open {path}: No such file$", |h| Some(Fault::NoSuchPath { path: h.path("path") })),
        row("^cannot create {path}: Directory nonexistent$", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("^cannot create {path}: Is a directory$", |h| Some(Fault::IsADirectory { path: h.path("path") })),
        row("^[: Illegal number: {value}$", |h| bad_value(Some(h.get("value")), "[: Illegal number")),
        row("^[: {op:w}: unexpected operator$", |h| {
            let op = h.get("op");
            match op {
                "==" => dialect("[ == ]"),
                "=" | "!=" | "-eq" | "-ne" | "-gt" | "-lt" => bad_value(Some(""), "[: unexpected operator"),
                _ => bad_value(None, "[: unexpected operator"),
            }
        }),
        row("arithmetic expression: expecting {what}$", |h| {
            bad_value(None, &format!("arithmetic expression: expecting {}", h.get("what")))
        }),
        row("syntax error: operand expected (error token is {token:q}", |h| {
            bad_value(Some(h.get("token").trim_end_matches(')')), "syntax error: operand expected")
        }),
        row("syntax error: invalid arithmetic operator (error token is {token:q}", |h| {
            bad_value(Some(h.get("token").trim_end_matches(')')), "invalid arithmetic operator")
        }),
        row("^{value}: syntax error in expression (error token is {token:q}", |h| {
            bad_value(Some(h.get("value")), "syntax error in expression")
        }),
        row("^{pid:n} Killed ", |_| Some(Fault::OutOfMemory)),
        row("division by 0", |_| bad_value(Some("0"), "division by 0")),
        row("^printf: {value}: invalid number", |h| {
            bad_value(Some(h.get("value")), "printf: invalid number")
        }),
        row("^{name:w}: is read only", |h| bad_value(None, &format!("{}: readonly variable", h.get("name")))),
        row("^read-only variable: {name:w}", |h| {
            bad_value(None, &format!("{}: readonly variable", h.get("name")))
        }),
        row("division by zero", |_| bad_value(Some("0"), "division by zero")),
        row("divide by zero", |_| bad_value(Some("0"), "division by zero")),
        row("arithmetic syntax error", |h| {
            let value = h.before.trim_end_matches([':', ' ']).rsplit(": ").next().unwrap_or_default();
            bad_value(Some(value), "arithmetic syntax error")
        }),
        row("^sh: {value}: bad number$", |h| bad_value(Some(h.get("value")), "bad number")),
        row("^{value}: bad number$", |h| bad_value(Some(h.get("value")), "bad number")),
        row("^no closing quote$", |_| syntax("", "no closing quote")),
        row("^unmatched {near}$", |h| syntax(h.get("near"), &format!("unmatched {}", h.get("near")))),
        row("^no such file or directory: {path}$", |h| Some(Fault::NoSuchPath { path: h.path("path") })),
        row("^is a directory: {path}$", |h| Some(Fault::IsADirectory { path: h.path("path") })),
        row("^not a directory: {path}$", |h| Some(Fault::NotADirectory { path: h.path("path") })),
        row("^permission denied: {path}$", |h| Some(Fault::NotExecutable { path: h.path("path") })),
        row("^can't open {path}: no such file$", |h| Some(Fault::NoSuchPath { path: h.path("path") })),
        row("^can't create {path}: nonexistent directory$", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("^{path:w}: cannot open [No such file or directory]", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("^{path:w}: cannot create [No such file or directory]", |h| {
            Some(Fault::NoSuchPath { path: h.path("path") })
        }),
        row("^{name:w}: Command not found.$", |h| missing_command(h.get("name"))),
        row("^{name:w}: inaccessible or not found$", |h| missing_command(h.get("name"))),
        row("^kill: ({pid:n}) - No such process", |_| bad_value(None, "No such process")),
        row("^{name:w}: readonly variable", |h| {
            bad_value(None, &format!("{}: readonly variable", h.get("name")))
        }),
        row("^cd: too many arguments", |_| bad_value(None, "cd: too many arguments")),
        row("^cd: HOME not set", |_| Some(Fault::UnsetVariable { name: "HOME".into() })),
        row("^{path}: ambiguous redirect", |h| bad_value(Some(h.get("path")), "ambiguous redirect")),
        row("^set: {option:w}: invalid option name", |h| {
            Some(Fault::UnknownOption { command: "set".into(), option: format!("-o {}", h.get("option")) })
        }),
        row("^{path:w}: cannot execute binary file: Exec format error", |h| {
            Some(Fault::BadInterpreter { script: h.path("path"), interpreter: String::new() })
        }),
        row("^{path:w}: cannot overwrite existing file", |h| {
            Some(Fault::PathExists { path: h.path("path") })
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_the_shells_are_read() {
        let spot = |file: &str, line| Some(Spot::new(file, line));
        assert_eq!(prefix("./x.sh: line 12: y: z"), Some((spot("./x.sh", 12), "y: z")));
        assert_eq!(prefix("x.sh: 7: y: not found"), Some((spot("x.sh", 7), "y: not found")));
        assert_eq!(prefix("x.zsh:3: command not found: y"), Some((spot("x.zsh", 3), "command not found: y")));
        assert_eq!(prefix("bash: line 1: y: command not found"), Some((None, "y: command not found")));
        assert_eq!(prefix("12:30: 15: x"), None);
        assert_eq!(prefix("cp: cannot stat 'x': No"), None);
    }
}
