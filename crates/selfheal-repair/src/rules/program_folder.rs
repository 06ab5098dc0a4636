//! # A JavaScript or Perl program writes into a folder that is missing
//!
//! ## What it finds
//! A program for node writes a file by `fs`, or one in Perl opens a file for writing, below a folder that does not exist.
//!
//! ## Why it fails
//! Both make files, not folders. The folder was never made here, or has a name that is new.
//!
//! ## Fix
//! The folder is made right before the file is written, as long as it is not there: `fs.mkdirSync` with `recursive`, or
//! `make_path`.
//!
//! ## Example
//! ```js
//! fs.writeFileSync(target, page);
//! ```
//! ```js
//! fs.mkdirSync(path.dirname(target), { recursive: true });
//! fs.writeFileSync(target, page);
//! ```
//!
//! ## Safety
//! Only for files that are written, with the limits of `missing_folder`: the job's own folders, no mounts. Only where the path
//! can be evaluated twice.

use std::path::Path;

use selfheal_core::edit::LineEdit;
use selfheal_core::fault::Fault;
use selfheal_core::verification::{Check, Expect, SceneEdit};

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language, ScriptFile};
use crate::folders::{place_may_be_made, speaks_of_mounts};
use crate::text;

rule!(ProgramFolder, "program_folder", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let missing = case.faults().find_map(|fault| match fault {
        Fault::NoSuchPath { path } => case
            .places(path)
            .iter()
            .filter_map(|place| place.parent().map(Path::to_path_buf))
            .find(|folder| case.scene.facts(folder).is_none() && place_may_be_made(case, folder)),
        _ => None,
    });
    let Some(folder) = missing else { return Vec::new() };
    case.failing_file().and_then(|file| in_file(case, &file, &folder)).into_iter().collect()
}

fn in_file(case: &Case, file: &ScriptFile, folder: &Path) -> Option<Candidate> {
    let number = place(case, file).filter(|_| !speaks_of_mounts(&file.text))?;
    let line = text::line(&file.text, number)?;
    let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
    let (made, needed) = match file.language {
        Language::Node => node(&file.text, line)?,
        Language::Perl => perl(&file.text, line)?,
        _ => return None,
    };
    // What is needed comes first where both stand in the same place.
    let needed = needed.filter(|(at, _)| *at <= number).map(|(at, line)| text::before(at, vec![line]));
    let mut edits: Vec<LineEdit> = needed.into_iter().collect();
    edits.push(text::before(number, vec![format!("{indent}{made}")]));
    let shown = folder.display().to_string();
    Draft::new(
        "program_folder",
        format!("line {number} writes into {shown}, which does not exist"),
        "make the folder right before it is written into",
    )
    .evidence(format!("{shown} does not exist"))
    .edit(file, &edits, format!("line {number}: make the folder first"))
    .scenario("folder-missing", format!("{shown} is missing"), Expect::Succeeds, Vec::new())
    .checked(vec![Check::Exists { path: folder.to_path_buf() }])
    .scenario(
        "folder-present",
        format!("{shown} is there"),
        Expect::SameAsOriginal,
        vec![SceneEdit::MakeFolder { path: folder.to_path_buf() }],
    )
    .done()
}

/// The line that writes: the failing one, or the only one of the program.
fn place(case: &Case, file: &ScriptFile) -> Option<u32> {
    let writes = |line: &str| match file.language {
        Language::Node => written(line).is_some(),
        Language::Perl => opened(line).is_some(),
        _ => false,
    };
    let all: Vec<u32> =
        file.text.lines().zip(1_u32..).filter(|(line, _)| writes(line)).map(|(_, number)| number).collect();
    let here = case.line_in(file).filter(|line| all.contains(line));
    here.or(match all.as_slice() {
        [only] => Some(*only),
        _ => None,
    })
}

/// What a line puts in place, and a line that it needs above.
type Made = (String, Option<(u32, String)>);

/// The first argument of a call of `fs` that writes, and what stands before the function's name.
fn written(line: &str) -> Option<(String, String)> {
    const CALLS: &[&str] =
        &["writeFileSync(", "appendFileSync(", "createWriteStream(", "writeFile(", "appendFile("];
    let (at, call) = CALLS.iter().find_map(|call| line.find(call).map(|at| (at, *call)))?;
    let before = line.get(..at)?;
    // The call must be a statement of its own: nothing stands before it but what waits for it or keeps it.
    let owner: String = before.chars().rev().take_while(|c| text::is_name(*c) || *c == '.').collect();
    let owner: String = owner.chars().rev().collect();
    let lead = before.strip_suffix(owner.as_str())?.trim();
    let kept = lead
        .strip_prefix("const ")
        .or_else(|| lead.strip_prefix("let "))
        .is_some_and(|rest| rest.ends_with('='));
    if !(lead.is_empty() || lead == "await" || kept) || (call.starts_with("writeFile(") && lead != "await") {
        return None;
    }
    let argument = first_argument(line.get(at + call.len()..)?)?;
    let simple = !argument.contains("=>") && !argument.contains("await") && !argument.contains("++");
    (simple && !argument.is_empty()).then_some((argument, owner))
}

