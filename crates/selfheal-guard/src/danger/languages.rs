//! Danger in the other languages: strings that are run are judged as shell, calls by tables of patterns, and lines of shell
//! inside of Makefiles, YAML and Dockerfiles as what they are.

use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_core::admission::Danger::{self, High, Medium};
use selfheal_syntax::Language;

use super::shell::places::{Cwd, Place, Places};
use super::{Operation, shell};
use crate::scope::Roots;

/// One row: languages, pattern, danger, rule, why.
struct Row(&'static [Language], &'static str, Danger, &'static str, &'static str);

const PERL: &[Language] = &[Language::Perl];
const NODE: &[Language] = &[Language::Node];
const RUBY: &[Language] = &[Language::Ruby];

const ROWS: &[Row] = &[
    Row(PERL, r"\beval\s*[($\x22'p]", High, "danger/hidden-command", "it runs a text as program"),
    Row(
        PERL,
        r"\bkill\s*\(?\s*['\x22]?-?\w+['\x22]?\s*,\s*-?1\b",
        High,
        "danger/signals",
        "it signals processes that are not its own",
    ),
    Row(
        PERL,
        r"\bIO::Socket|\bLWP::UserAgent|->post\(|\bNet::(SMTP|FTP)",
        High,
        "danger/network",
        "it opens a connection to another host",
    ),
    Row(
        PERL,
        r#"open\s*\(?[^;]*["'](\|-|-\|)["']|open\s*\(?[^;]*["']\s*\|"#,
        High,
        "danger/hidden-command",
        "it talks to a program by a pipe",
    ),
    Row(PERL, r"\bunlink\s*\(?\s*(glob|<)", Medium, "danger/delete", "it deletes files"),
    Row(PERL, r"\b(rmtree|remove_tree)\b", Medium, "danger/delete", "it deletes whole folders"),
    Row(
        PERL,
        r"\bfork\b[^;]*while|while\s*\(?1\)?[^;]*fork",
        High,
        "danger/exhaustion",
        "it starts itself again and again",
    ),
    Row(NODE, r"\beval\b", High, "danger/hidden-command", "it runs a text as program"),
    Row(
        NODE,
        r"\bnew\s+Function\s*\(|\bFunction\s*\(|vm\.run\w*\(",
        High,
        "danger/hidden-command",
        "it runs a text as program",
    ),
    Row(
        NODE,
        r#"method\s*:\s*["'](POST|PUT|DELETE|PATCH)|axios\.(post|put|delete|patch)\("#,
        High,
        "danger/sends",
        "it sends data to another host",
    ),
    Row(
        NODE,
        r"JSON\.stringify\(\s*process\.env",
        High,
        "danger/sends",
        "it gives the whole environment away",
    ),
    Row(
        NODE,
        r"process\.kill\(\s*-?1\b",
        High,
        "danger/signals",
        "it signals processes that are not its own",
    ),
    Row(
        NODE,
        r#"require\(\s*["'](net|dgram|tls)["']\s*\)"#,
        High,
        "danger/network",
        "it opens a connection to another host",
    ),
    Row(
        NODE,
        r"require\(\s*[^\x22'`)\s]",
        High,
        "danger/hidden-command",
        "it loads a module by a computed name",
    ),
    Row(
        NODE,
        r"(unlinkSync|rmSync|rmdirSync|\.rm|\.unlink|\.rmdir|rimraf)\s*\(",
        Medium,
        "danger/delete",
        "it deletes files",
    ),
    Row(
        RUBY,
        r"\b(instance_)?eval\b|\bclass_eval\b|\bsend\s*\(\s*[^:\s]",
        High,
        "danger/hidden-command",
        "it runs a text as program",
    ),
    Row(RUBY, r"Process\.kill\b", High, "danger/signals", "it signals processes"),
    Row(
        RUBY,
        r"Net::HTTP(\.post|::Post|::Put|::Delete)|TCPSocket|UNIXSocket",
        High,
        "danger/sends",
        "it talks to another host",
    ),
    Row(
        RUBY,
        r"(FileUtils\.(rm|rm_r|rm_rf|remove\w*)|File\.(delete|unlink)|Dir\.(rmdir|delete))\b",
        Medium,
        "danger/delete",
        "it deletes files",
    ),
];

/// Calls whose strings are run by a shell, or as the words of one command.
const RUNS: &str = r"\b(system|exec|execSync|execFile|execFileSync|spawn|spawnSync|popen|qx|IO\.popen|Open3\.\w+|capture2e?|fork_exec)\b|%x|`";

/// Calls that write or delete the files that their strings name.
const TOUCHES: &str = r"\b(unlink|unlinkSync|rm|rmSync|rmdir|rmdirSync|rm_rf|rm_r|rmtree|remove_tree|writeFile\w*|appendFile\w*|createWriteStream|truncate\w*|rename\w*|chmod\w*|chown\w*|copyFile\w*|symlink\w*|open|write|File|Dir|FileUtils|Pathname|glob|remove_entry\w*)\b";

