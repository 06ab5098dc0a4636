//! The second question: the change to the files for a diagnosis.

use std::collections::BTreeMap;

use selfheal_core::diagnosis::{Diagnosis, What};
use selfheal_core::ports::{Form, Question};
use selfheal_core::proposal::{FileChange, Proposal, Risk, Source};
use serde::Deserialize;
use serde_json::{Value, json};

use super::citations::cited_lines;
use super::edits::{self, Edit};
use super::head::RunChange;
use super::input::{Document, PromptInput};
use super::material::{Detail, Numbers, mark, section, sections};
use super::{PromptError, clean, render, touch, with_users};

/// Tokens of an answer at most.
const MAX_TOKENS: u32 = 2_500;
/// A script up to this length may come back whole.
const WHOLE_CHARS: usize = 1_200;
/// The longest script that may come back. llama.cpp compiles the bounds of strings into a grammar and refuses one that
/// repeats anything 2,000 times or more (`MAX_REPETITION_THRESHOLD`).
const MOST_WHOLE_CHARS: usize = 1_800;
const MOST_EDITS: usize = 6;

/// Asks for the change of a diagnosis.
///
/// # Errors
/// [`PromptError::NothingToEdit`] when the diagnosis is not about a file or there is none, or when a template cannot be
/// filled in.
pub fn proposal_question(input: &PromptInput<'_>, diagnosis: &Diagnosis) -> Result<Question, PromptError> {
    let Some(script) = input.script else { return Err(PromptError::NothingToEdit) };
    let run = diagnosis.change != What::Script;
    let files = names(input);
    let whole = may_come_whole(script);
    let values = minijinja::context! { several_files => files.len() > 1, whole, run };
    let mut sections = sections(input, Numbers::Hidden, Detail::Full);
    sections.push(section(input, input.words("diagnosis"), &diagnosed(diagnosis)));
    Ok(Question {
        system: render::fill(input, "proposal_system", values)?,
        user: render::case(input, &mark(input.nonce), &sections, input.words("ask-proposal"))?,
        form: Form::Object { name: "proposal".to_owned(), schema: schema(&files, whole, run) },
        max_tokens: MAX_TOKENS,
        temperature: input.temperature(),
    })
}

fn may_come_whole(script: &Document) -> bool {
    script.text.chars().count() <= WHOLE_CHARS
}

/// The names by which an answer may call the files, and the files. Base names, and whole paths where these are not unique.
fn names<'a>(input: &PromptInput<'a>) -> BTreeMap<String, &'a Document> {
    let base = |file: &Document| {
        let name = file.path.file_name().unwrap_or(file.path.as_os_str());
        clean::line(&name.to_string_lossy(), 100)
    };
    let files: Vec<&Document> = input.editable().collect();
    files
        .iter()
        .map(|file| {
            let unique = files.iter().filter(|other| base(other) == base(file)).count() == 1;
            let name = if unique { base(file) } else { clean::line(&file.path.to_string_lossy(), 200) };
            (name, *file)
        })
        .collect()
}

fn schema(files: &BTreeMap<String, &Document>, whole: bool, run: bool) -> Value {
    let text = |least: u32, most: usize| json!({"type": "string", "minLength": least, "maxLength": most});
    let mut edit = json!({"find": text(1, 600), "replace": text(0, 1_500)});
    if let Some(fields) = edit.as_object_mut().filter(|_| files.len() > 1) {
        fields.insert("file".to_owned(), json!({"enum": files.keys().collect::<Vec<_>>()}));
    }
    let mut fields = json!({
        "change_summary": {"type": "array", "minItems": 1, "maxItems": 5, "items": text(8, 240)},
        "changes_meaning": {"type": "boolean"},
        "edits": {"type": "array", "maxItems": MOST_EDITS, "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["find", "replace"],
            "properties": edit,
        }},
        "risk_assessment": {"enum": ["low", "medium", "high"]},
        "rollback_plan": text(8, 240),
    });
    if let Some(fields) = fields.as_object_mut().filter(|_| whole) {
        fields.insert("script".to_owned(), text(0, MOST_WHOLE_CHARS));
    }
    if let Some(fields) = fields.as_object_mut().filter(|_| run) {
        fields.insert("run".to_owned(), run_schema());
    }
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["change_summary", "changes_meaning", "edits", "risk_assessment", "rollback_plan"],
        "properties": fields,
    })
}

