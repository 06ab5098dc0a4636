//! Networks: name resolution, connections, TLS, and the status codes of servers, in whatever tool's words.

use selfheal_core::fault::Fault;

use super::{Row, row};
use crate::template::{Holes, unquote};

fn network(how: &str, host: &str) -> Option<Fault> {
    let host = unquote(host.trim_end_matches(['.', ',', ';', ')', ':']));
    let host = (!host.is_empty() && host.len() < 300 && !host.contains(' ')).then(|| host.to_owned());
    Some(Fault::Network { how: how.to_owned(), host })
}

/// A status code, and the wait that the same line asks for.
fn status(holes: &Holes<'_>) -> Option<Fault> {
    let code: u16 = holes.get("code").parse().ok().filter(|code| (400..600).contains(code))?;
    let behind = holes.after.to_ascii_lowercase();
    let asked = behind
        .split_once("retry-after")
        .map(|(_, rest)| rest.trim_start_matches([':', '=', ' ', '"', '\'']))
        .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    Some(Fault::HttpStatus { code, retry_after_s: asked.and_then(|digits| digits.parse().ok()) })
}

/// The table.
pub fn rows() -> Vec<Row> {
    let mut rows = curl_rows();
    rows.extend(http_rows());
    rows.extend(resolve_rows());
    rows.extend(connection_rows());
    rows.extend(tls_rows());
    rows
}

/// curl's own errors that are about how it was called or where it writes, by its exit codes.
fn curl_rows() -> Vec<Row> {
    use selfheal_core::outcome::Class;
    let other =
        |h: &Holes<'_>| Some(Fault::Other { message: super::bounded(&format!("{}{}", h.before, h.after)) });
    // The name comes before the number.
    let unopened = row("^curl: Can't open {path:q}", |h| Some(Fault::NoSuchPath { path: h.path("path") }));
    ["^curl: (1) ", "^curl: (2) ", "^curl: (3) ", "^curl: (23) ", "^curl: (26) "]
        .into_iter()
        .map(|pattern| row(pattern, other).class(Class::Logic))
        .chain([unopened])
        .collect()
}

fn http_rows() -> Vec<Row> {
    vec![
        row("The requested URL returned error: {code:n}", status),
        row("HTTP request sent, awaiting response... {code:n}", status),
        row(" ERROR {code:n}: ", status),
        row("urllib.error.HTTPError: HTTP Error {code:n}", status),
        row("HTTP Error {code:n}", status),
        row("HTTP error {code:n}", status),
        row("HTTP/1.1 {code:n} ", status),
        row("HTTP/1.0 {code:n} ", status),
        row("HTTP/2 {code:n}", status),
        row("HTTP {code:n}", status),
        row("HTTP status {code:n}", status),
        row("HTTP response code: {code:n}", status),
        row("HTTP code {code:n}", status),
        row("status code {code:n}", status),
        row("status code: {code:n}", status),
        row("^{code:n} Server Error: ", status),
        row("^{code:n} Client Error: ", status),
        row("Client Error: Too Many Requests", |_| {
            Some(Fault::HttpStatus { code: 429, retry_after_s: None })
        }),
        row("ThrottlingException", |_| Some(Fault::HttpStatus { code: 429, retry_after_s: None })),
        row("503 Service Unavailable", |_| Some(Fault::HttpStatus { code: 503, retry_after_s: None })),
        row("503 Service Temporarily Unavailable", |_| {
            Some(Fault::HttpStatus { code: 503, retry_after_s: None })
        }),
        row("502 Bad Gateway", |_| Some(Fault::HttpStatus { code: 502, retry_after_s: None })),
        row("504 Gateway Time", |_| Some(Fault::HttpStatus { code: 504, retry_after_s: None })),
        row("429 Too Many Requests", |_| Some(Fault::HttpStatus { code: 429, retry_after_s: None })),
        row("500 Internal Server Error", |_| Some(Fault::HttpStatus { code: 500, retry_after_s: None })),
        row("404 Not Found", |_| Some(Fault::HttpStatus { code: 404, retry_after_s: None })),
        row("403 Forbidden", |_| Some(Fault::HttpStatus { code: 403, retry_after_s: None })),
        row("401 Unauthorized", |_| Some(Fault::HttpStatus { code: 401, retry_after_s: None })),
    ]
}

