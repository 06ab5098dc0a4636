//! Messages in other languages, read back into English: what the C library, bash and common GNU tools say in 17 languages.
//!
//! `catalogue.tsv` holds one message a line: English, a tab, the other language, with `{1}` for what is filled in. It was
//! taken from the message catalogues that Debian 12 ships. A line is read back piece by piece, since a tool puts the C
//! library's words behind its own; what is no known message stays as it is.

use std::collections::HashMap;
use std::sync::LazyLock;

const TEXT: &str = include_str!("catalogue.tsv");
/// How many messages of one line are read back.
const MOST: usize = 4;
/// Longer lines are left alone.
const LONGEST: usize = 1_000;
/// So many bytes of a message's longest piece are looked up at once; messages with less are left out.
const START: usize = 6;

/// A message of another language: its pieces between what is filled in, and the English for it.
struct Message {
    pieces: Vec<&'static str>,
    /// Which hole stands behind each piece but the last.
    holes: Vec<u8>,
    english: &'static str,
}

/// The messages by the beginning of their longest piece; the longest first.
type Catalogue = HashMap<&'static [u8], Vec<Message>>;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(read);

fn read() -> Catalogue {
    let mut catalogue = Catalogue::new();
    for (english, other) in TEXT.lines().filter_map(|line| line.split_once('\t')) {
        let (pieces, holes) = parts(other);
        let message = Message { pieces, holes, english };
        if let Some(start) = message.longest().1.trim().as_bytes().get(..START) {
            catalogue.entry(start).or_default().push(message);
        }
    }
    for messages in catalogue.values_mut() {
        messages.sort_by_key(|message| usize::MAX - message.longest().1.len());
    }
    catalogue
}

/// Which pairs of bytes a message can begin with: most places of most lines are passed by with that.
static BEGINS: LazyLock<Vec<bool>> = LazyLock::new(|| {
    let mut pairs = vec![false; 1 << 16];
    for start in CATALOGUE.keys() {
        if let Some(place) = pair(start).and_then(|pair| pairs.get_mut(pair)) {
            *place = true;
        }
    }
    pairs
});

fn pair(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [one, two, ..] => Some(usize::from(*one) << 8 | usize::from(*two)),
        _ => None,
    }
}

/// Cuts `{1}: x {2}` into its pieces and holes.
fn parts(message: &'static str) -> (Vec<&'static str>, Vec<u8>) {
    let (mut pieces, mut holes) = (Vec::new(), Vec::new());
    let mut rest = message;
    while let Some((piece, behind)) = rest.split_once('{') {
        let Some((number, behind)) = behind.split_once('}') else { break };
        pieces.push(piece);
        holes.push(number.parse().unwrap_or(0));
        rest = behind;
    }
    pieces.push(rest);
    (pieces, holes)
}

/// The line in English as far as it holds known messages; `None` where it holds none.
pub fn english(line: &str) -> Option<String> {
    if line.len() > LONGEST {
        return None;
    }
    let mut out = line.to_owned();
    let mut from = 0;
    for round in 0..=MOST {
        let hit = (round < MOST).then(|| next(&out, from)).flatten();
        let Some((start, end, english)) = hit else { return (round > 0).then_some(out) };
        // What a message was filled in with may hold another one.
        from = start;
        out = format!("{}{english}{}", out.get(..start)?, out.get(end..)?);
    }
    Some(out)
}

/// The next message of a line: from where to where it stands, and its English.
fn next(line: &str, from: usize) -> Option<(usize, usize, String)> {
    let bytes = line.as_bytes();
    let begins = |at: &usize| {
        let first = bytes.get(*at).copied().unwrap_or_default();
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or_default();
        let in_word = first.is_ascii_alphanumeric() && before.is_ascii_alphanumeric();
        first != b' ' && !in_word && line.is_char_boundary(*at)
    };
    (from..bytes.len().saturating_sub(START - 1)).filter(begins).find_map(|at| {
        let start = bytes.get(at..at + START)?;
        BEGINS.get(pair(start)?).filter(|begins| **begins)?;
        let messages = CATALOGUE.get(start)?;
        messages.iter().find_map(|message| message.at(line, at))
    })
}

impl Message {
    /// The longest piece and which one it is.
    fn longest(&self) -> (usize, &'static str) {
        self.pieces
            .iter()
            .copied()
            .enumerate()
            .max_by_key(|(_, piece)| piece.trim().len())
            .unwrap_or_default()
    }

    /// Whether the message stands in a line with its longest piece at a place: from where to where, and its English.
    fn at(&self, line: &str, place: usize) -> Option<(usize, usize, String)> {
        let (longest, word) = self.longest();
        let anchor = place.checked_sub(word.len() - word.trim_start().len())?;
        line.get(anchor..)?.starts_with(word.trim_end()).then_some(())?;
        let mut values: Vec<(u8, &str)> = Vec::new();
        // The pieces before it, from the right to the left.
        let mut start = anchor;
        for at in (0..longest).rev() {
            let piece = self.pieces.get(at)?;
            let before = line.get(..start)?;
            let found =
                if piece.is_empty() && at == 0 { filled_from(before) } else { before.rfind(piece)? };
            values.push((*self.holes.get(at)?, before.get(found + piece.len()..)?));
            start = found;
        }
        let mut end = anchor + word.trim_end().len();
        if self.pieces.len() > longest + 1 {
            end = (anchor + word.len()).min(line.len());
        }
        for at in longest + 1..self.pieces.len() {
            let piece = self.pieces.get(at)?;
            let behind = line.get(end..)?;
            let found = if piece.is_empty() { behind.len() } else { behind.find(piece)? };
            values.push((*self.holes.get(at - 1)?, behind.get(..found)?));
            end += found + piece.len();
        }
        let mut english = self.english.to_owned();
        for (hole, value) in values {
            english = english.replace(&format!("{{{hole}}}"), value.trim_matches('\u{a0}'));
        }
        Some((start, end, english))
    }
}

/// Where the text that fills a first hole begins: behind the last `: ` that ends the name of a tool.
fn filled_from(before: &str) -> usize {
    before.trim_end().rfind(": ").map_or(0, |at| at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_back() {
        for (other, expected) in [
            ("cat: /nope: 没有那个文件或目录", "cat: /nope: No such file or directory"),
            (
                "ls: Zugriff auf '/a b' nicht möglich: Keine Berechtigung",
                "ls: cannot access '/a b': Permission denied",
            ),
            ("x.sh: Zeile 3: foo: Kommando nicht gefunden.", "x.sh: Zeile 3: foo: command not found"),
            (
                "x.sh: 行 3: 未预期的记号 \"then\" 附近有语法错误",
                "x.sh: 行 3: syntax error near unexpected token `then'",
            ),
            ("ls: unbekannte Option »--x«", "ls: unbekannte Option »--x«"),
        ] {
            assert_eq!(english(other).unwrap_or_else(|| other.to_owned()), expected);
        }
        assert_eq!(english("cp: cannot stat 'x': No such file or directory"), None);
    }

    #[test]
    fn every_message_of_the_catalogue_is_found_again() {
        let mut lost = Vec::new();
        for (_, other) in TEXT.lines().filter_map(|line| line.split_once('\t')) {
            let filled = other.replace("{1}", "alpha").replace("{2}", "beta");
            if english(&format!("tool: {filled}")).is_none() {
                lost.push(other);
            }
        }
        let all = TEXT.lines().count();
        assert!(lost.len() * 100 < all, "{} of {all}: {lost:?}", lost.len());
    }
}
