//! Checkers of configuration files: nginx, Caddy, Apache, sshd, HAProxy, systemd and their like.

use selfheal_core::fault::Fault;
use selfheal_core::outcome::Class;

use super::{Row, bounded, row};

fn syntax(message: &str) -> Option<Fault> {
    let near = crate::template::last_quoted(message).map(bounded);
    Some(Fault::Syntax { near, message: bounded(message.trim_end_matches([' ', ','])) })
}

/// nginx, whatever stands before the level: `2026/11/30 15:18:16 [emerg] 18542#18542: …`.
fn emerg(holes: &crate::template::Holes<'_>) -> Option<Fault> {
    let (_, message) = holes.get("message").split_once("[emerg] ")?;
    let message =
        message.split_once("#").and_then(|(_, rest)| rest.split_once(": ")).map_or(message, |(_, rest)| rest);
    if message.contains("No such file or directory") {
        return message.split('"').nth(1).map(|path| Fault::NoSuchPath { path: path.into() });
    }
    syntax(message)
}

/// The table.
pub fn rows() -> Vec<Row> {
    vec![
        row("nginx: [emerg] host not found in upstream {name:q} in {file:w}:{line:n}", |h| {
            Some(Fault::Network { how: "resolve".into(), host: Some(h.text("name")) })
        }),
        row("[emerg] {number}: host not found in upstream {name:q} in {file:w}:{line:n}", |h| {
            Some(Fault::Network { how: "resolve".into(), host: Some(h.text("name")) })
        }),
        row("{message} directive in {file:w}:{line:n}", emerg),
        row("{message} in {file:w}:{line:n}", emerg),
        row(": {file:w}:{line:n} - Error during parsing: {message}$", |h| syntax(h.get("message"))),
        row("Error: adapting config using caddyfile: {file}:{line:n}: {message}$", |h| {
            syntax(h.get("message"))
        }),
        row("Error: adapting config using caddyfile: {message}, at {file}:{line:n}", |h| {
            syntax(h.get("message"))
        }),
        row("AH00526: Syntax error on line {line:n} of {file}:", |h| {
            syntax(&format!("Syntax error{}", h.after))
        }),
        row("Syntax error on line {line:n} of {file}:", |h| syntax(&format!("Syntax error{}", h.after))),
        row("[ALERT] {number} : parsing [{file}:{line:n}] : {message}$", |h| syntax(h.get("message"))),
        row("parsing [{file}:{line:n}] : {message}$", |h| syntax(h.get("message"))),
        row("{file:w} line {line:n}: Bad configuration option: {option:w}", |h| {
            Some(Fault::UnknownOption { command: "sshd".into(), option: h.text("option") })
        }),
        row("{file:w}: line {line:n}: Bad configuration option: {option:w}", |h| {
            Some(Fault::UnknownOption { command: "ssh".into(), option: h.text("option") })
        }),
        row("{file:w}:{line:n}: Unknown key name {name:q}", |h| {
            Some(Fault::KeyMissing { key: h.text("name") })
        })
        .class(Class::Logic),
        row("{file:w}:{line:n}: Unknown key {name:q}", |h| Some(Fault::KeyMissing { key: h.text("name") })),
        row("[emerg] {message}$", |h| {
            let message = h.get("message");
            let message = message
                .split_once(": ")
                .filter(|(head, _)| head.contains('#'))
                .map_or(message, |(_, rest)| rest);
            Some(Fault::Other { message: bounded(message) })
        })
        .class(Class::Logic),
    ]
}
