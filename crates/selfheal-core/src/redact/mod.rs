//! Redaction: secrets are taken out of every text before it is stored, sent or shown.
//!
//! [`Redacted`] is the only text that store, model and notify take. Only a [`Redactor`] makes one from free text: known
//! values first, in every form that they may have been written in, then the shapes that secrets have, then what is too
//! random to be anything else. Scanning is by hand and linear, because it runs on every recorded run. The same secret
//! gets the same placeholder, so that a reader can still reason about it.

mod armour;
mod assigned;
mod book;
mod encoded;
mod families;
mod homes;
mod known;
mod names;
mod options;
mod piece;
mod random;
mod scan;
mod url;
mod view;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use book::Book;
pub use families::{FAMILIES, Family};
use known::Known;
pub use names::names_a_secret;
pub use piece::Piece;

/// What stands where a secret was that has no number of its own.
pub const MASK: &str = "[secret]";

/// A text without secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Redacted(String);

impl Redacted {
    /// A text that is part of the program.
    #[must_use]
    pub fn fixed(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Joins redacted pieces.
    #[must_use]
    pub fn join(pieces: &[Self], between: &'static str) -> Self {
        Self(pieces.iter().map(Self::as_str).collect::<Vec<_>>().join(between))
    }

    /// Some bytes of it; nothing where they are not whole characters. A part of a text without secrets has none.
    #[must_use]
    pub fn part(&self, bytes: Range<usize>) -> Self {
        Self(self.0.get(bytes).unwrap_or_default().to_owned())
    }

    /// The first so many characters.
    #[must_use]
    pub fn head(&self, most: usize) -> Self {
        Self(self.0.chars().take(most).collect())
    }

    /// A JSON document made of redacted and fixed parts only, for what goes over a wire byte for byte.
    #[must_use]
    pub fn json_of(piece: &Piece) -> Self {
        let mut out = String::new();
        piece::write(piece, &mut out);
        Self(out)
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Takes secrets out of texts. Clones share what they know.
#[derive(Clone, Default)]
pub struct Redactor {
    state: Arc<Mutex<State>>,
    leaving: bool,
}

/// What a redactor knows, and the numbers that it gave.
#[derive(Default)]
struct State {
    known: Known,
    book: Book,
}

impl fmt::Debug for Redactor {
    /// Says nothing of what it knows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("leaving", &self.leaving).finish_non_exhaustive()
    }
}

impl Redactor {
    /// A redactor that knows the values of those variables whose names say that they are secret, and the secrets inside
    /// the values of the others (a password in an address).
    pub fn from_env<'a>(vars: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let redactor = Self::default();
        for (name, value) in vars {
            if names_a_secret(name) {
                redactor.know(value);
            } else {
                redactor.learn(value);
            }
        }
        redactor
    }

    /// The same for texts that leave the machine: the names of users in paths of their homes are taken out too.
    #[must_use]
    pub fn leaving(&self) -> Self {
        Self { state: Arc::clone(&self.state), leaving: true }
    }

    /// Takes note of a value that is secret, as settings and key files hold them.
    pub fn know(&self, value: &str) {
        self.state().known.add(value);
    }

    /// Takes note of the secrets that stand in a text (a script, a command line), so that they are found elsewhere without
    /// the words around them. Only of those that cannot be mistaken for an ordinary word.
    pub fn learn(&self, text: &str) {
        let spans = scan::spans(text, &self.state().known);
        for value in spans.into_iter().filter_map(|span| text.get(span)) {
            if random::is_distinct(value) {
                self.know(value);
            }
        }
    }

    /// Takes the secrets out of a text.
    #[must_use]
    pub fn text(&self, text: &str) -> Redacted {
        let mut state = self.state();
        let spans = scan::spans(text, &state.known);
        let masked = replaced(text, &spans, |value| state.book.placeholder(value));
        if !self.leaving {
            return Redacted(masked);
        }
        let homes = homes::find(&masked);
        Redacted(replaced(&masked, &homes, |name| state.book.user(name)))
    }

    /// The words of a command line, with the secrets taken out that show only from the word before (`--password X`).
    #[must_use]
    pub fn words(&self, words: &[String]) -> Vec<Redacted> {
        let line = words.join(" ");
        let mut state = self.state();
        let spans = scan::spans(&line, &state.known);
        let mut start = 0;
        let mut out = Vec::with_capacity(words.len());
        for word in words {
            let here = start..start + word.len();
            let inside: Vec<Range<usize>> = spans
                .iter()
                .map(|span| span.start.max(here.start)..span.end.min(here.end))
                .filter(|span| span.start < span.end)
                .map(|span| span.start - here.start..span.end - here.start)
                .collect();
            out.push(Redacted(replaced(word, &inside, |value| state.book.placeholder(value))));
            start = here.end + 1;
        }
        out
    }

    /// Puts secrets back for their placeholders, as far as `original` holds them: an answer about a text can name the
    /// secrets of that text and no others. A placeholder that stands for nothing there stays as it is.
    #[must_use]
    pub fn restored(&self, text: &str, original: &str) -> String {
        self.state().book.restored(text, |value| original.contains(value))
    }

    /// Puts the names of users back.
    #[must_use]
    pub fn with_users(&self, text: &str) -> String {
        self.state().book.with_users(text)
    }

    /// A value as JSON, with the secrets taken out of every string in it. A string under a key whose name says that it
    /// is secret is masked whole; lists of strings are read as command lines or pairs.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    pub fn json(&self, value: &impl Serialize) -> Result<Redacted, serde_json::Error> {
        let mut tree = serde_json::to_value(value)?;
        self.clean(&mut tree);
        serde_json::to_string(&tree).map(Redacted)
    }

