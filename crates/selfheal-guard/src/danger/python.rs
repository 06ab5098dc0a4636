//! Danger in Python programs: calls that delete, write, run, fetch or send.

mod names;
mod tables;

use std::collections::BTreeMap;

use selfheal_core::admission::Danger::{self, High, Medium};
use selfheal_syntax::python::{Argument, Call, Module};
use selfheal_syntax::tree::{Node, children, descendants};
use selfheal_syntax::values::{Piece, Unknown, Value};

use super::shell::places::{Cwd, Place, Places};
use super::{Operation, shell, sql};
use crate::scope::Roots;
use tables::{ALWAYS, DELETERS, MOVERS, PATH_METHODS, RUNNERS, SERVICE_METHODS, SERVICES};

/// How many operations of one program are listed.
const MAX_OPERATIONS: usize = 2_000;

/// The dangerous operations of a program; `None` when it cannot be judged.
pub fn operations(text: &str, roots: &Roots) -> Option<Vec<Operation>> {
    let module = Module::parse(text).ok()?;
    let mut judge = Judge { names: assigned(&module), module: &module, roots, out: Vec::new() };
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
    roots: &'a Roots,
    out: Vec<Operation>,
}

/// What is assigned to plain names, in order; `+=` included.
fn assigned(module: &Module) -> BTreeMap<String, Vec<Node<'_>>> {
    let mut out: BTreeMap<String, Vec<Node<'_>>> = BTreeMap::new();
    for node in descendants(module.root()) {
        let pair = match node.kind() {
            "assignment" | "augmented_assignment" | "for_statement" => {
                (node.child_by_field_name("left"), node.child_by_field_name("right"))
            }
            "call" => appended(module, node),
            _ => continue,
        };
        // `fd, path = tempfile.mkstemp()`: every name is worth what the call gives.
        if let (Some(left), Some(right)) = pair
            && left.kind() == "pattern_list"
            && right.kind() == "call"
        {
            for name in children(left).into_iter().filter(Node::is_named) {
                out.entry(module.text_of(name).to_owned()).or_default().push(right);
            }
        }
        if let (Some(left), Some(right)) = pair {
            out.entry(module.text_of(left).to_owned()).or_default().push(right);
        }
    }
    out
}

