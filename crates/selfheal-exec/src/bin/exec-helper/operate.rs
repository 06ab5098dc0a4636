//! Random changes of a file tree, for the comparison of a box with a plain folder: `operate SEED FROM TO SOCKETS` makes
//! the sequences FROM to TO, with sockets when that is 1, each in the folder of its number below the current one. What a sequence does depends on its
//! number alone, never on what it finds, so that two trees that are alike stay so. What the system refuses is passed
//! over.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FallocateFlags, FileType, Mode, RenameFlags, Timespec, Timestamps, XattrFlags};
use rustix::thread::CapabilitySet;

/// A small generator of pseudo-random numbers (splitmix64): the same seed gives the same numbers for ever.
struct Chance {
    state: u64,
    /// Whether sockets are made.
    sockets: bool,
}

impl Chance {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        let at = usize::try_from(self.below(all.len() as u64)).ok()?;
        all.get(at).copied()
    }

    fn path(&mut self, below: &Path) -> PathBuf {
        let mut path = below.to_path_buf();
        for name in self.one_of(PLACES).unwrap_or(&[]) {
            path.push(name);
        }
        path
    }
}

/// Where things happen: names that are there at the beginning and names that are not, deep and odd ones.
const PLACES: &[&[&str]] = &[
    &["file"],
    &["long"],
    &["folder"],
    &["folder", "a"],
    &["folder", "inner"],
    &["folder", "inner", "b"],
    &["empty"],
    &["link"],
    &["fifo"],
    &["new"],
    &["new", "x"],
    &["-rf\n\u{fc} '\\"],
    &["folder", "new"],
    &["empty", "file"],
];

const MODES: &[u32] = &[0o600, 0o644, 0o700, 0o755, 0o555, 0o4755, 0o2755, 0o1777, 0o640];

/// Runs the sequences.
pub(crate) fn main(seed: u64, numbers: Range<u64>, sockets: bool) -> io::Result<()> {
    // Root outside keeps set-user-id bits when he writes, and root of a box cannot.
    let mut rights = rustix::thread::capabilities(None)?;
    rights.effective.remove(CapabilitySet::FSETID);
    rustix::thread::set_capabilities(None, rights)?;
    for number in numbers {
        let begin = seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d);
        let mut chance = Chance { state: begin, sockets };
        let below = PathBuf::from(number.to_string());
        for _ in 0..=chance.below(14) {
            // What cannot be done here cannot be done in the other tree either.
            let _ = operate(&mut chance, &below);
        }
    }
    Ok(())
}

fn operate(chance: &mut Chance, below: &Path) -> io::Result<()> {
    let (path, other) = (chance.path(below), chance.path(below));
    match chance.below(10) {
        0..=3 => contents(chance, &path),
        4 | 5 => names(chance, &path, &other),
        6 | 7 => removal(chance, &path, &other),
        _ => attributes(chance, &path),
    }
}

/// Opens a file that may be a FIFO by now.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.custom_flags(libc::O_NONBLOCK).open(path)
}

fn contents(chance: &mut Chance, path: &Path) -> io::Result<()> {
    let bytes = vec![b'x'; usize::try_from(chance.below(3000)).unwrap_or(0)];
    match chance.below(10) {
        0 | 1 => open(path, OpenOptions::new().write(true).create(true).truncate(true))?.write_all(&bytes),
        2 | 3 => open(path, OpenOptions::new().append(true).create(true))?.write_all(&bytes),
        4 => {
            let mut file = open(path, OpenOptions::new().write(true))?;
            file.seek(SeekFrom::Start(chance.below(200)))?;
            file.write_all(b"in the middle")
        }
        5 => open(path, OpenOptions::new().write(true))?.set_len(chance.below(4000)),
        6 => sparse(path),
        7 => open(path, OpenOptions::new().read(true).write(true)).map(drop),
        8 => same_again(path),
        _ => fs::create_dir(path),
    }
}

