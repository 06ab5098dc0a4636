//! Variables that switch checks off in the programs that read them.

use selfheal_core::admission::{Finding, Weight};

use super::Sides;
use super::words::plain;
use crate::finding::at;

/// Parts of names that ask for leniency when they have a true value.
const LENIENT: &[&str] = &[
    "NO_VERIFY",
    "NO_CHECK",
    "SKIP_",
    "_SKIP",
    "INSECURE",
    "IGNORE_ERR",
    "IGNORE_FAIL",
    "IGNORE_EXIT",
    "ALLOW_FAIL",
    "ALLOW_UNAUTH",
    "ALLOW_EMPTY",
    "CONTINUE_ON",
    "TRUSTED_HOST",
    "DISABLE_CHECK",
    "DISABLE_VERIF",
    "NO_FAIL",
    "BEST_EFFORT",
    "UNSAFE_SSL",
    "NO_STRICT",
];

/// Parts of names that ask for strictness and must not be false.
const STRICT: &[&str] = &[
    "VERIFY",
    "VALIDAT",
    "STRICT",
    "REJECT_UNAUTHORIZED",
    "HOST_KEY_CHECKING",
    "CHECK_CERT",
    "FAIL_ON",
    "FAIL_FAST",
    "HUSKY",
    "ERROR_STOP",
    "HTTPSVERIFY",
    "SSLMODE",
    "ASSERT",
];

/// What new variables switch off.
pub fn compare(sides: &Sides) -> Vec<Finding> {
    let had: Vec<(String, String)> =
        switches(&sides.old).into_iter().map(|(name, value, _)| (name, value)).collect();
    let fresh = switches(&sides.new)
        .into_iter()
        .filter(|(name, value, _)| !had.contains(&(name.clone(), value.clone())));
    fresh
        .filter(|(name, value, _)| switches_off(name, value))
        .map(|(name, _, line)| {
            at("masking/check-off", line, Weight::Refuse, format!("`{name}` switches a check off"))
        })
        .collect()
}

/// Every variable that is given a value: assignments, in front of commands, behind `env` and `export`.
fn switches(side: &super::Side) -> Vec<(String, String, u32)> {
    let assigned = side
        .script
        .assignments()
        .filter_map(|a| Some((a.name.clone(), a.value.as_ref().map(plain)?, a.line)));
    let words = side.script.commands().iter().filter(|c| c.is("env") || c.is("sudo") || c.is("export"));
    let given = words.flat_map(|command| {
        command.arguments().iter().map(plain).filter_map(|word| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_owned(), value.to_owned(), command.lines.0))
        })
    });
    assigned.chain(given).collect()
}

fn switches_off(name: &str, value: &str) -> bool {
    let name = name.to_uppercase();
    let low = value.to_lowercase();
    let off = matches!(
        low.as_str(),
        "0" | "false" | "no" | "off" | "disable" | "allow" | "prefer" | "none" | "never"
    );
    let on = !matches!(low.as_str(), "" | "0" | "false" | "no" | "off");
    let lenient = LENIENT.iter().any(|part| name.contains(part)) || name == "SKIP";
    let strict = STRICT.iter().any(|part| name.contains(part)) && !lenient;
    let warnings = name == "PYTHONWARNINGS" && low.starts_with("ignore");
    let ssh = value.contains("StrictHostKeyChecking=no") || value.contains("sslVerify=false");
    (lenient && on) || (strict && off) || warnings || ssh
}
