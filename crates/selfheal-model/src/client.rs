//! The client: one question from budget to checked object.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use selfheal_core::ports::{Answer, Model, ModelError, Question};
use selfheal_core::redact::{MASK, Redacted};
use serde_json::Value;

use crate::budget::{self, Budget};
use crate::config::Config;
use crate::dialect::Dialect;
use crate::http::{Failure, Reply, Transport};
use crate::wire::{self, Ask, Misfit, Said};
use crate::{lenient, retry, schema};

/// So much of an answer that did not fit goes back with the reason, in characters.
const RETURNED_CHARS: usize = 4_000;
/// So much of a server's error message is passed on, in characters.
const MESSAGE_CHARS: usize = 200;
/// A run of so many characters that an error message shares with the question makes it a quotation of it.
const QUOTED_CHARS: usize = 24;

type Wait = dyn Fn(Duration) -> bool + Send + Sync;
type Witness = dyn Fn(&Redacted) + Send + Sync;

/// A model on an OpenAI-compatible server.
pub struct OpenAi {
    config: Config,
    transport: Transport,
    budget: Arc<Budget>,
    dialect: Mutex<Dialect>,
    wait: Box<Wait>,
    witness: Box<Witness>,
}

impl OpenAi {
    /// Prepares a client; nothing is sent. Without [`Self::with_budget`] there is no token limit.
    ///
    /// # Errors
    /// [`ModelError::Unreachable`] when the address, proxy or key cannot be used, or certificates are missing.
    pub fn new(config: Config) -> Result<Self, ModelError> {
        let transport = Transport::new(&config)?;
        Ok(Self {
            config,
            transport,
            budget: Arc::new(Budget::new(u64::MAX)),
            dialect: Mutex::default(),
            wait: Box::new(|time| {
                std::thread::sleep(time);
                true
            }),
            witness: Box::new(|_| {}),
        })
    }

    /// Counts every call against this budget.
    #[must_use]
    pub fn with_budget(mut self, budget: Arc<Budget>) -> Self {
        self.budget = budget;
        self
    }

    /// Waits between repetitions with this instead of sleeping; it returns whether it waited to the end, and `false`
    /// ends the question.
    #[must_use]
    pub fn with_wait(mut self, wait: impl Fn(Duration) -> bool + Send + Sync + 'static) -> Self {
        self.wait = Box::new(wait);
        self
    }

    /// Shows every request body to this before it leaves, so that what was sent is on record even when no answer comes.
    #[must_use]
    pub fn with_witness(mut self, witness: impl Fn(&Redacted) + Send + Sync + 'static) -> Self {
        self.witness = Box::new(witness);
        self
    }

    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns from a rejected request; whether there is another way to ask.
    fn adapt(&self, reply: &Reply) -> bool {
        let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let next = dialect.after(reply.status, &wire::error_message(reply));
        next.map(|next| *dialect = next).is_some()
    }
}

impl std::fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenAi").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.config.model
    }

    fn ask(&self, question: &Question) -> Result<Answer, ModelError> {
        let mut talk = Talk::new(self, question)?;
        let said = talk.say(None)?;
        let reason = match value(&said, &question.schema) {
            Ok(value) => return Ok(talk.answer(value)),
            Err(reason) => reason,
        };
        let returned: String = said.text.chars().take(RETURNED_CHARS).collect();
        let redactor = &self.config.redactor;
        let misfit = Misfit { answer: redactor.text(&returned), reason: redactor.text(&reason) };
        let said = talk.say(Some(&misfit))?;
        match value(&said, &question.schema) {
            Ok(value) => Ok(talk.answer(value)),
            Err(reason) => Err(ModelError::Unusable { reason }),
        }
    }
}

/// The object in what was said, checked.
fn value(said: &Said, schema: &Value) -> Result<Value, String> {
    let value = lenient::read(&said.text).map_err(|why| format!("the answer {why}"))?;
    schema::check(schema, &value).map(|()| value)
}

/// One question under way.
struct Talk<'a> {
    client: &'a OpenAi,
    ask: Ask<'a>,
    deadline: Instant,
    sent: Vec<Redacted>,
    input_tokens: u64,
    output_tokens: u64,
}

/// What became of one call.
enum Call {
    Said(Said),
    /// The server wants to be asked in another way, which is known now.
    Rephrase,
    /// It may pass; the server may have said after how long.
    Again(ModelError, Option<Duration>),
    Over(ModelError),
}

impl<'a> Talk<'a> {
    fn new(client: &'a OpenAi, question: &'a Question) -> Result<Self, ModelError> {
        let redactor = &client.config.redactor;
        let schema = redactor
            .json(&question.schema)
            .map_err(|_| ModelError::Unusable { reason: "its schema cannot be written".to_owned() })?;
        let schema_name = redactor.text(&question.schema_name);
        let ask = Ask { question, model: redactor.text(&client.config.model), schema, schema_name };
        let deadline = Instant::now() + client.config.total_timeout;
        Ok(Self { client, ask, deadline, sent: Vec::new(), input_tokens: 0, output_tokens: 0 })
    }

