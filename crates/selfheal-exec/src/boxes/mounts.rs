//! The machine's mount points, as `/proc/self/mountinfo` lists them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::mounts::point;

/// The mount points of a machine, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mounts(BTreeSet<PathBuf>);

impl Mounts {
    /// Reads the text of a `mountinfo` file. The fifth field is the mount point, with blanks and the like as octal.
    pub(crate) fn parse(text: &[u8]) -> Self {
        Self(text.split(|byte| *byte == b'\n').filter_map(|line| point(line, 4)).collect())
    }

    /// Whether a path is a mount point.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.0.contains(path)
    }

    /// Whether there is a mount point strictly below a path.
    pub(crate) fn below(&self, path: &Path) -> bool {
        self.0.iter().any(|point| point != path && point.starts_with(path))
    }

    /// All mount points but `/`, parents before what lies in them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter().filter(|point| *point != Path::new("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_mount_points_with_odd_names() {
        let text = b"22 27 0:21 / /proc rw - proc proc rw\n27 1 8:1 / / rw - ext4 /dev/vda rw\n\
            30 27 0:9 / /mnt/a\\040b\\134c rw shared:1 - tmpfs t rw\nshort line\n";
        let mounts = Mounts::parse(text);
        assert!(mounts.has(Path::new("/mnt/a b\\c")));
        assert!(mounts.below(Path::new("/mnt")) && !mounts.below(Path::new("/mnt/a b\\c")));
        assert!(!mounts.below(Path::new("/mn")) && mounts.below(Path::new("/")));
        assert_eq!(mounts.iter().count(), 2);
    }
}
