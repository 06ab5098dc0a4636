//! # The output of a command is bytes, not text
//!
//! ## What it finds
//! A Python program treats the output of `subprocess` as text, or gives text to a hash, and gets a `TypeError` about bytes.
//!
//! ## Why it fails
//! Since Python 3 the output of a command is bytes unless an encoding is asked for, files that are opened with `rb` have lines
//! of bytes, and hashes and base64 take bytes only.
//!
//! ## Fix
//! `encoding="utf-8"` for the calls of `subprocess` whose output is used, and for the one file whose lines are used as text;
//! `.encode("utf-8")` for text that is hashed or coded.
//!
//! ## Example
//! ```python
//! lines = subprocess.check_output(["df", "-m"]).split("\n")
//! ```
//! ```python
//! lines = subprocess.check_output(["df", "-m"], encoding="utf-8").split("\n")
//! ```
//!
//! ## Safety
//! Calls that already say how their output is read stay, and so do those whose output is decoded afterwards.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::{Call, Module};

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(SubprocessText, "subprocess_text", Safe, propose);

/// Keyword arguments that say how output is read.
const SAID: &[&str] = &["encoding", "text", "universal_newlines", "errors"];

fn propose(case: &Case) -> Vec<Candidate> {
    let message = case.faults().find_map(|fault| match fault {
        Fault::WrongType { message } => Some(message.to_lowercase()),
        _ => None,
    });
    let Some(message) = message else { return Vec::new() };
    let bytes = message.contains("bytes");
    let hashing = message.contains("before hashing") || message.contains("encoded before");
    if !(bytes || hashing) {
        return Vec::new();
    }
    for (file, module) in python::modules(case) {
        let coded = || codes(&module, case.line_in(&file));
        let mut parts = if hashing { [hashes(&module), coded()].concat() } else { calls(&module) };
        let (mut cause, mut how) = if hashing {
            ("a hash takes bytes, and gets text", "encode the text before it is hashed")
        } else {
            ("the output of the command is bytes, and is used as text", "read the output as UTF-8 text")
        };
        if parts.is_empty() && bytes {
            parts = coded();
            (cause, how) = ("base64 takes and gives bytes", "encode the text before, and decode what comes");
        }
        if parts.is_empty() && bytes {
            parts = opened(&module);
            (cause, how) =
                ("the file is read as bytes, and its lines are used as text", "read it as UTF-8 text");
        }
        let Some((first, _)) = parts.first() else { continue };
        let line = python::line_of(&file.text, first.start);
        let draft = Draft::new("subprocess_text", format!("line {line}: {cause}"), how).rewrite(
            &file,
            splice(&file.text, parts),
            format!("line {line}: {how}"),
        );
        return draft.done().into_iter().collect();
    }
    Vec::new()
}

fn calls(module: &Module) -> Vec<Part> {
    let decoded = |call: &Call| {
        let rest = module.text().get(call.span.end..).unwrap_or_default();
        rest.starts_with(".decode(") || rest.starts_with("[0].decode") || rest.starts_with(".stdout.decode")
    };
    let used = |call: &Call| match call.resolved.as_str() {
        "subprocess.check_output" => true,
        "subprocess.Popen" | "subprocess.run" => {
            call.keyword("capture_output").is_some()
                || call.keyword("stdout").is_some_and(|a| a.text.ends_with("PIPE"))
        }
        _ => false,
    };
    let said = |call: &Call| SAID.iter().any(|name| call.keyword(name).is_some());
    let found = module.calls().into_iter().filter(|call| used(call) && !said(call) && !decoded(call));
    found.filter_map(|call| python::add_argument(module, &call.span, "encoding=\"utf-8\"")).collect()
}

fn hashes(module: &Module) -> Vec<Part> {
    let mut parts = Vec::new();
    for call in module.calls() {
        let hashed = call.resolved.starts_with("hashlib.")
            || call.callee.ends_with(".update")
            || call.resolved == "hmac.new";
        for argument in call.arguments.iter().filter(|_| hashed) {
            let text = &argument.text;
            let bytes = text.starts_with("b'")
                || text.starts_with("b\"")
                || text.contains("encode(")
                || text.contains("read(");
            if bytes {
                continue;
            }
            parts.push((argument.span.clone(), encoded(text)));
        }
    }
    parts
}

