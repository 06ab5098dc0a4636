//! The story of an incident, on standard error: what failed, where, why, what was changed, how it was proved, how to
//! take it back. At most [`MOST_LINES`] calm lines; the rest is a command away.

use std::io::Write;
use std::path::Path;

use selfheal_core::engine::State;
use selfheal_core::incident::{Incident, Round, Status};
use selfheal_core::redact::{Redacted, Redactor};
use selfheal_core::report::Report;
use selfheal_core::verification::{Showed, Verification};

use super::paint::{Paint, clean};
use super::words::{hint, reason};
use crate::context::Context;
use crate::driver::Healed;
use crate::texts::Texts;

/// The most lines that a story has.
pub const MOST_LINES: usize = 25;
/// Lines of a diff that a story shows.
const DIFF_LINES: usize = 12;
/// Checks that a story names one by one.
const CHECK_LINES: usize = 4;

/// Tells stories.
pub struct Story<'a> {
    texts: &'a Texts,
    paint: Paint,
    width: usize,
    redactor: Redactor,
    /// The folder of the process, with a slash behind: paths below it are shown without it.
    here: String,
}

impl<'a> Story<'a> {
    /// A teller for the terminal of this process.
    #[must_use]
    pub fn new(context: &Context, texts: &'a Texts) -> Self {
        Self {
            texts,
            paint: Paint::new(context.terminal.colour),
            width: context.terminal.width.clamp(40, 200),
            redactor: context.redactor(),
            here: format!("{}/", context.cwd.display()),
        }
    }

    /// Tells the whole story.
    pub fn tell(&self, healed: &Healed) {
        self.print(&story_lines(self, healed));
    }

    /// Tells what is needed to answer the question whether to apply a repair.
    pub fn question(&self, incident: &Incident, report: Option<&Report>, round: Option<&Round>) {
        let mut lines = self.failure(incident, report);
        if let Some(round) = round {
            lines.extend(self.change(round));
            lines.extend(round.verification.iter().flat_map(|shown| self.proof(shown)));
        }
        self.print(&lines);
    }

    fn print(&self, lines: &[String]) {
        let mut error = std::io::stderr().lock();
        for line in lines {
            // A closed standard error is no reason to fail the job.
            let _ = writeln!(error, "{line}");
        }
    }

    fn labelled(&self, label: &str, text: &str) -> String {
        let label = self.texts.say(label, &[]);
        let room = self.width.saturating_sub(12);
        let text = self.redactor.text(text);
        format!("  {} {}", self.paint.bold(&pad(&label, 8)), shorten(&clean(text.as_str()), room))
    }

    /// A note in at most two lines: what it says to do stands at its end.
    fn note(&self, note: &str) -> Vec<String> {
        let room = self.width.saturating_sub(12);
        let safe = self.safe(note);
        let cut = safe.char_indices().nth(room).map(|(at, _)| safe.get(..at).unwrap_or_default());
        let first = cut.and_then(|head| head.rsplit_once(' ')).map_or(safe.as_str(), |(head, _)| head);
        let rest = safe.get(first.len()..).unwrap_or_default().trim();
        let mut lines = vec![self.labelled("label-note", first)];
        if !rest.is_empty() {
            lines.push(format!("  {} {}", pad("", 8), shorten(&clean(rest), room)));
        }
        lines
    }

