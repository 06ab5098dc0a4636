//! What a handler does: the commands that run when another failed.

use std::collections::BTreeMap;

use selfheal_syntax::shell::{Command, CommandKind, ListOperator, Script, Statement, StatementKind, Word};

use super::handling::{Handling, hidden};
use super::words::{is_cleanup, is_fail_name, is_failing_code, is_forced_success, is_message, name_of};

/// How deep functions are followed.
const MAX_DEPTH: u32 = 8;

/// Reads handlers of one script.
pub struct Classifier<'a> {
    script: &'a Script,
    functions: BTreeMap<&'a str, &'a [Statement]>,
}

/// What one statement of a handler means for the whole.
enum Verdict {
    /// It decides: the script ends, the loop is left, the failure is kept.
    Decides(Handling),
    /// It decides only if it is the last one.
    Last(Handling),
}

const QUIET: Handling =
    hidden("swallowed", "may fail without anybody noticing: what runs then always succeeds");
const MESSAGE_ONLY: Handling = hidden("message-only", "may fail with nothing but a message");

impl<'a> Classifier<'a> {
    pub fn of(script: &'a Script) -> Self {
        let mut functions = BTreeMap::new();
        collect(script, script.body(), &mut functions, 0);
        Self { script, functions }
    }

    fn command(&self, index: usize) -> Option<&'a Command> {
        self.script.commands().get(index)
    }

    /// What becomes of a failure when these statements run for it.
    pub fn handler(&self, statements: &'a [Statement]) -> Handling {
        self.handler_at(statements, 0)
    }

    fn handler_at(&self, statements: &'a [Statement], depth: u32) -> Handling {
        let mut last = QUIET;
        for (at, statement) in statements.iter().enumerate() {
            match self.verdict(statement, at == 0, depth) {
                Verdict::Decides(handling) => return handling,
                Verdict::Last(handling) => {
                    // A real command among messages stays one: what follows only reports on it.
                    if !(last == Handling::Fallback && handling == MESSAGE_ONLY) {
                        last = handling;
                    }
                }
            }
        }
        last
    }

    fn verdict(&self, statement: &'a Statement, first: bool, depth: u32) -> Verdict {
        if depth > MAX_DEPTH {
            return Verdict::Last(Handling::Fallback);
        }
        match &statement.kind {
            StatementKind::Command(index) => match self.command(*index) {
                Some(command) => self.of_command(command, first, depth),
                None => Verdict::Last(QUIET),
            },
            StatementKind::Group(body) => self.nested(body, first, depth),
            StatementKind::Subshell(body) => Verdict::Last(self.handler_at(body, depth + 1)),
            StatementKind::List { operator, left, right } => {
                self.of_list(*operator, (left, right), first, depth)
            }
            StatementKind::Pipeline(members) => members.last().map_or(Verdict::Last(QUIET), |last| {
                Verdict::Last(last_only(self.verdict(last, false, depth + 1)))
            }),
            StatementKind::If { arms, otherwise } => self.of_if(arms, otherwise.as_deref(), depth),
            StatementKind::Case { items, .. } => {
                let all = items.iter().map(|(_, body)| self.handler_at(body, depth + 1));
                mixed(all.collect())
            }
            StatementKind::Not(_) => Verdict::Last(QUIET),
            StatementKind::Loop { .. } | StatementKind::Function { .. } | StatementKind::Unparsed => {
                Verdict::Last(Handling::Fallback)
            }
        }
    }

    /// A group decides when something in it leaves; else its last command counts.
    fn nested(&self, body: &'a [Statement], first: bool, depth: u32) -> Verdict {
        let mut last = Verdict::Last(QUIET);
        for (at, statement) in body.iter().enumerate() {
            last = self.verdict(statement, first && at == 0, depth + 1);
            if matches!(last, Verdict::Decides(_)) {
                return last;
            }
        }
        last
    }

    fn of_list(
        &self,
        operator: ListOperator,
        (left, right): (&'a Statement, &'a Statement),
        first: bool,
        depth: u32,
    ) -> Verdict {
        let tests = self.is_test(left);
        let right_verdict = self.verdict(right, false, depth + 1);
        match (operator, right_verdict) {
            // `[ "$i" -lt 3 ] || exit 1`, `[ $rc -eq 1 ] && exit 1`
            (_, Verdict::Decides(handling)) => {
                if matches!(handling, Handling::Swallowed(_)) && operator == ListOperator::And && tests {
                    Verdict::Last(QUIET)
                } else {
                    Verdict::Decides(handling)
                }
            }
            // `[ $rc -eq 23 ] || true`: whatever the test says, it succeeds.
            (ListOperator::Or, Verdict::Last(handling)) => Verdict::Last(handling),
            (ListOperator::And, Verdict::Last(_)) => match self.verdict(left, first, depth + 1) {
                Verdict::Decides(handling) => Verdict::Decides(handling),
                Verdict::Last(left) if tests => Verdict::Last(left),
                Verdict::Last(left) => Verdict::Last(left),
            },
        }
    }

    fn is_test(&self, statement: &Statement) -> bool {
        match &statement.kind {
            StatementKind::Command(index) => self.command(*index).is_some_and(is_test),
            StatementKind::Not(inner) => self.is_test(inner),
            _ => false,
        }
    }

    fn of_if(
        &self,
        arms: &'a [(Vec<Statement>, Vec<Statement>)],
        otherwise: Option<&'a [Statement]>,
        depth: u32,
    ) -> Verdict {
        let mut all: Vec<Handling> = arms.iter().map(|(_, body)| self.handler_at(body, depth + 1)).collect();
        all.extend(otherwise.map(|body| self.handler_at(body, depth + 1)));
        mixed(all)
    }

    fn of_command(&self, command: &'a Command, first: bool, depth: u32) -> Verdict {
        let name = name_of(command);
        match command.kind {
            CommandKind::Assignment => return self.kept(command),
            CommandKind::Arithmetic => return self.counted(command),
            CommandKind::Test { .. } => return Verdict::Last(self.test(command)),
            CommandKind::Declaration => return self.kept(command),
            CommandKind::Simple => {}
        }
        match name.as_str() {
            "exit" | "return" => Verdict::Decides(self.leaving(command, first)),
            "continue" => Verdict::Decides(hidden("continue", "may fail, and the loop just goes on")),
            "break" => Verdict::Decides(hidden("break", "may fail, and the loop just ends")),
            "false" => Verdict::Last(Handling::Fails),
            "test" => Verdict::Last(self.test(command)),
            _ if is_forced_success(command) => Verdict::Last(QUIET),
            _ => self.of_name(command, &name, depth),
        }
    }

    fn of_name(&self, command: &'a Command, name: &str, depth: u32) -> Verdict {
        if let Some(body) = self.functions.get(name).copied() {
            return match self.nested(body, false, depth + 1) {
                // A function that returns a failure still only fails where its caller looks.
                Verdict::Decides(handling) => Verdict::Decides(handling),
                Verdict::Last(handling) => Verdict::Last(handling),
            };
        }
        if name == "kill" && command.arguments().iter().any(|word| word.text.trim_matches('"') == "$$") {
            return Verdict::Decides(Handling::Fails);
        }
        if is_fail_name(name) {
            Verdict::Decides(Handling::Fails)
        } else if is_message(command) {
            Verdict::Last(MESSAGE_ONLY)
        } else if is_cleanup(command) || command.arguments().iter().any(|word| word.text == "/dev/null") {
            Verdict::Last(QUIET)
        } else {
            Verdict::Last(Handling::Fallback)
        }
    }

    /// `exit`, `exit 1`, `exit "$rc"`, `return 0`.
    fn leaving(&self, command: &Command, first: bool) -> Handling {
        let Some(word) = command.arguments().first() else {
            return if first {
                Handling::Fails
            } else {
                hidden("forced-exit", "may fail, and the script ends with the status of a message")
            };
        };
        let text = word.text.trim_matches('"');
        match text {
            text if self.always_zero(text) => {
                hidden("forced-exit", "may fail, and the script ends with success")
            }
            "$?" if first => Handling::Fails,
            "$?" => hidden("forced-exit", "may fail, and the script ends with the status of a message"),
            text if is_failing_code(text) || text.starts_with('$') => Handling::Fails,
            _ => hidden("forced-exit", "may fail, and the script ends with success"),
        }
    }

    /// Whether a variable is only ever given the value 0.
    fn always_zero(&self, text: &str) -> bool {
        let inner = text.trim_matches('"').trim_start_matches("${").trim_end_matches('}');
        let set = |name: &str| self.script.assignments().any(|a| a.name == name);
        // `${rc:+0}`, and `${X:-0}` of a variable that the script itself never sets.
        let by_default = inner.strip_suffix("+0").is_some_and(|_| text.contains("${"))
            || inner
                .strip_suffix("-0")
                .is_some_and(|name| text.contains("${") && !set(name.trim_end_matches(':')));
        if by_default {
            return true;
        }
        let name = text.trim_matches(['$', '{', '}']);
        let mut values =
            self.script.assignments().filter(|a| a.name == name).filter_map(|a| a.value.as_ref()).peekable();
        text.starts_with('$')
            && values.peek().is_some()
            && values.all(|value| value.literal().as_deref() == Some("0"))
    }

    /// `rc=$?`, `failed=1`, `bad+=("$f")`: kept when the variable is looked at later.
    fn kept(&self, command: &Command) -> Verdict {
        let kept =
            command.assignments.iter().any(|assignment| self.looked_at(&assignment.name, command.span.end));
        if kept { Verdict::Decides(Handling::Value) } else { Verdict::Last(QUIET) }
    }

    fn counted(&self, command: &Command) -> Verdict {
        let text = command.words.first().map(|word| word.text.as_str()).unwrap_or_default();
        let name: String = text
            .chars()
            .skip_while(|c| !c.is_alphabetic() && *c != '_')
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        if self.looked_at(&name, command.span.end) {
            Verdict::Decides(Handling::Value)
        } else {
            Verdict::Last(QUIET)
        }
    }

    /// Whether a variable is used after an offset (or anywhere, for loops) to decide something: in an exit, a test, a
    /// `case`, or as data of another command.
    fn looked_at(&self, name: &str, offset: usize) -> bool {
        let uses =
            |command: &Command| command.words.iter().any(|word| word.uses(name) || mentions(word, name));
        self.script.commands().iter().any(|command| {
            let decides = match command.kind {
                CommandKind::Test { .. } | CommandKind::Arithmetic => true,
                CommandKind::Simple => !is_message(command),
                _ => false,
            };
            decides && command.span.start >= offset && uses(command)
        })
    }

    /// A test as the last command of a handler: only a comparison of the status with one value is specific.
    fn test(&self, command: &Command) -> Handling {
        let status = command.words.iter().any(|word| {
            let text = word.text.trim_matches('"');
            text == "$?" || text.contains("rc") || text.contains("status") || text.contains("ret")
        });
        // 124 and above are time-outs and signals, never an expected answer.
        let harsh =
            command.words.iter().filter_map(|word| word.text.parse::<u32>().ok()).any(|code| code >= 124);
        if status && harsh && !self.reader_stops_early(command) {
            return hidden(
                "timeout-forgiven",
                "may be cut short by a time-out or signal, and that counts as success",
            );
        }
        if status && self.means_failure(command) {
            return hidden(
                "status-forgiven",
                "fails with a status that says just that, and it counts as success",
            );
        }
        if status && !specific(command) {
            return hidden("status-forgiven", "may fail in many ways, and all of them count as success");
        }
        if status { Handling::Value } else { Handling::Fallback }
    }

    /// Whether the command before a test of `$?` gives no answer by its status: whatever is not 0 is a failure.
    fn means_failure(&self, test: &Command) -> bool {
        const TOOLS: &[&str] = &[
            "pytest",
            "tox",
            "npm",
            "yarn",
            "pnpm",
            "go",
            "cargo",
            "make",
            "gmake",
            "mvn",
            "gradle",
            "ctest",
            "phpunit",
            "rspec",
            "jest",
            "flake8",
            "mypy",
            "pylint",
            "eslint",
            "shellcheck",
            "cp",
            "mv",
            "scp",
            "sftp",
            "curl",
            "wget",
            "pg_dump",
            "mysqldump",
            "psql",
            "mysql",
            "docker",
            "kubectl",
            "terraform",
            "gcc",
            "cc",
            "gzip",
            "unzip",
            "sha256sum",
            "sha1sum",
            "md5sum",
            "ssh",
            "dd",
            "mkdir",
            "ln",
            "install",
            "sort",
        ];
        // 23 and 24 of rsync are apart: files that vanished while it ran are no failure of the copy.
        let lost = test.words.iter().any(|word| matches!(word.text.as_str(), "23" | "12" | "30" | "11"));
        let mut before = self.script.commands().iter().filter(|command| command.span.end <= test.span.start);
        let asks = test.words.iter().any(|word| word.text.trim_matches('"') == "$?");
        let name = before.next_back().map(super::words::inner_name).unwrap_or_default();
        asks && (TOOLS.contains(&name.as_str()) || name == "rsync" && lost)
    }

    /// `gen | head -n 1 || [ $? -eq 141 ]`: only the signal of a pipe whose reader has enough is let pass.
    fn reader_stops_early(&self, test: &Command) -> bool {
        let only_pipe =
            test.words.iter().filter_map(|word| word.text.parse::<u32>().ok()).all(|code| code == 141);
        let mut before = self.script.commands().iter().filter(|command| command.span.end <= test.span.start);
        let reader = before.next_back();
        only_pipe
            && reader.is_some_and(|command| {
                let words: Vec<&str> = command.arguments().iter().map(|word| word.text.as_str()).collect();
                let says = |part: &str| words.iter().any(|word| word.contains(part));
                command.context.pipeline.is_some()
                    && match name_of(command).as_str() {
                        "head" => true,
                        "grep" | "egrep" | "fgrep" => says("-q") || says("-m"),
                        "sed" => says("q"),
                        "awk" => says("exit"),
                        _ => false,
                    }
            })
    }

    /// Whether something among these statements ends the script, or the function, with a failure.
    pub fn ends_badly(&self, statements: &'a [Statement]) -> bool {
        self.any(statements, &|command| match name_of(command).as_str() {
            "exit" | "return" => command
                .arguments()
                .first()
                .is_some_and(|word| is_failing_code(&word.text) || word.text.contains('$')),
            "false" => true,
            name => {
                is_fail_name(name)
                    || self.functions.get(name).is_some_and(|body| self.function_ends_badly(body))
            }
        })
    }

    fn function_ends_badly(&self, body: &'a [Statement]) -> bool {
        self.any(body, &|command| {
            matches!(name_of(command).as_str(), "exit")
                && command.arguments().first().is_some_and(|word| is_failing_code(&word.text))
        })
    }

    /// Whether two branches give one variable different values: the status became a value.
    pub fn same_variable(&self, one: &'a [Statement], other: &'a [Statement]) -> bool {
        let assigned = |statements: &'a [Statement]| {
            let mut names = Vec::new();
            for statement in statements {
                if let StatementKind::Command(index) = statement.kind {
                    let command =
                        self.command(index).filter(|command| command.kind == CommandKind::Assignment);
                    names.extend(
                        command
                            .into_iter()
                            .flat_map(|c| &c.assignments)
                            .map(|a| (a.name.as_str(), a.value.as_ref())),
                    );
                }
            }
            names
        };
        let (one, other) = (assigned(one), assigned(other));
        one.iter().any(|(name, value)| {
            let text = |word: &Option<&Word>| word.map(|word| word.text.clone());
            other.iter().any(|(own, another)| own == name && text(another) != text(value))
        })
    }

    /// Whether something among these statements leaves a loop.
    pub fn leaves(&self, statements: &'a [Statement]) -> bool {
        self.any(statements, &|command| matches!(name_of(command).as_str(), "break" | "exit" | "return"))
    }

    /// Whether a statement leaves the loop with success: `break`, `return`, `exit 0`.
    pub fn leaves_loop(&self, statement: &'a Statement) -> bool {
        match &statement.kind {
            StatementKind::Command(index) => self.command(*index).is_some_and(|command| {
                let code = command.arguments().first().map(|word| word.text.as_str());
                let name = name_of(command);
                name == "break"
                    || (matches!(name.as_str(), "return" | "exit") && matches!(code, None | Some("0")))
            }),
            StatementKind::Group(body) => body.last().is_some_and(|last| self.leaves_loop(last)),
            _ => false,
        }
    }

    /// Whether a statement looks at `$?`: `rc=$?` that is looked at, `[ $? -eq 0 ] || exit 1`, `if [ $? -ne 0 ]`.
    pub fn looks_at_status(&self, statement: &'a Statement) -> bool {
        let uses = |command: &Command| {
            command.words.iter().any(|word| word.text.contains("$?"))
                || command
                    .assignments
                    .iter()
                    .any(|a| a.value.as_ref().is_some_and(|value| value.text.contains("$?")))
        };
        match &statement.kind {
            StatementKind::Command(index) => self.command(*index).is_some_and(|command| {
                uses(command)
                    && (name_of(command) == "exit"
                        || name_of(command) == "return"
                        || self.assigned_and_used(command))
            }),
            StatementKind::List { .. } | StatementKind::If { .. } => {
                self.any(std::slice::from_ref(statement), &uses)
                    && self.ends_badly(std::slice::from_ref(statement))
            }
            _ => false,
        }
    }

    fn assigned_and_used(&self, command: &Command) -> bool {
        command.kind == CommandKind::Assignment
            && command.assignments.iter().any(|a| self.looked_at(&a.name, command.span.end))
    }

    fn any(&self, statements: &'a [Statement], test: &dyn Fn(&'a Command) -> bool) -> bool {
        let (Some(first), Some(last)) = (statements.first(), statements.last()) else { return false };
        let inside = first.span.start..last.span.end;
        let commands = self.script.commands().iter();
        commands.filter(|command| inside.contains(&command.span.start)).any(test)
    }
}

