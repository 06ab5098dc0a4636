//! Where the functions of a script stand and what they run, looked up once for all calls.

use std::collections::BTreeMap;

use selfheal_syntax::shell::{CommandKind, Script, Word};

/// Commands that only say or keep what they get.
const HARMLESS: &[&str] =
    &["echo", "printf", "test", "local", "return", "exit", "logger", "date", "cat", "tee", "shift", "cd"];

/// One function by its name.
#[derive(Debug, Default)]
pub struct Known {
    /// The last place where it is defined: an index into the functions.
    pub last: usize,
    /// Whether it runs its arguments, or gives them to something that can do harm.
    pub acts_on_arguments: bool,
    /// Where it is called in a pipeline or in the background, in bytes of the text, ascending.
    pub beside: Vec<usize>,
}

/// The functions of a script.
#[derive(Debug, Default)]
pub struct Index(BTreeMap<String, Known>);

impl Index {
    /// Reads a script.
    pub fn of(script: &Script) -> Self {
        let mut out: BTreeMap<String, Known> = BTreeMap::new();
        for (at, function) in script.functions().iter().enumerate() {
            out.entry(function.name.clone()).or_default().last = at;
        }
        if out.is_empty() {
            return Self(out);
        }
        for command in script.commands() {
            let around = command.context.function.as_ref().and_then(|name| out.get_mut(name));
            if let Some(known) = around {
                known.acts_on_arguments |= command.kind == CommandKind::Simple
                    && command.words.iter().any(positional)
                    && !HARMLESS.iter().any(|name| command.is(name));
            }
            let beside = command.context.background || command.context.pipeline.is_some();
            if let Some(known) = command.name().filter(|_| beside).and_then(|name| out.get_mut(&name)) {
                known.beside.push(command.span.start);
            }
        }
        out.values_mut().for_each(|known| known.beside.sort_unstable());
        Self(out)
    }

    /// A function by its name.
    pub fn get(&self, name: &str) -> Option<&Known> {
        self.0.get(name)
    }
}

fn positional(word: &Word) -> bool {
    word.expansions()
        .any(|e| e.name == "@" || e.name == "*" || e.name.starts_with(|c: char| c.is_ascii_digit()))
}
