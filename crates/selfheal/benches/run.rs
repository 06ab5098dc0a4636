//! What putting selfheal in front of a job costs: `cargo bench -p selfheal --bench run`.
//!
//! Prints, from one run on this machine: the overhead of `selfheal run -- true` over `true` with recording on, beside
//! `timeout 60 true` and, where it is installed, `chronic true`; the time to pass 1 GB through, beside `cat`; the peak
//! memory of selfheal meanwhile; and what became of 200 jobs that were started at once. With `--full` behind `--` the
//! memory is also taken over 5 GB of output. Ratios within one run count; single times on a shared machine do not: under
//! `chrt -f 10` (real-time scheduling) others do not disturb.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark is run by hand and prints"
)]

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use selfheal_core::ids::JobKey;
use selfheal_core::ports::Journal;
use selfheal_store::{Store, StoreOptions};

/// Jobs that are started at once.
const AT_ONCE: usize = 200;
/// Runs of each command that are counted.
const RUNS: usize = 101;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    overhead(folder.path());

    let gigabyte = "head -c 1000000000 /dev/zero";
    let cat = once(folder.path(), &["sh", "-c", &format!("{gigabyte} | cat")]);
    let through = once(folder.path(), &[env!("CARGO_BIN_EXE_selfheal"), "run", "--", "sh", "-c", gigabyte]);
    println!("1 GB through cat        {:>8.3} s", cat.as_secs_f64());
    println!(
        "1 GB through selfheal   {:>8.3} s   ratio {:.2}",
        through.as_secs_f64(),
        through.as_secs_f64() / cat.as_secs_f64()
    );
    println!("peak memory meanwhile   {:>8.1} MB", peak_memory_mb(folder.path(), gigabyte));
    if std::env::args().any(|word| word == "--full") {
        let peak = peak_memory_mb(folder.path(), "head -c 5000000000 /dev/zero");
        println!("peak memory over 5 GB   {peak:>8.1} MB");
    }
    at_once(folder.path());
}

fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Starts many runs of one job at once, and looks whether all end well and are recorded.
fn at_once(folder: &Path) {
    let began = Instant::now();
    let words = [env!("CARGO_BIN_EXE_selfheal"), "run", "--job", "at-once", "--", "sh", "-c", "echo out"];
    let started: Vec<_> = (0..AT_ONCE)
        .map(|_| command(folder, &words).stderr(Stdio::piped()).spawn().expect("a command of this machine"))
        .collect();
    let ended = started.into_iter().map(|child| child.wait_with_output().expect("a child"));
    let good =
        ended.filter(|end| end.status.success() && end.stdout == b"out\n" && end.stderr.is_empty()).count();
    let took = began.elapsed().as_secs_f64();
    let store = Store::open(&folder.join("state"), StoreOptions::default()).expect("a store");
    let recorded = store.runs(&JobKey::new("at-once"), 2 * AT_ONCE).expect("a readable store").len();
    println!(
        "{AT_ONCE} jobs at once        {took:>8.3} s   {good} ended well and silently, {recorded} recorded"
    );
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .env("SELFHEAL_STATE_DIR", folder.join("state"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .process_group(0);
    command
}

fn once(folder: &Path, words: &[&str]) -> Duration {
    let began = Instant::now();
    let mut child = command(folder, words).spawn().expect("a command of this machine");
    let mut output = child.stdout.take().expect("a piped output");
    std::io::copy(&mut output, &mut std::io::sink()).expect("a readable pipe");
    assert!(child.wait().expect("a child").success());
    began.elapsed()
}

/// Runs the commands in turn, so that whatever else the machine does meets all of them alike.
fn overhead(folder: &Path) {
    let own = env!("CARGO_BIN_EXE_selfheal");
    let mut commands = vec![
        ("true", vec!["true"]),
        ("timeout 60 true", vec!["timeout", "60", "true"]),
        ("selfheal run -- true", vec![own, "run", "--", "true"]),
    ];
    if is_installed("chronic") {
        commands.push(("chronic true", vec!["chronic", "true"]));
    }
    let mut times = vec![Vec::new(); commands.len()];
    for round in 0..RUNS + 5 {
        for ((_, words), times) in commands.iter().zip(&mut times) {
            let time = once(folder, words);
            if round >= 5 {
                times.push(time);
            }
        }
    }
    times.iter_mut().for_each(|times| times.sort());
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    let bare = [ms(times[0][RUNS / 2]), ms(times[0][0])];
    for ((name, _), times) in commands.iter().zip(&times) {
        let own = [ms(times[RUNS / 2]), ms(times[0])];
        println!(
            "{name:<22}  {:>8.2} ms median of {RUNS}   over bare {:>6.2} ms   least {:>6.2} ms   over bare {:>6.2} ms",
            own[0],
            own[0] - bare[0],
            own[1],
            own[1] - bare[1]
        );
    }
}

/// The largest resident set of selfheal's own two processes while a job prints, by the kernel's high-water mark.
fn peak_memory_mb(folder: &Path, job: &str) -> f64 {
    let mut child = command(folder, &[env!("CARGO_BIN_EXE_selfheal"), "run", "--", "sh", "-c", job])
        .spawn()
        .expect("a command of this machine");
    let mut output = child.stdout.take().expect("a piped output");
    let reader = std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
    let mut peak = 0;
    while child.try_wait().expect("a child").is_none() {
        let own = child.id();
        let children =
            std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
        let pids = children.split_whitespace().filter_map(|pid| pid.parse().ok()).chain([own]);
        peak = peak.max(pids.map(high_water_kib).sum());
        std::thread::sleep(Duration::from_millis(5));
    }
    reader.join().expect("a reader").expect("a readable pipe");
    peak as f64 / 1_024.0
}

fn high_water_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse().ok()).unwrap_or(0)
}
