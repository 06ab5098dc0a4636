//! What expressions of a Python program are worth: names, joins, interpolation and the calls that make paths.

use std::collections::BTreeMap;

use selfheal_syntax::python::{Argument, Module};
use selfheal_syntax::tree::{Node, children, descendants};
use selfheal_syntax::values::{Piece, Unknown, Value};

use super::Judge;

/// What is assigned to plain names, in order; `+=` included.
pub(super) fn assigned(module: &Module) -> BTreeMap<String, Vec<Node<'_>>> {
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
pub(super) fn appended<'a>(module: &'a Module, call: Node<'a>) -> (Option<Node<'a>>, Option<Node<'a>>) {
    let function = call.child_by_field_name("function");
    let method = function.and_then(|function| function.child_by_field_name("attribute"));
    if !method.is_some_and(|method| matches!(module.text_of(method), "append" | "extend" | "appendleft")) {
        return (None, None);
    }
    let object = function.and_then(|function| function.child_by_field_name("object"));
    (object, call.child_by_field_name("arguments").and_then(|list| list.named_child(0)))
}

impl<'a> Judge<'a> {
    /// What an expression is worth, as far as the text says so.
    pub(super) fn worth(&self, node: Node<'a>, depth: u32) -> Value {
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
                    // `"rm -rf %s" % place`
                    ("%", Some((left, right))) => match self.worth(left, depth + 1).known() {
                        Some(format) => {
                            let given: Vec<Node<'a>> = match right.kind() {
                                "tuple" => children(right).into_iter().filter(Node::is_named).collect(),
                                _ => vec![right],
                            };
                            let given = given.into_iter().map(|node| self.worth(node, depth + 1));
                            filled(&pieces_of(&format, '%'), &given.collect::<Vec<_>>())
                        }
                        None => unknown("?"),
                    },
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

    pub(super) fn interpolated(&self, node: Node<'a>, depth: u32) -> Value {
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

    pub(super) fn result(&self, node: Node<'a>, depth: u32) -> Value {
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
            // `text("DROP …")` and `sql.SQL("DROP …")` are the statement, `"…".strip()` is about the text.
            "text" | "SQL" | "dedent" if arguments.len() == 1 => {
                arguments.first().map_or_else(Value::default, |node| self.worth(*node, depth + 1))
            }
            "format" if self.object_of(node).is_some_and(|object| object.kind() == "string") => {
                let format = self.object_of(node).and_then(|object| self.module.string(object));
                let given: Vec<Value> = arguments
                    .iter()
                    .map(|node| node.child_by_field_name("value").unwrap_or(*node))
                    .map(|node| self.worth(node, depth + 1))
                    .collect();
                filled(&pieces_of(&format.unwrap_or_default(), '{'), &given)
            }
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
                let object = self.object_of(node);
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

    /// What the method of a call is called on.
    fn object_of(&self, call: Node<'a>) -> Option<Node<'a>> {
        call.child_by_field_name("function").and_then(|function| function.child_by_field_name("object"))
    }

    /// The items of a list of literals that a loop gives to a name.
    pub(super) fn items(&self, argument: &Argument) -> Vec<String> {
        let Some(all) = self.names.get(&argument.text) else { return Vec::new() };
        let lists = all.iter().filter(|right| matches!(right.kind(), "tuple" | "list"));
        lists.filter_map(|right| self.list(*right, 0)).flatten().take(32).collect()
    }

    /// The words of a list, through names and `+`.
    pub(super) fn list(&self, node: Node<'a>, depth: u32) -> Option<Vec<String>> {
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
}

/// Ways to ask for somebody's home in the environment.
fn is_home(text: &str) -> bool {
    ["os.environ[", "os.getenv(", "os.environ.get(", "environ[", "getenv("]
        .iter()
        .filter_map(|ask| text.strip_prefix(ask))
        .any(|rest| matches!(rest.trim_start_matches(['"', '\'']).get(..5), Some("HOME\"" | "HOME'")))
}

/// A format taken apart at its places: those of `%s`, or those of `{}` and `{name}`.
fn pieces_of(format: &str, sign: char) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c == sign && chars.peek() == Some(&sign) {
            chars.next();
            out.last_mut().into_iter().for_each(|last| last.push(sign));
        } else if c == sign {
            let ends = |c: char| if sign == '{' { c == '}' } else { c.is_ascii_alphabetic() };
            // `%(name)s` has its letter behind the bracket.
            let mut named = chars.peek() == Some(&'(');
            for next in chars.by_ref() {
                named &= next != ')';
                if !named && ends(next) {
                    break;
                }
            }
            out.push(String::new());
        } else {
            out.last_mut().into_iter().for_each(|last| last.push(c));
        }
    }
    out
}

/// A format with what is given in its places; what is missing is unknown.
fn filled(texts: &[String], given: &[Value]) -> Value {
    let mut value = Value::default();
    for (at, text) in texts.iter().enumerate().take(64) {
        if let Some(before) = at.checked_sub(1) {
            let own = given.get(before).map(|value| value.pieces.clone());
            value.pieces.extend(own.unwrap_or_else(|| vec![Piece::Unknown(Unknown::default())]));
        }
        value.pieces.push(Piece::Text(text.clone()));
    }
    merged(value)
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
