//! Where a failure is: from a probe, from a message that names its place, or from the script's own text.

mod elsewhere;
mod said;
mod within;

use std::path::{Path, PathBuf};

use selfheal_core::fault::Fault;
use selfheal_core::report::{FailedCommand, Location};
use selfheal_core::scene::absolute;
use selfheal_core::trace::{Step, Trace};

use crate::inner::look_through_words;
use crate::parsers::{Found, Spot};
use crate::report::ReportInput;
use crate::words::{base, commands, fits, is_shell, logical_lines};

/// The shortest piece of a message that is looked for in a script.
const SHORTEST_PIECE: usize = 8;
/// How many pieces are looked for.
const PIECES: usize = 5;
/// How many steps before an explicit end may explain it.
const NEAR: usize = 4;

/// The place of a failure and the command that failed there.
#[derive(Debug, Default)]
pub struct Place {
    /// Where.
    pub location: Option<Location>,
    /// The command.
    pub command: Option<FailedCommand>,
    /// Whether a probe saw it.
    pub seen: bool,
    /// Whether it was concluded from the script's text, since the message names no place.
    pub guessed: bool,
}

/// Finds the place of a failure.
pub fn place(input: &ReportInput<'_>, found: Option<&Found>) -> Place {
    let step = failing_step(input, found);
    let said =
        found.and_then(|found| found.spots.iter().find(|spot| spot.line > 0 && names_program(found, spot)));
    let remote = step.and_then(|step| remote(&step.words)).filter(|_| !is_own_failure(found));
    if let Some(remote) = remote {
        return behind(input, step, said, remote);
    }
    if step.is_none()
        && said.is_none()
        && let Some(place) = found.and_then(|found| within::place(input, found))
    {
        return place;
    }
    if step.is_none()
        && let Some(place) = elsewhere::place(input, found, said)
    {
        return place;
    }
    if step.is_some_and(|step| is_of_program(input, step)) {
        // A probe of a program ends in whatever library raised the error; the message names the program's own line.
        let place = said.map(|spot| Place { seen: true, ..by_spot(input, spot, found) });
        return place.or_else(|| by_frame(input)).unwrap_or_default();
    }
    match (step, said) {
        (Some(step), Some(spot)) => by_both(input, step, spot, found),
        (Some(step), None) if step.line == 0 => by_words(input, step),
        (Some(step), None) => by_step(input, step),
        (None, Some(spot)) => by_spot(input, spot, found),
        (None, None) => {
            by_frame(input).or_else(|| found.and_then(|found| by_text(input, found))).unwrap_or_default()
        }
    }
}

/// A message that names its place, and a probe: the message knows where it happened, the probe with which words.
fn by_both(input: &ReportInput<'_>, step: &Step, spot: &Spot, found: Option<&Found>) -> Place {
    let file = resolve(input, &spot.file);
    if input.scene.facts(&file).is_none() && input.script.is_none_or(|(script, _)| script != file) {
        return by_step(input, step);
    }
    let there =
        |step: &&Step| !is_exit(&step.words) && step.line == spot.line && resolve(input, &step.file) == file;
    let steps = input.trace.into_iter().flat_map(|trace| trace.steps.iter().rev());
    let failed = steps.filter(|step| step.status.is_some_and(|status| status != 0)).find(there);
    let message = by_spot(input, spot, found);
    match failed.or(Some(step).filter(there)) {
        Some(step) => {
            let command = FailedCommand {
                source: message.command.map_or_else(|| step.words.join(" "), |command| command.source),
                words: step.words.clone(),
                status: step.status,
            };
            Place { location: message.location, command: Some(command), seen: true, guessed: false }
        }
        // The place is in another file, such as a configuration: the step is the command that read it.
        None if resolve(input, &step.file) != file => Place {
            location: message.location,
            command: by_step(input, step).command,
            seen: true,
            guessed: false,
        },
        None => Place { seen: true, ..message },
    }
}

