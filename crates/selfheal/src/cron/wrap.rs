//! Putting `selfheal run` into a command, and taking it out again.
//!
//! What stays outside: assignments and redirections, cron's `%`, `cd DIR &&` and what else only prepares (`.`, `export`,
//! `umask`, a test), locks and quiet wrappers in front (`flock`, `chronic`, `nice`), and where the output is sent on to
//! (`| mail`, `| logger`). A simple command gets selfheal in front; everything else becomes one quoted line for the
//! shell that cron would have used. Every result is taken apart again before it is given out: what does not give the
//! same bytes back is refused.

use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;

use selfheal_core::job::inner_command;
use selfheal_syntax::shell::{
    self, CommandKind, ListOperator, Redirect, Script, Statement, StatementKind, Word,
};

use super::command::{Command, wrapped_in};

/// What is to be put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The program, as a word of the shell.
    pub program: String,
    /// The job's name: letters, digits, `.`, `_` and `-` only.
    pub job: String,
    /// The value for `--apply`.
    pub apply: Option<String>,
}

/// Why a command is left as it is. Said to people by the text `cron-not-` and its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// selfheal is in it already.
    Wrapped,
    /// selfheal is not in it.
    NotWrapped,
    /// The table's `SHELL` does not quote like `sh`.
    Shell,
    /// It starts no program.
    NoProgram,
    /// It would be longer than cron takes.
    TooLong,
    /// The bytes could not be given back.
    Irreversible,
}

impl Refusal {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Wrapped => "wrapped-already",
            Self::NotWrapped => "wrapped",
            Self::Shell => "shell",
            Self::NoProgram => "program",
            Self::TooLong => "long",
            Self::Irreversible => "reversible",
        }
    }
}

/// The longest command that every cron takes, in bytes. Source: `MAX_COMMAND` of Vixie cron.
const LONGEST: usize = 998;

/// Builtins that only prepare: what follows needs what they did in the same shell.
const PREPARING: [&str; 9] = ["cd", ".", "source", "export", "umask", "ulimit", "set", "unset", "test"];

/// Names that no other program can start: builtins and keywords.
const BUILTINS: [&str; 20] = [
    "alias", "bg", "builtin", "command", "eval", "exit", "fg", "getopts", "hash", "jobs", "pushd", "popd",
    "read", "return", "shift", "shopt", "time", "trap", "type", "wait",
];

/// Programs that output is only sent on to.
const SINKS: [&str; 10] =
    ["mail", "mailx", "s-nail", "sendmail", "logger", "tee", "ts", "systemd-cat", "rotatelogs", "cronolog"];

/// A wrapper that stays in front of selfheal: what it holds or silences holds for the healing too.
struct Outer {
    name: &'static str,
    /// Options that take the next word.
    valued: &'static [&'static str],
    /// Words of its own before the command.
    operands: usize,
}

/// Source: the synopsis of each manual page. `timeout` is none of them: it would cut the healing off.
const OUTER: [Outer; 7] = [
    Outer { name: "exec", valued: &["-a"], operands: 0 },
    Outer { name: "chronic", valued: &[], operands: 0 },
    Outer { name: "cronic", valued: &[], operands: 0 },
    Outer { name: "nice", valued: &["-n", "--adjustment"], operands: 0 },
    Outer { name: "ionice", valued: &["-c", "-n", "--class", "--classdata"], operands: 0 },
    Outer {
        name: "flock",
        valued: &["-w", "-E", "--timeout", "--wait", "--conflict-exit-code"],
        operands: 1,
    },
    Outer { name: "systemd-cat", valued: &["-t", "-p", "--identifier", "--priority"], operands: 0 },
];

/// Where selfheal goes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// In front of the word that begins here.
    Before(usize),
    /// In front of a shell that gets this part as its line.
    Line(Range<usize>),
}

/// Puts `selfheal run` into a command. `shell` is the word for the shell that cron starts.
///
/// # Errors
/// Why it is left as it is.
pub fn wrap(text: &str, wish: &Wish, shell: Option<&str>) -> Result<String, Refusal> {
    if wrapped_in(text).is_some() || is_own(text) {
        return Err(Refusal::Wrapped);
    }
    let shell = shell.ok_or(Refusal::Shell)?;
    let Command { line, input } = Command::divide(text);
    let apply = wish.apply.as_ref().map(|risk| format!("--apply {risk} ")).unwrap_or_default();
    let slice = |range: Range<usize>| line.get(range).unwrap_or_default();
    let fresh = match place(line)? {
        Place::Before(at) => {
            let (before, after) = (slice(0..at), slice(at..line.len()));
            format!("{before}{} run --job {} {apply}-- {after}{input}", wish.program, wish.job)
        }
        Place::Line(range) => {
            let (before, after) = (slice(0..range.start), slice(range.end..line.len()));
            let quoted = quoted(slice(range));
            format!(
                "{before}{} run --job={} {apply}-- {shell} -c {quoted}{after}{input}",
                wish.program, wish.job
            )
        }
    };
    if fresh.len() > LONGEST {
        return Err(Refusal::TooLong);
    }
    if unwrap(&fresh).as_deref() == Ok(text) { Ok(fresh) } else { Err(Refusal::Irreversible) }
}