fn resolve_rows() -> Vec<Row> {
    vec![
        row("Could not resolve host: {host:w}", |h| network("resolve", h.get("host"))),
        row("Could not resolve hostname {host:w}: ", |h| network("resolve", h.get("host"))),
        row("Could not resolve proxy: {host:w}", |h| network("resolve", h.get("host"))),
        row("unable to resolve host address {host:q}", |h| network("resolve", h.get("host"))),
        row("Temporary failure resolving {host:q}", |h| network("resolve", h.get("host"))),
        row("could not translate host name {host:q} to address", |h| network("resolve", h.get("host"))),
        row("Unknown MySQL server host {host:q}", |h| network("resolve", h.get("host"))),
        row("dial tcp: lookup {host:w}", |h| network("resolve", h.get("host"))),
        row("getaddrinfo EAI_AGAIN {host:w}", |h| network("resolve", h.get("host"))),
        row("getaddrinfo ENOTFOUND {host:w}", |h| network("resolve", h.get("host"))),
        row("ping: {host:w}: Name or service not known", |h| network("resolve", h.get("host"))),
        row("Failed to resolve {host:q}", |h| network("resolve", h.get("host"))),
        row("Temporary failure in name resolution", |_| network("resolve", "")),
        row("^curl: (37) Couldn't open file {path:w}", |h| Some(Fault::NoSuchPath { path: h.path("path") })),
        row("Resolving {host:w} ({other:w})... failed", |h| network("resolve", h.get("host"))),
        row("Could not resolve", |_| network("resolve", "")),
        row("Name or service not known", |_| network("resolve", "")),
        row("nodename nor servname provided", |_| network("resolve", "")),
        row("java.net.UnknownHostException: {host:w}", |h| network("resolve", h.get("host"))),
    ]
}

fn connection_rows() -> Vec<Row> {
    vec![
        row("connect to host {host:w} port {port:n}: Connection refused", |h| {
            network("refused", h.get("host"))
        }),
        row("connect to host {host:w} port {port:n}: Connection timed out", |h| {
            network("timeout", h.get("host"))
        }),
        row("connect to host {host:w} port {port:n}: No route to host", |h| {
            network("unreachable", h.get("host"))
        }),
        row("Failed to connect to {host:w} port {port:n}", connect),
        row("connection to server at {host:q}", connect),
        row("connect ECONNREFUSED {host:w}", |h| network("refused", h.get("host"))),
        row("connect ETIMEDOUT {host:w}", |h| network("timeout", h.get("host"))),
        row("read ECONNRESET", |_| network("reset", "")),
        row("socket hang up", |_| network("reset", "")),
        row("dial tcp {host:w}: connect: connection refused", |h| network("refused", h.get("host"))),
        row("dial tcp {host:w}: i/o timeout", |h| network("timeout", h.get("host"))),
        row("context deadline exceeded", |_| network("timeout", "")),
        row("Connection refused", |_| network("refused", "")),
        row("connection refused", |_| network("refused", "")),
        row("Connexion refusée", |_| network("refused", "")),
        row("Verbindungsaufbau abgelehnt", |_| network("refused", "")),
        row("拒绝连接", |_| network("refused", "")),
        row("连接被拒绝", |_| network("refused", "")),
        row("Connection reset by peer", |_| network("reset", "")),
        row("connection reset by peer", |_| network("reset", "")),
        row("Connection reset by {host:w} port", |h| network("reset", h.get("host"))),
        row("Connection closed by remote host", |_| network("reset", "")),
        row("Connection closed by {host:w}", |h| network("reset", h.get("host"))),
        row("client_loop: send disconnect: Broken pipe", |_| network("reset", "")),
        row("Lost connection to MySQL server", |_| network("reset", "")),
        row("server closed the connection unexpectedly", |_| network("reset", "")),
        row("Empty reply from server", |_| network("reset", "")),
        row("transfer closed with", |_| network("reset", "")),
        row("Connection timed out", |_| network("timeout", "")),
        row("connection timed out", |_| network("timeout", "")),
        row("Operation timed out after", |_| network("timeout", "")),
        row("Read timed out", |_| network("timeout", "")),
        row("Operation timed out", |_| network("timeout", "")),
        row("Operation too slow", |_| network("timeout", "")),
        row("TLS handshake timeout", |_| network("timeout", "")),
        row("Network is unreachable", |_| network("unreachable", "")),
        row("No route to host", |_| network("unreachable", "")),
        row("Host is down", |_| network("unreachable", "")),
        row("Destination Host Unreachable", |_| network("unreachable", "")),
        row("Can't connect to MySQL server on {host:q}", |h| network("refused", h.get("host"))),
        row("Can't connect to local MySQL server through socket", |_| network("refused", "localhost")),
    ]
}

/// A connection that could not be made, with the reason further on in the line.
fn connect(holes: &Holes<'_>) -> Option<Fault> {
    let reason = holes.after.to_ascii_lowercase();
    let how = if reason.contains("timed out") || reason.contains("timeout") {
        "timeout"
    } else if reason.contains("route") || reason.contains("unreachable") {
        "unreachable"
    } else if reason.contains("fatal:") || reason.contains("password") {
        return None;
    } else {
        "refused"
    };
    network(how, holes.get("host"))
}

fn tls_rows() -> Vec<Row> {
    vec![
        row("SSL certificate problem: ", |_| network("tls", "")),
        row("certificate verify failed", |_| network("tls", "")),
        row("CERTIFICATE_VERIFY_FAILED", |_| network("tls", "")),
        row("x509: certificate ", |_| network("tls", "")),
        row("tls: failed to verify certificate", |_| network("tls", "")),
        row("cannot verify {host:w} certificate", |h| network("tls", h.get("host").trim_end_matches("'s"))),
        row("server certificate verification failed", |_| network("tls", "")),
        row("self-signed certificate", |_| network("tls", "")),
        row("self signed certificate", |_| network("tls", "")),
        row("certificate has expired", |_| network("tls", "")),
    ]
}
