//! The argument lists that a command may have, by the values of its words.

use selfheal_syntax::shell::{Command, Part, Word};
use selfheal_syntax::values::{Piece, Unknown, Value, Values};

use super::places::spelled;

/// How many argument lists of one command are looked at.
const MAX_LISTS: usize = 12;
/// How many words one list may have.
const MAX_WORDS: usize = 256;

/// One argument.
#[derive(Clone, Debug)]
pub struct Arg {
    /// What it is worth.
    pub value: Value,
    /// The commands of a process substitution, with its direction: `true` for `>(…)`.
    pub process: Option<(String, bool)>,
}

impl Arg {
    /// A known argument.
    pub fn text(text: &str) -> Self {
        Self { value: Value::text(text), process: None }
    }

    /// An argument that comes from outside.
    pub fn from_outside() -> Self {
        let unknown = Unknown { commands: Some("a pipe".to_owned()), ..Unknown::default() };
        Self { value: Value { pieces: vec![Piece::Unknown(unknown)] }, process: None }
    }

    /// Its text, patterns as written.
    pub fn known(&self) -> Option<String> {
        self.value.with_patterns().filter(|_| self.process.is_none())
    }

    /// Its text with a gap for what is unknown.
    pub fn spelled(&self) -> String {
        spelled(&self.value.pieces)
    }
}

/// The argument lists of a command.
pub fn lists(command: &Command, values: &Values<'_>) -> Vec<Vec<Arg>> {
    let line = command.lines.0;
    let choices: Vec<(bool, Vec<Arg>)> = command
        .words
        .iter()
        .take(MAX_WORDS)
        .map(|word| {
            let spreads = word.parts.iter().any(|part| matches!(part, Part::Brace { .. }));
            (spreads, alternatives(word, line, values))
        })
        .collect();
    let count = choices
        .iter()
        .filter(|(spreads, _)| !spreads)
        .map(|(_, all)| all.len())
        .max()
        .unwrap_or(1)
        .clamp(1, MAX_LISTS);
    let ifs = values.splits_unusually(line);
    (0..count)
        .map(|at| {
            let mut out = Vec::new();
            for ((spreads, all), word) in choices.iter().zip(&command.words) {
                let picked = if *spreads {
                    all.clone()
                } else {
                    all.get(at).or(all.last()).cloned().into_iter().collect()
                };
                let splits = word.splits();
                picked
                    .into_iter()
                    .for_each(|arg| if splits { out.extend(split(arg, ifs)) } else { out.push(arg) });
            }
            out.truncate(MAX_WORDS);
            out
        })
        .collect()
}

fn alternatives(word: &Word, line: u32, values: &Values<'_>) -> Vec<Arg> {
    let process = word.parts.iter().find_map(|part| match part {
        Part::Process { text } => Some((text.clone(), word.text.starts_with('>'))),
        _ => None,
    });
    let all = values.alternatives(word, line);
    all.into_iter().map(|value| Arg { value, process: process.clone() }).collect()
}

/// Splits an unquoted value at blanks, at an unknown `IFS`, and at commas and colons where `IFS` was changed.
fn split(arg: Arg, ifs: bool) -> Vec<Arg> {
    let is_blank = |c: char| c.is_whitespace() || (ifs && ",:;".contains(c));
    let mut out: Vec<Value> = vec![Value::default()];
    for piece in arg.value.pieces {
        match piece {
            Piece::Text(text) => {
                for (at, part) in text.split(is_blank).enumerate() {
                    if at > 0 {
                        out.push(Value::default());
                    }
                    if let Some(last) = out.last_mut().filter(|_| !part.is_empty()) {
                        last.pieces.push(Piece::Text(part.to_owned()));
                    }
                }
            }
            Piece::Unknown(unknown) if unknown.name.as_deref() == Some("IFS") => out.push(Value::default()),
            other => {
                if let Some(last) = out.last_mut() {
                    last.pieces.push(other);
                }
            }
        }
    }
    out.into_iter()
        .filter(|value| !value.pieces.is_empty())
        .map(|value| Arg { value, process: None })
        .collect()
}
