//! Values that are made up where one is missing: `x.get("k", 0)` for `x["k"]`, `|| []`, `?? 0`, `?.`, `&.`, `// 0`.
//!
//! A made-up number or word is refused, and so is an empty one (`""`, `[]`, `nil`) for which no reason is given. With a
//! reason in a comment, in code that fails otherwise, for a variable of the environment, or for the very value that the remarks
//! of the text before the change name for what is not there, a person is asked.

use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::Language;

use super::change::{Place, compiled, tight};
use crate::finding::at;

const PYTHON: &[Language] = &[Language::Python];
const NODE: &[Language] = &[Language::Node];
const RUBY: &[Language] = &[Language::Ruby];
const PERL: &[Language] = &[Language::Perl];
const CHOICE: &[Language] = &[Language::Node, Language::Ruby, Language::Perl];

/// A way to write a default: languages, and a pattern in which `CONST` stands for a constant. The first group is what was
/// there before, the second the made-up value.
struct Form(&'static [Language], &'static str);

const FORMS: &[Form] = &[
    Form(PYTHON, r#"([\w.\[\]'"()]+)\s+or\s+CONST"#),
    Form(PYTHON, r"\.get\(\s*([^,()]+?)\s*(?:,\s*CONST)?\s*\)"),
    Form(PYTHON, r"(?:=|return|\(|,)\s*([^=]+?)\s+if\s+.+?\s+else\s+CONST"),
    Form(PYTHON, r"^\s*(\w+)\s*=[^=].*\bif\b.+\belse\s+CONST\s*$"),
    Form(PYTHON, r#"getattr\(\s*\w[\w.]*\s*,\s*['"](\w+)['"]\s*,\s*CONST"#),
    Form(PYTHON, r"next\((.+?),\s*CONST\s*\)"),
    Form(NODE, r#"([\w.\[\]'"()]+)\s*(?:\|\||\?\?)=?\s*CONST"#),
    Form(NODE, r"([A-Za-z_]\w*[\])]*)\?\."),
    Form(RUBY, r#"([\w.\[\]'":()]+)\s*\|\|=?\s*CONST"#),
    Form(RUBY, r"([A-Za-z_]\w*[\])]*)&\."),
    Form(RUBY, r"\.fetch\(\s*([^,()]+?)\s*,\s*CONST\s*\)"),
    Form(RUBY, r"\.fetch\(\s*([^,()]+?)\s*\)\s*\{\s*CONST\s*\}"),
    Form(PERL, r#"([\w\]})'"$>-]+)\s*(?://|\|\|)=?\s*CONST"#),
    Form(CHOICE, r"\?\s*([^:?]+?)\s*:\s*CONST"),
];

const CONST: &str = r#"(\[\]|\{\}|\(\)|"(?:[^"$#{]|\{\})*"|'[^']*'|-?\d[\d._]*|None|nil|undef|null|undefined|NaN|True|False|true|false|dict\(\)|list\(\)|set\(\))"#;

/// Ways to ask for a variable of the environment.
const ENVIRONMENT: &[&str] = &["environ", "getenv", "process.env", "ENV[", "ENV.", "$ENV{"];

fn forms() -> &'static Vec<(Regex, &'static [Language])> {
    static ONCE: OnceLock<Vec<(Regex, &'static [Language])>> = OnceLock::new();
    ONCE.get_or_init(|| {
        let one = |form: &'static Form| Some((Regex::new(&form.1.replace("CONST", CONST)).ok()?, form.0));
        FORMS.iter().filter_map(one).collect()
    })
}

/// The made-up values of a change.
pub fn compare(language: Language, places: &[Place]) -> Vec<Finding> {
    let mut out = Vec::new();
    for place in places.iter().filter(|place| !place.old.is_empty()) {
        let old = place.old_tight();
        for (line, code) in &place.new {
            let found = forms().iter().filter(|(_, languages)| languages.contains(&language));
            let worst = found.filter_map(|(form, _)| in_line(form, code, &old, place)).max();
            out.extend(worst.map(|weight| {
                at("masking/default", *line, weight, "a made-up value takes the place of one that is missing")
            }));
        }
    }
    out.extend(places.iter().filter_map(|place| assigned_instead(language, place)));
    if matches!(language, Language::Ruby) {
        out.extend(places.iter().filter_map(lenient_number));
    }
    out
}

fn in_line(form: &Regex, code: &str, old: &str, place: &Place) -> Option<Weight> {
    let all = form.captures_iter(code).take(16).filter_map(|found| {
        let whole = tight(found.get(0)?.as_str());
        let subject = tight(found.get(1)?.as_str());
        let value = found.get(2).map_or("", |value| value.as_str());
        let bare = subject.trim_matches(['(', ')', '"']);
        let asked = whole.starts_with(".get(");
        let there = if asked { old.contains(&format!("[{subject}]")) } else { old.contains(bare) };
        // `d[k] = d.get(k, 0) + 1` counts.
        let counts = asked && tight(code).contains(&format!("[{subject}]=")) && code.contains('+');
        // `d[k] or 0` says already what counts where there is nothing.
        let treated = asked && old.contains(&format!("[{subject}]or"));
        // `x = … if rows else 0`: the name itself must have been given something before.
        let named = whole.starts_with(&format!("{subject}=")) && !old.contains(&format!("{subject}="));
        let fresh = !bare.is_empty() && !named && there && !old.contains(&whole) && !counts && !treated;
        fresh.then(|| weigh(value, code, place))
    });
    all.max()
}

/// A line of its own that gives a constant to what was computed: `else: mean = 0`, `avg=0`.
fn assigned_instead(language: Language, place: &Place) -> Option<Finding> {
    static ONCE: OnceLock<Option<Regex>> = OnceLock::new();
    static SHELL: OnceLock<Option<Regex>> = OnceLock::new();
    let form = match language {
        Language::Shell => compiled(
            &SHELL,
            r#"^\s*(?:else\s+|then\s+|local\s+)?([A-Za-z_]\w*)=("[^$"`]*"|'[^']*'|[\w.:-]*)\s*(?:;.*)?$"#,
        )?,
        Language::Python | Language::Node | Language::Ruby | Language::Perl => compiled(
            &ONCE,
            &format!(
                r"^\s*(?:\}}?\s*else\s*[:{{]\s*)?(?:let |var |const |my )?\$?([A-Za-z_]\w*)\s*=\s*{CONST}\s*;?\s*\}}?\s*$"
            ),
        )?,
        _ => return None,
    };
    let old = place.old.iter().map(|line| tight(line)).collect::<Vec<_>>();
    place.new.iter().find_map(|(line, code)| {
        let found = form.captures(code)?;
        let (name, value) = (found.get(1)?.as_str(), found.get(2).map_or("", |value| value.as_str()));
        let was = old.iter().find_map(|line| {
            let line = ["export", "local", "let", "var", "const", "my$", "my"]
                .iter()
                .find_map(|word| line.strip_prefix(word))
                .filter(|rest| rest.starts_with(name))
                .unwrap_or(line);
            let rest = line.strip_prefix(name)?.strip_prefix('=')?;
            // A status that is kept begins as 0.
            (!rest.starts_with('=') && rest != "$?").then_some(rest)
        })?;
        // A constant before, or a counter that begins with it, is nobody's result.
        let signs: &[char] = match language {
            Language::Shell => &['$', '`'],
            _ => &['(', '/', '+', '*', '['],
        };
        let own = was.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
        let text = language != Language::Shell && was.starts_with(['"', '`']);
        let computed = was.contains(signs) && !own && !text;
        let still = !old.contains(&tight(code));
        (computed && still).then(|| {
            let weight = weigh(value, code, place);
            at("masking/default", *line, weight, "a made-up value takes the place of one that is missing")
        })
    })
}

fn weigh(value: &str, code: &str, place: &Place) -> Weight {
    let empty = matches!(
        tight(value).as_str(),
        "" | "\"\""
            | "\"{}\""
            | "\"[]\""
            | "[]"
            | "{}"
            | "()"
            | "None"
            | "nil"
            | "undef"
            | "null"
            | "undefined"
            | "dict()"
            | "list()"
            | "set()"
    );
    let start = code.trim_start().trim_start_matches(['}', ' ']);
    let condition = ["if ", "if(", "elif ", "elsif ", "unless ", "while ", "else if"];
    let asks = condition.iter().any(|word| start.starts_with(word));
    let environment = ENVIRONMENT.iter().any(|name| code.contains(name));
    let told = place.told.contains(&tight(value));
    if place.fails || environment || told || empty && (place.stated || asks) {
        Weight::Medium
    } else {
        Weight::Refuse
    }
}

/// `Integer(x)` became `x.to_i`: what is no number is 0 now.
fn lenient_number(place: &Place) -> Option<Finding> {
    let count =
        |text: &str, words: &[&str]| words.iter().map(|word| text.matches(word).count()).sum::<usize>();
    let (strict, lenient) = (["Integer(", "Float(", "Rational("], [".to_i", ".to_f", ".to_r"]);
    let old = place.old.join("\n");
    let new: String = place.new.iter().map(|(_, code)| code.as_str()).collect::<Vec<_>>().join("\n");
    let found = count(&new, &strict) < count(&old, &strict) && count(&new, &lenient) > count(&old, &lenient);
    let line = place.new.first().map_or(1, |(line, _)| *line);
    found.then(|| at("masking/default", line, Weight::Refuse, "what is no number becomes 0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::masking::change::places;

    fn weight(language: Language, before: &str, after: &str) -> Option<Weight> {
        compare(language, &places(language, before, after)).into_iter().map(|finding| finding.weight).max()
    }

    #[test]
    fn every_form_compiles() {
        assert_eq!(forms().len(), FORMS.len());
    }

    #[test]
    fn made_up_values_are_refused_and_stated_empty_ones_are_asked_about() {
        let refused = Some(Weight::Refuse);
        for (language, before, after) in [
            (Language::Python, "x = d['a']\n", "x = d.get('a', 0)\n"),
            (Language::Python, "x = load(p)\n", "x = load(p) or []\n"),
            (Language::Node, "f(a.b.c);\n", "f(a.b?.c);\n"),
            (Language::Node, "x = a.b;\n", "x = a.b ?? 1;\n"),
            (Language::Ruby, "x = h['a']\n", "x = h['a'] || 1\n"),
            (Language::Perl, "my $x = $h{a};\n", "my $x = $h{a} // 0;\n"),
            (Language::Python, "m = s(v) / len(v)\n", "if v:\n    m = s(v) / len(v)\nelse:\n    m = 0\n"),
            (
                Language::Python,
                "m = s(v) / len(v)\n",
                "try:\n    m = s(v) / len(v)\nexcept ZeroDivisionError:\n    m = 0.0\n",
            ),
            (
                Language::Node,
                "m = s / v.length;\n",
                "if (v.length) {\n  m = s / v.length;\n} else {\n  m = 0;\n}\n",
            ),
            (
                Language::Shell,
                "m=$((s / n))\n",
                "if [ \"$n\" -gt 0 ]; then\n  m=$((s / n))\nelse\n  m=0\nfi\n",
            ),
            (Language::Shell, "m=$((s / n))\n", "m=0\n[ \"$n\" = 0 ] || m=$((s / n))\n"),
        ] {
            assert_eq!(weight(language, before, after), refused, "{after}");
        }
        let head = "# a day without calls shows '-'\n# five at most: 5\n";
        let before = format!("{head}mean = s / n\n");
        let after = |value: &str| format!("{head}mean = s / n if n else {value}\n");
        assert_eq!(weight(Language::Python, &before, &after("\"-\"")), Some(Weight::Medium));
        assert_eq!(weight(Language::Python, &before, &after("5")), refused);
        assert_eq!(weight(Language::Python, "mean = s / n\n", &after("\"-\"")), refused);
        let stated = "# a is optional\nx = d.get('a', '')\n";
        assert_eq!(weight(Language::Python, "x = d['a']\n", stated), Some(Weight::Medium));
        assert_eq!(weight(Language::Python, "n[w] += 1\n", "n[w] = n.get(w, 0) + 1\n"), None);
        assert_eq!(weight(Language::Python, "x = d['a']\n", "x = d['b']\n"), None);
        assert_eq!(weight(Language::Shell, "n=$(grep -c x f)\n", "n=$(grep -c x g)\n"), None);
        assert_eq!(weight(Language::Shell, "U=${USER}\n", "U=root\n"), Some(Weight::Refuse));
        assert_eq!(weight(Language::Shell, "LOG=app/a.log\n", "LOG=app/var/a.log\n"), None);
    }
}
