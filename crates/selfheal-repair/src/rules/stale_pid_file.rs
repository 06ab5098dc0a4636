//! # The pid file of a process that is gone
//!
//! ## What it finds
//! A Python program stops because its pid file is there, and the process whose number is in the file does not live.
//!
//! ## Why it fails
//! The run that made the file was killed before it could remove it. The program looks only whether the file exists.
//!
//! ## Fix
//! The program also looks whether the owner lives. The file of one that is gone is taken over.
//!
//! ## Example
//! ```python
//! if os.path.exists(PID):
//! ```
//! ```python
//! if os.path.exists(PID) and owner_lives(PID):
//! ```
//!
//! ## Safety
//! A living owner still stops the job, also one of another user, and so does a file without a number in it. The file itself
//! is not removed by the repair.

use std::path::PathBuf;

use selfheal_core::fault::Fault;
use selfheal_core::verification::{Expect, SceneEdit};
use selfheal_syntax::python::Module;
use selfheal_syntax::tree::Node;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(StalePidFile, "stale_pid_file", Safe, propose);

/// What is added to the program.
const FUNCTION: &str = r#"

def owner_lives(path):
    """Whether the process whose number is in the file lives; a file without a number counts as held."""
    with open(path) as source:
        words = source.read().split()
    if not words or not words[0].isdigit():
        return True
    try:
        os.kill(int(words[0]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


"#;

fn propose(case: &Case) -> Vec<Candidate> {
    let plain = case.faults().all(|fault| {
        matches!(fault, Fault::LockHeld { .. } | Fault::Other { .. } | Fault::SilentExit { .. })
    });
    if !plain {
        return Vec::new();
    }
    for (file, module) in python::modules(case) {
        let Some((path, owner)) = lock(case, &module) else { continue };
        let Some((test, span)) = test(&module, &path) else { continue };
        let line = python::line_of(&file.text, span.start);
        let mut parts: Vec<Part> = vec![(span.end..span.end, format!(" and owner_lives({test})"))];
        let at = python::after_imports(&module);
        let mut function = FUNCTION.to_owned();
        match python::import(&module, "os") {
            Some((place, import)) if place.start == at => function = format!("{import}{function}"),
            Some(import) => parts.push(import),
            None => {}
        }
        let rest = file.text.get(at..).unwrap_or_default();
        let skip = rest.len() - rest.trim_start_matches('\n').len();
        parts.push((at..at + skip, function));
        let mine = SceneEdit::Write { path: path.clone(), content: b"1\n".to_vec(), mode: None };
        let draft = Draft::new(
            "stale_pid_file",
            format!("line {line}: {} is of process {owner}, which is gone", path.display()),
            "take over the file of an owner that does not live",
        )
        .evidence(format!("there is no process {owner}"))
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: look whether the owner lives"))
        .scenario("owner-gone", format!("process {owner} is gone"), Expect::Succeeds, Vec::new())
        .scenario("owner-lives", "the owner lives", Expect::Fails, vec![mine])
        .scenario(
            "no-lock",
            "there is no such file",
            Expect::SameAsOriginal,
            vec![SceneEdit::Remove { path }],
        );
        return draft.done().into_iter().collect();
    }
    Vec::new()
}

/// The pid file that the program names and whose owner is gone: one of its literals, in its own folder or where the job runs.
fn lock(case: &Case, module: &Module) -> Option<(PathBuf, u32)> {
    if !module.text().contains("getpid()") {
        return None;
    }
    let literals = module.nodes("string").into_iter().filter_map(|node| module.string(node));
    let names =
        literals.filter(|name| name.len() > 2 && name.len() < 200 && !name.contains([' ', '\n', '%', '{']));
    let seen =
        case.trace.into_iter().flat_map(|trace| trace.frames.iter().flat_map(|f| f.values.values().cloned()));
    let seen = seen.filter(|value| value.len() < 300 && value.contains('/')).map(|value| {
        let inner = value.trim().trim_end_matches(')').rsplit('(').next().unwrap_or_default().to_owned();
        inner.trim_matches(['\'', '"']).to_owned()
    });
    let error = &case.report.core_error;
    names.chain(seen).take(200).find_map(|name| {
        let path = case.find(std::path::Path::new(&name))?;
        let text = String::from_utf8(case.scene.read(&path, 64)?).ok()?;
        let owner: u32 = text.split_whitespace().next()?.parse().ok()?;
        let said = crate::text::whole_words(error, &owner.to_string()).next().is_some();
        let lock = [".pid", ".lock", ".lck"].iter().any(|end| path.to_string_lossy().ends_with(end));
        (!case.scene.process_lives(owner) && owner > 1 && (said || lock)).then_some((path, owner))
    })
}

/// The path and the bytes of a test whether the file exists, as the whole condition of an `if` whose body ends the program.
fn test(module: &Module, path: &std::path::Path) -> Option<(String, std::ops::Range<usize>)> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let mut found = module.nodes("if_statement").into_iter().filter_map(|node| {
        let condition = node.child_by_field_name("condition")?;
        let body = module.text_of(node.child_by_field_name("consequence")?);
        let ends = ["sys.exit(", "raise ", "exit(", "return"].iter().any(|word| body.contains(word));
        let tested = tested(module, condition).filter(|_| ends)?;
        Some((tested, condition.byte_range()))
    });
    let first = found.next()?;
    let names_it =
        module.text().contains(&name) || first.0.chars().all(|c| crate::text::is_name(c) || c == '.');
    (found.next().is_none() && names_it).then_some(first)
}

/// `PID` of `os.path.exists(PID)` and of `PID.exists()`.
fn tested(module: &Module, condition: Node<'_>) -> Option<String> {
    let text = module.text_of(condition);
    let function = ["os.path.exists(", "os.path.isfile(", "os.path.lexists("];
    let inner = function.iter().find_map(|head| text.strip_prefix(head)?.strip_suffix(')'));
    let method = [".exists()", ".is_file()"].iter().find_map(|tail| text.strip_suffix(tail));
    let path = inner.or(method)?;
    let simple = path.chars().all(|c| crate::text::is_name(c) || "._/-\"'".contains(c));
    simple.then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const TEXT: &str = "import os, sys\n\nPID = os.path.join(HERE, \"worker.pid\")\n\nif os.path.exists(PID):\n    sys.exit(\"running\")\n\
        with open(PID, \"w\") as f:\n    f.write(str(os.getpid()))\n";

    fn case(text: &str, scene: TestScene) -> TestCase {
        TestCase::new("x.py", text, scene).fault(Fault::Other { message: "running".into() })
    }

    #[test]
    fn looks_whether_the_owner_lives() {
        let scene = || TestScene::new().file("worker.pid", "4242\n");
        let healed = case(TEXT, scene()).healed(&StalePidFile);
        assert!(healed.contains("if os.path.exists(PID) and owner_lives(PID):\n"), "{healed}");
        assert!(healed.contains("os.kill(int(words[0]), 0)\n    except ProcessLookupError:"), "{healed}");
        let text = "import os\nfrom pathlib import Path\n\nlock = Path('worker.pid')\nif lock.is_file():\n    raise SystemExit('busy')\n\
            lock.write_text(str(os.getpid()))\n";
        let healed = case(text, scene()).healed(&StalePidFile);
        assert!(healed.contains("if lock.is_file() and owner_lives(lock):"), "{healed}");
        assert!(Module::parse(&healed).is_ok_and(|module| !module.has_error()));
    }

    #[test]
    fn leaves_files_of_the_living_and_without_a_number_alone() {
        assert!(case(TEXT, TestScene::new().file("worker.pid", "4242\n").lives(4242)).silent(&StalePidFile));
        assert!(case(TEXT, TestScene::new().file("worker.pid", "busy\n")).silent(&StalePidFile));
        let text = TEXT.replace("getpid()", "getppid()");
        assert!(case(&text, TestScene::new().file("worker.pid", "4242\n")).silent(&StalePidFile));
    }
}
