//! Learning a profile from what a command says of itself: the part on exit codes of its help or manual page.
//!
//! What is read is a proposal and marked so; it counts only when a person accepted it. The text may come from any
//! program and is read with bounds.

use std::collections::BTreeMap;

use super::documented::is_answer;

/// Lines of a text that are read.
const MOST_LINES: usize = 20_000;
/// Codes that are proposed.
const MOST_CODES: usize = 64;
/// Characters of a meaning.
const LONGEST: usize = 100;

/// Headings of the part on exit codes.
const HEADINGS: [&str; 10] = [
    "exit status",
    "exit statuses",
    "exit code",
    "exit codes",
    "exit value",
    "exit values",
    "return value",
    "return values",
    "return codes",
    "diagnostics",
];

/// The exit codes that a help text or manual page tells of, without 0: code and meaning.
#[must_use]
pub fn told_codes(text: &str) -> BTreeMap<i32, String> {
    let mut found: BTreeMap<i32, String> = BTreeMap::new();
    let mut part: Option<usize> = None;
    let mut last: Option<(i32, usize)> = None;
    for line in text.lines().take(MOST_LINES) {
        let indent = line.len() - line.trim_start().len();
        let trimmed = line.trim();
        let bare = trimmed.trim_end_matches(':').to_lowercase();
        if HEADINGS.contains(&bare.as_str()) {
            part = Some(indent);
            last = None;
            continue;
        }
        let Some(heading) = part else { continue };
        if !trimmed.is_empty() && indent <= heading && entry(trimmed).is_none() && last.is_some() {
            part = None;
        } else if let Some((code, meaning)) = entry(trimmed) {
            if found.len() < MOST_CODES {
                found.entry(code).or_insert_with(|| meaning.to_owned());
                last = Some((code, indent));
            }
        } else if let Some((code, at)) = last.filter(|(_, at)| indent > *at && !trimmed.is_empty()) {
            let meaning = found.entry(code).or_default();
            if meaning.len() < LONGEST {
                meaning.push_str(if meaning.is_empty() { "" } else { " " });
                meaning.push_str(trimmed);
            }
            last = Some((code, at));
        }
    }
    found.remove(&0);
    found.retain(|_, meaning| !meaning.is_empty());
    found
}

/// `1      No lines were selected`, `2 - trouble`, `Exit code 3: …`.
fn entry(line: &str) -> Option<(i32, &str)> {
    let lower = line.to_ascii_lowercase();
    let prefix = ["exit code ", "exit status ", "code ", "if ", ""]
        .into_iter()
        .find(|word| lower.starts_with(word))?;
    let rest = line.get(prefix.len()..)?;
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let code: i32 = rest.get(..digits)?.parse().ok().filter(|code| (0..=255).contains(code))?;
    let behind = rest.get(digits..)?;
    if !(behind.is_empty() || behind.starts_with([' ', '\t', ':', '-', ',', ')', '='])) {
        return None;
    }
    Some((code, behind.trim_start_matches([' ', '\t', ':', '-', ',', ')', '=']).trim()))
}

/// A table of profiles for a command, marked as not accepted. `None` where there are no codes.
#[must_use]
pub fn proposal(command: &str, codes: &BTreeMap<i32, String>) -> Option<String> {
    if codes.is_empty() {
        return None;
    }
    let mut out = format!(
        "# Proposed by `selfheal profile learn` from what the command says of itself. Read it, mend it, set\n\
         # accepted = true, and put it into ~/.config/selfheal/profiles/ as a file.\n\
         [[profile]]\naccepted = false\ncommand = [{}]\ncodes = [\n",
        quoted(command)
    );
    let mut examples = String::new();
    for (code, meaning) in codes {
        let short: String = meaning.trim_end_matches([',', ';', '.']).chars().take(LONGEST).collect();
        let outcome = if is_answer(meaning) == Some(true) { "negative" } else { "failed" };
        out.push_str(&format!(
            "    {{ code = [{code}], outcome = \"{outcome}\", meaning = {} }},\n",
            quoted(&short)
        ));
        examples.push_str(&format!(
            "    {{ argv = {}, code = {code}, outcome = \"{outcome}\" }},\n",
            quoted(command)
        ));
    }
    out.push_str(&format!("]\nexamples = [\n{examples}]\n"));
    Some(out)
}

/// A TOML string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles::Profiles;

    const LS: &str = "Usage: ls\n\nExit status:\n 0  if OK,\n 1  if minor problems (e.g., cannot access subdirectory),\n 2  if serious trouble (e.g., cannot access command-line argument).\n\nGNU coreutils 9 home page\n 7 nothing\n";

    #[test]
    fn the_codes_of_help_texts_and_manual_pages_are_read() {
        let codes = told_codes(LS);
        assert_eq!(codes.keys().copied().collect::<Vec<_>>(), [1, 2]);
        let page = "EXIT STATUS\n       The exit status is:\n\n       0      a line is selected\n\n       1      no lines were\n              found\n\n       2      an error occurred\n\nENVIRONMENT\n       9      nothing of the kind\n";
        let codes = told_codes(page);
        assert_eq!(codes.get(&1).map(String::as_str), Some("no lines were found"));
        assert_eq!(codes.len(), 2);
        assert!(told_codes("7 of 9 files\n1 error").is_empty());
    }

    #[test]
    fn a_proposal_is_good_toml_that_does_not_count_until_accepted() {
        let codes =
            BTreeMap::from([(1, "no match \"found\" \\ here\u{7}".to_owned()), (2, "error".to_owned())]);
        let text = proposal("odd\"tool", &codes).unwrap();
        let profiles = Profiles::with_user(&text, "learned.toml").unwrap();
        assert!(profiles.describe("odd\"tool", None).is_empty());
        let accepted = text.replace("accepted = false", "accepted = true");
        let profiles = Profiles::with_user(&accepted, "learned.toml").unwrap();
        assert!(profiles.describe("odd\"tool", None).contains("an answer"));
        assert_eq!(proposal("x", &BTreeMap::new()), None);
    }

    #[test]
    fn hostile_texts_are_read_with_bounds() {
        let many: String = (0..100_000).map(|n| format!("{} x{}\n", n % 256, "y".repeat(20))).collect();
        assert!(told_codes(&format!("EXIT STATUS\n{many}")).len() <= MOST_CODES);
        let long = format!("EXIT STATUS\n 1 x\n{}", "   more words here\n".repeat(30_000));
        assert!(told_codes(&long).get(&1).is_some_and(|meaning| meaning.len() < 300));
    }
}
