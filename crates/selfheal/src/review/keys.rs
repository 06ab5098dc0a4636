//! Keys from the bytes that a terminal sends. No input in here, and nothing that waits.
//!
//! The bytes are read and decoded here, and not by the library that draws, because its reader blocks in the middle of a
//! key, and loses one that comes together with a new size of the window.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The longest sequence of bytes that is waited for the end of.
const LONGEST: usize = 32;
const ESCAPE: u8 = 0x1b;

/// Bytes that make no whole key yet.
#[derive(Debug, Default)]
pub(super) struct Keys {
    bytes: Vec<u8>,
}

/// What the first bytes are.
enum First {
    Key(KeyCode, KeyModifiers, usize),
    /// Nothing that means anything here.
    Nothing(usize),
    /// The beginning of something.
    Begun,
}

impl Keys {
    /// Takes what the terminal sent.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole key. When nothing more came for a while, what was begun is all there is.
    pub(super) fn next(&mut self, quiet: bool) -> Option<KeyEvent> {
        while !self.bytes.is_empty() {
            match first(&self.bytes) {
                First::Key(code, modifiers, length) => {
                    self.drop(length);
                    return Some(KeyEvent::new(code, modifiers));
                }
                First::Nothing(length) => self.drop(length),
                First::Begun if self.bytes.len() > LONGEST => self.drop(1),
                First::Begun if !quiet => return None,
                First::Begun => {
                    let alone = self.bytes == [ESCAPE];
                    self.bytes.clear();
                    return alone.then(|| KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
                }
            }
        }
        None
    }

    fn drop(&mut self, length: usize) {
        self.bytes.drain(..length.clamp(1, self.bytes.len()));
    }
}

fn first(bytes: &[u8]) -> First {
    let plain = |code| First::Key(code, KeyModifiers::NONE, 1);
    match bytes {
        [ESCAPE] | [] => First::Begun,
        [ESCAPE, b'[', rest @ ..] => sequence(rest),
        [ESCAPE, b'O', rest @ ..] => match rest {
            [] => First::Begun,
            [last, ..] => named(b"", *last, 3),
        },
        [ESCAPE, ..] => plain(KeyCode::Esc),
        [b'\r' | b'\n', ..] => plain(KeyCode::Enter),
        [b'\t', ..] => plain(KeyCode::Tab),
        [0x7f | 0x08, ..] => plain(KeyCode::Backspace),
        [control @ 1..=26, ..] => {
            First::Key(KeyCode::Char(char::from(control | 0x60)), KeyModifiers::CONTROL, 1)
        }
        [0..=0x1f, ..] => First::Nothing(1),
        _ => character(bytes),
    }
}

/// What stands behind the two bytes that begin a sequence: parameters, and one letter that says what it is.
fn sequence(rest: &[u8]) -> First {
    let parameters = rest.iter().take_while(|byte| (0x20..=0x3f).contains(*byte)).count();
    match rest.get(parameters) {
        None => First::Begun,
        Some(last @ 0x40..=0x7e) => named(rest.get(..parameters).unwrap_or_default(), *last, parameters + 3),
        // It broke off; what came instead is looked at for itself.
        Some(_) => First::Nothing(parameters + 2),
    }
}

fn named(parameters: &[u8], last: u8, length: usize) -> First {
    let number = parameters.split(|byte| *byte == b';').next().unwrap_or_default();
    let code = match (last, number) {
        (b'A', _) => KeyCode::Up,
        (b'B', _) => KeyCode::Down,
        (b'C', _) => KeyCode::Right,
        (b'D', _) => KeyCode::Left,
        (b'H', _) | (b'~', b"1" | b"7") => KeyCode::Home,
        (b'F', _) | (b'~', b"4" | b"8") => KeyCode::End,
        (b'~', b"5") => KeyCode::PageUp,
        (b'~', b"6") => KeyCode::PageDown,
        _ => return First::Nothing(length),
    };
    First::Key(code, KeyModifiers::NONE, length)
}

fn character(bytes: &[u8]) -> First {
    let length = match bytes.first() {
        Some(0xf0..) => 4,
        Some(0xe0..) => 3,
        Some(0xc0..) => 2,
        _ => 1,
    };
    let some = bytes.get(..length.min(bytes.len())).unwrap_or_default();
    match std::str::from_utf8(some) {
        Ok(text) => text
            .chars()
            .next()
            .map_or(First::Nothing(1), |c| First::Key(KeyCode::Char(c), KeyModifiers::NONE, c.len_utf8())),
        Err(error) if error.error_len().is_none() => First::Begun,
        Err(_) => First::Nothing(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(bytes: &[u8]) -> Vec<KeyCode> {
        let mut keys = Keys::default();
        keys.take(bytes);
        let mut found: Vec<KeyCode> = std::iter::from_fn(|| keys.next(false)).map(|key| key.code).collect();
        found.extend(std::iter::from_fn(|| keys.next(true)).map(|key| key.code));
        found
    }

    #[test]
    fn keys_of_terminals_are_known() {
        use KeyCode::{Backspace, Char, Down, End, Enter, Esc, Home, PageDown, PageUp, Tab, Up};
        assert_eq!(
            codes(b"aq\r\n\t\x7f\x08 "),
            [Char('a'), Char('q'), Enter, Enter, Tab, Backspace, Backspace, Char(' ')]
        );
        assert_eq!(
            codes(b"\x1b[A\x1b[1;5B\x1bOH\x1b[4~\x1b[5~\x1b[6~\x1b[1~"),
            [Up, Down, Home, End, PageUp, PageDown, Home]
        );
        assert_eq!(codes("ä文😀".as_bytes()), [Char('ä'), Char('文'), Char('😀')]);
        assert_eq!(codes(b"\x1b"), [Esc]);
        assert_eq!(codes(b"\x1bq"), [Esc, Char('q')]);
    }

    #[test]
    fn control_is_told() {
        let mut keys = Keys::default();
        keys.take(b"\x03");
        assert_eq!(keys.next(false), Some(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
    }

    #[test]
    fn what_comes_in_pieces_is_put_together_and_what_never_ends_is_dropped() {
        let mut keys = Keys::default();
        for byte in b"\x1b[" {
            keys.take(&[*byte]);
            assert_eq!(keys.next(false), None);
        }
        keys.take(b"B");
        assert_eq!(keys.next(false).map(|key| key.code), Some(KeyCode::Down));
        keys.take(&"é".as_bytes()[..1]);
        assert_eq!(keys.next(false), None);
        keys.take(&"é".as_bytes()[1..]);
        assert_eq!(keys.next(false).map(|key| key.code), Some(KeyCode::Char('é')));
        keys.take(b"\x1b[<0;1");
        assert_eq!((keys.next(false), keys.next(true)), (None, None));
        assert_eq!(
            codes(b"\x1b[<0;1;2Mq\x1b[\x01\xff\xfe\x80j\x1b[999xk\x00"),
            [KeyCode::Char('q'), KeyCode::Char('a'), KeyCode::Char('j'), KeyCode::Char('k')]
        );
        let mut keys = Keys::default();
        keys.take(format!("\x1b[{}q", "1;".repeat(5_000)).as_bytes());
        while keys.next(true).is_some() {}
        assert!(keys.bytes.is_empty());
    }
}
