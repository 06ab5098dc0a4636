//! Removes backslash-newline pairs the way a shell does, before anything is parsed.
//!
//! The grammar reads a continuation inside a word (`r\⏎m`) as the end of the word, without an error, so an analyser that
//! skips this step sees another program than the shell runs. Single-quoted text, comments and here-documents with a
//! quoted delimiter keep their backslashes. Offsets in the joined text are led back to the original by [`Joined`].

/// A text without continuations, and the way back to the original offsets.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The text that is parsed.
    pub text: String,
    /// Offsets in `text` at which bytes were left out, each with the sum of bytes left out up to there.
    cuts: Vec<(usize, usize)>,
}

impl Joined {
    /// The offset in the original text of an offset in the joined text. An offset right at a cut belongs to what follows
    /// it; for the end of a span use [`Joined::end_of`].
    #[must_use]
    pub fn original(&self, offset: usize) -> usize {
        let at = self.cuts.partition_point(|(cut, _)| *cut <= offset);
        offset + self.removed_before(at)
    }

    /// The original offset of the end of a span: a cut right at the end is not part of it.
    #[must_use]
    pub fn end_of(&self, offset: usize) -> usize {
        let at = self.cuts.partition_point(|(cut, _)| *cut < offset);
        offset + self.removed_before(at)
    }

    fn removed_before(&self, at: usize) -> usize {
        at.checked_sub(1).and_then(|last| self.cuts.get(last)).map_or(0, |(_, removed)| *removed)
    }
}

/// Joins continued lines.
#[must_use]
pub fn join(text: &str) -> Joined {
    if !text.contains("\\\n") && !text.contains("\\\r\n") {
        return Joined { text: text.to_owned(), cuts: Vec::new() };
    }
    Joiner {
        bytes: text.as_bytes(),
        at: 0,
        quotes: vec![false],
        pending: Vec::new(),
        cuts: Vec::new(),
        out: Vec::new(),
    }
    .run()
}

struct Joiner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Nested substitutions; `true` while inside double quotes on that level.
    quotes: Vec<bool>,
    /// Here-documents whose bodies begin on the next line: delimiter, quoted, tabs stripped.
    pending: Vec<(Vec<u8>, bool, bool)>,
    cuts: Vec<(usize, usize)>,
    out: Vec<u8>,
}

