//! What language models take, what that costs, and what they may take at most.

use serde::{Deserialize, Serialize};

/// What calls took together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// How many calls.
    pub calls: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Money, in millionths of the currency of the price table.
    pub cost: u64,
    /// Time, in milliseconds.
    pub millis: u64,
}

impl Usage {
    /// Tokens read and written.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost: self.cost.saturating_add(other.cost),
            millis: self.millis.saturating_add(other.millis),
        }
    }

    /// This without the other.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(other.calls),
            input_tokens: self.input_tokens.saturating_sub(other.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(other.output_tokens),
            cost: self.cost.saturating_sub(other.cost),
            millis: self.millis.saturating_sub(other.millis),
        }
    }
}

/// What a model's tokens cost, in millionths of a currency for a million of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
}

impl Price {
    /// What so many tokens cost, in millionths, rounded up.
    #[must_use]
    pub fn of(&self, input_tokens: u64, output_tokens: u64) -> u64 {
        let price = |tokens: u64, each: u64| u128::from(tokens) * u128::from(each);
        let whole = price(input_tokens, self.input) + price(output_tokens, self.output);
        u64::try_from(whole.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// What may be taken at most; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// Calls.
    pub calls: Option<u64>,
    /// Tokens read and written.
    pub tokens: Option<u64>,
    /// Money, in millionths.
    pub cost: Option<u64>,
    /// Time in milliseconds.
    pub millis: Option<u64>,
}

impl Caps {
    /// The first limit that a usage is beyond, in words.
    #[must_use]
    pub fn exceeded_by(&self, usage: &Usage) -> Option<String> {
        let beyond = |have: u64, cap: Option<u64>| cap.filter(|cap| have > *cap);
        let calls = beyond(usage.calls, self.calls).map(|cap| format!("{cap} calls"));
        calls
            .or_else(|| beyond(usage.tokens(), self.tokens).map(|cap| format!("{cap} tokens")))
            .or_else(|| beyond(usage.cost, self.cost).map(|cap| format!("{} of money", money(cap))))
            .or_else(|| beyond(usage.millis, self.millis).map(|cap| format!("{} s", cap / 1000)))
    }
}

/// An amount of millionths as people write it: `0.0125`.
#[must_use]
pub fn money(millionths: u64) -> String {
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    let short = text.trim_end_matches('0');
    let decimals = short.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    text.get(..text.len() - 6 + decimals.max(2)).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_counted_in_millionths() {
        let price = Price { input: 3_000_000, output: 15_000_000 };
        assert_eq!(price.of(1_000_000, 0), 3_000_000);
        assert_eq!(price.of(1_000, 200), 6_000);
        assert_eq!(Price { input: 1, output: 0 }.of(1, 0), 1, "rounded up");
        for (amount, text) in [(0, "0.00"), (12_500, "0.0125"), (3_000_000, "3.00"), (1, "0.000001")] {
            assert_eq!(money(amount), text);
        }
    }

    #[test]
    fn a_cap_is_named_when_it_is_exceeded_and_not_before() {
        let usage = Usage { calls: 3, input_tokens: 90, output_tokens: 11, cost: 5, millis: 2_000 };
        let caps = Caps { calls: Some(3), tokens: Some(101), cost: Some(5), millis: Some(2_000) };
        assert_eq!(caps.exceeded_by(&usage), None);
        assert_eq!(Caps { tokens: Some(100), ..caps }.exceeded_by(&usage).as_deref(), Some("100 tokens"));
        assert_eq!(Caps { calls: Some(2), ..caps }.exceeded_by(&usage).as_deref(), Some("2 calls"));
        assert_eq!(Caps { cost: Some(4), ..caps }.exceeded_by(&usage).as_deref(), Some("0.000004 of money"));
        assert_eq!(Caps { millis: Some(1_000), ..caps }.exceeded_by(&usage).as_deref(), Some("1 s"));
        assert_eq!(usage.plus(&usage).minus(&usage), usage);
    }
}
