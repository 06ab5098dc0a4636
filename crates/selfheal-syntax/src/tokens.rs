//! Which parts of a text are comments, texts, numbers and keywords: for showing it in colours. Any text will do, parts of
//! scripts too; what is not understood has no tokens.

use std::ops::Range;

use crate::tree::{self, Grammar, Node};

/// What a part of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A comment.
    Comment,
    /// A text in quotes, or a here-document.
    Text,
    /// A number.
    Number,
    /// A word of the language itself.
    Keyword,
}

/// Kinds of nodes that are one token with all that is in them.
const KINDS: [(&str, Token); 12] = [
    ("comment", Token::Comment),
    ("string", Token::Text),
    ("raw_string", Token::Text),
    ("ansi_c_string", Token::Text),
    ("template_string", Token::Text),
    ("heredoc_body", Token::Text),
    ("heredoc_content", Token::Text),
    ("regex", Token::Text),
    ("number", Token::Number),
    ("integer", Token::Number),
    ("float", Token::Number),
    ("hash_bang_line", Token::Comment),
];

/// The tokens of a text in their order; none overlaps another.
#[must_use]
pub fn tokens(grammar: Grammar, text: &str) -> Vec<(Range<usize>, Token)> {
    let Ok(parsed) = tree::parse(grammar, text) else { return Vec::new() };
    let mut found: Vec<(Range<usize>, Token)> = Vec::new();
    for node in tree::descendants(parsed.root_node()) {
        let end = found.last().map_or(0, |(range, _)| range.end);
        if let Some(token) = token_of(node).filter(|_| node.start_byte() >= end) {
            found.push((node.byte_range(), token));
        }
    }
    found
}

fn token_of(node: Node<'_>) -> Option<Token> {
    let kind = node.kind();
    let known = KINDS.iter().find(|(name, _)| node.is_named() && *name == kind).map(|(_, token)| *token);
    let keyword = !node.is_named() && kind.len() > 1 && kind.bytes().all(|b| b.is_ascii_lowercase());
    known.or(keyword.then_some(Token::Keyword))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(grammar: Grammar, text: &str) -> Vec<(&str, Token)> {
        tokens(grammar, text).into_iter().map(|(range, token)| (&text[range], token)).collect()
    }

    #[test]
    fn comments_texts_numbers_and_keywords_are_found() {
        let text = "if true; then # why\n  echo \"a $b\" 'c'\nfi\n";
        let wanted = [
            ("if", Token::Keyword),
            ("then", Token::Keyword),
            ("# why", Token::Comment),
            ("\"a $b\"", Token::Text),
            ("'c'", Token::Text),
            ("fi", Token::Keyword),
        ];
        assert_eq!(found(Grammar::Bash, text), wanted);
        assert_eq!(
            found(Grammar::Python, "x = 12  # n\nreturn 'a'\n"),
            [
                ("12", Token::Number),
                ("# n", Token::Comment),
                ("return", Token::Keyword),
                ("'a'", Token::Text)
            ]
        );
    }

    #[test]
    fn what_is_no_script_has_none_and_does_no_harm() {
        for text in ["", "\u{1b}[31m", "((((((", "'", "\"\u{202e}"] {
            let _ = tokens(Grammar::Bash, text);
        }
    }
}
