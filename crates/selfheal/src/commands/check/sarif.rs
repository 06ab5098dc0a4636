//! The static analysis results format (SARIF 2.1.0, OASIS), which code hosts and editors show at the line.

use std::collections::BTreeMap;

use selfheal_core::admission::Danger;
use serde_json::{Value, json};

use super::{Findings, Found};

/// The whole document.
pub fn document(found: &Findings) -> Value {
    let rules: BTreeMap<&str, &str> =
        found.all.iter().map(|one| (one.rule.as_str(), one.why.as_str())).collect();
    let rules: Vec<Value> =
        rules.into_iter().map(|(id, why)| json!({ "id": id, "shortDescription": { "text": why } })).collect();
    let results: Vec<Value> = found.all.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "selfheal",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": results,
        }],
    })
}

fn result(found: &Found) -> Value {
    let level = match found.level {
        Danger::Low => "note",
        Danger::Medium => "warning",
        Danger::High => "error",
    };
    json!({
        "ruleId": found.rule,
        "level": level,
        "message": { "text": found.why },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(&found.file.to_string_lossy()) },
            "region": { "startLine": found.line },
        } }],
    })
}

/// A path as the reference of a URI: what is no letter, digit or plain mark is written in hexadecimal.
fn uri(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
