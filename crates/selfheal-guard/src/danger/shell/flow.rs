//! What flows into commands: pipelines, here-documents, redirections, and files that were fetched.

use std::cell::OnceCell;

use selfheal_syntax::shell::{Command, Redirect, Script, Statement, StatementKind};
use selfheal_syntax::values::{Value, Values};

use super::argv::{self, Arg};
use super::places::Place;
use super::{Stdin, Unit, Walk, code};
use crate::scope::Roots;

impl Walk<'_> {
    /// Remembers the files that fetched data is written to.
    pub(super) fn fetch_into(&mut self, command: &Command) {
        let files = command.redirects.iter().filter(|redirect| redirect.writes());
        let files = files
            .filter_map(|redirect| redirect.target.as_ref())
            .chain(command.arguments().iter().filter(|_| command.is("tee")));
        let names: Vec<String> =
            files.filter_map(|word| word.literal()).filter(|name| !name.starts_with("/dev/")).collect();
        self.remember_address(
            &command.arguments().iter().filter_map(|word| word.literal()).collect::<Vec<_>>(),
        );
        for name in names.into_iter().take(16) {
            self.fetched.push(format!("./{name}"));
            self.fetched.push(name);
        }
    }

    /// What a statement writes to its standard output, where that follows from the text.
    pub(super) fn output(&self, unit: &Unit<'_>, statement: &Statement, stdin: &Stdin) -> Stdin {
        let StatementKind::Command(index) = statement.kind else { return Stdin::Opaque };
        let Some(command) = unit.script.commands().get(index) else { return Stdin::Opaque };
        self.output_of(unit, command, index, stdin)
    }

    pub(super) fn output_of(&self, unit: &Unit<'_>, command: &Command, index: usize, stdin: &Stdin) -> Stdin {
        let lists = argv::lists(command, &unit.values);
        let Some((name, arguments)) = lists.first().and_then(|list| list.split_first()) else {
            return Stdin::Opaque;
        };
        let texts: Option<Vec<String>> = arguments.iter().map(Arg::known).collect();
        match (name.known().as_deref(), texts) {
            (Some("echo"), Some(texts)) => Stdin::Text(code::echoed(&texts)),
            (Some("printf"), Some(texts)) => Stdin::Text(code::printed(&texts)),
            (Some("cat"), Some(texts)) if texts.is_empty() => self
                .heredoc(unit, index)
                .or_else(|| self.redirected_stdin(unit, &command.redirects, &empty(command)))
                .unwrap_or_else(|| stdin.clone()),
            (Some("cat"), _) if arguments.iter().all(|arg| self.places().of(&arg.value) == Place::Inside) => {
                Stdin::Nothing
            }
            (Some("find" | "ls" | "fd"), _) => {
                let first = arguments.first().map_or(Place::Inside, |arg| self.places().of(&arg.value));
                Stdin::Names(if first == Place::Nothing { Place::Inside } else { first })
            }
            (Some("grep" | "sort" | "head" | "tail" | "uniq" | "sed" | "awk" | "tr"), _)
                if matches!(stdin, Stdin::Names(_)) =>
            {
                stdin.clone()
            }
            _ => Stdin::Opaque,
        }
    }

    pub(super) fn heredoc(&self, unit: &Unit<'_>, index: usize) -> Option<Stdin> {
        let found = unit.script.heredocs().iter().rfind(|doc| doc.command == Some(index))?;
        Some(Stdin::Text(found.body.clone()))
    }

    /// What `<`, `<<<` and here-documents give.
    pub(super) fn redirected_stdin(
        &self,
        unit: &Unit<'_>,
        redirects: &[Redirect],
        statement: &Statement,
    ) -> Option<Stdin> {
        let index = if let StatementKind::Command(index) = statement.kind { Some(index) } else { None };
        let last = redirects
            .iter()
            .rfind(|redirect| redirect.operator.starts_with('<') && redirect.descriptor.is_none())?;
        let target = last.target.as_ref()?;
        match last.operator.as_str() {
            "<<<" => {
                let line = unit.script.lines().line_of(target.span.start);
                let known = unit.values.alternatives(target, line).first().and_then(Value::known);
                Some(known.map_or(Stdin::Opaque, Stdin::Text))
            }
            "<<" | "<<-" => {
                let inside = unit
                    .script
                    .heredocs()
                    .iter()
                    .find(|doc| doc.command == index || doc.span.start > last.span.start);
                inside.map(|doc| Stdin::Text(doc.body.clone()))
            }
            "<" => Some(match target.parts.first() {
                Some(selfheal_syntax::shell::Part::Process { text }) => process_output(text),
                _ => Stdin::File,
            }),
            _ => None,
        }
    }
}

/// Whether a command gets data from the network.
pub(super) fn fetches(command: &Command) -> bool {
    ["curl", "wget", "aria2c", "fetch", "lwp-request", "http"].iter().any(|name| command.is(name))
}

/// A statement without redirections, to ask for those of a command.
pub(super) fn empty(command: &Command) -> Statement {
    Statement {
        kind: StatementKind::Unparsed,
        span: command.span.clone(),
        lines: command.lines,
        redirects: Vec::new(),
        background: false,
    }
}

/// What the commands of `<(…)` write.
pub(super) fn process_output(text: &str) -> Stdin {
    let Ok(script) = Script::parse(text) else { return Stdin::Opaque };
    let roots = Roots::default();
    let walk = Walk::new(&roots);
    let unit = Unit { values: Values::in_any_environment(&script), script: &script, index: OnceCell::new() };
    match script.body() {
        [only] => walk.output(&unit, only, &Stdin::Nothing),
        _ => Stdin::Opaque,
    }
}
