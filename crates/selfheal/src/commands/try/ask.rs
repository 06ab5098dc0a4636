//! Asks the person at the terminal what is to become of it.

use std::io::{BufRead, Write};
use std::path::PathBuf;

use selfheal_core::scene::absolute;
use selfheal_exec::commit::Draft;

use super::pattern::fits;
use crate::context::Context;

/// What is to become of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// All of it is put in place.
    All,
    /// Only these paths, with what lies below them.
    Some(Vec<PathBuf>),
    /// It is kept, and nothing is done now.
    Later,
    /// It is thrown away.
    ThrowAway,
}

/// Asks; whoever says nothing clear throws it away.
pub(super) fn choice(context: &Context, draft: &Draft) -> Choice {
    let texts = context.texts();
    let answer = line(&texts.say("try-ask", &[]));
    match answer.to_lowercase().as_str() {
        "a" | "all" | "y" | "yes" => Choice::All,
        "s" | "some" => match some(context, draft) {
            paths if paths.is_empty() => Choice::ThrowAway,
            paths => Choice::Some(paths),
        },
        "l" | "later" => Choice::Later,
        _ => Choice::ThrowAway,
    }
}

/// Paths or patterns, one a line, until an empty one.
fn some(context: &Context, draft: &Draft) -> Vec<PathBuf> {
    let mut chosen = Vec::new();
    let mut prompt = context.texts().say("try-ask-which", &[]);
    loop {
        let word = line(&prompt);
        if word.is_empty() {
            return chosen;
        }
        let path = absolute(&context.cwd, &PathBuf::from(&word));
        let fitting: Vec<PathBuf> = draft
            .entries
            .iter()
            .map(|entry| &entry.path)
            .filter(|known| known.starts_with(&path) || fits(&word, &context.cwd, known))
            .cloned()
            .collect();
        let found = [("n", fitting.len().to_string())];
        let values: Vec<(&str, &str)> = found.iter().map(|(name, value)| (*name, value.as_str())).collect();
        prompt = context.texts().say("try-ask-more", &values);
        chosen.extend(fitting);
    }
}

/// The paths that were changed at or below others.
pub(super) fn below(draft: &Draft, paths: &[PathBuf]) -> Vec<PathBuf> {
    let known = draft.entries.iter().map(|entry| &entry.path);
    known.filter(|known| paths.iter().any(|path| known.starts_with(path))).cloned().collect()
}

/// Shows a question and reads one line; nothing at the end of the input.
fn line(question: &str) -> String {
    let mut error = std::io::stderr();
    let mut answer = String::new();
    if write!(error, "{question} ").and_then(|()| error.flush()).is_ok() {
        // An error is no answer.
        let _ = std::io::stdin().lock().read_line(&mut answer);
    }
    answer.trim().to_owned()
}
