//! One facade over the grammars: parsing with a cap on size and time.
//!
//! The grammars are error tolerant, so a tree always comes back; [`Unparsable`] only says that a text is too large or
//! took too long. Whoever gets it treats the text as unknown, never as harmless.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

pub use tree_sitter::{Node, Tree};

use crate::watched;

/// The largest text that is parsed, in bytes.
pub const MAX_BYTES: usize = 512 * 1024;

/// For each `<<` the shell grammar may read on to the end of the text, so their product is bounded, in bytes.
const MAX_READ_AHEAD: usize = 16 * 1024 * 1024;

/// How long one parse may take. Ordinary scripts need milliseconds; this only ends pathological input.
const DEADLINE: Duration = Duration::from_secs(3);

/// The same where the library does not even ask: where it joins readings of a broken text, each sign more can double its
/// work. Such a parse is left alone on its thread.
const WATCHED: Duration = Duration::from_secs(10);

/// Texts up to this many bytes cannot take long, and are parsed where they are.
const SHORT: usize = 64;

/// Why a text could not be parsed at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the program text: {reason}")]
pub struct Unparsable {
    /// In words.
    pub reason: String,
}

/// A grammar that is linked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// bash and POSIX shell.
    Bash,
    /// Python 3.
    Python,
    /// JavaScript.
    JavaScript,
}

impl Grammar {
    fn language(self) -> tree_sitter::Language {
        match self {
            Self::Bash => tree_sitter_bash::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
        }
    }
}

/// Parses a text.
///
/// # Errors
/// When it is larger than [`MAX_BYTES`] or does not parse in time.
pub fn parse(grammar: Grammar, text: &str) -> Result<Tree, Unparsable> {
    if text.len() > MAX_BYTES {
        return Err(unparsable("it is too large"));
    }
    if grammar == Grammar::Bash && text.matches("<<").count() * text.len() > MAX_READ_AHEAD {
        return Err(unparsable("it has too many here-documents"));
    }
    if text.len() > SHORT && !watched::is_watched() {
        return parse_watched(grammar, text, WATCHED);
    }
    parse_here(grammar, text)
}

/// Parses on this thread, with its parser.
fn parse_here(grammar: Grammar, text: &str) -> Result<Tree, Unparsable> {
    // Making a parser costs more than parsing a line with it, and the guard parses many single lines.
    thread_local!(static PARSER: RefCell<tree_sitter::Parser> = RefCell::new(tree_sitter::Parser::new()));
    PARSER.with(|parser| {
        let mut parser = parser.try_borrow_mut().map_err(|_| unparsable("a parser is at work"))?;
        parser.set_language(&grammar.language()).map_err(|error| unparsable(&error.to_string()))?;
        parser.reset();
        parse_with(&mut parser, text)
    })
}

fn parse_watched(grammar: Grammar, text: &str, limit: Duration) -> Result<Tree, Unparsable> {
    let owned = text.to_owned();
    let parsed = watched::within(limit, move || parse_here(grammar, &owned));
    parsed.unwrap_or_else(|| Err(unparsable("it takes too long to parse")))
}

fn parse_with(parser: &mut tree_sitter::Parser, text: &str) -> Result<Tree, Unparsable> {
    let begun = Instant::now();
    let mut watch = |_: &tree_sitter::ParseState| {
        if begun.elapsed() > DEADLINE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut watch);
    let mut read = |at: usize, _: tree_sitter::Point| text.as_bytes().get(at..).unwrap_or_default();
    parser
        .parse_with_options(&mut read, None, Some(options))
        .ok_or_else(|| unparsable("it takes too long to parse"))
}

fn unparsable(reason: &str) -> Unparsable {
    Unparsable { reason: reason.to_owned() }
}

/// The text of a node.
#[must_use]
pub fn text_of<'a>(text: &'a str, node: Node<'_>) -> &'a str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// The direct children of a node, anonymous ones included.
#[must_use]
pub fn children(node: Node<'_>) -> Vec<Node<'_>> {
    // Most nodes are words without anything below, and a cursor costs more than the question.
    let count = node.child_count();
    if count == 0 {
        return Vec::new();
    }
    let mut out = Vec::with_capacity(count as usize);
    let mut cursor = node.walk();
    out.extend(node.children(&mut cursor));
    out
}

/// Every node below and including `node`, in document order, without recursion.
#[must_use]
pub fn descendants(node: Node<'_>) -> Vec<Node<'_>> {
    let mut out = Vec::new();
    let mut cursor = node.walk();
    loop {
        out.push(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return out;
            }
        }
    }
}

/// The first error or missing token in a tree, if there is one.
#[must_use]
pub fn first_error(tree: &Tree) -> Option<Node<'_>> {
    let mut node = tree.root_node();
    if !node.has_error() {
        return None;
    }
    loop {
        if node.is_error() || node.is_missing() {
            return Some(node);
        }
        match children(node).into_iter().find(|child| child.has_error() || child.is_missing()) {
            Some(child) => node = child,
            None => return Some(node),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_beyond_the_cap_is_unparsable() {
        let text = "a\n".repeat(MAX_BYTES);
        assert_eq!(parse(Grammar::Bash, &text).unwrap_err().reason, "it is too large");
    }

    #[test]
    fn a_text_that_would_be_read_for_ever_is_unparsable() {
        // Each pipe doubles the readings that the library joins.
        let text = format!("f(def f(def f(N: {}|-esac r", "|- run: ".repeat(60));
        assert!(parse_watched(Grammar::Bash, &text, Duration::from_millis(50)).is_err());
        assert!(parse(Grammar::Bash, &"echo x\n".repeat(20)).is_ok());
    }

    #[test]
    fn here_operators_without_end_are_unparsable() {
        assert!(parse(Grammar::Bash, &"<<".repeat(10_000)).is_err());
        let script = "cat <<E\nx\nE\n".repeat(200);
        assert!(parse(Grammar::Bash, &script).is_ok_and(|tree| !tree.root_node().has_error()));
        assert!(parse(Grammar::Python, &"1 << 2\n".repeat(10_000)).is_ok());
    }

    #[test]
    fn finds_the_first_error() {
        let tree = parse(Grammar::Python, "x = 1\ny = (\n").unwrap();
        assert!(first_error(&tree).is_some());
        let tree = parse(Grammar::Python, "x = 1\n").unwrap();
        assert!(first_error(&tree).is_none());
    }
}
