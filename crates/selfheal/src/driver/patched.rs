//! The machine as it would be with a proposal in place: what further rules look at while a repair grows.

use std::path::{Path, PathBuf};

use selfheal_core::effects::{Change, Effect};
use selfheal_core::proposal::FileChange;
use selfheal_core::scene::{Kind, PathFacts, Reach, Scene, absolute};

/// A scene with changed files laid over it, and with what a boxed run made.
pub(super) struct PatchedScene<'a> {
    /// The machine as it is.
    pub(super) below: &'a dyn Scene,
    /// The changed files.
    pub(super) changes: &'a [FileChange],
    /// What a boxed run did.
    pub(super) effects: &'a [Effect],
}

impl PatchedScene<'_> {
    fn changed(&self, path: &Path) -> Option<&FileChange> {
        let path = self.absolute(path);
        self.changes.iter().find(|change| change.path == path)
    }

    fn effect(&self, path: &Path) -> Option<&Effect> {
        let path = self.absolute(path);
        self.effects.iter().find(|effect| effect.path == path)
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        absolute(self.below.cwd(), path)
    }
}

impl Scene for PatchedScene<'_> {
    fn cwd(&self) -> &Path {
        self.below.cwd()
    }

    fn facts(&self, path: &Path) -> Option<PathFacts> {
        let below = self.below.facts(path);
        if let Some(change) = self.changed(path) {
            let after = change.after.as_ref()?;
            let base = below.unwrap_or(fresh(Kind::File));
            let mode = change.mode.unwrap_or(base.mode);
            return Some(PathFacts { len: after.len() as u64, mode, ..base });
        }
        match self.effect(path) {
            Some(effect) => match effect.change {
                Change::Deleted => None,
                Change::CreatedFolder => Some(PathFacts { mode: effect.mode, ..fresh(Kind::Directory) }),
                Change::Created | Change::Changed | Change::Appended | Change::Attributes => {
                    let base = below.unwrap_or(fresh(Kind::File));
                    Some(PathFacts { len: effect.len, mode: effect.mode, ..base })
                }
            },
            None => below,
        }
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        match self.changed(path) {
            Some(change) => change.after.as_ref().map(|text| text.iter().take(limit).copied().collect()),
            None => self.below.read(path, limit),
        }
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let folder = self.absolute(folder);
        let mut names = self.below.names(&folder);
        for effect in self.effects.iter().filter(|effect| effect.path.parent() == Some(&folder)) {
            let Some(name) = effect.path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
                continue;
            };
            match effect.change {
                Change::Deleted => names.retain(|known| *known != name),
                _ if !names.contains(&name) => names.push(name),
                _ => {}
            }
        }
        names.sort();
        names
    }

    fn which(&self, command: &str) -> Vec<PathBuf> {
        self.below.which(command)
    }

    fn var(&self, name: &str) -> Option<String> {
        self.below.var(name)
    }

    fn process_lives(&self, pid: u32) -> bool {
        self.below.process_lives(pid)
    }

    fn reach(&self, host: &str, port: Option<u16>) -> Option<Reach> {
        self.below.reach(host, port)
    }

    fn missing_mount(&self, path: &Path) -> bool {
        self.below.missing_mount(path)
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        self.below.real(path)
    }

    fn ask(&self, argv: &[&str]) -> Option<String> {
        self.below.ask(argv)
    }
}

fn fresh(kind: Kind) -> PathFacts {
    PathFacts { kind, len: 0, mode: 0o644, uid: 0, gid: 0, modified_ms: 0 }
}
