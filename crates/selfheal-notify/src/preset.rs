//! What each service wants: where it is, how a message looks there, how long it may be, and how it says that it took it.
//! One row a service; the shapes are those of the services' own documentation, named at each row.

use serde_json::{Value, json};

use crate::words::{calm, shortened};

/// A service that takes messages by HTTP.
#[derive(Clone, Copy)]
pub struct Preset {
    /// Its name in the settings.
    pub name: &'static str,
    /// Its address, where that is the same for everybody.
    pub(crate) address: Option<&'static str>,
    /// What must be set beside or instead of the address.
    pub(crate) needs: &'static [Need],
    /// The body of a message.
    pub(crate) body: fn(&Letter<'_>) -> Value,
    /// The most bytes of text in it.
    pub(crate) most: usize,
    /// Where the token goes.
    pub(crate) token: Token,
    /// How it is signed with a secret, where one is set.
    pub(crate) sign: Sign,
    /// A field of the answer and what it holds when the message was taken: these services answer 200 to everything.
    pub(crate) taken: Option<Taken>,
}

/// A field of an answer, as a JSON pointer, and what it must hold.
type Taken = (&'static str, fn(&Value) -> bool);

/// A setting that a service cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// `url`.
    Url,
    /// `token`.
    Token,
    /// `to`.
    To,
}

impl Need {
    /// The key in the settings.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Token => "token",
            Self::To => "to",
        }
    }
}

/// Where the token goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// Into the header `Authorization: Bearer`.
    Header,
    /// Into the path of the address, where `{token}` stands.
    Path,
    /// Into the body, by the row's own function.
    Body,
}

/// How a message is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// It is not.
    Not,
    /// `timestamp` and `sign` in the address; the secret is the key.
    InAddress,
    /// `timestamp` and `sign` in the body; the secret is a part of the key, and nothing is signed.
    InBody,
}

/// What a body is made of.
pub(crate) struct Letter<'a> {
    pub(crate) subject: String,
    pub(crate) text: String,
    pub(crate) at: i64,
    pub(crate) incident: Option<&'a str>,
    pub(crate) host: &'a str,
    pub(crate) to: &'a str,
    pub(crate) token: &'a str,
}

/// All services.
pub const PRESETS: [Preset; 10] = [
    // https://api.slack.com/messaging/webhooks
    Preset { name: "slack", body: slack, most: 12_000, ..PLAIN },
    // https://learn.microsoft.com/power-automate/teams/send-a-message-in-teams (an Adaptive Card by a workflow's address)
    Preset { name: "teams", body: teams, most: 20_000, ..PLAIN },
    // https://discord.com/developers/docs/resources/webhook#execute-webhook
    Preset { name: "discord", body: discord, most: 1_900, ..PLAIN },
    // https://open.dingtalk.com/document/robots/custom-robot-access
    Preset {
        name: "dingtalk",
        body: dingtalk,
        most: 15_000,
        sign: Sign::InAddress,
        taken: Some(("/errcode", is_zero)),
        ..PLAIN
    },
    // https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot
    Preset {
        name: "feishu",
        body: feishu,
        most: 15_000,
        sign: Sign::InBody,
        taken: Some(("/code", is_zero)),
        ..PLAIN
    },
    // https://developer.work.weixin.qq.com/document/path/91770
    Preset { name: "wecom", body: dingtalk, most: 2_000, taken: Some(("/errcode", is_zero)), ..PLAIN },
    // https://core.telegram.org/bots/api#sendmessage
    Preset {
        name: "telegram",
        address: Some("https://api.telegram.org/bot{token}/sendMessage"),
        needs: &[Need::Token, Need::To],
        body: telegram,
        most: 4_000,
        token: Token::Path,
        taken: Some(("/ok", |value| value.as_bool() == Some(true))),
        ..PLAIN
    },
    // https://docs.ntfy.sh/publish/#publish-as-json
    Preset {
        name: "ntfy",
        address: Some("https://ntfy.sh/"),
        needs: &[Need::To],
        body: ntfy,
        most: 3_500,
        ..PLAIN
    },
    // https://developer.pagerduty.com/docs/send-alert-event
    Preset {
        name: "pagerduty",
        address: Some("https://events.pagerduty.com/v2/enqueue"),
        needs: &[Need::Token],
        body: pagerduty,
        most: 20_000,
        token: Token::Body,
        ..PLAIN
    },
    // The same document as a program gets, with the machine's name.
    Preset { name: "generic", body: generic, most: 64_000, ..PLAIN },
];

