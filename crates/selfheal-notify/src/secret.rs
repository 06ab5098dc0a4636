//! What must not be seen: addresses of webhooks, tokens, passwords.

use std::fmt;

/// A secret. It can be sent, and nothing else: it has no `Display`, and `Debug` shows only that there is one.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret; blanks and line ends around it, as files have them, are dropped.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The secret itself, for what carries it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([secret])")
    }
}