/// The step that failed. A message names its tool, and a step of that tool that failed with the same name knows better
/// than a handler that ran later. An explicit `exit` stands for what failed just before it, or for the step of the job's
/// own script that ran the other script which ended so.
pub fn failing_step<'a>(input: &ReportInput<'a>, found: Option<&Found>) -> Option<&'a Step> {
    let trace = input.trace?;
    let at = trace.failing?;
    let step = trace.steps.get(at)?;
    if let Some(step) = found.and_then(|found| step_of_tool(trace, found)) {
        return Some(step);
    }
    if !is_exit(&step.words) {
        return Some(step);
    }
    let before = || trace.steps.get(..at).into_iter().flat_map(|steps| steps.iter().rev());
    let failed = |step: &&Step| step.status.is_some_and(|status| status != 0) && !is_test(&step.words);
    let script = input.script.map(|(script, _)| script);
    let elsewhere = script.is_some_and(|script| script != step.file);
    before()
        .take(NEAR)
        .find(failed)
        .or_else(|| {
            before().filter(|_| elsewhere).filter(|step| Some(step.file.as_path()) == script).find(failed)
        })
        .or(Some(step))
}

/// The last step that failed, runs the tool which a message is from, and got the name that the message complains of.
fn step_of_tool<'a>(trace: &'a Trace, found: &Found) -> Option<&'a Step> {
    let tool = found.tool.as_deref()?;
    let name = name_in(&found.fault)?;
    trace.steps.iter().rev().filter(|step| step.status.is_some_and(|status| status != 0)).find(|step| {
        let words = look_through_words(&step.words);
        let runs = words.first().is_some_and(|word| base(word) == tool);
        runs && support(&words, &name).is_some_and(|support| support > 0)
    })
}

/// Whether a step is the line of a program's frame, not a command that a shell ran.
fn is_of_program(input: &ReportInput<'_>, step: &Step) -> bool {
    // The probe of a plain shell knows no status, and its command may be a single word.
    let plain = input.trace.is_some_and(|trace| !trace.complete && trace.lines.is_empty());
    let of_shell = plain && text_of(input, &step.file).is_some_and(|text| is_shell(&text));
    step.status.is_none() && step.words.len() <= 1 && !of_shell
}

/// Whether words are an explicit end.
pub fn is_exit(words: &[String]) -> bool {
    words.first().is_some_and(|word| word == "exit" || word == "return")
}

fn is_test(words: &[String]) -> bool {
    words.first().is_some_and(|word| matches!(word.as_str(), "[" | "[[" | "test" | "(("))
}

fn by_step(input: &ReportInput<'_>, step: &Step) -> Place {
    let file = resolve(input, &step.file);
    let source = line_of(input, &file, step.line).unwrap_or_else(|| step.words.join(" "));
    Place {
        location: Some(Location {
            file,
            line: step.line,
            column: None,
            function: function(input),
            remote: None,
        }),
        command: Some(FailedCommand {
            source: source.trim().to_owned(),
            words: step.words.clone(),
            status: step.status,
        }),
        seen: true,
        guessed: false,
    }
}

/// A step whose line the probe could not tell: the only line of the script with words that can have become these.
fn by_words(input: &ReportInput<'_>, step: &Step) -> Place {
    let place = by_step(input, step);
    let can_be = |words: &Vec<String>| {
        words.len() == step.words.len()
            && words.iter().zip(&step.words).all(|(word, value)| fits(word, value).is_some())
    };
    let text = text_of(input, &step.file).unwrap_or_default();
    let mut lines = logical_lines(&text).into_iter().filter(|(_, line)| commands(line).iter().any(can_be));
    let only = lines.next().filter(|_| lines.next().is_none());
    match only {
        Some((line, _)) => by_step(input, &Step { line, ..step.clone() }),
        None => Place { location: None, ..place },
    }
}

/// The function of the innermost frame that a probe saw.
fn function(input: &ReportInput<'_>) -> Option<String> {
    let frame = input.trace?.frames.last()?;
    (!frame.function.is_empty() && frame.function != "main").then(|| frame.function.clone())
}

