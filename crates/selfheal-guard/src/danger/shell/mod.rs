//! Danger in shell programs: the walk over statements, with the folder that commands run in and what is piped into them.

mod argv;
mod code;
mod endless;
mod fetched;
mod files;
mod flow;
mod foreign;
mod network;
pub mod places;
mod renamed;
mod rules;
mod runners;
mod wrappers;
mod written;

use std::cmp::Ordering;

use selfheal_core::admission::Danger;
use selfheal_syntax::shell::{Command, CommandKind, Redirect, Script, Statement, StatementKind};
use selfheal_syntax::values::{Value, Values};

use self::argv::Arg;
use self::flow::{empty, fetches};
use self::places::{Cwd, Place, Places};
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
    out: Vec<Operation>,
    /// The commands that were judged, where they are asked for.
    seen: Option<Vec<(u32, Vec<String>)>>,
}

/// One script of the walk.
struct Unit<'s> {
    script: &'s Script,
    values: Values<'s>,
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
        let script = Script::parse(text).ok()?;
        self.depth += 1;
        let before = (self.line, self.cwd.clone());
        self.line = self.line.or(line);
        let unit = Unit {
            values: Values::in_any_environment(&script).with_script_path("./script"),
            script: &script,
        };
        self.block(&unit, script.body(), stdin);
        self.whole(&unit);
        if script.has_error() {
            self.crude(text, understood_until(&script));
        }
        (self.line, self.cwd) = before;
        self.depth -= 1;
        Some(())
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
                self.text(piece, &Stdin::Nothing, Some(number));
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

    /// Commands that stand in the operand of an expansion: `${x:-$(…)}`.
    fn in_operands(&mut self, command: &Command, line: u32) {
        let operands = command.words.iter().flat_map(|word| word.expansions()).map(|e| e.operand.clone());
        let inner: Vec<String> =
            operands.filter(|operand| operand.contains("$(") || operand.contains('`')).take(8).collect();
        for operand in inner {
            self.text(&format!(": \"{operand}\"\n"), &Stdin::Nothing, Some(line));
        }
    }

    /// A call of a function of the script with arguments: its body is judged once more with them.
    fn calls(&mut self, unit: &Unit<'_>, list: &[Arg], line: u32) {
        let Some((name, arguments)) = list.split_first() else { return };
        let Some(name) = name.known().filter(|_| !arguments.is_empty()) else { return };
        let Some(function) = unit.script.functions().iter().rfind(|function| function.name == name) else {
            return;
        };
        let body = unit.script.slice(&function.span);
        let uses = acts_on_arguments(unit.script, &name);
        let words: Option<Vec<String>> = arguments.iter().map(Arg::known).collect();
        let Some(words) = words.filter(|_| uses && self.depth < 4 && body.len() < 4_096) else { return };
        let quoted = words
            .iter()
            .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
            .collect::<Vec<_>>()
            .join(" ");
        let inner = body.split_once('{').map_or(body, |(_, rest)| rest).trim_end().trim_end_matches('}');
        // The function itself is there only for calls of itself.
        let own = if inner.contains(&name) || quoted.contains(&name) { body } else { "" };
        let text = format!("{own}\nset -- {quoted}\n{inner}\n");
        if self.called.len() > MAX_CALLS {
            return self.hit((line, &name), Danger::High, "danger/too-much", TOO_MUCH);
        }
        if self.called.insert(text.clone()) {
            self.text(&text, &Stdin::Nothing, Some(line));
        }
    }

    /// Looks for a command in the words of one that is not known, and is no function of the script.
    fn search(&mut self, unit: &Unit<'_>, list: &[Arg], stdin: &Stdin, line: u32) {
        let Some((name, arguments)) = list.split_first() else { return };
        let Some(name) = name.known() else { return };
        if !unit.script.functions().iter().any(|function| function.name == name) {
            let base = name.rsplit('/').next().unwrap_or(&name);
            runners::judge(self, base, arguments, stdin, line);
        }
    }

    /// Judges one argument list.
    fn judge(&mut self, list: &[Arg], stdin: &Stdin, line: u32) {
        if !self.works(line) {
            return;
        }
        let Some((name, arguments)) = list.split_first() else { return };
        if renamed::judge(self, name, arguments, stdin, line) {
            return;
        }
        let Some(name) = self.program(name, line) else { return };
        if wrappers::unwrap(self, &name, arguments, stdin, line) {
            return;
        }
        let own_line = self.line.unwrap_or(line);
        if let Some(seen) = self.seen.as_mut().filter(|seen| seen.len() < 10_000) {
            let words = std::iter::once(name.clone()).chain(arguments.iter().map(Arg::spelled));
            seen.push((own_line, words.collect()));
        }
        let subject = list.iter().map(Arg::spelled).collect::<Vec<_>>().join(" ");
        let texts: Vec<String> = arguments.iter().map(Arg::spelled).collect();
        for class in rules::classes(&name, &texts) {
            self.hit((line, &subject), class.danger, class.rule, &format!("`{name}` {}", class.why));
        }
        renamed::remember(self, &name, arguments);
        self.builds_fetched(&name, &texts, (line, &subject));
        files::judge(self, &name, arguments, stdin, (line, &subject));
        code::judge(self, &name, arguments, stdin, (line, &subject));
        network::judge(self, &name, arguments, (line, &subject));
        self.secrets(&name, arguments, (line, &subject));
    }

    /// The name of the program without its folder; `None` when it was judged already because nobody knows it.
    fn program(&mut self, name: &Arg, line: u32) -> Option<String> {
        let spelled = name.spelled();
        if let Some(known) = name.known() {
            let base = known.rsplit('/').next().unwrap_or(&known).to_owned();
            if base.contains(['*', '?', '[']) {
                self.hit(
                    (line, &known),
                    Danger::High,
                    "danger/hidden-command",
                    "a pattern stands where a command should",
                );
                return None;
            }
            if known.contains('/') {
                self.run_written(&known, selfheal_syntax::Language::Shell, (line, &known));
            }
            if self.was_fetched(&known) {
                self.hit(
                    (line, &known),
                    Danger::High,
                    "danger/fetched-code",
                    "it runs a file that it fetched",
                );
            }
            return Some(base);
        }
        // `"$VENV/bin/python"`: the folder is unknown, the program is not.
        if let Some((_, base)) =
            spelled.rsplit_once('/').filter(|(_, base)| !base.is_empty() && !base.contains('\u{1}'))
        {
            return Some(base.to_owned());
        }
        let (danger, why) = match name.value.pieces.as_slice() {
            [selfheal_syntax::values::Piece::Unknown(unknown)] if unknown.commands.is_none() => {
                match unknown.name.as_deref() {
                    Some("@" | "*") => (Danger::Medium, "it runs its own arguments as a command"),
                    Some(name) if name.starts_with(|c: char| c.is_ascii_digit()) => {
                        (Danger::Medium, "it runs an argument as a command")
                    }
                    _ => (Danger::Medium, "which command it runs is said by a variable from outside"),
                }
            }
            _ => (Danger::High, "which command it runs cannot be known"),
        };
        self.hit((line, &spelled), danger, "danger/hidden-command", why);
        None
    }

    /// Redirections into files.
    fn redirect(&mut self, unit: &Unit<'_>, redirect: &Redirect, line: u32) {
        let Some(target) = &redirect.target else { return };
        if redirect.operator.starts_with("<<") {
            return;
        }
        for value in unit.values.alternatives(target, line) {
            let place = self.places().of(&value);
            let subject = format!("{} {}", redirect.operator, places::spelled(&value.pieces));
            if redirect.writes() {
                let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '-');
                if !digits(&target.text) {
                    files::written(self, place, redirect.operator.contains(">>"), (line, &subject));
                }
            } else if matches!(place, Place::Private)
                || (place == Place::Device && subject.contains("/dev/tcp"))
            {
                self.hit((line, &subject), Danger::High, "danger/secrets", "it reads keys or passwords");
            }
        }
    }

    fn secrets(&mut self, name: &str, arguments: &[Arg], (line, subject): (u32, &str)) {
        const BLIND: &[&str] = &[
            "ls",
            "stat",
            "test",
            "[",
            "mkdir",
            "chmod",
            "chown",
            "du",
            "cd",
            "echo",
            "printf",
            "file",
            "ssh",
            "scp",
            "sftp",
            "git",
            "ssh-keygen",
            "ssh-agent",
            "export",
            "declare",
            "local",
            "readonly",
            "unset",
            "install",
            "touch",
            "ssh-add",
            "realpath",
            "readlink",
            "dirname",
            "basename",
            "rm",
            "find",
            "tree",
        ];
        if BLIND.contains(&name) {
            return;
        }
        if arguments.iter().any(|arg| self.places().of(&arg.value) == Place::Private) {
            self.hit(
                (line, subject),
                Danger::High,
                "danger/secrets",
                &format!("`{name}` touches keys, passwords or what runs by itself"),
            );
        }
    }

    /// Variables that make other programs run something.
    fn assignments(&mut self, unit: &Unit<'_>, command: &Command) {
        for assignment in &command.assignments {
            let line = assignment.line;
            let known = || {
                let value = assignment.value.as_ref()?;
                unit.values.alternatives(value, line).first().and_then(Value::known)
            };
            match assignment.name.as_str() {
                "LD_PRELOAD" | "LD_AUDIT" | "BASH_ENV" | "ENV" | "PYTHONSTARTUP" | "PERL5OPT" | "RUBYOPT"
                | "NODE_OPTIONS" => {
                    let why = format!("`{}` makes every program load something", assignment.name);
                    if known().is_none_or(|text| !text.is_empty()) {
                        self.hit((line, &assignment.name), Danger::High, "danger/injected", &why);
                    }
                }
                "PROMPT_COMMAND" | "PS1" | "PS4" | "GIT_SSH_COMMAND" | "GIT_SSH" | "PAGER" | "GIT_PAGER"
                | "EDITOR" | "VISUAL" | "LESSOPEN" | "MANPAGER" | "GIT_EDITOR" => {
                    if let Some(text) = known() {
                        self.text(&text, &Stdin::Nothing, Some(line));
                    }
                }
                _ => {}
            }
        }
    }

    fn change_folder(&mut self, unit: &Unit<'_>, command: &Command) {
        if !(command.is("cd") || command.is("pushd") || command.is("popd")) {
            return;
        }
        let operand = command.arguments().iter().find(|word| !word.text.starts_with('-') || word.text == "-");
        let value =
            operand.and_then(|word| unit.values.alternatives(word, command.lines.0).into_iter().next_back());
        let named = value.as_ref().map(|value| places::spelled(&value.pieces)).unwrap_or_default();
        self.in_fetched =
            self.is_fetched_folder(&named) || self.in_fetched && !named.starts_with(['/', '.', '-']);
        self.cwd = match (value, command.is("cd")) {
            (Some(value), _) => self.folder(&value),
            (None, true) => Cwd::Unknown,
            (None, false) => Cwd::Unknown,
        };
    }

    fn folder(&self, value: &Value) -> Cwd {
        let text = places::spelled(&value.pieces);
        match self.places().of(value) {
            Place::OwnTemporary => Cwd::OwnTemporary,
            Place::Inside if !text.starts_with('/') => self.cwd.clone(),
            _ if text.starts_with('/') => Cwd::At(selfheal_core::scene::absolute(
                std::path::Path::new("/"),
                std::path::Path::new(&text),
            )),
            _ => Cwd::Unknown,
        }
    }

    /// `> file` and `: > file`: nothing but an emptied file.
    fn emptied(&mut self, unit: &Unit<'_>, command: &Command, line: u32) {
        let nothing = command.words.is_empty()
            || (command.is(":") || command.is("true")) && command.arguments().is_empty();
        let target = command.redirects.iter().find(|r| r.operator == ">").and_then(|r| r.target.as_ref());
        let own = |word: &selfheal_syntax::shell::Word| {
            let mut values = unit.values.alternatives(word, line).into_iter();
            values.all(|value| self.places().of(&value) == Place::OwnTemporary)
        };
        let harmless =
            |word: &selfheal_syntax::shell::Word| !nothing || word.text.starts_with("/dev/") || own(word);
        if let Some(target) = target.filter(|target| !harmless(target)) {
            let subject = format!("> {}", target.text.replace(['"', '\''], ""));
            let outside =
                unit.values.alternatives(target, line).iter().any(|value| {
                    matches!(self.places().of(value), Place::Outside | Place::Home | Place::Above)
                });
            let danger = if outside { Danger::High } else { Danger::Medium };
            self.hit((line, &subject), danger, "danger/overwrite", "it empties a file");
        }
    }

    /// Statements of which nothing in particular is a command: redirections of lone statements, functions as a whole.
    fn whole(&mut self, unit: &Unit<'_>) {
        for command in unit.script.commands().iter().filter(|command| command.kind == CommandKind::Assignment)
        {
            self.emptied(unit, command, command.lines.0);
        }
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

/// Whether a function runs its arguments, or gives them to something that can do harm.
fn acts_on_arguments(script: &Script, name: &str) -> bool {
    const HARMLESS: &[&str] =
        &["echo", "printf", "test", "local", "return", "exit", "logger", "date", "cat", "tee", "shift", "cd"];
    let inside = script.commands().iter().filter(|command| command.context.function.as_deref() == Some(name));
    inside.into_iter().any(|command| {
        let positional = |word: &selfheal_syntax::shell::Word| {
            word.expansions()
                .any(|e| e.name == "@" || e.name == "*" || e.name.starts_with(|c: char| c.is_ascii_digit()))
        };
        command.kind == CommandKind::Simple
            && command.words.iter().any(positional)
            && !HARMLESS.iter().any(|known| command.is(known))
    })
}

/// The plain assignments of a script as text, for what runs in the same shell.
fn assignments_of(unit: &Unit<'_>) -> Vec<(String, String)> {
    let all = unit
        .script
        .assignments()
        .filter(|assignment| !assignment.for_command && assignment.elements.is_none());
    let texts = all.filter_map(|assignment| {
        let value = assignment.value.as_ref().filter(|value| value.text.len() < 512)?;
        Some((assignment.name.clone(), format!("{}={}\n", assignment.name, value.text)))
    });
    texts.take(64).collect()
}
