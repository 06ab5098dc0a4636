//! The token budget of one incident: a call that could exceed it is not made.

use std::sync::Mutex;

use selfheal_core::ports::ModelError;

/// Characters a token has at least, on average, in code and logs; smaller counts more, so a budget errs to the safe side.
const CHARS_PER_TOKEN: usize = 3;

/// Counts the tokens of one incident, over all its models and calls. Shared by `Arc`.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    spent: Mutex<u64>,
}

impl Budget {
    /// A budget of which nothing is spent.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self::resumed(limit, 0)
    }

    /// The budget of an incident that is taken up again.
    #[must_use]
    pub fn resumed(limit: u64, spent: u64) -> Self {
        Self { limit, spent: Mutex::new(spent) }
    }

    /// Tokens spent so far, those of calls under way included.
    #[must_use]
    pub fn spent(&self) -> u64 {
        *self.spent.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The limit.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Sets tokens aside for a call.
    ///
    /// # Errors
    /// When they would exceed the limit; nothing is set aside then.
    pub(crate) fn reserve(&self, tokens: u64) -> Result<(), ModelError> {
        let mut spent = self.spent.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let after = spent.saturating_add(tokens);
        if after > self.limit {
            return Err(ModelError::Budget { limit: self.limit });
        }
        *spent = after;
        Ok(())
    }

    /// Replaces what was set aside by what a call really took.
    pub(crate) fn settle(&self, reserved: u64, used: u64) {
        let mut spent = self.spent.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *spent = spent.saturating_sub(reserved).saturating_add(used);
    }
}

/// About how many tokens a text has, rounded up.
pub(crate) fn estimate(text: &str) -> u64 {
    text.chars().count().div_ceil(CHARS_PER_TOKEN) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_would_exceed_it_and_gives_back_what_was_not_used() {
        let budget = Budget::resumed(100, 10);
        budget.reserve(80).unwrap();
        assert_eq!(budget.reserve(11), Err(ModelError::Budget { limit: 100 }));
        budget.settle(80, 20);
        assert_eq!(budget.spent(), 30);
        budget.reserve(70).unwrap();
        assert_eq!(budget.reserve(1), Err(ModelError::Budget { limit: 100 }));
    }

    #[test]
    fn estimates_by_characters() {
        assert_eq!((estimate(""), estimate("ab"), estimate("äöüß")), (0, 1, 2));
    }
}
