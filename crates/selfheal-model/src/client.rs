//! The client: one question from budget to checked answer.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use selfheal_core::image::Image;
use selfheal_core::ports::{Answer, Form, Model, ModelError, Question};
use selfheal_core::redact::{MASK, Redacted};
use selfheal_core::usage::Usage;
use serde_json::Value;

use crate::budget::{self, Budget};
use crate::config::Config;
use crate::dialect::Dialect;
use crate::http::{Failure, Reply, Transport};
use crate::traffic::{Exchange, Recorded, Recording};
use crate::wire::{self, Ask, Misfit, Said};
use crate::{lenient, retry, schema};

/// So much of an answer that did not fit goes back with the reason, in characters.
const RETURNED_CHARS: usize = 4_000;
/// So much of a server's error message is passed on, in characters.
const MESSAGE_CHARS: usize = 200;
/// A run of so many characters that an error message shares with the question makes it a quotation of it.
const QUOTED_CHARS: usize = 24;

/// The most tokens that a server takes for a picture, by what those that say it say.
const PICTURE_TOKENS: u64 = 3_000;

type Wait = dyn Fn(Duration) -> bool + Send + Sync;
type Witness = dyn Fn(&Redacted) + Send + Sync;
type Meter = dyn Fn(&Usage) + Send + Sync;
type Recorder = dyn Fn(&Exchange) + Send + Sync;

/// A model on a server.
pub struct Client {
    config: Config,
    transport: Transport,
    budget: Arc<Budget>,
    dialect: Mutex<Dialect>,
    wait: Box<Wait>,
    witness: Box<Witness>,
    meter: Box<Meter>,
    recorder: Option<Box<Recorder>>,
    recording: Option<Arc<Recording>>,
}

