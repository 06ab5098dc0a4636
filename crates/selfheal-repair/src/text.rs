//! Small tools for text by lines.

use selfheal_core::edit::LineEdit;

/// A line of a text, from 1, without its line end.
pub(crate) fn line(text: &str, number: u32) -> Option<&str> {
    text.lines().nth((number as usize).checked_sub(1)?)
}

/// An edit that puts lines before a line.
pub(crate) fn before(number: u32, lines: Vec<String>) -> LineEdit {
    LineEdit { first: number, count: 0, lines }
}

/// An edit that replaces one line.
pub(crate) fn replace(number: u32, line: impl Into<String>) -> LineEdit {
    LineEdit { first: number, count: 1, lines: vec![line.into()] }
}

/// The edits that turn a text into the one in which `change` was applied to every line that it answers for.
pub(crate) fn edits_by_line(
    text: &str,
    mut change: impl FnMut(u32, &str) -> Option<String>,
) -> Vec<LineEdit> {
    let numbered = text.lines().zip(1_u32..);
    numbered
        .filter_map(|(line, number)| {
            change(number, line).filter(|new| new != line).map(|new| replace(number, new))
        })
        .collect()
}

/// Numbers for a summary: `line 3`, `lines 3, 5 and 9`.
pub(crate) fn lines_in_words(edits: &[LineEdit]) -> String {
    let numbers: Vec<String> = edits.iter().map(|edit| edit.first.to_string()).collect();
    match numbers.split_last() {
        None => "no line".to_owned(),
        Some((only, [])) => format!("line {only}"),
        Some((last, rest)) if rest.len() < 8 => format!("lines {} and {last}", rest.join(", ")),
        Some(_) => format!("{} lines", numbers.len()),
    }
}

/// Whether a character may be part of a name in scripts.
pub(crate) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Byte offsets at which a word stands on its own: no name character on either side.
pub(crate) fn whole_words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let left = text.get(..*at).and_then(|part| part.chars().next_back());
        let right = text.get(at + word.len()..).and_then(|part| part.chars().next());
        !word.is_empty() && !left.is_some_and(is_name) && !right.is_some_and(is_name)
    })
}

/// Replaces a word wherever it stands on its own.
pub(crate) fn replace_word(text: &str, word: &str, new: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for at in whole_words(text, word).collect::<Vec<_>>() {
        out.push_str(text.get(done..at).unwrap_or_default());
        out.push_str(new);
        done = at + word.len();
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// At most so many characters of a text, on one line.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(most).collect();
    if text.chars().count() > most { format!("{line}…") } else { line }
}

/// How many single changes turn one word into the other; bounded at `most` + 1. Case counts as no change.
pub(crate) fn distance(a: &str, b: &str, most: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    if a.len().abs_diff(b.len()) > most || a.len() > 200 {
        return most + 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, cb) in b.iter().enumerate() {
            let [diagonal, above] = [j, j + 1].map(|at| row.get(at).copied().unwrap_or(usize::MAX - 1));
            let left = next.last().copied().unwrap_or(usize::MAX - 1);
            next.push((diagonal + usize::from(ca != cb)).min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(most + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_only() {
        assert_eq!(replace_word("a ab a_ (a)", "a", "x"), "x ab a_ (x)");
    }

    #[test]
    fn distances() {
        assert_eq!(distance("backend", "backnd", 3), 1);
        assert_eq!(distance("Listen", "listen", 3), 0);
        assert!(distance("abc", "uvwxyz", 2) > 2);
    }

    #[test]
    fn lines_are_told_in_words() {
        let edit = |first| replace(first, "");
        assert_eq!(lines_in_words(&[edit(3)]), "line 3");
        assert_eq!(lines_in_words(&[edit(3), edit(5), edit(9)]), "lines 3, 5 and 9");
    }
}
