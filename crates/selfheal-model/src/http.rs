//! One HTTP call: a body goes out, a status and a bounded body come back, and every way to fail has a name.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use selfheal_core::ports::ModelError;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::config::{Config, Key, Provider, endpoint};
use crate::retry;

/// The largest answer that is read.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// Makes calls to one address.
#[derive(Debug)]
pub(crate) struct Transport {
    agent: ureq::Agent,
    url: String,
    /// Header lines beside the kind of content; the key is one of them.
    headers: Vec<(&'static str, ureq::http::HeaderValue)>,
    connect_timeout: Duration,
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    /// The kind of content, as the server names it; empty when it does not.
    pub(crate) mime: String,
    pub(crate) body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// There is no server, or not for us; trying again at once will not help.
    NoServer(String),
    /// The connection was lost on the way; the server may have worked already.
    Lost(String),
    /// The time was over.
    TimedOut,
    /// The answer is larger than what is read.
    TooLarge,
}

impl Transport {
    /// Prepares the calls. Reads the system's certificates, for `https` only.
    ///
    /// # Errors
    /// [`ModelError::Unreachable`] when the address, the proxy or the key cannot be used, or there are no certificates.
    pub(crate) fn new(config: &Config) -> Result<Self, ModelError> {
        let refuse = |reason: &str| ModelError::Unreachable {
            url: config.redactor.text(&config.url).as_str().to_owned(),
            reason: reason.to_owned(),
        };
        let url = endpoint(config.provider, &config.url, &config.model);
        let host = url.split_once("://").map(|(_, rest)| rest);
        let scheme_known = url.starts_with("http://") || url.starts_with("https://");
        if !scheme_known || host.is_none_or(|host| host.starts_with(['/', '?'])) {
            return Err(refuse("it is not an http:// or https:// address"));
        }
        let proxy = match &config.proxy {
            Some(proxy) => Some(ureq::Proxy::new(proxy).map_err(|_| refuse("the proxy's address is wrong"))?),
            None => None,
        };
        let mut settings = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would carry the user's script to an address that nobody chose.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(proxy)
            .user_agent(concat!("selfheal/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(config.connect_timeout))
            .timeout_resolve(Some(config.connect_timeout))
            .timeout_per_read(config.idle_timeout);
        if url.starts_with("https://") {
            settings = settings.tls_config(tls().map_err(|reason| refuse(&reason))?);
        }
        let headers = headers(config).ok_or_else(|| refuse("the key holds control characters"))?;
        let agent = settings.build().new_agent();
        Ok(Self { agent, url, headers, connect_timeout: config.connect_timeout })
    }

    /// Sends a JSON body and reads the answer, all within `left`.
    pub(crate) fn post(&self, body: &str, left: Duration) -> Result<Reply, Failure> {
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let mut response = request
            .config()
            .timeout_global(Some(left))
            .build()
            .send(body)
            .map_err(|error| self.failure(&error))?;
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let retry_after = retry::retry_after(header("retry-after"));
        let mime = header("content-type").unwrap_or_default().to_owned();
        let status = response.status().as_u16();
        let body = response
            .body_mut()
            .with_config()
            .limit(MOST_BYTES)
            .read_to_vec()
            .map_err(|error| self.failure(&error))?;
        Ok(Reply { status, retry_after, mime, body })
    }

    fn failure(&self, error: &ureq::Error) -> Failure {
        match error {
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                Failure::NoServer(format!("no connection within {:?}", self.connect_timeout))
            }
            ureq::Error::Timeout(_) => Failure::TimedOut,
            ureq::Error::BodyExceedsLimit(_) => Failure::TooLarge,
            ureq::Error::HostNotFound => Failure::NoServer("the host name is not known".to_owned()),
            ureq::Error::Io(source) if source.kind() == ErrorKind::ConnectionRefused => {
                Failure::NoServer("connection refused".to_owned())
            }
            ureq::Error::Io(source) => Failure::Lost(io_words(source)),
            ureq::Error::Protocol(_) | ureq::Error::BodyStalled => {
                Failure::Lost("it does not speak HTTP, or broke off".to_owned())
            }
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => {
                Failure::NoServer(format!("no secure connection: {error}"))
            }
            ureq::Error::ConnectProxyFailed(_) | ureq::Error::ConnectionFailed => {
                Failure::NoServer("no connection".to_owned())
            }
            // The other errors concern what we do not use; their text could quote a header.
            _ => Failure::NoServer("the request could not be made".to_owned()),
        }
    }
}

/// The words for a lost connection, without addresses or contents.
fn io_words(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => {
            "the connection was closed before the answer was complete".to_owned()
        }
        kind => kind.to_string(),
    }
}

/// The key as the provider wants it, and the version of the protocol where it has one. `None` when the key cannot be sent.
fn headers(config: &Config) -> Option<Vec<(&'static str, ureq::http::HeaderValue)>> {
    let mut headers = Vec::new();
    if config.provider == Provider::Anthropic {
        headers.push(("anthropic-version", ureq::http::HeaderValue::from_static("2023-06-01")));
    }
    if let Some(key) = config.key.as_ref().map(Key::expose) {
        let (name, value) = match config.provider {
            Provider::OpenAi => ("authorization", format!("Bearer {key}")),
            Provider::Anthropic => ("x-api-key", key.to_owned()),
            Provider::Gemini => ("x-goog-api-key", key.to_owned()),
        };
        let mut value = ureq::http::HeaderValue::from_str(&value).ok()?;
        value.set_sensitive(true);
        headers.push((name, value));
    }
    Some(headers)
}

/// TLS with the system's certificates. `SSL_CERT_FILE` and `SSL_CERT_DIR` count, as for every program of the system.
fn tls() -> Result<TlsConfig, String> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        return Err("this machine has no certificates; install ca-certificates".to_owned());
    }
    let certs: Vec<Certificate<'static>> =
        found.certs.iter().map(|cert| Certificate::from_der(cert.as_ref()).to_owned()).collect();
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&certs))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build())
}
