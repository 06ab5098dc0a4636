//! Puts the file tree of a box together, in the outer process's own mount namespace.
//!
//! The store holds, for overlay number N, the folder `uN` for what is changed, `wN` for the kernel's work, and `sN`,
//! `tN` for the same of the setup; `root` is the tree for the job. Nothing here is ever unmounted by hand: the
//! namespace ends with the process.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::mount::MountAttrFlags;

use super::layout::{Entry, Look, Piece};
use super::mounts::Mounts;
use super::overlay::{Bind, Overlay, Step, bind, blank_over, inside, mount_fresh, named};
use crate::effects::{Layer, Marks};

/// The machine as the calling process sees it.
pub(crate) struct Machine {
    /// The caller's user number.
    pub uid: u32,
}

impl Look for Machine {
    fn entry(&self, path: &Path) -> Entry {
        match fs::symlink_metadata(path).map(|facts| facts.file_type()) {
            Ok(kind) if kind.is_dir() => Entry::Folder,
            Ok(kind) if kind.is_symlink() => Entry::Link,
            Ok(kind) if kind.is_file() => Entry::File,
            _ => Entry::Other,
        }
    }

    fn names(&self, folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        names.sort();
        names
    }

    fn owned(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|facts| facts.uid() == self.uid)
    }

    fn writable(&self, path: &Path) -> bool {
        rustix::fs::access(path, Access::WRITE_OK).is_ok()
    }
}

/// Where a tree is built and how.
pub(crate) struct Builder<'a> {
    /// The store: a folder that only this box uses.
    pub store: &'a Path,
    /// How overlays mark what is gone.
    pub marks: Marks,
    /// The pieces.
    pub pieces: &'a [Piece],
    /// Whether folders of the machine were bound as they are, where its services may have their sockets.
    pub bound: &'a Cell<bool>,
    /// The machine's mounts.
    pub mounts: &'a Mounts,
}

