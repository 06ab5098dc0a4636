//! What redaction costs, and how many ordinary lines it changes: `cargo bench -p selfheal-core --bench redact [FILE …]`.
//! Without files the lines are those that the tests hold.
#![expect(clippy::print_stdout, reason = "a bench speaks")]

use std::time::Instant;

use selfheal_core::redact::Redactor;

/// So often each text is redacted.
const TIMES: usize = 51;
/// The size of a usual report with both ends of its output.
const REPORT: usize = 64 * 1024;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let text = if files.is_empty() {
        include_str!("../src/redact/benign.txt").to_owned()
    } else {
        files
            .iter()
            .filter_map(|file| std::fs::read(file).ok())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect()
    };
    let known = [("DB_PASSWORD", "correct horse battery"), ("API_TOKEN", "s0me-token-value-77")];
    let redactor = Redactor::from_env(known);
    let changed: Vec<&str> = text.lines().filter(|line| redactor.text(line).as_str() != *line).collect();
    for line in &changed {
        println!("changed: {line}\n     to: {}", redactor.text(line));
    }
    println!("{} of {} ordinary lines changed", changed.len(), text.lines().count());
    let report: String = text.chars().cycle().take(REPORT).collect();
    let mut times: Vec<f64> = (0..TIMES)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(redactor.text(std::hint::black_box(&report)));
            start.elapsed().as_secs_f64() * 1_000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "{REPORT} bytes: {:.2} ms, median of {TIMES}",
        times.get(TIMES / 2).copied().unwrap_or_default()
    );
}
