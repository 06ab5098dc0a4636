//! Looking up what documents say about a failure, for the questions to a model.

use selfheal_core::report::Report;
use selfheal_repair::knowledge::{Asked, Query};

use super::Healer;
use crate::cli::Part;
use crate::knowledge::{Known, Place, look};

/// Characters of the error output whose names are looked up.
const ERRORS: usize = 1_500;

impl Healer<'_> {
    /// The two sections for a question, and takes note of what is in them.
    pub(super) fn look_up(&mut self, report: &Report, data: bool) -> Known {
        self.known.clear();
        if self.leaves_out(Part::Knowledge) {
            return Known::default();
        }
        let errors = self.run.stderr.last_chars(ERRORS);
        let query = Query::of(&Asked {
            report,
            script: self.job.script.as_deref(),
            errors: &errors,
            trace: self.trace.as_ref(),
            folder: &self.job.cwd,
        });
        let text = self.script_text().unwrap_or_default();
        let known = look(
            &Place {
                store: self.tools.store,
                redactor: self.tools.redactor,
                script: self.job.script.as_deref(),
                text: &text,
                cwd: &self.job.cwd,
                incident: Some(&self.incident.id),
                data,
            },
            &query,
        );
        self.known.clone_from(&known.pieces);
        known
    }
}
