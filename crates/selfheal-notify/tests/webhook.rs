//! Webhooks against a server on the wire.

use std::error::Error;

use selfheal_core::ids::{IncidentId, Timestamp};
use selfheal_core::ports::{Message, Notifier, PortError};
use selfheal_core::redact::Redactor;
use selfheal_notify::{PRESETS, Secret, Webhook, WebhookSettings, preset};
use serde_json::json;

use crate::servers::{Authority, Http};

const TEXT: &str =
    "selfheal: a repair for bash <a>.sh waits for you\nApprove with: selfheal approve 12345678\n";

fn message(text: &str) -> Message {
    let redactor = Redactor::default();
    Message {
        at: Timestamp(1_700_000_000_000),
        subject: redactor.text("selfheal: a repair\nwaits"),
        text: redactor.text(text),
        html: None,
        incident: Some(IncidentId::new("0190-12345678")),
    }
}

fn settings(name: &str, url: &str) -> WebhookSettings {
    WebhookSettings {
        name: "chat".to_owned(),
        preset: preset(name).unwrap(),
        url: Some(Secret::new(url)),
        token: None,
        secret: None,
        to: None,
        host: "web-1".to_owned(),
        authorities: None,
        proxy: None,
        limit_ms: 60_000,
    }
}

fn told(error: &PortError) -> String {
    format!("{error}: {}", error.source().map(ToString::to_string).unwrap_or_default())
}

fn send(settings: WebhookSettings) -> Result<(), String> {
    Webhook::from_settings(settings).unwrap().notify(&message(TEXT)).map_err(|error| told(&error))
}

