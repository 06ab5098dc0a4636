//! Places that a message names in the words of the program: a line counted within a function, a file of the folder that
//! `make -C` went to, a sentence of the script with values in it.

use std::path::{Path, PathBuf};

use selfheal_core::scene::absolute;

use super::{resolve, text_of};
use crate::parsers::Spot;
use crate::parsers::tcl::PROCEDURE;
use crate::report::ReportInput;
use crate::words::{base, commands_of, is_shell, matches};

/// So many characters of a sentence must stand in the script.
const LITERAL: usize = 8;
/// So many of them must stand together.
const TOGETHER: usize = 6;
/// The longest sentence that is compared, in bytes.
const LONGEST: usize = 256;

/// A place with the file and line that are meant.
pub fn settled(input: &ReportInput<'_>, spot: &Spot) -> Spot {
    let file = resolve(input, &spot.file);
    if input.scene.facts(&file).is_some() || input.script.is_some_and(|(script, _)| script == file) {
        return spot.clone();
    }
    in_procedure(input, spot)
        .or_else(|| in_function(input, spot))
        .or_else(|| in_make_folder(input, spot))
        .unwrap_or_else(|| spot.clone())
}

/// Tcl counts lines from the one with `proc`, which is the first.
fn in_procedure(input: &ReportInput<'_>, spot: &Spot) -> Option<Spot> {
    let head = spot.file.to_str().filter(|head| head.starts_with(PROCEDURE))?;
    let (script, text) = input.script?;
    let begins = |line: &str| line.strip_prefix(head).is_some_and(|rest| rest.starts_with([' ', '\t']));
    let (first, _) = (1_u32..).zip(text.lines()).find(|(_, line)| begins(line))?;
    Some(Spot { file: script.to_path_buf(), line: first + spot.line.saturating_sub(1), ..spot.clone() })
}

/// A shell that names the script for a line of a file which the script read in: that file, where the name which the
/// message is about stands in that very line of it and not in the script's.
pub fn in_sourced(input: &ReportInput<'_>, spot: &Spot, name: &str) -> Option<Spot> {
    let (script, text) = input.script.filter(|(_, text)| is_shell(text))?;
    let holds = |text: &str| {
        text.lines().nth((spot.line as usize).saturating_sub(1)).is_some_and(|line| line.contains(name))
    };
    if absolute(input.scene.cwd(), &spot.file) != script || holds(text) {
        return None;
    }
    let mut files = sourced(text).into_iter().map(|file| absolute(input.scene.cwd(), &file));
    let file = files.find(|file| text_of(input, file).is_some_and(|text| holds(&text)))?;
    Some(Spot { file, ..spot.clone() })
}

/// zsh counts lines from the one in which the function begins: `load:2: command not found: x`.
fn in_function(input: &ReportInput<'_>, spot: &Spot) -> Option<Spot> {
    let name = spot.file.to_str().filter(|name| !name.contains(['.', '/']))?;
    let (script, text) = input.script.filter(|(_, text)| is_shell(text))?;
    let sourced = sourced(text).into_iter().map(|file| absolute(input.scene.cwd(), &file));
    std::iter::once(script.to_path_buf()).chain(sourced).find_map(|file| {
        let text = text_of(input, &file)?;
        let (first, _) = (1_u32..).zip(text.lines()).find(|(_, line)| begins(line, name))?;
        let function = Some(name.to_owned());
        Some(Spot { file, line: first + spot.line, column: None, function })
    })
}

/// Whether a line begins a function of this name.
fn begins(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    let by_word = line.strip_prefix("function ").map(str::trim_start);
    let Some(behind) = by_word.unwrap_or(line).strip_prefix(name) else { return false };
    let behind = behind.trim_start();
    behind.starts_with("()") || by_word.is_some() && (behind.is_empty() || behind.starts_with('{'))
}

/// The files that a shell text reads in, where their names stand as they are.
fn sourced(text: &str) -> Vec<PathBuf> {
    let files = commands_of(text).into_iter().filter_map(|words| match words.as_slice() {
        [word, file, ..] if word == "." || word == "source" => Some(PathBuf::from(file)),
        _ => None,
    });
    files.take(20).collect()
}

/// A quiet `make -C FOLDER` names its file without the folder.
fn in_make_folder(input: &ReportInput<'_>, spot: &Spot) -> Option<Spot> {
    let name = spot.file.to_str()?;
    let made = name.eq_ignore_ascii_case("makefile") || name == "GNUmakefile" || name.ends_with(".mk");
    if !made || name.contains('/') {
        return None;
    }
    let argv: Vec<String> = input.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let of_script = input.script.map(|(_, text)| commands_of(text)).unwrap_or_default();
    let mut found = of_script
        .iter()
        .chain([&argv])
        .filter_map(|words| folder(words))
        .map(|folder| Path::new(&folder).join(name))
        .filter(|file| input.scene.facts(&absolute(input.scene.cwd(), file)).is_some());
    let file = found.next()?;
    found.all(|other| other == file).then(|| Spot { file: file.clone(), ..spot.clone() })
}

