//! Reads a task file, and tells all that is wrong with it: file, line, what, and what to do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use selfheal_core::scene::absolute;
use selfheal_core::task::{
    self, Cleanup, Isolation, Lock, OnChange, Reach, RetryClass, Step, Task, When, Work,
};
use sha2::{Digest, Sha256};

use super::form::{
    self, CleanupForm, EffectsForm, IsolationForm, Language, OnChangeForm, RetryForm, Run, Span, StepForm,
    TaskForm,
};
use super::node::{self, Node, Wrong};
use super::shape;
use crate::command_error::CommandError;
use crate::terminal::{clean, shown_path};

/// The largest task file, in bytes.
const LARGEST: usize = 1 << 20;
/// Steps that a task may have.
const MOST_STEPS: usize = 1_000;
/// A step's end, where the file names none, in milliseconds: that of generated and other short scripts.
const USUAL_MS: u64 = 300_000;
/// Steps at once, where the file does not say.
const AT_ONCE: usize = 4;
/// Faults that are told at once.
const MOST_TOLD: usize = 20;

/// A task file that was read.
#[derive(Clone, Debug)]
pub struct TaskFile {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// The folder that its paths are relative to.
    pub folder: PathBuf,
    /// What it says.
    pub task: Task,
    /// A digest of all that it says.
    pub digest: String,
    /// Variables of the caller that the steps get.
    pub pass: Vec<String>,
}

/// Reads a task file.
///
/// # Errors
/// When it cannot be read, or something in it is wrong.
pub fn read(path: &Path) -> Result<TaskFile, CommandError> {
    let fail = |error: &dyn std::error::Error| {
        CommandError::new(format!("failed to read {}", shown_path(path))).because(error)
    };
    let path = std::fs::canonicalize(path).map_err(|error| {
        fail(&error).hint("look at its name; selfheal task list --json names those of earlier runs")
    })?;
    // One byte more tells a file that is too large from one that ends there.
    let bytes = selfheal_exec::read_regular(&path, LARGEST + 1).filter(|bytes| bytes.len() <= LARGEST);
    let bytes = bytes.ok_or_else(|| {
        CommandError::usage(format!("{} is no file, or larger than 1 MiB", shown_path(&path)))
            .hint("name a task file")
    })?;
    let text = String::from_utf8(bytes).map_err(|error| fail(&error))?;
    let (task, pass) = of_text(&path, &text).map_err(|wrong| told(&path, &wrong))?;
    let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
    let digest = digest(&(&task, &pass));
    Ok(TaskFile { path, folder, task, digest, pass })
}

/// The digest of a value.
pub(super) fn digest(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_vec(value).unwrap_or_default();
    Sha256::digest(&text).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn told(path: &Path, wrong: &[Wrong]) -> CommandError {
    let one = |wrong: &Wrong| format!("{}:{}: {}", shown_path(path), wrong.line, clean(&wrong.what));
    let mut lines: Vec<String> = wrong.iter().take(MOST_TOLD).map(one).collect();
    if wrong.len() > MOST_TOLD {
        lines.push(format!("{} more", wrong.len() - MOST_TOLD));
    }
    let mut error = CommandError::usage(lines.join("\n       "));
    let mut hints: Vec<&str> = Vec::new();
    for wrong in wrong.iter().take(3).filter(|wrong| !wrong.hint.is_empty()) {
        if !hints.contains(&wrong.hint.as_str()) {
            hints.push(&wrong.hint);
        }
    }
    error.hints = hints.into_iter().map(clean).collect();
    error
}

/// The task of a text, by the file's name TOML or YAML.
fn of_text(path: &Path, text: &str) -> Result<(Task, Vec<String>), Vec<Wrong>> {
    let is_yaml = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    let node =
        if is_yaml { node::of_yaml(text) } else { node::of_toml(text) }.map_err(|wrong| vec![wrong])?;
    let wrong = shape::differences(&node, &form::value());
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let form: TaskForm = serde_json::from_value(node.json())
        .map_err(|error| vec![Wrong::new(1, error.to_string(), "docs/tasks.md shows a whole file")])?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut reader = Reader { folder, wrong: Vec::new() };
    let task = reader.task(&form, &node);
    if reader.wrong.is_empty() { Ok((task, form.pass)) } else { Err(reader.wrong) }
}

struct Reader<'a> {
    folder: &'a Path,
    wrong: Vec<Wrong>,
}