#[test]
fn every_service_gets_the_message_in_its_own_form() {
    let text = TEXT.trim_end();
    let bodies = [
        ("slack", json!({ "text": text.replace('<', "&lt;").replace('>', "&gt;"), "mrkdwn": false })),
        ("discord", json!({ "content": format!("```\n{text}\n```"), "allowed_mentions": { "parse": [] } })),
        ("dingtalk", json!({ "msgtype": "text", "text": { "content": text } })),
        ("wecom", json!({ "msgtype": "text", "text": { "content": text } })),
        ("feishu", json!({ "msg_type": "text", "content": { "text": text.replace('<', "＜") } })),
        ("ntfy", json!({ "topic": "here", "title": "selfheal: a repair waits", "message": text })),
        (
            "generic",
            json!({
                "version": 1, "at": 1_700_000_000_000_i64, "host": "web-1", "text": text,
                "subject": "selfheal: a repair waits", "incident": "0190-12345678",
            }),
        ),
    ];
    for (name, body) in bodies {
        let server = Http::answering("200 OK", r#"{"errcode":0,"code":0,"ok":true}"#);
        let url = format!("{}/hook/abc", server.address);
        send(WebhookSettings { to: Some("here".to_owned()), ..settings(name, &url) }).unwrap();
        let [request] = &server.requests()[..] else { panic!("{name}: {:?}", server.requests()) };
        assert_eq!(request.line, "POST /hook/abc HTTP/1.1", "{name}");
        assert_eq!(request.json(), body, "{name}");
    }
}

#[test]
fn a_card_has_a_run_of_text_a_line() {
    let server = Http::answering("202 Accepted", "");
    send(settings("teams", &server.address)).unwrap();
    let card = server.requests()[0].json()["attachments"][0]["content"].clone();
    assert_eq!(card["type"], "AdaptiveCard");
    let lines = card["body"].as_array().unwrap();
    assert_eq!(lines[1]["inlines"][0]["text"], "Approve with: selfheal approve 12345678");
}

#[test]
fn a_bot_s_token_goes_into_the_path_and_a_routing_key_into_the_body() {
    let server = Http::answering("200 OK", r#"{"ok":true}"#);
    let url = format!("{}/bot{{token}}/sendMessage", server.address);
    let (token, to) = (Some(Secret::new("42:abc\n")), Some("-100".to_owned()));
    send(WebhookSettings { token: token.clone(), to, ..settings("telegram", &url) }).unwrap();
    let request = &server.requests()[0];
    assert_eq!(request.path(), "/bot42:abc/sendMessage");
    assert_eq!(request.json()["chat_id"], "-100");

    let server = Http::answering("202 Accepted", "{}");
    send(WebhookSettings { token: token.clone(), ..settings("pagerduty", &server.address) }).unwrap();
    let event = server.requests()[0].json();
    assert_eq!(event["routing_key"], "42:abc");
    assert_eq!(event["dedup_key"], "selfheal-0190-12345678");
    assert_eq!(event["payload"]["source"], "web-1");

    let server = Http::answering("200 OK", "");
    send(WebhookSettings { token, ..settings("generic", &server.address) }).unwrap();
    assert!(server.requests()[0].headers.contains(&"authorization: bearer 42:abc".to_owned()));
}

#[test]
fn robots_get_their_signature() {
    let server = Http::answering("200 OK", r#"{"errcode":0,"code":0}"#);
    let signed =
        |name: &str, url: &str| WebhookSettings { secret: Some(Secret::new("SEC1")), ..settings(name, url) };
    send(signed("dingtalk", &format!("{}/robot/send?access_token=x", server.address))).unwrap();
    let path = server.requests()[0].path().to_owned();
    assert!(path.starts_with("/robot/send?access_token=x&timestamp="), "{path}");
    assert!(path.contains("&sign="), "{path}");
    send(signed("feishu", &server.address)).unwrap();
    let body = server.requests()[1].json();
    assert_eq!(body["timestamp"].as_str().unwrap().len(), 10, "{body}");
    assert_eq!(body["sign"].as_str().unwrap().len(), 44, "{body}");
}

#[test]
fn a_service_that_says_no_in_a_good_answer_did_not_take_it() {
    let server = Http::answering("200 OK", r#"{"errcode":310000,"errmsg":"keywords not in content"}"#);
    let why = send(settings("dingtalk", &server.address)).unwrap_err();
    assert!(why.contains("did not take the message") && why.contains("keywords not in content"), "{why}");
}

#[test]
fn what_is_no_good_answer_is_a_refusal_without_the_address() {
    for (server, says) in [
        (Http::answering("500 Broken", "out of\u{1b}[31m order"), "status 500: out of[31m order"),
        (Http::answering("429 Too Many Requests", ""), "status 429"),
        (Http::raw("what?\r\n\r\n"), "does not speak HTTP"),
        (Http::raw(""), "notify by chat (slack): "),
    ] {
        let why = send(settings("slack", &format!("{}/T0/SECRETPATH", server.address))).unwrap_err();
        assert!(why.contains(says), "{why}");
        assert!(!why.contains("SECRETPATH") && !why.contains("localhost"), "{why}");
    }
    let nobody = send(settings("slack", "http://127.0.0.1:1/SECRETPATH")).unwrap_err();
    assert!(nobody.contains("refused") && !nobody.contains("SECRETPATH"), "{nobody}");
}

#[test]
fn a_redirect_is_not_followed() {
    let other = Http::answering("200 OK", "");
    let server = Http::raw(&format!(
        "HTTP/1.1 307 There\r\nlocation: {}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        other.address
    ));
    assert!(send(settings("slack", &server.address)).unwrap_err().contains("status 307"));
    assert_eq!(other.requests().len(), 0);
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for_for_ever() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let why = send(WebhookSettings { limit_ms: 200, ..settings("slack", &url) }).unwrap_err();
    assert!(why.contains("in time"), "{why}");
}

#[test]
fn tls_needs_an_authority_that_is_believed_and_the_right_name() {
    let authority = Authority::signing("localhost");
    let server = Http::secure(&authority);
    let with = |file: Option<std::path::PathBuf>, url: &str| {
        send(WebhookSettings { authorities: file, ..settings("slack", url) })
    };
    with(Some(authority.file()), &server.address).unwrap();
    assert_eq!(server.requests().len(), 1);
    let unknown = with(None, &server.address).unwrap_err();
    assert!(unknown.contains("no secure connection"), "{unknown}");
    let other = Authority::signing("other.example");
    let wrong_name = with(Some(other.file()), &Http::secure(&other).address).unwrap_err();
    assert!(wrong_name.contains("no secure connection"), "{wrong_name}");
    assert_eq!(server.requests().len(), 1, "nothing was said to a server that is not believed");
}

#[test]
fn what_a_service_needs_is_named() {
    for preset in PRESETS {
        let bare = WebhookSettings { url: None, ..settings(preset.name, "") };
        let error = Webhook::from_settings(bare).err().unwrap_or_else(|| panic!("{}", preset.name));
        assert!(error.to_string().contains("needs `"), "{error}");
    }
    let wrong = Webhook::from_settings(settings("slack", "ftp://SECRETPATH")).err().unwrap().to_string();
    assert!(wrong.contains("https://") && !wrong.contains("SECRETPATH"), "{wrong}");
}

#[test]
fn long_and_hostile_texts_are_cut_and_calmed() {
    let server = Http::answering("200 OK", "");
    let long =
        format!("<!channel> @everyone ```\u{202e}\n{}\nselfheal approve 12345678", "x".repeat(100_000));
    for name in ["slack", "discord"] {
        Webhook::from_settings(settings(name, &server.address)).unwrap().notify(&message(&long)).unwrap();
    }
    let bodies: Vec<String> = server.requests().iter().map(|request| request.body.clone()).collect();
    assert!(!bodies[0].contains("<!channel>") && bodies[0].contains("selfheal approve 12345678"));
    let content = server.requests()[1].json()["content"].as_str().unwrap().to_owned();
    assert!(content.len() <= 2_000 && content.matches("```").count() == 2 && !content.contains('\u{202e}'));
}
