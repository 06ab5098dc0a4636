//! Which pieces the file tree of a box is put together from: pure decisions, so that they can be read and tested.
//!
//! As root one overlay has the whole of `/` below it, and each other file system gets one of its own. An ordinary user
//! may not do that (the mounts below `/` are locked in his namespace), so there is an overlay for each folder at the
//! top, and where a folder has mounts inside, the same again one level deeper. An overlay for him costs up to half a
//! millisecond, so in the lean form he gets one only where he may write or the job may want to, and read-only binds of
//! programs and settings: there a write is refused for another reason than on the machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::mounts::Mounts;

/// Folders that a box gets in a form of its own.
pub(crate) const SPECIAL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// What the lean form seals: programs and settings. A service's socket can be connected to through a read-only bind, as it
/// cannot through an overlay, so nothing is sealed where services keep theirs.
const SEALED_IF_LEAN: [&str; 9] =
    ["/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/opt", "/sbin", "/usr"];

/// So many overlays are mounted at most; folders beyond are read-only, those that the job may want to write last.
const MOST_OVERLAYS: usize = 1000;

/// So many pieces make a tree at most; what is beyond is not visible in the box.
const MOST_PIECES: usize = 4000;

/// One piece of a tree. Paths are those that the job sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// An overlay with the machine's folder below it.
    Overlay(PathBuf),
    /// An empty folder that further pieces go into.
    Folder(PathBuf),
    /// A copy of a symbolic link.
    Link(PathBuf),
    /// The machine's file, read-only.
    File(PathBuf),
    /// The machine's folder with all that is mounted in it, read-only.
    Sealed(PathBuf),
}

impl Piece {
    /// Where it goes.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Overlay(path)
            | Self::Folder(path)
            | Self::Link(path)
            | Self::File(path)
            | Self::Sealed(path) => path,
        }
    }
}

/// What a name in a folder is, as far as the layout cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A regular file.
    File,
    /// Nothing, or something that is left out.
    Other,
}

/// A look at the machine for the layout.
pub(crate) trait Look {
    /// What a path is, links not followed.
    fn entry(&self, path: &Path) -> Entry;
    /// The names in a folder.
    fn names(&self, folder: &Path) -> Vec<PathBuf>;
    /// Whether the caller owns a path.
    fn owned(&self, path: &Path) -> bool;
    /// Whether the caller may write to a path.
    fn writable(&self, path: &Path) -> bool;
}

fn is_special(path: &Path) -> bool {
    SPECIAL.iter().any(|special| path.starts_with(special))
}

/// The pieces for root.
pub(crate) fn for_root(mounts: &Mounts, look: &dyn Look) -> Vec<Piece> {
    let mut pieces = vec![Piece::Overlay(PathBuf::from("/"))];
    let others = mounts.iter().filter(|point| !is_special(point));
    pieces.extend(others.take(MOST_PIECES).filter_map(|point| match look.entry(point) {
        Entry::Folder => Some(Piece::Overlay(point.clone())),
        Entry::File => Some(Piece::File(point.clone())),
        Entry::Link | Entry::Other => None,
    }));
    pieces
}

/// The pieces for an ordinary user. `wanted` are paths that the job may want to write.
pub(crate) fn for_user(mounts: &Mounts, wanted: &[PathBuf], lean: bool, look: &dyn Look) -> Vec<Piece> {
    let mut maker = Maker { mounts, wanted, lean, look, pieces: Vec::new(), overlays: 0 };
    maker.descend(Path::new("/"));
    let mut pieces = maker.pieces;
    for path in wanted {
        if let Some(own) = needs_its_own(path, mounts, look)
            && !pieces.contains(&Piece::Overlay(own.clone()))
            && !pieces.iter().any(|piece| matches!(piece, Piece::Sealed(path) if own.starts_with(path)))
        {
            pieces.push(Piece::Overlay(own));
        }
    }
    pieces.sort_by(|one, other| one.path().cmp(other.path()));
    pieces
}

/// Where folders of the machine may lie in `/dev`: in memory that processes share.
pub(crate) const MEMORY: &str = "/dev/shm";

