//! The live look at the machine: what rules, guard and feedback may ask for, as the job saw it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use rustix::fs::{Mode, OFlags};
use selfheal_core::ports::{BoxOrder, Boxes};
use selfheal_core::run::Ended;
use selfheal_core::scene::{Kind, PathFacts, Reach, Scene, absolute};

use crate::binds::Binds;
use crate::find;
use crate::mounts::Mounts;
use crate::process::Stat;
use crate::reach;
use crate::script;

/// Names of a folder that are told.
const MOST_NAMES: usize = 1_000;
/// Entries of a folder that are looked at.
const MOST_ENTRIES: usize = 200_000;
/// Places that are told of one command.
const MOST_PLACES: usize = 32;
/// How long a command may take that is asked for its help, in milliseconds.
const ASK_MS: u64 = 3_000;
/// Bytes of an answer that are kept of each end.
const ASK_KEEP: usize = 64 << 10;
/// Hosts of one incident that are looked at.
const MOST_HOSTS: usize = 4;
/// No file is read further than this, whatever was asked for.
const MOST_READ: usize = 64 << 20;

/// Folders in which commands are, beside the job's PATH.
const USUAL: [&str; 6] = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/sbin"];
/// Folders in which a site or project keeps tools of its own, below the job's folder or one above it.
const OF_SITE: [&str; 8] =
    ["bin", "tools", "tools/bin", "scripts", "sbin", ".venv/bin", "venv/bin", "node_modules/.bin"];
/// How many folders above the job's own are looked at.
const ABOVE: usize = 3;

/// The machine as the job sees it, now. Nothing is cached but the mounts.
pub struct LiveScene<'a> {
    cwd: PathBuf,
    env: BTreeMap<OsString, OsString>,
    boxes: Option<&'a dyn Boxes>,
    mounts: OnceLock<Mounts>,
    binds: OnceLock<Binds>,
    /// Whether the network may be looked at.
    network: bool,
    /// What was seen of it: one look for each host and port.
    reached: Mutex<BTreeMap<(String, Option<u16>), Reach>>,
}

impl<'a> LiveScene<'a> {
    /// The machine as seen from a folder, with an environment. Without boxes no command is ever asked.
    #[must_use]
    pub fn new(cwd: PathBuf, env: BTreeMap<OsString, OsString>, boxes: Option<&'a dyn Boxes>) -> Self {
        Self {
            cwd,
            env,
            boxes,
            mounts: OnceLock::new(),
            binds: OnceLock::new(),
            network: false,
            reached: Mutex::default(),
        }
    }

    /// Whether hosts may be looked at that an output names.
    #[must_use]
    pub fn with_network(self, network: bool) -> Self {
        Self { network, ..self }
    }

    /// Takes the mount points from these contents of fstab and mountinfo instead of the machine.
    #[must_use]
    pub fn with_mounts(self, fstab: &str, mountinfo: &str) -> Self {
        let mounts = OnceLock::from(Mounts::from_texts(fstab.as_bytes(), mountinfo.as_bytes()));
        Self { mounts, binds: OnceLock::from(Binds::from_text(mountinfo.as_bytes())), ..self }
    }

    /// The script behind a command; see [`crate::resolve_script`].
    #[must_use]
    pub fn script(&self, argv: &[OsString]) -> Option<PathBuf> {
        script::resolve_script(argv, &self.cwd, self.search())
    }

    fn search(&self) -> Option<&OsStr> {
        self.env.get(OsStr::new("PATH")).map(OsString::as_os_str)
    }

    fn at(&self, path: &Path) -> PathBuf {
        self.cwd.join(path)
    }

    /// Every folder in which a command may be, in the order in which they are told.
    fn command_folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> =
            find::folders(self.search()).map(|folder| absolute(&self.cwd, &folder)).collect();
        folders.extend(USUAL.map(PathBuf::from));
        let optional = fs::read_dir("/opt").into_iter().flatten().flatten().take(100);
        let mut optional: Vec<PathBuf> = optional.map(|entry| entry.path().join("bin")).collect();
        optional.sort();
        folders.append(&mut optional);
        folders.extend(self.env.get(OsStr::new("HOME")).map(|home| Path::new(home).join(".local/bin")));
        let above = self.cwd.ancestors().take(1 + ABOVE).filter(|folder| folder.parent().is_some());
        folders.extend(above.flat_map(|folder| OF_SITE.map(|name| folder.join(name))));
        folders
    }
}