/// The text up to the first comma outside of brackets and quotes.
fn first_argument(rest: &str) -> Option<String> {
    let mut depth = 0_u32;
    let mut quote: Option<char> = None;
    for (at, c) in rest.char_indices() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"' | '`', None) => quote = Some(c),
            ('(' | '[' | '{', None) => depth += 1,
            (')' | ']' | '}', None) if depth > 0 => depth -= 1,
            (')' | ',', None) if depth == 0 => return rest.get(..at).map(|text| text.trim().to_owned()),
            _ => {}
        }
    }
    None
}

fn node(program: &str, line: &str) -> Option<Made> {
    let (target, owner) = written(line)?;
    let module = program.contains("import ") && !program.contains("require(");
    // Under the name that the program has for it; else a name that can clash with nothing.
    let has = |name: &str| {
        program.lines().any(|line| {
            let bound = [
                format!("const {name} = require("),
                format!("import {name} from "),
                format!("import * as {name} from "),
            ];
            bound.iter().any(|head| line.starts_with(head.as_str()))
        })
    };
    let waits = line.trim_start().starts_with("await ");
    let make = match (owner.as_str(), waits) {
        ("", _) | ("fs.promises.", _) => return module_free(program, &target, module, has("path")),
        (_, true) => format!("await {owner}mkdir("),
        (_, false) => format!("{owner}mkdirSync("),
    };
    if has("path") {
        return Some((format!("{make}path.dirname({target}), {{ recursive: true }});"), None));
    }
    if !module {
        return Some((format!("{make}require('path').dirname({target}), {{ recursive: true }});"), None));
    }
    Some((
        format!("{make}dirname({target}), {{ recursive: true }});"),
        Some((first_import(program)?, "import { dirname } from 'node:path';".to_owned())),
    ))
}

/// For programs that import single functions of `fs`.
fn module_free(program: &str, target: &str, module: bool, has_path: bool) -> Option<Made> {
    let dirname = if has_path { "path.dirname" } else { "require('path').dirname" };
    if !module {
        let made = format!("require('fs').mkdirSync({dirname}({target}), {{ recursive: true }});");
        return Some((made, None));
    }
    let known = program.contains("mkdirSync") || program.contains(" dirname") && !has_path;
    let line = match has_path {
        true => "import { mkdirSync } from 'node:fs';",
        false => "import { mkdirSync } from 'node:fs';\nimport { dirname } from 'node:path';",
    };
    let dirname = if has_path { "path.dirname" } else { "dirname" };
    let made = format!("mkdirSync({dirname}({target}), {{ recursive: true }});");
    (!known).then_some((made, Some((first_import(program)?, line.to_owned()))))
}

fn first_import(program: &str) -> Option<u32> {
    program.lines().zip(1_u32..).find(|(line, _)| line.starts_with("import ")).map(|(_, number)| number)
}

/// The path of `open(my $f, '>', PATH)` with its mode apart.
fn opened(line: &str) -> Option<String> {
    let at = line.find("open(").map(|at| at + 5).or_else(|| line.find("open my ").map(|at| at + 5))?;
    if !line.get(..at - 5)?.trim().is_empty() {
        return None;
    }
    let rest = line.get(at..)?;
    let mode = ["'>'", "'>>'", "\">\"", "\">>\"", "'>:", "'>>:", "\">:", "\">>:"];
    let found = mode.iter().filter_map(|mode| rest.find(mode)).min()?;
    let comma = rest.get(found..)?.find(',')? + found + 1;
    let tail = rest.get(comma..)?.trim_start();
    let end = [" or ", " || ", "||", ";"].iter().filter_map(|end| tail.find(end)).min().unwrap_or(tail.len());
    let path = match line.contains("open(") {
        true => first_argument(tail)?,
        false => tail.get(..end)?.trim().to_owned(),
    };
    (!path.is_empty() && is_the_same_twice(&path)).then_some(path)
}

/// Whether a path in Perl can be evaluated a second time: texts, variables and what joins them.
fn is_the_same_twice(path: &str) -> bool {
    let plain = path.replace("File::Spec->catfile(", "(").replace("->", "");
    let calls = plain
        .char_indices()
        .any(|(at, c)| c == '(' && plain.get(..at).is_some_and(|before| before.ends_with(text::is_name)));
    let words = ["shift", "pop", "++", "--", "`", "qx", "<", "=", ">"];
    !calls && path.starts_with(['"', '\'', '$', 'F']) && !words.iter().any(|word| plain.contains(word))
}

