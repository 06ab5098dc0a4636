//! Command substitutions whose result follows from the text: `dirname`, `basename`, `pwd` behind `cd`, `echo`, `printf`.

use std::rc::Rc;

use super::{Unknown, Value, Values};
use crate::shell::word::unescape;
use crate::shell::{Command, Script, Word};

/// Substitutions longer than this are not looked at, in bytes.
const MAX_BYTES: usize = 2_048;
/// How many substitutions are kept parsed.
const MAX_KEPT: usize = 256;
/// The commands whose output can follow from the text. Nothing else needs to be parsed.
const COMPUTED: &[&str] = &["dirname", "basename", "realpath", "readlink", "echo", "printf", "pwd"];

impl Values<'_> {
    /// What a substitution gives. Its inside is parsed as a script of its own, its variables are those of the outer one.
    pub(super) fn substitute(&self, text: &str, offset: usize, depth: u32) -> Vec<Value> {
        let unknown = Unknown { commands: Some(text.to_owned()), ..Unknown::default() };
        let known = if text.len() <= MAX_BYTES { self.known_result(text, offset, depth) } else { None };
        known.map_or_else(|| vec![Value::unknown(unknown)], |text| vec![Value::text(&text)])
    }

    fn known_result(&self, text: &str, offset: usize, depth: u32) -> Option<String> {
        let script = self.parsed(text)?;
        let plain: Vec<&Command> =
            script.commands().iter().filter(|command| !command.context.substitution).collect();
        match plain.as_slice() {
            [only] if script.body().len() == 1 && only.context.pipeline.is_none() => {
                self.result_of(only, offset, depth)
            }
            [cd, pwd] if cd.is("cd") && pwd.is("pwd") => self.argument(cd.arguments().last()?, offset, depth),
            _ => None,
        }
    }

    fn parsed(&self, text: &str) -> Option<Rc<Script>> {
        if let Some(known) = self.substitutions.borrow().get(text) {
            return known.clone();
        }
        let parse = || Script::parse(text).ok().filter(|script| !script.has_error());
        let script = if may_be_computed(text) { parse().map(Rc::new) } else { None };
        let mut kept = self.substitutions.borrow_mut();
        if kept.len() < MAX_KEPT {
            kept.insert(text.to_owned(), script.clone());
        }
        script
    }

    fn argument(&self, word: &Word, offset: usize, depth: u32) -> Option<String> {
        match self.eval(&word.parts, offset, depth + 1).as_slice() {
            [one] => one.known(),
            _ => None,
        }
    }

    fn result_of(&self, command: &Command, offset: usize, depth: u32) -> Option<String> {
        if !command.redirects.iter().all(|redirect| redirect.descriptor.as_deref() == Some("2")) {
            return None;
        }
        let words: Option<Vec<String>> =
            command.arguments().iter().map(|word| self.argument(word, offset, depth)).collect();
        let words = words?;
        let operands: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "--").collect();
        match (command.name()?.as_str(), operands.as_slice()) {
            ("dirname", [path]) => Some(dirname(path)),
            ("basename", [path]) => Some(basename(path).to_owned()),
            ("basename", [path, suffix]) => {
                let name = basename(path);
                Some(name.strip_suffix(suffix).filter(|short| !short.is_empty()).unwrap_or(name).to_owned())
            }
            ("realpath", [path]) | ("readlink", ["-f" | "-e" | "-m", path]) if path.starts_with('/') => {
                Some((*path).to_owned())
            }
            ("echo", ["-e" | "-n" | "-ne" | "-en", rest @ ..]) => Some(unescape(&rest.join(" "))),
            ("echo", rest) => Some(rest.join(" ")),
            ("printf", ["%s" | "%s\\n", text]) => Some((*text).to_owned()),
            ("printf", [format]) if !format.contains('%') => Some(unescape(format)),
            _ => None,
        }
    }
}

/// Whether one of the computed commands may stand in a text, however it is quoted.
fn may_be_computed(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\' | '\n')).collect();
    // `$'…'` and expansions can spell any name.
    text.trim_start().starts_with('$')
        || text.contains("$'")
        || COMPUTED.iter().any(|name| bare.contains(name))
}

fn dirname(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rfind('/') {
        Some(0) => "/".to_owned(),
        Some(at) => trimmed.get(..at).unwrap_or_default().trim_end_matches('/').to_owned(),
        None if trimmed.is_empty() && !path.is_empty() => "/".to_owned(),
        None => ".".to_owned(),
    }
}

fn basename(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}
