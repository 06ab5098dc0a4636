//! Names of variables, options and keys that announce a secret value.

/// Parts of a name that announce a secret, whatever the value looks like.
const STRONG: [&str; 28] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "apikey",
    "api_key",
    "api-key",
    "access_key",
    "access-key",
    "accesskey",
    "private_key",
    "private-key",
    "privatekey",
    "account_key",
    "accountkey",
    "encryption_key",
    "signing_key",
    "credential",
    "authorization",
    "auth_key",
    "auth-key",
    "authkey",
    "session_key",
    "access_token",
    "auth_token",
    "refresh_token",
    "bearer",
];

/// Whole names that do.
const STRONG_WHOLE: [&str; 6] = ["pass", "pwd", "pw", "passw", "userpass", "accesssig"];

/// Ends of names that do.
const STRONG_ENDS: [&str; 7] = ["_pass", "_pw", "_pwd", "-pass", "-pw", "-pwd", ".pass"];

/// Parts of a name that announce a secret when the value looks like one.
const WEAK: [&str; 9] =
    ["token", "jwt", "signature", "cookie", "sessionid", "session_id", "sessid", "webhook", "nonce"];

/// Ends of names that announce a secret when the value looks like one.
const WEAK_ENDS: [&str; 5] = ["_key", "-key", "key", "sig", "auth"];

/// Names that hold such a part but no secret.
const HARMLESS: [&str; 19] = [
    "max_tokens",
    "tokens",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "prompt_tokens",
    "completion_tokens",
    "token_count",
    "tokenizer",
    "near_token",
    "incident_tokens",
    "day_tokens",
    "authorizations",
    "pass",
    "public_key",
    "renamed_key",
    "optional_key",
    "public-key",
    "publickey",
];

/// Ends of names that hold something about a secret, not the secret: where it lies, what it is called, how long it is.
const ABOUT: [&str; 30] = [
    "_file",
    "-file",
    "_path",
    "-path",
    "_dir",
    "-dir",
    "_name",
    "-name",
    "_type",
    "-type",
    "_url",
    "_uri",
    "_length",
    "_len",
    "_min",
    "_max",
    "_count",
    "_policy",
    "_expiry",
    "_expires",
    "_ttl",
    "_age",
    "_command",
    "_cmd",
    "_prompt",
    "-stdin",
    "_error",
    "_required",
    "_field",
    "_store_dir",
];

/// How sure a name makes that its value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// Whatever it looks like.
    Strong,
    /// When it looks random.
    Weak,
}

/// Whether a name (of a variable, an option, a key) announces a secret value.
#[must_use]
pub fn names_a_secret(name: &str) -> bool {
    match strength(name) {
        Some(Strength::Strong) => true,
        // A key or signature on its own is a key of a table more often than one to a door.
        Some(Strength::Weak) => {
            let lower = name.to_ascii_lowercase();
            ["token", "jwt", "cookie", "_key", "-key"].iter().any(|part| lower.contains(part))
        }
        None => false,
    }
}

/// How sure a name makes that its value is a secret, if at all.
pub(super) fn strength(name: &str) -> Option<Strength> {
    let bare = name.trim_start_matches('-');
    if !may_hold_a_name(bare) || bare.len() > 80 || matches!(bare, "PWD" | "OLDPWD") {
        return None;
    }
    let lower = bare.to_ascii_lowercase();
    let lower = lower.as_str();
    let about = ABOUT.iter().any(|end| lower.ends_with(end));
    if about || HARMLESS.contains(&lower) && lower != "pass" || lower.ends_with("public_key") {
        return None;
    }
    let strong = STRONG.iter().any(|part| lower.contains(part))
        || STRONG_WHOLE.contains(&lower)
        || STRONG_ENDS.iter().any(|end| lower.ends_with(end));
    if strong {
        return Some(Strength::Strong);
    }
    let weak =
        WEAK.iter().any(|part| lower.contains(part)) || WEAK_ENDS.iter().any(|end| lower.ends_with(end));
    weak.then_some(Strength::Weak)
}

/// Whether a line holds a beginning of any such name: cheap, so that most lines are done with it.
pub(super) fn may_hold_a_name(line: &str) -> bool {
    let bytes = line.as_bytes();
    let begins = |at: usize, stem: &[u8]| {
        bytes.get(at..at + stem.len()).is_some_and(|part| part.eq_ignore_ascii_case(stem))
    };
    bytes.iter().enumerate().any(|(at, byte)| match byte | 0x20 {
        b'p' => begins(at, b"pass") || begins(at, b"pw"),
        b's' => begins(at, b"secret") || begins(at, b"sess") || begins(at, b"sig"),
        b't' => begins(at, b"token"),
        b'k' => begins(at, b"key"),
        b'c' => begins(at, b"cred") || begins(at, b"cookie"),
        b'a' => begins(at, b"auth") || begins(at, b"accesssig"),
        b'b' => begins(at, b"bearer") || begins(at, b"basic"),
        b'j' => begins(at, b"jwt"),
        b'w' => begins(at, b"webhook"),
        b'n' => begins(at, b"nonce"),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_names_of_secrets_from_names_about_them() {
        for name in
            ["DB_PASSWORD", "--api-key", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "ssh_key", "GH_TOKEN", "Pwd"]
        {
            assert!(names_a_secret(name) && may_hold_a_name(name), "{name}");
        }
        for name in
            ["PWD", "PASSWORD_FILE", "max_tokens", "public_key", "keyboard", "author", "SECRET_NAME", "key"]
        {
            assert!(!names_a_secret(name), "{name}");
        }
    }
}
