//! # A pattern that matches no file
//!
//! ## What it finds
//! A loop over files, or a command, gets a pattern like `*.log` as it is written because the folder holds no such file.
//! Also `ls PATTERN | while read` and `for f in $(ls PATTERN)`. A folder that the loop writes into is looked at together
//! with it.
//!
//! ## Why it fails
//! A shell leaves a pattern that matches nothing as it is. The command in the loop gets a name with a star in it, finds
//! no such file, and a strict script ends.
//!
//! ## Fix
//! The loop says that there is nothing, and goes on; a check before it lets a missing folder still fail the job. The
//! folder that the loop writes into is made when it is missing.
//!
//! ## Example
//! ```sh
//! for f in "$LOG_SRC"/*.log; do
//!   cp "$f" "$BACKUP_DIR/"
//! done
//! ```
//! ```sh
//! [ -d "$LOG_SRC" ] || { echo "$LOG_SRC is missing" >&2; exit 1; }
//! mkdir -p "$BACKUP_DIR"
//! for f in "$LOG_SRC"/*.log; do
//!   [ -e "$f" ] || [ -L "$f" ] || { echo "no file matches $f" >&2; continue; }
//!   cp "$f" "$BACKUP_DIR/"
//! done
//! ```
//!
//! ## Safety
//! Nothing is done when the folder itself is missing. Strict mode stays on, dangling links still fail. For the folder that
//! is written into the limits of `missing_folder` hold.

use std::ops::Range;
use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::scene::{Kind, absolute};
use selfheal_core::verification::{Check, Expect, SceneEdit};

use crate::candidate::{Candidate, Draft, removed, written};
use crate::case::{Case, ScriptFile};
use crate::folders::{Destination, destinations, is_made, may_be_made};
use crate::globs;
use crate::shell::{
    Block, BlockKind, Command, Script, Values, bare, folder_of, has_pattern, quoted, quoted_word, splice,
    unquoted, variables,
};
use crate::text;

rule!(UnmatchedGlob, "unmatched_glob", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let patterns = evidence(case);
    if patterns.is_empty()
        && !case.faults().any(|fault| matches!(fault, Fault::SilentExit { .. } | Fault::NoSuchPath { .. }))
    {
        return Vec::new();
    }
    case.files()
        .iter()
        .filter(|file| file.language.is_shell())
        .flat_map(|file| in_file(case, file, &patterns))
        .collect()
}

/// The patterns that reached a command as they were written.
fn evidence(case: &Case) -> Vec<String> {
    let mut patterns: Vec<String> = Vec::new();
    for fault in case.faults() {
        match fault {
            Fault::UnmatchedGlob { pattern } => patterns.push(pattern.clone()),
            Fault::NoSuchPath { path } if globs::is_pattern(&path.to_string_lossy()) => {
                patterns.push(path.to_string_lossy().into_owned());
            }
            _ => {}
        }
    }
    patterns
}

/// A place where a pattern is used.
#[derive(Clone)]
struct Use {
    /// The loop, or `None` for a command that gets the pattern itself.
    block: Option<usize>,
    command: Option<usize>,
    /// The variable of a `ls PATTERN | while read` loop.
    listed: Option<String>,
    /// The patterns as written.
    items: Vec<Range<usize>>,
    /// Where the statement begins.
    start: usize,
}

fn in_file(case: &Case, file: &ScriptFile, patterns: &[String]) -> Vec<Candidate> {
    let script = Script::new(&file.text);
    let values = Values::new(case, &script, file.folder());
    let look = Look { case, file, script: &script, values: &values };
    if look.script.commands.iter().any(|command| look.sets_nullglob(command)) {
        return Vec::new();
    }
    let uses: Vec<Use> = look.uses().into_iter().filter(|found| look.concerned(found, patterns)).collect();
    let mut out = Vec::new();
    if !uses.is_empty() {
        out.extend(look.candidate(&uses, true));
        out.extend(look.candidate(&uses, false));
    }
    out.dedup_by(|a, b| a.proposal.changes == b.proposal.changes);
    out
}

struct Look<'l> {
    case: &'l Case<'l>,
    file: &'l ScriptFile,
    script: &'l Script<'l>,
    values: &'l Values<'l>,
}

