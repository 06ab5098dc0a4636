//! Anchors outside of the state folder: the head of the ledger goes to a log that others keep.
//!
//! One datagram a change, never waited for: a syslog or journald of this machine, or one of another that takes UDP. Or the
//! newest head, handed to a program that keeps it: the caller runs it, and `ledger.taken` says which head it took last.

use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use selfheal_core::ports::PortError;

use crate::Store;
use crate::files;
use crate::ledger::seal::{Mark, Seals};
use crate::ledger::{hash_of, last_row};
use crate::trouble::{io, sql};

/// The socket of syslog and of journald.
const LOG: &str = "/dev/log";
/// The head that a program took last, as it got it.
const TAKEN: &str = "ledger.taken";
/// Facility `authpriv`, severity `notice`.
const PRIORITY: u8 = 10 * 8 + 5;

/// Where heads of the ledger are sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The socket of a logging service of this machine.
    Socket(PathBuf),
    /// A logging service of another machine.
    Udp(SocketAddr),
}

impl Anchor {
    /// The anchor of a setting: `syslog`, `journald`, the path of a socket, or `udp:ADDRESS:PORT`. An address is no name,
    /// so that nothing ever waits for a name server.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        match (word, word.strip_prefix("udp:")) {
            ("syslog" | "journald", _) => Some(Self::Socket(PathBuf::from(LOG))),
            (_, Some(address)) => address.parse().ok().map(Self::Udp),
            (path, None) => path.starts_with('/').then(|| Self::Socket(PathBuf::from(path))),
        }
    }

    /// Sends a head.
    pub(super) fn send(&self, chain: &str, seq: u64, hash: &str) -> std::io::Result<()> {
        let line = format!("<{PRIORITY}>{}", head_line(chain, seq, hash));
        match self {
            Self::Socket(path) => {
                let socket = UnixDatagram::unbound()?;
                socket.set_nonblocking(true)?;
                socket.send_to(line.as_bytes(), path).map(|_| ())
            }
            Self::Udp(address) => {
                let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
                let socket = UdpSocket::bind(any)?;
                socket.set_nonblocking(true)?;
                socket.send_to(line.as_bytes(), address).map(|_| ())
            }
        }
    }
}

/// What stands in a log for a head.
fn head_line(chain: &str, seq: u64, hash: &str) -> String {
    format!("selfheal[{}]: {}", std::process::id(), head_words(chain, seq, hash))
}

fn head_words(chain: &str, seq: u64, hash: &str) -> String {
    format!("ledger {chain} {seq} {hash}")
}

/// What a comparison with a log of heads showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Heads of this ledger that agree with it.
    pub agree: u64,
    /// The first number whose record is not the one that was sent, or is gone.
    pub differs: Option<u64>,
    /// Heads of other ledgers.
    pub others: u64,
}

impl Store {
    /// The store with anchors outside.
    #[must_use]
    pub fn with_anchors(mut self, anchors: Vec<Anchor>) -> Self {
        self.anchors = anchors;
        self
    }

    /// Sends the present head to the anchors outside, and tells what was in the way.
    ///
    /// # Errors
    /// When the ledger cannot be read, or an anchor takes nothing.
    pub fn send_head(&self) -> Result<(), PortError> {
        let Some((chain, head)) = self.head()? else { return Ok(()) };
        self.anchors.iter().try_for_each(|anchor| {
            let failed = |error| io(format!("send the ledger's head to {anchor:?}"), error);
            anchor.send(&chain, head.seq, &head.word).map_err(failed)
        })
    }

    fn head(&self) -> Result<Option<(String, Mark)>, PortError> {
        let db = self.db();
        let _lock = self.lock()?;
        let chain = Seals::read(&self.root)?.chain();
        let last = last_row(&db).map_err(|error| sql("read the ledger", error))?;
        Ok(chain.zip(last))
    }

    /// The present head on one line, in the form that [`compare_heads`](Self::compare_heads) reads; none where the program
    /// that keeps heads took this one already.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn head_to_give(&self) -> Result<Option<String>, PortError> {
        let Some((chain, head)) = self.head()? else { return Ok(None) };
        let words = head_words(&chain, head.seq, &head.word);
        let taken = fs::read_to_string(self.root.join(TAKEN)).unwrap_or_default();
        Ok((taken.trim_end() != words).then(|| format!("selfheal: {words}\n")))
    }

    /// Notes that a head was taken: a line of [`head_to_give`](Self::head_to_give).
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note_head_given(&self, line: &str) -> Result<(), PortError> {
        let words = line.strip_prefix("selfheal: ").unwrap_or(line);
        let path = self.root.join(TAKEN);
        files::replace(&path, words.as_bytes(), false)
            .map_err(|error| io(format!("write {}", path.display()), error))
    }

    /// Compares the ledger with the lines of a log that heads were sent to.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn compare_heads<'a>(&self, lines: impl Iterator<Item = &'a str>) -> Result<Compared, PortError> {
        let ours = Seals::read(&self.root)?.chain();
        let db = self.db();
        let mut compared = Compared::default();
        for (chain, seq, hash) in lines.filter_map(head_in) {
            if Some(chain) != ours.as_deref() {
                compared.others += 1;
                continue;
            }
            let found = hash_of(&db, seq).map_err(|error| sql("read the ledger", error))?;
            if found.as_deref() == Some(hash) {
                compared.agree += 1;
            } else {
                compared.differs = Some(compared.differs.map_or(seq, |first| first.min(seq)));
            }
        }
        Ok(compared)
    }
}

/// The head that a line of a log tells of: whatever stands before it was put there by the logging service.
fn head_in(line: &str) -> Option<(&str, u64, &str)> {
    let (_, said) = line.split_once("selfheal")?;
    let (_, said) = said.split_once(": ledger ")?;
    let mut words = said.split_ascii_whitespace();
    let (chain, seq, hash) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
    (chain.len() == 16 && hash.len() == 64).then_some((chain, seq, hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_names_a_socket_or_an_address() {
        assert_eq!(Anchor::from_word("journald"), Some(Anchor::Socket("/dev/log".into())));
        assert_eq!(Anchor::from_word("/run/x"), Some(Anchor::Socket("/run/x".into())));
        assert_eq!(Anchor::from_word("udp:10.0.0.1:514"), Some(Anchor::Udp(([10, 0, 0, 1], 514).into())));
        for wrong in ["", "x", "udp:", "udp:loghost:514", "tcp:10.0.0.1:514"] {
            assert_eq!(Anchor::from_word(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_head_is_found_behind_what_a_log_puts_before_it() {
        let (chain, hash) = ("0123456789abcdef", "ab".repeat(32));
        let line = format!("Nov 30 18:00:01 host {}", head_line(chain, 9, &hash));
        assert_eq!(head_in(&line), Some((chain, 9, hash.as_str())));
        assert_eq!(head_in("Nov 30 host cron[1]: ledger 0123456789abcdef 9 x"), None);
    }
}
