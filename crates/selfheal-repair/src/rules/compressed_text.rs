//! # Lines of a compressed file are bytes
//!
//! ## What it finds
//! A Python program opens a compressed file with `gzip.open`, `bz2.open` or `lzma.open` and treats what it reads as text.
//!
//! ## Why it fails
//! `open` reads text where nothing else is said, and these read bytes.
//!
//! ## Fix
//! The file is opened as text (`"rt"`), in UTF-8.
//!
//! ## Example
//! ```python
//! with gzip.open(path) as log:
//! ```
//! ```python
//! with gzip.open(path, "rt", encoding="utf-8") as log:
//! ```
//!
//! ## Safety
//! Only when bytes met text in the failure, and nothing in the program decodes what it reads. A file that is not compressed
//! or not UTF-8 still fails the job.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::{Call, Module};

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(CompressedText, "compressed_text", Safe, propose);

const OPENERS: &[&str] = &["gzip.open", "bz2.open", "lzma.open"];

fn propose(case: &Case) -> Vec<Candidate> {
    let met = case.faults().any(|fault| match fault {
        Fault::WrongType { message } => {
            message.contains("bytes-like object is required, not 'str'")
                || message.contains("string pattern on a bytes-like object")
                || message.contains("argument should be integer or bytes-like object")
                || message.contains("can't concat str to bytes")
                || message.contains("must be str, not bytes")
        }
        _ => false,
    });
    if !met {
        return Vec::new();
    }
    for (file, module) in python::modules(case) {
        if file.text.contains(".decode(") {
            continue;
        }
        let calls: Vec<Call> = OPENERS.iter().flat_map(|name| module.calls_of(name)).collect();
        let parts: Vec<Part> = calls.iter().flat_map(|call| as_text(&module, call)).collect();
        let Some(line) = calls.first().map(|call| call.line).filter(|_| !parts.is_empty()) else { continue };
        let draft = Draft::new(
            "compressed_text",
            format!("line {line}: what is read from the compressed file is bytes, and is treated as text"),
            "open the file as text",
        )
        .evidence(crate::text::shortened(&case.report.core_error, 120))
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: opened as text"));
        return draft.done().into_iter().collect();
    }
    Vec::new()
}

fn as_text(module: &Module, call: &Call) -> Vec<Part> {
    let mode = call.keyword("mode").or_else(|| call.arguments.get(1));
    let encoding = match call.keyword("encoding") {
        Some(_) => "",
        None => ", encoding=\"utf-8\"",
    };
    match mode {
        None => python::add_argument(module, &call.span, &format!("\"rt\"{encoding}"))
            .filter(|_| call.keywords.is_empty())
            .into_iter()
            .collect(),
        Some(mode) if matches!(mode.string.as_deref(), Some("r" | "rb")) => {
            vec![(mode.span.clone(), format!("\"rt\"{encoding}"))]
        }
        Some(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, message: &str) -> TestCase {
        TestCase::new("x.py", text, TestScene::new())
            .fault(Fault::WrongType { message: message.to_owned() })
            .at(3)
    }

    const SPLIT: &str = "a bytes-like object is required, not 'str'";

    #[test]
    fn opens_compressed_files_as_text() {
        assert_eq!(
            case("import gzip\nfor l in gzip.open('a.gz'):\n    l.split(' ')\n", SPLIT)
                .healed(&CompressedText),
            "import gzip\nfor l in gzip.open('a.gz', \"rt\", encoding=\"utf-8\"):\n    l.split(' ')\n"
        );
        let text = "from bz2 import open as bopen\nt = bopen(p, 'rb').read()\nre.findall('x', t)\n";
        assert!(
            case(text, "cannot use a string pattern on a bytes-like object")
                .healed(&CompressedText)
                .contains("bopen(p, \"rt\", encoding=\"utf-8\")")
        );
    }

    #[test]
    fn leaves_what_is_decoded_or_written_alone() {
        assert!(case("import gzip\nx = gzip.open('a').read().decode()\n", SPLIT).silent(&CompressedText));
        assert!(case("import gzip\nx = gzip.open('a', 'wb')\nx.write('a')\n", SPLIT).silent(&CompressedText));
        assert!(case("x = open('a', 'rb').read().split(' ')\n", SPLIT).silent(&CompressedText));
    }
}
