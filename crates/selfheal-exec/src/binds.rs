//! Bind mounts: where what is mounted there really lies.

use std::path::{Path, PathBuf};

use crate::mounts::{lines, point};

/// One mount: where it is, which part of its file system it shows, and which file system that is.
#[derive(Debug)]
struct Mount {
    point: PathBuf,
    root: PathBuf,
    device: Vec<u8>,
}

/// The mounts of a machine, in the order of `mountinfo`.
#[derive(Debug, Default)]
pub(crate) struct Binds(Vec<Mount>);

impl Binds {
    /// From the contents of `mountinfo` (`proc_pid_mountinfo(5)`).
    pub(crate) fn from_text(mountinfo: &[u8]) -> Self {
        let one = |line: &[u8]| {
            let device = line.split(|byte| *byte == b' ').nth(2)?.to_vec();
            Some(Mount { point: point(line, 4)?, root: point(line, 3)?, device })
        };
        Self(lines(mountinfo).filter_map(one).collect())
    }

    /// The same place as another mount of the same file system shows it, where a path lies below a mount of only a part of
    /// it; else the path itself. A part that nothing else shows has no other name.
    pub(crate) fn origin(&self, path: &Path) -> PathBuf {
        let around = self.0.iter().filter(|mount| path.starts_with(&mount.point));
        // Of several at one place the last covers the others.
        let Some(mount) = around.max_by_key(|mount| mount.point.components().count()) else {
            return path.to_owned();
        };
        let rest = path.strip_prefix(&mount.point).unwrap_or(Path::new(""));
        let inside = mount.root.join(rest);
        let same = self.0.iter().filter(|other| other.device == mount.device && other.point != mount.point);
        let wider = same.filter(|other| {
            inside.starts_with(&other.root)
                && other.root.components().count() < mount.root.components().count()
        });
        let widest = wider.min_by_key(|other| other.root.components().count());
        let moved = widest.and_then(|other| Some(other.point.join(inside.strip_prefix(&other.root).ok()?)));
        // Without anything behind it `join` leaves a slash at the end.
        moved.map_or_else(|| path.to_owned(), |moved| moved.components().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_bound_elsewhere_has_its_own_place() {
        let binds = Binds::from_text(
            b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:1 /etc/ssl /srv/jobs/certs rw - ext4 /dev/sda1 rw\n\
              3 1 8:2 / /data rw - ext4 /dev/sdb1 rw\n4 1 8:2 /in\\040x /srv/jobs/in rw - ext4 /dev/sdb1 rw\n\
              5 1 8:9 /only /mnt/part rw - ext4 /dev/sdc1 rw\n",
        );
        for (path, origin) in [
            ("/srv/jobs/certs/a", "/etc/ssl/a"),
            ("/srv/jobs/certs", "/etc/ssl"),
            ("/srv/jobs/in/b", "/data/in x/b"),
            ("/srv/jobs/other", "/srv/jobs/other"),
            ("/data/in", "/data/in"),
            ("/mnt/part/x", "/mnt/part/x"),
        ] {
            assert_eq!(binds.origin(Path::new(path)), Path::new(origin), "{path}");
        }
    }
}