fn by_spot(input: &ReportInput<'_>, spot: &Spot, found: Option<&Found>) -> Place {
    let spot = said::settled(input, spot);
    let elsewhere = found
        .filter(|found| matches!(found.fault, Fault::UnsetVariable { .. } | Fault::CommandNotFound { .. }))
        .and_then(|found| said::in_sourced(input, &spot, &found.fault.subject()?));
    let spot = &elsewhere.unwrap_or(spot);
    let file = resolve(input, &spot.file);
    let shell = text_of(input, &file).filter(|text| is_shell(text));
    let moved = shell.as_deref().zip(found).and_then(|(text, found)| nearer(text, spot.line, found));
    let spot = &Spot { line: moved.unwrap_or(spot.line), ..spot.clone() };
    let source = line_of(input, &file, spot.line);
    let shell = input.script.is_some_and(|(script, text)| script == file && is_shell(text));
    let whole = || {
        let (_, text) = input.script.filter(|_| shell)?;
        logical_lines(text)
            .into_iter()
            .take_while(|(first, _)| *first <= spot.line)
            .last()
            .map(|(_, line)| line)
    };
    let words = whole().and_then(|line| command_in(&line, found)).unwrap_or_default();
    let line = spot.line.max(1);
    Place {
        location: Some(Location {
            file,
            line,
            column: spot.column,
            function: spot.function.clone(),
            remote: None,
        }),
        command: source.map(|line| FailedCommand { source: line.trim().to_owned(), words, status: None }),
        seen: false,
        guessed: false,
    }
}

/// The line that is meant where a shell names another: the end of the file for a quote that was opened above, the end of
/// a block for a command in it.
fn nearer(text: &str, line: u32, found: &Found) -> Option<u32> {
    let unclosed = ["looking for matching", "unmatched", "no closing quote", "Unterminated quoted string"];
    if matches!(found.fault, Fault::Syntax { .. }) && unclosed.iter().any(|words| found.text.contains(words))
    {
        return crate::words::unclosed(text).filter(|opened| *opened < line);
    }
    const ENDS: [&str; 8] = ["fi", "done", "esac", "}", ";;", "else", ")", ""];
    let lines: Vec<&str> = text.lines().collect();
    let at = |number: u32| lines.get((number as usize).checked_sub(1)?).map(|line| line.trim());
    at(line).is_none_or(|line| ENDS.contains(&line)).then_some(())?;
    let before =
        (1..line).rev().take(3).find(|number| at(*number).is_some_and(|line| !ENDS.contains(&line)))?;
    let names = found.fault.subject().into_iter().chain(found.tool.clone());
    let source = at(before)?;
    names.into_iter().any(|name| source.contains(&name)).then_some(before)
}

/// The innermost frame of the job's own files, else of any file that is here, for languages whose probe sees no commands.
fn by_frame(input: &ReportInput<'_>) -> Option<Place> {
    let frames = || input.trace.into_iter().flat_map(|trace| trace.frames.iter().rev());
    let script = input.script.and_then(|(script, _)| script.parent());
    let own = |file: &Path| {
        file.starts_with(input.scene.cwd()) || script.is_some_and(|folder| file.starts_with(folder))
    };
    let frame = frames()
        .find(|frame| own(&frame.file))
        .or_else(|| frames().find(|frame| input.scene.facts(&frame.file).is_some()))?;
    let spot = Spot { function: Some(frame.function.clone()), ..Spot::new(frame.file.clone(), frame.line) };
    Some(Place { seen: true, ..by_spot(input, &spot, None) })
}

/// Whether a place is one in a program text: no record that a tool for records stopped at, nothing without a file.
fn names_program(found: &Found, spot: &Spot) -> bool {
    const RECORDS: [&str; 4] = ["join", "sort", "comm", "uniq"];
    let of_records = found.tool.as_deref().is_some_and(|tool| RECORDS.contains(&tool));
    let name = spot.file.to_string_lossy();
    !is_data(&spot.file)
        && !of_records
        && !name.starts_with(['<', '['])
        && name != "-"
        && !name.starts_with("-e")
}

