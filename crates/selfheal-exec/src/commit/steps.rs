//! What a commit or its undoing does, step by step: decided before anything is changed, and then written down.
//!
//! Every step is one rename, exchange or change in place, and each has its opposite, so undoing is committing backwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use selfheal_core::effects::Change;
use serde::{Deserialize, Serialize};

use super::draft::{Act, Draft, Entry, OLD, SLOTS, path};
use super::facts::Facts;
use super::meta::Meta;

/// One step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Step {
    /// The number of its entry, and of its slot.
    pub n: usize,
    #[serde(with = "path")]
    pub path: PathBuf,
    pub deed: Deed,
    /// What is at the path before.
    pub expect: Option<Facts>,
    /// What is put there: its inode, once it is ready.
    pub ready: Option<u64>,
    /// Where the slot is, when it cannot be the draft's own: the draft lies on another mount.
    pub beside: Option<Beside>,
    /// Whether the old content is a copy and not the old file itself.
    pub copied: bool,
    /// What a folder gets at the end, when all is in it.
    pub last: Option<Meta>,
}

/// A slot in a folder of the target's mount.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Beside {
    #[serde(with = "path")]
    pub path: PathBuf,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// What is in the slot comes to the path, where nothing is.
    In,
    /// What is at the path goes to the slot.
    Out,
    /// Both change places.
    Swap,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Deed {
    /// Something moves.
    Move(Kind),
    /// Everything but the content changes: from, to.
    Touch(Meta, Meta),
    /// A file that has several names gets the content of a file of the draft.
    Rewrite,
}

impl Step {
    /// The step that takes this one back, given what is at the path now.
    pub(crate) fn back(&self, now: Option<Facts>) -> Self {
        let deed = match &self.deed {
            Deed::Move(Kind::In) => Deed::Move(Kind::Out),
            Deed::Move(Kind::Out) => Deed::Move(Kind::In),
            Deed::Move(Kind::Swap) => Deed::Move(Kind::Swap),
            Deed::Touch(from, to) => Deed::Touch(to.clone(), from.clone()),
            Deed::Rewrite => Deed::Rewrite,
        };
        let last = match &deed {
            Deed::Touch(_, to) if self.last.is_some() => Some(to.clone()),
            _ => None,
        };
        let (n, path, copied) = (self.n, self.path.clone(), self.copied);
        Self { n, path, deed, expect: now, ready: None, beside: None, copied, last }
    }

    /// The file of the draft with what comes, and with what goes.
    pub(crate) fn names(&self, backwards: bool) -> (String, String) {
        let (slot, old) = (format!("{SLOTS}/{}", self.n), format!("{OLD}/{}", self.n));
        if backwards { (old, slot) } else { (slot, old) }
    }

    pub(crate) fn is(&self, kind: Kind) -> bool {
        self.deed == Deed::Move(kind)
    }
}

/// The steps that put a draft in place: all of it, or only these paths with what lies below them and the new folders
/// that they need. Entries that cannot be put in place have no step.
pub(crate) fn forward(draft: &Draft, only: Option<&[PathBuf]>) -> Vec<Step> {
    let chosen = chosen(&draft.entries, only);
    let mut steps: Vec<Step> = Vec::new();
    let mut covered: Option<&Path> = None;
    for (n, entry) in draft.entries.iter().enumerate().filter(|(n, _)| chosen.contains(n)) {
        let removed = entry.act == Act::Remove;
        if removed && covered.is_some_and(|top| entry.path.starts_with(top) && entry.path != top) {
            continue;
        }
        let was_folder = entry.base.as_ref().is_some_and(Facts::is_folder);
        if was_folder && matches!(entry.act, Act::Remove | Act::Put) {
            covered = Some(&entry.path);
        }
        steps.extend(step(n, entry));
    }
    steps
}

fn step(n: usize, entry: &Entry) -> Option<Step> {
    let replaced = if entry.base.is_some() { Kind::Swap } else { Kind::In };
    let folder = entry.base.as_ref().is_some_and(Facts::is_folder);
    let (deed, last) = match &entry.act {
        Act::Leave => return None,
        Act::Put => (Deed::Move(replaced), None),
        Act::Folder(meta) => (Deed::Move(replaced), Some(meta.clone())),
        Act::Touch(from, to) => (Deed::Touch(from.clone(), to.clone()), folder.then(|| to.clone())),
        Act::Rewrite => (Deed::Rewrite, None),
        Act::Remove if entry.base.is_none() => return None,
        Act::Remove => (Deed::Move(Kind::Out), None),
    };
    // What changed while the job ran fits no facts any more; equal content still does.
    let unfit = |facts: Facts| Facts { ino: if entry.disturbed { 0 } else { facts.ino }, ..facts };
    let (path, expect) = (entry.path.clone(), entry.base.clone().map(unfit));
    let copied = deed == Deed::Rewrite;
    Some(Step { n, path, deed, expect, ready: None, beside: None, copied, last })
}

