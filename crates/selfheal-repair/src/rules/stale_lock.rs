//! # The lock of a process that is gone
//!
//! ## What it finds
//! A job stops because its lock is there, a file or a folder made by `mkdir`, and the process whose number is in it does
//! not live.
//!
//! ## Why it fails
//! The run that made the lock was killed before it could remove it. The script looks only whether the file exists.
//!
//! ## Fix
//! The script also looks whether the owner lives. The lock of one that is gone is taken over.
//!
//! ## Example
//! ```sh
//! if [ -e "$LOCK" ]; then
//! ```
//! ```sh
//! if [ -e "$LOCK" ] && { [ ! -s "$LOCK" ] || ps -p "$(cat "$LOCK")" > /dev/null; }; then
//! ```
//!
//! ## Safety
//! A living owner still stops the job, and so does an empty lock: its owner may be about to write its number.
//! The lock itself is not removed by the repair.

use std::ops::Range;
use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::verification::{Expect, SceneEdit};

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::shell::{Block, BlockKind, Command, Script, Values, bare, splice, unquoted};

rule!(StaleLock, "stale_lock", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let said = case.faults().find_map(|fault| match fault {
        Fault::LockHeld { pid, .. } => *pid,
        _ => None,
    });
    let named = case.faults().any(|fault| matches!(fault, Fault::LockHeld { .. } | Fault::PathExists { .. }));
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell()) else { return Vec::new() };
    let script = Script::new(&file.text);
    let values = Values::new(case, &script, file.folder());
    if let Some(candidate) = lock_folder(case, &file, &script, &values, said) {
        return vec![candidate];
    }
    let found = script.commands.iter().filter_map(|command| {
        let words = script.words(command);
        let word = match words.as_slice() {
            ["[", "-e" | "-f", word, "]"] | ["test", "-e" | "-f", word] | ["[[", "-e" | "-f", word, "]]"] => {
                *word
            }
            _ => return None,
        };
        let path = case.find(Path::new(&values.word(word)?))?;
        let owner = owner_of(case, &path)?;
        let gone = !case.scene.process_lives(owner) && said.is_none_or(|said| said == owner);
        let (decided, mended) = condition_of(&script, command)?;
        let line = case.line_in(&file);
        let inside = line
            .is_some_and(|line| script.line_of(decided.start) <= line && line <= script.line_of(decided.end));
        let holds_own = script.text.contains("$$") || script.text.contains("BASHPID");
        (gone && holds_own && (named || inside)).then(|| (mended, word.to_owned(), path, owner))
    });
    let Some((span, word, path, owner)) = found.into_iter().next() else { return Vec::new() };
    let check = check(case, &word);
    let line = script.line_of(span.start);
    let parts: Vec<(Range<usize>, String)> = vec![(span.end..span.end, check)];
    let mine = SceneEdit::Write { path: path.clone(), content: b"1\n".to_vec(), mode: None };
    let draft = Draft::new(
        "stale_lock",
        format!("line {line}: the lock {} is of process {owner}, which is gone", path.display()),
        "take over the lock of an owner that does not live",
    )
    .evidence(format!("there is no process {owner}"))
    .rewrite(&file, splice(&file.text, parts), format!("line {line}: look whether the owner lives"))
    .scenario("owner-gone", format!("process {owner} is gone"), Expect::Succeeds, Vec::new())
    .scenario("owner-lives", "the owner lives", Expect::Fails, vec![mine])
    .scenario("no-lock", "there is no lock", Expect::SameAsOriginal, vec![SceneEdit::Remove { path }]);
    draft.done().into_iter().collect()
}

/// A lock that is still empty counts as held. `ps` sees the processes of every user; without it only those of the same user can be asked.
fn check(case: &Case, word: &str) -> String {
    format!(" && {{ [ ! -s {word} ] || {}; }}", alive(case, word))
}

/// The command that answers whether the process lives whose number is in a file.
fn alive(case: &Case, word: &str) -> String {
    if case.scene.which("ps").is_empty() {
        format!("kill -0 \"$(cat {word})\" 2> /dev/null")
    } else {
        format!("ps -p \"$(cat {word})\" > /dev/null")
    }
}

