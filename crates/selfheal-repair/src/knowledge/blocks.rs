//! Where a document is cut: Markdown and its like at headings, release notes at versions, programs at functions, all else
//! at blank lines.

use std::path::Path;

use selfheal_syntax::language::Language;
use selfheal_syntax::tree::{self, Grammar};

use super::{PIECE_CHARS, is_release_notes};

/// Lines that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// The lines of the headings above it, the outermost first.
    pub(super) headings: Vec<u32>,
    /// Its first line, from 1.
    pub(super) first: u32,
    /// Its last line.
    pub(super) last: u32,
}

/// Endings of texts that have headings.
const MARKED_UP: [&str; 6] = ["md", "markdown", "rst", "adoc", "org", "mdx"];

/// The blocks of a document, in order; nothing but blank lines is in no block.
pub(super) fn of(path: &Path, text: &str, lines: &[&str]) -> Vec<Block> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if is_release_notes(path) {
        return by_headings(lines, |at| heading(lines, at).or_else(|| version(lines, at)));
    }
    let first = lines.first().copied().unwrap_or_default();
    match Language::of(path, first, None) {
        Language::Other if MARKED_UP.contains(&ending.as_str()) || ending.is_empty() || ending == "txt" => {
            by_headings(lines, |at| heading(lines, at))
        }
        Language::Other => by_headings(lines, |_| None),
        language => by_functions(language, text, lines),
    }
}

/// Cuts at headings; `level` says of a line (from 0) whether it is one, and of which level, from 1.
fn by_headings(lines: &[&str], level: impl Fn(usize) -> Option<usize>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Vec<(usize, u32)> = Vec::new();
    let mut current = Block { headings: Vec::new(), first: 1, last: 0 };
    let mut fenced = false;
    for (at, line) in lines.iter().enumerate() {
        let number = u32::try_from(at).unwrap_or(u32::MAX).saturating_add(1);
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        fenced ^= fence;
        if let Some(level) = level(at).filter(|_| !fenced && !fence) {
            blocks.push(std::mem::take(&mut current));
            open.retain(|(of, _)| *of < level);
            open.push((level, number));
            current =
                Block { headings: open.iter().map(|(_, line)| *line).collect(), first: number, last: number };
        }
        current.last = number;
    }
    blocks.push(current);
    blocks.retain(|block| says_something(block, lines));
    blocks
}

/// Words of a heading that is a sentence of its own: `2.1 the option -x is now -y`.
const SENTENCE: usize = 3;

/// Whether there is more in a block than a bare heading.
fn says_something(block: &Block, lines: &[&str]) -> bool {
    let own = usize::from(block.headings.last() == Some(&block.first));
    let skip = (block.first as usize).saturating_sub(1) + own;
    lines.iter().take(block.last as usize).skip(skip).any(|line| line.chars().any(char::is_alphanumeric))
        || lines.get((block.first as usize).saturating_sub(1)).is_some_and(|heading| {
            own == 1
                && heading.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count()
                    >= SENTENCE
        })
}

/// The level of a heading: `## x`, `== x`, or a line with another of punctuation below it.
fn heading(lines: &[&str], at: usize) -> Option<usize> {
    let line = lines.get(at)?;
    for mark in ['#', '='] {
        let level = line.chars().take_while(|c| *c == mark).count();
        if (1..=6).contains(&level) && line.get(level..)?.starts_with(' ') {
            return Some(level);
        }
    }
    let below = lines.get(at + 1)?.trim_end();
    let mark = below.chars().next().filter(|c| "=-~^\"*+".contains(*c))?;
    let underlined = below.len() >= 3 && below.chars().all(|c| c == mark);
    let text = !line.trim().is_empty() && line.chars().next().is_some_and(|c| !c.is_whitespace());
    let table = line.contains('|') || line.starts_with(mark);
    (underlined && text && !table).then(|| "=-~^\"*+".find(mark).unwrap_or(0) + 1)
}

