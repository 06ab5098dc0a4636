//! Why files were not put in place or taken back.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why files were not put in place or taken back. Nothing was changed then, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// There is none, or several fit.
    #[error("find a try {0}; `selfheal try --list` shows what is kept")]
    Missing(String),
    /// It does not stand where it must for this.
    #[error("do that with try {id}: it is {state}")]
    State {
        /// The identity.
        id: String,
        /// Where it stands.
        state: &'static str,
    },
    /// Files are not what they were.
    #[error("change files that are not what they were")]
    Conflicts(Vec<Conflict>),
    /// Another process of selfheal changes files now.
    #[error("change files while another selfheal does")]
    Busy,
    /// The machine refused.
    #[error("{doing}")]
    Io {
        /// What it was doing, with the path.
        doing: String,
        /// What stood in the way.
        #[source]
        source: io::Error,
    },
    /// It was broken off, and these paths could not be put back because somebody else changed them at that moment.
    #[error("put everything back as it was")]
    Half {
        /// The paths.
        left: Vec<PathBuf>,
        /// Why it was broken off.
        #[source]
        source: Box<CommitError>,
    },
}

impl CommitError {
    pub(crate) fn io(doing: impl fmt::Display) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.to_string();
        move |source| Self::Io { doing, source }
    }
}

/// A path that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The path.
    pub path: PathBuf,
    /// What is different.
    pub why: Why,
}

/// What is different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It was changed.
    Changed,
    /// It is there and was not.
    Appeared,
    /// It is gone.
    Gone,
    /// A folder on the way is gone, or is a link now.
    Unreachable,
}

impl Why {
    /// The word for texts and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Appeared => "appeared",
            Self::Gone => "gone",
            Self::Unreachable => "unreachable",
        }
    }
}
