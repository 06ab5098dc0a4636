//! Makes hostile text harmless to read: escape sequences, control characters and characters that change what is seen or
//! hide text are taken out, and lengths are bounded. What remains is exactly what a person sees.

/// Takes out everything that is not visible text. Line ends and tabs stay; CR LF becomes LF.
#[must_use]
pub fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\n' | '\t' => out.push(c),
            // A progress display returns to the beginning of the line; what was written there stays readable.
            '\r' if chars.peek().is_some_and(|next| *next != '\n') => out.push('\n'),
            c if is_hidden(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// One visible line of at most so many characters.
#[must_use]
pub fn line(raw: &str, most: usize) -> String {
    let text = text(raw);
    let mut out = String::new();
    for (at, c) in text.trim().chars().enumerate() {
        if at == most {
            out.push('…');
            break;
        }
        out.push(if matches!(c, '\n' | '\t') { ' ' } else { c });
    }
    out
}

/// Whether a character cannot be seen, or changes how others are seen.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}'      // zero width, direction marks
            | '\u{2028}'..='\u{202e}'      // separators, direction overrides
            | '\u{2060}'..='\u{206f}'      // invisible operators, direction isolates
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'    // tags and further variation selectors
        )
}

/// Skips the rest of an escape sequence: `[…letter`, `]…BEL` or `]…ESC \`, or one character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
            chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
        }
        Some(']' | 'P' | '_' | '^') => {
            // An unfinished sequence must not swallow the following lines.
            while let Some(c) = chars.next_if(|c| *c != '\n') {
                if c == '\u{7}' || c == '\u{1b}' && chars.next_if_eq(&'\\').is_some() {
                    break;
                }
            }
        }
        Some('\n') | None => {}
        Some(_) => {
            chars.next();
        }
    }
}

/// The last so many characters.
#[must_use]
pub fn end(text: &str, most: usize) -> &str {
    let skip = text.chars().count().saturating_sub(most);
    text.char_indices().nth(skip).and_then(|(at, _)| text.get(at..)).unwrap_or_default()
}

/// The lines of a text with their numbers from 1, as far as they fit: all, or the beginning and what lies around the line
/// `centre`. A gap has a line without a number.
#[must_use]
pub fn excerpt(text: &str, centre: Option<u32>, most_chars: usize) -> Vec<(Option<usize>, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let cost = |at: usize| lines.get(at).map_or(0, |line| line.chars().count().min(LONGEST_LINE) + 1);
    let mut keep = vec![false; lines.len()];
    let mut left = most_chars;
    let centre =
        centre.map_or(0, |line| (line as usize).saturating_sub(1)).min(lines.len().saturating_sub(1));
    let head = 0..lines.len().min(HEAD_LINES);
    let around =
        (0..=lines.len()).flat_map(|far| [centre.checked_sub(far), Some(centre + far + 1)]).flatten();
    for at in head.chain(around) {
        let Some(kept) = keep.get_mut(at).filter(|kept| !**kept) else { continue };
        if cost(at) > left {
            break;
        }
        left -= cost(at);
        *kept = true;
    }
    let mut out = Vec::new();
    let mut in_gap = false;
    for (at, (text, kept)) in lines.iter().zip(keep).enumerate() {
        if kept {
            out.push((Some(at + 1), line_end_cut(text)));
        } else if !in_gap {
            out.push((None, "[… lines left out …]".to_owned()));
        }
        in_gap = !kept;
    }
    out
}

/// So many lines of the beginning are kept first: interpreter, strict mode, imports, settings.
const HEAD_LINES: usize = 20;
/// A longer line is cut.
const LONGEST_LINE: usize = 400;

fn line_end_cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_LINE) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn takes_out_what_cannot_be_seen() {
        for (raw, seen) in [
            ("\u{1b}[1;31mred\u{1b}[0m\ttab\r\nnext", "red\ttab\nnext"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\b", "ab"),
            ("\u{1b}]unfinished\nnext\u{1b}", "\nnext"),
            ("rm \u{202e}fdp.exe\u{2066}x\u{200b}y", "rm fdp.exexy"),
            ("hi\u{e0069}\u{e0067}\u{e006e} \u{0}\u{9b}31m", "hi 31m"),
            ("10%\r20%\r\n", "10%\n20%\n"),
            ("Grüße 你好 🙂", "Grüße 你好 🙂"),
        ] {
            assert_eq!(text(raw), seen);
        }
        assert_eq!(line(" a\nb\u{1b}[0m\tcdef ", 5), "a b c…");
        assert_eq!(end("äöü", 2), "öü");
    }

    #[test]
    fn an_excerpt_keeps_the_beginning_and_the_place() {
        let text: String = (1..=500).map(|n| format!("line {n}\n")).collect();
        let shown = excerpt(&text, Some(300), 600);
        let numbers: Vec<usize> = shown.iter().filter_map(|(number, _)| *number).collect();
        assert_eq!((numbers[0], numbers[19]), (1, 20));
        assert!(numbers.contains(&290) && numbers.contains(&310) && !numbers.contains(&400));
        assert_eq!(shown.iter().filter(|(number, _)| number.is_none()).count(), 2);
        assert_eq!(excerpt("a\nb\n", Some(900), 600).len(), 2);
        assert!(excerpt("", None, 600).is_empty());
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(raw in any::<String>()) {
            prop_assert!(!text(&raw).chars().any(|c| is_hidden(c) && c != '\n' && c != '\t'));
        }

        #[test]
        fn an_excerpt_is_bounded(raw in "[a\n]{0,300}", centre in 0_u32..400, most in 0_usize..200) {
            let length: usize =
                excerpt(&raw, Some(centre), most).iter().filter(|l| l.0.is_some()).map(|l| l.1.len() + 1).sum();
            prop_assert!(length <= most);
        }
    }
}
