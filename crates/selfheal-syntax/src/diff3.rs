//! Differences between three texts, by lines: what two sides made of one base.

use std::fmt::Write;
use std::ops::Range;

use crate::diff::{Hunk, hunks};

/// Three texts, or their names.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// What both sides started from.
    pub base: &'a str,
    /// One side.
    pub ours: &'a str,
    /// The other side.
    pub theirs: &'a str,
}

/// A part of the base that at least one side changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The lines of the base, from 1, the end excluded.
    pub base: Range<u32>,
    /// What our side made of them; `None` where it left them.
    pub ours: Option<Vec<String>>,
    /// What their side made of them; `None` where it left them.
    pub theirs: Option<Vec<String>>,
}

impl Region {
    /// Whether both sides changed it, and not to the same.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.ours.is_some() && self.theirs.is_some() && self.ours != self.theirs
    }
}

/// The parts of the base that a side changed, in order.
#[must_use]
pub fn regions(sides: &Sides<'_>) -> Vec<Region> {
    let base: Vec<&str> = sides.base.lines().collect();
    let both = [hunks(sides.base, sides.ours), hunks(sides.base, sides.theirs)];
    let mut ranges: Vec<Range<u32>> = both.iter().flatten().map(|hunk| hunk.old.clone()).collect();
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<u32>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            // What touches belongs together: nobody can say which of two additions at one place comes first.
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    let [ours, theirs] = both;
    merged
        .into_iter()
        .map(|range| Region {
            ours: made(&base, &range, &ours),
            theirs: made(&base, &range, &theirs),
            base: range,
        })
        .collect()
}

/// What a side made of a range of the base; `None` where it changed nothing in it.
fn made(base: &[&str], range: &Range<u32>, hunks: &[Hunk]) -> Option<Vec<String>> {
    let inside = hunks.iter().filter(|hunk| range.start <= hunk.old.start && hunk.old.end <= range.end);
    let (mut out, mut at, mut any) = (Vec::new(), range.start, false);
    for hunk in inside {
        out.extend(lines(base, at, hunk.old.start));
        out.extend(hunk.added.iter().cloned());
        (at, any) = (hunk.old.end, true);
    }
    out.extend(lines(base, at, range.end));
    any.then_some(out)
}

fn lines(base: &[&str], from: u32, to: u32) -> Vec<String> {
    let place = |line: u32| usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    base.get(place(from)..place(to)).unwrap_or_default().iter().map(|line| (*line).to_owned()).collect()
}

/// The differences for people, in the manner of `diff3 -m`: per part, what each side has.
#[must_use]
pub fn show(sides: &Sides<'_>, names: &Sides<'_>) -> String {
    let base: Vec<&str> = sides.base.lines().collect();
    let mut out = String::new();
    for region in regions(sides) {
        let _ = writeln!(out, "@@ {}", region.base.start);
        let was = lines(&base, region.base.start, region.base.end);
        if region.is_conflict() {
            part(&mut out, "<<<<<<<", names.theirs, region.theirs.as_deref());
            part(&mut out, "|||||||", names.base, Some(&was));
            part(&mut out, "=======", names.ours, region.ours.as_deref());
            let _ = writeln!(out, ">>>>>>>");
            continue;
        }
        let (name, now) = match (&region.theirs, &region.ours) {
            (Some(now), _) => (names.theirs, now),
            (None, Some(now)) => (names.ours, now),
            (None, None) => continue,
        };
        let _ = writeln!(out, "{name}:");
        all(&mut out, "-", &was);
        all(&mut out, "+", now);
    }
    out
}

fn part(out: &mut String, mark: &str, name: &str, lines: Option<&[String]>) {
    let _ = writeln!(out, "{mark} {name}");
    all(out, "", lines.unwrap_or_default());
}

fn all(out: &mut String, sign: &str, lines: &[String]) {
    for line in lines {
        let _ = writeln!(out, "{sign}{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

    #[test]
    fn what_only_one_side_changed_is_no_conflict() {
        let sides = Sides {
            base: BASE,
            ours: "ONE\ntwo\nthree\nfour\nfive\nsix\n",
            theirs: &format!("{BASE}seven\n"),
        };
        let found = regions(&sides);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|region| !region.is_conflict()), "{found:?}");
        assert_eq!(found[0].ours, Some(vec!["ONE".to_owned()]));
        assert_eq!(found[1].theirs, Some(vec!["seven".to_owned()]));
    }

    #[test]
    fn what_both_changed_is_one_unless_they_agree() {
        let ours = "one\nTWO\nthree\nfour\nfive\nsix\n";
        let theirs = "one\n2\n3\nfour\nfive\nsix\n";
        let found = regions(&Sides { base: BASE, ours, theirs });
        assert_eq!(found.len(), 1);
        assert!(found[0].is_conflict());
        assert_eq!(found[0].ours, Some(vec!["TWO".to_owned(), "three".to_owned()]));
        assert!(!regions(&Sides { base: BASE, ours, theirs: ours })[0].is_conflict());
        let shown = show(&Sides { base: BASE, ours, theirs }, &Sides { base: "b", ours: "o", theirs: "t" });
        assert_eq!(shown, "@@ 2\n<<<<<<< t\n2\n3\n||||||| b\ntwo\nthree\n======= o\nTWO\nthree\n>>>>>>>\n");
    }

    #[test]
    fn equal_texts_have_no_regions_and_empty_ones_are_texts() {
        assert!(regions(&Sides { base: BASE, ours: BASE, theirs: BASE }).is_empty());
        assert!(regions(&Sides { base: "", ours: "a\n", theirs: "b\n" })[0].is_conflict());
        assert_eq!(
            show(&Sides { base: BASE, ours: BASE, theirs: "" }, &Sides { base: "", ours: "", theirs: "t" })
                .lines()
                .count(),
            8
        );
    }
}
