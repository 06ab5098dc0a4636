//! Delivers messages by mail: SMTP with TLS. Without TLS only to this machine itself.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message as Mail, MultiPart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{SmtpTransport, Transport};
use selfheal_core::ports::{Message, Notifier, PortError, Trouble};

use crate::secret::Secret;
use crate::tls;
use crate::words::{calm, one_line, shortened};

/// The most bytes of a text; more is no message any more.
const MOST: usize = 256 << 10;

/// How the connection is made secure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Security {
    /// It begins in the clear and becomes TLS before anything is said (port 587), or nothing is sent.
    #[default]
    StartTls,
    /// TLS from the first byte (port 465).
    Tls,
    /// None. Only for a mail server on this machine.
    None,
}

impl Security {
    fn usual_port(self) -> u16 {
        match self {
            Self::StartTls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
}

/// What the user set.
#[derive(Clone, Debug)]
pub struct MailSettings {
    /// The mail server's name: its certificate must bear it.
    pub server: String,
    /// Its port, where that is not the usual one.
    pub port: Option<u16>,
    /// How the connection is made secure.
    pub security: Security,
    /// Who the mail is from.
    pub from: String,
    /// Who gets it.
    pub to: Vec<String>,
    /// User and password, where the server asks for them.
    pub login: Option<(String, Secret)>,
    /// What is told of the machine.
    pub host: String,
    /// A PEM file with further certificate authorities.
    pub authorities: Option<PathBuf>,
    /// How long one word of the server may take, in milliseconds.
    pub limit_ms: u64,
}

/// A channel that sends mail.
pub struct Smtp {
    transport: SmtpTransport,
    from: Mailbox,
    to: Vec<Mailbox>,
    server: String,
}

/// Why a mail could not be sent.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("the mail could not be written")]
    Build(#[from] lettre::error::Error),
    #[error(transparent)]
    Send(#[from] lettre::transport::smtp::Error),
}

impl Smtp {
    /// A channel from what the user set. Nothing is sent yet.
    ///
    /// # Errors
    /// When an address, the server or the certificates cannot be used; without TLS to another machine.
    pub fn from_settings(settings: MailSettings) -> Result<Self, PortError> {
        let fail = |what: String| PortError::plain(format!("use the channel mail: {what}"), Trouble::Other);
        let address = |text: &String| {
            text.parse::<Mailbox>().map_err(|_| fail(format!("{} is no address", one_line(text))))
        };
        let from = address(&settings.from)?;
        let to = settings.to.iter().map(address).collect::<Result<Vec<_>, _>>()?;
        if to.is_empty() {
            return Err(fail("it has no `to`".to_owned()));
        }
        if settings.security == Security::None && !is_here(&settings.server) {
            return Err(fail("without TLS it is only for a mail server on this machine".to_owned()));
        }
        let tls = security(&settings)?;
        let mut builder = SmtpTransport::builder_dangerous(settings.server.clone())
            .port(settings.port.unwrap_or_else(|| settings.security.usual_port()))
            .hello_name(ClientId::Domain(hello(&settings.host)))
            .timeout(Some(Duration::from_millis(settings.limit_ms.max(1))))
            .tls(tls);
        if let Some((user, password)) = &settings.login {
            builder = builder.credentials(Credentials::new(user.clone(), password.expose().to_owned()));
        }
        Ok(Self { transport: builder.build(), from, to, server: settings.server })
    }

    fn mail(&self, message: &Message) -> Result<Mail, Failure> {
        let mut mail = Mail::builder().from(self.from.clone());
        for one in &self.to {
            mail = mail.to(one.clone());
        }
        let text = shortened(&calm(message.text.as_str()), MOST);
        let mail = mail
            .subject(shortened(&one_line(message.subject.as_str()), 200))
            .message_id(None)
            // RFC 3834: no answers of machines to a machine.
            .raw_header(HeaderValue::new(
                HeaderName::new_from_ascii_str("Auto-Submitted"),
                "auto-generated".to_owned(),
            ));
        // A document that is cut is none; the text says it all.
        let html = message.html.as_ref().filter(|html| html.as_str().len() <= MOST);
        Ok(match html {
            Some(html) => {
                mail.multipart(MultiPart::alternative_plain_html(text, html.as_str().to_owned()))?
            }
            None => mail.header(ContentType::TEXT_PLAIN).body(text)?,
        })
    }

    fn send(&self, message: &Message) -> Result<(), Failure> {
        self.transport.send(&self.mail(message)?)?;
        Ok(())
    }
}

impl Notifier for Smtp {
    fn notify(&self, message: &Message) -> Result<(), PortError> {
        self.send(message)
            .map_err(|failure| PortError::new(format!("notify by mail through {}", self.server), failure))
    }
}

fn security(settings: &MailSettings) -> Result<Tls, PortError> {
    if settings.security == Security::None {
        return Ok(Tls::None);
    }
    let fail = |error| PortError::new("use the channel mail", error);
    let mut parameters = TlsParameters::builder(settings.server.clone());
    for der in settings.authorities.as_deref().map(tls::read).transpose()?.unwrap_or_default() {
        parameters = parameters.add_root_certificate(Certificate::from_der(der).map_err(fail)?);
    }
    let parameters = parameters.build().map_err(fail)?;
    Ok(match settings.security {
        Security::Tls => Tls::Wrapper(parameters),
        Security::StartTls | Security::None => Tls::Required(parameters),
    })
}

fn is_here(server: &str) -> bool {
    server == "localhost" || server.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The machine's name as SMTP takes it.
fn hello(host: &str) -> String {
    let fits = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-".contains(&b));
    if fits { host.to_owned() } else { "localhost".to_owned() }
}
