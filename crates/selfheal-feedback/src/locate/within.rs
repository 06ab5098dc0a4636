//! Texts within a script: what it hands to an interpreter or client as here-document, between quotes or by `<`. Messages
//! about such a text name its lines by `<stdin>`, `-`, `-e` or nothing at all; here they become lines of the script.

use std::path::{Path, PathBuf};

use selfheal_core::report::{FailedCommand, Location};
use selfheal_core::scene::absolute;

use super::{Place, base, line_of, remote};
use crate::inner::look_through_words;
use crate::parsers::{Found, anonymous};
use crate::report::ReportInput;
use crate::words::is_shell;

/// How many texts of a script are looked at.
const MOST: usize = 500;

/// A text that a command gets.
#[derive(Debug, PartialEq, Eq)]
struct Handed {
    /// The words of the command, as far as they were read before the text.
    words: Vec<String>,
    text: Text,
}

#[derive(Debug, PartialEq, Eq)]
enum Text {
    /// It stands in the script from this line on, and has so many lines.
    Here { first: u32, lines: u32 },
    /// It is this file.
    File(String),
}

/// The place that a message means which names only a line of a text without a name.
pub fn place(input: &ReportInput<'_>, found: &Found) -> Option<Place> {
    let (tools, line) = anonymous::of(found)?;
    let handed = of_job(input);
    let mut places: Vec<(PathBuf, u32, Option<String>)> = handed
        .iter()
        .filter(|one| runs(&one.words, tools))
        .filter_map(|one| {
            let (file, at) = one.text.line(input, line)?;
            Some((file, at, remote(&one.words)))
        })
        .collect();
    places.dedup_by(|one, other| one.0 == other.0 && one.1 == other.1);
    if places.len() > 1 {
        let mut names: Vec<String> = names_in(found);
        names.extend(echoed(input, found));
        places.retain(|(file, at, _)| {
            line_of(input, file, *at).is_some_and(|source| names.iter().any(|name| source.contains(name)))
        });
    }
    let [(file, line, remote)] = places.as_slice() else { return None };
    let source = line_of(input, file, *line).unwrap_or_default().trim().to_owned();
    Some(Place {
        location: Some(Location {
            file: file.clone(),
            line: *line,
            column: None,
            function: None,
            remote: remote.clone(),
        }),
        command: (!source.is_empty()).then(|| FailedCommand { source, words: Vec::new(), status: None }),
        seen: false,
        guessed: false,
    })
}

/// What a message is about, to be found again in a line.
fn names_in(found: &Found) -> Vec<String> {
    let quoted = crate::template::last_quoted(&found.text).map(str::to_owned);
    found.fault.subject().into_iter().chain(quoted).filter(|name| name.len() > 1).collect()
}

/// The line of the text itself, which many programs show below their message.
fn echoed(input: &ReportInput<'_>, found: &Found) -> Option<String> {
    let text = crate::parsers::kept(&input.run.stderr);
    let below = text.lines().nth(found.order + 1)?.trim();
    (below.len() > 3).then(|| below.to_owned())
}

/// Whether a command runs one of the tools, perhaps elsewhere.
fn runs(words: &[String], tools: &[&str]) -> bool {
    let inner = look_through_words(words);
    let Some(first) = inner.first() else { return false };
    let plain = |word: &str| base(word).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
    let elsewhere = ["ssh", "su", "sudo", "docker", "kubectl"].contains(&plain(first).as_str());
    let there = || {
        inner
            .iter()
            .skip(1)
            .flat_map(|word| word.split_whitespace())
            .any(|word| tools.contains(&plain(word).as_str()))
    };
    let shell = elsewhere && tools.contains(&"bash");
    shell || elsewhere && there() || tools.contains(&plain(first).as_str()) || tools.contains(&base(first))
}

/// All that the job hands to programs: in its script, or on its command line.
fn of_job(input: &ReportInput<'_>) -> Vec<Handed> {
    if let Some((_, text)) = input.script {
        return if is_shell(text) { handed(text) } else { Vec::new() };
    }
    let argv: Vec<String> = input.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut out = match argv.as_slice() {
        [_, flag, text, ..] if flag == "-c" => handed(text),
        _ => Vec::new(),
    };
    // What stands on the command line has no file.
    out.retain(|one| matches!(one.text, Text::File(_)));
    out.extend(
        input.stdin.map(|file| Handed { words: argv, text: Text::File(file.to_string_lossy().into_owned()) }),
    );
    out
}

impl Text {
    /// Where a line of the text stands.
    fn line(&self, input: &ReportInput<'_>, line: u32) -> Option<(PathBuf, u32)> {
        match self {
            Self::Here { first, lines } => {
                let (script, _) = input.script?;
                (line <= *lines).then(|| (script.to_path_buf(), first + line - 1))
            }
            Self::File(name) => {
                let file = absolute(input.scene.cwd(), Path::new(name));
                line_of(input, &file, line).map(|_| (file, line))
            }
        }
    }
}

/// All texts that a shell text hands to commands.
fn handed(text: &str) -> Vec<Handed> {
    let mut reader = Reader { line: 1, ..Reader::default() };
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        reader.take(c, &mut chars);
        if reader.out.len() >= MOST {
            break;
        }
    }
    reader.end_command();
    reader.out
}

type Chars<'t> = std::iter::Peekable<std::str::Chars<'t>>;

