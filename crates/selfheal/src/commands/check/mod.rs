//! `selfheal check`: the guard's judgement on scripts, and on the change of one, for people, hooks and programs.
//!
//! Nothing is run and nothing is stored. The exit code says what was found, so that a pre-commit hook needs no more.

mod read;
mod report;
mod sarif;

use std::path::{Path, PathBuf};

use selfheal_core::admission::{Danger, Finding, Weight};
use selfheal_core::settings::Limits;
use selfheal_guard::scope::Roots;
use selfheal_guard::size::Change;
use selfheal_guard::{Policy, judge_change};
use selfheal_syntax::{Language, check};

use self::read::Source;
use super::{Ended, print, tell};
use crate::cli::{CheckArgs, FailOn};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::{exit_code, guard_rules};

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file, as it was named.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// The rule.
    pub rule: String,
    /// Why, in a sentence.
    pub why: String,
    /// How bad it is.
    pub level: Danger,
}

/// All that was found.
#[derive(Debug, Default)]
pub struct Findings {
    /// Each thing, by file and line.
    pub all: Vec<Found>,
    /// How many files were looked at.
    pub files: usize,
    /// Whether a change hides a failure; `None` where no change was looked at.
    pub masked: Option<bool>,
    /// Whether something could not be judged.
    pub unjudged: bool,
}

impl Findings {
    /// The worst level.
    #[must_use]
    pub fn worst(&self) -> Danger {
        self.all.iter().map(|found| found.level).max().unwrap_or(Danger::Low)
    }

    /// The exit code for a level from which on it says so.
    fn code(&self, fail_on: FailOn) -> i32 {
        let worst = self.worst();
        match fail_on {
            FailOn::Never => exit_code::OK,
            _ if self.masked == Some(true) => exit_code::MASKED,
            _ if self.unjudged => exit_code::UNJUDGED,
            FailOn::High if worst == Danger::High => exit_code::DANGEROUS,
            FailOn::Medium if worst >= Danger::Medium => exit_code::DANGEROUS,
            FailOn::High | FailOn::Medium => exit_code::OK,
        }
    }
}

/// Prints what was found.
///
/// # Errors
/// When a file cannot be read or nobody knows its language.
pub fn run(context: &Context, args: &CheckArgs) -> Ended {
    let language = args.language.map(Language::from);
    let (policy, complaints) = guard_rules::load(context);
    complaints.iter().for_each(|complaint| tell(&format!("selfheal: {complaint}")));
    let mut found = match args.diff.as_deref() {
        Some([old, new]) => change(context, &policy, language, (old, new))?,
        _ => scripts(&policy, language, &args.files)?,
    };
    let redactor = context.redactor();
    for one in &mut found.all {
        one.why = redactor.text(&one.why).to_string();
    }
    let text = match (args.sarif, args.json) {
        (true, _) => format!("{:#}\n", sarif::document(&found)),
        (_, true) => format!("{:#}\n", report::json(&found)),
        _ => report::text(&found, &context.texts()),
    };
    print(&text);
    Ok(found.code(args.fail_on))
}

fn scripts(policy: &Policy, language: Option<Language>, files: &[PathBuf]) -> Result<Findings, CommandError> {
    let mut out = Findings { files: files.len(), ..Findings::default() };
    for file in files {
        let source = Source::read(file)?;
        let language = source.language(language, files.len() > 1)?;
        let Some(language) = language else { continue };
        script(policy, &source, language, &mut out);
    }
    Ok(out)
}

/// The operations of one script, and whether it is one at all.
fn script(policy: &Policy, source: &Source, language: Language, out: &mut Findings) {
    let found = |line: u32, rule: &str, why: &str, level: Danger| Found {
        file: source.file.clone(),
        line,
        rule: rule.to_owned(),
        why: why.to_owned(),
        level,
    };
    let Some(text) = &source.text else {
        out.unjudged = true;
        return out.all.push(found(1, "danger/unjudged", source.reason(), Danger::High));
    };
    let Some(operations) = policy.operations(language, text, &Roots::default()) else {
        out.unjudged = true;
        return out.all.push(found(1, "danger/unjudged", "it is too large to be judged", Danger::High));
    };
    for operation in operations {
        out.all.push(found(operation.line, &operation.rule, &operation.why, operation.danger));
    }
    // What both parsers cannot read may do anything.
    for problem in check::syntax_errors(language, text).unwrap_or_default() {
        out.unjudged = true;
        let why = format!("it does not parse: {}", problem.message);
        out.all.push(found(problem.line, "parse/broken", &why, Danger::Medium));
    }
}

fn change(
    context: &Context,
    policy: &Policy,
    language: Option<Language>,
    (old, new): (&Path, &Path),
) -> Result<Findings, CommandError> {
    let (before, after) = (Source::read(old)?, Source::read(new)?);
    let language = match before.language(language, true)? {
        Some(language) => language,
        None => after.language(language, false)?.unwrap_or(Language::Other),
    };
    let (Some(old_text), Some(new_text)) = (&before.text, &after.text) else {
        let side = if before.text.is_none() { &before } else { &after };
        let why = side.reason().to_owned();
        let found = Found { file: new.into(), line: 1, rule: "parse/text".into(), why, level: Danger::High };
        return Ok(Findings { all: vec![found], files: 1, masked: Some(false), unjudged: true });
    };
    let path = context.cwd.join(new);
    let judged = judge_change(
        language,
        Change { path: &path, before: old_text, after: new_text },
        &Limits::default(),
        policy,
    );
    let masked = judged
        .findings
        .iter()
        .any(|finding| finding.rule.starts_with("masking/") && finding.weight == Weight::Refuse);
    let kept = stays(&before, &after);
    let shown = judged.findings.iter().chain(&kept).filter(|finding| finding.weight > Weight::Note);
    let all: Vec<Found> = shown.map(|finding| of_finding(new, finding)).collect();
    Ok(Findings { all, files: 1, masked: Some(masked), unjudged: judged.held })
}

/// What a change of a script leaves as it was besides its text: encoding, permission bits, owner. Bits and owners are
/// compared where both sides are files.
fn stays(before: &Source, after: &Source) -> Vec<Finding> {
    let found = |rule: &str, weight: Weight, why: String| Finding {
        rule: rule.to_owned(),
        file: None,
        line: None,
        why,
        weight,
    };
    let mut out = Vec::new();
    if before.utf8 != after.utf8 && before.text.as_deref() != Some("") {
        out.push(found("size/encoding", Weight::Medium, "it changes the encoding".to_owned()));
    }
    let (Some((old_mode, old_owner)), Some((mode, owner))) = (before.facts, after.facts) else { return out };
    let added = mode & !old_mode;
    let why = || format!("it changes the mode from {old_mode:o} to {mode:o}");
    match added {
        _ if added & 0o7002 != 0 => out.push(found("size/mode", Weight::High, why())),
        _ if added & 0o020 != 0 => out.push(found("size/mode", Weight::Medium, why())),
        _ => {}
    }
    if owner != old_owner {
        let why = format!("it belongs to another user ({owner}) than before ({old_owner})");
        out.push(found("size/owner", Weight::Medium, why));
    }
    out
}

fn of_finding(file: &Path, finding: &Finding) -> Found {
    let level = match finding.weight {
        Weight::Note => Danger::Low,
        Weight::Medium => Danger::Medium,
        Weight::High | Weight::Hold | Weight::Refuse => Danger::High,
    };
    Found {
        file: file.to_owned(),
        line: finding.line.unwrap_or(1),
        rule: finding.rule.clone(),
        why: finding.why.clone(),
        level,
    }
}
