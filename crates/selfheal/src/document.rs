//! What `run --json FILE` writes: the story as one document. Its JSON schema is published as `docs/run.schema.json` and
//! held to this type by a test.

use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use selfheal_core::incident::{Incident, Round};
use selfheal_core::proposal::Source;
use selfheal_core::redact::{Redacted, Redactor};
use selfheal_core::verification::{Showed, Verdict};

use crate::command_error::CommandError;

/// What happened in one `selfheal run`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunDocument {
    /// The version of this form; grows when a field changes its meaning or goes.
    pub version: u32,
    /// `succeeded`, `negative`, `retried`, `healed`, `held`, `failed`, `suspended`, `handed_over`, `refused`, `limit`,
    /// `error`, `cancelled`: it was told to end by a signal, or `skipped`: an earlier run of the job still went on.
    pub status: String,
    /// The incident, if the job failed.
    pub incident: Option<String>,
    /// The exit code that `selfheal run` ends with.
    pub exit_code: i32,
    /// The exit code of the job's last real run.
    pub job_exit_code: i32,
    /// The command, redacted.
    pub command: String,
    /// Milliseconds of the job's last real run.
    pub duration_ms: u64,
    /// How many rounds of diagnosis and repair there were.
    pub rounds: u32,
    /// Who made the repair: `rule`, `memory`, `model` or `given`.
    pub tier: Option<String>,
    /// What the trials of the repair showed as a whole: `passed`, `failed` or `inconclusive`.
    pub verdict: Option<String>,
    /// The rules that made the repair, or the remembered repair, or the model.
    pub made_by: Vec<String>,
    /// Why the job failed and what was done about it, redacted.
    pub diagnosis: Option<serde_json::Value>,
    /// Tokens that models took.
    pub tokens: u64,
    /// How often models were called.
    pub model_calls: u64,
    /// How long that took, in seconds.
    pub model_seconds: f64,
    /// What it cost by the price table: `0.0125`.
    pub money: String,
    /// The rule that took the longest.
    pub slowest_rule: Option<RuleTime>,
    /// `low`, `medium` or `high`.
    pub risk: Option<String>,
    /// What was changed and why, a sentence each.
    pub summary: Vec<String>,
    /// The unified diff, redacted.
    pub diff: Option<String>,
    /// What each check of the repair showed.
    pub checks: Vec<CheckRow>,
    /// Why a person must decide, where one must.
    pub holds: Vec<String>,
    /// The report on the failure.
    pub report: Option<serde_json::Value>,
    /// What is known besides, a sentence each.
    pub notes: Vec<String>,
}

/// How long one rule took.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RuleTime {
    /// The rule.
    pub name: String,
    /// Microseconds, without what other programs took that it asked.
    pub microseconds: u64,
}

/// What one check showed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckRow {
    /// Its stable name.
    pub name: String,
    /// In words.
    pub title: String,
    /// `passed`, `failed`, `inconclusive` or `not_tested`.
    pub showed: String,
    /// Why.
    pub why: String,
}

/// The version of the form.
pub const VERSION: u32 = 1;

impl RunDocument {
    /// Takes over what an incident says.
    pub fn fill(&mut self, incident: &Incident) {
        self.status = incident.status.word().to_owned();
        self.incident = Some(incident.id.as_str().to_owned());
        self.job_exit_code = incident.exit_code;
        self.rounds = u32::try_from(incident.rounds.len()).unwrap_or(u32::MAX);
        self.holds = incident.holds.iter().map(|hold| hold.word().to_owned()).collect();
        self.report = incident.report.as_ref().and_then(|text| serde_json::from_str(text.as_str()).ok());
        if let Some(round) = incident.rounds.last() {
            self.fill_round(round);
        }
    }

    fn fill_round(&mut self, round: &Round) {
        self.tier = round.source.as_ref().map(|source| source.tier().to_owned());
        self.verdict = round.verification.as_ref().map(|shown| verdict_word(shown.verdict).to_owned());
        self.made_by = match &round.source {
            Some(Source::Rules { names }) => names.clone(),
            Some(Source::Memory { entry: name } | Source::Model { name }) => vec![name.clone()],
            Some(Source::Given) | None => Vec::new(),
        };
        self.diagnosis = round.diagnosis.as_ref().and_then(|text| serde_json::from_str(text.as_str()).ok());
        self.risk = round.risk.map(|risk| risk.word().to_owned());
        self.summary = round.summary.iter().map(|line| line.as_str().to_owned()).collect();
        self.diff = round.diff.as_ref().map(Redacted::as_str).map(str::to_owned);
        let checks = round.verification.as_ref().map(|shown| shown.checks.as_slice()).unwrap_or_default();
        self.checks = checks
            .iter()
            .map(|check| CheckRow {
                name: check.name.clone(),
                title: check.title.clone(),
                showed: word(check.showed).to_owned(),
                why: check.why.clone(),
            })
            .collect();
    }

    /// Writes it to a file, whole or not at all, without secrets.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path, redactor: &Redactor) -> Result<(), CommandError> {
        write_json(&redactor.value(self), path)
    }
}

/// Writes a document to a file, whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write_json(document: &impl Serialize, path: &Path) -> Result<(), CommandError> {
    let fail = |error: &dyn std::error::Error| {
        CommandError::new(format!("failed to write {}", path.display())).because(error)
    };
    let text = serde_json::to_string_pretty(document).map_err(|error| fail(&error))?;
    put(path, (text + "\n").as_bytes()).map_err(|error| fail(&error))
}

/// Where names stand for devices and open files: what stands there belongs to the system and is never replaced.
const SYSTEM: [&str; 2] = ["/dev", "/proc"];
/// The part of it that holds files like any other.
const MEMORY: &str = "/dev/shm";
/// So long a reader of a pipe is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Puts a document in the place of a file, whole or not at all; a link is followed, and the file keeps its mode. A
/// device, a pipe and what a descriptor leads to (`/dev/fd/3`) are written to as they are.
fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let next = std::fs::read_link(path).unwrap_or_default();
    let old = std::fs::metadata(path).ok();
    let of_system = [path, &real, &next].into_iter().any(is_of_system);
    if of_system || old.as_ref().is_some_and(|facts| !facts.is_file()) {
        return pour(path, bytes);
    }
    let mode = old.map_or(0o666, |facts| facts.mode() & 0o777);
    let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let wanted = std::fs::Permissions::from_mode(mode);
    let mut file = tempfile::Builder::new().permissions(wanted.clone()).tempfile_in(folder)?;
    file.write_all(bytes)?;
    if real.exists() {
        // The umask does not count for a file that is there.
        file.as_file().set_permissions(wanted)?;
    }
    file.persist(&real).map(|_| ()).map_err(|error| error.error)
}

fn is_of_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder)) && !path.starts_with(MEMORY)
}

/// Writes to something that is there, behind what it holds, and never waits for long: a pipe that nobody reads is an
/// error.
fn pour(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits() | OFlags::NOCTTY.bits()).unwrap_or_default();
    let mut file = std::fs::File::options().append(true).custom_flags(flags).open(path)?;
    let until = Instant::now() + PATIENCE;
    let mut rest = bytes;
    while !rest.is_empty() {
        match file.write(rest) {
            Ok(n) => rest = rest.get(n..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn word(showed: Showed) -> &'static str {
    match showed {
        Showed::Passed => "passed",
        Showed::Failed => "failed",
        Showed::Inconclusive => "inconclusive",
        Showed::NotTested => "not_tested",
    }
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// The published schema.
#[must_use]
pub fn schema() -> String {
    let schema = schemars::schema_for!(RunDocument);
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}