/// A large hole, a block, and another hole in it.
fn sparse(path: &Path) -> io::Result<()> {
    let mut file = open(path, OpenOptions::new().write(true).create(true))?;
    file.seek(SeekFrom::Start(64 << 10))?;
    file.write_all(&[b'y'; 9000])?;
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(rustix::fs::fallocate(&file, hole, 64 << 10, 4096)?)
}

/// Written anew with what it held.
fn same_again(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(());
    }
    let content = fs::read(path)?;
    fs::write(path, content)
}

fn names(chance: &mut Chance, path: &Path, other: &Path) -> io::Result<()> {
    match chance.below(8) {
        0 | 1 => move_to(path, other),
        2 => fs::hard_link(path, other),
        3 => symlink(chance.one_of(&["file", "folder", "new"]).unwrap_or("x"), path),
        4 => Ok(rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o640), 0)?),
        5 if chance.sockets => UnixListener::bind(path).map(drop),
        6 if !is_folder(path) && !is_folder(other) => {
            Ok(rustix::fs::renameat_with(CWD, path, CWD, other, RenameFlags::EXCHANGE)?)
        }
        7 => {
            move_to(path, other)?;
            move_to(other, path)
        }
        _ => Ok(()),
    }
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir())
}

/// Moves as `mv` does where the system cannot rename a folder, and in every world alike.
fn move_to(path: &Path, other: &Path) -> io::Result<()> {
    if !is_folder(path) {
        return fs::rename(path, other);
    }
    // Not into itself, also not by way of a link.
    let inside = fs::canonicalize(other.parent().unwrap_or(other))?.starts_with(fs::canonicalize(path)?);
    if inside || fs::symlink_metadata(other).is_ok() {
        return Ok(());
    }
    copy_folder(path, other)?;
    remove_tree(path)
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    let mut entries = fs::read_dir(from)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let to = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), to)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, to)?;
        }
    }
    Ok(())
}

/// In the order of names, which is the same in every file system: it may have to stop half-way.
fn remove_tree(folder: &Path) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_dir(folder)
}

fn removal(chance: &mut Chance, path: &Path, other: &Path) -> io::Result<()> {
    match chance.below(6) {
        0 | 1 => fs::remove_file(path),
        2 => fs::remove_dir(path),
        3 => remove_tree(path),
        4 => {
            // A folder that takes the place of another at once.
            fs::create_dir(other)?;
            fs::write(other.join("a"), b"put in place")?;
            if is_folder(path) {
                remove_tree(path)?;
            }
            fs::rename(other, path)
        }
        _ => {
            remove_tree(path)?;
            fs::write(path, b"a file by now")
        }
    }
}

fn attributes(chance: &mut Chance, path: &Path) -> io::Result<()> {
    let name =
        chance.one_of(&["user.one", "user.overlay.opaque", "user.overlay.whiteout"]).unwrap_or("user.x");
    match chance.below(8) {
        0 | 1 if !path.is_symlink() => {
            // The judge must be able to look into every folder.
            let visible = if path.is_dir() { 0o500 } else { 0o400 };
            let mode = chance.one_of(MODES).unwrap_or(0o644) | visible;
            fs::set_permissions(path, Permissions::from_mode(mode))
        }
        2 | 3 => {
            let seconds = chance.one_of(&[BEGINNING, BEGINNING + 5]).unwrap_or(BEGINNING);
            let moment = Timespec { tv_sec: seconds, tv_nsec: 0 };
            let times = Timestamps { last_access: moment, last_modification: moment };
            Ok(rustix::fs::utimensat(CWD, path, &times, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?)
        }
        4 => Ok(rustix::fs::lsetxattr(path, name, b"y", XattrFlags::empty())?),
        5 => Ok(rustix::fs::lremovexattr(path, "user.old")?),
        6 => lchown(path, Some(4321), None),
        _ => lchown(path, None, Some(1234)),
    }
}

/// The time of change of everything at the beginning, in seconds since 1970.
const BEGINNING: i64 = 1_000_000_000;
