//! Commands that run text: shells, interpreters, `eval`, `source`, traps, database clients, and programs with a hidden
//! way to a shell.

use selfheal_core::admission::Danger::{High, Medium};
use selfheal_syntax::Language;
use selfheal_syntax::shell::word::unescape;
use selfheal_syntax::values::{Piece, Value};

use super::argv::Arg;
use super::flow::process_output;
use super::rules::has_letter;
use super::{Stdin, Walk};
use crate::danger::{Operation, operations, sql};

/// Line and subject of a finding.
type Spot<'a> = (u32, &'a str);

const SHELLS: &[&str] =
    &["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "rbash", "fish", "csh", "tcsh", "pwsh"];

/// Interpreters, the options that take a program text, and its language.
const INTERPRETERS: &[(&str, &[&str], Language)] = &[
    ("python", &["-c"], Language::Python),
    ("perl", &["-e", "-E"], Language::Perl),
    ("ruby", &["-e"], Language::Ruby),
    ("node", &["-e", "-p", "--eval", "--print", "-pe"], Language::Node),
    ("nodejs", &["-e", "-p", "--eval"], Language::Node),
    ("bun", &["-e"], Language::Node),
    ("deno", &["eval"], Language::Node),
    ("lua", &["-e"], Language::Other),
    ("php", &["-r"], Language::Other),
    ("osascript", &["-e"], Language::Other),
    ("tclsh", &["-c"], Language::Other),
    ("expect", &["-c"], Language::Other),
    ("wish", &["-c"], Language::Other),
    ("jimsh", &["-e"], Language::Other),
    ("luajit", &["-e"], Language::Other),
    ("pwsh", &["-c", "-Command"], Language::Other),
    ("powershell", &["-c", "-Command"], Language::Other),
    ("elixir", &["-e"], Language::Other),
    ("raku", &["-e"], Language::Other),
    ("ghc", &["-e"], Language::Other),
    ("scala", &["-e"], Language::Other),
    ("swipl", &["-g"], Language::Other),
    ("octave", &["--eval"], Language::Other),
    ("guile", &["-c"], Language::Other),
    ("Rscript", &["-e"], Language::Other),
    ("groovy", &["-e"], Language::Other),
    ("julia", &["-e"], Language::Other),
];

/// Programs that can be told to run a command by one of their options or scripts.
const CARRIERS: &[&str] = &[
    "gdb",
    "lldb",
    "vim",
    "vi",
    "nvim",
    "ex",
    "ed",
    "emacs",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "tar",
    "bsdtar",
    "rsync",
    "less",
    "more",
    "man",
    "sqlite3",
    "mysql",
    "psql",
    "nmap",
    "zip",
    "tmux",
    "screen",
    "git",
    "make",
    "gmake",
    "m4",
    "dc",
    "bc",
    "gnuplot",
    "mutt",
    "irb",
    "jq",
    "tcpdump",
    "wget",
    "split",
    "sort",
    "pg_dump",
    "borg",
    "fzf",
    "entr",
    "inotifywait",
    "watchexec",
    "nodemon",
    "find",
    "script",
    "scp",
    "sftp",
    "logsave",
    "run-parts",
    "ansible",
    "docker",
    "kubectl",
    "lua",
    "php",
    "osascript",
    "tclsh",
    "expect",
    "guile",
    "Rscript",
    "groovy",
    "julia",
    "ftp",
    "telnet",
    "crontab",
];

/// What `eval "$(…)"` may run because its output is made for that.
const EVAL_FRIENDS: &[&str] = &[
    "ssh-agent",
    "dircolors",
    "direnv",
    "resize",
    "lesspipe",
    "brew shellenv",
    "pyenv",
    "rbenv",
    "nodenv",
    "jenv",
    "starship init",
    "zoxide init",
    "opam env",
    "luarocks path",
    "keychain",
    "gpg-agent",
    "minikube docker-env",
    "docker-machine env",
    "register-python-argcomplete",
    "conda shell",
    "thefuck",
    "perl -I",
    "systemctl show-environment",
    "fnm env",
    "mise activate",
    "cat .env",
];

/// What `echo` prints.
pub fn echoed(texts: &[String]) -> String {
    let options =
        texts.iter().take_while(|text| matches!(text.as_str(), "-e" | "-n" | "-ne" | "-en" | "-E")).count();
    let joined = texts.get(options..).unwrap_or_default().join(" ");
    if texts.iter().take(options).any(|option| option.contains('e')) { unescape(&joined) } else { joined }
}

/// What `printf` prints: the format with `%s` and `%b` filled in, once for each argument.
pub fn printed(texts: &[String]) -> String {
    let Some((format, rest)) = texts.split_first() else { return String::new() };
    if rest.is_empty() {
        return unescape(format);
    }
    let mut out = String::new();
    for text in rest.iter().take(64) {
        out.push_str(&unescape(&format.replace("%s", text).replace("%b", text)));
    }
    out
}

/// Judges a command by the text that it runs.
pub fn judge(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], stdin: &Stdin, spot: Spot<'_>) {
    processes(walk, arguments, spot);
    match name {
        _ if SHELLS.contains(&name) => shell(walk, arguments, stdin, spot),
        "eval" => eval(walk, arguments, spot),
        "source" | "." => source(walk, arguments, stdin, spot),
        "trap" => arguments.first().and_then(Arg::known).iter().for_each(|text| run(walk, text, spot)),
        "alias" => arguments
            .iter()
            .filter_map(Arg::known)
            .filter_map(|text| text.split_once('=').map(|(_, text)| text.to_owned()))
            .for_each(|text| run(walk, &text, spot)),
        "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlcmd" | "cqlsh" | "clickhouse-client" | "cockroach"
        | "duckdb" | "bq" | "snowsql" | "usql" | "sqlplus" | "isql" | "tsql" | "mycli" | "pgcli" => {
            database(walk, name, arguments, stdin, spot);
        }
        "make" | "gmake" => make(walk, arguments, stdin, spot),
        _ => {}
    }
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if let Some((_, options, language)) = INTERPRETERS.iter().find(|(own, _, _)| *own == plain) {
        interpreter(walk, (options, *language), arguments, stdin, spot);
    }
    if CARRIERS.contains(&name) || CARRIERS.contains(&plain) {
        carried(walk, name, arguments, spot);
    }
    if matches!(name, "sed" | "gsed") {
        sed(walk, arguments, spot);
    }
}