/// Text that is given to `base64`, and what comes of it where it is used as text: joined with text or formatted.
fn codes(module: &Module, line: Option<u32>) -> Vec<Part> {
    let mut parts = Vec::new();
    for call in module.calls() {
        let codes =
            ["base64.b64encode", "base64.urlsafe_b64encode", "base64.encodebytes", "base64.b32encode"];
        let Some(argument) = call.arguments.first().filter(|_| codes.contains(&call.resolved.as_str()))
        else {
            continue;
        };
        let text = &argument.text;
        let bytes = text.starts_with("b'")
            || text.starts_with("b\"")
            || ["encode(", "read(", "read_bytes(", "digest()", "packed"]
                .iter()
                .any(|part| text.contains(part));
        let here = line.is_none_or(|line| line == call.line || !bytes);
        if bytes || !here {
            continue;
        }
        let after = module.text().get(call.span.end..).unwrap_or_default();
        parts.push((argument.span.clone(), encoded(text)));
        if !after.starts_with(".decode(") {
            parts.push((call.span.end..call.span.end, ".decode(\"ascii\")".to_owned()));
        }
    }
    parts
}

/// An expression of text as bytes.
fn encoded(text: &str) -> String {
    let simple = text.chars().all(|c| crate::text::is_name(c) || ".()[]'\"".contains(c));
    if simple { format!("{text}.encode(\"utf-8\")") } else { format!("({text}).encode(\"utf-8\")") }
}

/// The only file that the program reads as bytes, when it does nothing with it that needs bytes.
fn opened(module: &Module) -> Vec<Part> {
    let binary = |call: &Call| {
        let mode = call.keyword("mode").or_else(|| call.arguments.get(1));
        mode.is_some_and(|mode| mode.string.as_deref() == Some("rb"))
    };
    let found: Vec<Call> = module
        .calls()
        .into_iter()
        .filter(|call| matches!(call.resolved.as_str(), "open" | "io.open") && binary(call))
        .collect();
    const NEEDS: &[&str] =
        &["decode(", "pickle", "struct", "json.load", "tomllib", "zipfile", "hashlib", ".read(", "wb"];
    let literal = module.nodes("string").into_iter().any(|node| module.text_of(node).starts_with(['b', 'B']));
    let needs = literal || NEEDS.iter().any(|word| module.text().contains(word));
    let [call] = found.as_slice() else { return Vec::new() };
    let mode = call.keyword("mode").or_else(|| call.arguments.get(1));
    let Some(mode) = mode.filter(|_| !needs) else {
        return Vec::new();
    };
    let new = mode.text.replacen("rb", "r", 1);
    vec![(mode.span.clone(), format!("{new}, encoding=\"utf-8\""))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, message: &str) -> TestCase {
        TestCase::new("x.py", text, TestScene::new())
            .fault(Fault::WrongType { message: message.into() })
            .at(2)
    }

    #[test]
    fn asks_for_text() {
        let text = "import subprocess as sp\na = sp.check_output(['x', '--all'])\nb = sp.run(c, stdout=sp.PIPE,\n           check=True).stdout\nd = sp.run(e)\n";
        assert_eq!(
            case(text, "a bytes-like object is required, not 'str'").healed(&SubprocessText),
            "import subprocess as sp\na = sp.check_output(['x', '--all'], encoding=\"utf-8\")\nb = sp.run(c, stdout=sp.PIPE,\n           check=True, encoding=\"utf-8\").stdout\nd = sp.run(e)\n"
        );
    }

    #[test]
    fn encodes_what_is_hashed() {
        let text = "import hashlib\nh = hashlib.sha256(name + 'x')\nh.update(name)\n";
        assert_eq!(
            case(text, "Strings must be encoded before hashing").healed(&SubprocessText),
            "import hashlib\nh = hashlib.sha256((name + 'x').encode(\"utf-8\"))\nh.update(name.encode(\"utf-8\"))\n"
        );
    }

    #[test]
    fn encodes_for_base64_and_decodes_what_comes() {
        let text =
            "import base64\nt = base64.b64encode(user + ':' + key)\nu = base64.b64encode(data.encode())\n";
        assert_eq!(
            case(text, "a bytes-like object is required, not 'str'").healed(&SubprocessText),
            "import base64\nt = base64.b64encode((user + ':' + key).encode(\"utf-8\")).decode(\"ascii\")\nu = base64.b64encode(data.encode())\n"
        );
    }

    #[test]
    fn reads_lines_as_text_where_nothing_needs_bytes() {
        let text = "for line in open('box', 'rb'):\n    if line.startswith('From '):\n        n += 1\n";
        let message = "startswith first arg must be bytes or a tuple of bytes, not str";
        assert_eq!(
            case(text, message).healed(&SubprocessText),
            text.replace("'rb'", "'r', encoding=\"utf-8\"")
        );
        assert!(case(&format!("{text}x = open('y', 'rb')\n"), message).silent(&SubprocessText));
        assert!(case(&text.replace("'From '", "b'From '"), message).silent(&SubprocessText));
    }

    #[test]
    fn leaves_calls_that_say_it_alone() {
        let text = "import subprocess\na = subprocess.check_output(x, text=True)\nb = subprocess.check_output(y).decode()\n";
        assert!(case(text, "a bytes-like object is required").silent(&SubprocessText));
    }
}
