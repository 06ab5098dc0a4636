//! Whether standard input holds data that a run would consume.

use std::io::IsTerminal;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, SeekFrom, Timespec, fstat, seek};

use crate::unix;

/// Whether a job that reads standard input could find data there that a second run would not find again. Asked before
/// the job starts. Terminals, `/dev/null`, a file at its end and a pipe whose writer is gone hold none; a pipe that is
/// still open counts as holding some, because nobody knows what is yet to come.
#[must_use]
pub fn input_holds_data() -> bool {
    if std::io::stdin().is_terminal() {
        return false;
    }
    let input = unix::standard(0);
    let Ok(facts) = fstat(input) else { return false };
    match FileType::from_raw_mode(facts.st_mode) {
        FileType::RegularFile => {
            seek(input, SeekFrom::Current(0)).is_ok_and(|at| (at as i64) < facts.st_size)
        }
        FileType::Fifo | FileType::Socket => {
            let mut polled = [PollFd::from_borrowed_fd(input, PollFlags::IN)];
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            if poll(&mut polled, Some(&now)).is_err() {
                return true;
            }
            let seen = polled.first().map(PollFd::revents).unwrap_or(PollFlags::IN);
            !seen.contains(PollFlags::HUP) || seen.contains(PollFlags::IN)
        }
        _ => false,
    }
}
