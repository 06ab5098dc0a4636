//! Search and replace on whole texts: each text to find must occur exactly once, and nothing is guessed.

use std::ops::Range;

use selfheal_core::redact::{MASK, Redactor};

use super::clean;

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) find: String,
    pub(super) replace: String,
}

/// Applies replacements to a text. All are found in the text as it is, so they cannot build on each other.
///
/// # Errors
/// In words for the model: a text to find does not occur, or more than once, or two overlap.
pub(super) fn apply(text: &str, edits: &[Edit]) -> Result<String, String> {
    let mut places: Vec<(Range<usize>, String)> = Vec::new();
    for (at, edit) in edits.iter().enumerate() {
        let number = at + 1;
        let (find, replace) = (like(text, &edit.find), like(text, &edit.replace));
        if find.trim().is_empty() {
            return Err(format!("the text to find of edit {number} is empty"));
        }
        places.push((only_place(text, &find, number)?, replace));
    }
    places.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (range, replace) in places {
        let between = text.get(at..range.start).ok_or("two edits change the same text")?;
        out.push_str(between);
        out.push_str(&replace);
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Ok(out)
}

fn only_place(text: &str, find: &str, number: usize) -> Result<Range<usize>, String> {
    let mut places = text.match_indices(find);
    match (places.next(), places.next()) {
        (Some((start, _)), None) => Ok(start..start + find.len()),
        (None, _) => Err(format!("the text to find of edit {number} is not in the file; copy it exactly")),
        (Some(_), Some(_)) => {
            Err(format!("the text to find of edit {number} occurs more than once; take in a line more"))
        }
    }
}

/// With the line ends of the text that it goes into.
pub(super) fn like(text: &str, piece: &str) -> String {
    let plain = piece.replace("\r\n", "\n");
    if text.contains("\r\n") { plain.replace('\n', "\r\n") } else { plain }
}

/// How every placeholder of a secret begins.
const OPENING: &str = "[secret";

/// Puts back the secrets that the model could not see: numbered ones by their number, where the text holds them; else a
/// masked line stands for the one line of the text that looks like it when masked.
///
/// # Errors
/// When a mask stands for nothing: a script with a mask in it would be broken.
pub(super) fn unmask(piece: &str, text: &str, redactor: &Redactor) -> Result<String, String> {
    if !piece.contains(OPENING) || text.contains(OPENING) {
        return Ok(piece.to_owned());
    }
    let piece = redactor.restored(piece, text);
    let unnumbered = piece.replace(MASK, "");
    if unnumbered.contains(OPENING) {
        return Err("it names a secret that the file does not hold; leave such lines alone".to_owned());
    }
    unmasked_lines(&piece, text, redactor)
}

/// Refuses a new text in which a secret of the old one stands more often: it may move, and not spread.
///
/// # Errors
/// In words for the model.
pub(super) fn no_spread(before: &str, after: &str, redactor: &Redactor) -> Result<(), String> {
    let count = |text: &str| redactor.text(text).as_str().matches(OPENING).count();
    if count(after) > count(before) {
        return Err("the new text uses a secret in a further place; leave such lines alone".to_owned());
    }
    Ok(())
}

fn unmasked_lines(piece: &str, text: &str, redactor: &Redactor) -> Result<String, String> {
    if !piece.contains(MASK) {
        return Ok(piece.to_owned());
    }
    let masked: Vec<(&str, String)> = text
        .lines()
        .map(|line| (line, redactor.text(line).as_str().to_owned()))
        .filter(|(_, masked)| masked.contains(MASK))
        .collect();
    let mut out = String::new();
    for line in piece.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\r', '\n']);
        if !bare.contains(MASK) {
            out.push_str(line);
            continue;
        }
        let mut originals = masked.iter().filter(|(_, masked)| masked == bare).map(|(line, _)| *line);
        match (originals.next(), originals.next()) {
            (Some(original), None) => {
                out.push_str(original);
                out.push_str(line.get(bare.len()..).unwrap_or_default());
            }
            _ => return Err("it changes a line that holds a secret; leave such lines alone".to_owned()),
        }
    }
    Ok(out)
}

