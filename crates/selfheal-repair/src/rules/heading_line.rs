//! # A program takes the heading of a table for a row
//!
//! ## What it finds
//! A Python or node program reads a table line by line and stumbles over a word where it wants a number; the word is a name in
//! the heading of the table.
//!
//! ## Why it fails
//! Whoever writes the table puts a heading above it now. The program was written for one without.
//!
//! ## Fix
//! The first line is taken from the file before the loop; in node, the loop goes over the lines behind it.
//!
//! ## Example
//! ```python
//! for line in source:
//!     total += float(line.split(";")[1])
//! ```
//! ```python
//! next(source, None)  # the heading
//! for line in source:
//!     total += float(line.split(";")[1])
//! ```
//!
//! ## Safety
//! Only when the first line is a heading beyond doubt: names above numbers, of which one is the value that the failure shows. A
//! word in any other line still fails. It changes what is read, so the risk is medium.

use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_syntax::python::Module;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::python;
use crate::shell::splice;
use crate::tables::{Headed, mentions};

rule!(HeadingLine, "heading_line", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let shown: Vec<&str> = case
        .faults()
        .filter_map(|fault| match fault {
            Fault::BadValue { value: Some(value), .. } => Some(value.as_str()),
            Fault::BadValue { message, .. } => Some(message.as_str()),
            _ => None,
        })
        .collect();
    if let Some(file) = case.failing_file().filter(|file| file.language == Language::Node) {
        return in_node(case, &file).into_iter().collect();
    }
    if shown.is_empty() {
        return Vec::new();
    }
    let modules = python::modules(case);
    modules
        .iter()
        .filter_map(|(file, module)| {
            let table = python::data_files(case, module).into_iter().find_map(|path| {
                let text = String::from_utf8(case.scene.read(&path, crate::case::LARGEST)?).ok()?;
                let table = Headed::read(&text)?;
                let name = table.heading.iter().find(|name| shown.iter().any(|text| mentions(text, name)))?;
                Some((path.file_name()?.to_string_lossy().into_owned(), name.clone()))
            });
            let (place, name) = table?;
            let lines = python::failing_lines(case, &file.path);
            let part = first_line_taken(module, &lines)?;
            let line = python::line_of(&file.text, part.0.start);
            Draft::new(
                "heading_line",
                format!(
                    "line {line}: the first line of {place} is a heading, and the program takes it for a row"
                ),
                "pass over the heading",
            )
            .evidence(format!("{name} is a name in the heading of {place}"))
            .meaning()
            .rewrite(file, splice(&file.text, vec![part]), format!("line {line}: pass over the heading"))
            .done()
        })
        .take(1)
        .collect()
}

/// `for (const line of text.split('\\n'))` over a table whose heading the message shows.
fn in_node(case: &Case, file: &ScriptFile) -> Option<Candidate> {
    let names = file.text.split(['\'', '"', '`']).filter(|word| word.contains('.') && word.len() < 200);
    let (place, name) =
        names.filter_map(|name| case.find(Path::new(name.trim_start_matches("./")))).find_map(|path| {
            let text = String::from_utf8(case.scene.read(&path, crate::case::LARGEST)?).ok()?;
            let table = Headed::read(&text)?;
            let name = table.heading.iter().find(|name| mentions(&case.report.core_error, name))?;
            Some((path.file_name()?.to_string_lossy().into_owned(), name.clone()))
        })?;
    let cut = |line: &str| {
        let marks = ["split('\\n')", "split(\"\\n\")", "split(/\\r?\\n/)", "split(/\\n/)"];
        marks.iter().find_map(|mark| line.find(mark).map(|at| at + mark.len()))
    };
    let lines: Vec<(usize, &str)> =
        file.text.lines().enumerate().filter(|(_, line)| cut(line).is_some()).collect();
    let [(at, line)] = lines.as_slice() else { return None };
    let end = cut(line)?;
    let taken = line.get(end..)?;
    if [".slice(", ".shift("].iter().any(|word| taken.contains(word)) {
        return None;
    }
    let start: usize = file.text.split_inclusive('\n').take(*at).map(str::len).sum();
    let number = *at as u32 + 1;
    Draft::new(
        "heading_line",
        format!("line {number}: the first line of {place} is a heading, and the program takes it for a row"),
        "pass over the heading",
    )
    .evidence(format!("{name} is a name in the heading of {place}"))
    .meaning()
    .rewrite(
        file,
        splice(&file.text, vec![(start + end..start + end, ".slice(1)".to_owned())]),
        format!("line {number}: pass over the heading"),
    )
    .done()
}

