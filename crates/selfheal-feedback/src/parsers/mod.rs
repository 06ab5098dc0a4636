//! Reads what a failed command printed and says what went wrong, in the vocabulary of [`Fault`].
//!
//! Two kinds of parser meet here. Those that need several lines (Python, node, Java, …) go first and mark the lines
//! that they understood. The rest are tables of message patterns, one file a tool: [`tables`] lists them from the most
//! to the least specific, and the first that knows a line wins. To add a tool, add a file with a table and name it
//! there; samples of real output go to `tests/samples`.

pub mod anonymous;
mod build;
mod catalogue;
mod config;
mod data;
mod dotted;
mod errno;
mod git;
mod go;
mod java;
mod known;
mod limits;
mod local;
mod lua;
mod made;
mod network;
mod node;
mod options;
mod perl;
mod php;
mod powershell;
mod python;
mod python_faults;
mod ruby;
mod rust;
mod services;
pub mod shell;
mod sql;
pub mod tcl;
mod text_tools;

use std::path::PathBuf;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use selfheal_core::fault::Fault;
use selfheal_core::outcome::Class;
use selfheal_core::run::{Capture, Run};

use crate::class::weight;
use crate::template::{Holes, Template};

/// How many lines of the beginning and of the end of a stream are read.
const HEAD_LINES: usize = 400;
/// The same for the end.
const TAIL_LINES: usize = 1_600;
/// The same between them, around lines that speak of an error.
const BETWEEN_LINES: usize = 400;
/// How many lines before such a line are read.
const LEAD_LINES: usize = 2;
/// How many lines behind it are read.
const BEHIND_LINES: usize = 16;
/// How many bytes of one line are read.
const LINE_BYTES: usize = 2_000;
/// The most that a warning or hint weighs.
const REMARK: u8 = 5;
/// The weight of a message that is known, though no fault stands for it.
const KNOWN: u8 = 60;
/// How many findings are kept.
const FINDINGS: usize = 200;

/// A place in a program text, as a message names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file as written.
    pub file: PathBuf,
    /// The line, from 1; 0 when the message names only the file.
    pub line: u32,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The function, if the message names one.
    pub function: Option<String>,
}

impl Spot {
    /// A place without column and function.
    pub fn new(file: impl Into<PathBuf>, line: u32) -> Self {
        Self { file: file.into(), line, column: None, function: None }
    }
}

/// Something that a parser understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What went wrong.
    pub fault: Fault,
    /// Where, if the message says so; the most telling place first.
    pub spots: Vec<Spot>,
    /// The tool that said it, if the message names it.
    pub tool: Option<String>,
    /// The line that says it, without its end.
    pub text: String,
    /// Where it stands in the output: later ones are larger.
    pub order: usize,
    /// How much it says, 0 to 100.
    pub weight: u8,
    /// The class, where the message tells it and its fault does not.
    pub class: Option<Class>,
}

impl Found {
    /// A finding with the weight of its fault.
    pub fn new(fault: Fault, line: &Line<'_>) -> Self {
        let weight = weight(&fault);
        let spots = line.spot.clone().into_iter().collect();
        Self {
            fault,
            spots,
            tool: tool_before(line.rest),
            text: line.text.to_owned(),
            order: line.order,
            weight,
            class: None,
        }
    }

    /// A message that says something that no fault stands for, with what it means.
    pub fn plain(class: Class, line: &Line<'_>) -> Self {
        let weight = KNOWN;
        Self {
            class: Some(class),
            weight,
            ..Self::new(Fault::Other { message: bounded(line.rest.trim()) }, line)
        }
    }

    /// The same with other places.
    pub fn at(mut self, spots: Vec<Spot>) -> Self {
        self.spots = spots;
        self
    }
}

/// One line of output.
#[derive(Clone, Debug)]
pub struct Line<'t> {
    /// The whole line without its end.
    pub text: &'t str,
    /// The place that a shell's prefix names (`x.sh: line 12: `).
    pub spot: Option<Spot>,
    /// What stands behind that prefix.
    pub rest: &'t str,
    /// Where it stands in the output.
    pub order: usize,
}

