//! The files and folders that the user named: an index that follows their changes.
//!
//! A file is read again when its size or its time changed, or when it had changed so shortly before it was read that its
//! time could not tell another change. What is gone is dropped, unless its whole folder cannot be reached. The index is
//! thrown away and made again where it is damaged.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selfheal_core::ids::ContentHash;
use selfheal_core::knowledge::{Document, Piece};
use selfheal_core::ports::{Clock, Knowledge, PortError, Trouble};
use selfheal_core::redact::Redactor;
use selfheal_repair::knowledge::{Query, pieces};
use selfheal_store::{KnowledgeIndex, KnowledgeSource, KnowledgeSources};

use super::Place;
use super::read::{Skipped, Sort, read, sort_of, without_numbers};
use super::walk::{Limits, Root, Seen};
use crate::clock::SystemClock;
use crate::context::Context;

/// The time in which an index may follow its files while a job waits to be healed.
const WHILE_HEALING: Duration = Duration::from_secs(1);
/// Documents that are looked at whatever the time: a small folder is always up to date.
const AT_LEAST: usize = 500;
/// The time of a tick.
const IN_A_TICK: Duration = Duration::from_secs(60);
/// Names that are looked at in a folder, and how deep.
const NAMES: usize = 200_000;
const DEPTH: usize = 16;
/// Documents, and bytes of them, in all folders together.
const MOST_DOCUMENTS: usize = 20_000;
const MOST_BYTES: u64 = 256 << 20;
/// Documents, and pieces of them, that are stored at once.
const BATCH: usize = 200;
const BATCH_PIECES: usize = 2_000;
/// A change within this time before a file is read may be followed by another one that its time does not tell.
const UNSURE_NS: i64 = 2_000_000_000;

/// What a refresh did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Documents that are new or were read again.
    pub read: usize,
    /// Documents that are as they were.
    pub same: usize,
    /// Documents that are not there any more.
    pub gone: usize,
    /// Files that are no text.
    pub binary: usize,
    /// Files that hold secrets by their name or their beginning.
    pub secret: usize,
    /// Links, which are not followed.
    pub links: usize,
    /// Fifos, sockets and devices.
    pub special: usize,
    /// Files and folders that cannot be read.
    pub unreadable: usize,
    /// Files beyond the limits.
    pub beyond: usize,
    /// Whether time or the number of names ended it.
    pub cut: bool,
    /// Folders that cannot be reached; what was read of them stays.
    pub missing: Vec<PathBuf>,
}

impl Refreshed {
    fn skip(&mut self, why: Skipped) {
        match why {
            Skipped::Binary => self.binary += 1,
            Skipped::Secret => self.secret += 1,
            Skipped::Unreadable => self.unreadable += 1,
        }
    }
}

/// Brings the index up to date, as far as the time reaches.
///
/// # Errors
/// When the index cannot be read or written.
pub fn refresh(state: &Path, redactor: &Redactor, until: Option<Instant>) -> Result<Refreshed, PortError> {
    let sources = KnowledgeSources::of(state).all()?;
    mended(state, || {
        let index = KnowledgeIndex::open(state)?;
        Refresh::of(&index, redactor, until)?.all(&sources)
    })
}

/// Follows the changes of what was added, for a tick; nothing where nothing was.
///
/// # Errors
/// When the index cannot be read or written.
pub fn follow(context: &Context) -> Result<(), PortError> {
    if KnowledgeSources::of(&context.state).all()?.is_empty() {
        return Ok(());
    }
    refresh(&context.state, &context.redactor(), Some(Instant::now() + IN_A_TICK)).map(drop)
}

/// The pieces that fit a question best, after the index has followed its files.
///
/// # Errors
/// When the index cannot be used.
pub fn found(place: &Place<'_>, query: &Query, most: usize) -> Result<Vec<Piece>, PortError> {
    let state = place.store.root();
    if KnowledgeSources::of(state).all()?.is_empty() {
        return Ok(Vec::new());
    }
    refresh(state, place.redactor, Some(Instant::now() + WHILE_HEALING))?;
    search(state, query, most)
}

/// The pieces in the index that fit a question best.
///
/// # Errors
/// When the index cannot be used.
pub fn search(state: &Path, query: &Query, most: usize) -> Result<Vec<Piece>, PortError> {
    mended(state, || KnowledgeIndex::open(state)?.search(&query.terms(), most))
}

/// Does something with the index, and once more with a fresh one where it is damaged.
fn mended<T>(state: &Path, work: impl Fn() -> Result<T, PortError>) -> Result<T, PortError> {
    match work() {
        Err(error) if error.trouble == Trouble::Corrupt => {
            tracing::warn!(%error, "the index of the knowledge is damaged and made anew");
            KnowledgeIndex::discard(state)?;
            work()
        }
        done => done,
    }
}

