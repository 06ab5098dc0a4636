//! Solved cases of the same kind, from the pages of the rules: what was wrong, what helps, and a few lines before and
//! afterwards. A small model does by example what it cannot think out.

use std::path::{Path, PathBuf};

use selfheal_core::knowledge::{Kind, Piece};
use selfheal_core::redact::{Redacted, Redactor};

use super::input::PromptInput;
use crate::knowledge::{Asked, Query, rank};
use crate::manual::RulePage;
use crate::rules::rules;

/// At most so many cases, of so many characters together: they are read before every answer.
const MOST: usize = 2;
const MOST_CHARS: usize = 1_600;
/// A case that fits less well says nothing; neither does one that fits so much less than the best, in parts of it.
const LEAST_SCORE: f64 = 12.0;
const NEAR_BEST: f64 = 0.7;

/// Languages by how a script's is called, and the words by which a page says that it is about one.
const LANGUAGES: [(&str, &str); 6] = [
    ("python", "Python"),
    ("javascript", "JavaScript"),
    ("perl", "Perl"),
    ("ruby", "Ruby"),
    ("make", "recipe"),
    ("awk", "awk"),
];

/// The best fitting cases; empty where none fits, or they are left out.
pub(super) fn solved(input: &PromptInput<'_>) -> String {
    let Some(script) = input.script.filter(|_| input.examples) else { return String::new() };
    let query = Query::of(&Asked {
        report: input.report,
        script: Some(&script.path),
        errors: input.stderr_end,
        trace: None,
        folder: script.path.parent().unwrap_or(&script.path),
    });
    let mut out = String::new();
    for page in fitting(&query, input.language, input.redactor) {
        let text = format!(
            "{}. {}\nbefore:\n{}after:\n{}",
            page.title,
            page.fix.replace('\n', " "),
            page.before,
            page.after
        );
        if out.chars().count() + text.chars().count() <= MOST_CHARS {
            out.push_str(&text);
        }
    }
    out
}

/// The pages that fit a question, best first.
fn fitting(query: &Query, language: &str, redactor: &Redactor) -> Vec<RulePage> {
    let pages: Vec<RulePage> =
        rules().iter().map(|rule| rule.page()).filter(|page| is_about(page, language)).collect();
    let pieces: Vec<Piece> = pages.iter().map(|page| piece(page, redactor)).collect();
    let ranked = rank(&pieces, query, Path::new(""));
    let best = ranked.first().map_or(0.0, |one| one.score);
    let fits = ranked.iter().filter(|one| one.named && one.score >= LEAST_SCORE.max(best * NEAR_BEST));
    fits.take(MOST).filter_map(|one| pages.get(one.at).cloned()).collect()
}

/// Whether a page may be about a script in this language: it names none, or this one.
fn is_about(page: &RulePage, language: &str) -> bool {
    let named = |word: &str| page.title.contains(word) || page.finds.contains(word);
    let about: Vec<&str> =
        LANGUAGES.iter().filter(|(_, word)| named(word)).map(|(language, _)| *language).collect();
    // Shell scripts hold awk programs.
    about.is_empty() || about.iter().any(|one| *one == language || *one == "awk")
}

fn piece(page: &RulePage, redactor: &Redactor) -> Piece {
    let parts = [&page.finds, &page.why, &page.before].map(|part| redactor.text(part));
    Piece {
        path: PathBuf::from("page"),
        kind: Kind::Reference,
        heading: redactor.text(&page.title),
        first_line: 0,
        last_line: 0,
        text: Redacted::join(&parts, "\n"),
        is_data: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_kind_is_among_those_shown() {
        for (language, told, title) in [
            (
                "bash",
                "cp: cannot stat 'in/*.txt': No such file or directory; no file matches the pattern",
                "A pattern that",
            ),
            ("bash", "USER: unbound variable, archive/$USER.tar", "A variable that is not set"),
            ("bash", "fatal: ambiguous argument 'origin/x': unknown revision git reset", "A branch that was"),
            ("bash", "09: value too great for base, next=$((month + 1))", "A number with a leading zero"),
            ("bash", "[: =: unary operator expected", "A test with an empty"),
        ] {
            let shown = fitting(&Query::words(told), language, &Redactor::default());
            let titles: Vec<&str> = shown.iter().map(|page| page.title.as_str()).collect();
            assert!(titles.iter().any(|one| one.starts_with(title)), "{told}: {titles:?}");
        }
        assert!(fitting(&Query::words("frobnicate the gizmo"), "bash", &Redactor::default()).is_empty());
    }
}
