//! Whether a text is a program at all.
//!
//! No single parser is believed: the grammars stumble over valid scripts, so for shell a text counts as broken only when
//! two independent parsers say so. Languages without a parser here are never called broken; their own interpreter checks
//! them in the box.

use crate::language::{Dialect, Language};
use crate::shell::{Second, second_opinion};
use crate::source::Lines;
use crate::tree::{self, Grammar, Node, Unparsable};

/// One place where a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: u32,
    /// In words.
    pub message: String,
}

/// The syntax errors of a text; empty for a good program and for languages that are not understood here.
///
/// # Errors
/// When the text is too large or takes too long to parse.
pub fn syntax_errors(language: Language, text: &str) -> Result<Vec<Problem>, Unparsable> {
    match language {
        Language::Shell => shell_errors(text),
        Language::Python => grammar_errors(Grammar::Python, text),
        Language::Node if !text.trim_start().starts_with('{') => grammar_errors(Grammar::JavaScript, text),
        _ => Ok(Vec::new()),
    }
}

fn shell_errors(text: &str) -> Result<Vec<Problem>, Unparsable> {
    let joined = crate::shell::join::join(text);
    let tree = tree::parse(Grammar::Bash, &joined.text)?;
    let Some(node) = tree::first_error(&tree) else { return Ok(Vec::new()) };
    // The errors of the text decide, not the dialect: bash reads everything that sh reads.
    let posix = Dialect::of(text.lines().next().unwrap_or_default(), None) == Dialect::Sh;
    let second = match second_opinion(text, false) {
        Second::Good if posix => second_opinion(text, true),
        other => other,
    };
    let (line, message) = match second {
        Second::Bad { line, message } => (line, message),
        Second::Good => return Ok(Vec::new()),
        // The grammar stumbles and nobody else was asked: whether it is a program is not known.
        Second::NoOpinion => {
            return Err(Unparsable { reason: "only one parser could be asked, and it stumbled".to_owned() });
        }
    };
    let line = line.unwrap_or_else(|| Lines::of(text).line_of(joined.original(node.start_byte())));
    Ok(vec![Problem { line, message }])
}

fn grammar_errors(grammar: Grammar, text: &str) -> Result<Vec<Problem>, Unparsable> {
    let tree = tree::parse(grammar, text)?;
    let problem = tree::first_error(&tree).map(|node| describe(text, node));
    Ok(problem.into_iter().collect())
}

fn describe(text: &str, node: Node<'_>) -> Problem {
    let line = node.start_position().row as u32 + 1;
    if node.is_missing() {
        return Problem { line, message: format!("`{}` is missing", node.kind()) };
    }
    let near: String = tree::text_of(text, node).chars().take(40).take_while(|c| *c != '\n').collect();
    Problem { line, message: format!("not understood near `{near}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(language: Language, text: &str) -> bool {
        !syntax_errors(language, text).unwrap().is_empty()
    }

    #[test]
    fn broken_programs_are_told_from_good_ones() {
        assert!(broken(Language::Shell, "if true; then\n  echo x\n"));
        assert!(broken(Language::Shell, "echo \"x\nfi\n"));
        assert!(!broken(Language::Shell, "for f in a b; do echo \"$f\"; done\n"));
        assert!(broken(Language::Python, "def f(:\n    pass\n"));
        assert!(!broken(Language::Python, "def f():\n    return 1\n"));
        assert!(broken(Language::Node, "function f( { }\n"));
        assert!(!broken(Language::Node, "const f = () => 1;\n"));
        assert!(!broken(Language::Perl, "if ( {\n"));
    }

    #[test]
    fn what_only_one_shell_parser_dislikes_is_not_broken() {
        assert!(!broken(Language::Shell, "exec 3<>/dev/tcp/localhost/80; echo x >&3\n"));
        assert!(!broken(Language::Shell, "cat <<A; echo b\na\nA\n"));
        assert!(!broken(Language::Shell, "for ((;;)); do break; done\n"));
    }

    #[test]
    fn a_syntax_error_has_its_line() {
        let problems = syntax_errors(Language::Python, "x = 1\ny = = 2\n").unwrap();
        assert_eq!(problems.first().map(|problem| problem.line), Some(2));
    }
}
