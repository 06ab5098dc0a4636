//! Redirections: files that are written, emptied or read by them.

use selfheal_core::admission::Danger;
use selfheal_syntax::shell::{Command, CommandKind, Redirect};

use super::places::{self, Place};
use super::{Unit, Walk, files};

impl Walk<'_> {
    /// Redirections into files.
    pub(super) fn redirect(&mut self, unit: &Unit<'_>, redirect: &Redirect, line: u32) {
        let Some(target) = &redirect.target else { return };
        if redirect.operator.starts_with("<<") {
            return;
        }
        for value in unit.values.alternatives(target, line) {
            let place = self.places().of(&value);
            let subject = format!("{} {}", redirect.operator, places::spelled(&value.pieces));
            if redirect.writes() {
                let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '-');
                if !digits(&target.text) {
                    files::written(self, place, redirect.operator.contains(">>"), (line, &subject));
                }
            } else if matches!(place, Place::Private)
                || (place == Place::Device && subject.contains("/dev/tcp"))
            {
                self.hit((line, &subject), Danger::High, "danger/secrets", "it reads keys or passwords");
            }
        }
    }

    /// `> file` and `: > file`: nothing but an emptied file.
    pub(super) fn emptied(&mut self, unit: &Unit<'_>, command: &Command, line: u32) {
        let nothing = command.words.is_empty()
            || (command.is(":") || command.is("true")) && command.arguments().is_empty();
        let target = command.redirects.iter().find(|r| r.operator == ">").and_then(|r| r.target.as_ref());
        let own = |word: &selfheal_syntax::shell::Word| {
            let mut values = unit.values.alternatives(word, line).into_iter();
            values.all(|value| self.places().of(&value) == Place::OwnTemporary)
        };
        let harmless =
            |word: &selfheal_syntax::shell::Word| !nothing || word.text.starts_with("/dev/") || own(word);
        if let Some(target) = target.filter(|target| !harmless(target)) {
            let subject = format!("> {}", target.text.replace(['"', '\''], ""));
            let outside =
                unit.values.alternatives(target, line).iter().any(|value| {
                    matches!(self.places().of(value), Place::Outside | Place::Home | Place::Above)
                });
            let danger = if outside { Danger::High } else { Danger::Medium };
            self.hit((line, &subject), danger, "danger/overwrite", "it empties a file");
        }
    }

    /// Statements of which nothing in particular is a command: redirections of lone statements, functions as a whole.
    pub(super) fn whole(&mut self, unit: &Unit<'_>) {
        for command in unit.script.commands().iter().filter(|command| command.kind == CommandKind::Assignment)
        {
            self.emptied(unit, command, command.lines.0);
        }
    }
}