/// What builds a fault from the holes of a pattern.
type Make = fn(&Holes<'_>) -> Option<Fault>;

/// A message pattern and the fault that it means.
pub struct Row {
    template: Template,
    make: Make,
    tool: Option<&'static str>,
    class: Option<Class>,
}

impl Row {
    /// The same, with a class that its fault does not tell.
    pub fn class(mut self, class: Class) -> Self {
        self.class = Some(class);
        self
    }

    /// The same, said by a tool that does not begin its messages with its name.
    pub fn of(mut self, tool: &'static str) -> Self {
        self.tool = Some(tool);
        self
    }
}

/// A row of a table.
pub fn row(pattern: &'static str, make: Make) -> Row {
    Row { template: Template::new(pattern), make, tool: None, class: None }
}

/// All tables, and what finds the rows that a line can be meant by.
struct Tables {
    /// The rows, the most specific first.
    rows: Vec<Row>,
    /// Finds the longest literal piece of every row that has one.
    finder: Option<AhoCorasick>,
    /// The row of each piece.
    of: Vec<usize>,
    /// The rows without one.
    always: Vec<usize>,
}

impl Tables {
    fn new(rows: Vec<Row>) -> Self {
        let (mut pieces, mut of, mut always) = (Vec::new(), Vec::new(), Vec::new());
        for (at, row) in rows.iter().enumerate() {
            match row.template.literal() {
                Some(piece) => {
                    pieces.push(piece);
                    of.push(at);
                }
                None => always.push(at),
            }
        }
        Self { finder: AhoCorasick::new(pieces).ok(), rows, of, always }
    }

    /// The finding of the first row that knows a line.
    fn find(&self, line: &Line<'_>) -> Option<Found> {
        let Some(finder) = &self.finder else { return self.rows.iter().find_map(|row| by_row(row, line)) };
        let pieces = finder.find_overlapping_iter(line.rest);
        let mut rows: Vec<usize> =
            pieces.filter_map(|hit| self.of.get(hit.pattern().as_usize()).copied()).collect();
        rows.extend(&self.always);
        rows.sort_unstable();
        rows.dedup();
        rows.into_iter().filter_map(|at| self.rows.get(at)).find_map(|row| by_row(row, line))
    }
}

/// What the tables know of a line.
fn by_tables(line: &Line<'_>) -> Option<Found> {
    TABLES.find(line)
}

/// All tables, the most specific first.
static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let tables = [
        services::first_rows(),
        limits::rows(),
        shell::rows(),
        git::rows(),
        perl::rows(),
        php::rows(),
        ruby::rows(),
        node::rows(),
        go::rows(),
        java::rows(),
        python_faults::rows(),
        sql::rows(),
        network::rows(),
        services::rows(),
        build::rows(),
        text_tools::rows(),
        options::rows(),
        data::rows(),
        lua::rows(),
        powershell::rows(),
        config::rows(),
    ];
    Tables::new(tables.into_iter().flatten().collect())
});

/// What a parser of several lines answers: its findings, and how many lines they took, for the line that it was asked
/// about.
type Block = Option<(Vec<Found>, usize)>;

