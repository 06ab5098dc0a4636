//! The judgement itself: every check on every changed file, summed up.

use selfheal_core::admission::{Admission, Danger, Finding, Weight};
use selfheal_core::job::Job;
use selfheal_core::proposal::{FileChange, Proposal, Risk};
use selfheal_core::report::Report;
use selfheal_core::scene::Scene;
use selfheal_core::settings::Limits;
use selfheal_syntax::{Language, check, diff};

use crate::danger;
use crate::evidence;
use crate::finding::{at, whole};
use crate::leads;
use crate::masking::masking_of;
use crate::minimal;
use crate::packages;
use crate::policy::{Policy, is_asked};
use crate::scope::{self, Roots};
use crate::size::{self, Change};

/// What is judged, and what it is judged by.
#[derive(Clone, Copy)]
pub struct AdmitInput<'a> {
    /// The repair.
    pub proposal: &'a Proposal,
    /// The job that it is for.
    pub job: &'a Job,
    /// What was reported on the failure.
    pub report: Option<&'a Report>,
    /// The machine.
    pub scene: &'a dyn Scene,
    /// The limits.
    pub limits: &'a Limits,
    /// The rules of the user and of the machine.
    pub policy: &'a Policy,
}

/// Files larger than this are not judged, in bytes.
const MAX_BYTES: usize = selfheal_syntax::tree::MAX_BYTES;

/// Words in a rollback plan that mean that its maker is not sure.
const DOUBT: &[&str] = &[
    "cannot",
    "can't",
    "not possible",
    "impossible",
    "irreversible",
    "not reversible",
    "unsure",
    "not sure",
    "might not",
    "may not",
];

/// Judges a proposal. Nothing of it has run, and nothing runs here.
#[must_use]
pub fn admit(input: &AdmitInput<'_>) -> Admission {
    let proposal = input.proposal;
    let originals: Vec<String> =
        proposal.changes.iter().filter_map(|change| text_of(change.before.as_deref())).collect();
    let originals: Vec<&str> = originals.iter().map(String::as_str).collect();
    let roots = Roots::of(input.job, &originals).with_home(input.scene.var("HOME").map(Into::into));
    let mut findings = Vec::new();
    let mut changed = 0;
    findings.extend(packages::all(input, &roots));
    for change in &proposal.changes {
        if proposal.is_packaged(&change.path) {
            let of_file = |finding| Finding { file: Some(change.path.clone()), ..finding };
            findings.extend(packages::file(change, input.scene).into_iter().map(of_file));
            continue;
        }
        let (found, lines) = file(input, change, &roots);
        changed += lines;
        findings
            .extend(found.into_iter().map(|finding| Finding { file: Some(change.path.clone()), ..finding }));
    }
    findings.extend(size::amount(changed, input.limits.small_change_lines));
    findings.extend(plan(proposal));
    Admission::from_findings(proposal.risk, findings, changed)
}

/// What the proposal as such says: whether it changes anything, and how sure its maker is to get back.
fn plan(proposal: &Proposal) -> Vec<Finding> {
    let mut out = Vec::new();
    let idle = |change: &FileChange| change.before == change.after && change.mode.is_none();
    if proposal.changes.iter().all(idle) {
        out.push(whole("size/nothing", Weight::Refuse, "it changes nothing"));
    }
    let rollback = proposal.rollback.to_lowercase();
    if DOUBT.iter().any(|word| rollback.contains(word)) {
        out.push(whole("plan/rollback", Weight::Medium, "its rollback plan voices doubt"));
    }
    out
}

