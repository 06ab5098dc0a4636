//! Going round in circles: a change that takes back what an earlier repair of the same job did, or that turns at a value which
//! was changed over and over.

use std::collections::BTreeSet;

/// The shortest line that says anything.
const LEAST: usize = 4;
/// A value that was changed so often already is not what is wrong.
const TURNS: usize = 2;

/// How a change goes round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Circle {
    /// It takes back what an earlier repair did: a line of that repair.
    TakesBack(String),
    /// It changes a value in this line, which earlier repairs changed before.
    SameValue(String),
}

impl Circle {
    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::TakesBack(line) => {
                format!("it takes back what an earlier repair of this job did (`{line}`)")
            }
            Self::SameValue(line) => {
                format!("earlier repairs of this job changed the same value over and over (`{line}`)")
            }
        }
    }
}

/// Whether a change goes round; `diff` is its unified diff, `earlier` are those of repairs that were in place, in any order.
#[must_use]
pub fn circle(diff: &str, earlier: &[&str]) -> Option<Circle> {
    let new = Sides::of(diff);
    let before: Vec<Sides> = earlier.iter().map(|diff| Sides::of(diff)).collect();
    let back = before.iter().find_map(|old| new.takes_back(old));
    back.map(Circle::TakesBack).or_else(|| {
        let turned =
            |form: &&String| before.iter().filter(|old| old.values().contains(*form)).count() >= TURNS;
        new.values().iter().find(turned).map(|form| Circle::SameValue(form.clone()))
    })
}

/// The lines that a diff takes out and puts in.
struct Sides {
    out: BTreeSet<String>,
    into: BTreeSet<String>,
}

impl Sides {
    fn of(diff: &str) -> Self {
        let lines = |sign: char, header: &str| {
            diff.lines()
                .filter(|line| !line.starts_with(header))
                .filter_map(|line| line.strip_prefix(sign))
                .map(|line| line.trim().to_owned())
                .filter(|line| line.chars().filter(|c| c.is_alphanumeric()).count() >= LEAST)
                .collect::<BTreeSet<_>>()
        };
        Self { out: lines('-', "---"), into: lines('+', "+++") }
    }

    /// A line that the other put in and this takes out, where this also puts back what the other took out, or where the other
    /// only added and this only removes.
    fn takes_back(&self, other: &Self) -> Option<String> {
        let undone = self.out.intersection(&other.into).next()?;
        let restored = self.into.intersection(&other.out).next().is_some();
        let only_removes = self.into.is_empty() && other.out.is_empty();
        (restored || only_removes).then(|| undone.clone())
    }

    /// The lines of which only numbers change, with `#` in their place.
    fn values(&self) -> BTreeSet<String> {
        let masked = |lines: &BTreeSet<String>| -> BTreeSet<String> {
            lines
                .iter()
                .filter(|line| line.contains(|c: char| c.is_ascii_digit()))
                .map(|line| mask(line))
                .collect()
        };
        masked(&self.out).intersection(&masked(&self.into)).cloned().collect()
    }
}

/// A line with `#` for each number.
fn mask(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        let c = if c.is_ascii_digit() { '#' } else { c };
        if !(c == '#' && out.ends_with('#')) {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(out: &str, into: &str) -> String {
        let side =
            |sign: char, text: &str| text.lines().map(|line| format!("{sign}{line}\n")).collect::<String>();
        format!("--- /x/a.sh\n+++ /x/a.sh\n@@ -1,3 +1,3 @@\n set -e\n{}{}", side('-', out), side('+', into))
    }

    #[test]
    fn a_value_that_goes_there_and_back_is_a_circle() {
        let up = diff("timeout 30 fetch", "timeout 60 fetch");
        let down = diff("timeout 60 fetch", "timeout 30 fetch");
        assert!(matches!(circle(&down, &[&up]), Some(Circle::TakesBack(line)) if line == "timeout 60 fetch"));
        assert_eq!(circle(&up, &[&up]), None, "the same again is told elsewhere");
        let on =
            [diff("timeout 60 fetch", "timeout 90 fetch"), diff("timeout 90 fetch", "timeout 120 fetch")];
        assert_eq!(circle(&on[0], &[&up]), None, "once is no circle");
        assert!(matches!(circle(&on[1], &[&up, &on[0]]), Some(Circle::SameValue(_))));
    }

    #[test]
    fn what_was_added_and_is_removed_is_a_circle_and_other_changes_are_none() {
        let added = diff("", "mkdir -p backup");
        let removed = diff("mkdir -p backup", "");
        assert!(circle(&removed, &[&added]).is_some());
        assert_eq!(circle(&diff("mkdir -p backup", "install -d backup"), &[&added]), None);
        assert_eq!(circle(&diff("fi", ""), &[&diff("", "fi")]), None);
    }
}
