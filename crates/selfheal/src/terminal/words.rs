//! Plain words for a report: which step, what it said, the probable reason, what to do. No stack trace, no jargon.

use std::path::Path;

use selfheal_core::redact::Redactor;
use selfheal_core::report::{Cause, Confidence, Location, Report};

use super::paint::clean;
use crate::texts::Texts;

/// Causes that are named besides the first, where something was seen that speaks for them.
const MORE: usize = 1;
/// The longest text that is shown on one line, in characters.
const LONGEST: usize = 300;

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
        out.push_str(&self.line("explain-reason", &self.cause(report, first)));
        for fact in self.facts(report) {
            out.push_str(&self.line("explain-seen", &fact));
        }
        out.push_str(&self.line("explain-do", &self.advice(report, first)));
        let more = report.causes.iter().skip(1).filter(|cause| !cause.evidence.is_empty()).take(MORE);
        for cause in more {
            out.push_str(&self.line("explain-also", &self.cause(report, cause)));
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
            (true, true, true) => "explain-remote",
            (true, _, _) => "explain-remote-command",
            (false, _, true) => "explain-at",
            (false, _, false) => "explain-at-command",
        };
        let line = place.line.to_string();
        self.texts.say(id, &[("line", &line), ("file", &file), ("command", &command), ("host", &host)])
    }

    /// A cause in the reader's language; its own words where no text has its name.
    #[must_use]
    pub fn cause(&self, report: &Report, cause: &Cause) -> String {
        self.about(report, &format!("cause-{}", cause.id)).unwrap_or_else(|| cause.text.clone())
    }

    /// What to do about a cause.
    #[must_use]
    pub fn advice(&self, report: &Report, cause: &Cause) -> String {
        let id = format!("do-{}", cause.id);
        self.about(report, &id)
            .or_else(|| self.about(report, "do-unknown-message"))
            .unwrap_or_else(|| cause.disproved_by.clone())
    }

    fn about(&self, report: &Report, id: &str) -> Option<String> {
        let fault = report.fault()?;
        let network = matches!(fault, selfheal_core::fault::Fault::Network { .. });
        let it = if network { "explain-the-host" } else { "explain-it" };
        let what = fault.subject().map_or_else(|| self.texts.say(it, &[]), |what| self.safe(&what));
        let tool =
            fault.tool().map_or_else(|| self.texts.say("explain-the-tool", &[]), |tool| self.safe(tool));
        let code = match fault {
            selfheal_core::fault::Fault::HttpStatus { code, .. } => code.to_string(),
            selfheal_core::fault::Fault::SilentExit { code } => code.to_string(),
            _ => String::new(),
        };
        // The names are texts even where they look like numbers.
        self.texts.find(id, &[("what", &what), ("tool", &tool), ("code", &code)])
    }

    /// What was seen on the machine, in the reader's language.
    fn facts(&self, report: &Report) -> Vec<String> {
        let what = report.fault().and_then(selfheal_core::fault::Fault::subject).unwrap_or_default();
        let shown = report.context.iter().filter_map(|(name, value)| {
            if name.starts_with("names like ") {
                Some(self.texts.say("explain-near", &[("names", value)]))
            } else if name.starts_with("places of ") && value != "nowhere" {
                Some(self.texts.say("explain-places", &[("what", &what), ("places", value)]))
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