fn file(input: &AdmitInput<'_>, change: &FileChange, roots: &Roots) -> (Vec<Finding>, u32) {
    let mut out: Vec<Finding> = scope::file(&change.path, roots).into_iter().collect();
    out.extend(leads::file(&change.path, roots, input.scene));
    let facts = input.scene.facts(&change.path);
    out.extend(size::mode(change, facts.map(|facts| facts.mode & 0o7777)));
    out.extend(stale(input, change));
    let Some(after) = change.after.as_deref() else {
        out.push(whole("scope/removes", Weight::High, "it removes a whole file"));
        return (out, lines_of(change.before.as_deref()));
    };
    if change.before.as_deref() == Some(after) {
        return (out, 0);
    }
    let (Some(before), Some(after)) = (text_or_empty(change.before.as_deref()), text_of(Some(after))) else {
        out.push(whole(
            "parse/text",
            Weight::Hold,
            "a changed file is too large or not text, so it cannot be judged",
        ));
        return (out, lines_of(Some(after)));
    };
    if before.replace("\r\n", "\n") == after {
        // However many lines it touches, it says the same: nothing can hide in it.
        out.push(whole("size/line-ends", Weight::Note, "only the line ends of another system are gone"));
        return (out, 1);
    }
    if change.before.is_none() {
        out.push(whole("scope/creates", Weight::Medium, "it creates a file"));
    }
    let texts = Change { path: &change.path, before: &before, after: &after };
    out.extend(texts_of_one(input, texts, roots));
    (out, diff::changed_lines(&before, &after))
}

/// Judges the change of one text without a job around it, as `selfheal check --diff` does: masking, new danger, new
/// paths, size and form. The folder of the file and what its old text names are its roots.
#[must_use]
pub fn judge_change(language: Language, change: Change<'_>, limits: &Limits, policy: &Policy) -> Admission {
    let folder = change.path.parent().unwrap_or(change.path);
    let roots = Roots::beside_a_file(folder, change.before);
    let mut findings = text_checks(language, change, &roots, policy);
    findings.extend(size::form(change));
    let lines = diff::changed_lines(change.before, change.after);
    findings.extend(size::amount(lines, limits.small_change_lines));
    Admission::from_findings(Risk::Low, findings, lines)
}

/// The checks that need nothing but the texts and the roots.
fn text_checks(language: Language, texts: Change<'_>, roots: &Roots, policy: &Policy) -> Vec<Finding> {
    let mut out = scope::new_paths(texts, language, roots);
    out.extend(scope::new_hosts(texts));
    out.extend(minimal::beside(language, texts));
    out.extend(parses(language, texts));
    out.extend(masking_of(language, texts.before, texts.after));
    out.extend(new_danger(language, texts, roots, policy));
    out
}

/// The checks that look into the text.
fn texts_of_one(input: &AdmitInput<'_>, texts: Change<'_>, roots: &Roots) -> Vec<Finding> {
    let first = if texts.before.is_empty() { texts.after } else { texts.before };
    let argv0 = input.job.argv.first().and_then(|word| word.to_str());
    let argv0 = argv0.filter(|_| input.job.script.as_deref() == Some(texts.path));
    let language = Language::of(texts.path, first.lines().next().unwrap_or_default(), argv0);
    let mut out = text_checks(language, texts, roots, input.policy);
    out.extend(leads::new_paths(texts, language, roots, input.scene));
    out.extend(input.report.map(|report| evidence::against(report, language, texts)).unwrap_or_default());
    let reported = input.report.and_then(|report| report.location.as_ref());
    let reported = reported.filter(|location| location.file == texts.path && location.remote.is_none());
    out.extend(size::distance(texts, reported.map(|location| location.line), &input.proposal.summary));
    out.extend(size::form(texts));
    out.extend(unnamed_lines(texts, &input.proposal.summary));
    out
}

/// The file on disk must still be what the proposal saw.
fn stale(input: &AdmitInput<'_>, change: &FileChange) -> Option<Finding> {
    let now = input.scene.read(&change.path, MAX_BYTES + 1)?;
    let same = change.before.as_ref().is_some_and(|before| before.get(..now.len()) == Some(now.as_slice()));
    (!same).then(|| {
        whole("scope/stale", Weight::Hold, "the file is not what the proposal was made for any more")
    })
}

/// A script that parsed before must parse afterwards.
fn parses(language: Language, texts: Change<'_>) -> Option<Finding> {
    let after = check::syntax_errors(language, texts.after);
    let problem = match after {
        Err(error) => {
            let why = format!("the changed text cannot be judged: {}", error.reason);
            return Some(whole("parse/unjudged", Weight::Hold, why));
        }
        Ok(problems) => problems.into_iter().next()?,
    };
    let before_bad = check::syntax_errors(language, texts.before).is_ok_and(|problems| !problems.is_empty());
    let why = format!("it does not parse: {}", problem.message);
    let weight = if before_bad { Weight::High } else { Weight::Refuse };
    Some(at("parse/broken", problem.line, weight, why))
}

