//! The few pieces that go into a question, in its two sections.

use std::path::Path;

use selfheal_core::knowledge::{Kind, Piece};

use super::rank::{Ranked, rank};
use super::{HEADING_CHARS, Query};

/// Room in a question, in characters; four are about a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// For the reference material.
    pub references: usize,
    /// For the project's context.
    pub context: usize,
    /// The most pieces of each.
    pub pieces: usize,
}

impl Default for Budget {
    /// About a thousand and four hundred tokens: a small model must read them all.
    fn default() -> Self {
        Self { references: 4_000, context: 1_600, pieces: 4 }
    }
}

/// What was chosen, the best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// For the reference material.
    pub references: Vec<Piece>,
    /// For the project's context.
    pub context: Vec<Piece>,
}

/// A piece that fits less than this part of the best one is left out.
const LEAST: f64 = 0.25;

/// Chooses by rank, within a budget. A piece must have a term that the failure, or the line that fails, names: nothing is better than what
/// only looks alike. Of one passage that stands in two files, the better placed one is taken.
#[must_use]
pub fn choose(pieces: &[Piece], query: &Query, near: &Path, budget: Budget) -> Chosen {
    let ranked = rank(pieces, query, near);
    let of = |wanted: fn(Kind) -> bool, room: usize| {
        let fits = ranked.iter().filter(|one| pieces.get(one.at).is_some_and(|piece| wanted(piece.kind)));
        take(pieces, &fits.copied().collect::<Vec<_>>(), room, budget.pieces)
    };
    Chosen {
        references: of(|kind| kind == Kind::Reference, budget.references),
        context: of(|kind| kind != Kind::Reference, budget.context),
    }
}

fn take(pieces: &[Piece], ranked: &[Ranked], room: usize, most: usize) -> Vec<Piece> {
    let best = ranked.iter().filter(|one| one.named).map(|one| one.score).fold(0.0, f64::max);
    let mut left = room;
    let mut out: Vec<Piece> = Vec::new();
    for one in ranked.iter().filter(|one| one.named && one.score >= best * LEAST) {
        let Some(piece) = pieces.get(one.at) else { continue };
        let cost = piece.text.as_str().chars().count() + HEADING_CHARS;
        let known = out.iter().any(|other| other.text == piece.text);
        if cost <= left && !known && out.len() < most {
            left -= cost;
            out.push(piece.clone());
        }
    }
    out
}
