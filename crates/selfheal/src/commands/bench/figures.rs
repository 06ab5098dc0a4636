//! The figures of a bench: one row a case, tables made from the rows, and the change against an earlier result.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::BenchArgs;
use crate::command_error::CommandError;

/// The version of the form of the figures; grows when a field changes its meaning or goes.
const VERSION: u32 = 1;

/// What came of one case.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Row {
    /// The case.
    pub(super) case: String,
    /// What fails, in one line.
    pub(super) title: String,
    /// The kind of failure.
    pub(super) kind: String,
    /// What the job is written in.
    pub(super) language: String,
    /// What is right.
    pub(super) expect: String,
    /// The rule that the case was written for; `none` where it was written without one in mind.
    pub(super) written_for: Option<String>,
    /// Whether the check accepts what came of it.
    pub(super) ok: bool,
    /// Whether selfheal called it healed and the check does not.
    pub(super) masked: bool,
    /// Whether something was changed that must not be.
    pub(super) damaged: bool,
    /// How selfheal says that it ended.
    pub(super) status: String,
    /// Who healed it: `rule`, `memory` or `model`.
    pub(super) tier: Option<String>,
    /// With `--again`: who healed it the first time.
    pub(super) first_tier: Option<String>,
    /// The risk of the repair.
    pub(super) risk: Option<String>,
    /// The rules, the remembered repair or the model that made the repair.
    pub(super) made_by: Vec<String>,
    /// The exit code.
    pub(super) exit: i32,
    /// Rounds of diagnosis and repair.
    pub(super) rounds: u64,
    /// Tokens that models took.
    pub(super) tokens: u64,
    /// How often a model was called.
    #[serde(default)]
    pub(super) calls: u64,
    /// Seconds from start to end.
    pub(super) seconds: f64,
    /// The rule that took the longest.
    pub(super) slowest_rule: Option<RuleTime>,
    /// The diagnosis.
    pub(super) diagnosis: Option<Value>,
    /// The message that everything turned on.
    pub(super) core_error: Option<String>,
    /// What was changed.
    pub(super) summary: Vec<String>,
    /// The check's last words, where it rejects.
    pub(super) why: String,
}

/// How long one rule took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RuleTime {
    /// The rule.
    pub(super) name: String,
    /// Microseconds, without what other programs took that it asked.
    pub(super) microseconds: u64,
}

impl RuleTime {
    pub(super) fn read(value: &Value) -> Option<Self> {
        serde_json::from_value(value.clone()).ok()
    }
}

impl Row {
    /// The row as one line for a person who waits.
    pub(super) fn line(&self) -> String {
        let word = match (self.ok, self.masked || self.damaged) {
            (true, _) => "ok   ",
            (false, true) => "WRONG",
            (false, false) => "fail ",
        };
        let by = self.made_by.join("+");
        format!("{word} {:<40} {:<12} {:<12} {:7.2} s  {by}", self.case, self.kind, self.status, self.seconds)
    }

    fn is_repair(&self) -> bool {
        self.expect == "repaired"
    }
}

/// The figures of one bench.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Figures {
    /// The version of this form.
    version: u32,
    /// What was asked for: risk, model, what was left out.
    setting: String,
    /// Money for a million tokens, where it was said.
    price: Option<f64>,
    /// One row a case.
    pub(super) rows: Vec<Row>,
}

/// Reads the figures of an earlier bench.
///
/// # Errors
/// When the file cannot be read or is of another form.
pub(super) fn read(path: &Path) -> Result<Figures, CommandError> {
    let fail = |error: &dyn std::error::Error| {
        CommandError::usage(format!("failed to read the baseline {}", path.display())).because(error)
    };
    let text = std::fs::read_to_string(path).map_err(|error| fail(&error))?;
    let figures: Figures = serde_json::from_str(&text).map_err(|error| fail(&error))?;
    if figures.version != VERSION {
        return Err(CommandError::usage(format!("the baseline {} is of another form", path.display()))
            .hint("make it again with: selfheal bench CASES --json FILE"));
    }
    Ok(figures)
}

