//! Python: tracebacks, also chained ones, and syntax errors with their caret.

use selfheal_core::fault::Fault;
use selfheal_core::outcome::Class;

use super::{Block, Found, Line, Spot, anonymous, bounded, cut};
use crate::survived::SURVIVED;
use crate::template::unquote;

const HEAD: &str = "Traceback (most recent call last):";
/// How many lines one traceback may have.
const MOST: usize = 400;

/// The words between the tracebacks of a chain.
const CHAINS: [&str; 2] = [
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
];

/// Reads a traceback, or the `File "x", line N` of a syntax error, that begins at the first line.
pub fn block(lines: &[Line<'_>]) -> Block {
    let first = lines.first()?;
    if first.text.contains(HEAD) || first.text.contains(GROUP) {
        let (mut found, taken) = chain(lines)?;
        if is_logged(lines, taken) {
            // The program went on and ended by another one.
            found.iter_mut().for_each(|one| one.weight = SURVIVED);
        }
        return Some((found, taken));
    }
    let spot = frame(first.text)?;
    if lines.get(1).is_some_and(|line| line.text == "Failed example:") {
        return Some((vec![example(lines, spot)?], 3));
    }
    let (found, taken) = body(lines, vec![spot])?;
    matches!(found.fault, Fault::Syntax { .. }).then_some((vec![found], taken))
}

/// An example of a documentation that gives something else: `File "x.py", line 3, in x.double`, `Failed example:`.
fn example(lines: &[Line<'_>], spot: Spot) -> Option<Found> {
    let line = lines.get(2).or(lines.first())?;
    let message = bounded(&format!("Failed example: {}", line.text.trim()));
    let found = Found::new(Fault::Mismatch { message: message.clone() }, line);
    Some(Found { text: message, ..found }.at(vec![spot]))
}

/// Tracebacks that belong together: the last is what ended the program, those before it are what it came from.
fn chain(lines: &[Line<'_>]) -> Block {
    let (mut links, mut taken) = (Vec::new(), 0);
    while let Some(rest) = lines.get(taken..).filter(|_| links.len() < 20) {
        let Some(at) = rest.first().and_then(|line| head(line.text)) else { break };
        let Some((found, used)) = traceback(rest, at) else { break };
        links.push(found);
        taken += used;
        let Some(next) = lines.get(taken..).and_then(joined) else { break };
        taken += next;
    }
    let mut last = links.pop()?;
    if let Some(cause) = links.last().filter(|_| matches!(last.fault, Fault::Other { .. })) {
        // Its own words say where and what, the cause says of which kind.
        last.fault = cause.fault.clone();
        last.weight = last.weight.max(cause.weight);
    }
    if let Some(there) = links.first().filter(|first| first.text == last.text && !first.spots.is_empty()) {
        // The same exception, brought over from another process: it happened there.
        last.spots.clone_from(&there.spots);
    }
    for link in &mut links {
        link.weight = link.weight.min(last.weight.saturating_sub(10));
        link.order = last.order.saturating_add(1);
    }
    links.push(last);
    links.reverse();
    Some((links, taken))
}

/// Whether a traceback was only shown: a later one ended the program. What ends a program is told from `<module>` on; one
/// that is not, or is of the same file, was caught and shown before it.
fn is_logged(lines: &[Line<'_>], taken: usize) -> bool {
    let outermost = |lines: &[Line<'_>]| {
        let at = lines.iter().rposition(|line| line.text.contains(HEAD) || line.text.contains(GROUP))?;
        lines
            .get(at..)?
            .iter()
            .take(MOST)
            .filter_map(|line| frame(line.text.trim_start_matches([' ', '|'])))
            .next()
    };
    let is_module = |spot: &Spot| spot.function.as_deref() == Some("<module>");
    let Some(own) = lines.get(..taken).and_then(outermost) else { return false };
    let mut later = lines.get(taken..).unwrap_or_default();
    while let Some(at) = later.iter().position(|line| line.text.contains(HEAD)) {
        later = later.get(at + 1..).unwrap_or_default();
        let begins = later.first().and_then(|line| frame(line.text)).filter(is_module);
        if begins.is_some_and(|spot| !is_module(&own) || spot.file == own.file && spot.line != own.line) {
            return true;
        }
    }
    false
}

/// Where the frames of a traceback begin in its lines; a group draws a border before them.
fn head(text: &str) -> Option<usize> {
    if let Some(at) = text.find(GROUP) {
        return Some(at);
    }
    text.find(HEAD)
}

const GROUP: &str = "+ Exception Group Traceback (most recent call last):";

/// How many lines join a traceback with the next one of its chain.
fn joined(lines: &[Line<'_>]) -> Option<usize> {
    let at =
        lines.iter().take(4).position(|line| CHAINS.contains(&line.text.trim_start_matches(['|', ' '])))?;
    let next = lines
        .iter()
        .skip(at + 1)
        .take(4)
        .position(|line| line.text.contains(HEAD) || line.text.contains(GROUP))?;
    Some(at + 1 + next)
}

/// A line of a traceback without what stands before it.
fn inner<'t>(line: &Line<'t>, indent: usize) -> &'t str {
    let text = line.text.get(indent..).unwrap_or(line.text);
    text.strip_prefix("| ").or_else(|| text.strip_prefix('|')).unwrap_or(text)
}

fn traceback(lines: &[Line<'_>], indent: usize) -> Option<(Found, usize)> {
    let mut spots = Vec::new();
    let mut taken = 1;
    for line in lines.iter().skip(1).take(MOST) {
        let text = inner(line, indent);
        if let Some(spot) = frame(text) {
            spots.push(spot);
        } else if !text.starts_with(' ') {
            break;
        }
        taken += 1;
    }
    let line = lines.get(taken)?;
    let mut found = exception(inner(line, indent), line)?;
    if spots.last().is_some_and(|spot| spot.file.ends_with("subprocess.py")) {
        found.fault = started(found.fault);
    }
    let below = lines.get(taken + 1..).unwrap_or_default();
    let group = lines.first().is_some_and(|line| line.text.contains(GROUP));
    let (more, mark) = match group {
        true => (
            below.iter().take(MOST).take_while(|line| line.text.trim_start().starts_with(['|', '+'])).count(),
            None,
        ),
        false => document(below),
    };
    let members = below.get(..more).unwrap_or_default();
    let by_library = spots.last().is_some_and(|spot| !is_own(&spot.file.to_string_lossy()));
    if group
        && by_library
        && let Some(leaf) = leaf(members)
    {
        // A library only gathered what failed elsewhere, and its own words say no more than that.
        return Some((leaf, taken + 1 + more));
    }
    if group && matches!(found.fault, Fault::Other { .. }) {
        // A group is of the kind of its members.
        if let Some(member) = members.iter().find_map(member) {
            found.fault = member.fault;
            found.weight = found.weight.max(member.weight);
        }
    }
    if let Some((words, spot)) = mark {
        found.text = format!("{} {words}", found.text);
        spots.insert(0, spot);
        return Some((Found { spots: own_first(spots), ..found }, taken + 1 + more));
    }
    Some((found.at(telling(spots)), taken + 1 + more))
}

/// The first member of a group, with its own place and words.
fn leaf(members: &[Line<'_>]) -> Option<Found> {
    let mut spots = Vec::new();
    for line in members {
        let text = line.text.trim_start_matches([' ', '+', '-']);
        let Some(text) = text.strip_prefix("| ") else { continue };
        if let Some(spot) = frame(text) {
            spots.push(spot);
        } else if text.contains(HEAD)
            || text.contains("Exception Group")
            || text.starts_with("ExceptionGroup")
        {
            spots.clear();
        } else if !text.starts_with([' ', '|', '+'])
            && let Some(found) = exception(text, line).filter(|_| !spots.is_empty())
        {
            return Some(found.at(telling(spots)));
        }
    }
    None
}

/// The exception of a member of a group: `    | ValueError: row 1`.
fn member(line: &Line<'_>) -> Option<Found> {
    let text = line.text.trim_start_matches([' ', '|']);
    let unlike = ["Traceback", "Exception Group", "ExceptionGroup", "+"];
    let indented = line.text.rsplit_once("| ").is_some_and(|(_, text)| text.starts_with(' '));
    if indented || unlike.iter().any(|word| text.starts_with(word)) {
        return None;
    }
    exception(text, line).filter(|found| !matches!(found.fault, Fault::Other { .. }))
}

/// Where a parser of YAML stopped: `  in "conf.yml", line 2, column 5`, and the words of the message above it.
fn document(lines: &[Line<'_>]) -> (usize, Option<(String, Spot)>) {
    let mark = |text: &str| {
        let (file, behind) = text.trim_start().strip_prefix("in \"")?.split_once("\", line ")?;
        let (line, column) = behind.split_once(", column ")?;
        Some(Spot {
            column: column.trim_end_matches(':').parse().ok(),
            ..Spot::new(file, line.parse().ok()?)
        })
    };
    let ended = |line: &&Line<'_>| !line.text.is_empty() && !line.text.starts_with("Traceback");
    let taken = lines.iter().take(12).take_while(ended).count();
    let lines = lines.get(..taken).unwrap_or_default();
    let Some(at) = lines.iter().rposition(|line| mark(line.text).is_some()) else { return (0, None) };
    let words = lines
        .get(..at)
        .unwrap_or_default()
        .iter()
        .map(|line| line.text)
        .filter(|text| !text.starts_with(' '));
    let words = bounded(&words.collect::<Vec<_>>().join(", "));
    (at + 1, lines.get(at).and_then(|line| mark(line.text)).map(|spot| (words, spot)))
}

/// The program's own frames after a place in a document: where there are none, the document is what is meant.
fn own_first(spots: Vec<Spot>) -> Vec<Spot> {
    let document = spots.first().cloned();
    let frames = telling(spots.into_iter().skip(1).collect());
    let real = document.filter(|spot| !spot.file.to_string_lossy().starts_with('<'));
    match frames.is_empty() {
        true => real.into_iter().collect(),
        false => frames.into_iter().chain(real).collect(),
    }
}

/// What a missing or refused file means where a process was to be started.
fn started(fault: Fault) -> Fault {
    match fault {
        Fault::NoSuchPath { path } => Fault::CommandNotFound { name: path.to_string_lossy().into_owned() },
        Fault::PermissionDenied { path: Some(path) } => Fault::NotExecutable { path },
        other => other,
    }
}

/// A syntax error: the place, the line of code, the caret, the message.
fn body(lines: &[Line<'_>], spots: Vec<Spot>) -> Option<(Found, usize)> {
    let (at, line) = lines
        .iter()
        .enumerate()
        .skip(1)
        .take(6)
        .find(|(_, line)| !line.text.starts_with(' ') && !line.text.is_empty())?;
    let column = lines.get(2).and_then(|code| caret(code.text));
    let spots = spots.into_iter().map(|spot| Spot { column, ..spot }).collect();
    Some((exception(line.text, line)?.at(spots), at + 1))
}

/// The column of a caret, counted without the four blanks that Python puts before the code. It is that of the code as
/// shown: Python takes the indentation off.
fn caret(text: &str) -> Option<u32> {
    let at = text.find('^')?;
    text.get(..at)?.trim().is_empty().then_some(())?;
    u32::try_from(at.saturating_sub(3)).ok()
}

/// `  File "x.py", line 3, in main`.
fn frame(text: &str) -> Option<Spot> {
    let text = text.trim_start().strip_prefix("File \"")?;
    let (file, behind) = text.split_once("\", line ")?;
    let (line, function) = match behind.split_once(", in ") {
        Some((line, function)) => (line, Some(cut(function.trim(), 200).to_owned())),
        None => (behind.trim(), None),
    };
    Some(Spot { function, ..Spot::new(cut(file, 1_000), line.parse().ok()?) })
}

/// Puts the innermost frame of the user's own code first, then the others from the inside out.
fn telling(mut spots: Vec<Spot>) -> Vec<Spot> {
    spots.reverse();
    let own = spots.iter().position(|spot| is_own(&spot.file.to_string_lossy()));
    // A failure in nothing but libraries is not one of theirs: it was called from the command line, or by a text that
    // has no file.
    let Some(own) = own else {
        spots.retain(|spot| anonymous::is_python(&spot.file.to_string_lossy()));
        spots.truncate(1);
        return spots;
    };
    if own < spots.len() {
        let spot = spots.remove(own);
        spots.insert(0, spot);
    }
    spots.truncate(8);
    spots
}

fn is_own(file: &str) -> bool {
    const FOREIGN: [&str; 8] = [
        "site-packages/",
        "dist-packages/",
        "/lib/python",
        "/lib64/python",
        "<frozen",
        "<string>",
        "<stdin>",
        "/usr/lib/",
    ];
    !FOREIGN.iter().any(|part| file.contains(part))
}

/// `package.Error: message`, or only `KeyboardInterrupt`.
fn exception(text: &str, line: &Line<'_>) -> Option<Found> {
    let (name, message) = match text.split_once(':') {
        Some((name, message)) => (name, message.trim()),
        None => (text.trim(), ""),
    };
    let plain = !name.is_empty()
        && name.len() < 120
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
    plain.then(|| {
        let mut found = Found::new(fault(name, message, line), line);
        found.tool = Some("python".to_owned());
        found.weight = found.weight.max(70);
        found.text = text.to_owned();
        // Nothing outside changed: the modules of the job ask for each other.
        found.class = message.contains("circular import").then_some(Class::Logic);
        found
    })
}

/// What an exception means: by its message where a known one tells more, else by its type.
fn fault(name: &str, message: &str, line: &Line<'_>) -> Fault {
    let inner = Line { rest: message, spot: None, ..line.clone() };
    if let Some(fault) = super::python_faults::by_message(name, message) {
        return fault;
    }
    if is_system(name)
        && let Some(found) = super::errno::line(&inner)
    {
        return found.fault;
    }
    by_type(name, message).unwrap_or_else(|| known_message(&inner, name, message))
}

fn is_system(name: &str) -> bool {
    const SYSTEM: [&str; 12] = [
        "OSError",
        "IOError",
        "FileNotFoundError",
        "PermissionError",
        "FileExistsError",
        "IsADirectoryError",
        "NotADirectoryError",
        "BlockingIOError",
        "shutil.Error",
        "EnvironmentError",
        "shutil.SameFileError",
        "ChildProcessError",
    ];
    SYSTEM.contains(&name)
}

/// A message that the tables of other tools know (a database's, a server's), else the whole line.
fn known_message(inner: &Line<'_>, name: &str, message: &str) -> Fault {
    super::by_tables(inner)
        .map_or_else(|| Fault::Other { message: bounded(&format!("{name}: {message}")) }, |found| found.fault)
}

fn by_type(name: &str, message: &str) -> Option<Fault> {
    let short = name.rsplit('.').next().unwrap_or(name);
    let text = || bounded(message);
    Some(match short {
        "SyntaxError" | "IndentationError" | "TabError" => Fault::Syntax { near: None, message: text() },
        "KeyError" => Fault::KeyMissing { key: unquote(message).to_owned() },
        "IndexError" => Fault::IndexOutOfRange { message: text() },
        "TypeError" => Fault::WrongType { message: text() },
        "ValueError"
        | "JSONDecodeError"
        | "InvalidOperation"
        | "ZeroDivisionError"
        | "OverflowError"
        | "ConversionSyntax"
        | "ParserError"
        | "ParseError"
        | "BadZipFile"
        | "BadGzipFile"
        | "YAMLError"
        | "ScannerError"
        | "TOMLDecodeError"
        | "ParsingError"
        | "MissingSectionHeaderError"
        | "DuplicateOptionError"
        | "DuplicateSectionError" => Fault::BadValue { value: None, message: text() },
        "UnicodeError" | "LookupError" if message.contains("encoding") => {
            Fault::Encoding { codec: String::new() }
        }
        "Error" if name == "locale.Error" => Fault::Encoding { codec: String::new() },
        "MemoryError" => Fault::OutOfMemory,
        "EOFError" if message.contains("reading a line") => Fault::NeedsTerminal,
        "AssertionError" => Fault::Mismatch { message: text() },
        "NoSectionError" | "NoOptionError" => {
            // `No section: 'db'`, `No option 'user' in section: 'db'`.
            let key = message.split('\'').nth(1).unwrap_or(message);
            Fault::KeyMissing { key: key.to_owned() }
        }
        "CalledProcessError" => called_process(message)?,
        "TimeoutExpired" => Fault::TimedOut,
        "TimeoutError" | "ReadTimeout" | "ConnectTimeout" | "ReadTimeoutError" | "ConnectTimeoutError" => {
            Fault::Network { how: "timeout".into(), host: None }
        }
        "ConnectionRefusedError" => Fault::Network { how: "refused".into(), host: None },
        "BrokenPipeError" => Fault::SilentExit { code: 141 },
        "ConnectionResetError"
        | "RemoteDisconnected"
        | "ConnectionAbortedError"
        | "IncompleteRead"
        | "ProtocolError" => Fault::Network { how: "reset".into(), host: None },
        "gaierror" => Fault::Network { how: "resolve".into(), host: None },
        "SSLError" | "SSLCertVerificationError" => Fault::Network { how: "tls".into(), host: None },
        _ => return None,
    })
}

/// `Command '['x', '1']' returned non-zero exit status 2.`
fn called_process(message: &str) -> Option<Fault> {
    let (_, status) = message.rsplit_once("exit status ")?;
    Some(Fault::SilentExit { code: status.trim_end_matches('.').parse().ok()? })
}