    fn failure(&self, incident: &Incident, report: Option<&Report>) -> Vec<String> {
        let code = incident_code(incident, report);
        let values =
            [("command", incident.command.as_str()), ("how", code.as_str()), ("id", incident.id.short())];
        let first = format!(
            "{} {}",
            self.paint.bold("selfheal:"),
            self.paint.red(&clean(&self.texts.say(failed_by(&code), &values)))
        );
        let mut lines = vec![first];
        let Some(report) = report else { return lines };
        if let Some(place) = &report.location {
            let file = short_path(&place.file, &incident.cwd);
            let source = report.command.as_ref().map(|command| command.source.trim()).unwrap_or_default();
            let source = self.safe(source);
            let line = place.line.to_string();
            // The text of a command line has no file, and one of a single line no number that says anything.
            let at = match (file.is_empty(), place.line) {
                (false, _) => format!("{file}:{line}  {source}"),
                (true, 0 | 1) => source,
                (true, _) => {
                    let values = [("line", line.as_str()), ("command", source.as_str())];
                    self.texts.say("story-line-of-command", &values)
                }
            };
            lines.push(self.labelled("label-where", &at));
        }
        lines.push(self.labelled("label-error", &self.safe(&report.core_error)));
        if let Some(cause) = report.causes.first() {
            lines.push(self.labelled("label-why", &self.safe(&reason(self.texts, cause))));
        }
        lines
    }

    fn safe(&self, text: &str) -> String {
        self.redactor.text(text).as_str().replace(&self.here, "").replace('\n', " ")
    }

    fn change(&self, round: &Round) -> Vec<String> {
        let source = round.source.as_ref().map(crate::driver_maker).unwrap_or_default();
        let risk =
            round.risk.map(|risk| self.texts.say(&format!("risk-{}", risk.word()), &[])).unwrap_or_default();
        let n = round.admission.as_ref().map_or(0, |judged| judged.changed_lines).to_string();
        let values = [("source", source.as_str()), ("risk", risk.as_str()), ("n", n.as_str())];
        let mut lines = vec![self.labelled("label-repair", &self.texts.say("story-repair", &values))];
        let diff = round.diff.as_ref().map(Redacted::as_str).unwrap_or_default();
        let shown: Vec<&str> =
            diff.lines().filter(|line| !line.starts_with("---") && !line.starts_with("+++")).collect();
        let compact: Vec<&str> = match shown.len() > DIFF_LINES {
            true => shown.iter().copied().filter(|line| line.starts_with(['+', '-', 'm'])).collect(),
            false => shown,
        };
        for line in compact.iter().take(DIFF_LINES) {
            lines.push(format!(
                "    {}",
                self.paint.diff_line(&shorten(&clean(line), self.width.saturating_sub(4)))
            ));
        }
        if compact.len() > DIFF_LINES {
            let more = (compact.len() - DIFF_LINES).to_string();
            lines.push(format!("    {}", self.paint.dim(&self.texts.say("story-more", &[("n", &more)]))));
        }
        lines
    }

    fn proof(&self, shown: &Verification) -> Vec<String> {
        let passed = shown.checks.iter().filter(|check| check.showed == Showed::Passed).count().to_string();
        let made = shown.checks.iter().filter(|check| check.showed != Showed::NotTested).count().to_string();
        let values = [("rung", shown.rung.as_str()), ("passed", passed.as_str()), ("n", made.as_str())];
        let mut lines = vec![self.labelled("label-proof", &self.texts.say("story-proof", &values))];
        let telling = shown.checks.iter().filter(|check| check.showed != Showed::NotTested);
        for check in telling.take(CHECK_LINES) {
            let mark = match check.showed {
                Showed::Passed => self.paint.green("✓"),
                Showed::Failed => self.paint.red("✗"),
                Showed::Inconclusive | Showed::NotTested => self.paint.yellow("?"),
            };
            let text = format!("{}: {}", self.safe(&check.title), self.safe(&check.why));
            lines.push(format!("    {mark} {}", shorten(&clean(&text), self.width.saturating_sub(6))));
        }
        lines
    }

    /// The command that would bring what is missing, whole: it is there to be copied.
    fn hint(&self, healed: &Healed) -> Vec<String> {
        let open = !matches!(healed.incident.status, Status::Healed | Status::Held | Status::Succeeded);
        let report = healed.report.as_ref().filter(|_| open);
        let Some((why, command)) = report.and_then(|report| hint(self.texts, &report.context)) else {
            return Vec::new();
        };
        let mut lines = self.note(&why);
        let label = self.paint.bold(&pad(&self.texts.say("label-hint", &[]), 8));
        lines.push(format!("  {label} {}", clean(self.redactor.text(&command).as_str())));
        lines
    }