/// Judges a text that runs in the same shell: it sees the variables of the script around it.
fn run(walk: &mut Walk<'_>, text: &str, (line, _): Spot<'_>) {
    let used = std::mem::take(&mut walk.prelude)
        .into_iter()
        .filter(|(name, _)| text.contains(&format!("${name}")) || text.contains(&format!("${{{name}")));
    // Of several values of one name the last counts.
    let used: std::collections::BTreeMap<String, String> = used.collect();
    let used: String = used.into_values().collect();
    walk.text(&format!("{used}{text}"), &Stdin::Nothing, Some(line));
}

/// `tee >(bash)`: what is inside reads what nobody knows. `<(…)` is walked with the command itself.
fn processes(walk: &mut Walk<'_>, arguments: &[Arg], (line, _): Spot<'_>) {
    for (text, _) in arguments.iter().filter_map(|arg| arg.process.as_ref()).filter(|(_, into)| *into) {
        walk.text(text, &Stdin::Opaque, Some(line));
    }
}

fn shell(walk: &mut Walk<'_>, arguments: &[Arg], stdin: &Stdin, spot: Spot<'_>) {
    let (line, subject) = spot;
    let words: Vec<String> = arguments.iter().map(Arg::spelled).collect();
    let clusters = |letter: &str| {
        words.iter().take_while(|word| word.starts_with(['-', '+'])).any(|word| has_letter(word, letter))
    };
    if clusters("n") && !clusters("c") {
        return;
    }
    if clusters("c") || words.iter().any(|word| word == "-Command" || word == "-EncodedCommand") {
        let at =
            words.iter().position(|word| has_letter(word, "c") || word.starts_with("-Command")).unwrap_or(0);
        let text = arguments.iter().skip(at + 1).find(|arg| !arg.spelled().starts_with('-'));
        match text.map(|arg| (arg.known(), arg)) {
            Some((Some(text), _)) => {
                walk.text(&text, stdin, Some(line));
            }
            Some((None, arg)) => unknown_text(walk, arg, spot),
            None => {}
        }
        return;
    }
    if let Some((text, _)) = arguments.iter().find_map(|arg| arg.process.as_ref()) {
        return input(walk, &process_output(text), spot);
    }
    let file = arguments.iter().find(|arg| !arg.spelled().starts_with(['-', '+']));
    let reads_stdin = clusters("s")
        || file.is_none()
        || file.is_some_and(|file| {
            matches!(file.spelled().as_str(), "/dev/stdin" | "-" | "/dev/fd/0" | "/proc/self/fd/0")
        });
    if let Some(file) = file.filter(|_| !reads_stdin) {
        walk.run_written(&file.spelled(), Language::Shell, spot);
    }
    match file {
        _ if reads_stdin => input(walk, stdin, spot),
        Some(file) if walk.was_fetched(&file.spelled()) => {
            walk.hit((line, subject), High, "danger/fetched-code", "it runs a file that it fetched")
        }
        _ => {}
    }
}

