//! The lines of a diff with their tones: what was added and removed, and, in languages that are parsed, comments, texts,
//! numbers and keywords.

use std::ops::Range;
use std::path::Path;

use selfheal_syntax::Language;
use selfheal_syntax::tokens::{Token, tokens};
use selfheal_syntax::tree::Grammar;

use super::page::{Line, Tone};
use crate::terminal::clean;

/// The most lines of a diff that are shown.
const MOST: usize = 5_000;

/// A unified diff as lines.
pub(super) fn diff_lines(diff: &str) -> Vec<Line> {
    let lines: Vec<&str> = diff.lines().take(MOST).collect();
    let mut out = Vec::new();
    let mut rest = lines.as_slice();
    let mut grammar = None;
    while let Some((line, further)) = rest.split_first() {
        let body: Vec<&str> = if line.starts_with("@@") {
            further.iter().take_while(|line| line.starts_with(['+', '-', ' ', '\\'])).copied().collect()
        } else {
            Vec::new()
        };
        if let Some(path) = line.strip_prefix("+++ ") {
            grammar = grammar_of(path, lines.as_slice());
        }
        let tone = if line.starts_with("@@") { Tone::Dim } else { Tone::Bold };
        out.push(Line::toned(tone, &clean(line)));
        out.extend(hunk(&body, grammar));
        rest = further.get(body.len()..).unwrap_or_default();
    }
    if diff.lines().nth(MOST).is_some() {
        out.push(Line::toned(Tone::Dim, "…"));
    }
    out
}

/// The grammar for a file, by its name, else by the first line of a script that the diff shows.
fn grammar_of(path: &str, lines: &[&str]) -> Option<Grammar> {
    let first = lines.iter().filter_map(|line| line.get(1..)).find(|line| line.starts_with("#!"));
    let path = path.split('\t').next().unwrap_or_default().trim_matches('"');
    match Language::of(Path::new(path), first.unwrap_or_default(), None) {
        Language::Shell => Some(Grammar::Bash),
        Language::Python => Some(Grammar::Python),
        Language::Node => Some(Grammar::JavaScript),
        _ => None,
    }
}

/// The lines of one hunk. Either side of it is parsed by itself, since both together are no script.
fn hunk(body: &[&str], grammar: Option<Grammar>) -> Vec<Line> {
    let texts: Vec<String> = body.iter().map(|line| clean(line.get(1..).unwrap_or_default())).collect();
    let signs: Vec<char> = body.iter().map(|line| line.chars().next().unwrap_or(' ')).collect();
    let side = |without: char| {
        let mut text = String::new();
        let mut starts = Vec::new();
        for (line, sign) in texts.iter().zip(&signs) {
            starts.push(text.len());
            if *sign != without && *sign != '\\' {
                text.push_str(line);
                text.push('\n');
            }
        }
        let found = grammar.map(|grammar| tokens(grammar, &text)).unwrap_or_default();
        (starts, found)
    };
    let (old, new) = (side('+'), side('-'));
    texts
        .iter()
        .zip(&signs)
        .enumerate()
        .map(|(at, (text, sign))| {
            let (starts, found) = if *sign == '-' { &old } else { &new };
            let start = starts.get(at).copied().unwrap_or(0);
            coloured(*sign, text, start, found)
        })
        .collect()
}

/// One line: its sign, then its pieces.
fn coloured(sign: char, text: &str, start: usize, found: &[(Range<usize>, Token)]) -> Line {
    let base = match sign {
        '+' => Tone::Added,
        '-' => Tone::Removed,
        _ => Tone::Plain,
    };
    let mut line = Line::toned(base, &sign.to_string());
    let mut done = 0;
    let first = found.partition_point(|(range, _)| range.end <= start);
    for (range, token) in found.iter().skip(first) {
        let (from, to) = (range.start.max(start) - start, range.end.saturating_sub(start).min(text.len()));
        if from >= text.len() {
            break;
        }
        line.push(base, text.get(done..from).unwrap_or_default());
        line.push(tone_of(*token, base), text.get(from.max(done)..to).unwrap_or_default());
        done = to.max(done);
    }
    line.push(base, text.get(done..).unwrap_or_default());
    line
}

/// What was added or removed keeps its colour; in the lines around, tokens have theirs.
fn tone_of(token: Token, base: Tone) -> Tone {
    match (token, base) {
        (Token::Comment, Tone::Plain) => Tone::Dim,
        (Token::Text, Tone::Plain) => Tone::Text,
        (Token::Number, Tone::Plain) => Tone::Number,
        (Token::Keyword, Tone::Added) => Tone::AddedBold,
        (Token::Keyword, Tone::Removed) => Tone::RemovedBold,
        (Token::Keyword, _) => Tone::Bold,
        (Token::Text | Token::Number, Tone::Added) => Tone::AddedText,
        (Token::Text | Token::Number, Tone::Removed) => Tone::RemovedText,
        (_, base) => base,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- /a.sh\n+++ /a.sh\n@@ -1,2 +1,3 @@\n #!/bin/bash\n-cp \"$a\" b\n+if [ -d b ]; then cp a b; fi # ok\u{1b}[31m\n x=1\n";

    #[test]
    fn no_text_is_lost_and_none_can_act() {
        let lines = diff_lines(DIFF);
        let texts: Vec<String> = lines.iter().map(Line::text).collect();
        let wanted: Vec<String> = DIFF.lines().map(clean).collect();
        assert_eq!(texts, wanted);
    }

    #[test]
    fn added_and_removed_lines_and_tokens_have_their_tones() {
        let lines = diff_lines(DIFF);
        let tone = |line: usize, text: &str| {
            lines[line].pieces.iter().find(|(_, piece)| piece == text).map(|(tone, _)| *tone)
        };
        assert_eq!(tone(4, "\"$a\""), Some(Tone::RemovedText));
        assert_eq!(tone(5, "if"), Some(Tone::AddedBold));
        assert_eq!(tone(3, "#!/bin/bash"), Some(Tone::Dim));
        assert_eq!(tone(2, "@@ -1,2 +1,3 @@"), Some(Tone::Dim));
    }
}