/// What takes the first line before the innermost loop over a file around one of the lines.
fn first_line_taken(module: &Module, lines: &[u32]) -> Option<python::Part> {
    let loops = module.nodes("for_statement");
    let around = loops.iter().filter(|node| {
        let (first, last) = (node.start_position().row as u32 + 1, node.end_position().row as u32 + 1);
        lines.iter().any(|line| (first..=last).contains(line))
    });
    let found = around.filter_map(|node| {
        let source = iterator(module, module.text_of(node.child_by_field_name("right")?))?;
        Some((*node, source))
    });
    let (node, source) = found.last()?;
    let start = node.start_byte();
    let indent = module.text().get(python::line_start(module.text(), start)..start)?;
    indent.trim().is_empty().then(|| (start..start, format!("next({source}, None)  # the heading\n{indent}")))
}

/// The name of the file, or of a reader of it, that a loop goes over.
fn iterator(module: &Module, over: &str) -> Option<String> {
    let inner = over
        .strip_prefix("csv.reader(")
        .map_or(over, |rest| rest.split([',', ')']).next().unwrap_or(rest))
        .trim();
    let plain = !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || c == '_');
    let text = module.text();
    let opened = text.contains(&format!(" as {inner}:"))
        || ["open(", "csv.reader("].iter().any(|call| text.contains(&format!("{inner} = {call}")));
    // A reader that knows about headings passes over it by itself.
    (plain && opened && !text.contains(&format!("{inner} = csv.DictReader("))).then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const TEXT: &str = "total = 0\nwith open('f.tsv') as f:\n    for line in f:\n        name, cost = line.split('\\t')\n        total += float(cost)\n";

    fn case(table: &str) -> TestCase {
        let message = "could not convert string to float: 'cost'".to_owned();
        TestCase::new("x.py", TEXT, TestScene::new().file("f.tsv", table))
            .fault(Fault::BadValue { value: Some("cost".to_owned()), message })
            .at(5)
    }

    #[test]
    fn passes_over_the_heading() {
        let healed = case("name\tcost\na\t1.5\n").healed(&HeadingLine);
        assert!(healed.contains("    next(f, None)  # the heading\n    for line in f:\n"), "{healed}");
    }

    #[test]
    fn passes_over_the_heading_of_a_reader() {
        let text =
            "import csv\nf = open('f.tsv')\nrows = csv.reader(f)\nfor row in rows:\n    print(int(row[1]))\n";
        let case = TestCase::new("x.py", text, TestScene::new().file("f.tsv", "name,cost\na,1\n"))
            .fault(Fault::BadValue { value: Some("cost".to_owned()), message: String::new() })
            .at(5);
        assert!(case.healed(&HeadingLine).contains("next(rows, None)  # the heading\nfor row in rows:"));
    }

    #[test]
    fn passes_over_the_heading_in_node() {
        let text = "for (const l of fs.readFileSync('h.csv', 'utf8').trim().split('\\n')) {\n  if (Number.isNaN(Number(l.split(',')[1]))) throw new Error(l.split(',')[1]);\n}\n";
        let mut case = TestCase::new("x.js", text, TestScene::new().file("h.csv", "name,hours\na,1\n")).at(2);
        case.report.core_error = "Error: not a number of hours: hours".to_owned();
        assert!(case.healed(&HeadingLine).contains(".split('\\n').slice(1)) {"));
    }

    #[test]
    fn leaves_a_word_below_numbers_alone() {
        assert!(case("a\t1.5\nb\tcost\n").silent(&HeadingLine));
        assert!(case("name\tweight\na\t1.5\nb\tcost\n").silent(&HeadingLine));
    }
}
