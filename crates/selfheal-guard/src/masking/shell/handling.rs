//! What happens when a command fails: the control-flow summary that both sides of a change are compared by.

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::shell::{
    Command, CommandKind, Consumer, ListOperator, LoopKind, Script, Statement, StatementKind,
};

use super::Sides;
use super::checks::writes;
use super::classify::Classifier;
use super::words::{inner_name, is_message, is_step, name_of, plain};
use crate::finding::at;

/// What happens when a command fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handling {
    /// Nothing looks at its status, and nothing was written to hide it: no `set -e`, and more follows.
    Ignored,
    /// The script, or the function, ends with its status.
    Propagates,
    /// A handler ends the script with a failure.
    Fails,
    /// Its status is kept or compared, and looked at later.
    Value,
    /// Another real command is tried.
    Fallback,
    /// The failure is lost.
    Swallowed(Swallow),
}

/// How a failure is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swallow {
    /// The last part of the rule's name.
    pub rule: &'static str,
    /// In words, read after the name of the command.
    pub why: &'static str,
    /// Whether a handler was written for it, other than a mere position in a pipeline or list.
    pub explicit: bool,
}

/// A failure that a written handler hides.
pub const fn hidden(rule: &'static str, why: &'static str) -> Handling {
    Handling::Swallowed(Swallow { rule, why, explicit: true })
}

/// A failure that gets lost by where the command stands.
const fn lost(rule: &'static str, why: &'static str) -> Handling {
    Handling::Swallowed(Swallow { rule, why, explicit: false })
}

/// What happens when each command of a script fails.
pub fn of(script: &Script) -> Vec<Handling> {
    let mut walker = Walker {
        script,
        classifier: Classifier::of(script),
        out: vec![Handling::Ignored; script.commands().len()],
        loops: Vec::new(),
    };
    walker.block(script.body(), &Place { on_fail: Handling::Propagates, live: true, top: true });
    walker.out
}

/// Whether an option is on at an offset of the main program.
pub fn option_on(script: &Script, name: &str, offset: usize) -> bool {
    let mut before = script.set_options().iter().filter(|o| o.name == name && o.offset <= offset && !o.local);
    before.next_back().is_some_and(|option| option.on)
}

/// Where a statement stands.
#[derive(Clone)]
struct Place {
    /// What happens when the block that it ends fails.
    on_fail: Handling,
    /// Whether `set -e`, if on, applies here.
    live: bool,
    /// Whether it is at top level.
    top: bool,
}

struct Walker<'a> {
    script: &'a Script,
    classifier: Classifier<'a>,
    out: Vec<Handling>,
    /// For each enclosing loop whether it, or what follows it, ends in a failure.
    loops: Vec<bool>,
}

impl<'a> Walker<'a> {
    fn errexit(&self, statement: &Statement, place: &Place) -> bool {
        let offset = if place.top { statement.span.start } else { usize::MAX };
        let here = option_on(self.script, "errexit", offset)
            || option_on(self.script, "errexit", statement.span.start);
        place.live && here
    }

    fn block(&mut self, statements: &'a [Statement], place: &Place) {
        for (at, statement) in statements.iter().enumerate() {
            let last = at + 1 == statements.len();
            let on_fail = if self.errexit(statement, place) && place.on_fail != Handling::Ignored {
                Handling::Propagates
            } else if last {
                place.on_fail.clone()
            } else if self.next_looks(statements.get(at + 1)) {
                Handling::Value
            } else {
                Handling::Ignored
            };
            if let StatementKind::Loop { body, .. } = &statement.kind {
                let behind = statements.get(at + 1..).unwrap_or_default();
                // What is said between the loop and its end does not matter.
                let said = behind.iter().take_while(|statement| self.speaks(statement)).count();
                let next = behind.get(..(said + 1).min(behind.len())).unwrap_or_default();
                self.loops.push(self.classifier.ends_badly(body) || self.classifier.ends_badly(next));
            }
            self.statement(statement, &Place { on_fail, ..place.clone() });
            if matches!(statement.kind, StatementKind::Loop { .. }) {
                self.loops.pop();
            }
        }
    }

    /// Whether a statement only says something.
    fn speaks(&self, statement: &Statement) -> bool {
        matches!(statement.kind, StatementKind::Command(index)
            if self.script.commands().get(index).is_some_and(is_message))
    }

