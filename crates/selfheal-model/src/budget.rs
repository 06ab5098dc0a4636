//! The budgets of one incident and of one day: a call that could exceed one is not made.

use std::sync::{Mutex, MutexGuard, PoisonError};

use selfheal_core::ports::ModelError;
use selfheal_core::usage::{Caps, Usage};

/// Characters a token has at least, on average, in code and logs; smaller counts more, so a budget errs to the safe side.
const CHARS_PER_TOKEN: usize = 3;

type Day = dyn Fn() -> Usage + Send + Sync;

/// Counts what one incident takes, over all its models and calls, and what the day took. Shared by `Arc`.
#[derive(Default)]
pub struct Budget {
    incident: Caps,
    day: Caps,
    before: Option<Box<Day>>,
    spent: Mutex<Spent>,
}

/// What was spent, and what is set aside for calls under way.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    used: Usage,
    aside: Usage,
}

impl Budget {
    /// The budget of an incident of which nothing is spent.
    #[must_use]
    pub fn new(incident: Caps) -> Self {
        Self { incident, ..Self::default() }
    }

    /// Caps a whole day, too. `before` tells what the day took so far, with the finished calls of this incident; it is asked
    /// before every call, because other incidents call at the same time.
    #[must_use]
    pub fn with_day(mut self, day: Caps, before: impl Fn() -> Usage + Send + Sync + 'static) -> Self {
        self.day = day;
        self.before = Some(Box::new(before));
        self
    }

    /// What finished calls took.
    #[must_use]
    pub fn spent(&self) -> Usage {
        self.lock().used
    }

    /// Sets something aside for a call.
    ///
    /// # Errors
    /// When it would exceed a cap; nothing is set aside then.
    pub(crate) fn reserve(&self, most: &Usage) -> Result<(), ModelError> {
        let today = self.before.as_ref().map(|before| before()).unwrap_or_default();
        let mut spent = self.lock();
        let aside = spent.aside.plus(most);
        let refuse = |what: String, of: &str| Err(ModelError::Budget { limit: format!("{what} {of}") });
        // How long a call will take nobody knows: there must be time left for it.
        let over = |caps: &Caps, used: &Usage| {
            caps.exceeded_by(&used.plus(&aside)).or_else(|| {
                caps.millis.filter(|cap| used.millis >= *cap).map(|cap| format!("{} s", cap / 1000))
            })
        };
        if let Some(what) = over(&self.incident, &spent.used) {
            return refuse(what, "an incident");
        }
        if let Some(what) = over(&self.day, &today) {
            return refuse(what, "a day");
        }
        spent.aside = aside;
        Ok(())
    }

    /// Replaces what was set aside by what a call really took.
    pub(crate) fn settle(&self, most: &Usage, took: &Usage) {
        let mut spent = self.lock();
        spent.aside = spent.aside.minus(most);
        spent.used = spent.used.plus(took);
    }

    /// The time that the incident has left for calls, in milliseconds.
    pub(crate) fn millis_left(&self) -> Option<u64> {
        self.incident.millis.map(|cap| cap.saturating_sub(self.lock().used.millis))
    }

    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget")
            .field("incident", &self.incident)
            .field("day", &self.day)
            .finish_non_exhaustive()
    }
}

/// About how many tokens a text has, rounded up.
pub(crate) fn estimate(text: &str) -> u64 {
    text.chars().count().div_ceil(CHARS_PER_TOKEN) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(count: u64) -> Usage {
        Usage { calls: 1, input_tokens: count, ..Usage::default() }
    }

    fn refusal(what: &str) -> Result<(), ModelError> {
        Err(ModelError::Budget { limit: what.to_owned() })
    }

    #[test]
    fn refuses_what_would_exceed_it_and_gives_back_what_was_not_used() {
        let budget = Budget::new(Caps { tokens: Some(100), ..Caps::default() });
        budget.reserve(&tokens(90)).unwrap();
        assert_eq!(
            budget.reserve(&tokens(11)),
            refusal("100 tokens an incident"),
            "while the first is under way"
        );
        budget.settle(&tokens(90), &tokens(30));
        assert_eq!(budget.spent(), tokens(30));
        budget.reserve(&tokens(70)).unwrap();
        assert_eq!(budget.reserve(&tokens(1)), refusal("100 tokens an incident"));
    }

    #[test]
    fn a_day_counts_what_other_incidents_took() {
        let caps = Caps { calls: Some(5), ..Caps::default() };
        let day = |calls: u64| Usage { calls, ..Usage::default() };
        let budget = Budget::new(Caps::default()).with_day(caps, move || day(4));
        budget.reserve(&tokens(1)).unwrap();
        assert_eq!(budget.reserve(&tokens(1)), refusal("5 calls a day"));
    }

    #[test]
    fn no_time_is_no_call() {
        let none = Budget::new(Caps { millis: Some(0), ..Caps::default() });
        assert_eq!(none.reserve(&tokens(1)), refusal("0 s an incident"));
        let some = Budget::new(Caps { millis: Some(2_000), ..Caps::default() });
        some.reserve(&tokens(1)).unwrap();
        some.settle(&tokens(1), &Usage { millis: 2_000, ..tokens(1) });
        assert_eq!(some.reserve(&tokens(1)), refusal("2 s an incident"));
    }

    #[test]
    fn estimates_by_characters() {
        assert_eq!((estimate(""), estimate("ab"), estimate("äöüß")), (0, 1, 2));
    }
}
