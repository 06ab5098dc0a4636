//! Secrets inside base64: what decodes to a text with a secret in it is one itself.

use std::ops::Range;

/// The shortest run that is decoded, and the longest, in characters.
const SHORTEST: usize = 16;
const LONGEST: usize = 256 * 1024;

/// A line of wrapped base64 is at least this long.
const WRAPPED: usize = 56;

/// Runs of base64 in a text, and the texts that they decode to. Wrapped lines are one run.
pub(super) fn runs(text: &str) -> Vec<(Range<usize>, String)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = run_end(bytes, at);
        if end - at >= SHORTEST && end - at <= LONGEST {
            found.extend(text.get(at..end).and_then(readable).map(|inside| (at..end, inside)));
        }
        at = end.max(at + 1);
    }
    found
}

/// What a run decodes to, when that is text. The word after wrapped lines may belong to something else.
fn readable(run: &str) -> Option<String> {
    decoded(run).or_else(|| decoded(run.rsplit_once('\n')?.0))
}

/// Where the run that begins here ends. A line end inside belongs to it behind a full line.
fn run_end(bytes: &[u8], start: usize) -> usize {
    let mut line = start;
    let mut at = start;
    loop {
        while bytes.get(at).is_some_and(|byte| value(*byte).is_some()) {
            at += 1;
        }
        let next = match bytes.get(at..) {
            Some([b'\n', next, ..]) if value(*next).is_some() => at + 1,
            Some([b'\r', b'\n', next, ..]) if value(*next).is_some() => at + 2,
            _ => break,
        };
        if at - line < WRAPPED {
            break;
        }
        line = next;
        at = next;
    }
    while bytes.get(at) == Some(&b'=') && at > start {
        at += 1;
    }
    at
}

fn value(byte: u8) -> Option<u32> {
    Some(match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

fn decoded_bytes(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut have) = (0_u32, 0);
    for byte in text.bytes().filter(|byte| !matches!(byte, b'=' | b'\n' | b'\r')) {
        bits = (bits << 6) | value(byte)?;
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have & 0xff) as u8);
        }
    }
    Some(out)
}

/// What a run decodes to, when that is text.
pub(super) fn decoded(run: &str) -> Option<String> {
    as_text(decoded_bytes(run)?)
}

/// Bytes as text, when they are readable.
fn as_text(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\r')).then_some(text)
}

/// Base64 as it stands in a longer text: without the characters at both ends that neighbours would change. One form for
/// each of the three positions that a value can have.
pub(super) fn cores(value: &[u8]) -> Vec<String> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let core = |shift: usize| {
        let padded: Vec<u8> = std::iter::repeat_n(0, shift).chain(value.iter().copied()).collect();
        let bits = padded.len() * 8;
        let first = (shift * 8).div_ceil(6);
        let letter = |at: usize| {
            let bit = |n: usize| padded.get(n / 8).map_or(0, |byte| usize::from(byte >> (7 - n % 8) & 1));
            let index = (0..6).fold(0, |index, n| index << 1 | bit(at * 6 + n));
            LETTERS.get(index).map(|byte| char::from(*byte))
        };
        (first..bits / 6).filter_map(letter).collect::<String>()
    };
    (0..3).map(core).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_out_of_runs_also_of_wrapped_ones() {
        assert_eq!(decoded("cGFzc3dvcmQ9aHVudGVyMjI=").as_deref(), Some("password=hunter22"));
        let long = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJz";
        let runs = runs(&format!("x: {long}\n{long}\nend"));
        assert_eq!(runs.len(), 1);
        assert!(runs[0].1.starts_with("ABCDEF") && runs[0].1.matches("pqrs").count() == 2, "{}", runs[0].1);
    }

    #[test]
    fn a_value_is_found_at_every_position() {
        let cores = cores(b"canary-77aa01");
        // base64 of "canary-77aa01", "xcanary-77aa01y" and "xycanary-77aa01z".
        for (text, core) in
            ["Y2FuYXJ5LTc3YWEwMQ==", "eGNhbmFyeS03N2FhMDF5", "eHljYW5hcnktNzdhYTAxeg=="].iter().zip(&cores)
        {
            assert!(text.contains(core.as_str()), "{core} {text}");
        }
    }
}
