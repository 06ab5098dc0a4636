//! Plain words for a report: which step, what it said, the probable reason, what to do. No stack trace, no jargon.

use std::path::Path;

use selfheal_core::redact::Redactor;
use selfheal_core::report::{Cause, Confidence, Location, Report};

use super::paint::clean;
use crate::driver_package_fact as package_fact;
use crate::texts::Texts;

/// Causes that are named besides the first, where something was seen that speaks for them.
const MORE: usize = 1;
/// The longest text that is shown on one line, in characters.
const LONGEST: usize = 300;

/// A cause in the reader's language; its own words where no text has its name, or the text needs what is not known.
#[must_use]
pub fn reason(texts: &Texts, cause: &Cause) -> String {
    about(texts, "cause", cause).unwrap_or_else(|| cause.text.clone())
}

/// What would bring a missing package, in the reader's language, and the command for it; from the facts of a report.
#[must_use]
pub fn hint(texts: &Texts, facts: &[(String, String)]) -> Option<(String, String)> {
    let fact = |wanted: &str| facts.iter().find(|(name, _)| name == wanted).map(|(_, text)| text.as_str());
    let (what, command) = (fact(package_fact::PACKAGE)?, fact(package_fact::COMMAND)?);
    let place = fact(package_fact::DECLARED);
    let why = fact(package_fact::WHY_NOT);
    let id = match (place, why) {
        (None, _) => "hint-undeclared",
        (Some(_), Some(_)) => "hint-left",
        (Some(_), None) if fact(package_fact::SETTING) == Some("never") => "hint-declared",
        (Some(_), None) => "hint-allowed",
    };
    let values = [("what", what), ("place", place.unwrap_or_default()), ("why", why.unwrap_or_default())];
    Some((texts.say(id, &values), command.to_owned()))
}

/// A text about a cause. What it is about is named where that is known; a number that is not known is never left out.
fn about(texts: &Texts, kind: &str, cause: &Cause) -> Option<String> {
    let it = if cause.id.starts_with("network-") { "explain-the-host" } else { "explain-it" };
    let known = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let what = known(&cause.about.what).unwrap_or_else(|| texts.say(it, &[]));
    let tool = known(&cause.about.tool).unwrap_or_else(|| texts.say("explain-the-tool", &[]));
    let code = cause.about.code.map(|code| code.to_string());
    let mut values = vec![("what", what.as_str()), ("tool", tool.as_str())];
    values.extend(code.as_deref().map(|code| ("code", code)));
    let said = texts.find(&format!("{kind}-{}", cause.id), &values)?;
    // A name keeps its letters at the beginning of a sentence; `it` and `the tool` do not.
    let named = cause.about.what.as_deref().is_some_and(|what| said.starts_with(what));
    let mut letters = said.chars();
    match letters.next() {
        Some(first) if !named => Some(first.to_uppercase().chain(letters).collect()),
        _ => Some(said),
    }
}

/// Says things in plain words.
pub struct Plain<'a> {
    /// The language.
    pub texts: &'a Texts,
    /// Takes secrets out.
    pub redactor: &'a Redactor,
    /// Files below this folder are named without it.
    pub cwd: &'a Path,
}