    /// Whether the next statement looks at `$?` and does something other than succeed.
    fn next_looks(&self, next: Option<&'a Statement>) -> bool {
        next.is_some_and(|next| self.classifier.looks_at_status(next))
    }

    fn statement(&mut self, statement: &'a Statement, place: &Place) {
        let place = if statement.background { &self.in_background(statement, place) } else { place };
        match &statement.kind {
            StatementKind::Command(index) => self.command(*index, place),
            StatementKind::List { operator, left, right } => {
                self.list(statement, *operator, (left, right), place)
            }
            StatementKind::Pipeline(members) => self.pipeline(members, place),
            StatementKind::Not(inner) => {
                let on_fail = lost("negated", "is negated, so its failure counts as success");
                self.statement(inner, &Place { on_fail, live: false, ..place.clone() });
            }
            StatementKind::If { arms, otherwise } => self.conditional(arms, otherwise.as_deref(), place),
            StatementKind::Loop { index, condition, body } => self.repeat(*index, condition, body, place),
            StatementKind::Case { items, .. } => items.iter().for_each(|(_, body)| self.block(body, place)),
            StatementKind::Function { body, .. } => {
                let inside = Place { on_fail: Handling::Propagates, live: true, top: false };
                body.iter().for_each(|body| self.statement(body, &inside));
            }
            StatementKind::Subshell(body) | StatementKind::Group(body) => self.block(body, place),
            StatementKind::Unparsed => {}
        }
    }

    fn in_background(&self, statement: &Statement, place: &Place) -> Place {
        let mut waits = self.script.commands().iter().filter(|command| command.is("wait"));
        let waited = waits.any(|wait| {
            wait.span.start > statement.span.start && wait.arguments().iter().any(|w| w.text.contains('$'))
        });
        let on_fail = if waited {
            Handling::Value
        } else {
            hidden("background", "runs in the background and nothing waits for its status")
        };
        Place { on_fail, live: false, ..place.clone() }
    }

    fn command(&mut self, index: usize, place: &Place) {
        if let Some(own) = self.out.get_mut(index) {
            *own = place.on_fail.clone();
        }
        let Some(command) = self.script.commands().get(index) else { return };
        let on_fail = match command.kind {
            CommandKind::Assignment => place.on_fail.clone(),
            CommandKind::Declaration => {
                hidden("declaration", "stands in a declaration, which hides its status")
            }
            _ => lost("argument", "stands in an argument, where its status is lost"),
        };
        let inside = Place { on_fail, live: false, ..place.clone() };
        // The script outlives the walker; the statements do not move.
        let inner: &'a [Statement] = &command.inner;
        self.block(inner, &inside);
    }

    fn list(
        &mut self,
        statement: &'a Statement,
        operator: ListOperator,
        (left, right): (&'a Statement, &'a Statement),
        place: &Place,
    ) {
        let on_fail = match operator {
            ListOperator::Or => self.classifier.handler(std::slice::from_ref(right)),
            ListOperator::And => self.left_of_and(statement, right, place),
        };
        self.statement(left, &Place { on_fail, live: false, ..place.clone() });
        self.statement(right, place);
    }

    /// What happens when the left side of `&&` fails.
    fn left_of_and(&self, statement: &Statement, right: &Statement, place: &Place) -> Handling {
        if self.classifier.leaves_loop(right) && !self.loops.is_empty() {
            return self.after_retry();
        }
        if self.errexit(statement, place) && !self.is_final(statement) {
            return lost("and-list", "stands left of `&&`, where `set -e` does not see its failure");
        }
        place.on_fail.clone()
    }

    fn is_final(&self, statement: &Statement) -> bool {
        self.script.body().last().is_some_and(|last| last.span == statement.span)
    }

    fn after_retry(&self) -> Handling {
        if self.loops.last() == Some(&true) {
            Handling::Fails
        } else {
            hidden("retry", "is tried again, and after the last try its failure is forgotten")
        }
    }

    /// Whether something behind an offset decides by the status of each member: `exit "${PIPESTATUS[0]}"`.
    fn asks_for_members(&self, offset: usize) -> bool {
        let mut later = self.script.commands().iter().filter(|command| command.span.start >= offset);
        later.any(|command| {
            let kept = command.assignments.iter().filter_map(|a| a.value.as_ref());
            command.words.iter().chain(kept).any(|word| word.text.contains("PIPESTATUS"))
        })
    }

