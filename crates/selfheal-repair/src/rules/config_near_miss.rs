//! # A slip in a configuration file
//!
//! ## What it finds
//! A program refuses a configuration file of the job and names the file and line: a statement lacks its semicolon, a bracket or
//! quote is not closed, or a name is spelled almost like one that the same file defines or uses, or that the message offers.
//!
//! ## Why it fails
//! The program reads on behind the missing semicolon, and takes the next line for a part of the statement; so the line that
//! it names is often the one after.
//!
//! ## Fix
//! The semicolon, bracket or quote is added; the name is spelled as it is where it is defined.
//!
//! ## Example
//! ```text
//! proxy_set_header Host $host
//! }
//! ```
//! ```text
//! proxy_set_header Host $host;
//! }
//! ```
//!
//! ## Safety
//! Only in files whose other statements do end in semicolons, and only where exactly one name is that near. What the
//! program says of the changed file decides.

use selfheal_core::edit::LineEdit;
use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::text;

rule!(ConfigNearMiss, "config_near_miss", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (file, line) in config_files(case) {
        let names = names(case);
        out.extend(misspelt(&file, line, &names));
        out.extend(unclosed(case, &file, line));
        out.extend(other_key(case, &file, line, &names));
        out.extend(semicolon(&file, line));
    }
    out
}

/// Configuration files that the failure names, with the line.
fn config_files(case: &Case) -> Vec<(ScriptFile, u32)> {
    let mut places: Vec<(String, u32)> = Vec::new();
    if let Some(place) = &case.report.location {
        places.push((place.file.to_string_lossy().into_owned(), place.line));
    }
    // The report may point into the script; its words name the file: `site.conf:15`.
    for word in case.report.core_error.split_whitespace() {
        let mut parts = word.trim_end_matches([':', ',', '.', ')']).trim_start_matches('(').split(':');
        let (Some(file), Some(line)) = (parts.next(), parts.next().and_then(|line| line.parse().ok())) else {
            continue;
        };
        places.push((file.to_owned(), line));
    }
    let found = places.into_iter().filter_map(|(file, line)| {
        let path = case.find(std::path::Path::new(&file))?;
        Some((case.file(&path)?, line))
    });
    let mut files: Vec<(ScriptFile, u32)> =
        found.filter(|(file, _)| file.language == Language::Other).collect();
    files.dedup_by(|a, b| a.0.path == b.0.path && a.1 == b.1);
    files.truncate(3);
    files
}

/// The names that the messages quote.
fn names(case: &Case) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for fault in case.faults() {
        match fault {
            Fault::UndefinedName { name }
            | Fault::NoSuchReference { name }
            | Fault::NoSuchObject { name, .. } => names.push(name.clone()),
            Fault::UnknownOption { option, .. } => names.push(option.clone()),
            Fault::KeyMissing { key } => names.push(key.clone()),
            Fault::Syntax { message, near } => {
                names.extend(near.clone());
                names.extend(in_quotes(message));
            }
            Fault::Other { message } | Fault::BadValue { message, .. } | Fault::Mismatch { message } => {
                names.extend(in_quotes(message))
            }
            _ => {}
        }
    }
    names.extend(in_quotes(&case.report.core_error));
    names.retain(|name| name.len() >= 4 && name.chars().any(char::is_alphabetic));
    names
}

fn in_quotes(message: &str) -> Vec<String> {
    ['"', '\''].iter().flat_map(|quote| message.split(*quote).skip(1).step_by(2)).map(str::to_owned).collect()
}

fn is_statement_line(line: &str) -> bool {
    line.split('#').next().unwrap_or_default().trim_end().ends_with(';')
}

/// Adds the bracket or quote of which the program says that it is missing at the end of a line.
fn unclosed(case: &Case, file: &ScriptFile, line: u32) -> Option<Candidate> {
    const PAIRS: [(char, char); 5] = [('[', ']'), ('(', ')'), ('{', '}'), ('"', '"'), ('\'', '\'')];
    const SAID: [&str; 6] = ["expected", "missing", "unterminated", "unclosed", "not closed", "end of line"];
    let said = case.report.core_error.to_lowercase();
    let old = text::line(&file.text, line).filter(|_| SAID.iter().any(|word| said.contains(word)))?;
    let kept = old.trim_end();
    let open = PAIRS.iter().find(|(open, close)| {
        let (opened, closed) = (kept.matches(*open).count(), kept.matches(*close).count());
        if open == close { opened % 2 == 1 } else { opened == closed + 1 && !kept.ends_with(*open) }
    });
    let (_, close) = open?;
    let bare = !kept.contains(" #") && !kept.contains(" ;");
    let edits = [text::replace(line, format!("{kept}{close}"))];
    let (cause, how) = (format!("{close} is missing at the end"), format!("add {close}"));
    bare.then(|| draft(file, line, &cause, &how, &edits)).flatten()
}

