//! # A bash script run by sh
//!
//! ## What it finds
//! A script that uses arrays, `[[`, process substitution, `function` or other bash syntax is run by `sh`, and the failure
//! is a construct that `sh` does not know.
//!
//! ## Why it fails
//! Many systems have a small POSIX shell as `sh`. It reads the script line by line and stops at the first construct that it
//! does not know, or takes `[[` and `source` for names of commands.
//!
//! ## Fix
//! When the job names the shell, a guard right after the first comments hands the script to bash before any bash syntax is
//! read. When the script's first line names the shell, that line is corrected.
//!
//! ## Example
//! ```sh
//! #!/bin/bash
//! due=()
//! ```
//! ```sh
//! #!/bin/bash
//! [ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
//! due=()
//! ```
//!
//! ## Safety
//! Nothing of the script itself is changed. Only for scripts that do hold bash syntax, and only where bash is installed.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile, interpreter_name};
use crate::text;

rule!(BashUnderSh, "bash_under_sh", Safe, propose);

/// Text that only bash understands; each as a line would hold it.
const BASHISMS: &[&str] = &[
    "[[ ",
    "=(",
    "+=(",
    "+=",
    "<(",
    ">(",
    "<<<",
    "&>",
    "function ",
    "source ",
    "${!",
    "((",
    "declare ",
    "local -",
    "mapfile",
    "readarray",
    "shopt ",
    "pipefail",
    "$'",
    "^^}",
    ",,}",
    "//",
    "[@]",
    "[*]",
    ":0:",
    "select ",
    "|&",
    "{1..",
    "{0..",
    "printf -v",
    "read -a",
    "read -d",
    "read -p",
    "echo -e",
    "let ",
    "== ",
    "$RANDOM",
    "BASH_SOURCE",
    "PIPESTATUS",
    "SECONDS",
    "trap '",
    "${",
];

fn propose(case: &Case) -> Vec<Candidate> {
    let faulty = case.faults().any(|fault| {
        matches!(fault, Fault::Dialect { .. } | Fault::Syntax { .. })
            || matches!(fault, Fault::CommandNotFound { name } if is_bash_word(name))
            || matches!(fault, Fault::UnknownOption { command, .. } if is_posix_shell(command) || command == "set")
            || matches!(fault, Fault::Other { message } if message.contains("Bad substitution"))
    });
    let dialect = case.faults().any(|fault| matches!(fault, Fault::Dialect { .. }));
    let shell_like =
        |file: &ScriptFile| file.language.is_shell() || dialect && file.language == Language::Other;
    let named = case.named_file().map(|(file, _)| file).filter(|file| shell_like(file));
    let Some(file) = named.or_else(|| case.failing_file()).filter(|file| faulty && shell_like(file)) else {
        return Vec::new();
    };
    let uses = file.text.lines().position(|line| !line.trim_start().starts_with('#') && holds_bashism(line));
    let Some(uses) = uses.filter(|_| !case.scene.which("bash").is_empty()) else { return Vec::new() };
    let line = uses as u32 + 1;
    let started = started_by_sh(case, &file);
    let first = file.text.lines().next().unwrap_or_default();
    let named = first.strip_prefix("#!").is_some_and(|rest| is_posix_shell(interpreter_name(rest)));
    let draft = Draft::new(
        "bash_under_sh",
        format!("line {line} is bash syntax, and sh runs the script"),
        "let bash run the script from its first line on",
    );
    let draft = if !started && named {
        draft.edit(
            &file,
            &[text::replace(1, with_bash(first))],
            "line 1 names bash as the interpreter".to_owned(),
        )
    } else if started || dialect {
        let at = after_comments(&file.text);
        let guard = "[ -n \"${BASH_VERSION:-}\" ] || exec bash \"$0\" \"$@\"".to_owned();
        draft.edit(
            &file,
            &[text::before(at, vec![guard])],
            format!("line {at} hands the script to bash when sh runs it"),
        )
    } else {
        return Vec::new();
    };
    draft.done().into_iter().collect()
}

fn is_bash_word(name: &str) -> bool {
    matches!(
        name,
        "[[" | "(("
            | "source"
            | "declare"
            | "shopt"
            | "mapfile"
            | "readarray"
            | "let"
            | "function"
            | "typeset"
    ) || name.starts_with("[[")
        || name.ends_with("()")
}

fn is_posix_shell(name: &str) -> bool {
    matches!(name.rsplit('/').next().unwrap_or(name), "sh" | "dash" | "ash")
}

