//! The steps of the work: which of them are gone, replaced, shadowed, made conditional or cannot be reached any more.

use std::collections::{BTreeMap, BTreeSet};

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::shell::{Command, CommandKind};

use super::classify::Classifier;
use super::guards::{GuardKind, asks_for_empty_work, asks_for_loop_item, guards};
use super::handling::Handling;
use super::words::{inner_name, is_step, key_of, name_of, plain, plain_text, plain_words};
use super::{Side, Sides};
use crate::finding::at;

/// For each command of the new script the one of the old that it was: first those with the same words, then those of the
/// same name with the most words in common.
pub fn origins(old: &Side, new: &Side) -> Vec<Option<usize>> {
    let mut free: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, command) in old.script.commands().iter().enumerate().rev() {
        free.entry(identity(command)).or_default().push(at);
    }
    let new = new.script.commands();
    let mut out: Vec<Option<usize>> =
        new.iter().map(|c| free.get_mut(&identity(c)).and_then(Vec::pop)).collect();
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for at in free.into_values().flatten() {
        if let Some(command) = old.script.commands().get(at) {
            by_name.entry(inner_name(command)).or_default().push(at);
        }
    }
    for (command, origin) in new.iter().zip(&mut out) {
        let fixed = matches!(
            command.kind,
            CommandKind::Assignment | CommandKind::Test { .. } | CommandKind::Arithmetic
        );
        // An `exit 0` is not the `exit 1` that it took the place of.
        let alone = ["exit", "return", "test"].iter().any(|name| command.is(name));
        if origin.is_none() && !fixed && !alone {
            *origin = by_name.get_mut(&inner_name(command)).and_then(|all| take_nearest(all, command, old));
        }
    }
    out
}

fn identity(command: &Command) -> String {
    let assigned: Vec<&str> = command.assignments.iter().map(|a| a.name.as_str()).collect();
    format!("{:?} {} {}", std::mem::discriminant(&command.kind), key_of(command), assigned.join(" "))
}

/// Of at most 64 candidates the one that shares most words.
fn take_nearest(all: &mut Vec<usize>, command: &Command, old: &Side) -> Option<usize> {
    let words: BTreeSet<String> = plain_words(command).into_iter().collect();
    let shared = |at: &usize| {
        let other = old.script.commands().get(*at).map(plain_words).unwrap_or_default();
        other.iter().filter(|word| words.contains(*word)).count()
    };
    let (place, _) =
        all.iter().take(64).enumerate().max_by_key(|(place, at)| (shared(at), usize::MAX - place))?;
    Some(all.remove(place))
}

/// What became of the steps.
pub fn compare(sides: &Sides) -> Vec<Finding> {
    let mut out = unreachable(sides);
    out.extend(wrapped(sides));
    out.extend(empty_loop(sides));
    out.extend(gone(sides));
    out.extend(shadowed(sides));
    out.extend(conditional(sides));
    out
}

fn old_of(sides: &Sides, new: usize) -> Option<(usize, &Command)> {
    let at = sides.origin.get(new).copied().flatten()?;
    sides.old.script.commands().get(at).map(|command| (at, command))
}

fn unreachable(sides: &Sides) -> Vec<Finding> {
    let mut out = Vec::new();
    for (index, command) in sides.new.script.commands().iter().enumerate() {
        let Some((origin, old)) = old_of(sides, index) else { continue };
        let was = sides.old.reached.get(origin) == Some(&true);
        if is_step(old) && was && sides.new.reached.get(index) == Some(&false) {
            let why = format!("`{}` can no longer be reached", inner_name(command));
            out.push(at("masking/unreachable", command.lines.0, Weight::Refuse, why));
        }
    }
    out
}

