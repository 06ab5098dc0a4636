//! Words of a shell text, taken apart: literals, expansions, substitutions, patterns.
//!
//! This scanner does not use the grammar: it is small, total (every byte string has parts), and works on the inside of
//! `${x:-…}` and on `[ … ]` alike.

use std::ops::Range;

/// How deep `${a:-${b:-…}}` is followed; anything deeper stays as text.
const MAX_DEPTH: usize = 16;

/// The longest `[…]` or `{…}` that is understood, in characters; keeps hostile text from costing quadratic time.
const MAX_PATTERN: usize = 512;

/// One word as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// As written, quotes included, continuations removed.
    pub text: String,
    /// Where, in bytes of the original text.
    pub span: Range<usize>,
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text that stands for itself, quotes and escapes already taken away.
    Literal {
        /// The text.
        text: String,
        /// Whether it is inside quotes or escaped.
        quoted: bool,
    },
    /// `$x`, `${x}`, `${x:-y}`.
    Variable(Expansion),
    /// `$(…)` or a pair of backquotes.
    Substitution {
        /// The commands inside.
        text: String,
        /// Whether the result is not split into words.
        quoted: bool,
    },
    /// `$((…))`.
    Arithmetic {
        /// The expression inside.
        text: String,
        /// Whether it is inside double quotes.
        quoted: bool,
    },
    /// `*`, `?`, `[…]` outside of quotes.
    Glob {
        /// As written.
        text: String,
    },
    /// `{a,b}` or `{1..9}` outside of quotes, as written.
    Brace {
        /// As written, braces included.
        text: String,
    },
    /// `~` or `~user` at the start of a word.
    Tilde {
        /// The user; empty for one's own home.
        user: String,
    },
    /// `<(…)` or `>(…)`.
    Process {
        /// The commands inside.
        text: String,
    },
}

/// One expansion of a variable or parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The name: `HOME`, `1`, `@`, `?`.
    pub name: String,
    /// What is between the brackets of `${a[…]}`.
    pub index: Option<String>,
    /// `!` in `${!x}` or `#` in `${#x}`.
    pub prefix: Option<char>,
    /// The operator: `:-`, `-`, `:=`, `:?`, `:+`, `#`, `##`, `%`, `%%`, `/`, `//`, `:`, `^`, `^^`, `,`, `,,`, `@`.
    pub operator: Option<String>,
    /// What follows the operator, as written.
    pub operand: String,
    /// Whether it is inside double quotes.
    pub quoted: bool,
}

impl Expansion {
    /// The parts of what follows the operator.
    #[must_use]
    pub fn operand_parts(&self) -> Vec<Part> {
        parts(&self.operand)
    }

    /// Whether it fails or gives a default when the variable is not set: `:-`, `-`, `:=`, `=`, `:?`, `?`, `:+`, `+`.
    #[must_use]
    pub fn handles_unset(&self) -> bool {
        self.operator.as_deref().is_some_and(|op| matches!(op.trim_start_matches(':'), "-" | "=" | "?" | "+"))
    }
}

impl Word {
    /// Takes a word apart; `start` is its offset in the original text.
    #[must_use]
    pub fn new(text: &str, span: Range<usize>) -> Self {
        Self { text: text.to_owned(), span, parts: parts(text) }
    }

    /// Its value when nothing in it depends on the run.
    #[must_use]
    pub fn literal(&self) -> Option<String> {
        literal_of(&self.parts)
    }

