//! Other ways to read a text: without what cannot be seen, or with its escapes taken away. Each knows where in the
//! source its parts come from.

use std::ops::Range;

/// A text as it reads, and where each byte of it comes from.
pub(super) struct View {
    pub(super) text: String,
    /// Beginning and end in the source of each byte.
    places: Vec<(usize, usize)>,
}

impl View {
    fn new(room: usize) -> Self {
        Self { text: String::with_capacity(room), places: Vec::with_capacity(room) }
    }

    fn push(&mut self, c: char, from: usize, to: usize) {
        self.text.push(c);
        self.places.resize(self.text.len(), (from, to));
    }

    /// The part of the source that a part of this text comes from.
    pub(super) fn source(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let last = span.end.checked_sub(1)?;
        Some(self.places.get(span.start)?.0..self.places.get(last)?.1)
    }
}

/// Without escape sequences, control characters and characters that nobody sees; `None` where there are none.
pub(super) fn visible(text: &str) -> Option<View> {
    let plain = |byte: u8| (b' '..0x7f).contains(&byte) || matches!(byte, b'\n' | b'\t' | b'\r');
    if text.bytes().all(plain) || !text.chars().any(is_hidden) {
        return None;
    }
    let mut view = View::new(text.len());
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\u{1b}' {
            skip_sequence(&mut chars);
        } else if !is_hidden(c) {
            view.push(c, at, at + c.len_utf8());
        }
    }
    Some(view)
}

fn is_hidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t' | '\r')
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// The rest of an escape sequence. What it carries (a title, a link) stays to be looked at.
fn skip_sequence(chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>) {
    if chars.next_if(|(_, c)| *c == '[').is_some() {
        while chars.next_if(|(_, c)| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
        chars.next_if(|(_, c)| matches!(c, '\u{40}'..='\u{7e}'));
    } else {
        chars.next_if(|(_, c)| matches!(c, '(' | ')' | ']' | 'P' | '\\' | '=' | '>'));
    }
}

/// With `%41` read as the character; `None` where there is no such escape.
pub(super) fn percent(text: &str) -> Option<View> {
    unescaped(text, '%', |rest| {
        let value = hex(rest.get(1..3)?)?;
        printable(value).map(|c| (c, 3))
    })
}

/// With the escapes of JSON, C and shell strings taken away; `None` where there are none.
pub(super) fn backslash(text: &str) -> Option<View> {
    unescaped(text, '\\', |rest| {
        let c = rest.chars().nth(1)?;
        match c {
            'n' | 'r' => Some(('\n', 2)),
            't' => Some(('\t', 2)),
            'u' => char::from_u32(hex(rest.get(2..6)?)?).map(|c| (c, 6)),
            'x' => printable(hex(rest.get(2..4)?)?).map(|c| (c, 4)),
            c if c.is_ascii_punctuation() => Some((c, 2)),
            _ => None,
        }
    })
}

fn hex(digits: &str) -> Option<u32> {
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

fn printable(value: u32) -> Option<char> {
    char::from_u32(value).filter(|c| c.is_ascii() && !c.is_ascii_control() || *c == '\n')
}

/// Replaces what `read` recognises at each mark: the character, and how many bytes it stands on.
fn unescaped(text: &str, mark: char, read: impl Fn(&str) -> Option<(char, usize)>) -> Option<View> {
    let first = text.match_indices(mark).find(|(at, _)| text.get(*at..).and_then(&read).is_some())?.0;
    let mut view = View::new(text.len());
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let here = rest.chars().next().unwrap_or_default();
        let (c, length) = match here {
            c if c == mark && at >= first => read(rest).unwrap_or((c, c.len_utf8())),
            c => (c, c.len_utf8()),
        };
        view.push(c, at, at + length);
        at += length;
    }
    Some(view)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_knows_where_it_comes_from() {
        let text = "a\u{1b}[31mb\u{1b}[0mc\u{200b}d";
        let view = visible(text).unwrap();
        assert_eq!(view.text, "abcd");
        assert_eq!(text.get(view.source(&(1..4)).unwrap()), Some("b\u{1b}[0mc\u{200b}d"));
        assert!(visible("Grüße\r\n").is_none());
    }

    #[test]
    fn escapes_are_read() {
        assert_eq!(percent("a%3Db%zz%20c").unwrap().text, "a=b%zz c");
        assert!(percent("100% of %d").is_none());
        assert_eq!(backslash(r#"{\"a\": \"b\u003dc\n\"} \"#).unwrap().text, "{\"a\": \"b=c\n\"} \\");
        assert!(backslash(r"C:\Users").is_none());
    }
}
