//! Knowledge: what documents say about a failing job.
//!
//! Three sources, all of them only read: what lies beside the job ([`near`], read when it is needed), the files and
//! folders that the user named ([`indexed`], in an index that follows their changes), and past incidents ([`incidents`]).
//! Every text is redacted as it is read. Cutting, asking and choosing is pure and in `selfheal_repair::knowledge`.

mod incidents;
pub mod indexed;
mod near;
mod read;
mod walk;

use std::path::{Path, PathBuf};

use selfheal_core::ids::{ContentHash, IncidentId};
use selfheal_core::knowledge::{Kind, Piece, UsedPiece};
use selfheal_core::redact::{Redacted, Redactor};
use selfheal_repair::knowledge::{Budget, Query, choose};
use selfheal_store::Store;
use sha2::{Digest, Sha256};

/// Pieces that the index is asked for; they are ranked again together with all others.
const FROM_INDEX: usize = 40;

/// Who asks.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The store, for the index and past incidents.
    pub store: &'a Store,
    /// Takes secrets out.
    pub redactor: &'a Redactor,
    /// The job's script.
    pub script: Option<&'a Path>,
    /// Its text: what it names is what it works on.
    pub text: &'a str,
    /// The job's folder.
    pub cwd: &'a Path,
    /// The incident that it is for, which is no past one.
    pub incident: Option<&'a IncidentId>,
    /// Whether pieces may show data.
    pub data: bool,
}

impl Place<'_> {
    /// The folder that is nearest to the job.
    fn folder(&self) -> &Path {
        self.script.and_then(Path::parent).unwrap_or(self.cwd)
    }
}

/// What was found for one question.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The section of reference material.
    pub references: Redacted,
    /// The section of the project's context.
    pub context: Redacted,
    /// The pieces in both.
    pub pieces: Vec<Piece>,
}

/// Looks in all sources. What cannot be read is left out: a job is not healed any worse for a broken index.
#[must_use]
pub fn look(place: &Place<'_>, query: &Query) -> Known {
    let near = near::near(place);
    let mut pieces = near.pieces;
    match indexed::found(place, query, FROM_INDEX) {
        // What lies beside the job was read just now.
        Ok(found) => pieces.extend(found.into_iter().filter(|piece| !near.files.contains(&piece.path))),
        Err(error) => tracing::warn!(%error, "the knowledge could not be searched"),
    }
    pieces.extend(past(place));
    pieces.retain(|piece| place.data || !piece.is_data);
    let chosen = choose(&pieces, query, place.folder(), Budget::default());
    let context: Vec<Piece> = near.tree.into_iter().chain(chosen.context).collect();
    Known {
        references: section(&chosen.references, place),
        context: section(&context, place),
        pieces: chosen.references.into_iter().chain(context).collect(),
    }
}

/// What lies beside a job, and past incidents: what is read only when it is needed.
#[must_use]
pub fn beside(place: &Place<'_>) -> Vec<Piece> {
    let mut pieces = near::near(place).pieces;
    pieces.extend(past(place));
    pieces
}

fn past(place: &Place<'_>) -> Vec<Piece> {
    incidents::past(place).unwrap_or_else(|error| {
        tracing::warn!(%error, "past incidents could not be read");
        Vec::new()
    })
}

/// Pieces below each other, each under a line that says where it is from.
fn section(pieces: &[Piece], place: &Place<'_>) -> Redacted {
    let texts: Vec<Redacted> = pieces
        .iter()
        .map(|piece| {
            let title = place.redactor.text(&where_from(piece, place.folder()));
            let title = match piece.heading.as_str() {
                "" => title,
                _ => Redacted::join(&[title, piece.heading.clone()], ": "),
            };
            Redacted::join(&[Redacted::fixed("From"), title], " ")
        })
        .zip(pieces)
        .map(|(title, piece)| Redacted::join(&[title, piece.text.clone(), Redacted::default()], "\n"))
        .collect();
    Redacted::join(&texts, "\n")
}

/// The place of a piece as people and models read it.
#[must_use]
pub fn where_from(piece: &Piece, near: &Path) -> String {
    let path = piece.path.strip_prefix(near).ok().filter(|rest| !rest.as_os_str().is_empty());
    let path = path.unwrap_or(&piece.path).display();
    match (piece.kind, piece.first_line) {
        (Kind::Incident, _) | (_, 0) => path.to_string(),
        (_, first) if first == piece.last_line => format!("{path}, line {first}"),
        (_, first) => format!("{path}, lines {first} to {}", piece.last_line),
    }
}

/// A piece as an incident keeps it.
#[must_use]
pub fn used(piece: &Piece, rests_on: bool, redactor: &Redactor) -> UsedPiece {
    UsedPiece {
        kind: piece.kind,
        path: redactor.text(&piece.path.display().to_string()),
        heading: piece.heading.clone(),
        first_line: piece.first_line,
        last_line: piece.last_line,
        hash: hash(piece.text.as_str().as_bytes()),
        rests_on,
    }
}

/// SHA-256 as people compare it.
pub(crate) fn hash(bytes: &[u8]) -> ContentHash {
    let digits: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    ContentHash::new(digits)
}

/// A path below another one that people typed: absolute, without links, so that it means the same tomorrow.
///
/// # Errors
/// When there is no such file or folder.
pub fn resolved(cwd: &Path, path: &Path) -> std::io::Result<PathBuf> {
    cwd.join(path).canonicalize()
}
