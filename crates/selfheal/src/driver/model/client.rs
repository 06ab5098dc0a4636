//! Clients for the configured models: addresses, keys, limits, what is noted of every call.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use selfheal_core::ids::IncidentId;
use selfheal_core::image::Image;
use selfheal_core::ports::{Answer, Model, ModelError, Question};
use selfheal_core::redact::Redacted;
use selfheal_core::usage::Usage;
use selfheal_model::{Budget, Client, Config, Key, Provider};
use selfheal_store::{Store, StoreOptions, UsageRecord};

use crate::config::{ModelProvider, ModelSettings};
use crate::context::Context;

/// A client for a configured model.
///
/// # Errors
/// When the key cannot be read or the address cannot be used; in words.
pub fn client(context: &Context, settings: &ModelSettings) -> Result<Client, String> {
    let mut config = Config::new(&settings.url, name_on_the_wire(settings));
    config.provider = match settings.provider {
        ModelProvider::OpenAi | ModelProvider::Llama => Provider::OpenAi,
        ModelProvider::Anthropic => Provider::Anthropic,
        ModelProvider::Gemini => Provider::Gemini,
    };
    config.total_timeout = Duration::from_secs(settings.timeout_s);
    config.idle_timeout = settings.idle_s.map(Duration::from_secs);
    config.price = settings.price;
    config.redactor = context.redactor();
    config.key = key(context, settings)?;
    config.proxy = context.var("https_proxy").filter(|_| settings.url.starts_with("https:"));
    let client = Client::new(config).map_err(|error| error.to_string())?;
    context.traffic.kept(client)
}

/// The name that the server knows the model by; a file's path is nobody's business.
fn name_on_the_wire(settings: &ModelSettings) -> String {
    match settings.provider {
        ModelProvider::Llama => {
            let stem = Path::new(&settings.name).file_stem();
            stem.map_or_else(|| settings.name.clone(), |stem| stem.to_string_lossy().into_owned())
        }
        _ => settings.name.clone(),
    }
}

/// The variable that holds a key where none is named: ours, then the provider's own.
fn usual_variables(provider: ModelProvider) -> &'static [&'static str] {
    match provider {
        ModelProvider::OpenAi | ModelProvider::Llama => &["SELFHEAL_MODEL_KEY"],
        ModelProvider::Anthropic => &["SELFHEAL_MODEL_KEY", "ANTHROPIC_API_KEY"],
        ModelProvider::Gemini => &["SELFHEAL_MODEL_KEY", "GEMINI_API_KEY"],
    }
}

/// A key from a file, a variable, or the credentials that systemd hands to a service; what is named comes first.
fn key(context: &Context, settings: &ModelSettings) -> Result<Option<Key>, String> {
    if let Some(file) = &settings.key_file {
        return read_key(context, file).map(Some);
    }
    let variables = match settings.key_env.as_deref() {
        Some(named) => vec![named],
        None => usual_variables(settings.provider).to_vec(),
    };
    let found = variables.iter().find_map(|name| context.env.get(OsStr::new(name)));
    if let Some(value) = found {
        let value = value.to_string_lossy();
        context.redactor().know(value.trim());
        return Ok(Some(Key::new(&value)));
    }
    let credential =
        context.var("CREDENTIALS_DIRECTORY").map(|folder| PathBuf::from(folder).join(CREDENTIAL));
    match credential.filter(|file| file.is_file()) {
        Some(file) => read_key(context, &file).map(Some),
        None => Ok(None),
    }
}

/// The name of the credential: `LoadCredential=selfheal-model-key:FILE`.
const CREDENTIAL: &str = "selfheal-model-key";

fn read_key(context: &Context, file: &Path) -> Result<Key, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    context.redactor().know(text.trim());
    Ok(Key::new(&text))
}

/// Whether something listens where the model's server should be; in words why not.
///
/// # Errors
/// When the address cannot be used or nothing answers there.
pub fn reachable(settings: &ModelSettings) -> Result<(), String> {
    use std::net::{TcpStream, ToSocketAddrs};
    if settings.provider == ModelProvider::Llama {
        return Path::new(&settings.name)
            .is_file()
            .then_some(())
            .ok_or_else(|| format!("{}: there is no such file", settings.name));
    }
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

/// Asks, and waits for the answer until selfheal is told to end. The call itself cannot be cut short: it ends by its own
/// limits, or with the process.
///
/// # Errors
/// Those of the model, and [`ModelError::ToldToEnd`].
pub fn ask(client: &Arc<Client>, question: &Question) -> Result<Answer, ModelError> {
    ask_about(client, question, None)
}

/// The same about a picture.
///
/// # Errors
/// As [`ask`].
pub fn ask_about(
    client: &Arc<Client>,
    question: &Question,
    image: Option<Image>,
) -> Result<Answer, ModelError> {
    let (sender, answers) = channel();
    let (asked, question) = (Arc::clone(client), question.clone());
    std::thread::spawn(move || {
        // Nobody listens any more after a signal.
        let _ = sender.send(match &image {
            Some(image) => asked.ask_about(&question, image),
            None => asked.ask(&question),
        });
    });
    while selfheal_exec::told_to_end().is_none() {
        match answers.recv_timeout(LOOK) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(ModelError::Unusable { reason: "the call ended without an answer".to_owned() });
            }
        }
    }
    Err(ModelError::ToldToEnd)
}

/// How often it is looked, while a model thinks, whether selfheal was told to end.
const LOOK: Duration = Duration::from_millis(50);

/// Where the calls of one incident are noted.
#[derive(Clone)]
pub struct Books {
    /// selfheal's state.
    pub state: PathBuf,
    /// The incident.
    pub incident: IncidentId,
}

impl Books {
    /// A client that notes every request body before it leaves, and what every call took.
    pub fn kept(&self, client: Client, model: &str, budget: &Arc<Budget>, now: i64) -> Client {
        let (sent, spent, model) = (self.clone(), self.clone(), model.to_owned());
        client
            .with_budget(Arc::clone(budget))
            .with_witness(move |body: &Redacted| {
                let noted = sent.store().and_then(|store| store.note_sent(&sent.incident, body));
                if let Err(error) = noted {
                    tracing::error!(%error, "what was sent could not be noted");
                }
            })
            .with_meter(move |usage: &Usage| {
                let record = UsageRecord {
                    at: now,
                    incident: Some(spent.incident.clone()),
                    model: model.clone(),
                    usage: *usage,
                };
                let noted = spent.store().and_then(|store| store.note_usage(&record));
                if let Err(error) = noted {
                    tracing::error!(%error, "what a call took could not be noted");
                }
            })
    }

    fn store(&self) -> Result<Store, selfheal_core::ports::PortError> {
        Store::open(&self.state, StoreOptions::default())
    }
}

/// The budget of one incident, and of the day that it is part of.
pub fn budget(context: &Context, now: i64) -> Budget {
    let limits = context.settings.limits;
    let state = context.state.clone();
    Budget::new(limits.model_incident).with_day(limits.model_day, move || {
        let used =
            Store::open(&state, StoreOptions::default()).and_then(|store| store.usage_since(now - DAY_MS));
        used.unwrap_or_default()
    })
}

/// A day, in milliseconds.
const DAY_MS: i64 = 24 * 3_600_000;
