//! The arithmetic of the chain: what is hashed, and with which key it is sealed. No input, no output.

use hmac::{Hmac, KeyInit, Mac};
use selfheal_core::ports::Entry;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::files::{hex, sha256};

/// What stands for "nothing before it".
pub(super) const NONE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A key of the chain.
pub(super) type Key = [u8; 32];

/// The place of a record in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Its number, from 1.
    pub(super) seq: u64,
    /// The hash of the record before it.
    pub(super) prev: String,
}

/// What is computed for a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) seq: u64,
    pub(super) prev: String,
    pub(super) body_hash: String,
    pub(super) hash: String,
    pub(super) mac: String,
}

impl Record {
    /// Computes a record from its place, its content and its key.
    pub(super) fn make(link: &Link, entry: &Entry, key: &Key) -> Self {
        let body_hash = sha256(entry.body.as_str().as_bytes());
        let canonical = canonical(
            link.seq,
            entry.at.0,
            &entry.kind,
            entry.incident.as_ref().map(|incident| incident.as_str()),
            &body_hash,
        );
        let hash = hash(&link.prev, &canonical);
        let mac = mac(key, &hash);
        Self { seq: link.seq, prev: link.prev.clone(), body_hash, hash, mac }
    }
}

/// The form of a record that is hashed. It holds the hash of the body and not the body, so that a body can be dropped
/// one day without breaking the chain.
pub(super) fn canonical(seq: u64, at: i64, kind: &str, incident: Option<&str>, body_hash: &str) -> String {
    json!([seq, at, kind, incident, body_hash]).to_string()
}

/// The hash of a record: `printf '%s%s' PREV CANONICAL | sha256sum`.
pub(super) fn hash(prev: &str, canonical: &str) -> String {
    let mut state = Sha256::new();
    state.update(prev.as_bytes());
    state.update(canonical.as_bytes());
    hex(&state.finalize())
}

/// The seal of a record: HMAC-SHA256 of its hash.
pub(super) fn mac(key: &Key, hash: &str) -> String {
    // HMAC pads a key with zeros to a block, which is what this constructor takes.
    let mut block = [0; 64];
    block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    let mut state = <Hmac<Sha256> as KeyInit>::new(&block.into());
    state.update(hash.as_bytes());
    hex(&state.finalize().into_bytes())
}

/// The key of the next record. The way back is not known, so who finds today's key cannot seal yesterday's records.
pub(super) fn next_key(key: &Key) -> Key {
    let mut state = Sha256::new();
    state.update(b"selfheal ledger key");
    state.update(key);
    state.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_form_is_stable() {
        let text = canonical(7, 1_700_000_000_000, "applied", Some("0190"), "ab");
        assert_eq!(text, r#"[7,1700000000000,"applied","0190","ab"]"#);
        assert_eq!(canonical(1, 0, "a\"b", None, "ab"), r#"[1,0,"a\"b",null,"ab"]"#);
    }

    #[test]
    fn a_seal_depends_on_key_and_hash() {
        // RFC 4231, test case 2; its key is shorter, but padded with zeros all the same.
        let mut key: Key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        assert_eq!(
            mac(&key, "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_ne!(mac(&next_key(&key), "x"), mac(&key, "x"));
    }
}
