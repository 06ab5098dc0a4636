//! The manual of the rules, made from the headers of their files.

use crate::rules::{Rule, rules};

/// What may be done with a rule's repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applicability {
    /// Shown only, never tried.
    Display,
    /// Changes what is read or computed: a person or explicit policy decides.
    Unsafe,
    /// Only mends how the job runs.
    Safe,
}

impl Applicability {
    /// The word in the manual.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Display => "shown only",
            Self::Unsafe => "changes what the job reads or computes",
            Self::Safe => "mends how the job runs",
        }
    }
}

/// The page of one rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulePage {
    /// The title.
    pub title: String,
    /// What the rule finds.
    pub finds: String,
    /// Why that fails.
    pub why: String,
    /// What the repair does.
    pub fix: String,
    /// An example before the repair.
    pub before: String,
    /// The same afterwards.
    pub after: String,
    /// What the rule never does, and what it checks.
    pub safety: String,
}

impl RulePage {
    /// Reads a page from the header of a rule's source file.
    pub(crate) fn read(source: &str) -> Self {
        let mut page = Self::default();
        let mut section = String::new();
        let mut fences = 0;
        for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
            let line = line.strip_prefix(' ').unwrap_or(line);
            if let Some(title) = line.strip_prefix("# ") {
                page.title = title.to_owned();
            } else if let Some(name) = line.strip_prefix("## ") {
                name.clone_into(&mut section);
            } else if line.starts_with("```") {
                fences += 1;
            } else if let Some(part) = page.part(&section, fences) {
                part.push_str(line);
                part.push('\n');
            }
        }
        for part in [&mut page.finds, &mut page.why, &mut page.fix, &mut page.safety] {
            *part = part.trim().to_owned();
        }
        page
    }

    fn part(&mut self, section: &str, fences: u32) -> Option<&mut String> {
        match (section, fences) {
            ("What it finds", _) => Some(&mut self.finds),
            ("Why it fails", _) => Some(&mut self.why),
            ("Fix", _) => Some(&mut self.fix),
            ("Example", 1) => Some(&mut self.before),
            ("Example", 3) => Some(&mut self.after),
            ("Safety", _) => Some(&mut self.safety),
            _ => None,
        }
    }
}

/// The manual of all rules, in Markdown.
#[must_use]
pub fn manual() -> String {
    let mut out = String::from(
        "# Rules\n\nMade from the headers of the rules' files; do not edit.\n\nA new rule is in preview: what it proposes is tried and shown, and waits for a person. It leaves the preview when it heals two\ndifferently worded cases of `bench/cases` and nothing wrongly.\n",
    );
    for rule in rules() {
        out.push_str(&chapter(*rule));
    }
    out
}

fn chapter(rule: &dyn Rule) -> String {
    let page = rule.page();
    let kind = rule.applicability().word();
    let preview = if rule.preview() { "; in preview" } else { "" };
    format!(
        "\n## `{}`: {}\n\n*{kind}{preview}*\n\n**Finds.** {}\n\n**Why it fails.** {}\n\n**Fix.** {}\n\n```\n{}```\n\nbecomes\n\n\
         ```\n{}```\n\n**Safety.** {}\n\n**Options.** `[rules] off = [\"{}\"]` in the settings: it is not asked.{}\n",
        rule.name(),
        page.title,
        page.finds,
        page.why,
        page.fix,
        page.before,
        page.after,
        page.safety,
        rule.name(),
        if rule.preview() { " `promote = […]`: it acts like rules that are not in preview." } else { "" },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_whole_page_and_a_name_of_its_own() {
        let mut names: Vec<&str> = Vec::new();
        for rule in rules() {
            let page = rule.page();
            let parts =
                [&page.title, &page.finds, &page.why, &page.fix, &page.before, &page.after, &page.safety];
            assert!(parts.iter().all(|part| !part.is_empty()), "{}: {page:#?}", rule.name());
            assert_ne!(page.before, page.after, "{}", rule.name());
            assert!(!names.contains(&rule.name()), "{}", rule.name());
            names.push(rule.name());
            assert!(manual().contains(&page.title));
        }
    }

    /// A rule counts when it heals two differently worded jobs and stays silent at its neighbours: each shows it in its own
    /// file, so a rule without such fixtures fails here.
    #[test]
    fn every_rule_has_two_jobs_that_it_heals_and_neighbours_at_which_it_is_silent() {
        for rule in rules() {
            let (_, tests) = rule.source().split_once("#[cfg(test)]").unwrap_or_default();
            let count = |call: &str| tests.matches(call).count();
            let heals = count(".healed(&") + count(".heals(&");
            assert!(heals >= 2 && count(".silent(&") >= 1, "{}: heals {heals}", rule.name());
        }
    }
}
