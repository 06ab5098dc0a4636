//! Changes to a text by byte spans and by lines, keeping its line ends.

use std::ops::Range;

use crate::source::Lines;

/// Why replacements could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// A span lies outside the text or cuts a character in two.
    #[error("replace bytes {0} to {1}: they are not a part of the text")]
    OutOfRange(usize, usize),
    /// Two spans overlap.
    #[error("replace bytes around {0}: two replacements overlap")]
    Overlap(usize),
    /// A line that the text does not have.
    #[error("find line {0}")]
    NoSuchLine(u32),
}

/// Replaces byte spans. Spans may be given in any order; an empty span inserts.
///
/// # Errors
/// When a span is not a part of the text, or two overlap.
pub fn replace(text: &str, replacements: &[(Range<usize>, String)]) -> Result<String, EditError> {
    let mut order: Vec<&(Range<usize>, String)> = replacements.iter().collect();
    order.sort_by_key(|(span, _)| (span.start, span.end));
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (span, new) in order {
        if span.start < at {
            return Err(EditError::Overlap(span.start));
        }
        let kept = text.get(at..span.start).filter(|_| text.get(span.clone()).is_some());
        out.push_str(kept.ok_or(EditError::OutOfRange(span.start, span.end))?);
        out.push_str(new);
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Ok(out)
}

/// The line end that a text uses: CRLF if it uses it anywhere.
#[must_use]
pub fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The white space that a line begins with.
#[must_use]
pub fn indentation(text: &str, line: u32) -> String {
    let span = Lines::of(text).range(line).unwrap_or(0..0);
    let line = text.get(span).unwrap_or_default();
    line.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
}

/// A replacement that puts lines before a line (from 1), with that line's indentation. One past the last line appends.
///
/// # Errors
/// When the text has no such line.
pub fn before_line(text: &str, line: u32, new: &[&str]) -> Result<(Range<usize>, String), EditError> {
    let lines = Lines::of(text);
    if line == lines.count() + 1 {
        return after_line(text, lines.count().max(1), new);
    }
    let span = lines.range(line).ok_or(EditError::NoSuchLine(line))?;
    let indent = indentation(text, line);
    let end = line_end(text);
    let block: String = new.iter().map(|line| indented(&indent, line, end)).collect();
    Ok((span.start..span.start, block))
}

/// A replacement that puts lines after a line (from 1), with that line's indentation.
///
/// # Errors
/// When the text has no such line.
pub fn after_line(text: &str, line: u32, new: &[&str]) -> Result<(Range<usize>, String), EditError> {
    let span = Lines::of(text).range(line).ok_or(EditError::NoSuchLine(line))?;
    let indent = indentation(text, line);
    let end = line_end(text);
    let block: String = new.iter().map(|line| indented(&indent, line, end)).collect();
    let open = !text.get(span.clone()).unwrap_or_default().ends_with('\n') && !text.is_empty();
    let block = if open { format!("{end}{}", block.trim_end_matches(end)) } else { block };
    Ok((span.end..span.end, block))
}

fn indented(indent: &str, line: &str, end: &str) -> String {
    if line.is_empty() { end.to_owned() } else { format!("{indent}{line}{end}") }
}

/// The line, from 1, that holds a byte offset. For many look-ups use [`Lines`].
#[must_use]
pub fn line_of(text: &str, offset: usize) -> u32 {
    Lines::of(text).line_of(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_in_any_order() {
        let text = "cp $a $b\n";
        let out = replace(text, &[(6..8, "\"$b\"".into()), (3..5, "\"$a\"".into())]).unwrap();
        assert_eq!(out, "cp \"$a\" \"$b\"\n");
    }

    #[test]
    fn refuses_overlaps_and_half_characters() {
        assert_eq!(
            replace("abc", &[(0..2, String::new()), (1..3, String::new())]),
            Err(EditError::Overlap(1))
        );
        assert_eq!(replace("é", &[(1..2, String::new())]), Err(EditError::OutOfRange(1, 2)));
        assert_eq!(replace("a", &[(0..9, String::new())]), Err(EditError::OutOfRange(0, 9)));
    }

    #[test]
    fn inserts_with_the_indentation_of_the_line() {
        let text = "for f in *; do\r\n  cp \"$f\"\r\ndone";
        let edit = before_line(text, 2, &["[ -e \"$f\" ] || continue"]).unwrap();
        let out = replace(text, &[edit]).unwrap();
        assert_eq!(out, "for f in *; do\r\n  [ -e \"$f\" ] || continue\r\n  cp \"$f\"\r\ndone");
        let edit = after_line(text, 3, &["wait"]).unwrap();
        assert!(replace(text, &[edit]).unwrap().ends_with("done\r\nwait"));
        let edit = before_line("", 1, &["a"]).unwrap();
        assert_eq!(replace("", &[edit]).unwrap(), "a\n");
    }
}
