//! What never ends: output without end, functions that start themselves, loops that start more and more.

use selfheal_core::admission::Danger;
use selfheal_syntax::shell::{Command, LoopKind, Statement};

use super::{Unit, Walk};

impl Walk<'_> {
    /// Output without end into a file.
    pub(super) fn unending(&mut self, command: &Command, line: u32) {
        let source = command.is("yes")
            || command
                .words
                .iter()
                .any(|word| matches!(word.text.as_str(), "/dev/zero" | "/dev/urandom" | "/dev/random"));
        let writes = command
            .redirects
            .iter()
            .any(|r| r.writes() && r.target.as_ref().is_some_and(|t| !t.text.starts_with("/dev/")));
        if source && writes && !command.is("head") && !command.is("dd") {
            self.hit((line, "endless output"), Danger::High, "danger/exhaustion", "it writes without end");
        }
    }

    pub(super) fn fork_bomb(&mut self, unit: &Unit<'_>, index: usize) {
        let Some(function) = unit.script.functions().get(index) else { return };
        let beside =
            unit.index().get(&function.name).map(|known| known.beside.as_slice()).unwrap_or_default();
        let first = beside.partition_point(|start| *start < function.span.start);
        if beside.get(first).is_some_and(|start| function.span.contains(start)) {
            self.hit(
                (function.lines.0, &function.name),
                Danger::High,
                "danger/exhaustion",
                "a function starts itself again and again",
            );
        }
    }

    pub(super) fn endless(&mut self, unit: &Unit<'_>, index: usize, condition: &[Statement]) {
        let Some(one) = unit.script.loops().get(index) else { return };
        let text = unit.script.slice(&one.span);
        let head = text.split("do").next().unwrap_or_default();
        let always = match one.kind {
            LoopKind::While => {
                condition.len() == 1
                    && [" :", " true", " ((1))", " [ 1 ]"]
                        .iter()
                        .any(|word| head.trim_end_matches([';', '\n', ' ']).ends_with(word))
            }
            LoopKind::Arithmetic => head.contains(";;"),
            LoopKind::Until => head.trim_end_matches([';', '\n', ' ']).ends_with(" false"),
            LoopKind::For | LoopKind::Select => false,
        };
        let inside = |command: &&Command| one.body.contains(&command.span.start);
        let leaves = unit.script.commands().iter().filter(inside).any(|command| {
            ["break", "exit", "return", "read", "sleep", "wait"]
                .iter()
                .any(|name| command.is(name) && !command.context.background)
        });
        let starts = unit.script.commands().iter().filter(inside).any(|command| {
            command.context.background
                || ["cp", "dd", "tee", "mkdir", "touch", "mv", "tar"].iter().any(|name| command.is(name))
                || command.redirects.iter().any(|r| r.operator == ">>")
        });
        if always && !leaves && starts {
            self.hit(
                (one.line, "endless loop"),
                Danger::High,
                "danger/exhaustion",
                "a loop without end starts or writes more and more",
            );
        }
    }
}