    /// The same value with the secrets taken out of its texts, for types that are kept as they are.
    #[must_use]
    pub fn value<T: Serialize + serde::de::DeserializeOwned>(&self, value: &T) -> Option<T> {
        serde_json::from_str(self.json(value).ok()?.as_str()).ok()
    }

    fn clean(&self, tree: &mut serde_json::Value) {
        match tree {
            serde_json::Value::String(text) => *text = self.text(text).0,
            serde_json::Value::Array(items) => self.clean_list(items),
            serde_json::Value::Object(map) => {
                for (key, item) in map.iter_mut() {
                    match item {
                        serde_json::Value::String(text) if names_a_secret(key) => *text = self.whole(text),
                        other => self.clean(other),
                    }
                }
            }
            serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
        }
    }

    fn clean_list(&self, items: &mut [serde_json::Value]) {
        if let [serde_json::Value::String(name), serde_json::Value::String(value)] = items
            && names_a_secret(name)
        {
            *value = self.whole(value);
            return;
        }
        let words: Vec<String> = items.iter().map_while(|item| Some(item.as_str()?.to_owned())).collect();
        if words.len() == items.len() && words.len() > 1 {
            for (item, word) in items.iter_mut().zip(self.words(&words)) {
                *item = self.text(word.as_str()).0.into();
            }
            return;
        }
        items.iter_mut().for_each(|item| self.clean(item));
    }

    /// The placeholder of a whole value; one that is masked already, or empty, stays.
    fn whole(&self, value: &str) -> String {
        if value.is_empty() || value.starts_with(book::OPENING) {
            return value.to_owned();
        }
        self.state().book.placeholder(value)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere is no reason to let secrets through.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A text with other words for its spans, which are sorted and do not overlap. Lines keep their numbers: what went over
/// several leaves its line ends behind.
fn replaced(text: &str, spans: &[Range<usize>], mut by: impl FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        out.push_str(text.get(at..span.start).unwrap_or_default());
        if let Some(secret) = text.get(span.clone()) {
            out.push_str(&by(secret));
            out.extend(secret.chars().filter(|c| *c == '\n'));
        }
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests;
