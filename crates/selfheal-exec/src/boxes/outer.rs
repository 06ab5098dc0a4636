//! The hidden `__box` command: builds one box, runs one job in it, looks at what it did, and answers.
//!
//! Theory of operation. Three processes: this one (*outer*), in a mount namespace of its own, which builds the file
//! tree, reads the output and lists the effects; *first*, process 1 of the box, which finishes the tree and collects
//! orphans; and the job. The kernel kills first when outer dies, and everything in the box when first dies, so no end
//! of any of them leaves a process behind. The store is a temporary file system in outer's namespace: it, and with it
//! every mount, is gone when outer is.

use std::cell::Cell;
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountAttrFlags, MountPropagationFlags, mount_change};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use rustix::thread::UnshareFlags;
use selfheal_core::run::Ended;

use super::confine::Walls;
use super::copied::Copies;
use super::first::{self, Ends, World};
use super::hide;
use super::layout;
use super::mounts::Mounts;
use super::overlay::{Step, mount_fresh, named};
use super::setup;
use super::tap::{Drained, Tap, drain, drain_watched};
use super::tree::{self, Builder, Machine};
use super::watch::Watch;
use super::wire::{self, Answer, Kept, Note, Plan, Raw, Seen, WireEffect};
use crate::commit;
use crate::effects::{self, Layer, Marks};
use crate::unix::{Forked, adopt, exit_now, fork_into, standard, unshare, wait_with_usage};

/// The largest file that is handed back.
const LARGEST_FETCHED: u64 = 1024 * 1024;

/// A file costs memory even when it is empty: so many bytes of room are counted for each.
const BYTES_A_FILE: u64 = 4096;

/// So many files can be written however little room there is; a box needs some for itself.
const FEWEST_FILES: u64 = 4096;

/// So many files can be written at most.
const MOST_FILES: u64 = 400_000;

/// Bytes kept of each end of what a probe writes.
const TRACE_KEPT: usize = 8 * 1024 * 1024;

/// Bytes kept of what the first process says; it says little.
const NOTES_KEPT: usize = 1024 * 1024;

/// Runs the command: the plan comes on standard input, the answer goes to standard output. Gives the exit code.
pub(crate) fn main() -> i32 {
    let mut text = Vec::new();
    let plan =
        io::stdin().lock().read_to_end(&mut text).ok().and_then(|_| serde_json::from_slice(&text).ok());
    let Some(plan) = plan else { return 2 };
    let answer = act(&plan);
    let Ok(text) = serde_json::to_vec(&answer) else { return 1 };
    let mut out = io::stdout().lock();
    i32::from(out.write_all(&text).and_then(|()| out.flush()).is_err())
}

fn act(plan: &Plan) -> Answer {
    match Outer::build(plan) {
        Err(Trouble::Building(step)) => Answer::NotBuilt(step),
        Err(Trouble::Setup(step)) => Answer::NotSetUp(step),
        Ok(outer) => match outer.run(plan) {
            Err(step) => Answer::NotBuilt(step),
            Ok(_) if plan.dry => Answer::Built,
            Ok(seen) => Answer::Ran(Box::new(seen)),
        },
    }
}

/// Dies with the process that asked.
fn die_with(parent: i32) -> Step<()> {
    named(set_parent_process_death_signal(Some(Signal::KILL)), "ask to end with the parent")?;
    let now = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    if now == parent { Ok(()) } else { Err("run: the program that asked is gone".to_owned()) }
}

enum Trouble {
    Building(String),
    Setup(String),
}

impl From<String> for Trouble {
    fn from(step: String) -> Self {
        Self::Building(step)
    }
}

/// A built box.
struct Outer {
    built: Built,
    store: PathBuf,
    marks: Marks,
    hidden: Vec<PathBuf>,
    mask: Mode,
    /// When it was begun to be built.
    begun: (i64, i64),
}

