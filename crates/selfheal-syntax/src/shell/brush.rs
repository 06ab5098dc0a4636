//! The second shell parser. It shares nothing with the grammar, so what only one of them stumbles over is most likely its
//! own mistake, and what both stumble over is broken.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ParseError;

/// More here-document operators than this in one text are not given to the second parser: its memory grows with them.
const MAX_HERE: usize = 200;

/// Texts above this many bytes are not given to it either.
const MAX_BYTES: usize = 256 * 1024;

/// Texts nested deeper than this are not given to it: it calls itself for each level, and a stack that overflows cannot be
/// caught.
const MAX_NESTING: i32 = 60;

/// What the second parser says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Second {
    /// It reads the text.
    Good,
    /// It does not.
    Bad {
        /// The line, from 1, where it says so.
        line: Option<u32>,
        /// In words.
        message: String,
    },
    /// It was not asked, or gave up: too large, or an error of its own.
    NoOpinion,
}

/// Asks the second parser. `posix` asks for the dialect of `sh`.
#[must_use]
pub fn second_opinion(text: &str, posix: bool) -> Second {
    if text.len() > MAX_BYTES || text.matches("<<").count() > MAX_HERE || nesting(text) > MAX_NESTING {
        return Second::NoOpinion;
    }
    let options = brush_parser::ParserOptions { sh_mode: posix, posix_mode: posix, ..Default::default() };
    // The crate unwraps inside; a panic there must not become ours.
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        brush_parser::Parser::new(text.as_bytes(), &options).parse_program()
    }));
    match parsed {
        Err(_) => Second::NoOpinion,
        Ok(Ok(_)) => Second::Good,
        Ok(Err(error)) => Second::Bad { line: line_of(&error), message: error.to_string() },
    }
}

/// An upper bound of how deep brackets and compound commands are nested, quotes not understood. Each closing word takes back
/// one opening one; backquotes count as one level for every other.
fn nesting(text: &str) -> i32 {
    let (mut depth, mut deepest) = (0_i32, 0_i32);
    let mut words = 0_i32;
    for word in text.split(|c: char| c.is_whitespace() || ";&|".contains(c)) {
        match word {
            "if" | "case" | "while" | "until" | "for" | "select" | "!" => words += 1,
            "fi" | "esac" | "done" => words = (words - 1).max(0),
            _ => {}
        }
        deepest = deepest.max(words);
    }
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = (depth - 1).max(0),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn line_of(error: &ParseError) -> Option<u32> {
    match error {
        ParseError::ParsingNear(position) => u32::try_from(position.line).ok(),
        ParseError::ParsingAtEndOfInput => None,
        ParseError::Tokenizing { position, .. } => {
            position.as_ref().and_then(|position| u32::try_from(position.line).ok())
        }
    }
}
