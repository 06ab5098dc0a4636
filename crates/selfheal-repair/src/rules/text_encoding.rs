//! # Text in another encoding than the program reads
//!
//! ## What it finds
//! A Python program stops with a `UnicodeDecodeError` or `UnicodeEncodeError`: a file that it reads is no UTF-8, or the
//! machine's locale knows only ASCII, or a JSON file begins with a byte order mark.
//!
//! ## Why it fails
//! Text has no mark that says how it is encoded. Programs on Windows write cp1252; schedulers start jobs without a locale.
//!
//! ## Fix
//! Where the program says no encoding, it gets UTF-8. Where a file that is read is no UTF-8, the encoding is found out for
//! each file: UTF-8 if it is that, else cp1252.
//!
//! ## Example
//! ```python
//! with open(path, encoding="utf-8") as source:
//! ```
//! ```python
//! with open(path, encoding=encoding_of(path)) as source:
//! ```
//!
//! ## Safety
//! UTF-8 stays UTF-8. The other encoding is used only for files that are no UTF-8, and only when one that the program read
//! was looked at and fits. It changes what is read, so the risk is medium; with the locale alone it is low. Errors are
//! never ignored or replaced.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::{Call, Module};

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::python::{self, Part};
use crate::shell::splice;

rule!(TextEncoding, "text_encoding", Unsafe, propose);

/// What a fault's codec is called when a byte order mark was in the way.
const BYTE_ORDER_MARK: &str = "utf-8-sig";

fn propose(case: &Case) -> Vec<Candidate> {
    let codec = case.faults().find_map(|fault| match fault {
        Fault::Encoding { codec } => Some(codec.to_lowercase()),
        _ => None,
    });
    // configparser shows the mark in the line that it does not understand.
    let marked = std::iter::once(case.report.core_error.as_str())
        .chain(case.faults().filter_map(|fault| match fault {
            Fault::BadValue { message, .. } | Fault::Other { message } => Some(message.as_str()),
            _ => None,
        }))
        .any(|text| text.contains("\\ufeff") || text.contains("contains no section headers"));
    let Some(codec) = codec.or_else(|| marked.then(|| BYTE_ORDER_MARK.to_owned())) else { return Vec::new() };
    let modules = python::modules(case);
    if codec == BYTE_ORDER_MARK {
        return modules
            .iter()
            .find_map(|(file, module)| without_mark(case, file, module))
            .into_iter()
            .collect();
    }
    let texts = |module: &Module| !opens(module).is_empty() || !module.calls_of(".read_text").is_empty();
    let Some((file, module)) =
        modules.into_iter().find(|(_, module)| texts(module) || prints_fault(case, module))
    else {
        return Vec::new();
    };
    if matches!(codec.as_str(), "ascii" | "latin-1" | "charmap") {
        let printed = encodes(case) && prints_fault(case, &module);
        let mut parts = with_utf8(&module, codec == "ascii");
        if printed {
            let at = python::after_imports(&module);
            let mut line = "\nsys.stdout.reconfigure(encoding=\"utf-8\")\n".to_owned();
            match python::import(&module, "sys") {
                Some((span, import)) if span.start == at => line = format!("{import}{line}"),
                Some(import) => parts.push(import),
                None => {}
            }
            parts.push((at..at, line));
        }
        let draft = Draft::new(
            "text_encoding",
            format!("the program leaves the encoding to the locale, which is {codec} where the job runs"),
            "say UTF-8 wherever a text file is opened",
        )
        .rewrite(&file, splice(&file.text, parts), "text files are opened as UTF-8");
        return draft.done().into_iter().collect();
    }
    let Some((name, other)) = offender(case, &module) else { return Vec::new() };
    let (parts, lines) = found_out(case, &module, other);
    let draft = Draft::new(
        "text_encoding",
        format!("{name} is no UTF-8; as {other} it can be read"),
        format!("read what is no UTF-8 as {other}, and all else as UTF-8"),
    )
    .evidence(format!("the bytes of {name} are valid in {other} and not in UTF-8"))
    .meaning()
    .rewrite(
        &file,
        splice(&file.text, parts),
        format!("lines {lines}: the encoding is found out for each file"),
    );
    draft.done().into_iter().collect()
}

