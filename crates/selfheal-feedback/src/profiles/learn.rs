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
/// Characters of a sentence that is shown.
const LONGEST_SAID: usize = 400;
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

/// What a text says of one exit code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// What the code means, in the text's words.
    pub meaning: String,
    /// The sentence or entry that this rests on.
    pub said: String,
}

/// The exit codes that a help text or manual page tells of, without 0.
#[must_use]
pub fn told_codes(text: &str) -> BTreeMap<i32, Told> {
    let mut found = listed(text);
    for (code, told) in sentences(text) {
        found.entry(code).or_insert(told);
    }
    found.remove(&0);
    found.retain(|_, told| told.meaning.chars().any(char::is_alphabetic));
    while found.len() > MOST_CODES {
        found.pop_last();
    }
    found
}

/// The codes of lists under a heading.
fn listed(text: &str) -> BTreeMap<i32, Told> {
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
                join(meaning, trimmed);
            }
            last = Some((code, at));
        }
    }
    let told = |(code, meaning): (i32, String)| {
        let said = format!("{code}  {meaning}");
        let words = meaning.split_whitespace().collect::<Vec<_>>().join(" ");
        (code, Told { meaning: words.strip_prefix("if ").map_or(words.clone(), str::to_owned), said })
    };
    found.into_iter().map(told).collect()
}

/// Adds a line to a text, a word that was broken at its end made whole.
fn join(text: &mut String, line: &str) {
    match text.strip_suffix('\u{2010}') {
        Some(broken) => text.truncate(broken.len()),
        None if text.is_empty() => {}
        None => text.push(' '),
    }
    text.push_str(line);
}

/// `The exit status is 0 if a line is selected, 1 if no lines were selected, and 2 if an error occurred.`
fn sentences(text: &str) -> BTreeMap<i32, Told> {
    let mut whole = String::new();
    for line in text.lines().take(MOST_LINES) {
        match line.trim() {
            "" => whole.push('\n'),
            line if HEADINGS.contains(&line.trim_end_matches(':').to_lowercase().as_str()) => {
                whole.push('\n')
            }
            line if whole.ends_with('\n') => whole.push_str(line),
            line => join(&mut whole, line),
        }
    }
    let mut found = BTreeMap::new();
    let speaks = |sentence: &str| {
        let lower = sentence.to_lowercase();
        ["exit status", "exit code", "exits with", "return code"].iter().any(|word| lower.contains(word))
    };
    let whole =
        whole.split('\n').flat_map(|paragraph| paragraph.split(". ")).filter(|text| text.len() < 1_000);
    for sentence in whole.filter(|sentence| speaks(sentence)).take(MOST_CODES) {
        let said = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
        for (code, meaning) in in_sentence(&said) {
            found.entry(code).or_insert_with(|| Told { meaning, said: said.clone() });
        }
    }
    found
}

/// The codes of one sentence, each with the words behind it up to the next, or the clause that leads to it.
fn in_sentence(sentence: &str) -> Vec<(i32, String)> {
    const LEADS: [&str; 7] = ["if ", "when ", "on ", "for ", "means ", "otherwise", "in case "];
    let words: Vec<&str> = sentence.split(' ').collect();
    let number = |word: &str| -> Option<i32> {
        word.trim_end_matches([',', ';', '.', ':']).parse().ok().filter(|code| (0..=255).contains(code))
    };
    let places: Vec<(usize, i32)> =
        words.iter().enumerate().filter_map(|(at, word)| Some((at, number(word)?))).collect();
    let mut out = Vec::new();
    for (index, (at, code)) in places.iter().enumerate() {
        let end = places.get(index + 1).map_or(words.len(), |(next, _)| *next);
        let behind = words.get(at + 1..end).unwrap_or_default().join(" ");
        let behind = behind.split(';').next().unwrap_or_default();
        let behind = behind.trim_end_matches(" and").trim_end_matches([',', ';', '.', ' ']);
        let lead = LEADS.iter().find(|lead| behind.starts_with(**lead));
        let before = || {
            let start = words.get(..*at)?.join(" ");
            let clause = start.rsplit(';').next()?.trim();
            let (condition, _) =
                clause.strip_prefix("if ").or_else(|| clause.strip_prefix("If "))?.rsplit_once(',')?;
            Some(condition.to_owned())
        };
        let meaning = match lead {
            Some(&"otherwise") => Some("otherwise".to_owned()),
            Some(lead) => behind.strip_prefix(lead).map(str::to_owned),
            None => before(),
        };
        out.extend(meaning.map(|meaning| (*code, meaning)));
    }
    out
}

