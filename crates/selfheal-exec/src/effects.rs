//! What a boxed run did to files, read from the upper folders of its overlays.
//!
//! The walk never goes through the merged tree and follows no link: it looks at each upper folder beside what was there
//! before, and reports how they differ, by path. Its marks are read as the kernel writes them: a character device 0:0
//! or an empty file with `overlay.whiteout` is a deletion, `overlay.opaque` is a folder that was replaced, and what was
//! only copied up and is equal is nothing. FIFOs are never opened. Everything is bounded, because the job made it.
//!
//! Two names of one file that a job wrote are two effects. Where the machine's file has several names, the box breaks
//! the link at the first write, so the sibling's change is not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use selfheal_core::effects::{Change, Effect};
use sha2::{Digest, Sha256};

/// The largest file whose content is hashed.
pub const LARGEST_HASHED: u64 = 16 * 1024 * 1024;

/// The largest file that is compared with its old content; beyond it counts as changed.
const LARGEST_COMPARED: u64 = 1024 * 1024 * 1024;

/// So many effects are listed.
const MOST_EFFECTS: usize = 100_000;

/// So many entries of a deleted folder are listed.
const MOST_DELETED: usize = 10_000;

/// Folders are followed this deep.
const DEEPEST: usize = 256;

/// How an overlay marks what is gone: in attributes of root, or of an ordinary user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// `trusted.overlay.*`.
    Trusted,
    /// `user.overlay.*`.
    User,
    /// Not at all: the layers are whole copies, and what is missing from one is gone.
    Copied,
}

impl Marks {
    fn prefix(self) -> &'static [u8] {
        match self {
            Self::Trusted => b"trusted.overlay.",
            Self::User => b"user.overlay.",
            // Nothing in a box can set this.
            Self::Copied => b"trusted.selfheal.none.",
        }
    }
}

/// One overlay: where it is, where its changes are, and where what was there before can be read.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The mount point as the job sees it.
    pub at: PathBuf,
    /// The upper folder.
    pub upper: PathBuf,
    /// The old content.
    pub old: PathBuf,
    /// Names at the top that are no changes: what else is mounted or was put there.
    pub skip: BTreeSet<OsString>,
}

/// The effects of one run.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The effects, sorted by path.
    pub effects: Vec<Effect>,
    /// False when there were too many, too deep, or something could not be read.
    pub complete: bool,
    /// A file of the machine with several names, of which the job wrote to one: the others did not follow.
    pub several_names: Option<PathBuf>,
}

/// Lists what was changed in layers.
#[must_use]
pub fn list(layers: &[Layer], marks: Marks) -> Listing {
    let mut walk =
        Walk { marks, effects: Vec::new(), complete: true, several_names: None, reader: Reader::new() };
    for layer in layers {
        walk.folder(
            &Spot {
                path: layer.at.clone(),
                upper: layer.upper.clone(),
                old: Some(layer.old.clone()),
                opaque: marks == Marks::Copied,
                depth: 0,
            },
            &layer.skip,
        );
    }
    walk.effects.sort();
    Listing { effects: walk.effects, complete: walk.complete, several_names: walk.several_names }
}

/// One place in the walk.
struct Spot {
    path: PathBuf,
    upper: PathBuf,
    /// The old folder at this place, if there was one.
    old: Option<PathBuf>,
    /// Whether the old content was replaced as a whole.
    opaque: bool,
    depth: usize,
}

impl Spot {
    fn child(&self, name: &OsStr) -> Self {
        Self {
            path: self.path.join(name),
            upper: self.upper.join(name),
            old: self.old.as_ref().map(|old| old.join(name)),
            opaque: self.opaque,
            depth: self.depth + 1,
        }
    }
}

struct Walk {
    marks: Marks,
    effects: Vec<Effect>,
    complete: bool,
    several_names: Option<PathBuf>,
    reader: Reader,
}

