//! A changed environment, working folder or argument list, put in the script's head: there it is part of a file, so that it
//! is judged, tried, shown, recorded and taken back like every other change.

use selfheal_core::fault::Fault;
use serde::Deserialize;

use super::clean;
use super::input::{Document, PromptInput};

/// Most variables and arguments of one answer.
const MOST: usize = 12;
/// Variables that load code or change how every line is read: never set by a model.
const NEVER: [&str; 12] = [
    "BASH_ENV",
    "ENV",
    "IFS",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "PYTHONSTARTUP",
    "PERL5OPT",
    "RUBYOPT",
    "NODE_OPTIONS",
    "GIT_SSH_COMMAND",
];

/// How the job is to be run otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct RunChange {
    /// The arguments in the place of those that it was given.
    pub(super) arguments: Vec<String>,
    /// Variables.
    pub(super) environment: Vec<Variable>,
    /// The folder to work in.
    pub(super) folder: String,
    /// Why: it becomes the comment.
    pub(super) reason: String,
}

/// One variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: String,
}

impl RunChange {
    /// Whether it changes anything.
    pub(super) fn is_empty(&self) -> bool {
        self.arguments.is_empty() && self.environment.is_empty() && self.folder.trim().is_empty()
    }

    /// The script with this in its head.
    ///
    /// # Errors
    /// In words for the model: no reason, a name that is none, or a language in which it cannot be said.
    pub(super) fn in_head_of(&self, script: &Document, input: &PromptInput<'_>) -> Result<String, String> {
        let reason = clean::line(&self.reason, 200);
        if reason.chars().count() < 8 {
            return Err("run has no reason".to_owned());
        }
        let values = self.environment.iter().map(|variable| &variable.value);
        if values.chain(&self.arguments).chain([&self.folder]).any(|text| text.contains(['\n', '\0'])) {
            return Err("a value in run has more than one line".to_owned());
        }
        self.check_names()?;
        let (lines, at) = match input.language {
            "bash" | "sh" | "posix" | "dash" | "shell" => (self.shell(input)?, shell_head(&script.text)),
            "python" => (self.python(input), python_head(&script.text)),
            other => {
                return Err(format!(
                    "run cannot be put in the head of a script in {}; use edits",
                    clean::line(other, 20)
                ));
            }
        };
        let mut out: Vec<&str> = script.text.split_inclusive('\n').collect();
        let added: String = std::iter::once(format!("# {reason}\n")).chain(lines).collect();
        let at = at.min(out.len());
        out.insert(at, &added);
        Ok(out.concat())
    }

    fn check_names(&self) -> Result<(), String> {
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        for name in self.environment.iter().map(|variable| variable.name.as_str()) {
            if !is_name(name) {
                return Err(format!("{} is no name of a variable", clean::line(name, 40)));
            }
            if NEVER.contains(&name) || name.starts_with("LD_") {
                return Err(format!("{name} is not to be set: it changes which code runs"));
            }
        }
        Ok(())
    }

    fn shell(&self, input: &PromptInput<'_>) -> Result<Vec<String>, String> {
        let mut lines: Vec<String> = self
            .environment
            .iter()
            .take(MOST)
            .map(|variable| shell_line(variable, misses(input, &variable.name)))
            .collect();
        if !self.folder.trim().is_empty() {
            lines.push(format!("cd {} || exit\n", quoted(self.folder.trim())));
        }
        if !self.arguments.is_empty() {
            let given = given_arguments(input)
                .ok_or("the arguments cannot be changed in the script's head; use edits")?;
            let new: Vec<String> = self.arguments.iter().take(MOST).map(|word| quoted(word)).collect();
            // Only for the call that fails: every other one means what it says.
            let line = format!("if [ \"$*\" = {} ]; then set -- {}; fi\n", quoted(&given), new.join(" "));
            lines.push(line);
        }
        Ok(lines)
    }

