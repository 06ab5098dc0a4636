//! The sheet of diagnoses: for each case why selfheal thinks that the job failed and what it did, for a person who
//! judges the reasoning.

use std::fmt::Write;

use serde_json::Value;

use super::figures::Row;

/// One chapter a case, with a line to be filled in.
pub(super) fn markdown(rows: &[Row]) -> String {
    let mut out = String::from(
        "# Diagnoses\n\nFor each case: is the root cause the true one, and does the evidence show it? Write yes, partly or no.\n",
    );
    for row in rows {
        chapter(&mut out, row);
    }
    out
}

fn chapter(out: &mut String, row: &Row) {
    let outcome = if row.ok { "as it should be" } else { "not as it should be" };
    let _ = writeln!(out, "\n## {}: {}\n", row.case, row.title);
    let _ = writeln!(
        out,
        "- {}, {}; expected {}; ended {}, {outcome}",
        row.kind, row.language, row.expect, row.status
    );
    if let Some(error) = &row.core_error {
        let _ = writeln!(out, "- message: `{}`", error.replace('`', "'"));
    }
    match &row.diagnosis {
        Some(diagnosis) => told(out, row, diagnosis),
        None => out.push_str("- no diagnosis\n"),
    }
    out.push_str("- judged: \n");
}

fn told(out: &mut String, row: &Row, diagnosis: &Value) {
    let text = |key: &str| diagnosis.get(key).and_then(Value::as_str).unwrap_or("–").replace('\n', " ");
    let _ = writeln!(out, "- root cause ({}): {}", row.made_by.join(" + "), text("root_cause"));
    let list = diagnosis.get("evidence").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for line in list.iter().filter_map(Value::as_str) {
        let _ = writeln!(out, "  - {}", line.replace('\n', " "));
    }
    let _ = writeln!(out, "- strategy: {}", text("strategy"));
    for line in &row.summary {
        let _ = writeln!(out, "  - {}", line.replace('\n', " "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_cause_and_evidence_and_leaves_a_line_to_judge() {
        let diagnosis = serde_json::json!({"root_cause": "the folder is missing", "evidence": ["out is not there"], "strategy": "make it"});
        let rows = [
            Row { case: "a".to_owned(), diagnosis: Some(diagnosis), ..Row::default() },
            Row { case: "b".to_owned(), ..Row::default() },
        ];
        let text = markdown(&rows);
        assert!(text.contains("the folder is missing") && text.contains("  - out is not there"), "{text}");
        assert_eq!(text.matches("- judged: ").count(), 2);
        assert!(text.contains("- no diagnosis"));
    }
}