/// `1      No lines were selected`, `2 - trouble`, `Exit code 3: …`.
fn entry(line: &str) -> Option<(i32, &str)> {
    let line =
        ["o ", "• ", "* ", "- "].iter().find_map(|sign| line.strip_prefix(sign)).unwrap_or(line).trim_start();
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

/// A table of profiles for a command, marked as not accepted, each code below the sentence that it rests on. `None` where
/// there are no codes.
#[must_use]
pub fn proposal(command: &str, codes: &BTreeMap<i32, Told>) -> Option<String> {
    if codes.is_empty() {
        return None;
    }
    let mut out = format!(
        "# Proposed by `selfheal profile learn` from what the command says of itself. It does not count yet: read it, mend\n\
         # it, and put it into force with: selfheal profile accept FILE\n\
         [[profile]]\naccepted = false\ncommand = [{}]\ncodes = [\n",
        quoted(command)
    );
    let mut examples = String::new();
    for (code, told) in codes {
        let short: String = told.meaning.trim_end_matches([',', ';', '.']).chars().take(LONGEST).collect();
        let outcome = if is_answer(&told.meaning) == Some(true) { "negative" } else { "failed" };
        out.push_str(&format!("    # {}\n", comment(&told.said)));
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

/// A proposal that a person accepts; how many of its profiles were not accepted before.
#[must_use]
pub fn accepted(text: &str) -> (String, usize) {
    let mut count = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let key = line.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
        let waits = key.is_some_and(|(key, value)| key == "accepted" && value.starts_with("false"));
        count += usize::from(waits);
        if waits { line.replacen("false", "true", 1) } else { line.to_owned() }
    });
    let text = lines.collect();
    (text, count)
}

/// What a program says, as one line of a comment.
fn comment(said: &str) -> String {
    let plain = said.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let words = plain.collect::<String>();
    words.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST_SAID).collect()
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
        assert_eq!(codes.get(&1).map(|told| told.meaning.as_str()), Some("no lines were found"));
        assert_eq!(codes.len(), 2);
        assert!(told_codes("7 of 9 files\n1 error").is_empty());
    }

    #[test]
    fn a_proposal_is_good_toml_that_does_not_count_until_accepted() {
        let told = |meaning: &str| Told { meaning: meaning.to_owned(), said: format!("x\n{meaning}") };
        let codes = BTreeMap::from([(1, told("no match \"found\" \\ here\u{7}")), (2, told("error"))]);
        let text = proposal("odd\"tool", &codes).unwrap();
        let profiles = Profiles::with_user(&text, "learned.toml").unwrap();
        assert!(profiles.describe("odd\"tool", None).is_empty());
        let (accepted, count) = accepted(&text);
        assert_eq!(count, 1);
        let profiles = Profiles::with_user(&accepted, "learned.toml").unwrap();
        assert!(profiles.describe("odd\"tool", None).contains("an answer"));
        assert_eq!(proposal("x", &BTreeMap::new()), None);
    }

    #[test]
    fn codes_in_sentences_are_read_with_the_sentence() {
        let page = "EXIT STATUS\n   Normally the exit status is 0 if a line is selected, 1 if no lines were\n   selected, and 2 if an error occurred.  However, if the -q is used\n   the exit status is 0.\n";
        let codes = told_codes(page);
        assert_eq!(codes.get(&1).map(|told| told.meaning.as_str()), Some("no lines were selected"));
        assert_eq!(codes.get(&2).map(|told| told.meaning.as_str()), Some("an error occurred"));
        assert!(codes.get(&1).is_some_and(|told| told.said.starts_with("Normally the exit status")));
        let help = "Exit status is 0 if inputs are the same, 1 if different, 2 if trouble.\n";
        assert_eq!(told_codes(help).get(&1).map(|told| told.meaning.as_str()), Some("different"));
        let help = "Exit status is 0 if any line is selected, 1 otherwise;\nif any error occurs and -q is not given, the exit status is 2.\n";
        assert_eq!(
            told_codes(help).get(&2).map(|told| told.meaning.as_str()),
            Some("any error occurs and -q is not given")
        );
    }

    #[test]
    fn hostile_texts_are_read_with_bounds() {
        let many: String = (0..100_000).map(|n| format!("{} x{}\n", n % 256, "y".repeat(20))).collect();
        assert!(told_codes(&format!("EXIT STATUS\n{many}")).len() <= MOST_CODES);
        let long = format!("EXIT STATUS\n 1 x\n{}", "   more words here\n".repeat(30_000));
        assert!(told_codes(&long).get(&1).is_some_and(|told| told.meaning.len() < 300));
    }
}
