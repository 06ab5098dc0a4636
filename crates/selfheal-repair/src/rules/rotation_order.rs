//! # Old logs are shifted in the wrong order
//!
//! ## What it finds
//! A loop that shifts numbered files (`log.1` to `log.2`, and so on) counts upwards, and stops at a number that is not
//! there yet.
//!
//! ## Why it fails
//! On a new machine there are no old files, so `mv` finds none. And counting upwards each file overwrites the one that would
//! be moved next.
//!
//! ## Fix
//! The loop counts downwards, and moves only what there is.
//!
//! ## Example
//! ```sh
//! for i in $(seq 1 $((KEEP - 1))); do
//!   mv "$log.$i" "$log.$((i + 1))"
//! done
//! ```
//! ```sh
//! for i in $(seq $((KEEP - 1)) -1 1); do
//!   [ -e "$log.$i" ] || continue
//!   mv "$log.$i" "$log.$((i + 1))"
//! done
//! ```
//!
//! ## Safety
//! Only loops that move a file to the next number. It changes which file ends under which number, so the risk is medium.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Block, BlockKind, Script, splice, substitution};

rule!(RotationOrder, "rotation_order", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = case.faults().any(|fault| matches!(fault, Fault::NoSuchPath { .. }));
    let Some(file) = case.failing_file().filter(|file| missing && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let line = case.line_in(&file);
    let found = script.blocks.iter().find_map(|block| {
        let inside = line.is_none_or(|line| {
            script.line_of(block.span.start) <= line && line <= script.line_of(block.span.end)
        });
        shifted(&script, block).filter(|_| inside).map(|parts| (block, parts))
    });
    let Some((block, parts)) = found else { return Vec::new() };
    let line = script.line_of(block.span.start);
    let draft = Draft::new(
        "rotation_order",
        format!("line {line}: the loop shifts files from the lowest number up, and stops at one that is not there yet"),
        "shift from the highest number down, and only what there is",
    )
    .meaning()
    .rewrite(&file, splice(&file.text, parts), format!("line {line}: from the highest number down"));
    draft.done().into_iter().collect()
}

/// The edits for a loop that moves files to the next number, counting upwards.
fn shifted(script: &Script<'_>, block: &Block) -> Option<Vec<(Range<usize>, String)>> {
    let BlockKind::For { name, items } = &block.kind else { return None };
    let name = script.get(name);
    let (item, down) = match items.as_slice() {
        [item] => (item.clone(), downwards(script.get(item))?),
        several => listed(script, several)?,
    };
    let inside = |span: &Range<usize>| block.body <= span.start && span.end <= block.span.end;
    let moves =
        script.commands.iter().filter(|c| inside(&c.span) && matches!(script.name(c).as_str(), "mv" | "cp"));
    let from = moves.into_iter().find_map(|command| {
        let words: Vec<&str> =
            script.words(command).into_iter().skip(1).filter(|word| !word.starts_with('-')).collect();
        let [from, to] = words.as_slice() else { return None };
        let next = [
            format!("$(({name} + 1))"),
            format!("$(({name}+1))"),
            format!("$((${name} + 1))"),
            format!("$((${name}+1))"),
        ];
        let own = [format!("${name}"), format!("${{{name}}}")];
        let same = |next: &String| {
            own.iter().any(|own| from.replace(own.as_str(), "#") == to.replace(next.as_str(), "#"))
        };
        next.iter().any(same).then(|| (*from).to_owned())
    })?;
    let mut parts = vec![(item, down)];
    let body = script.text.get(block.body..block.span.end)?;
    if !body.contains("-e ") && !body.contains("-f ") {
        parts.push(script.put_first(block, &format!("[ -e {from} ] || continue")));
    }
    Some(parts)
}

/// The same numbers from the highest down, where they are written one by one: `1 2 3`.
fn listed(script: &Script<'_>, items: &[Range<usize>]) -> Option<(Range<usize>, String)> {
    let numbers: Vec<u32> = items.iter().map(|item| script.get(item).parse().ok()).collect::<Option<_>>()?;
    let (first, last) = (items.first()?, items.last()?);
    let words: Vec<String> = numbers.iter().rev().map(u32::to_string).collect();
    numbers.is_sorted().then(|| (first.start..last.end, words.join(" ")))
}

/// The same numbers from the highest down: of `$(seq 1 N)` and `{1..9}`.
fn downwards(item: &str) -> Option<String> {
    if let Some((low, high)) =
        item.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).and_then(|rest| rest.split_once(".."))
    {
        let (low, high): (u32, u32) = (low.parse().ok()?, high.parse().ok()?);
        return (low < high).then(|| format!("{{{high}..{low}}}"));
    }
    let inner = substitution(item)?.trim().strip_prefix("seq ")?.trim();
    let (low, high) = inner.split_once(' ')?;
    let single = high.starts_with("$((") || !high.trim().contains(' ');
    (low.parse::<u32>().is_ok() && single).then(|| format!("$(seq {} -1 {low})", high.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    fn case(text: &str) -> TestCase {
        TestCase::new("x.sh", text, TestScene::new()).fault(no_such("app.log.1")).at(2)
    }

    #[test]
    fn numbers_written_one_by_one_are_turned_round() {
        let text = "for i in 1 2 3; do\n  mv dump.$i dump.$((i + 1))\ndone\n";
        let case =
            TestCase::new("x.sh", text, TestScene::new()).fault(crate::testing::no_such("dump.1")).at(2);
        let healed = case.healed(&RotationOrder);
        assert!(healed.starts_with("for i in 3 2 1; do\n  [ -e dump.$i ] || continue\n"), "{healed}");
    }

    #[test]
    fn shifts_from_the_highest_down() {
        let text = "for i in $(seq 1 $((KEEP - 1))); do\n  mv \"$log.$i\" \"$log.$((i + 1))\"\ndone\n";
        assert_eq!(
            case(text).healed(&RotationOrder),
            "for i in $(seq $((KEEP - 1)) -1 1); do\n  [ -e \"$log.$i\" ] || continue\n  mv \"$log.$i\" \"$log.$((i + 1))\"\ndone\n"
        );
        let text = "for n in {1..6}; do\n  mv a.${n}.gz a.$((n+1)).gz\ndone\n";
        assert!(
            case(text)
                .healed(&RotationOrder)
                .starts_with("for n in {6..1}; do\n  [ -e a.${n}.gz ] || continue\n")
        );
    }

    #[test]
    fn leaves_other_loops_alone() {
        assert!(case("for i in $(seq 1 3); do\n  mv \"in.$i\" \"out.$i\"\ndone\n").silent(&RotationOrder));
        assert!(case("for i in {6..1}; do\n  mv a.$i a.$((i + 1))\ndone\n").silent(&RotationOrder));
    }
}
