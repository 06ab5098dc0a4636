//! Mail against a server on the wire.

use std::error::Error;

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::{Message, Notifier, PortError};
use selfheal_core::redact::Redactor;
use selfheal_notify::{MailSettings, Secret, Security, Smtp};

use crate::servers::{Authority, SmtpPlan, SmtpServer};

const GOOD: SmtpPlan = SmtpPlan { offers_starttls: true, secure: false, to_recipient: "250 ok\r\n" };

fn message() -> Message {
    let redactor = Redactor::default();
    Message {
        at: Timestamp(1),
        subject: redactor.text("selfheal: a repair waits\r\nBcc: somebody@example.org"),
        text: redactor.text("Why.\n.\nApprove with: selfheal approve 12345678\n"),
        html: None,
        incident: None,
    }
}

fn settings(authority: &Authority, port: u16) -> MailSettings {
    MailSettings {
        server: "localhost".to_owned(),
        port: Some(port),
        security: Security::StartTls,
        from: "selfheal <selfheal@example.org>".to_owned(),
        to: vec!["ops@example.org".to_owned()],
        login: None,
        host: "web_1".to_owned(),
        authorities: Some(authority.file()),
        limit_ms: 60_000,
    }
}

fn send(settings: MailSettings) -> Result<(), String> {
    send_one(settings, &message())
}

fn send_one(settings: MailSettings, message: &Message) -> Result<(), String> {
    let told = |error: PortError| {
        let mut text = error.to_string();
        let mut next = error.source();
        while let Some(source) = next {
            text = format!("{text}: {source}");
            next = source.source();
        }
        text
    };
    Smtp::from_settings(settings).map_err(told)?.notify(message).map_err(told)
}

fn at(said: &[String], start: &str) -> usize {
    said.iter().position(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no {start}: {said:#?}"))
}

#[test]
fn a_mail_goes_out_after_the_line_became_secure() {
    let authority = Authority::signing("localhost");
    let server = SmtpServer::start(&authority, GOOD);
    let login = Some(("me".to_owned(), Secret::new("pass\n")));
    send(MailSettings { login, ..settings(&authority, server.port) }).unwrap();
    let said = server.said();
    let tls = at(&said, "<tls>");
    assert!(said[..tls].iter().all(|line| line.starts_with("EHLO") || line == "STARTTLS"), "{said:#?}");
    // The user and the password, each after a zero byte.
    assert!(at(&said, "AUTH PLAIN AG1lAHBhc3M=") > tls, "{said:#?}");
    assert_eq!(said[at(&said, "MAIL FROM")], "MAIL FROM:<selfheal@example.org>");
    assert_eq!(said.iter().filter(|line| line.starts_with("RCPT TO")).count(), 1, "{said:#?}");
    assert_eq!(said[at(&said, "Subject:")], "Subject: selfheal: a repair waits Bcc: somebody@example.org");
    assert!(said.iter().all(|line| !line.starts_with("Bcc")), "{said:#?}");
    at(&said, "Auto-Submitted: auto-generated");
    at(&said, "Message-ID: <");
    assert!(at(&said, "..") < at(&said, "Approve with: selfheal approve 12345678"), "{said:#?}");
}

#[test]
fn it_can_be_secure_from_the_first_byte() {
    let authority = Authority::signing("localhost");
    let server = SmtpServer::start(&authority, SmtpPlan { secure: true, ..GOOD });
    send(MailSettings { security: Security::Tls, ..settings(&authority, server.port) }).unwrap();
    at(&server.said(), "Approve with:");
}

#[test]
fn nothing_is_sent_to_a_server_that_does_not_become_secure() {
    let authority = Authority::signing("localhost");
    let server = SmtpServer::start(&authority, SmtpPlan { offers_starttls: false, ..GOOD });
    send(settings(&authority, server.port)).unwrap_err();
    assert!(server.said().iter().all(|line| !line.starts_with("MAIL")));
}

#[test]
fn nothing_is_sent_to_a_server_that_is_not_believed() {
    let (authority, stranger) = (Authority::signing("localhost"), Authority::signing("localhost"));
    let server = SmtpServer::start(&authority, GOOD);
    let why = send(settings(&stranger, server.port)).unwrap_err();
    assert!(why.to_lowercase().contains("certificate"), "{why}");
    assert!(server.said().iter().all(|line| !line.starts_with("MAIL")));
    let named = Authority::signing("other.example");
    let server = SmtpServer::start(&named, GOOD);
    let why = send(settings(&named, server.port)).unwrap_err();
    assert!(why.to_lowercase().contains("certificate"), "{why}");
}

#[test]
fn a_refused_recipient_is_an_error_with_the_server_s_words() {
    let authority = Authority::signing("localhost");
    let server = SmtpServer::start(&authority, SmtpPlan { to_recipient: "550 who is that\r\n", ..GOOD });
    let why = send(settings(&authority, server.port)).unwrap_err();
    assert!(why.contains("who is that"), "{why}");
}

#[test]
fn without_tls_mail_stays_on_this_machine() {
    let authority = Authority::signing("localhost");
    let server = SmtpServer::start(&authority, GOOD);
    let open =
        MailSettings { security: Security::None, authorities: None, ..settings(&authority, server.port) };
    send(open.clone()).unwrap();
    at(&server.said(), "Approve with:");
    let why = send(MailSettings { server: "mail.example.org".to_owned(), ..open }).unwrap_err();
    assert!(why.contains("on this machine"), "{why}");
    let why = send(MailSettings { to: vec!["nobody".to_owned()], ..settings(&authority, 1) }).unwrap_err();
    assert!(why.contains("nobody is no address"), "{why}");
}

#[test]
fn what_has_an_html_form_goes_as_both_and_the_text_comes_first() {
    let authority = Authority::signing("localhost");
    let server = SmtpServer::start(&authority, GOOD);
    let html = Some(Redactor::default().text("<!DOCTYPE html>\n<p>the week &#9632;</p>\n"));
    send_one(settings(&authority, server.port), &Message { html, ..message() }).unwrap();
    let said = server.said();
    let (both, text, html) = (
        at(&said, "Content-Type: multipart/alternative"),
        at(&said, "Content-Type: text/plain"),
        at(&said, "Content-Type: text/html"),
    );
    assert!(both < text && text < html, "{said:#?}");
    assert!(at(&said, "Approve with:") < html && at(&said, "<p>the week") > html, "{said:#?}");
}

/// A document that is cut in the middle is none.
#[test]
fn an_html_form_that_is_too_long_is_left_out() {
    let authority = Authority::signing("localhost");
    let server = SmtpServer::start(&authority, GOOD);
    let html = Some(Redactor::default().text(&"<p>long</p>".repeat(30_000)));
    send_one(settings(&authority, server.port), &Message { html, ..message() }).unwrap();
    let said = server.said();
    assert!(!said.iter().any(|line| line.contains("text/html")), "{said:#?}");
    at(&said, "Approve with:");
}
