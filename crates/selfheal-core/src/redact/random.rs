//! Whether a word looks like a secret by itself: random, or at least like nothing that people write.

use std::ops::Range;

/// Words that stand where a secret would and are none.
const ORDINARY: [&str; 52] = [
    "true",
    "false",
    "null",
    "none",
    "nil",
    "yes",
    "no",
    "on",
    "off",
    "required",
    "optional",
    "string",
    "str",
    "int",
    "bool",
    "bytes",
    "undefined",
    "empty",
    "missing",
    "invalid",
    "expired",
    "wrong",
    "incorrect",
    "unset",
    "file",
    "prompt",
    "ask",
    "env",
    "default",
    "unknown",
    "authentication",
    "expected",
    "unexpected",
    "failed",
    "denied",
    "rejected",
    "accepted",
    "not",
    "is",
    "was",
    "has",
    "must",
    "and",
    "or",
    "the",
    "for",
    "with",
    "found",
    "redacted",
    "hidden",
    "changed",
    "root",
];

/// Passwords that are words of every text: known, but of no use to look for.
const COMMON: [&str; 16] = [
    "secret",
    "password",
    "passwd",
    "changeme",
    "postgres",
    "default",
    "example",
    "letmein",
    "disabled",
    "enabled",
    "username",
    "localhost",
    "required",
    "optional",
    "unknown",
    "private",
];

/// The shortest and the longest word that is judged by its letters alone.
const SHORTEST: usize = 24;
const LONGEST: usize = 160;

/// A line of wrapped data is at least this long.
const DATA_LINE: usize = 56;

/// Beginnings behind which a digest or a public key stands.
const DIGESTS: [&str; 18] = [
    "sha1-", "sha1:", "sha224:", "sha256-", "sha256:", "sha384-", "sha384:", "sha512-", "sha512:", "md5:",
    "md5-", "h1:", "blake2b:", "blake3:", "sig1:", "etag: ", "ssh-rsa ", "base64,",
];

/// Whether a word is one that stands where a secret would and is none.
pub(super) fn is_ordinary(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    ORDINARY.contains(&lower.as_str())
        || lower.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'.' | b'-' | b'_'))
}

/// Whether a value is too common a word to be looked for everywhere.
pub(super) fn is_common(value: &str) -> bool {
    COMMON.contains(&value.to_ascii_lowercase().as_str()) || is_ordinary(value)
}

/// Whether a value found beside its name can be looked for elsewhere without hitting ordinary words.
pub(super) fn is_distinct(value: &str) -> bool {
    let bytes = value.as_bytes();
    let digit = bytes.iter().any(u8::is_ascii_digit);
    let letter = bytes.iter().any(u8::is_ascii_alphabetic);
    let other = bytes.iter().any(|byte| byte.is_ascii_punctuation());
    let mixed = usize::from(digit) + usize::from(letter) + usize::from(other) >= 2;
    bytes.len() >= 8 && mixed && !value.contains(['/', '$', '\n', '[', '(', '<', '{']) && !is_common(value)
}

/// Whether a value beside a name like `token` or `sort_key` is more than a word: long, with letters and digits.
pub(super) fn looks_secret(value: &str) -> bool {
    let bytes = value.as_bytes();
    let count = |test: fn(&u8) -> bool| bytes.iter().filter(|byte| test(byte)).count();
    let (digits, letters) = (count(u8::is_ascii_digit), count(u8::is_ascii_alphabetic));
    let mixed_case = count(u8::is_ascii_uppercase) >= 3 && count(u8::is_ascii_lowercase) >= 3;
    let plain = bytes.iter().all(|byte| byte.is_ascii_graphic());
    let number =
        value.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    plain
        && !number
        && !value.contains("://")
        && !value.starts_with(['/', '.', '~', '$', '<', '{', '[', '('])
        && (bytes.len() >= 8 && digits >= 2 && letters >= 2 || bytes.len() >= 16 && mixed_case && digits > 0)
}

