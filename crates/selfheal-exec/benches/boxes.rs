//! What a box costs, beside its neighbours: `cargo bench -p selfheal-exec --bench boxes`.
//!
//! Every figure is the median of many runs in this one process, the kinds taking turns, so that a busy machine is as
//! busy for all of them. Run by root it prints the figures of an ordinary user as well. `bwrap` and `try` are shown
//! where they are installed.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark prints, looks at its surroundings, and may stop"
)]

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use selfheal_core::ports::{BoxOrder, Boxes};
use selfheal_exec::{BoxConfig, BoxRunner};

/// Turns of all kinds.
const TURNS: usize = 41;

/// Turns of what is slow.
const SLOW_TURNS: usize = 7;

/// Files that are changed for the listing of effects.
const FILES: usize = 10_000;

/// An ordinary user; nobody of that number needs to exist.
const USER: u32 = 54_321;

/// Names the helper where this runs as another user.
const HELPER_VARIABLE: &str = "SELFHEAL_BENCH_HELPER";

fn main() {
    let helper = std::env::var_os(HELPER_VARIABLE)
        .map_or_else(|| env!("CARGO_BIN_EXE_exec-helper").into(), PathBuf::from);
    let root = rustix::process::geteuid().is_root();
    let place = tempfile::tempdir().unwrap();
    let bench = Bench { helper: &helper, place: place.path() };
    println!("as {}:", if root { "root" } else { "an ordinary user" });
    bench.cost_of_a_box(root);
    bench.cost_of_effects();
    if root {
        as_a_user(&helper);
    }
}

/// Runs this program again as an ordinary user, from where he can reach it.
fn as_a_user(helper: &Path) {
    let keep = tempfile::tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(keep.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (bench, program, temporary) =
        (keep.path().join("bench"), keep.path().join("helper"), keep.path().join("t"));
    std::fs::copy(std::env::current_exe().unwrap(), &bench).unwrap();
    std::fs::copy(helper, &program).unwrap();
    std::fs::create_dir(&temporary).unwrap();
    std::os::unix::fs::chown(&temporary, Some(USER), Some(USER)).unwrap();
    let mut command = Command::new(bench);
    command.env("TMPDIR", &temporary).env("HOME", &temporary).env(HELPER_VARIABLE, program);
    assert!(command.current_dir("/").uid(USER).gid(USER).status().unwrap().success());
}

/// What is measured: one run of it.
type Kind<'a> = (&'a str, Box<dyn FnMut() -> Duration + 'a>);

struct Bench<'a> {
    helper: &'a Path,
    place: &'a Path,
}

impl Bench<'_> {
    fn runner(&self, name: &str, lean: bool) -> BoxRunner {
        let store = self.place.join(name);
        BoxRunner::new(BoxConfig { program: self.helper.to_owned(), store, lean, ..BoxConfig::default() })
    }

    fn order(&self, argv: &[&str]) -> BoxOrder {
        let work = self.place.join("work");
        std::fs::create_dir_all(&work).unwrap();
        let env = ["PATH", "HOME"].iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
        BoxOrder {
            argv: argv.iter().map(OsString::from).collect(),
            cwd: work,
            env: env.collect(),
            deadline_ms: 600_000,
            keep: 4096,
            ..BoxOrder::default()
        }
    }

    fn cost_of_a_box(&self, root: bool) {
        let (full, lean) = (self.runner("full", false), self.runner("lean", true));
        let order = self.order(&["/bin/true"]);
        let boxed = |runner: &BoxRunner| {
            let begin = Instant::now();
            runner.run(&order).unwrap();
            begin.elapsed()
        };
        let full_name = if root { "box" } else { "box, full form" };
        let mut kinds: Vec<Kind<'_>> = vec![
            ("/bin/true, nothing around it", Box::new(|| timed(&["/bin/true"]))),
            (full_name, Box::new(|| boxed(&full))),
        ];
        if !root {
            kinds.push(("box, lean form", Box::new(|| boxed(&lean))));
        }
        if works(&BWRAP) {
            kinds.push(("bwrap --unshare-all over a read-only /", Box::new(|| timed(&BWRAP))));
        }
        print_medians(kinds, TURNS);
        if works(&TRY) {
            print_medians(vec![("try -n", Box::new(|| timed(&TRY)))], SLOW_TURNS);
        }
    }

    /// What a run costs beside its job, when that changes many files and when it changes none.
    fn cost_of_effects(&self) {
        let runner = self.runner("effects", false);
        let work = self.order(&[]).cwd;
        for number in 0..FILES {
            let folder = work.join((number % 100).to_string());
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(number.to_string()), format!("{number}\n")).unwrap();
        }
        let script = "for (glob('*/*')) { open F, '>>', $_ or die; print F 'more' }";
        let (change, nothing) = (self.order(&["perl", "-e", script]), self.order(&["/bin/true"]));
        let beside = |order: &BoxOrder, files: usize| {
            let begin = Instant::now();
            let run = runner.run(order).unwrap();
            assert_eq!((run.run.ended.code(), run.effects.len()), (0, files));
            begin.elapsed().saturating_sub(Duration::from_millis(run.run.duration_ms))
        };
        let mut listed: Vec<Duration> =
            (0..SLOW_TURNS).map(|_| beside(&change, FILES).saturating_sub(beside(&nothing, 0))).collect();
        listed.sort();
        let (least, median) = (milliseconds(listed[0]), milliseconds(listed[listed.len() / 2]));
        println!(
            "  {median:>9.2} ms  (least {least:.2})  effects of {FILES} changed files listed and handed over"
        );
    }
}

const BWRAP: [&str; 10] =
    ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "/bin/true"];

const TRY: [&str; 3] = ["try", "-n", "/bin/true"];

fn print_medians(mut kinds: Vec<Kind<'_>>, turns: usize) {
    let mut times: Vec<Vec<Duration>> = kinds.iter().map(|_| Vec::new()).collect();
    let mut ticks = vec![0; kinds.len()];
    for _ in 0..turns {
        for (at, (_, measure)) in kinds.iter_mut().enumerate() {
            let before = ticks_of_children();
            times[at].push(measure());
            ticks[at] += ticks_of_children() - before;
        }
    }
    for (((name, _), times), ticks) in kinds.iter().zip(&mut times).zip(ticks) {
        times.sort();
        let (least, median) = (milliseconds(times[0]), milliseconds(times[times.len() / 2]));
        let processor = ticks as f64 * TICK_MS / turns as f64;
        println!("  {median:>9.2} ms  (least {least:.2}, processor {processor:.1})  {name}");
    }
}

/// The unit of processor time in `/proc`, in milliseconds; the same on all of today's architectures.
const TICK_MS: f64 = 10.0;

/// Processor time of all children that have ended: it says more than the clock does where others use the machine.
fn ticks_of_children() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(") ").next().unwrap().split(' ').skip(13).take(2);
    fields.map(|field| field.parse::<u64>().unwrap()).sum()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn command(argv: &[&str]) -> Command {
    let mut command = Command::new(argv[0]);
    command.args(&argv[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn works(argv: &[&str]) -> bool {
    command(argv).status().is_ok_and(|status| status.success())
}

fn timed(argv: &[&str]) -> Duration {
    let begin = Instant::now();
    command(argv).status().unwrap();
    begin.elapsed()
}
