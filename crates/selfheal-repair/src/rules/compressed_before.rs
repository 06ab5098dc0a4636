//! # A compressed file is there from an earlier run
//!
//! ## What it finds
//! `gzip`, `bzip2` or `xz` end the job because the file that they would make exists.
//!
//! ## Why it fails
//! A run that was cut off left it. Without a terminal these programs cannot ask whether to replace it.
//!
//! ## Fix
//! `-f`: the file is made anew from the present content.
//!
//! ## Example
//! ```sh
//! gzip app.log.1
//! ```
//! ```sh
//! gzip -f app.log.1
//! ```
//!
//! ## Safety
//! What stood in the old file is replaced, so the risk is medium. A file that cannot be read still fails.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{Script, splice};

rule!(CompressedBefore, "compressed_before", Unsafe, propose);

/// Programs that make one compressed file of another.
const PROGRAMS: &[&str] = &["gzip", "bzip2", "xz", "zstd", "pigz", "lzma"];

fn propose(case: &Case) -> Vec<Candidate> {
    let told = case.faults().any(|fault| match fault {
        Fault::PathExists { .. } => true,
        Fault::Other { message } | Fault::BadValue { message, .. } => {
            message.contains("already exists") || message.contains("File exists")
        }
        _ => false,
    });
    let Some(file) = case.failing_file().filter(|file| told && file.language.is_shell()) else {
        return Vec::new();
    };
    let script = Script::new(&file.text);
    let line = case.line_in(&file);
    let found = script.commands.iter().find(|command| {
        let words = script.words(command);
        let options: Vec<&&str> = words.iter().skip(1).filter(|word| word.starts_with('-')).collect();
        let other = |word: &&&str| {
            word.contains('f') || word.contains('c') || word.contains('t') || word.contains('k')
        };
        PROGRAMS.contains(&script.name(command).as_str())
            && line.is_none_or(|line| line == 0 || script.covers(command, line))
            && !options.iter().any(other)
            && !script.in_condition(command)
    });
    let Some(name) = found.and_then(|command| command.words.first()) else { return Vec::new() };
    let number = script.line_of(name.start);
    Draft::new(
        "compressed_before",
        format!("line {number}: the compressed file is there already, from a run that was cut off"),
        "make it anew from the present content",
    )
    .meaning()
    .rewrite(
        &file,
        splice(&file.text, vec![(name.end..name.end, " -f".to_owned())]),
        format!("line {number}: -f"),
    )
    .done()
    .into_iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str) -> TestCase {
        TestCase::new("x.sh", &format!("{line}\n"), TestScene::new())
            .fault(Fault::PathExists { path: "a.gz".into() })
            .at(1)
    }

    #[test]
    fn makes_the_file_anew() {
        assert_eq!(case("gzip a").healed(&CompressedBefore), "gzip -f a\n");
        assert_eq!(case("cp b a && xz -9 \"$a\"").healed(&CompressedBefore), "cp b a && xz -f -9 \"$a\"\n");
    }

    #[test]
    fn leaves_other_uses_alone() {
        assert!(case("gzip -c a > a.gz").silent(&CompressedBefore));
        assert!(case("gzip a || echo kept").silent(&CompressedBefore));
        assert!(case("mkdir a.gz").silent(&CompressedBefore));
    }
}