    fn pipeline(&mut self, members: &'a [Statement], place: &Place) {
        for (at, member) in members.iter().enumerate() {
            let last = at + 1 == members.len();
            let seen = last || option_on(self.script, "pipefail", member.span.start);
            let asked = !seen && self.asks_for_members(member.span.end);
            let on_fail = if seen {
                place.on_fail.clone()
            } else if asked {
                Handling::Value
            } else {
                lost("pipe", "stands in a pipeline without `pipefail`")
            };
            self.statement(member, &Place { on_fail, ..place.clone() });
        }
    }

    fn conditional(
        &mut self,
        arms: &'a [(Vec<Statement>, Vec<Statement>)],
        otherwise: Option<&'a [Statement]>,
        place: &Place,
    ) {
        for (at, (condition, body)) in arms.iter().enumerate() {
            let more = at + 1 < arms.len();
            self.condition(
                condition,
                |walker, negated| match (negated, otherwise) {
                    (true, _) => walker.classifier.handler(body),
                    (false, Some(otherwise)) if !more && walker.classifier.same_variable(body, otherwise) => {
                        Handling::Value
                    }
                    (false, Some(otherwise)) if !more => walker.classifier.handler(otherwise),
                    (false, _) if more => Handling::Value,
                    (false, _) => {
                        hidden("condition", "is only a condition, and nothing is done when it fails")
                    }
                },
                place,
            );
            self.block(body, place);
        }
        if let Some(otherwise) = otherwise {
            self.block(otherwise, place);
        }
    }

    /// Walks a condition; `on_fail` says what happens when its last command fails, by whether it is negated.
    fn condition(
        &mut self,
        condition: &'a [Statement],
        on_fail: impl Fn(&Self, bool) -> Handling,
        place: &Place,
    ) {
        for (at, statement) in condition.iter().enumerate() {
            let last = at + 1 == condition.len();
            let (inner, negated) = match &statement.kind {
                StatementKind::Not(inner) => (&**inner, true),
                _ => (statement, false),
            };
            let on_fail = if last { on_fail(self, negated) } else { Handling::Ignored };
            self.statement(inner, &Place { on_fail, live: false, ..place.clone() });
        }
    }

    fn repeat(&mut self, index: usize, condition: &'a [Statement], body: &'a [Statement], place: &Place) {
        let kind = self.script.loops().get(index).map(|one| one.kind);
        let leaves = self.classifier.leaves(body);
        self.condition(
            condition,
            |walker, negated| match (kind, negated) {
                (Some(LoopKind::Until), false) | (Some(LoopKind::While), true) if !leaves => {
                    Handling::Fallback
                }
                (Some(LoopKind::Until), false) | (Some(LoopKind::While), true) => walker.after_retry(),
                _ => lost("loop-condition", "is the condition of a loop, which ends quietly when it fails"),
            },
            place,
        );
        let on_fail = if place.live { Handling::Ignored } else { place.on_fail.clone() };
        // Under `set -e` the body's commands end the script; else a failure is lost with the next turn.
        let errexit = body.first().is_some_and(|first| self.errexit(first, place));
        let on_fail = if errexit { Handling::Propagates } else { on_fail };
        self.block(body, &Place { on_fail, ..place.clone() });
    }
}

/// Commands that run others for each line or file.
const RUNS_OTHERS: &[&str] = &["xargs", "parallel", "find"];