impl Scene for LiveScene<'_> {
    fn cwd(&self) -> &Path {
        &self.cwd
    }

    fn facts(&self, path: &Path) -> Option<PathFacts> {
        let path = self.at(path);
        // A link that leads nowhere is told as a link.
        let facts = fs::metadata(&path).or_else(|_| fs::symlink_metadata(&path)).ok()?;
        Some(PathFacts {
            kind: kind(facts.file_type()),
            len: facts.len(),
            mode: facts.mode() & 0o7777,
            uid: facts.uid(),
            gid: facts.gid(),
            modified_ms: facts.mtime().saturating_mul(1000).saturating_add(facts.mtime_nsec() / 1_000_000),
        })
    }

    fn read(&self, path: &Path, limit: usize) -> Option<Vec<u8>> {
        read_regular(&self.at(path), limit)
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(self.at(folder)).into_iter().flatten().flatten().take(MOST_ENTRIES) {
            names.insert(entry.file_name().to_string_lossy().into_owned());
            if names.len() > MOST_NAMES {
                names.pop_last();
            }
        }
        names.into_iter().collect()
    }

    fn which(&self, command: &str) -> Vec<PathBuf> {
        if command.is_empty() {
            return Vec::new();
        }
        if command.contains('/') {
            let path = absolute(&self.cwd, Path::new(command));
            return if find::is_executable(&path) { vec![path] } else { Vec::new() };
        }
        let mut seen = BTreeSet::new();
        let places = self.command_folders().into_iter().map(|folder| folder.join(command));
        places
            .filter(|path| seen.insert(path.clone()) && find::is_executable(path))
            .take(MOST_PLACES)
            .collect()
    }

    fn var(&self, name: &str) -> Option<String> {
        self.env.get(OsStr::new(name)).map(|value| value.to_string_lossy().into_owned())
    }

    fn process_lives(&self, pid: u32) -> bool {
        Stat::of(pid).is_some_and(|stat| stat.lives())
    }

    fn missing_mount(&self, path: &Path) -> bool {
        let mounts = self.mounts.get_or_init(Mounts::of_machine);
        let path = absolute(&self.cwd, path);
        mounts.is_missing(&path) || mounts.is_missing(&links_resolved(&path))
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        let of_machine = || Binds::from_text(&fs::read("/proc/self/mountinfo").unwrap_or_default());
        let binds = self.binds.get_or_init(of_machine);
        Some(binds.origin(&links_resolved(&absolute(&self.cwd, path))))
    }

    fn ask(&self, argv: &[&str]) -> Option<String> {
        let boxes = self.boxes?;
        self.which(argv.first()?).first()?;
        let order = BoxOrder {
            argv: argv.iter().map(OsString::from).collect(),
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            deadline_ms: ASK_MS,
            keep: ASK_KEEP,
            ..BoxOrder::default()
        };
        let run = boxes.run(&order).ok()?.run;
        matches!(run.ended, Ended::Exited(_)).then(|| run.stdout.text() + &run.stderr.text())
    }

    fn reach(&self, host: &str, port: Option<u16>) -> Option<Reach> {
        let mut reached = self.reached.lock().ok().filter(|_| self.network)?;
        let full = reached.len() >= MOST_HOSTS;
        match reached.entry((host.to_owned(), port)) {
            Entry::Occupied(known) => Some(known.get().clone()),
            Entry::Vacant(_) if full => None,
            Entry::Vacant(new) => Some(new.insert(reach::look(host, port)).clone()),
        }
    }
}

impl std::fmt::Debug for LiveScene<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveScene").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

fn kind(file_type: fs::FileType) -> Kind {
    if file_type.is_file() {
        Kind::File
    } else if file_type.is_dir() {
        Kind::Directory
    } else if file_type.is_symlink() {
        Kind::Link
    } else {
        Kind::Special
    }
}

/// The path with the links in the part of it that exists resolved.
fn links_resolved(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (above.canonicalize(), path.strip_prefix(above)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}

/// The first bytes of a regular file. Never waits: what only looks like a file (a fifo, a device) is not read.
#[must_use]
pub fn read_regular(path: &Path, limit: usize) -> Option<Vec<u8>> {
    // A look before the open: opening some devices does something.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(limit.min(MOST_READ) as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