/// A file that the program reads and that is no UTF-8, and what it is.
fn offender(case: &Case, module: &Module) -> Option<(String, &'static str)> {
    python::data_files(case, module).into_iter().find_map(|path| {
        let bytes = case.scene.read(&path, crate::case::LARGEST)?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        let plain = !bytes.contains(&0);
        let undefined = bytes.iter().any(|byte| matches!(byte, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d));
        match std::str::from_utf8(&bytes) {
            // Cut off in the middle of a character by our own limit.
            Err(error) if error.error_len().is_some() => {
                let wide = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
                let other = if wide {
                    "utf-16"
                } else if undefined {
                    "latin-1"
                } else {
                    "cp1252"
                };
                (wide || plain).then_some((name, other))
            }
            _ => None,
        }
    })
}

/// Calls that open a text file: `open`, `io.open`, `codecs.open` left out, `read_text` and `write_text`.
fn opens(module: &Module) -> Vec<Call> {
    let text = |call: &Call| {
        let mode =
            call.keyword("mode").or_else(|| call.arguments.get(1)).and_then(|mode| mode.string.clone());
        !mode.is_some_and(|mode| mode.contains('b'))
    };
    let opens = |call: &Call| {
        matches!(call.resolved.as_str(), "open" | "io.open") && !call.arguments.is_empty() && text(call)
    };
    module.calls().into_iter().filter(opens).collect()
}

fn writes(call: &Call) -> bool {
    let mode = call.keyword("mode").or_else(|| call.arguments.get(1)).and_then(|mode| mode.string.clone());
    mode.is_some_and(|mode| mode.contains(['w', 'a', 'x']))
}

/// Whether the failure was in writing text, not in reading it.
fn encodes(case: &Case) -> bool {
    case.report.core_error.contains("can't encode")
}

/// Whether the line that failed prints.
fn prints_fault(case: &Case, module: &Module) -> bool {
    let line = case.report.location.as_ref().map(|place| place.line);
    module.calls_of("print").iter().any(|call| line == Some(call.line))
        && !module.text().contains("reconfigure(")
}

/// Reads a file that begins with a byte order mark with an encoding that takes it off. Files without one are read as before.
fn without_mark(case: &Case, file: &ScriptFile, module: &Module) -> Option<Candidate> {
    let marked = python::data_files(case, module)
        .into_iter()
        .find(|path| case.scene.read(path, 3).is_some_and(|bytes| bytes.starts_with(&[0xef, 0xbb, 0xbf])))?;
    let name = marked.file_name()?.to_string_lossy().into_owned();
    let mut parts: Vec<Part> = Vec::new();
    let reading: Vec<Call> = opens(module).into_iter().filter(|call| !writes(call)).collect();
    let texts = module.calls_of(".read_text");
    let lines = python::failing_lines(case, &file.path);
    let near = |call: &&Call| reading.len() + texts.len() == 1 || reaches(module, call, &lines);
    for call in reading.iter().chain(&texts).filter(near) {
        match call
            .keyword("encoding")
            .or_else(|| call.arguments.first().filter(|_| call.callee.ends_with(".read_text")))
        {
            Some(said) => {
                let utf8 = said.string.as_deref().is_some_and(|codec| {
                    matches!(codec.to_lowercase().replace('_', "-").as_str(), "utf-8" | "utf8")
                });
                parts.extend(utf8.then(|| (said.span.clone(), "\"utf-8-sig\"".to_owned())));
            }
            None => parts.extend(python::add_argument(module, &call.span, "encoding=\"utf-8-sig\"")),
        }
    }
    let line = python::line_of(&file.text, parts.first()?.0.start);
    Draft::new(
        "text_encoding",
        format!("{name} begins with a byte order mark, which became part of its first word"),
        "read it with an encoding that takes the mark off",
    )
    .evidence(format!("the first three bytes of {name} are EF BB BF"))
    .rewrite(
        file,
        splice(&file.text, parts),
        format!("line {line}: a byte order mark is no part of the text"),
    )
    .done()
}