/// The folder of `make … -C FOLDER`, or of a `cd` before it.
fn folder(words: &[String]) -> Option<String> {
    if let [cd, folder] = words
        && cd == "cd"
    {
        return Some(folder.clone());
    }
    words.first().filter(|word| base(word).ends_with("make"))?;
    words.iter().enumerate().find_map(|(at, word)| match word.as_str() {
        "-C" | "--directory" => words.get(at + 1).cloned(),
        word => word
            .strip_prefix("--directory=")
            .or_else(|| word.strip_prefix("-C"))
            .filter(|rest| !rest.is_empty())
            .map(str::to_owned),
    })
}

/// The only line with a text in quotes that is the message, with anything for what it takes from variables.
pub fn told_by(text: &str, message: &str) -> Option<u32> {
    let message = message.trim();
    if message.len() > LONGEST {
        return None;
    }
    let fitting = |line: &str| {
        let fits = quoted(line).into_iter().filter_map(|sentence| told(sentence, message));
        fits.max().filter(|_| !line.trim_start().starts_with('#'))
    };
    let mut best: Option<(usize, u32)> = None;
    let mut twice = false;
    for (number, line) in (1_u32..).zip(text.lines()) {
        let Some(literal) = fitting(line) else { continue };
        twice = best.is_some_and(|(most, _)| most == literal)
            || twice && best.is_some_and(|(most, _)| most > literal);
        if best.is_none_or(|(most, _)| literal > most) {
            best = Some((literal, number));
        }
    }
    best.filter(|_| !twice).map(|(_, number)| number)
}

/// How many characters of a sentence stand in the message that it may have become.
fn told(sentence: &str, message: &str) -> Option<usize> {
    let mut pattern = vec![None];
    pattern.extend(holes(sentence));
    pattern.push(None);
    let runs = pattern.split(Option::is_none);
    let longest: String = runs.max_by_key(|run| run.len())?.iter().flatten().collect();
    let literal = pattern.iter().flatten().filter(|c| !c.is_whitespace()).count();
    let enough = literal >= LITERAL && longest.chars().count() >= TOGETHER && message.contains(&longest);
    (enough && matches(&pattern, message)).then_some(literal)
}

/// The texts in quotes of a line.
fn quoted(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'', '`']).filter(|_| out.len() < 20) {
        let (_, from) = rest.split_at(at);
        let quote = from.chars().next().unwrap_or('"');
        let inner = from.get(1..).unwrap_or_default();
        let Some(end) = inner.find(quote) else { break };
        out.push(inner.get(..end).unwrap_or_default());
        rest = inner.get(end + 1..).unwrap_or_default();
    }
    out.retain(|text| text.len() >= LITERAL && text.len() <= LONGEST);
    out
}

/// A sentence of a program with `None` for what it takes from elsewhere: `$x`, `${x}`, `{x}`, `#{x}`, `%s`, `\n`.
fn holes(sentence: &str) -> Vec<Option<char>> {
    let mut out = Vec::new();
    let mut chars = sentence.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '#' if chars.peek() == Some(&'{') => {}
            '$' | '@' if chars.peek().is_some_and(|next| matches!(next, '{' | '(')) => {}
            '{' | '(' if sentence.contains(['$', '{']) && (c == '{' || out.last() == Some(&None)) => {
                let close = if c == '{' { '}' } else { ')' };
                chars.by_ref().find(|c| *c == close);
                out.push(None);
            }
            '$' => {
                while chars
                    .next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '#' | '?' | '*' | '@'))
                    .is_some()
                {}
                out.push(None);
            }
            '%' if chars
                .peek()
                .is_some_and(|next| next.is_ascii_alphanumeric() || matches!(next, '-' | '.' | '(')) =>
            {
                while chars.next_if(|c| !c.is_ascii_alphabetic()).is_some() {}
                chars.next();
                out.push(None);
            }
            '\\' => {
                chars.next();
                out.push(None);
            }
            c => out.push(Some(c)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_with_values_are_found_in_their_languages() {
        for (text, message, line) in [
            (
                "a=1\n  echo \"check: $1 is empty or missing\" >&2\n",
                "check: rates.csv is empty or missing",
                Some(2),
            ),
            ("x\ny\nraise Quota(f'{n} of {most} used')\n", "Quota: 9 of 5 used", None),
            (
                "die sprintf(\"row %d: %s is no amount\", $n, $v);\n",
                "row 12: abc is no amount at x.pl line 4.",
                Some(1),
            ),
            ("console.error(`upload of ${name} failed twice`)\n", "upload of a.csv failed twice", Some(1)),
            ("abort \"no feed for #{day} yet\"\n", "job.rb: no feed for monday yet", Some(1)),
            ("echo \"$a is wrong here\"\necho \"$b is wrong here\"\n", "x is wrong here", None),
        ] {
            assert_eq!(told_by(text, message), line, "{message}");
        }
    }

    #[test]
    fn functions_begin_in_their_forms() {
        assert!(
            begins("load() {", "load") && begins("function load {", "load") && begins("  load () {", "load")
        );
        assert!(!begins("load a b", "load") && !begins("loader() {", "load"));
    }
}
