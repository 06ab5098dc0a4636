//! What asks for less than before in a Python program: assertions, tests, warnings, loops, and work that nobody watches.

use std::collections::BTreeSet;

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::python::Module;

use super::{fresh, line, squeezed};
use crate::finding::{at, whole};

/// What became weaker.
pub(super) fn compare(old: &Module, new: &Module) -> Vec<Finding> {
    let mut out = fewer(old, new);
    out.extend(unwatched(old, new));
    out.extend(tolerant(old, new));
    out
}

/// `total != wanted` became `abs(total - wanted) > 100`: differences of one and more pass now.
fn tolerant(old: &Module, new: &Module) -> Option<Finding> {
    let had = old.nodes("comparison_operator").into_iter().any(|node| {
        let text = squeezed(old, node);
        text.contains(" != ") || text.contains(" == ")
    });
    let found = fresh(old, new, "comparison_operator").into_iter().find(|node| {
        let text = squeezed(new, *node);
        let limit = text.rsplit(['<', '>', '=']).next().unwrap_or_default().trim().parse::<f64>();
        text.starts_with("abs(") && limit.is_ok_and(|limit| limit >= 1.0)
    });
    let node = found.filter(|_| had)?;
    Some(at("masking/check-weakened", line(node), Weight::Refuse, "a comparison lets differences pass"))
}

/// Whether of two assertions that differ only in signs and numbers the second lets more pass, or another number.
pub(super) fn asks_for_less(had: &[String], has: &[String]) -> bool {
    const LOOSER: &[(&str, &str)] =
        &[(">", ">="), ("<", "<="), ("==", ">="), ("==", "<="), ("==", "!="), (">", "!="), ("<", "!=")];
    let signs = |text: &str| -> Vec<String> {
        text.split(' ').filter(|word| word.chars().all(|c| "<>=!".contains(c))).map(str::to_owned).collect()
    };
    let number = |word: &str| word.trim_matches(['(', ')', ',', ']']).parse::<f64>().is_ok();
    let numbers = |text: &str| -> Vec<String> {
        text.split(' ').filter(|word| number(word)).map(str::to_owned).collect()
    };
    let shape = |text: &str| -> Vec<String> {
        let kept = text.split(' ').filter(|word| !number(word) && !word.chars().all(|c| "<>=!".contains(c)));
        kept.map(str::to_owned).collect()
    };
    let fresh: Vec<&String> = has.iter().filter(|text| !had.contains(text)).collect();
    had.iter().filter(|text| !has.contains(text)).any(|old| {
        fresh.iter().filter(|new| shape(new) == shape(old)).any(|new| {
            let pairs: Vec<(String, String)> = signs(old).into_iter().zip(signs(new)).collect();
            let looser = pairs.iter().any(|(one, other)| LOOSER.contains(&(one.as_str(), other.as_str())));
            looser || numbers(old) != numbers(new) && signs(old) == signs(new)
        })
    })
}

/// Methods of test cases that compare with a value, and those that hardly ask for anything.
const STRICT_ASSERTS: &[&str] = &[
    ".assertEqual",
    ".assertAlmostEqual",
    ".assertDictEqual",
    ".assertListEqual",
    ".assertSequenceEqual",
    ".assertCountEqual",
    ".assertRaises",
    ".assertRaisesRegex",
    ".assertRegex",
    ".assertMultiLineEqual",
    ".assert_called_once_with",
    ".assert_called_with",
    ".assertTupleEqual",
    ".assertSetEqual",
];
const WEAK_ASSERTS: &[&str] = &[
    ".assertTrue",
    ".assertIsNotNone",
    ".assertNotEqual",
    ".assertIn",
    ".assertGreaterEqual",
    ".assertLessEqual",
    ".assertIsInstance",
    ".assert_called",
    ".assert_called_once",
    ".assertLogs",
    ".assertNotIn",
];

/// Tests that are no longer collected, assertions that became weaker ones, loops over a part of the work, warnings that
/// were errors.
fn fewer(old: &Module, new: &Module) -> Vec<Finding> {
    let mut out = Vec::new();
    let tests = |module: &Module| {
        let all =
            module.nodes("function_definition").into_iter().filter_map(|n| n.child_by_field_name("name"));
        all.filter(|name| module.text_of(*name).starts_with("test")).count()
    };
    if tests(new) < tests(old) {
        out.push(whole("masking/test-skipped", Weight::Refuse, "a test is gone or no longer found"));
    }
    let count =
        |module: &Module, names: &[&str]| names.iter().map(|name| module.calls_of(name).len()).sum::<usize>();
    if count(new, STRICT_ASSERTS) < count(old, STRICT_ASSERTS)
        && count(new, WEAK_ASSERTS) > count(old, WEAK_ASSERTS)
    {
        out.push(whole("masking/check-weakened", Weight::Refuse, "an assertion asks for less than before"));
    }
    let errors = |module: &Module| {
        let calls = [".simplefilter", ".filterwarnings"].iter().flat_map(|name| module.calls_of(name));
        calls
            .filter(|call| call.arguments.first().is_some_and(|a| a.string.as_deref() == Some("error")))
            .count()
    };
    if errors(new) < errors(old) {
        out.push(whole("masking/check-off", Weight::Refuse, "warnings are no longer errors"));
    }
    let over: BTreeSet<String> = old
        .nodes("for_statement")
        .into_iter()
        .filter_map(|node| node.child_by_field_name("right"))
        .map(|right| squeezed(old, right))
        .collect();
    for node in fresh(old, new, "for_statement") {
        let Some(right) = node.child_by_field_name("right") else { continue };
        let text = squeezed(new, right);
        let part = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
        if part.is_some_and(|(whole, index)| over.contains(whole) && index.contains(':'))
            && !over.contains(&text)
        {
            let why = "a loop turns over a part of the work only";
            out.push(at("masking/data-dropped", line(node), Weight::Refuse, why));
        }
    }
    out
}

/// Ways to start something whose errors show only where its result is asked for.
const STARTS: &[&str] = &[
    ".submit",
    ".apply_async",
    ".map_async",
    ".starmap_async",
    ".create_task",
    ".ensure_future",
    ".run_in_executor",
    "Thread",
    "threading.Thread",
    "Process",
    "multiprocessing.Process",
];

/// What asks for the result of something that was started, or whether it failed.
const ASKS: &[&str] = &[
    ".result(",
    ".exception(",
    ".get(",
    "as_completed(",
    "gather(",
    "await ",
    "exitcode",
    "add_done_callback",
    "TaskGroup",
    "Queue",
    "excepthook",
];

/// Work that now runs beside the program with nobody asking how it went.
fn unwatched(old: &Module, new: &Module) -> Option<Finding> {
    let starts = |module: &Module| -> Vec<u32> {
        let all = module.calls().into_iter();
        all.filter(|call| {
            STARTS.iter().any(|name| {
                if name.starts_with('.') { call.callee.ends_with(name) } else { call.resolved == *name }
            })
        })
        .map(|call| call.line)
        .collect()
    };
    let (had, has) = (starts(old), starts(new));
    let asked = ASKS.iter().any(|word| new.text().contains(word));
    (has.len() > had.len() && !asked).then(|| {
        let line = has.last().copied().unwrap_or(1);
        at(
            "masking/background",
            line,
            Weight::Refuse,
            "work is started beside the program and its errors are never seen",
        )
    })
}
