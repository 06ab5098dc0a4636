//! Shell text cut into words well enough to see which commands a line runs. No grammar: it serves where a script is
//! only scanned, and where in doubt it sees a command too many.

/// The commands of one line of shell text: each as its words, quotes taken off.
#[must_use]
pub fn commands(line: &str) -> Vec<Vec<String>> {
    let mut out = vec![Vec::new()];
    for token in tokens(line) {
        match token {
            Token::Word(word) => {
                if let Some(last) = out.last_mut() {
                    last.push(word);
                }
            }
            Token::Operator => out.push(Vec::new()),
        }
    }
    out.into_iter().map(without_lead).filter(|words| !words.is_empty()).collect()
}

/// One piece of a line.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Operator,
}

/// Words that may stand before a command.
const LEAD: [&str; 14] = [
    "if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "time", "exec", "builtin", "command",
];

fn without_lead(words: Vec<String>) -> Vec<String> {
    let skip = words.iter().take_while(|word| LEAD.contains(&word.as_str()) || is_assignment(word)).count();
    words.into_iter().skip(skip).collect()
}

/// Whether a word sets a variable.
#[must_use]
pub fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let mut bytes = name.bytes();
        bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn tokens(line: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            // A substitution inside of double quotes holds commands of its own.
            (Some('"'), '$') if chars.peek() == Some(&'(') => {
                chars.next();
                flush(&mut word, &mut out);
                out.push(Token::Operator);
                quote = None;
            }
            (Some(_), _) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, '#') if word.is_none() => break,
            (None, '$') if chars.peek() == Some(&'(') => {
                chars.next();
                flush(&mut word, &mut out);
                out.push(Token::Operator);
            }
            (None, ';' | '|' | '&' | '(' | ')' | '`') => {
                flush(&mut word, &mut out);
                out.push(Token::Operator);
            }
            (None, '>' | '<') => {
                flush(&mut word, &mut out);
                let mut redirection = c.to_string();
                while let Some(more) = chars.next_if(|next| matches!(next, '>' | '<' | '&' | '|')) {
                    redirection.push(more);
                }
                out.push(Token::Word(redirection));
            }
            (None, c) if c.is_whitespace() => flush(&mut word, &mut out),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    flush(&mut word, &mut out);
    out
}

fn flush(word: &mut Option<String>, out: &mut Vec<Token>) {
    out.extend(word.take().map(Token::Word));
}

/// The last part of a path.
#[must_use]
pub fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_falls_into_its_commands() {
        let seen = commands(
            "X=1 if ! grep -q 'a b' \"$f\"; then out=$(curl -s \"$url\" | sort) && mv a\\ b c # rest",
        );
        let seen: Vec<String> = seen.iter().map(|words| words.join("|")).collect();
        assert_eq!(seen, ["grep|-q|a b|$f", "curl|-s|$url", "sort", "mv|a b|c"]);
    }

    #[test]
    fn redirections_are_words_of_their_own() {
        assert_eq!(commands("echo x>>log 2>&1"), [["echo", "x", ">>", "log", "2", ">&", "1"]]);
    }
}
