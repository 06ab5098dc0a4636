//! What commands run in: variables that make programs run something else, and the folder.

use selfheal_core::admission::Danger;
use selfheal_syntax::shell::Command;
use selfheal_syntax::values::Value;

use super::places::{self, Cwd, Place};
use super::{Stdin, Unit, Walk};

impl Walk<'_> {
    /// Variables that make other programs run something.
    pub(super) fn assignments(&mut self, unit: &Unit<'_>, command: &Command) {
        for assignment in &command.assignments {
            let line = assignment.line;
            let known = || {
                let value = assignment.value.as_ref()?;
                unit.values.alternatives(value, line).first().and_then(Value::known)
            };
            match assignment.name.as_str() {
                "LD_PRELOAD" | "LD_AUDIT" | "BASH_ENV" | "ENV" | "PYTHONSTARTUP" | "PERL5OPT" | "RUBYOPT"
                | "NODE_OPTIONS" => {
                    let why = format!("`{}` makes every program load something", assignment.name);
                    if known().is_none_or(|text| !text.is_empty()) {
                        self.hit((line, &assignment.name), Danger::High, "danger/injected", &why);
                    }
                }
                "PROMPT_COMMAND" | "PS1" | "PS4" | "GIT_SSH_COMMAND" | "GIT_SSH" | "PAGER" | "GIT_PAGER"
                | "EDITOR" | "VISUAL" | "LESSOPEN" | "MANPAGER" | "GIT_EDITOR" => {
                    if let Some(text) = known() {
                        self.text(&text, &Stdin::Nothing, Some(line));
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn change_folder(&mut self, unit: &Unit<'_>, command: &Command) {
        if !(command.is("cd") || command.is("pushd") || command.is("popd")) {
            return;
        }
        let operand = command.arguments().iter().find(|word| !word.text.starts_with('-') || word.text == "-");
        let value =
            operand.and_then(|word| unit.values.alternatives(word, command.lines.0).into_iter().next_back());
        let named = value.as_ref().map(|value| places::spelled(&value.pieces)).unwrap_or_default();
        self.in_fetched =
            self.is_fetched_folder(&named) || self.in_fetched && !named.starts_with(['/', '.', '-']);
        self.cwd = match (value, command.is("cd")) {
            (Some(value), _) => self.folder(&value),
            (None, true) => Cwd::Unknown,
            (None, false) => Cwd::Unknown,
        };
    }

    pub(super) fn folder(&self, value: &Value) -> Cwd {
        let text = places::spelled(&value.pieces);
        match self.places().of(value) {
            Place::OwnTemporary => Cwd::OwnTemporary,
            Place::Inside if !text.starts_with('/') => self.cwd.clone(),
            _ if text.starts_with('/') => Cwd::At(selfheal_core::scene::absolute(
                std::path::Path::new("/"),
                std::path::Path::new(&text),
            )),
            _ => Cwd::Unknown,
        }
    }
}

/// The plain assignments of a script as text, for what runs in the same shell.
pub(super) fn assignments_of(unit: &Unit<'_>) -> Vec<(String, String)> {
    let all = unit
        .script
        .assignments()
        .filter(|assignment| !assignment.for_command && assignment.elements.is_none());
    let texts = all.filter_map(|assignment| {
        let value = assignment.value.as_ref().filter(|value| value.text.len() < 512)?;
        Some((assignment.name.clone(), format!("{}={}\n", assignment.name, value.text)))
    });
    texts.take(64).collect()
}
