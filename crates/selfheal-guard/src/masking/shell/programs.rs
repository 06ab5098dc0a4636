//! Programs in other languages that a script holds: here-documents that an interpreter reads, and texts behind `-c` and
//! `-e`. Each is compared like a file of its own.

use selfheal_core::admission::Finding;
use selfheal_syntax::Language;
use selfheal_syntax::shell::{Command, Heredoc, Word};

use super::words::inner_name;
use super::{Side, Sides};

/// How many programs of one script are compared.
const MAX_PROGRAMS: usize = 32;

/// What the changes of programs inside of a script hide.
pub fn compare(sides: &Sides) -> Vec<Finding> {
    let mut out = Vec::new();
    let (old, new) = (programs(&sides.old), programs(&sides.new));
    // Without a counterpart nothing can be compared; that a step is gone or new is told elsewhere.
    if old.len() != new.len() || new.len() > MAX_PROGRAMS {
        return out;
    }
    for (before, after) in old.iter().zip(&new) {
        if before.language == after.language && before.text != after.text {
            let found = crate::masking::judged(after.language, &before.text, &after.text).into_iter();
            out.extend(found.map(|one| Finding { line: one.line.map(|line| line + after.above), ..one }));
        }
    }
    out
}

/// A program inside of a script.
struct Program {
    language: Language,
    text: String,
    /// The lines in front of its first one.
    above: u32,
}

fn programs(side: &Side) -> Vec<Program> {
    let script = &side.script;
    let documents = script.heredocs().iter().filter_map(|one| document(side, one));
    let texts = script.commands().iter().filter_map(given);
    documents.chain(texts).collect()
}

fn document(side: &Side, document: &Heredoc) -> Option<Program> {
    let command = side.script.commands().get(document.command?)?;
    let language = language_of(command)?;
    let above = side.script.lines().line_of(document.span.start).saturating_sub(1);
    Some(Program { language, text: document.body.clone(), above })
}

/// The text behind `-c` or `-e`.
fn given(command: &Command) -> Option<Program> {
    let language = language_of(command).filter(|language| *language != Language::Sql)?;
    // A shell's `-e` is its strict mode.
    let takes = |word: &Word| word.text == "-c" || word.text == "-e" && language != Language::Shell;
    let at = command.words.iter().position(takes)?;
    let text = command.words.get(at + 1).and_then(Word::literal)?;
    Some(Program { language, text, above: command.lines.0.saturating_sub(1) })
}

fn language_of(command: &Command) -> Option<Language> {
    let name = inner_name(command);
    match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "python" => Some(Language::Python),
        "perl" => Some(Language::Perl),
        "ruby" => Some(Language::Ruby),
        "node" | "nodejs" => Some(Language::Node),
        "psql" | "mysql" | "mariadb" | "sqlite" => Some(Language::Sql),
        "bash" | "sh" | "dash" | "ksh" => Some(Language::Shell),
        _ => None,
    }
}
