//! # A byte order mark before the script
//!
//! ## What it finds
//! A script, or a file that a shell sources, begins with a byte order mark, and the failure is in its first line.
//!
//! ## Why it fails
//! The three bytes belong to the first word: the kernel sees no `#!`, and a shell looks for a command with the mark in
//! its name.
//!
//! ## Fix
//! The mark is taken away.
//!
//! ## Example
//! ```text
//! <BOM>#!/bin/bash
//! ```
//! ```text
//! #!/bin/bash
//! ```
//!
//! ## Safety
//! Only scripts and sourced files; data files keep theirs, since other readers may rely on it.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};

rule!(ByteOrderMark, "byte_order_mark", Safe, propose);

const MARK: char = '\u{feff}';

fn propose(case: &Case) -> Vec<Candidate> {
    let named = case.faults().filter_map(|fault| match fault {
        Fault::BadInterpreter { script, .. } | Fault::NotExecutable { path: script } => case.find(script),
        _ => None,
    });
    let named: Vec<_> = named.filter_map(|path| case.file(&path)).collect();
    let scripts = case.files().into_iter().chain(named);
    let script = scripts.into_iter().find(|file| {
        let shell_like =
            matches!(file.language, Language::Bash | Language::Sh | Language::Perl | Language::Make);
        let sourced = file.language == Language::Other && case.line_in(file).is_some_and(|line| line == 1);
        file.text.starts_with(MARK)
            && (shell_like || sourced || file.text.trim_start_matches(MARK).starts_with("#!"))
    });
    let Some(file) = script else { return Vec::new() };
    let rest = file.text.trim_start_matches(MARK).to_owned();
    let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let cause = format!("{name} begins with a byte order mark, which became part of its first word");
    let draft = Draft::new("byte_order_mark", cause, "take the byte order mark away")
        .evidence(format!("the first three bytes of {name} are EF BB BF"))
        .rewrite(&file, rest, format!("{name}: line 1 begins without a byte order mark"));
    draft.done().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    #[test]
    fn takes_the_mark_of_a_script_away() {
        let fault = Fault::CommandNotFound { name: "\u{feff}#!/bin/bash".into() };
        let case = TestCase::new("x.sh", "\u{feff}#!/bin/bash\necho\n", TestScene::new()).fault(fault).at(1);
        assert_eq!(case.healed(&ByteOrderMark), "#!/bin/bash\necho\n");
    }

    #[test]
    fn takes_the_mark_of_a_sourced_file_away() {
        let scene = TestScene::new().file("a.conf", "\u{feff}A=1\n");
        let case = TestCase::new("x.sh", ". ./a.conf\n", scene)
            .fault(Fault::CommandNotFound { name: "\u{feff}A=1".into() })
            .at_file("a.conf", 1);
        assert_eq!(case.healed(&ByteOrderMark), "A=1\n");
    }

    #[test]
    fn leaves_scripts_without_a_mark_alone() {
        let case = TestCase::new("x.sh", "echo\n", TestScene::new())
            .fault(Fault::CommandNotFound { name: "q".into() });
        assert!(case.silent(&ByteOrderMark));
    }
}