/// The parsers of several lines.
const BLOCKS: [fn(&[Line<'_>]) -> Block; 13] = [
    python::block,
    node::block,
    java::block,
    go::block,
    ruby::block,
    php::block,
    rust::block,
    tcl::block,
    powershell::block,
    lua::block,
    shell::fish_block,
    build::cmake_block,
    services::block,
];

/// Reads both streams of a run. Standard output counts only where standard error says nothing that is understood: it
/// may well quote other people's errors.
pub fn read(run: &Run) -> Vec<Found> {
    let stderr = read_text(&kept(&run.stderr));
    if stderr.iter().any(|found| found.weight > crate::class::VAGUE) {
        return stderr;
    }
    let mut both = read_text(&kept(&run.stdout));
    both.retain(|found| found.weight > crate::class::VAGUE);
    both.extend(stderr);
    if both.is_empty() {
        let text = kept(&run.stderr);
        let last = lines(&text).into_iter().rev().find(|line| !line.text.trim().is_empty());
        both.extend(last.map(|line| Found::new(Fault::Other { message: bounded(line.text.trim()) }, &line)));
    }
    both
}

/// The text of a stream that is worth reading.
pub fn kept(capture: &Capture) -> String {
    capture.text()
}

/// Reads one text.
pub fn read_text(text: &str) -> Vec<Found> {
    let lines = lines(text);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = lines.get(at..).filter(|rest| !rest.is_empty()) {
        let block = BLOCKS.iter().find_map(|parser| parser(rest));
        if let Some((block, taken)) = block {
            found.extend(block);
            at += taken.max(1);
        } else {
            found.extend(rest.first().and_then(single));
            at += 1;
        }
        if found.len() >= FINDINGS {
            break;
        }
    }
    made::place(&lines, &mut found);
    found
}

/// Reads one line by the tables, and takes the place that the line names in passing.
fn single(line: &Line<'_>) -> Option<Found> {
    if line.rest.trim().is_empty() {
        return None;
    }
    let mut found = understood(line)?;
    if is_of_client(line.text) {
        // The line of the client's own source says nothing.
        return Some(Found { spots: Vec::new(), tool: Some("kubectl".into()), ..found });
    }
    if found.spots.is_empty() {
        let behind = line.text.split_once(": ").map(|(_, behind)| behind);
        found.spots.extend(dotted::passing(line.text).or_else(|| behind.and_then(dotted::passing)));
    }
    Some(found)
}

/// `E1130 15:18:16.377216   18508 memcache.go:265] …`, as programs of Kubernetes log.
fn is_of_client(text: &str) -> bool {
    let mut bytes = text.bytes();
    matches!(bytes.next(), Some(b'E' | b'W' | b'F' | b'I'))
        && bytes.by_ref().take(4).all(|byte| byte.is_ascii_digit())
        && text.split_once("] ").is_some_and(|(head, _)| head.contains(".go:"))
}

fn understood(line: &Line<'_>) -> Option<Found> {
    if is_noise(line.rest) {
        return None;
    }
    let remark = is_remark(line.rest);
    let known = in_english(line);
    let vague =
        known.as_ref().is_none_or(|found| found.weight <= crate::class::VAGUE || !line.rest.is_ascii());
    let english = vague.then(|| catalogue::english(line.rest)).flatten();
    let again = english.and_then(|english| in_english(&Line { rest: &english, ..line.clone() }));
    let mut found = again.or(known)?;
    if remark {
        let known = !matches!(found.fault, Fault::Other { .. });
        found.weight = found.weight.min(if known { crate::findings::REMARK } else { REMARK });
    }
    Some(found)
}

/// What every program says where a locale is not installed, and what is never why a job fails.
fn is_noise(rest: &str) -> bool {
    rest.contains("setlocale: LC_") && rest.contains("cannot change locale")
        || rest.starts_with("perl: warning: Setting locale failed")
        || rest.starts_with("perl: warning: Falling back to")
        || rest.starts_with("manpath: can't set the locale")
}

/// Whether a line is only a warning, or a hint where help is to be had.
fn is_remark(rest: &str) -> bool {
    let start = cut(rest, 60).to_ascii_lowercase();
    let warns = start.starts_with("warning: ")
        || start.contains(": warning: ") && !start.contains("here-document")
        || start.starts_with("use of uninitialized value")
        || start.starts_with("php warning: ")
        || start.starts_with("php notice: ");
    // `Try 'ls --help' for more information.`, in whatever language.
    let helps =
        rest.len() < 120 && rest.contains(" --help") && !rest.contains(": ") && !rest.starts_with("usage");
    warns || helps
}

fn in_english(line: &Line<'_>) -> Option<Found> {
    if let Some(fault) = shell::carriage_return(line).or_else(|| shell::not_found(line)) {
        return Some(Found::new(fault, line));
    }
    // A message that begins with `FILE:LINE: ` looks like a shell's; some tables know it as a whole.
    let whole = line.spot.as_ref().map(|_| Line { rest: line.text, ..line.clone() });
    by_tables(line)
        .or_else(|| whole.as_ref().and_then(by_tables))
        .or_else(|| errno::line(line))
        .or_else(|| shell::required(line).map(|fault| Found::new(fault, line)))
        .or_else(|| known::line(line))
        .or_else(|| local::line(line))
        .or_else(|| dotted::line(line))
        .or_else(|| vague(line))
}

fn by_row(row: &Row, line: &Line<'_>) -> Option<Found> {
    let holes = row.template.find(line.rest)?;
    let fault = (row.make)(&holes)?;
    let mut found = Found { class: row.class, ..Found::new(fault, line) };
    if row.class.is_some() {
        found.weight = found.weight.max(KNOWN);
    }
    if let Some(number) = holes.number("line").filter(|number| *number > 0)
        && !holes.get("file").is_empty()
    {
        let spot = Spot { column: holes.number("col"), ..Spot::new(holes.path("file"), number) };
        found.spots.insert(0, spot);
    }
    if !holes.get("tool").is_empty() {
        found.tool = Some(holes.text("tool"));
    } else if found.tool.is_none() {
        found.tool = row.tool.map(str::to_owned);
    }
    if let Fault::UnknownOption { command, .. } = &mut found.fault
        && command.is_empty()
    {
        command.push_str(found.tool.as_deref().unwrap_or_default());
    }
    Some(found)
}

/// A line that at least sounds like an error.
fn vague(line: &Line<'_>) -> Option<Found> {
    let lower = line.rest.to_lowercase();
    let says = sounds_like_error(&lower) && !lower.contains("warning");
    (says || line.spot.is_some())
        .then(|| Found::new(Fault::Other { message: bounded(line.rest.trim()) }, line))
}

/// Whether lower-case words speak of an error.
pub fn sounds_like_error(lower: &str) -> bool {
    const WORDS: [&str; 22] = [
        "error",
        "fatal",
        "fail",
        "cannot",
        "can't",
        "could not",
        "couldn't",
        "unable",
        "invalid",
        "illegal",
        "not found",
        "no such",
        "denied",
        "refused",
        "abort",
        "panic",
        "exception",
        "traceback",
        "unexpected",
        "missing",
        "not allowed",
        "timed out",
    ];
    static ANY: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(WORDS).ok());
    ANY.as_ref().is_some_and(|any| any.is_match(lower))
}

/// Cuts a text to what a fault may hold.
pub fn bounded(text: &str) -> String {
    text.chars().take(400).collect()
}

/// The tool that a message begins with: `cp` of `cp: cannot stat …`, `git` of `/usr/bin/git: …`.
pub fn tool_before(rest: &str) -> Option<String> {
    if rest.starts_with("npm error ") || rest.starts_with("npm ERR! ") {
        return Some("npm".into());
    }
    let (tool, _) = rest.split_once(": ")?;
    let tool = tool.split('[').next().unwrap_or(tool);
    let base = tool.rsplit('/').next().unwrap_or(tool);
    let plain = !base.is_empty()
        && base.len() <= 40
        && base.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '['));
    let level = ["fatal", "error", "warning", "ERROR", "Error", "FATAL", "E", "W", "WARNING"].contains(&base);
    (plain && !level && !base.contains('['))
        .then(|| base.to_owned())
        .or_else(|| (rest.starts_with("[: ")).then(|| "[".into()))
}

