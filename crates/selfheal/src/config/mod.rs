//! Settings: read in layers, each with its origin, and resolved once.
//!
//! Built-in defaults, then the machine's file, the user's file, the project's file (which may only tighten), then the
//! command line. What is wrong in a file is told with file and key, and that file is left out.

mod default_toml;
mod layers;
mod model;
mod options;
mod resolve;

pub use default_toml::DEFAULT_TOML;
pub use layers::{Layer, Origin, read_layers};
pub use model::{ModelProvider, ModelSettings, provider_of};
#[cfg(feature = "model")]
pub use options::Way;
pub use options::{
    Installing, LowestRung, MailOptions, MailSecurity, NotifyOptions, Options, Unusual, WebhookOptions,
};
pub use resolve::{BoxSettings, KeepSettings, Settings, resolve};
