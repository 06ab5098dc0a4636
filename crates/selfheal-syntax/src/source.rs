//! Byte offsets and line numbers of a text.

use std::ops::Range;

/// Where the lines of a text begin, so that offsets become line numbers quickly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    starts: Vec<usize>,
    len: usize,
}

impl Lines {
    /// Indexes a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.bytes().zip(1..).filter(|(byte, _)| *byte == b'\n').map(|(_, behind)| behind));
        Self { starts, len: text.len() }
    }

    /// The line, from 1, that holds a byte offset. Offsets beyond the end belong to the last line.
    #[must_use]
    pub fn line_of(&self, offset: usize) -> u32 {
        self.starts.partition_point(|start| *start <= offset) as u32
    }

    /// The column, from 1 in bytes, of a byte offset.
    #[must_use]
    pub fn column_of(&self, offset: usize) -> u32 {
        let start = self.starts.get(self.line_of(offset) as usize - 1).copied().unwrap_or(0);
        (offset.saturating_sub(start)) as u32 + 1
    }

    /// The bytes of a line (from 1), its line end included; `None` when the text has no such line.
    #[must_use]
    pub fn range(&self, line: u32) -> Option<Range<usize>> {
        let at = (line as usize).checked_sub(1)?;
        let start = *self.starts.get(at)?;
        let end = self.starts.get(at + 1).copied().unwrap_or(self.len);
        Some(start..end)
    }

    /// How many lines there are; a final newline does not begin another one.
    #[must_use]
    pub fn count(&self) -> u32 {
        let all = self.starts.len() as u32;
        if self.starts.last() == Some(&self.len) { all - 1 } else { all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lines_and_columns_agree() {
        let lines = Lines::of("ab\ncd\n");
        assert_eq!([0, 1, 2, 3, 5].map(|at| lines.line_of(at)), [1, 1, 1, 2, 2]);
        assert_eq!(lines.column_of(4), 2);
        assert_eq!(lines.range(2), Some(3..6));
        assert_eq!((lines.range(0), lines.range(4)), (None, None));
        assert_eq!((lines.count(), Lines::of("a\nb").count(), Lines::of("").count()), (2, 2, 0));
    }
}
