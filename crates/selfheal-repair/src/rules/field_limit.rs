//! # A field of a table is longer than the csv module takes
//!
//! ## What it finds
//! A Python program reads a table with the `csv` module and stops at `field larger than field limit`.
//!
//! ## Why it fails
//! The module takes 131,072 characters a field, unless it is told otherwise. Letters, logs and pictures are longer.
//!
//! ## Fix
//! The limit is raised right after the imports.
//!
//! ## Example
//! ```python
//! import csv
//! ```
//! ```python
//! import csv
//!
//! csv.field_size_limit(2**31 - 1)
//! ```
//!
//! ## Safety
//! Tables that could be read are read as before. A quote that is never closed makes a field of the rest of the file: where that was
//! the reason, the program still fails on the number of columns or the values.

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python;
use crate::shell::splice;

rule!(FieldLimit, "field_limit", Unsafe, propose);

/// Bytes of a table that are looked at for the long field.
const MOST_BYTES: usize = 64 << 20;

fn propose(case: &Case) -> Vec<Candidate> {
    let said = case.report.core_error.contains("field larger than field limit")
        || serde_json::to_string(&case.report.faults)
            .is_ok_and(|faults| faults.contains("field larger than field limit"));
    if !said {
        return Vec::new();
    }
    let modules = python::modules(case);
    let found = modules.iter().filter_map(|(file, module)| {
        let imported =
            module.imports().iter().any(|i| i.module == "csv" && i.name.is_none() && i.alias.is_none());
        if !imported || file.text.contains("field_size_limit") {
            return None;
        }
        // An odd number of quotes is a quote that was never closed, and not a long field.
        let open = python::data_files(case, module).iter().any(|path| {
            let bytes = case.scene.read(path, MOST_BYTES).unwrap_or_default();
            bytes.iter().filter(|byte| **byte == b'"').count() % 2 == 1
        });
        if open {
            return None;
        }
        let at = python::after_imports(module);
        let rest = file.text.get(at..)?;
        let gap = if rest.starts_with('\n') { "" } else { "\n" };
        let line = format!("\ncsv.field_size_limit(2**31 - 1)\n{gap}");
        Draft::new(
            "field_limit",
            "a field of the table is longer than 131,072 characters",
            "raise the limit of the csv module",
        )
        .evidence(crate::text::shortened(&case.report.core_error, 120))
        .rewrite(file, splice(&file.text, vec![(at..at, line)]), "long fields are read")
        .done()
    });
    found.take(1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, table: &str) -> TestCase {
        let mut case = TestCase::new("x.py", text, TestScene::new().file("t.csv", table)).at(2);
        case.report.core_error = "_csv.Error: field larger than field limit (131072)".to_owned();
        case
    }

    #[test]
    fn raises_the_limit() {
        let healed = case("import csv\nfor r in csv.reader(open('t.csv')):\n    pass\n", "a,\"b\"\n")
            .healed(&FieldLimit);
        assert_eq!(
            healed,
            "import csv\n\ncsv.field_size_limit(2**31 - 1)\n\nfor r in csv.reader(open('t.csv')):\n    pass\n"
        );
    }

    #[test]
    fn raises_it_behind_other_imports() {
        let text = "import csv\nimport os\n\nrows = list(csv.DictReader(open('t.csv')))\n";
        let healed = case(text, "a\n").healed(&FieldLimit);
        assert!(healed.contains("import os\n\ncsv.field_size_limit(2**31 - 1)\n\nrows"), "{healed}");
    }

    #[test]
    fn a_quote_that_is_not_closed_is_no_long_field() {
        assert!(
            case("import csv\nfor r in csv.reader(open('t.csv')):\n    pass\n", "a,\"b\n")
                .silent(&FieldLimit)
        );
        assert!(case("import csv\ncsv.field_size_limit(9)\n", "a\n").silent(&FieldLimit));
    }
}
