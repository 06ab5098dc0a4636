//! Whether a step runs, by what became of others: `check.outcome == negative and count.code != 3`.

use serde::{Deserialize, Serialize};

use super::StepOutcome;

/// A condition: one of these lists holds as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct When {
    /// The lists that `or` joins; each is joined by `and`.
    pub any: Vec<Vec<Term>>,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// The step that is looked at.
    pub step: String,
    /// What of it.
    pub test: Test,
    /// Whether the comparison must not hold.
    pub not: bool,
}

/// What of a step is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// How it ended.
    Outcome(StepOutcome),
    /// Its exit code.
    Code(i32),
}

impl When {
    /// Reads a condition. Without a name before it, `outcome` and `code` are those of the only step that is needed.
    ///
    /// # Errors
    /// When it makes no sense; in words.
    pub fn parse(text: &str, needs: &[String]) -> Result<Self, String> {
        let any = text.split(" or ").map(|part| all_of(part, needs)).collect::<Result<_, _>>()?;
        Ok(Self { any })
    }

    /// The steps that it looks at.
    pub fn steps(&self) -> impl Iterator<Item = &str> {
        self.any.iter().flatten().map(|term| term.step.as_str())
    }

    /// Whether it asks if a step failed, so that it may hold after a failure.
    #[must_use]
    pub fn speaks_of_failure(&self) -> bool {
        let failed = |term: &Term| match &term.test {
            Test::Outcome(outcome) => (*outcome == StepOutcome::Failed) != term.not,
            Test::Code(_) => false,
        };
        self.any.iter().flatten().any(failed)
    }

    /// Whether it holds, given how a step ended and its exit code.
    pub fn holds(&self, of: impl Fn(&str) -> Option<(StepOutcome, i32)>) -> bool {
        let term = |term: &Term| {
            let Some((outcome, code)) = of(&term.step) else { return false };
            let same = match &term.test {
                Test::Outcome(wanted) => outcome == *wanted,
                Test::Code(wanted) => code == *wanted,
            };
            same != term.not
        };
        self.any.iter().any(|all| all.iter().all(term))
    }
}

fn all_of(text: &str, needs: &[String]) -> Result<Vec<Term>, String> {
    text.split(" and ").map(|part| term(part.trim(), needs)).collect()
}

fn term(text: &str, needs: &[String]) -> Result<Term, String> {
    let cut = |sign: &'static str, not| text.split_once(sign).map(|(left, right)| (left, right, not));
    let Some((left, right, not)) = cut("==", false).or_else(|| cut("!=", true)) else {
        return Err(format!("`{text}` compares nothing: write STEP.outcome == negative"));
    };
    let (left, right) = (left.trim(), right.trim().trim_matches(['"', '\'']));
    let (step, field) = match left.rsplit_once('.') {
        Some((step, field)) => (step.to_owned(), field),
        None => (only_need(needs, left)?, left),
    };
    let test = match field {
        "outcome" => Test::Outcome(outcome(right)?),
        "code" => Test::Code(right.parse().map_err(|_| format!("`{right}` is no exit code"))?),
        other => return Err(format!("a step has no `{other}`: it has an outcome and a code")),
    };
    Ok(Term { step, test, not })
}

fn only_need(needs: &[String], field: &str) -> Result<String, String> {
    match needs {
        [only] => Ok(only.clone()),
        _ => Err(format!("`{field}` of which step? write STEP.{field}, or need exactly one step")),
    }
}

fn outcome(word: &str) -> Result<StepOutcome, String> {
    StepOutcome::of_word(word)
        .ok_or_else(|| format!("`{word}` is no outcome: succeeded, negative, failed, skipped, cancelled"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn when(text: &str) -> Result<When, String> {
        When::parse(text, &["grep".to_owned()])
    }

    #[test]
    fn a_condition_is_read_and_tested() {
        let of = |step: &str| match step {
            "grep" => Some((StepOutcome::Negative, 1)),
            "wc" => Some((StepOutcome::Succeeded, 0)),
            _ => None,
        };
        for (text, holds) in [
            ("outcome == negative", true),
            ("outcome == succeeded or wc.code == 0", true),
            ("grep.outcome == negative and wc.outcome != succeeded", false),
            ("code != 1", false),
            ("gone.outcome != failed", false),
        ] {
            assert_eq!(when(text).unwrap().holds(of), holds, "{text}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        assert!(when("negative").unwrap_err().contains("compares nothing"));
        assert!(when("outcome == fine").unwrap_err().contains("no outcome"));
        assert!(when("wc.size == 3").unwrap_err().contains("no `size`"));
        assert!(When::parse("outcome == failed", &[]).unwrap_err().contains("of which step"));
    }

    #[test]
    fn only_a_condition_about_failure_holds_after_one() {
        assert!(when("outcome == failed").unwrap().speaks_of_failure());
        assert!(when("outcome != succeeded or outcome == failed").unwrap().speaks_of_failure());
        assert!(!when("outcome == negative").unwrap().speaks_of_failure());
        assert!(!when("outcome != failed").unwrap().speaks_of_failure());
    }
}