/// A shell or interpreter reads its program from what is piped in.
pub(super) fn input(walk: &mut Walk<'_>, stdin: &Stdin, (line, subject): Spot<'_>) {
    match stdin {
        Stdin::Text(text) => {
            walk.text(text, &Stdin::Nothing, Some(line));
        }
        Stdin::Opaque | Stdin::Names(_) => walk.hit(
            (line, subject),
            High,
            "danger/fetched-code",
            "it runs text from a pipe that nobody knows",
        ),
        Stdin::Nothing | Stdin::File => {}
    }
}

/// A text to run that is not known: from a substitution it is high; from a variable of the environment it is the user's.
fn unknown_text(walk: &mut Walk<'_>, arg: &Arg, (line, subject): Spot<'_>) {
    let substituted = arg.value.pieces.iter().any(|piece| matches!(piece, Piece::Unknown(unknown) if unknown.commands.is_some() || unknown.name.is_none()));
    let danger = if substituted { High } else { Medium };
    walk.hit((line, subject), danger, "danger/hidden-command", "it runs a text that cannot be known");
    // What is known of it is still looked at, each unknown part taken as one harmless word.
    let rest = arg.spelled().replace('\u{1}', "x");
    walk.text(&rest, &Stdin::Nothing, Some(line));
}

fn eval(walk: &mut Walk<'_>, arguments: &[Arg], spot: Spot<'_>) {
    let known: Option<Vec<String>> = arguments.iter().map(Arg::known).collect();
    if let Some(words) = known {
        return run(walk, &words.join(" "), spot);
    }
    let commands: Vec<&str> = arguments
        .iter()
        .flat_map(|arg| &arg.value.pieces)
        .filter_map(|piece| match piece {
            Piece::Unknown(unknown) => unknown.commands.as_deref(),
            _ => None,
        })
        .collect();
    let friendly = |text: &&str| {
        EVAL_FRIENDS.iter().any(|friend| text.trim_start().starts_with(friend))
            && !text.contains(['|', ';', '&'])
    };
    if !commands.is_empty() && commands.iter().all(friendly) {
        return;
    }
    let joined = Arg {
        value: Value { pieces: arguments.iter().flat_map(|arg| arg.value.pieces.clone()).collect() },
        process: None,
    };
    unknown_text(walk, &joined, spot);
}

fn source(walk: &mut Walk<'_>, arguments: &[Arg], stdin: &Stdin, spot: Spot<'_>) {
    let Some(file) = arguments.first() else { return };
    if let Some((text, _)) = &file.process {
        return input(walk, &process_output(text), spot);
    }
    let name = file.spelled();
    if matches!(name.as_str(), "/dev/stdin" | "/dev/fd/0") {
        input(walk, stdin, spot);
    } else if walk.was_fetched(&name) {
        walk.hit(spot, High, "danger/fetched-code", "it runs a file that it fetched");
    } else if walk.written.contains_key(name.trim_start_matches("./")) {
        walk.run_written(&name, Language::Shell, spot);
    } else if name.starts_with('\u{1}') {
        walk.hit(
            spot,
            Medium,
            "danger/hidden-command",
            "which file it reads commands from is said by a variable",
        );
    }
}

