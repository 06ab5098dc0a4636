//! The second shell parser. It shares nothing with the grammar, so what only one of them stumbles over is most likely its
//! own mistake, and what both stumble over is broken.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ParseError;

/// More here-document operators than this in one text are not given to the second parser: its memory grows with them.
const MAX_HERE: usize = 200;

/// Texts above this many bytes are not given to it either.
const MAX_BYTES: usize = 256 * 1024;

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
    if text.len() > MAX_BYTES || text.matches("<<").count() > MAX_HERE {
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

fn line_of(error: &ParseError) -> Option<u32> {
    match error {
        ParseError::ParsingNear(position) => u32::try_from(position.line).ok(),
        ParseError::ParsingAtEndOfInput => None,
        ParseError::Tokenizing { position, .. } => {
            position.as_ref().and_then(|position| u32::try_from(position.line).ok())
        }
    }
}
