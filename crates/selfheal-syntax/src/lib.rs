//! What a script says: syntax trees behind one facade, values by constant propagation, edits, diffs and syntax checks.
//!
//! Everything here is a pure function of text. Input comes from failing jobs and from models, so it is hostile: sizes and
//! parse times are capped, and what cannot be parsed is an [`Unparsable`], never a panic. The main entry points are
//! [`shell::Script`], [`mod@edits`], [`mod@diff`] and [`check::syntax_errors`].
#![forbid(unsafe_code)]

pub mod check;
pub mod diff;
pub mod diff3;
pub mod edits;
pub mod embedded;
pub mod language;
pub mod python;
pub mod shell;
pub mod source;
pub mod tokens;
pub mod tree;
pub mod values;
pub mod watched;
pub mod yaml;

pub use language::{Dialect, Language};
pub use source::Lines;
pub use tree::Unparsable;