/// The part of the script that a test decides on: the `if` whose condition it is, itself or as the only command of a
/// function that is asked once, or the group behind `&&`; and the command there that gets a second question.
fn condition_of(script: &Script<'_>, command: &Command) -> Option<(Range<usize>, Range<usize>)> {
    let of_if = |at: usize| {
        let holds = |block: &&Block| block.kind == BlockKind::If && block.span.start < at && at < block.body;
        script.blocks.iter().find(holds).map(|block| block.span.clone())
    };
    if let Some(span) = of_if(command.span.start) {
        return Some((span, command.span.clone()));
    }
    if command.after == "&&" {
        let gap = |end: usize| script.text.get(command.span.end..end).is_some_and(|gap| gap.trim() == "&&");
        let group = |block: &&Block| block.kind == BlockKind::Braces && gap(block.span.start);
        let group = script.blocks.iter().find(group)?;
        let ends = |other: &Command| {
            group.span.start < other.span.start
                && other.span.end <= group.span.end
                && matches!(script.name(other).as_str(), "exit" | "return")
        };
        return script
            .commands
            .iter()
            .any(ends)
            .then(|| (command.span.start..group.span.end, command.span.clone()));
    }
    let function = script.function_of(command).filter(|_| script.ends_function(command))?;
    let only = script.commands.iter().filter(|other| other.block == command.block).count() == 1;
    let mut calls = script.calls(function);
    let call = calls.next().filter(|_| only)?;
    let negated = script.text.get(..call.span.start).is_some_and(|before| before.trim_end().ends_with('!'));
    let span = of_if(call.span.start).filter(|_| calls.next().is_none() && !negated)?;
    Some((span, call.span.clone()))
}

/// A lock that is a folder made by `mkdir`, with the number of its owner in a file in it.
fn lock_folder(
    case: &Case,
    file: &ScriptFile,
    script: &Script<'_>,
    values: &Values<'_>,
    said: Option<u32>,
) -> Option<Candidate> {
    let (command, inside, path, owner) = script.commands.iter().find_map(|command| {
        let words = script.words(command);
        let ["mkdir", word] = words.as_slice() else { return None };
        let inside = owner_file(script, word)?;
        let path = case.find(Path::new(&values.word(&inside)?))?;
        let owner = owner_of(case, &path)?;
        let gone = !case.scene.process_lives(owner) && said.is_none_or(|said| said == owner);
        let held = case.find(Path::new(&values.word(word)?)).is_some();
        (gone && held && script.in_condition(command)).then_some((command, inside, path, owner))
    })?;
    let alive = alive(case, &inside);
    let source = script.get(&command.span);
    let new = format!("{{ {source} || {{ [ -s {inside} ] && ! {alive}; }}; }}");
    let line = script.line_of(command.span.start);
    let mine = SceneEdit::Write { path: path.clone(), content: b"1\n".to_vec(), mode: None };
    let folder = path.parent()?.to_path_buf();
    Draft::new(
        "stale_lock",
        format!("line {line}: the lock {} is of process {owner}, which is gone", folder.display()),
        "take over the lock of an owner that does not live",
    )
    .evidence(format!("there is no process {owner}"))
    .rewrite(
        file,
        splice(&file.text, vec![(command.span.clone(), new)]),
        format!("line {line}: look whether the owner lives"),
    )
    .scenario("owner-gone", format!("process {owner} is gone"), Expect::Succeeds, Vec::new())
    .scenario("owner-lives", "the owner lives", Expect::Fails, vec![mine])
    .scenario("no-lock", "there is no lock", Expect::SameAsOriginal, vec![SceneEdit::Remove { path: folder }])
    .done()
}

/// The word of the file in a lock folder that the script writes its own number into: `"$lock/pid"`.
fn owner_file(script: &Script<'_>, folder: &str) -> Option<String> {
    let start = format!("{}/", bare(folder));
    script.commands.iter().find_map(|command| {
        let own =
            script.words(command).iter().any(|word| matches!(unquoted(word).as_str(), "$$" | "$BASHPID"));
        let (_, target) = command.redirects.iter().find(|(operator, _)| script.get(operator) == ">")?;
        let target = script.get(target);
        (own && bare(target).starts_with(&start)).then(|| target.to_owned())
    })
}

