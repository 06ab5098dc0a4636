//! The journal of a step: a mark before everything that it does, and one after. Each is on the disk before the next thing
//! happens, so whatever is killed, the journal says how far it got.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use selfheal_core::task::StepResult;
use serde::{Deserialize, Serialize};

/// The largest journal that is read, in bytes.
const LARGEST: u64 = 16 << 20;

/// One mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mark", rename_all = "snake_case", deny_unknown_fields)]
pub enum Mark {
    /// The step's process works.
    Taken {
        /// Which start of the step it is.
        attempt: u32,
    },
    /// A run in a box begins: nothing of it stays before a [`Mark::Committing`].
    Boxed {
        /// The draft that it makes.
        draft: String,
    },
    /// A run on the machine begins.
    OnMachine,
    /// A run on the machine ended, and badly.
    Failed {
        /// Its exit code.
        code: i32,
    },
    /// What a run in a box did is about to be put in place.
    Committing {
        /// The draft.
        draft: String,
        /// The result, if it is.
        result: Box<StepResult>,
    },
    /// It was taken back.
    Undone {
        /// The draft.
        draft: String,
    },
    /// The step is over.
    Ended {
        /// Its result.
        result: Box<StepResult>,
    },
}

/// The journal of a step.
#[derive(Debug)]
pub struct Journal {
    file: File,
}

impl Journal {
    /// Opens the journal in the folder of a step.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let file = File::options().append(true).create(true).mode(0o600).open(path(folder))?;
        // A line that a crash cut off ends here.
        Ok(Self { file })
    }

    /// Whether there is one, in the folder of a step. It is made before a step counts as running, so where there is none
    /// somebody removed it.
    #[must_use]
    pub fn is_there(folder: &Path) -> bool {
        path(folder).exists()
    }

    /// Writes a mark; it is on the disk when this returns.
    ///
    /// # Errors
    /// When it cannot be written: then nothing must be done that it announces.
    pub fn mark(&self, mark: &Mark) -> io::Result<()> {
        let mut line = vec![b'\n'];
        line.extend(serde_json::to_vec(mark)?);
        line.push(b'\n');
        (&self.file).write_all(&line)?;
        self.file.sync_data()
    }

    /// The marks of one start of a step. A line that was cut off was never acted on.
    #[must_use]
    pub fn marks(folder: &Path, attempt: u32) -> Vec<Mark> {
        let mut text = Vec::new();
        let read = File::open(path(folder)).and_then(|file| file.take(LARGEST).read_to_end(&mut text));
        if read.is_err() {
            return Vec::new();
        }
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let marks = lines.filter_map(|line| serde_json::from_slice::<Mark>(line).ok());
        let from_here = marks.skip_while(|mark| *mark != Mark::Taken { attempt });
        from_here.skip(1).take_while(|mark| !matches!(mark, Mark::Taken { .. })).collect()
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join("journal")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_of_one_start_are_read_and_a_cut_line_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        for mark in [Mark::Taken { attempt: 1 }, Mark::OnMachine, Mark::Taken { attempt: 2 }] {
            journal.mark(&mark).unwrap();
        }
        (&journal.file).write_all(b"\n{\"mark\":\"on_mac").unwrap();
        let again = Journal::open(folder.path()).unwrap();
        again.mark(&Mark::Failed { code: 3 }).unwrap();
        assert_eq!(Journal::marks(folder.path(), 1), [Mark::OnMachine]);
        assert_eq!(Journal::marks(folder.path(), 2), [Mark::Failed { code: 3 }]);
        assert_eq!(Journal::marks(folder.path(), 3), []);
    }
}
