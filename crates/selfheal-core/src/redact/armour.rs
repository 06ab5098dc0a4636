//! Keys in armour: PEM, OpenSSH, PGP, PuTTY; also cut off at either end.

use std::ops::Range;

/// Finds the insides of private keys.
pub(super) fn find(text: &str, out: &mut Vec<Range<usize>>) {
    if !text.contains("PRIVATE") && !text.contains("Private-Lines:") && !text.contains("-----END ") {
        return;
    }
    armoured(text, out);
    headless(text, out);
    putty(text, out);
}

/// Between `-----BEGIN … PRIVATE KEY …-----` and its end, or the end of the text.
fn armoured(text: &str, out: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find("-----BEGIN ")).map(|found| at + found) {
        let label_start = start + "-----BEGIN ".len();
        let rest = text.get(label_start..).unwrap_or_default();
        let label = rest.split(['-', '\n']).next().unwrap_or_default();
        let body = label_start + label.len() + rest.get(label.len()..).map_or(0, dashes);
        at = body.max(label_start);
        if !label.contains("PRIVATE") {
            continue;
        }
        let end =
            text.get(body..).and_then(|rest| rest.find("-----END ")).map_or(text.len(), |found| body + found);
        if body < end {
            out.push(body..end);
        }
        at = end;
    }
}

fn dashes(rest: &str) -> usize {
    rest.bytes().take_while(|byte| *byte == b'-').count()
}

/// A key whose beginning was cut off: the lines of base64 before its end.
fn headless(text: &str, out: &mut Vec<Range<usize>>) {
    let Some(end) = text.find("-----END ") else { return };
    let label = text.get(end..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let before = text.get(..end).unwrap_or_default();
    if !label.contains("PRIVATE") || before.contains("-----BEGIN ") {
        return;
    }
    let mut start = end;
    for line in before.split_inclusive('\n').rev() {
        let bare = line.trim();
        let is_body = !bare.is_empty()
            && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        if !is_body {
            break;
        }
        start -= line.len();
    }
    if start < end {
        out.push(start..end);
    }
}

/// `Private-Lines: N` and so many lines.
fn putty(text: &str, out: &mut Vec<Range<usize>>) {
    for (start, mark) in text.match_indices("Private-Lines:") {
        let rest = text.get(start + mark.len()..).unwrap_or_default();
        let mut lines = rest.split_inclusive('\n');
        let Some(first) = lines.next() else { continue };
        let Ok(count) = first.trim().parse::<usize>() else { continue };
        let body = start + mark.len() + first.len();
        let length: usize = lines.take(count).map(str::len).sum();
        if length > 0 {
            out.push(body..body + length);
        }
    }
}