/// Writes a key that the program does not know as the same file has it in another section, or as the message offers it.
fn other_key(case: &Case, file: &ScriptFile, line: u32, names: &[String]) -> Option<Candidate> {
    let old = text::line(&file.text, line)?;
    let key = key_of(old)?;
    let refused = names.iter().any(|name| name == key);
    let said = case.report.core_error.as_str();
    let unknown = [
        "unknown",
        "unrecognized",
        "unrecognised",
        "invalid",
        "not a valid",
        "unexpected",
        "no such",
        "unsupported",
    ]
    .iter()
    .any(|word| said.to_lowercase().contains(word));
    if !refused || !unknown || key.len() < 4 {
        return None;
    }
    let most = if key.len() > 8 { 2 } else { 1 };
    let section = section_of(&file.text, line);
    let in_file = file.text.lines().filter_map(key_of);
    let offered = said.split(|c: char| !(text::is_name(c) || c == '-')).filter(|word| word.len() >= 4);
    let mut near: Vec<&str> = in_file
        .chain(offered)
        .filter(|other| *other != key && text::distance(other, key, most) <= most)
        .filter(|other| !section.lines().filter_map(key_of).any(|known| known == *other))
        .collect();
    near.sort_unstable();
    near.dedup();
    let [best] = near.as_slice() else { return None };
    let edits = [text::replace(line, old.replacen(key, best, 1))];
    draft(
        file,
        line,
        &format!("{key} is no name that the program knows; {best} is"),
        &format!("spell it {best}"),
        &edits,
    )
}

/// The key at the beginning of `key = value` or `key: value`.
fn key_of(line: &str) -> Option<&str> {
    let line = line.trim_start().trim_start_matches("- ");
    let end = line.find(|c: char| !(text::is_name(c) || c == '-' || c == '.'))?;
    let behind = line.get(end..)?.trim_start();
    (end > 0 && behind.starts_with(['=', ':'])).then(|| line.get(..end)).flatten()
}

/// The lines of a section around a line: between headings in brackets, or blank lines.
fn section_of(text: &str, line: u32) -> String {
    let ends = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('[');
    let lines: Vec<&str> = text.lines().collect();
    let at = (line as usize).saturating_sub(1);
    let before = lines.iter().take(at).rev().take_while(|line| !ends(line));
    let behind = lines.iter().skip(at).take_while(|line| !ends(line));
    before.chain(behind).copied().collect::<Vec<_>>().join("\n")
}

/// Adds a semicolon at the end of the statement that ends at or before a line.
fn semicolon(file: &ScriptFile, line: u32) -> Option<Candidate> {
    let lines: Vec<&str> = file.text.lines().collect();
    let ended = lines.iter().filter(|line| is_statement_line(line)).count();
    let bare = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
    let open = |text: &str| !text.is_empty() && !text.ends_with([';', '{', '}', ',', '\\']);
    if ended < 2 {
        return None;
    }
    // The line itself, when it is open and the next begins a new statement; else the last line before it with words.
    let at = |number: u32| lines.get((number as usize).checked_sub(1)?).copied();
    let this = at(line).filter(|text| open(&bare(text))).map(|_| line);
    let before = (1..line).rev().find(|number| at(*number).is_some_and(|text| !bare(text).is_empty()));
    let number = before.filter(|number| at(*number).is_some_and(|text| open(&bare(text)))).or(this)?;
    let old = at(number)?;
    let code = old.split('#').next().unwrap_or_default();
    let kept = code.trim_end();
    let rest = old.get(kept.len()..).unwrap_or_default();
    let edits = [text::replace(number, format!("{kept};{rest}"))];
    draft(file, number, "the statement has no semicolon", "end the statement", &edits)
}

fn draft(file: &ScriptFile, line: u32, cause: &str, how: &str, edits: &[LineEdit]) -> Option<Candidate> {
    let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Draft::new("config_near_miss", format!("{name}, line {line}: {cause}"), how)
        .edit(file, edits, format!("{name}, line {line}: {how}"))
        .done()
}