fn interpreter(
    walk: &mut Walk<'_>,
    (options, language): (&[&str], Language),
    arguments: &[Arg],
    stdin: &Stdin,
    spot: Spot<'_>,
) {
    let words: Vec<String> = arguments.iter().map(Arg::spelled).collect();
    let at = words.iter().position(|word| {
        options.contains(&word.as_str())
            || (options.contains(&"-e")
                && word.len() > 2
                && has_letter(word, "e")
                && !word.starts_with("--")
                && word.ends_with('e'))
    });
    if let Some(text) = at.and_then(|at| arguments.get(at + 1)) {
        match text.known() {
            Some(text) => nested(walk, language, &text, spot),
            None => unknown_text_of(walk, language, text, spot),
        }
        return;
    }
    let file = arguments.iter().find(|arg| !arg.spelled().starts_with('-') || arg.process.is_some());
    if let Some(file) = file {
        walk.run_written(&file.spelled(), language, spot);
    }
    match file {
        Some(file) if walk.was_fetched(&file.spelled()) => {
            walk.hit(spot, High, "danger/fetched-code", "it runs a file that it fetched")
        }
        Some(file) if file.process.is_some() => {
            walk.hit(spot, High, "danger/fetched-code", "it runs text from a pipe that nobody knows")
        }
        Some(_) => {}
        None if words
            .iter()
            .any(|word| word == "-m" || word == "--version" || word == "-V" || word == "-v") => {}
        None => match stdin {
            Stdin::Text(text) => nested(walk, language, text, spot),
            Stdin::Opaque => {
                walk.hit(spot, High, "danger/fetched-code", "it runs text from a pipe that nobody knows")
            }
            _ => {}
        },
    }
}

fn unknown_text_of(walk: &mut Walk<'_>, language: Language, arg: &Arg, spot: Spot<'_>) {
    let whole = arg.value.pieces.iter().all(|piece| matches!(piece, Piece::Unknown(_)));
    if whole {
        walk.hit(spot, High, "danger/hidden-command", "it runs a text that cannot be known");
    } else {
        nested(walk, language, &arg.spelled().replace('\u{1}', "x"), spot);
    }
}

/// A program text of another language.
pub(super) fn nested(walk: &mut Walk<'_>, language: Language, text: &str, (line, subject): Spot<'_>) {
    if walk.depth >= super::MAX_DEPTH {
        return walk.hit(
            (line, subject),
            High,
            "danger/nested",
            "programs are nested too deeply to be judged",
        );
    }
    if language == Language::Other {
        return super::foreign::judge(walk, text, (line, subject));
    }
    let found = operations(language, text, walk.roots).unwrap_or_default();
    for Operation { danger, rule, why, subject, .. } in found {
        walk.hit((line, &subject), danger, &rule, &why);
    }
}

/// Texts in quotes, and what follows `shell`, `exec=`, `!`: judged as shell.
fn carried(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], spot: Spot<'_>) {
    let awk = name.ends_with("awk");
    for text in arguments.iter().map(Arg::spelled).filter(|text| text.len() > 3) {
        for marker in [
            "shell ",
            "exec=",
            "--to-command=",
            "--use-compress-program=",
            "--rsh=",
            "!",
            ".system ",
            ".shell ",
            "\\! ",
            "ProxyCommand=",
            "LocalCommand=",
            "--filter=",
            "--compress-program=",
            "-e ",
            "python ",
        ] {
            let rest = text.split_once(marker).map(|(_, rest)| rest.trim_matches(['"', '\'']));
            if let Some(rest) = rest.filter(|rest| rest.contains(' ') && !awk) {
                run(walk, rest, spot);
            }
        }
        let calls = [
            "system(",
            "os.execute(",
            "popen(",
            "exec(",
            "`",
            "passthru(",
            "call-process",
            "shell-command",
            "do shell script",
            "| \"",
            "|&",
            "| getline",
            "spawn ",
        ]
        .iter()
        .any(|call| text.contains(call));
        if calls {
            quoted(&text).iter().for_each(|inner| run(walk, inner, spot));
        }
        if awk && text.contains("> \"/") {
            quoted(&text)
                .iter()
                .filter(|inner| inner.starts_with('/'))
                .for_each(|inner| run(walk, &format!(": > {inner}"), spot));
        }
    }
}

/// The contents of the strings in a program text.
pub fn quoted(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if !matches!(c, '"' | '\'' | '`') {
            continue;
        }
        let mut inner = String::new();
        while let Some(next) = chars.next() {
            match next {
                '\\' => inner.extend(chars.next()),
                end if end == c => break,
                other => inner.push(other),
            }
        }
        if !inner.trim().is_empty() && out.len() < 64 {
            out.push(inner);
        }
    }
    out
}

