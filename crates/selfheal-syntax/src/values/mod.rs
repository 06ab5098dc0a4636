//! What the words of a shell script are worth, as far as the text says so: constant propagation.
//!
//! A word has one or several possible [`Value`]s, each a row of [`Piece`]s: text that is known, patterns, and parts that
//! depend on the run. [`Values::resolve`] boils that down to one answer for rules; the guard looks at
//! [`Values::alternatives`]. Work is bounded: depth, alternatives and look-ups all have a limit, beyond which a value is
//! unknown.

mod definitions;
mod operators;
mod substitution;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::shell::{Expansion, Part, Script, Word};
use definitions::{Definition, Definitions, Meaning};

/// How deep variables may lead to variables.
const MAX_DEPTH: u32 = 24;
/// How many values one word may have.
const MAX_ALTERNATIVES: usize = 24;
/// How many parts one word may have.
const MAX_PARTS: usize = 256;
/// How many look-ups one question may cost.
const MAX_WORK: u32 = 4_000;
/// The longest text that is computed, in bytes.
const MAX_TEXT: usize = 16 * 1024;

/// Looks up a variable of the environment.
type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Known text.
    Text(String),
    /// An unquoted pattern, as written.
    Glob(String),
    /// Something that depends on the run.
    Unknown(Unknown),
}

/// Something that depends on the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// The variable, if it is one.
    pub name: Option<String>,
    /// The commands, if it comes from a substitution.
    pub commands: Option<String>,
    /// Whether the script makes sure that it is not empty (`${x:?}`).
    pub nonempty: bool,
}

/// One possible value of a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// Its pieces, in order; neighbouring texts are one.
    pub pieces: Vec<Piece>,
}

impl Value {
    /// A known text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { pieces: vec![Piece::Text(text.to_owned())] }
    }

    fn unknown(unknown: Unknown) -> Self {
        Self { pieces: vec![Piece::Unknown(unknown)] }
    }

    /// The whole text, when every piece is known.
    #[must_use]
    pub fn known(&self) -> Option<String> {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => Some(text.as_str()),
                Piece::Glob(_) | Piece::Unknown(_) => None,
            })
            .collect()
    }

    /// The known text before the first pattern or unknown piece.
    #[must_use]
    pub fn prefix(&self) -> String {
        let known = self.pieces.iter().map_while(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Glob(_) | Piece::Unknown(_) => None,
        });
        known.collect()
    }

    /// The text with patterns as written; `None` when a piece is unknown.
    #[must_use]
    pub fn with_patterns(&self) -> Option<String> {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) | Piece::Glob(text) => Some(text.as_str()),
                Piece::Unknown(_) => None,
            })
            .collect()
    }

    fn push(&mut self, piece: Piece) {
        match (self.pieces.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(more)) if last.len() + more.len() <= MAX_TEXT => {
                last.push_str(&more)
            }
            (_, piece) => self.pieces.push(piece),
        }
    }
}

/// One answer for a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// It is worth this text. Patterns stand as written: what a command sees when they match nothing.
    Known(String),
    /// It begins with this text.
    Prefix(String),
    /// Nothing is known, or it has several values.
    Unknown,
}

impl Resolved {
    /// The text, when it is known.
    #[must_use]
    pub fn known(self) -> Option<String> {
        match self {
            Self::Known(text) => Some(text),
            Self::Prefix(_) | Self::Unknown => None,
        }
    }
}

/// The values of a script's words.
pub struct Values<'a> {
    script: &'a Script,
    env: Option<Environment<'a>>,
    path: Option<&'a str>,
    definitions: Definitions,
    work: Cell<u32>,
    /// The first line that assigns to `IFS`.
    splitting_set: OnceCell<Option<u32>>,
    /// The substitutions that were parsed, by their text: variables are followed to the same ones again and again.
    substitutions: RefCell<BTreeMap<String, Option<Rc<Script>>>>,
}

