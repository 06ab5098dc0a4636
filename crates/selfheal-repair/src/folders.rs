//! Where a shell script writes: the folders that its commands need, and whether a missing one may be made.

use std::path::{Path, PathBuf};

use selfheal_core::scene::{Kind, absolute};

use crate::case::Case;
use crate::shell::{
    BlockKind, Command, Script, Values, bare, folder_of, has_pattern, quoted, unquoted, variables,
};

/// A folder that a command writes into.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    /// As a word of the script, ready for `mkdir -p`.
    pub(crate) word: String,
    /// Where it is, as far as it can be told.
    pub(crate) place: Option<PathBuf>,
    /// The command that writes there, as an index.
    pub(crate) command: usize,
    /// Before which byte of the script the folder has to be there.
    pub(crate) before: usize,
}

/// Commands whose last argument is written.
const COPIERS: &[&str] = &["cp", "mv", "install", "ln", "rsync", "scp"];

/// Commands that write the files that they are given.
const WRITERS: &[&str] = &["tee", "touch", "truncate"];

/// Options of `xargs` whose value is a word of its own.
const XARGS_VALUES: &[&str] = &["-I", "-n", "-P", "-L", "-d", "-s", "-a", "-E"];

/// Options that name an output file, by command; empty stands for all others.
const OUTPUT_OPTIONS: &[(&str, &[&str])] = &[
    ("tar", &["-f"]),
    ("sort", &["-o"]),
    ("curl", &["-o"]),
    ("wget", &["-O"]),
    ("gcc", &["-o"]),
    ("pandoc", &["-o"]),
];

/// All folders that a script's commands write into.
pub(crate) fn destinations(case: &Case, script: &Script<'_>, values: &Values<'_>) -> Vec<Destination> {
    let mut out = Vec::new();
    for (at, command) in script.commands.iter().enumerate() {
        for word in folder_words(script, command, values) {
            let place = values.word(&word).map(|value| absolute(&case.base(), Path::new(&value)));
            let before = needed_before(script, command, &word);
            out.push(Destination { word, place, command: at, before });
        }
    }
    out
}

/// The folders, as words, that one command writes into.
fn folder_words(script: &Script<'_>, command: &Command, values: &Values<'_>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (operator, target) in &command.redirects {
        let operator = script.get(operator).trim_start_matches(|c: char| c.is_ascii_digit());
        let target = script.get(target);
        if matches!(operator, ">" | ">>" | ">|" | "&>" | "&>>") && !target.starts_with("/dev/") {
            out.extend(folder_of_file(target, values));
        }
    }
    out.extend(argument_folders(&inner_words(&script.words(command)), values));
    out
}

/// The words of the command that does the work: of what `xargs` or `find -exec` starts.
fn inner_words<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let Some((name, rest)) = words.split_first() else { return Vec::new() };
    match name.rsplit('/').next().unwrap_or_default() {
        "xargs" => {
            let mut at = 0;
            while let Some(option) = rest.get(at).filter(|word| word.starts_with('-')) {
                at += if XARGS_VALUES.contains(option) { 2 } else { 1 };
            }
            // What is read stands behind the last word unless it has a place of its own.
            let mut inner = rest.get(at..).unwrap_or_default().to_vec();
            if !rest.iter().take(at).any(|option| option.starts_with("-I")) {
                inner.push("{}");
            }
            inner
        }
        "find" => {
            let start = rest.iter().position(|word| matches!(*word, "-exec" | "-execdir" | "-ok"));
            let inner = start.and_then(|at| rest.get(at + 1..)).unwrap_or_default();
            let ends = |word: &&&str| !matches!(**word, "\\;" | "';'" | "+");
            inner.iter().take_while(ends).copied().collect()
        }
        _ => words.to_vec(),
    }
}

/// The folders that the arguments of one command name as places to write.
fn argument_folders(words: &[&str], values: &Values<'_>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let name = words.first().map(|word| unquoted(word)).unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    let plain: Vec<&str> = words.iter().skip(1).copied().filter(|word| !word.starts_with('-')).collect();
    if COPIERS.contains(&name) {
        out.extend(copy_target(words, &plain, values));
    }
    if matches!(name, "awk" | "gawk" | "mawk") {
        out.extend(awk_folders(words, values));
    }
    if WRITERS.contains(&name) {
        out.extend(plain.iter().filter_map(|word| folder_of_file(word, values)));
    }
    if name == "tar"
        && words
            .get(1)
            .is_some_and(|word| word.contains('c') && word.contains('f') && !word.starts_with("--"))
    {
        out.extend(words.get(2).and_then(|word| folder_of_file(word, values)));
    } else if let Some((_, options)) = OUTPUT_OPTIONS.iter().find(|(known, _)| *known == name) {
        let given = words.windows(2).filter(|pair| pair.first().is_some_and(|word| options.contains(word)));
        out.extend(given.filter_map(|pair| pair.get(1)).filter_map(|word| folder_of_file(word, values)));
    }
    if name == "mktemp" {
        out.extend(
            plain.iter().filter(|word| is_template(word)).filter_map(|word| folder_of_file(word, values)),
        );
    }
    out
}