/// Takes `selfheal run` out of a command.
///
/// # Errors
/// When there is none, or its quoted line was rewritten by hand.
pub fn unwrap(text: &str) -> Result<String, Refusal> {
    let found = wrapped_in(text).ok_or(Refusal::NotWrapped)?;
    let slice = |range: Range<usize>| text.get(range).unwrap_or_default();
    let before = slice(0..found.span.start);
    match found.shell {
        None => Ok(format!("{before}{}", slice(found.span.end..text.len()))),
        Some((_, line)) => {
            let inner = unquoted(slice(line.clone())).ok_or(Refusal::Irreversible)?;
            Ok(format!("{before}{inner}{}", slice(line.end..text.len())))
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The text that [`quoted`] quoted; `None` for other ways of quoting.
fn unquoted(word: &str) -> Option<String> {
    let inner = word.strip_prefix('\'')?.strip_suffix('\'')?;
    let text = inner.replace(r"'\''", "'");
    (quoted(&text) == word).then_some(text)
}

fn place(line: &str) -> Result<Place, Refusal> {
    let whole = || Place::Line(trimmed(line));
    // Quoting keeps the meaning of what is not understood.
    let Ok(script) = Script::parse(line) else { return Ok(whole()) };
    if script.has_error() || !script.heredocs().is_empty() {
        return Ok(whole());
    }
    let body = script.body();
    let before_last = body.get(..body.len().saturating_sub(1)).unwrap_or_default();
    let prepared = before_last.iter().take_while(|one| !one.background && prepares(&script, one)).count();
    match body.get(prepared..).unwrap_or_default() {
        [] => Err(Refusal::NoProgram),
        [one] => in_statement(&script, one, &[]),
        [first, .., last] => Ok(Place::Line(first.span.start..end_of(last))),
    }
}

fn trimmed(line: &str) -> Range<usize> {
    let start = line.len() - line.trim_start().len();
    start..start + line.trim().len()
}

/// The end of a statement with its redirections.
fn end_of(statement: &Statement) -> usize {
    statement.redirects.iter().map(|one| one.span.end).fold(statement.span.end, usize::max)
}

/// Where in a statement. The grammar hangs the redirections of the last member of a list on the list: `behind` are
/// those that the caller found there.
fn in_statement(script: &Script, statement: &Statement, behind: &[Redirect]) -> Result<Place, Refusal> {
    let redirects = [statement.redirects.as_slice(), behind].concat();
    let start = statement.span.start;
    let whole = start..redirects.iter().map(|one| one.span.end).fold(statement.span.end, usize::max);
    match &statement.kind {
        StatementKind::Command(index) => {
            in_command(script, script.commands().get(*index).ok_or(Refusal::NoProgram)?)
        }
        StatementKind::List { .. } => in_list(script, statement, &redirects),
        StatementKind::Pipeline(members) => in_pipeline(script, members, whole, &redirects),
        StatementKind::Subshell(_)
        | StatementKind::Group(_)
        | StatementKind::If { .. }
        | StatementKind::Loop { .. }
        | StatementKind::Case { .. } => Ok(Place::Line(without(script, whole, &redirects))),
        StatementKind::Not(_) | StatementKind::Function { .. } | StatementKind::Unparsed => {
            Ok(Place::Line(whole))
        }
    }
}

/// A range up to the first of its redirections.
fn without(script: &Script, whole: Range<usize>, redirects: &[Redirect]) -> Range<usize> {
    let end = redirects.iter().map(|one| one.span.start).fold(whole.end, usize::min);
    let text = script.text().get(whole.start..end).unwrap_or_default();
    whole.start..whole.start + text.trim_end().len()
}

/// `a && b || c` as its members, each with the operator before it.
fn members(statement: &Statement) -> Vec<(Option<ListOperator>, &Statement)> {
    match &statement.kind {
        StatementKind::List { operator, left, right } => {
            let mut all = members(left);
            let mut rest = members(right);
            if let Some(first) = rest.first_mut() {
                first.0 = Some(*operator);
            }
            all.append(&mut rest);
            all
        }
        _ => vec![(None, statement)],
    }
}

/// The members of a list that are left when what prepares is taken off its beginning, as long as that means the same:
/// every `&&` behind it depends on it, and so does the one member behind a last `||`.
fn unprepared<'a>(
    script: &Script,
    all: &'a [(Option<ListOperator>, &'a Statement)],
) -> &'a [(Option<ListOperator>, &'a Statement)] {
    let mut rest = all;
    while let [(_, first), (operator, _), ..] = rest
        && prepares(script, first)
    {
        let later = rest.get(1..).unwrap_or_default();
        let same = match operator {
            Some(ListOperator::And) => later.iter().all(|(one, _)| *one == Some(ListOperator::And)),
            _ => later.len() == 1,
        };
        if !same {
            break;
        }
        rest = later;
    }
    rest
}

