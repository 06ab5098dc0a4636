//! Finds the script behind a command: `timeout 5 bash -e job.sh`, `./job`, `make`, `python3 -m jobs.daily`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use selfheal_core::job::inner_command;
use selfheal_core::scene::absolute;

use crate::find;
use crate::scene::read_regular;

/// How an interpreter's arguments are read. Source: the synopsis of each manual.
struct Interpreter {
    /// Its names; a version behind (`python3.12`) is the same.
    names: &'static [&'static str],
    /// Options that take the next word as a value.
    valued: &'static [&'static str],
    /// Options that name the script.
    file: &'static [&'static str],
    /// Options that hold the program itself: there is no script.
    code: &'static [&'static str],
    /// What it reads without being told, in the current folder.
    default: &'static [&'static str],
    /// Whether the first word that is no option is the script.
    operand: bool,
}

const PLAIN: Interpreter =
    Interpreter { names: &[], valued: &[], file: &[], code: &[], default: &[], operand: true };

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["bash", "sh", "dash", "ash", "ksh", "mksh", "zsh", "yash", "fish"],
        valued: &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"],
        code: &["-c", "-s"],
        ..PLAIN
    },
    Interpreter {
        names: &["python", "pypy"],
        valued: &["-W", "-X", "--check-hash-based-pycs"],
        code: &["-c", "-m"],
        ..PLAIN
    },
    Interpreter { names: &["perl"], valued: &["-I"], code: &["-e", "-E"], ..PLAIN },
    Interpreter {
        names: &["node", "nodejs", "bun", "deno"],
        valued: &["-r", "--require", "--import", "--loader", "-C"],
        code: &["-e", "-p", "--eval", "--print"],
        ..PLAIN
    },
    Interpreter { names: &["ruby"], valued: &["-I", "-r", "-C", "-E"], code: &["-e"], ..PLAIN },
    Interpreter {
        names: &["php"],
        valued: &["-c", "-d", "-z"],
        file: &["-f", "--file"],
        code: &["-r"],
        ..PLAIN
    },
    Interpreter {
        names: &["awk", "gawk", "mawk", "nawk"],
        valued: &["-v", "-F", "--assign", "--field-separator"],
        file: &["-f", "--file"],
        operand: false,
        ..PLAIN
    },
    Interpreter {
        names: &["sed", "gsed"],
        valued: &["-e", "-l", "--expression"],
        file: &["-f", "--file"],
        operand: false,
        ..PLAIN
    },
    Interpreter {
        names: &["make", "gmake"],
        valued: &["-j", "-l", "-o", "-W", "-I"],
        file: &["-f", "--file", "--makefile"],
        default: &["GNUmakefile", "makefile", "Makefile"],
        operand: false,
        ..PLAIN
    },
    Interpreter { names: &["Rscript", "lua", "luajit", "tclsh", "groovy", "expect"], code: &["-e"], ..PLAIN },
    Interpreter {
        names: &["pwsh", "powershell"],
        file: &["-File", "-f"],
        code: &["-Command", "-c"],
        ..PLAIN
    },
];

/// The script behind a command, absolute, `.` and `..` resolved by text and links kept: the path that the script's own
/// messages lead to. `None` where the command is a program, or its code stands in the arguments.
///
/// `search` is the job's `PATH`.
#[must_use]
pub fn resolve_script(argv: &[OsString], cwd: &Path, search: Option<&OsStr>) -> Option<PathBuf> {
    resolve(argv, &Place { cwd, search }, 4)
}

/// Where a command is resolved.
struct Place<'a> {
    cwd: &'a Path,
    search: Option<&'a OsStr>,
}

fn resolve(argv: &[OsString], place: &Place, depth: usize) -> Option<PathBuf> {
    let command = inner_command(argv);
    let word = command.first()?;
    let Some(interpreter) = interpreter_of(word) else { return direct(word, place) };
    let found = match read_arguments(interpreter, &command) {
        Argument::File(file) => named(file, interpreter, place),
        Argument::Code("-c", line) if depth > 0 && interpreter.names.contains(&"sh") => {
            let line = Line::read(line.to_str()?)?;
            let cwd = line.folder.map_or_else(|| place.cwd.to_owned(), |folder| place.cwd.join(folder));
            resolve(&line.words, &Place { cwd: &cwd, search: place.search }, depth - 1)
        }
        Argument::Code("-m", module) => python_module(module, place.cwd),
        Argument::Code(..) => None,
        Argument::Nothing(folder) => {
            let folder = folder.map_or_else(|| place.cwd.to_owned(), |folder| place.cwd.join(folder));
            interpreter.default.iter().map(|name| folder.join(name)).find(|path| path.is_file())
        }
    };
    found.map(|path| absolute(place.cwd, &path))
}

/// The table row of an interpreter, by the name of the command without folder and version.
fn interpreter_of(word: &OsStr) -> Option<&'static Interpreter> {
    let name = Path::new(word).file_name()?.to_str()?;
    let bare = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    INTERPRETERS
        .iter()
        .find(|row| row.names.contains(&name) || (!bare.is_empty() && row.names.contains(&bare)))
}

/// The name of the interpreter that a command runs its script with: its own, or the one that the first line names.
pub(crate) fn interpreter_name(argv: &[OsString], cwd: &Path, search: Option<&OsStr>) -> Option<String> {
    let command = inner_command(argv);
    let word = command.first()?;
    let name = |path: &OsStr| Some(Path::new(path).file_name()?.to_string_lossy().into_owned());
    if interpreter_of(word).is_some() {
        return name(word);
    }
    let script = direct(word, &Place { cwd, search })?;
    let (path, argument) = find::shebang(&read_regular(&script, 256)?)?;
    let line: Vec<OsString> =
        [path.into_os_string()].into_iter().chain(argument.map(OsString::from)).collect();
    name(inner_command(&line).first()?)
}

