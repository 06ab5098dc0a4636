//! Boxes: a command runs against the whole machine as it is, and nothing that it does reaches it.
//!
//! [`BoxRunner`] starts the program again as the hidden, single-threaded `__box`, which does what `outer` describes. Two
//! rungs are built, as root and as an ordinary user: the overlay over the whole tree, and below it the machine
//! read-only with copies of the job's folders in their places (see `copied.rs`), for kernels and containers that have
//! namespaces and no overlays. Both are in namespaces of their own. Without these nothing is built, and
//! [`Boxes::rung`] says `none` and why: copies that the job does not see at their own paths, behind Landlock alone, do
//! not show what it would do; and what Landlock cannot forbid (modes, owners and times of files outside, locks, FIFOs,
//! services) would reach the machine. `bwrap` needs the same from the kernel, so it would help only where a profile
//! allows namespaces to that program alone.
//!
//! What a box does not imitate: an ordinary user sees other owners as nobody, and cannot write to what belongs to
//! others even where its mode allows it; setuid programs do not gain rights; a folder of the machine cannot be renamed
//! by `rename(2)` (`mv` copies it). [`BoxedRun::inconclusive`] says so when a run ends for such a reason.

mod confine;
mod copied;
mod doubt;
mod environment;
mod first;
mod hide;
mod layout;
mod mounts;
mod network;
mod outer;
mod overlay;
mod seccomp;
mod secrets;
mod setuid;
mod setup;
mod tap;
mod tree;
mod watch;
mod wire;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use selfheal_core::ids::{RunId, Timestamp};
use selfheal_core::ports::{BoxLimits, BoxOrder, BoxedRun, Boxes, PortError, Rung, Trouble};
use selfheal_core::run::{Capture, Ended, Run};
use selfheal_core::scene::absolute;
use selfheal_core::verification::SceneEdit;

use crate::find;
use crate::probe::{Probe, SeenByProbe};
use crate::scene::read_regular;
use tap::{Drained, Tap, drain};
use wire::{Answer, Edit, Limits, Plan, Seen};

pub(crate) use outer::{is_mighty, map_self};
pub(crate) use overlay::{Step, mount_fresh, named};
pub(crate) use wire::{Kept, Raw};

/// The folder of the probe's files in `/dev` of a box.
pub(crate) const PROBE_NAME: &str = ".selfheal";

/// The same, as the job sees it.
pub(crate) const PROBE_FOLDER: &str = "/dev/.selfheal";

/// The descriptor that a probe writes to.
pub(crate) const TRACE_FD: i32 = 198;

/// The names of the folders of single boxes in the store begin so; process and number follow.
const STORE_PREFIX: &str = "box-";

/// So many processes may live in a box at once.
pub(crate) const MOST_PROCESSES: u64 = 1024;

/// However short memory is, a box may use so much of it, in bytes.
const LEAST_MEMORY: u64 = 256 * 1024 * 1024;

/// No file may be larger, in bytes.
const LARGEST_FILE: u64 = 8 * 1024 * 1024 * 1024;

/// The most that a box may write, in bytes; less where memory is short.
const MOST_ROOM: u64 = 2 * 1024 * 1024 * 1024;

/// A script is searched this far for paths that it may write.
const SCRIPT_SEARCHED: usize = 256 * 1024;

/// What a box may take beyond its job's time limit: to be built, and to list the effects. A dead network file system
/// can hold it up for ever.
const SPARE: Duration = Duration::from_secs(60);

/// An answer is taken up to this length.
const LONGEST_ANSWER: usize = 512 * 1024 * 1024;

/// So many paths are looked at for overlays of their own.
const MOST_WANTED: usize = 256;

