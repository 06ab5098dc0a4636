//! Start states that nobody named, derived from what the job reads: a folder that is empty, a name with a blank, a file that
//! is empty or lacks its last newline, and the job run twice in a row. They show what a repair breaks elsewhere; where the
//! original fails too they show nothing.

use std::ffi::OsString;
use std::path::Path;

use selfheal_core::ports::{BoxOrder, BoxedRun};
use selfheal_core::proposal::FileChange;
use selfheal_core::verification::{CheckResult, Expect, SceneEdit, Showed};
use selfheal_repair::Candidate;

use super::Healer;
use super::verify::{Beside, result};
use crate::normal;

/// The most start states that are derived for one repair.
const MOST: usize = 4;
/// The largest file that is varied, in bytes.
const LARGEST: usize = 256 << 10;
/// Runs the job, and then once more in the state that it left.
const TWICE: &str = "\"$@\" >/dev/null 2>&1 || exit 0; exec \"$@\"";

/// Endings of files that hold rows or lines: what others deliver, more or less of it by the day. Programs and settings are
/// as they are.
const ROWS: [&str; 9] = ["csv", "tsv", "txt", "log", "lst", "list", "dat", "jsonl", "ndjson"];

/// The state in which a file holds nothing.
const EMPTY_FILE: &str = "derived-empty-file";

/// The state in which a file that the job reads is gone.
const MISSING_FILE: &str = "derived-missing-file";

/// Endings of files that hold data or settings.
const SETTINGS: [&str; 9] = ["conf", "cfg", "ini", "json", "toml", "yaml", "yml", "env", "xml"];

/// What a script says that looks whether a file is there, or goes on without it.
const LOOKS: [&str; 18] = [
    "-f ",
    "-e ",
    "-r ",
    "-s ",
    "-d ",
    "exists",
    "isfile",
    "is_file",
    "access(",
    "except",
    "catch",
    "|| true",
    "|| :",
    "2>/dev/null",
    "2> /dev/null",
    "-include",
    "eval",
    "nullglob",
];

/// Words of a line that reads a file, and signs of one that (also) writes.
const READS: [&str; 16] = [
    "cat",
    "grep",
    "awk",
    "sed",
    "cut",
    "sort",
    "head",
    "tail",
    "wc",
    "jq",
    "source",
    ".",
    "open",
    "readFileSync",
    "read_text",
    "do",
];
const WRITES: [&str; 10] = [">", "tee ", "sed -i", "\"w", "'w", "\"a", "'a", "\"x", "write", "+<"];

/// A start state that was derived.
struct Derived {
    name: &'static str,
    title: String,
    setup: Vec<SceneEdit>,
}

fn is_rows(path: &Path) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| ROWS.contains(&ending))
}

/// Whether every line of a script that names a file reads it by what stands there. A file that is only handed on as an
/// argument of the job is not known to be read.
fn is_read(script: &str, path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let code = |line: &&str| !line.trim_start().starts_with(['#', '/']);
    let mut lines = script.lines().filter(code).filter(|line| line.contains(name)).peekable();
    let reads = |line: &str| {
        let words: Vec<&str> = line
            .split(|c: char| c.is_whitespace() || "()|;&`\"'$=,".contains(c))
            .filter(|w| !w.is_empty())
            .collect();
        READS.iter().any(|sign| words.contains(sign)) || line.contains('<')
    };
    let writes = |line: &str| WRITES.iter().any(|sign| line.contains(sign));
    lines.peek().is_some() && lines.all(|line| reads(line) && !writes(line))
}