/// A refresh at work.
struct Refresh<'a> {
    index: &'a KnowledgeIndex,
    redactor: &'a Redactor,
    until: Option<Instant>,
    have: BTreeMap<PathBuf, Document>,
    seen: BTreeSet<PathBuf>,
    batch: Vec<(Document, Vec<Piece>)>,
    pieces: usize,
    bytes: u64,
    done: Refreshed,
}

impl<'a> Refresh<'a> {
    fn of(
        index: &'a KnowledgeIndex,
        redactor: &'a Redactor,
        until: Option<Instant>,
    ) -> Result<Self, PortError> {
        let have = index.documents()?.into_iter().map(|document| (document.path.clone(), document)).collect();
        Ok(Self {
            index,
            redactor,
            until,
            have,
            seen: BTreeSet::new(),
            batch: Vec::new(),
            pieces: 0,
            bytes: 0,
            done: Refreshed::default(),
        })
    }

    fn all(mut self, sources: &[KnowledgeSource]) -> Result<Refreshed, PortError> {
        for source in sources {
            self.source(source)?;
        }
        self.store()?;
        self.drop_gone(sources)?;
        Ok(self.done)
    }

    fn late(&self) -> bool {
        self.seen.len() >= AT_LEAST && self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn source(&mut self, source: &KnowledgeSource) -> Result<(), PortError> {
        let Ok(root) = Root::open(&source.path) else {
            self.done.missing.push(source.path.clone());
            return Ok(());
        };
        let walked = root.walk(Limits { names: NAMES, depth: DEPTH, until: self.until });
        self.done.links += walked.links;
        self.done.special += walked.special;
        self.done.unreadable += walked.unreadable;
        self.done.cut |= walked.cut;
        for seen in &walked.files {
            let path = root.full(&seen.path);
            if self.seen.contains(&path) {
                continue;
            }
            if self.late() {
                self.done.cut = true;
                return Ok(());
            }
            if self.seen.len() >= MOST_DOCUMENTS || self.bytes >= MOST_BYTES {
                self.done.beyond += 1;
                continue;
            }
            self.file(source, &root, seen, path)?;
        }
        Ok(())
    }

    fn file(
        &mut self,
        source: &KnowledgeSource,
        root: &Root,
        seen: &Seen,
        path: PathBuf,
    ) -> Result<(), PortError> {
        let sort = sort_of(&path);
        let kind = source.kind.unwrap_or(sort.kind());
        let known = self.have.get(&path);
        if known.is_some_and(|old| (old.len, old.modified_ns, old.kind) == (seen.len, seen.modified_ns, kind))
        {
            self.done.same += 1;
            self.bytes += seen.len.min(super::read::MOST_OF_A_DOCUMENT as u64);
            self.seen.insert(path);
            return Ok(());
        }
        let before = SystemClock.now().0.saturating_mul(1_000_000);
        let found = match read(root, seen, self.redactor) {
            Ok(found) => found,
            Err(why) => {
                self.done.skip(why);
                return Ok(());
            }
        };
        let hash = super::hash(&found.bytes);
        if known.is_some_and(|old| old.hash == hash && old.kind == kind) {
            self.done.same += 1;
        } else {
            self.done.read += 1;
        }
        let text = without_numbers(&found.text, self.redactor);
        let cut = pieces(&path, kind, sort == Sort::Data, &text);
        let modified_ns = if before - seen.modified_ns < UNSURE_NS { 0 } else { seen.modified_ns };
        let document = Document {
            path: path.clone(),
            kind,
            modified_ns,
            len: seen.len,
            hash: ContentHash::new(hash.as_str()),
        };
        self.bytes += found.bytes.len() as u64;
        self.pieces += cut.len();
        self.batch.push((document, cut));
        self.seen.insert(path);
        if self.batch.len() >= BATCH || self.pieces >= BATCH_PIECES { self.store() } else { Ok(()) }
    }

    fn store(&mut self) -> Result<(), PortError> {
        self.pieces = 0;
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() { Ok(()) } else { self.index.put(&batch) }
    }

    /// What was in the index and was not seen now is gone, where everything was looked at.
    fn drop_gone(&mut self, sources: &[KnowledgeSource]) -> Result<(), PortError> {
        let out_of_reach = |path: &Path| self.done.missing.iter().any(|root| path.starts_with(root));
        let is_wanted = |path: &Path| sources.iter().any(|source| path.starts_with(&source.path));
        let gone: Vec<PathBuf> = self
            .have
            .keys()
            .filter(|path| !self.seen.contains(*path) && !out_of_reach(path))
            .filter(|path| !self.done.cut || !is_wanted(path))
            .cloned()
            .collect();
        self.done.gone = self.index.drop_documents(&gone)?;
        Ok(())
    }
}
