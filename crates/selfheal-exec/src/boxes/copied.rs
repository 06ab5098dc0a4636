//! The rung below overlays: the machine read-only, with copies of the job's folders bound over their places.
//!
//! The copies lie in the store, which is in memory, each twice: one for the job, and one as it was before, because the
//! machine's own may change meanwhile. The job sees its folders where they always are. Everything else it can read and
//! not write; what it is refused there puts its end in doubt. Landlock forbids the same a second time.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps, XattrFlags};

use super::mounts::Mounts;
use super::overlay::{Bind, Step, bind, inside, named};
use crate::effects::Layer;

/// So many entries are copied at most.
const MOST_ENTRIES: u64 = 50_000;

/// What is copied, and where to.
pub(crate) struct Copies<'a> {
    /// The store.
    pub store: &'a Path,
    /// The job's folders.
    pub roots: &'a [PathBuf],
    /// What is left out: selfheal's own.
    pub left_out: &'a [PathBuf],
    /// How many bytes the copies may take.
    pub room: u64,
}

impl Copies<'_> {
    /// The folders to copy, none of them inside another.
    fn outermost(&self) -> Vec<&PathBuf> {
        let inner = |path: &Path| self.roots.iter().any(|root| root != path && path.starts_with(root));
        let all: BTreeSet<&PathBuf> =
            self.roots.iter().filter(|root| root.is_dir() && !inner(root)).collect();
        all.into_iter().collect()
    }

    /// Binds the machine read-only and copies over it; gives the tree's root.
    pub(crate) fn build(&self, mounts: &Mounts) -> Step<PathBuf> {
        let root = self.store.join("root");
        named(fs::create_dir(&root), "make a folder in the store")?;
        bind(Path::new("/"), &root, Bind::ReadOnlyTree)?;
        let mut budget = Budget { bytes: self.room / 4, entries: MOST_ENTRIES };
        for (number, path) in self.outermost().into_iter().enumerate() {
            if path == Path::new("/") || mounts.below(path) {
                return Err(format!("copy {}: other file systems are mounted in it", path.display()));
            }
            let copy = self.numbered('c', number);
            let copied = copy_tree(path, &copy, self.left_out, &mut budget);
            named(copied, format_args!("copy {}", path.display()))?;
            bind(&copy, &inside(&root, path), Bind::Writable)?;
        }
        Ok(root)
    }

    /// Copies the folders once more, as they are when the job starts; gives the layers that it writes to.
    pub(crate) fn keep(&self) -> Step<Vec<Layer>> {
        let mut budget = Budget { bytes: u64::MAX, entries: u64::MAX };
        let kept = self.outermost().into_iter().enumerate().map(|(number, path)| {
            let (upper, old) = (self.numbered('c', number), self.numbered('o', number));
            named(copy_tree(&upper, &old, &[], &mut budget), format_args!("copy {}", path.display()))?;
            Ok(Layer { at: path.clone(), upper, old, skip: BTreeSet::new() })
        });
        kept.collect()
    }

    fn numbered(&self, letter: char, number: usize) -> PathBuf {
        self.store.join(format!("{letter}{number}"))
    }
}

/// What may still be copied.
struct Budget {
    bytes: u64,
    entries: u64,
}

impl Budget {
    fn spend(&mut self, bytes: u64) -> io::Result<()> {
        let too_much = || io::Error::other("it holds more than is copied for a box");
        self.entries = self.entries.checked_sub(1).ok_or_else(too_much)?;
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(too_much)?;
        Ok(())
    }
}

fn copy_tree(from: &Path, to: &Path, left_out: &[PathBuf], budget: &mut Budget) -> io::Result<()> {
    let facts = fs::symlink_metadata(from)?;
    let kind = facts.file_type();
    // What a sparse file takes, not how long it is.
    budget.spend(if kind.is_file() { facts.blocks() * 512 } else { 0 })?;
    if kind.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            if !left_out.contains(&entry.path()) {
                copy_tree(&entry.path(), &to.join(entry.file_name()), left_out, budget)?;
            }
        }
    } else if kind.is_symlink() {
        symlink(fs::read_link(from)?, to)?;
    } else if kind.is_file() {
        fs::copy(from, to)?;
    } else if kind.is_fifo() {
        rustix::fs::mknodat(CWD, to, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
    } else {
        // Sockets and devices lead out of a box.
        return Ok(());
    }
    copy_attributes(from, to, &facts)
}

/// Owner, attributes, mode, times; in this order, since some undo what comes before.
fn copy_attributes(from: &Path, to: &Path, facts: &fs::Metadata) -> io::Result<()> {
    // An ordinary user cannot give files away: they are his in the box.
    let _ = lchown(to, Some(facts.uid()), Some(facts.gid()));
    let mut list = vec![0_u8; 64 * 1024];
    let count = rustix::fs::llistxattr(from, list.as_mut_slice()).unwrap_or(0);
    for name in list.get(..count).unwrap_or_default().split(|byte| *byte == 0) {
        let mut value = vec![0_u8; 64 * 1024];
        if name.starts_with(b"user.")
            && let Ok(length) = rustix::fs::lgetxattr(from, name, value.as_mut_slice())
        {
            rustix::fs::lsetxattr(to, name, value.get(..length).unwrap_or_default(), XattrFlags::empty())?;
        }
    }
    if !facts.file_type().is_symlink() {
        let mine = rustix::process::geteuid();
        let may_write = facts.uid() == mine.as_raw()
            || mine.is_root()
            || rustix::fs::access(from, rustix::fs::Access::WRITE_OK).is_ok();
        let bits = facts.mode() & if may_write { 0o7777 } else { 0o7555 };
        fs::set_permissions(to, fs::Permissions::from_mode(bits))?;
    }
    let moment = |seconds, nanos| Timespec { tv_sec: seconds, tv_nsec: nanos };
    let times = Timestamps {
        last_access: moment(facts.atime(), facts.atime_nsec()),
        last_modification: moment(facts.mtime(), facts.mtime_nsec()),
    };
    Ok(rustix::fs::utimensat(CWD, to, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}
