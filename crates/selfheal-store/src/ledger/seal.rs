//! The ledger's three files: the sealed first key, the key of the next record, and the anchor.
//!
//! Each is one line, `v1 NUMBER HEX`. They are replaced as a whole.

use std::fs;
use std::io;
use std::path::Path;

use selfheal_core::ports::{PortError, Trouble};

use super::chain::{self, Key, Link};
use crate::files::{self, hex, sha256};
use crate::trouble;

/// The first key; written once.
const SEAL: &str = "ledger.seal";
/// The key of the next record.
const KEY: &str = "ledger.key";
/// The number and hash of the last record.
const HEAD: &str = "ledger.head";

/// All of them.
pub(super) const FILES: [&str; 3] = [SEAL, KEY, HEAD];

/// Keys are not hashed forward further than this: a damaged number must not keep the program busy for ever.
const FARTHEST: u64 = 10_000_000;

/// A number with a hash or key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) seq: u64,
    pub(super) word: String,
}

impl Mark {
    fn line(&self) -> String {
        format!("v1 {} {}\n", self.seq, self.word)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let (version, seq, word) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        let fits = version == "v1"
            && words.next().is_none()
            && seq < u64::from(u32::MAX)
            && word.len() == 64
            && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        fits.then(|| Self { seq, word: word.to_ascii_lowercase() })
    }

    fn key(&self) -> Option<(u64, Key)> {
        let mut key = [0; 32];
        for (byte, at) in key.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(self.word.get(at..at + 2)?, 16).ok()?;
        }
        Some((self.seq, key))
    }
}

/// What the files say. `None`: missing or unreadable.
#[derive(Clone, Debug)]
pub(super) struct Seals {
    pub(super) first: Option<Key>,
    pub(super) key: Option<(u64, Key)>,
    pub(super) anchor: Option<Mark>,
}

impl Seals {
    /// Reads the files.
    pub(super) fn read(root: &Path) -> Result<Self, PortError> {
        Ok(Self {
            first: read_mark(root, SEAL)?.and_then(|mark| mark.key()).map(|(_, key)| key),
            key: read_mark(root, KEY)?.and_then(|mark| mark.key()),
            anchor: read_mark(root, HEAD)?,
        })
    }

    /// Reads the files before a record is appended, and makes those that a new ledger needs. In a ledger that has
    /// records nothing is made anew but keys: a missing anchor stays missing, for it is evidence.
    pub(super) fn ready(root: &Path, new: bool) -> Result<Self, PortError> {
        let mut seals = Self::read(root)?;
        if seals.first.is_none() && seals.key.is_none() {
            let key = fresh_key()?;
            write_mark(root, SEAL, &Mark { seq: 1, word: hex(&key) }, true)?;
            seals.first = Some(key);
        }
        if new && seals.anchor.is_none() && seals.key.is_none() {
            let anchor = Mark { seq: 0, word: chain::NONE.to_owned() };
            write_mark(root, HEAD, &anchor, true)?;
            seals.anchor = Some(anchor);
        }
        Ok(seals)
    }

    /// A name of this chain that gives nothing away: it differs from that of any other, a copy's before it excepted.
    pub(super) fn chain(&self) -> Option<String> {
        let hash = sha256(&[b"selfheal ledger chain".as_slice(), &self.first?].concat());
        hash.get(..16).map(str::to_owned)
    }