/// The line of the script that printed the message, or the one that runs the tool that did.
fn by_text(input: &ReportInput<'_>, found: &Found) -> Option<Place> {
    let (path, text) = input.script.filter(|(path, _)| !is_of_system(path))?;
    if let Some(place) = by_importer(input, found) {
        return Some(place);
    }
    let run = run_by(text, found);
    // Where a tool complains, a line that only holds the name it complains of is not meant.
    let says =
        |number: &u32| run.is_none() || line_of(input, path, *number).is_some_and(|line| complains(&line));
    let number = line_that_says(text, &found.text)
        .filter(says)
        .or(run)
        .or_else(|| options_of(text, path, found))
        .or_else(|| named_by(text, found).filter(|_| !is_shell(text)))?;
    let number = if is_shell(text) { begin_of(text, number) } else { number };
    let guessed = run != Some(number);
    Some(Place { guessed, ..by_spot(input, &Spot::new(path, number), Some(found)) })
}

/// How a line of a program says something to standard error or ends it with words.
pub fn complains(line: &str) -> bool {
    const COMPLAINS: [&str; 13] = [
        ">&2",
        "/dev/stderr",
        "die ",
        "die(",
        "console.error",
        "stderr",
        "STDERR",
        "abort(",
        "sys.exit(",
        "exit(",
        "echo ",
        "printf ",
        "raise ",
    ];
    COMPLAINS.iter().any(|word| line.contains(word))
}

/// The line with `getopts` where a script was called with an option that it does not take.
fn options_of(text: &str, script: &Path, found: &Found) -> Option<u32> {
    let own = script.file_name().is_some_and(|name| found.text.starts_with(name.to_string_lossy().as_ref()))
        || found.text.starts_with(script.to_string_lossy().as_ref());
    let about = ["illegal option -- ", "option requires an argument -- "]
        .iter()
        .any(|words| found.text.contains(words));
    (own && about).then(|| only_line(text, |line| line.contains("getopts "))).flatten()
}

/// The line of a file that asks for the module which is missing, where the message names that file alone.
fn by_importer(input: &ReportInput<'_>, found: &Found) -> Option<Place> {
    let Fault::MissingModule { name } = &found.fault else { return None };
    let (_, file) = found.text.rsplit_once(" imported from ")?;
    let file = resolve(input, Path::new(file.trim()));
    let line = only_line(&text_of(input, &file)?, |line| line.contains(base(name)))?;
    Some(Place { guessed: true, ..by_spot(input, &Spot::new(file, line), Some(found)) })
}

/// The first of the lines that a backslash joins with this one.
fn begin_of(text: &str, number: u32) -> u32 {
    let mut lines = logical_lines(text).into_iter().map(|(first, _)| first);
    lines.rfind(|first| *first <= number).unwrap_or(number)
}

/// Whether a script belongs to the system: it is called, not written, by whoever wrote the job.
fn is_of_system(script: &Path) -> bool {
    const SYSTEM: [&str; 6] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/lib", "/usr/share"];
    SYSTEM.iter().any(|folder| script.starts_with(folder))
}

/// The line of a script that says a message itself, as it is or with values in it.
pub fn line_that_says(text: &str, message: &str) -> Option<u32> {
    printed_by(text, message).or_else(|| said::told_by(text, message))
}

/// The only line of a script that holds a longer piece of a message as it is.
fn printed_by(text: &str, message: &str) -> Option<u32> {
    let is_end = |c: char| {
        c.is_ascii_digit() || matches!(c, '\'' | '"' | '‘' | '’' | '`' | '/' | '[' | ':' | '(' | ')')
    };
    let mut pieces: Vec<&str> = message.split(is_end).map(str::trim).collect();
    pieces.retain(|piece| piece.len() >= SHORTEST_PIECE);
    pieces.sort_by_key(|piece| usize::MAX - piece.len());
    let mut whole = vec![message.trim()];
    whole.extend(pieces.into_iter().take(PIECES));
    whole.into_iter().find_map(|piece| only_line(text, |line| line.contains(piece)))
}

/// The only line that holds the name which a message is about. In a shell it may be that of a variable, used elsewhere.
fn named_by(text: &str, found: &Found) -> Option<u32> {
    // What a caller left out is not wrong where it is asked for.
    let of_caller = [": error: the following arguments are required", "Error: Missing "];
    if of_caller.iter().any(|words| found.text.contains(words)) {
        return None;
    }
    let name = found.fault.subject().filter(|name| name.len() >= 4)?;
    only_line(text, |line| line.contains(&name))
}

