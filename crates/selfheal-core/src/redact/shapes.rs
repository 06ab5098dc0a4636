//! The shapes that secrets have: names that announce one, tokens that begin like one, keys in armour, passwords in
//! addresses. The prefixes are those that the issuers document.

use super::MASK;

/// Parts of a name that announce a secret value.
const SECRET_NAMES: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "access_key",
    "private_key",
    "credential",
    "authorization",
    "auth_key",
    "session_key",
];

/// Names that hold such a part but no secret.
const HARMLESS_NAMES: [&str; 8] = [
    "max_tokens",
    "tokens",
    "input_tokens",
    "output_tokens",
    "token_count",
    "tokenizer",
    "near_token",
    "incident_tokens",
];

/// Beginnings of tokens, with the least length of the whole token.
const TOKEN_PREFIXES: [(&str, usize); 22] = [
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 40),
    ("glpat-", 20),
    ("sk-ant-", 24),
    ("sk-proj-", 24),
    ("sk-", 24),
    ("sk_live_", 20),
    ("rk_live_", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("xapp-", 20),
    ("AKIA", 20),
    ("ASIA", 20),
    ("AIza", 35),
    ("npm_", 36),
    ("pypi-", 40),
    ("dop_v1_", 40),
    ("eyJ", 40),
];

/// Whether a name (of a variable, an option, a key) announces a secret value.
#[must_use]
pub fn names_a_secret(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    !HARMLESS_NAMES.contains(&lower.as_str())
        && (SECRET_NAMES.iter().any(|part| lower.contains(part))
            || lower == "pass"
            || lower == "pwd_"
            || lower.ends_with("_pass")
            || lower.ends_with("_pw")
            || lower.ends_with("_pwd")
            || lower.ends_with("_key") && !lower.ends_with("public_key"))
}

/// Masks everything in a text that has the shape of a secret.
pub(super) fn mask(text: &str) -> String {
    let armoured = mask_armour(text);
    let mut out = String::with_capacity(armoured.len());
    for line in armoured.split_inclusive('\n') {
        mask_line(line, &mut out);
    }
    out
}

/// Masks the inside of PEM blocks, also of one that is cut off.
fn mask_armour(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("-----BEGIN ") {
        let (before, block) = rest.split_at(start);
        out.push_str(before);
        let label_end = block.get(11..).and_then(|tail| tail.find("-----")).map_or(block.len(), |at| at + 16);
        let (label, body) = block.split_at(label_end.min(block.len()));
        out.push_str(label);
        if label.contains("PRIVATE KEY") {
            out.push_str(MASK);
            rest = body.find("-----END ").and_then(|at| body.get(at..)).unwrap_or("");
        } else {
            rest = body;
        }
    }
    out.push_str(rest);
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '/' | '=' | '~')
}

/// Masks within one line: `name=value`, `name: value`, bearer tokens, passwords in addresses, tokens by prefix.
fn mask_line(line: &str, out: &mut String) {
    let mut rest = line;
    let mut before = String::new();
    while let Some(c) = rest.chars().next() {
        if !is_word(c) {
            push(out, &mut before, c);
            rest = rest.get(c.len_utf8()..).unwrap_or("");
            continue;
        }
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        if let Some(taken) = masked_assignment(word, tail, out) {
            rest = rest.get(taken..).unwrap_or("");
        } else if let Some((user, taken)) = userinfo(&before, rest) {
            out.push_str(user);
            out.push(':');
            out.push_str(MASK);
            rest = rest.get(taken..).unwrap_or("");
        } else {
            let bearer = before.trim_end().to_ascii_lowercase().ends_with("bearer") && word.len() >= 8;
            out.push_str(if bearer || is_token(word) { MASK } else { word });
            rest = tail;
        }
        before.push_str(word);
        trim_front(&mut before);
    }
}

fn push(out: &mut String, before: &mut String, c: char) {
    out.push(c);
    before.push(c);
    trim_front(before);
}

/// Keeps only as much of what went before as the checks look at.
fn trim_front(before: &mut String) {
    if before.len() > 64 {
        let mut cut = before.len() - 32;
        while !before.is_char_boundary(cut) {
            cut += 1;
        }
        before.drain(..cut);
    }
}

