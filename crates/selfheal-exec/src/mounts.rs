//! Known mount points, and whether they are mounted now: a missing mount is handed over, never created.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Folders below which every folder is a mount point by custom (Filesystem Hierarchy Standard 3.0, 3.11 and 3.12).
const BY_CUSTOM: [&str; 2] = ["/mnt", "/media"];
/// Where an administrator keeps mount units (`systemd.unit(5)`); those made from fstab are known from fstab.
const UNIT_FOLDERS: [&str; 2] = ["/etc/systemd/system", "/usr/local/lib/systemd/system"];
/// At most so many units are read.
const MOST_UNITS: usize = 200;

/// The mount points that are known and those that are mounted.
#[derive(Debug, Default)]
pub(crate) struct Mounts {
    known: BTreeSet<PathBuf>,
    mounted: BTreeSet<PathBuf>,
}

impl Mounts {
    /// As this machine has them now.
    pub(crate) fn of_machine() -> Self {
        let fstab = fs::read("/etc/fstab").unwrap_or_default();
        let mounted = fs::read("/proc/self/mountinfo").unwrap_or_default();
        let mut mounts = Self::from_texts(&fstab, &mounted);
        mounts.known.extend(unit_mount_points());
        mounts
    }

    /// From the contents of fstab and of mountinfo.
    pub(crate) fn from_texts(fstab: &[u8], mountinfo: &[u8]) -> Self {
        Self {
            known: fstab_points(fstab),
            mounted: lines(mountinfo).filter_map(|line| point(line, 4)).collect(),
        }
    }

    /// Whether an absolute path is, or lies below, a mount point that is not mounted.
    pub(crate) fn is_missing(&self, path: &Path) -> bool {
        let known = path.ancestors().any(|above| self.known.contains(above) && !self.mounted.contains(above));
        known || BY_CUSTOM.iter().any(|base| self.is_missing_below(Path::new(base), path))
    }

    /// Whether a path below one of the customary folders has no mount between that folder and itself.
    fn is_missing_below(&self, base: &Path, path: &Path) -> bool {
        path != base
            && path.starts_with(base)
            && !path
                .ancestors()
                .take_while(|above| above.starts_with(base))
                .any(|above| self.mounted.contains(above))
    }
}

pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
}

fn fstab_points(fstab: &[u8]) -> BTreeSet<PathBuf> {
    let points = lines(fstab).filter_map(|line| point(line, 1));
    points.filter(|path| path.is_absolute() && path != Path::new("/")).collect()
}

/// The path in a field of a line. Blanks in it stand as `\040`.
pub(crate) fn point(line: &[u8], field: usize) -> Option<PathBuf> {
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let path = PathBuf::from(OsString::from_vec(unescape(fields.nth(field)?)));
    Some(path.components().collect())
}

/// Three octal digits behind a backslash are a byte.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let byte = after.get(..3).filter(|_| *first == b'\\').and_then(octal);
        out.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    out
}

fn octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

fn unit_mount_points() -> impl Iterator<Item = PathBuf> {
    let entries = UNIT_FOLDERS.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let units =
        entries.map(|entry| entry.path()).filter(|path| path.extension() == Some(OsStr::new("mount")));
    units.take(MOST_UNITS).filter_map(|path| unit_mount_point(&crate::scene::read_regular(&path, 64 << 10)?))
}

fn unit_mount_point(unit: &[u8]) -> Option<PathBuf> {
    let place = lines(unit).find_map(|line| line.strip_prefix(b"Where=").map(<[u8]>::trim_ascii))?;
    let path = PathBuf::from(OsStr::from_bytes(place));
    path.is_absolute().then(|| path.components().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FSTAB: &[u8] = b"# comment\nUUID=1 / ext4 defaults 0 1\nUUID=2 none swap sw 0 0\n\
        nas:/x /srv/back\\040up nfs noauto 0 0\n/dev/sdb1\t/data/\text4 defaults 0 2\n";

    fn missing(mountinfo: &str, path: &str) -> bool {
        Mounts::from_texts(FSTAB, mountinfo.as_bytes()).is_missing(Path::new(path))
    }

    #[test]
    fn what_fstab_names_and_is_not_mounted_is_missing() {
        let mountinfo = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:2 / /data rw - ext4 /dev/sdb1 rw\n";
        assert!(missing(mountinfo, "/srv/back up/today"));
        assert!(missing(mountinfo, "/srv/back up"));
        assert!(!missing(mountinfo, "/srv"));
        assert!(!missing(mountinfo, "/data/x"));
        assert!(missing("", "/data/x"));
        assert!(!missing("", "/database"));
        assert!(!missing("", "/home/x"));
    }

    #[test]
    fn below_mnt_and_media_everything_is_a_mount() {
        assert!(missing("", "/mnt/usb/x"));
        assert!(missing("", "/media/eve/stick"));
        assert!(!missing("", "/mnt"));
        assert!(!missing("1 0 0:1 / /mnt/usb rw - ext4 x rw", "/mnt/usb/x"));
        assert!(!missing("1 0 0:1 / /media/eve/stick rw - ext4 x rw", "/media/eve/stick/f"));
        assert!(missing("1 0 0:1 / /mnt/usb/inner rw - ext4 x rw", "/mnt/usb/x"));
    }

    #[test]
    fn a_mount_unit_says_where() {
        assert_eq!(unit_mount_point(b"[Mount]\nWhat=x\nWhere=/backup/\n"), Some("/backup".into()));
        assert_eq!(unit_mount_point(b"[Mount]\nWhat=x\n"), None);
    }
}
