//! Under which conditions a command runs, and what those conditions ask.

use selfheal_syntax::shell::{Command, CommandKind, ListOperator, Script, Statement, StatementKind};

use super::words::{name_of, plain, plain_text};

/// One condition that a command stands behind.
#[derive(Clone, Debug)]
pub struct Guard<'a> {
    /// How.
    pub kind: GuardKind,
    /// The commands of the condition: indices.
    pub condition: Vec<usize>,
    /// What runs otherwise, if it is written.
    pub otherwise: Option<&'a [Statement]>,
}

/// How a command stands behind a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardKind {
    /// Right of `&&`.
    And,
    /// Right of `||`.
    Or,
    /// In a branch of `if` whose condition must hold.
    Then,
    /// In the `else` branch.
    Else,
    /// In a `case` branch.
    Case,
}

/// The conditions that the command with this index stands behind, outermost first.
pub fn guards(script: &Script, index: usize) -> Vec<Guard<'_>> {
    let mut stack = Vec::new();
    find(script.body(), index, script, &mut stack, 0);
    stack
}

fn find<'a>(
    statements: &'a [Statement],
    index: usize,
    script: &'a Script,
    stack: &mut Vec<Guard<'a>>,
    depth: u32,
) -> bool {
    let Some(offset) = script.commands().get(index).map(|command| command.span.start) else { return false };
    let inside =
        statements.iter().filter(|statement| statement.span.start <= offset && offset < statement.span.end);
    depth < 100 && inside.into_iter().any(|statement| one(statement, index, script, stack, depth))
}

fn behind<'a>(
    guard: Guard<'a>,
    statements: &'a [Statement],
    index: usize,
    script: &'a Script,
    (stack, depth): (&mut Vec<Guard<'a>>, u32),
) -> bool {
    stack.push(guard);
    let found = find(statements, index, script, stack, depth + 1);
    if !found {
        stack.pop();
    }
    found
}

fn one<'a>(
    statement: &'a Statement,
    index: usize,
    script: &'a Script,
    stack: &mut Vec<Guard<'a>>,
    depth: u32,
) -> bool {
    let single = std::slice::from_ref;
    match &statement.kind {
        StatementKind::Command(own) => {
            *own == index
                || script
                    .commands()
                    .get(*own)
                    .is_some_and(|c| find(&c.inner, index, script, stack, depth + 1))
        }
        StatementKind::List { operator, left, right } => {
            let kind = if *operator == ListOperator::And { GuardKind::And } else { GuardKind::Or };
            let guard = Guard { kind, condition: commands_in(script, single(left)), otherwise: None };
            find(single(left), index, script, stack, depth + 1)
                || behind(guard, single(right), index, script, (stack, depth))
        }
        StatementKind::Pipeline(members) => find(members, index, script, stack, depth + 1),
        StatementKind::Not(inner) => find(single(inner), index, script, stack, depth + 1),
        StatementKind::If { arms, otherwise } => {
            let other = otherwise.as_deref();
            let in_arm = arms.iter().any(|(condition, body)| {
                let guard = Guard {
                    kind: GuardKind::Then,
                    condition: commands_in(script, condition),
                    otherwise: other,
                };
                find(condition, index, script, stack, depth + 1)
                    || behind(guard, body, index, script, (stack, depth))
            });
            let all = arms.iter().flat_map(|(condition, _)| commands_in(script, condition)).collect();
            let guard = Guard { kind: GuardKind::Else, condition: all, otherwise: None };
            in_arm || other.is_some_and(|body| behind(guard, body, index, script, (stack, depth)))
        }
        StatementKind::Loop { condition, body, .. } => {
            find(condition, index, script, stack, depth + 1) || find(body, index, script, stack, depth + 1)
        }
        StatementKind::Case { items, .. } => items.iter().any(|(_, body)| {
            let guard = Guard { kind: GuardKind::Case, condition: Vec::new(), otherwise: None };
            behind(guard, body, index, script, (stack, depth))
        }),
        StatementKind::Function { body, .. } | StatementKind::Subshell(body) | StatementKind::Group(body) => {
            find(body, index, script, stack, depth + 1)
        }
        StatementKind::Unparsed => false,
    }
}

