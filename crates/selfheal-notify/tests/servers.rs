//! Small servers on the wire: HTTP and SMTP, with and without TLS. Each answers as the test says and keeps what it got.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

/// A certificate authority of the test's own, in a file, and what a server needs that it signed.
pub struct Authority {
    folder: TempDir,
    server: Arc<ServerConfig>,
}

impl Authority {
    /// One that signs a certificate for a name.
    pub fn signing(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        let leaf_key = KeyPair::generate().unwrap();
        let leaf =
            CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&leaf_key, &issuer).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), root.pem()).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
        let server = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], key)
            .unwrap();
        Self { folder, server: Arc::new(server) }
    }

    /// Its certificate as a file.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    fn wrap(&self, stream: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
        StreamOwned::new(ServerConnection::new(Arc::clone(&self.server)).unwrap(), stream)
    }

    fn clone_server(&self) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), server: Arc::clone(&self.server) }
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub line: String,
    pub headers: Vec<String>,
    pub body: String,
}

impl Request {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn path(&self) -> &str {
        self.line.split(' ').nth(1).unwrap()
    }
}

/// An HTTP server that gives the same answer to everything.
pub struct Http {
    pub address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Http {
    /// Status line's rest and body: `200 OK`, `{}`.
    pub fn answering(status: &str, body: &str) -> Self {
        Self::serve(
            None,
            &format!(
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            ),
        )
    }

    /// The same with TLS.
    pub fn secure(authority: &Authority) -> Self {
        Self::serve(
            Some(authority.clone_server()),
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
        )
    }

    /// One that sends this, whatever it is, and no more.
    pub fn raw(answer: &str) -> Self {
        Self::serve(None, answer)
    }

    fn serve(authority: Option<Authority>, answer: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let scheme = if authority.is_some() { "https" } else { "http" };
        let address = format!("{scheme}://localhost:{}", listener.local_addr().unwrap().port());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer) = (Arc::clone(&requests), answer.to_owned());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that breaks off is what some tests want.
                let _ = match &authority {
                    Some(authority) => serve_one(authority.wrap(stream), &answer, &kept),
                    None => serve_one(stream, &answer, &kept),
                };
            }
        });
        Self { address, requests }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve_one(stream: impl Read + Write, answer: &str, kept: &Mutex<Vec<Request>>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        stream.read_line(&mut header)?;
        if header.trim().is_empty() {
            break;
        }
        headers.push(header.trim().to_lowercase());
    }
    let length = headers.iter().find_map(|header| header.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body)?;
    let body = String::from_utf8(body).unwrap();
    kept.lock().unwrap().push(Request { line: line.trim().to_owned(), headers, body });
    stream.get_mut().write_all(answer.as_bytes())?;
    stream.get_mut().flush()
}

/// What an SMTP server does.
pub struct SmtpPlan {
    /// Whether it says that it can become secure.
    pub offers_starttls: bool,
    /// Whether it is secure from the first byte.
    pub secure: bool,
    /// What it says to the recipient.
    pub to_recipient: &'static str,
}

/// An SMTP server for one conversation.
pub struct SmtpServer {
    pub port: u16,
    said: Receiver<Vec<String>>,
}

impl SmtpServer {
    pub fn start(authority: &Authority, plan: SmtpPlan) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, said) = mpsc::channel();
        let authority = authority.clone_server();
        std::thread::spawn(move || {
            let Ok((stream, _)) = listener.accept() else { return };
            let mut talk = Talk { plan: &plan, lines: Vec::new(), tell: &tell };
            // The client may break off, where a test wants it to.
            let _ = match plan.secure {
                true => talk.greet(&mut BufReader::new(authority.wrap(stream)), &authority, None),
                false => {
                    let copy = stream.try_clone().unwrap();
                    talk.greet(&mut BufReader::new(stream), &authority, Some(copy))
                }
            };
            talk.tell();
        });
        Self { port, said }
    }

    /// What the client said, line by line; what follows `<tls>` was encrypted.
    pub fn said(&self) -> Vec<String> {
        self.said.recv_timeout(Duration::from_secs(100)).unwrap()
    }
}

struct Talk<'a> {
    plan: &'a SmtpPlan,
    lines: Vec<String>,
    tell: &'a Sender<Vec<String>>,
}

impl Talk<'_> {
    fn tell(&self) {
        let _ = self.tell.send(self.lines.clone());
    }

    fn greet(
        &mut self,
        stream: &mut BufReader<impl Read + Write>,
        authority: &Authority,
        plain: Option<TcpStream>,
    ) -> io::Result<()> {
        stream.get_mut().write_all(b"220 test ESMTP\r\n")?;
        stream.get_mut().flush()?;
        if self.converse(stream)? {
            let Some(plain) = plain else { return Ok(()) };
            self.lines.push("<tls>".to_owned());
            self.converse(&mut BufReader::new(authority.wrap(plain)))?;
        }
        Ok(())
    }

    /// Talks until the end, or until the stream is to become secure.
    fn converse(&mut self, stream: &mut BufReader<impl Read + Write>) -> io::Result<bool> {
        let mut in_data = false;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line)? == 0 {
                return Ok(false);
            }
            let line = line.trim_end_matches(['\r', '\n']).to_owned();
            self.lines.push(line.clone());
            let word = line.split(' ').next().unwrap_or_default().to_uppercase();
            let answer = match word.as_str() {
                _ if in_data && line == "." => {
                    in_data = false;
                    "250 taken\r\n"
                }
                _ if in_data => continue,
                "EHLO" if self.plan.offers_starttls && !self.lines.contains(&"<tls>".to_owned()) => {
                    "250-test\r\n250 STARTTLS\r\n"
                }
                "EHLO" => "250-test\r\n250 AUTH PLAIN\r\n",
                "AUTH" => "235 welcome\r\n",
                "RCPT" => self.plan.to_recipient,
                "DATA" => {
                    in_data = true;
                    "354 go on\r\n"
                }
                "STARTTLS" => "220 now\r\n",
                "QUIT" => "221 bye\r\n",
                _ => "250 ok\r\n",
            };
            stream.get_mut().write_all(answer.as_bytes())?;
            stream.get_mut().flush()?;
            match word.as_str() {
                "STARTTLS" => return Ok(true),
                "QUIT" if !in_data => return Ok(false),
                _ => {}
            }
        }
    }
}