impl Look<'_> {
    fn sets_nullglob(&self, command: &Command) -> bool {
        let words = self.script.words(command);
        self.script.name(command) == "shopt" && words.contains(&"-s") && words.contains(&"nullglob")
    }

    /// All loops and commands that use a pattern and do not provide for one that matches nothing.
    fn uses(&self) -> Vec<Use> {
        let mut uses = self.loops();
        uses.extend(self.listings());
        uses.extend(self.commands());
        uses
    }

    fn patterns<'s>(&self, words: impl Iterator<Item = &'s Range<usize>>) -> Vec<Range<usize>> {
        words.filter(|word| has_pattern(self.script.get(word))).cloned().collect()
    }

    /// `for f in PATTERN`.
    fn loops(&self) -> Vec<Use> {
        let blocks = self.script.blocks.iter().enumerate();
        let found = blocks.filter_map(|(at, block)| {
            let BlockKind::For { items, .. } = &block.kind else { return None };
            let items = self.patterns(items.iter());
            let start = self.script.block_statement(at);
            (!items.is_empty() && !self.guarded(block)).then_some(Use {
                block: Some(at),
                command: None,
                listed: None,
                items,
                start,
            })
        });
        found.collect()
    }

    /// `ls PATTERN | while read -r f`.
    fn listings(&self) -> Vec<Use> {
        let script = self.script;
        let blocks =
            script.blocks.iter().enumerate().filter(|(_, b)| b.kind == BlockKind::While && b.before == "|");
        let found = blocks.filter_map(|(at, block)| {
            let start = script.block_statement(at);
            let command = script
                .commands
                .iter()
                .position(|c| c.span.start == start && script.name(c) == "ls" && c.after == "|")?;
            let words = script.commands.get(command)?.words.iter().skip(1);
            let items = self.patterns(words.clone());
            let plain = words.filter(|word| script.get(word) != "-1").count() == items.len();
            let read = script
                .commands
                .iter()
                .find(|c| block.span.start < c.span.start && c.span.start < block.body)?;
            let names: Vec<&str> =
                script.words(read).into_iter().skip(1).filter(|word| !word.starts_with('-')).collect();
            let [name] = names.as_slice() else { return None };
            let fits = script.name(read) == "read" && plain && !items.is_empty();
            fits.then(|| Use {
                block: Some(at),
                command: Some(command),
                listed: Some((*name).to_owned()),
                items,
                start,
            })
        });
        found.collect()
    }

    /// `cp PATTERN folder/`.
    fn commands(&self) -> Vec<Use> {
        let script = self.script;
        let mut uses = Vec::new();
        for (at, command) in script.commands.iter().enumerate() {
            let items = self.patterns(command.words.iter().skip(1));
            let name = script.name(command);
            let tests = ["[", "[[", "test", "ls", "find", "echo", "rm", "case", "unset", "sed"]
                .contains(&name.as_str());
            let simple = command.before.is_empty() && matches!(command.after.as_str(), "" | ";");
            let nested = script.around(command.block).any(|(_, block)| block.kind == BlockKind::Substitution);
            let whole = script.statement(command) == command.span.start;
            if !items.is_empty() && !tests && simple && !nested && whole {
                let start = command.span.start;
                uses.push(Use { block: None, command: Some(at), listed: None, items, start });
            }
        }
        uses
    }

    /// Whether the loop's body already looks whether its file exists.
    fn guarded(&self, block: &Block) -> bool {
        let BlockKind::For { name, .. } = &block.kind else { return true };
        let name = self.script.get(name);
        let body = self.script.text.get(block.body..block.span.end).unwrap_or_default();
        let tests = ["-e", "-f", "-s", "-r", "-d", "-L"];
        tests.iter().any(|test| {
            [format!("{test} \"${name}\""), format!("{test} ${name}"), format!("{test} \"${{{name}}}\"")]
                .iter()
                .any(|text| body.contains(text.as_str()))
        })
    }

    /// Whether a use is one of the failure's: its pattern is in the evidence, or is another of the same kind of loop that
    /// matches nothing either.
    fn concerned(&self, found: &Use, patterns: &[String]) -> bool {
        let nothing = found.items.iter().all(|item| self.matches_nothing(item));
        let named = found.items.iter().any(|item| self.named(item, patterns));
        nothing && (named || (found.block.is_some() && !patterns.is_empty()))
    }

    fn named(&self, item: &Range<usize>, patterns: &[String]) -> bool {
        let word = self.script.get(item);
        // A name that was made from the pattern: `out/*.txt.gz`.
        let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
        let own = last(&unquoted(word));
        if own.len() > 2
            && patterns.iter().any(|pattern| last(pattern) != own && last(pattern).contains(&own))
        {
            return true;
        }
        match self.values.word(word) {
            Some(value) => {
                let places = self.case.places(Path::new(&value));
                patterns.iter().any(|pattern| {
                    self.case.places(Path::new(pattern)).iter().any(|place| places.contains(place))
                })
            }
            None => patterns.iter().any(|pattern| last(pattern) == own),
        }
    }

    /// Whether a pattern matches no file now while its folder is there. A value that is not known may well match nothing.
    fn matches_nothing(&self, item: &Range<usize>) -> bool {
        let Some(value) = self.values.word(self.script.get(item)) else { return true };
        let Some(folder) = self.folder(item) else { return false };
        let place = absolute(&self.case.base(), Path::new(&value));
        let is_folder = self.case.scene.facts(&folder).is_some_and(|facts| facts.kind == Kind::Directory);
        is_folder && globs::expand(self.case.scene, &place).is_empty()
    }

    /// The folder before the first part of a pattern that is a pattern, as a word of the script.
    fn folder_word(&self, item: &Range<usize>) -> Option<String> {
        let mut word = folder_of(self.script.get(item))?;
        while globs::is_pattern(&word) {
            word = folder_of(&word)?;
        }
        Some(word)
    }

    fn folder(&self, item: &Range<usize>) -> Option<PathBuf> {
        let word = self.folder_word(item).unwrap_or_else(|| ".".to_owned());
        self.values.word(&word).map(|value| absolute(&self.case.base(), Path::new(&value)))
    }

    fn candidate(&self, uses: &[Use], with_folders: bool) -> Option<Candidate> {
        let (script, file) = (self.script, self.file);
        let mut parts: Vec<(Range<usize>, String)> = Vec::new();
        let mut said: Vec<String> = Vec::new();
        for found in uses {
            parts.extend(self.source_checks(found, &mut said));
        }
        let targets = if with_folders { self.targets(uses) } else { Vec::new() };
        let mut made: Vec<&str> = Vec::new();
        for target in &targets {
            if !made.contains(&target.word.as_str()) {
                made.push(&target.word);
                parts.push(script.put_before(target.before, &format!("mkdir -p {}", target.word)));
            }
        }
        for found in uses {
            parts.extend(self.empty_checks(found));
        }
        let first = uses.first()?;
        let pattern = first.items.first().map(|item| script.get(item))?;
        let line = script.line_of(first.start);
        let after = splice(&file.text, parts);
        let mut draft = Draft::new(
            "unmatched_glob",
            format!("line {line}: {pattern} matches no file, so the pattern itself is used as a name"),
            "say that there is nothing and go on; let a missing folder still fail",
        )
        .evidence(format!("no file matches {pattern} now, and its folder is there"))
        .rewrite(file, after, format!("line {line}: provide for {pattern} that matches nothing"));
        if !made.is_empty() {
            draft = draft.evidence(format!("nothing in the script makes {}", made.join(", ")));
        }
        self.scenarios(draft, first, targets.first()).done()
    }

    /// The variables that change in the loops around a use.
    fn changing(&self, found: &Use) -> Vec<String> {
        let block = found.block.and_then(|at| self.script.blocks.get(at));
        let command = found.command.and_then(|at| self.script.commands.get(at));
        let outer = block.map_or_else(|| command.and_then(|command| command.block), |block| block.parent);
        let loops = self
            .script
            .around(outer)
            .filter(|(_, block)| matches!(block.kind, BlockKind::For { .. } | BlockKind::While));
        loops.flat_map(|(_, block)| self.script.changed_in(block)).collect()
    }

    /// Whether the folder of a use is another one in each turn of a loop around it.
    fn varies(&self, found: &Use) -> bool {
        let changing = self.changing(found);
        let words = found.items.iter().filter_map(|item| self.folder_word(item));
        words.flat_map(|word| variables(&word)).any(|name| changing.contains(&name))
    }

    /// Checks that the folders of the patterns are there.
    fn source_checks(&self, found: &Use, said: &mut Vec<String>) -> Vec<(Range<usize>, String)> {
        let changing = self.changing(found);
        let mut out = Vec::new();
        for word in found.items.iter().filter_map(|item| self.folder_word(item)) {
            let varies = variables(&word).iter().any(|name| changing.contains(name));
            let looked = self.script.commands.iter().any(|command| {
                let words = self.script.words(command);
                words.contains(&"-d") && words.contains(&word.as_str()) && command.span.start < found.start
            });
            if varies || looked || said.contains(&word) || is_made(self.script, &word, found.start) {
                continue;
            }
            let shown = word.replace('"', "");
            let check = format!("[ -d {word} ] || {{ echo \"{shown} is missing\" >&2; exit 1; }}");
            out.push(self.script.put_before(found.start, &check));
            said.push(word);
        }
        out
    }

    /// What is done when the pattern matches nothing.
    fn empty_checks(&self, found: &Use) -> Vec<(Range<usize>, String)> {
        let script = self.script;
        let check = |name: &str| {
            format!(
                "[ -e \"${name}\" ] || [ -L \"${name}\" ] || {{ echo \"no file matches ${name}\" >&2; continue; }}"
            )
        };
        let command = found.command.and_then(|at| script.commands.get(at));
        match (found.block.and_then(|at| script.blocks.get(at)), &found.listed, command) {
            (Some(block), Some(name), _) => {
                let items: Vec<String> =
                    found.items.iter().map(|item| quoted_word(script.get(item))).collect();
                let head = format!("for {name} in {}; do", items.join(" "));
                vec![(found.start..block.body, head), script.put_first(block, &check(name))]
            }
            (Some(Block { kind: BlockKind::For { name, .. }, .. }), None, _) => {
                let block = found.block.and_then(|at| script.blocks.get(at));
                block.map(|block| script.put_first(block, &check(script.get(name)))).into_iter().collect()
            }
            (None, _, Some(command)) => self.wrapped(command, found),
            _ => Vec::new(),
        }
    }

    /// A command that gets the pattern itself runs only when there is something.
    fn wrapped(&self, command: &Command, found: &Use) -> Vec<(Range<usize>, String)> {
        let Some(item) = found.items.first() else { return Vec::new() };
        let word = self.script.get(item);
        let shown = word.replace('"', "");
        let bash = self.file.language == crate::case::Language::Bash;
        let test = if bash {
            format!("compgen -G {} > /dev/null", quoted(&shown))
        } else {
            format!("ls -d {word} > /dev/null 2>&1")
        };
        let line = self.script.line_start(command.span.start);
        let lead = self.script.text.get(line..command.span.start).unwrap_or_default();
        let source = self.script.get(&command.span);
        if !lead.trim().is_empty() || source.contains('\n') {
            let end = command.span.end;
            let note = format!("; else echo \"no file matches {shown}\" >&2; fi");
            return vec![
                (command.span.start..command.span.start, format!("if {test}; then ")),
                (end..end, note),
            ];
        }
        if let Some(looped) = self.looped(command, item, lead) {
            return vec![(command.span.clone(), looped)];
        }
        let step = if lead.contains('\t') { "\t" } else { "  " };
        let new = format!(
            "if {test}; then\n{lead}{step}{source}\n{lead}else\n{lead}{step}echo \"no file matches {shown}\" >&2\n{lead}fi"
        );
        vec![(command.span.clone(), new)]
    }

    /// A command that does with one file at a time, as a loop over the pattern.
    fn looped(&self, command: &Command, item: &Range<usize>, lead: &str) -> Option<String> {
        let single = ["cp", "mv", "install", "ln", "rsync", "gzip", "bzip2", "xz", "chmod", "chown", "touch"];
        let name = self.script.name(command);
        let patterns = self.patterns(command.words.iter().skip(1)).len();
        let last = self.script.words(command).last().map(|word| bare(word))?;
        let into_folder = last.ends_with('/')
            || command.words.last() == Some(item)
            || matches!(name.as_str(), "chmod" | "chown");
        if !single.contains(&name.as_str()) || patterns != 1 || !into_folder {
            return None;
        }
        let file = ["file", "item", "entry"]
            .into_iter()
            .find(|name| text::whole_words(self.script.text, name).next().is_none())?;
        let step = if lead.contains('\t') { "\t" } else { "  " };
        let pattern = self.script.get(item);
        let head = self.script.text.get(command.span.start..item.start)?;
        let tail = self.script.text.get(item.end..command.span.end)?;
        Some(format!(
            "for {file} in {pattern}; do\n{lead}{step}[ -e \"${file}\" ] || [ -L \"${file}\" ] || {{ echo \"no file matches ${file}\" >&2; continue; }}\n\
             {lead}{step}{head}\"${file}\"{tail}\n{lead}done"
        ))
    }

    /// The folders that are written into by these loops and commands, and may be made.
    fn targets(&self, uses: &[Use]) -> Vec<Destination> {
        let inside = |target: &Destination| {
            let command = self.script.commands.get(target.command);
            command.is_some_and(|command| {
                uses.iter().any(|found| match found.block.and_then(|at| self.script.blocks.get(at)) {
                    Some(block) => {
                        block.span.start <= command.span.start && command.span.end <= block.span.end
                    }
                    None => found.command == Some(target.command),
                })
            })
        };
        let mut all = destinations(self.case, self.script, self.values);
        all.retain(|target| inside(target) && !is_made(self.script, &target.word, target.before));
        all.retain(|target| may_be_made(self.case, self.script, target));
        // A folder that holds what is read is there; and of the loop's own file only the loop knows the folder.
        let sources: Vec<String> =
            uses.iter().flat_map(|u| u.items.iter().filter_map(|item| self.folder_word(item))).collect();
        all.retain(|target| {
            !sources.contains(&target.word) && !target.word.contains("$(") && target.word != "."
        });
        all
    }

    fn scenarios(&self, draft: Draft, found: &Use, target: Option<&Destination>) -> Draft {
        let draft = draft.scenario("empty-source", "no file matches", Expect::Succeeds, Vec::new());
        let Some(source) = found.items.first().and_then(|item| self.folder(item)) else { return draft };
        let holds_script = self.file.path.starts_with(&source) || self.case.base().starts_with(&source);
        let place = target.and_then(|target| target.place.clone());
        let samples = found.items.first().and_then(|item| self.samples(item));
        let mut draft = draft;
        let expect = self.with_files(found);
        if let (Some(files), Some(expect)) = (&samples, expect) {
            let mut setup: Vec<SceneEdit> =
                place.iter().map(|path| SceneEdit::MakeFolder { path: path.clone() }).collect();
            setup.extend(files.iter().cloned());
            draft = draft.scenario("files-present", "two files are there", expect, setup);
        }
        let sure = expect == Some(Expect::Succeeds);
        if let (Some(files), Some(place), true) =
            (&samples, place.filter(|place| !self.file.path.starts_with(place)), sure)
        {
            let gone: Vec<SceneEdit> =
                std::iter::once(removed(&place)).chain(files.iter().cloned()).collect();
            let title = format!("{} is missing, two files are there", place.display());
            draft = draft
                .scenario("destination-missing", title, Expect::Succeeds, gone)
                .checked(vec![Check::Exists { path: place.clone() }]);
            let title = format!("{} is a file", place.display());
            let mut blocked = vec![removed(&place), written(&place, "a file in the way\n")];
            blocked.extend(files.iter().cloned());
            draft = draft.scenario("destination-is-a-file", title, Expect::Fails, blocked);
        }
        if !holds_script && source.components().count() > 2 && !self.varies(found) {
            let title = format!("{} is missing", source.display());
            draft = draft.scenario("missing-source", title, Expect::Fails, vec![removed(source)]);
        }
        draft
    }

    /// Two files that the pattern matches, one with a blank in its name.
    fn samples(&self, item: &Range<usize>) -> Option<Vec<SceneEdit>> {
        let value = self.values.word(self.script.get(item))?;
        let (folder, pattern) = value.rsplit_once('/').unwrap_or((".", &value));
        if globs::is_pattern(folder) {
            return None;
        }
        let names = [globs::sample(pattern, "one")?, globs::sample(pattern, "two words")?];
        let at = |name: &String| absolute(&self.case.base(), &Path::new(folder).join(name));
        Some(names.iter().zip(["first\n", "second\n"]).map(|(name, text)| written(at(name), text)).collect())
    }

    /// What must come of a run with files whose content is made up: success when the script only moves files about; what
    /// the original does when there is one place only; unknown otherwise.
    fn with_files(&self, found: &Use) -> Option<Expect> {
        let block = found.block.and_then(|at| self.script.blocks.get(at))?;
        let functions = self.script.blocks.iter().filter_map(|block| match &block.kind {
            BlockKind::Function { name } => Some(name.as_str()),
            _ => None,
        });
        let functions: Vec<&str> = functions.collect();
        let moves = self.script.commands.iter().all(|command| {
            let name = self.script.name(command);
            name.is_empty()
                || name.starts_with("((")
                || MOVING.contains(&name.as_str())
                || functions.contains(&name.as_str())
        });
        if moves {
            return Some(Expect::Succeeds);
        }
        let patterns = self
            .script
            .commands
            .iter()
            .any(|c| c.words.iter().any(|word| has_pattern(self.script.get(word))));
        let single = self.loops().len() == 1 && !patterns && !self.script.in_function(block.parent);
        single.then_some(Expect::SameAsOriginal)
    }
}

