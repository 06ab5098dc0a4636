//! Versions of commands: the ranges that a profile is written for, and who knows which version is there.

use serde::Deserialize;
use serde::de::Error;

/// A range of versions: comparisons that must all hold, as `>=1.12, <2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    text: String,
    bounds: Vec<(Comparison, Vec<u64>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    AtLeast,
    Above,
    AtMost,
    Below,
    Equal,
}

/// The signs, longer ones first.
const SIGNS: [(&str, Comparison); 5] = [
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    (">", Comparison::Above),
    ("<", Comparison::Below),
    ("=", Comparison::Equal),
];

impl Range {
    fn parse(text: &str) -> Option<Self> {
        let bound = |part: &str| {
            let part = part.trim();
            let (sign, comparison) = SIGNS.iter().find(|(sign, _)| part.starts_with(sign))?;
            let number = part.strip_prefix(sign)?.trim();
            let numbers: Option<Vec<u64>> = number.split('.').map(|piece| piece.parse().ok()).collect();
            Some((*comparison, numbers?))
        };
        let bounds: Option<Vec<_>> = text.split(',').map(bound).collect();
        Some(Self { text: text.to_owned(), bounds: bounds? })
    }

    /// Whether what a command said of its version is in the range. What holds no version is.
    pub fn contains(&self, said: &str) -> bool {
        let Some(version) = version_in(said) else { return true };
        self.bounds.iter().all(|(comparison, bound)| {
            let ordering = compare(&version, bound);
            match comparison {
                Comparison::AtLeast => ordering.is_ge(),
                Comparison::Above => ordering.is_gt(),
                Comparison::AtMost => ordering.is_le(),
                Comparison::Below => ordering.is_lt(),
                Comparison::Equal => ordering.is_eq(),
            }
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl<'de> Deserialize<'de> for Range {
    fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let text = String::deserialize(reader)?;
        Self::parse(&text)
            .ok_or_else(|| D::Error::custom(format!("`{text}` is no range such as `>=1.12, <2`")))
    }
}

/// Compared number by number; what is not said counts as 0 in a version and as anything behind a bound.
fn compare(version: &[u64], bound: &[u64]) -> std::cmp::Ordering {
    let numbers = version.iter().copied().chain(std::iter::repeat(0)).take(bound.len());
    numbers.cmp(bound.iter().copied())
}

/// The first number with a point in a text, else the first number: `GNU Wget 1.21.3 built on …` is 1.21.3.
fn version_in(said: &str) -> Option<Vec<u64>> {
    let words = || said.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let numbers = |word: &str| -> Option<Vec<u64>> {
        let word = word.trim_matches('.');
        word.split('.').map(|piece| piece.parse().ok()).collect()
    };
    let dotted = words().filter(|word| word.trim_matches('.').contains('.')).find_map(numbers);
    dotted.or_else(|| words().filter(|word| !word.is_empty()).find_map(numbers))
}

/// Somebody who knows what a command says of its version.
pub struct VersionSource(Box<Ask>);

type Ask = dyn Fn(&str) -> Option<String> + Send + Sync;

impl VersionSource {
    /// From a function that gets the command's name.
    pub fn new(ask: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Box::new(ask))
    }

    pub(super) fn ask(&self, command: &str) -> Option<String> {
        (self.0)(command)
    }
}

impl std::fmt::Debug for VersionSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("VersionSource")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_for_what_tools_say_of_themselves() {
        let range = Range::parse(">=1.12, <2").unwrap();
        for (said, wanted) in [
            ("GNU Wget 1.21.3 built on linux-gnu.", true),
            ("GNU Wget 1.12", true),
            ("wget 1.9", false),
            ("wget 2.0.1", false),
            ("no version at all", true),
            ("99999999999999999999.1", true),
        ] {
            assert_eq!(range.contains(said), wanted, "{said}");
        }
        assert!(Range::parse("=3.8").unwrap().contains("Python 3.8.10"));
        assert!(!Range::parse(">3.8").unwrap().contains("Python 3.8.10"));
        for wrong in ["", "3.8", ">=", ">=x", ">=1,"] {
            assert!(Range::parse(wrong).is_none(), "{wrong}");
        }
    }
}
