//! Python programs: the tree, and the look-ups that rules and guard need.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use crate::tree::{self, Grammar, Node, Tree, Unparsable, children, descendants, text_of};

/// A parsed Python file.
#[derive(Clone, Debug)]
pub struct Module {
    text: String,
    tree: Tree,
    /// The kinds of nodes that there are: most questions are about kinds that a program does not have.
    kinds: OnceLock<Vec<String>>,
    /// The calls, which every check asks for.
    calls: OnceLock<Vec<Call>>,
}

/// One name that an import binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The module: `os.path`. Leading dots of relative imports are kept.
    pub module: String,
    /// The name behind `import` in `from … import name`; `None` for `import module`.
    pub name: Option<String>,
    /// The name behind `as`.
    pub alias: Option<String>,
    /// The bytes of this one name (module or name, with its alias).
    pub span: Range<usize>,
    /// The bytes of the whole statement.
    pub statement: Range<usize>,
    /// The line of the statement, from 1.
    pub line: u32,
}

impl Import {
    /// The name that it binds in the file.
    #[must_use]
    pub fn binds(&self) -> &str {
        match (&self.alias, &self.name) {
            (Some(alias), _) => alias,
            (None, Some(name)) => name,
            (None, None) => self.module.split('.').next().unwrap_or(&self.module),
        }
    }
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What is called, as written: `shutil.rmtree`, `open`.
    pub callee: String,
    /// What is called, with imports and their aliases resolved: `shutil.rmtree` for `r` after `from shutil import rmtree
    /// as r`.
    pub resolved: String,
    /// The positional arguments.
    pub arguments: Vec<Argument>,
    /// The keyword arguments by name.
    pub keywords: Vec<(String, Argument)>,
    /// Where the call is.
    pub span: Range<usize>,
    /// The line, from 1.
    pub line: u32,
}

impl Call {
    /// A keyword argument.
    #[must_use]
    pub fn keyword(&self, name: &str) -> Option<&Argument> {
        self.keywords.iter().find(|(own, _)| own == name).map(|(_, argument)| argument)
    }
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// As written.
    pub text: String,
    /// Its value, when it is a plain string.
    pub string: Option<String>,
    /// Where.
    pub span: Range<usize>,
}

/// A function definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Def {
    /// Its name.
    pub name: String,
    /// Its parameters: name, and default as written.
    pub parameters: Vec<(String, Option<String>)>,
    /// Where.
    pub span: Range<usize>,
    /// The line, from 1.
    pub line: u32,
}

/// An access `d["k"]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscript {
    /// What is looked into, as written: `row`.
    pub object: String,
    /// The key.
    pub key: String,
    /// The bytes of the key with its quotes.
    pub key_span: Range<usize>,
    /// The bytes of the whole access.
    pub span: Range<usize>,
    /// The line, from 1.
    pub line: u32,
    /// Whether it is written to or deleted and not read.
    pub stored: bool,
}

impl Module {
    /// Parses a text. A text with errors still gives a module; see [`Module::has_error`].
    ///
    /// # Errors
    /// When the text is too large or takes too long.
    pub fn parse(text: &str) -> Result<Self, Unparsable> {
        let tree = tree::parse(Grammar::Python, text)?;
        Ok(Self { text: text.to_owned(), tree, kinds: OnceLock::new(), calls: OnceLock::new() })
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tree.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The root of the tree.
    #[must_use]
    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// Whether the grammar stumbled.
    #[must_use]
    pub fn has_error(&self) -> bool {
        self.root().has_error()
    }

    /// The text of a node.
    #[must_use]
    pub fn text_of(&self, node: Node<'_>) -> &str {
        text_of(&self.text, node)
    }

    /// Every node of one kind, in document order.
    #[must_use]
    pub fn nodes(&self, kind: &str) -> Vec<Node<'_>> {
        let all = || {
            let mut found: BTreeMap<u16, String> = BTreeMap::new();
            for node in descendants(self.root()) {
                found.entry(node.kind_id()).or_insert_with(|| node.kind().to_owned());
            }
            found.into_values().collect()
        };
        let kinds: &Vec<String> = self.kinds.get_or_init(all);
        if !kinds.iter().any(|known| known == kind) {
            return Vec::new();
        }
        descendants(self.root()).into_iter().filter(|node| node.is_named() && node.kind() == kind).collect()
    }

