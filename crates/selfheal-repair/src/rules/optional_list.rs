//! # A list that some records leave out
//!
//! ## What it finds
//! A Python or node program goes over a list of every record, one record does not have it, others do, and a text beside the job says
//! that it is optional.
//!
//! ## Why it fails
//! Senders leave out lists that are empty. The program expects an empty one.
//!
//! ## Fix
//! A missing list is an empty one: `record.tags ?? []`, `record.get("tags", [])`.
//!
//! ## Example
//! ```js
//! for (const tag of article.tags) {
//! ```
//! ```js
//! for (const tag of article.tags ?? []) {
//! ```
//!
//! ## Safety
//! Only where a text says that the field may be missing, and the data has it as a list elsewhere. A field that is there with another
//! kind of value still fails. It changes what is read, so the risk is medium.

use std::ops::Range;
use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use serde_json::Value;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};
use crate::notes::{notes, remarks};
use crate::python;
use crate::shell::splice;
use crate::tables::mentions;
use crate::text::{self, is_name};

rule!(OptionalList, "optional_list", Unsafe, propose);

/// Files that are looked at, and folders whose files are.
const MOST_FILES: usize = 60;

fn propose(case: &Case) -> Vec<Candidate> {
    in_python(case).or_else(|| in_node(case)).into_iter().collect()
}

fn in_python(case: &Case) -> Option<Candidate> {
    let key = case.faults().find_map(|fault| match fault {
        Fault::KeyMissing { key } => Some(key.clone()),
        _ => None,
    })?;
    python::modules(case).into_iter().find_map(|(file, module)| {
        let lines = python::failing_lines(case, &file.path);
        let loops = module.nodes("for_statement").into_iter().chain(module.nodes("for_in_clause"));
        let over: Vec<Range<usize>> = loops
            .filter_map(|node| node.child_by_field_name("right"))
            .map(|it| it.start_byte()..it.end_byte())
            .collect();
        let found = module.subscripts().into_iter().find(|access| {
            access.key == key && !access.stored && lines.contains(&access.line) && over.contains(&access.span)
        })?;
        let data =
            python::data_files(case, &module).into_iter().chain(folder_files(case, &file.text)).collect();
        let said = said(case, &file.text, &key, data)?;
        let written = file.text.get(found.key_span.clone())?;
        let new = format!("{}.get({written}, [])", found.object);
        let line = found.line;
        draft(line, &key, &said)
            .rewrite(
                &file,
                splice(
                    &file.text,
                    vec![(found.span.clone(), new), remark(&file.text, found.span.start, "#", &key)],
                ),
                format!("line {line}: a missing {key} is an empty list"),
            )
            .done()
    })
}

fn in_node(case: &Case) -> Option<Candidate> {
    let shown = case.report.core_error.contains("not iterable")
        || case
            .faults()
            .any(|fault| matches!(fault, Fault::WrongType { message } if message.contains("not iterable")));
    let file = case.failing_file().filter(|file| shown && file.language == Language::Node)?;
    let line = case.line_in(&file)?;
    let text = text::line(&file.text, line)?;
    let at = text.find(" of ")? + 4;
    let over = text.get(at..)?;
    let over = over.get(..over.find(|c: char| !is_name(c) && c != '.').unwrap_or(over.len()))?;
    let (_, key) = over.rsplit_once('.')?;
    let said = said(case, &file.text, key, folder_files(case, &file.text).collect())?;
    let before: usize =
        file.text.split_inclusive('\n').take((line as usize).checked_sub(1)?).map(str::len).sum();
    let end = before + at + over.len();
    draft(line, key, &said)
        .rewrite(
            &file,
            splice(&file.text, vec![(end..end, " ?? []".to_owned()), remark(&file.text, end, "//", key)]),
            format!("line {line}: a missing {key} is an empty list"),
        )
        .done()
}

fn draft(line: u32, key: &str, said: &str) -> Draft {
    Draft::new(
        "optional_list",
        format!("line {line}: some records have no {key}, which is optional"),
        "take a missing list for an empty one",
    )
    .evidence(text::shortened(said, 120))
    .meaning()
}

