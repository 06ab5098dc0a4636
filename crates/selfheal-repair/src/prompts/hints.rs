//! What a small model does not see by itself, found by plain comparison: names that the data has in another spelling, separators
//! that the data does not have, numbers and dates in another form.

use std::collections::BTreeSet;

use super::input::{Document, PromptInput};

/// Most hints of a question.
const MOST: usize = 8;
/// The shortest name that is compared.
const LEAST: usize = 4;
/// Lines of a file that are looked at.
const LINES: usize = 20;
/// Separators of columns.
const SEPARATORS: [char; 4] = [';', '\t', ',', '|'];

/// What stands out when the script is held against the files near it. Empty where these may not be sent.
pub(super) fn hints(input: &PromptInput<'_>) -> Vec<String> {
    let Some(script) = input.script.filter(|_| input.hints) else { return Vec::new() };
    let files: Vec<&Document> = input.visible_project().collect();
    let mut out = renamed(&script.text, &files);
    for file in files.iter().filter(|file| file.is_data) {
        out.extend(separated(&script.text, file));
        out.extend(forms(file));
    }
    out.truncate(MOST);
    out
}

/// Names in quotes that no file has, where one has them in another spelling or with more behind.
fn renamed(script: &str, files: &[&Document]) -> Vec<String> {
    let there: BTreeSet<&str> = files.iter().flat_map(|file| words(&file.text)).collect();
    let own: BTreeSet<&str> = words(script).collect();
    let mut seen = BTreeSet::new();
    quoted(script)
        .filter(|name| !there.contains(name) && seen.insert(*name))
        .filter_map(|name| {
            let plain = plain(name);
            let alike = |word: &&&str| {
                let other = self::plain(word);
                **word != name && !own.contains(**word) && (other == plain || other.starts_with(&plain))
            };
            let best = there.iter().filter(alike).min_by_key(|word| word.len())?;
            Some(format!("The script uses {name}; its data has {best} instead."))
        })
        .collect()
}

/// Names between quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split(['"', '\'']).skip(1).step_by(1).filter(|word| {
        word.len() >= LEAST
            && word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.len() >= LEAST)
}

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether a file has other separators than the script splits at.
fn separated(script: &str, file: &Document) -> Option<String> {
    let wanted = separator_of_script(script)?;
    let lines: Vec<&str> = file.text.lines().filter(|line| !line.trim().is_empty()).take(LINES).collect();
    let first = lines.first()?;
    if lines.len() < 2 || first.contains(wanted) {
        return None;
    }
    let count = |line: &str, sign: char| line.matches(sign).count();
    let has = SEPARATORS.into_iter().filter(|sign| *sign != wanted).find(|sign| {
        count(first, *sign) > 0 && lines.iter().all(|line| count(line, *sign) == count(first, *sign))
    })?;
    let name = file.path.file_name()?.to_string_lossy();
    Some(format!(
        "The script splits at {}; the lines of {name} have {} columns, separated by {}.",
        shown(wanted),
        count(first, has) + 1,
        shown(has)
    ))
}

/// Ways in which scripts say where lines are split.
const SPLITS: [&str; 9] = ["FS = ", "FS=", "-F ", "-F", "-d ", "-d", "delimiter=", "IFS=", ".split("];

fn separator_of_script(script: &str) -> Option<char> {
    let behind = SPLITS.iter().flat_map(|sign| script.match_indices(sign).map(|(at, sign)| at + sign.len()));
    behind.filter_map(|at| script.get(at..)).find_map(|rest| {
        let rest = rest.trim_start_matches(['$', '"', '\'']);
        if rest.starts_with("\\t") {
            Some('\t')
        } else {
            rest.chars().next().filter(|c| SEPARATORS.contains(c))
        }
    })
}

fn shown(sign: char) -> String {
    if sign == '\t' { "tabs".to_owned() } else { format!("`{sign}`") }
}

/// Numbers with a decimal comma, and dates that do not begin with the year.
fn forms(file: &Document) -> Vec<String> {
    let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let cells = || {
        file.text
            .lines()
            .take(LINES)
            .flat_map(|line| line.split([';', '\t', '|']))
            .map(|cell| cell.trim().trim_matches('"'))
    };
    let mut out = Vec::new();
    if let Some(cell) = cells().find(|cell| is_decimal_comma(cell)) {
        out.push(format!("Numbers in {name} have a decimal comma: {cell}."));
    }
    if let Some(cell) = cells().flat_map(|cell| cell.split([',', ' '])).find(|cell| is_day_first(cell)) {
        out.push(format!("Dates in {name} begin with the day or month: {cell}. They do not sort as text."));
    }
    out
}

fn is_decimal_comma(cell: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    cell.split_once(',').is_some_and(|(whole, part)| digits(whole) && digits(part) && part.len() <= 3)
}

fn is_day_first(cell: &str) -> bool {
    let parts: Vec<&str> = cell.split(['.', '/']).collect();
    let [day, month, year] = parts.as_slice() else { return false };
    let number = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
    };
    number(day, 2) && number(month, 2) && year.len() == 4 && number(year, 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> Document {
        Document { path: format!("/x/{name}").into(), text: text.to_owned(), is_data: true }
    }

    #[test]
    fn names_in_another_spelling() {
        let data = file("people.json", r#"{"family_name": "Berg", "age_years": 3, "known": 1}"#);
        let script = "row['familyName'], row['age'], row['ageYears'], row['known'], row['missing']";
        assert_eq!(
            renamed(script, &[&data]),
            [
                "The script uses familyName; its data has family_name instead.",
                "The script uses ageYears; its data has age_years instead."
            ]
        );
    }

    #[test]
    fn separators_that_are_not_there() {
        let data = file("a.csv", "day;count\n01.02.2024;3,5\n02.02.2024;4,0\n");
        let told = separated("BEGIN { FS = \",\" }", &data).unwrap();
        assert_eq!(told, "The script splits at `,`; the lines of a.csv have 2 columns, separated by `;`.");
        assert_eq!(separated("cut -d';' -f2", &data), None);
        assert_eq!(separated("cut -d '\\t' -f2", &file("b", "a\tb\nc\td\n")), None);
        assert_eq!(
            forms(&data),
            [
                "Numbers in a.csv have a decimal comma: 3,5.",
                "Dates in a.csv begin with the day or month: 01.02.2024. They do not sort as text."
            ]
        );
        assert!(forms(&file("c", "2024-01-02,3.5\n")).is_empty());
    }
}
