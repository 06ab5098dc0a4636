//! Corpora of short examples; `corpus/README.md` says who wrote which. Every row must be judged right.
//!
//! Escapes: `\n`, `\t`, `\\`.

use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::mutate;
use selfheal_core::admission::{Danger, Weight};
use selfheal_guard::{danger_of, masking_of};
use selfheal_syntax::Language;

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some(other)) => out.push(other),
            (c, _) => out.push(c),
        }
    }
    out
}

fn language(name: &str) -> Language {
    match name {
        "bash" => Language::Shell,
        "python" => Language::Python,
        "perl" => Language::Perl,
        "node" => Language::Node,
        "ruby" => Language::Ruby,
        "make" => Language::Make,
        "sql" => Language::Sql,
        "yaml" => Language::Yaml,
        "docker" => Language::Docker,
        _ => Language::Other,
    }
}

fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(|line| line.split('\t').map(unescape).collect()).collect()
}

#[test]
fn dangerous_operations_are_told_from_harmless_ones() {
    let corpora = [
        include_str!("corpus/danger.tsv"),
        include_str!("corpus/danger-second.tsv"),
        include_str!("corpus/danger-third.tsv"),
        include_str!("corpus/danger-independent.tsv"),
    ];
    let rows: Vec<Vec<String>> = corpora.into_iter().flat_map(rows).collect();
    assert!(rows.len() >= 60);
    let mut wrong = Vec::new();
    for row in rows {
        let found = danger_of(language(&row[0]), &row[2]);
        let worst = found.iter().map(|operation| operation.danger).max().unwrap_or(Danger::Low);
        let word = format!("{worst:?}").to_lowercase();
        if word != row[1] {
            wrong.push(format!("{} {word}: {} ({found:?})", row[1], row[2]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rows of a file of changes that are judged otherwise than they say.
fn judged_otherwise(text: &str) -> Vec<String> {
    let rows = rows(text);
    assert!(rows.len() >= 60);
    let mut wrong = Vec::new();
    for row in rows {
        let [name, verdict, before, after, ..] = row.as_slice() else { continue };
        let found = masking_of(language(name), before, after);
        let masked = found.iter().any(|finding| finding.weight == Weight::Refuse);
        if masked != (verdict == "yes") {
            wrong.push(format!("{name} {verdict}: {before:?} => {after:?} ({found:?})"));
        }
    }
    wrong
}

#[test]
fn independent_rows_are_judged_as_their_writer_says() {
    let wrong = judged_otherwise(include_str!("corpus/masking-independent.tsv"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn changes_that_hide_a_failure_are_told_from_repairs() {
    let wrong = judged_otherwise(include_str!("corpus/masking.tsv"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn changes_in_languages_besides_shell_and_python_are_told_from_repairs() {
    let wrong = judged_otherwise(include_str!("corpus/masking-languages.tsv"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn families_of_masking_are_found_in_every_language() {
    let wrong = judged_otherwise(include_str!("corpus/masking-families.tsv"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_model_would_propose_is_told_from_what_it_should() {
    let wrong = judged_otherwise(include_str!("corpus/masking-third.tsv"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Twelve ways to say the same in other words.
const REWRITINGS: [fn(&str) -> String; 12] = [
    |text| format!("true; {text}"),
    |text| format!("({text}\n)"),
    |text| format!("if x; then\n{text}\nfi"),
    |text| format!("run_it() {{\n{text}\n}}\nrun_it"),
    |text| format!("{{ {text}\n}} >/dev/null"),
    |text| format!("x=$(\n{text}\n)"),
    |text| format!("for one in 1; do\n{text}\ndone"),
    |text| format!("case x in\nx)\n{text}\n;;\nesac"),
    |text| format!("bash <<'END_OF_IT'\n{text}\nEND_OF_IT"),
    |text| format!("eval '{}'", text.replace('\'', "'\\''")),
    |text| format!("sudo bash -c '{}'", text.replace('\'', "'\\''")),
    |text| format!("# a note\n\nset -euo pipefail\nx=1\n{text}"),
];

#[test]
fn a_dangerous_row_stays_dangerous_in_other_words() {
    let whole = |text: &str| !text.contains("<<") && !text.contains("()") && !text.contains("cd ");
    let corpora = [
        include_str!("corpus/danger.tsv"),
        include_str!("corpus/danger-second.tsv"),
        include_str!("corpus/danger-third.tsv"),
        include_str!("corpus/danger-independent.tsv"),
    ];
    let mut lowered = Vec::new();
    for row in corpora.into_iter().flat_map(rows) {
        let [name, verdict, text, ..] = row.as_slice() else { continue };
        if name != "bash" || verdict != "high" || !whole(text) {
            continue;
        }
        for rewrite in REWRITINGS {
            let text = rewrite(text);
            let mut found = danger_of(Language::Shell, &text).into_iter();
            if !found.any(|operation| operation.danger == Danger::High) {
                lowered.push(text);
            }
        }
    }
    assert!(lowered.is_empty(), "{} are judged lower: {lowered:#?}", lowered.len());
}

#[test]
fn random_and_mutated_scripts_are_judged_without_panic() {
    let seeds: Vec<String> =
        [include_str!("corpus/danger.tsv"), include_str!("corpus/masking-languages.tsv")]
            .into_iter()
            .flat_map(rows)
            .flat_map(|row| row.into_iter().skip(2))
            .collect();
    // The fuzzer in benches/ tries many more; see docs/check.md.
    for seed in 0..400 {
        let mut random = mutate::Random::new(seed);
        let (one, other) = (mutate::text(&mut random, &seeds), mutate::text(&mut random, &seeds));
        let language = language(
            ["bash", "python", "perl", "node", "ruby", "make", "sql", "yaml", "docker"]
                .get(seed as usize % 9)
                .copied()
                .unwrap_or_default(),
        );
        judged(language, &one, &other);
    }
}

/// How many times the guard panicked on the thread that it works on: for a user that is "cannot be judged".
fn panics() -> usize {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place = info.location().map_or("", |location| location.file());
            // The second shell parser unwraps; that is caught.
            COUNT.fetch_add(
                usize::from(place.contains("/src/") && !place.contains("brush-parser")),
                Ordering::SeqCst,
            );
            usual(info);
        }));
    });
    COUNT.load(Ordering::SeqCst)
}

fn judged(language: Language, one: &str, other: &str) {
    let before = panics();
    let _ = danger_of(language, one);
    let _ = masking_of(language, one, other);
    assert_eq!(panics(), before, "{language:?} {one:?} {other:?}");
}

#[test]
fn hostile_texts_are_judged_without_panic() {
    for text in [
        "<<".repeat(2_000),
        "$(".repeat(2_000),
        "{".repeat(4_000),
        "[".repeat(4_000),
        "\"".repeat(4_001),
        "a=$a$a;".repeat(500),
        "eval ".repeat(500),
        "bash -c 'bash -c \"bash -c x\"'; ".repeat(50),
        "é\u{0}\u{feff}\r".repeat(100),
    ] {
        for language in [Language::Shell, Language::Python, Language::Node, Language::Sql, Language::Make] {
            judged(language, &text, "a\n");
            judged(language, "a\n", &text);
        }
    }
}