impl Outer {
    fn build(plan: &Plan) -> Result<Self, Trouble> {
        let begun = commit::now();
        die_with(plan.parent)?;
        let mask = rustix::process::umask(Mode::from_raw_mode(0o022));
        let marks = if is_mighty() { Marks::Trusted } else { Marks::User };
        let store = plan.store.path().to_path_buf();
        named(fs::DirBuilder::new().mode(0o700).recursive(true).create(&store), "make the store")?;
        enter_namespaces(marks)?;
        // Entering a user namespace counts as a change of credentials, which forgets the request.
        die_with(plan.parent)?;
        let seen_at = plan.seen_at();
        crate::apart::show(&seen_at)?;
        let mounts = named(fs::read("/proc/self/mountinfo"), "read the mount points")?;
        let mounts = Mounts::parse(&mounts);
        mount_store(&store, plan.limits.room)?;
        let mut built = match &plan.copied {
            Some(roots) => copies(plan, roots, &store, &mounts)?,
            None => overlays(plan, marks, &store, &mounts)?,
        };
        for layer in &mut built.layers {
            layer.at = crate::apart::real(&seen_at, &layer.at);
        }
        let mut secrets = paths(&plan.hidden);
        if plan.setup.is_empty() {
            // What is not on the machine is not in the box; there, each look costs ten times as much.
            secrets.retain(|path| !is_missing(path));
        }
        let hidden = hide::hide(&built.root, &store, &secrets, &paths(&plan.seen))?;
        Ok(Self { built, store, marks, hidden, mask, begun })
    }

    /// Runs the job and looks at what it did.
    fn run(&self, plan: &Plan) -> Step<Seen> {
        let since = plan.draft.is_some().then(|| commit::moment(self.begun));
        let started = Instant::now();
        let (mut taps, pid) = self.start(plan)?;
        let limit = Duration::from_millis(plan.deadline_ms);
        let mut watch = Watch::new(pid, plan.limits, self.store.clone());
        let drained = drain_watched(&mut taps, started.checked_add(limit), &mut || watch.look());
        watch.look();
        let late = drained == Drained::Late;
        if drained != Drained::All {
            named(kill_process(pid, Signal::KILL), "end the box")?;
            // First is dying, and every process of the box with it: this comes to an end.
            drain(&mut taps, None);
        }
        let (_, peak_kib) = named(wait_with_usage(pid), "wait for the box")?;
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut kept = taps.into_iter().map(Tap::into_kept);
        let mut next = || kept.next().unwrap_or_default();
        let (stdout, stderr, trace, notes) = (next(), next(), next(), next());
        let (ended, left, network_tries) = read_notes(&notes)?;
        let ended =
            if late && left.is_none() { Ended::TimedOut { after_ms: plan.deadline_ms } } else { ended };
        let listing = if plan.dry {
            effects::Listing::default()
        } else {
            effects::list(&self.built.layers, self.built.marks)
        };
        let no_draft =
            since.zip(plan.draft.as_ref()).and_then(|(since, draft)| self.keep(draft, since, &listing));
        Ok(Seen {
            ended,
            duration_ms,
            stdout,
            stderr,
            trace,
            peak_kib,
            effects: listing.effects.into_iter().map(WireEffect::from).collect(),
            effects_complete: listing.complete,
            several_names: listing.several_names.map(Raw::of),
            fetched: plan.fetch.iter().filter_map(|path| self.fetch(plan, path)).collect(),
            overrun: watch.overrun(),
            left: left.unwrap_or_default(),
            hidden: self.hidden.iter().map(Raw::of).collect(),
            no_draft,
            network_tries,
        })
    }

    /// Keeps what the job did as a draft; gives why it could not.
    fn keep(&self, draft: &wire::Draft, since: (i64, i64), listing: &effects::Listing) -> Option<String> {
        if self.built.marks == Marks::Copied {
            return Some(
                "it ran on copies of its folders, and only what an overlay holds can be put in place"
                    .to_owned(),
            );
        }
        let export = commit::Export {
            folder: draft.folder.path(),
            layers: &self.built.layers,
            marks: self.marks,
            since,
        };
        export.make(listing, commit::Draft::begun(&draft.id, draft.made, &draft.command)).err()
    }

