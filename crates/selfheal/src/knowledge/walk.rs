//! Going through a folder that may be hostile: by descriptors, below its root only, without following links, on one file
//! system, and never further than the limits.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::read::{Sort, sort_of};

/// How far a walk goes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Names looked at in all.
    pub names: usize,
    /// Folders below each other.
    pub depth: usize,
    /// When it must be at its end, once it has looked at [`AT_LEAST`] names: what is small is seen whole, however slow the
    /// machine is.
    pub until: Option<Instant>,
}

/// Names that are looked at whatever the time.
const AT_LEAST: usize = 5_000;
/// Entries of one folder that are listed, to find what tells most among them.
const MOST_ENTRIES: usize = 100_000;
/// Names of one folder that are taken beyond the limit because they tell most.
const MOST_TELLING: usize = 100;

/// A regular file that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its path below the root; empty where the root itself is the file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub len: u64,
    /// When it changed last, in nanoseconds since 1970.
    pub modified_ns: i64,
}

/// What a walk saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// The files, folder by folder, by name.
    pub files: Vec<Seen>,
    /// The folders below the root that were gone through or left out for their depth, relative to it.
    pub folders: Vec<PathBuf>,
    /// Links, which are not followed.
    pub links: usize,
    /// Fifos, sockets and devices.
    pub special: usize,
    /// Folders that could not be read.
    pub unreadable: usize,
    /// Whether a limit ended it.
    pub cut: bool,
}

/// Folders that hold what others made, or much of no meaning.
const LEFT_OUT: [&str; 12] = [
    "node_modules",
    "__pycache__",
    "site-packages",
    "target",
    "venv",
    "vendor",
    "lost+found",
    "bower_components",
    "coverage",
    "CVS",
    "proc",
    "sys",
];

/// A file or folder, opened.
pub struct Root {
    fd: OwnedFd,
    path: PathBuf,
    is_file: bool,
}

impl Root {
    /// Opens a file or folder; links on the way to it are followed.
    ///
    /// # Errors
    /// When it cannot be opened, or is neither.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let facts = std::fs::metadata(path)?;
        if !facts.is_dir() && !facts.is_file() {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is no file and no folder"));
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self { fd, path: path.to_owned(), is_file: facts.is_file() })
    }

    /// The files below it.
    #[must_use]
    pub fn walk(&self, limits: Limits) -> Walked {
        let mut walked = Walked::default();
        if self.is_file {
            walked
                .files
                .extend(rustix::fs::fstat(&self.fd).ok().and_then(|stat| seen(PathBuf::new(), &stat)));
            return walked;
        }
        let mut names = 0;
        // Breadth first: what is near is seen before a limit ends it.
        let mut waiting: VecDeque<(PathBuf, usize)> = VecDeque::from([(PathBuf::new(), 0)]);
        while let Some((folder, depth)) = waiting.pop_front() {
            let Some(entries) = self.names(&folder, limits.names.saturating_sub(names)) else {
                walked.unreadable += 1;
                continue;
            };
            names += entries.len();
            let late = names >= AT_LEAST && limits.until.is_some_and(|until| Instant::now() >= until);
            if names >= limits.names || late {
                walked.cut = true;
            }
            let Some(fd) = self.at(&folder, OFlags::DIRECTORY) else { continue };
            for name in entries {
                let path = folder.join(&name);
                let Ok(stat) = rustix::fs::statat(&fd, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
                match FileType::from_raw_mode(stat.st_mode) {
                    FileType::RegularFile => walked.files.extend(seen(path, &stat)),
                    FileType::Symlink => walked.links += 1,
                    FileType::Directory if is_left_out(&name) => {}
                    FileType::Directory => {
                        if depth < limits.depth && !walked.cut {
                            waiting.push_back((path.clone(), depth + 1));
                        }
                        walked.folders.push(path);
                    }
                    _ => walked.special += 1,
                }
            }
        }
        walked
    }

    /// The names in a folder, sorted; at most so many, and then those that the system gave first, and all that say what
    /// changed or what there is.
    fn names(&self, folder: &Path, most: usize) -> Option<Vec<OsString>> {
        let fd = self.at(folder, OFlags::DIRECTORY)?;
        let entries = Dir::read_from(&fd).ok()?;
        let names = entries.filter_map(Result::ok).map(|entry| entry.file_name().to_bytes().to_vec());
        let own = names.filter(|name| name != b"." && name != b"..");
        let mut all = own.take(MOST_ENTRIES).map(OsString::from_vec);
        let mut names: Vec<OsString> = all.by_ref().take(most).collect();
        let tells = |name: &OsString| matches!(sort_of(Path::new(name)), Sort::Notes | Sort::Readme);
        names.extend(all.filter(tells).take(MOST_TELLING));
        names.sort();
        Some(names)
    }

    /// The first bytes of a file below the root, and whether there are more. Nothing where it is no regular file any more.
    #[must_use]
    pub fn read(&self, path: &Path, most: usize) -> Option<Vec<u8>> {
        let fd = self.at(path, OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let file = File::from(fd);
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(most as u64).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Where a path below the root is.
    #[must_use]
    pub fn full(&self, path: &Path) -> PathBuf {
        if path.as_os_str().is_empty() { self.path.clone() } else { self.path.join(path) }
    }

    /// Opens what is below the root, whatever somebody makes of the folders meanwhile.
    fn at(&self, path: &Path, more: OFlags) -> Option<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | more;
        if path.as_os_str().is_empty() {
            return match self.is_file {
                true => rustix::fs::open(&self.path, flags, Mode::empty()).ok(),
                false => rustix::fs::openat(&self.fd, ".", flags, Mode::empty()).ok(),
            };
        }
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        match rustix::fs::openat2(&self.fd, path, flags, Mode::empty(), within) {
            // An old kernel, or a container that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(&self.fd, path, flags, Mode::empty()).ok(),
            opened => opened.ok(),
        }
    }
}

fn seen(path: PathBuf, stat: &rustix::fs::Stat) -> Option<Seen> {
    let len = u64::try_from(stat.st_size).ok()?;
    let modified_ns = stat
        .st_mtime
        .saturating_mul(1_000_000_000)
        .saturating_add(i64::try_from(stat.st_mtime_nsec).unwrap_or_default());
    Some(Seen { path, len, modified_ns })
}

fn is_left_out(name: &std::ffi::OsStr) -> bool {
    name.as_bytes().starts_with(b".") || LEFT_OUT.iter().any(|one| name == *one)
}
