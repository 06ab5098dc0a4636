//! The workspace itself: which crate may use which, what is banned, what is licensed how, where `unsafe` stands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Crates side by side: each may use only core, and some the syntax trees.
const MAY_USE: [(&str, &[&str]); 9] = [
    ("selfheal-core", &[]),
    ("selfheal-syntax", &["selfheal-core"]),
    ("selfheal-feedback", &["selfheal-core", "selfheal-syntax"]),
    ("selfheal-guard", &["selfheal-core", "selfheal-syntax"]),
    ("selfheal-repair", &["selfheal-core", "selfheal-syntax"]),
    ("selfheal-exec", &["selfheal-core"]),
    ("selfheal-model", &["selfheal-core"]),
    ("selfheal-store", &["selfheal-core"]),
    ("selfheal-notify", &["selfheal-core"]),
];

/// Words of which a licence expression needs at least one alternative.
const LICENCES: [&str; 13] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "0BSD",
    "CC0-1.0",
    "Unlicense",
    "CDLA-Permissive-2.0",
];

/// Crates that must not come in, with the reason.
const BANNED: [(&str, &str); 4] = [
    ("openssl-sys", "one TLS library, in Rust"),
    ("aws-lc-sys", "one provider of cryptography: ring"),
    ("native-tls", "one TLS library, in Rust"),
    ("tokio", "nothing here waits for many things at once"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().unwrap().iter()
}

#[test]
fn crates_use_only_what_they_may() {
    let metadata = metadata();
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.into_iter().collect();
    for package in packages(&metadata) {
        let name = package["name"].as_str().unwrap();
        let Some(allowed) = allowed.get(name) else { continue };
        for dependency in package["dependencies"].as_array().unwrap() {
            let used = dependency["name"].as_str().unwrap();
            let test_only = dependency["kind"] == "dev" && used == "selfheal-testkit";
            assert!(
                !used.starts_with("selfheal") || allowed.contains(&used) || test_only,
                "{name} uses {used}"
            );
        }
    }
}

#[test]
fn the_test_kit_is_used_by_tests_only() {
    for package in packages(&metadata()) {
        for dependency in package["dependencies"].as_array().unwrap() {
            assert!(
                dependency["name"] != "selfheal-testkit" || dependency["kind"] == "dev",
                "{}",
                package["name"]
            );
        }
    }
}

/// What is really compiled. The lock file and the metadata also name what a feature that is off would add.
fn compiled() -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--workspace", "--all-features", "--target", "all", "--edges", "all"])
        .args(["--prefix", "none", "--format", "{p}", "--locked"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn nothing_banned_comes_in_and_all_sources_are_the_registry() {
    let compiled = compiled();
    assert!(compiled.contains("serde") && compiled.contains("lettre"), "{compiled:?}");
    for (banned, reason) in BANNED {
        assert!(!compiled.contains(banned), "{banned} came in: {reason}");
    }
    let metadata = metadata();
    for package in packages(&metadata) {
        let name = package["name"].as_str().unwrap();
        let source = package["source"].as_str().unwrap_or("");
        assert!(source.is_empty() || source.starts_with("registry+"), "{name} comes from {source}");
    }
    let versions: BTreeSet<&str> = packages(&metadata)
        .filter(|package| package["name"] == "libsqlite3-sys" || package["name"] == "ring")
        .map(|package| package["id"].as_str().unwrap())
        .collect();
    assert!(versions.len() <= 2, "{versions:?}");
}

#[test]
fn every_licence_is_one_that_we_accept() {
    for package in packages(&metadata()) {
        let licence = package["license"].as_str().unwrap_or("");
        let accepted = licence.replace('/', " OR ").split(" OR ").any(|choice| {
            choice.split(" AND ").all(|part| LICENCES.contains(&part.trim().trim_matches(['(', ')'])))
        });
        assert!(accepted, "{}: {licence:?}", package["name"]);
    }
}

#[test]
fn unsafe_code_stands_in_one_file() {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let word = concat!("unsafe", " {");
                if text.lines().any(|line| !line.trim_start().starts_with("//") && line.contains(word)) {
                    found.push(path.file_name().unwrap().to_owned());
                }
            }
        }
    }
    assert!(found.iter().all(|name| name == "unix.rs"), "{found:?}");
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    for package in packages(&metadata()).filter(|package| package["source"].is_null()) {
        let manifest = std::fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap();
        assert!(manifest.contains("[lints]\nworkspace = true"), "{}", package["name"]);
    }
}
