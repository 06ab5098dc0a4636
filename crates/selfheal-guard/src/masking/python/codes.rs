//! Exit codes of commands in Python programs: whether anything is made of them but a message.

use selfheal_syntax::python::Module;
use selfheal_syntax::tree::{Node, children};

use super::handlers::{is_message, is_quiet};

/// How many times something is made of a `returncode`: it is kept, returned, given to a function, or something other than
/// a message depends on it.
pub(super) fn used(module: &Module) -> usize {
    let codes = module.nodes("attribute").into_iter();
    codes
        .filter(|node| module.text_of(*node).ends_with(".returncode"))
        .filter(|node| counts(module, *node))
        .count()
}

fn counts(module: &Module, code: Node<'_>) -> bool {
    let mut below = code;
    while let Some(node) = below.parent() {
        match node.kind() {
            "call" if is_message(module, node) => return false,
            "if_statement" | "elif_clause" => {
                let asked = node.child_by_field_name("condition").map(|condition| condition.id());
                return asked != Some(below.id()) || acts(module, node);
            }
            "assignment" | "return_statement" | "raise_statement" | "assert_statement"
            | "while_statement" => {
                return true;
            }
            "block" | "module" => return true,
            _ => {}
        }
        below = node;
    }
    true
}

/// Whether a branch of a condition does anything but speak.
fn acts(module: &Module, condition: Node<'_>) -> bool {
    let blocks =
        children(condition).into_iter().filter(|child| child.is_named()).flat_map(|child| {
            match child.kind() {
                "block" => vec![child],
                "else_clause" | "elif_clause" => {
                    children(child).into_iter().filter(|inner| inner.kind() == "block").collect()
                }
                _ => Vec::new(),
            }
        });
    blocks
        .flat_map(children)
        .filter(Node::is_named)
        .any(|statement| !is_quiet(module, statement) || statement.kind() == "return_statement")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_is_only_told_is_not_used() {
        let used = |text: &str| used(&Module::parse(text).unwrap());
        for quiet in [
            "if r.returncode:\n    print('bad', r.returncode)\n",
            "if r.returncode != 0:\n    log.warning('x')\nelse:\n    print('y')\n",
            "print(r.returncode)\n",
        ] {
            assert_eq!(used(quiet), 0, "{quiet}");
        }
        for looked in [
            "if r.returncode:\n    raise SystemExit(1)\n",
            "if r.returncode != 0:\n    print('x')\n    failed.append(r)\n",
            "sys.exit(r.returncode)\n",
            "code = r.returncode\n",
            "def f():\n    if r.returncode:\n        return False\n",
        ] {
            assert_eq!(used(looked), 1, "{looked}");
        }
    }
}