    /// Its value when it consists of plain text or quoted text, patterns kept as text: what a command sees when a pattern
    /// matches nothing.
    #[must_use]
    pub fn literal_or_pattern(&self) -> Option<String> {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Literal { text, .. } | Part::Glob { text } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Whether the whole word stands within quotes, so that it is never split or matched.
    #[must_use]
    pub fn quoted(&self) -> bool {
        !self.parts.is_empty()
            && self.parts.iter().all(|part| match part {
                Part::Literal { quoted, .. }
                | Part::Substitution { quoted, .. }
                | Part::Arithmetic { quoted, .. } => *quoted,
                Part::Variable(expansion) => expansion.quoted,
                Part::Glob { .. } | Part::Brace { .. } | Part::Tilde { .. } | Part::Process { .. } => false,
            })
    }

    /// Whether an expansion in it may be split into several words.
    #[must_use]
    pub fn splits(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Variable(expansion) => {
                !expansion.quoted || expansion.name == "@" || expansion.index.as_deref() == Some("@")
            }
            Part::Substitution { quoted, .. } | Part::Arithmetic { quoted, .. } => !quoted,
            _ => false,
        })
    }

    /// Whether it holds a file-name pattern outside of quotes.
    #[must_use]
    pub fn has_glob(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Glob { .. }))
    }

    /// The expansions in it, those inside of defaults not counted.
    pub fn expansions(&self) -> impl Iterator<Item = &Expansion> {
        self.parts.iter().filter_map(|part| match part {
            Part::Variable(expansion) => Some(expansion),
            _ => None,
        })
    }

    /// Whether a variable is expanded in it, also inside of a default.
    #[must_use]
    pub fn uses(&self, name: &str) -> bool {
        uses(&self.parts, name, 0)
    }
}

fn uses(list: &[Part], name: &str, depth: usize) -> bool {
    depth < MAX_DEPTH
        && list.iter().any(|part| match part {
            Part::Variable(e) => e.name == name || uses(&e.operand_parts(), name, depth + 1),
            Part::Substitution { text, .. } | Part::Arithmetic { text, .. } => {
                parts(text).iter().any(|part| matches!(part, Part::Variable(e) if e.name == name))
            }
            _ => false,
        })
}

/// The text of parts that are all literal.
#[must_use]
pub fn literal_of(parts: &[Part]) -> Option<String> {
    parts
        .iter()
        .map(|part| match part {
            Part::Literal { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// Takes a text apart as one word. Blanks outside of quotes are literal text.
#[must_use]
pub fn parts(text: &str) -> Vec<Part> {
    let mut scanner =
        Scanner { text, at: 0, parts: Vec::new(), literal: String::new(), literal_quoted: false };
    scanner.run();
    scanner.parts
}

/// The spans of the words of a text, split at blanks and operators outside of quotes; for the inside of `[ … ]`.
#[must_use]
pub fn split(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find(|c: char| !c.is_whitespace())) {
        let start = at + next;
        let end = word_end(text, start);
        let end = if end == start { start + text.get(start..).map_or(1, first_len) } else { end };
        out.push(start..end);
        at = end;
    }
    out
}

fn first_len(text: &str) -> usize {
    text.chars().next().map_or(1, char::len_utf8)
}

fn word_end(text: &str, start: usize) -> usize {
    let mut at = start;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(c) = rest.chars().next() else { break };
        if c.is_whitespace() || ";".contains(c) {
            break;
        }
        at += match c {
            '\\' => 1 + rest.get(1..).map_or(0, first_len),
            '\'' => rest.get(1..).and_then(|inner| inner.find('\'')).map_or(rest.len(), |len| len + 2),
            '"' => double_quoted_len(rest),
            '$' | '`' | '<' | '>' => group_len(rest).unwrap_or(1),
            c => c.len_utf8(),
        }
        .min(rest.len());
    }
    at
}

/// The length of a `"…"` at the start of a text, both quotes included; all of it when it is open.
fn double_quoted_len(text: &str) -> usize {
    let mut at = 1;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(c) = rest.chars().next() else { break };
        match c {
            '"' => return at + 1,
            '\\' => at += 1 + rest.get(1..).map_or(0, first_len),
            '$' | '`' => at += group_len(rest).unwrap_or(1),
            c => at += c.len_utf8(),
        }
    }
    text.len()
}

/// The length of `$(…)`, `${…}`, `$((…))`, `<(…)`, `` `…` `` at the start of a text; `None` when there is none.
fn group_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    match (bytes.first()?, bytes.get(1)?) {
        (b'`', _) => {
            let mut at = 1;
            while let Some(byte) = bytes.get(at) {
                match byte {
                    b'`' => return Some(at + 1),
                    b'\\' => at += 2,
                    _ => at += 1,
                }
            }
            Some(text.len())
        }
        (b'$' | b'<' | b'>', b'(') => Some(balanced_len(text, b'(', b')')),
        (b'$', b'{') => Some(balanced_len(text, b'{', b'}')),
        _ => None,
    }
}

