//! Which pieces fit a question: bm25 over their terms, and how near to the job their file lies.

use std::collections::BTreeMap;
use std::path::Path;

use selfheal_core::knowledge::{Kind, Piece, terms};

use super::Query;

/// The usual constants of bm25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// A term in a heading, or in the name of the file, counts so often.
const IN_HEADING: u32 = 2;

/// A piece that fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// Its place in the list that was given.
    pub at: usize,
    /// How well it fits; only to be compared with others of one ranking.
    pub score: f64,
    /// Whether it has a term that the failure, or the line that fails, names.
    pub named: bool,
}

/// The pieces that have a term of the question, the best first. `near` is the folder of the job.
#[must_use]
pub fn rank(pieces: &[Piece], query: &Query, near: &Path) -> Vec<Ranked> {
    let counted: Vec<Counted> = pieces.iter().map(|piece| Counted::of(piece, query)).collect();
    let mean = counted.iter().map(|one| one.length).sum::<f64>() / (counted.len().max(1) as f64);
    let mut having: BTreeMap<&str, f64> = BTreeMap::new();
    for term in counted.iter().flat_map(|one| one.hits.keys()) {
        *having.entry(term.as_str()).or_default() += 1.0;
    }
    let all = counted.len() as f64;
    let mut ranked: Vec<Ranked> = counted
        .iter()
        .enumerate()
        .filter(|(_, one)| !one.hits.is_empty())
        .map(|(at, one)| {
            let score: f64 = one
                .hits
                .iter()
                .map(|(term, times)| {
                    let with = having.get(term.as_str()).copied().unwrap_or(1.0);
                    let idf = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
                    let times = f64::from(*times);
                    let weighed =
                        times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * one.length / mean.max(1.0)));
                    query.weight(term) * idf * weighed
                })
                .sum();
            let nearness = pieces.get(at).map_or(1.0, |piece| nearness(piece, near));
            Ranked { at, score: score * nearness, named: one.hits.keys().any(|term| query.names(term)) }
        })
        .collect();
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.at.cmp(&other.at)));
    ranked
}

/// How often a piece has each term that is asked for.
struct Counted {
    hits: BTreeMap<String, u32>,
    length: f64,
}

impl Counted {
    fn of(piece: &Piece, query: &Query) -> Self {
        let mut hits: BTreeMap<String, u32> = BTreeMap::new();
        let name = piece.path.file_name().unwrap_or_default().to_string_lossy();
        let heading = terms(&format!("{name} {}", piece.heading));
        let body = terms(piece.text.as_str());
        let length = body.len() as f64;
        let heading = heading.into_iter().map(|term| (term, IN_HEADING));
        for (term, times) in body.into_iter().map(|term| (term, 1)).chain(heading) {
            if query.weight(&term) > 0.0 {
                *hits.entry(term).or_default() += times;
            }
        }
        Self { hits, length }
    }
}

/// What lies beside the job is more likely to be about it; what a user named is never far.
fn nearness(piece: &Piece, near: &Path) -> f64 {
    if piece.kind == Kind::Incident {
        return 0.9;
    }
    let Some(folder) = piece.path.parent() else { return 0.8 };
    if folder == near {
        return 1.0;
    }
    let below = folder.strip_prefix(near).map(|rest| rest.components().count());
    let above = near.strip_prefix(folder).map(|rest| rest.components().count());
    match below.or(above) {
        Ok(steps) => (1.0 - 0.05 * steps as f64).max(0.8),
        Err(_) => 0.85,
    }
}