    /// Starts the first process of the box.
    fn start(&self, plan: &Plan) -> Step<(Vec<Tap>, Pid)> {
        let pipe = || named(pipe_with(PipeFlags::CLOEXEC), "make a pipe");
        let (out, err, trace, notes, go) = (pipe()?, pipe()?, pipe()?, pipe()?, pipe()?);
        let mapped = self.marks == Marks::Trusted;
        let as_root = rustix::process::geteuid().is_root();
        let mut spaces = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
        if !plan.net {
            spaces |= libc::CLONE_NEWNET;
        }
        if mapped {
            spaces |= libc::CLONE_NEWUSER;
        }
        let input = plan.live.and_then(|live| live.input).map(|number| adopted(number, "standard input"));
        let input = input.transpose()?.map(|from| Ok::<_, String>((from, pipe()?))).transpose()?;
        match named(fork_into(spaces), "start the first process of the box")? {
            Forked::Child => {
                let input = input.map(|(_, (reader, _))| reader);
                let ends = Ends { out: out.1, err: err.1, trace: trace.1, notes: notes.1, go: go.0, input };
                // Only outer holds the other ends, so that its end, or that it reads no more, is seen.
                drop((go.1, out.0, err.0, trace.0, notes.0));
                first::main(
                    World {
                        root: &self.built.root,
                        plan,
                        as_root,
                        walls: &self.built.walls,
                        mask: self.mask,
                    },
                    ends,
                );
                exit_now(0)
            }
            Forked::Parent(pid) => {
                drop((out.1, err.1, trace.1, notes.1, go.0));
                if mapped {
                    map_everyone(pid)?;
                }
                let mut go: fs::File = go.1.into();
                named(go.write_all(b"go"), "start the box")?;
                let streams = [
                    (out.0, plan.keep),
                    (err.0, plan.keep_of_stderr),
                    (trace.0, TRACE_KEPT),
                    (notes.0, NOTES_KEPT),
                ];
                if let Some((from, (_, to))) = input {
                    // A file would lead the job past the box (`/proc/self/fd/0` opens it anew), a pipe does not.
                    std::thread::spawn(move || io::copy(&mut fs::File::from(from), &mut fs::File::from(to)));
                }
                let taps = streams.into_iter().map(|(from, keep)| Tap::new(from, keep)).collect();
                Ok((passed_on(taps, plan)?, pid))
            }
        }
    }

    /// The content of a regular file as a process in the box would see it.
    fn fetch(&self, plan: &Plan, path: &Raw) -> Option<(Raw, Raw)> {
        let place = selfheal_core::scene::absolute(plan.cwd.path(), path.path());
        let look = tree::resolve(&self.built.root, &place, OFlags::PATH).ok()?;
        let facts = rustix::fs::fstat(&look).ok()?;
        let regular = rustix::fs::FileType::from_raw_mode(facts.st_mode).is_file();
        if !regular || u64::try_from(facts.st_size).ok()? > LARGEST_FETCHED {
            return None;
        }
        let file: OwnedFd =
            tree::resolve(&self.built.root, &place, OFlags::RDONLY | OFlags::NONBLOCK).ok()?;
        let mut content = Vec::new();
        fs::File::from(file).take(LARGEST_FETCHED).read_to_end(&mut content).ok()?;
        Some((path.clone(), Raw(content)))
    }
}

/// A tree for a job.
struct Built {
    root: PathBuf,
    /// What it writes to.
    layers: Vec<Layer>,
    /// How these say what is gone.
    marks: Marks,
    walls: Walls,
}

fn is_missing(path: &Path) -> bool {
    let missing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    fs::metadata(path).is_err_and(|error| missing.contains(&error.kind()))
}

fn paths(all: &[Raw]) -> Vec<PathBuf> {
    all.iter().map(|path| path.path().to_path_buf()).collect()
}

fn overlays(plan: &Plan, marks: Marks, store: &Path, mounts: &Mounts) -> Result<Built, Trouble> {
    let machine = Machine { uid: rustix::process::geteuid().as_raw() };
    let wanted = paths(&plan.wanted);
    let mut pieces = if marks == Marks::Trusted {
        layout::for_root(mounts, &machine)
    } else {
        layout::for_user(mounts, &wanted, plan.lean, &machine)
    };
    pieces.extend(layout::in_memory(&wanted, &machine));
    let sealed = pieces.iter().any(|piece| matches!(piece, layout::Piece::Sealed(_)));
    let bound = Cell::new(sealed && !plan.lean);
    let builder = Builder { store, marks, pieces: &pieces, bound: &bound, mounts };
    if !plan.setup.is_empty() {
        let setup_root = builder.build_for_setup()?;
        setup::make(&setup_root, plan.cwd.path(), &plan.setup).map_err(Trouble::Setup)?;
        for piece in pieces.iter().rev().filter(|piece| !matches!(piece, layout::Piece::Link(_))) {
            let place = super::overlay::inside(&setup_root, piece.path());
            // Folders are no mounts. What stays mounted is only shadowed, and gone with the namespace.
            let _ = rustix::mount::unmount(place, rustix::mount::UnmountFlags::DETACH);
        }
    }
    let (root, mut layers) = builder.build()?;
    tree::build_special(&root, &plan.probe)?;
    layers.extend(builder.build_in_memory(&root)?);
    Ok(Built { root, layers, marks, walls: Walls { services: !bound.get(), writable: None } })
}