/// A remark above a place that says why the list may be missing.
fn remark(text: &str, at: usize, mark: &str, key: &str) -> python::Part {
    let start = python::line_start(text, at);
    let line = text.get(start..).unwrap_or_default();
    let indent: String = line.chars().take_while(|c| *c == ' ' || *c == '\t').collect();
    (start..start, format!("{indent}{mark} {key} is optional\n"))
}

/// The line of a text that says that a field may be missing, where the data has it as a list elsewhere and nowhere as anything else.
fn said(case: &Case, script: &str, key: &str, data: Vec<PathBuf>) -> Option<String> {
    const MAY: [&str; 8] = [
        "optional",
        "may be missing",
        "may be left out",
        "can be left out",
        "may be absent",
        "if any",
        "not always",
        "may have no",
    ];
    let own = remarks(script);
    let texts: Vec<String> = notes(case).into_iter().skip(1).map(|note| note.text).chain([own]).collect();
    let says = |line: &&str| mentions(line, key) && MAY.iter().any(|word| line.to_lowercase().contains(word));
    let line = texts.iter().flat_map(|text| text.lines()).find(says)?;
    let mut kinds = Vec::new();
    for path in data.into_iter().take(MOST_FILES) {
        let bytes = case.scene.read(&path, crate::case::LARGEST).unwrap_or_default();
        if let Ok(value) = serde_json::from_slice::<Value>(&bytes) {
            values_of(&value, key, &mut kinds);
        }
    }
    (!kinds.is_empty() && kinds.iter().all(|list| *list)).then(|| line.trim().to_owned())
}

/// Whether each value that a key has is a list.
fn values_of(value: &Value, key: &str, out: &mut Vec<bool>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| values_of(item, key, out)),
        Value::Object(fields) => {
            for (name, inner) in fields {
                if name == key {
                    out.push(inner.is_array());
                }
                values_of(inner, key, out);
            }
        }
        _ => {}
    }
}

/// The JSON files that a program names, and those of the folders that it names.
fn folder_files<'c>(case: &'c Case<'_>, text: &'c str) -> impl Iterator<Item = PathBuf> + 'c {
    let names = text
        .split(['\'', '"', '`'])
        .filter(|word| !word.is_empty() && word.len() < 200 && !word.contains('\n'));
    let found = names.filter_map(|name| case.find(Path::new(name.trim_start_matches("./"))));
    found
        .flat_map(|path| {
            let inside: Vec<PathBuf> =
                case.scene.names(&path).into_iter().take(MOST_FILES).map(|name| path.join(name)).collect();
            if inside.is_empty() { vec![path] } else { inside }
        })
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn scene(note: &str) -> TestScene {
        TestScene::new()
            .file("FORMAT.md", note)
            .file("articles/a.json", "{\"tags\": [\"x\"]}")
            .file("articles/b.json", "{\"title\": \"b\"}")
    }

    const NODE: &str = "for (const f of fs.readdirSync('articles')) {\n  const a = read('articles/' + f);\n  for (const t of a.tags) count(t);\n}\n";

    fn node(note: &str) -> TestCase {
        let mut case = TestCase::new("x.js", NODE, scene(note)).at(3);
        case.report.core_error = "TypeError: a.tags is not iterable".to_owned();
        case
    }

    #[test]
    fn a_missing_list_is_an_empty_one_where_a_text_says_so() {
        let healed = node("- `tags` (optional): words\n").healed(&OptionalList);
        assert!(healed.contains("for (const t of a.tags ?? []) count(t);"), "{healed}");
        let text = "import json\nfor n in ['articles/a.json', 'articles/b.json']:\n    for t in json.load(open(n))[\"tags\"]:\n        print(t)\n";
        let case = TestCase::new("x.py", text, scene("tags may be left out\n"))
            .fault(Fault::KeyMissing { key: "tags".into() })
            .at(3);
        assert!(case.healed(&OptionalList).contains("for t in json.load(open(n)).get(\"tags\", []):"));
    }

    #[test]
    fn without_a_word_a_missing_list_stays_a_failure() {
        assert!(node("- `tags`: words\n").silent(&OptionalList));
    }
}
