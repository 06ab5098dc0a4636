//! The first question: why did it fail, and what must change?

use std::collections::BTreeSet;
use std::path::PathBuf;

use selfheal_core::diagnosis::{Basis, Diagnosis, What};
use selfheal_core::ports::{Form, Question};
use selfheal_core::verification::Check;
use serde::Deserialize;
use serde_json::{Value, json};

use super::citations::{Known, cited_lines};
use super::input::PromptInput;
use super::material::{Detail, Numbers, mark, sections};
use super::{PromptError, clean, examples, render, with_users};

/// Tokens of an answer at most; the bounds of the schema keep a whole answer below it.
const MAX_TOKENS: u32 = 1_200;
/// What a statement needs at least, in characters, to say anything.
const LEAST: usize = 12;
/// So much of their words two sentences have in common that say nearly the same, in percent.
const NEARLY: usize = 80;
/// How the disproved assumption is kept among the evidence.
const DISPROVED: &str = "disproved: ";
/// The kinds of checks that an answer may name.
const CHECKS: [&str; 6] =
    ["exists", "missing", "min_lines", "file_contains", "stdout_contains", "stderr_lacks"];

/// Asks for a diagnosis.
///
/// # Errors
/// When a template cannot be filled in.
pub fn diagnosis_question(input: &PromptInput<'_>) -> Result<Question, PromptError> {
    let again = !input.history.is_empty();
    let closing = input.words(if again { "ask-again" } else { "ask-diagnosis" });
    let example = examples::of(input.report.class);
    let mark = mark(input.nonce);
    Ok(Question {
        system: render::fill(input, "diagnosis_system", minijinja::context! { again, example })?,
        user: render::case(input, &mark, &sections(input, Numbers::Shown, Detail::Full), closing)?,
        form: Form::Object { name: "diagnosis".to_owned(), schema: schema(input) },
        max_tokens: MAX_TOKENS,
        temperature: input.temperature(),
    })
}

fn schema(input: &PromptInput<'_>) -> Value {
    let lines = input.script.map_or(0, |script| script.text.lines().count());
    let text = |most: u32| json!({"type": "string", "minLength": LEAST, "maxLength": most});
    let mut schema = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["basis", "evidence", "line", "root_cause", "strategy", "verify", "what"],
        "properties": {
            "basis": {"enum": [Basis::Project.word(), Basis::General.word()]},
            "evidence": {"type": "array", "minItems": 1, "maxItems": 4, "items": text(240)},
            "line": {"type": "integer", "minimum": 0, "maximum": lines},
            "root_cause": text(500),
            "strategy": text(300),
            "verify": {"type": "array", "maxItems": 4, "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["check"],
                "properties": {
                    "check": {"enum": CHECKS},
                    "lines": {"type": "integer", "minimum": 1, "maximum": 1_000_000},
                    "path": {"type": "string", "minLength": 1, "maxLength": 200},
                    "text": {"type": "string", "minLength": 1, "maxLength": 200},
                },
            }},
            "what": {"enum": ["script", "arguments", "environment"]},
        },
    });
    if !input.history.is_empty() {
        if let Some(fields) = schema.pointer_mut("/properties").and_then(Value::as_object_mut) {
            fields.insert("falsified".to_owned(), text(300));
        }
        if let Some(required) = schema.pointer_mut("/required").and_then(Value::as_array_mut) {
            required.push("falsified".into());
        }
    }
    schema
}

#[derive(Deserialize)]
struct Answered {
    // Who does not say that it rests on the project does not know it.
    #[serde(default = "general")]
    basis: Basis,
    evidence: Vec<String>,
    #[serde(default)]
    falsified: String,
    line: u32,
    root_cause: String,
    strategy: String,
    verify: Vec<AnsweredCheck>,
    what: What,
}

fn general() -> Basis {
    Basis::General
}

#[derive(Deserialize)]
struct AnsweredCheck {
    check: String,
    lines: Option<u32>,
    path: Option<String>,
    text: Option<String>,
}

