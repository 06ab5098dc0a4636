//! # Times with and without an offset are mixed
//!
//! ## What it finds
//! A Python program compares or subtracts a time with an offset and one without.
//!
//! ## Why it fails
//! Python refuses to guess what a time without an offset means. Usually one source began to send offsets.
//!
//! ## Fix
//! Times that are read go through one function that takes a time without an offset for UTC; the present time is asked for in
//! UTC.
//!
//! ## Example
//! ```python
//! expires = datetime.fromisoformat(token["expires"])
//! if expires < datetime.utcnow():
//! ```
//! ```python
//! expires = with_offset(datetime.fromisoformat(token["expires"]))
//! if expires < datetime.now(timezone.utc):
//! ```
//!
//! ## Safety
//! Only where the program or what lies beside it says that its times are UTC, or uses `utcnow`. It changes what is
//! computed, so the risk is medium.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::Module;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(AwareTimes, "aware_times", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let mixed =
        case.faults().any(|fault| matches!(fault, Fault::WrongType { message } if message.contains("naive")));
    let Some((file, module)) = python::modules(case).into_iter().next().filter(|_| mixed) else {
        return Vec::new();
    };
    let utc = ["UTC", "utcnow", "utcfromtimestamp"].iter().any(|word| file.text.contains(word));
    let parts = parts(&module);
    if !utc || parts.is_empty() {
        return Vec::new();
    }
    let draft = Draft::new(
        "aware_times",
        "a time with an offset meets one without, and Python refuses to compare them",
        "take times without an offset for UTC, as the program says of its own",
    )
    .evidence("the program speaks of UTC")
    .meaning()
    .rewrite(&file, splice(&file.text, parts), "times without an offset are UTC");
    draft.done().into_iter().collect()
}

fn parts(module: &Module) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut wrapped = false;
    let mut zone = false;
    for call in module.calls() {
        let Some(name) = call.resolved.strip_prefix("datetime.datetime.") else { continue };
        match name {
            "fromisoformat" | "strptime" => {
                parts.push((call.span.start..call.span.start, "with_offset(".to_owned()));
                parts.push((call.span.end..call.span.end, ")".to_owned()));
                wrapped = true;
            }
            "utcnow" if call.arguments.is_empty() => {
                let base = call.callee.trim_end_matches(".utcnow");
                parts.push((call.span, format!("{base}.now({}.utc)", timezone(module))));
                zone = true;
            }
            "now" if call.arguments.is_empty() && call.keywords.is_empty() => {
                parts.push((call.span, format!("{}({}.utc)", call.callee, timezone(module))));
                zone = true;
            }
            "utcfromtimestamp" | "fromtimestamp" if call.arguments.len() == 1 && call.keywords.is_empty() => {
                let base = call.callee.rsplit_once('.').map_or("datetime", |(base, _)| base);
                let value = call.arguments.first().map_or("", |argument| &argument.text);
                parts.push((call.span, format!("{base}.fromtimestamp({value}, {}.utc)", timezone(module))));
                zone = true;
            }
            _ => {}
        }
    }
    if wrapped {
        let at = python::after_imports(module);
        let function = format!(
            "\n\ndef with_offset(time):\n    \"\"\"A time without an offset is UTC.\"\"\"\n    \
             return time if time.tzinfo else time.replace(tzinfo={}.utc)\n",
            timezone(module)
        );
        parts.push((at..at, function));
    }
    if wrapped || zone {
        parts.extend(import_zone(module));
    }
    parts
}

/// How the program names `timezone`.
pub(super) fn timezone(module: &Module) -> &'static str {
    if from_import(module).is_some() { "timezone" } else { "datetime.timezone" }
}

fn from_import(module: &Module) -> Option<std::ops::Range<usize>> {
    module.imports().into_iter().find(|i| i.module == "datetime" && i.name.is_some()).map(|i| i.statement)
}

/// An edit that imports `timezone` where `datetime` is imported by name.
pub(super) fn import_zone(module: &Module) -> Option<Part> {
    let statement = from_import(module)?;
    let known =
        module.imports().iter().any(|i| i.module == "datetime" && i.name.as_deref() == Some("timezone"));
    let last = module.imports().into_iter().rfind(|i| i.statement == statement)?;
    (!known).then(|| (last.span.end..last.span.end, ", timezone".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str) -> TestCase {
        let fault =
            Fault::WrongType { message: "can't compare offset-naive and offset-aware datetimes".into() };
        TestCase::new("x.py", text, TestScene::new()).fault(fault).at(4)
    }

    #[test]
    fn gives_times_their_offset() {
        let text = "\"\"\"Times are UTC.\"\"\"\nimport json\nfrom datetime import datetime, timedelta\n\nnow = datetime.utcnow()\nx = datetime.fromisoformat(t)\n";
        let healed = case(text).healed(&AwareTimes);
        assert!(
            healed
                .contains("from datetime import datetime, timedelta, timezone\n\n\ndef with_offset(time):\n"),
            "{healed}"
        );
        assert!(
            healed.contains("now = datetime.now(timezone.utc)\nx = with_offset(datetime.fromisoformat(t))\n"),
            "{healed}"
        );
    }

    #[test]
    fn knows_the_plain_import() {
        let healed =
            case("import datetime\n# all in UTC\nn = datetime.datetime.strptime(a, b)\n").healed(&AwareTimes);
        assert!(
            healed.contains("tzinfo=datetime.timezone.utc")
                && healed.contains("with_offset(datetime.datetime.strptime(a, b))")
        );
    }

    #[test]
    fn leaves_times_of_unknown_zones_alone() {
        assert!(case("from datetime import datetime\nx = datetime.fromisoformat(t)\n").silent(&AwareTimes));
    }
}