/// Whether a name is one that mktemp fills in: it wants three of its letters in a row at least.
pub(crate) fn is_template(name: &str) -> bool {
    name.split(|c| c != 'X').any(|letters| letters.len() >= 3)
}

/// The folders of the files that a program of awk writes: `print > (out "/" $1)` with `-v out=WORD`, and
/// `print > "folder/" $1`.
fn awk_folders(words: &[&str], values: &Values<'_>) -> Vec<String> {
    let program = |word: &&&str| word.starts_with('\'') && word.contains('>');
    let Some(program) = words.iter().find(program) else { return Vec::new() };
    let mut out = Vec::new();
    for (at, _) in program.match_indices('>') {
        let target = program.get(at + 1..).unwrap_or_default().trim_start_matches(['>', ' ', '(']);
        if let Some((head, _)) = target.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            let path = head.contains('/') && !head.starts_with("/dev/");
            out.extend(folder_of(head).filter(|_| path));
            continue;
        }
        let name: String = target.chars().take_while(|c| crate::text::is_name(*c)).collect();
        let rest = target.get(name.len()..).unwrap_or_default().trim_start();
        let given = words.windows(2).find_map(|pair| match pair {
            ["-v", set] => set.strip_prefix(name.as_str())?.strip_prefix('='),
            _ => None,
        });
        let Some(value) = given.filter(|_| !name.is_empty()) else { continue };
        if rest.starts_with("\"/") {
            out.push(quoted(&bare(value)));
        } else {
            out.extend(folder_of_file(value, values));
        }
    }
    out
}

/// The folder that `cp` and its like need: the target itself when it is given as a folder, else the one above it.
fn copy_target(words: &[&str], plain: &[&str], values: &Values<'_>) -> Option<String> {
    let option = words.windows(2).find(|pair| pair.first().is_some_and(|word| *word == "-t"));
    if let Some(folder) = option.and_then(|pair| pair.get(1)) {
        return Some((*folder).to_owned());
    }
    if let Some(folder) = words.iter().find_map(|word| word.strip_prefix("--target-directory=")) {
        return Some(folder.to_owned());
    }
    let (target, sources) = plain.split_last().filter(|(_, sources)| !sources.is_empty())?;
    if target.contains(':') && !target.contains('$') {
        return None;
    }
    let bare = bare(target);
    if bare.ends_with('/') && bare.len() > 1 {
        return Some(quoted(bare.trim_end_matches('/')));
    }
    let several = sources.len() > 1 || sources.iter().any(|word| has_pattern(word));
    if several { Some((*target).to_owned()) } else { folder_of_file(target, values) }
}

/// The folder above a file as a word; of a variable that holds a path it is taken from the variable.
fn folder_of_file(word: &str, values: &Values<'_>) -> Option<String> {
    if let Some(folder) = folder_of(word) {
        return Some(folder);
    }
    let bare = bare(word);
    let name =
        bare.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).or_else(|| bare.strip_prefix('$'))?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let holds_path = values.written(name).is_some_and(|value| value.contains('/'))
        || values.variable(name).is_some_and(|value| value.trim_start_matches('/').contains('/'));
    (is_name && holds_path).then(|| format!("\"${{{name}%/*}}\""))
}

/// The byte before which a folder has to be made: before the outermost loop in which its name does not change, inside of
/// the same function.
fn needed_before(script: &Script<'_>, command: &Command, word: &str) -> usize {
    let used = variables(word);
    let mut best = script.statement(command);
    for (at, block) in script.around(command.block) {
        match block.kind {
            BlockKind::Function { .. } | BlockKind::Substitution | BlockKind::Subshell => break,
            BlockKind::For { .. } | BlockKind::While => {
                let changed = script.changed_in(block);
                if used.iter().any(|name| changed.contains(name)) || word.contains("$(") {
                    break;
                }
                best = script.block_statement(at);
            }
            BlockKind::If | BlockKind::Case | BlockKind::Braces => {}
        }
    }
    best
}

/// Whether the script makes a folder itself, before a byte.
pub(crate) fn is_made(script: &Script<'_>, word: &str, before: usize) -> bool {
    let bare = unquoted(word);
    let same = |other: &&str| {
        unquoted(other).trim_end_matches('/').replace(['{', '}'], "") == bare.replace(['{', '}'], "")
    };
    script.commands.iter().filter(|command| command.span.start < before.max(1)).any(|command| {
        matches!(script.name(command).as_str(), "mkdir" | "install")
            && script.words(command).iter().skip(1).any(&same)
    })
}

/// Whether a folder that is missing, or may be missing another time, may be made by the job: one of its own, or one
/// whose parent is there; never one on a mount that is not there, nor one that the script itself treats as a mount.
pub(crate) fn may_be_made(case: &Case, script: &Script<'_>, destination: &Destination) -> bool {
    let settings = settings(case, script);
    let free = std::iter::once(script.text)
        .chain(settings.iter().map(String::as_str))
        .all(|text| expects_no_mount(text, &destination.word));
    if !free || forbidden_above(script, destination) {
        return false;
    }
    let Some(place) = &destination.place else { return true };
    !mount_named(case, script, place) && place_may_be_made(case, place)
}

