//! The scripted server, spoken to by hand.

use std::io::{Read, Write};
use std::net::TcpStream;

use selfheal_testkit::{ModelServer, Reply};
use serde_json::json;

fn post(server: &ModelServer, body: &str) -> String {
    let mut stream = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    let length = body.len();
    write!(stream, "POST /v1/x HTTP/1.1\r\nContent-Length: {length}\r\nX-A: b\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    drop(stream.read_to_string(&mut answer));
    answer
}

#[test]
fn replies_come_in_order_and_requests_are_kept() {
    let server = ModelServer::start([
        Reply::json(&json!({"a": 1})),
        Reply::status(503, "busy").retry_after(7),
        Reply::hang_up(),
        Reply::break_off(),
    ]);
    assert!(post(&server, "{\"n\": 1}").contains(r#""content":"{\"a\":1}""#));
    let busy = post(&server, "two");
    assert!(busy.starts_with("HTTP/1.1 503") && busy.contains("Retry-After: 7\r\n"), "{busy}");
    assert_eq!(post(&server, "three"), "");
    assert!(post(&server, "four").ends_with("{\"choices\": ["));
    assert!(post(&server, "five").starts_with("HTTP/1.1 501"));
    let requests = server.requests();
    assert_eq!(requests.len(), 5);
    assert_eq!(requests[0].json(), json!({"n": 1}));
    assert_eq!((requests[1].body.as_str(), requests[1].header("x-a")), ("two", Some("b")));
    assert_eq!(requests[0].path, "/v1/x");
}

#[test]
fn a_silent_server_can_be_dropped() {
    let server = ModelServer::start([Reply::silence()]);
    let mut stream = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    write!(stream, "POST / HTTP/1.1\r\n\r\n").unwrap();
    drop(server);
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer));
    assert!(answer.is_empty());
}
