//! # The lock of a process that is gone
//!
//! ## What it finds
//! A job stops because its lock file is there, and the process whose number is in the file does not live.
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
use crate::case::Case;
use crate::shell::{Block, BlockKind, Script, Values, splice};

rule!(StaleLock, "stale_lock", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let said = case.faults().find_map(|fault| match fault {
        Fault::LockHeld { pid, .. } => *pid,
        _ => None,
    });
    let named = case.faults().any(|fault| matches!(fault, Fault::LockHeld { .. } | Fault::PathExists { .. }));
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell()) else { return Vec::new() };
    let script = Script::new(&file.text);
    let home = file.path.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
    let values = Values::new(case, &script, home);
    let found = script.commands.iter().filter_map(|command| {
        let words = script.words(command);
        let word = match words.as_slice() {
            ["[", "-e" | "-f", word, "]"] | ["test", "-e" | "-f", word] | ["[[", "-e" | "-f", word, "]]"] => {
                *word
            }
            _ => return None,
        };
        let path = case.find(Path::new(&values.word(word)?))?;
        let owner = String::from_utf8(case.scene.read(&path, 64)?).ok()?;
        let owner = owner.split_whitespace().next()?.parse::<u32>().ok()?;
        let gone = !case.scene.process_lives(owner) && said.is_none_or(|said| said == owner);
        let block = condition_of(&script, command.span.start)?;
        let line = case.line_in(&file);
        let inside = line.is_some_and(|line| {
            script.line_of(block.span.start) <= line && line <= script.line_of(block.span.end)
        });
        let holds_own = script.text.contains("$$") || script.text.contains("BASHPID");
        (gone && holds_own && (named || inside)).then(|| (command.span.clone(), word.to_owned(), path, owner))
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
    if case.scene.which("ps").is_empty() {
        format!(" && {{ [ ! -s {word} ] || kill -0 \"$(cat {word})\" 2> /dev/null; }}")
    } else {
        format!(" && {{ [ ! -s {word} ] || ps -p \"$(cat {word})\" > /dev/null; }}")
    }
}

/// The `if` whose condition stands at a byte.
fn condition_of<'s>(script: &'s Script<'_>, at: usize) -> Option<&'s Block> {
    script.blocks.iter().find(|block| block.kind == BlockKind::If && block.span.start < at && at < block.body)
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
    fn leaves_locks_of_the_living_and_without_a_number_alone() {
        assert!(case(TestScene::new().file("x.lock", "4242\n").lives(4242)).silent(&StaleLock));
        assert!(case(TestScene::new().file("x.lock", "busy\n")).silent(&StaleLock));
        assert!(case(TestScene::new()).silent(&StaleLock));
    }
}
