//! What putting in place costs, beside copying: `cargo bench -p selfheal-exec --bench commit`.
//!
//! A box makes or changes a thousand files of 4 KiB; putting them in place, durably, stands beside `cp -a` of the same
//! files followed by `sync -f`. All take turns in one run. The drafts lie on the same file system as the files. Keeping
//! them there when the box ends is part of the run of the box and not counted.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark prints, looks at its surroundings, and may stop"
)]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use selfheal_core::ports::{BoxOrder, Boxes, DraftOrder};
use selfheal_core::redact::Redactor;
use selfheal_exec::commit::Drafts;
use selfheal_exec::{BoxConfig, BoxRunner};

/// Turns of each kind.
const TURNS: usize = 9;

/// Files that are put in place.
const FILES: usize = 1_000;

fn main() {
    let place = tempfile::tempdir().unwrap();
    let (source, drafts) = (place.path().join("source"), Drafts::new(place.path().join("drafts")));
    fs::create_dir(&source).unwrap();
    bash(&source, &format!("for i in $(seq {FILES}); do head -c 4096 /dev/urandom >f$i; done; sync -f ."));
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for turn in 0..TURNS {
        let (copied, made) =
            (place.path().join(format!("copied{turn}")), place.path().join(format!("made{turn}")));
        let line =
            format!("cp -a '{}' '{}' && sync -f '{}'", source.display(), copied.display(), copied.display());
        times[0].push(timed(|| bash(place.path(), &line)));
        let create = format!("cp -a '{}' '{}'", source.display(), made.display());
        times[1].push(commit(place.path(), &drafts, &create, &format!("create{turn}")));
        let change = format!("cd '{}' && for f in f*; do echo more >>$f; done", made.display());
        times[2].push(commit(place.path(), &drafts, &change, &format!("change{turn}")));
    }
    let names = ["cp -a and sync -f", "commit of new files", "commit of changed files"];
    let base = median(&mut times[0]);
    println!("{FILES} files, median of {TURNS}:");
    for (name, times) in names.iter().zip(&mut times) {
        let median = median(times);
        let ratio = median.as_secs_f64() / base.as_secs_f64();
        println!("  {name:26} {:>8.1} ms   {ratio:>5.2} times", median.as_secs_f64() * 1e3);
    }
}

/// Runs a line in a box that keeps what it does, and times how long it takes to put that in place.
fn commit(place: &Path, drafts: &Drafts, line: &str, id: &str) -> Duration {
    let config = BoxConfig { program: env!("CARGO_BIN_EXE_exec-helper").into(), ..BoxConfig::default() };
    let runner = BoxRunner::new(BoxConfig { store: place.join("store"), ..config });
    let command = Redactor::from_env(std::iter::empty()).text(line);
    let order = BoxOrder {
        argv: ["bash", "-c", line].map(Into::into).to_vec(),
        cwd: place.to_owned(),
        env: ["PATH", "HOME"]
            .iter()
            .filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)))
            .collect(),
        deadline_ms: 600_000,
        draft: Some(DraftOrder { folder: drafts.folder(id), id: id.to_owned(), command }),
        ..BoxOrder::default()
    };
    let run = runner.run(&order).unwrap();
    assert!(run.no_draft.is_none() && run.run.ended.code() == 0, "{run:?}");
    // What the command left to be written is no part of either.
    bash(place, "sync -f .");
    timed(|| {
        let changed = drafts.commit(id, None).unwrap();
        assert!(changed.paths >= FILES);
    })
}

fn bash(folder: &Path, line: &str) {
    assert!(Command::new("bash").args(["-c", line]).current_dir(folder).status().unwrap().success());
}

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}