/// Refuses a new text with characters that nobody can see, unless the old one had them.
///
/// # Errors
/// In words for the model.
pub(super) fn visible(before: &str, after: &str) -> Result<(), String> {
    let odd = |c: &char| clean::is_hidden(*c) && !matches!(c, '\n' | '\t');
    match after.chars().find(|c| odd(c) && !before.contains(*c)) {
        Some(c) => Err(format!("the new text holds the invisible character U+{:04X}", u32::from(c))),
        None => Ok(()),
    }
}

/// The number of the first line, from 1, in which two texts differ.
pub(super) fn first_difference(before: &str, after: &str) -> usize {
    let same = before.lines().zip(after.lines()).take_while(|(old, new)| old == new).count();
    (same + 1).min(after.lines().count().max(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edit(find: &str, replace: &str) -> Edit {
        Edit { find: find.to_owned(), replace: replace.to_owned() }
    }

    #[test]
    fn replaces_what_occurs_once_and_keeps_line_ends() {
        let text = "a=1\nb=2\nc=3\n";
        let edits = [edit("c=3\n", "c=4\nd=5\n"), edit("a=1", "a=0")];
        assert_eq!(apply(text, &edits), Ok("a=0\nb=2\nc=4\nd=5\n".to_owned()));
        assert_eq!(apply("a\r\nb\r\n", &[edit("a\nb", "x\ny\nz")]), Ok("x\r\ny\r\nz\r\n".to_owned()));
    }

    #[test]
    fn refuses_what_is_not_exact() {
        let text = "x\ny\nx\nz\n";
        for (edits, reason) in [
            (vec![edit("x", "q")], "occurs more than once"),
            (vec![edit("w", "q")], "is not in the file"),
            (vec![edit(" \n", "q")], "is empty"),
            (vec![edit("y\nx", "q"), edit("x\nz", "r")], "change the same text"),
        ] {
            let told = apply(text, &edits).unwrap_err();
            assert!(told.contains(reason), "{told}");
        }
    }

    #[test]
    fn secrets_come_back_and_masks_never_get_into_a_file() {
        let redactor = Redactor::default();
        let text = "DB_PASSWORD=hunter22\nrun --fast\n";
        let shown = redactor.text(text).to_string();
        assert_eq!(shown, "DB_PASSWORD=[secret-1]\nrun --fast\n");
        assert_eq!(unmask(&format!("set -e\n{shown}"), text, &redactor), Ok(format!("set -e\n{text}")));
        assert!(unmask("export DB_PASSWORD=[secret]\n", text, &redactor).is_err());
        assert!(unmask("export DB_PASSWORD=[secret-7]\n", text, &redactor).is_err());
        assert!(unmask("export DB_PASSWORD=[secret-1]\n", "run\n", &redactor).is_err());
        assert!(no_spread(text, &format!("{text}echo hunter22 > PASSWORD=hunter22"), &redactor).is_err());
        assert_eq!(no_spread(text, &format!("set -e\n{text}"), &redactor), Ok(()));
        assert_eq!(unmask("echo '[secret]'", "echo '[secret]'", &redactor), Ok("echo '[secret]'".to_owned()));
    }

    #[test]
    fn invisible_characters_are_refused_unless_they_were_there() {
        assert!(visible("a", "a\u{202e}").is_err());
        assert_eq!(visible("\u{feff}a\r\n", "\u{feff}b\t\r\n"), Ok(()));
        assert!(visible("a\n", "a\r\n").is_err());
    }

    proptest! {
        #[test]
        fn an_edit_changes_only_its_place(text in "[ab\n]{0,30}", find in "[ab\n]{1,4}", replace in "[xy\n]{0,4}") {
            let found = text.match_indices(&find).count();
            if let Ok(after) = apply(&text, &[edit(&find, &replace)]) {
                prop_assert_eq!(found, 1);
                prop_assert_eq!(after, text.replacen(&find, &replace, 1));
            }
        }
    }
}
