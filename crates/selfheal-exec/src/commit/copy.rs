//! Copies of single things and of whole folders: content with its holes, links, fifos, and everything about them.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};

use rustix::fs::{FileType, Mode, OFlags, SeekFrom, ftruncate, mkdirat, mknodat, seek, symlinkat};
use rustix::io::Errno;

use super::at::At;
use super::meta::Meta;

/// Folders are copied this deep.
const DEEPEST: usize = 256;

/// Copies content, leaving the holes out; the target is empty before.
pub(crate) fn content(from: &File, to: &File) -> io::Result<()> {
    let len = from.metadata()?.len();
    ftruncate(to, len)?;
    let mut buffer = vec![0_u8; usize::try_from(len.clamp(1, 1 << 18)).unwrap_or(1 << 18)];
    let mut at = 0;
    while at < len {
        let (start, end) = data_from(from, at, len)?;
        copy_range(from, to, (start, end), &mut buffer)?;
        at = end.max(at + 1);
    }
    Ok(())
}

/// The next stretch of data from a place on. File systems that do not know holes have one stretch.
fn data_from(from: &File, at: u64, len: u64) -> io::Result<(u64, u64)> {
    let start = match seek(from, SeekFrom::Data(at)) {
        Err(Errno::NXIO) => return Ok((len, len)),
        Err(Errno::INVAL | Errno::NOTSUP) => return Ok((at, len)),
        other => other?,
    };
    let end = seek(from, SeekFrom::Hole(start)).unwrap_or(len);
    Ok((start, end.min(len)))
}

fn copy_range(from: &File, to: &File, range: (u64, u64), buffer: &mut [u8]) -> io::Result<()> {
    let (mut at, end) = range;
    while at < end {
        let most = usize::try_from(end - at).unwrap_or(usize::MAX).min(buffer.len());
        let Some(part) = buffer.get_mut(..most) else { break };
        match from.read_at(part, at) {
            // It became shorter meanwhile, which the caller's comparison of facts shows.
            Ok(0) => break,
            Ok(count) => {
                to.write_all_at(part.get(..count).unwrap_or_default(), at)?;
                at += count as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Makes a thing like another one under a name that is free: of a folder only the folder itself. `meta` is what it gets.
pub(crate) fn shape(from: &At, to: &At, meta: &Meta) -> io::Result<()> {
    let facts = fs::symlink_metadata(from.path())?;
    let kind = FileType::from_raw_mode(facts.mode());
    let private = Mode::from_raw_mode(0o600);
    match kind {
        FileType::RegularFile => {
            let target = to.open(OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
            content(&from.open(OFlags::RDONLY)?, &target)?;
        }
        FileType::Directory => mkdirat(to.dir(), to.name(), Mode::from_raw_mode(0o700))?,
        FileType::Symlink => {
            let leads = fs::read_link(from.path())?;
            symlinkat(leads.as_os_str().as_bytes(), to.dir(), to.name())?;
        }
        _ => mknodat(to.dir(), to.name(), kind, private, facts.rdev())?,
    }
    meta.write(to.stand()?, true)
}

/// Copies a thing under a name that is free, folders with all that is in them.
pub(crate) fn whole(from: &At, to: &At) -> io::Result<()> {
    deeper(from, to, 0)
}

fn deeper(from: &At, to: &At, depth: usize) -> io::Result<()> {
    if depth > DEEPEST {
        return Err(io::Error::new(ErrorKind::InvalidInput, "folders are nested too deep"));
    }
    let meta = Meta::read(from.stand()?)?;
    let folder = from.facts()?.is_some_and(|facts| facts.is_folder());
    let open = Meta { bits: meta.bits | 0o700, ..meta.clone() };
    shape(from, to, if folder { &open } else { &meta })?;
    if !folder {
        return Ok(());
    }
    let (source, target) = (from.inside()?, to.inside()?);
    for entry in fs::read_dir(from.path())? {
        let name = entry?.file_name();
        deeper(&At::new(source.clone(), &name), &At::new(target.clone(), &name), depth + 1)?;
    }
    meta.write(to.stand()?, true)
}

/// Whether two regular files hold the same.
pub(crate) fn same(one: &At, other: &At) -> io::Result<bool> {
    let (one, other) = (one.open(OFlags::RDONLY)?, other.open(OFlags::RDONLY)?);
    let len = one.metadata()?.len();
    if len != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0_u8; 1 << 16], vec![0_u8; 1 << 16]);
    let mut at = 0;
    while at < len {
        let most = usize::try_from(len - at).unwrap_or(usize::MAX).min(1 << 16);
        let (Some(left), Some(right)) = (left.get_mut(..most), right.get_mut(..most)) else { break };
        let read = one.read_exact_at(left, at).and_then(|()| other.read_exact_at(right, at));
        if read.is_err() || left != right {
            return Ok(false);
        }
        at += most as u64;
    }
    Ok(true)
}