/// Commands that do with files of any content.
const MOVING: &[&str] = &[
    "cp", "mv", "ln", "install", "rsync", "gzip", "bzip2", "xz", "tar", "basename", "dirname", "echo",
    "printf", "date", "mkdir", "touch", "chmod", "cat", "wc", "[", "[[", "test", "continue", "local", "true",
    ":", "rm", "set", "cd", "pwd", "exit", "return", "readonly", "export", "declare", "shift", "umask", "id",
    "whoami", "hostname", "uname", "shopt", "ls", "sort", "break",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    const BACKUP: &str = "#!/bin/bash\nset -euo pipefail\nLOG_SRC=${LOG_SRC:-logs}\nBACKUP_DIR=backup\nn=0\n\
        for f in \"$LOG_SRC\"/*.log; do\n  name=$(basename \"$f\")\n  cp \"$f\" \"$BACKUP_DIR/$name.$(date +%F)\"\n  n=$((n + 1))\ndone\necho $n\n";

    fn backup(scene: TestScene) -> TestCase {
        TestCase::new("backup.sh", BACKUP, scene).fault(no_such("logs/*.log")).at(8)
    }

    #[test]
    fn mends_the_backup_loop_and_its_destination() {
        let healed = backup(TestScene::new().folder("logs")).healed(&UnmatchedGlob);
        let expected = BACKUP
            .replace(
                "for f in",
                "[ -d \"$LOG_SRC\" ] || { echo \"$LOG_SRC is missing\" >&2; exit 1; }\nmkdir -p \"$BACKUP_DIR\"\nfor f in",
            )
            .replace(
                "  name=",
                "  [ -e \"$f\" ] || [ -L \"$f\" ] || { echo \"no file matches $f\" >&2; continue; }\n  name=",
            );
        assert_eq!(healed, expected);
        let candidates = backup(TestScene::new().folder("logs")).ask(&UnmatchedGlob);
        let names: Vec<&str> =
            candidates[0].scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "empty-source",
                "files-present",
                "destination-missing",
                "destination-is-a-file",
                "missing-source"
            ]
        );
        assert_eq!(candidates.len(), 2);
    }

    #[test]
    fn a_missing_source_and_a_missing_mount_are_left_to_people() {
        assert!(backup(TestScene::new()).silent(&UnmatchedGlob));
        let text = "for f in in/*.csv; do\n  mv $f /mnt/nas/\ndone\n";
        let case =
            TestCase::new("x.sh", text, TestScene::new().folder("in")).fault(no_such("in/*.csv")).at(2);
        assert!(!case.healed(&UnmatchedGlob).contains("mkdir"));
    }

    #[test]
    fn mends_two_loops_inside_of_functions() {
        let text = "set -e\nsave() {\n\tlocal from=$1 x\n\tfor x in $from/*.txt; do\n\t\tgzip -c \"$x\" > \"store/${x##*/}.gz\"\n\tdone\n}\n\
            save a\nfor y in b/*.csv; do mv \"$y\" \"done/\"; done\n";
        let case = TestCase::new("x.sh", text, TestScene::new().folder("a").folder("b").folder("done"))
            .fault(no_such("a/*.txt"))
            .at(5);
        let healed = case.healed(&UnmatchedGlob);
        assert!(
            healed.contains(
                "\t[ -d \"$from\" ] || { echo \"$from is missing\" >&2; exit 1; }\n\tmkdir -p store\n\tfor x"
            ),
            "{healed}"
        );
        assert!(healed.contains("\t\t[ -e \"$x\" ] || [ -L \"$x\" ] ||"), "{healed}");
        assert!(healed.contains("mkdir -p done\nfor y in b/*.csv; do [ -e \"$y\" ] ||"), "{healed}");
    }

    #[test]
    fn wraps_a_command_that_gets_the_pattern_itself() {
        let text = "set -e\ncp \"$SRC\"/*.log out/\necho done\n";
        let scene = TestScene::new().folder("src").folder("out").set("SRC", "src");
        let case = TestCase::new("x.sh", text, scene).fault(no_such("src/*.log")).at(2);
        let healed = case.healed(&UnmatchedGlob);
        let expected = "set -e\n[ -d \"$SRC\" ] || { echo \"$SRC is missing\" >&2; exit 1; }\nmkdir -p out\n\
            for file in \"$SRC\"/*.log; do\n  [ -e \"$file\" ] || [ -L \"$file\" ] || { echo \"no file matches $file\" >&2; continue; }\n  \
            cp \"$file\" out/\ndone\necho done\n";
        assert_eq!(healed, expected);
    }

    #[test]
    fn runs_a_command_for_all_files_only_when_there_are_some() {
        let text = "set -e\ntar -cf day.tar spool/*.msg\n";
        let case =
            TestCase::new("x.sh", text, TestScene::new().folder("spool")).fault(no_such("spool/*.msg")).at(2);
        let healed = case.healed(&UnmatchedGlob);
        assert!(
            healed.contains(
                "if compgen -G \"spool/*.msg\" > /dev/null; then\n  tar -cf day.tar spool/*.msg\nelse\n"
            ),
            "{healed}"
        );
    }

    #[test]
    fn loops_over_a_pattern_that_was_listed() {
        let text = "set -e\nls $DIR/*.xml | while read -r f; do\n  cp \"$f\" out/\ndone\n";
        let scene = TestScene::new().folder("drop").folder("out").set("DIR", "drop");
        let case = TestCase::new("x.sh", text, scene)
            .fault(Fault::UnmatchedGlob { pattern: "drop/*.xml".into() })
            .at(2);
        let healed = case.healed(&UnmatchedGlob);
        assert!(healed.contains("for f in \"$DIR\"/*.xml; do\n  [ -e \"$f\" ] ||"), "{healed}");
        assert!(
            healed.starts_with("set -e\n[ -d \"$DIR\" ] ||") && healed.contains("\nmkdir -p out\n"),
            "{healed}"
        );
    }

    #[test]
    fn knows_the_pattern_in_the_name_of_a_result() {
        let text = "for f in $IN/*.txt; do\n\tgzip -c \"$f\" > \"out/$(basename \"$f\").gz\"\ndone\n";
        let scene = TestScene::new().folder("in").set("IN", "in");
        let case = TestCase::new("x.sh", text, scene).fault(no_such("out/*.txt.gz")).at(2);
        assert!(case.healed(&UnmatchedGlob).contains("mkdir -p out\nfor f in"));
    }

    #[test]
    fn leaves_guarded_loops_and_matching_patterns_alone() {
        let text = "for f in in/*; do\n  [ -e \"$f\" ] || continue\n  cp \"$f\" out/\ndone\n";
        let case = TestCase::new("x.sh", text, TestScene::new().folder("in")).fault(no_such("in/*"));
        assert!(case.silent(&UnmatchedGlob));
        let case = backup(TestScene::new().file("logs/a.log", "x"));
        assert!(case.silent(&UnmatchedGlob));
    }
}
