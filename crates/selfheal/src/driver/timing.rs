//! How long rules take: the processor's time of the thread, so that it counts on a busy machine too. What other programs
//! take that they ask (a tool's own help) is not in it.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use selfheal_core::scene::{PathFacts, Reach, Scene};

use crate::document::RuleTime;

/// What this thread had of the processor's time so far.
fn spent() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
}

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
        let (started, asked) = (spent(), self.asking.get());
        rule();
        let took = spent().saturating_sub(started).saturating_sub(self.asking.get().saturating_sub(asked));
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
        let started = spent();
        let answer = self.below.ask(argv);
        self.asking.set(self.asking.get() + spent().saturating_sub(started));
        answer
    }
}