fn last_only(verdict: Verdict) -> Handling {
    match verdict {
        Verdict::Decides(handling) | Verdict::Last(handling) => handling,
    }
}

/// Branches that do different things: one that fails or keeps the failure makes the handler a specific one.
fn mixed(all: Vec<Handling>) -> Verdict {
    let honest = |handling: &&Handling| matches!(handling, Handling::Fails | Handling::Value);
    match all.iter().find(honest) {
        Some(handling) => Verdict::Decides(handling.clone()),
        None => Verdict::Last(all.into_iter().next_back().unwrap_or(QUIET)),
    }
}

fn is_test(command: &Command) -> bool {
    matches!(command.kind, CommandKind::Test { .. } | CommandKind::Arithmetic) || command.is("test")
}

/// Whether a comparison of a status lets only one kind of failure pass: `-eq 1`, `-le 1`, not `-ge 1` or `-ne 0`.
fn specific(command: &Command) -> bool {
    let words: Vec<&str> = command.words.iter().map(|word| word.text.trim_matches('"')).collect();
    let wide = ["-ge", "-gt", "-ne", "!=", ">", ">="];
    !words.iter().any(|word| wide.contains(word))
}

fn mentions(word: &Word, name: &str) -> bool {
    !name.is_empty() && word.text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == name)
}

/// The bodies of all functions, by name.
fn collect<'a>(
    script: &'a Script,
    statements: &'a [Statement],
    out: &mut BTreeMap<&'a str, &'a [Statement]>,
    depth: u32,
) {
    if depth > MAX_DEPTH {
        return;
    }
    for statement in statements {
        match &statement.kind {
            StatementKind::Function { index, body } => {
                if let Some(function) = script.functions().get(*index) {
                    out.insert(function.name.as_str(), body.as_slice());
                }
            }
            StatementKind::Group(body) | StatementKind::Subshell(body) => {
                collect(script, body, out, depth + 1)
            }
            StatementKind::If { arms, otherwise } => {
                arms.iter().for_each(|(_, body)| collect(script, body, out, depth + 1));
                collect(script, otherwise.as_deref().unwrap_or_default(), out, depth + 1);
            }
            _ => {}
        }
    }
}