#[derive(Default)]
struct Reader {
    line: u32,
    /// The words of the command so far.
    words: Vec<String>,
    word: Option<String>,
    /// Where texts of this command stand.
    texts: Vec<Text>,
    /// Here-documents that begin on the next line: their last line, and whether it may be indented.
    pending: Vec<(String, bool)>,
    /// What the next word is.
    next: Next,
    out: Vec<Handed>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Next {
    #[default]
    Argument,
    /// The file of `<`.
    Input,
    /// The file of `>`.
    Output,
    /// The end mark of a here-document; whether its end may be indented.
    Mark(bool),
}

impl Reader {
    fn take(&mut self, c: char, chars: &mut Chars<'_>) {
        match c {
            '\\' => match chars.next() {
                Some('\n') => self.line += 1,
                other => self.word.get_or_insert_default().extend(other),
            },
            '\'' | '"' => self.quoted(c, chars),
            '#' if self.word.is_none() => while chars.next_if(|next| *next != '\n').is_some() {},
            '<' | '>' => self.redirection(c, chars),
            '\n' => self.end_line(chars),
            ';' | '|' | '&' | '(' | ')' | '`' => {
                self.end_word();
                self.end_command();
            }
            c if c.is_whitespace() => self.end_word(),
            c => self.word.get_or_insert_default().push(c),
        }
    }

    /// A quoted text, whose lines are counted.
    fn quoted(&mut self, quote: char, chars: &mut Chars<'_>) {
        let first = self.line;
        let word = self.word.get_or_insert_default();
        while let Some(c) = chars.next() {
            match c {
                '\\' if quote == '"' => {
                    word.extend(chars.next().inspect(|c| self.line += u32::from(*c == '\n')))
                }
                c if c == quote => break,
                c => {
                    self.line += u32::from(c == '\n');
                    word.push(c);
                }
            }
        }
        if self.next == Next::Argument {
            self.texts.push(Text::Here { first, lines: self.line - first + 1 });
        }
    }

    fn redirection(&mut self, c: char, chars: &mut Chars<'_>) {
        if self.word.as_ref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let mut mark = c.to_string();
        while let Some(more) = chars.next_if(|next| matches!(next, '<' | '>' | '&' | '|')) {
            mark.push(more);
        }
        self.next = match mark.as_str() {
            "<<" => Next::Mark(chars.next_if_eq(&'-').is_some()),
            "<" => Next::Input,
            // The text of a here-string counts as an argument.
            "<<<" => Next::Argument,
            _ => Next::Output,
        };
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::take(&mut self.next) {
            Next::Argument => self.words.push(word),
            Next::Input => self.texts.push(Text::File(word)),
            Next::Output => {}
            Next::Mark(indented) => self.pending.push((word, indented)),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        let lead = ["if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "exec"];
        let skip = words
            .iter()
            .take_while(|word| lead.contains(&word.as_str()) || crate::words::is_assignment(word))
            .count();
        let words: Vec<String> = words.into_iter().skip(skip).collect();
        for text in std::mem::take(&mut self.texts) {
            self.out.push(Handed { words: words.clone(), text });
        }
    }

    /// The end of a line, after which the here-documents come.
    fn end_line(&mut self, chars: &mut Chars<'_>) {
        self.end_word();
        self.line += 1;
        for (mark, indented) in std::mem::take(&mut self.pending) {
            let first = self.line;
            let mut lines = 0;
            loop {
                let mut line = String::new();
                while let Some(c) = chars.next_if(|next| *next != '\n') {
                    line.push(c);
                }
                let more = chars.next().is_some();
                self.line += u32::from(more);
                let end = if indented { line.trim_start_matches('\t') } else { &line };
                if end == mark || !more {
                    break;
                }
                lines += 1;
            }
            self.texts.push(Text::Here { first, lines });
        }
        self.end_command();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<(String, u32, u32)> {
        handed(text)
            .into_iter()
            .map(|one| match one.text {
                Text::Here { first, lines } => (one.words.join(" "), first, lines),
                Text::File(name) => (format!("{} < {name}", one.words.join(" ")), 0, 0),
            })
            .collect()
    }

    #[test]
    fn here_documents_and_quoted_programs_have_their_lines() {
        let text = "set -e # it's\npython3 - \"$a\" <<'EOF' > out\nx = 1\nprint(x)\nEOF\nawk -F, '\n  { n++ }\n' in.csv\n";
        assert_eq!(
            seen(text),
            [
                ("python3 - $a".to_owned(), 2, 1),
                ("python3 - $a".to_owned(), 3, 2),
                ("awk -F, \n  { n++ }\n in.csv".to_owned(), 6, 3)
            ]
        );
    }

    #[test]
    fn several_documents_of_one_line_follow_each_other() {
        let text = "cat <<A; bash -s <<-B\none\nA\n\ttwo\n\tB\nsqlite3 x.db < load.sql\n";
        assert_eq!(
            seen(text),
            [
                ("bash -s".to_owned(), 2, 1),
                ("bash -s".to_owned(), 4, 1),
                ("sqlite3 x.db < load.sql".into(), 0, 0)
            ]
        );
    }

    #[test]
    fn hostile_texts_end() {
        for text in ["<<", "<<A", "cat <<A\n", "'", "\"\\", &"<<A\n".repeat(10_000), &"'\n".repeat(10_001)] {
            let _ = handed(text);
        }
    }
}
