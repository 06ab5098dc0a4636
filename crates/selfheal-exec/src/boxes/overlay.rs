//! Single mounts: overlays, temporary file systems, read-only binds. Every step names itself when it fails.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use crate::unix::set_mount_attributes;

/// A step of building a box that failed, in words.
pub(crate) type Step<T> = Result<T, String>;

/// Names a step in its error.
pub(crate) fn named<T, E: Into<io::Error>>(result: Result<T, E>, step: impl Display) -> Step<T> {
    result.map_err(|error| format!("{step}: {}", error.into()))
}

/// One overlay to mount.
#[derive(Debug)]
pub(crate) struct Overlay<'a> {
    /// What lies below, the uppermost first.
    pub lower: &'a [PathBuf],
    /// Where changes go, and the work folder; without them it is read-only.
    pub upper: Option<(&'a Path, &'a Path)>,
    /// Marks in `user.overlay.*` (an ordinary user) and not in `trusted.overlay.*` (root).
    pub user_marks: bool,
    /// Read-only, as what lies below.
    pub read_only: bool,
}

impl Overlay<'_> {
    /// Mounts it.
    pub(crate) fn mount(&self, target: &Path) -> Step<()> {
        named(self.try_mount(target), format_args!("mount an overlay on {}", target.display()))
    }

    fn try_mount(&self, target: &Path) -> rustix::io::Result<()> {
        let fs = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(&fs, "source", "selfheal")?;
        self.set_lower(&fs)?;
        if let Some((upper, work)) = self.upper {
            fsconfig_set_string(&fs, "upperdir", escaped(upper, b"\\").as_slice())?;
            fsconfig_set_string(&fs, "workdir", escaped(work, b"\\").as_slice())?;
            fsconfig_set_flag(&fs, "volatile")?;
        }
        fsconfig_set_string(&fs, "index", "off")?;
        if self.user_marks {
            fsconfig_set_flag(&fs, "userxattr")?;
        } else {
            fsconfig_set_string(&fs, "redirect_dir", "nofollow")?;
            fsconfig_set_string(&fs, "metacopy", "off")?;
        }
        fsconfig_create(&fs)?;
        let mut attributes = MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOSUID;
        attributes.set(MountAttrFlags::MOUNT_ATTR_RDONLY, self.read_only);
        attach(&fsmount(&fs, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?, target)
    }

    /// One layer at a time (Linux 6.7), else all in one escaped list.
    fn set_lower(&self, fs: &OwnedFd) -> rustix::io::Result<()> {
        for layer in self.lower {
            match fsconfig_set_string(fs, "lowerdir+", layer.as_os_str()) {
                Err(rustix::io::Errno::INVAL) if Some(layer) == self.lower.first() => {
                    let all: Vec<Vec<u8>> = self.lower.iter().map(|layer| escaped(layer, b"\\:")).collect();
                    return fsconfig_set_string(fs, "lowerdir", all.join(&b':').as_slice());
                }
                other => other?,
            }
        }
        Ok(())
    }
}

fn escaped(path: &Path, special: &[u8]) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    bytes.iter().flat_map(|byte| special.contains(byte).then_some(b'\\').into_iter().chain([*byte])).collect()
}