/// `cd X && a && b`: what prepares stays outside.
fn in_list(script: &Script, statement: &Statement, behind: &[Redirect]) -> Result<Place, Refusal> {
    let all = members(statement);
    match unprepared(script, &all) {
        [] => Err(Refusal::NoProgram),
        [(_, one)] => {
            let mut one = (*one).clone();
            one.span.end = one.span.end.max(statement.span.end);
            in_statement(script, &one, behind)
        }
        [(_, first), .., (_, last)] => {
            // The redirections of the last command are part of the list.
            let end = end_of(last).max(statement.span.end);
            let end = behind.iter().map(|one| one.span.end).fold(end, usize::max);
            Ok(Place::Line(first.span.start..end))
        }
    }
}

fn in_pipeline(
    script: &Script,
    parts: &[Statement],
    whole: Range<usize>,
    redirects: &[Redirect],
) -> Result<Place, Refusal> {
    let Some((first, rest)) = parts.split_first() else { return Err(Refusal::NoProgram) };
    let is_list = |one: &Statement| matches!(one.kind, StatementKind::List { .. });
    if rest.iter().any(is_list) {
        return Ok(Place::Line(whole));
    }
    // The grammar reads `cd X && a | b` as if `|` bound less than `&&`.
    let all = members(first);
    match unprepared(script, &all) {
        [] => Err(Refusal::NoProgram),
        [(_, one)] => in_pipe(script, one, rest, (one.span.start..whole.end, redirects)),
        [(_, one), ..] => Ok(Place::Line(one.span.start..whole.end)),
    }
}

/// A pipeline by its first member and the rest, with its range and the redirections behind it.
fn in_pipe(
    script: &Script,
    first: &Statement,
    rest: &[Statement],
    (whole, redirects): (Range<usize>, &[Redirect]),
) -> Result<Place, Refusal> {
    let command = |one: &Statement| match one.kind {
        StatementKind::Command(index) => script.commands().get(index),
        _ => None,
    };
    if rest.iter().all(|one| command(one).is_some_and(|one| SINKS.iter().any(|name| one.is(name)))) {
        return in_statement(script, first, &[]);
    }
    // The output of the last member is that of the pipeline; nothing else may be sent elsewhere with it.
    let own = rest.last().and_then(command).map(|last| last.redirects.as_slice()).unwrap_or_default();
    let redirects = [redirects, own].concat();
    match redirects.as_slice() {
        [only]
            if matches!(only.operator.as_str(), ">" | ">>")
                && only.span.end >= whole.end
                && only.descriptor.as_deref().is_none_or(|number| number == "1") =>
        {
            Ok(Place::Line(without(script, whole, &redirects)))
        }
        _ => Ok(Place::Line(whole)),
    }
}

fn in_command(script: &Script, command: &shell::Command) -> Result<Place, Refusal> {
    if command.kind != CommandKind::Simple {
        return Err(Refusal::NoProgram);
    }
    let at = outer_words(&command.words);
    let word = command.words.get(at).ok_or(Refusal::NoProgram)?;
    let name = word.literal().unwrap_or_default();
    let contiguous = command
        .redirects
        .iter()
        .all(|one| one.span.start >= command.span.end || one.span.end <= command.span.start);
    match name.as_str() {
        ":" | "true" | "false" | "exit" if command.words.len() <= 2 => Err(Refusal::NoProgram),
        "cd" | "export" | "umask" | "ulimit" | "set" | "unset" | "test" => Err(Refusal::NoProgram),
        name if PREPARING.contains(&name) || BUILTINS.contains(&name) => {
            if at == 0 && command.assignments.is_empty() && contiguous {
                Ok(Place::Line(command.span.clone()))
            } else {
                Ok(Place::Line(trimmed(script.text())))
            }
        }
        _ => Ok(Place::Before(word.span.start)),
    }
}