/// How the job is to be run otherwise.
fn run_schema() -> Value {
    let text = |most: usize| json!({"type": "string", "maxLength": most});
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["reason"],
        "properties": {
            "arguments": {"type": "array", "maxItems": 12, "items": text(200)},
            "environment": {"type": "array", "maxItems": 8, "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["name", "value"],
                "properties": {"name": text(60), "value": text(300)},
            }},
            "folder": text(200),
            "reason": text(200),
        },
    })
}

fn diagnosed(diagnosis: &Diagnosis) -> String {
    format!(
        "cause: {}\nevidence: {}\nstrategy: {}",
        diagnosis.root_cause,
        diagnosis.evidence.join("; "),
        diagnosis.strategy
    )
}

#[derive(Deserialize)]
struct Answered {
    change_summary: Vec<String>,
    changes_meaning: bool,
    edits: Vec<AnsweredEdit>,
    risk_assessment: Risk,
    rollback_plan: String,
    #[serde(default)]
    script: String,
    #[serde(default)]
    run: RunChange,
}

#[derive(Deserialize)]
struct AnsweredEdit {
    file: Option<String>,
    find: String,
    replace: String,
}

/// Reads an answer to [`proposal_question`] by the model of this name.
///
/// # Errors
/// Why it is refused, in words for the model: edits that do not fit the files exactly, no change at all, lines that do
/// not exist, a script that is only sketched, invisible characters, or a masked secret.
pub fn read_proposal(value: &Value, input: &PromptInput<'_>, model: &str) -> Result<Proposal, String> {
    let value = with_users(value, input.redactor);
    let answer = Answered::deserialize(value).map_err(|_| "it lacks a field or has one of a wrong type")?;
    let changes = changes(&answer, input)?;
    near_or_said(&changes, input, &answer.change_summary)?;
    Ok(Proposal {
        source: Source::Model { name: model.to_owned() },
        summary: summary(&answer.change_summary, &changes)?,
        risk: answer.risk_assessment,
        changes_meaning: answer.changes_meaning,
        rollback: match clean::line(&answer.rollback_plan, 300) {
            plan if plan.is_empty() => return Err("rollback_plan is empty".to_owned()),
            plan => plan,
        },
        changes: changes.into_iter().map(Changed::into_file_change).collect(),
        installs: Vec::new(),
    })
}

/// A file with its text before and afterwards.
pub(super) struct Changed<'a> {
    pub(super) file: &'a Document,
    pub(super) after: String,
}

impl Changed<'_> {
    pub(super) fn into_file_change(self) -> FileChange {
        FileChange {
            path: self.file.path.clone(),
            before: Some(self.file.text.clone().into_bytes()),
            after: Some(self.after.into_bytes()),
            mode: None,
        }
    }
}

fn changes<'a>(answer: &Answered, input: &PromptInput<'a>) -> Result<Vec<Changed<'a>>, String> {
    let script = input.script.ok_or("there is no script that could be changed")?;
    if !answer.run.is_empty() {
        if !answer.edits.is_empty() || !answer.script.trim().is_empty() {
            return Err("it changes both how the job is run and its text; one of them".to_owned());
        }
        return sound(vec![Changed { file: script, after: answer.run.in_head_of(script, input)? }], input);
    }
    let changed = match (answer.edits.is_empty(), answer.script.trim().is_empty()) {
        (true, true) => return Err("it holds neither edits nor a script".to_owned()),
        (false, false) => return Err("it holds both edits and a script; one of them".to_owned()),
        (true, false) => vec![Changed { file: script, after: whole(&answer.script, script, input)? }],
        (false, true) => edited(&answer.edits, script, input)?,
    };
    checked(changed, input)
}

/// What really changes, after the checks that cost nothing.
///
/// # Errors
/// In one line for the model: nothing changes, a text does not parse any more, it has nothing to do with the failure, it holds
/// what nobody can see, or a secret in a further place.
pub(super) fn checked<'a>(
    changed: Vec<Changed<'a>>,
    input: &PromptInput<'_>,
) -> Result<Vec<Changed<'a>>, String> {
    let changed = sound(changed, input)?;
    // One of the changes must have to do with the failure; the others may follow from it.
    let touching = |change: &Changed<'_>| {
        touch::touches(&change.file.path, &change.file.text, &change.after, input.report)
    };
    match changed.iter().find_map(|change| touching(change).err()) {
        Some(reason) if changed.iter().all(|change| touching(change).is_err()) => Err(reason),
        _ => Ok(changed),
    }
}