fn owner_of(case: &Case, path: &Path) -> Option<u32> {
    let owner = String::from_utf8(case.scene.read(path, 64)?).ok()?;
    owner.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const TEXT: &str = "LOCK=x.lock\nif [ -e \"$LOCK\" ]; then\n  echo \"running as $(cat \"$LOCK\")\" >&2\n  exit 75\nfi\necho $$ > \"$LOCK\"\n";

    fn case(scene: TestScene) -> TestCase {
        TestCase::new("x.sh", TEXT, scene).fault(Fault::LockHeld { path: None, pid: Some(4242) }).at(4)
    }

    #[test]
    fn looks_whether_the_owner_lives() {
        let healed =
            case(TestScene::new().file("x.lock", "4242\n").command("ps", "/bin/ps")).healed(&StaleLock);
        assert_eq!(
            healed,
            TEXT.replace(
                "]; then",
                "] && { [ ! -s \"$LOCK\" ] || ps -p \"$(cat \"$LOCK\")\" > /dev/null; }; then"
            )
        );
    }

    #[test]
    fn needs_no_word_of_a_lock_where_the_script_says_it_in_its_own_words() {
        let text = TEXT.replace("[ -e \"$LOCK\" ]", "[[ -f $LOCK ]]");
        let case = TestCase::new("x.sh", &text, TestScene::new().file("x.lock", "4242\n"))
            .fault(Fault::Other { message: "another one (4242) is at work".into() })
            .at(4);
        assert!(case.healed(&StaleLock).contains(
            "[[ -f $LOCK ]] && { [ ! -s $LOCK ] || kill -0 \"$(cat $LOCK)\" 2> /dev/null; }; then"
        ));
    }

    #[test]
    fn looks_into_functions_and_groups() {
        let text = "P=x.pid\nbusy() {\n  [ -f \"$P\" ]\n}\nif busy; then\n  exit 2\nfi\necho $$ > \"$P\"\n";
        let ask = |text: &str, line| {
            TestCase::new("x.sh", text, TestScene::new().file("x.pid", "4242\n"))
                .fault(Fault::Other { message: "still at work".into() })
                .at(line)
                .healed(&StaleLock)
        };
        let check = " && { [ ! -s \"$P\" ] || kill -0 \"$(cat \"$P\")\" 2> /dev/null; }";
        assert_eq!(ask(text, 6), text.replace("if busy", &format!("if busy{check}")));
        let text = "P=x.pid\n[ -e \"$P\" ] && {\n  echo busy >&2; exit 2\n}\necho $$ > \"$P\"\n";
        assert_eq!(ask(text, 3), text.replace("] &&", &format!("]{check} &&")));
    }

    #[test]
    fn looks_into_a_lock_that_is_a_folder() {
        let ask = |text: &str, scene: TestScene| {
            TestCase::new("x.sh", text, scene)
                .fault(Fault::LockHeld { path: None, pid: Some(4242) })
                .at(3)
                .ask(&StaleLock)
        };
        let text = "L=run/l\nif ! mkdir \"$L\" 2> /dev/null; then\n  echo held >&2; exit 1\nfi\necho $$ > \"$L/pid\"\n";
        let held = || TestScene::new().file("run/l/pid", "4242\n");
        let after = ask(text, held())[0].proposal.changes[0].after.clone().unwrap();
        let taken = "{ mkdir \"$L\" 2> /dev/null || { [ -s \"$L/pid\" ] && ! kill -0 \"$(cat \"$L/pid\")\" 2> /dev/null; }; }";
        assert_eq!(String::from_utf8(after).unwrap(), text.replace("mkdir \"$L\" 2> /dev/null", taken));
        assert!(ask(text, held().lives(4242)).is_empty());
        assert!(ask(text, TestScene::new().folder("run/l")).is_empty());
        assert!(ask(&text.replace("echo $$", "date"), held()).is_empty());
    }

    #[test]
    fn leaves_locks_of_the_living_and_without_a_number_alone() {
        assert!(case(TestScene::new().file("x.lock", "4242\n").lives(4242)).silent(&StaleLock));
        assert!(case(TestScene::new().file("x.lock", "busy\n")).silent(&StaleLock));
        assert!(case(TestScene::new()).silent(&StaleLock));
    }
}