/// `sed '1e cmd'` and `s/…/…/e` run commands; `w /etc/x` writes.
fn sed(walk: &mut Walk<'_>, arguments: &[Arg], (line, subject): Spot<'_>) {
    let script = arguments.iter().map(Arg::spelled).find(|word| !word.starts_with('-')).unwrap_or_default();
    let given = arguments
        .iter()
        .map(Arg::spelled)
        .filter(|word| word.starts_with("--expression="))
        .map(|word| word.replace("--expression=", ""));
    for text in given.chain([script]) {
        let text = text.trim();
        let command = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '$' || c == ',');
        let flag = text.starts_with('s')
            && text.chars().nth(1).is_some_and(|mark| {
                text.rsplit(mark).next().is_some_and(|flags| {
                    flags.contains('e') && flags.chars().all(|c| "gepiImM0123456789".contains(c))
                }) && text.matches(mark).count() == 3
            });
        let address = text.starts_with('/')
            && text.rsplit('/').next().is_some_and(|rest| rest == "e" || rest.starts_with("e "));
        if command == "e" || command.starts_with("e ") || flag || address {
            walk.hit((line, subject), High, "danger/hidden-command", "sed is told to run a command");
        }
        let target = text
            .rsplit_once(" /")
            .map(|(before, path)| (before.ends_with('w') || before.ends_with("/w"), format!("/{path}")));
        if let Some((true, path)) = target {
            let place = walk.places().text(&path);
            super::files::written(walk, place, false, (line, subject));
        }
    }
}

fn make(walk: &mut Walk<'_>, arguments: &[Arg], stdin: &Stdin, spot: Spot<'_>) {
    let words: Vec<String> = arguments.iter().map(Arg::spelled).collect();
    let reads = words
        .windows(2)
        .any(|pair| matches!(pair, [f, file] if f == "-f" && (file == "-" || file == "/dev/stdin")));
    match stdin {
        Stdin::Text(text) if reads || words.iter().any(|word| word == "-f-") => {
            nested(walk, Language::Make, text, spot)
        }
        Stdin::Opaque if reads => {
            walk.hit(spot, High, "danger/fetched-code", "it runs text from a pipe that nobody knows");
        }
        _ => {}
    }
    for (text, _) in arguments.iter().filter_map(|arg| arg.process.clone()) {
        match process_output(&text) {
            Stdin::Text(text) => nested(walk, Language::Make, &text, spot),
            _ => walk.hit(spot, High, "danger/fetched-code", "it runs text from a pipe that nobody knows"),
        }
    }
}

fn database(walk: &mut Walk<'_>, name: &str, arguments: &[Arg], stdin: &Stdin, (line, subject): Spot<'_>) {
    let local = matches!(name, "sqlite3" | "duckdb");
    let mut texts: Vec<String> = arguments
        .iter()
        .map(Arg::spelled)
        .filter(|word| word.contains(' ') || word.starts_with("--command="))
        .collect();
    texts.iter_mut().for_each(|text| {
        *text = text.trim_start_matches("--command=").trim_start_matches("--execute=").to_owned()
    });
    let unknown = match stdin {
        Stdin::Text(text) => {
            texts.push(text.clone());
            false
        }
        Stdin::Opaque | Stdin::File => true,
        _ => false,
    };
    for found in texts.iter().flat_map(|text| sql::operations(text)) {
        let own = arguments.first().is_none_or(|file| {
            !matches!(
                walk.places().of(&file.value),
                super::places::Place::System | super::places::Place::Outside | super::places::Place::Home
            )
        });
        let danger = if local && own { Medium } else { found.danger };
        walk.hit((line, &found.subject), danger, "danger/database", &found.why);
    }
    let file = arguments.iter().map(Arg::spelled).any(|word| word == "-f" || word.starts_with("--file"));
    let query_unknown =
        arguments.iter().map(Arg::spelled).any(|word| word.starts_with('\u{1}') && word.len() == 1);
    if (unknown || file || query_unknown) && texts.is_empty() {
        walk.hit((line, subject), Medium, "danger/database", "it runs statements from a file on a database");
    }
}
