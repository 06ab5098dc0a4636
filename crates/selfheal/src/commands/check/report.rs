//! What was found, for people and for programs.

use std::fmt::Write;
use std::path::Path;

use selfheal_core::admission::Danger;
use serde_json::{Value, json};

use super::{Findings, Found};
use crate::terminal::clean;
use crate::texts::Texts;

/// A level in one word.
pub fn word(level: Danger) -> &'static str {
    match level {
        Danger::Low => "low",
        Danger::Medium => "medium",
        Danger::High => "high",
    }
}

/// One object: `{"danger", "findings"}` for scripts, `{"masked", "risk", "findings"}` for a change. Findings of files
/// that were named say which, and how bad they are; a snippet's have line, rule and why.
pub fn json(found: &Findings) -> Value {
    let named = found.masked.is_none() && found.all.iter().any(|one| one.file != Path::new("-"));
    let rows: Vec<Value> = found.all.iter().map(|one| row(one, named)).collect();
    match found.masked {
        Some(masked) => json!({ "masked": masked, "risk": word(found.worst()), "findings": rows }),
        None => json!({ "danger": word(found.worst()), "findings": rows }),
    }
}

fn row(found: &Found, named: bool) -> Value {
    let mut row = json!({ "line": found.line, "rule": found.rule, "why": found.why });
    if let (true, Some(fields)) = (named, row.as_object_mut()) {
        fields.insert("file".to_owned(), json!(found.file.to_string_lossy()));
        fields.insert("danger".to_owned(), json!(word(found.level)));
    }
    row
}

/// One line a finding, as compilers do it, and one line that sums up.
pub fn text(found: &Findings, texts: &Texts) -> String {
    let mut out = String::new();
    for one in &found.all {
        let place = clean(&format!("{}:{}", one.file.display(), one.line));
        let _ = writeln!(out, "{place}: {}: {} [{}]", word(one.level), clean(&one.why), one.rule);
    }
    let (files, n) = (found.files.to_string(), found.all.len().to_string());
    let sum = match found.masked {
        Some(true) => texts.say("check-masked", &[]),
        Some(false) => texts.say("check-not-masked", &[("risk", word(found.worst()))]),
        None => texts.say("check-danger", &[("danger", word(found.worst())), ("n", &n), ("files", &files)]),
    };
    let _ = writeln!(out, "{sum}");
    if found.unjudged {
        let _ = writeln!(out, "{}", texts.say("check-unjudged", &[]));
    }
    out
}
