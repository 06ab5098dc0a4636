//! Text made fit for a channel: nothing in it that could act, and no longer than the channel takes.

/// What stands where the middle of a text was.
const CUT: &str = "\n…\n";

/// Text without what a terminal, a mail program or a chat could obey: control, bidirectional and invisible characters.
#[must_use]
pub(crate) fn calm(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\n' => Some('\n'),
            '\t' => Some(' '),
            c if c.is_control() => None,
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => None,
            '\u{e0000}'..='\u{e007f}' => None,
            c => Some(c),
        })
        .collect()
}

/// One line of it.
#[must_use]
pub(crate) fn one_line(text: &str) -> String {
    calm(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most so many bytes of a text. Its middle goes: the first line says what happened, the last one what to do.
#[must_use]
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(CUT.len());
    let tail_room = room / 3;
    let head = head_of(text, room - tail_room);
    let tail = tail_of(text, tail_room);
    format!("{head}{CUT}{tail}")
}

fn head_of(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

fn tail_of(text: &str, most: usize) -> &str {
    let start = text.len().saturating_sub(most);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_act_is_taken_out() {
        assert_eq!(calm("a\u{1b}[31m\u{202e}b\r\n\tc\u{e0041}"), "a[31mb\n c");
        assert_eq!(one_line("a\n  b\r\nBcc: x"), "a b Bcc: x");
    }

    #[test]
    fn the_beginning_and_the_end_stay() {
        assert_eq!(shortened("short", 10), "short");
        let long = format!("first\n{}\nselfheal approve 12345678", "ä".repeat(5_000));
        for most in [60, 61, 62, 2_000] {
            let short = shortened(&long, most);
            assert!(short.len() <= most, "{most}");
            assert!(short.starts_with("first") && short.ends_with("345678"), "{short}");
        }
    }
}
