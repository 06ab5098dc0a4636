//! Two corpora of short examples, `corpus/danger.tsv` and `corpus/masking.tsv`. Every row must be judged right.
//!
//! Escapes: `\n`, `\t`, `\\`.

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
    let rows = rows(include_str!("corpus/danger.tsv"));
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
fn a_dangerous_row_stays_dangerous_behind_wrappers() {
    let wraps: [fn(&str) -> String; 6] = [
        |text| format!("true; {text}"),
        |text| format!("({text}\n)"),
        |text| format!("if x; then\n{text}\nfi"),
        |text| format!("run_it() {{\n{text}\n}}\nrun_it"),
        |text| format!("{{ {text}\n}} >/dev/null"),
        |text| format!("x=$(\n{text}\n)"),
    ];
    let whole = |text: &str| !text.contains("<<") && !text.contains("()") && !text.contains("cd ");
    for row in rows(include_str!("corpus/danger.tsv")) {
        if row[0] != "bash" || row[1] != "high" || !whole(&row[2]) {
            continue;
        }
        for wrap in wraps {
            let text = wrap(&row[2]);
            let high =
                danger_of(Language::Shell, &text).iter().any(|operation| operation.danger == Danger::High);
            assert!(high, "{text}");
        }
    }
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
            let _ = danger_of(language, &text);
            let _ = masking_of(language, "a\n", &text);
            let _ = masking_of(language, &text, "a\n");
        }
    }
}
