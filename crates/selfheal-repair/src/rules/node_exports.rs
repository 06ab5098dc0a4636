//! # An export that a JavaScript module has in another form
//!
//! ## What it finds
//! A program imports the default export of a module that has only named ones, or a name of one that has only a default, while
//! the module exports exactly that under the other form.
//!
//! ## Why it fails
//! The module was updated and exports by name what it exported as default, or the other way round.
//!
//! ## Fix
//! The import takes the form that the module has.
//!
//! ## Example
//! ```js
//! import format from './lib/format.mjs';
//! ```
//! ```js
//! import { format } from './lib/format.mjs';
//! ```
//!
//! ## Safety
//! Only modules of the job, and only under the same name: an export of another name may do something else.

use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::scene::absolute;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};
use crate::text;

rule!(NodeExports, "node_exports", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let wanted = case.faults().find_map(|fault| match fault {
        Fault::MissingName { owner, name } if owner.starts_with('.') => Some((owner.clone(), name.clone())),
        _ => None,
    });
    let Some((owner, name)) = wanted else { return Vec::new() };
    let Some(file) = case.failing_file().filter(|file| file.language == Language::Node) else {
        return Vec::new();
    };
    let home = file.folder();
    let Some(module) = case.file(&absolute(home, Path::new(&owner))) else { return Vec::new() };
    let edits = text::edits_by_line(&file.text, |_, line| {
        let (names, from) = line.strip_prefix("import ")?.rsplit_once(" from ")?;
        let bare = from.trim().trim_end_matches(';').trim_matches(['\'', '"']);
        let new = (bare == owner).then(|| other_form(names.trim(), &name, &module.text)).flatten()?;
        Some(format!("import {new} from {from}"))
    });
    let draft = Draft::new(
        "node_exports",
        format!("{owner} does not export {name}, but the same in another form"),
        "import it in the form that the module has",
    )
    .evidence(format!("{owner} exports it"))
    .edit(&file, &edits, format!("{}: import what the module exports", text::lines_in_words(&edits)));
    draft.done().into_iter().collect()
}

/// The imported names in the form that the module has.
fn other_form(names: &str, missing: &str, module: &str) -> Option<String> {
    if missing == "default" {
        let (name, rest) =
            names.split_once(',').map_or((names, None), |(name, rest)| (name, Some(rest.trim())));
        let name = name.trim();
        if !name.chars().all(text::is_name) || !exports(module, name) {
            return None;
        }
        return match rest.map(|rest| rest.strip_prefix('{')) {
            None => Some(format!("{{ {name} }}")),
            Some(Some(rest)) => Some(format!("{{ {name},{rest}")),
            Some(None) => None,
        };
    }
    let only = names.strip_prefix('{')?.strip_suffix('}')?.trim().trim_end_matches(',');
    let default = [
        format!("export default function {missing}"),
        format!("export default class {missing}"),
        format!("export default {missing};"),
    ];
    let same = module.lines().any(|line| default.iter().any(|head| begins(line, head)));
    (only == missing && same).then(|| missing.to_owned())
}

/// Whether a module exports a name.
fn exports(module: &str, name: &str) -> bool {
    const KINDS: &[&str] = &["function", "async function", "const", "let", "var", "class", "function*"];
    module.lines().any(|line| {
        let declared = KINDS.iter().any(|kind| begins(line, &format!("export {kind} {name}")));
        let listed = line.strip_prefix("export {").and_then(|rest| rest.split('}').next());
        declared || listed.is_some_and(|names| names.split(',').any(|one| one.trim() == name))
    })
}

/// Whether a line begins with a text that ends at the end of a word.
fn begins(line: &str, head: &str) -> bool {
    line.strip_prefix(head).is_some_and(|rest| head.ends_with(';') || !rest.starts_with(text::is_name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, module: &str, name: &str) -> TestCase {
        TestCase::new("x.mjs", text, TestScene::new().file("lib/f.mjs", module))
            .fault(Fault::MissingName { owner: "./lib/f.mjs".into(), name: name.into() })
            .at(1)
    }

    #[test]
    fn imports_in_the_form_that_the_module_has() {
        assert_eq!(
            case("import format from './lib/f.mjs';\n", "export function format(a) {\n}\n", "default")
                .healed(&NodeExports),
            "import { format } from './lib/f.mjs';\n"
        );
        assert_eq!(
            case("import load, { save } from \"./lib/f.mjs\"\n", "export { save, load };\n", "default")
                .healed(&NodeExports),
            "import { load, save } from \"./lib/f.mjs\"\n"
        );
        assert_eq!(
            case(
                "import { format } from './lib/f.mjs';\n",
                "export default function format() {}\n",
                "format"
            )
            .healed(&NodeExports),
            "import format from './lib/f.mjs';\n"
        );
    }

    #[test]
    fn leaves_exports_of_other_names_alone() {
        assert!(
            case("import format from './lib/f.mjs';\n", "export function formatAll() {}\n", "default")
                .silent(&NodeExports)
        );
        assert!(case("import { a } from './lib/f.mjs';\n", "export default b;\n", "a").silent(&NodeExports));
    }
}
