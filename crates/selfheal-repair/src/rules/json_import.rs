//! # A module imports JSON without saying so
//!
//! ## What it finds
//! An ES module imports a `.json` file without the attribute `type: "json"`, or with the older word `assert`.
//!
//! ## Why it fails
//! node loads JSON as a module only when the import says that it is JSON; the word was `assert` before node 22 and is `with`
//! now.
//!
//! ## Fix
//! The imports of JSON files say `with { type: "json" }`.
//!
//! ## Example
//! ```js
//! import prices from "./prices.json";
//! ```
//! ```js
//! import prices from "./prices.json" with { type: "json" };
//! ```
//!
//! ## Safety
//! Only imports of files whose name ends in `.json`. The file is read as before; broken JSON still fails the job.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};
use crate::text;

rule!(JsonImport, "json_import", Safe, propose);

/// The attribute in an import, and in the call of one.
const STATIC: &str = " with { type: \"json\" }";
const CALLED: &str = ", { with: { type: \"json\" } }";

fn propose(case: &Case) -> Vec<Candidate> {
    let said = case.faults().any(|fault| match fault {
        Fault::WrongType { message } | Fault::Syntax { message, .. } | Fault::Other { message } => {
            message.contains("import attribute")
                || message.contains("import assertion")
                || message.contains("'assert'")
        }
        _ => false,
    });
    let Some(file) = case.failing_file().filter(|file| said && file.language == Language::Node) else {
        return Vec::new();
    };
    let edits = text::edits_by_line(&file.text, |_, line| attributed(line));
    let lines = text::lines_in_words(&edits);
    let draft = Draft::new(
        "json_import",
        format!("{lines}: a JSON file is imported, and the import does not say that it is JSON"),
        "say that it is JSON",
    )
    .evidence(text::shortened(&case.report.core_error, 160))
    .edit(&file, &edits, format!("{lines}: type json"));
    draft.done().into_iter().collect()
}

/// A line whose imports of JSON files say so.
fn attributed(line: &str) -> Option<String> {
    if line.trim_start().starts_with("//") {
        return None;
    }
    let mut out = String::new();
    let mut rest = line;
    while let Some((at, quote)) =
        [".json\"", ".json'"].iter().filter_map(|end| Some((rest.find(end)?, end))).min()
    {
        let end = at + quote.len();
        let (head, after) = (rest.get(..end)?, rest.get(end..)?);
        let importing = format!("{out}{head}");
        out.push_str(head);
        rest = after;
        if is_called(&importing) && after.trim_start().starts_with(')') {
            out.push_str(CALLED);
        } else if importing.trim_start().starts_with("import ") && !is_called(&importing) {
            match after.trim_start().strip_prefix("assert") {
                Some(older) if older.trim_start().starts_with('{') => {
                    out.push_str(" with");
                    rest = older;
                }
                _ if !after.contains("with") => out.push_str(STATIC),
                _ => {}
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Whether what is written up to the end of a file name is `import("…"`.
fn is_called(head: &str) -> bool {
    let name = head.rfind(['"', '\'']).and_then(|end| head.get(..end)?.rfind(['"', '\'']));
    name.and_then(|at| head.get(..at)).is_some_and(|before| before.trim_end().ends_with("import("))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str) -> TestCase {
        let message = "Module \"file:///x.json\" needs an import attribute of type \"json\"".to_owned();
        TestCase::new("x.mjs", text, TestScene::new()).fault(Fault::WrongType { message }).at(1)
    }

    #[test]
    fn says_that_json_is_json() {
        assert_eq!(
            case("import a from './a.json';\nimport b from './b.mjs'\n").healed(&JsonImport),
            "import a from './a.json' with { type: \"json\" };\nimport b from './b.mjs'\n"
        );
        assert_eq!(
            case("const { default: a } = await import(\"./a.json\");\n").healed(&JsonImport),
            "const { default: a } = await import(\"./a.json\", { with: { type: \"json\" } });\n"
        );
        assert_eq!(
            case("import a from \"./a.json\" assert { type: \"json\" };\n").healed(&JsonImport),
            "import a from \"./a.json\" with { type: \"json\" };\n"
        );
    }

    #[test]
    fn leaves_imports_that_say_so_and_other_files_alone() {
        assert!(case("import a from './a.json' with { type: 'json' };\n").silent(&JsonImport));
        assert!(case("import a from './a.mjs';\n// import b from './b.json'\n").silent(&JsonImport));
        assert!(case("const a = read('./a.json');\n").silent(&JsonImport));
    }
}
