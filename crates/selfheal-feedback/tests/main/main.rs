//! The public surface, end to end: samples of real output, real runs of real programs, hostile input, and snapshots of
//! whole reports.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on should stop")]

mod hostile;
mod real_runs;
mod repeating;
mod reports;
mod samples;
mod support;