/// `eval "step || true"`, `bash -c "step; true"`: steps that went into a text that hides their failure.
fn wrapped(sides: &Sides) -> Vec<Finding> {
    let fresh = sides.new.script.commands().iter().zip(&sides.origin).filter(|(_, origin)| origin.is_none());
    let hides = |text: &str| {
        let squeezed: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        ["|| true", "|| :", "||true", "; true", ";true", "exit 0", "|| echo", "set +e"]
            .iter()
            .any(|end| squeezed.contains(end))
    };
    let swallowed = sides.new.script.commands().iter().zip(&sides.new.handling).zip(&sides.origin).filter(
        |((command, handling), origin)| {
            let runs = ["eval", "bash", "sh"].iter().any(|name| command.is(name));
            runs && origin.is_none() && matches!(handling, Handling::Swallowed(how) if how.explicit)
        },
    );
    let old =
        sides.old.script.commands().iter().filter(|command| is_step(command)).map(key_of).collect::<Vec<_>>();
    let holds = |command: &Command| {
        command.arguments().iter().any(|word| old.iter().any(|step| plain(word).contains(step.as_str())))
    };
    let lost = swallowed.filter(|((command, _), _)| holds(command)).map(|((command, _), _)| {
        at(
            "masking/swallowed",
            command.lines.0,
            Weight::Refuse,
            "a text that it runs may fail without anybody noticing",
        )
    });
    let mut out: Vec<Finding> = lost.collect();
    let runs = fresh
        .filter(|(command, _)| ["eval", "bash", "sh", "dash", "ksh"].iter().any(|name| command.is(name)));
    let had: BTreeSet<String> = sides.old.script.commands().iter().map(key_of).collect();
    let carried = sides.new.script.commands().iter().filter(|command| {
        let shell =
            command.arguments().iter().any(|word| matches!(word.text.as_str(), "sh" | "bash" | "dash"));
        shell
            && !had.contains(&key_of(command))
            && ["xargs", "find", "parallel", "timeout"].contains(&name_of(command).as_str())
    });
    out.extend(carried.filter(|command| command.arguments().iter().any(|word| hides(&word.text))).map(
        |command| {
            let why = "a text that it runs for each item hides failures";
            at("masking/swallowed", command.lines.0, Weight::Refuse, why)
        },
    ));
    let hidden = runs.filter(|(command, _)| command.arguments().iter().any(|word| hides(&word.text)));
    out.extend(hidden.map(|(command, _)| {
        let why = "a text that it runs hides failures";
        at("masking/swallowed", command.lines.0, Weight::Refuse, why)
    }));
    out
}

/// `for x in; do`: the grammar does not read it, the shell runs it no times.
fn empty_loop(sides: &Sides) -> Option<Finding> {
    let line = |text: &str| {
        let squeezed = text.lines().map(|line| line.split_whitespace().collect::<String>());
        squeezed
            .enumerate()
            .find(|(_, line)| line.starts_with("for") && line.contains("in;do"))
            .map(|(at, _)| at as u32 + 1)
    };
    let found = line(sides.new.script.text()).filter(|_| line(sides.old.script.text()).is_none())?;
    Some(at("masking/unreachable", found, Weight::Refuse, "a loop turns over nothing"))
}

fn gone(sides: &Sides) -> Vec<Finding> {
    let kept: BTreeSet<usize> = sides.origin.iter().copied().flatten().collect();
    let lost = sides.old.script.commands().iter().enumerate().filter(|(at, command)| {
        is_step(command) && sides.old.reached.get(*at) == Some(&true) && !kept.contains(at)
    });
    let fresh: Vec<&Command> = sides
        .new
        .script
        .commands()
        .iter()
        .enumerate()
        .filter(|(at, command)| {
            sides.origin.get(*at) == Some(&None)
                && sides.new.reached.get(*at) == Some(&true)
                && is_step(command)
        })
        .map(|(_, command)| command)
        .collect();
    let grown = grown(sides);
    let mut used = 0;
    let mut out = Vec::new();
    for (_, command) in lost {
        let name = inner_name(command);
        let line = command.lines.0.min(sides.new.script.lines().count().max(1));
        if lives_on(command, sides, &grown) {
            let why = format!("`{name}` stands elsewhere now");
            out.push(at("masking/step-moved", line, Weight::Note, why));
        } else if read_otherwise(command, sides) {
            let why = format!("the shell itself now does what `{name}` did");
            out.push(at("masking/step-renamed", line, Weight::Note, why));
        } else if let Some(starter) = detached(command, sides) {
            let why = format!("`{name}` is started elsewhere, and nobody sees how it ends");
            out.push(at("masking/background", starter.lines.0, Weight::Refuse, why));
        } else if let Some(heir) = fresh.iter().find(|heir| alike(heir, command)) {
            let why = format!("`{name}` became `{}`", inner_name(heir));
            out.push(at("masking/step-renamed", heir.lines.0, Weight::Note, why));
        } else if used < fresh.len() {
            used += 1;
            let why = format!("the step `{name}` is replaced by another command");
            out.push(at("masking/step-replaced", line, Weight::Medium, why));
        } else {
            // What of a broken script was a step nobody knows.
            let weight = if sides.old.script.has_error() { Weight::Medium } else { Weight::Refuse };
            out.push(at("masking/step-deleted", line, weight, format!("the step `{name}` is gone")));
        }
    }
    out
}

