//! `[model]`: the ladder of language models, resolved. The first is asked first; the larger ones when it failed.

use std::path::PathBuf;

use selfheal_core::settings::Limits;
use selfheal_core::usage::Price;

use super::options::{LimitOptions, ModelOptions, Send, Way};

/// A configured language model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSettings {
    /// Who speaks to it, and how.
    pub provider: ModelProvider,
    /// Its name, without the provider; for [`ModelProvider::Llama`] the file that holds it.
    pub name: String,
    /// The base URL of its server; empty for [`ModelProvider::Llama`].
    pub url: String,
    /// A file that holds the key.
    pub key_file: Option<PathBuf>,
    /// A variable that holds the key.
    pub key_env: Option<String>,
    /// What may be sent, where somebody said so.
    pub send: Option<Send>,
    /// Seconds for one question.
    pub timeout_s: u64,
    /// The longest silence of the server in seconds.
    pub idle_s: Option<u64>,
    /// How it is asked, where somebody said so.
    pub asked: Option<Way>,
    /// How many answers are taken at once after the first failure.
    pub samples: u32,
    /// What its tokens cost.
    pub price: Price,
    /// A folder with templates that take the place of the built-in ones.
    pub prompts: Option<PathBuf>,
    /// Whether it is asked in Chinese.
    pub chinese: bool,
    /// The program that serves a model file.
    pub program: String,
    /// Whether it sees pictures.
    pub vision: bool,
    /// The models that are asked when this one failed, in order.
    pub larger: Vec<ModelSettings>,
}

/// Who speaks to a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelProvider {
    /// Any server with `/v1/chat/completions`.
    #[default]
    OpenAi,
    /// Anthropic's own format.
    Anthropic,
    /// Google's own format.
    Gemini,
    /// A model file, served by a child that is started when it is first needed.
    Llama,
}

/// The providers by the word in front of the model's name, and where their server usually is.
const PROVIDERS: [(&str, ModelProvider, &str); 5] = [
    ("openai", ModelProvider::OpenAi, ""),
    ("anthropic", ModelProvider::Anthropic, "https://api.anthropic.com"),
    ("gemini", ModelProvider::Gemini, "https://generativelanguage.googleapis.com"),
    // Its own format drops schemas without a word; its `/v1` does not.
    ("ollama", ModelProvider::OpenAi, "http://127.0.0.1:11434/v1"),
    ("llama", ModelProvider::Llama, ""),
];

/// The seconds for one question when nothing is said: a small model on two cores needs them.
const TIMEOUT_S: u64 = 120;
/// Answers after the first failure when nothing is said.
const SAMPLES: u32 = 2;
const MOST_SAMPLES: u32 = 8;
const MILLION: f64 = 1_000_000.0;

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            provider: ModelProvider::OpenAi,
            name: String::new(),
            url: String::new(),
            key_file: None,
            key_env: None,
            send: None,
            timeout_s: TIMEOUT_S,
            idle_s: None,
            asked: None,
            samples: SAMPLES,
            price: Price::default(),
            prompts: None,
            chinese: false,
            program: "llama-server".to_owned(),
            vision: false,
            larger: Vec::new(),
        }
    }
}

#[cfg(feature = "model")]
impl ModelSettings {
    /// Whether values that the job worked on may be sent. What stays on this machine leaves it for nobody.
    #[must_use]
    pub fn send_data(&self) -> bool {
        self.send.map_or_else(|| self.is_here(), |send| send == Send::Data)
    }

    /// How it is asked. A model that runs on the machine of the job is a small one.
    #[must_use]
    pub fn way(&self) -> Way {
        self.asked.unwrap_or(if self.is_here() { Way::Short } else { Way::Full })
    }

    fn is_here(&self) -> bool {
        self.provider == ModelProvider::Llama || is_here(&self.url)
    }

    /// The whole ladder, the first model first.
    pub fn ladder(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.larger)
    }
}

/// Provider, name and usual address of `PROVIDER:NAME`; `None` when the provider is not known.
#[must_use]
pub fn provider_of(full: &str) -> Option<(ModelProvider, &str, &'static str)> {
    let (word, name) = full.split_once(':')?;
    let (_, provider, url) = PROVIDERS.iter().find(|(known, ..)| *known == word)?;
    (!name.is_empty()).then_some((*provider, name, *url))
}

/// Whether an address is on this machine. What is sent there leaves it for nobody.
#[cfg(feature = "model")]
fn is_here(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let place = rest.split(['/', '?']).next().unwrap_or_default();
    // Whoever stands before an `@` is no host.
    let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_v4 = name.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    is_v4 || name == "localhost" || host == "[::1]" || name == "[::1]"
}

/// The model that options describe, where they name one and its server is known.
#[must_use]
pub fn model_settings(options: &ModelOptions) -> Option<ModelSettings> {
    let full = options.name.as_deref()?;
    let (provider, name, usual) = provider_of(full).unwrap_or((ModelProvider::OpenAi, full, ""));
    let url = options.url.clone().unwrap_or_else(|| usual.to_owned());
    if url.is_empty() && provider != ModelProvider::Llama {
        return None;
    }
    let millionths = |money: Option<f64>| (money.unwrap_or(0.0).max(0.0) * MILLION).round() as u64;
    Some(ModelSettings {
        provider,
        name: name.to_owned(),
        url,
        key_file: options.key_file.clone().map(PathBuf::from),
        key_env: options.key_env.clone(),
        send: options.send,
        timeout_s: options.timeout.unwrap_or(TIMEOUT_S),
        idle_s: options.idle_timeout,
        asked: options.way,
        samples: options.samples.unwrap_or(SAMPLES).clamp(1, MOST_SAMPLES),
        price: Price { input: millionths(options.price_in), output: millionths(options.price_out) },
        prompts: options.prompts.clone().map(PathBuf::from),
        chinese: options.language.as_deref() == Some("zh"),
        program: options.program.clone().unwrap_or_else(|| "llama-server".to_owned()),
        vision: options.vision.unwrap_or(false),
        larger: options.larger.iter().flatten().filter_map(model_settings).collect(),
    })
}

