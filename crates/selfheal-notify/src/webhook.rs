//! Delivers messages by one HTTP call each, in the form of a [`Preset`].

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use selfheal_core::ids::IncidentId;
use selfheal_core::ports::{Message, Notifier, PortError, Trouble};
use serde_json::Value;

use crate::preset::{Letter, Need, Preset, Sign, Token};
use crate::secret::Secret;
use crate::words::{calm, one_line};
use crate::{sign, tls};

/// The most of an answer that is read, in bytes.
const MOST_ANSWER: u64 = 64 << 10;
/// Characters of an answer that are told.
const TOLD: usize = 200;

/// What the user set.
#[derive(Clone, Debug)]
pub struct WebhookSettings {
    /// The name of the channel, for errors.
    pub name: String,
    /// The service.
    pub preset: Preset,
    /// Its address, where the service has none of its own. Whoever knows it can write there: a secret.
    pub url: Option<Secret>,
    /// A bot's token, a routing key, or what goes into the header `Authorization`.
    pub token: Option<Secret>,
    /// The secret that messages are signed with.
    pub secret: Option<Secret>,
    /// A chat or topic.
    pub to: Option<String>,
    /// What is told of the machine.
    pub host: String,
    /// A PEM file with further certificate authorities.
    pub authorities: Option<PathBuf>,
    /// An HTTP proxy.
    pub proxy: Option<String>,
    /// How long one delivery may take, in milliseconds.
    pub limit_ms: u64,
}

/// A channel that makes HTTP calls.
pub struct Webhook {
    settings: WebhookSettings,
    agent: ureq::Agent,
}

/// Why a message was not taken.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("{0}")]
    NoAnswer(String),
    #[error("it answered with status {code}{said}")]
    Status { code: u16, said: String },
    #[error("it did not take the message{said}")]
    NotTaken { said: String },
}

impl Webhook {
    /// A channel from what the user set. Nothing is sent yet.
    ///
    /// # Errors
    /// When something is missing that the service needs, or the address, the proxy or the certificates cannot be used.
    pub fn from_settings(settings: WebhookSettings) -> Result<Self, PortError> {
        let fail = |what: &str| {
            PortError::plain(format!("use the channel {}: {what}", settings.name), Trouble::Other)
        };
        for need in settings.preset.needs {
            let set = match need {
                Need::Url => settings.url.is_some(),
                Need::Token => settings.token.is_some(),
                Need::To => settings.to.is_some(),
            };
            if !set {
                return Err(fail(&format!("{} needs `{}`", settings.preset.name, need.key())));
            }
        }
        let proxy = match &settings.proxy {
            Some(proxy) => Some(ureq::Proxy::new(proxy).map_err(|_| fail("the proxy's address is wrong"))?),
            None => None,
        };
        let address =
            settings.url.as_ref().map(Secret::expose).or(settings.preset.address).unwrap_or_default();
        let secure = address.starts_with("https://");
        if !secure && !address.starts_with("http://") {
            return Err(fail("its address begins neither with https:// nor with http://"));
        }
        let limit = Duration::from_millis(settings.limit_ms.max(1));
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would carry the message to an address that nobody chose.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(proxy)
            .user_agent(concat!("selfheal/", env!("CARGO_PKG_VERSION")))
            .timeout_global(Some(limit));
        if secure {
            config = config.tls_config(tls::config(settings.authorities.as_deref())?);
        }
        let agent = config.build().new_agent();
        Ok(Self { settings, agent })
    }

    fn address(&self, at_ms: i64) -> String {
        let settings = &self.settings;
        let token = settings.token.as_ref().map(Secret::expose).unwrap_or_default();
        let base = settings.url.as_ref().map(Secret::expose).or(settings.preset.address).unwrap_or_default();
        let mut address = base.to_owned();
        if settings.preset.token == Token::Path {
            address = address.replace("{token}", token);
        }
        if let (Sign::InAddress, Some(secret)) = (settings.preset.sign, &settings.secret) {
            address.push(if address.contains('?') { '&' } else { '?' });
            address.push_str(&sign::in_address(secret.expose(), at_ms));
        }
        address
    }

