//! # A whole command line given as one program
//!
//! ## What it finds
//! Python's `subprocess` is given a command line as one text, without a shell: there is no program of that name.
//!
//! ## Why it fails
//! A text is the name of the program, blanks and all. Only a list holds a program and its arguments.
//!
//! ## Fix
//! The text becomes a list of words.
//!
//! ## Example
//! ```python
//! subprocess.run("wc -l queue.txt", check=True)
//! ```
//! ```python
//! subprocess.run(["wc", "-l", "queue.txt"], check=True)
//! ```
//!
//! ## Safety
//! No shell is started. A text with characters that only a shell understands (pipes, quotes, variables, patterns) is left to a
//! person.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::{Call, Module};

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(CommandInOneWord, "command_in_one_word", Safe, propose);

/// Functions that start programs.
const STARTS: &[&str] = &[
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.Popen",
];

fn propose(case: &Case) -> Vec<Candidate> {
    let name = case.faults().find_map(|fault| match fault {
        Fault::CommandNotFound { name } => Some(name.clone()),
        Fault::NoSuchPath { path } => path.to_str().map(str::to_owned),
        _ => None,
    });
    let Some(name) = name.filter(|name| name.trim().contains(' ')) else { return Vec::new() };
    let Some(program) = name.split_whitespace().next() else { return Vec::new() };
    let known = !case.scene.which(program).is_empty() || case.find(std::path::Path::new(program)).is_some();
    if !known {
        return Vec::new();
    }
    for (file, module) in python::modules(case) {
        let calls = module.calls().into_iter().filter(|call| STARTS.contains(&call.resolved.as_str()));
        let parts: Vec<Part> = calls.filter_map(|call| words(&module, &call, &name)).collect();
        let Some((first, _)) = parts.first() else { continue };
        let line = python::line_of(&file.text, first.start);
        return Draft::new(
            "command_in_one_word",
            format!("line {line}: the whole command line is taken for the name of a program"),
            "give the program and its arguments as a list",
        )
        .evidence(format!("{program} is a program of this machine, {name:?} is none"))
        .rewrite(&file, splice(&file.text, parts), format!("line {line}: a list of words"))
        .done()
        .into_iter()
        .collect();
    }
    Vec::new()
}

/// The first argument as a list of words, where it is the command that was not found.
fn words(module: &Module, call: &Call, wanted: &str) -> Option<Part> {
    if call.keyword("shell").is_some() {
        return None;
    }
    let argument = call.arguments.first()?;
    let (span, text) = match &argument.string {
        Some(text) => (argument.span.clone(), text.clone()),
        // A name that is set to a text once, above.
        None => assigned(module, &argument.text)?,
    };
    let plain = |c: char| c.is_alphanumeric() || " _-./=:,@%+".contains(c);
    let list: Vec<String> = text.split_whitespace().map(|word| format!("\"{word}\"")).collect();
    (text == wanted && text.chars().all(plain)).then(|| (span, format!("[{}]", list.join(", "))))
}

fn assigned(module: &Module, name: &str) -> Option<(std::ops::Range<usize>, String)> {
    let mut found = module
        .nodes("assignment")
        .into_iter()
        .filter(|node| node.child_by_field_name("left").is_some_and(|left| module.text_of(left) == name));
    let value = found.next()?.child_by_field_name("right")?;
    // Used once besides: as a text elsewhere it must stay one.
    (found.next().is_none() && module.find_name(name).len() <= 2)
        .then(|| Some((value.byte_range(), module.string(value)?)))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, name: &str) -> TestCase {
        let scene = TestScene::new().command("wc", "/usr/bin/wc");
        TestCase::new("x.py", text, scene).fault(Fault::CommandNotFound { name: name.into() }).at(2)
    }

    #[test]
    fn becomes_a_list() {
        let run = case("import subprocess\nsubprocess.run(\"wc -l q.txt\", check=True)\n", "wc -l q.txt");
        assert!(
            run.healed(&CommandInOneWord).contains("subprocess.run([\"wc\", \"-l\", \"q.txt\"], check=True)")
        );
        let named = case(
            "from subprocess import check_output\ncmd = 'wc -c q.txt'\nprint(check_output(cmd))\n",
            "wc -c q.txt",
        );
        assert!(named.healed(&CommandInOneWord).contains("cmd = [\"wc\", \"-c\", \"q.txt\"]\n"));
    }

    #[test]
    fn leaves_what_only_a_shell_understands_alone() {
        assert!(
            case("import subprocess\nsubprocess.run('wc -l q | sort')\n", "wc -l q | sort")
                .silent(&CommandInOneWord)
        );
        assert!(
            case("import subprocess\nsubprocess.run('wc -l q', shell=True)\n", "wc -l q")
                .silent(&CommandInOneWord)
        );
        assert!(
            case("import subprocess\nsubprocess.run('wcx -l q')\n", "wcx -l q").silent(&CommandInOneWord)
        );
    }
}
