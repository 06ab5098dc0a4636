//! Which commands can be reached at all: behind constant conditions, after an exit, in functions that nobody calls.

use std::collections::{BTreeMap, BTreeSet};

use selfheal_syntax::shell::{
    Command, CommandKind, ListOperator, LoopKind, Script, Statement, StatementKind,
};

use super::words::name_of;

/// Whether each command of a script can be reached.
pub fn of(script: &Script) -> Vec<bool> {
    let mut walker = Walker {
        script,
        reached: vec![false; script.commands().len()],
        wanted: BTreeSet::new(),
        fresh: Vec::new(),
    };
    walker.block(script.body());
    // Functions are entered when something reachable names them, until nothing new is.
    let mut bodies: BTreeMap<&str, Vec<&[Statement]>> = BTreeMap::new();
    collect(script, script.body(), &mut bodies, 0);
    while let Some(name) = walker.fresh.pop() {
        for body in bodies.remove(name.as_str()).unwrap_or_default() {
            walker.block(body);
        }
    }
    walker.reached
}

struct Walker<'a> {
    script: &'a Script,
    reached: Vec<bool>,
    /// Names of commands that are reached, and the words of traps.
    wanted: BTreeSet<String>,
    /// Those of them for which no function was looked up yet.
    fresh: Vec<String>,
}

/// The bodies of the functions of a script by name.
fn collect<'a>(
    script: &'a Script,
    statements: &'a [Statement],
    out: &mut BTreeMap<&'a str, Vec<&'a [Statement]>>,
    depth: u32,
) {
    if depth > 32 {
        return;
    }
    for statement in statements {
        match &statement.kind {
            StatementKind::Function { index, body } => {
                if let Some(function) = script.functions().get(*index) {
                    out.entry(&function.name).or_default().push(body);
                }
                collect(script, body, out, depth + 1);
            }
            StatementKind::Group(body) | StatementKind::Subshell(body) => {
                collect(script, body, out, depth + 1);
            }
            StatementKind::If { arms, otherwise } => {
                arms.iter().for_each(|(_, body)| collect(script, body, out, depth + 1));
                collect(script, otherwise.as_deref().unwrap_or_default(), out, depth + 1);
            }
            _ => {}
        }
    }
}

/// Whether what follows a statement can be reached.
type Goes = bool;

impl<'a> Walker<'a> {
    /// Remembers a name that something reachable says.
    fn wants(&mut self, name: &str) {
        if !self.wanted.contains(name) {
            self.wanted.insert(name.to_owned());
            self.fresh.push(name.to_owned());
        }
    }

    fn block(&mut self, statements: &'a [Statement]) -> Goes {
        for statement in statements {
            if !self.statement(statement) {
                return false;
            }
        }
        true
    }

    fn statement(&mut self, statement: &'a Statement) -> Goes {
        match &statement.kind {
            StatementKind::Command(index) => self.command(*index),
            StatementKind::List { operator, left, right } => {
                let constant = self.constant(left);
                let goes = self.statement(left);
                let skipped = matches!(
                    (operator, constant),
                    (ListOperator::And, Some(false)) | (ListOperator::Or, Some(true))
                );
                let right_goes = skipped || self.statement(right);
                // The right side may or may not run, so only a left side that leaves ends the block, or a constant one.
                goes && (right_goes || constant.is_none())
            }
            StatementKind::Pipeline(members) => {
                members.iter().for_each(|member| {
                    self.statement(member);
                });
                true
            }
            StatementKind::Not(inner) => self.statement(inner),
            StatementKind::If { arms, otherwise } => self.conditional(arms, otherwise.as_deref()),
            StatementKind::Loop { index, condition, body } => {
                self.block(condition);
                if !self.never_turns(*index, condition) {
                    self.block(body);
                }
                true
            }
            StatementKind::Case { items, .. } => {
                items.iter().for_each(|(_, body)| {
                    self.block(body);
                });
                true
            }
            StatementKind::Function { .. } | StatementKind::Unparsed => true,
            StatementKind::Subshell(body) => {
                self.block(body);
                true
            }
            StatementKind::Group(body) => self.block(body),
        }
    }