/// Whether a line is nothing but encoded data, as long as such lines are made: what follows is the rest of it.
pub(super) fn is_data(line: &str) -> bool {
    let bare = line.trim();
    bare.len() >= DATA_LINE && bare.bytes().all(|byte| in_word(byte) && !matches!(byte, b'_' | b'-'))
}

/// Words of a line that are too random for anything but a secret.
pub(super) fn find(line: &str, out: &mut Vec<Range<usize>>) {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes.get(at..).unwrap_or_default().iter().take_while(|byte| in_word(**byte)).count();
        if length >= SHORTEST {
            let word = line.get(at..at + length).unwrap_or_default();
            if length <= LONGEST && is_random(word) && !has_context(line, at, length) {
                out.push(at..at + length);
            }
        }
        at += length.max(1);
    }
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

/// Mixed case and digits that change as often as chance has it, and nearly all characters different.
fn is_random(word: &str) -> bool {
    let bytes = word.as_bytes();
    let count = |test: fn(&u8) -> bool| bytes.iter().filter(|byte| test(byte)).count();
    let (digits, upper, lower) =
        (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    if digits < 2 || upper < 3 || lower < 3 || word.starts_with("_Z") || word.starts_with("_R") {
        return false;
    }
    // Parts of a path or name are words; a secret has few separators.
    let separators = count(|byte| matches!(byte, b'/' | b'_' | b'-'));
    if separators * 8 > bytes.len() || word.starts_with('/') {
        return false;
    }
    let changes = bytes.windows(2).filter(|pair| matches!(pair, [a, b] if class(*a) != class(*b))).count();
    changes * 100 >= (bytes.len() - 1) * 42 && entropy(bytes) >= 3.9
}

fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    }
}

/// Shannon entropy in bits a character.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = bytes.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|share| -share * share.log2())
        .sum()
}

/// Whether what stands around says that it is a digest, a public key, or a line of encoded data.
fn has_context(line: &str, at: usize, length: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    let word = line.get(at..at + length).unwrap_or_default();
    let lower = before.get(floor(before, 24)..).unwrap_or_default().to_ascii_lowercase();
    let digest =
        DIGESTS.iter().any(|mark| lower.ends_with(mark) || word.to_ascii_lowercase().starts_with(mark));
    let public =
        word.starts_with("AAAA") || before.ends_with("ssh-ed25519 ") || before.ends_with("nistp256 ");
    let whole_line = length >= DATA_LINE && line.trim().len() == length;
    digest || public || whole_line
}

/// The boundary of a character so many bytes before the end.
fn floor(text: &str, back: usize) -> usize {
    let mut at = text.len().saturating_sub(back);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> bool {
        let mut out = Vec::new();
        find(line, &mut out);
        !out.is_empty()
    }

    #[test]
    fn random_words_are_told_from_names() {
        for line in [
            "token is q7Zp2VxT9mKc4LrB8nWd1Hs6 here",
            "wJalrXUtnFEMIK7MDENGbPxRfiCY3xAmPlE1Kq2z",
            "x='8Kf3mZ1pQx/7LwV+2bTn9RcD4sHj6YgA'",
        ] {
            assert!(found(line), "{line}");
        }
        for line in [
            "commit 9f2c1d0b7a5e4c3d2b1a0f9e8d7c6b5a4f3e2d1c",
            "550e8400-e29b-41d4-a716-446655440000",
            "sha512-3Qx7mZ1pQ8Kf3LwV2bTn9RcD4sHj6YgAwJalrXUtnFEMIK7MDENGbPxRfiCY==",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG9z3Kq7mZ1pQx7LwV2bTn9RcD4sHj6YgA me@here",
            "/usr/lib/x86_64-linux-gnu/libQt5XcbQpa.so.5.15.8",
            "AbstractSingletonProxyFactoryBean2Version3Impl",
            "_ZN4core3fmt9Formatter12pad_integral17h0123456789abcdefE",
            "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAA",
        ] {
            assert!(!found(line), "{line}");
        }
    }
}
