//! A name that is not there, by the nearest name that is.

use std::collections::BTreeSet;

use selfheal_core::fault::Fault;

use super::Offer;
use super::near::Near;
use crate::case::Case;
use crate::text;

/// Near names of one name.
const MOST: usize = 3;
/// Names of a failure.
const MOST_WANTED: usize = 12;
/// Short forms that people use for whole words.
const SHORT: [(&str, &str); 16] = [
    ("no", "number"),
    ("nr", "number"),
    ("num", "number"),
    ("qty", "quantity"),
    ("amt", "amount"),
    ("addr", "address"),
    ("desc", "description"),
    ("cnt", "count"),
    ("ts", "timestamp"),
    ("tel", "phone"),
    ("mail", "email"),
    ("dir", "directory"),
    ("dir", "folder"),
    ("temp", "temperature"),
    ("avg", "average"),
    ("ref", "reference"),
];

pub(super) fn offers(case: &Case, near: &Near) -> Vec<Offer> {
    let known = near.words(case);
    let message: BTreeSet<String> = words(&case.report.core_error).map(str::to_owned).collect();
    let mut out = Vec::new();
    for (name, loose) in wanted(case) {
        let mut found: Vec<&String> = message
            .union(&known)
            .filter(|other| match loose {
                true => is_near(&name, other),
                false => plain(&name) == plain(other) && **other != name,
            })
            .collect();
        found.sort_by_key(|other| text::distance(&name, other, 20));
        for other in found.into_iter().take(MOST) {
            for file in near.editable.iter().filter(|file| has_word(&file.text, &name)) {
                // Who uses the other name already means another thing by this one.
                if has_word(&file.text, other)
                    && !file.text.lines().any(|line| {
                        line.trim_start().starts_with(['#', '/']) && line.contains(other.as_str())
                    })
                {
                    continue;
                }
                let after = respelt(&file.text, &name, other);
                out.push(Offer::new(file, after, format!("{name} is not there; {other} is")));
            }
        }
    }
    out
}

/// The names that the failure is about, and whether a name that is only near may be meant. A plain word of the message may only be
/// spelt otherwise.
fn wanted(case: &Case) -> Vec<(String, bool)> {
    let mut names: Vec<String> = Vec::new();
    for fault in case.faults() {
        match fault {
            Fault::UndefinedName { name }
            | Fault::UnsetVariable { name }
            | Fault::NoSuchReference { name }
            | Fault::NoSuchObject { name, .. }
            | Fault::MissingName { name, .. } => names.push(name.clone()),
            Fault::KeyMissing { key } => names.push(key.clone()),
            Fault::UnknownOption { option, .. } => names.push(option.trim_start_matches('-').to_owned()),
            _ => {}
        }
    }
    let message = &case.report.core_error;
    names.extend(
        ['"', '\'', '`'].iter().flat_map(|quote| message.split(*quote).skip(1).step_by(2)).map(str::to_owned),
    );
    names.retain(|name| name.len() > 2 && name.len() < 60 && words(name).count() == 1);
    let mut out: Vec<(String, bool)> = Vec::new();
    for (name, loose) in
        names.into_iter().map(|name| (name, true)).chain(words(message).map(|word| (word.to_owned(), false)))
    {
        if out.len() < MOST_WANTED && name.len() > 2 && !out.iter().any(|(known, _)| *known == name) {
            out.push((name, loose));
        }
    }
    out
}

/// Lines that speak to people.
const SPEAKS: [&str; 7] = ["echo ", "printf ", "print ", "print(", "die ", "raise ", "warn"];

/// The text with the name spelt otherwise, but in what it says to people and in paths.
fn respelt(text: &str, name: &str, other: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut done = 0;
        for at in text::whole_words(line, name) {
            let end = at + name.len();
            let left = line.get(..at).and_then(|part| part.chars().next_back());
            let right = line.get(end..).and_then(|part| part.chars().next());
            let in_path =
                left == Some('/') || right == Some('/') || (right == Some('.') && left != Some('.'));
            let before = line.get(..at).unwrap_or_default();
            if in_path
                || (SPEAKS.iter().any(|word| before.contains(word)) && !before.ends_with(['$', '{', '[']))
            {
                continue;
            }
            out.push_str(line.get(done..at).unwrap_or_default());
            out.push_str(other);
            done = end;
        }
        out.push_str(line.get(done..).unwrap_or_default());
    }
    out
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(text::is_name(c) || c == '-'))
        .map(|word| word.trim_matches('-'))
        .filter(|word| !word.is_empty())
}

fn has_word(text: &str, word: &str) -> bool {
    text::whole_words(text, word).next().is_some()
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words of a name: at `_` and `-`, and where small letters end.
fn parts(name: &str) -> Vec<String> {
    let mut out: Vec<String> = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && small) {
            out.push(String::new());
        }
        small = c.is_lowercase();
        if c.is_alphanumeric()
            && let Some(last) = out.last_mut()
        {
            last.extend(c.to_lowercase());
        }
    }
    out.retain(|part| !part.is_empty());
    out
}

/// Whether two names may be the same thing: word by word the same, begun the same, shortened, or misspelt by one letter.
pub(super) fn is_near(name: &str, other: &str) -> bool {
    let digitless = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    if name == other || digitless(name) == digitless(other) {
        return false;
    }
    let (a, b) = (parts(name), parts(other));
    a.concat() == b.concat() || (a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| alike(a, b)))
}

fn alike(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    a == b
        || (short.len() >= 4 && long.starts_with(short))
        // Another first letter makes another word of most.
        || (short.len() >= 5 && a.chars().next() == b.chars().next() && text::distance(a, b, 1) <= 1)
        || SHORT.iter().any(|(s, l)| (*s, *l) == (short, long))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_may_be_the_same() {
        for (name, other) in [
            ("account_no", "account_number"),
            ("finish_time", "finished_time"),
            ("worker", "workers"),
            ("owner", "Owner"),
            ("familyName", "family_name"),
        ] {
            assert!(is_near(name, other), "{name} {other}");
        }
        for (name, other) in [
            ("CACHE_HOME", "CACHE_ROOT"),
            ("phone2", "phone1"),
            ("TMP_DIR", "TOP_DIR"),
            ("price", "price_net"),
            ("weight", "height"),
            ("name", "name"),
        ] {
            assert!(!is_near(name, other), "{name} {other}");
        }
    }
}
