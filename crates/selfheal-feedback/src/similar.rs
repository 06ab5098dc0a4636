//! Names that look alike: what somebody may have meant.

/// Longer names are not compared.
const LONGEST: usize = 128;
/// How many names are compared at most.
const MOST: usize = 1_000;

/// The names that are close to a wanted one, the closest first, at most `most`.
#[must_use]
pub fn close<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>, most: usize) -> Vec<&'n str> {
    let wanted_plain = plain(wanted);
    let limit = (wanted_plain.chars().count() / 3).clamp(1, 4);
    let mut hits: Vec<(usize, &str)> = names
        .into_iter()
        .take(MOST)
        .filter(|name| *name != wanted)
        .filter_map(|name| Some((score(&wanted_plain, &plain(name), limit)?, name)))
        .collect();
    hits.sort();
    hits.into_iter().take(most).map(|(_, name)| name).collect()
}

/// How far apart two names are; absent beyond the limit. A name that the other begins or ends with counts as near.
fn score(wanted: &str, name: &str, limit: usize) -> Option<usize> {
    if wanted.is_empty() || name.is_empty() {
        return None;
    }
    if wanted == name {
        return Some(0);
    }
    let shorter = wanted.len().min(name.len());
    if shorter >= 3 && (name.starts_with(wanted) || wanted.starts_with(name) || name.ends_with(wanted)) {
        return Some(1);
    }
    distance(wanted, name).filter(|distance| *distance <= limit)
}

/// Lower case, without the signs that people change most.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// The edit distance, transpositions counted as one; absent for names that are too long to compare.
#[must_use]
pub fn distance(left: &str, right: &str) -> Option<usize> {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    if left.len() > LONGEST || right.len() > LONGEST {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, l) in left.iter().enumerate() {
        let mut this = vec![row + 1];
        for (column, r) in right.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&last, column) + usize::from(l != r))
                .min(at(&last, column + 1) + 1)
                .min(at(&this, column) + 1);
            let swapped =
                row > 0 && column > 0 && left.get(row - 1) == Some(r) && right.get(column - 1) == Some(l);
            if swapped {
                best = best.min(at(&before, column - 1) + 1);
            }
            this.push(best);
        }
        before = std::mem::replace(&mut last, this);
    }
    last.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_edits_and_swaps() {
        for (left, right, edits) in
            [("abc", "abc", 0), ("abc", "acb", 1), ("kitten", "sitting", 3), ("", "ab", 2)]
        {
            assert_eq!(distance(left, right), Some(edits), "{left} {right}");
        }
        assert_eq!(distance(&"x".repeat(1_000), "x"), None);
    }

    #[test]
    fn close_names_come_nearest_first() {
        let names = ["user_id", "userid2", "total", "users"];
        assert_eq!(close("userId", names, 2), ["user_id", "userid2"]);
        assert!(close("total", ["x", "yy"], 3).is_empty());
    }
}
