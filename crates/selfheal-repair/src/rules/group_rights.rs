//! # The group may not do what it is meant to
//!
//! ## What it finds
//! A script sets the mode of a folder or file with `chmod` (or `install -m`, `mkdir -m`), a later step is refused there, and
//! the job's own documents say that the group writes in it.
//!
//! ## Why it fails
//! The mode lacks one bit for the group.
//!
//! ## Fix
//! The group gets the bit that it lacks. Others get nothing.
//!
//! ## Example
//! ```sh
//! chmod 0750 "$BOX"
//! ```
//! ```sh
//! chmod 0770 "$BOX"
//! ```
//!
//! ## Safety
//! Never a bit for others. Only where the script's comments or a text beside it speak of the group's right to write, and
//! only for the path that was refused.

use std::ops::Range;
use std::path::Path;

use selfheal_core::fault::Fault;
use selfheal_core::scene::absolute;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Command, Script, Values, splice};

rule!(GroupRights, "group_rights", Safe, propose);

/// Words that speak of writing.
const WRITING: &[&str] = &["write", "add", "remove", "leave", "put", "create", "delete", "modify", "all"];

fn propose(case: &Case) -> Vec<Candidate> {
    let refused = case.faults().find_map(|fault| match fault {
        Fault::PermissionDenied { path: Some(path) } => Some(path.clone()),
        _ => None,
    });
    let Some(refused) = refused else { return Vec::new() };
    let files = case.script.cloned().into_iter().chain(case.files());
    let Some(file) = files.into_iter().find(|file| file.language.is_shell()) else { return Vec::new() };
    let script = Script::new(&file.text);
    let home = file.folder().to_path_buf();
    let values = Values::new(case, &script, &home);
    let places = case.places(&refused);
    let is_place = |word: &str| {
        values.word(word).is_some_and(|value| places.contains(&absolute(&case.base(), Path::new(&value))))
    };
    let found = script.commands.iter().filter_map(|command| {
        let span = mode_word(&script, command)?;
        let target = script.words(command).last().copied()?;
        let new = with_group_write(script.get(&span))?;
        is_place(target).then_some((span, new))
    });
    let parts: Vec<(Range<usize>, String)> = found.collect();
    let Some((span, new)) = parts.first().cloned().filter(|_| documented(case, &file.text, &home)) else {
        return Vec::new();
    };
    let old = script.get(&span);
    let line = script.line_of(span.start);
    let draft = Draft::new(
        "group_rights",
        format!("line {line}: mode {old} does not let the group write, as it is meant to"),
        "give the group the right to write, and others nothing",
    )
    .evidence("the documents beside the script say that the group writes there")
    .rewrite(&file, splice(&file.text, parts), format!("line {line}: mode {new}"));
    draft.done().into_iter().collect()
}

/// The octal mode that a command sets.
fn mode_word(script: &Script<'_>, command: &Command) -> Option<Range<usize>> {
    let is_mode = |span: &&Range<usize>| {
        let word = script.get(span);
        matches!(word.len(), 3 | 4) && word.chars().all(|c| ('0'..='7').contains(&c))
    };
    match script.name(command).as_str() {
        "chmod" => command.words.iter().skip(1).find(is_mode).cloned(),
        "install" | "mkdir" => {
            let at = command.words.iter().position(|span| script.get(span) == "-m")?;
            command.words.get(at + 1).filter(is_mode).cloned()
        }
        _ => None,
    }
}

fn with_group_write(mode: &str) -> Option<String> {
    let number = u32::from_str_radix(mode, 8).ok()?;
    let group = (number >> 3) & 7;
    (group & 2 == 0 && group & 4 != 0).then(|| format!("{:0width$o}", number | 0o020, width = mode.len()))
}

/// Whether the script's comments or a text beside it give the group the right to write.
fn documented(case: &Case, script: &str, home: &Path) -> bool {
    let comments =
        script.lines().filter(|line| line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n");
    let names = case.scene.names(home).into_iter().filter(|name| {
        let lower = name.to_lowercase();
        lower.ends_with(".md") || lower.ends_with(".txt") || lower.starts_with("readme")
    });
    let texts = names.take(20).filter_map(|name| case.scene.read(&home.join(name), 1 << 16));
    let texts: Vec<String> = texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    std::iter::once(comments).chain(texts).any(|text| {
        let lower = text.to_lowercase();
        lower.contains("group")
            && lower.split(|c: char| !c.is_alphabetic()).any(|word| WRITING.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, scene: TestScene) -> TestCase {
        TestCase::new("x.sh", text, scene).fault(Fault::PermissionDenied { path: Some("box".into()) })
    }

    #[test]
    fn gives_the_group_its_bit_and_others_nothing() {
        let scene = TestScene::new().file("RIGHTS.md", "box/: the group may enter, add and remove files\n");
        assert_eq!(
            case("BOX=box\nchmod 0750 \"$BOX\"\n", scene).healed(&GroupRights),
            "BOX=box\nchmod 0770 \"$BOX\"\n"
        );
        let scene = TestScene::new().file("README", "drop: group members may write here\n");
        let other = TestCase::new("x.sh", "mkdir -m 2750 drop\n", scene)
            .fault(Fault::PermissionDenied { path: Some("drop".into()) });
        assert!(other.healed(&GroupRights).contains("mkdir -m 2770 drop"));
        assert_eq!(with_group_write("2750").as_deref(), Some("2770"));
    }

    #[test]
    fn leaves_undocumented_and_private_modes_alone() {
        assert!(case("chmod 0750 box\n", TestScene::new()).silent(&GroupRights));
        let scene = TestScene::new().file("RIGHTS.md", "the group may write\n");
        assert!(case("chmod 0700 box\nchmod 0750 other\n", scene).silent(&GroupRights));
    }
}
