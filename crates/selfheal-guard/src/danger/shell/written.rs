//! Scripts that a script writes and then runs.

use selfheal_syntax::Language;
use selfheal_syntax::shell::{Command, Word};

use super::{Stdin, Unit, Walk, code};

/// How many texts are kept, and how long one may be.
const MAX_TEXTS: usize = 32;
const MAX_BYTES: usize = 32 * 1024;

impl Walk<'_> {
    /// Remembers a text that a command writes to a file whose name is known.
    pub(super) fn remember_written(
        &mut self,
        unit: &Unit<'_>,
        command: &Command,
        index: usize,
        stdin: &Stdin,
    ) {
        let redirect = command.redirects.iter().find(|redirect| redirect.writes());
        let tee = command.is("tee");
        let target = match redirect.and_then(|redirect| redirect.target.as_ref()) {
            Some(target) => Some(target),
            None => command.arguments().iter().find(|word| tee && !word.text.starts_with('-')),
        };
        let Some(name) = target.and_then(Word::literal).filter(|name| !name.starts_with("/dev/")) else {
            return;
        };
        let text = if tee { stdin.clone() } else { self.output_of(unit, command, index, stdin) };
        let Stdin::Text(text) = text else { return };
        let appends = redirect.is_some_and(|redirect| redirect.operator.contains(">>"));
        let key = name.trim_start_matches("./").to_owned();
        if text.len() > MAX_BYTES || self.written.len() >= MAX_TEXTS {
            return;
        }
        let own = self.written.entry(key).or_default();
        if !appends {
            own.clear();
        }
        if own.len() + text.len() < MAX_BYTES {
            own.push_str(&text);
            own.push('\n');
        }
    }

    /// Judges a file that the script wrote before, where it is run now.
    pub(super) fn run_written(&mut self, name: &str, language: Language, (line, subject): (u32, &str)) {
        let Some(text) = self.written.remove(name.trim_start_matches("./")) else { return };
        let first = text.lines().next().unwrap_or_default();
        let named = first
            .starts_with("#!")
            .then(|| ["python", "perl", "ruby", "node"].iter().position(|program| first.contains(program)));
        let language = match named.flatten() {
            Some(0) => Language::Python,
            Some(1) => Language::Perl,
            Some(2) => Language::Ruby,
            Some(_) => Language::Node,
            None => language,
        };
        if language == Language::Shell {
            self.text(&text, &Stdin::Nothing, Some(line));
        } else {
            code::nested(self, language, &text, (line, subject));
        }
        self.written.insert(name.trim_start_matches("./").to_owned(), text);
    }
}
