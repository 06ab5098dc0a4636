//! What a Python program quietly loses: rows that are passed over, keys that need not be there any more, zones of times,
//! whole numbers of Python 2.

use std::collections::BTreeSet;

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::python::{Call, Module};
use selfheal_syntax::tree::{Node, children, descendants};

use super::{fresh, line, squeezed};
use crate::finding::at;

/// Keys that are read without being asked for in one change, from which on it is no longer about one optional field.
const MANY_KEYS: usize = 3;

/// What a change loses.
pub fn compare(old: &Module, new: &Module) -> Vec<Finding> {
    let mut out = Vec::new();
    out.extend(skipped_rows(old, new));
    out.extend(optional_keys(old, new));
    out.extend(own_answer(old, new));
    out.extend(zones(old, new));
    out.extend(written_bytes(old, new));
    out.extend(division(old, new));
    out
}

/// `if len(row) != 3: continue`: what does not fit is left out without a word. A row that is empty or a comment is none.
fn skipped_rows(old: &Module, new: &Module) -> Vec<Finding> {
    let skips = |node: &Node<'_>| {
        let body = node.child_by_field_name("consequence");
        let inner: Vec<Node<'_>> = body.map(children).unwrap_or_default();
        let mut said = inner.into_iter().filter(|child| child.is_named() && child.kind() != "comment");
        matches!((said.next(), said.next()), (Some(only), None) if only.kind() == "continue_statement")
    };
    let by_shape = |node: &Node<'_>| {
        let condition = node.child_by_field_name("condition").map(|condition| squeezed(new, condition));
        condition.is_some_and(|text| judges_shape(&text))
    };
    // `if not d.has_key(k): continue` of Python 2 is the same question in other words.
    let before: String = old.text().chars().filter(|c| !c.is_whitespace()).collect();
    let asked = |node: &Node<'_>| {
        let condition = node.child_by_field_name("condition").map(|condition| squeezed(new, condition));
        let parts = condition.as_deref().and_then(|text| text.split_once(" not in "));
        parts.is_some_and(|(key, set)| before.contains(&format!("not{}.has_key({})", set.trim(), key.trim())))
    };
    let found = fresh(old, new, "if_statement").into_iter().filter(skips).filter(by_shape);
    let found = found.filter(|node| !asked(node));
    let why = "rows that do not fit are left out without a word";
    found.map(|node| at("masking/rows-dropped", line(node), Weight::Refuse, why)).collect()
}

fn judges_shape(condition: &str) -> bool {
    let counted = condition.contains("len(") && !condition.ends_with("== 0") && !condition.ends_with("< 1");
    let typed = ["isdigit(", "isnumeric(", "isdecimal(", "isinstance(", "isalpha(", "match("]
        .iter()
        .any(|word| condition.contains(word));
    let lacks = condition.contains(" not in ") && !condition.contains("seen");
    counted || typed || lacks
}

/// Keys that had to be there and are read with a default now.
fn optional_keys(old: &Module, new: &Module) -> Option<Finding> {
    let keys = |module: &Module| -> BTreeSet<String> {
        module.subscripts().into_iter().filter(|access| !access.stored).map(|access| access.key).collect()
    };
    let asked = |module: &Module| -> BTreeSet<String> {
        let calls = module.calls_of(".get");
        calls.iter().filter_map(|call| call.arguments.first()?.string.clone()).collect()
    };
    let (had, has) = (keys(old), keys(new));
    let (asked_before, asked_now) = (asked(old), asked(new));
    let softened: Vec<&String> = asked_now
        .iter()
        .filter(|key| had.contains(*key) && !has.contains(*key) && !asked_before.contains(*key))
        .collect();
    let place = new.calls_of(".get").first().map_or(1, |call| call.line);
    (softened.len() >= MANY_KEYS).then(|| {
        let why = format!("{} keys that had to be there may be missing now", softened.len());
        at("masking/keys-optional", place, Weight::Refuse, why)
    })
}

/// `n != answer.get("n", n)`: a comparison that answers itself when the value is missing.
fn own_answer(old: &Module, new: &Module) -> Vec<Finding> {
    let answers_itself = |node: &Node<'_>| {
        let operands: Vec<String> =
            children(*node).into_iter().filter(Node::is_named).map(|side| squeezed(new, side)).collect();
        let [one, other] = operands.as_slice() else { return false };
        let default_is = |asked: &str, value: &str| {
            asked.contains(".get(") && asked.trim_end().ends_with(&format!(", {value})"))
        };
        default_is(one, other) || default_is(other, one)
    };
    let found = fresh(old, new, "comparison_operator").into_iter().filter(answers_itself);
    let why = "the comparison answers itself when the value is missing";
    found.map(|node| at("masking/check-weakened", line(node), Weight::Refuse, why)).collect()
}

/// `.replace(tzinfo=None)` on a time that was not brought to one zone first.
fn zones(old: &Module, new: &Module) -> Vec<Finding> {
    let drops = |call: &&Call| {
        call.callee.ends_with(".replace")
            && call.keyword("tzinfo").is_some_and(|value| value.text == "None")
            && !call.callee.contains("astimezone(")
            && !call.callee.contains("utc")
            && !call.callee.contains("now(")
    };
    let had = old.calls().iter().filter(drops).count();
    let calls = new.calls();
    let why = "the zone of a time is thrown away without reckoning with it";
    let found = calls.iter().filter(drops).skip(had);
    found.map(|call| at("masking/zone-lost", call.line, Weight::Refuse, why)).collect()
}

