//! The changes that are made in a box before its job starts.
//!
//! They are made by a child whose root is the box's tree, so that links lead where they lead for the job.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{chdir, chroot};
use selfheal_core::scene::absolute;

use super::overlay::{Step, named};
use super::wire::Edit;
use crate::unix::{Forked, exit_now, fork_into, wait_with_usage};

/// Makes changes in a tree. The error names the change.
pub(crate) fn make(root: &Path, cwd: &Path, edits: &[Edit]) -> Step<()> {
    let (reader, writer) = named(pipe_with(PipeFlags::CLOEXEC), "make a pipe")?;
    match named(fork_into(0), "start the setup")? {
        Forked::Child => {
            drop(reader);
            if let Err(reason) = make_inside(root, cwd, edits) {
                // An empty message would read as success, and there is none.
                let _ = fs::File::from(writer).write_all(reason.as_bytes());
                exit_now(1);
            }
            exit_now(0)
        }
        Forked::Parent(pid) => {
            drop(writer);
            let mut reason = String::new();
            named(fs::File::from(reader).read_to_string(&mut reason), "hear from the setup")?;
            let (status, _) = named(wait_with_usage(pid), "wait for the setup")?;
            match (reason.is_empty(), status) {
                (true, 0) => Ok(()),
                (true, _) => Err("make the setup: it ended early".to_owned()),
                (false, _) => Err(reason),
            }
        }
    }
}

fn make_inside(root: &Path, cwd: &Path, edits: &[Edit]) -> Step<()> {
    named(chroot(root), "enter the tree for the setup")?;
    named(chdir("/"), "enter the tree for the setup")?;
    edits.iter().try_for_each(|edit| one(cwd, edit))
}

fn one(cwd: &Path, edit: &Edit) -> Step<()> {
    let (path, done) = match edit {
        Edit::Write(path, content, mode) => (path, write(&absolute(cwd, path.path()), &content.0, *mode)),
        Edit::MakeFolder(path) => (path, fs::create_dir_all(absolute(cwd, path.path()))),
        Edit::Remove(path) => (path, remove(&absolute(cwd, path.path()))),
        Edit::Empty(path) => (path, empty(&absolute(cwd, path.path()))),
        Edit::Mode(path, bits) => {
            (path, fs::set_permissions(absolute(cwd, path.path()), Permissions::from_mode(*bits)))
        }
    };
    named(done, format_args!("set up {}", path.path().display()))
}

fn write(path: &Path, content: &[u8], mode: Option<u32>) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    // A FIFO or device in the place must not block.
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    file.write_all(content)?;
    match mode {
        Some(bits) => file.set_permissions(Permissions::from_mode(bits)),
        None => Ok(()),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(facts) if facts.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    }
}

fn empty(folder: &Path) -> io::Result<()> {
    fs::read_dir(folder)?.try_for_each(|entry| remove(&entry?.path()))
}
