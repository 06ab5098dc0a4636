//! Whether what an answer names exists: lines, files and variables. A model that names what is not there has not looked.

use super::input::PromptInput;
use super::material::{Detail, Numbers, sections};

/// Names that every system has, so that no material need show them.
const EVERYWHERE: [&str; 16] = [
    "PATH",
    "HOME",
    "PWD",
    "OLDPWD",
    "USER",
    "LOGNAME",
    "SHELL",
    "IFS",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "TERM",
    "PYTHONPATH",
    "BASH_SOURCE",
    "RANDOM",
];

/// Products whose names look like files.
const PRODUCTS: [&str; 4] = ["node.js", "next.js", "vue.js", "express.js"];

/// Endings by which a word is taken for the name of a file.
const FILE_ENDINGS: [&str; 26] = [
    "sh", "bash", "py", "js", "mjs", "pl", "rb", "php", "sql", "json", "yaml", "yml", "toml", "ini", "conf",
    "cfg", "env", "csv", "tsv", "txt", "log", "xml", "html", "md", "gz", "lock",
];

/// What may be named.
pub(super) struct Known {
    material: String,
    most_lines: u64,
}

impl Known {
    /// Everything that a question shows, and the names of its files.
    pub(super) fn of(input: &PromptInput<'_>) -> Self {
        let mut material = String::new();
        for section in sections(input, Numbers::Hidden, Detail::Full) {
            material.push_str(&section.title);
            material.push('\n');
            material.push_str(&section.text);
            material.push('\n');
        }
        let files = input.script.into_iter().chain(input.project);
        let most_lines = files.map(|file| file.text.lines().count() as u64).max().unwrap_or(0);
        Self { material: input.redactor.with_users(&material), most_lines }
    }

    /// Checks the lines, files and variables that a text names.
    ///
    /// # Errors
    /// With the first that does not exist, in words for the model.
    pub(super) fn check(&self, text: &str) -> Result<(), String> {
        self.check_lines(text)?;
        text.split(|c: char| {
            c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ',' | ';' | '(' | '[' | ']' | '<' | '>')
        })
        .map(|word| word.trim_end_matches(['.', ':', '!', '?', ')']))
        .filter(|word| names_something(word))
        .find(|word| !self.has(word))
        .map_or(Ok(()), |word| {
            let shown: String = word.chars().take(60).collect();
            Err(format!("it names {shown}, which is not in the material"))
        })
    }

    /// Checks only the numbers of lines.
    ///
    /// # Errors
    /// With the first line that no file has.
    pub(super) fn check_lines(&self, text: &str) -> Result<(), String> {
        match cited_lines(text).into_iter().find(|line| *line == 0 || *line > self.most_lines) {
            Some(line) => Err(format!("it names line {line}, but there are {} lines", self.most_lines)),
            None => Ok(()),
        }
    }

    fn has(&self, word: &str) -> bool {
        if let Some(rest) = word.strip_prefix('$') {
            return self.has_variable(rest);
        }
        EVERYWHERE.contains(&word)
            || PRODUCTS.iter().any(|name| word.eq_ignore_ascii_case(name))
            || word.starts_with("/dev/")
            || self.material.contains(word)
            || self.has_parts(word)
    }

    /// Whether a variable is known, and what may stand behind it as a path: `{NAME}/file` without its dollar sign.
    fn has_variable(&self, rest: &str) -> bool {
        let rest = rest.trim_start_matches('{');
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, tail) = rest.split_at(end);
        let known = EVERYWHERE.contains(&name) || self.material.contains(name);
        let path = tail.trim_start_matches('}').trim_start_matches('/');
        known && (!tail.contains('/') || path.is_empty() || self.has_parts(path))
    }

    /// Whether a path is made of parts that the material has: its last part, and for an absolute path its folder too. So
    /// `archive` of a script in `/srv` may be named `/srv/archive`, and `a/b.csv` for `$DIR/b.csv`.
    fn has_parts(&self, path: &str) -> bool {
        let (folder, last) = path.trim_end_matches('/').rsplit_once('/').unwrap_or(("", path));
        let folder_known = !path.starts_with('/') || !folder.is_empty() && self.material.contains(folder);
        folder_known && !last.is_empty() && self.material.contains(last)
    }
}

/// The numbers behind the words "line" and "lines": `line 3`, `lines 3 and 4`, `lines 3-5`.
pub(super) fn cited_lines(text: &str) -> Vec<u64> {
    let mut found = Vec::new();
    let mut after = false;
    for word in
        text.split(|c: char| c.is_whitespace() || matches!(c, '-' | '–' | ',' | '(' | ')' | ':' | ';' | '.'))
    {
        let lower = word.to_ascii_lowercase();
        match lower.as_str() {
            "line" | "lines" => after = true,
            "" | "and" | "to" | "or" => {}
            _ => {
                after = after && lower.bytes().all(|byte| byte.is_ascii_digit());
                found.extend(lower.parse::<u64>().ok().filter(|_| after));
            }
        }
    }
    found
}

/// Whether a word is a path, the name of a file or a variable, and not just prose.
fn names_something(word: &str) -> bool {
    let is_path = ["/", "./", "../", "~/"].iter().any(|start| word.starts_with(start)) && word.len() > 3;
    let is_variable = word.strip_prefix('$').is_some_and(|rest| {
        rest.trim_start_matches('{').starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    });
    let is_file = word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && FILE_ENDINGS.contains(&ending) && !stem.ends_with(['/', '*'])
    });
    is_path || is_variable || is_file || is_identifier(word)
}

/// A word with an underscore inside, as names in programs have and prose has not.
fn is_identifier(word: &str) -> bool {
    let inside = word.trim_matches('_');
    inside.contains('_') && inside.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_cited_lines() {
        for (text, lines) in [
            ("Line 3 fails; lines 4-6, 8 and 9 do not. 12 files.", vec![3, 4, 6, 8, 9]),
            ("on line: 7 of 3 lines", vec![7]),
            ("the lines below and 5 more", vec![]),
            ("exit code 1", vec![]),
        ] {
            assert_eq!(cited_lines(text), lines, "{text}");
        }
    }

    #[test]
    fn knows_names_by_their_parts() {
        let material = "for f in \"$LOG_SRC\"/*.log in /srv/jobs; OUT=archive; people.csv".to_owned();
        let known = Known { material, most_lines: 3 };
        for text in [
            "`$LOG_SRC/*.log` matched nothing",
            "${OUT}/people.csv cannot be written",
            "/srv/jobs/archive is missing, see /dev/null",
            "Node.js and $HOME",
        ] {
            assert_eq!(known.check(text), Ok(()), "{text}");
        }
        for text in [
            "$DEST/people.csv is empty",
            "$OUT/names.csv",
            "/srv/archive/x",
            "/etc/people.csv",
            "lines 3 and 4",
        ] {
            assert!(known.check(text).is_err(), "{text}");
        }
    }

    #[test]
    fn tells_names_from_prose() {
        for word in ["/var/log/x", "./run", "$SRC", "${SRC}", "backup.sh", "load_rows"] {
            assert!(names_something(word), "{word}");
        }
        for word in ["and/or", "e.g", "$1", "$?", "cp", "3.11", "nullglob", "/", "*.log", "__"] {
            assert!(!names_something(word), "{word}");
        }
    }
}
