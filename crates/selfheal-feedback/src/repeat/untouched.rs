//! Appends that came to nothing: the same run in a box, which ended the same way, shows that the file did not grow.
//!
//! `>> out/report.csv` in a folder that is missing appends nothing, and may stand in a run that happens again.

use std::path::Path;

use selfheal_core::effects::Effect;
use selfheal_core::scene::absolute;
use selfheal_syntax::shell::{Redirect, Script};
use selfheal_syntax::values::{Resolved, Values};

use super::shell::parse;

/// Folders whose files a box does not show, or that are no files.
const UNSEEN: [&str; 6] = ["/dev", "/proc", "/sys", "/run", "/tmp", "/var/tmp"];

/// Whether all that a line of a shell script appends to is known by name, and was left as it was.
pub fn by(script: &str, line: u32, cwd: &Path, effects: &[Effect]) -> bool {
    let Some(script) = parse(script) else { return false };
    let values = Values::in_any_environment(&script);
    let moves = script.commands().iter().any(|command| {
        command.words.first().is_some_and(|word| matches!(word.text.as_str(), "cd" | "pushd" | "popd"))
    });
    let mut appends = script
        .redirects()
        .into_iter()
        .filter(|redirect| redirect.operator.ends_with(">>") && line_of(&script, redirect) == line)
        .peekable();
    appends.peek().is_some()
        && appends.all(|redirect| {
            let Some(Resolved::Known(target)) =
                redirect.target.as_ref().map(|word| values.resolve(word, line))
            else {
                return false;
            };
            let path = absolute(cwd, Path::new(&target));
            let seen = !UNSEEN.iter().any(|folder| path.starts_with(folder)) || path.starts_with(cwd);
            seen && (!moves || Path::new(&target).is_absolute())
                && !effects.iter().any(|effect| effect.path == path)
        })
}

fn line_of(script: &Script, redirect: &Redirect) -> u32 {
    script.lines().line_of(redirect.span.start)
}