impl Plain<'_> {
    /// One line with its label.
    #[must_use]
    pub fn line(&self, label: &str, text: &str) -> String {
        format!("{}: {}\n", self.texts.say(label, &[]), self.safe(text))
    }

    /// A text from elsewhere made safe, redacted and short.
    #[must_use]
    pub fn safe(&self, text: &str) -> String {
        let text = clean(&self.redactor.text(text).as_str().replace('\n', " "));
        text.trim().chars().take(LONGEST).collect()
    }

    /// A file as it is named to people: below the folder of the job without that folder.
    #[must_use]
    pub fn file(&self, file: &Path) -> String {
        file.strip_prefix(self.cwd).unwrap_or(file).display().to_string()
    }

    /// The whole report.
    #[must_use]
    pub fn report(&self, report: &Report, whole: &str) -> String {
        let mut out = self.line("explain-step", &self.step(report, whole));
        out.push_str(&self.line("explain-error", &report.core_error));
        let Some(first) = report.causes.first().filter(|_| report.confidence > Confidence::Low) else {
            return out;
        };
        out.push_str(&self.line("explain-reason", &self.cause(first)));
        for fact in self.facts(report) {
            out.push_str(&self.line("explain-seen", &fact));
        }
        out.push_str(&self.line("explain-do", &self.advice(first)));
        let more = report.causes.iter().skip(1).filter(|cause| !cause.evidence.is_empty()).take(MORE);
        for cause in more {
            out.push_str(&self.line("explain-also", &self.cause(cause)));
        }
        out
    }

    /// Which step failed.
    fn step(&self, report: &Report, whole: &str) -> String {
        let command = report.command.as_ref().map(|command| self.safe(&command.source)).unwrap_or_default();
        let named = |place: &&Location| place.remote.is_some() || !place.file.as_os_str().is_empty();
        let Some(place) = report.location.as_ref().filter(named) else {
            let shown = if command.is_empty() { whole } else { &command };
            return match shown.is_empty() {
                true => self.texts.say("explain-whole", &[]),
                false => self.texts.say("explain-command", &[("command", shown)]),
            };
        };
        let file = self.file(&place.file);
        let host = place.remote.clone().unwrap_or_default();
        let id = match (place.remote.is_some(), place.line > 0, command.is_empty()) {
            (true, true, true) if !file.is_empty() => "explain-remote",
            (true, _, true) => "explain-remote-host",
            (true, _, false) => "explain-remote-command",
            (false, true, true) => "explain-at",
            (false, true, false) => "explain-at-command",
            (false, false, _) => "explain-in",
        };
        let line = place.line.to_string();
        self.texts.say(id, &[("line", &line), ("file", &file), ("command", &command), ("host", &host)])
    }

    /// A cause in the reader's language; its own words where no text has its name.
    #[must_use]
    pub fn cause(&self, cause: &Cause) -> String {
        self.safe(&reason(self.texts, cause))
    }

    /// What to do about a cause.
    #[must_use]
    pub fn advice(&self, cause: &Cause) -> String {
        let said = about(self.texts, "do", cause).or_else(|| self.texts.find("do-unknown-message", &[]));
        self.safe(&said.unwrap_or_else(|| cause.disproved_by.clone()))
    }

    /// What was seen on the machine, in the reader's language.
    pub fn facts(&self, report: &Report) -> Vec<String> {
        let shown = report.context.iter().filter_map(|(name, value)| {
            if name.starts_with("names like ") {
                Some(self.texts.say("explain-near", &[("names", value)]))
            } else if let Some(what) = name.strip_prefix("places of ").filter(|_| value != "nowhere") {
                Some(self.texts.say("explain-places", &[("what", what), ("places", value)]))
            } else if name.starts_with("package of ") {
                Some(self.texts.say("explain-package", &[("names", value)]))
            } else if name == "changed since the last good run" || name == "answer of the server" {
                Some(self.safe(value))
            } else {
                None
            }
        });
        shown.take(2).collect()
    }
}

#[cfg(test)]
mod tests {
    use selfheal_core::fault::Fault;
    use selfheal_core::report::About;

    use super::*;
    use crate::texts::Language;

    fn cause(id: &str, about: About) -> Cause {
        Cause {
            id: id.to_owned(),
            text: "its own words".to_owned(),
            evidence: Vec::new(),
            disproved_by: String::new(),
            about,
        }
    }

    /// All ids of causes that there are texts for.
    fn ids() -> Vec<&'static str> {
        let lines = include_str!("../../locales/explain.en.ftl").lines();
        lines.filter_map(|line| line.strip_prefix("cause-")?.split(' ').next()).collect()
    }

    #[test]
    fn no_sentence_has_a_hole_whatever_is_known() {
        for language in [Language::English, Language::Chinese] {
            let texts = Texts::of(language);
            for id in ids() {
                for about in [About::default(), About { what: Some(" ".into()), ..About::default() }] {
                    let said = reason(&texts, &cause(id, about));
                    let holes = ["  ", "code  ", " .", "()", "status )", "退出码  "];
                    assert!(!holes.iter().any(|hole| said.contains(hole)), "{id}: {said}");
                    assert!(!said.is_empty() && !said.contains('{'), "{id}: {said}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_known_is_told_in_other_words_and_a_number_is_not_made_up() {
        let texts = Texts::of(Language::English);
        assert_eq!(reason(&texts, &cause("silent-exit", About::default())), "its own words");
        let about = About::of(&Fault::SilentExit { code: 7 });
        assert_eq!(
            reason(&texts, &cause("silent-exit", about)),
            "The command ended with exit code 7 and said nothing."
        );
        assert_eq!(reason(&texts, &cause("not-installed", About::default())), "It is not installed.");
        let about = About::of(&Fault::CommandNotFound { name: "jq".into() });
        assert_eq!(reason(&texts, &cause("not-installed", about)), "jq is not installed.");
    }
}