fn holds_bashism(line: &str) -> bool {
    // `${` alone is POSIX; `Bad substitution` says itself what is wrong.
    let slices = line.match_indices("${").any(|(at, _)| {
        let inner = line.get(at + 2..).and_then(|rest| rest.split('}').next()).unwrap_or_default();
        let name_end = inner.find(|c: char| !text::is_name(c)).unwrap_or(inner.len());
        let how = inner.get(name_end..).unwrap_or_default();
        let digits = how
            .strip_prefix(':')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == ' '));
        digits || how.starts_with('/') || how.starts_with('^') || how.starts_with(',') || how.starts_with('[')
    });
    slices
        || BASHISMS
            .iter()
            .any(|word| *word != "${" && *word != "trap '" && *word != "//" && line.contains(word))
}

/// Whether the job's command, or the failing script's caller, names `sh`.
fn started_by_sh(case: &Case, file: &ScriptFile) -> bool {
    let mut words = case.argv.iter().map(|word| word.to_string_lossy());
    let is_script = case.script.is_some_and(|script| script.path == file.path);
    if is_script {
        return words.any(|word| is_posix_shell(&word));
    }
    // A step: `sh step.sh`, or `sh "$step"`, somewhere in the script.
    let text = case.script.map_or("", |script| script.text.as_str());
    let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let starts = |line: &str| {
        text::whole_words(line, "sh").any(|at| line.get(at + 2..).is_some_and(|rest| rest.starts_with(' ')))
    };
    text.lines().any(|line| starts(line) && (line.contains(&name) || line.contains('$')))
}

fn with_bash(first: &str) -> String {
    let rest = first.strip_prefix("#!").unwrap_or(first);
    let name = interpreter_name(rest);
    match rest.rfind(name) {
        Some(at) if name != "sh" || !rest.trim_start().starts_with("/bin/sh") => {
            format!(
                "#!{}bash{}",
                rest.get(..at).unwrap_or_default(),
                rest.get(at + name.len()..).unwrap_or_default()
            )
        }
        _ => format!("#!{}", rest.replacen("/bin/sh", "/bin/bash", 1)),
    }
}

/// The number of the first line after the comments at the head.
fn after_comments(text: &str) -> u32 {
    let head = text.lines().take_while(|line| line.starts_with('#')).count();
    head as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn scene() -> TestScene {
        TestScene::new().command("bash", "/usr/bin/bash")
    }

    #[test]
    fn guards_a_script_that_the_job_gives_to_sh() {
        let text = "#!/bin/bash\n# What for\nset -eu\nskip=(a b)\n";
        let case = TestCase::new("x.sh", text, scene())
            .argv(&["sh", "x.sh"])
            .fault(Fault::Syntax { near: Some("(".into()), message: "\"(\" unexpected".into() })
            .at(4);
        let healed = case.healed(&BashUnderSh);
        assert_eq!(
            healed,
            "#!/bin/bash\n# What for\n[ -n \"${BASH_VERSION:-}\" ] || exec bash \"$0\" \"$@\"\nset -eu\nskip=(a b)\n"
        );
    }

    #[test]
    fn corrects_the_first_line_of_a_script_that_is_run_directly() {
        let case = TestCase::new("x.sh", "#!/bin/sh -e\nif [[ $a == b* ]]; then c; fi\n", scene())
            .argv(&["./x.sh"])
            .fault(Fault::CommandNotFound { name: "[[".into() })
            .at(2);
        assert!(case.healed(&BashUnderSh).starts_with("#!/bin/bash -e\n"));
        assert_eq!(with_bash("#!/usr/bin/env sh"), "#!/usr/bin/env bash");
        assert_eq!(with_bash("#! /usr/bin/dash"), "#! /usr/bin/bash");
    }

    #[test]
    fn guards_a_step_that_the_script_gives_to_sh() {
        let mut case = TestCase::new(
            "x.sh",
            "for s in steps/*; do sh \"$s\"; done\n",
            scene().file("steps/1.sh", "#!/bin/bash\nx=(1)\n"),
        )
        .argv(&["bash", "x.sh"])
        .fault(Fault::Dialect { construct: "(".into() })
        .at(1);
        case.report.core_error = "steps/1.sh: 2: Syntax error: \"(\" unexpected".to_owned();
        assert_eq!(
            case.healed(&BashUnderSh),
            "#!/bin/bash\n[ -n \"${BASH_VERSION:-}\" ] || exec bash \"$0\" \"$@\"\nx=(1)\n"
        );
    }

    #[test]
    fn leaves_real_syntax_errors_and_posix_scripts_alone() {
        let error = Fault::Syntax { near: None, message: "end of file unexpected".into() };
        let posix = TestCase::new("x.sh", "#!/bin/sh\nif true; then\n", scene())
            .argv(&["sh", "x.sh"])
            .fault(error.clone());
        assert!(posix.silent(&BashUnderSh));
        let bash = TestCase::new("x.sh", "#!/bin/bash\na=(1\n", scene()).argv(&["bash", "x.sh"]).fault(error);
        assert!(bash.silent(&BashUnderSh));
    }
}