/// How boxes are made.
#[derive(Clone, Debug, Default)]
pub struct BoxConfig {
    /// The program that is started again as `__box`: it must call [`crate::hidden_command`] first.
    pub program: PathBuf,
    /// A private folder. What a box writes goes to a temporary file system that is mounted on it, where only the box
    /// sees it; nothing of it reaches the disk.
    pub store: PathBuf,
    /// Paths that are hidden in every box, besides secrets: selfheal's own state.
    pub hidden: Vec<PathBuf>,
    /// Further secrets: absolute paths, and others in every home folder.
    pub secrets: Vec<PathBuf>,
    /// Secrets that every box may see.
    pub see: Vec<PathBuf>,
    /// What one box may use; a share of the free memory where not given.
    pub limits: BoxLimits,
    /// Whether an ordinary user's box is read-only where he could not write anyway: faster, and what is refused there is
    /// in doubt.
    pub lean: bool,
    /// Folders that every box sees at other places, as [`crate::Apart::seen_at`] has them. What is done there is told of,
    /// and put in place, where they really are.
    pub seen_at: Vec<(PathBuf, PathBuf)>,
    /// The lowest rung that will do; any when not given.
    pub lowest: Option<String>,
    /// Rungs that are not used although the machine offers them.
    pub forbid: Vec<String>,
    /// At most so many bytes of each stream of a live run are passed on where that leads to a file.
    pub most_to_files: Option<u64>,
}

/// Runs commands in boxes.
#[derive(Debug)]
pub struct BoxRunner {
    config: BoxConfig,
    rung: OnceLock<Rung>,
    count: AtomicU32,
}

/// Runs the hidden command; gives its exit code.
pub(crate) fn hidden_box() -> i32 {
    outer::main()
}

impl BoxRunner {
    /// A runner. Nothing is started before the first use.
    #[must_use]
    pub fn new(config: BoxConfig) -> Self {
        Self { config, rung: OnceLock::new(), count: AtomicU32::new(0) }
    }

    fn find_rung(&self) -> Rung {
        self.clear_store();
        let mut why = Vec::new();
        for (at, (name, what)) in RUNGS.iter().enumerate() {
            let copied = (*name == COPY).then(Vec::new);
            let demanded = self.config.lowest.as_deref();
            let too_low =
                demanded.is_some_and(|lowest| RUNGS.iter().take(at).any(|(name, _)| *name == lowest));
            let reason = if self.config.forbid.iter().any(|forbidden| forbidden == name) {
                "not wanted".to_owned()
            } else if too_low {
                format!("the settings demand {}", demanded.unwrap_or_default())
            } else {
                match self.ask(&Plan { dry: true, copied, ..self.base_plan() }) {
                    Ok(Answer::Built) => return Rung { name: (*name).to_owned(), why_not_better: why },
                    Ok(Answer::NotBuilt(step) | Answer::NotSetUp(step)) => format!("cannot {step}"),
                    Ok(Answer::Ran(_)) => "it gave no answer".to_owned(),
                    Err(error) => format!("failed to {error}"),
                }
            };
            why.push(format!("{what}: {reason}"));
        }
        why.push(HOW_TO_MEND.to_owned());
        Rung { name: "none".to_owned(), why_not_better: why }
    }