/// The same for a folder that is known by its path alone.
pub(crate) fn place_may_be_made(case: &Case, place: &Path) -> bool {
    let far =
        ["/mnt", "/media", "/run/media", "/proc", "/sys", "/dev"].iter().any(|root| place.starts_with(root));
    if far || case.scene.missing_mount(place) {
        return false;
    }
    let existing = place.ancestors().find_map(|ancestor| Some((ancestor, case.scene.facts(ancestor)?)));
    let Some((ancestor, facts)) = existing else { return false };
    let close = ancestor == place || place.parent() == Some(ancestor);
    facts.kind == Kind::Directory && (case.owns(place) || close && ancestor.components().count() > 1)
}

/// Whether a program speaks of a mount anywhere: then a folder that is missing may be one.
pub(crate) fn speaks_of_mounts(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.map(str::to_lowercase).any(|word| word.starts_with("mount") || word == "umount")
}

/// Whether a path below a folder leads through one that holds what is not in use: copies for tests, what was put aside.
pub(crate) fn is_aside(base: &Path, path: &Path) -> bool {
    const ASIDE: &[&str] = &[
        "test",
        "tests",
        "spec",
        "fake",
        "fakes",
        "mock",
        "mocks",
        "stubs",
        "fixture",
        "fixtures",
        "example",
        "examples",
        "sample",
        "samples",
        "archive",
        "archived",
        "attic",
        "old",
        "obsolete",
        "backup",
        "backups",
        "bak",
        "trash",
        "node_modules",
    ];
    path.strip_prefix(base).is_ok_and(|rest| {
        rest.components()
            .any(|part| ASIDE.contains(&part.as_os_str().to_string_lossy().to_lowercase().as_str()))
    })
}

/// The texts of the files that a script takes its settings from.
fn settings(case: &Case, script: &Script<'_>) -> Vec<String> {
    let home = case.home().unwrap_or_else(|| case.job.cwd.clone());
    let values = Values::new(case, script, &home);
    let sources = script.commands.iter().filter(|c| matches!(script.name(c).as_str(), "." | "source"));
    sources
        .filter_map(|command| {
            let path = case.find(Path::new(&values.word(script.words(command).get(1)?)?))?;
            String::from_utf8(case.scene.read(&path, crate::case::LARGEST)?).ok()
        })
        .take(20)
        .collect()
}

/// Words of a remark that says that a missing folder has a meaning.
const MEANT: &[&str] =
    &["missing", "must exist", "must be there", "not run", "not there", "stop here", "abort", "refuse"];

/// Whether a remark right above the statement says that it must not go on without the folder.
fn forbidden_above(script: &Script<'_>, destination: &Destination) -> bool {
    let Some(command) = script.commands.get(destination.command) else { return false };
    let line = script.line_of(script.statement(command)) as usize;
    let lines: Vec<&str> = script.text.lines().collect();
    let above = lines.get(..line.saturating_sub(1)).unwrap_or_default().iter().rev();
    let remarks = above.take_while(|line| line.trim_start().starts_with('#') && !line.starts_with("#!"));
    let text = remarks.map(|line| line.to_lowercase()).collect::<Vec<_>>().join(" ");
    MEANT.iter().any(|word| text.contains(word))
}

/// Whether a remark speaks of a mount at a folder or above it, or the folder's path does.
fn mount_named(case: &Case, script: &Script<'_>, place: &Path) -> bool {
    let base = case.base();
    let relative = place.strip_prefix(&base).unwrap_or(place);
    if relative.components().any(|part| matches!(part.as_os_str().to_str(), Some("mnt" | "media"))) {
        return true;
    }
    let paths: Vec<String> = relative
        .ancestors()
        .map(|path| path.to_string_lossy().into_owned())
        .filter(|path| path.len() > 2)
        .collect();
    let remarks = script.text.lines().filter(|line| line.trim_start().starts_with('#'));
    let mut mounts = remarks.filter(|line| line.to_lowercase().contains("mount"));
    mounts.any(|line| paths.iter().any(|path| line.contains(path.as_str())))
}

/// Whether nothing in a text says that a folder is a mount: `mountpoint`, or a remark where its name is set.
fn expects_no_mount(text: &str, word: &str) -> bool {
    let names = variables(word);
    let lines: Vec<&str> = text.lines().collect();
    let says = |line: &str| line.to_lowercase().contains("mount");
    let about = |line: &str| {
        names.iter().any(|name| line.contains(name.as_str()))
            || (names.is_empty() && line.contains(&unquoted(word)))
    };
    !lines.iter().enumerate().any(|(at, line)| {
        let above =
            at.checked_sub(1).and_then(|at| lines.get(at)).filter(|line| line.trim_start().starts_with('#'));
        about(line) && (says(line) || above.is_some_and(|line| says(line)))
    })
}