impl Reader<'_> {
    /// The value, or a note of what is wrong in the line of a key.
    fn or_tell<T: Default>(&mut self, value: Result<T, String>, at: (&Node, &str), hint: &str) -> T {
        value.unwrap_or_else(|what| {
            self.wrong.push(Wrong::new(at.0.line_of(at.1), what, hint));
            T::default()
        })
    }

    fn task(&mut self, form: &TaskForm, node: &Node) -> Task {
        let nowhere = Node { line: 1, value: node::Value::List(Vec::new()) };
        let nodes = node.get("steps").unwrap_or(&nowhere).items();
        if nodes.len() > MOST_STEPS {
            self.wrong.push(Wrong::new(
                node.line_of("steps"),
                "there are more than 1000 steps",
                "make two tasks of it",
            ));
            return Task::default();
        }
        self.name(&form.id, (node, "id"));
        self.environment(&form.env, node);
        self.texts("cleanup", &form.cleanup.run, node);
        self.not_twice("locks", &form.locks, node);
        let task = Task {
            id: form.id.clone(),
            steps: form.steps.iter().zip(nodes).map(|(step, node)| self.step(step, node, form)).collect(),
            concurrency: form.concurrency.map_or(AT_ONCE, |at_once| at_once as usize),
            timeout_ms: self.time(form.timeout.as_ref(), node),
            locks: self.locks(&form.locks, node),
            cleanup: self.cleanup(&form.cleanup),
            on_change: match form.on_change {
                Some(OnChangeForm::GoOn) => OnChange::GoOn,
                Some(OnChangeForm::Stop) => OnChange::Stop,
                Some(OnChangeForm::Ask) | None => OnChange::Ask,
            },
        };
        for (step, node) in task.steps.iter().zip(nodes) {
            self.own_temp(step, node);
        }
        for fault in task::check(&task) {
            let at = nodes.get(fault.step).unwrap_or(&nowhere);
            self.wrong.push(Wrong::new(at.line_of(fault.key), fault.what, fault.hint));
        }
        self.wrong.sort_by_key(|wrong| wrong.line);
        task
    }

    fn step(&mut self, form: &StepForm, node: &Node, task: &TaskForm) -> Step {
        self.name(&form.id, (node, "id"));
        self.environment(&form.env, node);
        self.texts("cleanup", &form.cleanup.run, node);
        match &form.run {
            Some(Run::Command(words)) => self.texts("run", words, node),
            Some(Run::Script(text)) => self.texts("run", std::slice::from_ref(text), node),
            None => {}
        }
        let contract = form.expect.as_ref().map(|expect| expect.contract()).transpose();
        let contract =
            self.or_tell(contract, (node, "expect"), "docs/contracts.md tells what can be expected");
        let contract = contract.unwrap_or_default();
        let when = form.when.as_ref().map(|text| When::parse(text, &form.needs)).transpose();
        Step {
            id: form.id.clone(),
            work: self.work(form, node),
            needs: form.needs.clone(),
            inputs: self.paths(&form.inputs),
            outputs: self.paths(&form.outputs),
            timeout_ms: self.time(form.timeout.as_ref(), node).unwrap_or(USUAL_MS),
            retry: match form.retry {
                Some(RetryForm::Transient) => RetryClass::Transient,
                Some(RetryForm::None) => RetryClass::None,
                Some(RetryForm::Auto) | None => RetryClass::Auto,
            },
            idempotent: form.idempotent,
            reach: if form.effects == Some(EffectsForm::Any) { Reach::Any } else { Reach::Files },
            isolation: match form.isolation.or(task.isolation) {
                Some(IsolationForm::Namespaces) => Isolation::Namespaces,
                Some(IsolationForm::Shared) => Isolation::Shared,
                None => Isolation::Usual,
            },
            when: self.or_tell(when, (node, "when"), "for example: when = \"STEP.outcome == negative\""),
            fallback: form.fallback.clone(),
            checks: contract.checks,
            check_command: contract.command,
            cleanup: self.cleanup(&form.cleanup),
            env: task.env.clone().into_iter().chain(form.env.clone()).collect::<BTreeMap<_, _>>(),
            paths: self.paths(&form.paths),
            locks: self.locks(&form.locks, node),
        }
    }

    /// What others are to find in `/tmp` cannot lie in one that is the task's own.
    fn own_temp(&mut self, step: &Step, node: &Node) {
        if step.isolation != Isolation::Namespaces {
            return;
        }
        let keys = [("inputs", &step.inputs), ("outputs", &step.outputs), ("paths", &step.paths)];
        for (key, path) in keys.into_iter().flat_map(|(key, paths)| paths.iter().map(move |path| (key, path)))
        {
            if super::apart::is_temporary(path) && !path.starts_with(self.folder) {
                let what = format!("`{}` has a /tmp of its own and names {}", step.id, path.display());
                let hint = "take isolation out, or name a place in the folder of the task file";
                self.wrong.push(Wrong::new(node.line_of(key), what, hint));
            }
        }
    }

    fn work(&mut self, form: &StepForm, node: &Node) -> Work {
        let language = match form.language {
            Some(Language::Python) => "python",
            Some(Language::Sh) => "sh",
            Some(Language::Bash) | None => "bash",
        };
        let language = language.to_owned();
        match (&form.run, &form.need) {
            (Some(Run::Command(_)), _) if form.language.is_some() => {
                let what = "`language` is for scripts, and this is a command".to_owned();
                self.or_tell(Err(what), (node, "language"), "take it out")
            }
            (Some(Run::Command(words)), None) if words.first().is_some_and(|word| !word.is_empty()) => {
                Work::Command(words.clone())
            }
            (Some(Run::Script(text)), None) if !text.trim().is_empty() => {
                Work::Script { language, text: text.clone() }
            }
            (None, Some(need)) if !need.trim().is_empty() => Work::Need { need: need.clone(), language },
            (Some(_), Some(_)) => {
                let what = format!("`{}` has both run and need", form.id);
                self.or_tell(Err(what), (node, "need"), "take one of them out")
            }
            _ => {
                let what = format!("`{}` has nothing to do", form.id);
                self.or_tell(Err(what), (node, "run"), "add run = [\"COMMAND\", \"ARGUMENT\"]")
            }
        }
    }

    fn name(&mut self, name: &str, at: (&Node, &str)) {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let good =
            !name.is_empty() && name.len() <= 64 && name.chars().all(plain) && !name.starts_with(['.', '-']);
        if !good {
            let what = format!("`{name}` is no name");
            self.wrong.push(Wrong::new(at.0.line_of(at.1), what, "letters, digits, - _ and ., at most 64"));
        }
    }

    /// Texts that go to programs: none of them can hold a NUL.
    fn texts(&mut self, key: &'static str, texts: &[String], node: &Node) {
        if texts.iter().any(|text| text.contains('\0')) {
            let what = format!("`{key}` holds a NUL character, which no program can be given");
            self.wrong.push(Wrong::new(node.line_of(key), what, "take it out"));
        }
    }

    /// Variables, whose names the system takes.
    fn environment(&mut self, env: &BTreeMap<String, String>, node: &Node) {
        let at = node.get("env").unwrap_or(node);
        for (name, value) in env {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                let what = format!("`{name}` cannot be a variable");
                self.wrong.push(Wrong::new(
                    at.line_of(name),
                    what,
                    "a name without `=`, and texts without NUL",
                ));
            }
        }
    }

    fn time(&mut self, span: Option<&Span>, node: &Node) -> Option<u64> {
        let ms = span.map(Span::ms).transpose();
        self.or_tell(ms, (node, "timeout"), "seconds, or 30s, 5m, 2h; at most 30 days")
    }

    fn paths(&self, paths: &[String]) -> Vec<PathBuf> {
        paths.iter().map(|path| absolute(self.folder, Path::new(path))).collect()
    }

    fn cleanup(&self, form: &CleanupForm) -> Cleanup {
        Cleanup { remove: self.paths(&form.remove), run: form.run.clone() }
    }

    fn locks(&mut self, locks: &[String], node: &Node) -> Vec<Lock> {
        locks
            .iter()
            .filter_map(|lock| {
                let read = self.lock(lock).map(Some);
                self.or_tell(read, (node, "locks"), "file:PATH, port:NUMBER or name:WORD")
            })
            .collect()
    }

    fn lock(&self, text: &str) -> Result<Lock, String> {
        let wrong = || format!("`{text}` is nothing that can be locked");
        let (kind, what) = text.split_once(':').filter(|(_, what)| !what.is_empty()).ok_or_else(wrong)?;
        match kind {
            "file" => Ok(Lock::File(absolute(self.folder, Path::new(what)))),
            "port" => what.parse().map(Lock::Port).map_err(|_| wrong()),
            "name" => Ok(Lock::Name(what.to_owned())),
            _ => Err(wrong()),
        }
    }

    fn not_twice(&mut self, key: &'static str, list: &[String], node: &Node) {
        for (at, one) in list.iter().enumerate() {
            if list.iter().take(at).any(|other| other == one) {
                let what = format!("`{one}` stands in {key} twice");
                self.wrong.push(Wrong::new(node.line_of(key), what, "take one of them out"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toml(text: &str) -> Result<Task, Vec<String>> {
        let shown = |wrong: Wrong| format!("{}: {} ({})", wrong.line, wrong.what, wrong.hint);
        of_text(Path::new("/t/x.toml"), text)
            .map(|(task, _)| task)
            .map_err(|wrong| wrong.into_iter().map(shown).collect())
    }

    #[test]
    fn a_whole_file_is_read() {
        let task = toml(
            "id = \"t\"\ntimeout = \"1h\"\nlocks = [\"file:db\"]\n[env]\nA = \"1\"\n[cleanup]\nremove = [\"work\"]\n\
             [[steps]]\nid = \"a\"\nrun = \"echo hi\"\noutputs = [\"out\"]\ntimeout = 7\n[steps.expect]\nmin-seconds = 0.5\n\
             [[steps.expect.files]]\npath = \"out\"\nmin-lines = 1\n\
             [[steps]]\nid = \"b\"\nrun = [\"cat\", \"out\"]\nneeds = [\"a\"]\nwhen = \"outcome == succeeded\"\neffects = \"any\"\n",
        )
        .unwrap();
        assert_eq!((task.timeout_ms, task.concurrency), (Some(3_600_000), 4));
        assert_eq!(task.locks, [Lock::File("/t/db".into())]);
        let [a, b] = task.steps.as_slice() else { panic!("{task:?}") };
        assert_eq!((a.timeout_ms, a.checks.len(), a.outputs.clone()), (7_000, 3, vec!["/t/out".into()]));
        assert_eq!((b.reach, b.env.len()), (Reach::Any, 1));
    }

    #[test]
    fn what_is_wrong_is_told_with_line_and_hint() {
        let told = |text: &str| toml(text).unwrap_err().join("\n");
        let one = |rest: &str| told(&format!("id = \"t\"\n[[steps]]\nid = \"a\"\nrun = [\"true\"]\n{rest}"));
        assert_eq!(one("neds = []\n"), "5: unknown key `neds` (did you mean `needs`?)");
        assert_eq!(one("needs = \"a\"\n"), "5: `needs` is text (it must be a list)");
        assert_eq!(
            one("retry = \"often\"\n"),
            "5: `retry` cannot be \"often\" (it is one of: auto, transient, none)"
        );
        assert_eq!(
            one("timeout = true\n"),
            "5: `timeout` is true or false (it must be a whole number or text)"
        );
        assert_eq!(
            one("timeout = \"soon\"\n"),
            "5: `soon` is no length of time (seconds, or 30s, 5m, 2h; at most 30 days)"
        );
        assert_eq!(
            one("locks = [\"disk\"]\n"),
            "5: `disk` is nothing that can be locked (file:PATH, port:NUMBER or name:WORD)"
        );
        assert_eq!(
            one("needs = [\"b\"]\n[[steps]]\nid = \"b\"\nrun = [\"true\"]\nneeds = [\"a\"]\n"),
            "5: the steps wait for each other: a needs b needs a (take one of these needs out)"
        );
        assert_eq!(
            told("id = \"t\"\nconcurrency = 0\nsteps = []\n"),
            "2: `concurrency` cannot be 0 (it is at least 1 and at most 64)\n3: `steps` is empty (name at least one)"
        );
        assert_eq!(
            one("env = { \"A=B\" = \"1\" }\n"),
            "5: `A=B` cannot be a variable (a name without `=`, and texts without NUL)"
        );
        assert_eq!(
            told("id = \"t\"\n[[steps]]\nid = \"a\"\nrun = [\"echo\", \"\\u0000\"]\n"),
            "4: `run` holds a NUL character, which no program can be given (take it out)"
        );
        assert_eq!(told("[[steps]]\nid = \"a\"\n"), "1: `id` is missing in the file (add id)");
        assert_eq!(
            told("id = \"t\"\n[[steps]]\nid = \"a/b\"\n"),
            "2: `a/b` has nothing to do (add run = [\"COMMAND\", \"ARGUMENT\"])\n3: `a/b` is no name (letters, digits, - _ and ., at most 64)"
        );
    }
}
