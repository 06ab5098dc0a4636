//! What failures have in common when they are the same failure.

use selfheal_core::fault::Fault;
use selfheal_core::ids::Signature;
use selfheal_core::outcome::Class;

/// Fields of a fault that differ from run to run.
const CHANGING: [&str; 3] = ["pid", "retry_after_s", "value"];
/// The longest signature, in characters.
const LONGEST: usize = 240;

/// The signature of a failure: its class, the kind of its first fault and that fault's words, numbers masked.
#[must_use]
pub fn signature(class: Class, fault: &Fault) -> Signature {
    let mut text = class.word().to_owned();
    if let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(fault) {
        text.push('/');
        text.push_str(fields.get("fault").and_then(|kind| kind.as_str()).unwrap_or("other"));
        for (name, value) in
            fields.iter().filter(|(name, _)| *name != "fault" && !CHANGING.contains(&name.as_str()))
        {
            match value {
                serde_json::Value::String(words) if name == "codec" => push(&mut text, name, words),
                serde_json::Value::String(words) => push(&mut text, name, &mask(words)),
                serde_json::Value::Number(number) => push(&mut text, name, &number.to_string()),
                _ => {}
            }
        }
    }
    Signature::new(text.chars().take(LONGEST).collect::<String>())
}

fn push(text: &mut String, name: &str, value: &str) {
    text.push_str(&format!(" {name}={value}"));
}

/// Masks what changes from run to run: numbers, times, addresses, hashes, temporary names. Names that only hold a
/// number, such as `utf8` or `sha256`, stay.
#[must_use]
pub fn mask(text: &str) -> String {
    let text = &mask_temporary(text);
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            out.push_str(&mask_word(&word));
            word.clear();
            out.push(c);
        }
    }
    out.push_str(&mask_word(&word));
    out
}

/// Masks the names below folders for temporary files.
fn mask_temporary(text: &str) -> String {
    let mut pieces = text.split("/tmp/");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece
            .find(|c: char| matches!(c, '/' | '\'' | '"' | ':' | ')') || c.is_whitespace())
            .unwrap_or(piece.len());
        out.push_str("/tmp/#");
        out.push_str(piece.get(end..).unwrap_or_default());
    }
    out
}

fn mask_word(word: &str) -> String {
    let address = word.strip_prefix("0x").filter(|rest| !rest.is_empty());
    if address.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_hexdigit())) {
        return "#".into();
    }
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let hex = word.len() >= 8 && digits > 0 && word.chars().all(|c| c.is_ascii_hexdigit());
    if hex {
        return "#".into();
    }
    let leads = word.chars().next().is_some_and(char::is_alphabetic);
    if digits == 0 || leads && digits <= 3 {
        return word.to_owned();
    }
    let mut out = String::new();
    for c in word.chars() {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fault: &Fault) -> String {
        signature(Class::Logic, fault).as_str().to_owned()
    }

    #[test]
    fn what_changes_from_run_to_run_is_masked() {
        for (text, masked) in [
            ("/tmp/tmp.iv01Fzj4Ld/out", "/tmp/#/out"),
            ("exports/2024-05-02.csv at 12:30:11", "exports/#-#-#.csv at #:#:#"),
            ("10.0.0.17:5432", "#.#.#.#:#"),
            ("object 9fceb02d0ae598e95dc970b74767f19372d61af8", "object #"),
            ("utf8 sha256 python3", "utf8 sha256 python3"),
        ] {
            assert_eq!(mask(text), masked);
        }
    }

    #[test]
    fn the_word_that_tells_failures_apart_is_kept() {
        let missing = |name: &str| of(&Fault::MissingModule { name: name.into() });
        assert_ne!(missing("yaml"), missing("requests"));
        let held = |pid| of(&Fault::LockHeld { path: None, pid: Some(pid) });
        assert_eq!(held(17), held(4711));
        assert_eq!(missing("yaml"), "logic/missing_module name=yaml");
    }
}