/// A line that runs the tool which complained: the only one, or the one whose words fit the name that it complains of.
fn run_by(text: &str, found: &Found) -> Option<u32> {
    if !is_shell(text) {
        return None;
    }
    let tool = found.tool.as_deref()?;
    let mut hits: Vec<(u32, Vec<String>)> = Vec::new();
    for (number, line) in logical_lines(text) {
        for words in commands(&line) {
            let inner = look_through_words(&words);
            let runs = |words: &[String]| words.first().is_some_and(|word| speaks_for(base(word), tool));
            // A wrapper may complain itself.
            if runs(&inner) || runs(&words) {
                hits.push((number, if runs(&inner) { inner } else { words }));
            }
        }
    }
    if let [(number, _)] = hits.as_slice() {
        return Some(*number);
    }
    let name = name_in(&found.fault)?;
    let best =
        hits.iter().filter_map(|(number, words)| Some((support(words, &name)?, u32::MAX - number))).max();
    best.filter(|(support, _)| *support > 0).map(|(_, number)| u32::MAX - number)
}

/// Whether a command's messages may be those of a tool: its own, or of one that it starts.
fn speaks_for(command: &str, tool: &str) -> bool {
    const STARTED: [(&str, &[&str]); 7] = [
        ("ssh", &["scp", "rsync", "sftp", "git"]),
        ("gzip", &["tar", "gunzip", "zcat"]),
        ("apt-get", &["apt", "aptitude"]),
        ("pip", &["pip3", "python", "python3"]),
        ("mariadb", &["mysql"]),
        ("mariadb-dump", &["mysqldump"]),
        ("bash", &["ssh", "sudo", "su"]),
    ];
    command == tool || STARTED.iter().any(|(name, by)| *name == tool && by.contains(&command))
}

/// How well the words of a command fit a name that its tool complains of.
fn support(words: &[String], name: &str) -> Option<usize> {
    let letter = name.strip_prefix('-').filter(|letter| letter.chars().count() == 1);
    words
        .iter()
        .skip(1)
        .filter_map(|word| match letter {
            Some(letter) => {
                (word.starts_with('-') && !word.starts_with("--") && word.contains(letter)).then_some(1)
            }
            None if name.is_empty() => word.is_empty().then_some(1),
            None => fits(word, name)
                .or_else(|| word.strip_prefix(name).filter(|rest| rest.starts_with('=')).map(|_| 1)),
        })
        .max()
}

/// The name that a fault speaks of.
fn name_in(fault: &Fault) -> Option<String> {
    match fault {
        Fault::NoSuchPath { path }
        | Fault::NotADirectory { path }
        | Fault::IsADirectory { path }
        | Fault::PathExists { path }
        | Fault::NoSpace { path: Some(path) }
        | Fault::PermissionDenied { path: Some(path) } => Some(path.to_string_lossy().into_owned()),
        Fault::UnmatchedGlob { pattern } => Some(pattern.clone()),
        Fault::UnknownOption { option, .. } => Some(option.clone()),
        Fault::NoSuchReference { name } => Some(name.clone()),
        _ => None,
    }
}

/// The number of the only line, comments aside, that satisfies a condition.
fn only_line(text: &str, mut wanted: impl FnMut(&str) -> bool) -> Option<u32> {
    let mut hits =
        (1_u32..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with('#') && wanted(line));
    let (number, _) = hits.next()?;
    hits.next().is_none().then_some(number)
}

/// Whether a file holds records that a job works on, so that a place in it says what was read, not what failed.
pub fn is_data(file: &Path) -> bool {
    const DATA: [&str; 9] = ["csv", "tsv", "txt", "dat", "log", "lst", "psv", "tab", "ndjson"];
    !file.ends_with("CMakeLists.txt")
        && file
            .extension()
            .is_some_and(|extension| DATA.iter().any(|data| extension.eq_ignore_ascii_case(data)))
}