    /// Removes the empty folders of boxes whose program was killed. One that is in use must stay: removing it would take
    /// the box's store away.
    fn clear_store(&self) {
        for entry in fs::read_dir(&self.config.store).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let pid =
                name.strip_prefix(STORE_PREFIX).and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
            if pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
                // What cannot be removed harms nobody.
                let _ = fs::remove_dir(entry.path());
            }
        }
    }

    /// The parts of a plan that do not depend on the order.
    fn base_plan(&self) -> Plan {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        Plan {
            parent: i32::try_from(std::process::id()).unwrap_or(0),
            store: Raw::of(self.config.store.join(format!("{STORE_PREFIX}{}-{number}", std::process::id()))),
            limits: limits(self.config.limits),
            lean: self.config.lean,
            shown: self.config.seen_at.iter().map(|(from, to)| (Raw::of(from), Raw::of(to))).collect(),
            hidden: self.config.hidden.iter().chain([&self.config.store]).map(Raw::of).collect(),
            ..Plan::default()
        }
    }

    fn plan(&self, order: &BoxOrder) -> Prepared {
        let (mut env, withheld) = environment::for_box(&order.env);
        let probe = order.traced.then(|| Probe::new(order, random_hex()));
        let argv = match &probe {
            Some(probe) => probe.prepare(order, &mut env),
            None => order.argv.clone(),
        };
        let home = order.env.get(std::ffi::OsStr::new("HOME")).map(Path::new);
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let uid = rustix::process::geteuid().as_raw();
        let mut plan = self.base_plan();
        plan.hidden.extend(order.hidden.iter().map(Raw::of));
        let see: Vec<PathBuf> =
            self.config.see.iter().chain(&order.see).map(|path| absolute(&order.cwd, path)).collect();
        let secrets = secrets::paths(home, &passwd, uid, &self.config.secrets);
        plan.hidden.extend(
            secrets.iter().filter(|path| !see.iter().any(|seen| path.starts_with(seen))).map(Raw::of),
        );
        plan.seen = see
            .iter()
            .filter(|seen| secrets.iter().any(|path| seen.starts_with(path)))
            .map(Raw::of)
            .collect();
        plan.limits = limits(order.limits.or(self.config.limits));
        plan.net = order.net;
        plan.wanted = wanted(order).iter().map(Raw::of).collect();
        plan.argv = argv.iter().map(Raw::of).collect();
        plan.cwd = Raw::of(&order.cwd);
        plan.env = env.iter().map(|(name, value)| (Raw::of(name), Raw::of(value))).collect();
        plan.setup = order.setup.iter().map(edit).collect();
        plan.deadline_ms = order.deadline_ms;
        plan.keep = order.keep;
        plan.keep_of_stderr = probe.as_ref().map_or(order.keep, |probe| probe.keep_of_stderr(order.keep));
        plan.fetch = order.fetch.iter().map(Raw::of).collect();
        plan.traced = probe.is_some();
        plan.draft = order.draft.as_ref().map(|draft| wire::Draft {
            folder: Raw::of(&draft.folder),
            id: draft.id.clone(),
            command: draft.command.as_str().to_owned(),
            made: now_ms(),
        });
        plan.probe = probe.as_ref().map(|probe| probe.files(order)).unwrap_or_default();
        Prepared { plan, probe, secrets: withheld, env, live: order.live }
    }

    /// Starts the hidden command with a plan and waits for its answer.
    fn ask(&self, plan: &Plan) -> Result<Answer, PortError> {
        self.ask_with(plan, None)
    }

    /// The same; the job's streams are the caller's.
    fn ask_live(&self, plan: &mut Plan) -> Result<Answer, PortError> {
        let streams =
            Streams::of_self().map_err(|error| PortError::new("pass the streams to a box", error))?;
        plan.live = Some(wire::Live { most: self.config.most_to_files, ..streams.numbers() });
        self.ask_with(plan, Some(&streams))
    }

    fn ask_with(&self, plan: &Plan, streams: Option<&Streams>) -> Result<Answer, PortError> {
        let _store = Store::make(plan.store.path())?;
        let text =
            serde_json::to_vec(plan).map_err(|error| PortError::new("write the plan of a box", error))?;
        let mut command = Command::new(&self.config.program);
        command
            .arg(crate::hidden::BOX)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(streams) = streams {
            streams.inherit(&mut command);
        }
        let mut child = command.spawn().map_err(|error| {
            PortError::new(format!("start {} for a box", self.config.program.display()), error)
        })?;
        let attached = crate::unix::Attached::to(child.id());
        let answer =
            converse(&mut child, &text, Duration::from_millis(plan.deadline_ms).saturating_add(SPARE));
        if answer.is_err() {
            // It may have ended by itself.
            let _ = child.kill();
        }
        drop(attached);
        let status = child.wait().map_err(|error| PortError::new("wait for a box", error))?;
        let answer = answer.map_err(|error| PortError::new("talk to a box", error))?;
        serde_json::from_slice(&answer).map_err(|error| {
            PortError::new(format!("read the answer of a box that ended with {status}"), error)
        })
    }

    fn ask_for(&self, prepared: &mut Prepared) -> Result<Answer, PortError> {
        if prepared.live { self.ask_live(&mut prepared.plan) } else { self.ask(&prepared.plan) }
    }

    fn check_rung(&self) -> Result<(), PortError> {
        let rung = self.rung();
        if rung.can_try() {
            return Ok(());
        }
        let why = rung.why_not_better.join("; ");
        Err(PortError::plain(format!("build a box ({why})"), Trouble::Other))
    }

    fn judge(&self, order: &BoxOrder, prepared: &Prepared, started: i64, seen: Seen) -> BoxedRun {
        let (stdout, mut stderr): (Capture, Capture) = (seen.stdout.into(), seen.stderr.into());
        let trace = prepared.probe.as_ref().and_then(|probe| {
            let seen = SeenByProbe { code: seen.ended.code(), stream: &seen.trace, stderr: &mut stderr };
            probe.read(order, &prepared.env, seen)
        });
        let output = format!("{}\n{}", stdout.text(), stderr.text());
        let hidden: Vec<PathBuf> = seen.hidden.into_iter().map(Raw::into_path).collect();
        let setuid = if seen.ended == Ended::Exited(0) { Vec::new() } else { setuid::programs(order) };
        let several_names = seen.several_names.map(Raw::into_path);
        let inconclusive = doubt::doubt(&doubt::Evidence {
            ended: &seen.ended,
            output: &output,
            hidden: &hidden,
            secrets: &prepared.secrets,
            overrun: seen.overrun,
            net: prepared.plan.net,
            several_names: several_names.as_deref(),
            setuid: &setuid,
            copied: prepared.plan.copied.is_some(),
            complete: seen.effects_complete,
            as_root: rustix::process::geteuid().is_root(),
        });
        let run = Run {
            id: new_run_id(started),
            started: Timestamp(started),
            duration_ms: seen.duration_ms,
            ended: seen.ended,
            stdout,
            stderr,
            peak_kib: Some(seen.peak_kib).filter(|peak| *peak > 0),
            left_running: wire::left_running(seen.left),
            at_deadline: None,
        };
        BoxedRun {
            run,
            effects: seen.effects.into_iter().map(Into::into).collect(),
            trace,
            inconclusive,
            rung: self.rung().name,
            fetched: seen.fetched.into_iter().map(|(path, content)| (path.into_path(), content.0)).collect(),
            no_draft: seen.no_draft,
            network_tries: seen.network_tries,
        }
    }
}

