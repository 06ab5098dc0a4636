//! Which language a file is written in.

use std::path::Path;

/// The language of a file, as far as it matters to rules and guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// POSIX shell and bash; see [`Dialect`].
    Shell,
    /// Python.
    Python,
    /// Perl.
    Perl,
    /// JavaScript for node, and its package files.
    Node,
    /// Ruby.
    Ruby,
    /// awk.
    Awk,
    /// Makefiles.
    Make,
    /// SQL.
    Sql,
    /// YAML.
    Yaml,
    /// Dockerfiles.
    Docker,
    /// Anything else.
    Other,
}

/// Which shell a shell text is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// bash, ksh, zsh: arrays, `[[`, process substitution.
    Bash,
    /// sh, dash, ash.
    Sh,
}

/// Interpreters and the language that they run. Matched after a version suffix was cut off (`python3.11`).
const INTERPRETERS: &[(&str, Language)] = &[
    ("sh", Language::Shell),
    ("bash", Language::Shell),
    ("dash", Language::Shell),
    ("ash", Language::Shell),
    ("ksh", Language::Shell),
    ("mksh", Language::Shell),
    ("zsh", Language::Shell),
    ("python", Language::Python),
    ("pypy", Language::Python),
    ("perl", Language::Perl),
    ("node", Language::Node),
    ("nodejs", Language::Node),
    ("ruby", Language::Ruby),
    ("awk", Language::Awk),
    ("gawk", Language::Awk),
    ("mawk", Language::Awk),
    ("make", Language::Make),
    ("gmake", Language::Make),
    ("psql", Language::Sql),
    ("sqlite", Language::Sql),
    ("mysql", Language::Sql),
];

/// File name endings and what they mean.
const EXTENSIONS: &[(&str, Language)] = &[
    ("sh", Language::Shell),
    ("bash", Language::Shell),
    ("ksh", Language::Shell),
    ("zsh", Language::Shell),
    ("bats", Language::Shell),
    ("py", Language::Python),
    ("pl", Language::Perl),
    ("pm", Language::Perl),
    ("js", Language::Node),
    ("mjs", Language::Node),
    ("cjs", Language::Node),
    ("rb", Language::Ruby),
    ("awk", Language::Awk),
    ("mk", Language::Make),
    ("sql", Language::Sql),
    ("yml", Language::Yaml),
    ("yaml", Language::Yaml),
];

impl Language {
    /// Decides from the first line (`#!`), then from the name of the program that runs the file, then from the file's
    /// own name.
    #[must_use]
    pub fn of(path: &Path, first_line: &str, argv0: Option<&str>) -> Self {
        interpreter_of(first_line)
            .and_then(Self::of_interpreter)
            .or_else(|| argv0.and_then(Self::of_interpreter))
            .or_else(|| Self::of_name(path))
            .unwrap_or(Self::Other)
    }

    /// The language that an interpreter runs (`/usr/bin/python3.11` → Python), if it is known.
    #[must_use]
    pub fn of_interpreter(program: &str) -> Option<Self> {
        let name = base_name(program);
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        INTERPRETERS.iter().find(|(known, _)| *known == plain).map(|(_, language)| *language)
    }

    fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        if name.eq_ignore_ascii_case("makefile") || name == "GNUmakefile" {
            return Some(Self::Make);
        }
        if name == "Dockerfile" || name == "Containerfile" || name.starts_with("Dockerfile.") {
            return Some(Self::Docker);
        }
        if name == "package.json" {
            return Some(Self::Node);
        }
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        EXTENSIONS.iter().find(|(known, _)| *known == ending).map(|(_, language)| *language)
    }
}

impl Dialect {
    /// The dialect from the first line, else from the program that runs the file; bash when neither says anything, since
    /// bash reads both.
    #[must_use]
    pub fn of(first_line: &str, argv0: Option<&str>) -> Self {
        let program = interpreter_of(first_line).or(argv0).map(base_name);
        match program {
            Some("sh" | "dash" | "ash") => Self::Sh,
            _ => Self::Bash,
        }
    }
}

/// The interpreter that a `#!` line names; for `env` the program behind it.
#[must_use]
pub fn interpreter_of(first_line: &str) -> Option<&str> {
    let rest = first_line.trim_start_matches('\u{feff}').strip_prefix("#!")?.trim();
    let mut words = rest.split_whitespace();
    let program = words.next()?;
    if base_name(program) != "env" {
        return Some(program);
    }
    words.find(|word| !word.starts_with('-') && !word.contains('='))
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, first: &str, argv0: Option<&str>) -> Language {
        Language::of(Path::new(path), first, argv0)
    }

    #[test]
    fn the_first_line_decides_before_program_and_name() {
        assert_eq!(of("job", "#!/usr/bin/env -S python3.11 -u", None), Language::Python);
        assert_eq!(of("job.py", "#!/bin/sh", None), Language::Shell);
        assert_eq!(of("job", "x=1", Some("/bin/bash")), Language::Shell);
        assert_eq!(of("etl.pl", "use strict;", None), Language::Perl);
        assert_eq!(of("Makefile", "all:", None), Language::Make);
        assert_eq!(of("notes.txt", "hello", Some("cat")), Language::Other);
    }

    #[test]
    fn dialects() {
        assert_eq!(Dialect::of("#!/bin/sh -e", None), Dialect::Sh);
        assert_eq!(Dialect::of("#!/usr/bin/env bash", Some("sh")), Dialect::Bash);
        assert_eq!(Dialect::of("", Some("/bin/dash")), Dialect::Sh);
    }
}