/// Dangerous operations that the original does not have: high ones are refused, medium ones make the risk medium.
fn new_danger(language: Language, texts: Change<'_>, roots: &Roots, policy: &Policy) -> Vec<Finding> {
    let Some(old) = policy.operations(language, texts.before, roots) else { return Vec::new() };
    let Some(new) = policy.operations(language, texts.after, roots) else {
        return vec![whole("danger/unjudged", Weight::Hold, "what the changed text does cannot be judged")];
    };
    if language == Language::Make && only_indented(texts) {
        // The recipes say what they said before, only make did not take them for recipes.
        return Vec::new();
    }
    let lines = diff::changed_line_numbers(texts.before, texts.after);
    let mut out = Vec::new();
    for operation in new.iter().filter(|operation| operation.danger > Danger::Low) {
        // What was at least as dangerous before is no new capability; a deleter that became safer is none either.
        let count = |all: &[danger::Operation]| {
            all.iter().filter(|other| operation.same_as(other) && other.danger >= operation.danger).count()
        };
        let more = count(&new) > count(&old);
        if !more
            || out.iter().any(|finding: &Finding| {
                finding.line == Some(operation.line) && finding.rule == operation.rule
            })
        {
            continue;
        }
        // A changed variable can make an operation dangerous that stands on an unchanged line.
        let here = lines.contains(&operation.line);
        let weight = match operation.danger {
            Danger::High => Weight::Refuse,
            _ if is_asked(operation) => Weight::Hold,
            _ => Weight::Medium,
        };
        let where_ = if here { "new" } else { "made so by the change" };
        out.push(at(&operation.rule, operation.line, weight, format!("{} ({where_})", operation.why)));
    }
    out
}

/// Whether nothing but the blanks at the beginning of lines changes.
fn only_indented(texts: Change<'_>) -> bool {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (texts.before.lines().collect(), texts.after.lines().collect());
    let same = |(one, other): (&&str, &&str)| one.trim_start() == other.trim_start();
    before.len() == after.len() && before.iter().zip(&after).all(same)
}

/// A summary that names lines must name lines that change.
fn unnamed_lines(texts: Change<'_>, summary: &[String]) -> Option<Finding> {
    let hunks = diff::hunks(texts.before, texts.after);
    let near = |line: u32| {
        hunks.iter().any(|hunk| {
            (hunk.new.start.saturating_sub(2)..=hunk.new.end + 1).contains(&line)
                || (hunk.old.start.saturating_sub(2)..=hunk.old.end + 1).contains(&line)
        })
    };
    let wrong = summary.iter().flat_map(|sentence| lines_named(sentence)).find(|line| !near(*line))?;
    let why = format!("its summary speaks of line {wrong}, which does not change");
    Some(whole("plan/summary", Weight::Medium, why))
}

/// The numbers behind the word `line` or `lines` in a sentence.
fn lines_named(sentence: &str) -> Vec<u32> {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let pairs = words.windows(2).filter_map(|pair| match pair {
        [word, number] if matches!(word.to_lowercase().as_str(), "line" | "lines") => {
            number.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok()
        }
        _ => None,
    });
    pairs.collect()
}

fn text_of(bytes: Option<&[u8]>) -> Option<String> {
    let bytes = bytes.filter(|bytes| bytes.len() <= MAX_BYTES && !bytes.contains(&0))?;
    String::from_utf8(bytes.to_vec()).ok()
}

/// The text of a file that may not have existed; `None` when it existed and is not text.
fn text_or_empty(bytes: Option<&[u8]>) -> Option<String> {
    bytes.map_or_else(|| Some(String::new()), |bytes| text_of(Some(bytes)))
}

fn lines_of(bytes: Option<&[u8]>) -> u32 {
    bytes.map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count() as u32 + 1)
}
