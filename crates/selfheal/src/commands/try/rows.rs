//! What was done to files, as rows to be shown.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use selfheal_core::effects::{Change, Effect};
use selfheal_exec::commit::{Draft, Remark};

use super::pattern::fits;
use crate::context::Context;
use crate::drafts;

/// The longest text that is compared line by line, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// One thing that was done.
pub(super) struct Row {
    /// Its number in the draft.
    pub number: usize,
    pub path: PathBuf,
    pub change: Change,
    /// The sizes in bytes; absent where there is no such file.
    pub before: Option<u64>,
    pub after: Option<u64>,
    pub remark: Option<Remark>,
    /// The change as `diff -u` shows it, for text, where it was asked for.
    pub diff: Option<String>,
}

/// All of it, sorted by path.
pub(super) struct Rows {
    pub rows: Vec<Row>,
    pub cwd: PathBuf,
    /// How many there are that were not asked for.
    pub left_out: usize,
}

impl Rows {
    /// Of a run that kept nothing.
    pub(super) fn of_effects(context: &Context, effects: &[Effect]) -> Self {
        let row = |(number, effect): (usize, &Effect)| Row {
            number,
            path: effect.path.clone(),
            change: effect.change,
            before: size_of(&effect.path).filter(|_| !is_new(effect.change)),
            after: (effect.change != Change::Deleted).then_some(effect.len),
            remark: None,
            diff: None,
        };
        let rows = effects.iter().enumerate().map(row).collect();
        Self { rows, cwd: context.cwd.clone(), left_out: 0 }
    }

    /// Of what was kept.
    pub(super) fn of_draft(context: &Context, draft: &Draft) -> Self {
        let rows = draft.entries.iter().enumerate().map(|(number, entry)| Row {
            number,
            path: entry.path.clone(),
            change: entry.change,
            before: entry.len_before().filter(|_| !is_new(entry.change)),
            after: (entry.change != Change::Deleted).then_some(entry.len),
            remark: entry.remark,
            diff: None,
        });
        Self { rows: rows.collect(), cwd: context.cwd.clone(), left_out: 0 }
    }

    /// Only those whose path fits one of these patterns; all, when there is none.
    pub(super) fn only(mut self, patterns: &[String]) -> Self {
        if !patterns.is_empty() {
            let all = self.rows.len();
            let cwd = self.cwd.clone();
            self.rows.retain(|row| patterns.iter().any(|pattern| fits(pattern, &cwd, &row.path)));
            self.left_out = all - self.rows.len();
        }
        self
    }

    /// Compares texts before and after.
    pub(super) fn compare(&mut self, context: &Context, draft: &Draft) {
        let all = drafts::all(context);
        for row in &mut self.rows {
            let made = !matches!(row.change, Change::Deleted | Change::CreatedFolder | Change::Attributes);
            if !made && row.change != Change::Deleted {
                continue;
            }
            let old = if is_new(row.change) { Some(String::new()) } else { text_at(&row.path) };
            let new = match made {
                true => all.open_new(draft, row.number).ok().and_then(text_of),
                false => Some(String::new()),
            };
            if let (Some(old), Some(new)) = (old, new) {
                let name = super::near(&self.cwd, &row.path);
                row.diff =
                    Some(selfheal_syntax::diff::unified(&name, &old, &new)).filter(|diff| !diff.is_empty());
            }
        }
    }
}

fn is_new(change: Change) -> bool {
    matches!(change, Change::Created | Change::CreatedFolder)
}

fn size_of(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).map(|facts| facts.len())
}

/// The text in a file of the machine. A link is not followed, and a fifo not waited for.
fn text_at(path: &Path) -> Option<String> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).ok()?;
    text_of(File::options().read(true).custom_flags(flags).open(path).ok()?)
}

fn text_of(file: File) -> Option<String> {
    let facts = file.metadata().ok()?;
    if !facts.is_file() || facts.len() > LONGEST {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}
