//! # The mean of nothing
//!
//! ## What it finds
//! A program divides by the number of values, there are none, and the script or a text beside it says what is to come out then:
//! `an hour without requests gets 0`.
//!
//! ## Why it fails
//! A day, a file or a station without a single value was not thought of where the mean is computed.
//!
//! ## Fix
//! Where there is nothing to divide by, the value is the one that the text names, or nothing where the program itself goes on to
//! ask whether there were values.
//!
//! ## Example
//! ```sh
//! # An hour without requests gets 0.
//! echo "$((sum / n))"
//! ```
//! ```sh
//! # An hour without requests gets 0.
//! echo "$((n != 0 ? sum / n : 0))"
//! ```
//!
//! ## Safety
//! Without a text that says so, a mean of nothing stays a failure: a made-up 0 would be a lie. A text for a number (`-`) is put in
//! only where the result is written once and used for nothing else. It changes what is computed, so the risk is medium.

use std::ops::Range;

use selfheal_syntax::python::Module;
use selfheal_syntax::tree::Node;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::notes::{notes, remarks};
use crate::python;
use crate::shell::splice;
use crate::text::is_name;

rule!(NothingToDivide, "nothing_to_divide", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let said =
        [case.report.core_error.as_str(), &serde_json::to_string(&case.report.faults).unwrap_or_default()]
            .iter()
            .any(|text| text.contains("division by zero") || text.contains("division by 0"));
    let Some(file) = case.failing_file().filter(|_| said) else { return Vec::new() };
    let sentence = meaning(case, &file);
    let found = match file.language {
        Language::Python => {
            let said = sentence.as_ref().and_then(|(_, value)| said_in_python(case, &file, value));
            in_python(case, &file).or(said)
        }
        language if language.is_shell() => match &sentence {
            Some((_, Value::Number(number))) => in_shell(case, &file, number),
            _ => None,
        },
        _ => None,
    };
    let Some((parts, line)) = found else { return Vec::new() };
    let why = sentence
        .map(|(sentence, _)| sentence)
        .unwrap_or_else(|| "the program asks afterwards whether there were values".to_owned());
    let draft = Draft::new(
        "nothing_to_divide",
        format!("line {line}: there is nothing to divide by: no values"),
        "say what comes out when there are no values",
    )
    .evidence(crate::text::shortened(&why, 160))
    .meaning()
    .rewrite(&file, splice(&file.text, parts), format!("line {line}: what comes out of no values"));
    draft.done().into_iter().collect()
}

/// What a text says is to come out of nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    /// A number, as it is written.
    Number(String),
    /// Other text: `-`, `n/a`.
    Text(String),
}

/// The sentence of the script's remarks, or of a text beside it, that gives nothing a value, and the value.
fn meaning(case: &Case, file: &ScriptFile) -> Option<(String, Value)> {
    let own = match file.language {
        Language::Python => format!("{}\n{}", remarks(&file.text), docstrings(&file.text)),
        _ => remarks(&file.text),
    };
    let texts: Vec<String> =
        std::iter::once(own).chain(notes(case).into_iter().skip(1).map(|note| note.text)).collect();
    texts
        .iter()
        .flat_map(|text| text.split(['.', ';', '\n']))
        .find_map(|it| Some((it.trim().to_owned(), value_of_nothing(it)?)))
}

fn docstrings(text: &str) -> String {
    text.split("\"\"\"").skip(1).step_by(2).collect::<Vec<_>>().join("\n")
}

/// `an hour without requests gets 0`, `a station that sent nothing shows "-"`.
fn value_of_nothing(sentence: &str) -> Option<Value> {
    const NOTHING: [&str; 6] = ["without", "no", "nothing", "empty", "none", "zero"];
    const GIVES: [&str; 12] = [
        "gets", "counts", "shows", "gives", "prints", "is", "are", "means", "get", "count", "written",
        "reported",
    ];
    let words: Vec<&str> = sentence.split_whitespace().take(80).collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let nothing = words.iter().position(|word| NOTHING.contains(&bare(word).as_str()))?;
    let by = words.iter().skip(nothing).position(|word| GIVES.contains(&bare(word).as_str()))?;
    words.iter().skip(nothing + by + 1).take(4).find_map(|word| value(word))
}

/// A number, or what stands in quotes, if it is short and of no letters that make a sentence.
fn value(word: &str) -> Option<Value> {
    let word = word.trim_end_matches([',', ':', ')']).trim_start_matches('(');
    if word == "zero" {
        return Some(Value::Number("0".to_owned()));
    }
    let number = word.strip_prefix('-').unwrap_or(word);
    let digits = number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    if digits {
        return Some(Value::Number(word.to_owned()));
    }
    let quote = word.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let inner = word.strip_prefix(quote)?.strip_suffix(quote)?;
    let plain = inner.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '/' | '_'));
    (plain && !inner.is_empty() && inner.len() < 8).then(|| Value::Text(inner.to_owned()))
}

