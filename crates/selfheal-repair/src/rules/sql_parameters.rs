//! # A value is written into an SQL statement as text
//!
//! ## What it finds
//! A Python program puts values between quotes into a statement (`"… VALUES ('%s')" % name`, or an f-string), and the database
//! does not understand it, because a value holds a quote.
//!
//! ## Why it fails
//! `O'Neil` ends the text in the statement. With other values it would be another statement.
//!
//! ## Fix
//! The statement gets `?` where the values were, and the values are given apart.
//!
//! ## Example
//! ```python
//! db.execute("INSERT INTO member VALUES ('%s', '%s')" % (name, town))
//! ```
//! ```python
//! db.execute("INSERT INTO member VALUES (?, ?)", (name, town))
//! ```
//!
//! ## Safety
//! Only where every value stands alone between quotes. Values without a quote in them are stored as before.

use selfheal_core::fault::Fault;
use selfheal_syntax::python::{Call, Module};

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::python::{self, Part};
use crate::shell::splice;

rule!(SqlParameters, "sql_parameters", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let message = case.report.core_error.as_str();
    let near = message.contains("syntax error") && message.contains("near \"")
        || message.contains("unrecognized token")
        || case
            .faults()
            .any(|fault| matches!(fault, Fault::Syntax { message, .. } if message.contains("near")));
    if !near {
        return Vec::new();
    }
    let modules = python::modules(case);
    let found = modules.iter().filter_map(|(file, module)| {
        let lines = python::failing_lines(case, &file.path);
        let runs = |call: &&Call| call.callee.ends_with(".execute") && call.arguments.len() == 1;
        let calls: Vec<Call> = module.calls();
        let failing = calls.iter().filter(runs).find(|call| {
            let last =
                call.line + file.text.get(call.span.clone()).unwrap_or_default().matches('\n').count() as u32;
            lines.iter().any(|line| (call.line..=last).contains(line)) && parameters(module, call).is_some()
        })?;
        let parts: Vec<Part> =
            calls.iter().filter(runs).filter_map(|call| parameters(module, call)).collect();
        let line = failing.line;
        Draft::new(
            "sql_parameters",
            format!("line {line}: a value with a quote in it ends the text in the statement"),
            "give the values apart from the statement",
        )
        .evidence(crate::text::shortened(message, 120))
        .rewrite(file, splice(&file.text, parts), format!("line {line}: ? for the values"))
        .done()
    });
    found.take(1).collect()
}

/// The argument with `?` for its values, and the values behind it.
fn parameters(module: &Module, call: &Call) -> Option<Part> {
    let argument = call.arguments.first()?;
    let text = module.text().get(argument.span.clone())?;
    let (statement, values) =
        if text.starts_with(['f', 'F']) { of_f_string(text)? } else { of_percent(text)? };
    let values = match values.as_slice() {
        [] => return None,
        [one] => format!("({one},)"),
        more => format!("({})", more.join(", ")),
    };
    Some((argument.span.clone(), format!("{statement}, {values}")))
}

/// `"… '%s' …" % (a, b)`.
fn of_percent(text: &str) -> Option<(String, Vec<String>)> {
    let (literal, values) =
        text.rsplit_once('%').filter(|(left, _)| left.trim_end().ends_with(['"', '\'']))?;
    let literal = literal.trim_end();
    let values = values.trim();
    let list = values.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let items: Vec<String> = match list {
        Some(list) => {
            let code = python::code_only(list);
            let mut start = 0;
            let mut items = Vec::new();
            for comma in python::commas(&code).into_iter().chain([list.len()]) {
                items.push(list.get(start..comma)?.trim().to_owned());
                start = comma + 1;
            }
            items.into_iter().filter(|item| !item.is_empty()).collect()
        }
        None => vec![values.to_owned()],
    };
    let count = literal.matches("'%s'").count();
    let others = literal.replace("'%s'", "").contains('%');
    (count > 0 && count == items.len() && !others).then(|| (literal.replace("'%s'", "?"), items))
}

/// `f"… '{name}' …"`.
fn of_f_string(text: &str) -> Option<(String, Vec<String>)> {
    let mut rest = text.get(1..)?;
    let (mut statement, mut values) = (String::new(), Vec::new());
    while let Some((before, behind)) = rest.split_once("'{") {
        let (value, after) = behind.split_once("}'")?;
        if value.contains(['{', '!', ':', '\n']) || before.contains('{') {
            return None;
        }
        statement.push_str(before);
        statement.push('?');
        values.push(value.to_owned());
        rest = after;
    }
    if rest.contains('{') {
        return None;
    }
    statement.push_str(rest);
    Some((statement, values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(line: &str) -> TestCase {
        let text = format!("import sqlite3\ndb = sqlite3.connect('x.db')\n{line}\n");
        let mut case = TestCase::new("x.py", &text, TestScene::new()).at(3);
        case.report.core_error = "sqlite3.OperationalError: near \"Neil\": syntax error".to_owned();
        case
    }

    #[test]
    fn values_are_given_apart() {
        let healed = case("db.execute(\"INSERT INTO m VALUES ('%s', '%s')\" % (row[\"name\"], town))")
            .healed(&SqlParameters);
        assert!(
            healed.contains("db.execute(\"INSERT INTO m VALUES (?, ?)\", (row[\"name\"], town))"),
            "{healed}"
        );
        let healed =
            case("db.execute(f\"UPDATE m SET t = '{town}' WHERE n = '{name}'\")").healed(&SqlParameters);
        assert!(healed.contains("db.execute(\"UPDATE m SET t = ? WHERE n = ?\", (town, name))"), "{healed}");
        let healed = case("db.execute(\"DELETE FROM m WHERE n = '%s'\" % name)").healed(&SqlParameters);
        assert!(healed.contains("WHERE n = ?\", (name,))"), "{healed}");
    }

    #[test]
    fn leaves_parts_that_are_no_values_alone() {
        assert!(
            case("db.execute(\"SELECT * FROM %s WHERE n = '%s'\" % (table, name))").silent(&SqlParameters)
        );
        assert!(case("db.execute(f\"SELECT * FROM {table}\")").silent(&SqlParameters));
        assert!(case("db.execute(\"SELEC 1\")").silent(&SqlParameters));
    }
}