/// The words of the commands that are new, where a continuation may have been mended.
fn grown(sides: &Sides) -> Vec<Vec<String>> {
    if !sides.old.script.text().contains('\\') {
        return Vec::new();
    }
    let had: BTreeSet<String> = sides.old.script.commands().iter().map(key_of).collect();
    let fresh = sides.new.script.commands().iter().filter(|other| !had.contains(&key_of(other)));
    fresh.map(plain_words).collect()
}

/// Whether a command runs from a trap now, or its words became arguments of another: a continuation was mended.
fn lives_on(command: &Command, sides: &Sides, grown: &[Vec<String>]) -> bool {
    let words = plain_words(command);
    let script = &sides.new.script;
    let key = words.join(" ");
    let trapped = script.traps().iter().any(|trap| {
        let text = plain(&trap.word);
        let inside: BTreeSet<&str> = text.split([' ', ';', '\n', '&']).collect();
        let mut named = words.iter().filter(|word| !word.starts_with('-')).peekable();
        text.contains(&key) || named.peek().is_some() && named.all(|word| inside.contains(word.as_str()))
    }) || became_assignment(command, sides);
    let joined = grown.iter().any(|all| all.len() > words.len() && all.ends_with(&words));
    trapped || joined
}

/// A new command that starts an old step and does not wait for it: `at`, `coproc`, `systemd-run --no-block`.
fn detached<'a>(step: &Command, sides: &'a Sides) -> Option<&'a Command> {
    const STARTERS: &[&str] =
        &["at", "batch", "coproc", "daemonize", "daemon", "tsp", "disown", "pm2", "start-stop-daemon"];
    const UNLESS_WAITING: &[(&str, &[&str])] = &[
        ("systemd-run", &["--no-block", "--on-active", "--on-calendar", "--on-active="]),
        ("screen", &["-dm", "-dmS", "-d"]),
        ("tmux", &["new", "new-session", "-d"]),
        ("setsid", &["-f", "--fork"]),
        ("docker", &["-d", "--detach"]),
    ];
    let script = &sides.new.script;
    let key = key_of(step);
    let fresh = script.commands().iter().zip(&sides.origin).filter(|(_, origin)| origin.is_none());
    let mut starters = fresh.map(|(command, _)| command).filter(|command| {
        let name = inner_name(command);
        let words = plain_words(command);
        let flagged = UNLESS_WAITING
            .iter()
            .find(|(own, _)| command.is(own))
            .is_some_and(|(_, flags)| words.iter().any(|word| flags.contains(&word.as_str())));
        STARTERS.contains(&name.as_str()) || STARTERS.iter().any(|own| command.is(own)) || flagged
    });
    starters.next().filter(|_| plain_text(script.text()).contains(&key))
}

/// `name = value`, `name= value`, `$name=value` became `name=value`.
fn became_assignment(command: &Command, sides: &Sides) -> bool {
    let text: String = sides.old.script.slice(&command.span).split_whitespace().collect();
    let text = plain_text(text.trim_start_matches('$'));
    let had: BTreeSet<&str> = sides.old.script.assignments().map(|a| a.name.as_str()).collect();
    let emptied = |name: &str| command.assignments.iter().any(|a| a.name == name);
    sides.new.script.assignments().filter(|a| !had.contains(a.name.as_str()) || emptied(&a.name)).any(|a| {
        let value = a.value.as_ref().map(plain).unwrap_or_default();
        let value: String = value.split_whitespace().collect();
        !value.is_empty() && text == format!("{}={value}", a.name)
    })
}

