//! The shell in Makefiles, YAML files and Dockerfiles, with the variables that they give it.

use selfheal_syntax::{Language, embedded};

use super::{Operation, playbook, shell};
use crate::scope::Roots;

/// The shell in a Makefile, a YAML file or a Dockerfile, piece by piece.
pub(super) fn lines_of_shell(language: Language, text: &str, roots: &Roots) -> Option<Vec<Operation>> {
    let mut out = Vec::new();
    let prelude = match language {
        Language::Make => make_variables(text),
        Language::Docker => added_files(text),
        _ => String::new(),
    };
    let skipped = prelude.matches('\n').count() as u32;
    for block in embedded::blocks(language, text) {
        let lines: Vec<&str> = block.lines.iter().map(|(_, line)| line.as_str()).collect();
        let script = format!("{prelude}{}\n", lines.join("\n"));
        for found in shell::operations(&script, roots)? {
            if language == Language::Docker && found.line <= skipped {
                continue;
            }
            let at = found.line.saturating_sub(skipped + 1) as usize;
            let line = block.lines.get(at).or(block.lines.first()).map_or(1, |(line, _)| *line);
            out.push(Operation { line, ..found });
        }
    }
    if language == Language::Make {
        for (line, number) in text.lines().zip(1_u32..) {
            out.extend(make_shell(line, roots).into_iter().map(|found| Operation { line: number, ..found }));
        }
    }
    if language == Language::Docker {
        out.retain(|found| !is_of_the_image(found));
    }
    if language == Language::Yaml {
        out.extend(playbook::operations(text, roots));
    }
    Some(out)
}

/// What `ADD https://… FILE` of a Dockerfile fetches, as commands of a shell.
pub(super) fn added_files(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| line.trim_start().to_uppercase().starts_with("ADD ")).take(32) {
        let words: Vec<&str> =
            line.split_whitespace().skip(1).filter(|word| !word.starts_with("--")).collect();
        if let [address, target] = words.as_slice()
            && address.contains("://")
            && !target.contains(['\'', '"'])
        {
            out.push_str(&format!("curl -o '{target}' 'https://added'\n"));
        }
    }
    out
}

/// Whether an operation is what images are built for: accounts, caches that are emptied.
pub(super) fn is_of_the_image(found: &Operation) -> bool {
    const ACCOUNTS: &[&str] = &["useradd", "adduser", "groupadd", "addgroup", "usermod"];
    const CACHES: &[&str] = &[
        "/var/lib/apt/lists",
        "/var/cache",
        "/root/.cache",
        "/usr/share/doc",
        "/usr/share/man",
        "/usr/share/locale",
        "/tmp",
        "/var/tmp",
        "/root/.npm",
        "/root/.cargo/registry",
        "/usr/src",
    ];
    let first = found.subject.split_whitespace().next().unwrap_or_default();
    let operands: Vec<&str> =
        found.subject.split_whitespace().skip(1).filter(|word| !word.starts_with('-')).collect();
    let caches = !operands.is_empty()
        && operands.iter().all(|word| CACHES.iter().any(|cache| word.starts_with(cache)));
    ACCOUNTS.contains(&first) || found.rule == "danger/delete" && caches
}

/// The variables of a Makefile as assignments of a shell, and those that make itself knows.
pub(super) fn make_variables(text: &str) -> String {
    let mut out = String::new();
    for (name, value) in IMPLICIT {
        out.push_str(&format!("{name}='{value}'\n"));
    }
    let plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    for line in text.lines().filter(|line| !line.starts_with(['\t', '#'])).take(500) {
        let Some((name, value)) = line.split_once('=') else { continue };
        let name = name.trim_end_matches([':', '?', '+', '!']).trim().trim_start_matches("export ").trim();
        if plain(name) && value.len() < 1_000 && !value.contains("$(shell") {
            let value = embedded::recipe_text(value.trim());
            let value =
                value.split(" #").next().unwrap_or_default().replace(['\'', '"', '`'], "").replace("$(", "(");
            out.push_str(&format!("{name}=\"{value}\"\n"));
        }
    }
    out
}

/// Variables that make knows by itself, from its manual.
pub(super) const IMPLICIT: &[(&str, &str)] = &[
    ("CC", "cc"),
    ("CXX", "g++"),
    ("CPP", "cc -E"),
    ("AR", "ar"),
    ("AS", "as"),
    ("LD", "ld"),
    ("FC", "f77"),
    ("LEX", "lex"),
    ("YACC", "yacc"),
    ("RM", "rm -f"),
    ("MAKE", "make"),
    ("INSTALL", "install"),
    ("MAKEINFO", "makeinfo"),
    ("TEX", "tex"),
];

/// `$(shell …)` in a Makefile.
pub(super) fn make_shell(line: &str, roots: &Roots) -> Vec<Operation> {
    let Some((_, rest)) = line.split_once("$(shell ") else { return Vec::new() };
    let inner = rest.rsplit_once(')').map_or(rest, |(inner, _)| inner);
    shell::operations(inner, roots).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfheal_core::admission::Danger::High;

    #[test]
    fn recipes_write_their_targets() {
        let found =
            |line: &str| lines_of_shell(Language::Make, &format!("a: b\n\t{line}\n"), &Roots::default());
        assert_eq!(found("sort $< > $@").map(|all| all.len()), Some(0));
        assert!(found("sort $< > /etc/passwd").is_some_and(|all| all.iter().any(|one| one.danger == High)));
    }

    #[test]
    fn variables_of_make_are_followed() {
        let found = lines_of_shell(Language::Make, "X = rm -rf\nc:\n\t$(X) /usr\n", &Roots::default());
        assert!(found.is_some_and(|all| all.iter().any(|one| one.danger == High && one.line == 3)));
    }
}
