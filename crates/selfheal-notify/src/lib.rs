//! Delivers messages to people. A file for each kind of channel: [`Program`] hands a message to a program of the user's
//! choice, [`Webhook`] makes an HTTP call in the form of a [`Preset`], [`Smtp`] sends mail.
//!
//! A channel tries once and says whether the message was taken; trying again, grouping and pauses are the caller's.
#![forbid(unsafe_code)]

mod child;
mod mail;
mod preset;
mod program;
mod secret;
mod sign;
mod tls;
mod webhook;
mod words;

pub use mail::{MailSettings, Security, Smtp};
pub use preset::{Need, PRESETS, Preset, preset};
pub use program::{Program, ProgramSettings};
pub use secret::Secret;
pub use webhook::{Webhook, WebhookSettings};