/// The words of the command in a line that the finding speaks of (the one of its tool, else the only one), if they are
/// what the command really got: without variables, patterns and substitutions.
fn command_in(line: &str, found: Option<&Found>) -> Option<Vec<String>> {
    let mut all = commands(line);
    let tool = found.and_then(|found| found.tool.as_deref());
    let by_tool = all.iter().position(|words| words.first().is_some_and(|word| Some(base(word)) == tool));
    let words = match by_tool {
        Some(at) => all.swap_remove(at),
        None if all.len() == 1 => all.pop()?,
        None => return None,
    };
    let redirection = words.iter().position(|word| word.starts_with(['<', '>']));
    let end = redirection.unwrap_or(words.len());
    let words: Vec<String> = words.into_iter().take(end).collect();
    let real = !words.iter().any(|word| word.contains(['$', '`', '*', '?', '[', '~', '{']));
    real.then_some(words)
}

/// A failure behind ssh or inside of a container: the file is somebody else's.
fn behind(input: &ReportInput<'_>, step: Option<&Step>, said: Option<&Spot>, remote: String) -> Place {
    let mut place = step.map(|step| by_step(input, step)).unwrap_or_default();
    let local = place.location.as_ref().map(|location| location.file.clone());
    match (said, place.location.as_mut()) {
        (Some(spot), Some(location)) if local.as_deref() != Some(resolve(input, &spot.file).as_path()) => {
            location.file = spot.file.clone();
            location.line = spot.line;
            location.column = spot.column;
            location.remote = Some(remote);
        }
        (_, Some(location)) => location.remote = Some(remote),
        (_, None) => {}
    }
    place
}

/// Whether a failure is that of the connection itself, which is local.
fn is_own_failure(found: Option<&Found>) -> bool {
    found.is_some_and(|found| {
        const OWN: [&str; 4] =
            ["(publickey", "Host key verification failed", "bad permissions", "kex_exchange_identification"];
        matches!(found.fault, Fault::Network { .. } | Fault::NoSuchReference { .. })
            || OWN.iter().any(|words| found.text.contains(words))
            || found.tool.as_deref().is_some_and(|tool| ["ssh", "docker", "kubectl"].contains(&tool))
            || matches!(&found.fault, Fault::CommandNotFound { name } if ["ssh", "docker", "kubectl"].contains(&name.as_str()))
    })
}

/// The host or container that a command works on, if not here.
#[must_use]
pub fn remote(words: &[String]) -> Option<String> {
    let words = look_through_words(words);
    let (name, arguments) = words.split_first()?;
    match base(name) {
        "ssh" => operand(
            arguments,
            &[
                "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o", "-p",
                "-Q", "-R", "-S", "-W", "-w",
            ],
        ),
        "docker" | "podman" | "nerdctl" | "kubectl" | "oc" => {
            let at = arguments.iter().position(|word| word == "exec")?;
            operand(
                arguments.get(at + 1..)?,
                &["-u", "--user", "-e", "--env", "-w", "--workdir", "-n", "--namespace", "-c", "--container"],
            )
        }
        _ => None,
    }
}

/// The first word that is no option and no option's value.
fn operand(arguments: &[String], valued: &[&str]) -> Option<String> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return Some(word.clone());
        }
        if valued.contains(&word.as_str()) {
            words.next();
        }
    }
    None
}

/// Makes a file of a message absolute; the script's own name in any spelling is the script.
fn resolve(input: &ReportInput<'_>, file: &Path) -> PathBuf {
    // The text of `bash -c` has no file.
    if file.as_os_str().is_empty() {
        return PathBuf::new();
    }
    let path = absolute(input.scene.cwd(), file);
    let Some((script, _)) = input.script else { return path };
    let same_name = path.file_name() == script.file_name();
    // A script that changed its folder names itself by a path that is no longer right.
    if same_name && input.scene.facts(&path).is_none() { script.to_path_buf() } else { path }
}

/// A line of a file.
fn line_of(input: &ReportInput<'_>, file: &Path, line: u32) -> Option<String> {
    text_of(input, file)?.lines().nth((line as usize).checked_sub(1)?).map(str::to_owned)
}

/// The text of the script or of another file of this machine, bounded.
pub fn text_of(input: &ReportInput<'_>, file: &Path) -> Option<String> {
    match input.script {
        Some((script, text)) if script == file => Some(text.to_owned()),
        _ => input.scene.read(file, 256 * 1024).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    }
}