/// Splits a text into the lines that are read: from a long one, its beginning, its end, and what speaks of an error
/// between them.
fn lines(text: &str) -> Vec<Line<'_>> {
    let all: Vec<&str> = text.split('\n').collect();
    let end = all.len().saturating_sub(TAIL_LINES).max(HEAD_LINES);
    let mut between = 0;
    // So long the lines behind an error are read too.
    let mut until = 0;
    let mut read = |order: usize| {
        if order < HEAD_LINES || order >= end {
            return true;
        }
        if between < BETWEEN_LINES
            && all.get(order + LEAD_LINES).is_some_and(|line| crate::scan::speaks_of_error(line))
        {
            until = order + LEAD_LINES + BEHIND_LINES;
        }
        let wanted = order <= until && between < BETWEEN_LINES;
        between += usize::from(wanted);
        wanted
    };
    let picked: Vec<usize> = (0..all.len()).filter(|order| read(*order)).collect();
    picked.into_iter().filter_map(|order| Some(line(all.get(order)?, order))).collect()
}

fn line(text: &str, order: usize) -> Line<'_> {
    let text = text.strip_suffix('\r').unwrap_or(text);
    let text = cut(text, LINE_BYTES);
    match shell::prefix(text) {
        Some((spot, rest)) => Line { text, spot, rest, order },
        None => Line { text, spot: None, rest: text, order },
    }
}

/// The beginning of a text, at most `most` bytes, never in the middle of a character.
pub fn cut(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_is_what_stands_before_the_first_colon() {
        assert_eq!(tool_before("cp: cannot stat 'x'").as_deref(), Some("cp"));
        assert_eq!(tool_before("/usr/bin/git: 'x' is not").as_deref(), Some("git"));
        assert_eq!(tool_before("make[2]: *** [all]").as_deref(), Some("make"));
        assert_eq!(tool_before("[: too many arguments").as_deref(), Some("["));
        assert_eq!(tool_before("the first thing: x"), None);
    }

    #[test]
    fn long_output_is_read_at_both_ends() {
        let text = format!("first\n{}last", "x\n".repeat(100_000));
        let lines = lines(&text);
        assert_eq!(lines.len(), HEAD_LINES + TAIL_LINES);
        assert_eq!((lines[0].text, lines[lines.len() - 1].text), ("first", "last"));
    }
}
