//! Calls of functions of the script, whose bodies are judged with the arguments, and commands in words of other commands.

use selfheal_core::admission::Danger;
use selfheal_syntax::shell::Command;

use super::argv::Arg;
use super::{MAX_CALLS, Stdin, TOO_MUCH, Unit, Walk, runners};

impl Walk<'_> {
    /// Commands that stand in the operand of an expansion: `${x:-$(…)}`.
    pub(super) fn in_operands(&mut self, command: &Command, line: u32) {
        let operands = command.words.iter().flat_map(|word| word.expansions()).map(|e| e.operand.clone());
        let inner: Vec<String> =
            operands.filter(|operand| operand.contains("$(") || operand.contains('`')).take(8).collect();
        for operand in inner {
            self.text(&format!(": \"{operand}\"\n"), &Stdin::Nothing, Some(line));
        }
    }

    /// A call of a function of the script with arguments: its body is judged once more with them.
    pub(super) fn calls(&mut self, unit: &Unit<'_>, list: &[Arg], line: u32) {
        let Some((name, arguments)) = list.split_first() else { return };
        let Some(name) = name.known().filter(|_| !arguments.is_empty()) else { return };
        let Some(known) = unit.index().get(&name) else { return };
        let Some(function) = unit.script.functions().get(known.last) else { return };
        let body = unit.script.slice(&function.span);
        let uses = known.acts_on_arguments;
        let words: Option<Vec<String>> = arguments.iter().map(Arg::known).collect();
        let Some(words) = words.filter(|_| uses && self.depth < 4 && body.len() < 4_096) else { return };
        let quoted = words
            .iter()
            .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
            .collect::<Vec<_>>()
            .join(" ");
        let inner = body.split_once('{').map_or(body, |(_, rest)| rest).trim_end().trim_end_matches('}');
        // The function itself is there only for calls of itself.
        let own = if inner.contains(&name) || quoted.contains(&name) { body } else { "" };
        let text = format!("{own}\nset -- {quoted}\n{inner}\n");
        if self.called.len() > MAX_CALLS {
            return self.hit((line, &name), Danger::High, "danger/too-much", TOO_MUCH);
        }
        if self.called.insert(text.clone()) {
            self.read_already(|walk| walk.part(&text, line));
        }
    }

    /// Looks for a command in the words of one that is not known, and is no function of the script.
    pub(super) fn search(&mut self, unit: &Unit<'_>, list: &[Arg], stdin: &Stdin, line: u32) {
        let Some((name, arguments)) = list.split_first() else { return };
        let Some(name) = name.known() else { return };
        if unit.index().get(&name).is_none() {
            let base = name.rsplit('/').next().unwrap_or(&name);
            runners::judge(self, base, arguments, stdin, line);
        }
    }
}
