//! A run that ended well and left much less, or much more, than the good runs before it; and folders that were never empty.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use selfheal_store::{GoodRun, Produced};

/// Good runs that it takes to say what is normal.
const FEWEST: usize = 3;
/// A size is unusual when it is so many times smaller than the smallest, or larger than the largest.
const TIMES: u64 = 4;
/// Sizes below this, in bytes, vary too much to say anything.
const TINY: u64 = 64;

/// A file's name without its numbers: dates, counters, process numbers.
#[must_use]
pub fn kind_of(path: &Path) -> String {
    let mut out = String::new();
    for c in path.to_string_lossy().chars() {
        match c.is_ascii_digit() {
            true if out.ends_with('#') => {}
            true => out.push('#'),
            false => out.push(c),
        }
    }
    out
}

/// The sizes of what a run left, summed up by kind.
pub(super) fn sizes(left: &[Produced]) -> BTreeMap<String, u64> {
    let mut out = BTreeMap::new();
    for file in left {
        *out.entry(kind_of(&file.path)).or_default() += file.bytes;
    }
    out
}

/// What of a good run differs much from the ones before; `None` where too few are known.
#[must_use]
pub fn unusual(left: &[Produced], earlier: &[GoodRun]) -> Option<String> {
    if earlier.len() < FEWEST {
        return None;
    }
    let now = sizes(left);
    let before: Vec<BTreeMap<String, u64>> = earlier.iter().map(|run| sizes(&run.produced)).collect();
    let first = before.first()?;
    let always = first.keys().filter(|kind| before.iter().all(|sizes| sizes.contains_key(*kind)));
    for kind in always {
        let known: Vec<u64> = before.iter().filter_map(|sizes| sizes.get(kind).copied()).collect();
        let (least, most) = (known.iter().min()?, known.iter().max()?);
        let said = match now.get(kind) {
            None => Some("nothing of the kind was written".to_owned()),
            Some(bytes) if *least >= TINY && bytes.saturating_mul(TIMES) < *least => {
                Some(format!("{bytes} bytes were written, never less than {least} before"))
            }
            Some(bytes) if *bytes >= TINY && *bytes > most.saturating_mul(TIMES).max(TINY * TIMES) => {
                Some(format!("{bytes} bytes were written, never more than {most} before"))
            }
            Some(_) => None,
        };
        if let Some(said) = said {
            return Some(format!("{kind}: {said}"));
        }
    }
    None
}

/// A folder that is empty now although good runs found files in it.
#[must_use]
pub fn emptied_folder(earlier: &[GoodRun]) -> Option<PathBuf> {
    let newest = earlier.first()?;
    let folders: BTreeSet<&Path> = newest.inputs.iter().filter_map(|input| input.path.parent()).collect();
    let is_empty =
        |folder: &&Path| std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    folders.into_iter().find(is_empty).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfheal_core::ids::Timestamp;

    fn left(path: &str, bytes: u64) -> Vec<Produced> {
        vec![Produced { path: path.into(), bytes, lines: None }]
    }

    fn earlier(bytes: &[u64]) -> Vec<GoodRun> {
        let day = |(day, bytes): (usize, &u64)| GoodRun {
            started: Timestamp(day as i64),
            duration_ms: 5,
            inputs: Vec::new(),
            produced: left(&format!("out/db-2026-11-{:02}.sql", day + 1), *bytes),
        };
        bytes.iter().enumerate().map(day).collect()
    }

    #[test]
    fn much_less_much_more_and_nothing_are_unusual() {
        let known = earlier(&[1_000, 1_100, 900]);
        assert_eq!(unusual(&left("out/db-2026-11-30.sql", 1_050), &known), None);
        let less = unusual(&left("out/db-2026-11-30.sql", 100), &known).unwrap();
        assert!(less.contains("never less than 900"), "{less}");
        let more = unusual(&left("out/db-2026-11-30.sql", 90_000), &known).unwrap();
        assert!(more.contains("never more than 1100"), "{more}");
        assert!(unusual(&[], &known).unwrap().contains("out/db-#-#-#.sql"));
    }

    #[test]
    fn two_runs_say_nothing_and_neither_does_what_is_not_always_there() {
        assert_eq!(unusual(&[], &earlier(&[1_000, 1_000])), None);
        let mut known = earlier(&[1_000, 1_000, 1_000]);
        known[1].produced.clear();
        assert_eq!(unusual(&[], &known), None);
    }
}