fn copies(plan: &Plan, roots: &[Raw], store: &Path, mounts: &Mounts) -> Result<Built, Trouble> {
    let roots = paths(roots);
    let left_out: Vec<PathBuf> = store.parent().map(Path::to_path_buf).into_iter().collect();
    let copies = Copies { store, roots: &roots, left_out: &left_out, room: plan.limits.room };
    let root = copies.build(mounts)?;
    tree::build_special(&root, &plan.probe)?;
    if !plan.setup.is_empty() {
        setup::make(&root, plan.cwd.path(), &plan.setup).map_err(Trouble::Setup)?;
    }
    let layers = copies.keep()?;
    let walls =
        Walls { services: false, writable: Some(layers.iter().map(|layer| layer.at.clone()).collect()) };
    Ok(Built { root, layers, marks: Marks::Copied, walls })
}

/// Whether this is root with root's might. Root of a container without it builds his box as an ordinary user does.
pub(crate) fn is_mighty() -> bool {
    let may = rustix::thread::capabilities(None)
        .is_ok_and(|sets| sets.effective.contains(rustix::thread::CapabilitySet::SYS_ADMIN));
    may && rustix::process::geteuid().is_root() && maps_everyone()
}

/// Whether every user is mapped, to himself: else this is the namespace of a container, whose root is an ordinary user
/// for file systems.
fn maps_everyone() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Own mounts, and for an ordinary user the right to make some: a namespace in which he is himself.
fn enter_namespaces(marks: Marks) -> Step<()> {
    match marks {
        Marks::Trusted => named(unshare(UnshareFlags::NEWNS), "make a mount namespace")?,
        Marks::User | Marks::Copied => {
            let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
            named(unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS), "make a user namespace")?;
            map_self(uid, gid)?;
        }
    }
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    named(mount_change("/", private), "detach the mounts from the machine's")
}

/// In a user namespace that this process has just entered, it is who it was outside, and nobody else is known.
pub(crate) fn map_self(uid: u32, gid: u32) -> Step<()> {
    named(fs::write("/proc/self/setgroups", "deny"), "forbid group changes")?;
    named(fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")), "map the user")?;
    named(fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")), "map the group")
}

fn mount_store(store: &Path, room: u64) -> Step<()> {
    let size = room.to_string();
    let files = (room / BYTES_A_FILE).clamp(FEWEST_FILES, MOST_FILES).to_string();
    let options =
        [("mode", Some("0755")), ("size", Some(size.as_str())), ("nr_inodes", Some(files.as_str()))];
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    mount_fresh("tmpfs", store, &options, attributes)
}

/// In the box of root every user and group is who he is outside.
fn map_everyone(pid: Pid) -> Step<()> {
    let pid = pid.as_raw_nonzero();
    for map in ["uid_map", "gid_map"] {
        named(fs::write(format!("/proc/{pid}/{map}"), "0 0 4294967295"), "map users into the box")?;
    }
    Ok(())
}

/// Lets the first two streams go on to the caller's own, where that is wanted.
fn passed_on(mut taps: Vec<Tap>, plan: &Plan) -> Step<Vec<Tap>> {
    let Some(live) = plan.live else { return Ok(taps) };
    let error = named(rustix::io::fcntl_dupfd_cloexec(standard(2), 3), "take standard error over")?;
    let rest = taps.split_off(taps.len().min(2));
    let targets = [adopted(live.output, "standard output")?, error];
    let mut passing: Vec<Tap> =
        taps.into_iter().zip(targets).map(|(tap, to)| tap.passing(to, live.most)).collect();
    passing.extend(rest);
    Ok(passing)
}

fn adopted(number: i32, what: &str) -> Step<OwnedFd> {
    named(adopt(number), format_args!("take {what} over"))
}

/// What the first process said: how the job ended, what was still running (absent when it said nothing), and how often
/// something tried to use a network.
#[expect(clippy::type_complexity, reason = "the answers of one reading")]
fn read_notes(notes: &Kept) -> Step<(Ended, Option<Vec<(u32, String)>>, u64)> {
    for line in notes.head.0.split(|byte| *byte == b'\n') {
        match serde_json::from_slice::<Note>(line) {
            Ok(Note::Broken(step)) => return Err(step),
            Ok(Note::NotStarted(ended)) => return Ok((ended, Some(Vec::new()), 0)),
            Ok(Note::Ended { status, left, network_tries }) => {
                return Ok((ended(status), Some(left), network_tries));
            }
            Err(_) => {}
        }
    }
    Ok((Ended::Signaled(Signal::KILL.as_raw()), None, 0))
}

fn ended(status: i32) -> Ended {
    let status = ExitStatus::from_raw(status);
    status.code().map_or_else(|| Ended::Signaled(status.signal().unwrap_or(0)), Ended::Exited)
}

/// Opens the null device.
pub(super) fn null() -> Step<OwnedFd> {
    named(rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()), "open /dev/null")
}
