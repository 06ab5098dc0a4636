//! The settings file as people write it: everything optional.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::contract::ExpectOptions;

/// One settings file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Options {
    /// What is applied unattended.
    pub policy: Option<PolicyOptions>,
    /// The language model.
    pub model: Option<ModelOptions>,
    /// Who is told.
    pub notify: Option<NotifyOptions>,
    /// What a repair is worth.
    pub report: Option<ReportOptions>,
    /// The hard stops.
    pub limits: Option<LimitOptions>,
    /// How jobs are run.
    pub run: Option<RunOptions>,
    /// Which rules are used.
    pub rules: Option<RuleOptions>,
    /// What a repair may bring.
    pub repair: Option<RepairOptions>,
    /// The boxes that repairs are tried in.
    #[serde(rename = "box")]
    pub boxes: Option<BoxOptions>,
    /// How long what is recorded is kept.
    pub store: Option<StoreSettingOptions>,
    /// What holds for every job of the file's folder, or, in a user's or machine's file, for every job.
    pub job: Option<JobOptions>,
    /// The same for one job, by its name or its script's file name.
    pub jobs: BTreeMap<String, JobOptions>,
}

/// `[store]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct StoreSettingOptions {
    /// Days after which what nobody needs any more is dropped.
    pub days: Option<u32>,
    /// MiB beyond which it is dropped earlier.
    pub size: Option<u64>,
    /// Where the head of the ledger is sent to besides: `syslog`, `journald`, a socket's path, `udp:ADDRESS:PORT`.
    pub anchor: Option<Vec<String>>,
    /// A program, with arguments, that gets the head of the ledger as one line on its standard input and keeps it.
    pub anchor_program: Option<Vec<String>>,
}

/// `[box]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct BoxOptions {
    /// The lowest rung that will do.
    pub rung: Option<LowestRung>,
    /// Further secrets: absolute paths, or paths in every home.
    pub hide: Option<Vec<String>>,
    /// Secrets that jobs in boxes may see.
    pub see: Option<Vec<String>>,
}

/// The kinds of boxes, the best last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LowestRung {
    /// Copies of the job's folders will do.
    #[default]
    Copy,
    /// Only overlays of the whole tree will.
    Overlay,
}

/// `[rules]`; names as in `docs/rules.md`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct RuleOptions {
    /// Rules that are not asked.
    pub off: Option<Vec<String>>,
    /// Rules in preview that may act like all others; `all` for all.
    pub promote: Option<Vec<String>>,
}

/// `[repair]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct RepairOptions {
    /// What becomes of a package that the project declares and that is not there.
    pub install: Option<Installing>,
}

/// What becomes of a package that the project declares and that is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Installing {
    /// Nothing is fetched: a person is told the command.
    #[default]
    Never,
    /// It is fetched and proved in a box, and waits for a person.
    Ask,
    /// It is put in as `[policy]` says for its risk, which is medium at least.
    Apply,
}

impl Installing {
    /// The word in the settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Ask => "ask",
            Self::Apply => "apply",
        }
    }
}

/// `[job]`, and `[jobs.NAME]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct JobOptions {
    /// What a good run must have done.
    pub expect: Option<ExpectOptions>,
}

/// `[run]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct RunOptions {
    /// MiB of piped standard input that are kept for another run.
    pub input_limit: Option<u64>,
    /// Seconds that no run is called slow before.
    pub slow_after: Option<u64>,
    /// MiB at which a log is rotated; 0 is never.
    pub log_size: Option<u64>,
    /// Older logs that are kept.
    pub log_keep: Option<u32>,
    /// What becomes of a good run that left much less or more than the ones before.
    pub unusual: Option<Unusual>,
    /// Whether a host that a failure is about is looked at: name, route, port.
    pub look_at_hosts: Option<bool>,
}

/// What becomes of a run that ended well and left much less or much more than the good runs before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unusual {
    /// Nothing is compared or kept.
    Ignore,
    /// It is said in one line.
    #[default]
    Report,
    /// It is a failure.
    Fail,
}

/// `[policy]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct PolicyOptions {
    /// For repairs of low risk.
    pub low: Option<selfheal_core::settings::Answer>,
    /// For repairs of medium risk.
    pub medium: Option<selfheal_core::settings::Answer>,
    /// For repairs of high risk: `park` or `deny`.
    pub high: Option<selfheal_core::settings::Answer>,
    /// For repairs whose diagnosis rests on general knowledge and not on the project.
    pub general_knowledge: Option<GeneralKnowledge>,
}

/// What becomes of a repair whose diagnosis rests on what a model knows of the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GeneralKnowledge {
    /// What its risk says.
    #[default]
    Apply,
    /// A person decides.
    Ask,
}

/// `[model]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct ModelOptions {
    /// Provider and name: `openai:NAME`, `anthropic:NAME`, `gemini:NAME`, `ollama:NAME`, or `llama:FILE`.
    pub name: Option<String>,
    /// The base URL of its server.
    pub url: Option<String>,
    /// A file that holds the key.
    pub key_file: Option<String>,
    /// A variable that holds the key.
    pub key_env: Option<String>,
    /// `text` or `data`.
    pub send: Option<Send>,
    /// Seconds for one question.
    pub timeout: Option<u64>,
    /// Seconds of silence after which a server is given up.
    pub idle_timeout: Option<u64>,
    /// `short` for small models, `full` for large ones.
    pub way: Option<Way>,
    /// How many answers are taken at once after the first failure.
    pub samples: Option<u32>,
    /// What a million tokens that it reads cost.
    pub price_in: Option<f64>,
    /// What a million tokens that it writes cost.
    pub price_out: Option<f64>,
    /// A folder with templates in place of the built-in ones.
    pub prompts: Option<String>,
    /// The language of the questions: `en` or `zh`.
    pub language: Option<String>,
    /// The program that serves a model file.
    pub program: Option<String>,
    /// Whether it sees pictures.
    pub vision: Option<bool>,
    /// The models that are asked when this one failed, in order.
    pub larger: Option<Vec<ModelOptions>>,
}

