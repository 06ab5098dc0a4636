//! Hides secrets in a box's tree: folders become empty, files empty and unreadable. What the caller asked to see in a
//! hidden folder stays visible through a window in it.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, mkdirat, openat};

use super::overlay::{Step, attach_over, bind_over, blank_over, cloned_from, fresh_folder, named, seal};
use super::tree::{open_root, resolve, resolve_below};

/// Hides paths, but for what of `seen` lies in them; gives those that were there.
pub(crate) fn hide(root: &Path, store: &Path, paths: &[PathBuf], seen: &[PathBuf]) -> Step<Vec<PathBuf>> {
    let blank_file = store.join("blank");
    named(fs::write(&blank_file, b""), "make an empty file")?;
    named(fs::set_permissions(&blank_file, fs::Permissions::from_mode(0o000)), "make an empty file")?;
    let top = named(open_root(root), "open the tree")?;
    let mut hidden = Vec::new();
    for path in paths {
        // Links are followed inside the tree, so that what they lead to is hidden too.
        let Ok(place) = resolve_below(&top, path, OFlags::PATH) else { continue };
        let windows = windows(root, path, seen);
        let covered = if !is_folder(&place) {
            bind_over(&blank_file, &place)
        } else if windows.is_empty() {
            blank_over(&place)
        } else {
            cover_but_for(&place, &windows)
        };
        named(covered, format_args!("hide {}", path.display()))?;
        hidden.push(path.clone());
    }
    Ok(hidden)
}

fn is_folder(place: impl AsFd) -> bool {
    rustix::fs::fstat(place).is_ok_and(|facts| FileType::from_raw_mode(facts.st_mode).is_dir())
}

/// Something that stays visible: its path below the hidden folder, and a mount of it.
struct Window {
    below: PathBuf,
    mount: OwnedFd,
}

fn windows(root: &Path, hidden: &Path, seen: &[PathBuf]) -> Vec<Window> {
    let below =
        seen.iter().filter_map(|path| path.strip_prefix(hidden).ok().filter(|rest| *rest != Path::new("")));
    below
        .filter_map(|rest| {
            let place = resolve(root, &hidden.join(rest), OFlags::PATH).ok()?;
            Some(Window { below: rest.to_path_buf(), mount: cloned_from(&place).ok()? })
        })
        .collect()
}

/// An empty folder over another, with windows in it.
fn cover_but_for(place: &OwnedFd, windows: &[Window]) -> io::Result<()> {
    let cover = fresh_folder()?;
    for window in windows {
        let frame = make_frame(&cover, window)?;
        attach_over(&window.mount, &frame)?;
    }
    seal(&cover)?;
    Ok(attach_over(&cover, place)?)
}

/// The empty file or folder that a window is mounted on, with the folders on the way to it.
fn make_frame(cover: &OwnedFd, window: &Window) -> io::Result<OwnedFd> {
    let mut folder = openat(cover, ".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut names: Vec<_> = window.below.components().collect();
    let last = names.pop().ok_or(io::ErrorKind::InvalidInput)?;
    for name in names {
        match mkdirat(&folder, name.as_os_str(), Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let way = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        folder = openat(&folder, name.as_os_str(), way, Mode::empty())?;
    }
    if is_folder(&window.mount) {
        mkdirat(&folder, last.as_os_str(), Mode::from_raw_mode(0o755))?;
    } else {
        let new = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        openat(&folder, last.as_os_str(), new, Mode::from_raw_mode(0o600))?;
    }
    Ok(openat(&folder, last.as_os_str(), OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)
}