/// How many words at the beginning belong to wrappers that stay outside.
fn outer_words(words: &[Word]) -> usize {
    let mut at = 0;
    while let Some(next) = words.get(at..).and_then(outer_once) {
        at += next;
    }
    at
}

/// The words of one outer wrapper; `None` when there is none, or what it runs is not a command of its own
/// (`flock FILE -c LINE`, `flock 9`).
fn outer_once(words: &[Word]) -> Option<usize> {
    let name = words.first()?.literal()?;
    let name = name.rsplit('/').next().unwrap_or(&name);
    let outer = OUTER.iter().find(|outer| outer.name == name)?;
    let mut operands = outer.operands;
    let mut at = 1;
    loop {
        let text = words.get(at)?.literal();
        match text.as_deref() {
            Some("-c" | "--command") if outer.name == "flock" => return None,
            Some("--") => return words.get(at + 1 + operands).map(|_| at + 1 + operands),
            Some(option) if outer.valued.contains(&option) => at += 2,
            Some(option) if option.starts_with('-') => at += 1,
            _ if operands > 0 => {
                operands -= 1;
                at += 1;
            }
            _ => return Some(at),
        }
    }
}

/// Whether a statement only prepares for what follows it.
fn prepares(script: &Script, statement: &Statement) -> bool {
    let StatementKind::Command(index) = statement.kind else { return false };
    let Some(command) = script.commands().get(index) else { return false };
    match command.kind {
        CommandKind::Assignment | CommandKind::Declaration | CommandKind::Test { .. } => true,
        CommandKind::Simple => command.name().is_some_and(|name| PREPARING.contains(&name.as_str())),
        CommandKind::Arithmetic => false,
    }
}

/// The words of the command that a job is about: what a name is made of, and a script looked for. Without wrappers.
#[must_use]
pub fn main_words(line: &str) -> Vec<String> {
    let Ok(script) = Script::parse(line) else { return Vec::new() };
    let start = match place(line) {
        Ok(Place::Before(at)) => at,
        Ok(Place::Line(range)) => range.start,
        Err(_) => return Vec::new(),
    };
    let command = script.commands().iter().find(|command| {
        command.kind == CommandKind::Simple
            && command.words.last().is_some_and(|word| word.span.end > start)
            && !command.name().is_some_and(|name| PREPARING.contains(&name.as_str()) || name == "true")
    });
    let Some(command) = command else { return Vec::new() };
    let words = command.words.iter().filter(|word| word.span.start >= start);
    let words: Vec<OsString> =
        words.map(|word| word.literal().unwrap_or_else(|| word.text.clone()).into()).collect();
    inner_command(&words).iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Interpreters: the job is their first argument that is no option.
const INTERPRETERS: [&str; 12] =
    ["sh", "bash", "dash", "ksh", "zsh", "python", "python3", "perl", "php", "ruby", "node", "run-parts"];

/// Whether a command starts selfheal itself: the line of its timer.
#[must_use]
pub fn is_own(text: &str) -> bool {
    main_words(Command::divide(text).line).first().and_then(|word| word.rsplit('/').next())
        == Some("selfheal")
}

/// Whether a word is a program whose first argument is the job.
#[must_use]
pub fn is_interpreter(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    INTERPRETERS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
        || INTERPRETERS.contains(&name)
}

/// A name for a job, made of its script or program. Only letters, digits, `.`, `_` and `-`.
#[must_use]
pub fn derived_name(text: &str) -> String {
    let words = main_words(Command::divide(text).line);
    let stem = |word: &str| {
        let path = Path::new(word);
        let name = if path.extension().is_some_and(|ext| ext.len() <= 3) {
            path.file_stem()
        } else {
            path.file_name()
        };
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let program = words.first().map(|word| stem(word)).unwrap_or_default();
    let script = INTERPRETERS
        .contains(&program.as_str())
        .then(|| words.iter().skip(1).find(|word| !word.starts_with('-')))
        .flatten();
    let name = script.filter(|word| !word.contains(' ')).map_or(program, |word| stem(word));
    let safe: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
        .take(40)
        .collect();
    let safe = safe.trim_matches(['-', '.']);
    if safe.is_empty() { "job".to_owned() } else { safe.to_owned() }
}

#[cfg(test)]
mod tests;
