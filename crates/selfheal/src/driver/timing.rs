//! How long rules take, without what other programs take that they ask (a tool's own help).

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selfheal_core::scene::{PathFacts, Scene};

use crate::document::RuleTime;

/// A scene that knows how long it took to ask programs.
pub(super) struct TimedScene<'a> {
    below: &'a dyn Scene,
    asking: Cell<Duration>,
}

impl<'a> TimedScene<'a> {
    pub(super) fn new(below: &'a dyn Scene) -> Self {
        Self { below, asking: Cell::new(Duration::ZERO) }
    }

    /// Runs one rule and keeps its time if none took longer.
    pub(super) fn measure(&self, name: &str, slowest: &RefCell<Option<RuleTime>>, rule: &mut dyn FnMut()) {
        let (started, asked) = (Instant::now(), self.asking.get());
        rule();
        let took = started.elapsed().saturating_sub(self.asking.get().saturating_sub(asked));
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let mut slowest = slowest.borrow_mut();
        if slowest.as_ref().is_none_or(|known| known.microseconds < microseconds) {
            *slowest = Some(RuleTime { name: name.to_owned(), microseconds });
        }
    }
}

impl Scene for TimedScene<'_> {
    fn cwd(&self) -> &Path {
        self.below.cwd()
    }

    fn facts(&self, path: &Path) -> Option<PathFacts> {
        self.below.facts(path)
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        self.below.read(path, limit)
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        self.below.names(folder)
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

    fn missing_mount(&self, path: &Path) -> bool {
        self.below.missing_mount(path)
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        self.below.real(path)
    }

    fn ask(&self, argv: &[&str]) -> Option<String> {
        let started = Instant::now();
        let answer = self.below.ask(argv);
        self.asking.set(self.asking.get() + started.elapsed());
        answer
    }
}