/// Whether a call stands in the same function (or in the same statement at top level) as a line that failed.
fn reaches(module: &Module, call: &Call, lines: &[u32]) -> bool {
    let Some(mut node) = python::node_at(module, &call.span) else { return false };
    while let Some(parent) = node.parent() {
        if parent.kind() == "module" {
            break;
        }
        node = parent;
        if node.kind() == "function_definition" {
            break;
        }
    }
    let (first, last) =
        (python::line_of(module.text(), node.start_byte()), python::line_of(module.text(), node.end_byte()));
    lines.iter().any(|line| first <= *line && *line <= last)
}

fn with_utf8(module: &Module, ascii: bool) -> Vec<Part> {
    // Where ASCII is said in so many words, all of a program's files say it: UTF-8 is ASCII for what was there before.
    let said = module.calls().into_iter().filter(|_| ascii).filter_map(|call| {
        let codec = call.keyword("encoding")?;
        let known = matches!(call.resolved.as_str(), "open" | "io.open")
            || call.callee.ends_with(".read_text")
            || call.callee.ends_with(".write_text");
        let is_ascii = codec.string.as_deref().is_some_and(|codec| codec.eq_ignore_ascii_case("ascii"));
        (known && is_ascii).then(|| (codec.span.clone(), "\"utf-8\"".to_owned()))
    });
    let mut parts: Vec<Part> = said.collect();
    let silent: Vec<Part> = opens(module)
        .iter()
        .filter(|call| call.keyword("encoding").is_none() && call.arguments.len() < 4)
        .filter_map(|call| python::add_argument(module, &call.span, "encoding=\"utf-8\""))
        .collect();
    parts.extend(silent);
    for call in module
        .calls()
        .iter()
        .filter(|call| call.callee.ends_with(".read_text") || call.callee.ends_with(".write_text"))
    {
        let given = call.arguments.len() > usize::from(call.callee.ends_with(".write_text"));
        if call.keyword("encoding").is_none() && !given {
            parts.extend(python::add_argument(module, &call.span, "encoding=\"utf-8\""));
        }
    }
    parts
}

/// Every reading `open` whose file is not known to be UTF-8 asks for the file's encoding.
fn found_out(case: &Case, module: &Module, other: &str) -> (Vec<Part>, String) {
    let mut parts: Vec<Part> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for call in opens(module).iter().filter(|call| !writes(call)) {
        let Some(path) = call.arguments.first() else { continue };
        let simple = path.text.chars().all(|c| crate::text::is_name(c) || "._-/\"'()[], +%".contains(c))
            && path.text.len() < 100;
        let good = path.string.as_ref().is_some_and(|name| is_utf8(case, name));
        if !simple || good {
            continue;
        }
        let new = format!("encoding_of({})", path.text);
        match call.keyword("encoding") {
            Some(encoding) => parts.push((encoding.span.clone(), new)),
            None => parts.extend(python::add_argument(module, &call.span, &format!("encoding={new}"))),
        }
        lines.push(call.line.to_string());
    }
    for call in module.calls_of(".read_text") {
        let Some(object) = call.callee.strip_suffix(".read_text") else { continue };
        let simple = object.chars().all(|c| crate::text::is_name(c) || "._-/\"'()[], ".contains(c));
        let Some(said) = call.keyword("encoding").filter(|_| simple && object.len() < 100) else { continue };
        if !lines.contains(&call.line.to_string()) {
            parts.push((said.span.clone(), format!("encoding_of({object})")));
            lines.push(call.line.to_string());
        }
    }
    if !parts.is_empty() {
        let at = python::after_imports(module);
        let function = format!(
            "\n\ndef encoding_of(path):\n    \"\"\"UTF-8, or {other} for a file that is no UTF-8.\"\"\"\n    \
             with open(path, \"rb\") as source:\n        data = source.read()\n    \
             same = data.decode(\"utf-8\", \"replace\").encode(\"utf-8\") == data\n    \
             return \"utf-8-sig\" if same else \"{other}\"\n"
        );
        parts.push((at..at, function));
    }
    (parts, lines.join(", "))
}