/// `NAME=value`, `--name value`, `"name": "value"`, `name: value`: writes name and mask, and returns how much was read.
fn masked_assignment(word: &str, tail: &str, out: &mut String) -> Option<usize> {
    if let Some((name, value)) = word.split_once('=') {
        let name_only = name.trim_start_matches('-');
        if names_a_secret(name_only) {
            let mut piece = format!("{name}=");
            let taken = if value.is_empty() { quoted(tail, &mut piece)? } else { 0 };
            if taken == 0 {
                piece.push_str(MASK);
            }
            out.push_str(&piece);
            return Some(word.len() + taken);
        }
        return None;
    }
    if !names_a_secret(word.trim_start_matches('-')) {
        return None;
    }
    let after_quote = tail.strip_prefix(['"', '\'']).unwrap_or(tail);
    let gap = after_quote.len() - after_quote.trim_start_matches(' ').len();
    let separator = after_quote.trim_start_matches(' ').starts_with([':', '=']);
    let next_word = word.starts_with("--") && gap > 0;
    if !separator && !next_word {
        return None;
    }
    let skipped = tail.len() - after_quote.len() + gap + usize::from(separator);
    let value = tail.get(skipped..)?;
    let blanks = value.len() - value.trim_start_matches(' ').len();
    let value_start = skipped + blanks;
    let rest = tail.get(value_start..)?;
    // A variable or a substitution is code, not a value; an empty value has nothing to hide.
    if rest.is_empty() || rest.starts_with(['$', '\n', '\r', ',', '}', '(']) || rest.starts_with("\"$") {
        return None;
    }
    out.push_str(word);
    out.push_str(tail.get(..value_start)?);
    if let Some(taken) = quoted(rest, out) {
        return Some(word.len() + value_start + taken);
    }
    let scheme =
        ["Bearer ", "Basic "].iter().find(|scheme| rest.starts_with(**scheme)).map_or(0, |s| s.len());
    let end = rest
        .get(scheme..)?
        .find(|c: char| c.is_whitespace() || c == ',' || c == ';')
        .map_or(rest.len(), |at| at + scheme);
    out.push_str(MASK);
    Some(word.len() + value_start + end)
}

/// A quoted value: writes the quotes and the mask.
fn quoted(rest: &str, out: &mut String) -> Option<usize> {
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = rest.get(1..)?;
    if inner.starts_with(['$', quote]) {
        return None;
    }
    let end = inner.find(quote).unwrap_or_else(|| inner.trim_end_matches(['\r', '\n']).len());
    out.push(quote);
    out.push_str(MASK);
    if inner.get(end..).is_some_and(|tail| tail.starts_with(quote)) {
        out.push(quote);
        return Some(end + 2);
    }
    Some(end + 1)
}

/// `//user:password@` behind a colon: the part up to the user, and how much of `rest` the whole takes up to the `@`.
fn userinfo<'a>(before: &str, rest: &'a str) -> Option<(&'a str, usize)> {
    let inside = rest.strip_prefix("//").filter(|_| before.ends_with(':'))?;
    let end = inside
        .find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '?' | '#'))
        .unwrap_or(inside.len());
    let at = inside.get(..end)?.rfind('@')?;
    let (user, password) = inside.get(..at)?.split_once(':')?;
    let shown = rest.get(..2 + user.len())?;
    (!password.is_empty() && !password.starts_with('$')).then_some((shown, at + 2))
}

fn is_token(word: &str) -> bool {
    TOKEN_PREFIXES.iter().any(|(prefix, least)| word.len() >= *least && word.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_what_is_named_as_secret() {
        for (text, masked) in [
            ("DB_PASSWORD=hunter22 x", "DB_PASSWORD=[secret] x"),
            ("export TOKEN='made up value'", "export TOKEN='[secret]'"),
            ("curl --api-key abc123 u", "curl --api-key [secret] u"),
            (r#"{"secret": "abc", "n": 1}"#, r#"{"secret": "[secret]", "n": 1}"#),
            ("Authorization: Bearer abcdefgh", "Authorization: [secret]"),
            ("psql postgres://bob:pa@ss@db/x", "psql postgres://bob:[secret]@db/x"),
            ("key ghp_0123456789012345678901234567890123", "key [secret]"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n",
                "-----BEGIN RSA PRIVATE KEY-----[secret]-----END RSA PRIVATE KEY-----\n",
            ),
        ] {
            assert_eq!(mask(text), masked, "{text}");
        }
    }

    #[test]
    fn leaves_ordinary_text_alone() {
        for text in [
            "cp: cannot stat 'logs/*.log': No such file or directory\n",
            "PASSWORD=$(cat file)",
            "password: $PW",
            "max_tokens=500",
            "the token near `done'",
            "https://example.org/a:b@c",
            "Grüße, 你好: ok\n",
            "-----BEGIN CERTIFICATE-----\nabc\n",
        ] {
            assert_eq!(mask(text), text, "{text}");
        }
    }
}
