//! Remembering a repair that worked: its hunks as search and replace, so that the same failure of the same script is
//! mended without thinking again. It goes through admission and proof like any other.

use selfheal_core::incident::Status;
use selfheal_core::ports::{Clock, Memory, Remembered};
use selfheal_core::proposal::{FileChange, Source};
use selfheal_syntax::diff;

use super::Healer;
use crate::cli::Part;

/// Lines around a hunk that are tried to make it stand out.
const MOST_AROUND: u32 = 6;

impl Healer<'_> {
    /// Remembers the repair that is in place and ran well, or counts a win for the entry that it came from. What cannot
    /// be remembered is no reason to fail.
    pub(super) fn remember(&self) {
        let (Some(kept), Some(report)) = (&self.chosen, &self.report) else { return };
        if self.leaves_out(Part::Memory)
            || self.incident.status != Status::Healed
            || self.incident.exit_code != 0
        {
            return;
        }
        if let Source::Memory { entry } = &kept.candidate.proposal.source {
            self.note(self.tools.store.count(entry, true));
            return;
        }
        let Some(script) = &self.job.script else { return };
        // Only what changed the script alone fits the form of a memory.
        let [change] = kept.candidate.proposal.changes.as_slice() else { return };
        if change.path != *script {
            return;
        }
        let Some(edits) = edits(change) else { return };
        // Memory is kept as it is: what holds a secret does not go in.
        let secret = |text: &String| self.tools.redactor.text(text).as_str() != text;
        if edits.iter().any(|(old, new)| secret(old) || secret(new)) {
            return;
        }
        self.note(self.tools.store.remember(&Remembered {
            entry: self.tools.context.clock.fresh_id(),
            signature: report.signature.clone(),
            script: script.clone(),
            edits,
            summary: self.tools.redactor.text(&kept.candidate.diagnosis.strategy).to_string(),
            wins: 1,
            losses: 0,
        }));
    }

    fn note(&self, done: Result<(), selfheal_core::ports::PortError>) {
        if let Err(error) = done {
            tracing::warn!(%error, "a repair could not be remembered");
        }
    }
}

/// The hunks of a change, each with as many lines around it as make its old text stand exactly once; `None` where these
/// edits do not give the change again.
fn edits(change: &FileChange) -> Option<Vec<(String, String)>> {
    let before = String::from_utf8(change.before.clone()?).ok()?;
    let after = String::from_utf8(change.after.clone()?).ok()?;
    let edits = diff::hunks(&before, &after)
        .iter()
        .map(|hunk| {
            (0..MOST_AROUND)
                .map(|around| widened(&before, &after, hunk, around))
                .find(|(old, _)| !old.is_empty() && before.matches(old.as_str()).count() == 1)
        })
        .collect::<Option<Vec<_>>>()?;
    let again = edits.iter().fold(before, |text, (old, new)| text.replacen(old, new, 1));
    (again == after && !edits.is_empty()).then_some(edits)
}

/// A hunk with lines around it, in the old and in the new text.
fn widened(before: &str, after: &str, hunk: &diff::Hunk, around: u32) -> (String, String) {
    let take = |text: &str, lines: &std::ops::Range<u32>| {
        let from = lines.start.saturating_sub(around).max(1);
        let count = (lines.end + around).saturating_sub(from);
        text.split_inclusive('\n').skip(from as usize - 1).take(count as usize).collect::<String>()
    };
    (take(before, &hunk.old), take(after, &hunk.new))
}
