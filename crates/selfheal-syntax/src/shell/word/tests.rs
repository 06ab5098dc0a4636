//! How words are read: quotes, escapes, expansions, patterns.

use super::*;

fn word(text: &str) -> Word {
    Word::new(text, 0..text.len())
}

#[test]
fn literals_lose_quotes_and_escapes() {
    for (text, value) in [
        ("r''m", "rm"),
        ("r\"\"m", "rm"),
        ("\\rm", "rm"),
        ("$'\\162\\x6d'", "rm"),
        ("\"a b\"'c'", "a bc"),
        ("\"a\\\"b\"", "a\"b"),
        ("a\\ b", "a b"),
        ("''", ""),
        ("'open", "open"),
    ] {
        assert_eq!(word(text).literal().as_deref(), Some(value), "{text}");
    }
    assert_eq!(word("*.log").literal(), None);
    assert_eq!(word("*.log").literal_or_pattern().as_deref(), Some("*.log"));
}

#[test]
fn expansions_with_operators() {
    let all = word("\"$a/${b:-x $c}/${d[@]}/${!e}/${f##*/}\"");
    let names: Vec<_> = all.expansions().map(|e| (e.name.as_str(), e.operator.as_deref())).collect();
    assert_eq!(names, [("a", None), ("b", Some(":-")), ("d", None), ("e", None), ("f", Some("##"))]);
    assert!(all.uses("c") && all.quoted() && !all.has_glob());
    // All elements of an array are words of their own, in quotes too.
    assert!(all.splits() && !word("\"$a/${d[1]}\"").splits());
    assert_eq!(all.expansions().nth(2).and_then(|e| e.index.as_deref()), Some("@"));
    assert_eq!(all.expansions().nth(3).and_then(|e| e.prefix), Some('!'));
}

#[test]
fn substitutions_patterns_and_braces() {
    let all = word("$(a \"$(b)\")`c`/*.{x,y}$((1+2))");
    assert!(matches!(all.parts.first(), Some(Part::Substitution { text, .. }) if text == "a \"$(b)\""));
    assert!(matches!(all.parts.get(1), Some(Part::Substitution { text, .. }) if text == "c"));
    assert!(all.has_glob() && all.splits() && !all.quoted());
    assert!(all.parts.iter().any(|part| matches!(part, Part::Brace { text } if text == "{x,y}")));
    assert!(all.parts.iter().any(|part| matches!(part, Part::Arithmetic { text, .. } if text == "1+2")));
    assert!(matches!(word("~root/x").parts.first(), Some(Part::Tilde { user }) if user == "root"));
}

#[test]
fn splits_tests_into_words() {
    let text = "-e \"$a b\" && $(c d) = e\\ f";
    let words: Vec<_> = split(text).into_iter().filter_map(|span| text.get(span)).collect();
    assert_eq!(words, ["-e", "\"$a b\"", "&&", "$(c d)", "=", "e\\ f"]);
}

#[test]
fn every_text_has_parts_and_none_panics() {
    for text in
        ["${", "$(", "`", "\"", "$'", "${x", "\\", "${!}", "${#}", "[", "{", "$", "é$é", "\"é", "${é}", "<("]
    {
        let _ = word(text);
        let _ = split(text);
    }
}
