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

/// Words that speak of entering and listing a folder.
const READING: &[&str] = &["read", "reads", "enter", "enters", "list", "lists"];
/// Words that take a right away.
const NOTHING: &[&str] = &["nothing", "not", "no", "never", "others", "cannot"];

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
    let asked = documented(case, &file.text, &home);
    let found = script.commands.iter().filter_map(|command| {
        let span = mode_word(&script, command)?;
        let words = script.words(command);
        let target = words.last().copied()?;
        // What is put into a folder has its own mode.
        let into = script.name(command) == "install" && !words.contains(&"-d");
        let new = asked.iter().find_map(|right| right.given(script.get(&span)))?;
        (!into && is_place(target)).then_some((span, new))
    });
    let parts: Vec<(Range<usize>, String)> = found.collect();
    let Some((span, new)) = parts.first().cloned() else {
        return Vec::new();
    };
    let old = script.get(&span);
    let line = script.line_of(span.start);
    let draft = Draft::new(
        "group_rights",
        format!("line {line}: mode {old} does not let the group do what it is meant to"),
        "give the group the right that it lacks, and others nothing",
    )
    .evidence("the documents beside the script give that right to the group")
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

/// A right of the group that documents speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Right {
    /// To write in a folder that it can read.
    Write,
    /// To enter a folder and to list it.
    Read,
}

impl Right {
    /// A mode with that right, where it lacks just that.
    fn given(self, mode: &str) -> Option<String> {
        let number = u32::from_str_radix(mode, 8).ok()?;
        let group = (number >> 3) & 7;
        let (lacks, bits) = match self {
            Self::Write => (group & 2 == 0 && group & 4 != 0, 0o020),
            Self::Read => (group == 0, 0o050),
        };
        lacks.then(|| format!("{:0width$o}", number | bits, width = mode.len()))
    }
}

/// The rights that the script's comments or a text beside it give the group.
fn documented(case: &Case, script: &str, home: &Path) -> Vec<Right> {
    let comments =
        script.lines().filter(|line| line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n");
    let names = case.scene.names(home).into_iter().filter(|name| {
        let lower = name.to_lowercase();
        lower.ends_with(".md") || lower.ends_with(".txt") || lower.starts_with("readme")
    });
    let texts = names.take(20).filter_map(|name| case.scene.read(&home.join(name), 1 << 16));
    let texts: Vec<String> = texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    let all: Vec<String> = std::iter::once(comments).chain(texts).map(|text| text.to_lowercase()).collect();
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let writes = all.iter().any(|text| {
        text.contains("group") && words(text).iter().any(|word| WRITING.contains(&word.as_str()))
    });
    // To open what is closed needs a plainer word: right behind `group`, in the same line, and the refusal is the group's.
    let reads = |line: &str| {
        let behind = line.split_once("group").map(|(_, behind)| words(behind)).unwrap_or_default();
        let next: Vec<&str> = behind.iter().take(5).map(String::as_str).collect();
        let refused =
            next.iter().take_while(|word| !READING.contains(word)).any(|word| NOTHING.contains(word));
        next.iter().any(|word| READING.contains(word)) && !refused
    };
    let told = case.report.core_error.to_lowercase().contains("group")
        && all.iter().flat_map(|text| text.lines()).any(reads);
    [(writes, Right::Write), (told, Right::Read)]
        .into_iter()
        .filter(|(is, _)| *is)
        .map(|(_, right)| right)
        .collect()
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
        assert_eq!(Right::Write.given("2750").as_deref(), Some("2770"));
    }

    #[test]
    fn a_group_that_may_enter_gets_into_a_closed_folder() {
        let text = "OUT=bids\nmkdir -m 700 \"$OUT\"\ninstall -m 640 a.bid \"$OUT\"/\n";
        let closed = |rights: &str, said: &str| {
            let mut case = TestCase::new("x.sh", text, TestScene::new().file("RIGHTS.txt", rights))
                .fault(Fault::PermissionDenied { path: Some("bids".into()) });
            case.report.core_error = said.to_owned();
            case
        };
        let rights = "Folder: owner everything, group read and enter, others nothing\n";
        let said = "check: bids: Permission denied: group cannot enter";
        assert_eq!(closed(rights, said).healed(&GroupRights), text.replace("700", "750"));
        assert!(closed(rights, "check: bids: Permission denied").silent(&GroupRights));
        assert!(closed("Folder: group nothing, others nothing, owner read\n", said).silent(&GroupRights));
        assert!(closed("Folder: the group may not read it\n", said).silent(&GroupRights));
    }

    #[test]
    fn leaves_undocumented_and_private_modes_alone() {
        assert!(case("chmod 0750 box\n", TestScene::new()).silent(&GroupRights));
        let scene = TestScene::new().file("RIGHTS.md", "the group may write\n");
        assert!(case("chmod 0700 box\nchmod 0750 other\n", scene).silent(&GroupRights));
    }
}
