//! Danger in Python programs: calls that delete, write, run, fetch or send.

mod files;
mod names;
mod runs;
mod tables;
mod worth;

use std::collections::{BTreeMap, BTreeSet};

use selfheal_core::admission::Danger::{self, High, Medium};
use selfheal_syntax::python::{Argument, Call, Module};
use selfheal_syntax::tree::Node;
use selfheal_syntax::values::Value;

use super::shell::places::{Cwd, Place, Places};
use super::{Operation, shell, sql};
use crate::scope::Roots;
use runs::shell_word;
use tables::{ALWAYS, DELETERS, MOVERS, PATH_METHODS, RUNNERS, SERVICE_METHODS, SERVICES};
use worth::assigned;

/// Modules whose calls run commands on other machines, or look as if they did.
const REMOTE: &[&str] = &["fabric", "paramiko", "invoke", "asyncssh", "spur", "plumbum"];

/// How many operations of one program are listed.
const MAX_OPERATIONS: usize = 2_000;

/// The dangerous operations of a program; `None` when it cannot be judged.
pub fn operations(text: &str, roots: &Roots) -> Option<Vec<Operation>> {
    let module = Module::parse(text).ok()?;
    let modules = module.imports().into_iter().map(|import| import.module).collect();
    let mut judge = Judge { names: assigned(&module), module: &module, modules, roots, out: Vec::new() };
    for call in module.calls() {
        judge.call(&call);
    }
    judge.loops();
    judge.fed();
    judge.walked();
    Some(judge.out)
}

struct Judge<'a> {
    module: &'a Module,
    names: BTreeMap<String, Vec<Node<'a>>>,
    /// The modules that it imports: asked for every call, so looked up once.
    modules: BTreeSet<String>,
    roots: &'a Roots,
    out: Vec<Operation>,
}

impl<'a> Judge<'a> {
    fn hit(&mut self, (line, subject): (u32, &str), danger: Danger, rule: &str, why: &str) {
        let (danger, rule, why) = match self.out.len() {
            // What comes behind is not listed, so the whole counts as if it held the worst.
            MAX_OPERATIONS => (Danger::High, "danger/too-much", "there is too much to be judged"),
            _ => (danger, rule, why),
        };
        if self.out.len() <= MAX_OPERATIONS {
            let subject = subject.chars().take(160).collect();
            self.out.push(Operation { line, danger, rule: rule.to_owned(), why: why.to_owned(), subject });
        }
    }

