//! The probe for bash: a file that every bash reads before its script, and the reader of what it writes.
//!
//! A record of a command carries the status of the command before it in the same process, so each command's status is
//! known when the next one comes. What runs in other processes in between (a pipeline, a substitution) is what that
//! status belongs to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use selfheal_core::scene::absolute;
use selfheal_core::trace::{Frame, Step};

use super::records::Record;
use super::{Findings, shortened, words};

/// So far is looked back for the command in another process that a status comes from.
const LOOKED_BACK: usize = 1_000;

/// So many of the last scripts that the job's script ran are looked at.
const MOST_NESTED: usize = 50;

/// So many of the last failed pipelines are taken apart.
const MOST_PIPES: usize = 50;

/// The file, for one run.
pub(crate) fn rc(token: &str) -> String {
    let letters = ('a'..='z').chain('A'..='Z').chain(['_']);
    let names: Vec<String> = letters.map(|letter| format!("${{!{letter}@}}")).collect();
    include_str!("bash.rc")
        .replace("@FD@", &crate::boxes::TRACE_FD.to_string())
        .replace("@TOKEN@", token)
        .replace("@NAMES@", &names.join(" "))
}

/// One command that was traced.
struct Seen {
    shell: i64,
    pid: i64,
    step: Step,
}

/// A trap of the probe's own that ran: its process, the status there, what failed, and the dump made then.
struct Marker {
    shell: i64,
    pid: i64,
    status: i32,
    target: Option<usize>,
    at_exit: bool,
    dump: Option<usize>,
}

/// A dump of frames and variables.
#[derive(Default)]
struct Dump {
    shell: i64,
    status: i32,
    /// How many commands had been seen.
    after: usize,
    pipe: Vec<i32>,
    /// Whether a failure ends the script.
    strict: bool,
    command: String,
    frames: Vec<(String, u32, String)>,
    values: BTreeMap<String, String>,
}

/// Reads the records of bash.
pub(crate) struct Reader {
    base: PathBuf,
    token: String,
    /// The folder of the job's own files.
    own: Option<PathBuf>,
    folders: HashMap<i64, PathBuf>,
    /// Shells that run a script from elsewhere (a wrapper on the PATH): left out.
    foreign: BTreeSet<i64>,
    scripts: Vec<(i64, String)>,
    seen: Vec<Seen>,
    /// The last command of each process, as an index.
    last: HashMap<i64, usize>,
    markers: Vec<Marker>,
    dumps: Vec<Dump>,
}

/// What the reader must know of the run besides the records.
pub(crate) struct Ending<'a> {
    /// The exit code.
    pub code: i32,
    /// Standard error.
    pub stderr: &'a str,
}

impl Reader {
    /// A reader; relative paths are taken from `base`, and `own` is the folder of the job's own files.
    pub(crate) fn new(base: &Path, own: Option<&Path>, token: &str) -> Self {
        Self {
            base: base.to_path_buf(),
            token: token.to_owned(),
            own: own.map(Path::to_path_buf),
            folders: HashMap::new(),
            foreign: BTreeSet::new(),
            scripts: Vec::new(),
            seen: Vec::new(),
            last: HashMap::new(),
            markers: Vec::new(),
            dumps: Vec::new(),
        }
    }

    /// Takes one record.
    pub(crate) fn take(&mut self, record: &Record<'_>) {
        match record.kind {
            "S" => self.begin(record),
            "B" => self.command(record),
            "D" => self.dump(record),
            "F" => self.frame(record),
            "V" | "A" => self.value(record),
            _ => {}
        }
    }

    /// Fields: shell, its folder, its script.
    fn begin(&mut self, record: &Record<'_>) {
        let Some(shell) = record.number(0) else { return };
        let (folder, script) = (absolute(&self.base, Path::new(record.text(1))), record.text(2));
        let place = super::real(&absolute(&folder, Path::new(script)));
        let outside = self.own.as_ref().is_some_and(|own| !place.starts_with(own));
        if script.contains('/') && outside {
            self.foreign.insert(shell);
        } else {
            self.foreign.remove(&shell);
            self.scripts.push((shell, script.to_owned()));
        }
        self.folders.insert(shell, folder);
    }

