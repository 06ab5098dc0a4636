//! Masking in YAML besides its shell: pipelines (GitHub, GitLab, Azure, CircleCI), playbooks, compose files.
//!
//! Keys are compared as settings: a new one that lets failures pass, one that is gone and made them count, a condition in
//! front of a step.

mod triggers;

use selfheal_core::admission::{Finding, Weight};
use selfheal_syntax::yaml::{Entry, below, entries, item_around};

use crate::finding::{at, whole};

/// Beginnings of keys that ask for leniency, by what must stand later in the key.
const LENIENT: &[(&str, &[&str])] = &[
    ("ignore", &["err", "fail", "unreachable", "missing", "exit", "warn"]),
    ("skip", &["err", "fail", "invalid", "check", "test", "verif", "broken"]),
    ("allow", &["fail", "err", "empty", "insecure", "unauth"]),
    ("continue", &["err", "fail"]),
    ("soft", &["fail"]),
    ("warn", &["only"]),
    ("insecure", &[""]),
    ("no", &["fail", "strict", "verify"]),
    ("disable", &["valid", "check", "verif", "test"]),
];

/// Beginnings of keys that ask for strictness.
const STRICT: &[&str] = &[
    "fail",
    "abort",
    "exit_on",
    "exit-on",
    "stop_on",
    "stop-on",
    "strict",
    "verify",
    "validate",
    "any_errors_fatal",
    "error_if",
    "error-if",
    "check_",
    "ssl_verify",
    "host_key_checking",
    "tls_verify",
];

/// Keys that make failures count, or steps wait for others; they must not go.
const KEEPERS: &[&str] = &[
    "failed_when",
    "needs",
    "dependencies",
    "depends_on",
    "dependsOn",
    "requires",
    "any_errors_fatal",
    "healthcheck",
    "livenessProbe",
    "readinessProbe",
    "max_fail_percentage",
    "fail_on_error",
    "until",
];

/// What in a change hides a failure.
pub fn compare(before: &str, after: &str) -> Vec<Finding> {
    let (old, new) = (entries(before), entries(after));
    let mut out = settings(&old, &new);
    out.extend(keepers(&old, &new));
    out.extend(conditions(&old, &new));
    out.extend(rescues(&old, &new));
    out.extend(shells(&old, &new));
    out.extend(uses(&old, &new));
    out.extend(matrix(&old, &new));
    out.extend(triggers::compare(&old, &new));
    out
}

/// An entry of a matrix that is left out, with none in its place.
fn matrix(old: &[Entry], new: &[Entry]) -> Option<Finding> {
    let items = |all: &[Entry]| -> usize {
        let starts = all.iter().enumerate().filter(|(_, entry)| entry.key == "matrix");
        let inner = starts.flat_map(|(place, _)| below(all, place));
        inner
            .filter(|entry| entry.key != "exclude")
            .map(|entry| {
                let list = entry.value.strip_prefix('[').map_or(0, |list| list.split(',').count());
                list + usize::from(entry.item)
            })
            .sum()
    };
    let excludes = |all: &[Entry]| all.iter().filter(|entry| entry.key == "exclude").count();
    let (had, has) = (items(old), items(new));
    (has < had && has > 0 || excludes(new) > excludes(old))
        .then(|| whole("masking/step-skipped", Weight::Refuse, "an entry of the matrix is left out"))
}

fn is_true(value: &str) -> bool {
    matches!(value.to_lowercase().as_str(), "true" | "yes" | "on" | "1" | "always" | "ignore" | "warn")
        || value.starts_with("${{")
        || value.starts_with("{{")
}

fn is_false(value: &str) -> bool {
    matches!(
        value.to_lowercase().as_str(),
        "false" | "no" | "off" | "0" | "never" | "none" | "[]" | "ignore" | "warn"
    )
}

/// Whether a setting lets failures pass.
fn lets_pass(entry: &Entry) -> bool {
    let key = entry.key.to_lowercase();
    let key = key.rsplit('.').next().unwrap_or(&key);
    let lenient = LENIENT.iter().any(|(begin, parts)| {
        key.strip_prefix(begin).is_some_and(|rest| parts.iter().any(|part| rest.contains(part)))
    });
    let strict = STRICT.iter().any(|begin| key.starts_with(begin));
    let empty = entry.value.is_empty();
    match (lenient, strict) {
        // `allow_failure:` with exit codes below it too.
        (true, _) => is_true(&entry.value) || (empty && key == "allow_failure"),
        (_, true) => is_false(&entry.value),
        _ => {
            matches!(
                (key, entry.value.as_str()),
                ("on_failure" | "onfail" | "on_error" | "on-error", "continue" | "ignore")
            ) || (key == "if-no-files-found" && is_false(&entry.value))
        }
    }
}

fn settings(old: &[Entry], new: &[Entry]) -> Vec<Finding> {
    let count = |all: &[Entry], one: &Entry| {
        all.iter().filter(|other| other.key == one.key && lets_pass(other)).count()
    };
    let mut out: Vec<Finding> = Vec::new();
    for entry in new.iter().filter(|entry| lets_pass(entry)) {
        let known = out.iter().any(|finding| finding.why.contains(&format!("`{}`", entry.key)));
        if !known && count(new, entry) > count(old, entry) {
            let why = format!("`{}` lets a failure pass", entry.key);
            out.push(at("masking/errors-ignored", entry.line, Weight::Refuse, why));
        }
    }
    out
}

/// The number of things that a keeper names: `needs: [a, b]`, or a list below it.
fn named(all: &[Entry], at: usize) -> usize {
    let Some(entry) = all.get(at) else { return 0 };
    let inline = entry.value.trim_matches(['[', ']']).split(',').filter(|part| !part.trim().is_empty());
    inline.count().max(1) + below(all, at).iter().filter(|inner| inner.item).count()
}