/// The level of a line that begins the notes on a version: `2.1 (2024-05-02)`, `Version 3`, `[1.0.0]`, `tool (1.2-3) …`,
/// `tool 1.2`.
fn version(lines: &[&str], at: usize) -> Option<usize> {
    let line = lines.get(at)?;
    if line.len() > 120 || line.starts_with(char::is_whitespace) {
        return None;
    }
    let lower = line.to_lowercase();
    let mut rest = lower.trim_start_matches(['[', '*', ' ']);
    let mut named = false;
    for word in ["version ", "release ", "changes in ", "new in ", "v"] {
        if let Some(after) = rest.strip_prefix(word) {
            (rest, named) = (after, true);
        }
    }
    // `tool 1.2`, and perhaps a date.
    if let Some((_, version)) = rest.split_once(' ')
        && !named
        && version.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
        && rest.split_whitespace().count() <= 4
        && rest.starts_with(char::is_alphabetic)
    {
        rest = version.trim_start_matches('v');
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let dotted = digits > 0
        && rest.get(digits..)?.starts_with(['.', '-'])
        && rest.get(digits + 1..)?.starts_with(|c: char| c.is_ascii_digit());
    let debian = lower.split_once(" (").is_some_and(|(name, rest)| {
        !name.contains(' ') && rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains(')')
    });
    (dotted || named && digits > 0 || debian).then_some(2)
}

/// Cuts a program at its functions and classes; what lies between them stays together.
fn by_functions(language: Language, text: &str, lines: &[&str]) -> Vec<Block> {
    let grammar = match language {
        Language::Shell => Some(Grammar::Bash),
        Language::Python => Some(Grammar::Python),
        Language::Node => Some(Grammar::JavaScript),
        _ => None,
    };
    let starts = match grammar.and_then(|grammar| tree::parse(grammar, text).ok()) {
        Some(tree) => starts_in(&tree),
        None => lines
            .iter()
            .zip(1_u32..)
            .filter(|(line, _)| begins_function(line))
            .map(|(_, at)| (at, at))
            .collect(),
    };
    let last = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let mut blocks = Vec::new();
    let mut next = 1;
    for (first, end) in starts {
        if first > next {
            blocks.push(Block { headings: Vec::new(), first: next, last: first - 1 });
        }
        blocks.push(Block { headings: vec![first], first, last: end });
        next = end + 1;
    }
    if last >= next {
        blocks.push(Block { headings: Vec::new(), first: next, last });
    }
    if grammar.is_none() {
        join_bodies(&mut blocks);
    }
    blocks.retain(|block| {
        let skip = (block.first as usize).saturating_sub(1);
        lines.iter().take(block.last as usize).skip(skip).any(|line| !line.trim().is_empty())
    });
    blocks
}

/// First and last line of every function and class at the top of a program.
fn starts_in(tree: &tree::Tree) -> Vec<(u32, u32)> {
    const KINDS: [&str; 7] = [
        "function_definition",
        "class_definition",
        "decorated_definition",
        "function_declaration",
        "generator_function_declaration",
        "class_declaration",
        "export_statement",
    ];
    let line = |row: usize| u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1);
    let mut out: Vec<(u32, u32)> = Vec::new();
    for node in tree::children(tree.root_node()) {
        let (first, last) = (line(node.start_position().row), line(node.end_position().row));
        // Two on one line are one block.
        if KINDS.contains(&node.kind()) && out.last().is_none_or(|(_, end)| first > *end) {
            out.push((first, last));
        }
    }
    out
}

/// Without a tree only the first lines of functions are known: their bodies go up to the next one.
fn join_bodies(blocks: &mut Vec<Block>) {
    let mut joined: Vec<Block> = Vec::new();
    for block in blocks.drain(..) {
        match joined.last_mut() {
            Some(before) if block.headings.is_empty() && !before.headings.is_empty() => {
                before.last = block.last
            }
            _ => joined.push(block),
        }
    }
    *blocks = joined;
}

fn begins_function(line: &str) -> bool {
    ["sub ", "def ", "function ", "func ", "class ", "define ", "CREATE ", "create "]
        .iter()
        .any(|word| line.starts_with(word))
}

/// The pieces of a block: whole where it is small, else cut at blank lines, and between lines where there are none.
pub(super) fn split(block: &Block, lines: &[&str]) -> Vec<Block> {
    let mut out = Vec::new();
    let mut open: Option<(Block, usize)> = None;
    let mut blank = false;
    for number in block.first..=block.last {
        let line = lines.get((number - 1) as usize).copied().unwrap_or_default();
        let cost = line.chars().count() + 1;
        let is_blank = line.trim().is_empty();
        if let Some((current, size)) = &mut open {
            let paragraph = blank && *size > PIECE_CHARS / 2;
            if *size + cost > PIECE_CHARS && !is_blank
                || paragraph && size_ahead(number, block, lines) + *size > PIECE_CHARS
            {
                out.extend(open.take().map(|(block, _)| block));
            } else if !is_blank {
                current.last = number;
                *size += cost;
            }
        }
        if open.is_none() && !is_blank {
            let headings = block.headings.clone();
            open = Some((Block { headings, first: number, last: number }, cost));
        }
        blank = is_blank;
    }
    out.extend(open.map(|(block, _)| block));
    out
}

/// The size of the paragraph that begins at a line, as far as it matters.
fn size_ahead(number: u32, block: &Block, lines: &[&str]) -> usize {
    let mut size = 0;
    for line in lines.iter().take(block.last as usize).skip((number - 1) as usize) {
        if line.trim().is_empty() || size > PIECE_CHARS {
            break;
        }
        size += line.chars().count() + 1;
    }
    size
}