/// Gives a plan to the hidden command and takes its answer, within a time.
fn converse(child: &mut Child, plan: &[u8], limit: Duration) -> io::Result<Vec<u8>> {
    let until = Instant::now().checked_add(limit);
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    input.write_all(plan)?;
    drop(input);
    let mut taps = [Tap::new(output.into(), LONGEST_ANSWER)];
    if drain(&mut taps, until) == Drained::Late {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let [tap] = taps;
    Ok(tap.into_kept().head.0)
}

/// A plan with what is needed to read its answer.
struct Prepared {
    plan: Plan,
    probe: Option<Probe>,
    secrets: Vec<String>,
    env: BTreeMap<OsString, OsString>,
    live: bool,
}

/// The caller's own streams, for a job that gets them. They must stay open until the hidden command was started.
struct Streams {
    input: Option<OwnedFd>,
    output: OwnedFd,
}

impl Streams {
    /// Standard input is left out where it is a terminal: a job in a session of its own cannot use it.
    fn of_self() -> io::Result<Self> {
        let copy = |number| rustix::io::fcntl_dupfd_cloexec(crate::unix::standard(number), 3);
        let input = if io::stdin().is_terminal() { None } else { Some(copy(0)?) };
        Ok(Self { input, output: copy(1)? })
    }

    fn numbers(&self) -> wire::Live {
        let input = self.input.as_ref().map(AsRawFd::as_raw_fd);
        wire::Live { input, output: self.output.as_raw_fd(), most: None }
    }

    fn inherit(&self, command: &mut Command) {
        let numbers = self.input.iter().chain([&self.output]).map(AsRawFd::as_raw_fd);
        crate::unix::inherit(command, numbers.collect());
        command.stderr(Stdio::inherit());
    }
}

/// The rung below overlays.
const COPY: &str = "copy";

/// The rungs, the best first, and what they are.
const RUNGS: [(&str, &str); 2] =
    [("overlay", "whole-tree overlay"), (COPY, "copies of the job's folders over a read-only machine")];

/// The folders that are copied where there is no overlay: the job's own and its script's.
fn copied(order: &BoxOrder) -> Vec<Raw> {
    let script = order.script.as_ref().and_then(|script| script.parent());
    let folders = [Some(order.cwd.as_path()), script].into_iter().flatten();
    // Links on the way are resolved, or the copy would be bound over what a link leads to and not be found by it.
    folders.map(|folder| Raw::of(folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()))).collect()
}

