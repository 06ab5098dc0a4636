//! # A byte order mark before JSON that node reads
//!
//! ## What it finds
//! `JSON.parse` stops at the first character of a file that begins with a byte order mark.
//!
//! ## Why it fails
//! The file was saved by a program that puts the mark first. JSON does not allow it, and node keeps it when it reads text.
//!
//! ## Fix
//! The program takes the mark off before it parses.
//!
//! ## Example
//! ```js
//! const list = JSON.parse(fs.readFileSync(name, 'utf8'));
//! ```
//! ```js
//! const list = JSON.parse(fs.readFileSync(name, 'utf8').replace(/^\uFEFF/, ''));
//! ```
//!
//! ## Safety
//! The file stays as it is, and files without a mark are read as before. What is no JSON still fails.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};
use crate::python::{commas, in_brackets};
use crate::shell::splice;

rule!(JsonMark, "json_mark", Safe, propose);

const CALL: &str = "JSON.parse(";

fn propose(case: &Case) -> Vec<Candidate> {
    let marked =
        case.faults().any(|fault| matches!(fault, Fault::Encoding { codec } if codec == "utf-8-sig"));
    let Some(file) = case.failing_file().filter(|file| marked && file.language == Language::Node) else {
        return Vec::new();
    };
    let code = plain(&file.text);
    let calls: Vec<usize> = code.match_indices(CALL).map(|(at, _)| at).collect();
    let line_of = |at: usize| crate::python::line_of(&file.text, at);
    let here = calls.iter().find(|at| case.line_in(&file) == Some(line_of(**at)));
    let only = match calls.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    let Some(at) = here.or(only).copied() else { return Vec::new() };
    let Some(part) = part(&file.text, &code, at + CALL.len() - 1) else { return Vec::new() };
    let line = line_of(at);
    let draft = Draft::new(
        "json_mark",
        format!("line {line}: the text begins with a byte order mark, which JSON does not allow"),
        "take the mark off before the text is parsed",
    )
    .rewrite(&file, splice(&file.text, vec![part]), format!("line {line}: take a byte order mark off"));
    draft.done().into_iter().collect()
}

/// The edit for the first argument of the call whose bracket opens at a byte.
fn part(text: &str, code: &str, open: usize) -> Option<(Range<usize>, String)> {
    let inner = in_brackets(code, open)?;
    let end = commas(code.get(inner.clone())?).first().map_or(inner.end, |comma| inner.start + comma);
    let source = text.get(inner.start..end)?.trim();
    let bytes = source.contains("readFileSync(")
        && !code.get(inner.start..end)?.contains(',')
        && source.ends_with(')');
    let simple = !source.starts_with("await ") && !source.contains(" + ") && !source.contains('?');
    let text = if simple { source.to_owned() } else { format!("({source})") };
    let text = if bytes { format!("{text}.toString()") } else { text };
    (!source.is_empty()).then(|| (inner.start..end, format!("{text}.replace(/^\\uFEFF/, '')")))
}

/// The program with its strings and comments blanked out, byte for byte.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quote: Option<char> = None;
    let mut comment = false;
    let mut escaped = false;
    let mut previous = ' ';
    for c in text.chars() {
        let blank = comment || quote.is_some();
        match (c, quote) {
            ('\n', _) => comment = false,
            (_, Some(_)) if escaped => {}
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"' | '`', None) if !comment => quote = Some(c),
            ('/', None) if previous == '/' => comment = true,
            _ => {}
        }
        escaped = quote.is_some() && c == '\\' && !escaped;
        previous = c;
        if blank && c != '\n' { out.extend(std::iter::repeat_n(' ', c.len_utf8())) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, line: u32) -> TestCase {
        TestCase::new("x.js", text, TestScene::new())
            .fault(Fault::Encoding { codec: "utf-8-sig".into() })
            .at(line)
    }

    #[test]
    fn takes_the_mark_off_before_parsing() {
        assert_eq!(
            case("const r = (n) => JSON.parse(fs.readFileSync(path.join(d, n), 'utf8'));\n", 1)
                .healed(&JsonMark),
            "const r = (n) => JSON.parse(fs.readFileSync(path.join(d, n), 'utf8').replace(/^\\uFEFF/, ''));\n"
        );
        assert_eq!(
            case("a(JSON.parse('{}'));\nb = JSON.parse(await readFile(n, 'utf8'), revive);\n", 2)
                .healed(&JsonMark),
            "a(JSON.parse('{}'));\nb = JSON.parse((await readFile(n, 'utf8')).replace(/^\\uFEFF/, ''), revive);\n"
        );
        assert!(
            case("c = JSON.parse(fs.readFileSync(n));\n", 1)
                .healed(&JsonMark)
                .contains("(n).toString().replace(")
        );
    }

    #[test]
    fn leaves_other_failures_alone() {
        let other = TestCase::new("x.js", "JSON.parse(a);\n", TestScene::new());
        let fault = Fault::BadValue { value: None, message: "unexpected token in JSON".into() };
        assert!(other.fault(fault).at(1).silent(&JsonMark));
        assert!(case("JSON.parse(a);\nJSON.parse(b);\n", 7).silent(&JsonMark));
    }
}
