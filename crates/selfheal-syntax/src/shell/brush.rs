//! The second shell parser. It shares nothing with the grammar, so what only one of them stumbles over is most likely its
//! own mistake, and what both stumble over is broken.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ast::Program;
use brush_parser::{ParseError, ParserOptions};

use crate::watched;

/// More here-document operators than this in one text are not given to the second parser: its memory grows with them.
const MAX_HERE: usize = 200;

/// Texts above this many bytes are not given to it either.
const MAX_BYTES: usize = 256 * 1024;

/// Texts nested deeper than this are not given to it: it calls itself for each level, and a stack that overflows cannot be
/// caught.
const MAX_NESTING: i32 = 60;

/// It reads again what follows each bracket that stays open behind `((`, and each `case` inside of another: twice the work
/// for every one. More steps than this are not asked of it.
const MAX_STEPS: usize = 1 << 20;

/// How long it may take, should the bound be wrong.
const WATCHED: std::time::Duration = std::time::Duration::from_secs(10);

/// How many bytes make a token, roughly.
const TOKEN: usize = 4;

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
    asked(text, posix, |parsed, _| match parsed {
        Ok(_) => Second::Good,
        Err(error) => Second::Bad { line: line_of(&error), message: error.to_string() },
    })
    .unwrap_or(Second::NoOpinion)
}

/// What comes of the program that the second parser reads; `None` when it does not read the text.
pub fn with_program<T: Send + 'static>(
    text: &str,
    work: impl FnOnce(&Program, &ParserOptions) -> T + Send + 'static,
) -> Option<T> {
    asked(text, false, |parsed, options| parsed.ok().map(|program| work(&program, options))).flatten()
}

/// Gives a text to the second parser, unless that could take too long, and its answer to some work.
fn asked<T: Send + 'static>(
    text: &str,
    posix: bool,
    work: impl FnOnce(Result<Program, ParseError>, &ParserOptions) -> T + Send + 'static,
) -> Option<T> {
    let too_much = text.len() > MAX_BYTES || text.matches("<<").count() > MAX_HERE;
    if too_much || nesting(text) > MAX_NESTING || steps(text) > MAX_STEPS {
        return None;
    }
    let options = ParserOptions { sh_mode: posix, posix_mode: posix, ..Default::default() };
    let owned = text.to_owned();
    // The crate unwraps inside; a panic there must not become ours.
    let guarded = move || {
        let parse = || work(brush_parser::Parser::new(owned.as_bytes(), &options).parse_program(), &options);
        catch_unwind(AssertUnwindSafe(parse)).ok()
    };
    watched::within(WATCHED, guarded).flatten()
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

/// An upper bound of how many steps it takes.
fn steps(text: &str) -> usize {
    let doublings = u32::try_from(reread_brackets(text) + nested_cases(text)).unwrap_or(u32::MAX);
    (text.len() / TOKEN + 1).checked_shl(doublings.min(40)).unwrap_or(usize::MAX)
}

/// The most brackets that are open at once behind two that follow each other, quotes not understood.
fn reread_brackets(text: &str) -> usize {
    let (mut open, mut most, mut before) = (0_usize, 0_usize, ' ');
    // How many were open where the outermost pair began.
    let mut base = None::<usize>;
    for c in text.chars().filter(|c| !c.is_whitespace() && *c != '\\') {
        match c {
            '(' => {
                if before == '(' && base.is_none() {
                    base = Some(open.saturating_sub(1));
                }
                open += 1;
            }
            ')' => {
                open = open.saturating_sub(1);
                base = base.filter(|base| open > *base);
            }
            _ => {}
        }
        most = most.max(base.map_or(0, |base| open.saturating_sub(base)));
        before = c;
    }
    most
}

/// The most `case` that are open at once.
fn nested_cases(text: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0_usize);
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        open = match word {
            "case" => open + 1,
            "esac" => open.saturating_sub(1),
            _ => open,
        };
        most = most.max(open);
    }
    most.saturating_sub(1)
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