fn overlay_rung() -> Rung {
    Rung { name: "overlay".to_owned(), why_not_better: Vec::new() }
}

const HOW_TO_MEND: &str = "a box needs Linux 5.12 (for an ordinary user 6.6) with overlays and user namespaces: see \
    user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns; in a container it needs a /proc without \
    masks and a store that is not itself an overlay";

impl Boxes for BoxRunner {
    fn rung(&self) -> Rung {
        self.rung.get_or_init(|| self.find_rung()).clone()
    }

    fn run(&self, order: &BoxOrder) -> Result<BoxedRun, PortError> {
        // The first run finds out by itself whether there can be a box.
        let unknown = self.rung.get().is_none() && self.config.forbid.is_empty();
        if !unknown {
            self.check_rung()?;
        }
        let mut prepared = self.plan(order);
        let started = now_ms();
        if !unknown && self.rung().name == COPY {
            prepared.plan.copied = Some(copied(order));
        }
        let mut answer = self.ask_for(&mut prepared)?;
        if unknown && matches!(answer, Answer::NotBuilt(_)) {
            self.check_rung()?;
            if self.rung().name == COPY {
                prepared.plan.copied = Some(copied(order));
                answer = self.ask_for(&mut prepared)?;
            }
        }
        match answer {
            Answer::Ran(seen) => {
                self.rung.get_or_init(overlay_rung);
                if let Some(what) = lacking(order, &seen.ended) {
                    return Err(PortError::plain(format!("start it in a box: {what}"), Trouble::Other));
                }
                Ok(self.judge(order, &prepared, started, *seen))
            }
            Answer::NotBuilt(step) => {
                Err(PortError::plain(format!("build a box: cannot {step}"), Trouble::Other))
            }
            Answer::NotSetUp(step) => {
                Err(PortError::plain(format!("prepare a box: cannot {step}"), Trouble::Other))
            }
            Answer::Built => Err(PortError::plain("run a job in a box: it was not started", Trouble::Other)),
        }
    }
}

/// Why a job could not be started in a box, where nothing of it was executed and the machine has what the box lacked.
fn lacking(order: &BoxOrder, ended: &Ended) -> Option<String> {
    match ended {
        // What was changed for the run may be the reason.
        _ if !order.setup.is_empty() => None,
        Ended::NotStarted { reason } => order.cwd.is_dir().then(|| reason.clone()),
        Ended::NotFound => {
            let search = order.env.get(std::ffi::OsStr::new("PATH")).map(OsString::as_os_str);
            let path = find::command(order.argv.first()?, &order.cwd, search).ok()?;
            Some(format!("it has no {}", order.cwd.join(path).display()))
        }
        Ended::InterpreterMissing { interpreter } => {
            find::is_executable(Path::new(interpreter)).then(|| format!("it has no {interpreter}"))
        }
        _ => None,
    }
}

/// The mount point for one box's store; it is removed when the box is gone.
struct Store(PathBuf);

impl Store {
    fn make(path: &Path) -> Result<Self, PortError> {
        use std::os::unix::fs::DirBuilderExt;
        fs::DirBuilder::new().mode(0o700).recursive(true).create(path).map_err(|error| PortError {
            trouble: Trouble::NoRoom,
            ..PortError::new(format!("make {}", path.display()), error)
        })?;
        Ok(Self(path.to_path_buf()))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // An empty folder that stays behind harms nobody.
        let _ = fs::remove_dir(&self.0);
    }
}

