//! Colours where they are wanted, and the taming of text that comes from elsewhere.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Paints text, or leaves it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// Paints only when `on`.
    #[must_use]
    pub fn new(on: bool) -> Self {
        Self { on }
    }

    /// A heading.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Something good, or an added line.
    #[must_use]
    pub fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Something bad, or a removed line.
    #[must_use]
    pub fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// Something to look at.
    #[must_use]
    pub fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// Something of less weight.
    #[must_use]
    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// A line of a unified diff in its colour.
    #[must_use]
    pub fn diff_line(self, line: &str) -> String {
        match line.chars().next() {
            Some('+') => self.green(line),
            Some('-') => self.red(line),
            Some('@') => self.dim(line),
            _ => line.to_owned(),
        }
    }
}

/// Text from a job, a file or a model made safe to show: control, bidirectional and invisible characters are taken out,
/// so that nothing can move the cursor, recolour or reorder what people read.
#[must_use]
pub fn clean(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\t' => Some(' '),
            c if c.is_control() => None,
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => None,
            '\u{e0000}'..='\u{e007f}' => None,
            c => Some(c),
        })
        .collect()
}

/// A path made safe to show, in such a way that two different ones look different: control and invisible characters
/// and bytes that are no text are written as escapes.
#[must_use]
pub fn shown_path(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '\\' || clean(c.encode_utf8(&mut [0; 4])) != c.to_string() {
                shown.extend(c.escape_default());
            } else {
                shown.push(c);
            }
        }
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_shown_on_one_line_and_no_two_alike() {
        let path = |bytes: &[u8]| shown_path(Path::new(std::ffi::OsStr::from_bytes(bytes)));
        assert_eq!(path(b"/a b/\xc3\xa4"), "/a b/\u{e4}");
        assert_eq!(path(b"n\nl\x1b[1m"), "n\\nl\\u{1b}[1m");
        assert_eq!(path(b"\xff\\xff"), "\\xff\\\\xff");
    }

    #[test]
    fn escape_sequences_and_invisible_characters_do_not_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\u{202e}c\u{7}\td\u{e0041}"), "a[31mbc d");
    }

    #[test]
    fn nothing_is_painted_where_colour_is_off() {
        assert_eq!(Paint::new(false).diff_line("+x"), "+x");
        assert_eq!(Paint::new(true).green("x"), "\u{1b}[32mx\u{1b}[0m");
    }
}
