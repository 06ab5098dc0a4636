//! The machine's mount points, as `/proc/self/mountinfo` lists them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::mounts::point;

/// The mount points of a machine, each once, and whether what is mounted there is read-only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mounts(BTreeMap<PathBuf, bool>);

impl Mounts {
    /// Reads the text of a `mountinfo` file. The fifth field is the mount point, with blanks and the like as octal.
    pub(crate) fn parse(text: &[u8]) -> Self {
        // What is mounted later covers what is mounted before at the same place.
        Self(
            text.split(|byte| *byte == b'\n')
                .filter_map(|line| Some((point(line, 4)?, is_read_only(line))))
                .collect(),
        )
    }

    /// Whether a path lies on a mount that is read-only.
    pub(crate) fn read_only(&self, path: &Path) -> bool {
        path.ancestors().find_map(|folder| self.0.get(folder)).copied().unwrap_or(false)
    }

    /// Whether a path is a mount point.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }

    /// Whether there is a mount point strictly below a path.
    pub(crate) fn below(&self, path: &Path) -> bool {
        self.0.keys().any(|point| point != path && point.starts_with(path))
    }

    /// All mount points but `/`, parents before what lies in them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.keys().filter(|point| *point != Path::new("/"))
    }
}

/// The sixth field has the options of the mount, the last one those of the file system; either can say so.
fn is_read_only(line: &[u8]) -> bool {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let says = |field: Option<&&[u8]>| {
        field.is_some_and(|field| field.split(|byte| *byte == b',').any(|word| word == b"ro"))
    };
    says(fields.get(5)) || says(fields.last().filter(|_| fields.len() > 6))
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
        let text =
            b"1 0 8:1 / / rw - ext4 x rw\n2 1 8:2 / /usr ro - ext4 x rw\n3 1 8:3 / /cd rw - iso9660 x ro\n\
            4 2 8:1 / /usr/local rw - ext4 x rw,errors=remount-ro\n";
        let mounts = Mounts::parse(text);
        let read_only =
            ["/", "/usr/bin", "/cd", "/usr/local/x", "/cdx"].map(|path| mounts.read_only(Path::new(path)));
        assert_eq!(read_only, [false, true, true, false, false]);
    }
}