/// The rows, and what marks a line that runs or touches something, compiled once.
type Patterns = (Vec<(Regex, &'static Row)>, Option<Regex>, Option<Regex>);

fn patterns() -> &'static Patterns {
    static ONCE: OnceLock<Patterns> = OnceLock::new();
    ONCE.get_or_init(|| {
        let rows = ROWS.iter().filter_map(|row| Regex::new(row.1).ok().map(|regex| (regex, row))).collect();
        (rows, Regex::new(RUNS).ok(), Regex::new(TOUCHES).ok())
    })
}

/// The dangerous operations of a text.
pub fn operations(language: Language, text: &str, roots: &Roots) -> Option<Vec<Operation>> {
    match language {
        Language::Make | Language::Yaml | Language::Docker => lines_of_shell(language, text, roots),
        Language::Perl | Language::Node | Language::Ruby => Some(by_tables(language, text, roots)),
        Language::Awk => shell::operations(&format!("awk '{}'", text.replace('\'', "'\\''")), roots),
        _ => Some(Vec::new()),
    }
}

fn by_tables(language: Language, text: &str, roots: &Roots) -> Vec<Operation> {
    let (rows, runs, touches) = patterns();
    let mut out = Vec::new();
    let comment = if language == Language::Node { "//" } else { "#" };
    let joined = concatenated(text);
    for (at, line) in joined.lines().enumerate() {
        let number = at as u32 + 1;
        if line.trim_start().starts_with(comment) {
            continue;
        }
        let bare = without_strings(line);
        for (regex, Row(languages, _, danger, rule, why)) in rows {
            if languages.contains(&language)
                && (regex.is_match(&bare)
                    || (regex.as_str().contains("\\x22") || regex.as_str().contains("[\"'"))
                        && regex.is_match(line))
            {
                out.push(operation(number, *danger, rule, why, line));
            }
        }
        if runs.as_ref().is_some_and(|regex| regex.is_match(&bare)) {
            out.extend(run(number, line, roots));
        }
        if touches.as_ref().is_some_and(|regex| regex.is_match(&bare)) {
            out.extend(touched(number, line, roots));
        }
    }
    temporary(text, &mut out);
    out
}

/// Deletes of what the program itself made as temporary are no danger.
fn temporary(text: &str, out: &mut Vec<Operation>) {
    let makes = ["mkdtemp", "mkdtempSync", "Dir.mktmpdir", "tempdir(", "Tempfile"]
        .iter()
        .any(|call| text.contains(call));
    if makes {
        out.retain(|operation| operation.rule != "danger/delete" || operation.danger == High);
    }
}

fn operation(line: u32, danger: Danger, rule: &str, why: &str, subject: &str) -> Operation {
    let subject = subject.trim().chars().take(160).collect();
    Operation { line, danger, rule: rule.to_owned(), why: why.to_owned(), subject }
}

/// Strings that are added or joined become one: `"r" . "m"`, `"r" + "m"`.
fn concatenated(text: &str) -> String {
    let mut out = text.to_owned();
    for glue in ["\" . \"", "\".\"", "\" + \"", "\"+\"", "' . '", "'.'", "' + '", "'+'"] {
        out = out.replace(glue, "");
    }
    out
}

/// A line with the contents of its strings taken out.
fn without_strings(line: &str) -> String {
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

fn strings(line: &str) -> Vec<String> {
    let mut out = shell_strings(line);
    for (open, close) in [("%x(", ')'), ("qx(", ')'), ("%x{", '}'), ("qx{", '}'), ("qx/", '/')] {
        if let Some((_, rest)) = line.split_once(open) {
            out.extend(rest.split(close).next().map(str::to_owned));
        }
    }
    out
}

fn shell_strings(line: &str) -> Vec<String> {
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

/// The strings of a line that runs something: each for itself, and all of them as the words of one command.
fn run(line: u32, text: &str, roots: &Roots) -> Vec<Operation> {
    let all = strings(text);
    let mut lines: Vec<String> =
        all.iter().filter(|string| string.contains(' ') || all.len() == 1).cloned().collect();
    let quoted = |word: &String| {
        if word.contains(' ') { format!("'{}'", word.replace('\'', "'\\''")) } else { word.clone() }
    };
    let skip = all.iter().position(|word| word == "child_process" || word == "open3").map_or(0, |at| at + 1);
    lines.push(all.iter().skip(skip).map(quoted).collect::<Vec<_>>().join(" "));
    let variables = text.contains('$') && text.contains("system");
    let mut out: Vec<Operation> = lines
        .iter()
        .flat_map(|text| shell::operations(text, roots).unwrap_or_default())
        .map(|found| Operation { line, ..found })
        .collect();
    // `my $c = "rm"; system($c, "-rf", "/")`: a variable and the rest together.
    if variables || text.contains(';') {
        let joined = all.iter().map(quoted).collect::<Vec<_>>().join(" ");
        out.extend(
            shell::operations(&joined, roots)
                .unwrap_or_default()
                .into_iter()
                .map(|found| Operation { line, ..found }),
        );
    }
    out
}

/// The strings of a line that touches files.
fn touched(line: u32, text: &str, roots: &Roots) -> Vec<Operation> {
    let reads = (text.contains("\"<\"")
        || text.contains("'<'")
        || text.contains("readFile")
        || text.contains("File.read"))
        && !text.contains("write");
    let places = Places { roots, cwd: &Cwd::Own };
    let mut out = Vec::new();
    // What is joined to a temporary folder is no path of its own.
    let joined = text.contains("tmpdir") || text.contains("mkdtemp");
    for string in strings(text).into_iter().filter(|_| !joined) {
        let path = string.trim_start_matches(['>', '+', '<', ' ']);
        let place = if path.starts_with('~') {
            Place::Home
        } else if path.starts_with('/') || path.contains("..") {
            places.text(path)
        } else {
            continue;
        };
        let danger = match place {
            Place::Private => High,
            Place::System | Place::Device | Place::Top | Place::Home | Place::Above if !reads => High,
            Place::Outside if !reads => Medium,
            _ => continue,
        };
        out.push(operation(
            line,
            danger,
            "danger/write",
            "it touches files outside of the job's folder",
            text,
        ));
    }
    out
}

/// The lines of shell in a Makefile, a YAML file or a Dockerfile.
fn lines_of_shell(language: Language, text: &str, roots: &Roots) -> Option<Vec<Operation>> {
    let mut out = Vec::new();
    let mut indent = None;
    for (at, line) in text.lines().enumerate() {
        let number = at as u32 + 1;
        let own = line.len() - line.trim_start().len();
        let command = match language {
            Language::Make => line.strip_prefix('\t').map(recipe),
            Language::Docker => line.trim_start().strip_prefix("RUN ").map(str::to_owned),
            _ => {
                let inside = indent.is_some_and(|above| own > above);
                if !inside {
                    indent = None;
                }
                let value = ["run:", "script:", "command:", "shell:", "cmd:", "- "].iter().find_map(|key| {
                    line.trim_start()
                        .trim_start_matches("- ")
                        .strip_prefix(key)
                        .or_else(|| line.trim_start().strip_prefix("- ").filter(|_| *key == "- "))
                });
                let block = value.is_some_and(|value| value.trim().starts_with(['|', '>']));
                if block {
                    indent = Some(own);
                }
                if inside {
                    Some(line.trim().to_owned())
                } else {
                    value.filter(|_| !block).map(|value| value.trim().trim_matches(['"', '\'']).to_owned())
                }
            }
        };
        if let Some(command) = command {
            out.extend(
                shell::operations(&command, roots)?
                    .into_iter()
                    .map(|found| Operation { line: number, ..found }),
            );
        }
        if language == Language::Make {
            out.extend(make_shell(line, roots).into_iter().map(|found| Operation { line: number, ..found }));
        }
    }
    Some(out)
}

/// A recipe line as shell: prefix characters away, `$(X)` as variable, `$$` as `$`.
fn recipe(line: &str) -> String {
    let line = line.trim_start_matches(['@', '-', '+', ' ']);
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('$') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let tail = tail.get(1..).unwrap_or_default();
        match tail.chars().next() {
            Some('$') => {
                out.push('$');
                rest = tail.get(1..).unwrap_or_default();
            }
            Some(open @ ('(' | '{')) => {
                let close = if open == '(' { ')' } else { '}' };
                let name = tail.get(1..).and_then(|inner| inner.split(close).next()).unwrap_or_default();
                let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
                out.push_str(&if plain { format!("${{{name}}}") } else { "${MAKE_EXPRESSION}".to_owned() });
                rest = tail.get(name.len() + 2..).unwrap_or_default();
            }
            // The target, its first source, all of its sources.
            Some('@' | '<' | '^' | '?' | '*' | '+' | '|' | '%') => {
                out.push_str("${MAKE_EXPRESSION}");
                rest = tail.get(1..).unwrap_or_default();
            }
            _ => {
                out.push('$');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

/// `$(shell …)` in a Makefile.
fn make_shell(line: &str, roots: &Roots) -> Vec<Operation> {
    let Some((_, rest)) = line.split_once("$(shell ") else { return Vec::new() };
    let inner = rest.rsplit_once(')').map_or(rest, |(inner, _)| inner);
    shell::operations(inner, roots).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!(ROWS.iter().all(|row| Regex::new(row.1).is_ok()));
        assert!(Regex::new(RUNS).is_ok() && Regex::new(TOUCHES).is_ok());
    }

    #[test]
    fn recipes_write_their_targets() {
        let found =
            |line: &str| lines_of_shell(Language::Make, &format!("a: b\n\t{line}\n"), &Roots::default());
        assert_eq!(found("sort $< > $@").map(|all| all.len()), Some(0));
        assert!(found("sort $< > /etc/passwd").is_some_and(|all| all.iter().any(|one| one.danger == High)));
    }

    #[test]
    fn recipes_become_shell() {
        assert_eq!(recipe("@rm -rf $(BUILD)/ $$x"), "rm -rf ${BUILD}/ $x");
        assert_eq!(recipe("sort $< > $@"), "sort ${MAKE_EXPRESSION} > ${MAKE_EXPRESSION}");
    }
}
