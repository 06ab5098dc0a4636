//! What a scripted model server says, well-behaved or not.

use std::time::Duration;

use serde_json::{Value, json};

/// One reply of a scripted server.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(crate) delay: Option<Duration>,
    pub(crate) act: Act,
}

/// What the server does with the connection.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Answers.
    Answer {
        status: u16,
        /// Further header lines, without line ends.
        headers: Vec<String>,
        body: Vec<u8>,
    },
    /// Says nothing and keeps the connection until the client gives up.
    Silence,
    /// Begins a body, and says nothing more.
    Stall,
    /// Closes the connection without a word.
    HangUp,
    /// Promises a body and closes in the middle of it.
    BreakOff,
}

impl Reply {
    /// A good answer: this object as the message's text.
    #[must_use]
    pub fn json(object: &Value) -> Self {
        Self::text(&object.to_string())
    }

    /// A message with any text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::completion(text, "stop")
    }

    /// The object in a Markdown fence with prose around it.
    #[must_use]
    pub fn fenced(object: &Value) -> Self {
        Self::text(&format!("Here is the answer:\n\n```json\n{object:#}\n```\n\nLet me know if it helps!"))
    }

    /// The object after thoughts that hold another one.
    #[must_use]
    pub fn think(object: &Value) -> Self {
        Self::text(&format!("<think>\nPerhaps {{\"a\": 1}}? No, it's wrong.\n</think>\n\n{object}"))
    }

    /// A message that ended at the token limit.
    #[must_use]
    pub fn cut_off(text: &str) -> Self {
        Self::completion(text, "length")
    }

    /// A message without sense.
    #[must_use]
    pub fn nonsense() -> Self {
        Self::text("As the lighthouse keeper said: }{ \"yes\", but [only on Tuesdays")
    }

    /// A message without text.
    #[must_use]
    pub fn empty() -> Self {
        Self::text("")
    }

    /// A refusal in the protocol's own field.
    #[must_use]
    pub fn refusal() -> Self {
        let message = json!({"role": "assistant", "content": null, "refusal": "I can't help with that."});
        Self::body(200, "application/json", &completion(&message, "stop").to_string())
    }

    /// An error status with a JSON error.
    #[must_use]
    pub fn status(code: u16, message: &str) -> Self {
        Self::body(code, "application/json", &json!({"error": {"message": message}}).to_string())
    }

    /// Any status, type and body.
    #[must_use]
    pub fn body(status: u16, mime: &str, body: &str) -> Self {
        let headers = vec![format!("Content-Type: {mime}")];
        Self { delay: None, act: Act::Answer { status, headers, body: body.as_bytes().to_vec() } }
    }

    /// Says nothing and keeps the connection until the client gives up.
    #[must_use]
    pub fn silence() -> Self {
        Self { delay: None, act: Act::Silence }
    }

    /// Sends the head and one byte of a body, then nothing more until the client gives up.
    #[must_use]
    pub fn stall() -> Self {
        Self { delay: None, act: Act::Stall }
    }

    /// Closes the connection without a word.
    #[must_use]
    pub fn hang_up() -> Self {
        Self { delay: None, act: Act::HangUp }
    }

    /// Promises a body and closes in the middle of it.
    #[must_use]
    pub fn break_off() -> Self {
        Self { delay: None, act: Act::BreakOff }
    }

    /// This reply, after a while.
    #[must_use]
    pub fn slow(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// This reply with a `Retry-After` of so many seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Self {
        self.header(&format!("Retry-After: {seconds}"))
    }

    /// This reply with one more header line; nothing where there is no answer.
    #[must_use]
    pub fn header(mut self, line: &str) -> Self {
        if let Act::Answer { headers, .. } = &mut self.act {
            headers.push(line.to_owned());
        }
        self
    }

    fn completion(text: &str, finish: &str) -> Self {
        let message = json!({"role": "assistant", "content": text});
        Self::body(200, "application/json", &completion(&message, finish).to_string())
    }

    /// The bytes that go out for an answer.
    pub(crate) fn bytes(status: u16, headers: &[String], body: &[u8]) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {status} Scripted\r\nConnection: close\r\n");
        for line in headers {
            head.push_str(line);
            head.push_str("\r\n");
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        [head.as_bytes(), body].concat()
    }
}

fn completion(message: &Value, finish: &str) -> Value {
    json!({
        "id": "scripted",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    })
}