/// Refuses changes far from the failure for which no reason is given; not a second time.
///
/// # Errors
/// In one line for the model.
pub(super) fn near_or_said(
    changed: &[Changed<'_>],
    input: &PromptInput<'_>,
    said: &[String],
) -> Result<(), String> {
    changed.iter().filter(|_| !input.far_is_fine).try_for_each(|Changed { file, after }| {
        touch::stays_near((&file.path, &file.text, after), input.report, said)
    })
}

/// What really changes, as far as it is sound: whatever it has to do with the failure.
fn sound<'a>(changed: Vec<Changed<'a>>, input: &PromptInput<'_>) -> Result<Vec<Changed<'a>>, String> {
    let changed: Vec<Changed<'_>> =
        changed.into_iter().filter(|change| change.after != change.file.text).collect();
    if changed.is_empty() {
        return Err("it changes nothing".to_owned());
    }
    for Changed { file, after } in &changed {
        edits::visible(&file.text, after)?;
        edits::no_spread(&file.text, after, input.redactor)?;
        touch::parses(&file.path, &file.text, after)?;
        touch::silences_nothing(&file.text, after)?;
        touch::keeps_given_values(&file.text, after, input.report)?;
        touch::keeps_remote(&file.text, after)?;
        touch::keeps_own_check(&file.text, after, input.report)?;
    }
    Ok(changed)
}

fn edited<'a>(
    answered: &[AnsweredEdit],
    script: &'a Document,
    input: &PromptInput<'a>,
) -> Result<Vec<Changed<'a>>, String> {
    let names = names(input);
    let mut by_file: BTreeMap<&std::path::Path, (&Document, Vec<Edit>)> = BTreeMap::new();
    for edit in answered.iter().take(MOST_EDITS) {
        let file = match edit.file.as_deref().filter(|name| !name.is_empty()) {
            None => script,
            Some(name) => *names.get(name).ok_or("an edit names a file that is not in the material")?,
        };
        let unmask = |piece: &str| edits::unmask(piece, &file.text, input.redactor);
        let edit = Edit { find: unmask(&edit.find)?, replace: unmask(&edit.replace)? };
        by_file.entry(&file.path).or_insert((file, Vec::new())).1.push(edit);
    }
    by_file
        .into_values()
        .map(|(file, list)| Ok(Changed { file, after: edits::apply(&file.text, &list)? }))
        .collect()
}

/// A script that came back whole: without the fence that models like to put around, with the line ends that it had.
fn whole(answered: &str, script: &Document, input: &PromptInput<'_>) -> Result<String, String> {
    if !may_come_whole(script) {
        return Err("the script is too long to come back whole; use edits".to_owned());
    }
    let text = unfenced(answered);
    if let Some(line) = text.lines().find(|line| is_sketch(line) && !script.text.contains(line.trim())) {
        return Err(format!("the script is only sketched (`{}`); write every line", clean::line(line, 60)));
    }
    let mut after = edits::like(&script.text, &edits::unmask(text, &script.text, input.redactor)?);
    if script.text.ends_with('\n') && !after.ends_with('\n') {
        after.push_str(if script.text.contains("\r\n") { "\r\n" } else { "\n" });
    }
    Ok(after)
}

fn unfenced(text: &str) -> &str {
    let trimmed = text.trim();
    let inside = trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inside.and_then(|rest| rest.split_once('\n')).map_or(text, |(_, body)| body)
}

/// Whether a line stands for lines that were not written.
pub(super) fn is_sketch(line: &str) -> bool {
    let comment = line.trim().trim_start_matches(['#', '/', '-', ' ']).to_ascii_lowercase();
    comment.starts_with("...")
        || comment.starts_with('…')
        || ["rest of the script", "remains unchanged", "remain unchanged", "existing code"]
            .iter()
            .any(|words| line.trim().starts_with(['#', '/']) && comment.contains(words))
}

/// The sentences of a summary. Each names lines that exist; one that names none is given the place of its change.
fn summary(sentences: &[String], changes: &[Changed<'_>]) -> Result<Vec<String>, String> {
    let most = changes
        .iter()
        .map(|change| change.after.lines().count().max(change.file.text.lines().count()))
        .max()
        .unwrap_or(0);
    let place = changes.first().map_or(1, |change| edits::first_difference(&change.file.text, &change.after));
    let mut summary = Vec::new();
    for sentence in sentences.iter().take(5) {
        let sentence = clean::line(sentence, 300);
        if sentence.is_empty() {
            return Err("a sentence of change_summary is empty".to_owned());
        }
        let lines = cited_lines(&sentence);
        if let Some(line) = lines.iter().find(|line| **line == 0 || **line > most as u64) {
            return Err(format!("change_summary names line {line}, but there are {most} lines"));
        }
        summary.push(if lines.is_empty() { format!("line {place}: {sentence}") } else { sentence });
    }
    Ok(summary)
}
