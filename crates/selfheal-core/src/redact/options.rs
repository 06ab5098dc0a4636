//! Passwords in the options of well-known programs, which have no telling name: `mysql -pX`, `curl -u user:X`.

use std::ops::Range;

use super::random;

/// Where in the option the secret stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The next word.
    Next,
    /// Joined to the option.
    Joined,
    /// In the next word, behind this character.
    Behind(char),
    /// In the next word, behind `pass:`.
    Pass,
}

/// Programs and the options that take a secret, from their manuals.
const OPTIONS: [(&str, &str, Form); 24] = [
    ("curl", "-u", Form::Behind(':')),
    ("curl", "--user", Form::Behind(':')),
    ("curl", "-U", Form::Behind(':')),
    ("curl", "--proxy-user", Form::Behind(':')),
    ("http", "-a", Form::Behind(':')),
    ("wget", "--http-password", Form::Next),
    ("mysql", "-p", Form::Joined),
    ("mysqldump", "-p", Form::Joined),
    ("mysqladmin", "-p", Form::Joined),
    ("mariadb", "-p", Form::Joined),
    ("mariadb-dump", "-p", Form::Joined),
    ("mongo", "-p", Form::Next),
    ("mongodump", "-p", Form::Next),
    ("mongosh", "-p", Form::Next),
    ("sshpass", "-p", Form::Next),
    ("sshpass", "-p", Form::Joined),
    ("redis-cli", "-a", Form::Next),
    ("ldapsearch", "-w", Form::Next),
    ("ldapmodify", "-w", Form::Next),
    ("smbclient", "-U", Form::Behind('%')),
    ("openssl", "-passin", Form::Pass),
    ("openssl", "-passout", Form::Pass),
    ("docker", "-p", Form::Next),
    ("7z", "-p", Form::Joined),
];

/// Finds them in a line that names such a program.
pub(super) fn find(line: &str, out: &mut Vec<Range<usize>>) {
    if !line.contains(" -") {
        return;
    }
    let Some((start, program)) =
        OPTIONS.iter().find_map(|(program, ..)| Some((named(line, program)?, program)))
    else {
        return;
    };
    let login = *program != "docker" || line.contains(" login");
    let words = words(line, start);
    for (_, option, form) in OPTIONS.iter().filter(|(known, ..)| known == program && login) {
        for (at, word) in words.iter().enumerate() {
            out.extend(secret_of(line, word, words.get(at + 1), option, *form));
        }
    }
}

/// Where the program's name ends, if it stands as a word of its own.
fn named(line: &str, program: &str) -> Option<usize> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    line.match_indices(program).map(|(at, _)| (at, at + program.len())).find_map(|(at, end)| {
        let before = line.get(..at)?.chars().next_back();
        let after = line.get(end..)?.chars().next();
        (!before.is_some_and(part) && after == Some(' ')).then_some(end)
    })
}

fn words(line: &str, start: usize) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = start;
    for piece in line.get(start..).unwrap_or_default().split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        if !word.is_empty() {
            words.push(at..at + word.len());
        }
        at += piece.len();
    }
    words
}

fn secret_of(
    line: &str,
    word: &Range<usize>,
    next: Option<&Range<usize>>,
    option: &str,
    form: Form,
) -> Option<Range<usize>> {
    let text = line.get(word.clone())?;
    if form == Form::Joined {
        let secret = text.strip_prefix(option).filter(|secret| !secret.is_empty())?;
        return unquoted(line, word.start + option.len()..word.end).filter(|_| is_secret(secret));
    }
    let next = next.filter(|_| text == option)?;
    let inside = unquoted(line, next.clone())?;
    let value = line.get(inside.clone())?;
    let skipped = match form {
        Form::Behind(mark) => value.find(mark)? + mark.len_utf8(),
        Form::Pass => value.starts_with("pass:").then_some(5)?,
        Form::Next | Form::Joined => 0,
    };
    is_secret(value.get(skipped..)?).then(|| inside.start + skipped..inside.end)
}

/// Without the quotes around.
fn unquoted(line: &str, span: Range<usize>) -> Option<Range<usize>> {
    let text = line.get(span.clone())?;
    let quotes = |c| matches!(c, '"' | '\'');
    let from = span.start + (text.len() - text.trim_start_matches(quotes).len());
    let to = span.end - (text.len() - text.trim_end_matches(quotes).len());
    (from < to).then_some(from..to)
}

fn is_secret(value: &str) -> bool {
    let bare = value.trim_start_matches(['"', '\'']);
    !bare.is_empty() && !bare.starts_with(['$', '-', '[', '<', '`']) && !random::is_ordinary(bare)
}
