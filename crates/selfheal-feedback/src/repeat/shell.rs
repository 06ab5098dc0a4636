//! What a shell text runs of which nothing is known: doubt means no.
//!
//! The table knows commands by name. A script that is started is read in turn, as far as it is text on this machine; what
//! is left is a program that may do anything.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use selfheal_core::scene::{Scene, absolute};
use selfheal_syntax::shell::{Command, CommandKind, Script, Word};

use super::made::Made;
use super::table::{Verdict, judge};
use super::{in_shell, short, source};
use crate::inner::look_through_words;
use crate::words::{base, is_assignment, is_shell};

/// Scripts that start scripts are followed this deep.
const DEPTH: u32 = 3;
/// Bytes of a script that are read.
const LONGEST: usize = 256 * 1024;
/// Bytes of a shell text that is parsed.
const LONGEST_SHELL: usize = 64 * 1024;
/// Bytes of a line of one.
const LONGEST_LINE: usize = 4 * 1024;
/// Commands and redirections that are looked at.
const MOST: usize = 2_000;
/// Words of the grammar with which a probe begins the trace of a compound command.
const GRAMMAR: [&str; 8] = ["for", "case", "select", "while", "until", "if", "in", "coproc"];
/// What stands for a value that is not known.
pub const ANYTHING: &str = "${}";
/// Interpreters that take a script as their first word.
const INTERPRETERS: [&str; 12] =
    ["bash", "sh", "dash", "ksh", "zsh", "python", "python3", "python2", "perl", "ruby", "node", "php"];

/// Reads what a job starts.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    scene: Option<&'a dyn Scene>,
    script: Option<&'a Path>,
    depth: u32,
}

impl<'a> Reader<'a> {
    /// Of a job with this script.
    pub fn new(scene: Option<&'a dyn Scene>, script: Option<&'a Path>) -> Self {
        Self { scene, script, depth: DEPTH }
    }

    /// Whether the script is a makefile.
    pub fn is_makefile(&self) -> bool {
        let name = self.script.and_then(Path::file_name).map(|name| name.to_string_lossy().to_lowercase());
        name.is_some_and(|name| name.ends_with("makefile") || name.ends_with(".mk"))
    }

    /// What a shell text runs, up to a line, that nothing is known of, or that appends to a file that is not its own.
    pub fn doubt(&self, text: &str, end: u32) -> Option<String> {
        let Some(script) = parse(text) else {
            return Some("its text cannot be read".to_owned());
        };
        let functions: BTreeSet<&str> = script.functions().iter().map(|found| found.name.as_str()).collect();
        if script.commands().len() > MOST || script.redirects().len() > MOST {
            return Some("its text is too long to be read".to_owned());
        }
        let mut commands = script.commands().iter().filter(|command| command.lines.0 <= end);
        commands
            .find_map(|command| {
                let words = words_of(&script, command);
                let own = words.first().is_some_and(|name| functions.contains(name.as_str()));
                if own || words.is_empty() {
                    return None;
                }
                self.doubt_about_words(&words).map(|why| format!("line {} {why}", command.lines.0))
            })
            .or_else(|| appends(&script, text, end))
    }

    /// The same for the words of one command that a probe saw.
    pub fn doubt_about(&self, words: &[String], script: &str) -> Option<String> {
        // What a program opens is a step of its probe and no command; what it does to files is for others.
        if matches!(words, [name, _, mode] if name == "open" && mode.chars().all(|c| "rwaxbtU+".contains(c)))
        {
            return None;
        }
        let parsed = parse(script);
        let own = |name: &String| {
            parsed.as_ref().is_some_and(|script| script.functions().iter().any(|found| &found.name == name))
        };
        if words.first().is_some_and(own) { None } else { self.doubt_about_words(words) }
    }

