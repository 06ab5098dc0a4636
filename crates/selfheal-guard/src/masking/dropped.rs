//! Items that are newly passed over: filters in front of the work, `next unless …`, `continue` for what does not fit. Blank
//! lines, comments and headings are no items.

use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::Language;

use super::change::{Place, compiled, tight};
use crate::finding::at;

/// What asks for the kind of a file, or whether it is there.
const FILES: &[&str] = &[
    "endswith",
    "end_with?",
    "endsWith",
    "is_file",
    "isfile",
    "is_dir",
    "isdir",
    "exists",
    "exist?",
    "file?",
    "directory?",
    "isFile(",
    "isDirectory(",
    "-e$",
    "-f$",
    "-d$",
    "-s$",
    "startswith(\".\")",
    "startsWith(\".\")",
    "start_with?(\".\")",
    "seen",
];

/// What asks whether a value fits.
const VALUES: &[&str] = &[
    "len(",
    ".length",
    ".size",
    ".count",
    "@",
    "scalar",
    "isnan",
    "isNaN",
    "isFinite",
    "isfinite",
    "isdigit",
    "isnumeric",
    "isdecimal",
    "isalpha",
    "isinstance",
    "isInteger",
    "typeof",
    "null",
    "undefined",
    "None",
    "nil",
    "defined",
    "[",
    ".get(",
    "{",
    "=~",
    "!~",
    ".match",
    ".test(",
    "==\"\"",
    "!=\"\"",
    "valid",
    "notin",
    "Number",
    "numeric",
    "is_a?",
    "key?",
    "include?",
    "in",
    "/^",
];

/// How much it matters that what a condition says is passed over, or only that taken; `None` for what is no item.
pub fn judge(condition: &str) -> Option<Weight> {
    let text = tight(condition);
    let text = text.trim_start_matches(['!', '(']).trim_end_matches(';');
    let text = text.trim_end_matches(')').to_owned() + &")".repeat(text.matches('(').count());
    let text = text.strip_prefix("not").unwrap_or(&text);
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if is_no_item(text) {
        return None;
    }
    if has(FILES) {
        return Some(Weight::Medium);
    }
    static FIELD: OnceLock<Option<Regex>> = OnceLock::new();
    let field = compiled(&FIELD, r"^\w+\.\w+$").is_some_and(|field| field.is_match(text));
    Some(if field || has(VALUES) { Weight::Refuse } else { Weight::Medium })
}

/// Blank lines, comments, headings, and nothing at all.
fn is_no_item(text: &str) -> bool {
    static PLAIN: OnceLock<Option<Regex>> = OnceLock::new();
    const PATTERN: &str =
        r#"^&?:?[$\w]+(\.length|\.chars)?((>|===?|!==?)(0|""))?$|^&?:empty\?$|^(\w+\.)?length$"#;
    const BLANK: &[&str] = &[
        r"^\s*$",
        r"/\S/",
        r"^$",
        r"^\s*#",
        "/^#",
        ".strip()",
        ".trim()",
        ".strip.empty?",
        ".blank?",
        ".present?",
        "$.==1",
        "NR==1",
        "index==0",
        "index===0",
        "i==0",
        "i===0",
        "lineno==1",
        ".isspace()",
        r"^\s*(#|$)",
        r"^\s*(?:#|$)",
        "chomp.empty?",
        ".startswith(\"#\"",
        ".startsWith(\"#\"",
        ".start_with?(\"#\"",
        ".startswith((\"#\"",
        ".startsWith(\"//\"",
        "[0]==\"#\"",
        "[0]===\"#\"",
        ".startswith(\"//\"",
        ".startswith(\";\"",
        ".startswith(\"--\"",
    ];
    let plain = compiled(&PLAIN, PATTERN).is_some_and(|plain| plain.is_match(text));
    plain || text.is_empty() || BLANK.iter().any(|form| text.contains(form))
}

/// A way to pass over items: languages, and a pattern whose first group is the condition.
struct Form(Language, &'static str);

const FORMS: &[Form] = &[
    Form(Language::Node, r"\.filter\((.*)"),
    Form(Language::Node, r"\bif\s*\((.*)\)\s*\{?\s*continue\b"),
    Form(Language::Node, r"=>\s*\{\s*if\s*\((.*)\)\s*\{?\s*return\s*;"),
    Form(Language::Ruby, r"\bnext\s+(?:if|unless)\s+(.*)"),
    Form(
        Language::Ruby,
        r"\.(?:select|reject|filter|filter_map|delete_if|keep_if)!?\s*(?:\{\s*\|[^|]*\||\(&)\s*(.*)",
    ),
    Form(Language::Ruby, r"\.(compact\b|grep\(.*)"),
    Form(Language::Perl, r"\bnext(?:\s+[A-Z]+)?\s+(?:if|unless)\s+(.*)"),
    Form(Language::Perl, r"(.*?)\s(?:or|and|\|\||&&)\s+next\b"),
    Form(Language::Perl, r"\bgrep\s*\{(.*)"),
    Form(Language::Perl, r"\bgrep\s+(/.*)"),
];

fn forms() -> &'static Vec<(Regex, Language)> {
    static ONCE: OnceLock<Vec<(Regex, Language)>> = OnceLock::new();
    ONCE.get_or_init(|| {
        FORMS.iter().filter_map(|Form(own, text)| Some((Regex::new(text).ok()?, *own))).collect()
    })
}