impl Builder<'_> {
    /// Builds the tree in which the setup is made; gives its root.
    pub(crate) fn build_for_setup(&self) -> Step<PathBuf> {
        let root = self.folder("setup")?;
        for (number, piece) in self.pieces.iter().enumerate() {
            let target = inside(&root, piece.path());
            if let Piece::Overlay(path) = piece {
                let (upper, work) = (self.numbered('s', number), self.numbered('t', number));
                self.make_upper(&upper, &work, path)?;
                self.make_target(&target)?;
                // What the setup makes must be there even where the job may not write.
                let lower = std::slice::from_ref(path);
                self.overlay(lower, Some((&upper, &work)), false).mount(&target)?;
            } else {
                self.place(piece, &target)?;
            }
        }
        Ok(root)
    }

    /// Builds the tree for the job, over what the setup changed; gives its root and the layers that it writes to.
    pub(crate) fn build(&self) -> Step<(PathBuf, Vec<Layer>)> {
        let root = self.folder("root")?;
        let mut layers = self.raise_all(&root, false)?;
        layers.extend(self.plain_layers(&root));
        self.close_folders(&root)?;
        Ok((root, layers))
    }

    /// Builds what lies in shared memory, once `/dev` is there; gives the layers that it adds.
    pub(crate) fn build_in_memory(&self, root: &Path) -> Step<Vec<Layer>> {
        self.raise_all(root, true)
    }

    fn raise_all(&self, root: &Path, in_memory: bool) -> Step<Vec<Layer>> {
        let mut layers = Vec::new();
        let pieces = self.pieces.iter().enumerate();
        for (number, piece) in pieces.filter(|(_, piece)| is_in_memory(piece.path()) == in_memory) {
            let raised = self.raise(number, piece, root);
            layers.extend(raised.or_else(|why| unless_gone(piece.path(), why).map(|()| None))?);
        }
        Ok(layers)
    }

    /// Puts one piece in its place; gives the layer of what is written to it, if it has one.
    fn raise(&self, number: usize, piece: &Piece, root: &Path) -> Step<Option<Layer>> {
        let target = inside(root, piece.path());
        let Piece::Overlay(path) = piece else { return self.place(piece, &target).map(|()| None) };
        let (upper, work) = (self.numbered('u', number), self.numbered('w', number));
        self.make_upper(&upper, &work, path)?;
        let lower = self.lower(number, path);
        self.make_target(&target)?;
        let read_only = self.mounts.read_only(path);
        match self.overlay(&lower, Some((&upper, &work)), read_only).mount(&target) {
            Ok(()) => {
                let old = self.old_view(number, path, &lower)?;
                Ok(Some(Layer { at: path.clone(), upper, old, skip: BTreeSet::new() }))
            }
            Err(reason) if path == Path::new("/") => Err(reason),
            // Some file systems cannot lie below an overlay.
            Err(_) => {
                bind(path, &target, Bind::ReadOnlyTree)?;
                self.bound.set(true);
                Ok(None)
            }
        }
    }

    /// Folders that only hold other pieces can be written to as well. What is new in them lies there and nowhere else.
    fn plain_layers<'b>(&'b self, root: &'b Path) -> impl Iterator<Item = Layer> + 'b {
        let folders = self.pieces.iter().filter(|piece| matches!(piece, Piece::Folder(_))).map(Piece::path);
        let all = folders.chain((self.marks == Marks::User).then_some(Path::new("/")));
        all.map(move |folder| {
            let here = |path: &Path| path.parent() == Some(folder);
            let pieces = self.pieces.iter().map(Piece::path).chain(super::layout::SPECIAL.map(Path::new));
            let skip = pieces.filter(|path| here(path)).filter_map(|path| Some(path.file_name()?.to_owned()));
            Layer {
                at: folder.to_path_buf(),
                upper: inside(root, folder),
                old: folder.to_path_buf(),
                skip: skip.collect(),
            }
        })
    }

    /// The root and the folders that only hold other pieces belong to an ordinary user in his box: he may do as much
    /// with them as outside.
    fn close_folders(&self, root: &Path) -> Step<()> {
        let folders = self.pieces.iter().filter(|piece| matches!(piece, Piece::Folder(_))).map(Piece::path);
        let all = folders.chain((self.marks == Marks::User).then_some(Path::new("/")));
        for folder in all {
            // On a busy machine it may be gone by now.
            let Ok(facts) = fs::metadata(folder) else { continue };
            let bits = bits_for_caller(folder, facts.mode() & 0o7777);
            named(
                fs::set_permissions(inside(root, folder), fs::Permissions::from_mode(bits)),
                "set a folder's mode",
            )?;
        }
        Ok(())
    }

    fn numbered(&self, letter: char, number: usize) -> PathBuf {
        self.store.join(format!("{letter}{number}"))
    }

    fn folder(&self, name: &str) -> Step<PathBuf> {
        let path = self.store.join(name);
        named(fs::DirBuilder::new().mode(0o755).create(&path), "make a folder in the store")?;
        Ok(path)
    }

    /// What lies below the job's overlay: what the setup changed, if anything, and the machine.
    fn lower(&self, number: usize, path: &Path) -> Vec<PathBuf> {
        let setup = self.numbered('s', number);
        let changed = fs::read_dir(&setup).is_ok_and(|mut entries| entries.next().is_some());
        changed.then_some(setup).into_iter().chain([path.to_path_buf()]).collect()
    }

    /// Where what was there before the job can be read.
    fn old_view(&self, number: usize, path: &Path, lower: &[PathBuf]) -> Step<PathBuf> {
        if lower.len() < 2 {
            return Ok(path.to_path_buf());
        }
        let view = self.folder(&format!("o{number}"))?;
        self.overlay(lower, None, true).mount(&view)?;
        Ok(view)
    }

    fn overlay<'b>(
        &self,
        lower: &'b [PathBuf],
        upper: Option<(&'b Path, &'b Path)>,
        read_only: bool,
    ) -> Overlay<'b> {
        Overlay { lower, upper, user_marks: self.marks == Marks::User, read_only }
    }

    /// The place for a mount: in a tree without a root overlay it has to be made.
    fn make_target(&self, target: &Path) -> Step<()> {
        let ours =
            self.marks == Marks::User || target.parent().is_some_and(|folder| folder.ends_with("dev/shm"));
        if ours && fs::symlink_metadata(target).is_err() {
            named(fs::DirBuilder::new().recursive(true).mode(0o755).create(target), "make a mount point")?;
        }
        Ok(())
    }

    fn place(&self, piece: &Piece, target: &Path) -> Step<()> {
        match piece {
            Piece::Folder(_) => self.make_target(target),
            Piece::Link(path) => named(fs::read_link(path).and_then(|to| symlink(to, target)), "copy a link"),
            Piece::File(path) => {
                if self.marks == Marks::User {
                    named(fs::File::create(target), "make a mount point")?;
                }
                bind(path, target, Bind::ReadOnly)
            }
            Piece::Sealed(path) => {
                self.make_target(target)?;
                bind(path, target, Bind::ReadOnlyTree)
            }
            Piece::Overlay(_) => Ok(()),
        }
    }

    /// An upper folder that looks like the lower one. It belongs to the caller, so where he may not write its write
    /// bits must go, or he could in the box.
    fn make_upper(&self, upper: &Path, work: &Path, lower: &Path) -> Step<()> {
        named(fs::create_dir(work), "make a work folder")?;
        named(fs::create_dir(upper), "make an upper folder")?;
        let facts = named(fs::metadata(lower), format_args!("look at {}", lower.display()))?;
        let bits = facts.mode() & 0o7777;
        let bits = if self.marks == Marks::User { bits_for_caller(lower, bits) } else { bits };
        if self.marks == Marks::Trusted {
            named(chown(upper, Some(facts.uid()), Some(facts.gid())), "set an upper folder's owner")?;
        }
        named(fs::set_permissions(upper, fs::Permissions::from_mode(bits)), "set an upper folder's mode")
    }
}

