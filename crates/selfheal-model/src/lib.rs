//! Language models behind [`selfheal_core::ports::Model`]: one question in, one checked answer out.
//!
//! [`Client`] speaks `/v1/chat/completions` to any server that offers it (llama-server, Ollama, vLLM, hosted ones), and the
//! formats of Anthropic and Gemini. One question goes this way: the budget is asked, the body is built of redacted parts, the call is made with a deadline
//! and repeated where that may help, the text is read without guessing ([`lenient`]), checked against the schema
//! ([`schema`]), and sent back once with the reason if it does not fit. Blocking; nothing outlives the call, and a plain
//! `http://` address never touches TLS.
#![forbid(unsafe_code)]

mod budget;
mod client;
mod config;
mod dialect;
mod http;
pub mod lenient;
mod retry;
pub mod schema;
mod traffic;
mod wire;

pub use budget::Budget;
pub use client::Client;
pub use config::{Config, Key, Provider};
pub use traffic::{Exchange, Recorded, Recording};