impl<'a> Values<'a> {
    /// The values with the environment that the job runs in: a variable that neither the script nor `env` knows is unset.
    #[must_use]
    pub fn of(script: &'a Script, env: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            script,
            env: Some(env),
            path: None,
            definitions: Definitions::of(script),
            work: Cell::new(0),
            splitting_set: OnceCell::new(),
            substitutions: RefCell::default(),
        }
    }

    /// The values in any environment: a variable that the script does not set may be anything.
    #[must_use]
    pub fn in_any_environment(script: &'a Script) -> Self {
        Self {
            script,
            env: None,
            path: None,
            definitions: Definitions::of(script),
            work: Cell::new(0),
            splitting_set: OnceCell::new(),
            substitutions: RefCell::default(),
        }
    }

    /// Says what `$0` is, so that `$(dirname "$0")` is known.
    #[must_use]
    pub fn with_script_path(mut self, path: &'a str) -> Self {
        self.path = Some(path);
        self
    }

    /// What a word is worth at a line (from 1), by the assignments above it.
    #[must_use]
    pub fn resolve(&self, word: &Word, at_line: u32) -> Resolved {
        let mut all = self.alternatives(word, at_line);
        all.dedup();
        match all.as_slice() {
            [one] => match (one.with_patterns(), one.prefix()) {
                (Some(text), _) => Resolved::Known(text),
                (None, prefix) if !prefix.is_empty() => Resolved::Prefix(prefix),
                (None, _) => Resolved::Unknown,
            },
            _ => Resolved::Unknown,
        }
    }

    /// What a variable is worth at a line.
    #[must_use]
    pub fn variable(&self, name: &str, at_line: u32) -> Resolved {
        let text = format!("\"${{{name}}}\"");
        let at = self.script.lines().range(at_line).map_or(0, |range| range.start);
        self.resolve(&Word::new(&text, at..at), at_line)
    }

    /// All the values that a word may have, at most a couple of dozen. A word whose span is in the script is looked at from
    /// there; for others the line counts.
    #[must_use]
    pub fn alternatives(&self, word: &Word, at_line: u32) -> Vec<Value> {
        // Most words are plain text.
        if let [Part::Literal { text, .. }] = word.parts.as_slice() {
            return vec![Value::text(text)];
        }
        self.work.set(0);
        let line = self.script.lines().range(at_line).unwrap_or(0..0);
        let inside = word.span.start >= line.start && word.span.end > word.span.start;
        let offset = if inside { word.span.start } else { line.start };
        self.eval(&word.parts, offset, 0)
    }

    /// Whether an assignment to `IFS` changes how words are split at or before a line.
    #[must_use]
    pub fn splits_unusually(&self, at_line: u32) -> bool {
        // Asked of every command: looked up once, or long scripts would take quadratic time.
        let first = self.splitting_set.get_or_init(|| {
            let set = self.script.assignments().filter(|a| a.name == "IFS" && !a.for_command);
            set.map(|a| a.line).min()
        });
        first.is_some_and(|line| line <= at_line)
    }

    fn eval(&self, parts: &[Part], offset: usize, depth: u32) -> Vec<Value> {
        self.work.set(self.work.get() + 1);
        if depth > MAX_DEPTH || self.work.get() > MAX_WORK || parts.len() > MAX_PARTS {
            return vec![Value::unknown(Unknown::default())];
        }
        let Some((first, rest)) = parts.split_first() else { return vec![Value::default()] };
        let mut out = self.part(first, offset, depth);
        out.truncate(MAX_ALTERNATIVES);
        for part in rest {
            let ends = self.part(part, offset, depth);
            out = product(&out, &ends);
        }
        out
    }

    fn part(&self, part: &Part, offset: usize, depth: u32) -> Vec<Value> {
        match part {
            Part::Literal { text, .. } => vec![Value::text(text)],
            Part::Glob { text } => vec![Value { pieces: vec![Piece::Glob(text.clone())] }],
            Part::Variable(expansion) => self.expand(expansion, offset, depth),
            Part::Tilde { user } if user.is_empty() => self.named("HOME", offset, depth),
            Part::Brace { text } => operators::braces(text),
            Part::Substitution { text, .. } => self.substitute(text, offset, depth),
            Part::Tilde { user } => {
                let name = Some(format!("~{user}"));
                vec![Value::unknown(Unknown { name, nonempty: true, ..Unknown::default() })]
            }
            Part::Arithmetic { .. } | Part::Process { .. } => {
                vec![Value::unknown(Unknown { nonempty: true, ..Unknown::default() })]
            }
        }
    }

    fn expand(&self, e: &Expansion, offset: usize, depth: u32) -> Vec<Value> {
        // `$@` and `$*` are all the elements of a list.
        let whole = matches!(e.name.as_str(), "@" | "*").then_some("@");
        let mut values = self.named_at(&e.name, e.index.as_deref().or(whole), offset, depth);
        if e.prefix == Some('!') {
            values = values
                .iter()
                .flat_map(|value| match value.known() {
                    Some(name) => self.named(&name, offset, depth + 1),
                    None => vec![Value::unknown(Unknown::default())],
                })
                .collect();
        } else if e.prefix == Some('#') {
            return vec![Value::unknown(Unknown { nonempty: true, ..Unknown::default() })];
        }
        match e.operator.as_deref() {
            None => values,
            Some(":-" | "-" | ":=" | "=") => self.with_default(values, e, offset, depth),
            Some(":?" | "?") => values.into_iter().map(operators::nonempty).collect(),
            Some(":+" | "+") => self.eval(&e.operand_parts(), offset, depth + 1),
            Some(operator) => {
                let operand = self.eval(&e.operand_parts(), offset, depth + 1);
                let operand = operand.first().and_then(Value::with_patterns);
                values
                    .iter()
                    .map(|value| operators::apply(value, operator, operand.as_deref(), &e.name))
                    .collect()
            }
        }
    }

    /// `${x:-d}`: what is surely set stays, what is surely empty becomes the default, else both.
    fn with_default(&self, values: Vec<Value>, e: &Expansion, offset: usize, depth: u32) -> Vec<Value> {
        let mut out = Vec::new();
        for value in values {
            match value.known() {
                Some(text) if !text.is_empty() => out.push(value),
                Some(_) => out.extend(self.eval(&e.operand_parts(), offset, depth + 1)),
                None if self.surely_unset(&e.name, offset) => {
                    out.extend(self.eval(&e.operand_parts(), offset, depth + 1));
                }
                None => {
                    out.push(value);
                    out.extend(self.eval(&e.operand_parts(), offset, depth + 1));
                }
            }
        }
        out.truncate(MAX_ALTERNATIVES);
        out
    }

    fn surely_unset(&self, name: &str, offset: usize) -> bool {
        let identifier = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        identifier
            && self.definitions.reaching(self.script, name, offset).is_empty()
            && self.env.is_some_and(|env| env(name).is_none())
    }

    fn named(&self, name: &str, offset: usize, depth: u32) -> Vec<Value> {
        self.named_at(name, None, offset, depth)
    }

    fn named_at(&self, name: &str, index: Option<&str>, offset: usize, depth: u32) -> Vec<Value> {
        self.work.set(self.work.get() + 1);
        let unknown = || Value::unknown(Unknown { name: Some(name.to_owned()), ..Unknown::default() });
        if depth > MAX_DEPTH || self.work.get() > MAX_WORK {
            return vec![unknown()];
        }
        if name == "0" || name == "BASH_SOURCE" {
            return vec![self.path.map_or_else(unknown, Value::text)];
        }
        let reaching = self.definitions.reaching(self.script, name, offset);
        let mut out = Vec::new();
        let mut settled = false;
        for definition in &reaching {
            match &definition.meaning {
                // A reference is followed where it is used, not where it was made.
                Meaning::Nameref(target) => out.extend(self.named(target, offset, depth + 1)),
                Meaning::Element(key, word) => {
                    if may_be(index, key) {
                        out.extend(self.eval(&word.parts, definition.offset, depth + 1));
                    }
                }
                _ => out.extend(self.defined(definition, index, depth)),
            }
            settled |= definition.settles;
        }
        if matches!(index, Some("@" | "*")) {
            out.extend(self.joined_elements(&reaching, depth));
        }
        if !settled {
            match self.env.and_then(|env| env(name)) {
                Some(text) => out.push(Value::text(&text)),
                None if out.is_empty() || self.env.is_none() => out.push(unknown()),
                None => {}
            }
        }
        out.truncate(MAX_ALTERNATIVES);
        out
    }

    fn defined(&self, definition: &Definition, index: Option<&str>, depth: u32) -> Vec<Value> {
        let at = definition.offset;
        match &definition.meaning {
            Meaning::Word(word) => self.eval(&word.parts, at, depth + 1),
            Meaning::Appended(word) => {
                let before = self.named(&definition.name, at, depth + 1);
                product(&before, &self.eval(&word.parts, at, depth + 1))
            }
            Meaning::OneOf(words) => words
                .iter()
                .take(MAX_ALTERNATIVES)
                .flat_map(|word| self.eval(&word.parts, word.span.start, depth + 1))
                .collect(),
            Meaning::Array(words) => self.element(words, index, at, depth),
            Meaning::ArrayAppended(words) => {
                let before = self.whole_array(&definition.name, at, depth);
                let after = self.element(words, Some("@"), at, depth);
                let blank = [Value::text(" ")];
                product(&product(&before, &blank), &after)
            }
            Meaning::Nameref(target) => self.named(target, at, depth + 1),
            Meaning::Element(_, word) => self.eval(&word.parts, at, depth + 1),
            Meaning::Empty => vec![Value::text("")],
            Meaning::Read => {
                let (name, commands) = (Some(definition.name.clone()), Some("read".to_owned()));
                vec![Value::unknown(Unknown { name, commands, nonempty: false })]
            }
            Meaning::Anything => {
                vec![Value::unknown(Unknown { name: Some(definition.name.clone()), ..Unknown::default() })]
            }
        }
    }

    /// All elements that an array has before an offset.
    fn whole_array(&self, name: &str, offset: usize, depth: u32) -> Vec<Value> {
        let reaching = self.definitions.reaching(self.script, name, offset);
        match reaching.first() {
            Some(definition) if depth < MAX_DEPTH => self.defined(definition, Some("@"), depth + 1),
            _ => vec![Value::text("")],
        }
    }

    /// The elements that an array was given one by one, joined by blanks in the order of the text.
    fn joined_elements(&self, reaching: &[&Definition], depth: u32) -> Option<Value> {
        let mut out = vec![Value::default()];
        for definition in reaching.iter().rev() {
            let Meaning::Element(_, word) = &definition.meaning else { continue };
            if !out.iter().all(|value| value.pieces.is_empty()) {
                out = product(&out, &[Value::text(" ")]);
            }
            out = product(&out, &self.eval(&word.parts, definition.offset, depth + 1));
        }
        out.into_iter().next().filter(|value| !value.pieces.is_empty())
    }

    /// An element of an array; all of them joined by blanks for `@` and `*`.
    fn element(&self, words: &[Word], index: Option<&str>, at: usize, depth: u32) -> Vec<Value> {
        let joined = matches!(index, Some("@" | "*"));
        if !joined {
            let keyed: Vec<Value> = words
                .iter()
                .filter_map(keyed)
                .filter(|(key, _)| may_be(index, key))
                .take(MAX_ALTERNATIVES)
                .flat_map(|(_, word)| self.eval(&word.parts, at, depth + 1))
                .collect();
            if !keyed.is_empty() {
                return keyed;
            }
            let which = index.unwrap_or("0").parse::<usize>().ok();
            let word = which.and_then(|which| words.get(which));
            return word.map_or_else(
                || vec![Value::unknown(Unknown::default())],
                |word| self.eval(&word.parts, at, depth + 1),
            );
        }
        let mut out = vec![Value::default()];
        for (number, word) in words.iter().enumerate() {
            let value = keyed(word).map(|(_, value)| value);
            let word = value.as_ref().unwrap_or(word);
            if number > 0 {
                out = product(&out, &[Value::text(" ")]);
            }
            out = product(&out, &self.eval(&word.parts, at, depth + 1));
        }
        out
    }
}

/// `[key]=value` among the elements of an array.
fn keyed(word: &Word) -> Option<(String, Word)> {
    let (key, value) = word.text.strip_prefix('[')?.split_once("]=")?;
    Some((key.to_owned(), Word::new(value, word.span.clone())))
}

/// Whether an index, as it is written, may be this key: one that is computed may be any.
fn may_be(index: Option<&str>, key: &str) -> bool {
    let plain = |text: &str| text.trim_matches(['"', '\'']).to_owned();
    match index {
        Some("@" | "*") => false,
        Some(index) => index.contains(['$', '`']) || key.contains(['$', '`']) || plain(index) == plain(key),
        None => plain(key) == "0",
    }
}

fn product(left: &[Value], right: &[Value]) -> Vec<Value> {
    let mut out = Vec::new();
    for begin in left {
        for end in right {
            if out.len() >= MAX_ALTERNATIVES {
                return out;
            }
            let mut value = begin.clone();
            end.pieces.iter().cloned().for_each(|piece| value.push(piece));
            out.push(value);
        }
    }
    out
}

#[cfg(test)]
mod tests;