/// The items that a change passes over.
pub fn compare(language: Language, places: &[Place]) -> Vec<Finding> {
    let mut out = Vec::new();
    for place in places {
        let old = place.old_tight();
        for (at_line, (line, code)) in place.new.iter().enumerate() {
            // `if (…) {` with nothing but `continue;` behind it.
            let next = place.new.get(at_line + 1).map(|(_, code)| code.trim()).unwrap_or_default();
            let whole = if next.starts_with("continue") { format!("{code} {next}") } else { code.clone() };
            let own = forms().iter().filter(|(_, own)| *own == language);
            let worst = own.filter_map(|(form, _)| in_line(form, &whole, &old)).max();
            out.extend(worst.map(|weight| {
                let weight = if place.fails { Weight::Medium } else { weight };
                at(
                    "masking/rows-dropped",
                    *line,
                    weight,
                    "items that do not fit are passed over without a word",
                )
            }));
        }
    }
    out
}

fn in_line(form: &Regex, code: &str, old: &str) -> Option<Weight> {
    let all = form.captures_iter(code).take(8).filter_map(|found| {
        let condition = found.get(1)?.as_str();
        let condition = predicate(condition);
        // Everything that is nothing, or matches no pattern.
        if condition == "compact" || condition.starts_with("grep(") {
            return (!old.contains(condition)).then_some(Weight::Refuse);
        }
        (!old.contains(&tight(condition))).then(|| judge(condition)).flatten()
    });
    all.max()
}

/// The condition of a function that is written in place, up to the bracket that closes the call: `l => l.trim())` is
/// `l.trim()`.
fn predicate(text: &str) -> &str {
    let mut depth = 0_i32;
    let end = text.char_indices().find(|(_, c)| {
        depth += i32::from(matches!(c, '(' | '{' | '['));
        depth -= i32::from(matches!(c, ')' | '}' | ']'));
        depth < 0
    });
    let inner = end.and_then(|(at, _)| text.get(..at)).unwrap_or(text);
    let body = inner.split_once("=>").map_or(inner, |(_, body)| body);
    body.trim().trim_end_matches(';')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::masking::change::places;

    #[test]
    fn every_form_compiles() {
        assert_eq!(forms().len(), FORMS.len());
    }

    #[test]
    fn conditions_about_values_are_told_from_blank_lines_and_comments() {
        for text in [
            "line.strip()",
            "not l",
            "$l =~ /^\\s*$/",
            "l.startswith('#')",
            "Boolean",
            "&:empty?",
            "l !== ''",
        ] {
            assert_eq!(judge(text), None, "{text}");
        }
        for text in [
            "len(r) == 4",
            "!r.id",
            "@f == 4",
            "c =~ /^\\d+$/",
            "r.size == 4",
            "not row['x']",
            "Number.isFinite",
        ] {
            assert_eq!(judge(text), Some(Weight::Refuse), "{text}");
        }
        assert_eq!(judge("name.endswith('.csv')"), Some(Weight::Medium));
    }

    #[test]
    fn new_filters_are_found_and_old_ones_are_not() {
        let refused = |language: Language, before: &str, after: &str| {
            let found = compare(language, &places(language, before, after));
            found.iter().any(|finding| finding.weight == Weight::Refuse)
        };
        assert!(refused(Language::Node, "xs.map(f)\n", "xs.filter(x => !isNaN(x)).map(f)\n"));
        assert!(refused(Language::Node, "f(r);\n", "if (r.length < 4) {\n  continue;\n}\nf(r);\n"));
        assert!(refused(Language::Ruby, "xs.map { |x| x }\n", "xs.map { |x| x }.compact\n"));
        assert!(refused(Language::Perl, "f($_);\n", "next unless /^\\d/;\nf($_);\n"));
        assert!(!refused(Language::Node, "xs.filter(x => x.a)\n", "xs.filter(x => x.a).map(g)\n"));
        assert!(!refused(Language::Perl, "f($_);\n", "next if /^\\s*$/;\nf($_);\n"));
    }
}
