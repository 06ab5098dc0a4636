//! Cutting, asking and choosing.

use selfheal_core::redact::Redactor;

use super::*;

fn cut(path: &str, text: &str) -> Vec<Piece> {
    pieces(Path::new(path), Kind::Reference, false, &Redactor::default().text(text))
}

fn places(path: &str, text: &str) -> Vec<(String, u32, u32)> {
    cut(path, text)
        .into_iter()
        .map(|piece| (piece.heading.as_str().to_owned(), piece.first_line, piece.last_line))
        .collect()
}

fn place(heading: &str, first: u32, last: u32) -> (String, u32, u32) {
    (heading.to_owned(), first, last)
}

#[test]
fn markdown_is_cut_at_its_headings_and_not_inside_of_code() {
    let text = "# Tool\n\nWhat it does.\n\n## Options\n\n```sh\n# no heading\ntool -x\n```\n\n## Files\n\n## Exit\n\nNone.\n";
    assert_eq!(
        places("/p/README.md", text),
        [place("# Tool", 1, 3), place("# Tool / ## Options", 5, 10), place("# Tool / ## Exit", 14, 16)]
    );
    let text = "Title\n=====\n\nOne.\n\nPart\n----\nTwo.\n";
    assert_eq!(places("/p/guide.rst", text), [place("Title", 1, 4), place("Title / Part", 6, 8)]);
}

#[test]
fn release_notes_are_cut_at_versions() {
    for (text, headings) in [
        ("2.1 (2024-05-02)\n  - a\n\n2.0\n  - b 1.5\n", vec!["2.1 (2024-05-02)", "2.0"]),
        (
            "# Changelog\n\n## [1.1.0]\n- a\n## [1.0.0]\n- b\n",
            vec!["# Changelog / ## [1.1.0]", "# Changelog / ## [1.0.0]"],
        ),
        (
            "tool (1.2-3) unstable; urgency=low\n\n  * a\n\ntool (1.2-2) stable\n\n  * b\n",
            vec!["tool (1.2-3) unstable; urgency=low", "tool (1.2-2) stable"],
        ),
        (
            "2.1 the option -x is -y\n2.0\n1.9 the key a is called b\n",
            vec!["2.1 the option -x is -y", "1.9 the key a is called b"],
        ),
        ("tool 1.2\n - a\n\ntool v1.1 (2020-01-01)\n - b\n", vec!["tool 1.2", "tool v1.1 (2020-01-01)"]),
        ("Version 3:\nx\nv2\ny\n", vec!["Version 3:", "v2"]),
    ] {
        let found: Vec<String> =
            places("/p/CHANGES", text).into_iter().map(|(heading, _, _)| heading).collect();
        assert_eq!(found, headings, "{text}");
    }
}

#[test]
fn programs_are_cut_at_functions() {
    let text =
        "import os\n\ndef load(path):\n    return 1\n\n@cache\ndef save(path):\n    pass\n\nload('x')\n";
    assert_eq!(
        places("/p/job.py", text),
        [place("", 1, 1), place("def load(path):", 3, 4), place("@cache", 6, 8), place("", 10, 10)]
    );
    let text = "set -e\nlog() {\n  echo\n}\nlog\n";
    assert_eq!(places("/p/job.sh", text), [place("", 1, 1), place("log() {", 2, 4), place("", 5, 5)]);
    let text = "use strict;\nsub a {\n 1\n}\nsub b {\n 2\n}\n";
    assert_eq!(places("/p/job.pl", text), [place("", 1, 1), place("sub a {", 2, 4), place("sub b {", 5, 7)]);
}

#[test]
fn long_texts_are_cut_at_paragraphs_and_hostile_ones_are_bounded() {
    let paragraph = "word ".repeat(120);
    let text = format!("{paragraph}\n\n{paragraph}\n\n{paragraph}\n");
    assert_eq!(places("/p/notes.txt", &text), [place("", 1, 1), place("", 3, 3), place("", 5, 5)]);
    assert_eq!(cut("/p/x.txt", &"y".repeat(1 << 20))[0].text.as_str().len(), LONGEST);
    assert!(cut("/p/x.md", &"# a\nb\n".repeat(20_000)).len() <= MOST);
    assert!(cut("/p/x.sh", &"f() { :; }\n".repeat(2_000)).len() <= MOST);
    for name in ["x.md", "CHANGES", "x.py", "x"] {
        assert_eq!(cut(&format!("/p/{name}"), "\n \n\t\n"), [], "{name}");
        assert_eq!(cut(&format!("/p/{name}"), ""), [], "{name}");
    }
}

#[test]
fn the_piece_that_names_what_failed_is_the_best() {
    let mut all = cut("/p/CHANGES", "3.0\n- `--archive-dir` is now called `--target`.\n\n2.0\n- Faster.\n");
    all.extend(cut("/p/README.md", "# Pack\n\nPack packs files into an archive. See the options.\n"));
    let chosen = choose(
        &all,
        &Query::words("unrecognized arguments: --archive-dir"),
        Path::new("/p"),
        Budget::default(),
    );
    assert_eq!(chosen.references[0].heading.as_str(), "3.0");
    assert!(chosen.references[0].text.as_str().contains("--target"));
    let nothing = choose(&all, &Query::words("the file is not there"), Path::new("/p"), Budget::default());
    assert_eq!(nothing, Chosen::default());
}

#[test]
fn what_is_near_comes_first_and_the_budget_is_held() {
    let text = "The retention is called keep_days.\n";
    let mut all = cut("/else/where/notes.md", text);
    all.extend(cut("/p/docs/notes.md", &format!("{text}\n")));
    all.extend(cut("/p/docs/more.md", &format!("{text}More.\n")));
    let query = Query::words("keep_days");
    let chosen = choose(&all, &query, Path::new("/p"), Budget::default());
    assert!(chosen.references[0].path.starts_with("/p/docs"), "{chosen:?}");
    let small = Budget { references: 200, ..Budget::default() };
    assert_eq!(choose(&all, &query, Path::new("/p"), small).references.len(), 1);
}

#[test]
fn a_repair_rests_on_the_piece_that_its_new_name_is_from() {
    let all = cut("/p/CHANGES", "3.0\n- `--archive-dir` is now `--target`.\n\n2.0\n- The file is faster.\n");
    let (before, after) = ("pack --archive-dir out\n", "pack --target out\n");
    assert_eq!(rests_on(&all, before, after, "no such option --archive-dir"), [true, false]);
    assert_eq!(rests_on(&all, before, before, ""), [false, false]);
}
