//! A machine made of a few files, for tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use selfheal_core::scene::{Kind, PathFacts, Scene, absolute};

/// A machine made of a few files.
#[derive(Default)]
pub struct FakeScene {
    cwd: PathBuf,
    files: BTreeMap<PathBuf, Vec<u8>>,
    folders: BTreeSet<PathBuf>,
    programs: BTreeSet<PathBuf>,
    commands: BTreeMap<String, Vec<PathBuf>>,
    vars: BTreeMap<String, String>,
    alive: BTreeSet<u32>,
}

impl FakeScene {
    /// An empty machine with this folder.
    pub fn new(cwd: &str) -> Self {
        Self { cwd: cwd.into(), ..Self::default() }.folder(cwd)
    }

    /// With a file, and the folders above it.
    pub fn file(mut self, path: &str, content: &str) -> Self {
        let path = absolute(&self.cwd, Path::new(path));
        self.folders.extend(path.ancestors().skip(1).map(Path::to_path_buf));
        self.files.insert(path, content.into());
        self
    }

    /// With a folder, and those above it.
    pub fn folder(mut self, path: &str) -> Self {
        let path = absolute(&self.cwd, Path::new(path));
        self.folders.extend(path.ancestors().map(Path::to_path_buf));
        self
    }

    /// With a file that can be executed.
    pub fn program(mut self, path: &str) -> Self {
        self.programs.insert(path.into());
        self.file(path, "")
    }

    /// With a command somewhere.
    pub fn command(mut self, name: &str, path: &str) -> Self {
        self.commands.entry(name.into()).or_default().push(path.into());
        self
    }

    /// With a variable.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// With a process that lives.
    pub fn alive(mut self, pid: u32) -> Self {
        self.alive.insert(pid);
        self
    }
}

impl Scene for FakeScene {
    fn cwd(&self) -> &Path {
        &self.cwd
    }

    fn facts(&self, path: &Path) -> Option<PathFacts> {
        let path = absolute(&self.cwd, path);
        let (kind, len, mode) = match self.files.get(&path) {
            Some(content) if self.programs.contains(&path) => (Kind::File, content.len() as u64, 0o755),
            Some(content) => (Kind::File, content.len() as u64, 0o644),
            None if self.folders.contains(&path) => (Kind::Directory, 0, 0o755),
            None => return None,
        };
        Some(PathFacts { kind, len, mode, uid: 0, gid: 0, modified_ms: 0 })
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        let content = self.files.get(&absolute(&self.cwd, path))?;
        Some(content.iter().take(limit).copied().collect())
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let folder = absolute(&self.cwd, folder);
        let mut names: Vec<String> = self
            .files
            .keys()
            .chain(&self.folders)
            .filter(|path| path.parent() == Some(&folder))
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    }

    fn which(&self, command: &str) -> Vec<PathBuf> {
        self.commands.get(command).cloned().unwrap_or_default()
    }

    fn var(&self, name: &str) -> Option<String> {
        self.vars.get(name).cloned()
    }

    fn process_lives(&self, pid: u32) -> bool {
        self.alive.contains(&pid)
    }

    fn missing_mount(&self, path: &Path) -> bool {
        path.starts_with("/mnt") && !self.folders.contains(path)
    }

    fn ask(&self, _argv: &[&str]) -> Option<String> {
        None
    }
}