fn is_utf8(case: &Case, name: &str) -> bool {
    let path = case.find(std::path::Path::new(name));
    let bytes = path.and_then(|path| case.scene.read(&path, crate::case::LARGEST));
    bytes.is_some_and(|bytes| std::str::from_utf8(&bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, codec: &str) -> TestCase {
        let scene = TestScene::new()
            .raw("branches/north.csv", b"Jos\xe9;\x80 40\n", 0o644)
            .file("branches/south.csv", "Zoë\n");
        TestCase::new("x.py", text, scene).fault(Fault::Encoding { codec: codec.into() })
    }

    #[test]
    fn finds_the_encoding_out_for_each_file() {
        let text = "import glob\n\nfor path in glob.glob(\"branches/*.csv\"):\n    for line in open(path, encoding=\"utf-8\"):\n        x(line)\nopen('out', 'w', encoding='utf-8').write(x)\n";
        let healed = case(text, "utf-8").healed(&TextEncoding);
        assert!(healed.contains("    for line in open(path, encoding=encoding_of(path)):\n"), "{healed}");
        assert!(
            healed.contains("if same else \"cp1252\"")
                && healed.contains("open('out', 'w', encoding='utf-8')"),
            "{healed}"
        );
        assert!(healed.starts_with("import glob\n\n\ndef encoding_of(path):\n"), "{healed}");
    }

    #[test]
    fn says_utf8_where_the_locale_decided() {
        let text = "a = open('a').read()\nopen('b', 'w').write(a)\nopen('c', 'rb')\n";
        let healed = case(text, "ascii").healed(&TextEncoding);
        assert_eq!(
            healed,
            "a = open('a', encoding=\"utf-8\").read()\nopen('b', 'w', encoding=\"utf-8\").write(a)\nopen('c', 'rb')\n"
        );
        assert!(!case(text, "ascii").ask(&TextEncoding)[0].proposal.changes_meaning);
    }

    #[test]
    fn takes_a_byte_order_mark_off_where_it_is_read() {
        let text = "import json\n\ndef load(name):\n    with open(name, encoding='utf-8') as f:\n        return json.load(f)\n\nx = load('s.json')\nopen('other')\n";
        let scene = || TestScene::new().file("s.json", "\u{feff}{}");
        let case =
            TestCase::new("x.py", text, scene()).fault(Fault::Encoding { codec: "utf-8-sig".into() }).at(5);
        assert_eq!(case.healed(&TextEncoding), text.replace("'utf-8'", "\"utf-8-sig\""));
        let text = "import json, pathlib\nx = json.loads(pathlib.Path('s.json').read_text())\n";
        let case =
            TestCase::new("x.py", text, scene()).fault(Fault::Encoding { codec: "utf-8-sig".into() }).at(2);
        assert!(case.healed(&TextEncoding).contains("read_text(encoding=\"utf-8-sig\")"));
        let none = TestCase::new("x.py", text, TestScene::new().file("s.json", "{}"));
        assert!(none.fault(Fault::Encoding { codec: "utf-8-sig".into() }).at(2).silent(&TextEncoding));
    }

    #[test]
    fn says_utf8_for_ascii_and_for_what_is_printed() {
        let text = "import json\nf = open('a', encoding='ascii')\nprint(f.read())\n";
        let mut failed = case(text, "ascii").at(3);
        failed.report.core_error = "UnicodeEncodeError: 'ascii' codec can't encode character".into();
        let healed = failed.healed(&TextEncoding);
        assert!(healed.contains("open('a', encoding=\"utf-8\")"), "{healed}");
        assert!(healed.contains("import sys\n\nsys.stdout.reconfigure(encoding=\"utf-8\")\n"), "{healed}");
    }

    #[test]
    fn finds_the_encoding_out_for_paths_too() {
        let text = "from pathlib import Path\nfor p in Path('branches').glob('*.csv'):\n    t = p.read_text(encoding='utf-8')\nopen('branches/north.csv')\n";
        assert!(case(text, "utf-8").healed(&TextEncoding).contains("p.read_text(encoding=encoding_of(p))"));
    }

    #[test]
    fn leaves_programs_whose_files_are_utf8_alone() {
        let scene = TestScene::new().file("a.txt", "Zoë");
        let case = TestCase::new("x.py", "open('a.txt', encoding='utf-8')\n", scene)
            .fault(Fault::Encoding { codec: "utf-8".into() });
        assert!(case.silent(&TextEncoding));
    }
}
