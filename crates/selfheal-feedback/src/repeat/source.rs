//! Which modules a program of another language than shell uses.

use std::path::{Path, PathBuf};

/// Modules that are looked at.
const MOST: usize = 200;

/// The language of a program, by its first line, else by its name, else by its looks.
pub fn language(text: &str, script: Option<&Path>) -> &'static str {
    let first = text.lines().next().filter(|first| first.starts_with("#!")).unwrap_or_default();
    let name = script.and_then(Path::extension).map(|end| end.to_string_lossy().to_lowercase());
    let by_first = ["python", "node", "perl", "ruby", "php"].into_iter().find(|word| first.contains(word));
    let by_name = match name.as_deref() {
        Some("py") => Some("python"),
        Some("js" | "mjs" | "cjs" | "ts") => Some("node"),
        Some("pl" | "pm") => Some("perl"),
        Some("rb") => Some("ruby"),
        Some("php") => Some("php"),
        _ => None,
    };
    by_first.or(by_name).unwrap_or_else(|| {
        let starts = |word: &str| text.lines().take(40).any(|line| line.trim_start().starts_with(word));
        match () {
            () if text.contains("require(") || starts("const ") => "node",
            () if starts("use strict") || starts("my ") => "perl",
            () if starts("require '") || starts("require \"") => "ruby",
            () => "python",
        }
    })
}

/// The modules that a program uses, each with the line, up to a line.
pub fn modules(language: &str, text: &str, end: u32) -> Vec<(u32, String)> {
    let lines = (1_u32..).zip(text.lines()).take_while(|(number, _)| *number <= end);
    let mut found = Vec::new();
    for (number, line) in lines {
        let line = line.trim();
        let names = match language {
            "python" => of_python(line),
            "node" => quoted_behind(line, &["require(", "from ", "import(", "import "]),
            "ruby" => quoted_behind(line, &["require ", "require_relative "]),
            "perl" => of_perl(line),
            _ => Vec::new(),
        };
        found.extend(names.into_iter().map(|name| (number, name)));
        if found.len() >= MOST {
            break;
        }
    }
    found
}

fn of_python(line: &str) -> Vec<String> {
    let name =
        |text: &str| text.split_whitespace().next().unwrap_or_default().trim_end_matches(';').to_owned();
    if let Some(rest) = line.strip_prefix("import ") {
        let rest = rest.split(['#', ';']).next().unwrap_or_default();
        return rest.split(',').map(name).filter(|name| !name.is_empty()).collect();
    }
    match line.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
        Some((module, names)) if module.trim() == "." => names.split(',').map(name).collect(),
        Some((module, _)) => vec![module.trim().trim_start_matches('.').to_owned()],
        None => Vec::new(),
    }
}

fn of_perl(line: &str) -> Vec<String> {
    let rest = line.strip_prefix("use ").or_else(|| line.strip_prefix("require "));
    let name = rest.map(|rest| rest.split([' ', ';', '(']).next().unwrap_or_default().to_owned());
    let version =
        |name: &String| name.trim_start_matches('v').starts_with(|letter: char| letter.is_ascii_digit());
    name.into_iter().filter(|name| !name.is_empty() && !version(name)).collect()
}

fn quoted_behind(line: &str, words: &[&str]) -> Vec<String> {
    words
        .iter()
        .filter_map(|word| {
            let rest = line.split_once(word)?.1.trim_start();
            let quote = rest.chars().next().filter(|letter| matches!(letter, '\'' | '"'))?;
            let name = rest.get(1..)?.split(quote).next()?;
            Some(name.strip_prefix("node:").unwrap_or(name).to_owned())
        })
        .take(1)
        .collect()
}

/// Whether a line stands in a loop, by its indentation.
pub fn in_a_loop(text: &str, line: u32) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let before: Vec<&str> = text.lines().take(line as usize).collect();
    let Some((own, above)) = before.split_last() else { return false };
    let loops = |line: &&&str| {
        ["for", "while", "until", "foreach"].iter().any(|word| line.trim_start().starts_with(word))
    };
    above.iter().filter(loops).any(|line| indent(line) < indent(own))
}

/// The files that may hold a module of a project.
pub fn files_of(language: &str, module: &str) -> Vec<PathBuf> {
    let path = match language {
        "python" => module.replace('.', "/"),
        "perl" => module.replace("::", "/"),
        _ => module.to_owned(),
    };
    let ends: &[&str] = match language {
        "python" => &[".py", "/__init__.py"],
        "node" => &["", ".js", ".mjs", "/index.js"],
        "perl" => &[".pm", ""],
        "ruby" => &[".rb", ""],
        _ => &[],
    };
    ends.iter().map(|end| PathBuf::from(format!("{path}{end}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_read_in_the_forms_of_their_languages() {
        let names = |language, text| -> Vec<String> {
            modules(language, text, u32::MAX).into_iter().map(|(_, name)| name).collect()
        };
        let python = "import os, sys as s  # x\nfrom a.b import c\nfrom . import d, e\nx = 'import y'\n";
        assert_eq!(names("python", python), ["os", "sys", "a.b", "d", "e"]);
        assert_eq!(names("node", "const a = require('./b');\nimport c from \"node:fs\";\n"), ["./b", "fs"]);
        assert_eq!(names("perl", "use strict;\nuse 5.010;\nuse My::Mod qw(x);\n"), ["strict", "My::Mod"]);
        assert_eq!(names("ruby", "require 'csv'\nrequire_relative 'x'\n"), ["csv", "x"]);
        assert_eq!(modules("python", "import a\nimport b\n", 1).len(), 1);
    }
}