/// How a model is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// One question with a short answer: two sentences and the repaired lines.
    Short,
    /// A diagnosis as data, then a proposal for it.
    #[default]
    Full,
}

/// What a model may be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Send {
    /// The script, the messages, the state of paths.
    #[default]
    Text,
    /// Also values that the job worked on.
    Data,
}

/// `[report]`: what the report of the week takes a repair to be worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct ReportOptions {
    /// Minutes of a person for each repair that was applied.
    pub minutes_per_repair: Option<u64>,
    /// Minutes of a person for each failure that passed by a retry.
    pub minutes_per_retry: Option<u64>,
}

/// `[notify]`. Secrets are named, not written: `env:NAME`, `file:PATH`, `credential:NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct NotifyOptions {
    /// A program and its arguments.
    pub program: Option<Vec<String>>,
    /// Seconds between two deliveries to one channel; what comes meanwhile goes together.
    pub pause: Option<u64>,
    /// Seconds that a run may take at its end to deliver; 0 leaves it to the next tick.
    pub at_end: Option<u64>,
    /// The language of messages, where it is not the caller's: `en` or `zh`.
    pub language: Option<String>,
    /// Whether the report of the week is sent.
    pub weekly: Option<bool>,
    /// Mail.
    pub mail: Option<MailOptions>,
    /// Chats and other services, by names of the user's own.
    pub webhook: BTreeMap<String, WebhookOptions>,
}

/// `[notify.mail]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct MailOptions {
    /// The mail server.
    pub server: String,
    /// Its port, where it is not the usual one.
    pub port: Option<u16>,
    /// `starttls`, `tls`, or `none` for a server on this machine.
    pub security: Option<MailSecurity>,
    /// Who it is from.
    pub from: String,
    /// Who gets it.
    pub to: Vec<String>,
    /// The user, where the server asks for one.
    pub user: Option<String>,
    /// The password: where it is.
    pub password: Option<String>,
    /// A PEM file with further certificate authorities.
    pub ca_file: Option<PathBuf>,
}

/// How the connection to a mail server is made secure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailSecurity {
    /// TLS after STARTTLS.
    StartTls,
    /// TLS from the first byte.
    Tls,
    /// None.
    None,
}

/// `[notify.webhook.NAME]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct WebhookOptions {
    /// The service, as in docs/notifications.md.
    pub preset: String,
    /// Its address, or where it is.
    pub url: Option<String>,
    /// A bot's token, a routing key or an access token: where it is.
    pub token: Option<String>,
    /// The secret that messages are signed with: where it is.
    pub secret: Option<String>,
    /// A chat or topic.
    pub to: Option<String>,
    /// A PEM file with further certificate authorities.
    pub ca_file: Option<PathBuf>,
}

/// `[limits]`; times in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct LimitOptions {
    /// Rounds per incident.
    pub rounds: Option<u32>,
    /// Retries of transient failures.
    pub transient_retries: Option<u32>,
    /// Retries of unknown failures.
    pub unknown_retries: Option<u32>,
    /// All waiting between retries.
    pub retry_total: Option<u64>,
    /// One boxed run.
    pub trial: Option<u64>,
    /// Trial work per incident.
    pub incident: Option<u64>,
    /// What the trials of one incident may write together, in MiB.
    pub trial_disk: Option<u64>,
    /// What of each stream of a task's step goes to its output file, in MiB; of the rest the end.
    pub step_output: Option<u64>,
    /// Changed lines above which the risk is at least medium.
    pub small_change_lines: Option<u32>,
    /// Applies by policy alone, per machine and day.
    pub applies_per_day: Option<u32>,
    /// Jobs that fail from one cause within ten minutes and stop healing for it; 0 is never.
    pub storm_jobs: Option<u32>,
    /// How long a repair is watched at least.
    pub watch: Option<u64>,
    /// Good runs that a watch needs besides.
    pub watch_runs: Option<u32>,
    /// Model tokens per incident.
    pub incident_tokens: Option<u64>,
    /// Model calls per incident.
    pub incident_calls: Option<u64>,
    /// Money for models per incident.
    pub incident_money: Option<f64>,
    /// Seconds of models per incident.
    pub incident_model: Option<u64>,
    /// Model tokens per day.
    pub day_tokens: Option<u64>,
    /// Model calls per day.
    pub day_calls: Option<u64>,
    /// Money for models per day.
    pub day_money: Option<f64>,
    /// Seconds of models per day.
    pub day_model: Option<u64>,
    /// The end of a job without a deadline.
    pub cap: Option<u64>,
}

impl Options {
    /// Reads a settings file. Unknown keys are collected by their whole path.
    ///
    /// # Errors
    /// When it is not TOML or a value has the wrong type; the text shows line and caret.
    pub fn parse(text: &str, unknown: &mut Vec<String>) -> Result<Self, String> {
        let reader = toml::Deserializer::parse(text).map_err(|error| error.to_string())?;
        serde_ignored::deserialize(reader, |path| unknown.push(key_of(&path)))
            .map_err(|error| error.to_string())
    }
}

/// A key by its whole path, as people write it. What may be left out is a step of its own there, shown as `?`.
fn key_of(path: &serde_ignored::Path<'_>) -> String {
    path.to_string().replace("?.", "")
}
