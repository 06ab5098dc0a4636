//! Small scripts that misbehave in one way each. All of them end by themselves within a minute, so that a test that
//! fails leaves nothing behind for long.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A script that misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// Ignores TERM, INT and HUP. Prints `ready` when it does.
    Stubborn,
    /// Ends at once and leaves a process behind that keeps its output open. Prints that process's number.
    LeavesOneBehind,
    /// Ends at once and leaves a process behind in a session of its own. Prints that process's number.
    LeavesADaemon,
    /// Kills itself with signal 9.
    KillsItself,
    /// Kills itself with signal 11.
    Crashes,
    /// Prints without end until nobody reads.
    Floods,
    /// Prints one line of a million characters.
    LongLine,
    /// Prints bytes that are no text, with a NUL, without a final newline.
    Binary,
    /// Prints `out` and `err` lines in turn on both streams.
    Mixed,
    /// Closes its output and works on for a moment.
    ClosesOutput,
    /// Reads standard input to its end and prints its length in bytes.
    ReadsInput,
    /// Prints escape sequences, direction marks and a carriage return.
    Escapes,
    /// Waits. Prints `ready` first.
    Waits,
    /// Fails with code 3 and says nothing.
    FailsSilently,
}

impl Child {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Stubborn,
        Self::LeavesOneBehind,
        Self::LeavesADaemon,
        Self::KillsItself,
        Self::Crashes,
        Self::Floods,
        Self::LongLine,
        Self::Binary,
        Self::Mixed,
        Self::ClosesOutput,
        Self::ReadsInput,
        Self::Escapes,
        Self::Waits,
        Self::FailsSilently,
    ];

    /// Writes the script into a folder, executable, and returns its path.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn write(self, folder: &Path) -> PathBuf {
        let path = folder.join(format!("{self:?}.sh").to_ascii_lowercase());
        fs::write(&path, self.text()).expect("a writable folder");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an own file");
        path
    }

    fn text(self) -> &'static str {
        match self {
            Self::Stubborn => {
                "#!/bin/sh\ntrap '' TERM INT HUP\necho ready\ni=0\nwhile [ $i -lt 300 ]; do sleep 0.2; i=$((i+1)); done\n"
            }
            Self::LeavesOneBehind => "#!/bin/sh\nsleep 60 &\necho $!\nexit 0\n",
            Self::LeavesADaemon => {
                "#!/bin/sh\nsetsid sleep 60 >/dev/null 2>&1 </dev/null &\necho $!\nexit 0\n"
            }
            Self::KillsItself => "#!/bin/sh\nkill -9 $$\n",
            Self::Crashes => "#!/bin/sh\nulimit -c 0\nkill -11 $$\n",
            Self::Floods => "#!/bin/sh\nexec timeout 60 yes flood\n",
            Self::LongLine => "#!/bin/sh\nhead -c 1000000 /dev/zero | tr '\\0' x\necho\n",
            Self::Binary => "#!/bin/sh\nprintf 'a\\000b\\377\\376\\303'\n",
            Self::Mixed => "#!/bin/sh\nfor n in 1 2 3; do echo \"out $n\"; echo \"err $n\" >&2; done\n",
            Self::ClosesOutput => "#!/bin/sh\nexec >&- 2>&-\nsleep 0.2\nexit 4\n",
            Self::ReadsInput => "#!/bin/sh\nwc -c\n",
            Self::Escapes => {
                "#!/bin/sh\nprintf '\\033[31mred\\033[0m \\342\\200\\256evil\\r\\033]0;title\\007\\n' >&2\nexit 1\n"
            }
            Self::Waits => "#!/bin/sh\necho ready\nexec sleep 60\n",
            Self::FailsSilently => "#!/bin/sh\nexit 3\n",
        }
    }
}
