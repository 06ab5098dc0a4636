//! The material of a question, cleaned, redacted and cut to a length, in sections; what never changes comes first.

use std::fmt::Write as _;

use selfheal_core::report::Report;
use selfheal_core::trace::Trace;

use super::clean;
use super::input::{Document, PastRound, PromptInput};

/// Most characters of a part.
const SCRIPT_CHARS: usize = 14_000;
const FILE_CHARS: usize = 4_000;
const FILES: usize = 4;
const KNOWLEDGE_CHARS: usize = 8_000;
const STREAM_CHARS: usize = 500;
const DIFF_CHARS: usize = 2_500;
const MARK_CHARS: usize = 16;
const VALUES: usize = 30;
/// Most characters of what documents say in a short question.
const BRIEF_KNOWLEDGE_CHARS: usize = 1_600;

/// One section of a question.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) text: String,
}

/// Whether lines stand with their numbers. With them a model can name lines; without them it can copy text exactly.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    Shown,
    Hidden,
}

/// How much is shown. A small model reads slowly, and what does not help it leads it astray.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    Full,
    Brief,
}

/// The mark of a question: the last letters and digits of the nonce.
pub(super) fn mark(nonce: &str) -> String {
    let letters: String = nonce.chars().filter(char::is_ascii_alphanumeric).collect();
    letters.get(letters.len().saturating_sub(MARK_CHARS)..).unwrap_or_default().to_owned()
}

/// All sections, in the order of a question.
pub(super) fn sections(input: &PromptInput<'_>, numbers: Numbers, detail: Detail) -> Vec<Section> {
    let maker = Maker { input, mark: mark(input.nonce), numbers, detail };
    let mut sections = Vec::new();
    if let Some(script) = input.script {
        sections.push(maker.file(input.words("script"), script, SCRIPT_CHARS));
    }
    let project = input.visible_project().take(FILES);
    sections.extend(project.map(|file| maker.file(input.words("project"), file, FILE_CHARS)));
    let most = if detail == Detail::Brief { BRIEF_KNOWLEDGE_CHARS } else { KNOWLEDGE_CHARS };
    for (name, text) in [("references", input.references), ("context", input.context)] {
        // How things are done elsewhere leads a small model astray.
        if !text.is_empty() && (detail == Detail::Full || name == "references") {
            sections.push(maker.section(input.words(name).to_owned(), &maker.clip(text, most)));
        }
    }
    sections.push(maker.section(
        input.words("failure").to_owned(),
        &match detail {
            Detail::Full => failure(input),
            Detail::Brief => in_brief(input),
        },
    ));
    // What the report says already is not said again.
    let told = detail == Detail::Brief && input.stderr_end.trim() == input.report.core_error.trim();
    for (name, text) in [("stdout", input.stdout_end), ("stderr", input.stderr_end)] {
        // Cut after redaction: half a secret does not look like one.
        let visible = input.redactor.text(&clean::text(text)).to_string();
        let end = clean::end(visible.trim_end(), STREAM_CHARS);
        let said = told && name == "stderr";
        if !end.is_empty() && !said {
            let end = if detail == Detail::Brief { short_paths(input, end) } else { end.to_owned() };
            sections.push(maker.section(input.words(name).to_owned(), &end));
        }
    }
    let first = input.history.len() - input.shown_history().len() + 1;
    for (at, round) in input.shown_history().iter().enumerate() {
        sections.push(maker.section(format!("{}: {}", input.words("past"), first + at), &past(round, input)));
    }
    sections
}

/// One more section, made safe like the others.
pub(super) fn section(input: &PromptInput<'_>, title: &str, raw: &str) -> Section {
    let maker = Maker { input, mark: mark(input.nonce), numbers: Numbers::Hidden, detail: Detail::Full };
    maker.section(title.to_owned(), raw)
}

struct Maker<'a> {
    input: &'a PromptInput<'a>,
    mark: String,
    numbers: Numbers,
    detail: Detail,
}

impl Maker<'_> {
    /// A section whose text is safe to stand in a question.
    fn section(&self, title: String, raw: &str) -> Section {
        Section { title, text: self.safe(&clean::text(raw)) }
    }

    fn clip(&self, raw: &str, most: usize) -> String {
        clip(self.input.redactor.text(raw).as_str(), most)
    }

    fn line(&self, raw: &str, most: usize) -> String {
        self.safe(&clean::line(self.input.redactor.text(raw).as_str(), most))
    }

    /// Without secrets, without the mark, and without the beginning of a key block: the whole question is redacted once
    /// more, and an unfinished block in one section must not take the following ones with it.
    fn safe(&self, visible: &str) -> String {
        let redacted = self.input.redactor.text(visible).as_str().replace("-----BEGIN ", "---- BEGIN ");
        let text = redacted.trim_end();
        if self.mark.is_empty() { text.to_owned() } else { text.replace(&self.mark, "") }
    }

    fn file(&self, what: &str, file: &Document, most: usize) -> Section {
        let line_ends = if file.text.contains("\r\n") { ", lines end in CR LF" } else { "" };
        let path = match self.detail {
            Detail::Full => self.line(&file.path.to_string_lossy(), 200),
            Detail::Brief => self.line(&short_paths(self.input, &file.path.to_string_lossy()), 200),
        };
        let title = format!("{what} {path} ({} lines{line_ends})", file.text.lines().count());
        let here = self.input.report.location.as_ref().filter(|place| place.file == file.path);
        let mut text = String::new();
        // Before it is cut: half a secret does not look like one. Lines keep their numbers.
        let redacted = self.input.redactor.text(&file.text);
        // Cleaning would move line numbers if it broke lines at a lone CR, so it is done line by line.
        for (number, line) in clean::excerpt(redacted.as_str(), here.map(|place| place.line), most) {
            let line = clean::text(&line).replace('\n', " ");
            let _ = match number {
                Some(number) if self.numbers == Numbers::Shown => writeln!(text, "{number:>4}| {line}"),
                _ => writeln!(text, "{line}"),
            };
        }
        Section { title, text: self.safe(&text) }
    }
}