fn attach(mount: &OwnedFd, target: &Path) -> rustix::io::Result<()> {
    move_mount(mount, "", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// Puts a mount over whatever a descriptor points to.
pub(crate) fn attach_over(mount: &OwnedFd, target: impl AsFd) -> rustix::io::Result<()> {
    let both = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, "", target, "", both)
}

/// A new file system of a type that needs no device, with options as name and value (a flag without one).
fn fresh(
    kind: &str,
    options: &[(&str, Option<&str>)],
    attributes: MountAttrFlags,
) -> rustix::io::Result<OwnedFd> {
    let fs = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        match value {
            Some(value) => fsconfig_set_string(&fs, *name, *value)?,
            None => fsconfig_set_flag(&fs, *name)?,
        }
    }
    fsconfig_create(&fs)?;
    fsmount(&fs, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Mounts a new file system of a type that needs no device.
pub(crate) fn mount_fresh(
    kind: &str,
    target: &Path,
    options: &[(&str, Option<&str>)],
    attributes: MountAttrFlags,
) -> Step<()> {
    let mounted = fresh(kind, options, attributes).and_then(|mount| attach(&mount, target));
    named(mounted, format_args!("mount {kind} on {}", target.display()))
}

/// What a bound tree may not be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bind {
    /// This mount, read-only.
    ReadOnly,
    /// This mount and all below it, read-only.
    ReadOnlyTree,
    /// This mount, to be written to.
    Writable,
    /// A device node.
    Device,
}

/// Makes a file or folder visible at another place.
pub(crate) fn bind(source: &Path, target: &Path, how: Bind) -> Step<()> {
    let bound = || -> io::Result<()> {
        let mount = cloned(source, how)?;
        Ok(attach(&mount, target)?)
    };
    named(bound(), format_args!("bind {} on {}", source.display(), target.display()))
}

/// The same, over an open descriptor.
pub(crate) fn bind_over(source: &Path, target: impl AsFd) -> io::Result<()> {
    Ok(attach_over(&cloned(source, Bind::ReadOnly)?, target)?)
}

/// An empty, read-only folder over an open descriptor.
pub(crate) fn blank_over(target: impl AsFd) -> io::Result<()> {
    let options = [("mode", Some("0555")), ("size", Some("4k")), ("nr_inodes", Some("1"))];
    let mount = fresh("tmpfs", &options, MountAttrFlags::MOUNT_ATTR_RDONLY)?;
    Ok(attach_over(&mount, target)?)
}

/// A writable, still empty folder that is mounted nowhere yet.
pub(crate) fn fresh_folder() -> io::Result<OwnedFd> {
    let options = [("mode", Some("0555")), ("size", Some("4k")), ("nr_inodes", Some("256"))];
    Ok(fresh("tmpfs", &options, MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV)?)
}

/// Makes a mount read-only.
pub(crate) fn seal(mount: impl AsFd) -> io::Result<()> {
    set_mount_attributes(mount, u64::from(MountAttrFlags::MOUNT_ATTR_RDONLY.bits()), false)
}

/// A mount of what a descriptor points to, as it is.
pub(crate) fn cloned_from(place: impl AsFd) -> io::Result<OwnedFd> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    Ok(open_tree(place, "", flags)?)
}

fn cloned(source: &Path, how: Bind) -> io::Result<OwnedFd> {
    let recursive = how == Bind::ReadOnlyTree;
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    flags.set(OpenTreeFlags::AT_RECURSIVE, recursive);
    let mount = open_tree(CWD, source, flags)?;
    let mut attributes = MountAttrFlags::MOUNT_ATTR_NOSUID;
    attributes.set(MountAttrFlags::MOUNT_ATTR_RDONLY, !matches!(how, Bind::Device | Bind::Writable));
    attributes.set(MountAttrFlags::MOUNT_ATTR_NODEV, how == Bind::Writable);
    set_mount_attributes(&mount, u64::from(attributes.bits()), recursive)?;
    Ok(mount)
}

/// A path below the root of a box: an absolute path as the job sees it, from outside.
pub(crate) fn inside(root: &Path, path: &Path) -> PathBuf {
    let relative: &OsStr = path.as_os_str();
    root.join(Path::new(relative).strip_prefix("/").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_separates_layers() {
        assert_eq!(escaped(Path::new("/a:b\\c,d"), b"\\:"), b"/a\\:b\\\\c,d");
        assert_eq!(inside(Path::new("/box"), Path::new("/etc/x")), Path::new("/box/etc/x"));
        assert_eq!(inside(Path::new("/box"), Path::new("/")), Path::new("/box/"));
    }
}