/// What most rows have in common.
const PLAIN: Preset = Preset {
    name: "",
    address: None,
    needs: &[Need::Url],
    body: generic,
    most: 0,
    token: Token::Header,
    sign: Sign::Not,
    taken: None,
};

/// The service of this name.
#[must_use]
pub fn preset(name: &str) -> Option<Preset> {
    PRESETS.into_iter().find(|preset| preset.name == name)
}

impl Preset {
    /// The message as this service takes it.
    pub(crate) fn letter<'a>(&self, letter: Letter<'a>) -> Letter<'a> {
        Letter { text: shortened(calm(&letter.text).trim_end(), self.most), ..letter }
    }
}

impl std::fmt::Debug for Preset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

fn is_zero(value: &Value) -> bool {
    value.as_i64() == Some(0)
}

/// Without its markup, and with the three characters escaped that could call people or hide an address.
fn slack(letter: &Letter<'_>) -> Value {
    let text = letter.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    json!({ "text": text, "mrkdwn": false })
}

/// Runs of text, one a line: unlike text blocks they know no markup.
fn teams(letter: &Letter<'_>) -> Value {
    let line =
        |text: &str| json!({ "type": "RichTextBlock", "inlines": [{ "type": "TextRun", "text": text }] });
    let lines: Vec<Value> = letter.text.lines().filter(|text| !text.is_empty()).map(line).collect();
    json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "content": {
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "type": "AdaptiveCard",
                "version": "1.4",
                "body": lines,
            },
        }],
    })
}

/// As code, which knows no markup; nobody is called.
fn discord(letter: &Letter<'_>) -> Value {
    let text = letter.text.replace("```", "'''");
    json!({ "content": format!("```\n{text}\n```"), "allowed_mentions": { "parse": [] } })
}

fn dingtalk(letter: &Letter<'_>) -> Value {
    json!({ "msgtype": "text", "text": { "content": letter.text } })
}

/// Its texts know a tag that calls people; a wide bracket is none.
fn feishu(letter: &Letter<'_>) -> Value {
    json!({ "msg_type": "text", "content": { "text": letter.text.replace('<', "＜") } })
}

fn telegram(letter: &Letter<'_>) -> Value {
    json!({ "chat_id": letter.to, "text": letter.text, "link_preview_options": { "is_disabled": true } })
}

fn ntfy(letter: &Letter<'_>) -> Value {
    json!({ "topic": letter.to, "title": letter.subject, "message": letter.text })
}

/// One alert an incident: what is told of it again is added to the same.
fn pagerduty(letter: &Letter<'_>) -> Value {
    let mut event = json!({
        "routing_key": letter.token,
        "event_action": "trigger",
        "payload": {
            "summary": shortened(&letter.subject, 1_000),
            "source": letter.host,
            "severity": "error",
            "custom_details": { "text": letter.text },
        },
    });
    if let (Some(id), Some(event)) = (letter.incident, event.as_object_mut()) {
        event.insert("dedup_key".to_owned(), json!(format!("selfheal-{id}")));
    }
    event
}

fn generic(letter: &Letter<'_>) -> Value {
    json!({
        "version": 1,
        "at": letter.at,
        "host": letter.host,
        "subject": letter.subject,
        "text": letter.text,
        "incident": letter.incident,
    })
}
