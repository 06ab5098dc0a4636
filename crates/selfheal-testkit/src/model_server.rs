//! A model server on the wire that says what the test scripts.
//!
//! One thread accepts, one more serves each connection; a reply is taken when a request has come in whole. Dropping the
//! server ends the accepting thread; a serving thread sees the flag within [`LOOK`].

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::reply::{Act, Reply};

/// How often a waiting connection looks whether the server is at its end.
const LOOK: Duration = Duration::from_millis(20);
/// The largest request that is read.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// One request as it came in.
#[derive(Clone, Debug)]
pub struct Request {
    /// The path with its query.
    pub path: String,
    /// Header lines, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Request {
    /// The body as JSON; `Null` when it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(have, _)| have == name).map(|(_, value)| value.as_str())
    }
}

type Script = dyn Fn(usize, &Request) -> Reply + Send + Sync;

/// A scripted model server on a free port of 127.0.0.1.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    script: Box<Script>,
    requests: Mutex<Vec<Request>>,
    ended: AtomicBool,
}

impl ModelServer {
    /// A server that gives these replies, one a request, and status 501 when they are used up.
    #[must_use]
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Vec<Reply> = replies.into_iter().collect();
        let used_up = Reply::status(501, "the scripted replies are used up");
        Self::start_with(move |at, _| replies.get(at).cloned().unwrap_or_else(|| used_up.clone()))
    }

    /// A server that makes each reply from the number of the request (from 0) and the request.
    #[must_use]
    pub fn start_with(script: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on 127.0.0.1");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            script: Box::new(script),
            requests: Mutex::default(),
            ended: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        let thread = std::thread::spawn(move || accept(&listener, &serving));
        Self { address, shared, thread: Some(thread) }
    }

    /// The address of a server that is not there. Port 1 and not a free one: nobody else can be given it meanwhile.
    #[must_use]
    pub fn down() -> String {
        "http://127.0.0.1:1".to_owned()
    }

    /// The server's base address, without `/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.ended.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        std::thread::spawn(move || serve(stream, &shared));
    }
}

/// Serves one connection. A client that goes away ends it; that is no fault of the server.
fn serve(mut stream: TcpStream, shared: &Shared) {
    if stream.set_read_timeout(Some(LOOK)).is_err() {
        return;
    }
    let Some(request) = read_request(&mut stream, shared) else { return };
    let number = {
        let mut requests = shared.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(request.clone());
        requests.len() - 1
    };
    let reply = (shared.script)(number, &request);
    if let Some(delay) = reply.delay
        && !still_there(&mut stream, shared, Some(Instant::now() + delay))
    {
        return;
    }
    match reply.act {
        Act::Answer { status, headers, body } => {
            drop(stream.write_all(&Reply::bytes(status, &headers, &body)));
        }
        Act::Silence => {
            still_there(&mut stream, shared, None);
        }
        Act::Stall => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{";
            drop(stream.write_all(head.as_bytes()));
            still_there(&mut stream, shared, None);
        }
        Act::HangUp => {}
        Act::BreakOff => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n";
            drop(stream.write_all(format!("{head}{{\"choices\": [").as_bytes()));
        }
    }
    drop(stream.shutdown(Shutdown::Write));
    // Closing with unread input would reset the connection before the client has read the reply.
    still_there(&mut stream, shared, Some(Instant::now() + LOOK));
}

/// Reads until the client closes, the server ends, or the moment has come; whether the client is still there.
fn still_there(stream: &mut TcpStream, shared: &Shared, until: Option<Instant>) -> bool {
    let mut buffer = [0; 1024];
    loop {
        if until.is_some_and(|until| Instant::now() >= until) {
            return true;
        }
        match read_some(stream, shared, &mut buffer) {
            Some(0) => return false,
            Some(_) => {}
            None if shared.ended.load(Ordering::SeqCst) => return false,
            None => {}
        }
    }
}

/// Some bytes; `Some(0)` at the end of the stream or when it broke, `None` when none came for a while.
fn read_some(stream: &mut TcpStream, shared: &Shared, buffer: &mut [u8]) -> Option<usize> {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    match stream.read(buffer) {
        Ok(count) => Some(count),
        Err(error) if matches!(error.kind(), WouldBlock | TimedOut | Interrupted) => {
            shared.ended.load(Ordering::SeqCst).then_some(0)
        }
        Err(_) => Some(0),
    }
}

fn read_request(stream: &mut TcpStream, shared: &Shared) -> Option<Request> {
    let mut input = Vec::new();
    let mut buffer = [0; 16 * 1024];
    let mut whole = None;
    while whole.is_none_or(|length| input.len() < length) && input.len() < MOST_BYTES {
        match read_some(stream, shared, &mut buffer) {
            Some(0) => return None,
            Some(count) => input.extend_from_slice(buffer.get(..count)?),
            None => continue,
        }
        whole = whole.or_else(|| length(&input));
    }
    parse(&input)
}

/// The length of the whole request, once its head is there.
fn length(input: &[u8]) -> Option<usize> {
    let head = head(input)?;
    let request = parse(head)?;
    let body = request.header("content-length").and_then(|value| value.parse::<usize>().ok()).unwrap_or(0);
    Some(head.len() + body)
}

/// The head with the empty line behind it.
fn head(input: &[u8]) -> Option<&[u8]> {
    let end = input.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    input.get(..end + 4)
}

fn parse(input: &[u8]) -> Option<Request> {
    let head = head(input)?;
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let body = String::from_utf8_lossy(input.get(head.len()..)?).into_owned();
    Some(Request { path, headers, body })
}
