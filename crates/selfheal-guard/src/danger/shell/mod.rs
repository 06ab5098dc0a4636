//! Danger in shell programs: the walk over statements, with the folder that commands run in and what is piped into them.

mod argv;
mod calls;
mod code;
mod command;
mod endless;
mod fetched;
mod files;
mod flow;
mod foreign;
mod index;
mod network;
pub mod places;
mod redirects;
mod renamed;
mod rules;
mod runners;
mod surroundings;
mod twice;
mod wrappers;
mod written;

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use selfheal_core::admission::Danger;
use selfheal_syntax::shell::{Command, CommandKind, Script, Statement, StatementKind};
use selfheal_syntax::values::Values;

use self::flow::{empty, fetches};
use self::index::Index;
use self::places::{Cwd, Place, Places};
use self::surroundings::assignments_of;
use super::Operation;
use crate::scope::Roots;

/// How deep shells in shells are followed.
const MAX_DEPTH: u32 = 8;
/// How many different calls of functions are followed in one text.
const MAX_CALLS: usize = 100;
/// How many argument lists are judged in one text.
const MAX_WORK: u32 = 20_000;
/// How much nested text is parsed for one text, in bytes: bodies of functions with their arguments, texts of `eval`, lines
/// that the grammar stumbled over. Calls of calls would multiply it without end.
const MAX_NESTED: usize = 256 * 1024;
/// How many operations of one text are listed.
const MAX_OPERATIONS: usize = 2_000;
/// The longest nested text that is kept parsed, in bytes, and how many are.
const KEPT_BYTES: usize = 1_024;
const KEPT_SCRIPTS: usize = 256;
/// Why a text is held that would take too long.
const TOO_MUCH: &str = "there is too much to be judged";
/// What starting one parse costs, as so many bytes of text.
const PARSE_COST: usize = 64;

/// The dangerous operations of a shell text; `None` when it cannot be judged.
pub fn operations(text: &str, roots: &Roots) -> Option<Vec<Operation>> {
    let mut walk = Walk::new(roots);
    walk.text(text, &Stdin::Nothing, None)?;
    Some(walk.out)
}

/// Every command of a shell text with its words, wrappers taken away; `None` when it cannot be judged.
#[must_use]
pub fn commands(text: &str, roots: &Roots) -> Option<Vec<(u32, Vec<String>)>> {
    let mut walk = Walk { seen: Some(Vec::new()), ..Walk::new(roots) };
    walk.text(text, &Stdin::Nothing, None)?;
    walk.seen
}

/// What a command reads from its standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stdin {
    /// Nothing of interest.
    Nothing,
    /// This text.
    Text(String),
    /// The names of files found below a place.
    Names(Place),
    /// A file of the job.
    File,
    /// Something that nobody knows before it runs.
    Opaque,
}

/// The walk over one text and all that is nested in it.
struct Walk<'a> {
    roots: &'a Roots,
    cwd: Cwd,
    depth: u32,
    work: u32,
    /// Bytes of nested texts that were parsed.
    nested: usize,
    /// Files that were fetched from the network.
    fetched: Vec<String>,
    /// Folders whose content was fetched from the network.
    fetched_folders: Vec<String>,
    /// Whether the folder that commands run in was fetched.
    in_fetched: bool,
    /// Texts that the script wrote to files.
    written: std::collections::BTreeMap<String, String>,
    /// Other names of commands: aliases, and programs that were copied or linked.
    aliases: std::collections::BTreeMap<String, String>,
    /// Calls of functions that were followed.
    called: std::collections::BTreeSet<String>,
    /// The assignments of the script around, for texts that run in the same shell.
    prelude: Vec<(String, String)>,
    /// The line of the outermost text, while inside a nested one.
    line: Option<u32>,
    /// Whether texts are read by the second parser too.
    reads_again: bool,
    /// Short texts in which both parsers read the same.
    agreed: HashSet<String>,
    /// Short nested texts that were parsed.
    scripts: HashMap<String, Rc<Script>>,
    out: Vec<Operation>,
    /// The commands that were judged, where they are asked for.
    seen: Option<Vec<(u32, Vec<String>)>>,
}

