//! Shell options and traps, read from the commands that set them.

use super::ast::{Command, SetOption, Trap};
use super::word::Word;

/// Short options of `set` and their long names.
const SHORT: &[(char, &str)] = &[
    ('e', "errexit"),
    ('u', "nounset"),
    ('x', "xtrace"),
    ('f', "noglob"),
    ('n', "noexec"),
    ('E', "errtrace"),
    ('v', "verbose"),
];

/// Every switch of an option, in the order of the text.
pub fn of(text: &str, commands: &[Command]) -> Vec<SetOption> {
    let mut out = shebang(text.lines().next().unwrap_or_default());
    for command in commands {
        let words: Option<Vec<String>> = command.arguments().iter().map(Word::literal).collect();
        let Some(words) = words else { continue };
        let found = if command.is("set") {
            set(&words)
        } else if command.is("shopt") {
            shopt(&words)
        } else {
            continue;
        };
        let context = &command.context;
        let local = context.function.is_some() || context.branch || context.subshell || context.substitution;
        let (line, offset) = (command.lines.0, command.span.start);
        out.extend(found.into_iter().map(|(name, on)| SetOption { name, on, line, offset, local }));
    }
    out
}

/// Options on the `#!` line: `#!/bin/bash -eu`.
fn shebang(first: &str) -> Vec<SetOption> {
    let Some(rest) = first.strip_prefix("#!") else { return Vec::new() };
    let words: Vec<String> = rest.split_whitespace().skip(1).map(str::to_owned).collect();
    let words: Vec<String> =
        words.into_iter().filter(|word| word.starts_with('-') || word.ends_with("fail")).collect();
    set(&words)
        .into_iter()
        .map(|(name, on)| SetOption { name, on, line: 1, offset: 0, local: false })
        .collect()
}

fn set(words: &[String]) -> Vec<(String, bool)> {
    let mut out = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let on = match word.chars().next() {
            Some('-') => true,
            Some('+') => false,
            _ => break,
        };
        let letters = word.get(1..).unwrap_or_default();
        if letters.is_empty() || letters.starts_with('-') {
            break;
        }
        for letter in letters.chars() {
            if letter == 'o' {
                out.extend(words.next().map(|name| (name.clone(), on)));
            } else if let Some((_, name)) = SHORT.iter().find(|(short, _)| *short == letter) {
                out.push(((*name).to_owned(), on));
            }
        }
    }
    out
}

fn shopt(words: &[String]) -> Vec<(String, bool)> {
    let on = match words.first().map(String::as_str) {
        Some("-s" | "-so" | "-os") => true,
        Some("-u" | "-uo" | "-ou") => false,
        _ => return Vec::new(),
    };
    words.iter().skip(1).filter(|word| !word.starts_with('-')).map(|name| (name.clone(), on)).collect()
}

/// The traps that the commands set.
pub fn traps(commands: &[Command]) -> Vec<Trap> {
    commands.iter().filter(|command| command.is("trap")).filter_map(trap).collect()
}

fn trap(command: &Command) -> Option<Trap> {
    let mut words = command.arguments().iter().filter(|word| word.text != "--");
    let word = words.next()?.clone();
    let signals: Vec<String> = words.map(|signal| signal_name(&signal.text)).collect();
    if signals.is_empty() {
        return None;
    }
    Some(Trap { action: word.literal(), word, signals, line: command.lines.0 })
}

fn signal_name(text: &str) -> String {
    let plain = text.trim_matches(['"', '\'']).to_ascii_uppercase();
    match plain.as_str() {
        "0" => "EXIT".to_owned(),
        other => other.strip_prefix("SIG").unwrap_or(other).to_owned(),
    }
}
