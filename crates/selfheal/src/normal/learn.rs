//! A contract from what good runs left.

use std::collections::BTreeMap;
use std::fmt::Write;

use selfheal_store::GoodRun;

use super::unusual::kind_of;

/// A proposed contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// As a piece of `selfheal.toml`, with how it is known as comments.
    pub text: String,
    /// How many good runs it rests on.
    pub runs: usize,
    /// `high`, `medium` or `low`.
    pub sure: &'static str,
}

/// What every one of the good runs left, half as large as the smallest; `None` where nothing is in all of them.
#[must_use]
pub fn learn(script: &str, runs: &[GoodRun]) -> Option<Learned> {
    let sure = match runs.len() {
        0 | 1 => return None,
        2..=4 => "low",
        5..=7 => "medium",
        _ => "high",
    };
    let mut kinds: BTreeMap<String, Vec<(u64, Option<u64>)>> = BTreeMap::new();
    for run in runs {
        let mut own: BTreeMap<String, (u64, Option<u64>)> = BTreeMap::new();
        for file in &run.produced {
            let kept = own.entry(kind_of(&file.path)).or_insert((file.bytes, file.lines));
            *kept = (kept.0.min(file.bytes), kept.1.min(file.lines));
        }
        own.into_iter().for_each(|(kind, size)| kinds.entry(kind).or_default().push(size));
    }
    kinds.retain(|_, sizes| sizes.len() == runs.len());
    if kinds.is_empty() {
        return None;
    }
    let longest = runs.iter().map(|run| run.duration_ms).max().unwrap_or(0);
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut text = format!("# From {} good runs; how sure: {sure}.\n", runs.len());
    let _ = writeln!(text, "[jobs.{}.expect]", quoted(script));
    // Three times the longest run, and never so short that a busy machine breaks it.
    let _ = writeln!(
        text,
        "max-seconds = {}   # the longest took {longest} ms",
        longest.div_ceil(1_000).max(20) * 3
    );
    for (kind, sizes) in &kinds {
        let bytes = sizes.iter().map(|size| size.0).min().unwrap_or(0);
        let lines = sizes.iter().map(|size| size.1).min().flatten().unwrap_or(0);
        let _ = writeln!(text, "\n[[jobs.{}.expect.files]]", quoted(script));
        let _ = writeln!(text, "path = {}   # in every one of them", quoted(&kind.replace('#', "*")));
        let _ = writeln!(text, "newer = true");
        if bytes > 1 {
            let _ = writeln!(text, "min-bytes = {}   # the smallest had {bytes}", bytes / 2);
        }
        if lines > 1 {
            let _ = writeln!(text, "min-lines = {}   # the shortest had {lines}", lines / 2);
        }
    }
    Some(Learned { text, runs: runs.len(), sure })
}
