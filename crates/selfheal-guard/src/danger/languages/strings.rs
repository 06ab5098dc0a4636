//! Strings in lines of Perl, JavaScript and Ruby: what stands in them, and lines without them or without data.

use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_syntax::Language;

/// Ways to ask for somebody's home, in lines that delete, as the path that a shell writes for it.
pub(super) fn at_home(text: &str) -> String {
    const HOMES: &[&str] = &[
        "Dir.home",
        "Etc.getpwuid.dir",
        "ENV[\"HOME\"]",
        "ENV['HOME']",
        "ENV.fetch(\"HOME\")",
        "ENV.fetch('HOME')",
        "$ENV{HOME}",
        "$ENV{\"HOME\"}",
        "File::HomeDir->my_home",
        "os.homedir()",
        "require(\"os\").homedir()",
        "process.env.HOME",
    ];
    const DELETES: &[&str] =
        &["rmtree", "rm", "remove", "unlink", "delete", "rimraf", "empty", "rmdir", "truncate"];
    let one = |line: &str| {
        let deletes = DELETES.iter().any(|word| line.contains(word));
        match HOMES.iter().find(|home| deletes && line.contains(**home)) {
            Some(home) if !line.contains(&format!("{{{home}")) => put_home(line, home),
            _ => line.to_owned(),
        }
    };
    text.lines().map(|line| one(line) + "\n").collect()
}

/// A line with `~` where it asks for a home: as a string of its own, or as a part of the one that it stands in.
fn put_home(line: &str, home: &str) -> String {
    let mut out = String::new();
    for (at, part) in line.split(home).enumerate() {
        if at > 0 {
            let inside = out.matches(['"', '`']).count() % 2 == 1;
            out.push_str(if inside { "~" } else { "\"~\"" });
        }
        out.push_str(part);
    }
    out
}

/// What stands in the `#{…}` of the strings of a line: it is code, though it stands in a string.
pub(super) fn interpolated(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((_, tail)) = rest.split_once("#{").filter(|_| out.len() < line.len()) {
        let end = tail.find('}').unwrap_or(tail.len());
        out.push_str("; ");
        out.push_str(tail.get(..end).unwrap_or_default());
        rest = tail.get(end..).unwrap_or_default();
    }
    out
}