    fn node_at(&self, argument: &Argument) -> Option<Node<'a>> {
        self.module.root().descendant_for_byte_range(argument.span.start, argument.span.end)
    }

    fn value(&self, argument: &Argument) -> Value {
        self.node_at(argument).map_or_else(Value::default, |node| self.worth(node, 0))
    }

    fn place(&self, value: &Value) -> Place {
        Places { roots: self.roots, cwd: &Cwd::Own }.of(value)
    }

    fn call(&mut self, call: &Call) {
        if let Some(resolved) = names::proper(self.module, &self.names, &call.resolved) {
            self.call(&Call { callee: resolved.clone(), resolved, ..call.clone() });
        }
        self.by_module(call);
        let subject = format!(
            "{}({})",
            call.resolved,
            call.arguments.iter().map(|a| a.text.as_str()).collect::<Vec<_>>().join(", ")
        );
        let name = call.resolved.as_str();
        if let Some((_, tree)) = DELETERS.iter().find(|(own, _)| *own == name) {
            let value = call.arguments.first().map(|argument| self.value(argument)).unwrap_or_default();
            self.deletes(call.line, self.place(&value), *tree, &subject);
            for word in call.arguments.first().map(|argument| self.items(argument)).unwrap_or_default() {
                self.deletes(call.line, self.place(&Value::text(&word)), *tree, &subject);
            }
        }
        if MOVERS.contains(&name) {
            self.moves(call, &subject);
        }
        if RUNNERS.contains(&name) {
            self.runs(call, &subject);
        }
        if name == "open" || name.ends_with(".open") && name != "webbrowser.open" {
            self.opens(call, &subject);
        }
        if let Some((_, rule, why)) = ALWAYS.iter().find(|(own, _, _)| *own == name) {
            self.hit((call.line, &subject), High, rule, why);
        }
        self.by_method(call, &subject);
        self.hidden(call, &subject);
    }

    /// Calls that count by the module that they come from.
    fn by_module(&mut self, call: &Call) {
        let (has_psutil, has_sh) = (self.modules.contains("psutil"), self.modules.contains("sh"));
        let method = call.callee.rsplit('.').next().unwrap_or_default();
        if has_psutil
            && matches!(method, "kill" | "terminate" | "suspend" | "send_signal")
            && call.callee.contains('.')
        {
            self.hit(
                (call.line, &call.callee),
                High,
                "danger/signals",
                "it signals processes that may not be its own",
            );
        }
        // `sh.rm("-rf", "x")`: every attribute of that module is a program.
        let program = call.resolved.strip_prefix("sh.").filter(|_| has_sh);
        if let Some(program) = program {
            let words = call.arguments.iter().map(|argument| self.value(argument).known());
            let words =
                words.map(|word| word.map_or_else(|| "\"$UNKNOWN\"".to_owned(), |word| shell_word(&word)));
            let line = std::iter::once(program.to_owned()).chain(words).collect::<Vec<_>>().join(" ");
            for found in shell::operations(&line, self.roots).unwrap_or_default() {
                self.hit((call.line, &found.subject), found.danger, &found.rule, &found.why);
            }
        }
    }

    /// Whether it imports a module whose name begins with one of these.
    fn imports_below(&self, names: &[&str]) -> bool {
        names.iter().any(|name| {
            self.modules.range((*name).to_owned()..).next().is_some_and(|module| module.starts_with(name))
        })
    }

    fn by_method(&mut self, call: &Call, subject: &str) {
        let Some((object, method)) = call.callee.rsplit_once('.') else { return };
        if let Some((_, deletes)) = PATH_METHODS.iter().find(|(own, _)| *own == method) {
            self.path_method(call, *deletes, subject);
        }
        let services = || self.imports_below(SERVICES);
        let destroys = ["delete_", "terminate_", "drop_", "purge_", "destroy_"]
            .iter()
            .any(|verb| method.starts_with(verb));
        if (SERVICE_METHODS.contains(&method) || destroys) && !object.ends_with("os") && services() {
            self.hit((call.line, subject), High, "danger/service-data", "it destroys data in a service");
        }
        if matches!(method, "execute" | "executescript" | "executemany" | "exec_driver_sql") {
            let local = self.modules.contains("sqlite3") || self.modules.contains("duckdb");
            for found in call
                .arguments
                .first()
                .map(|argument| self.value(argument))
                .and_then(|value| value.known())
                .iter()
                .flat_map(|text| sql::operations(text))
            {
                self.hit(
                    (call.line, &found.subject),
                    if local { Medium } else { found.danger },
                    "danger/database",
                    &found.why,
                );
            }
        }
        if matches!(method, "run" | "sudo" | "exec_command" | "local" | "execute")
            && self.imports_below(REMOTE)
        {
            let text = call.arguments.first().and_then(|argument| self.value(argument).known());
            for found in text.and_then(|text| shell::operations(&text, self.roots)).unwrap_or_default() {
                self.hit((call.line, &found.subject), High, &found.rule, &found.why);
            }
        }
        if call.resolved == "os.kill" {
            let own = call
                .arguments
                .first()
                .is_some_and(|pid| pid.text.contains("getpid") || pid.text.contains(".pid"));
            let pid = call.arguments.first().map(|pid| pid.text.replace(' ', "")).unwrap_or_default();
            if !own && pid.trim_start_matches('-').parse::<i64>().is_ok() {
                self.hit(
                    (call.line, subject),
                    High,
                    "danger/signals",
                    "it signals processes that are not its own",
                );
            }
        }
        if matches!(
            method,
            "post"
                | "put"
                | "patch"
                | "request"
                | "urlopen"
                | "sendall"
                | "send_message"
                | "upload_file"
                | "put_object"
        ) && (call.keyword("json").is_some()
            || call.keyword("data").is_some()
            || call.keyword("files").is_some())
        {
            self.hit((call.line, subject), High, "danger/sends", "it sends data to another host");
        }
    }

    /// The environment as a whole given away, and processes started without end.
    fn loops(&mut self) {
        let sends = ["requests", "urllib.request", "http.client", "httpx", "socket", "aiohttp"]
            .iter()
            .any(|name| self.modules.contains(*name));
        if sends && self.module.text().contains("os.environ)") {
            self.hit((1, "os.environ"), High, "danger/sends", "it gives the whole environment away");
        }
    }
}