impl Healer<'_> {
    /// Runs the repaired job in derived start states, beside the original.
    pub(super) fn derived(&mut self, candidate: &Candidate, first: &BoxedRun) -> Vec<CheckResult> {
        let changes = &candidate.proposal.changes;
        let means_to = candidate.proposal.changes_meaning;
        let named: Vec<&Vec<SceneEdit>> =
            candidate.scenarios.iter().map(|scenario| &scenario.setup).collect();
        let mut states = self.states();
        states.retain(|state| !named.contains(&&state.setup));
        states.truncate(MOST);
        let gone = self.without_an_input(changes, first);
        let broken = gone.is_some() || candidate.scenarios.iter().any(|known| known.expect == Expect::Fails);
        states.extend(gone);
        let limit = self.tools.context.settings.limits.trial_ms;
        let mut orders = vec![self.twice(changes)];
        for state in &states {
            orders.push(self.box_order(limit, changes, &state.setup, &[]).ok());
            orders.push(self.box_order(limit, &[], &state.setup, &[]).ok());
        }
        let mut runs = self.run_all(orders).into_iter();
        let second = runs.next().flatten();
        let mut checks = Vec::new();
        if !broken {
            checks.push(result(
                MISSING_FILE,
                "the cause is broken again",
                Showed::NotTested,
                "there is nothing known that would have to fail still",
            ));
        }
        for state in states {
            let (repaired, original) = (runs.next().flatten(), runs.next().flatten());
            checks.push(self.in_state(&state, original.zip(repaired), means_to));
        }
        checks.extend(second.map(|run| second_run(&run)));
        checks
    }

    fn states(&self) -> Vec<Derived> {
        let Some(script) = self.job.script.as_deref() else { return Vec::new() };
        let named = normal::named(self.job, script);
        let own = |path: &Path| path.strip_prefix(&self.job.cwd).unwrap_or(path).display().to_string();
        let mut out = Vec::new();
        let first_file =
            named.files.iter().filter(|path| is_rows(path)).find_map(|path| Some((path, self.text(path)?)));
        if let Some((path, text)) = &first_file {
            let write = |content: &[u8]| {
                vec![SceneEdit::Write { path: (*path).clone(), content: content.to_vec(), mode: None }]
            };
            if let Some(cut) = text.strip_suffix(b"\n").filter(|cut| !cut.is_empty()) {
                let title = format!("{} lacks its last newline", own(path));
                out.push(Derived { name: "derived-no-last-newline", title, setup: write(cut) });
            }
            let title = format!("{} is empty", own(path));
            out.push(Derived { name: EMPTY_FILE, title, setup: write(b"") });
        }
        if let Some((folder, inside)) = named.folders.iter().find(|(_, inside)| !inside.is_empty()) {
            let copied = inside.iter().find_map(|path| Some((path, self.text(path)?)));
            if let Some((path, content)) = copied {
                let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
                let name = format!("with blank{}", ending.unwrap_or_default());
                let title = format!("{} holds a file `{name}`", own(folder));
                let setup = vec![SceneEdit::Write { path: folder.join(name), content, mode: None }];
                out.push(Derived { name: "derived-blank-in-name", title, setup });
            }
            let title = format!("{} is empty", own(folder));
            let setup = vec![SceneEdit::Empty { path: folder.clone() }];
            out.push(Derived { name: "derived-empty-folder", title, setup });
        }
        out
    }

    /// The state in which a file of data or settings is gone, where the job neither looks whether it is there nor writes it:
    /// whatever the repair does, it must not go on with nothing.
    fn without_an_input(&self, changes: &[FileChange], first: &BoxedRun) -> Option<Derived> {
        let script = self.job.script.as_deref()?;
        let text = self.script_text()?;
        if LOOKS.iter().any(|sign| text.contains(sign)) {
            return None;
        }
        let holds = |path: &Path| {
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            is_rows(path) || SETTINGS.contains(&ending)
        };
        let free = |path: &Path| {
            !changes.iter().any(|change| change.path == path)
                && !first.effects.iter().any(|effect| effect.path == path)
        };
        let named = normal::named(self.job, script);
        let path = named.files.iter().find(|path| holds(path) && free(path) && is_read(&text, path))?;
        let title = format!("{} is gone", path.strip_prefix(&self.job.cwd).unwrap_or(path).display());
        Some(Derived { name: MISSING_FILE, title, setup: vec![SceneEdit::Remove { path: path.clone() }] })
    }

    fn text(&self, path: &Path) -> Option<Vec<u8>> {
        use selfheal_core::scene::Scene;
        let content = self.scene.read(path, LARGEST + 1)?;
        (content.len() <= LARGEST && !content.contains(&0)).then_some(content)
    }

    fn in_state(
        &mut self,
        state: &Derived,
        runs: Option<(BoxedRun, BoxedRun)>,
        means_to: bool,
    ) -> CheckResult {
        let shown = |showed, why: &str| result(state.name, &state.title, showed, why);
        let Some((original, repaired)) = runs else {
            return shown(Showed::NotTested, "it could not be run");
        };
        if repaired.inconclusive.is_some() {
            return shown(Showed::NotTested, "a box does not show it");
        }
        match self.beside(&state.setup, &original, &repaired) {
            Beside::Unknown => shown(Showed::NotTested, "the original could not be run for comparison"),
            Beside::BothFail if state.name == MISSING_FILE => {
                shown(Showed::Passed, "it still fails, as it must")
            }
            Beside::BothFail => shown(Showed::NotTested, "the original fails here too"),
            Beside::OnlyOriginalFails if state.name == MISSING_FILE => {
                shown(Showed::Failed, "it succeeds, although what it reads is gone")
            }
            Beside::OnlyOriginalFails => shown(Showed::Passed, "it succeeds where the original fails"),
            // Nothing where something should be: to go on is no more right than to fail.
            Beside::OnlyRepairedFails if state.name == EMPTY_FILE => {
                shown(Showed::NotTested, "it fails where the original goes on with nothing")
            }
            Beside::OnlyRepairedFails => shown(Showed::Failed, "it fails where the original succeeds"),
            Beside::Same => shown(Showed::Passed, "it does the same as the original"),
            // It is meant to; whether rightly so is for whoever allows it.
            Beside::Differs(what) if means_to => {
                shown(Showed::NotTested, &format!("it does other things than the original here: {what}"))
            }
            Beside::Differs(what) => {
                shown(Showed::Failed, &format!("it does other things than the original: {what}"))
            }
        }
    }

    /// The repaired job, and once more in the state that it left.
    fn twice(&mut self, changes: &[FileChange]) -> Option<BoxOrder> {
        let mut argv: Vec<OsString> = ["/bin/sh", "-c", TWICE, "sh"].map(OsString::from).to_vec();
        argv.extend(self.job.argv.iter().cloned());
        let limit = self.tools.context.settings.limits.trial_ms;
        Some(BoxOrder { argv, ..self.box_order(limit, changes, &[], &[]).ok()? })
    }
}

/// Not every job can run twice in a row; one that fails then is only said to.
fn second_run(run: &BoxedRun) -> CheckResult {
    let shown = |showed, why: &str| result("derived-second-run", "a second run in a row", showed, why);
    match run.run.ended.code() {
        0 => shown(Showed::Passed, "it succeeds"),
        code => {
            let why = format!("it ends with exit code {code} then; not every job can run twice");
            shown(Showed::NotTested, &why)
        }
    }
}