    /// Makes one call, and makes it again where that may help and time is left.
    fn say(&mut self, misfit: Option<&Misfit>) -> Result<Said, ModelError> {
        let mut repetition = 0;
        loop {
            let body = self.ask.body(self.client.dialect(), misfit);
            let (error, asked) = match self.call(body) {
                Call::Said(said) => return Ok(said),
                Call::Over(error) => return Err(error),
                Call::Rephrase => continue,
                Call::Again(error, asked) => (error, asked),
            };
            repetition += 1;
            if repetition > self.client.config.max_retries {
                return Err(error);
            }
            match retry::wait(repetition, asked, self.left()) {
                Some(wait) if (self.client.wait)(wait) => {}
                _ => return Err(error),
            }
        }
    }

    fn call(&mut self, body: Redacted) -> Call {
        let left = self.left();
        if left.is_zero() {
            return Call::Over(self.timed_out());
        }
        let input = budget::estimate(body.as_str());
        let most = input + u64::from(self.ask.question.max_tokens);
        if let Err(spent) = self.client.budget.reserve(most) {
            return Call::Over(spent);
        }
        (self.client.witness)(&body);
        let outcome = self.client.transport.post(body.as_str(), left);
        self.sent.push(body);
        match outcome {
            Ok(reply) if (200..300).contains(&reply.status) => self.said(&reply, input, most),
            Ok(reply) => {
                self.client.budget.settle(most, 0);
                self.rejected(&reply)
            }
            Err(failure) => self.failed(failure, input, most),
        }
    }

    /// A reply with a success status: counts its tokens, by estimate where the server does not count.
    fn said(&mut self, reply: &Reply, input: u64, most: u64) -> Call {
        let read = wire::read(reply, self.ask.question.max_tokens);
        let (input, output) = match &read {
            Ok(said) => (
                said.input_tokens.unwrap_or(input),
                said.output_tokens.unwrap_or_else(|| budget::estimate(&said.text)),
            ),
            Err(ModelError::CutOff { max_tokens }) => (input, u64::from(*max_tokens)),
            Err(_) => (input, 0),
        };
        self.client.budget.settle(most, input.saturating_add(output));
        self.input_tokens = self.input_tokens.saturating_add(input);
        self.output_tokens = self.output_tokens.saturating_add(output);
        read.map_or_else(Call::Over, Call::Said)
    }

    fn rejected(&self, reply: &Reply) -> Call {
        if self.client.adapt(reply) {
            return Call::Rephrase;
        }
        let error =
            ModelError::Status { code: reply.status, message: self.words(&wire::error_message(reply)) };
        if retry::is_passing(reply.status) {
            Call::Again(error, reply.retry_after)
        } else {
            Call::Over(error)
        }
    }

    /// No reply. What the server may have worked before the connection was lost counts as spent.
    fn failed(&self, failure: Failure, input: u64, most: u64) -> Call {
        let budget = &self.client.budget;
        let unreachable = |reason| ModelError::Unreachable {
            url: self.client.config.redactor.text(&self.client.config.url).as_str().to_owned(),
            reason,
        };
        match failure {
            Failure::NoServer(reason) => {
                budget.settle(most, 0);
                Call::Over(unreachable(reason))
            }
            Failure::Lost(reason) => {
                budget.settle(most, input);
                Call::Again(unreachable(reason), None)
            }
            Failure::TimedOut => Call::Over(self.timed_out()),
            Failure::TooLarge => {
                Call::Over(ModelError::Unusable { reason: "the server's answer is too large".to_owned() })
            }
        }
    }

    /// A server's error message as it may be shown: one short line, without the key, secrets or the question. It is cut
    /// last, so that no half of a secret stays at its end.
    fn words(&self, message: &str) -> String {
        let config = &self.client.config;
        let visible = message.chars().map(|c| if c.is_control() { ' ' } else { c });
        let mut line: String = visible.take(10 * MESSAGE_CHARS).collect();
        if let Some(key) = config.key.as_ref().filter(|key| !key.expose().is_empty()) {
            line = line.replace(key.expose(), MASK);
        }
        let line: String = config.redactor.text(line.trim()).as_str().chars().take(MESSAGE_CHARS).collect();
        let chars: Vec<char> = line.chars().collect();
        let quotes = |text: &str| {
            chars.windows(QUOTED_CHARS).any(|window| text.contains(&window.iter().collect::<String>()))
        };
        if quotes(self.ask.question.user.as_str()) || quotes(self.ask.question.system.as_str()) {
            return "the server quotes the question".to_owned();
        }
        line
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn timed_out(&self) -> ModelError {
        ModelError::TimedOut { seconds: self.client.config.total_timeout.as_secs_f64().ceil() as u64 }
    }

    fn answer(self, value: Value) -> Answer {
        Answer {
            value,
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            calls: u32::try_from(self.sent.len()).unwrap_or(u32::MAX),
            sent: self.sent,
        }
    }
}