type Found = (Vec<(Range<usize>, String)>, u32);

/// The division that failed, and the name that is empty or zero.
fn division<'m>(case: &Case, file: &ScriptFile, module: &'m Module) -> Option<(Node<'m>, &'m str)> {
    let lines = python::failing_lines(case, &file.path);
    let division = module.nodes("binary_operator").into_iter().find(|node| {
        let by = node.child_by_field_name("operator").map(|operator| module.text_of(operator));
        lines.contains(&(node.start_position().row as u32 + 1)) && matches!(by, Some("/" | "//"))
    })?;
    let divisor = module.text_of(division.child_by_field_name("right")?);
    let asked = divisor.strip_prefix("len(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(divisor);
    let named = asked.chars().all(|c| is_name(c) || c == '.') && !asked.chars().all(|c| c.is_ascii_digit());
    named.then_some((division, asked))
}

fn in_python(case: &Case, file: &ScriptFile) -> Option<Found> {
    let module = Module::parse(&file.text).ok()?;
    let (division, asked) = division(case, file, &module)?;
    let line = division.start_position().row as u32 + 1;
    // `"%.1f" % mean if temps else "-"` further down: the program has its own word for it.
    if !file.text.get(division.end_byte()..)?.contains(&format!(" if {asked} else ")) {
        return None;
    }
    let statement = python::statement(division);
    let whole = division.parent().is_some_and(|parent| parent.kind() == "assignment");
    let new = format!("{} if {asked} else None", module.text_of(division));
    let span = division.start_byte()..division.end_byte();
    let remark =
        python::put_before(&module, statement, &format!("# {asked} may be empty, which is asked below"))?;
    Some((vec![remark, (span, if whole { new } else { format!("({new})") })], line))
}

/// The value that a text gives nothing: a number where the division stands; other text where the result is only written.
fn said_in_python(case: &Case, file: &ScriptFile, value: &Value) -> Option<Found> {
    let module = Module::parse(&file.text).ok()?;
    let (division, asked) = division(case, file, &module)?;
    let line = division.start_position().row as u32 + 1;
    let span = division.start_byte()..division.end_byte();
    let source = module.text_of(division);
    let text = match value {
        Value::Number(number) => {
            return Some((vec![(span, format!("({source} if {asked} else {number})"))], line));
        }
        Value::Text(text) => text,
    };
    let assignment = division.parent().filter(|parent| parent.kind() == "assignment")?;
    let name = module.text_of(assignment.child_by_field_name("left")?);
    let uses: Vec<usize> = crate::text::whole_words(&file.text, name).collect();
    let [_, at] = uses.as_slice() else { return None };
    let (form, place, plain) =
        written_form(file.text.get(division.end_byte()..)?, division.end_byte(), *at, name)?;
    let new = format!("format({source}, \"{form}\") if {asked} else \"{text}\"");
    Some((vec![(span, new), (place, plain)], line))
}

/// The form of number in which a value is written, the place of it, and what stands there for a text: `{mean:.1f}` of an
/// f-string, or the one `%.1f` of a line.
fn written_form(rest: &str, from: usize, at: usize, name: &str) -> Option<(String, Range<usize>, String)> {
    let offset = at.checked_sub(from)?;
    let (before, after) = (rest.get(..offset)?, rest.get(offset + name.len()..)?);
    let is_form = |form: &str| form.starts_with('.') && form.ends_with('f') && form.len() < 5;
    if let (true, Some(behind)) = (before.ends_with('{'), after.strip_prefix(':')) {
        let form = behind.get(..behind.find('}')?).filter(|form| is_form(form))?;
        let start = at + name.len();
        return Some((form.to_owned(), start..start + 1 + form.len(), String::new()));
    }
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.get(line_start..)?;
    let (head, _) = line.split_once("\" %").or_else(|| line.split_once("' %"))?;
    let forms: Vec<usize> = head.match_indices("%.").map(|(at, _)| at).collect();
    let [start] = forms.as_slice() else { return None };
    let form = head.get(start + 1..)?;
    let form = form.get(..=form.find('f')?).filter(|form| is_form(form))?;
    let place = from + line_start + start;
    Some((form.to_owned(), place..place + 1 + form.len(), "%s".to_owned()))
}

/// `$((sum / n))`, and `sum / n` in an awk program.
fn in_shell(case: &Case, file: &ScriptFile, number_of_nothing: &str) -> Option<Found> {
    let number = case.line_in(file)?;
    let lines: Vec<&str> = file.text.split_inclusive('\n').collect();
    let before: usize = lines.iter().take((number as usize).checked_sub(1)?).map(|line| line.len()).sum();
    let line = lines.get((number as usize).checked_sub(1)?)?;
    if let Some((at, inner)) = arithmetic(line) {
        let (_, divisor) = one_division(inner)?;
        let span = before + at..before + at + inner.len();
        let whole = number_of_nothing.parse::<i64>().is_ok();
        let new = format!("{divisor} != 0 ? {} : {number_of_nothing}", inner.trim());
        return whole.then(|| (vec![(span, new)], number));
    }
    // An awk program may go over several lines: what stands from here to its end.
    let rest = file.text.get(before..)?;
    let program = rest
        .get(..rest.find("'").and_then(|open| rest.get(open + 1..)?.find('\'').map(|end| open + 1 + end))?)?;
    if !program.contains("awk") {
        return None;
    }
    let slashes = program.match_indices(" / ").filter_map(|(at, _)| {
        let left = program.get(..at)?;
        let from = left.rfind(|c: char| !is_name(c))? + 1;
        let right = program.get(at + 3..)?;
        let divisor = right.get(..right.find(|c: char| !is_name(c))?)?;
        let named = divisor.starts_with(|c: char| c.is_alphabetic()) && from < at;
        named.then(|| {
            (
                before + from..before + at + 3 + divisor.len(),
                format!(
                    "({divisor} ? {} / {divisor} : {number_of_nothing})",
                    left.get(from..).unwrap_or_default()
                ),
            )
        })
    });
    let parts: Vec<(Range<usize>, String)> = slashes.collect();
    (!parts.is_empty()).then_some((parts, number))
}

/// What stands in the first `$((…))` of a line that divides.
fn arithmetic(line: &str) -> Option<(usize, &str)> {
    line.match_indices("$((").find_map(|(at, _)| {
        let inner = line.get(at + 3..)?;
        let inner = inner.get(..inner.find("))")?)?;
        one_division(inner).map(|_| (at + 3, inner))
    })
}

/// The two sides of the only division of an expression, the right one a name.
fn one_division(inner: &str) -> Option<(&str, &str)> {
    let (left, right) = inner.split_once('/')?;
    let right = right.trim();
    let named =
        right.trim_start_matches('$').chars().all(is_name) && !right.chars().all(|c| c.is_ascii_digit());
    (named && !right.is_empty() && !inner.contains('?')).then_some((left.trim(), right))
}

#[cfg(test)]
mod tests {
    use selfheal_core::fault::Fault;

    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(name: &str, text: &str, line: u32) -> TestCase {
        TestCase::new(name, text, TestScene::new())
            .fault(Fault::Other { message: "division by zero attempted".into() })
            .at(line)
    }

    #[test]
    fn a_text_says_what_nothing_is_worth() {
        let text = "# Mean per hour. An hour without requests gets 0.\necho \"$((sum / n))\"\n";
        assert!(case("x.sh", text, 2).healed(&NothingToDivide).contains("\"$((n != 0 ? sum / n : 0))\""));
        let text = "# a day without calls counts as 0\navg=$(awk '{ s += $2; n++ } END { printf \"%.1f\", s / n }' d)\n";
        assert!(case("x.sh", text, 2).healed(&NothingToDivide).contains("\"%.1f\", (n ? s / n : 0) }'"));
    }

    #[test]
    fn the_program_itself_may_know() {
        let text = "mean = sum(t) / len(t)\nprint(\"%.1f\" % mean if t else \"-\")\n";
        assert!(case("x.py", text, 1).healed(&NothingToDivide).contains("sum(t) / len(t) if t else None\n"));
    }

    #[test]
    fn other_values_than_zero_are_put_in_where_they_are_told() {
        let text = "# a day without calls counts as -1\necho \"$((sum / n))\"\n";
        assert!(case("x.sh", text, 2).healed(&NothingToDivide).contains("\"$((n != 0 ? sum / n : -1))\""));
        let text = "# A month without sales gets 0.\nmean = sum(v) / len(v)\nprint(mean)\n";
        assert!(
            case("x.py", text, 2).healed(&NothingToDivide).contains("mean = (sum(v) / len(v) if v else 0)\n")
        );
        let head = "# a lake that sent nothing shows \"-\"\nmean = sum(v) / len(v)\n";
        let healed = case("x.py", &format!("{head}rows.append(\"%s\\t%.1f\" % (name, mean))\n"), 2)
            .healed(&NothingToDivide);
        assert!(healed.contains("mean = format(sum(v) / len(v), \".1f\") if v else \"-\"\n"), "{healed}");
        assert!(healed.contains("\"%s\\t%s\" % (name, mean)"), "{healed}");
        let healed = case("x.py", &format!("{head}print(f\"{{mean:.2f}} m\")\n"), 2).healed(&NothingToDivide);
        assert!(
            healed.contains("format(sum(v) / len(v), \".2f\")") && healed.contains("f\"{mean} m\""),
            "{healed}"
        );
        assert!(case("x.py", &format!("{head}total += mean\n"), 2).silent(&NothingToDivide));
    }

    #[test]
    fn without_a_word_a_mean_of_nothing_stays_a_failure() {
        assert!(case("x.sh", "# mean of all\necho \"$((sum / n))\"\n", 2).silent(&NothingToDivide));
        assert!(case("x.py", "mean = sum(t) / len(t)\nprint(mean)\n", 1).silent(&NothingToDivide));
    }
}
