//! Policy as data: rules in TOML that allow, hold or forbid commands, each with a justification and with examples that are
//! checked when the file is loaded.
//!
//! ```toml
//! [[rule]]
//! name = "no-ftp"
//! decision = "forbid"                      # allow | ask | forbid
//! justification = "Transfers go through the gateway."
//! command = [["ftp", "lftp"]]              # words from the first on; a list holds alternatives
//! match = ["ftp host"]
//! not-match = ["sftp host"]
//! ```
//!
//! The strictest of the rules that match wins. A rule that allows takes the guard's own finding on that command away; one
//! of a project's file does not count, since whoever brings the folder would speak for the user.

use regex_lite::Regex;
use selfheal_core::admission::Danger;
use selfheal_syntax::{Language, embedded};
use serde::Deserialize;

use crate::danger::{self, Operation};
use crate::scope::Roots;

/// What a rule says; the later is the stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It is as harmless as anything.
    Allow,
    /// A person decides.
    Ask,
    /// Never.
    Forbid,
}

/// Who wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The user or the machine's administrator.
    Owner,
    /// The folder that was found: it can only tighten.
    Project,
}

/// Why a file does not count.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// It has not the form.
    #[error("read the rules of {file}: {reason}")]
    Form {
        /// The file.
        file: String,
        /// In words, with line and caret.
        reason: String,
    },
    /// An example is judged otherwise than it says.
    #[error("accept the rule {rule} of {file}: {example:?} {what}")]
    Example {
        /// The file.
        file: String,
        /// The rule.
        rule: String,
        /// The example.
        example: String,
        /// What is wrong with it.
        what: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Written>,
}

/// A rule as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    name: String,
    decision: Decision,
    justification: String,
    command: Option<Vec<OneOrMore>>,
    pattern: Option<String>,
    #[serde(default)]
    r#match: Vec<String>,
    #[serde(default)]
    not_match: Vec<String>,
}

/// A word, or alternatives.
#[derive(Clone, Debug)]
struct OneOrMore(Vec<String>);

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl<'de> serde::de::Visitor<'de> for Words {
            type Value = OneOrMore;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a word or a list of words")
            }
            fn visit_str<E>(self, word: &str) -> Result<OneOrMore, E> {
                Ok(OneOrMore(vec![word.to_owned()]))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<OneOrMore, A::Error> {
                let mut words = Vec::new();
                while let Some(word) = list.next_element()? {
                    words.push(word);
                }
                Ok(OneOrMore(words))
            }
        }
        deserializer.deserialize_any(Words)
    }
}

/// What a rule looks at.
#[derive(Clone, Debug)]
enum Sight {
    /// The first words of a command, wrappers taken away.
    Command(Vec<OneOrMore>),
    /// A line of the text.
    Pattern(Regex),
}

/// A rule.
#[derive(Clone, Debug)]
struct Rule {
    name: String,
    decision: Decision,
    justification: String,
    sight: Sight,
}

/// All rules that count.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    rules: Vec<Rule>,
}

impl Policy {
    /// Adds the rules of a file. Gives how many of a project's rules do not count because they would loosen.
    ///
    /// # Errors
    /// When the file has not the form, or an example is judged otherwise than it says; then nothing of it counts.
    pub fn add(&mut self, text: &str, file: &str, trust: Trust) -> Result<usize, PolicyError> {
        let form = |reason: String| PolicyError::Form { file: file.to_owned(), reason };
        let read: File = toml::from_str(text).map_err(|error| form(error.to_string()))?;
        let mut rules = Vec::new();
        for written in read.rule {
            rules.push(checked(written, file)?);
        }
        let all = rules.len();
        rules.retain(|rule| trust == Trust::Owner || rule.decision != Decision::Allow);
        let loosening = all - rules.len();
        self.rules.extend(rules);
        Ok(loosening)
    }