    /// Every import, one entry a name.
    #[must_use]
    pub fn imports(&self) -> Vec<Import> {
        let mut out = Vec::new();
        for node in descendants(self.root()) {
            match node.kind() {
                "import_statement" => out.extend(self.imported(node, None)),
                "import_from_statement" => {
                    let module = node.child_by_field_name("module_name");
                    out.extend(self.imported(node, module.map(|module| self.text_of(module).to_owned())));
                }
                _ => {}
            }
        }
        out
    }

    fn imported(&self, node: Node<'_>, module: Option<String>) -> Vec<Import> {
        let mut cursor = node.walk();
        let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut cursor).collect();
        let line = line(node);
        names
            .into_iter()
            .map(|name| {
                let alias = name.child_by_field_name("alias").map(|alias| self.text_of(alias).to_owned());
                let plain = name.child_by_field_name("name").unwrap_or(name);
                let plain = self.text_of(plain).to_owned();
                let (module, name_of) = match &module {
                    Some(module) => (module.clone(), Some(plain)),
                    None => (plain, None),
                };
                Import {
                    module,
                    name: name_of,
                    alias,
                    span: name.byte_range(),
                    statement: node.byte_range(),
                    line,
                }
            })
            .collect()
    }

    /// Where `module.name` is used, under whatever name the module was imported; the spans of the whole `module.name`.
    #[must_use]
    pub fn find_attribute(&self, module: &str, name: &str) -> Vec<Range<usize>> {
        let imports = self.imports();
        let wanted = format!("{module}.{name}");
        let attributes = self.nodes("attribute").into_iter();
        attributes
            .filter(|node| resolve(&imports, self.text_of(*node)) == wanted)
            .map(|node| node.byte_range())
            .collect()
    }

    /// Every use of a bare name: the spans of its identifiers, attribute and keyword names not counted.
    #[must_use]
    pub fn find_name(&self, name: &str) -> Vec<Range<usize>> {
        let uses = self.nodes("identifier").into_iter().filter(|node| self.text_of(*node) == name);
        uses.filter(|node| !is_label(*node)).map(|node| node.byte_range()).collect()
    }

    /// Every call, in document order.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.all_calls().clone()
    }

    fn all_calls(&self) -> &Vec<Call> {
        self.calls.get_or_init(|| {
            let imports = self.imports();
            self.nodes("call").into_iter().filter_map(|node| self.call(&imports, node)).collect()
        })
    }

    /// The calls of one function, by its resolved name (`os.mkdir`) or, for methods, by the last part alone (`.mkdir`).
    #[must_use]
    pub fn calls_of(&self, name: &str) -> Vec<Call> {
        let fits = |call: &Call| match name.strip_prefix('.') {
            Some(method) => call.callee.rsplit('.').next() == Some(method) && call.callee.contains('.'),
            None => call.resolved == name,
        };
        self.all_calls().iter().filter(|call| fits(call)).cloned().collect()
    }

    fn call(&self, imports: &[Import], node: Node<'_>) -> Option<Call> {
        let function = node.child_by_field_name("function")?;
        let list = node.child_by_field_name("arguments")?;
        let callee = self.text_of(function).split_whitespace().collect::<String>();
        let (mut arguments, mut keywords) = (Vec::new(), Vec::new());
        for child in children(list).into_iter().filter(|child| child.is_named() && child.kind() != "comment")
        {
            if child.kind() == "keyword_argument" {
                let name = child.child_by_field_name("name").map_or("", |name| self.text_of(name)).to_owned();
                keywords.extend(child.child_by_field_name("value").map(|value| (name, self.argument(value))));
            } else {
                arguments.push(self.argument(child));
            }
        }
        let resolved = resolve(imports, &callee);
        Some(Call { callee, resolved, arguments, keywords, span: node.byte_range(), line: line(node) })
    }

    fn argument(&self, node: Node<'_>) -> Argument {
        Argument { text: self.text_of(node).to_owned(), string: self.string(node), span: node.byte_range() }
    }

    /// The value of a plain string literal; `None` for others, and for f-strings with fields.
    #[must_use]
    pub fn string(&self, node: Node<'_>) -> Option<String> {
        match node.kind() {
            "string" => {
                if children(node).iter().any(|child| child.kind() == "interpolation") {
                    return None;
                }
                let raw =
                    children(node).first().is_some_and(|start| self.text_of(*start).contains(['r', 'R']));
                let inner: String = children(node)
                    .into_iter()
                    .filter(|child| child.kind() == "string_content")
                    .map(|child| self.text_of(child))
                    .collect();
                Some(if raw { inner } else { unescape(&inner) })
            }
            "concatenated_string" => {
                children(node).into_iter().filter(Node::is_named).map(|child| self.string(child)).collect()
            }
            "parenthesized_expression" => node.named_child(0).and_then(|inner| self.string(inner)),
            _ => None,
        }
    }

    /// Every function definition.
    #[must_use]
    pub fn definitions(&self) -> Vec<Def> {
        let name_of =
            |node: Node<'_>| node.child_by_field_name("name").map(|name| self.text_of(name).to_owned());
        let functions = self.nodes("function_definition").into_iter();
        functions
            .filter_map(|node| {
                let list = node.child_by_field_name("parameters")?;
                let parameters = children(list).into_iter().filter(Node::is_named).filter_map(|parameter| {
                    let default =
                        parameter.child_by_field_name("value").map(|value| self.text_of(value).to_owned());
                    let name = match parameter.kind() {
                        "typed_parameter" => {
                            parameter.named_child(0).map(|name| self.text_of(name).to_owned())
                        }
                        "identifier" => Some(self.text_of(parameter).to_owned()),
                        _ => name_of(parameter),
                    };
                    Some((name?, default))
                });
                let parameters = parameters.collect();
                Some(Def { name: name_of(node)?, parameters, span: node.byte_range(), line: line(node) })
            })
            .collect()
    }

    /// Every access with a plain string as key.
    #[must_use]
    pub fn subscripts(&self) -> Vec<Subscript> {
        self.nodes("subscript").into_iter().filter_map(|node| self.subscript(node)).collect()
    }

    fn subscript(&self, node: Node<'_>) -> Option<Subscript> {
        let object = node.child_by_field_name("value")?;
        let mut cursor = node.walk();
        let keys: Vec<Node<'_>> = node.children_by_field_name("subscript", &mut cursor).collect();
        let [key] = keys.as_slice() else { return None };
        let parent = node.parent();
        let target = parent.and_then(|parent| parent.child_by_field_name("left")).map(|left| left.id());
        let assigned =
            parent.is_some_and(|parent| parent.kind() == "assignment") && target == Some(node.id());
        Some(Subscript {
            object: self.text_of(object).to_owned(),
            key: self.string(*key)?,
            key_span: key.byte_range(),
            span: node.byte_range(),
            line: line(node),
            stored: assigned || parent.is_some_and(|parent| parent.kind() == "delete_statement"),
        })
    }
}