/// `words.append(x)`, `words.extend(xs)`: the list and what it gets.
fn appended<'a>(module: &'a Module, call: Node<'a>) -> (Option<Node<'a>>, Option<Node<'a>>) {
    let function = call.child_by_field_name("function");
    let method = function.and_then(|function| function.child_by_field_name("attribute"));
    if !method.is_some_and(|method| matches!(module.text_of(method), "append" | "extend" | "appendleft")) {
        return (None, None);
    }
    let object = function.and_then(|function| function.child_by_field_name("object"));
    (object, call.child_by_field_name("arguments").and_then(|list| list.named_child(0)))
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

    /// What an expression is worth, as far as the text says so.
    fn worth(&self, node: Node<'a>, depth: u32) -> Value {
        let unknown = |name: &str| Value {
            pieces: vec![Piece::Unknown(Unknown { name: Some(name.to_owned()), ..Unknown::default() })],
        };
        if depth > 12 {
            return unknown("?");
        }
        if let Some(text) = self.module.string(node) {
            return Value::text(&text);
        }
        match node.kind() {
            "identifier" => {
                let name = self.module.text_of(node);
                let before = |right: &&&Node<'a>| right.start_byte() < node.start_byte();
                let all = self.names.get(name).map(Vec::as_slice).unwrap_or_default();
                let all: Vec<&Node<'a>> = all.iter().filter(|right| before(&right)).collect();
                let added = |right: &&&Node<'a>| {
                    right.parent().is_some_and(|parent| parent.kind() == "augmented_assignment")
                };
                let more = all.iter().rev().take_while(added).take(8).count();
                let Some(first) = all.len().checked_sub(more + 1).and_then(|at| all.get(at)) else {
                    return all.last().map_or_else(|| unknown(name), |right| self.worth(**right, depth + 1));
                };
                // `x += y` behind `x = …`.
                let mut value = self.worth(**first, depth + 1);
                for right in all.iter().skip(all.len() - more) {
                    value.pieces.extend(self.worth(**right, depth + 1).pieces);
                }
                merged(value)
            }
            "parenthesized_expression" | "await" => {
                node.named_child(0).map_or_else(|| unknown("?"), |inner| self.worth(inner, depth + 1))
            }
            "binary_operator" => {
                let operator =
                    node.child_by_field_name("operator").map_or("", |operator| self.module.text_of(operator));
                let sides = node.child_by_field_name("left").zip(node.child_by_field_name("right"));
                match (operator, sides) {
                    ("+" | "/", Some((left, right))) => {
                        let mut value = self.worth(left, depth + 1);
                        if operator == "/" {
                            value.pieces.push(Piece::Text("/".to_owned()));
                        }
                        value.pieces.extend(self.worth(right, depth + 1).pieces);
                        merged(value)
                    }
                    _ => unknown("?"),
                }
            }
            "string" | "concatenated_string" => self.interpolated(node, depth),
            "call" if is_home(self.module.text_of(node)) => unknown("HOME"),
            "call" => self.result(node, depth),
            "subscript" if is_home(self.module.text_of(node)) => unknown("HOME"),
            "attribute" | "subscript" => unknown(self.module.text_of(node)),
            _ => unknown("?"),
        }
    }

    fn interpolated(&self, node: Node<'a>, depth: u32) -> Value {
        let mut value = Value::default();
        for child in children(node) {
            match child.kind() {
                "string_content" => value.pieces.push(Piece::Text(self.module.text_of(child).to_owned())),
                "interpolation" => {
                    if let Some(inner) = child.named_child(0) {
                        value.pieces.extend(self.worth(inner, depth + 1).pieces);
                    }
                }
                _ => {}
            }
        }
        merged(value)
    }

    fn result(&self, node: Node<'a>, depth: u32) -> Value {
        let function =
            node.child_by_field_name("function").map_or("", |function| self.module.text_of(function));
        let arguments: Vec<Node<'a>> = node
            .child_by_field_name("arguments")
            .map(|list| children(list).into_iter().filter(Node::is_named).collect())
            .unwrap_or_default();
        let temporary = || Value {
            pieces: vec![Piece::Unknown(Unknown {
                commands: Some("mktemp".to_owned()),
                nonempty: true,
                ..Unknown::default()
            })],
        };
        let last = function.rsplit('.').next().unwrap_or(function);
        match last {
            "mkdtemp" | "mkstemp" | "TemporaryDirectory" | "NamedTemporaryFile" | "gettempdir" => temporary(),
            "expanduser" | "home" => match arguments
                .first()
                .map(|node| self.worth(*node, depth + 1))
                .and_then(|value| value.known())
            {
                Some(text) if text.starts_with('~') => {
                    let rest = text.trim_start_matches('~').to_owned();
                    Value {
                        pieces: vec![
                            Piece::Unknown(Unknown { name: Some("HOME".to_owned()), ..Unknown::default() }),
                            Piece::Text(rest),
                        ],
                    }
                }
                Some(text) => Value::text(&text),
                None => Value {
                    pieces: vec![Piece::Unknown(Unknown {
                        name: Some("HOME".to_owned()),
                        ..Unknown::default()
                    })],
                },
            },
            "join" | "Path" | "PurePath" | "abspath" | "realpath" | "str" | "format" | "fspath"
            | "normpath" => {
                let mut value = Value::default();
                for (at, argument) in arguments.iter().enumerate() {
                    if at > 0 {
                        value.pieces.push(Piece::Text("/".to_owned()));
                    }
                    value.pieces.extend(self.worth(*argument, depth + 1).pieces);
                }
                merged(value)
            }
            "glob" | "rglob" | "iterdir" | "joinpath" | "with_name" | "resolve" | "absolute"
                if !function.starts_with("glob.")
                    && !function.starts_with("os.")
                    && function.contains('.') =>
            {
                let object =
                    node.child_by_field_name("function").and_then(|f| f.child_by_field_name("object"));
                let mut value =
                    object.map_or_else(|| Value::text("."), |object| self.worth(object, depth + 1));
                value.pieces.push(Piece::Text("/".to_owned()));
                for argument in &arguments {
                    value.pieces.extend(self.worth(*argument, depth + 1).pieces);
                }
                merged(value)
            }
            "glob" | "iglob" | "rglob" | "listdir" | "scandir" | "iterdir" => {
                let mut value = arguments
                    .first()
                    .map_or_else(|| Value::text("."), |argument| self.worth(*argument, depth + 1));
                value.pieces.push(Piece::Glob("*".to_owned()));
                value
            }
            _ => Value {
                pieces: vec![Piece::Unknown(Unknown {
                    commands: Some(function.to_owned()),
                    ..Unknown::default()
                })],
            },
        }
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
        let has = |name: &str| self.module.imports().iter().any(|import| import.module == name);
        let method = call.callee.rsplit('.').next().unwrap_or_default();
        if has("psutil")
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
        let program = call.resolved.strip_prefix("sh.").filter(|_| has("sh"));
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

    /// The items of a list of literals that a loop gives to a name.
    fn items(&self, argument: &Argument) -> Vec<String> {
        let Some(all) = self.names.get(&argument.text) else { return Vec::new() };
        let lists = all.iter().filter(|right| matches!(right.kind(), "tuple" | "list"));
        lists.filter_map(|right| self.list(*right, 0)).flatten().take(32).collect()
    }

    fn deletes(&mut self, line: u32, place: Place, tree: bool, subject: &str) {
        let danger = match place {
            Place::OwnTemporary | Place::Nothing => return,
            Place::Inside | Place::Temporary | Place::Guarded | Place::Unknown => Medium,
            Place::PerhapsTop => {
                if tree {
                    High
                } else {
                    Medium
                }
            }
            _ => High,
        };
        self.hit((line, subject), danger, "danger/delete", "it deletes files");
    }

    fn moves(&mut self, call: &Call, subject: &str) {
        let which = if call.resolved.starts_with("os.ch")
            || call.resolved.contains("mk")
            || call.resolved == "shutil.chown"
        {
            call.arguments.first()
        } else {
            call.arguments.get(1)
        };
        let value = which.map(|argument| self.value(argument)).unwrap_or_default();
        let place = self.place(&value);
        let taken = matches!(call.resolved.as_str(), "shutil.move" | "os.rename" | "os.replace")
            && call.arguments.first().is_some_and(|source| {
                matches!(
                    self.place(&self.value(source)),
                    Place::System | Place::Private | Place::Home | Place::Top
                )
            });
        if taken
            || matches!(
                place,
                Place::System | Place::Device | Place::Private | Place::Top | Place::Home | Place::Above
            )
        {
            self.hit(
                (call.line, subject),
                High,
                "danger/write",
                "it changes files outside of the job's folder",
            );
        } else if place == Place::Outside
            || matches!(call.resolved.as_str(), "os.replace" | "os.rename" | "shutil.move")
        {
            self.hit((call.line, subject), Medium, "danger/overwrite", "it moves or overwrites files");
        }
        let special = call.resolved == "os.chmod"
            && call.arguments.get(1).is_some_and(|bits| {
                ["0o4", "0o2", "0o6", "S_ISUID", "S_ISGID"].iter().any(|mark| {
                    bits.text.contains(mark) && (bits.text.len() > 5 || bits.text.contains("S_IS"))
                })
            });
        if special {
            self.hit((call.line, subject), High, "danger/mode", "it sets a set-uid or set-gid bit");
        }
    }

    fn opens(&mut self, call: &Call, subject: &str) {
        let Some(file) = call.arguments.first() else { return };
        let mode = call
            .arguments
            .get(1)
            .or_else(|| call.keyword("mode"))
            .map(|mode| mode.text.clone())
            .unwrap_or_default();
        let value = if call.resolved == "open"
            || call.resolved.starts_with("io.")
            || call.resolved.starts_with("os.")
        {
            self.value(file)
        } else {
            return;
        };
        let writes = mode.contains(['w', 'a', 'x', '+'])
            || mode.contains("O_WR")
            || mode.contains("O_RDWR")
            || mode.contains("O_TRUNC");
        let place = self.place(&value);
        if place == Place::Private {
            self.hit(
                (call.line, subject),
                High,
                "danger/secrets",
                "it touches keys, passwords or what runs by itself",
            );
        } else if writes
            && matches!(place, Place::System | Place::Device | Place::Top | Place::Home | Place::Above)
        {
            self.hit(
                (call.line, subject),
                High,
                "danger/write",
                "it writes to a file of the system or of a person",
            );
        } else if writes && place == Place::Outside {
            self.hit((call.line, subject), Medium, "danger/write", "it writes outside of the job's folder");
        }
    }

    fn runs(&mut self, call: &Call, subject: &str) {
        let Some(first) = call.arguments.first() else { return };
        let Some(node) = self.node_at(first) else { return };
        let words = self.list(node, 0);
        let line = match words {
            Some(words) => words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "),
            None => {
                let value = self.value(first);
                match value.known() {
                    Some(text)
                        if call
                            .arguments
                            .get(1)
                            .and_then(|second| self.node_at(second))
                            .is_some_and(|second| second.kind() == "list") =>
                    {
                        let second = call.arguments.get(1).and_then(|second| self.node_at(second));
                        let words = second.and_then(|second| self.list(second, 0)).unwrap_or_default();
                        let words = words.iter().skip(1).map(|word| shell_word(word)).collect::<Vec<_>>();
                        format!("{text} {}", words.join(" "))
                    }
                    Some(text)
                        if call.arguments.len() > 1
                            && (call.resolved.contains("exec") || call.resolved.contains("spawn")) =>
                    {
                        let rest: Vec<String> = call
                            .arguments
                            .iter()
                            .skip(1)
                            .filter_map(|argument| argument.string.clone())
                            .collect();
                        format!(
                            "{text} {}",
                            rest.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
                        )
                    }
                    Some(text) => text,
                    None if value.pieces.iter().any(|piece| matches!(piece, Piece::Text(_))) => {
                        let put = |piece: &Piece| match piece {
                            Piece::Text(text) | Piece::Glob(text) => text.clone(),
                            Piece::Unknown(_) => "\"$UNKNOWN\"".to_owned(),
                        };
                        value.pieces.iter().map(put).collect()
                    }
                    None => {
                        let decodes = ["b64decode", "fromhex", "decompress", "unhexlify", "decode(", "chr("]
                            .iter()
                            .any(|word| first.text.contains(word));
                        return self.hit(
                            (call.line, subject),
                            if decodes { High } else { Medium },
                            "danger/hidden-command",
                            "which command it runs cannot be known",
                        );
                    }
                }
            }
        };
        for found in shell::operations(&line, self.roots).unwrap_or_default() {
            self.hit((call.line, &found.subject), found.danger, &found.rule, &found.why);
        }
    }

    /// The words of a list, through names and `+`.
    fn list(&self, node: Node<'a>, depth: u32) -> Option<Vec<String>> {
        match node.kind() {
            "list" | "tuple" => {
                let all = children(node).into_iter().filter(Node::is_named);
                Some(
                    all.map(|item| self.worth(item, 0).known().unwrap_or_else(|| "$UNKNOWN".to_owned()))
                        .collect(),
                )
            }
            "identifier" if depth < 8 => {
                let all = self.names.get(self.module.text_of(node))?;
                let mut out = Vec::new();
                for right in all.iter().filter(|right| right.start_byte() < node.start_byte()) {
                    out.extend(self.list(*right, depth + 1)?);
                }
                Some(out)
            }
            "binary_operator" if depth < 8 => {
                let mut out = self.list(node.child_by_field_name("left")?, depth + 1)?;
                out.extend(self.list(node.child_by_field_name("right")?, depth + 1)?);
                Some(out)
            }
            // What was appended is one word.
            _ if node.parent().is_some_and(|parent| parent.kind() == "argument_list") && depth > 0 => {
                Some(vec![self.worth(node, 0).known().unwrap_or_else(|| "$UNKNOWN".to_owned())])
            }
            _ => None,
        }
    }

    fn by_method(&mut self, call: &Call, subject: &str) {
        let Some((object, method)) = call.callee.rsplit_once('.') else { return };
        if let Some((_, deletes)) = PATH_METHODS.iter().find(|(own, _)| *own == method) {
            self.path_method(call, *deletes, subject);
        }
        let services = self
            .module
            .imports()
            .iter()
            .any(|import| SERVICES.iter().any(|service| import.module.starts_with(service)));
        let destroys = ["delete_", "terminate_", "drop_", "purge_", "destroy_"]
            .iter()
            .any(|verb| method.starts_with(verb));
        if services && (SERVICE_METHODS.contains(&method) || destroys) && !object.ends_with("os") {
            self.hit((call.line, subject), High, "danger/service-data", "it destroys data in a service");
        }
        if matches!(method, "execute" | "executescript" | "executemany" | "exec_driver_sql") {
            let local = self
                .module
                .imports()
                .iter()
                .any(|import| import.module == "sqlite3" || import.module == "duckdb");
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
        let remote = ["fabric", "paramiko", "invoke", "asyncssh", "spur", "plumbum"];
        let connects = self
            .module
            .imports()
            .iter()
            .any(|import| remote.iter().any(|name| import.module.starts_with(name)));
        if connects && matches!(method, "run" | "sudo" | "exec_command" | "local" | "execute") {
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

    fn path_method(&mut self, call: &Call, deletes: bool, subject: &str) {
        let Some(node) = self.module.root().descendant_for_byte_range(call.span.start, call.span.end) else {
            return;
        };
        let Some(object) =
            node.child_by_field_name("function").and_then(|function| function.child_by_field_name("object"))
        else {
            return;
        };
        if self.module.text_of(object) == "os" || self.module.text_of(object) == "shutil" {
            return;
        }
        let value = self.worth(object, 0);
        let known = matches!(value.pieces.first(), Some(Piece::Text(_)))
            || matches!(value.pieces.first(), Some(Piece::Unknown(unknown)) if unknown.name.as_deref() == Some("HOME"));
        let place = self.place(&value);
        if !known {
            return;
        }
        if deletes {
            self.deletes(call.line, place, false, subject);
        } else if matches!(
            place,
            Place::System | Place::Device | Place::Private | Place::Top | Place::Home | Place::Above
        ) {
            self.hit(
                (call.line, subject),
                High,
                "danger/write",
                "it writes to a file of the system or of a person",
            );
        }
    }

    /// Names that are put together, so that nobody sees what is called.
    fn hidden(&mut self, call: &Call, subject: &str) {
        let computed = |at: usize| call.arguments.get(at).is_some_and(|argument| argument.string.is_none());
        let dynamic = match call.resolved.as_str() {
            "getattr" => {
                computed(1)
                    && call.arguments.first().is_some_and(|object| {
                        ["os", "sys", "shutil", "subprocess", "builtins", "__builtins__"]
                            .contains(&object.text.as_str())
                    })
            }
            "importlib.import_module" => {
                computed(0) && call.arguments.first().is_some_and(|argument| argument.text.contains('+'))
            }
            _ => {
                call.callee.contains("__builtins__")
                    || call.callee.contains("globals()")
                    || call.callee.contains("__subclasses__")
            }
        };
        if dynamic {
            self.hit(
                (call.line, subject),
                High,
                "danger/hidden-command",
                "what it calls is put together from parts",
            );
        }
    }

    /// Texts that are given to a shell on its standard input: `communicate("…")`, `input="…"`.
    fn fed(&mut self) {
        let shells = [
            "\"bash\"",
            "\"sh\"",
            "'bash'",
            "'sh'",
            "\"/bin/sh\"",
            "\"/bin/bash\"",
            "'/bin/sh'",
            "'/bin/bash'",
        ];
        if !shells.iter().any(|shell| self.module.text().contains(shell)) {
            return;
        }
        for call in self.module.calls() {
            let last = call.callee.rsplit('.').next().unwrap_or_default();
            let argument = match last {
                "communicate" | "write" => call.arguments.first().or_else(|| call.keyword("input")),
                _ => call.keyword("input"),
            };
            let text = argument
                .and_then(|argument| argument.string.clone().or_else(|| self.value(argument).known()));
            for found in text.and_then(|text| shell::operations(&text, self.roots)).unwrap_or_default() {
                self.hit((call.line, &found.subject), found.danger, &found.rule, &found.why);
            }
        }
    }

    /// Whatever is found below a folder outside is deleted, opened up or signalled.
    fn walked(&mut self) {
        let walks = ["os.walk", "os.listdir", "os.scandir", "glob.glob", "glob.iglob"];
        let outside = self.module.calls().into_iter().find(|call| {
            let walks = walks.contains(&call.resolved.as_str())
                || matches!(call.callee.rsplit('.').next(), Some("rglob" | "iterdir"));
            let first = call.arguments.first().filter(|_| walks);
            first.is_some_and(|first| {
                let place = self.place(&self.value(first));
                matches!(place, Place::Outside | Place::System | Place::Home | Place::Top | Place::Above)
            })
        });
        let Some(outside) = outside else { return };
        let proc = outside.arguments.first().is_some_and(|first| first.text.contains("/proc"));
        let changes = [
            "os.remove",
            "os.unlink",
            "os.rmdir",
            "shutil.rmtree",
            "os.chmod",
            "os.chown",
            "os.rename",
            "os.truncate",
        ];
        let methods = ["unlink", "rmdir", "chmod", "write_text"];
        for call in self.module.calls() {
            let method = call.callee.rsplit('.').next().unwrap_or_default();
            let changed = changes.contains(&call.resolved.as_str()) || methods.contains(&method);
            if changed || proc && call.resolved == "os.kill" {
                let why = "it changes or signals whatever it finds outside of the job's folder";
                self.hit((call.line, &call.callee), High, "danger/delete", why);
            }
        }
    }

    /// The environment as a whole given away, and processes started without end.
    fn loops(&mut self) {
        let sends = self.module.imports().iter().any(|import| {
            ["requests", "urllib.request", "http.client", "httpx", "socket", "aiohttp"]
                .contains(&import.module.as_str())
        });
        if sends && self.module.text().contains("os.environ)") {
            self.hit((1, "os.environ"), High, "danger/sends", "it gives the whole environment away");
        }
    }
}

/// Ways to ask for somebody's home in the environment.
fn is_home(text: &str) -> bool {
    ["os.environ[", "os.getenv(", "os.environ.get(", "environ[", "getenv("]
        .iter()
        .filter_map(|ask| text.strip_prefix(ask))
        .any(|rest| matches!(rest.trim_start_matches(['"', '\'']).get(..5), Some("HOME\"" | "HOME'")))
}

fn merged(value: Value) -> Value {
    let mut out: Vec<Piece> = Vec::new();
    for piece in value.pieces {
        match (out.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(more)) if last.len() + more.len() < 16_384 => {
                last.push_str(&more)
            }
            (_, piece) => out.push(piece),
        }
    }
    Value { pieces: out }
}

/// A word for a shell line: quoted unless it is plain.
fn shell_word(word: &str) -> String {
    let plain = word.chars().all(|c| c.is_alphanumeric() || "/._-=+:@,$".contains(c));
    if plain && !word.is_empty() { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