fn edit(edit: &SceneEdit) -> Edit {
    match edit {
        SceneEdit::Write { path, content, mode } => Edit::Write(Raw::of(path), Raw(content.clone()), *mode),
        SceneEdit::MakeFolder { path } => Edit::MakeFolder(Raw::of(path)),
        SceneEdit::Remove { path } => Edit::Remove(Raw::of(path)),
        SceneEdit::Empty { path } => Edit::Empty(Raw::of(path)),
        SceneEdit::Mode { path, mode } => Edit::Mode(Raw::of(path), *mode),
    }
}

/// The limits of a box where the caller gave none: of the memory that is free a quarter to write, and half for its
/// processes.
fn limits(given: BoxLimits) -> Limits {
    let free = free_memory();
    Limits {
        processes: given.processes.unwrap_or(MOST_PROCESSES),
        memory: given.memory.unwrap_or_else(|| free.map_or(u64::MAX, |free| (free / 2).max(LEAST_MEMORY))),
        file_size: given.file_size.unwrap_or(LARGEST_FILE),
        room: given
            .room
            .unwrap_or_else(|| free.map_or(MOST_ROOM, |free| (free / 4).min(MOST_ROOM)))
            .min(given.most_room.unwrap_or(u64::MAX)),
    }
}

/// Memory that programs could get now, in bytes.
fn free_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Paths that a job may want to write, for the overlays of an ordinary user: its folder, its home, temporary folders,
/// and absolute paths in its words, its environment and its script.
fn wanted(order: &BoxOrder) -> Vec<PathBuf> {
    let mut paths = vec![order.cwd.clone(), PathBuf::from("/var/tmp"), PathBuf::from("/run/lock")];
    paths.extend(order.script.iter().filter_map(|script| Some(script.parent()?.to_path_buf())));
    paths.extend(order.setup.iter().map(|edit| absolute(&order.cwd, path_of(edit))));
    let mut text: Vec<u8> = Vec::new();
    for word in order.argv.iter().chain(order.env.values()) {
        text.extend_from_slice(word.as_bytes());
        text.push(b'\n');
    }
    // What cannot be read names no paths.
    text.extend(
        order.script.as_ref().and_then(|script| read_regular(script, SCRIPT_SEARCHED)).unwrap_or_default(),
    );
    paths.extend(paths_in(&String::from_utf8_lossy(&text)));
    paths.truncate(MOST_WANTED);
    paths
}

fn path_of(edit: &SceneEdit) -> &Path {
    match edit {
        SceneEdit::Write { path, .. }
        | SceneEdit::MakeFolder { path }
        | SceneEdit::Remove { path }
        | SceneEdit::Empty { path }
        | SceneEdit::Mode { path, .. } => path,
    }
}

/// The absolute paths that are written in a text.
fn paths_in(text: &str) -> impl Iterator<Item = PathBuf> + '_ {
    let ends = |c: char| !(c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | '%'));
    text.split(ends).filter(|word| word.starts_with('/') && word.len() > 1).map(PathBuf::from)
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Sixteen random hexadecimal digits.
fn random_hex() -> String {
    random().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Random bytes; zeroes where the system has none, which only makes two names alike.
fn random() -> [u8; 10] {
    let mut bytes = [0_u8; 10];
    let _ = fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    bytes
}

/// A UUIDv7: the time, then random bits.
fn new_run_id(now_ms: i64) -> RunId {
    let random = random().iter().fold(0_u128, |sum, byte| (sum << 8) | u128::from(*byte));
    let time = u128::from(now_ms.unsigned_abs()) & 0xffff_ffff_ffff;
    let low = (random & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000;
    let id = (time << 80) | (0x7 << 76) | (((random >> 64) & 0xfff) << 64) | low;
    let text = format!("{id:032x}");
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    RunId::new(format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)))
}