/// One script of the walk.
struct Unit<'s> {
    script: &'s Script,
    values: Values<'s>,
    /// Where its functions stand, made when they are first asked for.
    index: OnceCell<Index>,
}

impl Unit<'_> {
    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(self.script))
    }
}

impl<'a> Walk<'a> {
    fn new(roots: &'a Roots) -> Self {
        Self {
            roots,
            cwd: Cwd::Own,
            depth: 0,
            work: 0,
            nested: 0,
            fetched: Vec::new(),
            fetched_folders: Vec::new(),
            in_fetched: false,
            written: std::collections::BTreeMap::new(),
            aliases: std::collections::BTreeMap::new(),
            called: std::collections::BTreeSet::new(),
            prelude: Vec::new(),
            line: None,
            reads_again: true,
            agreed: HashSet::new(),
            scripts: HashMap::new(),
            out: Vec::new(),
            seen: None,
        }
    }

    /// Judges a text as a script. `None` when it cannot be parsed.
    fn text(&mut self, text: &str, stdin: &Stdin, line: Option<u32>) -> Option<()> {
        if self.depth >= MAX_DEPTH {
            self.hit(
                (line.unwrap_or(1), text),
                Danger::High,
                "danger/nested",
                "shells are nested too deeply to be judged",
            );
            return Some(());
        }
        if self.depth > 0 && !self.affords(text, line) {
            return Some(());
        }
        let script = self.parsed(text)?;
        self.depth += 1;
        let before = (self.line, self.cwd.clone());
        self.line = self.line.or(line);
        self.judged(&script, text, stdin);
        self.cwd.clone_from(&before.1);
        if self.reads_again && !self.agreed.contains(text) {
            self.again(&script, text, stdin, line);
        }
        (self.line, self.cwd) = before;
        self.depth -= 1;
        Some(())
    }

    /// A text as a script. Scripts say the same short texts again and again (a trap, an `awk` program, the body of a
    /// function), so those are kept.
    fn parsed(&mut self, text: &str) -> Option<Rc<Script>> {
        if let Some(known) = self.scripts.get(text) {
            return Some(Rc::clone(known));
        }
        if self.depth == 0 {
            return Script::shared(text).ok();
        }
        let script = Rc::new(Script::parse(text).ok()?);
        if text.len() <= KEPT_BYTES && self.scripts.len() < KEPT_SCRIPTS {
            self.scripts.insert(text.to_owned(), Rc::clone(&script));
        }
        Some(script)
    }

    /// Judges one reading of a text.
    fn judged(&mut self, script: &Script, text: &str, stdin: &Stdin) {
        let unit = Unit {
            values: Values::in_any_environment(script).with_script_path("./script"),
            script,
            index: OnceCell::new(),
        };
        self.block(&unit, script.body(), stdin);
        self.whole(&unit);
        if script.has_error() {
            self.crude(text, understood_until(script));
        }
    }

    /// Judges a part of the text that counts for itself.
    fn part(&mut self, text: &str, line: u32) {
        // What cannot be parsed was said of the whole.
        let _ = self.text(text, &Stdin::Nothing, Some(line));
    }