    /// Fields: last status, shell, process, line, function, file, options, command.
    fn command(&mut self, record: &Record<'_>) {
        let (Some(status), Some(shell), Some(pid)) = (record.number(0), record.number(1), record.number(2))
        else {
            return;
        };
        if self.foreign.contains(&shell) {
            return;
        }
        let status = i32::try_from(status).unwrap_or(1);
        let text = record.text(7);
        let guard = text.starts_with("[[ ") && text.contains(&self.token);
        if guard || record.text(4).starts_with("__selfheal") || record.text(5).starts_with(super::FOLDER) {
            return;
        }
        let target = self.settle(shell, pid, status);
        let (after, strict) = (self.seen.len(), record.text(6).contains('e'));
        if let Some(dump) = self.dumps.last_mut().filter(|dump| dump.shell == shell && dump.after == after) {
            dump.strict = strict;
        }
        if let Some(mark) = text.strip_prefix(": __selfheal ") {
            let at_exit = mark.starts_with("EXIT");
            let dump = self.dumps.len().checked_sub(1).filter(|at| self.fits(*at, shell, status));
            self.markers.push(Marker { shell, pid, status, target, at_exit, dump });
            return;
        }
        let line = record.number(3).and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
        let words = words::split(text).iter().map(|word| shortened(word)).collect();
        let step = Step { file: self.file(shell, record.text(5)), line, words, status: None };
        self.last.insert(pid, self.seen.len());
        self.seen.push(Seen { shell, pid, step });
    }

    fn fits(&self, dump: usize, shell: i64, status: i32) -> bool {
        self.dumps
            .get(dump)
            .is_some_and(|dump| dump.shell == shell && dump.status == status && dump.after == self.seen.len())
    }

    fn file(&self, shell: i64, source: &str) -> PathBuf {
        if source.is_empty() {
            return PathBuf::new();
        }
        absolute(self.folders.get(&shell).unwrap_or(&self.base), Path::new(source))
    }

    /// Gives the status that a process saw to the command that it belongs to; gives that command's index.
    fn settle(&mut self, shell: i64, pid: i64, status: i32) -> Option<usize> {
        let own = *self.last.get(&pid)?;
        let target = self.inner(own, shell, pid, status).unwrap_or(own);
        let step = &mut self.seen.get_mut(target)?.step;
        if step.status.is_none() || target == own {
            step.status = Some(status);
        }
        Some(target)
    }

    /// The command in another process of the shell that a status comes from: the last one since the process's own last
    /// command; or, where that was an assignment or declaration, the last one before it.
    fn inner(&self, own: usize, shell: i64, pid: i64, status: i32) -> Option<usize> {
        let other = |at: usize| self.seen.get(at).filter(|seen| seen.shell == shell && seen.pid != pid);
        let end = self.seen.len();
        if own + 1 < end {
            let failed = |at: &usize| other(*at).is_some_and(|seen| seen.step.status == Some(status));
            let later = || (own + 1..end).rev().take(LOOKED_BACK);
            return later().find(failed).or_else(|| later().find(|at| other(*at).is_some()));
        }
        let assigns = self.seen.get(own).is_some_and(|seen| is_assignment(&seen.step.words));
        let before = own.checked_sub(1)?;
        let fits = other(before).is_some_and(|seen| seen.step.status.is_none_or(|known| known == status));
        (status != 0 && assigns && fits).then_some(before)
    }

    /// Fields: status, shell, statuses of a pipeline, command. In a trap it is the command that called it.
    fn dump(&mut self, record: &Record<'_>) {
        self.dumps.push(Dump {
            status: record.number(0).and_then(|status| i32::try_from(status).ok()).unwrap_or(1),
            shell: record.number(1).unwrap_or(0),
            after: self.seen.len(),
            pipe: record.text(2).split(' ').filter_map(|status| status.parse().ok()).collect(),
            command: record.text(3).to_owned(),
            ..Dump::default()
        });
    }

    fn frame(&mut self, record: &Record<'_>) {
        let line = record.number(1).and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
        if let Some(dump) = self.dumps.last_mut() {
            dump.frames.push((record.text(0).to_owned(), line, record.text(2).to_owned()));
        }
    }

    fn value(&mut self, record: &Record<'_>) {
        let text = record.text(1);
        let value = if record.kind == "V" { words::split(text).concat() } else { text.trim_end().to_owned() };
        if let Some(dump) = self.dumps.last_mut().filter(|dump| dump.values.len() < 200) {
            dump.values.insert(record.text(0).to_owned(), shortened(&value));
        }
    }

