//! Redaction: secrets are taken out of every text before it is stored, sent or shown.
//!
//! [`Redacted`] is the only text that store, model and notify take. Only a [`Redactor`] makes one from free text: known
//! values first (the environment's secrets), then the shapes that secrets have. Scanning is by hand and linear, because
//! it runs on every recorded run.

mod piece;
mod shapes;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use piece::Piece;
pub use shapes::names_a_secret;

/// What stands where a secret was.
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

/// Takes secrets out of texts.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    known: Vec<String>,
}

/// The shortest value of a secret variable that is masked wherever it occurs; shorter ones would mask ordinary words.
const SHORTEST_KNOWN: usize = 6;

impl Redactor {
    /// A redactor that knows the values of those variables whose names say that they are secret.
    pub fn from_env<'a>(vars: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut known: Vec<String> = vars
            .into_iter()
            .filter(|(name, value)| shapes::names_a_secret(name) && value.len() >= SHORTEST_KNOWN)
            .map(|(_, value)| value.to_owned())
            .collect();
        // Longest first, so that a secret that holds another one is masked whole.
        known.sort_by_key(|value| std::cmp::Reverse(value.len()));
        known.dedup();
        Self { known }
    }

    /// Takes the secrets out of a text.
    #[must_use]
    pub fn text(&self, text: &str) -> Redacted {
        let mut out = text.to_owned();
        for value in &self.known {
            if out.contains(value.as_str()) {
                out = out.replace(value.as_str(), MASK);
            }
        }
        Redacted(shapes::mask(&out))
    }

    /// A value as JSON, with the secrets taken out of every string in it. A string under a key whose name says that it
    /// is secret is masked whole.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    pub fn json(&self, value: &impl Serialize) -> Result<Redacted, serde_json::Error> {
        let mut tree = serde_json::to_value(value)?;
        self.clean(&mut tree);
        serde_json::to_string(&tree).map(Redacted)
    }

    fn clean(&self, tree: &mut serde_json::Value) {
        match tree {
            serde_json::Value::String(text) => *text = self.text(text).0,
            serde_json::Value::Array(items) => items.iter_mut().for_each(|item| self.clean(item)),
            serde_json::Value::Object(map) => {
                for (key, item) in map.iter_mut() {
                    match item {
                        serde_json::Value::String(text)
                            if shapes::names_a_secret(key) && !text.is_empty() =>
                        {
                            MASK.clone_into(text);
                        }
                        other => self.clean(other),
                    }
                }
            }
            serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
        }
    }
}