/// Steps whose failure is lost now and was not before.
pub fn compare(sides: &Sides) -> Vec<Finding> {
    let mut out = Vec::new();
    for (index, command) in sides.new.script.commands().iter().enumerate() {
        let Some(new) = sides.new.handling.get(index) else { continue };
        let origin = sides.origin.get(index).copied().flatten();
        let old = origin.and_then(|origin| sides.old.handling.get(origin));
        let waits = command.is("wait") && !command.arguments().is_empty();
        let was_step = origin.and_then(|o| sides.old.script.commands().get(o)).is_some_and(is_step);
        if !is_step(command) && !was_step && !waits {
            continue;
        }
        let name = inner_name(command);
        let name = if name.is_empty() { name_of(command) } else { name };
        let line = command.lines.0;
        if TEXT_ONLY.contains(&name.as_str())
            && matches!(new, Handling::Swallowed(how) if how.rule == "argument")
        {
            continue;
        }
        match (old, new) {
            (Some(old), Handling::Swallowed(how)) if worse(old, how) => {
                // A process that is gone already is what `kill` wants.
                let weight = if name == "kill" { Weight::Medium } else { Weight::Refuse };
                let why = format!("`{name}` {}", how.why);
                out.push(at(&format!("masking/{}", how.rule), line, weight, why));
            }
            (None, Handling::Swallowed(how))
                if how.explicit && !matches!(name.as_str(), "rm" | "kill" | "command") =>
            {
                let why = format!("the new command `{name}` {}", how.why);
                // One that another command ran before (`xargs load`) is no new one.
                let ran = sides.old.script.commands().iter().any(|old| {
                    let mut words = old.arguments().iter();
                    RUNS_OTHERS.iter().any(|runner| old.is(runner))
                        && words.any(|word| word.literal().as_deref() == Some(name.as_str()))
                });
                let weight = if ran { Weight::Refuse } else { Weight::Medium };
                out.push(at(&format!("masking/{}", how.rule), line, weight, why));
            }
            (Some(Handling::Ignored), Handling::Fallback) if made_by_hand(sides, command) => {
                let why = format!("something old or made up takes the place of what `{name}` makes");
                out.push(at("masking/fallback", line, Weight::Refuse, why));
            }
            (Some(Handling::Propagates | Handling::Fails | Handling::Value), Handling::Fallback) => {
                let stale = made_by_hand(sides, command);
                let weight = if stale { Weight::Refuse } else { Weight::Medium };
                let why = format!("another command is tried when `{name}` fails");
                out.push(at("masking/fallback", line, weight, why));
            }
            (Some(Handling::Propagates), Handling::Ignored) if lost_errexit(sides, origin, index) => {
                let why = format!("`{name}` no longer ends the script when it fails");
                out.push(at("masking/errexit", line, Weight::Refuse, why));
            }
            (Some(Handling::Fails | Handling::Value), Handling::Ignored) => {
                let why = format!("nothing looks at the status of `{name}` any more");
                out.push(at("masking/status-ignored", line, Weight::Refuse, why));
            }
            (Some(Handling::Propagates), Handling::Ignored) if was_joined(sides, origin) => {
                let why = format!("what follows `{name}` runs now even when it fails");
                out.push(at("masking/status-ignored", line, Weight::Refuse, why));
            }
            _ => {}
        }
    }
    out
}

/// Whether what runs when a command fails only puts something old or made up where its output should be.
fn made_by_hand(sides: &Sides, command: &Command) -> bool {
    let script = &sides.new.script;
    let outputs = writes(command);
    let handlers = script.commands().iter().filter(|other| {
        other.context.after == Some(ListOperator::Or)
            && other.span.start >= command.span.end
            && other.lines.0 <= command.lines.1 + 3
    });
    let copies = |other: &Command| {
        let name = name_of(other);
        matches!(name.as_str(), "cp" | "mv" | "ln" | "cat" | "echo" | "printf" | "touch" | "install")
    };
    handlers.into_iter().any(|other| {
        let moves_aside =
            name_of(other) == "mv" && other.arguments().iter().map(plain).any(|word| names(command, &word));
        copies(other) && writes(other).iter().any(|file| outputs.contains(file) || names(command, file))
            || moves_aside
    })
}

fn names(command: &Command, file: &str) -> bool {
    command.arguments().iter().any(|word| plain(word) == file)
}

/// Whether the old command stood left of `&&`.
fn was_joined(sides: &Sides, origin: Option<usize>) -> bool {
    let old = origin.and_then(|origin| sides.old.script.commands().get(origin));
    old.is_some_and(|old| old.context.consumers.last() == Some(&Consumer::And))
}

/// Commands that take a text apart and touch nothing: an argument is where they usually stand.
const TEXT_ONLY: &[&str] = &["dirname", "basename"];

fn worse(old: &Handling, new: &Swallow) -> bool {
    match old {
        Handling::Swallowed(old) => old.rule != new.rule && new.explicit && !old.explicit,
        Handling::Ignored => new.explicit,
        Handling::Propagates | Handling::Fails | Handling::Value | Handling::Fallback => true,
    }
}

/// Whether `set -e` was in force for the old command, so that its loss is more than a matter of position.
fn lost_errexit(sides: &Sides, origin: Option<usize>, _new: usize) -> bool {
    let old = origin.and_then(|origin| sides.old.script.commands().get(origin));
    old.is_some_and(|old| option_on(&sides.old.script, "errexit", old.span.start))
}