impl Figures {
    pub(super) fn of(rows: Vec<Row>, args: &BenchArgs) -> Self {
        let mut setting = format!("--apply {}", args.apply.word());
        if let Some(model) = &args.model {
            let _ = write!(setting, " --model {model}");
        }
        if let Some(count) = args.model_samples {
            let _ = write!(setting, " --model-samples {count}");
        }
        for part in &args.ablate {
            let _ = write!(setting, " --ablate {}", part.word());
        }
        if args.promote {
            setting.push_str(" --promote");
        }
        if args.again {
            setting.push_str(" --again");
        }
        Self { version: VERSION, setting, price: args.price, rows }
    }

    /// How many cases ended wrongly: silenced, or damaged.
    pub(super) fn wrong(&self) -> usize {
        self.rows.iter().filter(|row| row.masked || row.damaged).count()
    }

    /// Whether a case that was right in an earlier result is not any more.
    pub(super) fn is_worse_than(&self, before: &Self) -> bool {
        self.changed(before).iter().any(|(row, was)| *was && !row.ok)
    }

    /// The cases of both results that came out differently, with how it was.
    fn changed<'a>(&'a self, before: &Self) -> Vec<(&'a Row, bool)> {
        let was: BTreeMap<&str, bool> = before.rows.iter().map(|row| (row.case.as_str(), row.ok)).collect();
        self.rows
            .iter()
            .filter_map(|row| Some((row, *was.get(row.case.as_str())?)))
            .filter(|(row, was)| row.ok != *was)
            .collect()
    }

    /// All tables, in Markdown.
    pub(super) fn markdown(&self, baseline: Option<&Self>) -> String {
        let mut out = format!("`selfheal bench {}`: {} cases\n", self.setting, self.rows.len());
        self.table(&mut out, "kind", |row| row.kind.clone());
        self.table(&mut out, "language", |row| row.language.clone());
        self.table(&mut out, "tier", |row| row.tier.clone().unwrap_or_else(|| "–".to_owned()));
        if self.rows.iter().any(|row| row.written_for.is_some()) {
            self.table(&mut out, "written for", written_for);
        }
        self.rules(&mut out);
        self.slowest(&mut out);
        self.reached(&mut out);
        self.failures(&mut out);
        if let Some(before) = baseline {
            self.compared(&mut out, before);
        }
        out
    }

    fn table(&self, out: &mut String, by: &str, of: impl Fn(&Row) -> String) {
        let money = if self.price.is_some() { " money |" } else { "" };
        let rule = if self.price.is_some() { "--:|" } else { "" };
        let _ = writeln!(
            out,
            "\n| {by} | as it should be | truly healed | masked accepted | damaged | handed over rightly | rounds | tokens | median |{money}\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|{rule}"
        );
        let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
        for row in &self.rows {
            groups.entry(of(row)).or_default().push(row);
        }
        for (name, rows) in &groups {
            self.group(out, name, rows);
        }
        if groups.len() > 1 {
            self.group(out, "all", &self.rows.iter().collect::<Vec<_>>());
        }
    }

    fn group(&self, out: &mut String, name: &str, rows: &[&Row]) {
        let count = |of: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| of(row)).count();
        let repairs = count(&Row::is_repair);
        let handed = count(&|row| row.expect == "handed_over");
        let tokens: u64 = rows.iter().map(|row| row.tokens).sum();
        let _ = write!(
            out,
            "| {name} | {} of {} | {} of {repairs} | {} | {} | {} of {handed} | {} | {tokens} | {:.2} s |",
            count(&|row| row.ok),
            rows.len(),
            count(&|row| row.ok && row.is_repair()),
            count(&|row| row.masked),
            count(&|row| row.damaged),
            count(&|row| row.ok && row.expect == "handed_over"),
            rows.iter().map(|row| row.rounds).sum::<u64>(),
            median(rows.iter().map(|row| row.seconds)),
        );
        if let Some(price) = self.price {
            #[expect(clippy::cast_precision_loss, reason = "tokens of one bench are far below 2^52")]
            let _ = write!(out, " {:.2} |", price * tokens as f64 / 1e6);
        }
        out.push('\n');
    }

    /// The cases that reached a model.
    fn reached(&self, out: &mut String) {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.calls > 0).collect();
        if rows.is_empty() {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "calls are few")]
        let calls = median(rows.iter().map(|row| row.calls as f64));
        let _ = writeln!(
            out,
            "\nReached a model: {} cases, {} of them truly healed, {} masked; median {:.1} s and {calls:.0} calls.",
            rows.len(),
            rows.iter().filter(|row| row.ok && row.is_repair()).count(),
            rows.iter().filter(|row| row.masked).count(),
            median(rows.iter().map(|row| row.seconds)),
        );
    }

    /// How many cases each rule had a part in healing.
    fn rules(&self, out: &mut String) {
        let mut healed: BTreeMap<&str, usize> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.ok && row.is_repair()) {
            for name in row.made_by.iter().collect::<BTreeSet<_>>() {
                *healed.entry(name.as_str()).or_default() += 1;
            }
        }
        if healed.is_empty() {
            return;
        }
        let list: Vec<String> = healed.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let _ = writeln!(out, "\nHealed by: {}.", list.join(", "));
    }

    fn slowest(&self, out: &mut String) {
        let times = self.rows.iter().filter_map(|row| Some((row.slowest_rule.as_ref()?, row)));
        if let Some((time, row)) = times.max_by_key(|(time, _)| time.microseconds) {
            #[expect(clippy::cast_precision_loss, reason = "a time of some milliseconds")]
            let ms = time.microseconds as f64 / 1000.0;
            let _ = writeln!(out, "\nSlowest rule: {} with {ms:.2} ms on {}.", time.name, row.case);
        }
    }

    fn failures(&self, out: &mut String) {
        let failed: Vec<&Row> = self.rows.iter().filter(|row| !row.ok).collect();
        if failed.is_empty() {
            return;
        }
        out.push_str("\nNot as it should be:\n\n");
        for row in failed {
            let word = match (row.masked, row.damaged) {
                (_, true) => " **damaged**",
                (true, false) => " **masked accepted**",
                (false, false) => "",
            };
            let _ = writeln!(out, "- {} ({}):{word} {}", row.case, row.kind, row.status);
        }
    }

    fn compared(&self, out: &mut String, before: &Self) {
        let right = |figures: &Self| figures.rows.iter().filter(|row| row.ok).count();
        let _ = writeln!(
            out,
            "\nAgainst the baseline (`{}`): {} of {}, before {} of {}.",
            before.setting,
            right(self),
            self.rows.len(),
            right(before),
            before.rows.len()
        );
        for (row, was) in self.changed(before) {
            let word = if was { "worse" } else { "better" };
            let _ = writeln!(out, "- {word}: {} ({})", row.case, row.kind);
        }
    }
}