/// The report, and what a probe saw.
fn failure(input: &PromptInput<'_>) -> String {
    let report = input.report;
    let mut out = String::new();
    let mut put = |name: &str, value: &str| {
        if !value.trim().is_empty() {
            let _ = writeln!(out, "{name}: {}", cut(&format!("{name}: {value}"), name, 300, input));
        }
    };
    put("command", input.command);
    put("language", input.language);
    put("ended with", &report.status);
    put("class", report.class.word());
    put("error", &report.core_error);
    put("place", &place(report));
    if let Some(command) = &report.command {
        put("failing command", &command.source);
        if input.send_data {
            put("with its real arguments", &command.words.join(" "));
        }
        put("its exit status", &command.status.map(|code| code.to_string()).unwrap_or_default());
    }
    for (name, value) in report.context.iter().take(12) {
        put(&clean::line(name, 80), value);
    }
    for cause in report.causes.iter().take(3) {
        put("possible cause", &cause.text);
        put("  speaks for it", &cause.evidence.join("; "));
        put("  would disprove it", &cause.disproved_by);
    }
    if let Some(trace) = input.trace.filter(|_| input.send_data) {
        out.push_str(&values(trace, input));
    }
    out
}

/// What a cause is called that says nothing.
const NO_CAUSE: [&str; 2] = ["reason of its own", "cause is not known"];

/// The report for a small model: what failed, with its values, what the paths are, and the causes that say something.
fn in_brief(input: &PromptInput<'_>) -> String {
    let report = input.report;
    let mut out = String::new();
    let mut put = |name: &str, value: &str| {
        let value = short_paths(input, value);
        if !value.trim().is_empty() {
            let _ = writeln!(out, "{name}: {}", cut(&format!("{name}: {value}"), name, 220, input));
        }
    };
    put("command", input.command);
    put("ended with", &report.status);
    put("error", &report.core_error);
    if let (Some(place), Some(script)) = (&report.location, input.script) {
        let text = script
            .text
            .lines()
            .nth((place.line as usize).saturating_sub(1))
            .filter(|_| place.file == script.path);
        put(&format!("failing line {}", place.line), text.map_or("", str::trim));
    }
    let shown = |name: &str| {
        !(name.starts_with("state of /") || name.contains('='))
            && (input.send_data || !name.starts_with("value of"))
    };
    for (name, value) in report.context.iter().filter(|(name, _)| shown(name)).take(8) {
        put(&clean::line(&short_paths(input, name), 80), value);
    }
    for cause in
        report.causes.iter().take(2).filter(|cause| !NO_CAUSE.iter().any(|words| cause.text.contains(words)))
    {
        put("likely cause", &cause.text);
    }
    if let Some(trace) = input.trace.filter(|_| input.send_data) {
        let known = |line: &str| report.context.iter().any(|(name, _)| line.starts_with(&format!("{name}:")));
        let fresh = values(trace, input)
            .lines()
            .filter(|line| !known(line))
            .take(8)
            .fold(String::new(), |all, line| all + line + "\n");
        out.push_str(&short_paths(input, &fresh));
    }
    out
}

/// A text in which the script's folder is not repeated.
fn short_paths(input: &PromptInput<'_>, text: &str) -> String {
    let folder = input
        .script
        .and_then(|script| script.path.parent())
        .map(|folder| folder.to_string_lossy().into_owned());
    match folder.filter(|folder| folder.len() > 1) {
        Some(folder) => text.replace(&format!("{folder}/"), ""),
        None => text.to_owned(),
    }
}

fn place(report: &Report) -> String {
    let Some(place) = &report.location else { return String::new() };
    let remote = place.remote.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
    let function = place.function.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
    format!("{} line {}{function}{remote}", place.file.display(), place.line)
}

/// The value of `NAME: VALUE`, redacted beside its name and then cut.
fn cut(whole: &str, name: &str, most: usize, input: &PromptInput<'_>) -> String {
    let redacted = input.redactor.text(whole);
    clean::line(
        redacted.as_str().strip_prefix(name).map_or(redacted.as_str(), |rest| rest.trim_start_matches(": ")),
        most,
    )
}

/// The variables at the point of failure, innermost frame first.
fn values(trace: &Trace, input: &PromptInput<'_>) -> String {
    let mut out = String::new();
    let all = trace.frames.iter().rev().flat_map(|frame| &frame.values);
    for (name, value) in all.take(VALUES) {
        let whole = format!("{name}: {value}");
        let _ = writeln!(out, "value of {}: {}", clean::line(name, 60), cut(&whole, name, 200, input));
    }
    out
}

fn past(round: &PastRound, input: &PromptInput<'_>) -> String {
    let diagnosis = &round.diagnosis;
    let line = |text: &str| clean::line(input.redactor.text(text).as_str(), 500);
    let mut out =
        format!("cause: {}\nstrategy: {}\n", line(&diagnosis.root_cause), line(&diagnosis.strategy));
    if !round.diff.trim().is_empty() {
        let _ = write!(
            out,
            "change:\n{}\n",
            clip(input.redactor.text(&round.diff).as_str(), DIFF_CHARS).trim_end()
        );
    }
    let _ = writeln!(out, "it failed because: {}", line(&round.failed_because));
    out
}

/// The first so many characters.
fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}\n[… left out …]", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
