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

/// The commands of all lines of a shell text.
#[must_use]
pub fn commands_of(text: &str) -> Vec<Vec<String>> {
    logical_lines(text).iter().flat_map(|(_, line)| commands(line)).collect()
}

/// The line in which the only quote or substitution begins that is still open at the end of a shell text, or that reaches
/// over several lines; `None` where several do.
#[must_use]
pub fn unclosed(text: &str) -> Option<u32> {
    let mut open: Vec<(char, u32)> = Vec::new();
    let mut long: Vec<u32> = Vec::new();
    let mut line = 1;
    let mut chars = text.chars().peekable();
    let mut comment = false;
    let mut before = ' ';
    while let Some(c) = chars.next() {
        let inside = open.last().map(|(mark, _)| *mark);
        match c {
            '\n' => {
                line += 1;
                comment = false;
            }
            _ if comment => {}
            '\\' if inside != Some('\'') => {
                chars.next_if(|next| *next != '\n');
            }
            '#' if matches!(inside, None | Some('(')) && before.is_whitespace() => comment = true,
            '\'' if inside != Some('"') && inside != Some('\'') => open.push(('\'', line)),
            '"' if !matches!(inside, Some('"' | '\'')) => open.push(('"', line)),
            '$' if inside != Some('\'') && chars.next_if_eq(&'(').is_some() => open.push(('(', line)),
            '(' if inside == Some('(') => open.push(('(', line)),
            _ if inside == Some(c) || inside == Some('(') && c == ')' => {
                let ended = open.pop();
                long.extend(ended.map(|(_, began)| began).filter(|began| *began < line));
            }
            _ => {}
        }
        before = c;
    }
    long.extend(open.first().map(|(_, began)| *began));
    match long.as_slice() {
        [only] if !open.is_empty() => Some(*only),
        _ => None,
    }
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
            (None | Some('"'), '$') if arithmetic(&chars) => {
                let word = word.get_or_insert_default();
                word.push('$');
                let mut depth = 0;
                for inner in chars.by_ref() {
                    word.push(inner);
                    depth += i32::from(inner == '(') - i32::from(inner == ')');
                    if depth == 0 {
                        break;
                    }
                }
            }
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

/// Whether `$` begins an arithmetic expression.
fn arithmetic(behind: &std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let mut behind = behind.clone();
    behind.next() == Some('(') && behind.next() == Some('(')
}

fn flush(word: &mut Option<String>, out: &mut Vec<Token>) {
    out.extend(word.take().map(Token::Word));
}

/// The last part of a path.
#[must_use]
pub fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether a text is a shell script: by its first line, else by looking like no other language.
#[must_use]
pub fn is_shell(text: &str) -> bool {
    const OTHERS: [&str; 9] =
        ["import ", "from ", "use strict", "const ", "require(", "<?php", "BEGIN {", "def ", "package "];
    match text.lines().next() {
        Some(first) if first.starts_with("#!") => first.contains("sh"),
        _ => !text.lines().take(40).any(|line| OTHERS.iter().any(|mark| line.trim_start().starts_with(mark))),
    }
}

/// Whether a shell script ends at the first command that fails (`set -e`).
#[must_use]
pub fn is_strict(text: &str) -> bool {
    let by_set = |line: &str| {
        commands(line).iter().any(|words| {
            let options = words.iter().skip(1);
            let letter = options
                .clone()
                .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('e'));
            words.first().is_some_and(|word| word == "set")
                && (letter || options.into_iter().any(|word| word == "errexit"))
        })
    };
    let by_first = text.lines().next().is_some_and(|first| first.starts_with("#!") && first.contains(" -e"));
    by_first || text.lines().any(|line| line.trim_start().starts_with("set ") && by_set(line))
}