/// `${…}` of templates and `#{…}` of strings as variables of a shell that nobody sets.
pub(super) fn interpolations(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("${").into_iter().chain(rest.find("#{")).min() {
        let (before, tail) = rest.split_at(at);
        let (inner, behind) = crate::masking::text::bracketed(tail, 1);
        out.push_str(before);
        // `${process.env.X}` and `#{ENV['X']}` are the variables that a shell has, too.
        let env = inner
            .split_once("process.env.")
            .or_else(|| inner.split_once("ENV['"))
            .or_else(|| inner.split_once("ENV[\""));
        let name: String = env
            .map(|(_, rest)| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
            .unwrap_or_default();
        out.push_str(&format!("${{{}}}", if name.is_empty() { "INTERPOLATED" } else { &name }));
        rest = tail.get(behind..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// JavaScript without `/* … */`; the line ends in them stay. Strings are kept, whatever stands in them.
pub(super) fn without_block_comments(text: &str) -> String {
    let mut out = String::new();
    let (mut quote, mut escaped, mut comment) = (None::<char>, false, false);
    let mut before = ' ';
    for c in text.chars() {
        if comment {
            if c == '\n' {
                out.push(c);
            }
            comment = !(before == '*' && c == '/');
        } else if let Some(open) = quote {
            out.push(c);
            // A string of one line that is not closed was none.
            if (c == open && !escaped) || (c == '\n' && open != '`') {
                quote = None;
            }
            escaped = c == '\\' && !escaped;
        } else if before == '/' && c == '*' {
            out.pop();
            comment = true;
        } else {
            out.push(c);
            if matches!(c, '"' | '\'' | '`') {
                quote = Some(c);
                escaped = false;
            }
        }
        before = c;
    }
    out
}

/// The text with block comments, and here-documents that are only data, taken out; lines stay where they are.
pub(super) fn without_data(language: Language, text: &str) -> String {
    if language == Language::Node {
        return without_block_comments(text);
    }
    let mut out = String::new();
    let mut until: Option<String> = None;
    for line in text.lines() {
        match &until {
            Some(tag) => {
                if line.trim() == tag {
                    until = None;
                }
            }
            None => {
                out.push_str(line);
                let tag =
                    line.split_once("<<").map(|(before, tag)| (before, tag.trim_start_matches(['~', '-'])));
                // What is given to a program is judged with it.
                let data = tag.filter(|(before, _)| {
                    before.trim_end().ends_with('=') || before.contains("print") || before.contains("puts")
                });
                if let Some((_, tag)) = data {
                    let name: String = tag
                        .trim_start_matches(['"', '\''])
                        .chars()
                        .take_while(|c| c.is_alphanumeric() || *c == '_')
                        .collect();
                    until = Some(name).filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
                }
            }
        }
        out.push('\n');
    }
    out
}

/// Strings that are added or joined become one: `"r" . "m"`, `"r" + "m"`.
pub(super) fn concatenated(text: &str) -> String {
    let mut out = text.to_owned();
    for glue in ["\" . \"", "\".\"", "\" + \"", "\"+\"", "' . '", "'.'", "' + '", "'+'"] {
        out = out.replace(glue, "");
    }
    out
}

/// A line with the contents of its strings taken out.
pub(super) fn without_strings(line: &str) -> String {
    let mut out = String::new();
    let mut quote: Option<char> = None;
    let mut escaped = false;
    for c in line.chars() {
        match quote {
            Some(open) => {
                if c == open && !escaped {
                    quote = None;
                    out.push(c);
                }
                escaped = c == '\\' && !escaped;
            }
            None => {
                out.push(c);
                if matches!(c, '"' | '\'') {
                    quote = Some(c);
                }
            }
        }
    }
    out
}

/// A line without the strings that it only says: `print "…"`, `console.log("…")`.
pub(super) fn without_messages(line: &str) -> String {
    static ONCE: OnceLock<Option<Regex>> = OnceLock::new();
    let says = ONCE.get_or_init(|| {
        let words = r#"(\b(?:print|printf|say|warn|die|puts|p|console\.\w+)\s*\(?\s*)(?:"(?:[^"\\`{]|\\.)*"|'[^'`]*')"#;
        Regex::new(words).ok()
    });
    says.as_ref().map_or_else(|| line.to_owned(), |says| says.replace_all(line, "$1").into_owned())
}

pub(super) fn strings(line: &str) -> Vec<String> {
    let mut out = shell_strings(line);
    // `</etc/cron.d/*>` names files in Perl.
    let globs = line.split("(</").skip(1).chain(line.split(" </").skip(1));
    out.extend(globs.filter_map(|rest| rest.split_once('>')).map(|(path, _)| format!("/{path}")));
    for (open, close) in [
        ("%x(", ')'),
        ("qx(", ')'),
        ("%x{", '}'),
        ("qx{", '}'),
        ("qx/", '/'),
        ("q(", ')'),
        ("qq(", ')'),
        ("q{", '}'),
        ("%q(", ')'),
    ] {
        if let Some((_, rest)) = line.split_once(open) {
            out.extend(rest.split(close).next().map(str::to_owned));
        }
    }
    out
}

pub(super) fn shell_strings(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if !matches!(c, '"' | '\'' | '`') {
            continue;
        }
        let mut inner = String::new();
        while let Some(next) = chars.next() {
            match next {
                '\\' => match chars.next() {
                    Some('n') => inner.push('\n'),
                    Some(other) => inner.push(other),
                    None => break,
                },
                end if end == c => break,
                other => inner.push(other),
            }
        }
        out.push(inner);
    }
    out
}
