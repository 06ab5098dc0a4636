//! Values that are known to be secret, in every form in which they may be written: as they are, escaped for JSON, for
//! addresses or for the shell, in base64 at any position, in hexadecimal digits; and cut off at an end of the text.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use super::{encoded, random};

/// The shortest value that is looked for wherever it occurs; shorter ones would mask ordinary words.
const SHORTEST: usize = 6;

/// So many values are known at most, and so many characters of one.
const MOST: usize = 1_000;
const LONGEST: usize = 16 * 1024;

/// The shortest form in base64 that can stand for nothing else.
const SHORTEST_CORE: usize = 8;

/// At an end of a text, a part of a value this long counts.
const SHORTEST_PART: usize = 6;

/// The values, and where to begin to look for them.
#[derive(Default)]
pub(super) struct Known {
    values: Vec<String>,
    forms: Vec<Form>,
    /// Forms by their first two bytes.
    starts: BTreeMap<u16, Vec<usize>>,
    /// One bit for each pair of bytes that a form begins with.
    filter: Vec<u64>,
}

struct Form {
    text: String,
    /// Whether it counts only as a word of its own: it consists of letters only.
    whole_word: bool,
}

impl Known {
    /// Takes a value in. Too short and too common ones are left out.
    pub(super) fn add(&mut self, value: &str) {
        let value = value.trim();
        if value.contains('\n') {
            value
                .lines()
                .filter(|line| line.len() >= 16 && !line.starts_with("-----"))
                .for_each(|line| self.add(line));
            return;
        }
        let fits = (SHORTEST..=LONGEST).contains(&value.len()) && self.values.len() < MOST;
        if !fits || random::is_common(value) || self.values.iter().any(|known| known == value) {
            return;
        }
        self.values.push(value.to_owned());
        for text in forms(value) {
            self.add_form(text);
        }
    }

    fn add_form(&mut self, text: String) {
        let Some(pair) = pair_at(text.as_bytes(), 0) else { return };
        if self.filter.is_empty() {
            self.filter = vec![0; 1024];
        }
        if let Some(word) = self.filter.get_mut(usize::from(pair >> 6)) {
            *word |= 1 << (pair & 63);
        }
        self.starts.entry(pair).or_default().push(self.forms.len());
        let whole_word = text.bytes().all(|byte| byte.is_ascii_alphabetic());
        self.forms.push(Form { text, whole_word });
    }

    /// Where the values stand in a text.
    pub(super) fn find(&self, text: &str, out: &mut Vec<Range<usize>>) {
        if self.values.is_empty() {
            return;
        }
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(pair) = pair_at(bytes, at) {
            let may =
                self.filter.get(usize::from(pair >> 6)).is_some_and(|word| word >> (pair & 63) & 1 == 1);
            match may.then(|| self.longest_at(text, at, pair)).flatten() {
                Some(length) => {
                    out.push(at..at + length);
                    at += length;
                }
                None => at += 1,
            }
        }
        self.cut_off(text, out);
    }

    fn longest_at(&self, text: &str, at: usize, pair: u16) -> Option<usize> {
        let bytes = text.as_bytes();
        let word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        self.starts
            .get(&pair)?
            .iter()
            .filter_map(|form| self.forms.get(*form))
            .filter(|form| bytes.get(at..).is_some_and(|rest| rest.starts_with(form.text.as_bytes())))
            .filter(|form| {
                let before = at.checked_sub(1).and_then(|before| bytes.get(before));
                !form.whole_word || !word(before) && !word(bytes.get(at + form.text.len()))
            })
            .map(|form| form.text.len())
            .max()
    }

    /// The beginning of a value at the end of the text, and its end at the beginning: where a long output was cut.
    fn cut_off(&self, text: &str, out: &mut Vec<Range<usize>>) {
        for value in &self.values {
            // A word that a value begins with is no part of it.
            let least = if value.contains(' ') { value.len() / 2 } else { 0 }.max(SHORTEST_PART);
            let parts = || (least..value.len()).rev();
            let begun = parts().find(|length| value.get(..*length).is_some_and(|part| text.ends_with(part)));
            out.extend(begun.map(|length| text.len() - length..text.len()));
            let ended = parts()
                .find(|length| value.get(value.len() - length..).is_some_and(|part| text.starts_with(part)));
            out.extend(ended.map(|length| 0..length));
        }
    }
}

fn pair_at(bytes: &[u8], at: usize) -> Option<u16> {
    match bytes.get(at..at + 2)? {
        [first, second] => Some(u16::from_be_bytes([*first, *second])),
        _ => None,
    }
}

/// All forms of a value, each once.
fn forms(value: &str) -> Vec<String> {
    let json = serde_json::Value::from(value).to_string();
    let json = json.trim_matches('"').to_owned();
    let mut forms = vec![
        value.to_owned(),
        json.replace('/', "\\/"),
        json,
        value.replace('\'', r"'\''"),
        value.replace('\'', r#"'"'"'"#),
        backslashed(value),
        percent(value, false),
        percent(value, true),
        hexadecimal(value),
        hexadecimal(value).to_uppercase(),
    ];
    for core in encoded::cores(value.as_bytes()).into_iter().filter(|core| core.len() >= SHORTEST_CORE) {
        forms.push(core.replace('+', "-").replace('/', "_"));
        forms.push(core);
    }
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// Escaped for the shell as `printf %q` does it.
fn backslashed(value: &str) -> String {
    let plain = |c: char| {
        c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '=' | '%' | '+' | '@' | ',')
    };
    let mut out = String::new();
    for c in value.chars() {
        if !plain(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Escaped for an address; `lower` has small digits.
fn percent(value: &str, lower: bool) -> String {
    let mut out = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = if lower { write!(out, "%{byte:02x}") } else { write!(out, "%{byte:02X}") };
        }
    }
    out
}

fn hexadecimal(value: &str) -> String {
    value.bytes().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
