//! Makes output fit for a snapshot: what differs from run to run is replaced by a word that says what stood there.

use std::sync::LazyLock;

use regex_lite::Regex;

/// What is replaced, in this order, and by what.
const REPLACED: [(&str, &str); 8] = [
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "[UUID]"),
    (r"\b[0-9a-f]{64}\b", "[HASH]"),
    (r"\b20\d\d-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|UTC|[+-]\d\d:?\d\d))?)?", "[DATE]"),
    (r"\b20\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])([T_-]?\d{4,6})?\b", "[DATE]"),
    (r"\b\d\d:\d\d:\d\d(\.\d+)?\b", "[CLOCK]"),
    (r"\b[0-9a-f]{8}\b", "[ID]"),
    (r"\b\d+(\.\d+)? ?(ns|µs|us|ms|s|min|h)\b", "[TIME]"),
    (r"(127\.0\.0\.1|localhost):\d+", "[SERVER]"),
];

static RULES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    REPLACED.iter().map(|(find, word)| (Regex::new(find).expect("a pattern of this file"), *word)).collect()
});

/// Replaces ids, hashes, dates, durations and local server addresses.
#[must_use]
pub fn normalise(text: &str) -> String {
    RULES.iter().fold(text.to_owned(), |text, (find, word)| find.replace_all(&text, *word).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_what_differs_from_run_to_run_and_nothing_else() {
        for (text, same) in [
            ("incident 0193e5a2-7f00-7abc-8def-0123456789ab", "incident [UUID]"),
            ("undo 1f3a9c0d or 12345678", "undo [ID] or [ID]"),
            ("at 2026-11-30 12:01:02 UTC, app.20261130.log", "at [DATE], app.[DATE].log"),
            ("2026-11-30T12:01:02.123Z took 1.5 s (12ms)", "[DATE] took [TIME] ([TIME])"),
            ("12:01:02 http://127.0.0.1:40123/v1", "[CLOCK] http://[SERVER]/v1"),
            ("line 12: exit code 1, 3 files, deadbee", "line 12: exit code 1, 3 files, deadbee"),
        ] {
            assert_eq!(normalise(text), same);
        }
    }
}
