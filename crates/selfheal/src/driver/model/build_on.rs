//! Building on a model's repair that helped: where the step that failed passes with it and the job fails at something new, the
//! next question is about the repaired script and its new failure, as if the job had been so from the start. What comes of it is
//! one repair of the original.

use selfheal_core::proposal::Source;
use selfheal_core::report::Report;
use selfheal_repair::Candidate;
use selfheal_syntax::diff::changed_line_numbers;

use super::material::Material;
use crate::driver::Healer;

/// A script that is half repaired, and what it fails at.
pub(super) struct Base {
    text: String,
    pub(super) report: Report,
    why: String,
}

impl Base {
    /// Puts the half repaired script and its failure into a question.
    pub(super) fn take_the_place(self, material: &mut Material) {
        if let Some(script) = &mut material.script {
            script.text = self.text;
        }
        // The round that led here is part of the script now.
        material.history.pop();
        material.stdout.clear();
        material.stderr = self.why;
    }
}

impl Healer<'_> {
    /// The last repair of a model, if the job got further with it.
    pub(super) fn base(&self) -> Option<Base> {
        let last = self.chosen.as_ref()?;
        let report = last.left_report.as_deref()?;
        let (script, original) = (self.job.script.as_ref()?, self.report.as_ref()?);
        let proposal = &last.candidate.proposal;
        let by_model = matches!(proposal.source, Source::Model { .. });
        let refused = last.admission.as_ref().is_none_or(|judged| judged.refused);
        let [change] = proposal.changes.as_slice() else { return None };
        if !by_model || refused || change.path != *script {
            return None;
        }
        let text = String::from_utf8(change.after.clone()?).ok()?;
        let before = String::from_utf8_lossy(change.before.as_deref()?).into_owned();
        let line_of = |report: &Report| report.location.as_ref().map(|place| place.line);
        let (first, now) = (line_of(original)?, line_of(report)?);
        // Lines that were added push the old failure down; behind them it is another one.
        let grown = text.lines().count().saturating_sub(before.lines().count());
        let touched = changed_line_numbers(&before, &text).contains(&now);
        let further = now as usize > first as usize + grown && !touched;
        further.then(|| Base { text, report: report.clone(), why: report.core_error.clone() })
    }

    /// What was made for a half repaired script, as a repair of the script that is there.
    pub(super) fn put_on_the_original(&self, candidates: &mut [Candidate]) {
        let (Some(script), Some(text)) = (&self.job.script, self.script_text()) else { return };
        let changes = candidates.iter_mut().flat_map(|made| &mut made.proposal.changes);
        changes.filter(|change| change.path == *script).for_each(|change| {
            change.before = Some(text.clone().into_bytes());
        });
    }
}
