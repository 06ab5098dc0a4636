//! Shell options and traps: what is switched off, and what runs at the end.

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::shell::{Command, CommandKind, Script, Trap};
use selfheal_syntax::values::Values;

use super::Sides;
use super::words::name_of;
use crate::finding::{at, whole};

/// The options that make a script end at its first failure.
const STRICT: &[(&str, &str)] = &[
    ("errexit", "`set -e` is gone, so failures no longer end the script"),
    ("nounset", "`set -u` is gone, so unset variables are taken as empty"),
    ("pipefail", "`pipefail` is gone, so only the last member of a pipeline counts"),
];

/// What became of options and traps.
pub fn compare(sides: &Sides) -> Vec<Finding> {
    let (old, new) = (&sides.old.script, &sides.new.script);
    let mut out = Vec::new();
    for (name, why) in STRICT {
        let on =
            |script: &Script| script.set_options().iter().any(|option| option.name == *name && option.on);
        if on(old) && !on(new) {
            out.push(whole(&format!("masking/{name}-removed"), Weight::Refuse, *why));
        }
        out.extend(switched_off(old, new, name));
    }
    out.extend(traps(old, new));
    out
}

/// A new `set +e`: allowed, with a word, only when the status is kept and looked at, and the option comes back.
fn switched_off(old: &Script, new: &Script, name: &str) -> Vec<Finding> {
    let off = |script: &Script| {
        script.set_options().iter().filter(|option| option.name == name && !option.on).count()
    };
    let fresh = off(new).saturating_sub(off(old));
    let all: Vec<_> = new.set_options().iter().filter(|option| option.name == name && !option.on).collect();
    all.iter()
        .rev()
        .take(fresh)
        .map(|option| {
            let back = new
                .set_options()
                .iter()
                .find(|later| later.name == name && later.on && later.offset > option.offset);
            let kept =
                back.is_some_and(|back| name != "errexit" || status_is_kept(new, option.offset, back.offset));
            let weight = if kept { Weight::Medium } else { Weight::Refuse };
            at(&format!("masking/{name}-off"), option.line, weight, format!("`{name}` is switched off"))
        })
        .collect()
}

/// Whether between two offsets `$?` goes into a variable that is looked at later.
fn status_is_kept(script: &Script, from: usize, to: usize) -> bool {
    let kept = script.assignments().filter(|a| (from..to + 40).contains(&a.span.start));
    let kept = kept.filter(|a| a.value.as_ref().is_some_and(|value| value.text.trim_matches('"') == "$?"));
    kept.into_iter().any(|a| {
        script.commands().iter().any(|command| {
            let decides = matches!(command.kind, CommandKind::Test { .. } | CommandKind::Arithmetic)
                || matches!(name_of(command).as_str(), "exit" | "return" | "test");
            decides
                && command.span.start > a.span.end
                && command.words.iter().any(|word| word.uses(&a.name) || word.text.contains(&a.name))
        })
    })
}

fn traps(old: &Script, new: &Script) -> Vec<Finding> {
    let same = |one: &Trap, other: &Trap| one.word.text == other.word.text && one.signals == other.signals;
    let mut out = Vec::new();
    for trap in new.traps().iter().filter(|trap| !old.traps().iter().any(|other| same(trap, other))) {
        if ends_in_success(trap, new) {
            let why = format!("a trap on {} ends the script with success", trap.signals.join(" "));
            out.push(at("masking/trap", trap.line, Weight::Refuse, why));
        }
    }
    for trap in old.traps().iter().filter(|trap| !new.traps().iter().any(|other| same(trap, other))) {
        if trap.signals.iter().any(|signal| signal == "ERR") {
            out.push(whole("masking/trap-removed", Weight::Medium, "a trap on failures is gone or changed"));
        }
    }
    out
}

/// Whether a trap's action, functions followed, says `exit 0`.
fn ends_in_success(trap: &Trap, script: &Script) -> bool {
    let text = trap.action.clone().unwrap_or_else(|| trap.word.text.trim_matches('"').to_owned());
    let Ok(action) = Script::parse(&text) else { return true };
    let values = Values::in_any_environment(&action);
    let success = |command: &Command| {
        let code = command.arguments().first().and_then(|word| values.resolve(word, command.lines.0).known());
        let exits = name_of(command) == "exit" && code.as_deref() == Some("0");
        exits
            || (name_of(command) == "exec"
                && command.arguments().first().is_some_and(|word| matches!(word.text.as_str(), "true" | ":")))
    };
    let mut names = action.commands().iter().map(name_of);
    let inside = |name: &str| {
        let commands = script.commands().iter();
        commands.filter(|command| command.context.function.as_deref() == Some(name)).any(success)
    };
    action.commands().iter().any(success) || names.any(|name| inside(&name))
}