/// Overlays for the folders in shared memory that the job may want to use. Only folders: what processes share lies there
/// as files, and none of that is for a box.
pub(crate) fn in_memory(wanted: &[PathBuf], look: &dyn Look) -> Vec<Piece> {
    let top = |path: &PathBuf| Some(Path::new(MEMORY).join(path.strip_prefix(MEMORY).ok()?.iter().next()?));
    let folders: BTreeSet<PathBuf> = wanted.iter().filter_map(top).collect();
    folders.into_iter().filter(|folder| look.entry(folder) == Entry::Folder).map(Piece::Overlay).collect()
}

struct Maker<'a> {
    mounts: &'a Mounts,
    wanted: &'a [PathBuf],
    lean: bool,
    look: &'a dyn Look,
    pieces: Vec<Piece>,
    overlays: usize,
}

impl Maker<'_> {
    fn descend(&mut self, folder: &Path) {
        let (first, rest): (Vec<_>, Vec<_>) =
            self.look.names(folder).into_iter().partition(|path| self.may_be_wanted(path));
        for path in first.into_iter().chain(rest) {
            if self.pieces.len() < MOST_PIECES {
                self.place(path);
            }
        }
    }

    fn place(&mut self, path: PathBuf) {
        match self.look.entry(&path) {
            Entry::Folder if is_special(&path) => {}
            Entry::Folder if self.overlays >= MOST_OVERLAYS || self.is_read_only(&path) => {
                self.pieces.push(Piece::Sealed(path));
            }
            Entry::Folder if self.mounts.below(&path) => {
                self.pieces.push(Piece::Folder(path.clone()));
                self.descend(&path);
            }
            Entry::Folder => {
                self.overlays += 1;
                self.pieces.push(Piece::Overlay(path));
            }
            Entry::Link => self.pieces.push(Piece::Link(path)),
            Entry::File => self.pieces.push(Piece::File(path)),
            Entry::Other => {}
        }
    }

    /// Whether something in it may be wanted.
    fn may_be_wanted(&self, path: &Path) -> bool {
        self.wanted.iter().any(|wanted| wanted.starts_with(path))
    }

    fn is_read_only(&self, path: &Path) -> bool {
        let is_listed = SEALED_IF_LEAN.iter().any(|sealed| path == Path::new(sealed));
        self.lean && is_listed && !self.may_be_wanted(path) && !self.look.writable(path)
    }
}