    /// Takes the files of a ledger away that is begun anew, and makes those of the next one.
    pub(super) fn anew(root: &Path) -> Result<Self, PortError> {
        for name in [KEY, HEAD, SEAL] {
            match fs::remove_file(root.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(trouble::io(format!("remove {name}"), error));
                }
                _ => {}
            }
        }
        Self::ready(root, true)
    }

    /// Whether the anchor agrees with the rows: it may then be moved.
    pub(super) fn anchored(
        &self,
        hash_of: impl FnOnce(u64) -> rusqlite::Result<Option<String>>,
    ) -> rusqlite::Result<bool> {
        match &self.anchor {
            None => Ok(false),
            Some(mark) if mark.seq == 0 => Ok(true),
            Some(mark) => Ok(hash_of(mark.seq)?.as_deref() == Some(mark.word.as_str())),
        }
    }

    /// The place of the next record: behind everything that rows, anchor and key know of, so that what was cut off
    /// leaves a gap for ever.
    pub(super) fn next(&self, last: Option<Mark>) -> Link {
        let keyed = self.key.map_or(0, |(seq, _)| seq.saturating_sub(1));
        let known = [last, self.anchor.clone()];
        let newest = known.iter().flatten().map(|mark| mark.seq).max().unwrap_or(0).max(keyed);
        let before = known.into_iter().flatten().find(|mark| mark.seq == newest);
        Link { seq: newest + 1, prev: before.map_or_else(|| chain::NONE.to_owned(), |mark| mark.word) }
    }

    /// The key of a record.
    pub(super) fn key_for(&self, seq: u64) -> Result<Key, PortError> {
        let start = self.key.filter(|(at, _)| *at <= seq).or(self.first.map(|key| (1, key)));
        let (at, key) = start.ok_or_else(|| damaged("find the key of the ledger"))?;
        let steps = seq - at.min(seq);
        if steps > FARTHEST {
            return Err(damaged("find the key of the ledger: its number is out of range"));
        }
        Ok((0..steps).fold(key, |key, _| chain::next_key(&key)))
    }

    /// Moves key and anchor behind a record that was committed.
    pub(super) fn advance(&self, root: &Path, head: &Mark, anchored: bool) -> Result<(), PortError> {
        let next = head.seq + 1;
        write_mark(root, KEY, &Mark { seq: next, word: hex(&self.key_for(next)?) }, false)?;
        selfheal_core::failpoint::hit("store.keyed");
        if anchored { write_mark(root, HEAD, head, false) } else { Ok(()) }
    }
}

fn damaged(doing: &str) -> PortError {
    PortError::plain(doing, Trouble::Corrupt)
}

fn fresh_key() -> Result<Key, PortError> {
    let mut key = [0; 32];
    let filled = rustix::rand::getrandom(&mut key, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| trouble::io("make a key for the ledger", error))?;
    if filled == key.len() {
        Ok(key)
    } else {
        Err(PortError::plain("make a key for the ledger", Trouble::Other))
    }
}

fn read_mark(root: &Path, name: &str) -> Result<Option<Mark>, PortError> {
    match fs::read_to_string(root.join(name)) {
        Ok(text) => Ok(Mark::parse(&text)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::InvalidData => Ok(None),
            _ => Err(trouble::io(format!("read {name}"), error)),
        },
    }
}

fn write_mark(root: &Path, name: &str, mark: &Mark, now: bool) -> Result<(), PortError> {
    files::replace(&root.join(name), mark.line().as_bytes(), now)
        .map_err(|error| trouble::io(format!("write {name}"), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written_and_nothing_else() {
        let mark = Mark { seq: 12, word: "ab".repeat(32) };
        assert_eq!(Mark::parse(&mark.line()), Some(mark));
        for wrong in ["", "v1", "v2 1 00", "v1 x 00", "v1 1 zz", "v1 99999999999999999999 00"] {
            assert_eq!(Mark::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_next_record_comes_behind_all_that_is_known() {
        let mark = |seq, word: &str| Mark { seq, word: word.to_owned() };
        let seals = Seals { first: None, key: Some((9, [0; 32])), anchor: Some(mark(8, "eight")) };
        assert_eq!(seals.next(Some(mark(3, "three"))), Link { seq: 9, prev: "eight".to_owned() });
        let ahead = Seals { key: Some((12, [0; 32])), ..seals.clone() };
        assert_eq!(ahead.next(None), Link { seq: 12, prev: chain::NONE.to_owned() });
        assert_eq!(seals.next(Some(mark(10, "ten"))), Link { seq: 11, prev: "ten".to_owned() });
    }
}