fn line(node: Node<'_>) -> u32 {
    node.start_position().row as u32 + 1
}

/// Whether an identifier is only a label: the attribute behind a dot, or the name of a keyword argument.
fn is_label(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| {
        let field = |name: &str| parent.child_by_field_name(name).map(|child| child.id()) == Some(node.id());
        (parent.kind() == "attribute" && field("attribute"))
            || (parent.kind() == "keyword_argument" && field("name"))
    })
}

/// Replaces the first part of a dotted name by what it was imported as.
fn resolve(imports: &[Import], dotted: &str) -> String {
    let (first, rest) = dotted.split_once('.').map_or((dotted, None), |(first, rest)| (first, Some(rest)));
    let Some(import) = imports.iter().rfind(|import| import.binds() == first) else {
        return dotted.to_owned();
    };
    let base = match (&import.name, &import.alias) {
        (Some(name), _) => format!("{}.{name}", import.module),
        (None, Some(_)) => import.module.clone(),
        (None, None) => first.to_owned(),
    };
    rest.map_or_else(|| base.clone(), |rest| format!("{base}.{rest}"))
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some('\n') => {}
            Some('x') => {
                let digits: String = chars.by_ref().take(2).collect();
                out.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            Some(c @ ('\\' | '\'' | '"')) => out.push(c),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(text: &str) -> Module {
        Module::parse(text).unwrap()
    }

    #[test]
    fn imports_bind_names() {
        let module =
            module("import os.path, sys as s\nfrom shutil import rmtree as r, copy\nfrom . import x\n");
        let bound: Vec<_> =
            module.imports().iter().map(|i| (i.module.clone(), i.binds().to_owned(), i.line)).collect();
        let expected =
            [("os.path", "os", 1), ("sys", "s", 1), ("shutil", "r", 2), ("shutil", "copy", 2), (".", "x", 3)];
        assert_eq!(bound, expected.map(|(m, b, l)| (m.to_owned(), b.to_owned(), l)));
    }

    #[test]
    fn calls_are_resolved_through_imports() {
        let text = "from shutil import rmtree as r\nimport subprocess as sp\nr('/a' 'b', ignore_errors=True)\nsp.run([x], check=True)\nopen(r'\\n')\n";
        let module = module(text);
        let calls = module.calls();
        assert_eq!(
            calls.iter().map(|c| c.resolved.as_str()).collect::<Vec<_>>(),
            ["shutil.rmtree", "subprocess.run", "open"]
        );
        assert_eq!(calls[0].arguments[0].string.as_deref(), Some("/ab"));
        assert_eq!(calls[1].keyword("check").map(|a| a.text.as_str()), Some("True"));
        assert_eq!(calls[2].arguments[0].string.as_deref(), Some("\\n"));
        assert_eq!(module.calls_of("subprocess.run").len(), 1);
        assert_eq!(module.calls_of(".run").len(), 1);
    }

    #[test]
    fn attributes_names_keys_and_definitions() {
        let text = "import collections as c\nx = c.Mapping\nd['k'] = d[\"j\"]\ndef f(a, b=[], *, k: int = 3): return c\nf(k=1)\n";
        let module = module(text);
        assert_eq!(module.find_attribute("collections", "Mapping").len(), 1);
        assert_eq!(
            module.text().get(module.find_attribute("collections", "Mapping")[0].clone()),
            Some("c.Mapping")
        );
        assert_eq!(module.find_name("c").len(), 3);
        assert_eq!(module.find_name("k").len(), 1);
        let keys: Vec<_> = module.subscripts().iter().map(|s| (s.key.clone(), s.stored)).collect();
        assert_eq!(keys, [("k".to_owned(), true), ("j".to_owned(), false)]);
        let def = &module.definitions()[0];
        assert_eq!(def.parameters[1], ("b".to_owned(), Some("[]".to_owned())));
        assert_eq!(def.parameters.last(), Some(&("k".to_owned(), Some("3".to_owned()))));
    }

    #[test]
    fn nothing_panics_on_nonsense() {
        for text in ["", "def", "import", "from x import", "d[", "f'{", "((((", "é\u{0}"] {
            let module = module(text);
            let _ = (module.calls(), module.imports(), module.subscripts(), module.definitions());
        }
    }
}
