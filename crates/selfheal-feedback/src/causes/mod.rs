//! Likely causes: two or three per report, ranked, each with what was seen and what would disprove it.
//!
//! A cause has a stable id; the program may say its text in another language by that id. Causes come from the kind of
//! fault first, then from what the machine shows, so that what was seen ranks above what is only usual.

mod code;
mod machine;
mod packages;
mod paths;
mod silent;

use selfheal_core::fault::Fault;
use selfheal_core::report::{About, Cause};
use selfheal_core::run::Ended;

pub(crate) use packages::package_of;

use crate::parsers::bounded;
use crate::report::Case;

/// How many causes a report names.
const MOST: usize = 3;

/// A cause in the making: how well what was seen supports it.
pub(crate) struct Likely {
    cause: Cause,
    support: u8,
}

impl Likely {
    /// A cause that is usual for such a fault.
    pub fn usual(id: &str, text: impl Into<String>, disproved_by: &str) -> Self {
        let cause = Cause {
            id: id.to_owned(),
            text: text.into(),
            evidence: Vec::new(),
            disproved_by: disproved_by.to_owned(),
            about: About::default(),
        };
        Self { cause, support: 1 }
    }

    /// With something that was seen and speaks for it.
    pub fn seen(mut self, evidence: impl Into<String>) -> Self {
        self.cause.evidence.push(bounded(&evidence.into()));
        self.support = self.support.saturating_add(2);
        self
    }

    /// The same, where it was seen at all.
    pub fn seen_if(self, evidence: Option<String>) -> Self {
        match evidence {
            Some(evidence) => self.seen(evidence),
            None => self,
        }
    }
}

/// The likely causes of one fault; each knows what it is about.
fn of_fault(case: &Case<'_>, fault: &Fault) -> Vec<Likely> {
    let mut likely = paths::causes(case, fault);
    likely.extend(code::causes(case, fault));
    likely.extend(machine::causes(case, fault));
    likely.extend(silent::causes(case, fault));
    for one in &mut likely {
        one.cause.about = About::of(fault);
        one.cause.about.what = one.cause.about.what.take().map(|what| bounded(&what));
    }
    likely
}

/// The likely causes of a failure, most likely first.
pub(crate) fn causes(case: &Case<'_>) -> Vec<Cause> {
    let mut likely = Vec::new();
    for found in case.found.iter().take(2) {
        likely.extend(of_fault(case, &found.fault));
    }
    if likely.is_empty()
        && let Ended::NotStarted { reason } = &case.input.run.ended
    {
        likely.push(Likely::usual(
            "not-started",
            format!("The command could not be started at all: {reason}."),
            "It starts by hand, in the same folder and as the same user.",
        ));
    }
    if likely.is_empty() {
        likely.push(Likely::usual(
            "unknown-message",
            "The command stopped for a reason of its own that only its message says.",
            "Another message from an earlier step that explains it.",
        ));
    }
    // The order of equals is that of the findings.
    likely.sort_by_key(|one| u8::MAX - one.support);
    let mut causes: Vec<Cause> = Vec::new();
    for one in likely {
        if !causes.iter().any(|cause| cause.id == one.cause.id) {
            causes.push(one.cause);
        }
    }
    causes.truncate(MOST);
    for cause in &mut causes {
        let said = case.first().map(|first| first.text.trim()).filter(|text| !text.is_empty());
        if let Some(said) = said.filter(|_| cause.evidence.is_empty()) {
            cause.evidence.push(format!("the output says: {}", bounded(said)));
        }
    }
    causes
}