fn perl(program: &str, line: &str) -> Option<Made> {
    let path = opened(line)?;
    let uses =
        |module: &str| program.lines().any(|line| line.trim_start().starts_with(&format!("use {module}")));
    let mut needed: Vec<&str> = Vec::new();
    if !uses("File::Basename") {
        needed.push("use File::Basename qw(dirname);");
    } else if program.contains("use File::Basename ()") || program.contains("use File::Basename qw(basename")
    {
        return None;
    }
    if !uses("File::Path") {
        needed.push("use File::Path qw(make_path);");
    } else if !program.contains("make_path") {
        return None;
    }
    let last = program.lines().zip(1_u32..).filter(|(line, _)| line.starts_with("use ")).last();
    let first = if program.starts_with("#!") { 2 } else { 1 };
    let at = last.map_or(first, |(_, number)| number + 1);
    let needed = (!needed.is_empty()).then(|| (at, needed.join("\n")));
    Some((format!("make_path(dirname({path}));"), needed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    fn case(name: &str, text: &str, line: u32) -> TestCase {
        TestCase::new(name, text, TestScene::new()).fault(no_such("out/b/x.txt")).at(line)
    }

    #[test]
    fn makes_the_folder_in_node() {
        let text = "const fs = require('fs');\nconst path = require('path');\nfor (const n of ns) {\n  fs.writeFileSync(path.join(out, n), text);\n}\n";
        assert_eq!(
            case("x.js", text, 4).healed(&ProgramFolder),
            text.replace(
                "  fs.w",
                "  fs.mkdirSync(path.dirname(path.join(out, n)), { recursive: true });\n  fs.w"
            )
        );
        let text = "import { writeFileSync } from 'node:fs';\nwriteFileSync(`out/${b}/x.txt`, text);\n";
        let healed = case("x.mjs", text, 2).healed(&ProgramFolder);
        assert!(
            healed.contains("\nmkdirSync(dirname(`out/${b}/x.txt`), { recursive: true });\nwriteFileSync("),
            "{healed}"
        );
        assert!(
            healed
                .starts_with("import { mkdirSync } from 'node:fs';\nimport { dirname } from 'node:path';\n"),
            "{healed}"
        );
    }

    #[test]
    fn makes_the_folder_in_perl() {
        let text = "#!/usr/bin/perl\nuse strict;\nopen(my $f, '>', \"out/$b/x.txt\") or die \"no: $!\";\n";
        assert_eq!(
            case("x.pl", text, 3).healed(&ProgramFolder),
            "#!/usr/bin/perl\nuse strict;\nuse File::Basename qw(dirname);\nuse File::Path qw(make_path);\nmake_path(dirname(\"out/$b/x.txt\"));\n\
             open(my $f, '>', \"out/$b/x.txt\") or die \"no: $!\";\n"
        );
    }

    #[test]
    fn reads_paths_of_perl_however_they_are_put_together() {
        for path in
            ["'out/b/x.txt'", "$dir . '/x.txt'", "$opt{out}", "$o->{f}", "File::Spec->catfile($d, 'x')"]
        {
            let bracketed = format!("open(my $f, '>', {path}) or die \"no: $!\";\n");
            let bare = format!("open my $f, '>', {path} or die \"no: $!\";\n");
            for text in [bracketed, bare] {
                let healed = case("x.pl", &text, 1).healed(&ProgramFolder);
                assert!(healed.contains(&format!("\nmake_path(dirname({path}));\nopen")), "{healed}");
            }
        }
        for path in ["shift", "name($x)", "$n++ . 'x'"] {
            let text = format!("open(my $f, '>', {path}) or die;\n");
            assert!(case("x.pl", &text, 1).silent(&ProgramFolder), "{path}");
        }
    }

    #[test]
    fn leaves_reading_alone() {
        assert!(case("x.js", "fs.readFileSync('out/b/x.txt');\n", 1).silent(&ProgramFolder));
        assert!(case("x.pl", "open(my $f, '<', 'out/b/x.txt') or die;\n", 1).silent(&ProgramFolder));
        let far = TestCase::new("x.js", "fs.writeFileSync('/mnt/nas/x', a);\n", TestScene::new());
        assert!(far.fault(no_such("/mnt/nas/x")).at(1).silent(&ProgramFolder));
        let text = "// out is where the disk is mounted\nfs.writeFileSync('out/b/x.txt', a);\n";
        assert!(case("x.js", text, 2).silent(&ProgramFolder));
    }
}