    fn ending(&self, healed: &Healed) -> Vec<String> {
        let incident = &healed.incident;
        let code = incident.exit_code.to_string();
        let took = format!("{:.1}", healed.run.duration_ms as f64 / 1_000.0);
        let values = [("id", incident.id.short()), ("code", code.as_str()), ("seconds", took.as_str())];
        let rerun = matches!(incident.state, State::Watching) && incident.exit_code == 0;
        let id = match incident.status {
            Status::Healed if rerun => "end-healed",
            Status::Healed => "end-healed-not-rerun",
            other => return self.other_ending(incident, other, &values),
        };
        vec![
            self.labelled("label-done", &self.paint.green(&self.texts.say(id, &values))),
            self.labelled("label-undo", &format!("selfheal undo {}", incident.id.short())),
        ]
    }

    fn other_ending(&self, incident: &Incident, status: Status, values: &[(&str, &str)]) -> Vec<String> {
        let mut lines =
            vec![self.labelled("label-done", &self.texts.say(&format!("end-{}", status.word()), values))];
        for hold in &incident.holds {
            lines.push(self.labelled(
                "label-held",
                &self.texts.say(&format!("hold-{}", hold.word().replace('_', "-")), &[]),
            ));
        }
        let next = if status == Status::Held { "selfheal approve" } else { "selfheal show" };
        lines.push(self.labelled("label-next", &format!("{next} {}", incident.id.short())));
        lines
    }
}

/// The lines of a whole story.
fn story_lines(story: &Story<'_>, healed: &Healed) -> Vec<String> {
    let incident = &healed.incident;
    if incident.status == Status::Retried {
        let seconds = format!("{:.1}", healed.run.duration_ms as f64 / 1_000.0);
        let values = [
            ("command", incident.command.as_str()),
            ("seconds", seconds.as_str()),
            ("id", incident.id.short()),
        ];
        return vec![format!(
            "{} {}",
            story.paint.bold("selfheal:"),
            clean(&story.texts.say("story-retried", &values))
        )];
    }
    let mut lines = story.failure(incident, healed.report.as_ref());
    if let Some(round) = incident.rounds.last() {
        lines.extend(story.change(round));
        lines.extend(round.verification.iter().flat_map(|shown| story.proof(shown)));
    }
    let ending = story.ending(healed);
    let room = MOST_LINES.saturating_sub(lines.len() + ending.len());
    lines.extend(healed.notes.iter().take(room.min(3)).flat_map(|note| story.note(note)));
    let hint = story.hint(healed);
    lines.truncate(MOST_LINES.saturating_sub(ending.len() + hint.len()));
    lines.extend(hint);
    lines.extend(ending);
    lines
}

fn incident_code(incident: &Incident, report: Option<&Report>) -> String {
    report.map_or_else(|| format!("exit code {}", incident.exit_code), |report| report.status.clone())
}

/// The text for how a job failed: with a code or a signal, or in words that stand for themselves.
fn failed_by(how: &str) -> &'static str {
    let is_with = ["exit code ", "signal "].iter().any(|lead| how.starts_with(lead));
    if is_with { "story-failed" } else { "story-failed-by" }
}

/// A path below the job's folder without that folder.
fn short_path(path: &Path, cwd: &Path) -> String {
    path.strip_prefix(cwd).unwrap_or(path).display().to_string()
}

fn pad(text: &str, width: usize) -> String {
    let wide: usize = text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
    format!("{text}{}", " ".repeat(width.saturating_sub(wide)))
}

fn shorten(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(room.saturating_sub(1)).collect();
    short.push('…');
    short
}
