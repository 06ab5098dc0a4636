//! Asking a language model: a diagnosis, then a proposal for it. What it says is read by the prompts, judged by the
//! guard and tried in boxes like any other proposal.

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::Duration;

use selfheal_core::diagnosis::Diagnosis;
use selfheal_core::ids::IncidentId;
use selfheal_core::ports::{Clock, Model, ModelError, Question};
use selfheal_core::proposal::Proposal;
use selfheal_core::redact::Redacted;
use selfheal_core::run::Capture;
use selfheal_core::scene::Scene;
use selfheal_core::verification::{Expect, Scenario};
use selfheal_model::{Config, Key, OpenAi};
use selfheal_repair::Candidate;
use selfheal_repair::prompts::{
    Document, PastRound, PromptInput, diagnosis_question, proposal_question, read_diagnosis, read_proposal,
    sent_back,
};

use super::{Healer, record};
use crate::config::ModelSettings;
use crate::context::Context;

/// Characters of each stream that are looked at.
const ENDS: usize = 2_000;
/// Files beside the script that are shown.
const MOST_FILES: usize = 4;
/// The largest of them, in bytes.
const LARGEST: usize = 16 * 1024;

/// A client for the configured model.
///
/// # Errors
/// When the key cannot be read or the address cannot be used; in words.
pub fn client(context: &Context, settings: &ModelSettings) -> Result<OpenAi, String> {
    let mut config = Config::new(&settings.url, &settings.name);
    config.total_timeout = Duration::from_secs(settings.timeout_s);
    config.redactor = context.redactor();
    config.key = key(context, settings)?;
    config.proxy = context.var("https_proxy").filter(|_| settings.url.starts_with("https:"));
    OpenAi::new(config).map_err(|error| error.to_string())
}

fn key(context: &Context, settings: &ModelSettings) -> Result<Option<Key>, String> {
    if let Some(file) = &settings.key_file {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        context.redactor().know(&text);
        return Ok(Some(Key::new(&text)));
    }
    let name = settings.key_env.as_deref().unwrap_or("SELFHEAL_MODEL_KEY");
    Ok(context.env.get(OsStr::new(name)).map(|value| Key::new(&value.to_string_lossy())))
}

/// Whether something listens where the model's server should be; in words why not.
///
/// # Errors
/// When the address cannot be used or nothing answers there.
pub fn reachable(settings: &ModelSettings) -> Result<(), String> {
    use std::net::{TcpStream, ToSocketAddrs};
    let rest = settings.url.split_once("://").map_or(settings.url.as_str(), |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let usual = if settings.url.starts_with("https:") { 443 } else { 80 };
    let place = if host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        host.to_owned()
    } else {
        format!("{host}:{usual}")
    };
    let fail = |error: std::io::Error| format!("{}: {error}", settings.url);
    let address =
        place.to_socket_addrs().map_err(fail)?.next().ok_or_else(|| format!("{place}: no address"))?;
    TcpStream::connect_timeout(&address, Duration::from_secs(3)).map(|_| ()).map_err(fail)
}

/// What the model sees of the job, owned.
struct Material {
    command: String,
    script: Option<Document>,
    project: Vec<Document>,
    stdout: String,
    stderr: String,
    nonce: String,
}