/// `str(output)` of a command's bytes is their written form, `b'…'` with escapes, and no text.
fn written_bytes(old: &Module, new: &Module) -> Vec<Finding> {
    let bytes: BTreeSet<String> = new
        .nodes("assignment")
        .into_iter()
        .filter_map(|node| {
            let (left, right) = (node.child_by_field_name("left")?, node.child_by_field_name("right")?);
            let text = squeezed(new, right);
            let raw = text.contains("check_output(")
                && !["text=", "encoding=", "universal_newlines=", ".decode("]
                    .iter()
                    .any(|word| text.contains(word));
            raw.then(|| new.text_of(left).to_owned())
        })
        .collect();
    let of_bytes = |call: &Node<'_>| {
        let text = squeezed(new, *call);
        let inner = text.strip_prefix("str(").and_then(|rest| rest.strip_suffix(')'));
        inner.is_some_and(|inner| bytes.contains(inner))
    };
    let found = fresh(old, new, "call").into_iter().filter(of_bytes);
    let why = "`str` of bytes is their written form, not their text";
    found.map(|node| at("masking/bytes-written", line(node), Weight::Refuse, why)).collect()
}

/// A program for Python 2 divides whole numbers to whole numbers; the same sign gives fractions in Python 3.
fn division(old: &Module, new: &Module) -> Option<Finding> {
    let is_old = |module: &Module| {
        !module.nodes("print_statement").is_empty() || !module.nodes("exec_statement").is_empty()
    };
    let true_already = old.imports().iter().any(|import| import.name.as_deref() == Some("division"));
    if !is_old(old) || is_old(new) || true_already {
        return None;
    }
    let had: BTreeSet<String> = divisions(old).into_iter().map(|node| squeezed(old, node)).collect();
    let kept = divisions(new).into_iter().find(|node| had.contains(&squeezed(new, *node)))?;
    let why = "`/` gives fractions in Python 3 where whole numbers gave a whole one; `//` keeps it";
    Some(at("masking/division", line(kept), Weight::Refuse, why))
}

/// Divisions of what may be whole numbers.
fn divisions(module: &Module) -> Vec<Node<'_>> {
    let is_plain = |node: &Node<'_>| {
        let operator = node.child_by_field_name("operator").map(|sign| module.text_of(sign));
        let fraction = descendants(*node).into_iter().any(|inner| {
            inner.kind() == "float" || inner.kind() == "call" && module.text_of(inner).starts_with("float(")
        });
        let path = descendants(*node).into_iter().any(|inner| inner.kind() == "string");
        operator == Some("/") && !fraction && !path
    };
    module.nodes("binary_operator").into_iter().filter(is_plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(before: &str, after: &str) -> Vec<String> {
        let (old, new) = (Module::parse(before).unwrap(), Module::parse(after).unwrap());
        compare(&old, &new).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn rows_that_are_passed_over_are_found_and_empty_lines_are_none() {
        let before = "for line in f:\n    a, b = line.split()\n";
        let with = |guard: &str| {
            format!("for line in f:\n    if {guard}:\n        continue\n    a, b = line.split()\n")
        };
        assert_eq!(rules(before, &with("len(line.split()) != 2")), ["masking/rows-dropped"]);
        assert!(rules(before, &with("not line.strip()")).is_empty());
        assert!(rules(before, &with("line.startswith('#')")).is_empty());
    }

    #[test]
    fn many_keys_with_defaults_are_found_and_one_is_not() {
        let before = "print(o['id'], o['name'], o['sum'], o['day'])\n";
        let all = "print(o.get('id'), o.get('name', ''), o.get('sum', 0), o['day'])\n";
        assert_eq!(rules(before, all), ["masking/keys-optional"]);
        assert!(rules(before, "print(o['id'], o['name'], o['sum'], o.get('day', ''))\n").is_empty());
    }

    #[test]
    fn a_comparison_that_answers_itself_is_found() {
        let before = "if len(rows) != d['n']:\n    raise SystemExit(1)\n";
        let after = "if len(rows) != d.get('n', len(rows)):\n    raise SystemExit(1)\n";
        assert_eq!(rules(before, after), ["masking/check-weakened"]);
    }

    #[test]
    fn a_lost_zone_is_found_and_a_reckoned_one_is_not() {
        let before = "t = datetime.fromisoformat(x)\n";
        assert_eq!(
            rules(before, "t = datetime.fromisoformat(x).replace(tzinfo=None)\n"),
            ["masking/zone-lost"]
        );
        let honest = "t = datetime.fromisoformat(x).astimezone(timezone.utc).replace(tzinfo=None)\n";
        assert!(rules(before, honest).is_empty());
    }

    #[test]
    fn the_written_form_of_bytes_is_found() {
        let before = "out = subprocess.check_output(cmd)\nfor line in out.split('\\n'):\n    pass\n";
        assert_eq!(rules(before, &before.replace("out.split", "str(out).split")), ["masking/bytes-written"]);
        assert!(rules(before, &before.replace("(cmd)", "(cmd, text=True)")).is_empty());
    }

    #[test]
    fn division_that_gives_fractions_now_is_found() {
        let before = "print 'x'\npages = (n + 9) / 10\n";
        assert_eq!(rules(before, "print('x')\npages = (n + 9) / 10\n"), ["masking/division"]);
        assert!(rules(before, "print('x')\npages = (n + 9) // 10\n").is_empty());
    }
}