/// The lines of a shell text, those that end with a backslash joined with the next; the number is that of the first.
#[must_use]
pub fn logical_lines(text: &str) -> Vec<(u32, String)> {
    let mut out: Vec<(u32, String)> = Vec::new();
    let mut open = false;
    for (number, line) in (1_u32..).zip(text.lines()) {
        let comment = line.trim_start().starts_with('#');
        let (body, goes_on) = match line.strip_suffix('\\') {
            Some(body) if !comment => (body, true),
            _ => (line, false),
        };
        match out.last_mut() {
            Some((_, whole)) if open => {
                whole.push(' ');
                whole.push_str(body.trim_start());
            }
            _ => out.push((number, body.to_owned())),
        }
        open = goes_on;
    }
    out
}

/// How many characters of a word of shell text stand as they are in a value that it may have; absent when it cannot have
/// that value. Variables and substitutions stand for anything.
#[must_use]
pub fn fits(word: &str, value: &str) -> Option<usize> {
    const LONGEST: usize = 256;
    if word.len() > LONGEST || value.len() > LONGEST {
        return None;
    }
    let pattern = pattern(word);
    matches(&pattern, value).then(|| pattern.iter().filter(|c| c.is_some()).count())
}

/// Whether a text can be what a pattern stands for, in which `None` stands for anything.
#[must_use]
pub fn matches(pattern: &[Option<char>], value: &str) -> bool {
    let value: Vec<char> = value.chars().collect();
    let (mut p, mut v) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while v < value.len() {
        match pattern.get(p) {
            Some(None) => {
                star = Some((p, v));
                p += 1;
            }
            Some(Some(c)) if value.get(v) == Some(c) => {
                p += 1;
                v += 1;
            }
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                p = at + 1;
                v = from + 1;
            }
        }
    }
    pattern.iter().skip(p).all(Option::is_none)
}

/// The characters of a word, with `None` for what a variable or a pattern stands for.
fn pattern(word: &str) -> Vec<Option<char>> {
    let mut out = Vec::new();
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '$' if chars.peek() == Some(&'{') => {
                chars.by_ref().find(|c| *c == '}');
                out.push(None);
            }
            '$' => {
                while chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_').is_some() {}
                out.push(None);
            }
            '*' | '?' => out.push(None),
            c => out.push(Some(c)),
        }
    }
    out
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
    fn words_with_variables_fit_their_values() {
        assert_eq!(fits("$log.1", "logs/app.log.1"), Some(2));
        assert_eq!(fits("${a}/x/$b.csv", "in/x/may.csv"), Some(7));
        assert_eq!(fits("$log.2", "logs/app.log.1"), None);
        assert_eq!(fits("plain", "plain"), Some(5));
    }

    #[test]
    fn strict_mode_is_known_in_its_forms() {
        for text in ["set -e\n", "x\n  set -euo pipefail\n", "set -o errexit\n", "#!/bin/sh -e\n"] {
            assert!(is_strict(text), "{text}");
        }
        for text in ["set -u\n", "set +e\n", "set -o pipefail # -e\n", "reset -e\n", "set -- -x\n"] {
            assert!(!is_strict(text), "{text}");
        }
    }

    #[test]
    fn continued_lines_are_one() {
        let lines = logical_lines("a \\\n  b\nc\n");
        assert_eq!(lines, [(1, "a  b".to_owned()), (3, "c".to_owned())]);
    }

    #[test]
    fn the_line_that_opens_what_never_ends_is_found() {
        assert_eq!(unclosed("echo one\necho \"two\necho three\n"), Some(2));
        assert_eq!(unclosed("a=1 # it's fine\nb=$(echo $a\necho $b\n"), Some(2));
        assert_eq!(unclosed("echo \"a\nb\"\necho 'x\n"), None, "which of them is meant cannot be told");
        assert_eq!(unclosed("echo 'all is closed' $(date)\n"), None);
    }

    #[test]
    fn redirections_are_words_of_their_own() {
        assert_eq!(commands("n=$((n + 1)) echo \"$((2 * (3)))\" x"), [["echo", "$((2 * (3)))", "x"]]);
        assert_eq!(commands("echo x>>log 2>&1"), [["echo", "x", ">>", "log", "2", ">&", "1"]]);
    }
}