    /// Whether bash wrote anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.scripts.is_empty()
    }

    /// Sums up. `env` is the environment that the job was given: variables that still have a value of it are left out.
    pub(crate) fn finish(mut self, ending: &Ending<'_>, env: &BTreeMap<String, String>) -> Findings {
        let mut findings = Findings::default();
        if ending.code != 0 {
            self.spread_pipe();
            if let Some((failing, dump)) = self.failing(ending) {
                findings.failing = Some(failing);
                findings.frames = self.frames(failing, dump, env);
            }
        }
        for seen in &self.seen {
            if !seen.step.file.as_os_str().is_empty() && seen.step.line > 0 {
                findings
                    .lines
                    .entry(seen.step.file.clone())
                    .or_insert_with(BTreeSet::new)
                    .insert(seen.step.line);
            }
        }
        findings.steps = self.seen.into_iter().map(|seen| seen.step).collect();
        findings
    }

    /// The failed command of the job's shell; or of a script that it ran, when that lies beside it and failed alike.
    fn failing(&mut self, ending: &Ending<'_>) -> Option<(usize, Option<usize>)> {
        let (main, _) = self.scripts.first()?.clone();
        let found = self
            .caller_of_handler(main, ending.code)
            .or_else(|| self.failing_of(main, ending.code))
            .or_else(|| self.last_with(main, ending.code));
        let aborted = self.aborted(main, ending, found);
        let (failing, dump) = aborted.or(found)?;
        if self.lost_at(failing) {
            return None;
        }
        let nested =
            self.scripts.iter().skip(1).rev().take(MOST_NESTED).map(|(shell, _)| *shell).find_map(|shell| {
                let inner = self.failing_of(shell, ending.code)?;
                let beside = self.own.as_ref().zip(self.seen.get(inner.0)).is_some_and(|(own, seen)| {
                    seen.step.file.starts_with(own) && inner.0 > failing && inner.1.is_some()
                });
                beside.then_some(inner)
            });
        Some(nested.unwrap_or((failing, dump)))
    }

    /// Whether the trace ends where the shell may have taken it away, by a redirection of its own or by where its trace
    /// goes: what failed came later.
    fn lost_at(&self, step: usize) -> bool {
        let takes_away = |words: &[String]| {
            words == ["exec"] || words.iter().any(|word| word.starts_with("BASH_XTRACEFD"))
        };
        self.seen.get(step).is_some_and(|seen| seen.step.status.is_none() && takes_away(&seen.step.words))
    }

    /// By the last trap in the shell's own process.
    fn failing_of(&self, shell: i64, code: i32) -> Option<(usize, Option<usize>)> {
        let mut own =
            self.markers.iter().filter(|mark| mark.shell == shell && mark.pid == shell && mark.status != 0);
        let last = own.next_back().filter(|mark| mark.status == code)?;
        let target = last.target?;
        // The first trap for a command saw the variables of its function.
        let first = self.markers.iter().find(|mark| mark.shell == shell && mark.target == Some(target))?;
        Some((target, first.dump.or(last.dump)))
    }

    /// Where the script has an error trap of its own, the commands of its handler come last and may look as if they
    /// failed; but the dump at the first of them names the command that called it.
    fn caller_of_handler(&self, shell: i64, code: i32) -> Option<(usize, Option<usize>)> {
        let in_handler = |dump: &&Dump| {
            let called =
                dump.shell == shell && dump.status == code && !dump.command.starts_with("__selfheal");
            let trap_of_probe = self.markers.iter().rev().any(|mark| {
                mark.dump.and_then(|at| self.dumps.get(at)).is_some_and(|other| std::ptr::eq(other, *dump))
            });
            called && dump.strict && !trap_of_probe
        };
        let dump = self.dumps.iter().rev().take(MOST_PIPES).find(in_handler)?;
        let word = words::split(&dump.command).into_iter().next()?;
        let before = self.seen.iter().enumerate().take(dump.after).rev().take(LOOKED_BACK);
        let (step, _) = before
            .filter(|(_, seen)| seen.shell == shell && seen.step.status == Some(code))
            .find(|(_, seen)| seen.step.words.first() == Some(&word))?;
        // The first handler saw the variables of the function.
        let first = |dump: &Dump| dump.shell == shell && dump.status == code && dump.after > step;
        Some((step, self.dumps.iter().position(first)))
    }

    /// Where the script has traps of its own: the last command with the exit code, with the dump made right after it.
    fn last_with(&self, shell: i64, code: i32) -> Option<(usize, Option<usize>)> {
        let own = || self.seen.iter().enumerate().rev().filter(|(_, seen)| seen.shell == shell);
        let failed = |seen: &Seen| seen.step.status == Some(code);
        let explicit = |seen: &Seen| {
            seen.step.words.first().is_some_and(|word| word == "exit")
                && seen.step.words.get(1).is_none_or(|word| word.parse() == Ok(code))
        };
        let exit = own().take_while(|(_, seen)| !failed(seen)).find(|(_, seen)| explicit(seen));
        // The first command of a handler sees the status that called it, so it looks as if it failed too.
        let streak =
            || own().skip_while(|(_, seen)| !failed(seen)).take_while(|(_, seen)| failed(seen)).last();
        let (at, _) = exit.or_else(streak).or_else(|| own().find(|(_, seen)| seen.step.status.is_none()))?;
        let dump =
            self.dumps.iter().position(|dump| dump.shell == shell && dump.after > at && dump.status == code);
        Some((at, dump))
    }

    /// A command whose words could not be expanded (an unset variable) ends the script before it is traced: its line is
    /// only in the message, its text in the dump. Adds it as a step.
    fn aborted(
        &mut self,
        main: i64,
        ending: &Ending<'_>,
        found: Option<(usize, Option<usize>)>,
    ) -> Option<(usize, Option<usize>)> {
        let script =
            self.scripts.iter().find(|(shell, _)| *shell == main).map(|(_, script)| script.clone())?;
        let line = line_in_message(ending.stderr, &script)?;
        let known = found
            .and_then(|(at, _)| self.seen.get(at))
            .is_some_and(|seen| seen.step.line == line && seen.step.status.is_some_and(|status| status != 0));
        let trapped = self.markers.iter().rev().find(|mark| mark.shell == main && mark.pid == main);
        if known || trapped.is_some_and(|mark| !mark.at_exit) {
            return None;
        }
        let dump = trapped
            .and_then(|mark| mark.dump)
            .or_else(|| self.dumps.iter().rposition(|dump| dump.shell == main && dump.status == ending.code));
        let text =
            dump.and_then(|at| self.dumps.get(at)).map(|dump| dump.command.clone()).unwrap_or_default();
        let file = self.file(main, &script);
        let mut words: Vec<String> = words::split(&text).iter().map(|word| shortened(word)).collect();
        // Text that does not parse is no command: the trap only knows the one before it.
        let before = self.seen.iter().rev().find(|seen| seen.pid == main);
        if before.is_some_and(|seen| seen.step.words == words) {
            words.clear();
        }
        let step = Step { file, line, words, status: Some(ending.code) };
        self.seen.push(Seen { shell: main, pid: main, step });
        Some((self.seen.len() - 1, dump))
    }

    /// A pipeline's own statuses, given to its commands when they can be told apart.
    fn spread_pipe(&mut self) {
        for dump in self.dumps.iter().rev().take(MOST_PIPES).filter(|dump| dump.pipe.len() > 1) {
            let parts = self.parts_of_pipe(dump);
            if parts.len() != dump.pipe.len() {
                continue;
            }
            let statuses = || parts.iter().copied().zip(dump.pipe.iter().copied());
            for (at, status) in statuses() {
                if let Some(seen) = self.seen.get_mut(at) {
                    seen.step.status = Some(status);
                }
            }
            // With pipefail the last part that failed gives the status.
            let failed = statuses().rfind(|(_, status)| *status != 0).map(|(at, _)| at);
            let of_pipe = |mark: &&mut Marker| mark.target.is_some_and(|target| parts.contains(&target));
            self.markers.iter_mut().filter(of_pipe).for_each(|mark| mark.target = failed.or(mark.target));
        }
    }

    /// The last command of each process of the shell since its own last command. Processes are numbered in the order in
    /// which they were started, and traced as they came to run.
    fn parts_of_pipe(&self, dump: &Dump) -> Vec<usize> {
        let before = self.seen.iter().enumerate().take(dump.after).rev().take(LOOKED_BACK);
        let mut parts = BTreeMap::new();
        for (at, seen) in before.filter(|(_, seen)| seen.shell == dump.shell) {
            if seen.pid == dump.shell {
                break;
            }
            parts.entry(seen.pid).or_insert(at);
        }
        parts.into_values().collect()
    }

    fn frames(&self, failing: usize, dump: Option<usize>, env: &BTreeMap<String, String>) -> Vec<Frame> {
        let Some(step) = self.seen.get(failing).map(|seen| &seen.step) else { return Vec::new() };
        let empty = Dump::default();
        let dump = dump.and_then(|at| self.dumps.get(at)).unwrap_or(&empty);
        let shell = self.seen.get(failing).map_or(0, |seen| seen.shell);
        let mut frames: Vec<Frame> = dump
            .frames
            .iter()
            .rev()
            .map(|(function, line, source)| Frame {
                file: self.file(shell, source),
                line: *line,
                function: function.clone(),
                ..Frame::default()
            })
            .collect();
        if frames.is_empty() {
            frames.push(Frame { function: "main".to_owned(), ..Frame::default() });
        }
        if let Some(frame) = frames.last_mut() {
            frame.file.clone_from(&step.file);
            frame.line = step.line;
            frame.source = source_of(dump, step);
            frame.values = dump
                .values
                .iter()
                .filter(|(name, value)| env.get(*name) != Some(value) || mentions(&frame.source, name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
        }
        frames
    }
}

/// The command's text as the script has it, where a trap saw it; else as it ran.
fn source_of(dump: &Dump, step: &Step) -> String {
    let fits = |text: &&String| {
        !text.is_empty() && !text.starts_with("__selfheal") && words::split(text).len() == step.words.len()
    };
    let seen = Some(&dump.command).filter(fits);
    seen.map_or_else(|| step.words.join(" "), |text| shortened(text))
}

fn mentions(source: &str, name: &str) -> bool {
    source.match_indices('$').any(|(at, _)| {
        let rest = source.get(at + 1..).unwrap_or_default();
        let rest = rest.trim_start_matches(['{', '!', '#']);
        rest.strip_prefix(name)
            .is_some_and(|tail| !tail.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    })
}

/// `NAME=…`, or a declaration with such a word.
fn is_assignment(words: &[String]) -> bool {
    let assigns = |word: &String| {
        word.split_once('=').is_some_and(|(name, _)| {
            let name = name.trim_end_matches('+');
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_[]".contains(c))
        })
    };
    words.first().is_some_and(assigns)
}

/// The line number in the last message of bash about a script: `SCRIPT: line N: …`.
fn line_in_message(stderr: &str, script: &str) -> Option<u32> {
    let prefix = format!("{script}: line ");
    let rest = stderr.lines().rev().find_map(|line| line.strip_prefix(&prefix))?;
    rest.split_once(':')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::records::records;

    fn read(lines: &[&str], code: i32, stderr: &str) -> Findings {
        let text: String =
            lines.iter().map(|line| format!("\u{1e}T\u{1f}{}\n", line.replace('|', "\u{1f}"))).collect();
        let mut reader = Reader::new(Path::new("/w"), Some(Path::new("/w")), "T");
        records(&text, "T").for_each(|record| reader.take(&record));
        let ending = Ending { code, stderr };
        reader.finish(&ending, &BTreeMap::from([("HOME".to_owned(), "/h".to_owned())]))
    }

    #[test]
    fn a_status_goes_to_the_command_before() {
        let found = read(
            &[
                "S|1|/w|a.sh",
                "B|0|1|1|2||a.sh|hB|x=1",
                "B|0|1|1|3||a.sh|hB|cp a b",
                "B|1|1|1|3||a.sh|hB|: __selfheal EXIT 0",
            ],
            1,
            "",
        );
        let statuses: Vec<_> = found.steps.iter().map(|step| step.status).collect();
        assert_eq!((statuses, found.failing), (vec![Some(0), Some(1)], Some(1)));
        assert_eq!(found.steps[1].file, Path::new("/w/a.sh"));
    }

    #[test]
    fn values_of_the_environment_are_left_out_unless_named() {
        let lines = |command: &str| {
            [
                "S|1|/w|a.sh".to_owned(),
                format!("B|0|1|1|3||a.sh|hB|{command}"),
                format!("D|1|1|1|{command}"),
                "F|main|0|a.sh".to_owned(),
                "V|HOME|/h".to_owned(),
                "V|own|it\\'s".to_owned(),
                "B|1|1|1|1||a.sh|hB|: __selfheal ERR 0".to_owned(),
            ]
        };
        let named = |command: &str| {
            let lines = lines(command);
            let found = read(&lines.each_ref().map(String::as_str), 1, "");
            found.frames[0].values.keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(named("false"), ["own"]);
        assert_eq!(named("rm \"${HOME}/x\""), ["HOME", "own"]);
        assert_eq!(named("rm $HOMEWARD"), ["own"]);
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        let found = read(
            &[
                "B",
                "B|x|y|z",
                "D",
                "F|a",
                "V",
                "S",
                "S|x",
                "B|1|1|1|99999999999||a|b",
                "B|0|1|1|-1||a|e|: __selfheal",
                "D|9|9|9|9",
            ],
            1,
            "a.sh: line x: y",
        );
        assert!(found.steps.len() <= 3);
    }

    #[test]
    fn many_processes_are_read_in_linear_time() {
        let mut lines = vec!["S|1|/w|a.sh".to_owned()];
        for _ in 0..2 {
            lines.extend((2..10_000).map(|pid| format!("B|1|1|{pid}|1||a||b")));
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(read(&lines, 1, "").steps.len(), 2 * 9_998);
    }
}
