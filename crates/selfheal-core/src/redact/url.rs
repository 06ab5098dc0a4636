//! Passwords in addresses: `scheme://user:password@host`, a token in place of the user, and the addresses that are secret
//! themselves (webhooks).

use std::ops::Range;

use super::random;

/// Addresses whose path is the secret: what stands before it.
const HOOKS: [&str; 6] = [
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    ".webhook.office.com/webhookb2/",
    "hooks.zapier.com/hooks/catch/",
];

/// Finds them in a line.
pub(super) fn find(line: &str, out: &mut Vec<Range<usize>>) {
    for (at, mark) in line.match_indices("://") {
        let start = at + mark.len();
        out.extend(userinfo(line, start));
        out.extend(hook(line, start));
    }
}

fn userinfo(line: &str, start: usize) -> Option<Range<usize>> {
    let rest = near(line, start)?;
    let whole = rest
        .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`'))
        .unwrap_or(rest.len());
    let address = rest.get(..whole)?;
    let authority = address.find(['/', '?', '#']).unwrap_or(address.len());
    let at = match address.get(..authority)?.rfind('@') {
        Some(at) => at,
        // An unescaped slash in a password; a port is none.
        None => {
            let (_, behind) = address.split_once(':')?;
            let slash = behind.find(['/', '?', '#'])?;
            let is_port = behind.get(..slash)?.bytes().all(|byte| byte.is_ascii_digit());
            if is_port {
                return None;
            }
            address.find('@')?
        }
    };
    let info = address.get(..at)?;
    let (user, secret) = match info.split_once(':') {
        Some((user, password)) => (user.len() + 1, password),
        None if info.len() >= 16 && random::looks_secret(info) => (0, info),
        None => return None,
    };
    let shown = secret.is_empty() || secret.starts_with(['$', '{', '<', '[']) || random::is_ordinary(secret);
    (!shown).then(|| start + user..start + user + secret.len())
}

/// So far an address is looked at, in bytes.
const FAR: usize = 2_048;

fn near(line: &str, start: usize) -> Option<&str> {
    let mut end = line.len().min(start + FAR);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.get(start..end)
}

fn hook(line: &str, start: usize) -> Option<Range<usize>> {
    let rest = near(line, start)?;
    let end =
        rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>')).unwrap_or(rest.len());
    let address = rest.get(..end)?;
    let (at, mark) = HOOKS.iter().find_map(|mark| Some((address.find(mark)?, mark)))?;
    let secret = at + mark.len();
    (secret < end && !address.get(secret..)?.starts_with('[')).then(|| start + secret..start + end)
}