    fn command(&mut self, index: usize) -> Goes {
        if let Some(own) = self.reached.get_mut(index) {
            *own = true;
        }
        let Some(command) = self.script.commands().get(index) else { return true };
        self.block(&command.inner);
        let name = name_of(command);
        // A name in any word may be a function that is called later: `trap cleanup EXIT`, `xargs -I{} bash -c`, `"$@"`.
        for word in &command.words {
            let parts = word.text.split(|c: char| !c.is_alphanumeric() && !"_-.:".contains(c));
            parts.filter(|part| !part.is_empty()).take(32).for_each(|part| self.wants(part));
        }
        self.wants(&name);
        let replaces = name == "exec" && command.words.len() > 1;
        !(name == "exit" || name == "return" || name == "continue" || name == "break" || replaces)
    }

    fn conditional(
        &mut self,
        arms: &'a [(Vec<Statement>, Vec<Statement>)],
        otherwise: Option<&'a [Statement]>,
    ) -> Goes {
        let mut goes = false;
        for (condition, body) in arms {
            self.block(condition);
            let constant = condition.last().and_then(|last| self.constant(last));
            if constant != Some(false) {
                goes |= self.block(body);
            }
            if constant == Some(true) {
                return goes;
            }
        }
        otherwise.is_none_or(|body| self.block(body)) || goes
    }

    fn never_turns(&self, index: usize, condition: &[Statement]) -> bool {
        let Some(one) = self.script.loops().get(index) else { return false };
        let constant = condition.last().and_then(|last| self.constant(last));
        match one.kind {
            LoopKind::While => constant == Some(false),
            LoopKind::Until => constant == Some(true),
            LoopKind::For | LoopKind::Select => one.list.as_ref().is_some_and(Vec::is_empty),
            LoopKind::Arithmetic => false,
        }
    }

    fn constant(&self, statement: &Statement) -> Option<bool> {
        match &statement.kind {
            StatementKind::Command(index) => self.script.commands().get(*index).and_then(constant),
            StatementKind::Not(inner) => self.constant(inner).map(|value| !value),
            StatementKind::List { operator, left, right } => {
                let (left, right) = (self.constant(left), self.constant(right));
                match (operator, left, right) {
                    (ListOperator::And, Some(false), _) | (ListOperator::And, _, Some(false)) => Some(false),
                    (ListOperator::And, Some(true), Some(true)) => Some(true),
                    (ListOperator::Or, Some(true), _) | (ListOperator::Or, _, Some(true)) => Some(true),
                    (ListOperator::Or, Some(false), Some(false)) => Some(false),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The value of a command that always has the same: `true`, `false`, a test of literals.
pub fn constant(command: &Command) -> Option<bool> {
    match name_of(command).as_str() {
        "true" | ":" => Some(true),
        "false" => Some(false),
        "((" => match command.words.first()?.text.trim().parse::<i64>() {
            Ok(number) => Some(number != 0),
            Err(_) => None,
        },
        "[" | "[[" | "test" => {
            let words =
                if command.kind == CommandKind::Simple { command.arguments() } else { &command.words };
            if let [left, operator, right] = words
                && left.text == right.text
                && left.expansions().next().is_some()
            {
                return match operator.text.as_str() {
                    "=" | "==" | "-eq" | "-le" | "-ge" => Some(true),
                    "!=" | "-ne" | "-lt" | "-gt" => Some(false),
                    _ => None,
                };
            }
            let words: Option<Vec<String>> = words.iter().map(|word| word.literal()).collect();
            test(&words?)
        }
        _ => None,
    }
}

fn test(words: &[String]) -> Option<bool> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["!", rest @ ..] => {
            let rest: Vec<String> = rest.iter().map(|word| (*word).to_owned()).collect();
            test(&rest).map(|value| !value)
        }
        [] | ["-n", ""] => Some(false),
        ["-z", text] => Some(text.is_empty()),
        ["-n", _] => Some(true),
        ["-d", "/"] | ["-e", "/"] | ["-e", "/dev/null"] => Some(true),
        [one] => Some(!one.is_empty()),
        [left, "=" | "==", right] => Some(left == right),
        [left, "!=", right] => Some(left != right),
        [left, operator, right] => {
            let (left, right) = (left.parse::<i64>().ok()?, right.parse::<i64>().ok()?);
            match *operator {
                "-eq" => Some(left == right),
                "-ne" => Some(left != right),
                "-lt" => Some(left < right),
                "-le" => Some(left <= right),
                "-gt" => Some(left > right),
                "-ge" => Some(left >= right),
                _ => None,
            }
        }
        _ => None,
    }
}