/// The length up to the bracket that closes the first one, quotes skipped. A `case` pattern's `)` is not understood.
fn balanced_len(text: &str, open: u8, close: u8) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (1, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\'' if open == b'(' => {
                at += bytes
                    .get(at + 1..)
                    .and_then(|rest| rest.iter().position(|b| *b == b'\''))
                    .map_or(0, |len| len + 1);
            }
            b'"' => at += plain_double_len(bytes.get(at..).unwrap_or_default()) - 1,
            b if *b == open => depth += 1,
            b if *b == close => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// The length of a `"…"`, substitutions inside skipped by counting their brackets.
fn plain_double_len(bytes: &[u8]) -> usize {
    let (mut at, mut depth) = (1, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'$' if bytes.get(at + 1) == Some(&b'(') => {
                depth += 1;
                at += 1;
            }
            b')' => depth = depth.saturating_sub(1),
            b'"' if depth == 0 => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    parts: Vec<Part>,
    literal: String,
    literal_quoted: bool,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn push(&mut self, text: &str, quoted: bool) {
        if self.literal_quoted != quoted {
            self.flush();
        }
        self.literal_quoted = quoted;
        self.literal.push_str(text);
    }

    fn flush(&mut self) {
        if !self.literal.is_empty() {
            let text = std::mem::take(&mut self.literal);
            self.parts.push(Part::Literal { text, quoted: self.literal_quoted });
        }
    }

    fn part(&mut self, part: Part) {
        self.flush();
        self.parts.push(part);
    }

    fn run(&mut self) {
        if self.rest().starts_with('~') {
            self.tilde();
        }
        while let Some(c) = self.rest().chars().next() {
            self.outside(c);
        }
        self.flush();
    }

    fn tilde(&mut self) {
        let len = self
            .rest()
            .find(|c: char| !c.is_ascii_alphanumeric() && !"~_-.".contains(c))
            .unwrap_or(self.rest().len());
        let user = self.rest().get(1..len).unwrap_or_default().to_owned();
        self.at += len;
        self.part(Part::Tilde { user });
    }

    fn outside(&mut self, c: char) {
        let rest = self.rest();
        match c {
            '\\' => {
                let len = rest.get(1..).map_or(0, first_len);
                let escaped = rest.get(1..1 + len).unwrap_or_default();
                self.push(escaped, true);
                self.at += 1 + len;
            }
            '\'' => self.single(),
            '"' => self.double(),
            '$' if rest.starts_with("$'") => self.ansi(),
            '$' if rest.starts_with("$\"") => self.at += 1,
            '$' | '`' => self.dollar(false),
            '<' | '>' if rest.get(1..2) == Some("(") => {
                let len = balanced_len(rest, b'(', b')');
                let text = rest.get(2..len.saturating_sub(1)).unwrap_or_default().to_owned();
                self.at += len;
                self.part(Part::Process { text });
            }
            '*' | '?' => {
                self.at += 1;
                self.part(Part::Glob { text: c.to_string() });
            }
            '[' => self.bracket(),
            '{' => self.brace(),
            c => {
                self.at += c.len_utf8();
                self.push(c.encode_utf8(&mut [0; 4]), false);
            }
        }
    }

    fn single(&mut self) {
        let inner = self.rest().get(1..).unwrap_or_default();
        let len = inner.find('\'').unwrap_or(inner.len());
        let text = inner.get(..len).unwrap_or_default();
        self.at = (self.at + len + 2).min(self.text.len());
        self.quoted_text(text);
    }

    /// Also an empty quoted text is a part: `""` is a word.
    fn quoted_text(&mut self, text: &str) {
        if text.is_empty() {
            self.part(Part::Literal { text: String::new(), quoted: true });
        } else {
            self.push(text, true);
        }
    }

    fn double(&mut self) {
        let end = (self.at + double_quoted_len(self.rest())).min(self.text.len());
        self.at += 1;
        let close =
            if end > self.at && self.text.as_bytes().get(end - 1) == Some(&b'"') { end - 1 } else { end };
        if self.at == close {
            self.quoted_text("");
        }
        while self.at < close {
            let rest = self.rest();
            match rest.chars().next() {
                Some('\\') => self.escape_in_double(),
                Some('$' | '`') => self.dollar(true),
                Some(c) => {
                    self.at += c.len_utf8();
                    self.push(c.encode_utf8(&mut [0; 4]), true);
                }
                None => break,
            }
        }
        self.at = end.max(self.at);
    }

    fn escape_in_double(&mut self) {
        let next = self.rest().chars().nth(1);
        match next {
            Some(c @ ('$' | '`' | '"' | '\\')) => {
                self.push(c.encode_utf8(&mut [0; 4]), true);
                self.at += 2;
            }
            _ => {
                self.push("\\", true);
                self.at += 1;
            }
        }
    }

    fn ansi(&mut self) {
        let inner = self.rest().get(2..).unwrap_or_default();
        let (text, len) = ansi_c(inner);
        self.at = (self.at + 2 + len).min(self.text.len());
        self.quoted_text(&text);
    }

    fn bracket(&mut self) {
        let rest = self.rest();
        let window =
            rest.char_indices().nth(MAX_PATTERN).map_or(rest, |(at, _)| rest.get(..at).unwrap_or(rest));
        let close =
            window.get(1..).and_then(|inner| inner.find(']')).filter(|len| *len > 0).map(|len| len + 2);
        match close
            .filter(|len| rest.get(..*len).is_some_and(|text| !text.contains(['/', ' ', '$', '"', '\''])))
        {
            Some(len) => {
                let text = rest.get(..len).unwrap_or_default().to_owned();
                self.at += len;
                self.part(Part::Glob { text });
            }
            None => {
                self.at += 1;
                self.push("[", false);
            }
        }
    }

    fn brace(&mut self) {
        let rest = self.rest();
        let window =
            rest.char_indices().nth(MAX_PATTERN).map_or(rest, |(at, _)| rest.get(..at).unwrap_or(rest));
        let len = balanced_len(window, b'{', b'}').max(1);
        let text = rest.get(..len).unwrap_or_default();
        if text.ends_with('}') && (text.contains(',') || text.contains("..")) && !text.contains([' ', '\n']) {
            let text = text.to_owned();
            self.at += len;
            self.part(Part::Brace { text });
        } else {
            self.at += 1;
            self.push("{", false);
        }
    }

    fn dollar(&mut self, quoted: bool) {
        let rest = self.rest();
        if rest.starts_with('`') {
            let len = group_len(rest).unwrap_or(rest.len());
            let text = rest.get(1..len.saturating_sub(1).max(1)).unwrap_or_default().replace("\\`", "`");
            self.at += len;
            self.part(Part::Substitution { text, quoted });
        } else if rest.starts_with("$((")
            && rest.get(..balanced_len(rest, b'(', b')')).is_some_and(|t| t.ends_with("))"))
        {
            let len = balanced_len(rest, b'(', b')');
            let text = rest.get(3..len.saturating_sub(2).max(3)).unwrap_or_default().to_owned();
            self.at += len;
            self.part(Part::Arithmetic { text, quoted });
        } else if rest.starts_with("$(") {
            let len = balanced_len(rest, b'(', b')');
            let text = rest.get(2..len.saturating_sub(1).max(2)).unwrap_or_default().to_owned();
            self.at += len;
            self.part(Part::Substitution { text, quoted });
        } else if rest.starts_with("${") {
            let len = balanced_len(rest, b'{', b'}');
            let inner = rest.get(2..len.saturating_sub(1).max(2)).unwrap_or_default();
            self.at += len;
            let expansion = braced(inner, quoted);
            self.part(Part::Variable(expansion));
        } else {
            self.plain_variable(quoted);
        }
    }

    fn plain_variable(&mut self, quoted: bool) {
        let after = self.rest().get(1..).unwrap_or_default();
        let len = name_len(after);
        if len == 0 {
            self.at += 1;
            return self.push("$", quoted);
        }
        let name = after.get(..len).unwrap_or_default().to_owned();
        self.at += 1 + len;
        let (index, prefix, operator, operand) = (None, None, None, String::new());
        self.part(Part::Variable(Expansion { name, index, prefix, operator, operand, quoted }));
    }
}

/// The length of a parameter name at the start of a text: an identifier, one digit, or a special character.
fn name_len(text: &str) -> usize {
    match text.chars().next() {
        Some(c) if c.is_ascii_alphabetic() || c == '_' => {
            text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
        }
        Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => 1,
        _ => 0,
    }
}

const OPERATORS: &[&str] = &[
    ":-", ":=", ":?", ":+", "##", "%%", "//", "/#", "/%", "^^", ",,", "-", "=", "?", "+", "#", "%", "/", ":",
    "^", ",", "@",
];

fn braced(inner: &str, quoted: bool) -> Expansion {
    let prefix = inner.chars().next().filter(|c| (*c == '!' || *c == '#') && inner.len() > 1);
    let prefix = prefix.filter(|_| inner.get(1..).is_some_and(|rest| name_len(rest) > 0));
    let body = inner.get(prefix.map_or(0, char::len_utf8)..).unwrap_or_default();
    let digits = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
    let len = digits.max(name_len(body));
    let name = body.get(..len).unwrap_or_default().to_owned();
    let mut rest = body.get(len..).unwrap_or_default();
    let mut index = None;
    if let Some(end) = rest.strip_prefix('[').and_then(|inner| inner.find(']')) {
        index = rest.get(1..=end).map(str::to_owned);
        rest = rest.get(end + 2..).unwrap_or_default();
    }
    let operator = OPERATORS.iter().find(|op| rest.starts_with(**op)).map(|op| (*op).to_owned());
    let operand = rest.get(operator.as_ref().map_or(0, String::len)..).unwrap_or_default().to_owned();
    Expansion { name, index, prefix, operator, operand, quoted }
}

/// Reads the inside of `$'…'`: its value and how many bytes it took, the closing quote included.
fn ansi_c(inner: &str) -> (String, usize) {
    let mut out = String::new();
    let mut chars = inner.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => return (out, at + 1),
            '\\' => {
                let Some((_, escape)) = chars.next() else { break };
                out.push(match escape {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'a' => '\u{7}',
                    'b' => '\u{8}',
                    'e' | 'E' => '\u{1b}',
                    'f' => '\u{c}',
                    'v' => '\u{b}',
                    '0'..='7' => number(&mut chars, escape.to_digit(8), 8, 2),
                    'x' => number(&mut chars, None, 16, 2),
                    'u' => number(&mut chars, None, 16, 4),
                    'U' => number(&mut chars, None, 16, 8),
                    other => other,
                });
            }
            c => out.push(c),
        }
    }
    (out, inner.len())
}

fn number(
    chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>,
    first: Option<u32>,
    radix: u32,
    most: usize,
) -> char {
    let mut value = first.unwrap_or(0);
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(radix)) else { break };
        value = value.saturating_mul(radix).saturating_add(digit);
        chars.next();
    }
    char::from_u32(value).unwrap_or('\u{fffd}')
}

/// Decodes the escapes of `$'…'`, `echo -e` and `printf` in a text without quotes.
#[must_use]
pub fn unescape(text: &str) -> String {
    ansi_c(&text.replace('\'', "\\'")).0
}

#[cfg(test)]
mod tests;