fn chosen(entries: &[Entry], only: Option<&[PathBuf]>) -> BTreeSet<usize> {
    let Some(only) = only else { return (0..entries.len()).collect() };
    let folders: BTreeMap<&Path, usize> = entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| entry.change == Change::CreatedFolder)
        .map(|(n, entry)| (entry.path.as_path(), n))
        .collect();
    let mut chosen = BTreeSet::new();
    for (n, entry) in entries.iter().enumerate() {
        if only.iter().any(|path| entry.path.starts_with(path)) {
            chosen.insert(n);
            chosen.extend(entry.path.ancestors().skip(1).filter_map(|folder| folders.get(folder)));
        }
    }
    chosen
}

/// The steps that take back what is in place.
pub(crate) fn backward(draft: &Draft) -> Vec<Step> {
    draft.done.iter().rev().map(|(step, now)| step.back(now.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::draft::Standing;

    fn facts(mode: u32) -> Facts {
        let zero = (0, 0);
        Facts { ino: 1, mode, uid: 0, gid: 0, links: 1, len: 0, changed: zero, touched: zero }
    }

    fn meta() -> Meta {
        let attributes = BTreeMap::new();
        Meta { bits: 0o755, uid: 0, gid: 0, read: (0, 0), changed: (0, 0), attributes }
    }

    fn draft(rows: &[(&str, Change, Act, Option<u32>)]) -> Draft {
        let entry = |(path, change, act, mode): &(&str, Change, Act, Option<u32>)| Entry {
            path: path.into(),
            change: *change,
            len: 0,
            remark: None,
            act: act.clone(),
            base: mode.map(facts),
            disturbed: false,
        };
        let entries = rows.iter().map(entry).collect();
        Draft {
            id: "x".into(),
            made: 0,
            command: String::new(),
            state: Standing::Kept,
            entries,
            done: vec![],
        }
    }

    fn shown(steps: &[Step]) -> Vec<String> {
        steps.iter().map(|step| format!("{:?} {}", step.deed, step.path.display())).collect()
    }

    #[test]
    fn a_deleted_folder_goes_as_a_whole_or_in_the_parts_that_are_chosen() {
        let draft = draft(&[
            ("/d", Change::Deleted, Act::Remove, Some(0o040_755)),
            ("/d/a", Change::Deleted, Act::Remove, Some(0o100_644)),
            ("/d/b", Change::Deleted, Act::Remove, Some(0o100_644)),
            ("/e", Change::Deleted, Act::Remove, Some(0o100_644)),
        ]);
        assert_eq!(shown(&forward(&draft, None)), ["Move(Out) /d", "Move(Out) /e"]);
        assert_eq!(shown(&forward(&draft, Some(&["/d/b".into()]))), ["Move(Out) /d/b"]);
        assert!(forward(&draft, Some(&["/x".into()])).is_empty());
    }

    #[test]
    fn a_path_brings_the_new_folders_that_it_needs() {
        let draft = draft(&[
            ("/n", Change::CreatedFolder, Act::Folder(meta()), None),
            ("/n/m", Change::CreatedFolder, Act::Folder(meta()), None),
            ("/n/m/x", Change::Created, Act::Put, None),
            ("/n/y", Change::Created, Act::Put, None),
        ]);
        let steps = forward(&draft, Some(&["/n/m/x".into()]));
        assert_eq!(shown(&steps), ["Move(In) /n", "Move(In) /n/m", "Move(In) /n/m/x"]);
    }

    #[test]
    fn a_folder_that_became_a_file_is_exchanged_with_all_that_was_in_it() {
        let draft = draft(&[
            ("/d", Change::Changed, Act::Put, Some(0o040_755)),
            ("/d/a", Change::Deleted, Act::Remove, Some(0o100_644)),
        ]);
        let steps = forward(&draft, None);
        assert_eq!(shown(&steps), ["Move(Swap) /d"]);
        assert!(steps[0].back(None).is(Kind::Swap));
    }
}