/// Cases by whether a rule was written for their family.
fn written_for(row: &Row) -> String {
    match row.written_for.as_deref() {
        Some("none") => "no rule".to_owned(),
        Some(_) => "a rule".to_owned(),
        None => "not stated".to_owned(),
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: &str, ok: bool) -> Row {
        let word = |text: &str| text.to_owned();
        Row { case: word(case), kind: word("logic"), expect: word("repaired"), ok, ..Row::default() }
    }

    fn figures(rows: Vec<Row>) -> Figures {
        Figures { version: VERSION, setting: "--apply medium".to_owned(), price: None, rows }
    }

    #[test]
    fn counts_what_is_right_wrong_and_changed() {
        let before = figures(vec![row("a", true), row("b", false)]);
        let mut masked = row("a", false);
        masked.masked = true;
        let now = figures(vec![masked, row("b", true)]);
        assert_eq!((now.wrong(), before.wrong()), (1, 0));
        assert!(now.is_worse_than(&before) && !before.is_worse_than(&before));
        let text = now.markdown(Some(&before));
        assert!(text.contains("| logic | 1 of 2 | 1 of 2 | 1 | 0 |"), "{text}");
        assert!(text.contains("- worse: a (logic)\n- better: b (logic)"), "{text}");
        assert!(text.contains("- a (logic): **masked accepted**"), "{text}");
    }

    #[test]
    fn the_median_is_the_upper_one_of_two() {
        assert!((median([3.0, 1.0, 2.0].into_iter()) - 2.0).abs() < f64::EPSILON);
        assert!(median(std::iter::empty()).abs() < f64::EPSILON);
    }
}
