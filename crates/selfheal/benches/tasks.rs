//! What a step of a task costs: `cargo bench -p selfheal --bench tasks`.
//!
//! Prints, from one run on this machine, how much longer a task of many steps takes than a task of one, for each step, less
//! what the command of the step takes alone: on the machine and in a box. The state lies in memory (`/dev/shm`), so that
//! syncing to disk is not counted, and once more on the disk of the temporary folder, where it is. Single times on a shared
//! machine do not count; under `chrt -f 10` (real-time scheduling) others do not disturb.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark is run by hand and prints"
)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Steps of the long task.
const STEPS: usize = 40;
/// Runs of each that are counted.
const RUNS: usize = 9;

fn main() {
    let disk = tempfile::tempdir().expect("a temporary folder");
    let memory = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    let bare = median(|| once(disk.path(), &["true"]));
    println!("true alone                          {:>8.2} ms", ms(bare));
    for (place, state) in
        [("state in memory, nothing synced", memory.path()), ("state on the disk", disk.path())]
    {
        for (what, effects) in [("on the machine", "any"), ("in a box", "files")] {
            let step = per_step(state, effects).saturating_sub(bare);
            println!("a step {what:<15} {:>8.2} ms over the bare command   ({place})", ms(step));
        }
    }
}

/// What each further step adds, the steps one after another.
fn per_step(state: &Path, effects: &str) -> Duration {
    let time = |steps: usize| {
        write(state, steps, effects);
        median(|| {
            let file = state.join("t.toml");
            once(
                state,
                &[env!("CARGO_BIN_EXE_selfheal"), "task", "run", file.to_str().expect("a plain path")],
            )
        })
    };
    time(STEPS + 1).saturating_sub(time(1)) / u32::try_from(STEPS).expect("a small number")
}

fn write(folder: &Path, steps: usize, effects: &str) {
    let mut text = "id = \"t\"\nconcurrency = 1\n".to_owned();
    for step in 0..steps {
        text.push_str(&format!("[[steps]]\nid = \"s{step}\"\nrun = [\"true\"]\neffects = \"{effects}\"\n"));
    }
    std::fs::write(folder.join("t.toml"), text).expect("a writable folder");
}

fn median(mut time: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS + 1).map(|_| time()).skip(1).collect();
    times.sort();
    times[RUNS / 2]
}

fn once(folder: &Path, words: &[&str]) -> Duration {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).env("SELFHEAL_STATE_DIR", folder.join("state")).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    assert!(command.status().expect("a command of this machine").success());
    began.elapsed()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