/// The folder on the way to `path` that needs an overlay of its own, if one does.
///
/// Writing below an overlay copies the folders on the way up to it, with their owners; an owner other than the caller
/// cannot be stored. So the first folder in which the caller may write, behind one that is not his, begins an overlay.
fn needs_its_own(path: &Path, mounts: &Mounts, look: &dyn Look) -> Option<PathBuf> {
    let mut folders: Vec<&Path> = path.ancestors().filter(|folder| *folder != Path::new("/")).collect();
    folders.reverse();
    let top = folders.iter().position(|folder| !mounts.below(folder))?;
    let mut storable = true;
    for folder in folders.into_iter().skip(top + 1) {
        if look.entry(folder) != Entry::Folder || is_special(folder) || mounts.has(folder) {
            return None;
        }
        let owned = look.owned(folder);
        if look.writable(folder) && !(owned && storable) {
            return Some(folder.to_path_buf());
        }
        storable &= owned;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine;

    impl Look for Machine {
        fn entry(&self, path: &Path) -> Entry {
            match path.to_str().unwrap() {
                "/bin" => Entry::Link,
                "/swapfile" | "/etc/resolv.conf" => Entry::File,
                "/var/lib/app/db" => Entry::Other,
                _ => Entry::Folder,
            }
        }
        fn names(&self, folder: &Path) -> Vec<PathBuf> {
            let names: &[&str] = match folder.to_str().unwrap() {
                "/" => &["/bin", "/dev", "/home", "/lib64", "/mnt", "/proc", "/swapfile", "/tmp", "/var"],
                "/mnt" => &["/mnt/disk", "/mnt/other"],
                _ => &[],
            };
            names.iter().map(PathBuf::from).collect()
        }
        fn owned(&self, path: &Path) -> bool {
            path.starts_with("/home/me") || path.starts_with("/var/lib/app")
        }
        fn writable(&self, path: &Path) -> bool {
            self.owned(path) || path.starts_with("/var/tmp") || path == Path::new("/tmp")
        }
    }

    fn mounts() -> Mounts {
        Mounts::parse(
            b"1 0 0:1 / / rw\n2 1 0:1 / /proc rw\n3 1 0:1 / /dev rw\n4 3 0:1 / /dev/shm rw\n\
            5 1 0:1 / /mnt/disk rw\n6 1 0:1 / /etc/resolv.conf rw\n",
        )
    }

    fn overlay(path: &str) -> Piece {
        Piece::Overlay(PathBuf::from(path))
    }

    #[test]
    fn root_gets_one_overlay_a_file_system() {
        assert_eq!(
            for_root(&mounts(), &Machine),
            [overlay("/"), Piece::File("/etc/resolv.conf".into()), overlay("/mnt/disk")]
        );
    }

    #[test]
    fn a_user_gets_one_a_folder_and_descends_to_mounts() {
        let wanted = ["/home/me/work", "/var/lib/app/db", "/var/tmp", "/tmp"].map(PathBuf::from);
        assert_eq!(
            for_user(&mounts(), &wanted, false, &Machine),
            [
                Piece::Link("/bin".into()),
                overlay("/home"),
                overlay("/lib64"),
                Piece::Folder("/mnt".into()),
                overlay("/mnt/disk"),
                overlay("/mnt/other"),
                Piece::File("/swapfile".into()),
                overlay("/tmp"),
                overlay("/var"),
                overlay("/var/lib/app"),
                overlay("/var/tmp"),
            ]
        );
    }

    #[test]
    fn of_shared_memory_only_folders_that_are_wanted_are_there() {
        struct Shared;
        impl Look for Shared {
            fn entry(&self, path: &Path) -> Entry {
                if path.ends_with("segment") { Entry::File } else { Entry::Folder }
            }
            fn names(&self, _: &Path) -> Vec<PathBuf> {
                Vec::new()
            }
            fn owned(&self, _: &Path) -> bool {
                true
            }
            fn writable(&self, _: &Path) -> bool {
                true
            }
        }
        let wanted =
            ["/dev/shm/job/in", "/dev/shm/job", "/dev/shm/segment", "/dev/shm", "/dev/mqueue/x", "/tmp"];
        let wanted = wanted.map(PathBuf::from);
        assert_eq!(in_memory(&wanted, &Shared), [overlay("/dev/shm/job")]);
    }

    #[test]
    fn the_lean_form_seals_what_nobody_writes_to() {
        let wanted = ["/home/me/work", "/var/tmp"].map(PathBuf::from);
        let sealed = |path: &str| Piece::Sealed(PathBuf::from(path));
        assert_eq!(
            for_user(&mounts(), &wanted, true, &Machine),
            [
                Piece::Link("/bin".into()),
                overlay("/home"),
                sealed("/lib64"),
                Piece::Folder("/mnt".into()),
                overlay("/mnt/disk"),
                overlay("/mnt/other"),
                Piece::File("/swapfile".into()),
                overlay("/tmp"),
                overlay("/var"),
                overlay("/var/tmp"),
            ]
        );
    }

    /// A folder with very many folders beside the one that counts.
    #[test]
    fn what_is_wanted_comes_first() {
        struct Full;
        impl Look for Full {
            fn entry(&self, _: &Path) -> Entry {
                Entry::Folder
            }
            fn names(&self, folder: &Path) -> Vec<PathBuf> {
                match folder.to_str().unwrap() {
                    "/" => vec!["/tmp".into()],
                    "/tmp" => (1000..4000).map(|number| format!("/tmp/{number}").into()).collect(),
                    _ => Vec::new(),
                }
            }
            fn owned(&self, _: &Path) -> bool {
                true
            }
            fn writable(&self, _: &Path) -> bool {
                true
            }
        }
        let mounts = Mounts::parse(b"1 0 0:1 / / rw\n2 1 0:1 /tmp/3999 /tmp/3999 rw\n");
        let pieces = for_user(&mounts, &["/tmp/3998/x".into()], false, &Full);
        assert_eq!(pieces.len(), 3001);
        assert!(
            pieces.contains(&overlay("/tmp/3998")) && pieces.contains(&Piece::Sealed("/tmp/3500".into()))
        );
    }
}
