//! Danger in the other languages: strings that are run are judged as shell, calls by tables of patterns, and lines of shell
//! inside of Makefiles, YAML and Dockerfiles as what they are.

use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_core::admission::Danger::{self, High, Medium};
use selfheal_syntax::{Language, embedded};

use super::shell::places::{Cwd, Place, Places};
use super::{Operation, playbook, shell, sql, variables};
use crate::scope::Roots;

/// One row: languages, pattern, danger, rule, why.
struct Row(&'static [Language], &'static str, Danger, &'static str, &'static str);

const PERL: &[Language] = &[Language::Perl];
const NODE: &[Language] = &[Language::Node];
const RUBY: &[Language] = &[Language::Ruby];

const ROWS: &[Row] = &[
    Row(PERL, r"\beval\s*[($\x22'a-z]", High, "danger/hidden-command", "it runs a text as program"),
    Row(
        PERL,
        r"^\s*(require|do)\s+[\x22'](/tmp/|https?:)",
        High,
        "danger/hidden-command",
        "it runs a program from elsewhere",
    ),
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
        r"\b(renameSync|rename|copyFileSync)\s*\(",
        Medium,
        "danger/overwrite",
        "it moves or overwrites files",
    ),
    Row(
        NODE,
        r"(for\s*\(\s*;\s*;\s*\)|while\s*\(\s*(true|1)\s*\))[^;]*\b(spawn|fork|exec)\w*\(",
        High,
        "danger/exhaustion",
        "it starts itself again and again",
    ),
    Row(
        NODE,
        r"(rm|rmSync|rmdir|rmdirSync|rimraf|rimraf\.sync|remove|emptyDir)\s*\(\s*[^;)]*homedir\(",
        High,
        "danger/delete",
        "it deletes what belongs to a person",
    ),
    Row(
        NODE,
        r"(unlinkSync|rmSync|rmdirSync|removeSync|emptyDirSync|emptyDir|\.rm|\.unlink|\.rmdir|\.remove|rimraf(\.sync)?)\s*\(",
        Medium,
        "danger/delete",
        "it deletes files",
    ),
    Row(
        RUBY,
        r"\b(instance_)?eval\b|\bclass_eval\b|\b(__|public_)?send(__)?\s*\(\s*[^:\s]",
        High,
        "danger/hidden-command",
        "it runs a text as program",
    ),
    Row(
        RUBY,
        r"\bloop\s*(\{|do)\s*fork|fork\s+while|while\s+true[^;]*fork",
        High,
        "danger/exhaustion",
        "it starts itself again and again",
    ),
    Row(
        RUBY,
        r"\.(delete_all|destroy_all|drop_table|truncate_tables|drop_database)\b",
        High,
        "danger/service-data",
        "it destroys data in a service",
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
const TOUCHES: &str = r"\b(unlink|unlinkSync|rm|rmSync|rmdir|rmdirSync|rm_rf|rm_r|rmtree|remove_tree|removeSync|emptyDir\w*|writeFile\w*|appendFile\w*|createWriteStream|truncate\w*|rename\w*|rimraf(\.sync)?|remove_dir|remove_tree|outputFile\w*|chmod\w*|chown\w*|copyFile\w*|symlink\w*|open|write|File|Dir|FileUtils|Pathname|glob|remove_entry\w*)\b";

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
    let joined = concatenated(&variables::followed(language, &concatenated(text)));
    let joined = at_home(&without_data(language, &joined));
    for (at, line) in joined.lines().enumerate() {
        let number = at as u32 + 1;
        let line = line.trim();
        // Two signs are no call.
        if line.len() < 3 || line.starts_with(comment) {
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
        // Backquotes only make a text in JavaScript.
        let runs_here = match language {
            // Only that of `zx` is a command.
            Language::Node if bare.contains("$`") => bare.clone(),
            Language::Node => bare.replace('`', ""),
            _ => bare.clone(),
        };
        if runs.as_ref().is_some_and(|regex| regex.is_match(&runs_here)) {
            out.extend(run(number, &interpolations(line), roots));
        }
        let runs_something =
            runs.as_ref().is_some_and(|regex| regex.is_match(&bare)) || bare.contains("eval");
        if runs_something && DECODERS.iter().any(|decoder| bare.contains(decoder)) {
            out.push(operation(number, High, "danger/hidden-command", "it runs what it decodes", line));
        }
        out.extend(statements_in(number, &bare, line));
        if touches.as_ref().is_some_and(|regex| regex.is_match(&bare)) {
            out.extend(touched(number, &interpolations(line), roots));
        }
    }
    temporary(text, &mut out);
    out
}

/// Ways to ask for somebody's home, in lines that delete, as the path that a shell writes for it.
fn at_home(text: &str) -> String {
    const HOMES: &[&str] = &[
        "Dir.home",
        "Etc.getpwuid.dir",
        "ENV[\"HOME\"]",
        "ENV['HOME']",
        "ENV.fetch(\"HOME\")",
        "ENV.fetch('HOME')",
        "$ENV{HOME}",
        "$ENV{\"HOME\"}",
        "File::HomeDir->my_home",
        "os.homedir()",
        "require(\"os\").homedir()",
        "process.env.HOME",
    ];
    const DELETES: &[&str] =
        &["rmtree", "rm", "remove", "unlink", "delete", "rimraf", "empty", "rmdir", "truncate"];
    let one = |line: &str| {
        let deletes = DELETES.iter().any(|word| line.contains(word));
        match HOMES.iter().find(|home| deletes && line.contains(**home)) {
            Some(home) if !line.contains(&format!("{{{home}")) => line.replace(home, "\"~\""),
            _ => line.to_owned(),
        }
    };
    text.lines().map(|line| one(line) + "\n").collect()
}

/// `${…}` of templates and `#{…}` of strings as variables of a shell that nobody sets.
fn interpolations(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("${").into_iter().chain(rest.find("#{")).min() {
        let (before, tail) = rest.split_at(at);
        let (inner, behind) = crate::masking::text::bracketed(tail, 1);
        out.push_str(before);
        // `${process.env.X}` and `#{ENV['X']}` are the variables that a shell has, too.
        let env = inner
            .split_once("process.env.")
            .or_else(|| inner.split_once("ENV['"))
            .or_else(|| inner.split_once("ENV[\""));
        let name: String = env
            .map(|(_, rest)| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
            .unwrap_or_default();
        out.push_str(&format!("${{{}}}", if name.is_empty() { "INTERPOLATED" } else { &name }));
        rest = tail.get(behind..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Calls that make a text out of another.
const DECODERS: &[&str] = &[
    "decode_base64",
    "Base64",
    "base64",
    "unpack",
    "pack(",
    "fromCharCode",
    "atob(",
    "rot13",
    "reverse(",
    ".reverse",
    "chr(",
];

/// Calls whose strings are statements for a database.
const QUERIES: &[&str] = &[
    ".query(",
    ".execute(",
    "->do(",
    "->prepare(",
    ".exec(",
    ".exec_query(",
    ".run(",
    "sequelize",
    "connection.execute",
    ".raw(",
];

/// Statements for a database in the strings of a line.
fn statements_in(line: u32, bare: &str, text: &str) -> Vec<Operation> {
    if !QUERIES.iter().any(|call| bare.contains(call)) {
        return Vec::new();
    }
    let local = ["sqlite", "SQLite"].iter().any(|name| text.contains(name));
    let found = strings(text).into_iter().flat_map(|string| sql::operations(&string));
    found
        .map(|found| Operation { line, danger: if local { Medium } else { found.danger }, ..found })
        .collect()
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

/// JavaScript without `/* … */`; the line ends in them stay. Strings are kept, whatever stands in them.
fn without_block_comments(text: &str) -> String {
    let mut out = String::new();
    let (mut quote, mut escaped, mut comment) = (None::<char>, false, false);
    let mut before = ' ';
    for c in text.chars() {
        if comment {
            if c == '\n' {
                out.push(c);
            }
            comment = !(before == '*' && c == '/');
        } else if let Some(open) = quote {
            out.push(c);
            // A string of one line that is not closed was none.
            if (c == open && !escaped) || (c == '\n' && open != '`') {
                quote = None;
            }
            escaped = c == '\\' && !escaped;
        } else if before == '/' && c == '*' {
            out.pop();
            comment = true;
        } else {
            out.push(c);
            if matches!(c, '"' | '\'' | '`') {
                quote = Some(c);
                escaped = false;
            }
        }
        before = c;
    }
    out
}

/// The text with block comments, and here-documents that are only data, taken out; lines stay where they are.
fn without_data(language: Language, text: &str) -> String {
    if language == Language::Node {
        return without_block_comments(text);
    }
    let mut out = String::new();
    let mut until: Option<String> = None;
    for line in text.lines() {
        match &until {
            Some(tag) => {
                if line.trim() == tag {
                    until = None;
                }
            }
            None => {
                out.push_str(line);
                let tag =
                    line.split_once("<<").map(|(before, tag)| (before, tag.trim_start_matches(['~', '-'])));
                // What is given to a program is judged with it.
                let data = tag.filter(|(before, _)| {
                    before.trim_end().ends_with('=') || before.contains("print") || before.contains("puts")
                });
                if let Some((_, tag)) = data {
                    let name: String = tag
                        .trim_start_matches(['"', '\''])
                        .chars()
                        .take_while(|c| c.is_alphanumeric() || *c == '_')
                        .collect();
                    until = Some(name).filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
                }
            }
        }
        out.push('\n');
    }
    out
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
    for (open, close) in [
        ("%x(", ')'),
        ("qx(", ')'),
        ("%x{", '}'),
        ("qx{", '}'),
        ("qx/", '/'),
        ("q(", ')'),
        ("qq(", ')'),
        ("q{", '}'),
        ("%q(", ')'),
    ] {
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
    let deletes = [
        "unlink",
        "rm(",
        "rmSync",
        "rmdir",
        "rm_rf",
        "rm_r",
        "rmtree",
        "remove_",
        "rimraf",
        "removeSync",
        "emptyDir",
        "truncate",
        "File.delete",
        "FileUtils.rm",
        "FileUtils.remove",
    ]
    .iter()
    .any(|word| text.contains(word));
    // What is joined to a temporary folder is no path of its own.
    let joined = text.contains("tmpdir") || text.contains("mkdtemp");
    for string in strings(text).into_iter().filter(|_| !joined) {
        let path = string.trim_start_matches(['>', '+', '<', ' ']);
        let place = if let Some(rest) = path.strip_prefix("${HOME}") {
            if crate::scope::is_private(std::path::Path::new(rest.trim_start_matches('/'))) {
                Place::Private
            } else {
                Place::Home
            }
        } else if path.starts_with("${") && path.contains("}/") && deletes {
            Place::Above
        } else if path.starts_with('~') {
            Place::Home
        } else if path.starts_with('/') || path.contains("..") {
            places.text(path)
        } else {
            continue;
        };
        let danger = match place {
            Place::Private => High,
            Place::System | Place::Device | Place::Top | Place::Home | Place::Above if !reads => High,
            Place::Outside if !reads && deletes => High,
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

/// The shell in a Makefile, a YAML file or a Dockerfile, piece by piece.
fn lines_of_shell(language: Language, text: &str, roots: &Roots) -> Option<Vec<Operation>> {
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
fn added_files(text: &str) -> String {
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
fn is_of_the_image(found: &Operation) -> bool {
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
fn make_variables(text: &str) -> String {
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
const IMPLICIT: &[(&str, &str)] = &[
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
    fn variables_of_make_are_followed() {
        let found = lines_of_shell(Language::Make, "X = rm -rf\nc:\n\t$(X) /usr\n", &Roots::default());
        assert!(found.is_some_and(|all| all.iter().any(|one| one.danger == High && one.line == 3)));
    }
}
