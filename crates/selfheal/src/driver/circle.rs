//! Going round in circles over several incidents of one job: what its earlier repairs did, held against a new one.

use selfheal_core::incident::Incident;
use selfheal_core::ports::{IncidentFilter, Journal};
use selfheal_core::proposal::Proposal;
use selfheal_repair::oscillation::{Circle, circle};

use super::Healer;

/// So many earlier incidents of the job are looked at.
const MOST: usize = 20;

impl Healer<'_> {
    /// How a change goes round, if it does: it takes an earlier repair back, or the files are afterwards what they were before
    /// one, or it turns at a value that was changed over and over.
    pub(super) fn goes_round(&self, proposal: &Proposal) -> Option<String> {
        let filter = IncidentFilter {
            job: Some(self.job.key.clone()),
            states: vec!["watching", "confirmed", "rolled_back"],
            most: MOST,
        };
        let earlier: Vec<Incident> = self.tools.store.incidents(&filter).unwrap_or_default();
        let rounds: Vec<_> = earlier
            .iter()
            .filter(|incident| incident.id != self.incident.id)
            .filter_map(|incident| incident.rounds.last())
            .collect();
        let becomes_again = proposal.changes.iter().any(|change| {
            let Some(after) = change.after.as_deref() else { return false };
            let hash = crate::knowledge::hash(after);
            let files = rounds.iter().flat_map(|round| &round.files);
            files.filter(|file| file.path == change.path).any(|file| file.before.as_ref() == Some(&hash))
        });
        if becomes_again {
            return Some(
                "with it the file is again what it was before an earlier repair of this job".to_owned(),
            );
        }
        let diffs: Vec<&str> =
            rounds.iter().filter_map(|round| round.diff.as_ref()).map(|diff| diff.as_str()).collect();
        circle(self.diff_of(proposal).as_str(), &diffs).as_ref().map(Circle::words)
    }
}