/// Reads an answer to [`diagnosis_question`].
///
/// # Errors
/// Why it is refused, in words for the model: it names what does not exist, holds code, says nothing, or repeats what
/// did not work.
pub fn read_diagnosis(value: &Value, input: &PromptInput<'_>) -> Result<Diagnosis, String> {
    let value = with_users(value, input.redactor);
    let answer = Answered::deserialize(value).map_err(|_| "it lacks a field or has one of a wrong type")?;
    let known = Known::of(input);
    let statement = |name: &str, raw: &str| {
        let line = clean::line(raw, 600);
        if line.chars().count() < LEAST { Err(format!("{name} says nothing")) } else { Ok(line) }
    };
    let root_cause = statement("root_cause", &answer.root_cause)?;
    let mut evidence = Vec::new();
    for raw in answer.evidence.iter().take(4) {
        evidence.push(statement("evidence", raw)?);
    }
    for text in evidence.iter().chain([&root_cause]) {
        known.check(text)?;
    }
    let strategy = statement("strategy", &answer.strategy)?;
    known.check_lines(&strategy)?;
    no_code(&strategy)?;
    not_repeated(&strategy, input)?;
    if !input.history.is_empty() {
        evidence.insert(0, format!("{DISPROVED}{}", falsified(&answer.falsified, input)?));
    }
    let lines = input.script.map_or(0, |script| script.text.lines().count());
    if answer.line as usize > lines {
        return Err(format!("line {} does not exist: the script has {lines} lines", answer.line));
    }
    if answer.what == What::Script && input.script.is_none() {
        return Err("there is no script that could be changed".to_owned());
    }
    Ok(Diagnosis {
        root_cause: naming_its_line(root_cause, answer.line),
        evidence,
        change: answer.what,
        strategy,
        verify: answer.verify.iter().take(4).map(check).collect::<Result<_, _>>()?,
        basis: answer.basis,
    })
}

/// A root cause names a line; where the sentence does not, the answer's own field does.
fn naming_its_line(root_cause: String, line: u32) -> String {
    if line == 0 || !cited_lines(&root_cause).is_empty() {
        root_cause
    } else {
        format!("line {line}: {root_cause}")
    }
}

/// Signs of code, as opposed to a sentence that names a command.
const CODE: [&str; 16] =
    ["```", "$(", "&&", "||", ">>", "2>", "<<", "==", "=>", "!=", "+=", "();", "#!/", "; do", "; then", "]]"];

fn no_code(strategy: &str) -> Result<(), String> {
    let quoted_code = strategy.split('`').skip(1).step_by(2).any(|quoted| quoted.trim().contains(' '));
    if quoted_code || CODE.iter().any(|sign| strategy.contains(sign)) {
        return Err("the strategy holds code; say in words what to change".to_owned());
    }
    Ok(())
}

fn not_repeated(strategy: &str, input: &PromptInput<'_>) -> Result<(), String> {
    if input.history.iter().any(|round| nearly_same(&round.diagnosis.strategy, strategy)) {
        return Err("the strategy is that of a round that did not work".to_owned());
    }
    Ok(())
}

/// The disproved assumption: stated, and not stated before.
fn falsified(raw: &str, input: &PromptInput<'_>) -> Result<String, String> {
    let text = clean::line(raw, 400);
    if text.chars().count() < LEAST {
        return Err("falsified does not say which assumption of the last round is disproved".to_owned());
    }
    let before = |round: &super::PastRound| {
        round
            .diagnosis
            .evidence
            .iter()
            .filter_map(|line| line.strip_prefix(DISPROVED))
            .any(|old| nearly_same(old, &text))
    };
    if input.history.iter().any(before) {
        return Err("falsified repeats what an earlier round said".to_owned());
    }
    Ok(text)
}

/// Whether two sentences have nearly the same words, in whatever order.
fn nearly_same(one: &str, other: &str) -> bool {
    let set = |text: &str| words(text).into_iter().collect::<BTreeSet<String>>();
    let (one, other) = (set(one), set(other));
    let common = one.intersection(&other).count();
    let all = one.len() + other.len() - common;
    all > 0 && common * 100 >= all * NEARLY
}

/// The words of a sentence without case and punctuation, to tell repetitions.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn check(answered: &AnsweredCheck) -> Result<Check, String> {
    let needs = |what: &str| format!("the check {} needs a {what}", clean::line(&answered.check, 30));
    let path = || {
        let path = answered.path.as_deref().map(str::trim).filter(|path| !path.is_empty());
        path.filter(|path| !path.chars().any(clean::is_hidden))
            .map(PathBuf::from)
            .ok_or_else(|| needs("path"))
    };
    let text = || {
        let text = answered.text.clone().filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| needs("text"))
    };
    Ok(match answered.check.as_str() {
        "exists" => Check::Exists { path: path()? },
        "missing" => Check::Missing { path: path()? },
        "min_lines" => {
            Check::MinLines { path: path()?, lines: answered.lines.ok_or_else(|| needs("number of lines"))? }
        }
        "file_contains" => Check::FileContains { path: path()?, text: text()? },
        "stdout_contains" => Check::StdoutContains { text: text()? },
        "stderr_lacks" => Check::StderrLacks { text: text()? },
        _ => return Err(format!("there is no check of the kind {}", clean::line(&answered.check, 30))),
    })
}
