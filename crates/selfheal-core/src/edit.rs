//! Changes to text by lines, the way rules and models make them; and the count of what changed.

use serde::{Deserialize, Serialize};

/// A replacement of whole lines. `first` to `first + count - 1` (from 1) become `lines`; with `count` 0, `lines` come
/// before line `first`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineEdit {
    /// The first line that is replaced, from 1.
    pub first: u32,
    /// How many lines are replaced.
    pub count: u32,
    /// What stands there afterwards, without line ends.
    pub lines: Vec<String>,
}

/// Why edits could not be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// An edit names lines that the text does not have.
    #[error("line {0} is outside of the text")]
    OutOfRange(u32),
    /// Two edits touch the same lines.
    #[error("two edits touch line {0}")]
    Overlap(u32),
}

/// Applies edits to a text. The text's own line ends (LF or CRLF) and the presence of a final newline stay.
///
/// # Errors
/// When an edit lies outside the text or two overlap; nothing is applied then.
pub fn apply(text: &str, edits: &[LineEdit]) -> Result<String, EditError> {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut order: Vec<&LineEdit> = edits.iter().collect();
    order.sort_by_key(|edit| (edit.first, edit.count));
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 1_u32;
    for edit in order {
        let last = lines.len() as u32;
        if edit.first == 0 || edit.first > last + 1 || edit.first + edit.count > last + 1 {
            return Err(EditError::OutOfRange(edit.first));
        }
        if edit.first < at {
            return Err(EditError::Overlap(edit.first));
        }
        lines
            .iter()
            .skip(at as usize - 1)
            .take((edit.first - at) as usize)
            .for_each(|line| out.push_str(line));
        if !out.is_empty() && !out.ends_with('\n') && !edit.lines.is_empty() {
            out.push_str(end);
        }
        for line in &edit.lines {
            out.push_str(line);
            out.push_str(end);
        }
        at = edit.first + edit.count;
    }
    lines.iter().skip(at as usize - 1).for_each(|line| out.push_str(line));
    if !text.ends_with('\n') && out.ends_with('\n') && at > lines.len() as u32 {
        out.truncate(out.len() - end.len());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(first: u32, count: u32, lines: &[&str]) -> LineEdit {
        LineEdit { first, count, lines: lines.iter().map(|line| (*line).to_owned()).collect() }
    }

    #[test]
    fn replaces_inserts_and_deletes() {
        let text = "a\nb\nc\n";
        assert_eq!(apply(text, &[edit(2, 1, &["B"])]).unwrap(), "a\nB\nc\n");
        assert_eq!(apply(text, &[edit(1, 0, &["top"]), edit(3, 1, &[])]).unwrap(), "top\na\nb\n");
        assert_eq!(apply(text, &[edit(4, 0, &["end"])]).unwrap(), "a\nb\nc\nend\n");
    }

    #[test]
    fn keeps_line_ends_and_the_missing_final_newline() {
        assert_eq!(apply("a\r\nb\r\n", &[edit(1, 1, &["x", "y"])]).unwrap(), "x\r\ny\r\nb\r\n");
        assert_eq!(apply("a\nb", &[edit(2, 1, &["x"])]).unwrap(), "a\nx");
        assert_eq!(apply("a", &[edit(2, 0, &["b"])]).unwrap(), "a\nb");
    }

    #[test]
    fn refuses_what_is_outside_or_overlaps() {
        assert_eq!(apply("a\n", &[edit(3, 1, &[])]), Err(EditError::OutOfRange(3)));
        assert_eq!(apply("a\nb\n", &[edit(1, 2, &[]), edit(2, 1, &[])]), Err(EditError::Overlap(2)));
    }
}