/// The mode of an upper folder that belongs to the caller, so that he can do as much as with the lower one.
fn bits_for_caller(lower: &Path, bits: u32) -> u32 {
    let may = |access: Access, bit: u32| if rustix::fs::access(lower, access).is_ok() { bit } else { 0 };
    let own = may(Access::READ_OK, 0o400) | may(Access::WRITE_OK, 0o200) | may(Access::EXEC_OK, 0o100);
    let others = if own & 0o200 == 0 { bits & 0o7055 } else { bits & 0o7077 };
    own | others
}

/// Devices that a box has.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Links in `/dev`.
const DEVICE_LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Builds `/dev`, `/sys` and the mount point for `/proc`.
pub(crate) fn build_special(root: &Path, probe: &[(String, super::wire::Raw)]) -> Step<()> {
    for special in super::layout::SPECIAL {
        let place = inside(root, Path::new(special));
        if fs::symlink_metadata(&place).is_err() {
            named(fs::DirBuilder::new().mode(0o555).create(&place), "make a mount point")?;
        }
    }
    let sys = inside(root, Path::new("/sys"));
    bind(Path::new("/sys"), &sys, Bind::ReadOnlyTree).or_else(|_| blank(&sys))?;
    let dev = inside(root, Path::new("/dev"));
    let options = [("mode", Some("0755")), ("size", Some("4m")), ("nr_inodes", Some("1024"))];
    mount_fresh("tmpfs", &dev, &options, MountAttrFlags::MOUNT_ATTR_NOSUID)?;
    for name in DEVICES {
        let place = dev.join(name);
        named(fs::File::create(&place), "make a mount point")?;
        let _ = bind(&Path::new("/dev").join(name), &place, Bind::Device);
    }
    for (name, to) in DEVICE_LINKS {
        named(symlink(to, dev.join(name)), "make a link in /dev")?;
    }
    build_dev_folders(&dev)?;
    for (name, content) in probe {
        let place = dev.join(super::PROBE_NAME).join(name);
        let folder = place.parent().map_or(Ok(()), fs::create_dir_all);
        named(folder.and_then(|()| fs::write(&place, &content.0)), "write the probe")?;
    }
    Ok(())
}

fn build_dev_folders(dev: &Path) -> Step<()> {
    for name in ["shm", "pts", super::PROBE_NAME] {
        named(fs::DirBuilder::new().mode(0o755).create(dev.join(name)), "make a folder in /dev")?;
    }
    let plain = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    mount_fresh("tmpfs", &dev.join("shm"), &[("mode", Some("1777")), ("size", Some("256m"))], plain)?;
    let terminals = [("newinstance", None), ("ptmxmode", Some("0666")), ("mode", Some("0620"))];
    // Without pseudo terminals most jobs still run; some containers do not allow them.
    let _ = mount_fresh("devpts", &dev.join("pts"), &terminals, MountAttrFlags::MOUNT_ATTR_NOSUID);
    Ok(())
}

fn is_in_memory(path: &Path) -> bool {
    path.starts_with(super::layout::MEMORY)
}

/// On a busy machine files come and go while a box is built: what is gone by now need not be in it.
fn unless_gone(path: &Path, why: String) -> Step<()> {
    if is_gone(path) { Ok(()) } else { Err(why) }
}

fn is_gone(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn blank(folder: &Path) -> Step<()> {
    let hide = || -> io::Result<()> { blank_over(rustix::fs::open(folder, OFlags::PATH, Mode::empty())?) };
    named(hide(), format_args!("hide {}", folder.display()))
}

/// Opens a path as a process inside the tree would find it.
pub(crate) fn resolve(root: &Path, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    resolve_below(&open_root(root)?, path, flags)
}

/// Opens the root of a tree, for many paths below it.
pub(crate) fn open_root(root: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(CWD, root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a path as a process inside the tree would find it.
pub(crate) fn resolve_below(root: &OwnedFd, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let how = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(root, path, flags | OFlags::CLOEXEC, Mode::empty(), how)?)
}