    fn doubt_about_words(&self, words: &[String]) -> Option<String> {
        let lead = words.iter().take_while(|word| sets(word)).count();
        let words = words.get(lead..).filter(|rest| !rest.is_empty())?;
        if words.first().is_some_and(|word| GRAMMAR.contains(&word.as_str()) || word.starts_with("((")) {
            return None;
        }
        match judge(words) {
            // What it does to files is for those who know which files are its own.
            Verdict::Again | Verdict::Files(_) => return None,
            Verdict::Once(why) => return Some(format!("has `{}`, which {why}", short(words))),
            Verdict::Unknown => {}
        }
        let inner = look_through_words(words);
        let name = base(inner.first()?);
        let text = match name {
            "trap" => inner.get(1).cloned(),
            _ => line_of(&inner).map(str::to_owned),
        };
        if let Some(text) = text {
            // A trap that ignores a signal or is taken away; quotes inside of quotes may be left of it.
            let empty = text == "-" || text.chars().all(|c| matches!(c, '"' | '\'' | ' '));
            // The line inside of the text is no line of the script.
            return if empty { None } else { self.deeper()?.of_text(&text).map(without_line) };
        }
        let unknown = || format!("runs `{}`, of which nothing is known", short(words));
        let Some(text) = self.script_behind(&inner) else { return Some(unknown()) };
        let Some(deeper) = self.deeper() else { return Some(unknown()) };
        deeper.of_text(&text).map(|why| format!("runs {}, whose {why}", short(words)))
    }

    fn deeper(&self) -> Option<Self> {
        Some(Self { depth: self.depth.checked_sub(1)?, ..*self })
    }

    /// What is wrong with the text of a script that is started.
    fn of_text(&self, text: &str) -> Option<String> {
        match is_shell(text) {
            true => in_shell(text, u32::MAX).or_else(|| self.doubt(text, u32::MAX)),
            false => super::program_text(self, text, None),
        }
    }

    /// What a program starts, up to a line, that must not happen twice or that nothing is known of.
    pub fn doubt_of_started(&self, commands: &[(u32, Vec<String>)], end: u32) -> Option<String> {
        commands.iter().filter(|(line, _)| *line <= end).find_map(|(line, words)| match judge(words) {
            Verdict::Once(why) | Verdict::Files(why) => {
                Some(format!("line {line} starts `{}`, which {why}", short(words)))
            }
            Verdict::Again | Verdict::Unknown => {
                self.doubt_about_words(words).map(|why| format!("line {line} {why}"))
            }
        })
    }

    /// The modules that a program uses, up to a line, and that nothing is known of.
    pub fn doubt_of_program(&self, text: &str, end: u32) -> Option<String> {
        let language = source::language(text, self.script);
        source::modules(language, text, end).into_iter().find_map(|(line, module)| {
            if super::table::is_harmless_module(language, &module) {
                return None;
            }
            let unknown = || format!("line {line} uses {module}, of which nothing is known");
            let files = source::files_of(language, &module);
            let read = files.iter().find_map(|file| self.read_beside(file));
            let Some((text, deeper)) = read.zip(self.deeper()) else { return Some(unknown()) };
            deeper.of_text(&text).map(|why| format!("line {line} uses {module}, whose {why}"))
        })
    }

    /// The text of the script that a command runs, if it runs one that can be read.
    fn script_behind(&self, words: &[String]) -> Option<String> {
        let (first, rest) = words.split_first()?;
        let name = base(first);
        let file = if INTERPRETERS.contains(&name) || name == "." || name == "source" {
            rest.iter().find(|word| !word.starts_with('-'))?
        } else if first.contains('/') {
            first
        } else {
            return self.scene?.which(first).first().and_then(|path| self.read(path));
        };
        self.read_beside(Path::new(file))
    }

    fn read_beside(&self, file: &Path) -> Option<String> {
        let scene = self.scene?;
        let folder = self.script.and_then(Path::parent).map(|folder| absolute(folder, file));
        let places: Vec<PathBuf> =
            [Some(absolute(scene.cwd(), file)), folder].into_iter().flatten().collect();
        places.iter().find_map(|path| self.read(path))
    }

    /// Text only, and whole.
    fn read(&self, path: &Path) -> Option<String> {
        let bytes = self.scene?.read(path, LONGEST + 1)?;
        let text = String::from_utf8(bytes).ok()?;
        (text.len() <= LONGEST && !text.contains('\0')).then_some(text)
    }
}

/// A sentence about a line of a text without the line: `line 1 runs x` is `runs x`.
fn without_line(why: String) -> String {
    let rest = why.strip_prefix("line ").and_then(|rest| rest.split_once(' '));
    match rest.filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit())) {
        Some((_, said)) => said.to_owned(),
        None => why,
    }
}