/// Spells a name as it is spelled elsewhere in the file.
fn misspelt(file: &ScriptFile, line: u32, names: &[String]) -> Option<Candidate> {
    for name in names {
        let known = words(&file.text);
        let here: Vec<&String> =
            known.iter().filter(|word| text::distance(word, name, 2) == 0 || *word == name).collect();
        let uses = text::whole_words(&file.text, name).count();
        if here.is_empty() && uses == 0 {
            continue;
        }
        let most = if name.len() > 8 { 2 } else { 1 };
        let mut near: Vec<&String> =
            known.iter().filter(|word| *word != name && text::distance(word, name, most) <= most).collect();
        near.sort_by_key(|word| text::distance(word, name, most));
        let [best, rest @ ..] = near.as_slice() else { continue };
        let single = rest
            .first()
            .is_none_or(|other| text::distance(other, name, most) > text::distance(best, name, most));
        // The right spelling is the one that is used more, or that stands where names are defined.
        let times = text::whole_words(&file.text, best).count();
        let defined =
            file.text.lines().any(|text| text.contains(best.as_str()) && text.trim_end().ends_with('{'));
        if !single || (times <= uses && !defined) {
            continue;
        }
        let edits = text::edits_by_line(&file.text, |_, text| Some(text::replace_word(text, name, best)));
        let first = edits.first().map_or(line, |edit| edit.first);
        return draft(
            file,
            first,
            &format!("{name} is not known; {best} is"),
            &format!("spell it {best}"),
            &edits,
        );
    }
    None
}

fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for line in text.lines() {
        let code = line.split('#').next().unwrap_or_default();
        for word in code.split(|c: char| !(text::is_name(c) || c == '-')).filter(|word| word.len() >= 4) {
            if !words.iter().any(|known| known == word) && words.len() < 5_000 {
                words.push(word.to_owned());
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    const CONF: &str = "upstream shop_backend {\n    server a;\n    server b;\n}\nserver {\n    set X https # tls\n}\nlocation / {\n    pass http://shop_backnd/v2;\n}\n";

    fn case(fault: Fault, line: u32) -> TestCase {
        TestCase::new("reload.sh", "check site.conf\n", TestScene::new().file("site.conf", CONF))
            .fault(fault)
            .at_file("site.conf", line)
    }

    #[test]
    fn ends_the_statement_before_the_line() {
        let fault = Fault::Syntax { near: Some("}".into()), message: "unexpected \"}\"".into() };
        assert_eq!(case(fault, 7).healed(&ConfigNearMiss), CONF.replace("https # tls", "https; # tls"));
    }

    #[test]
    fn spells_a_name_as_it_is_defined() {
        let fault = Fault::Other { message: "unknown upstream \"shop_backnd\"".into() };
        assert_eq!(case(fault, 9).healed(&ConfigNearMiss), CONF.replace("shop_backnd", "shop_backend"));
    }

    #[test]
    fn closes_what_is_open_and_takes_a_key_of_another_section() {
        let conf = "[queue fast\nworkers = 4\n\n[queue slow]\nworker = 1\n";
        let refused = |said: &str, line: u32| {
            let scene = TestScene::new().file("q.ini", conf);
            let mut case = TestCase::new("r.sh", "check q.ini\n", scene)
                .fault(Fault::Other { message: said.into() })
                .at_file("q.ini", line);
            case.report.core_error = said.to_owned();
            case
        };
        let open = refused("check: q.ini:1: unterminated heading '[queue fast', expected ']'", 1);
        assert_eq!(open.healed(&ConfigNearMiss), conf.replace("fast\n", "fast]\n"));
        let key = refused("check: q.ini:5: unknown key 'worker'", 5);
        assert_eq!(key.healed(&ConfigNearMiss), conf.replace("worker = 1", "workers = 1"));
        assert!(refused("check: q.ini:2: bad value '4' for workers", 2).silent(&ConfigNearMiss));
    }

    #[test]
    fn leaves_files_without_semicolons_alone() {
        let scene = TestScene::new().file("a.conf", "[x]\na = 1\nb 2\n");
        let case = TestCase::new("r.sh", "check a.conf\n", scene)
            .fault(Fault::Syntax { near: None, message: "bad line".into() })
            .at_file("a.conf", 3);
        assert!(case.silent(&ConfigNearMiss));
    }
}