fn keepers(old: &[Entry], new: &[Entry]) -> Vec<Finding> {
    let sum = |all: &[Entry], key: &str| -> usize {
        all.iter().enumerate().filter(|(_, e)| e.key == key).map(|(place, _)| named(all, place)).sum()
    };
    let lost = KEEPERS.iter().filter(|key| sum(new, key) < sum(old, key));
    lost.map(|key| {
        whole("masking/check-removed", Weight::Refuse, format!("`{key}` asks for less than before"))
    })
    .collect()
}

/// What a step is, whatever stands around it: the entries of its item without conditions.
fn identity(all: &[Entry], place: usize) -> Vec<String> {
    let range = item_around(all, place);
    let same = all.get(place).map_or(0, |entry| entry.indent);
    let own = all.get(range).unwrap_or_default().iter().filter(|entry| entry.indent == same);
    own.filter(|entry| !matches!(entry.key.as_str(), "if" | "when" | "only" | "rules" | "except"))
        .map(|entry| format!("{}={}", entry.key, entry.value))
        .collect()
}

/// A step that was there runs only under a condition now.
fn conditions(old: &[Entry], new: &[Entry]) -> Vec<Finding> {
    let conditional = |entry: &Entry| {
        matches!(entry.key.as_str(), "if" | "when" | "condition" | "rules" | "only" | "except")
    };
    let had: Vec<(Vec<String>, String)> = (0..old.len())
        .filter(|place| old.get(*place).is_some_and(conditional))
        .map(|place| {
            (identity(old, place), old.get(place).map(|entry| entry.value.clone()).unwrap_or_default())
        })
        .collect();
    let steps: Vec<String> = old.iter().map(|entry| format!("{}={}", entry.key, entry.value)).collect();
    let mut out = Vec::new();
    for (place, entry) in new.iter().enumerate().filter(|(_, entry)| conditional(entry)) {
        let own = identity(new, place);
        let known = had.iter().any(|(step, value)| *step == own && *value == entry.value);
        let was_there = own.iter().any(|line| steps.contains(line));
        if known || !was_there {
            continue;
        }
        let never = is_never(&entry.value);
        let after = entry.value.contains("always()") || entry.value.contains("failure()");
        let asks = [
            " is defined",
            " is success",
            " is not failed",
            ".stat.exists",
            " is exists",
            "hashFiles(",
            "secrets.",
        ]
        .iter()
        .any(|part| entry.value.contains(part));
        let weight = if never || after || asks { Weight::Refuse } else { Weight::Medium };
        out.push(at(
            "masking/skipped-step",
            entry.line,
            weight,
            "a step that always ran has a condition now",
        ));
    }
    out
}

/// Whether a condition never holds, or waits for a person.
fn is_never(value: &str) -> bool {
    let plain = value.trim_start_matches("${{").trim_end_matches("}}").trim().to_lowercase();
    matches!(plain.as_str(), "false" | "never" | "manual" | "no" | "0" | "'false'" | "none" | "eq(1, 0)")
        || plain.ends_with("&& false")
        || plain.ends_with("and false")
}

/// A new `rescue` in which nothing fails.
fn rescues(old: &[Entry], new: &[Entry]) -> Vec<Finding> {
    let count = |all: &[Entry]| all.iter().filter(|entry| entry.key == "rescue").count();
    if count(new) <= count(old) {
        return Vec::new();
    }
    let quiet = |place: usize| {
        !below(new, place).iter().any(|entry| {
            let key = entry.key.rsplit('.').next().unwrap_or_default();
            key == "fail" || entry.value.contains("exit 1") || entry.value == "end_play"
        })
    };
    let all = new.iter().enumerate().filter(|(place, entry)| entry.key == "rescue" && quiet(*place));
    all.map(|(_, entry)| {
        at("masking/swallowed", entry.line, Weight::Refuse, "a failure is rescued and nothing fails")
    })
    .collect()
}

/// The shell of steps without `-e` or `pipefail`.
fn shells(old: &[Entry], new: &[Entry]) -> Option<Finding> {
    let settings = |all: &[Entry]| -> usize {
        let all = all.iter().filter(|entry| entry.key == "shell" && entry.value.contains("{0}"));
        all.map(|entry| {
            usize::from(entry.value.contains("pipefail")) + usize::from(entry.value.contains(" -e"))
        })
        .sum()
    };
    let bare = new.iter().find(|entry| {
        entry.key == "shell"
            && entry.value.contains("{0}")
            && !entry.value.contains(" -e")
            && !old.contains(entry)
    });
    let line = bare.map_or(1, |entry| entry.line);
    (settings(new) < settings(old) || bare.is_some()).then(|| {
        at(
            "masking/errexit-removed",
            line,
            Weight::Refuse,
            "the shell of the steps is less strict than before",
        )
    })
}

/// Steps that use something (an action, a role, a module) and are gone.
fn uses(old: &[Entry], new: &[Entry]) -> Option<Finding> {
    let plain = |value: &str| value.split('@').next().unwrap_or_default().to_owned();
    let lost = old.iter().filter(|entry| entry.key == "uses").find(|entry| {
        !new.iter().any(|other| other.key == "uses" && plain(&other.value) == plain(&entry.value))
    })?;
    let replaced = new.iter().filter(|entry| entry.key == "uses").count()
        >= old.iter().filter(|entry| entry.key == "uses").count();
    let weight = if replaced { Weight::Medium } else { Weight::Refuse };
    Some(whole("masking/step-deleted", weight, format!("the step `{}` is gone", lost.value)))
}
