//! The log of a run: both streams as they come, in a file that may be kept short by rotation, and where asked for with the
//! time and the stream in front of every line.
//!
//! Theory of operation: what is not a regular file (a device) is written to and never rotated. When the next piece would
//! make the file longer than its limit, it becomes `FILE.1`, the one before `FILE.2`, and so on; where that can be waited
//! for, at the end of a line. The log is given up at the first error of writing; a rotation that fails is tried again when
//! the file has grown by its limit once more.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FileType, Mode, OFlags};
use selfheal_core::ports::LogOrder;

/// One of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// The log of a run.
pub(crate) struct Log {
    open: Option<Open>,
}

struct Open {
    file: File,
    order: LogOrder,
    /// Its length, where it can be rotated.
    length: Option<u64>,
    /// When it is rotated next.
    limit: u64,
    at_line_start: bool,
    stamper: Option<Stamper>,
}

impl Log {
    /// No log.
    pub(crate) fn none() -> Self {
        Self { open: None }
    }

    /// The log that was ordered. It is opened without ever waiting.
    pub(crate) fn open(order: &LogOrder) -> io::Result<Self> {
        let (file, length) = open(&order.path)?;
        let limit = if order.size == 0 { u64::MAX } else { order.size };
        let stamper = order.stamps.then(Stamper::default);
        Ok(Self {
            open: Some(Open { file, order: order.clone(), length, limit, at_line_start: true, stamper }),
        })
    }

    /// Appends what a stream brought; the reason when the log has to be given up.
    pub(crate) fn append(&mut self, side: Side, bytes: &[u8]) -> Option<io::Error> {
        let open = self.open.as_mut()?;
        let stamped = open.stamper.as_mut().map(|stamper| stamper.stamp(side, bytes, SystemTime::now()));
        let error = open.write(stamped.as_deref().unwrap_or(bytes)).err()?;
        self.open = None;
        Some(error)
    }
}

/// Opens a log to append to it; its length when it is a regular file.
fn open(path: &Path) -> io::Result<(File, Option<u64>)> {
    let flags = OFlags::WRONLY
        | OFlags::CREATE
        | OFlags::APPEND
        | OFlags::CLOEXEC
        | OFlags::NONBLOCK
        | OFlags::NOCTTY;
    let fd = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?;
    let facts = rustix::fs::fstat(&fd)?;
    match FileType::from_raw_mode(facts.st_mode) {
        FileType::RegularFile => Ok((File::from(fd), u64::try_from(facts.st_size).ok())),
        // A device takes what is written to it at once, or says that it does not.
        FileType::CharacterDevice => Ok((File::from(fd), None)),
        _ => Err(rustix::io::Errno::INVAL.into()),
    }
}

impl Open {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(length) = self.length else { return self.file.write_all(bytes) };
        let after = length.saturating_add(bytes.len() as u64);
        let far_beyond = length > self.limit.saturating_mul(2);
        let length = match length > 0 && after > self.limit && (self.at_line_start || far_beyond) {
            true => self.rotate(length),
            false => length,
        };
        self.file.write_all(bytes)?;
        self.at_line_start = bytes.last().is_none_or(|last| *last == b'\n');
        self.length = Some(length.saturating_add(bytes.len() as u64));
        Ok(())
    }

    /// Begins a new file; its length, or that of the old one where that is not possible.
    fn rotate(&mut self, length: u64) -> u64 {
        let path = &self.order.path;
        for number in (1..self.order.keep.max(1)).rev() {
            // One that is not there yet.
            let _ = fs::rename(numbered(path, number), numbered(path, number + 1));
        }
        let opened = fs::rename(path, numbered(path, 1)).and_then(|()| open(path));
        match opened {
            Ok((file, Some(length))) => {
                self.file = file;
                self.limit = self.order.size;
                length
            }
            _ => {
                self.limit = length.saturating_add(self.order.size);
                length
            }
        }
    }
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// Puts time and stream in front of lines. A line that the other stream interrupts is ended there, and goes on with `+`.
#[derive(Default)]
struct Stamper {
    /// Whether standard output, standard error are in the midst of a line.
    midst: [bool; 2],
    /// Whose line is the last in the log, while it has no end.
    unended: Option<Side>,
}

