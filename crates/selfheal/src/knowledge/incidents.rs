//! Past incidents: what was wrong before, what was tried, and what came of it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use selfheal_core::diagnosis::Diagnosis;
use selfheal_core::incident::Incident;
use selfheal_core::knowledge::{Kind, Piece};
use selfheal_core::ports::{IncidentFilter, Journal, PortError};
use selfheal_core::redact::Redacted;

use super::Place;

/// So many of the newest are looked at.
const MOST: usize = 60;
/// Characters of each.
const CHARS: usize = 900;

/// The newest incidents that taught something, each as a piece.
///
/// # Errors
/// When the store cannot be read.
pub(super) fn past(place: &Place<'_>) -> Result<Vec<Piece>, PortError> {
    let filter = IncidentFilter { most: MOST, ..IncidentFilter::default() };
    let incidents = place.store.incidents(&filter)?;
    let mut seen = BTreeSet::new();
    Ok(incidents
        .iter()
        .filter(|incident| Some(&incident.id) != place.incident)
        .filter_map(|incident| piece(incident, place))
        // The same failure every night is one lesson.
        .filter(|piece| seen.insert(piece.text.clone()))
        .collect())
}

fn piece(incident: &Incident, place: &Place<'_>) -> Option<Piece> {
    let round = incident.rounds.last()?;
    let diagnosis: Diagnosis = serde_json::from_str(round.diagnosis.as_ref()?.as_str()).ok()?;
    let mut lines = vec![incident.command.clone()];
    lines.extend(incident.note.clone());
    for (name, text) in [("cause: ", &diagnosis.root_cause), ("strategy: ", &diagnosis.strategy)] {
        lines.push(place.redactor.text(&format!("{name}{text}")));
    }
    lines.extend(round.summary.iter().cloned());
    let outcome = format!("outcome: {}, {}", incident.status.word(), incident.state.word());
    lines.push(place.redactor.text(&outcome));
    Some(Piece {
        path: PathBuf::from(format!("incident {}", incident.id.short())),
        kind: Kind::Incident,
        heading: Redacted::default(),
        first_line: 0,
        last_line: 0,
        text: Redacted::join(&lines, "\n").head(CHARS),
        is_data: false,
    })
}
