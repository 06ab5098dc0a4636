//! Checkers of configuration files: nginx, Caddy, Apache, sshd, HAProxy, systemd and their like.

use selfheal_core::fault::Fault;

use super::{Row, bounded, row};

fn syntax(message: &str) -> Option<Fault> {
    let near = crate::template::last_quoted(message).map(bounded);
    Some(Fault::Syntax { near, message: bounded(message.trim_end_matches([' ', ','])) })
}

/// The table.
pub fn rows() -> Vec<Row> {
    vec![
        row("nginx: [emerg] host not found in upstream {name:q} in {file}:{line:n}", |h| {
            Some(Fault::NoSuchReference { name: h.text("name") })
        }),
        row("nginx: [emerg] {message} in {file}:{line:n}", |h| syntax(h.get("message"))),
        row("[emerg] {message} in {file}:{line:n}", |h| syntax(h.get("message"))),
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
        }),
        row("{file:w}:{line:n}: Unknown key {name:q}", |h| Some(Fault::KeyMissing { key: h.text("name") })),
    ]
}
