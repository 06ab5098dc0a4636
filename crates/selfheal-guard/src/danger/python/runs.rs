//! Programs that Python programs start, and calls that hide what they start.

use selfheal_core::admission::Danger::{High, Medium};
use selfheal_syntax::python::Call;
use selfheal_syntax::values::Piece;

use super::Judge;
use crate::danger::shell;

impl Judge<'_> {
    pub(super) fn runs(&mut self, call: &Call, subject: &str) {
        let Some(first) = call.arguments.first() else { return };
        let Some(node) = self.node_at(first) else { return };
        let words = self.list(node, 0);
        let line = match words {
            Some(words) => words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "),
            None => {
                let value = self.value(first);
                match value.known() {
                    Some(text)
                        if call
                            .arguments
                            .get(1)
                            .and_then(|second| self.node_at(second))
                            .is_some_and(|second| second.kind() == "list") =>
                    {
                        let second = call.arguments.get(1).and_then(|second| self.node_at(second));
                        let words = second.and_then(|second| self.list(second, 0)).unwrap_or_default();
                        let words = words.iter().skip(1).map(|word| shell_word(word)).collect::<Vec<_>>();
                        format!("{text} {}", words.join(" "))
                    }
                    Some(text)
                        if call.arguments.len() > 1
                            && (call.resolved.contains("exec") || call.resolved.contains("spawn")) =>
                    {
                        let rest: Vec<String> = call
                            .arguments
                            .iter()
                            .skip(1)
                            .filter_map(|argument| argument.string.clone())
                            .collect();
                        format!(
                            "{text} {}",
                            rest.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
                        )
                    }
                    Some(text) => text,
                    None if value.pieces.iter().any(|piece| matches!(piece, Piece::Text(_))) => {
                        let put = |piece: &Piece| match piece {
                            Piece::Text(text) | Piece::Glob(text) => text.clone(),
                            Piece::Unknown(_) => "\"$UNKNOWN\"".to_owned(),
                        };
                        value.pieces.iter().map(put).collect()
                    }
                    None => {
                        let decodes = ["b64decode", "fromhex", "decompress", "unhexlify", "decode(", "chr("]
                            .iter()
                            .any(|word| first.text.contains(word));
                        return self.hit(
                            (call.line, subject),
                            if decodes { High } else { Medium },
                            "danger/hidden-command",
                            "which command it runs cannot be known",
                        );
                    }
                }
            }
        };
        for found in shell::operations(&line, self.roots).unwrap_or_default() {
            self.hit((call.line, &found.subject), found.danger, &found.rule, &found.why);
        }
    }

    /// Names that are put together, so that nobody sees what is called.
    pub(super) fn hidden(&mut self, call: &Call, subject: &str) {
        let computed = |at: usize| call.arguments.get(at).is_some_and(|argument| argument.string.is_none());
        let dynamic = match call.resolved.as_str() {
            "getattr" => {
                computed(1)
                    && call.arguments.first().is_some_and(|object| {
                        ["os", "sys", "shutil", "subprocess", "builtins", "__builtins__"]
                            .contains(&object.text.as_str())
                    })
            }
            "importlib.import_module" => {
                computed(0) && call.arguments.first().is_some_and(|argument| argument.text.contains('+'))
            }
            _ => {
                call.callee.contains("__builtins__")
                    || call.callee.contains("globals()")
                    || call.callee.contains("__subclasses__")
            }
        };
        if dynamic {
            self.hit(
                (call.line, subject),
                High,
                "danger/hidden-command",
                "what it calls is put together from parts",
            );
        }
    }

    /// Texts that are given to a shell on its standard input: `communicate("…")`, `input="…"`.
    pub(super) fn fed(&mut self) {
        let shells = [
            "\"bash\"",
            "\"sh\"",
            "'bash'",
            "'sh'",
            "\"/bin/sh\"",
            "\"/bin/bash\"",
            "'/bin/sh'",
            "'/bin/bash'",
        ];
        if !shells.iter().any(|shell| self.module.text().contains(shell)) {
            return;
        }
        for call in self.module.calls() {
            let last = call.callee.rsplit('.').next().unwrap_or_default();
            let argument = match last {
                "communicate" | "write" => call.arguments.first().or_else(|| call.keyword("input")),
                _ => call.keyword("input"),
            };
            let text = argument
                .and_then(|argument| argument.string.clone().or_else(|| self.value(argument).known()));
            for found in text.and_then(|text| shell::operations(&text, self.roots)).unwrap_or_default() {
                self.hit((call.line, &found.subject), found.danger, &found.rule, &found.why);
            }
        }
    }
}

/// A word for a shell line: quoted unless it is plain.
pub(super) fn shell_word(word: &str) -> String {
    let plain = word.chars().all(|c| c.is_alphanumeric() || "/._-=+:@,$".contains(c));
    if plain && !word.is_empty() { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
