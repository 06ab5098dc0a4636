//! How a model server is reached: address, model, key and the limits of one question.

use std::fmt;
use std::time::Duration;

use selfheal_core::redact::Redactor;
use selfheal_core::usage::Price;

/// What a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Provider {
    /// `/v1/chat/completions`.
    #[default]
    OpenAi,
    /// `/v1/messages`.
    Anthropic,
    /// `models/NAME:generateContent`.
    Gemini,
}

/// How a model server is reached.
#[derive(Clone, Debug)]
pub struct Config {
    /// What the server speaks.
    pub provider: Provider,
    /// The server's address, with or without `/v1`.
    pub url: String,
    /// The model's name, as the server knows it.
    pub model: String,
    /// The key, where the server wants one. Comes from the program; never printed or logged.
    pub key: Option<Key>,
    /// An HTTP proxy. Comes from the program: nothing here reads the environment.
    pub proxy: Option<String>,
    /// For the connection: name, address, TLS.
    pub connect_timeout: Duration,
    /// The longest silence of the server. It says nothing while the model writes, so this is the time for a whole
    /// answer and there is no limit but the total by default.
    pub idle_timeout: Option<Duration>,
    /// For one question with all its calls, waits and repetitions.
    pub total_timeout: Duration,
    /// How often one call is made again after a passing error (connection lost, 408, 429, 5xx).
    pub max_retries: u32,
    /// What its tokens cost.
    pub price: Price,
    /// Takes secrets out of what is not redacted by its type: the schema, the model's name and its own words.
    pub redactor: Redactor,
}

impl Config {
    /// The usual limits: 5 s to connect, 5 min for a question, two repetitions.
    #[must_use]
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            provider: Provider::OpenAi,
            url: url.into(),
            model: model.into(),
            key: None,
            proxy: None,
            connect_timeout: Duration::from_secs(5),
            idle_timeout: None,
            total_timeout: Duration::from_secs(300),
            max_retries: 2,
            price: Price::default(),
            redactor: Redactor::default(),
        }
    }
}

/// A key. It can be sent, and nothing else: it has no `Display`, and `Debug` shows only that there is one.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    /// Wraps a key; blanks and line ends around it, as files have them, are dropped.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The key itself, for the one header that carries it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key([secret])")
    }
}

/// The address of the call below a base address. An address that already names a version (`/v1`, `/v1beta/openai`) or the
/// call itself is not given another; a query stays at the end.
pub(crate) fn endpoint(provider: Provider, base: &str, model: &str) -> String {
    let (version, call) = match provider {
        Provider::OpenAi => ("/v1", "/chat/completions".to_owned()),
        Provider::Anthropic => ("/v1", "/messages".to_owned()),
        Provider::Gemini => ("/v1beta", format!("/models/{}:generateContent", in_path(model))),
    };
    let (path, query) = base.split_once('?').map_or((base, None), |(path, query)| (path, Some(query)));
    let path = path.trim_end_matches('/');
    let mut out = path.to_owned();
    if !path.ends_with(&call) {
        let versioned = path.split('/').skip(3).any(is_version);
        out.push_str(if versioned { "" } else { version });
        out.push_str(&call);
    }
    if let Some(query) = query {
        out.push('?');
        out.push_str(query);
    }
    out
}

/// A model's name as a part of a path.
fn in_path(model: &str) -> String {
    let name = model.strip_prefix("models/").unwrap_or(model);
    name.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_call_with_and_without_a_version() {
        for (base, full) in [
            ("http://127.0.0.1:8115", "http://127.0.0.1:8115/v1/chat/completions"),
            ("http://127.0.0.1:8115/v1/", "http://127.0.0.1:8115/v1/chat/completions"),
            ("http://v1:80", "http://v1:80/v1/chat/completions"),
            ("https://h/v1beta/openai", "https://h/v1beta/openai/chat/completions"),
            ("https://h/a/chat/completions?api-version=2", "https://h/a/chat/completions?api-version=2"),
        ] {
            assert_eq!(endpoint(Provider::OpenAi, base, "m"), full);
        }
    }

    #[test]
    fn other_providers_have_other_calls() {
        for (provider, base, full) in [
            (Provider::Anthropic, "https://h", "https://h/v1/messages"),
            (Provider::Anthropic, "https://h/proxy/v1/", "https://h/proxy/v1/messages"),
            (Provider::Gemini, "https://h", "https://h/v1beta/models/g-2%2F..:generateContent"),
        ] {
            assert_eq!(endpoint(provider, base, "models/g-2/.."), full);
        }
    }

    #[test]
    fn a_key_never_shows() {
        let config = Config { key: Some(Key::new("not-to-be-seen\n")), ..Config::new("http://h", "m") };
        assert!(!format!("{config:?}").contains("not-to-be-seen"));
    }
}