/// A shell text of ordinary size and shape.
pub fn parse(text: &str) -> Option<Script> {
    let ordinary = text.len() <= LONGEST_SHELL && text.lines().all(|line| line.len() <= LONGEST_LINE);
    if ordinary { Script::parse(text).ok() } else { None }
}

/// `x=1`, `x+=1`, `x[0]=1`.
fn sets(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name.trim_end_matches('+'));
    let name = name.map(|name| name.split_once('[').map_or(name, |(name, _)| name));
    name.is_some_and(|name| is_assignment(&format!("{name}=")))
}

/// The last line that can have run when a line failed: the end of the loops around it.
pub fn end_of_loops(text: &str, failed: u32) -> u32 {
    let Some(script) = parse(text) else { return u32::MAX };
    let around = script.loops().iter().filter(|found| found.line <= failed && failed <= found.done_line);
    around.map(|found| found.done_line).max().unwrap_or(failed)
}

/// The text of `sh -c TEXT`.
pub fn line_of(words: &[String]) -> Option<&str> {
    let (shell, rest) = words.split_first()?;
    let shell = matches!(base(shell), "sh" | "bash" | "dash" | "zsh" | "ksh");
    let at = rest.iter().position(|word| {
        word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.ends_with('c'))
    });
    rest.get(at.filter(|_| shell)? + 1).map(String::as_str)
}

/// The recipes of a makefile as shell text, its variables as such of the shell.
pub fn recipes(makefile: &str) -> String {
    let lines = makefile.lines().filter_map(|line| line.strip_prefix('\t'));
    let lines = lines.map(|line| line.trim_start_matches(['@', '-', '+', ' ']).replace("$$", "$"));
    let mut out: String = lines.map(|line| line + "\n").collect();
    for sign in ["$(", "$@", "$<", "$^"] {
        if sign != "$(" {
            out = out.replace(sign, "$target");
        }
    }
    let mut text = String::new();
    let mut rest = out.as_str();
    while let Some((before, behind)) = rest.split_once("$(") {
        text.push_str(before);
        let name = behind.split(')').next().unwrap_or_default();
        let variable = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        match behind.split_once(')').filter(|_| variable && !name.is_empty()) {
            Some((name, after)) => {
                text.push_str(&format!("${{{name}}}"));
                rest = after;
            }
            None => {
                text.push_str("$(");
                rest = behind;
            }
        }
    }
    text + rest
}

/// The words of a command as far as they are known; empty where it starts nothing.
fn words_of(script: &Script, command: &Command) -> Vec<String> {
    if command.kind != CommandKind::Simple {
        return Vec::new();
    }
    let value = |(at, word): (usize, &Word)| {
        word.literal_or_pattern().unwrap_or_else(|| match at {
            0 => constant(script, word).unwrap_or_else(|| ANYTHING.to_owned()),
            _ => word.text.trim_matches('"').to_owned(),
        })
    };
    let mut words: Vec<String> = command.words.iter().enumerate().map(value).collect();
    // A tool in a variable may come with its options: `$CURL url`.
    if let Some(first) = words.first().filter(|first| first.contains(' ')).cloned() {
        words.splice(..1, first.split_whitespace().map(str::to_owned));
    }
    words
}

/// The value of a variable that is set once, to plain text.
fn constant(script: &Script, word: &Word) -> Option<String> {
    let mut used = word.expansions();
    let name = &used.next().filter(|_| word.text.trim_matches('"').starts_with('$'))?.name;
    let mut values = script.assignments().filter(|assignment| &assignment.name == name);
    let value = values.next()?.value.as_ref()?.literal()?;
    values.next().is_none().then_some(value)
}

/// A redirection that extends a file which the script does not make itself.
fn appends(script: &Script, text: &str, end: u32) -> Option<String> {
    let made = Made::by(text);
    script.redirects().into_iter().find_map(|redirect| {
        let line = script.lines().line_of(redirect.span.start);
        let target = redirect.target.as_ref().map(|word| word.text.replace(['"', '\''], ""))?;
        let own = matches!(target.as_str(), "/dev/stderr" | "/dev/stdout" | "/dev/tty") || made.has(&target);
        (redirect.operator.ends_with(">>") && line <= end && !own)
            .then(|| format!("line {line} appends to {target}"))
    })
}