    fn python(&self, input: &PromptInput<'_>) -> Vec<String> {
        let mut lines = vec!["import os\n".to_owned()];
        for variable in self.environment.iter().take(MOST) {
            lines.push(match misses(input, &variable.name) {
                true => format!("os.environ.setdefault({:?}, {:?})\n", variable.name, variable.value),
                false => format!("os.environ[{:?}] = {:?}\n", variable.name, variable.value),
            });
        }
        if !self.folder.trim().is_empty() {
            lines.push(format!("os.chdir({:?})\n", self.folder.trim()));
        }
        if !self.arguments.is_empty() {
            let words: Vec<String> =
                self.arguments.iter().take(MOST).map(|word| format!("{word:?}")).collect();
            lines.push("import sys\n".to_owned());
            lines.push(format!("sys.argv[1:] = [{}]\n", words.join(", ")));
        }
        lines
    }
}

/// Whether the job failed because a variable is not set: then it is set only where it is not.
fn misses(input: &PromptInput<'_>, name: &str) -> bool {
    let is_it = |fault: &Fault| matches!(fault, Fault::UnsetVariable { name: missed } if missed == name);
    input.report.faults.iter().any(is_it)
}

fn shell_line(variable: &Variable, only_if_unset: bool) -> String {
    let (name, value) = (&variable.name, shell_value(variable));
    match only_if_unset {
        true => format!("[ -n \"${{{name}+set}}\" ] || export {name}={value}\n"),
        false => format!("export {name}={value}\n"),
    }
}

/// A value as the shell reads it. What a search path was before stays part of it.
fn shell_value(variable: &Variable) -> String {
    let own = [format!("${}", variable.name), format!("${{{}}}", variable.name)];
    let ends = own.iter().find_map(|own| {
        let before = variable.value.strip_suffix(&format!(":{own}")).map(|rest| (rest, ""));
        before.or_else(|| variable.value.strip_prefix(&format!("{own}:")).map(|rest| ("", rest)))
    });
    match ends {
        Some((front, "")) => format!("{}:\"${}\"", quoted(front), variable.name),
        Some((_, behind)) => format!("\"${}\":{}", variable.name, quoted(behind)),
        None => quoted(&variable.value),
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The arguments of the failing call as `$*` has them, where the command line tells without doubt.
fn given_arguments(input: &PromptInput<'_>) -> Option<String> {
    let name = input.script?.path.file_name()?.to_string_lossy().into_owned();
    let mut words = input.command.split_whitespace();
    words.find(|word| word.rsplit('/').next() == Some(name.as_str()))?;
    let rest: Vec<&str> = words.collect();
    let plain = rest.iter().all(|word| !word.contains(['\'', '"', '\\', '$', '`']));
    plain.then(|| rest.join(" "))
}

/// The line before which the head of a shell script is put: behind its first comments and `set` lines.
fn shell_head(text: &str) -> usize {
    text.lines()
        .take_while(|line| {
            let line = line.trim();
            line.is_empty()
                || line.starts_with('#')
                || line.starts_with("set -")
                || line.starts_with("shopt ")
        })
        .count()
}

/// The same of a Python script: before its first import that is none from the future.
fn python_head(text: &str) -> usize {
    let is_import = |line: &str| {
        (line.starts_with("import ") || line.starts_with("from ")) && !line.starts_with("from __future__")
    };
    text.lines().position(is_import).unwrap_or_else(|| {
        text.lines().take_while(|line| line.starts_with('#') || line.trim().is_empty()).count()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, value: &str) -> Variable {
        Variable { name: name.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn values_are_words_and_search_paths_grow() {
        assert_eq!(shell_value(&variable("A", "it's $(x)")), r"'it'\''s $(x)'");
        assert_eq!(shell_value(&variable("PATH", "/opt/b in:$PATH")), "'/opt/b in':\"$PATH\"");
        assert_eq!(shell_value(&variable("PATH", "${PATH}:/opt/bin")), "\"$PATH\":'/opt/bin'");
    }

    #[test]
    fn code_cannot_be_loaded_by_a_variable() {
        for name in ["LD_PRELOAD", "BASH_ENV", "a b", "", "1A", "X;rm"] {
            let change = RunChange { environment: vec![variable(name, "x")], ..RunChange::default() };
            assert!(change.check_names().is_err(), "{name}");
        }
    }

    #[test]
    fn heads_are_behind_what_must_come_first() {
        assert_eq!(shell_head("#!/bin/sh\n# what it does\nset -eu\n\necho\n"), 4);
        assert_eq!(python_head("#!/usr/bin/python3\nfrom __future__ import x\nimport os\n"), 2);
        assert_eq!(python_head("# a\nprint(1)\n"), 1);
    }
}