/// `cat file | …` became `… < file`, `$(ls dir/*)` became `dir/*`: whether the new script reads the same operands.
fn read_otherwise(command: &Command, sides: &Sides) -> bool {
    if !matches!(inner_name(command).as_str(), "cat" | "ls" | "echo" | "find") {
        return false;
    }
    let script = &sides.new.script;
    let redirected = script.redirects().into_iter().filter_map(|redirect| redirect.target.as_ref());
    let listed = script.loops().iter().filter_map(|one| one.list.as_ref()).flatten();
    let read: BTreeSet<String> = redirected.chain(listed).map(plain).collect();
    let mut operands = command.arguments().iter().map(plain).filter(|word| !word.starts_with('-'));
    let named: BTreeSet<String> = script.commands().iter().flat_map(|c| c.arguments()).map(plain).collect();
    let slurped = |word: &String| {
        let text = plain_text(script.text());
        text.contains(&format!("$(<{word}")) || text.contains(&format!("$(< {word}"))
    };
    command.words.len() > 1
        && operands.all(|word| {
            let inside = format!("{}/*", word.trim_end_matches('/'));
            read.contains(&word)
                || read.iter().any(|other| other.starts_with(&inside))
                || named.contains(&word)
                || slurped(&word)
        })
}

/// Whether most operands of two commands are the same.
fn alike(one: &Command, other: &Command) -> bool {
    let operands = |command: &Command| -> BTreeSet<String> {
        command.arguments().iter().map(plain).filter(|word| !word.starts_with('-')).collect()
    };
    let (one, other) = (operands(one), operands(other));
    !other.is_empty() && one.intersection(&other).count() * 2 >= other.len().max(1)
}

fn shadowed(sides: &Sides) -> Vec<Finding> {
    let steps: BTreeSet<String> =
        sides.old.script.commands().iter().filter(|c| is_step(c)).map(inner_name).collect();
    let had: BTreeSet<&str> = sides.old.script.functions().iter().map(|f| f.name.as_str()).collect();
    let mut out = Vec::new();
    for function in sides.new.script.functions() {
        if steps.contains(&function.name) && !had.contains(function.name.as_str()) {
            let why = format!("a new function takes the place of the command `{}`", function.name);
            out.push(at("masking/shadowed", function.lines.0, Weight::Refuse, why));
        }
    }
    for (index, command) in sides.new.script.commands().iter().enumerate() {
        if sides.origin.get(index) != Some(&None) {
            continue;
        }
        let aliased = command
            .arguments()
            .iter()
            .any(|word| plain(word).split_once('=').is_some_and(|(name, _)| steps.contains(name)));
        if command.is("alias") && aliased
            || command.is("hash") && command.arguments().iter().any(|word| word.text == "-p")
        {
            out.push(at(
                "masking/shadowed",
                command.lines.0,
                Weight::Refuse,
                "a command of the script is given another meaning",
            ));
        }
    }
    out.extend(path_stub(sides));
    out
}

/// A folder of the script's own making in front of the PATH.
fn path_stub(sides: &Sides) -> Option<Finding> {
    let old: BTreeSet<&str> = sides
        .old
        .script
        .assignments()
        .filter(|a| a.name == "PATH")
        .filter_map(|a| a.value.as_ref())
        .map(|v| v.text.as_str())
        .collect();
    let new = sides.new.script.assignments().filter(|a| a.name == "PATH").filter(|a| {
        let Some(value) = &a.value else { return false };
        let first = plain(value);
        let first = first.split(':').next().unwrap_or_default();
        let own = !first.starts_with(['/', '~', '$']) || first.starts_with("/tmp") || is_filled(sides, first);
        !old.contains(value.text.as_str()) && own
    });
    let found = new.into_iter().next()?;
    Some(at(
        "masking/path-stub",
        found.line,
        Weight::Refuse,
        "a folder of the script's own comes first on the PATH",
    ))
}

/// Whether a new command writes into a folder of this name.
fn is_filled(sides: &Sides, folder: &str) -> bool {
    let name = folder.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let fresh = sides.new.script.commands().iter().zip(&sides.origin).filter(|(_, origin)| origin.is_none());
    let mut words = fresh.flat_map(|(command, _)| {
        let targets = command.redirects.iter().filter_map(|redirect| redirect.target.as_ref());
        command.arguments().iter().chain(targets)
    });
    !name.is_empty() && !name.starts_with('$') && words.any(|word| plain(word).contains(&format!("{name}/")))
}

