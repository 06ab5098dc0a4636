//! The machine without what people wrote down about it: to measure what reading that is worth.

use std::path::{Path, PathBuf};

use selfheal_core::scene::{PathFacts, Scene};

/// Beginnings of the names of notes, in lower case.
const NOTES: &[&str] = &[
    "readme",
    "changes",
    "changelog",
    "history",
    "news",
    "release",
    "notes",
    "upgrading",
    "migrat",
    "runbook",
    "howto",
];
/// Endings of texts for people, and parts of the names of samples.
const ENDINGS: &[&str] = &[".md", ".rst", ".adoc", ".1", ".man"];
const SAMPLES: &[&str] = &["example", "sample", ".dist", ".orig-format"];
/// Words that ask a program for its own help.
const HELP: &[&str] = &["--help", "-h", "help", "-help"];

/// A scene in which nobody reads notes, samples, or the help of programs.
pub(crate) struct Unread<'a> {
    pub(crate) below: &'a dyn Scene,
}

/// Whether a path is a note or a sample.
pub(crate) fn is_written_for_people(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    NOTES.iter().any(|head| name.starts_with(head))
        || ENDINGS.iter().any(|end| name.ends_with(end))
        || SAMPLES.iter().any(|part| name.contains(part))
}

impl Scene for Unread<'_> {
    fn cwd(&self) -> &Path {
        self.below.cwd()
    }

    fn facts(&self, path: &Path) -> Option<PathFacts> {
        self.below.facts(path)
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        (!is_written_for_people(path)).then(|| self.below.read(path, limit)).flatten()
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let mut names = self.below.names(folder);
        names.retain(|name| !is_written_for_people(Path::new(name)));
        names
    }

    fn which(&self, command: &str) -> Vec<PathBuf> {
        self.below.which(command)
    }

    fn var(&self, name: &str) -> Option<String> {
        self.below.var(name)
    }

    fn process_lives(&self, pid: u32) -> bool {
        self.below.process_lives(pid)
    }

    fn missing_mount(&self, path: &Path) -> bool {
        self.below.missing_mount(path)
    }

    fn ask(&self, argv: &[&str]) -> Option<String> {
        let help = argv.iter().any(|word| HELP.contains(word));
        (!help).then(|| self.below.ask(argv)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestScene;

    #[test]
    fn nobody_reads_notes_samples_and_help() {
        let below = TestScene::new()
            .file("README.md", "x")
            .file("conf.example", "y")
            .file("conf", "z")
            .answer("tool --help", "usage")
            .answer("readlink -- a", "b");
        let scene = Unread { below: &below };
        assert_eq!(scene.names(Path::new("/srv/job")), ["conf"]);
        assert!(
            scene.read(Path::new("README.md"), 9).is_none() && scene.read(Path::new("conf"), 9).is_some()
        );
        assert_eq!(
            (scene.ask(&["tool", "--help"]), scene.ask(&["readlink", "--", "a"])),
            (None, Some("b".into()))
        );
    }
}