impl Walk {
    fn folder(&mut self, spot: &Spot, skip: &BTreeSet<OsString>) {
        if spot.depth > DEEPEST {
            self.complete = false;
            return;
        }
        let Ok(names) = names(&spot.upper) else {
            self.complete = false;
            return;
        };
        for name in names.iter().filter(|name| !skip.contains(*name)) {
            if self.effects.len() >= MOST_EFFECTS {
                self.complete = false;
                return;
            }
            self.entry(&spot.child(name));
        }
        if spot.opaque {
            self.missing_of_replaced(spot, &names);
        }
    }

    /// A folder that was replaced hides all of the old one: what is not there again is deleted.
    fn missing_of_replaced(&mut self, spot: &Spot, kept: &[OsString]) {
        let Some(old) = &spot.old else { return };
        let mut left = MOST_DELETED;
        for name in self::names(old).unwrap_or_default() {
            if kept.binary_search(&name).is_err() {
                self.deleted(&spot.path.join(&name), &old.join(&name), &mut left);
            }
        }
    }

    fn entry(&mut self, spot: &Spot) {
        let Ok(new) = fs::symlink_metadata(&spot.upper) else {
            self.complete = false;
            return;
        };
        let old = spot.old.as_ref().and_then(|path| fs::symlink_metadata(path).ok());
        if self.is_whiteout(&spot.upper, &new) {
            if let (Some(path), Some(_)) = (&spot.old, &old) {
                self.deleted(&spot.path, path, &mut MOST_DELETED.clone());
            }
            return;
        }
        if new.is_dir() {
            self.new_folder(spot, &new, old.as_ref());
        } else {
            self.new_thing(spot, &new, old.as_ref());
        }
    }

    fn new_folder(&mut self, spot: &Spot, new: &Metadata, old: Option<&Metadata>) {
        match old {
            Some(old) if old.is_dir() => {
                if !self.same_attributes(spot, new, old) {
                    self.push(spot, Change::Attributes, new, None);
                }
            }
            other => {
                if other.is_some() {
                    self.gone(&spot.path);
                }
                self.push(spot, Change::CreatedFolder, new, None);
            }
        }
        let was_folder = old.is_some_and(Metadata::is_dir);
        self.folder(
            &Spot {
                path: spot.path.clone(),
                upper: spot.upper.clone(),
                old: spot.old.clone().filter(|_| was_folder),
                opaque: spot.opaque || self.is_opaque(&spot.upper),
                depth: spot.depth,
            },
            &BTreeSet::new(),
        );
    }

    fn new_thing(&mut self, spot: &Spot, new: &Metadata, old: Option<&Metadata>) {
        let Some(old_facts) = old else {
            let content = self.reader.hash(&spot.upper, new);
            self.push(spot, Change::Created, new, content);
            return;
        };
        if let (true, Some(path)) = (old_facts.is_dir(), &spot.old) {
            self.deleted_inside(&spot.path, path, &mut MOST_DELETED.clone());
        }
        if old_facts.is_file() && old_facts.nlink() > 1 && new.is_file() {
            self.several_names.get_or_insert_with(|| spot.path.clone());
        }
        let (difference, content) = self.difference(spot, new, old_facts);
        match difference {
            Difference::Same if self.same_attributes(spot, new, old_facts) => {}
            Difference::Same => self.push(spot, Change::Attributes, new, content),
            Difference::Longer => self.push(spot, Change::Appended, new, content),
            Difference::Other => self.push(spot, Change::Changed, new, content),
        }
    }

    /// How a thing differs from what was there, and the hash of its content.
    fn difference(
        &mut self,
        spot: &Spot,
        new: &Metadata,
        old_facts: &Metadata,
    ) -> (Difference, Option<String>) {
        let Some(old) = spot.old.as_deref().filter(|_| new.file_type() == old_facts.file_type()) else {
            return (Difference::Other, self.reader.hash(&spot.upper, new));
        };
        if new.is_file() {
            return self.reader.compare((&spot.upper, new), (old, old_facts));
        }
        let same = if new.is_symlink() {
            matches!((fs::read_link(&spot.upper), fs::read_link(old)), (Ok(new), Ok(old)) if new == old)
        } else {
            new.rdev() == old_facts.rdev()
        };
        (if same { Difference::Same } else { Difference::Other }, None)
    }

