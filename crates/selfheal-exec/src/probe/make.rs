//! The probe for GNU make: its recipes run in a shell that says which command it ran and how that ended. make itself says
//! at which line of which file it stopped. Pure.

use std::path::{Path, PathBuf};

use selfheal_core::scene::absolute;
use selfheal_core::trace::{Frame, Step};

use super::bash::Ending;
use super::records::Record;
use super::{Findings, shortened, words};

/// So many commands are kept.
const MOST: usize = 10_000;

/// The shell, for one run.
pub(crate) fn shell(token: &str) -> String {
    include_str!("make-shell").replace("@FD@", &crate::boxes::TRACE_FD.to_string()).replace("@TOKEN@", token)
}

/// Reads the records of make's recipes.
#[derive(Default)]
pub(crate) struct Reader {
    /// Folder of each command, and the command.
    seen: Vec<(PathBuf, Step)>,
}

impl Reader {
    /// Takes one record. Fields: status, folder, command.
    pub(crate) fn take(&mut self, record: &Record<'_>) {
        if record.kind != "MS" || self.seen.len() >= MOST {
            return;
        }
        let status = record.number(0).and_then(|status| i32::try_from(status).ok());
        let words = words::split(record.text(2)).iter().map(|word| shortened(word)).collect();
        self.seen.push((record.text(1).into(), Step { file: PathBuf::new(), line: 0, words, status }));
    }

    /// Whether no recipe ran.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Sums up. The last command that failed is it, if make stopped at one.
    pub(crate) fn finish(mut self, ending: &Ending<'_>) -> Findings {
        let mut findings = Findings::default();
        let failed = self.seen.iter().rposition(|(_, step)| step.status.is_some_and(|status| status != 0));
        let place = stopped_at(ending.stderr);
        if let (Some(at), Some((file, line)), true) = (failed, place, ending.code != 0)
            && let Some((folder, step)) = self.seen.get_mut(at)
        {
            step.file = absolute(folder, Path::new(file));
            step.line = line;
            findings.failing = Some(at);
            findings.frames = vec![Frame {
                file: step.file.clone(),
                line,
                function: "main".to_owned(),
                source: step.words.join(" "),
                ..Frame::default()
            }];
        }
        findings.steps = self.seen.into_iter().map(|(_, step)| step).collect();
        findings
    }
}

/// Where the innermost make stopped: the file and line of the first `*** [FILE:LINE: TARGET] Error N`.
fn stopped_at(stderr: &str) -> Option<(&str, u32)> {
    stderr.lines().filter_map(|line| line.split_once("*** [")).find_map(|(_, rest)| {
        let (file, rest) = rest.split_once(':')?;
        Some((file, rest.split_once(':')?.0.trim().parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::records::records;

    #[test]
    fn the_command_that_failed_has_the_line_that_make_names() {
        let text = "\u{1e}T\u{1f}MS\u{1f}0\u{1f}/w\u{1f}echo a\n\u{1e}T\u{1f}MS\u{1f}1\u{1f}/w/sub\u{1f}cp 'a b' c\n";
        let mut reader = Reader::default();
        records(text, "T").for_each(|record| reader.take(&record));
        let stderr = "make[1]: *** [part.mk:7: all] Error 1\nmake: *** [Makefile:2: all] Error 2\n";
        let found = reader.finish(&Ending { code: 2, stderr });
        let step = &found.steps[found.failing.unwrap()];
        assert_eq!((step.file.as_path(), step.line), (Path::new("/w/sub/part.mk"), 7));
        assert_eq!(step.words, ["cp", "a b", "c"]);
    }
}
