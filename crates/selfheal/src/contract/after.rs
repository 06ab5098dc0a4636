//! What is there after a run: on the machine, or in the box that it ran in.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use selfheal_core::effects::{Change, Effect};
use selfheal_core::ports::BoxedRun;
use selfheal_core::run::Run;
use selfheal_core::scene::absolute;

/// The bytes of a file that are looked into; what lies behind is not seen.
pub const LARGEST: u64 = 64 << 20;

/// A run that ended, and the files as it left them.
pub trait After {
    /// The run.
    fn run(&self) -> &Run;
    /// The files that a path or a pattern names, the newest first.
    fn named(&self, path: &Path) -> Vec<PathBuf>;
    /// The size of a file, in bytes; `None` where there is none.
    fn len(&self, file: &Path) -> Option<u64>;
    /// The content of a file; `None` where it cannot be seen.
    fn content(&self, file: &Path) -> Option<Vec<u8>>;
    /// How long ago a file was written; `None` where that is not known.
    fn age(&self, file: &Path) -> Option<Duration>;
    /// Whether the run itself wrote a file.
    fn written(&self, file: &Path) -> bool;
}

/// After a real run.
pub struct AfterReal<'a> {
    /// The job's folder.
    pub cwd: &'a Path,
    /// The run.
    pub run: &'a Run,
    /// When it began.
    pub began: SystemTime,
}

impl After for AfterReal<'_> {
    fn run(&self) -> &Run {
        self.run
    }

    fn named(&self, path: &Path) -> Vec<PathBuf> {
        let mut found = on_machine(&absolute(self.cwd, path));
        found.sort_by_key(|file| std::cmp::Reverse(modified(file)));
        found
    }

    fn len(&self, file: &Path) -> Option<u64> {
        fs::metadata(file).ok().map(|facts| facts.len())
    }

    fn content(&self, file: &Path) -> Option<Vec<u8>> {
        read(file)
    }

    fn age(&self, file: &Path) -> Option<Duration> {
        modified(file).and_then(|time| time.elapsed().ok().or(Some(Duration::ZERO)))
    }

    fn written(&self, file: &Path) -> bool {
        // Some file systems keep whole seconds only, and the clock of files lags by a tick of the kernel.
        let tick = Duration::from_millis(20);
        modified(file).is_some_and(|time| {
            let began = if is_whole(time) { whole_second(self.began) } else { self.began - tick };
            time >= began
        })
    }
}

/// After a run in a box: what it did lies over the machine.
pub struct AfterBoxed<'a> {
    /// The job's folder.
    pub cwd: &'a Path,
    /// The run, with the contents that were fetched for it.
    pub boxed: &'a BoxedRun,
}

impl AfterBoxed<'_> {
    fn effect(&self, file: &Path) -> Option<&Effect> {
        self.boxed.effects.iter().find(|effect| effect.path == file)
    }
}

impl After for AfterBoxed<'_> {
    fn run(&self) -> &Run {
        &self.boxed.run
    }

    fn named(&self, path: &Path) -> Vec<PathBuf> {
        let wanted = absolute(self.cwd, path);
        let pattern = pattern(&wanted);
        let fits = |file: &Path| match &pattern {
            Some(pattern) => pattern.matches_path_with(file, OPTIONS),
            None => file == wanted,
        };
        let made = self.boxed.effects.iter().filter(|effect| effect.change != Change::Deleted);
        let mut found: Vec<PathBuf> =
            made.map(|effect| effect.path.clone()).filter(|file| fits(file)).collect();
        for file in on_machine(&wanted) {
            if self.effect(&file).is_none() {
                found.push(file);
            }
        }
        found
    }

    fn len(&self, file: &Path) -> Option<u64> {
        match self.effect(file) {
            Some(effect) => Some(effect.len),
            None => fs::metadata(file).ok().map(|facts| facts.len()),
        }
    }

    fn content(&self, file: &Path) -> Option<Vec<u8>> {
        let fetched = |(path, content): (&PathBuf, &Vec<u8>)| {
            (absolute(self.cwd, path) == file).then(|| content.clone())
        };
        match self.effect(file) {
            Some(_) => self.boxed.fetched.iter().find_map(fetched),
            None => read(file),
        }
    }

    fn age(&self, file: &Path) -> Option<Duration> {
        match self.effect(file) {
            Some(_) => Some(Duration::ZERO),
            None => modified(file).and_then(|time| time.elapsed().ok()),
        }
    }

    fn written(&self, file: &Path) -> bool {
        self.effect(file).is_some_and(|effect| effect.change != Change::Attributes)
    }
}

const OPTIONS: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// A path with `*`, `?` or `[` as a pattern.
fn pattern(path: &Path) -> Option<glob::Pattern> {
    let text = path.to_str()?;
    if text.contains(['*', '?', '[']) { glob::Pattern::new(text).ok() } else { None }
}

/// The files on the machine that a path or a pattern names.
fn on_machine(path: &Path) -> Vec<PathBuf> {
    match pattern(path).and(path.to_str()) {
        Some(text) => {
            glob::glob_with(text, OPTIONS).into_iter().flatten().take(10_000).filter_map(Result::ok).collect()
        }
        None => path.exists().then(|| path.to_owned()).into_iter().collect(),
    }
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}

fn whole_second(time: SystemTime) -> SystemTime {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs())
}

fn is_whole(time: SystemTime) -> bool {
    whole_second(time) == time
}

/// A regular file of bounded size; never waits for a pipe.
fn read(file: &Path) -> Option<Vec<u8>> {
    let facts = fs::metadata(file).ok()?;
    if !facts.is_file() {
        return None;
    }
    let mut content = Vec::new();
    File::open(file).ok()?.take(LARGEST).read_to_end(&mut content).ok()?;
    Some(content)
}