    /// Whether mode, owner, time of change (not for folders: it moves with every entry) and attributes are the same.
    fn same_attributes(&self, spot: &Spot, new: &Metadata, old: &Metadata) -> bool {
        let time = |facts: &Metadata| (facts.mtime(), facts.mtime_nsec());
        let same_time = new.is_dir() || new.is_symlink() || time(new) == time(old);
        let plain = new.mode() == old.mode() && new.uid() == old.uid() && new.gid() == old.gid() && same_time;
        let attributes = |path: &Path| attributes(path, self.marks).unwrap_or_default();
        let own = self.unescaped(attributes(&spot.upper));
        plain && spot.old.as_ref().is_some_and(|old| own == attributes(old))
    }

    /// Leaves the kernel's own marks out, and turns its escape of a mark that the job set back.
    fn unescaped(&self, all: BTreeMap<Vec<u8>, Vec<u8>>) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let prefix = self.marks.prefix();
        let mark = |name: &[u8]| name.strip_prefix(prefix).map(<[u8]>::to_vec);
        all.into_iter()
            .filter_map(|(name, value)| match mark(&name) {
                None => Some((name, value)),
                Some(rest) => {
                    let inner = rest.strip_prefix(b"overlay.")?;
                    Some(([prefix, inner].concat(), value))
                }
            })
            .collect()
    }

    fn is_whiteout(&self, path: &Path, facts: &Metadata) -> bool {
        let device = facts.file_type().is_char_device() && facts.rdev() == 0;
        device
            || facts.is_file()
                && facts.len() == 0
                && attribute(path, &[self.marks.prefix(), b"whiteout"].concat()).is_some()
    }

    fn is_opaque(&self, path: &Path) -> bool {
        attribute(path, &[self.marks.prefix(), b"opaque"].concat()).is_some_and(|value| value == b"y")
    }

    fn deleted(&mut self, path: &Path, old: &Path, left: &mut usize) {
        self.gone(path);
        if fs::symlink_metadata(old).is_ok_and(|facts| facts.is_dir()) {
            self.deleted_inside(path, old, left);
        }
    }

    fn deleted_inside(&mut self, path: &Path, old: &Path, left: &mut usize) {
        for name in names(old).unwrap_or_default() {
            if *left == 0 || self.effects.len() >= MOST_EFFECTS || path.components().count() > DEEPEST {
                self.complete = false;
                return;
            }
            *left -= 1;
            self.deleted(&path.join(&name), &old.join(&name), left);
        }
    }

    fn gone(&mut self, path: &Path) {
        let path = path.to_path_buf();
        self.effects.push(Effect { path, change: Change::Deleted, len: 0, content: None, mode: 0 });
    }

    fn push(&mut self, spot: &Spot, change: Change, facts: &Metadata, content: Option<String>) {
        let len = if facts.is_file() { facts.len() } else { 0 };
        let mode = facts.mode() & 0o7777;
        self.effects.push(Effect { path: spot.path.clone(), change, len, content, mode });
    }
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name()));
    let mut names = entries.collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

/// Opens a regular file that the job made: links are not followed, and a FIFO in its place does not block.
fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Difference {
    Same,
    Longer,
    Other,
}

/// Reads contents. Its buffers are made once: with thousands of small files they would cost more than the files.
struct Reader {
    new: Vec<u8>,
    old: Vec<u8>,
}

impl Reader {
    fn new() -> Self {
        Self { new: vec![0; 64 * 1024], old: vec![0; 64 * 1024] }
    }

    /// The hash of a regular file that is not too large.
    fn hash(&mut self, path: &Path, facts: &Metadata) -> Option<String> {
        if !facts.is_file() || facts.len() > LARGEST_HASHED {
            return None;
        }
        let new = Source::open(path, facts).ok()?;
        self.read(new, None, Some(Sha256::new())).ok()?.1
    }