    fn body(&self, message: &Message, at_ms: i64) -> Value {
        let settings = &self.settings;
        let letter = settings.preset.letter(Letter {
            subject: one_line(message.subject.as_str()),
            text: calm(message.text.as_str()),
            at: message.at.0,
            incident: message.incident.as_ref().map(IncidentId::as_str),
            host: &settings.host,
            to: settings.to.as_deref().unwrap_or_default(),
            token: settings.token.as_ref().map(Secret::expose).unwrap_or_default(),
        });
        let mut body = (settings.preset.body)(&letter);
        if let (Sign::InBody, Some(secret), Some(fields)) =
            (settings.preset.sign, &settings.secret, body.as_object_mut())
        {
            let (timestamp, sign) = sign::in_body(secret.expose(), at_ms);
            fields.insert("timestamp".to_owned(), timestamp.into());
            fields.insert("sign".to_owned(), sign.into());
        }
        body
    }

    fn post(&self, message: &Message) -> Result<(), Refusal> {
        let at_ms = now_ms();
        let mut request =
            self.agent.post(self.address(at_ms)).header("content-type", "application/json; charset=utf-8");
        if let (Token::Header, Some(token)) = (self.settings.preset.token, &self.settings.token) {
            let mut value = ureq::http::HeaderValue::from_str(&format!("Bearer {}", token.expose()))
                .map_err(|_| Refusal::NoAnswer("the token holds control characters".to_owned()))?;
            value.set_sensitive(true);
            request = request.header("authorization", value);
        }
        let body = self.body(message, at_ms).to_string();
        let mut response = request.send(body.as_bytes()).map_err(|error| refusal(&error))?;
        let code = response.status().as_u16();
        let answer = response
            .body_mut()
            .with_config()
            .limit(MOST_ANSWER)
            .read_to_vec()
            .map_err(|error| refusal(&error))?;
        self.judge(code, &answer)
    }

    fn judge(&self, code: u16, answer: &[u8]) -> Result<(), Refusal> {
        if !(200..300).contains(&code) {
            return Err(Refusal::Status { code, said: said(answer) });
        }
        let Some((field, is_taken)) = self.settings.preset.taken else { return Ok(()) };
        let document: Value = serde_json::from_slice(answer).unwrap_or_default();
        match document.pointer(field).is_some_and(is_taken) {
            true => Ok(()),
            false => Err(Refusal::NotTaken { said: said(answer) }),
        }
    }
}

impl Notifier for Webhook {
    fn notify(&self, message: &Message) -> Result<(), PortError> {
        self.post(message).map_err(|refusal| {
            let doing = format!("notify by {} ({})", self.settings.name, self.settings.preset.name);
            PortError::new(doing, refusal)
        })
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The first words of an answer, ready to follow another text.
fn said(answer: &[u8]) -> String {
    let text = one_line(&String::from_utf8_lossy(answer));
    let told: String = text.chars().take(TOLD).collect();
    if told.is_empty() { told } else { format!(": {told}") }
}

/// In words of our own: the library's could quote the address, which is a secret.
fn refusal(error: &ureq::Error) -> Refusal {
    let words = match error {
        ureq::Error::Timeout(_) => "it did not answer in time",
        ureq::Error::HostNotFound => "the host name is not known",
        ureq::Error::Io(source) if source.kind() == std::io::ErrorKind::ConnectionRefused => {
            "the connection was refused"
        }
        ureq::Error::Io(source) if source.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => {
            return Refusal::NoAnswer(format!("no secure connection: {source}"));
        }
        ureq::Error::Rustls(_) | ureq::Error::Tls(_) | ureq::Error::Pem(_) => {
            return Refusal::NoAnswer(format!("no secure connection: {error}"));
        }
        ureq::Error::Io(_) | ureq::Error::ConnectionFailed | ureq::Error::ConnectProxyFailed(_) => {
            "the connection was lost"
        }
        ureq::Error::Protocol(_) | ureq::Error::BodyStalled => "it does not speak HTTP, or broke off",
        ureq::Error::BodyExceedsLimit(_) => "its answer is too long",
        _ => "the call could not be made; is the address right?",
    };
    Refusal::NoAnswer(words.to_owned())
}