impl Stamper {
    fn stamp(&mut self, side: Side, bytes: &[u8], now: SystemTime) -> Vec<u8> {
        let stamp = time(now);
        let [out, err] = &mut self.midst;
        let (word, midst) = match side {
            Side::Out => ("out", out),
            Side::Err => ("err", err),
        };
        let mut text = Vec::with_capacity(bytes.len() + bytes.len() / 2);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.unended.is_some_and(|other| other != side) {
                text.push(b'\n');
                self.unended = None;
            }
            if self.unended.is_none() {
                let mark = if *midst { '+' } else { '|' };
                text.extend_from_slice(format!("{stamp} {word}{mark} ").as_bytes());
            }
            text.extend_from_slice(line);
            *midst = !line.ends_with(b"\n");
            self.unended = midst.then_some(side);
        }
        text
    }
}

/// A moment in UTC: `2026-11-30T13:22:08.123Z`.
fn time(now: SystemTime) -> String {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let ms = since.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// The date of a day since 1970-01-01, by the calendar's cycle of 400 years that begin in March (Howard Hinnant,
/// `civil_from_days`).
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day - (153 * from_march + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn moments_are_written_as_dates() {
        let at = |seconds, ms| time(UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_millis(ms));
        assert_eq!(at(0, 0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_399, 7), "2000-02-28T23:59:59.007Z");
        assert_eq!(at(951_782_400, 0), "2000-02-29T00:00:00.000Z");
        assert_eq!(at(1_798_761_599, 999), "2026-12-31T23:59:59.999Z");
    }

    #[test]
    fn lines_are_stamped_once_and_an_interrupted_one_goes_on() {
        let mut stamper = Stamper::default();
        let mut text = Vec::new();
        let parts: [(Side, &[u8]); 5] = [
            (Side::Out, b"one\ntw"),
            (Side::Out, b"o"),
            (Side::Err, b"oops\n"),
            (Side::Out, b" more\n"),
            (Side::Err, b"end"),
        ];
        for (side, part) in parts {
            text.extend(stamper.stamp(side, part, UNIX_EPOCH));
        }
        let text = String::from_utf8(text).unwrap().replace("1970-01-01T00:00:00.000Z ", "");
        assert_eq!(text, "out| one\nout| two\nerr| oops\nout+  more\nerr| end");
    }

    #[test]
    fn a_log_is_rotated_at_line_ends_and_so_many_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::open(&LogOrder { path: path.clone(), stamps: false, size: 10, keep: 2 }).unwrap();
        for part in ["1 one\n", "2 t", "wo, long\n", "3 three\n", "4 four\n", "5 five\n"] {
            assert!(log.append(Side::Out, part.as_bytes()).is_none());
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).ok();
        assert_eq!(read("log").as_deref(), Some("5 five\n"));
        assert_eq!(read("log.1").as_deref(), Some("4 four\n"));
        assert_eq!(read("log.2").as_deref(), Some("3 three\n"));
        assert_eq!(read("log.3"), None);
    }

    #[test]
    fn a_log_without_a_limit_or_in_a_device_is_not_rotated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        for (path, size) in [(path.clone(), 0), (PathBuf::from("/dev/null"), 1)] {
            let mut log = Log::open(&LogOrder { path, stamps: false, size, keep: 2 }).unwrap();
            for _ in 0..3 {
                assert!(log.append(Side::Err, b"line\n").is_none());
            }
        }
        assert_eq!(fs::read_to_string(path).unwrap(), "line\nline\nline\n");
        assert!(!Path::new("/dev/null.1").exists());
    }
}
