//! What a call in Python is called by its proper name, when the program gave it another.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_syntax::python::Module;
use selfheal_syntax::tree::Node;

/// Ways to ask for an attribute or a module by its name: pattern, what it stands for.
const SPELLINGS: &[(&str, &str)] = &[
    (r#"getattr\(\s*([\w.]+)\s*,\s*["'](\w+)["']\s*\)"#, "$1.$2"),
    (r#"(?:importlib\.import_module|__import__)\(\s*["']([\w.]+)["']\s*\)"#, "$1"),
    (r#"sys\.modules\[\s*["']([\w.]+)["']\s*\]"#, "$1"),
    (r#"([\w.]+)\.__dict__\[\s*["'](\w+)["']\s*\]"#, "$1.$2"),
    (r"functools\.partial\(\s*([\w.]+).*", "$1"),
];

fn spellings() -> &'static [(Regex, &'static str)] {
    static ONCE: OnceLock<Vec<(Regex, &'static str)>> = OnceLock::new();
    ONCE.get_or_init(|| {
        let compiled = SPELLINGS.iter().map(|(pattern, put)| (Regex::new(pattern), *put));
        compiled.filter_map(|(regex, put)| regex.ok().map(|regex| (regex, put))).collect()
    })
}

/// The proper name of what is called, when it differs: through `getattr`, modules loaded by name, and names that were
/// given to functions.
pub(super) fn proper(
    module: &Module,
    names: &BTreeMap<String, Vec<Node<'_>>>,
    resolved: &str,
) -> Option<String> {
    if resolved.len() > 512 {
        return None;
    }
    let mut text = match names.get(resolved).and_then(|all| all.last()) {
        Some(node) if matches!(node.kind(), "attribute" | "call" | "subscript") => {
            module.text_of(*node).to_owned()
        }
        _ => resolved.to_owned(),
    };
    if text.contains(['(', '[']) && text.len() < 512 {
        for (regex, put) in spellings() {
            text = regex.replace_all(&text, *put).into_owned();
        }
    }
    (text != resolved && !text.contains(['(', '['])).then_some(text)
}
