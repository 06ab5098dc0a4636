//! Reads shell words as bash prints them in a trace: bare, in quotes, in `$'…'`. Pure.

/// Splits a command as a trace shows it into words, quotes taken away. What is not closed ends with the text.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(rest.by_ref().take_while(|c| *c != '\''));
            }
            '"' => double_quoted(&mut rest, word.get_or_insert_default()),
            '\\' => word.get_or_insert_default().extend(rest.next()),
            '$' if rest.peek() == Some(&'\'') => {
                rest.next();
                ansi_quoted(&mut rest, word.get_or_insert_default());
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn double_quoted(rest: &mut Chars<'_>, word: &mut String) {
    while let Some(c) = rest.next() {
        match c {
            '"' => return,
            '\\' => match rest.next() {
                Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                Some(c) => word.extend(['\\', c]),
                None => {}
            },
            other => word.push(other),
        }
    }
}

fn ansi_quoted(rest: &mut Chars<'_>, word: &mut String) {
    let mut bytes: Vec<u8> = Vec::new();
    while let Some(c) = rest.next() {
        match c {
            '\'' => break,
            '\\' => ansi_escape(rest, &mut bytes),
            other => bytes.extend(other.to_string().bytes()),
        }
    }
    word.push_str(&String::from_utf8_lossy(&bytes));
}

fn ansi_escape(rest: &mut Chars<'_>, bytes: &mut Vec<u8>) {
    let Some(c) = rest.next() else { return };
    let simple = match c {
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        'a' => 7,
        'b' => 8,
        'v' => 11,
        'f' => 12,
        'e' | 'E' => 27,
        '0'..='7' => {
            let mut value = u32::from(c) - u32::from('0');
            for _ in 0..2 {
                let Some(digit) = rest.next_if(|c| ('0'..='7').contains(c)) else { break };
                value = value * 8 + u32::from(digit) - u32::from('0');
            }
            bytes.push((value & 0xff) as u8);
            return;
        }
        other => {
            bytes.extend(other.to_string().bytes());
            return;
        }
    };
    bytes.push(simple);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_quotes_away() {
        for (text, words) in [
            ("cp '*.log' /b/x", &["cp", "*.log", "/b/x"][..]),
            (r"printf '%s\n' 'it'\''s' ''", &["printf", r"%s\n", "it's", ""]),
            (r"echo $'a\tb\n\303\274' x\ y", &["echo", "a\tb\nü", "x y"]),
            (r#"echo "a \"b\" \c" "#, &["echo", r#"a "b" \c"#]),
            ("x='a\nb'", &["x=a\nb"]),
            ("open 'not closed", &["open", "not closed"]),
            ("", &[]),
        ] {
            assert_eq!(split(text), words, "{text}");
        }
    }
}