impl Client {
    /// Prepares a client; nothing is sent. Without [`Self::with_budget`] there is no limit.
    ///
    /// # Errors
    /// [`ModelError::Unreachable`] when the address, proxy or key cannot be used, or certificates are missing.
    pub fn new(config: Config) -> Result<Self, ModelError> {
        let transport = Transport::new(&config)?;
        Ok(Self {
            config,
            transport,
            budget: Arc::default(),
            meter: Box::new(|_| {}),
            dialect: Mutex::default(),
            wait: Box::new(|time| {
                std::thread::sleep(time);
                true
            }),
            witness: Box::new(|_| {}),
            recorder: None,
            recording: None,
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

    /// Tells this what every call took, when it has ended.
    #[must_use]
    pub fn with_meter(mut self, meter: impl Fn(&Usage) + Send + Sync + 'static) -> Self {
        self.meter = Box::new(meter);
        self
    }

    /// Shows every call with what came of it to this, redacted.
    #[must_use]
    pub fn with_recorder(mut self, recorder: impl Fn(&Exchange) + Send + Sync + 'static) -> Self {
        self.recorder = Some(Box::new(recorder));
        self
    }

    /// Takes replies from a recording; nothing is sent.
    #[must_use]
    pub fn with_recording(mut self, recording: Arc<Recording>) -> Self {
        self.recording = Some(recording);
        self
    }

    /// One call, on the wire or from a recording.
    fn exchange(&self, body: &Redacted, left: Duration) -> Result<Reply, Failure> {
        let started = Instant::now();
        let outcome = match &self.recording {
            Some(recording) => recording.outcome(body.as_str()),
            None => self.transport.post(body.as_str(), left),
        };
        if let Some(recorder) = &self.recorder {
            recorder(&Exchange {
                model: self.config.redactor.text(&self.config.model).as_str().to_owned(),
                request: body.as_str().to_owned(),
                reply: Recorded::of(&outcome, &self.config.redactor),
                millis: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            });
        }
        outcome
    }

    /// Asks about a picture. Whether data may go to this model is for the caller to know: a picture cannot be redacted.
    ///
    /// # Errors
    /// As [`Model::ask`].
    pub fn ask_about(&self, question: &Question, image: &Image) -> Result<Answer, ModelError> {
        self.answered(question, Some(image))
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

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Model for Client {
    fn name(&self) -> &str {
        &self.config.model
    }

    fn ask(&self, question: &Question) -> Result<Answer, ModelError> {
        self.answered(question, None)
    }
}

impl Client {
    fn answered(&self, question: &Question, image: Option<&Image>) -> Result<Answer, ModelError> {
        let mut talk = Talk::new(self, question, image)?;
        let (text, reason) = match talk.say(None) {
            Ok(said) => match value(&said, &question.form) {
                Ok(value) => return Ok(talk.answer(value)),
                Err(reason) => (said.text, reason),
            },
            // Half an answer is not sent back: it would be gone on with.
            Err(ModelError::CutOff { max_tokens }) => {
                (String::new(), format!("it was cut off at {max_tokens} tokens; be much shorter"))
            }
            Err(other) => return Err(other),
        };
        let returned: String = text.chars().take(RETURNED_CHARS).collect();
        let redactor = &self.config.redactor;
        let misfit = Misfit { answer: redactor.text(&returned), reason: redactor.text(&reason) };
        let said = talk.say(Some(&misfit))?;
        match value(&said, &question.form) {
            Ok(value) => Ok(talk.answer(value)),
            Err(reason) => Err(ModelError::Unusable { reason }),
        }
    }
}

/// The object in what was said, checked; or the text without thoughts.
fn value(said: &Said, form: &Form) -> Result<Value, String> {
    let unreadable = |why: lenient::Unreadable| format!("the answer {why}");
    match form {
        Form::Text => lenient::text(&said.text).map(Value::from).map_err(unreadable),
        Form::Object { schema, .. } => {
            let value = lenient::read(&said.text).map_err(unreadable)?;
            schema::check(schema, &value).map(|()| value)
        }
    }
}

/// One question under way.
struct Talk<'a> {
    client: &'a Client,
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
    fn new(client: &'a Client, question: &'a Question, image: Option<&'a Image>) -> Result<Self, ModelError> {
        let redactor = &client.config.redactor;
        let object = match &question.form {
            Form::Text => None,
            Form::Object { name, schema } => {
                let schema = redactor.json(schema).map_err(|_| ModelError::Unusable {
                    reason: "its schema cannot be written".to_owned(),
                })?;
                Some((redactor.text(name), schema))
            }
        };
        let model = redactor.text(&client.config.model);
        let ask = Ask { question, provider: client.config.provider, model, object, image };
        let left = client.budget.millis_left().map_or(client.config.total_timeout, |left| {
            client.config.total_timeout.min(Duration::from_millis(left))
        });
        let deadline = Instant::now() + left;
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
        // Servers count a picture by its size in pixels, not by its letters in the body.
        let input = match self.ask.image {
            Some(_) => budget::estimate(self.ask.question.user.as_str()) + PICTURE_TOKENS,
            None => budget::estimate(body.as_str()),
        };
        let most = self.usage(input, u64::from(self.ask.question.max_tokens), Duration::ZERO);
        if let Err(spent) = self.client.budget.reserve(&most) {
            return Call::Over(spent);
        }
        (self.client.witness)(&body);
        let started = Instant::now();
        let outcome = self.client.exchange(&body, left);
        self.sent.push(body);
        let took = started.elapsed();
        match outcome {
            Ok(reply) if (200..300).contains(&reply.status) => {
                let (call, input, output) = self.said(&reply, input);
                self.settle(&most, self.usage(input, output, took));
                call
            }
            Ok(reply) => {
                self.settle(&most, Usage { calls: 1, ..self.usage(0, 0, took) });
                self.rejected(&reply)
            }
            Err(failure) => {
                // What the server may have worked before the connection was lost counts as spent.
                let tokens = match failure {
                    Failure::NoServer(_) => None,
                    Failure::Lost(_) => Some((input, 0)),
                    Failure::TimedOut | Failure::TooLarge => {
                        Some((input, u64::from(self.ask.question.max_tokens)))
                    }
                };
                let usage = tokens.map(|(input, output)| self.usage(input, output, took));
                self.settle(&most, usage.unwrap_or_default());
                self.failed(failure)
            }
        }
    }

    fn usage(&self, input_tokens: u64, output_tokens: u64, took: Duration) -> Usage {
        let cost = self.client.config.price.of(input_tokens, output_tokens);
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Usage { calls: 1, input_tokens, output_tokens, cost, millis }
    }

    fn settle(&self, most: &Usage, took: Usage) {
        self.client.budget.settle(most, &took);
        if took != Usage::default() {
            (self.client.meter)(&took);
        }
    }

    /// A reply with a success status, and its tokens, by estimate where the server does not count.
    fn said(&mut self, reply: &Reply, input: u64) -> (Call, u64, u64) {
        let read = self.ask.read(reply);
        let (input, output) = match &read {
            Ok(said) => (
                said.input_tokens.unwrap_or(input),
                said.output_tokens.unwrap_or_else(|| budget::estimate(&said.text)),
            ),
            Err(ModelError::CutOff { max_tokens }) => (input, u64::from(*max_tokens)),
            Err(_) => (input, 0),
        };
        self.input_tokens = self.input_tokens.saturating_add(input);
        self.output_tokens = self.output_tokens.saturating_add(output);
        let call = match read {
            Ok(said) => Call::Said(said),
            // What is no answer of this protocol may be one next time; a web page says that the address is wrong.
            Err(error @ ModelError::Unusable { .. }) if !reply.mime.contains("html") => {
                Call::Again(error, None)
            }
            Err(error) => Call::Over(error),
        };
        (call, input, output)
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

    /// No reply.
    fn failed(&self, failure: Failure) -> Call {
        let unreachable = |reason| ModelError::Unreachable {
            url: self.client.config.redactor.text(&self.client.config.url).as_str().to_owned(),
            reason,
        };
        match failure {
            Failure::NoServer(reason) => Call::Over(unreachable(reason)),
            Failure::Lost(reason) => Call::Again(unreachable(reason), None),
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