impl Healer<'_> {
    /// One diagnosis and one proposal by the model; nothing, and a note, where there is no usable answer.
    pub(super) fn ask_model(&mut self, round: u32) -> Vec<Candidate> {
        self.say("progress-model", &[("round", &round.to_string())]);
        match self.asked() {
            Ok(candidate) => vec![candidate],
            Err(reason) => {
                tracing::warn!(reason, "the model gave nothing usable");
                self.notes.push(reason);
                // A server that is down or answers nonsense is not asked again for this incident.
                self.sources.retain(|source| *source != super::Source::Model);
                Vec::new()
            }
        }
    }

    fn asked(&mut self) -> Result<Candidate, String> {
        let settings = self.tools.context.settings.model.clone().ok_or("no model is configured")?;
        let report = self.report.clone().ok_or("there is no report")?;
        let client = self.witnessed(client(self.tools.context, &settings)?);
        let known = self.look_up(&report, settings.send_data);
        let material = self.material();
        let history = self.history();
        let redactor = self.tools.redactor.leaving();
        let language =
            material.script.as_ref().map(|script| language(&script.path, &script.text)).unwrap_or_default();
        let input = PromptInput {
            command: &material.command,
            language: &language,
            script: material.script.as_ref(),
            report: &report,
            stdout_end: &material.stdout,
            stderr_end: &material.stderr,
            trace: self.trace.as_ref(),
            project: &material.project,
            references: known.references.as_str(),
            context: known.context.as_str(),
            history: &history,
            send_data: settings.send_data,
            nonce: &material.nonce,
            redactor: &redactor,
        };
        for file in input.script.iter().copied().chain(input.project) {
            redactor.learn(&file.text);
        }
        let question = diagnosis_question(&input).map_err(|error| format!("failed to {error}"))?;
        let diagnosis = self.answer(&client, question, |value| read_diagnosis(value, &input))?;
        let question = proposal_question(&input, &diagnosis).map_err(|error| format!("failed to {error}"))?;
        let proposal =
            self.answer(&client, question, |value| read_proposal(value, &input, &settings.name))?;
        Ok(candidate(diagnosis, proposal))
    }

    /// Every request body is on record before it leaves.
    pub(super) fn witnessed(&self, client: OpenAi) -> OpenAi {
        let id: IncidentId = self.incident.id.clone();
        let state = self.tools.store.root().to_owned();
        client.with_budget(Arc::clone(&self.budget)).with_witness(move |body: &Redacted| {
            let noted = selfheal_store::Store::open(&state, selfheal_store::StoreOptions::default())
                .and_then(|store| store.note_sent(&id, body));
            if let Err(error) = noted {
                tracing::error!(%error, "what was sent could not be noted");
            }
        })
    }

    /// Asks, reads, and sends an answer that cannot be used back once, with the reason.
    pub(super) fn answer<T>(
        &self,
        client: &OpenAi,
        question: Question,
        read: impl Fn(&serde_json::Value) -> Result<T, String>,
    ) -> Result<T, String> {
        let words = |error: ModelError| error.to_string();
        let first = client.ask(&question).map_err(words)?;
        match read(&first.value) {
            Ok(answer) => Ok(answer),
            Err(reason) => {
                let again = client.ask(&sent_back(&question, &reason, self.tools.redactor)).map_err(words)?;
                read(&again.value).map_err(|reason| format!("the model's answer cannot be used: {reason}"))
            }
        }
    }

    fn material(&self) -> Material {
        let script = self.job.script.clone().zip(self.script_text());
        Material {
            command: record::command_line(&self.job.argv),
            project: self.project(),
            script: script.map(|(path, text)| Document { path, text, is_data: false }),
            stdout: self.end_of(&self.run.stdout),
            stderr: self.end_of(&self.run.stderr),
            nonce: self.tools.context.clock.fresh_id().replace('-', ""),
        }
    }

    /// The end of a stream. It is redacted whole: what is cut in half does not look like a secret.
    fn end_of(&self, stream: &Capture) -> String {
        let text = self.tools.redactor.text(&stream.text()).to_string();
        let skipped = text.chars().count().saturating_sub(ENDS);
        text.chars().skip(skipped).collect()
    }

    /// Small text files beside the script that the script names.
    fn project(&self) -> Vec<Document> {
        let Some(folder) = self.job.script.as_deref().and_then(std::path::Path::parent) else {
            return Vec::new();
        };
        let text = self.script_text().unwrap_or_default();
        let script = self.job.script.clone().unwrap_or_default();
        self.scene
            .names(folder)
            .into_iter()
            .filter(|name| text.contains(name.as_str()))
            .map(|name| (folder.join(&name), name))
            .filter(|(path, _)| *path != script)
            .filter_map(|(path, name)| {
                let bytes = self.scene.read(&path, LARGEST)?;
                let text = String::from_utf8(bytes).ok()?;
                Some(Document { path, text, is_data: !is_program_or_settings(&name) })
            })
            .take(MOST_FILES)
            .collect()
    }

    /// The rounds before this one.
    fn history(&self) -> Vec<PastRound> {
        self.incident
            .rounds
            .iter()
            .filter_map(|round| {
                let diagnosis: Diagnosis = serde_json::from_str(round.diagnosis.as_ref()?.as_str()).ok()?;
                let diff = round.diff.as_ref().map(|diff| diff.as_str().to_owned()).unwrap_or_default();
                Some(PastRound { diagnosis, diff, failed_because: why_failed(round) })
            })
            .collect()
    }
}

/// Why a round did not work: the guard's reason, else the first check that did not hold.
fn why_failed(round: &selfheal_core::incident::Round) -> String {
    use selfheal_core::verification::Showed;
    let refused = round.admission.as_ref().filter(|judged| judged.refused).and_then(|judged| {
        judged.findings.iter().max_by_key(|finding| finding.weight).map(|finding| finding.why.clone())
    });
    let failed = round.verification.as_ref().and_then(|shown| {
        let check = shown.checks.iter().find(|check| check.showed == Showed::Failed)?;
        Some(format!("{}: {}", check.title, check.why))
    });
    refused.or(failed).unwrap_or_else(|| "it could not be shown to work".to_owned())
}

/// A model's proposal with what it says would prove it: its own checks, in the failing state.
fn candidate(diagnosis: Diagnosis, proposal: Proposal) -> Candidate {
    let scenarios = match diagnosis.verify.is_empty() {
        true => Vec::new(),
        false => vec![Scenario {
            name: "model-checks".to_owned(),
            title: "what the diagnosis promises".to_owned(),
            setup: Vec::new(),
            expect: Expect::Succeeds,
            checks: diagnosis.verify.clone(),
        }],
    };
    Candidate { diagnosis, proposal, scenarios }
}

fn is_documentation(name: &str) -> bool {
    let upper = name.to_uppercase();
    ["README", "CHANGES", "CHANGELOG", "RELEASE", "NOTES"].iter().any(|word| upper.starts_with(word))
}

fn is_program_or_settings(name: &str) -> bool {
    let endings =
        [".sh", ".py", ".pl", ".js", ".rb", ".awk", ".conf", ".cfg", ".ini", ".toml", ".env", ".mk", ".md"];
    endings.iter().any(|ending| name.ends_with(ending)) || is_documentation(name) || !name.contains('.')
}

fn language(path: &std::path::Path, text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    format!("{:?}", selfheal_syntax::language::Language::of(path, first, None)).to_lowercase()
}