/// What an interpreter's arguments say.
enum Argument<'a> {
    /// The script.
    File(&'a OsStr),
    /// The option and the code behind it.
    Code(&'static str, &'a OsStr),
    /// Neither; the folder that `make -C` goes to.
    Nothing(Option<&'a OsStr>),
}

fn read_arguments<'a>(row: &Interpreter, command: &'a [OsString]) -> Argument<'a> {
    let mut folder = None;
    let mut words = command.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if let Some(value) = option_value(row.file, word) {
            return value
                .or_else(|| words.next().map(OsString::as_os_str))
                .map_or(Argument::Nothing(folder), Argument::File);
        }
        if let Some(option) = code_option(row, &text) {
            return words.next().map_or(Argument::Nothing(None), |code| Argument::Code(option, code));
        }
        if text == "-C" && !row.default.is_empty() {
            folder = words.next().map(OsString::as_os_str);
        } else if row.valued.contains(&text.as_ref()) {
            words.next();
        } else if text == "--" && row.operand {
            return words.next().map_or(Argument::Nothing(None), |file| Argument::File(file));
        } else if row.operand && !text.starts_with(['-', '+']) {
            return Argument::File(word);
        }
    }
    Argument::Nothing(folder)
}

/// Whether a word is one of these options; with its value where that is attached (`--file=x`, `-fx`).
fn option_value<'a>(options: &[&str], word: &'a OsStr) -> Option<Option<&'a OsStr>> {
    options.iter().find_map(|option| match word.as_bytes().strip_prefix(option.as_bytes())? {
        [] => Some(None),
        [b'=', value @ ..] if option.starts_with("--") => Some(Some(OsStr::from_bytes(value))),
        value if option.len() == 2 => Some(Some(OsStr::from_bytes(value))),
        _ => None,
    })
}

/// The code option in a word: itself, or the last letter of a cluster (`bash -ec LINE`).
fn code_option(row: &Interpreter, word: &str) -> Option<&'static str> {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    let last = letters
        .filter(|letters| letters.bytes().all(|byte| byte.is_ascii_alphabetic()))
        .and_then(|it| it.chars().last());
    row.code.iter().copied().find(|option| {
        *option == word
            || last.is_some_and(|last| option.strip_prefix('-').is_some_and(|own| own.chars().eq([last])))
    })
}

/// A script that is named to an interpreter: a path; shells and perl -S also search for it.
fn named(file: &OsStr, row: &Interpreter, place: &Place) -> Option<PathBuf> {
    let path = place.cwd.join(file);
    if path.is_file() || file.as_bytes().contains(&b'/') || !row.names.contains(&"sh") {
        return Some(path);
    }
    Some(find::command(file, place.cwd, place.search).map_or(path, |found| place.cwd.join(found)))
}

/// A command that is a script itself.
fn direct(word: &OsStr, place: &Place) -> Option<PathBuf> {
    let path = match find::command(word, place.cwd, place.search) {
        Ok(path) => path,
        // A script without its execute bit is still the script.
        Err(_) if word.as_bytes().contains(&b'/') => PathBuf::from(word),
        Err(_) => return None,
    };
    let path = absolute(place.cwd, &path);
    is_text(&path).then_some(path)
}

/// Whether a file is a text: it has no NUL in its beginning.
fn is_text(path: &Path) -> bool {
    read_regular(path, 512).is_some_and(|bytes| !bytes.contains(&0))
}

/// A shell line as people write it in a crontab: one plain command, perhaps in another folder, its output sent somewhere.
struct Line<'a> {
    folder: Option<&'a str>,
    words: Vec<OsString>,
}

impl<'a> Line<'a> {
    /// Reads `[cd FOLDER &&] [exec] COMMAND [> FILE] [2>&1]`. Anything else that only a shell understands is none.
    fn read(line: &'a str) -> Option<Self> {
        let (folder, command) = match line.split_once("&&") {
            Some((first, rest)) => (Some(first.trim().strip_prefix("cd ")?.trim()), rest),
            None => (None, line),
        };
        let plain = |word: &str| !word.contains(|letter| "|&;<>()$`\\\"'*?[]#~!{}\n".contains(letter));
        if folder.is_some_and(|folder| !plain(folder) || folder.contains(' ')) {
            return None;
        }
        let words = without_redirections(command);
        let words = words.strip_prefix(&["exec"]).unwrap_or(&words);
        let all_plain = !words.is_empty() && words.iter().all(|word| plain(word));
        all_plain.then(|| Self { folder, words: words.iter().map(OsString::from).collect() })
    }
}

/// The words of a command without those that only say where its output goes or its input comes from.
fn without_redirections(command: &str) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        let sign = word.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '&');
        match sign.trim_start_matches(['>', '<']) {
            rest if rest.len() == sign.len() => kept.push(word),
            // The file is the next word.
            "" => drop(words.next()),
            _ => {}
        }
    }
    kept
}

/// The file of a Python module that lies below the current folder.
fn python_module(module: &OsStr, cwd: &Path) -> Option<PathBuf> {
    let base = module.to_str()?.split('.').fold(cwd.to_owned(), |path, part| path.join(part));
    let file = PathBuf::from(format!("{}.py", base.display()));
    [file, base.join("__main__.py")]
        .into_iter()
        .find(|path| fs::metadata(path).is_ok_and(|facts| facts.is_file()))
}