/// Steps that run only under a new condition, with nothing failing otherwise.
fn conditional(sides: &Sides) -> Vec<Finding> {
    let script = &sides.new.script;
    let classifier = Classifier::of(script);
    let mut out = Vec::new();
    for (index, command) in script.commands().iter().enumerate() {
        let Some((origin, old)) = old_of(sides, index) else { continue };
        let Some(handling) = sides.old.handling.get(origin) else { continue };
        let conditional = command.context.branch || command.context.after.is_some();
        if !is_step(old)
            || !conditional
            || command.is("source")
            || command.is(".")
            || matches!(handling, Handling::Swallowed(_))
        {
            continue;
        }
        let before = guards(&sides.old.script, origin).len();
        for guard in guards(script, index).into_iter().skip(before) {
            let alone = guard.kind == GuardKind::Or
                && guard
                    .condition
                    .iter()
                    .filter_map(|at| script.commands().get(*at))
                    .all(|test| asks_for_a_switch(test, script));
            if !(matches!(guard.kind, GuardKind::And | GuardKind::Then)
                || alone && !guard.condition.is_empty())
                || guard.otherwise.is_some_and(|other| classifier.ends_badly(other))
            {
                continue;
            }
            let tests: Vec<&Command> =
                guard.condition.iter().filter_map(|at| script.commands().get(*at)).collect();
            let fresh = guard.condition.iter().any(|at| sides.origin.get(*at) == Some(&None));
            let fine = tests
                .iter()
                .any(|test| asks_for_loop_item(test, script) || asks_for_empty_work(test, script));
            let last = guard.kind == GuardKind::And
                && script.body().last().is_some_and(|last| last.span.end >= command.span.end);
            if !fresh || fine || last {
                continue;
            }
            if is_removal(command) {
                continue;
            }
            let about_it = tests.iter().any(|test| shares_operand(test, command));
            let switch = tests.iter().any(|test| asks_for_a_switch(test, script));
            let refused = switch || about_it && *handling != Handling::Ignored;
            let weight = if refused { Weight::Refuse } else { Weight::Medium };
            let why = format!(
                "`{}` now runs only under a condition, and nothing fails otherwise",
                inner_name(command)
            );
            out.push(at("masking/skipped-step", command.lines.0, weight, why));
        }
    }
    out
}

/// Whether a test asks about an operand of a command.
fn shares_operand(test: &Command, command: &Command) -> bool {
    let operands: BTreeSet<String> =
        command.arguments().iter().map(plain).filter(|word| !word.starts_with('-')).collect();
    // A path below what is asked about counts too: `mountpoint -q /mnt/b`, then `cp x /mnt/b/`.
    let below = |asked: &str| {
        asked.len() > 1
            && operands
                .iter()
                .any(|operand| operand.strip_prefix(asked).is_some_and(|rest| rest.starts_with('/')))
    };
    let asked = test.words.iter().skip(usize::from(test.kind == CommandKind::Simple));
    let names: BTreeSet<&str> =
        command.arguments().iter().flat_map(|word| word.expansions()).map(|e| e.name.as_str()).collect();
    asked.into_iter().any(|word| {
        let text = plain(word);
        !text.starts_with('-')
            && (operands.contains(&text)
                || below(text.trim_end_matches('/'))
                || word.expansions().any(|e| names.contains(e.name.as_str())))
    })
}

/// Whether a command takes something away that need not be there.
fn is_removal(command: &Command) -> bool {
    let name = inner_name(command);
    let words: Vec<String> = plain_words(command);
    let has = |word: &str| words.iter().any(|own| own == word);
    matches!(
        name.as_str(),
        "rm" | "rmdir" | "unlink" | "umount" | "kill" | "pkill" | "killall" | "swapoff" | "deactivate"
    ) || has("rm")
        || has("stop")
        || has("down")
}

/// Whether a test asks for a variable of the environment that the script itself never sets: a switch that nobody turns.
fn asks_for_a_switch(test: &Command, script: &selfheal_syntax::shell::Script) -> bool {
    let is_test = matches!(test.kind, CommandKind::Test { .. }) || test.is("test");
    let mut names = test.words.iter().flat_map(|word| word.expansions()).map(|e| e.name.as_str()).peekable();
    let unset = |name: &str| {
        name.len() > 1
            && name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
            && !script.assignments().any(|a| a.name == name)
    };
    is_test && names.peek().is_some() && names.all(unset)
}
