//! The channels of the settings, ready to be used.

use std::path::PathBuf;

use selfheal_core::ports::{Message, Notifier, PortError};
use selfheal_notify::{
    MailSettings, PRESETS, Program, ProgramSettings, Security, Smtp, Webhook, WebhookSettings, preset,
};

use super::secret;
use crate::config::{MailOptions, MailSecurity, NotifyOptions, WebhookOptions};
use crate::context::Context;

/// How long one delivery may take, in milliseconds.
const LIMIT_MS: u64 = 20_000;

/// The names that webhooks cannot have.
const TAKEN: [&str; 2] = ["program", "mail"];

/// A channel.
pub struct Channel {
    /// Its name: `program`, `mail`, or the user's own.
    pub name: String,
    /// What it is, in one word.
    pub kind: String,
    how: How,
}

/// How a channel is reached, or why it is not.
enum How {
    Ready(Box<dyn Notifier + Send>),
    Wrong(String),
}

impl Channel {
    fn of(name: &str, kind: &str, how: Result<Box<dyn Notifier + Send>, String>) -> Self {
        let how = match how {
            Ok(notifier) => How::Ready(notifier),
            Err(why) => How::Wrong(why),
        };
        Self { name: name.to_owned(), kind: kind.to_owned(), how }
    }

    /// Why its settings cannot be used, if they cannot.
    #[must_use]
    pub fn wrong(&self) -> Option<&str> {
        match &self.how {
            How::Ready(_) => None,
            How::Wrong(why) => Some(why),
        }
    }

    /// Delivers one message.
    ///
    /// # Errors
    /// When it was not taken, in words.
    pub fn send(&self, message: &Message) -> Result<(), String> {
        match &self.how {
            How::Ready(notifier) => notifier.notify(message).map_err(|error| words(&error)),
            How::Wrong(why) => Err(why.clone()),
        }
    }
}

/// All channels of the settings. Their secrets are read here.
#[must_use]
pub fn channels(context: &Context) -> Vec<Channel> {
    let notify = &context.settings.notify;
    let mut all = Vec::new();
    if let Some(command) = &notify.program {
        all.push(Channel::of("program", "program", program(command)));
    }
    if let Some(options) = &notify.mail {
        all.push(Channel::of("mail", "mail", mail(context, options)));
    }
    for (name, options) in &notify.webhook {
        all.push(Channel::of(name, &options.preset, webhook(context, name, options)));
    }
    all
}

/// The files that hold secrets of channels: to be hidden in boxes.
#[must_use]
pub fn secret_files(notify: &NotifyOptions) -> Vec<PathBuf> {
    let password = notify.mail.iter().filter_map(|mail| mail.password.as_deref());
    let hooks = notify.webhook.values().flat_map(|hook| [&hook.url, &hook.token, &hook.secret]);
    let places = password.chain(hooks.filter_map(Option::as_deref));
    places.filter_map(secret::file).map(PathBuf::from).collect()
}

fn program(command: &[String]) -> Result<Box<dyn Notifier + Send>, String> {
    let command = command.iter().map(Into::into).collect();
    let settings = ProgramSettings { command, ..ProgramSettings::default() };
    Ok(Box::new(Program::from_settings(settings).map_err(|error| words(&error))?))
}

fn mail(context: &Context, options: &MailOptions) -> Result<Box<dyn Notifier + Send>, String> {
    let login = match (&options.user, &options.password) {
        (Some(user), Some(place)) => Some((user.clone(), secret::at(context, "password", place)?)),
        (None, None) => None,
        _ => return Err("`user` and `password` go together".to_owned()),
    };
    let settings = MailSettings {
        server: options.server.clone(),
        port: options.port,
        security: match options.security {
            None | Some(MailSecurity::StartTls) => Security::StartTls,
            Some(MailSecurity::Tls) => Security::Tls,
            Some(MailSecurity::None) => Security::None,
        },
        from: options.from.clone(),
        to: options.to.clone(),
        login,
        host: host(),
        authorities: options.ca_file.clone(),
        limit_ms: LIMIT_MS,
    };
    Ok(Box::new(Smtp::from_settings(settings).map_err(|error| words(&error))?))
}

fn webhook(
    context: &Context,
    name: &str,
    options: &WebhookOptions,
) -> Result<Box<dyn Notifier + Send>, String> {
    if TAKEN.contains(&name) {
        return Err("this name is taken by another kind of channel".to_owned());
    }
    let known = || PRESETS.map(|preset| preset.name).join(", ");
    let preset = preset(&options.preset).ok_or_else(|| format!("`preset` is one of {}", known()))?;
    let secret =
        |key, place: &Option<String>| place.as_ref().map(|place| secret::at(context, key, place)).transpose();
    let settings = WebhookSettings {
        name: name.to_owned(),
        preset,
        url: options.url.as_ref().map(|url| secret::address(context, url)).transpose()?,
        token: secret("token", &options.token)?,
        secret: secret("secret", &options.secret)?,
        to: options.to.clone(),
        host: host(),
        authorities: options.ca_file.clone(),
        proxy: context.var("https_proxy").or_else(|| context.var("HTTPS_PROXY")),
        limit_ms: LIMIT_MS,
    };
    Ok(Box::new(Webhook::from_settings(settings).map_err(|error| words(&error))?))
}

/// The machine's name, as it calls itself.
#[must_use]
pub fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

fn words(error: &PortError) -> String {
    let mut text = format!("failed to {}", error.doing);
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        text.push_str(&format!(": {source}"));
        next = source.source();
    }
    text.replace('\n', " ")
}
