//! What reading costs: bytes of a large log a second on one core, the memory that takes, and the time of a usual report.
//!
//! `cargo bench -p selfheal-feedback --bench read`
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use selfheal_core::ids::JobKey;
use selfheal_core::job::{Job, Repeatable};
use selfheal_core::scene::{PathFacts, Scene};
use selfheal_feedback::explain::run_of;
use selfheal_feedback::report::{ReportInput, report};
use selfheal_feedback::scan::Scanner;

/// How much is scanned.
const WHOLE: usize = 2 << 30;
/// How much is handed over at once.
const PIECE: usize = 1 << 20;
/// How often a report is made.
const TIMES: usize = 501;

fn main() {
    for (name, log) in
        [("a log with an error every 2,000 lines", log(2_000)), ("a log without errors", log(usize::MAX))]
    {
        scan(name, &log);
    }
    println!("peak memory of the process, the log's own {} MB included: {}", PIECE * 8 / 1_000_000, peak());
    reports();
}

/// Some megabytes of a log; the other lines are those of a service.
fn log(every: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(PIECE * 8);
    let mut number = 0_usize;
    while text.len() < PIECE * 8 {
        number += 1;
        let line = match number.checked_rem(every) {
            Some(0) => format!(
                "2026-02-03T04:05:06Z worker-{} ERROR: job {number} failed: connection refused\n",
                number % 7
            ),
            _ => format!(
                "2026-02-03T04:05:06.{:03}Z worker-{} INFO request {number} /api/v1/items/{} 200 {} ms\n",
                number % 1_000,
                number % 7,
                number % 99_991,
                number % 83
            ),
        };
        text.extend_from_slice(line.as_bytes());
    }
    text
}

fn scan(name: &str, log: &[u8]) {
    let mut scanner = Scanner::new();
    let started = Instant::now();
    let mut done = 0;
    for piece in log.chunks(PIECE).cycle() {
        scanner.feed(piece);
        done += piece.len();
        if done >= WHOLE {
            break;
        }
    }
    let (kept, total) = scanner.finish();
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{name}: {:.0} MB/s over {:.1} GB, {} KB kept",
        total as f64 / seconds / 1e6,
        total as f64 / 1e9,
        kept.len() / 1_000
    );
}

fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .map_or_else(|| "unknown".into(), |value| value.trim().to_owned())
}

fn reports() {
    let script = "#!/bin/bash\nset -euo pipefail\nOUT=backup\nfor f in logs/*.log; do\n  cp -p \"$f\" \"$OUT/\"\ndone\n";
    let traceback = "Traceback (most recent call last):\n  File \"/job/load.py\", line 17, in <module>\n    main()\n  File \"/job/load.py\", line 9, in main\n    total += row['price']\nKeyError: 'price'\n";
    let many = "copying a file of the day\n".repeat(1_500)
        + "cp: cannot stat 'logs/a.log': No such file or directory\n";
    for (name, command, output) in [
        ("a shell's message", "bash job.sh", "cp: cannot stat 'logs/*.log': No such file or directory\n"),
        ("a traceback", "python3 load.py", traceback),
        ("1,500 lines before it", "bash job.sh", many.as_str()),
        (
            "the same in German",
            "bash job.sh",
            "cp: Aufruf von stat für 'logs/a' nicht möglich: Datei oder Verzeichnis nicht gefunden\n",
        ),
    ] {
        let job = Job {
            key: JobKey::new("bench"),
            argv: command.split(' ').map(Into::into).collect(),
            cwd: PathBuf::from("/job"),
            script: Some("/job/job.sh".into()),
            repeatable: Repeatable::Unstated,
        };
        let run = run_of(output.into(), output.len() as u64, Some(1));
        let mut taken: Vec<u128> = Vec::new();
        for _ in 0..TIMES {
            let started = Instant::now();
            let made = report(&ReportInput {
                job: &job,
                argv: &job.argv,
                run: &run,
                script: Some((Path::new("/job/job.sh"), script)),
                trace: None,
                scene: &Empty,
                stdin: None,
                profiles: None,
            });
            taken.push(started.elapsed().as_micros());
            assert!(!made.faults.is_empty());
        }
        let first = taken.first().copied().unwrap_or_default();
        taken.sort_unstable();
        let median = taken.get(TIMES / 2).copied().unwrap_or_default();
        println!("a report on {name}: {median} µs (median of {TIMES}; the first {first} µs)");
    }
}

/// A machine on which nothing is.
struct Empty;

impl Scene for Empty {
    fn cwd(&self) -> &Path {
        Path::new("/job")
    }
    fn facts(&self, _path: &Path) -> Option<PathFacts> {
        None
    }
    fn read(&self, _path: &Path, _limit: usize) -> Option<Vec<u8>> {
        None
    }
    fn names(&self, _folder: &Path) -> Vec<String> {
        Vec::new()
    }
    fn which(&self, _command: &str) -> Vec<PathBuf> {
        Vec::new()
    }
    fn var(&self, _name: &str) -> Option<String> {
        None
    }
    fn process_lives(&self, _pid: u32) -> bool {
        false
    }
    fn missing_mount(&self, _path: &Path) -> bool {
        false
    }
    fn ask(&self, _argv: &[&str]) -> Option<String> {
        None
    }
}