    /// Whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The dangerous operations of a text by the guard's own tables and by these rules; `None` when it cannot be judged.
    /// What is forbidden is of high danger, what is asked about at least of medium.
    #[must_use]
    pub fn operations(&self, language: Language, text: &str, roots: &Roots) -> Option<Vec<Operation>> {
        let mut out = danger::operations(language, text, roots)?;
        if self.is_empty() {
            return Some(out);
        }
        let seen = seen(language, text, roots)?;
        for (line, words) in &seen {
            let Some(rule) = self.strictest(|rule| rule.sees_command(words)) else { continue };
            apply(&mut out, rule, *line, &words.join(" "));
        }
        for (line, number) in text.lines().zip(1_u32..) {
            let Some(rule) = self.strictest(|rule| rule.sees_line(line)) else { continue };
            apply(&mut out, rule, number, line.trim());
        }
        Some(out)
    }

    fn strictest(&self, sees: impl Fn(&Rule) -> bool) -> Option<&Rule> {
        self.rules.iter().filter(|rule| sees(rule)).max_by_key(|rule| rule.decision)
    }
}

/// Whether an operation comes from a rule that says that a person decides.
#[must_use]
pub fn is_asked(operation: &Operation) -> bool {
    operation.rule.starts_with("policy/") && operation.danger == Danger::Medium
}

fn apply(out: &mut Vec<Operation>, rule: &Rule, line: u32, subject: &str) {
    let danger = match rule.decision {
        Decision::Allow => {
            return out.retain(|found| found.line != line || found.rule.starts_with("policy/"));
        }
        Decision::Ask => Danger::Medium,
        Decision::Forbid => Danger::High,
    };
    out.push(Operation {
        line,
        danger,
        rule: format!("policy/{}", rule.name),
        why: rule.justification.clone(),
        subject: subject.chars().take(160).collect(),
    });
}

/// The commands of a text, wrappers taken away, each with its line.
fn seen(language: Language, text: &str, roots: &Roots) -> Option<Vec<(u32, Vec<String>)>> {
    match language {
        Language::Shell => danger::shell::commands(text, roots),
        Language::Make | Language::Yaml | Language::Docker | Language::Node => {
            let script = embedded::as_script(language, text);
            let all = danger::shell::commands(&script.text, roots)?;
            Some(all.into_iter().map(|(line, words)| (script.host_line(line), words)).collect())
        }
        _ => Some(Vec::new()),
    }
}

impl Rule {
    fn sees_command(&self, words: &[String]) -> bool {
        match &self.sight {
            Sight::Command(wanted) => {
                words.len() >= wanted.len()
                    && wanted.iter().zip(words).all(|(OneOrMore(any), word)| any.contains(word))
            }
            Sight::Pattern(_) => false,
        }
    }

    fn sees_line(&self, line: &str) -> bool {
        matches!(&self.sight, Sight::Pattern(pattern) if pattern.is_match(line))
    }

    fn sees_text(&self, text: &str) -> bool {
        let commands = danger::shell::commands(text, &Roots::default()).unwrap_or_default();
        commands.iter().any(|(_, words)| self.sees_command(words))
            || text.lines().any(|line| self.sees_line(line))
    }
}