    /// How a regular file differs from the old one, and its hash, in one reading.
    fn compare(
        &mut self,
        (path, facts): (&Path, &Metadata),
        (old_path, old_facts): (&Path, &Metadata),
    ) -> (Difference, Option<String>) {
        let comparable = old_facts.len() <= facts.len() && old_facts.len() <= LARGEST_COMPARED;
        let hash = (facts.len() <= LARGEST_HASHED).then(Sha256::new);
        if !comparable && hash.is_none() {
            return (Difference::Other, None);
        }
        let read = || {
            let old = if comparable { Some(Source::open(old_path, old_facts)?) } else { None };
            self.read(Source::open(path, facts)?, old, hash)
        };
        let (begins_alike, hash) = read().unwrap_or((false, None));
        match (begins_alike, facts.len() == old_facts.len()) {
            (false, _) => (Difference::Other, hash),
            (true, true) => (Difference::Same, hash),
            (true, false) => (Difference::Longer, hash),
        }
    }

    /// Reads a file to its end, or as far as it matters: whether it begins with the whole of the old one, and its hash.
    fn read(
        &mut self,
        mut new: Source,
        mut old: Option<Source>,
        mut hash: Option<Sha256>,
    ) -> io::Result<(bool, Option<String>)> {
        let mut alike = old.is_some();
        loop {
            let count = new.fill(&mut self.new)?;
            let bytes = self.new.get(..count).unwrap_or_default();
            if let Some(hash) = &mut hash {
                hash.update(bytes);
            }
            if let Some(source) = &mut old {
                let count = source.fill(&mut self.old)?;
                alike = bytes.starts_with(self.old.get(..count).unwrap_or_default());
                if !alike || source.left == 0 {
                    old = None;
                }
            }
            if new.left == 0 || (old.is_none() && hash.is_none()) {
                let hex = hash.map(|hash| hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
                return Ok((alike && old.is_none(), hex));
            }
        }
    }
}

/// A file that is read as far as it was long when it was looked at.
struct Source {
    file: File,
    left: u64,
}

impl Source {
    fn open(path: &Path, facts: &Metadata) -> io::Result<Self> {
        Ok(Self { file: open(path)?, left: facts.len() })
    }

    /// Fills a buffer as far as the file goes. A short read is not taken for the end: some file systems interrupt them.
    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let mut filled = 0;
        while let Some(free) = buffer.get_mut(filled..wanted).filter(|free| !free.is_empty()) {
            match self.file.read(free) {
                Ok(0) => {
                    // Somebody cut it.
                    self.left = filled as u64;
                    break;
                }
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.left = self.left.saturating_sub(filled as u64);
        Ok(filled)
    }
}

/// The extended attributes of a path, links not followed; at most 64 KiB of names.
fn attributes(path: &Path, marks: Marks) -> io::Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    let list = grown(|buffer| rustix::fs::llistxattr(path, buffer))?;
    let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    // An ordinary user cannot see what root has in `trusted.*`, and root sees it on both sides.
    let seen = names.filter(|name| marks == Marks::Trusted || !name.starts_with(b"trusted."));
    Ok(seen.filter_map(|name| Some((name.to_vec(), attribute(path, name)?))).collect())
}

fn attribute(path: &Path, name: &[u8]) -> Option<Vec<u8>> {
    grown(|buffer| rustix::fs::lgetxattr(path, OsStr::from_bytes(name), buffer)).ok()
}

/// What a call puts into a buffer: a small one first, since nearly all of it is short, and then the largest.
fn grown(mut call: impl FnMut(&mut [u8]) -> rustix::io::Result<usize>) -> io::Result<Vec<u8>> {
    for size in [256, 64 * 1024] {
        let mut buffer = vec![0_u8; size];
        match call(buffer.as_mut_slice()) {
            Ok(count) => {
                buffer.truncate(count);
                return Ok(buffer);
            }
            Err(rustix::io::Errno::RANGE) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}