/// Lays a later file over an earlier one.
pub(super) fn merge_model(into: &mut ModelOptions, from: &ModelOptions) {
    let text = |into: &mut Option<String>, from: &Option<String>| *into = from.clone().or(into.take());
    text(&mut into.name, &from.name);
    text(&mut into.url, &from.url);
    text(&mut into.key_file, &from.key_file);
    text(&mut into.key_env, &from.key_env);
    text(&mut into.prompts, &from.prompts);
    text(&mut into.language, &from.language);
    text(&mut into.program, &from.program);
    into.send = from.send.or(into.send);
    into.way = from.way.or(into.way);
    into.timeout = from.timeout.or(into.timeout);
    into.idle_timeout = from.idle_timeout.or(into.idle_timeout);
    into.samples = from.samples.or(into.samples);
    into.vision = from.vision.or(into.vision);
    into.price_in = from.price_in.or(into.price_in);
    into.price_out = from.price_out.or(into.price_out);
    into.larger = from.larger.clone().or(into.larger.take());
}

/// The caps of `[limits]` on what models take.
pub(super) fn take_caps(limits: &mut Limits, said: &LimitOptions, choose: impl Fn(u64, u64) -> u64) {
    let lay = |cap: &mut Option<u64>, new: Option<u64>| {
        if let Some(new) = new {
            *cap = Some(cap.map_or(new, |old| choose(old, new)));
        }
    };
    let millionths = |money: f64| (money.max(0.0) * MILLION).round() as u64;
    let (incident, day) = (&mut limits.model_incident, &mut limits.model_day);
    lay(&mut incident.tokens, said.incident_tokens);
    lay(&mut incident.calls, said.incident_calls);
    lay(&mut incident.cost, said.incident_money.map(millionths));
    lay(&mut incident.millis, said.incident_model.map(|seconds| seconds.saturating_mul(1_000)));
    lay(&mut day.tokens, said.day_tokens);
    lay(&mut day.calls, said.day_calls);
    lay(&mut day.cost, said.day_money.map(millionths));
    lay(&mut day.millis, said.day_model.map(|seconds| seconds.saturating_mul(1_000)));
}

#[cfg(test)]
#[cfg(feature = "model")]
mod tests {
    use super::*;
    use crate::config::Options;

    fn settings(text: &str) -> Option<ModelSettings> {
        let options = Options::parse(text, &mut Vec::new()).unwrap();
        model_settings(&options.model.unwrap())
    }

    #[test]
    fn one_setting_names_provider_and_model() {
        let of = |name: &str| settings(&format!("[model]\nname='{name}'"));
        assert_eq!(of("openai:small"), None, "its server is not known");
        let anthropic = of("anthropic:large").unwrap();
        assert_eq!((anthropic.provider, anthropic.name.as_str()), (ModelProvider::Anthropic, "large"));
        assert_eq!((anthropic.send_data(), anthropic.way()), (false, Way::Full));
        let ollama = of("ollama:coder:7b").unwrap();
        assert_eq!((ollama.name.as_str(), ollama.url.as_str()), ("coder:7b", "http://127.0.0.1:11434/v1"));
        assert_eq!((ollama.send_data(), ollama.way()), (true, Way::Short));
        let llama = of("llama:/m/coder.gguf").unwrap();
        assert_eq!((llama.provider, llama.name.as_str()), (ModelProvider::Llama, "/m/coder.gguf"));
    }

    #[test]
    fn data_stay_here_unless_told_otherwise() {
        let of = |url: &str, more: &str| {
            settings(&format!("[model]\nname='openai:m'\nurl='{url}'\n{more}")).unwrap().send_data()
        };
        for (url, here) in [
            ("http://127.0.0.1:8115/v1", true),
            ("http://localhost", true),
            ("http://[::1]:80/v1", true),
            ("https://models.example.org/v1", false),
            ("http://127.0.0.1.example.org", false),
            ("http://localhost:80@example.org/v1", false),
            ("http://10.0.0.2", false),
        ] {
            assert_eq!(of(url, ""), here, "{url}");
        }
        assert!(of("https://models.example.org", "send='data'"));
        assert!(!of("http://127.0.0.1", "send='text'"));
    }

    #[test]
    fn a_ladder_has_prices_and_its_own_servers() {
        let ladder = settings(
            "[model]\nname='ollama:small'\n[[model.larger]]\nname='anthropic:large'\nprice-in=3.0\nprice-out=15\n[[model.larger]]\nname='openai:nowhere'",
        )
        .unwrap();
        let names: Vec<&str> = ladder.ladder().map(|model| model.name.as_str()).collect();
        assert_eq!(names, ["small", "large"]);
        assert_eq!(ladder.larger[0].price, Price { input: 3_000_000, output: 15_000_000 });
    }
}