/// A rule whose form and examples are right.
fn checked(written: Written, file: &str) -> Result<Rule, PolicyError> {
    let form = |reason: &str| PolicyError::Form {
        file: file.to_owned(),
        reason: format!("rule {}: {reason}", written.name),
    };
    let sight = match (&written.command, &written.pattern) {
        (Some(command), None) if !command.is_empty() => Sight::Command(command.clone()),
        (None, Some(pattern)) => {
            Sight::Pattern(Regex::new(pattern).map_err(|error| form(&error.to_string()))?)
        }
        _ => return Err(form("it needs either command or pattern")),
    };
    if written.justification.trim().is_empty() {
        return Err(form("it needs a justification"));
    }
    if written.r#match.is_empty() {
        return Err(form("it needs an example that matches"));
    }
    let rule =
        Rule { name: written.name, decision: written.decision, justification: written.justification, sight };
    let wrong = |example: &String, what: &'static str| PolicyError::Example {
        file: file.to_owned(),
        rule: rule.name.clone(),
        example: example.clone(),
        what,
    };
    if let Some(example) = written.r#match.iter().find(|example| !rule.sees_text(example)) {
        return Err(wrong(example, "should match and does not"));
    }
    if let Some(example) = written.not_match.iter().find(|example| rule.sees_text(example)) {
        return Err(wrong(example, "should not match and does"));
    }
    Ok(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORBID: &str = "[[rule]]\nname = \"no-ftp\"\ndecision = \"forbid\"\njustification = \"Use the gateway.\"\ncommand = [[\"ftp\", \"lftp\"]]\nmatch = [\"ftp host\", \"sudo lftp x\"]\nnot-match = [\"sftp host\", \"echo ftp\"]\n";
    const ALLOW: &str = "[[rule]]\nname = \"own-reset\"\ndecision = \"allow\"\njustification = \"The checkout is ours.\"\ncommand = [\"git\", \"reset\", \"--hard\"]\nmatch = [\"git reset --hard\"]\n";

    fn worst(policy: &Policy, language: Language, text: &str) -> Danger {
        let found = policy.operations(language, text, &Roots::default()).unwrap_or_default();
        found.into_iter().map(|found| found.danger).max().unwrap_or(Danger::Low)
    }

    #[test]
    fn rules_forbid_and_allow_behind_wrappers_and_in_other_files() {
        let mut policy = Policy::default();
        assert_eq!(policy.add(FORBID, "a.toml", Trust::Owner).unwrap(), 0);
        assert_eq!(worst(&policy, Language::Shell, "env X=1 ftp host\n"), Danger::High);
        assert_eq!(worst(&policy, Language::Shell, "echo ftp\n"), Danger::Low);
        assert_eq!(worst(&policy, Language::Make, "a:\n\tlftp x\n"), Danger::High);
        assert_eq!(worst(&policy, Language::Shell, "git reset --hard\n"), Danger::Medium);
        policy.add(ALLOW, "b.toml", Trust::Owner).unwrap();
        assert_eq!(worst(&policy, Language::Shell, "git reset --hard\n"), Danger::Low);
    }

    #[test]
    fn the_strictest_rule_wins_and_a_project_only_tightens() {
        let mut policy = Policy::default();
        assert_eq!(policy.add(ALLOW, "p.toml", Trust::Project).unwrap(), 1);
        assert_eq!(worst(&policy, Language::Shell, "git reset --hard\n"), Danger::Medium);
        policy.add(ALLOW, "o.toml", Trust::Owner).unwrap();
        let stricter = ALLOW.replace("allow", "forbid").replace("own-reset", "never-reset");
        assert_eq!(policy.add(&stricter, "p.toml", Trust::Project).unwrap(), 0);
        assert_eq!(worst(&policy, Language::Shell, "git reset --hard\n"), Danger::High);
    }

    #[test]
    fn a_wrong_example_or_form_is_told() {
        let mut policy = Policy::default();
        let wrong = FORBID.replace("\"sftp host\"", "\"ftp x\"");
        let error = policy.add(&wrong, "a.toml", Trust::Owner).unwrap_err().to_string();
        assert!(error.contains("no-ftp") && error.contains("ftp x"), "{error}");
        for text in [
            FORBID.replace("forbid", "perhaps"),
            FORBID.replace("Use the gateway.", " "),
            FORBID.replace("command = [[\"ftp\", \"lftp\"]]\n", ""),
            FORBID.replace("match = [\"ftp host\", \"sudo lftp x\"]\n", ""),
            FORBID.replace("name =", "nam ="),
        ] {
            assert!(policy.add(&text, "a.toml", Trust::Owner).is_err(), "{text}");
        }
        assert!(policy.is_empty());
    }

    #[test]
    fn patterns_see_lines_of_any_language() {
        let mut policy = Policy::default();
        let text = "[[rule]]\nname = \"no-prod\"\ndecision = \"ask\"\njustification = \"That host is in use.\"\npattern = \"prod-db\"\nmatch = [\"connect('prod-db')\"]\n";
        policy.add(text, "a.toml", Trust::Owner).unwrap();
        let found = policy.operations(Language::Python, "connect('prod-db')\n", &Roots::default()).unwrap();
        assert!(found.iter().any(|one| is_asked(one) && one.rule == "policy/no-prod"));
    }
}
