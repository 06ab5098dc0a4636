//! A short look at the network: does a name resolve, is there a way, does a port take connections? Sends nothing but the
//! name to the name servers and the beginning of a connection to the port.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::sync::mpsc;
use std::time::Duration;

use selfheal_core::scene::{PortAnswer, Reach};

/// How long each of the looks may take.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// How many addresses of a host are told.
const ADDRESSES: usize = 4;
/// The port that stands for any where none is named: asking for a way needs one.
const ANY_PORT: u16 = 9;

/// Looks at a host, and at a port of it.
pub fn look(host: &str, port: Option<u16>) -> Reach {
    let addresses = resolve(host, port.unwrap_or(ANY_PORT));
    let first = addresses.first().copied();
    let route = first.map(has_route);
    let answer = first.filter(|_| port.is_some() && route == Some(true)).map(knock);
    Reach {
        addresses: addresses.iter().take(ADDRESSES).map(|address| address.ip().to_string()).collect(),
        route,
        port: answer,
    }
}

/// The addresses of a host. A resolver cannot be told to hurry, so it is asked in a thread that may be left behind.
fn resolve(host: &str, port: u16) -> Vec<SocketAddr> {
    let (send, receive) = mpsc::channel();
    let host = host.to_owned();
    let asked = std::thread::Builder::new().name("resolve".into()).spawn(move || {
        let found: Vec<SocketAddr> =
            (host.as_str(), port).to_socket_addrs().map(Iterator::collect).unwrap_or_default();
        // Nobody waits any longer.
        let _ = send.send(found);
    });
    match asked {
        Ok(_) => receive.recv_timeout(PATIENCE).unwrap_or_default(),
        Err(_) => Vec::new(),
    }
}

/// Whether the kernel knows a way there; a datagram socket is only told its peer, nothing is sent.
fn has_route(address: SocketAddr) -> bool {
    let here = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    UdpSocket::bind(here).and_then(|socket| socket.connect(address)).is_ok()
}

/// Begins a connection and ends it at once.
fn knock(address: SocketAddr) -> PortAnswer {
    match TcpStream::connect_timeout(&address, PATIENCE) {
        Ok(_) => PortAnswer::Open,
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => PortAnswer::Refused,
        Err(error) if error.kind() == ErrorKind::TimedOut || error.kind() == ErrorKind::WouldBlock => {
            PortAnswer::Silent
        }
        Err(_) => PortAnswer::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_port_that_listens_is_told_from_one_that_does_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let open = look("127.0.0.1", Some(port));
        assert_eq!((open.addresses, open.route), (vec!["127.0.0.1".to_owned()], Some(true)));
        assert_eq!(open.port, Some(PortAnswer::Open));
        assert_eq!(look("127.0.0.1", None).port, None);
    }

    #[test]
    fn a_name_that_cannot_be_has_no_address() {
        let none = look("a name with blanks", Some(80));
        assert_eq!(none, Reach::default());
    }
}