/// The commands in some statements, those in substitutions included.
pub fn commands_in(script: &Script, statements: &[Statement]) -> Vec<usize> {
    let (Some(first), Some(last)) = (statements.first(), statements.last()) else { return Vec::new() };
    let inside = first.span.start..last.span.end;
    let all = script.commands().iter().enumerate();
    all.filter(|(_, command)| inside.contains(&command.span.start)).map(|(at, _)| at).collect()
}

/// Whether a test asks if a list of work is empty: the length of an array, the number of arguments, the output of a
/// listing command, or a variable that holds such a list.
pub fn asks_for_empty_work(command: &Command, script: &Script) -> bool {
    let text: String = command.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let array = text.contains("[@]}") || text.contains("[*]}");
    let lists = ["$(ls", "$(find", "$(compgen", "`ls", "$(shopt", "$(git diff", "$(git status", "$(grep"]
        .iter()
        .any(|list| text.contains(list));
    let test =
        matches!(command.kind, CommandKind::Test { .. } | CommandKind::Arithmetic) || command.is("test");
    let named =
        test && command.words.iter().any(|word| word.expansions().any(|e| holds_list(&e.name, script)));
    name_of(command) == "compgen"
        || (test && (array || lists || named || text.contains("$#") && sets_arguments(script)))
}

/// Whether `set -- dir/*` fills the arguments.
fn sets_arguments(script: &Script) -> bool {
    script.commands().iter().any(|c| c.is("set") && c.words.iter().any(|word| word.has_glob()))
}

/// Whether a variable is filled from a listing (`files=$(ls …)`, `n=$(find … | wc -l)`, `files=(…*)`, `mapfile`).
fn holds_list(name: &str, script: &Script) -> bool {
    let assigned = script.assignments().filter(|a| a.name == name).any(|a| {
        // `ids=$(psql …)` under `set -e`: a failure of the source ended the script already.
        let read_well = a.value.as_ref().is_some_and(|value| value.text.trim_matches('"').starts_with("$("))
            && super::handling::option_on(script, "errexit", a.span.start);
        let listing = read_well
            || a.value.as_ref().is_some_and(|value| {
                ["$(ls", "$(find", "wc -l", "$(git diff", "$(git status", "$(compgen"]
                    .iter()
                    .any(|list| value.text.contains(list))
            });
        listing || a.elements.as_ref().is_some_and(|all| all.iter().any(|word| word.has_glob()))
    });
    let counted = script.loops().iter().any(|one| {
        one.list.as_ref().is_some_and(|list| list.iter().any(|word| word.has_glob()))
            && script.commands().iter().any(|c| {
                one.body.contains(&c.span.start)
                    && (c.assignments.iter().any(|a| a.name == name) || plain_text(&key(c)).contains(name))
                    && matches!(c.kind, CommandKind::Arithmetic | CommandKind::Assignment)
            })
    });
    let filled = script.commands().iter().any(|c| {
        matches!(name_of(c).as_str(), "mapfile" | "readarray")
            && c.arguments().iter().any(|word| word.text == name)
    });
    assigned || counted || filled
}

fn key(command: &Command) -> String {
    command.words.iter().map(plain).collect::<Vec<_>>().join(" ")
}

/// Whether a test asks whether the item of an enclosing loop is there: `[ -e "$f" ]` in `for f in …`.
pub fn asks_for_loop_item(command: &Command, script: &Script) -> bool {
    let variables = command
        .context
        .loops
        .iter()
        .filter_map(|at| script.loops().get(*at))
        .filter_map(|one| one.variable.as_deref());
    let variables: Vec<&str> = variables.collect();
    let test = matches!(command.kind, CommandKind::Test { .. }) || command.is("test");
    test && command.words.iter().any(|word| variables.iter().any(|name| word.uses(name)))
}

/// Whether a folder is looked for, or used in a way that fails without it, before an offset.
pub fn source_is_checked(script: &Script, before: usize) -> bool {
    script.commands().iter().filter(|command| command.span.start < before).any(|command| {
        let asks = matches!(command.kind, CommandKind::Test { .. }) || command.is("test");
        (asks && command.words.iter().any(|word| matches!(word.text.as_str(), "-d" | "-e" | "-r" | "-x")))
            || command.is("cd")
    })
}