    /// Does something with texts that are parts of one that was read twice already.
    fn read_already(&mut self, work: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.reads_again, false);
        work(self);
        self.reads_again = before;
    }

    /// Counts one piece of work; when there is too much, that is said once and nothing more is looked at.
    fn works(&mut self, line: u32) -> bool {
        self.work = self.work.saturating_add(1);
        if self.work == MAX_WORK + 1 {
            self.hit((line, ""), Danger::High, "danger/too-much", TOO_MUCH);
        }
        self.work <= MAX_WORK
    }

    /// Counts a nested text; when there is too much, that is said once and nothing more is looked at.
    fn affords(&mut self, text: &str, line: Option<u32>) -> bool {
        let before = self.nested;
        self.nested = before.saturating_add(text.len() + PARSE_COST);
        if self.nested <= MAX_NESTED {
            return true;
        }
        if before <= MAX_NESTED {
            self.hit((line.unwrap_or(1), ""), Danger::High, "danger/too-much", TOO_MUCH);
        }
        false
    }

    /// Line by line, where the grammar stumbled: commands may be missing from the tree. `from` is the first line (from 0) of
    /// which that can be said.
    fn crude(&mut self, text: &str, from: usize) {
        let unread = "parts of the text are not understood";
        if self.depth > 3 {
            return;
        }
        // Inside of another text only words in braces are looked at: pieces of pieces would be too many.
        let nested = self.depth > 1;
        for (at, line) in text.lines().enumerate().skip(from).take(if nested { 20 } else { 4_000 }) {
            let number = at as u32 + 1;
            let mut pieces = Vec::new();
            if !nested {
                pieces.push(line.to_owned());
                if line.contains([';', '|', '&']) {
                    pieces.extend(line.split([';', '|', '&']).map(str::to_owned));
                }
            }
            pieces.extend(
                line.split_whitespace()
                    .map(|word| word.trim_start_matches('('))
                    .filter(|word| word.starts_with('{') && word.contains(','))
                    .map(|word| word.trim_matches(['{', '}', ';', ')']).replace(',', " ")),
            );
            for piece in
                pieces.iter().filter(|piece| !piece.trim().is_empty() && !piece.trim_start().starts_with('#'))
            {
                self.read_already(|walk| walk.part(piece, number));
            }
        }
        self.hit((1, ""), Danger::Medium, "danger/not-understood", unread);
    }

    fn hit(&mut self, (line, subject): (u32, &str), danger: Danger, rule: &str, why: &str) {
        let line = self.line.unwrap_or(line);
        let subject: String = subject.chars().take(160).collect();
        let operation = |danger, rule: &str, why: &str, subject| Operation {
            line,
            danger,
            rule: rule.to_owned(),
            why: why.to_owned(),
            subject,
        };
        match self.out.len().cmp(&MAX_OPERATIONS) {
            Ordering::Less => self.out.push(operation(danger, rule, why, subject)),
            // What comes behind is not listed, so the whole counts as if it held the worst.
            Ordering::Equal => {
                self.out.push(operation(Danger::High, "danger/too-much", TOO_MUCH, String::new()));
            }
            Ordering::Greater => {}
        }
    }

    fn places(&self) -> Places<'_> {
        Places { roots: self.roots, cwd: &self.cwd }
    }

    fn block(&mut self, unit: &Unit<'_>, statements: &[Statement], stdin: &Stdin) {
        for statement in statements {
            self.statement(unit, statement, stdin);
        }
    }

    fn statement(&mut self, unit: &Unit<'_>, statement: &Statement, stdin: &Stdin) {
        for redirect in &statement.redirects {
            self.redirect(unit, redirect, statement.lines.0);
        }
        let own = self.redirected_stdin(unit, &statement.redirects, statement);
        let stdin = own.as_ref().unwrap_or(stdin);
        match &statement.kind {
            StatementKind::Command(index) => {
                if let Some(command) = unit.script.commands().get(*index) {
                    self.command(unit, command, *index, stdin);
                }
            }
            StatementKind::List { left, right, .. } => {
                self.statement(unit, left, stdin);
                self.statement(unit, right, stdin);
            }
            StatementKind::Pipeline(members) => self.pipeline(unit, members, stdin),
            StatementKind::Not(inner) => self.statement(unit, inner, stdin),
            StatementKind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.block(unit, condition, stdin);
                    self.block(unit, body, stdin);
                }
                self.block(unit, otherwise.as_deref().unwrap_or_default(), stdin);
            }
            StatementKind::Loop { index, condition, body } => {
                self.endless(unit, *index, condition);
                self.block(unit, condition, stdin);
                self.block(unit, body, stdin);
            }
            StatementKind::Case { items, .. } => {
                items.iter().for_each(|(_, body)| self.block(unit, body, stdin))
            }
            StatementKind::Function { index, body } => {
                self.fork_bomb(unit, *index);
                self.aside(|walk| walk.block(unit, body, &Stdin::Nothing));
            }
            StatementKind::Subshell(body) => self.aside(|walk| walk.block(unit, body, stdin)),
            StatementKind::Group(body) => {
                let emptied = statement.redirects.iter().filter(|redirect| redirect.operator == ">");
                let targets = emptied.filter_map(|redirect| redirect.target.as_ref());
                let own = targets.clone().flat_map(|word| unit.values.alternatives(word, statement.lines.0));
                let own = own.into_iter().all(|value| self.places().of(&value) == Place::OwnTemporary);
                if body.is_empty() && targets.count() > 0 && !own {
                    let subject = unit.script.slice(&statement.span).replace(['"', '\''], "");
                    self.hit(
                        (statement.lines.0, &subject),
                        Danger::Medium,
                        "danger/overwrite",
                        "it empties a file",
                    );
                }
                self.block(unit, body, stdin);
            }
            StatementKind::Unparsed => {}
        }
    }

    /// Does something whose `cd` is not seen outside.
    fn aside(&mut self, work: impl FnOnce(&mut Self)) {
        let before = (self.cwd.clone(), self.in_fetched);
        work(self);
        (self.cwd, self.in_fetched) = before;
    }

    fn pipeline(&mut self, unit: &Unit<'_>, members: &[Statement], stdin: &Stdin) {
        let mut flows = stdin.clone();
        for member in members {
            self.aside(|walk| walk.statement(unit, member, &flows));
            flows = self.output(unit, member, &flows);
        }
        let commands: Vec<&Command> = members
            .iter()
            .filter_map(|member| match member.kind {
                StatementKind::Command(index) => unit.script.commands().get(index),
                _ => None,
            })
            .collect();
        if commands.iter().any(|command| fetches(command)) {
            commands.into_iter().for_each(|command| {
                self.fetch_into(command);
                self.unpack_fetched(command, true);
            });
        }
    }

    fn command(&mut self, unit: &Unit<'_>, command: &Command, index: usize, stdin: &Stdin) {
        if !self.works(command.lines.0) {
            return;
        }
        let line = command.lines.0;
        for redirect in &command.redirects {
            self.redirect(unit, redirect, line);
        }
        self.assignments(unit, command);
        if !command.inner.is_empty() {
            self.aside(|walk| walk.block(unit, &command.inner, &Stdin::Nothing));
        }
        let own = self.redirected_stdin(unit, &command.redirects, &empty(command));
        let here = self.heredoc(unit, index).or(own);
        let stdin = here.as_ref().unwrap_or(stdin);
        if !matches!(command.kind, CommandKind::Simple | CommandKind::Declaration) {
            return;
        }
        if command.is("trap") || command.is("eval") {
            self.prelude = assignments_of(unit);
        }
        self.in_operands(command, line);
        let lists = argv::lists(command, &unit.values);
        if lists.iter().all(Vec::is_empty)
            && command.words.first().is_some_and(|word| word.expansions().next().is_some())
        {
            let text = unit.script.slice(&command.span).to_owned();
            self.hit(
                (line, &text),
                Danger::Medium,
                "danger/hidden-command",
                "which command it runs cannot be known",
            );
        }
        for list in lists {
            self.calls(unit, &list, line);
            self.judge(&list, stdin, line);
            self.search(unit, &list, stdin, line);
        }
        self.remember_written(unit, command, index, stdin);
        self.prelude.clear();
        if fetches(command) {
            self.fetch_into(command);
        }
        self.unpack_fetched(command, false);
        self.emptied(unit, command, line);
        self.unending(command, line);
        self.change_folder(unit, command);
    }
}

/// How many lines from the top are surely understood: those in front of the first statement that the grammar stumbled in.
/// What it read up to there does not depend on what follows.
fn understood_until(script: &Script) -> usize {
    let mut statements = selfheal_syntax::tree::children(script.tree().root_node()).into_iter();
    let stumbled = statements.find(|node| node.has_error() || node.is_error() || node.is_missing());
    let span = stumbled.map(|node| script.original_span(node));
    span.map_or(0, |span| script.lines().line_of(span.start).saturating_sub(1) as usize)
}