impl Joiner<'_> {
    fn run(mut self) -> Joined {
        while let Some(byte) = self.peek(0) {
            self.step(byte);
        }
        // Only whole ASCII pairs were left out, so the rest is still UTF-8.
        let text = String::from_utf8(self.out).unwrap_or_default();
        Joined { text, cuts: self.cuts }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn copy(&mut self, count: usize) {
        let end = (self.at + count).min(self.bytes.len());
        self.out.extend_from_slice(self.bytes.get(self.at..end).unwrap_or_default());
        self.at = end;
    }

    fn quoted(&self) -> bool {
        self.quotes.last().copied().unwrap_or(false)
    }

    fn set_quoted(&mut self, quoted: bool) {
        if let Some(last) = self.quotes.last_mut() {
            *last = quoted;
        }
    }

    fn step(&mut self, byte: u8) {
        match byte {
            b'\\' => self.backslash(),
            b'"' => {
                self.set_quoted(!self.quoted());
                self.copy(1);
            }
            b'$' if self.peek(1) == Some(b'(') => {
                self.quotes.push(false);
                self.copy(2);
            }
            b'$' if self.peek(1) == Some(b'\'') && !self.quoted() => self.ansi_string(),
            b')' if !self.quoted() && self.quotes.len() > 1 => {
                self.quotes.pop();
                self.copy(1);
            }
            b'(' if !self.quoted() && self.quotes.len() > 1 => {
                self.quotes.push(false);
                self.copy(1);
            }
            b'\'' if !self.quoted() => self.until(b'\''),
            b'#' if !self.quoted() && self.at_word_start() => self.comment(),
            b'<' if !self.quoted() && self.peek(1) == Some(b'<') => self.here(),
            b'\n' => {
                self.copy(1);
                self.bodies();
            }
            _ => self.copy(1),
        }
    }

    fn backslash(&mut self) {
        let skip = match (self.peek(1), self.peek(2)) {
            (Some(b'\n'), _) => 2,
            (Some(b'\r'), Some(b'\n')) => 3,
            _ => return self.copy(2),
        };
        self.at += skip;
        let removed = self.cuts.last().map_or(0, |(_, removed)| *removed) + skip;
        self.cuts.push((self.out.len(), removed));
    }

    fn at_word_start(&self) -> bool {
        self.out.last().is_none_or(|last| b" \t\n;&|(".contains(last))
    }

    fn until(&mut self, end: u8) {
        self.copy(1);
        while let Some(byte) = self.peek(0) {
            self.copy(1);
            if byte == end {
                break;
            }
        }
    }

    fn ansi_string(&mut self) {
        self.copy(2);
        while let Some(byte) = self.peek(0) {
            self.copy(if byte == b'\\' { 2 } else { 1 });
            if byte == b'\'' {
                break;
            }
        }
    }

    fn comment(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n') {
            self.copy(1);
        }
    }

    /// Reads `<<WORD` and remembers the delimiter; `<<<` is no here-document.
    fn here(&mut self) {
        if self.peek(2) == Some(b'<') {
            return self.copy(3);
        }
        self.copy(2);
        let tabs = self.peek(0) == Some(b'-');
        if tabs {
            self.copy(1);
        }
        while self.peek(0).is_some_and(|byte| byte == b' ' || byte == b'\t') {
            self.copy(1);
        }
        let mut word = Vec::new();
        while let Some(byte) = self.peek(0).filter(|byte| !b" \t\r\n;&|<>()".contains(byte)) {
            word.push(byte);
            self.copy(1);
        }
        let quoted = word.iter().any(|byte| b"'\"\\".contains(byte));
        word.retain(|byte| !b"'\"\\".contains(byte));
        if !word.is_empty() {
            self.pending.push((word, quoted, tabs));
        }
    }

    /// Copies the bodies of here-documents; a continuation is one only where the delimiter is not quoted.
    fn bodies(&mut self) {
        for (delimiter, quoted, tabs) in std::mem::take(&mut self.pending) {
            while self.peek(0).is_some() {
                let rest = self.bytes.get(self.at..).unwrap_or_default();
                let len = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
                let mut line = rest.get(..len).unwrap_or_default();
                while let [head @ .., b'\n' | b'\r'] = line {
                    line = head;
                }
                while let ([b'\t', tail @ ..], true) = (line, tabs) {
                    line = tail;
                }
                if !quoted && line.ends_with(b"\\") && line != delimiter.as_slice() {
                    self.copy(len - if rest.get(len.saturating_sub(2)) == Some(&b'\r') { 3 } else { 2 });
                    self.backslash();
                } else {
                    self.copy(len);
                }
                if line == delimiter.as_slice() {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_inside_words_and_leads_offsets_back() {
        let joined = join("r\\\nm -rf x\necho \\\n  y\n");
        assert_eq!(joined.text, "rm -rf x\necho   y\n");
        assert_eq!((joined.original(0), joined.original(1), joined.end_of(1)), (0, 3, 1));
        assert_eq!(joined.original(9), 11);
    }

    #[test]
    fn leaves_quotes_comments_and_quoted_documents() {
        for text in ["echo 'a\\\nb'\n", "# note \\\nrm x\n", "cat <<'E'\na\\\nE\nx\n", "x=$'a\\'\\\nb'\n"] {
            assert_eq!(join(text).text, text);
        }
        assert_eq!(join("cat <<E\na\\\nb\nE\nx \\\ny\n").text, "cat <<E\nab\nE\nx y\n");
        assert_eq!(join("a \"b\\\nc$(d \\\n'e\\\nf')\"\n").text, "a \"bc$(d 'e\\\nf')\"\n");
    }

    #[test]
    fn windows_line_ends_join_too() {
        assert_eq!(join("a \\\r\nb\r\n").text, "a b\r\n");
    }
}
