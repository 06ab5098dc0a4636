//! The places of a change as code: what is gone and what is new, comments apart, for the checks that look at lines.

use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_syntax::{Language, diff};

/// One place of a change.
#[derive(Debug)]
pub struct Place {
    /// The code that is gone, line by line.
    pub old: Vec<String>,
    /// The code that is new, each line with its number.
    pub new: Vec<(u32, String)>,
    /// Whether a new comment says why something may be missing.
    pub stated: bool,
    /// Whether the new code fails somewhere.
    pub fails: bool,
    /// The values that the remarks of the text before the change name for what is not there.
    pub told: Vec<String>,
}

impl Place {
    /// The code that is gone without white space.
    pub fn old_tight(&self) -> String {
        tight(&self.old.join("\n"))
    }
}

/// A text without white space, with one kind of quotes.
pub fn tight(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).map(|c| if c == '\'' { '"' } else { c }).collect()
}

/// The pattern of a table, compiled once by the caller.
pub fn compiled(cell: &'static OnceLock<Option<Regex>>, pattern: &str) -> Option<&'static Regex> {
    cell.get_or_init(|| Regex::new(pattern).ok()).as_ref()
}

/// The places of a change.
pub fn places(language: Language, before: &str, after: &str) -> Vec<Place> {
    let hunks = diff::hunks(before, after).into_iter();
    let told = told(language, before);
    hunks
        .map(|hunk| {
            let comments: Vec<&str> = hunk.added.iter().map(|line| split(language, line).1).collect();
            let new: Vec<(u32, String)> =
                hunk.new.zip(hunk.added.iter().map(|line| split(language, line).0.to_owned())).collect();
            Place {
                old: hunk.removed.iter().map(|line| split(language, line).0.to_owned()).collect(),
                stated: comments.iter().any(|comment| states(comment)),
                fails: new.iter().any(|(_, code)| fails(code)),
                told: told.clone(),
                new,
            }
        })
        .collect()
}

/// A line as its code and its comment.
fn split(language: Language, line: &str) -> (&str, &str) {
    let mark = match language {
        Language::Node => "//",
        Language::Sql => "--",
        _ => "#",
    };
    let mut quote = None::<char>;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        let rest = line.get(at..).unwrap_or_default();
        let begins = before.is_whitespace() || language == Language::Node && before != ':';
        match quote {
            Some(open) if c == open && before != '\\' => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'' | '`') => quote = Some(c),
            None if begins && rest.starts_with(mark) => return line.split_at(at),
            None => {}
        }
        before = c;
    }
    (line, "")
}

/// Whether a comment says that a value need not be there.
fn states(comment: &str) -> bool {
    const WORDS: &[&str] = &[
        "optional",
        "may be missing",
        "may be absent",
        "may be empty",
        "may be null",
        "not always",
        "need not",
        "can be missing",
        "can be empty",
        "can be absent",
        "by default",
        "defaults to",
        "absent means",
        "missing means",
        "empty means",
        "unset means",
        "not every",
    ];
    let comment = comment.to_lowercase();
    WORDS.iter().any(|word| comment.contains(word))
}

/// Values of remarks that are kept.
const MOST_TOLD: usize = 40;

/// The numbers and the quoted words in remarks (and in texts of a program's or a function's head) that speak of what is not
/// there: `a station that sent nothing shows "-"`.
fn told(language: Language, before: &str) -> Vec<String> {
    const NOTHING: &[&str] = &["without", "no", "nothing", "empty", "none", "missing"];
    let mut in_head = false;
    let mut out = Vec::new();
    for line in before.lines() {
        let marks = line.matches("\"\"\"").count();
        let whole = language == Language::Python && (in_head || marks > 0);
        in_head ^= marks % 2 == 1;
        let remark = if whole { line } else { split(language, line).1 };
        let words = || remark.split_whitespace().map(|word| word.trim_end_matches(['.', ',', ';', ':', ')']));
        if !words().any(|word| NOTHING.contains(&word.to_lowercase().as_str())) {
            continue;
        }
        let named = |word: &&str| {
            let number = word.trim_start_matches('-');
            let quoted = word.len() > 2 && word.starts_with(['"', '\'']) && word.ends_with(['"', '\'']);
            quoted || (!number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.'))
        };
        out.extend(words().filter(named).map(tight));
    }
    out.truncate(MOST_TOLD);
    out
}

/// Whether code fails on purpose.
fn fails(code: &str) -> bool {
    const WORDS: &[&str] =
        &["raise", "die", "throw", "abort", "croak", "fail", "reject", "sys.exit", "SystemExit", "assert"];
    let words = code.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
    let named = words.into_iter().any(|word| WORDS.contains(&word));
    let exit = ["exit 1", "exit(1", "exit 2", "exit $", "exit(2", "return 1"];
    named || exit.iter().any(|form| code.contains(form))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_comments_are_told_apart() {
        assert_eq!(split(Language::Python, "x = '#a'  # b"), ("x = '#a'  ", "# b"));
        assert_eq!(split(Language::Node, "f('http://x') // b"), ("f('http://x') ", "// b"));
        assert_eq!(split(Language::Shell, "n=${#a} c=$#"), ("n=${#a} c=$#", ""));
        assert_eq!(split(Language::Perl, "$x // 0;"), ("$x // 0;", ""));
    }

    #[test]
    fn a_place_says_its_reason_and_whether_it_fails() {
        let after = "# the note is optional\nx = d.get('note')\n";
        let all = places(Language::Python, "x = d['note']\n", after);
        assert!(all.iter().all(|place| place.stated && !place.fails && place.old_tight() == "x=d[\"note\"]"));
        assert!(places(Language::Perl, "a;\n", "a or die;\n").iter().all(|place| place.fails));
    }
}
