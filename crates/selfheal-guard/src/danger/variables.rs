//! Constant propagation in Perl, JavaScript and Ruby: what simple variables, lists and other names of calls are worth is put
//! in their place, so that a command that is made piece by piece is judged as a whole.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex_lite::Regex;
use selfheal_syntax::Language;

/// The longest value that is followed, in bytes, and how many names are.
const MAX_VALUE: usize = 2_048;
const MAX_NAMES: usize = 256;

/// Calls that run something; another name for one of them is followed.
const CALLS: &str = "execSync|execFileSync|execFile|spawnSync|spawn|exec|system";

struct Patterns {
    assigned: Regex,
    pushed: Regex,
    appended: Regex,
    renamed: Regex,
    bound: Regex,
    member: Regex,
}

fn patterns() -> Option<&'static Patterns> {
    static ONCE: OnceLock<Option<Patterns>> = OnceLock::new();
    ONCE.get_or_init(|| {
        let one = |text: &str| Regex::new(text).ok();
        Some(Patterns {
            assigned: one(
                r"^\s*(?:my|our|local|const|let|var)?\s*([$@]?[A-Za-z_]\w*)\s*=\s*((?:\(|\[|%w|qw|\+|join\b)?\s*['\x22`(\[{/|][^;]*)",
            )?,
            pushed: one(r"^\s*(?:push\s*\(?\s*(@\w+)\s*,|([A-Za-z_]\w*)\.(?:push|concat|append)\s*\(|([A-Za-z_]\w*)\s*<<)\s*([^;]*)")?,
            appended: one(r"^\s*([$@]?[A-Za-z_]\w*)\s*(?:\.=|\+=)\s*([^;]*)")?,
            renamed: one(&format!(r"\b(?:{CALLS})\s*(?::|\bas\b)\s*([A-Za-z_]\w*)"))?,
            bound: one(&format!(
                r"([A-Za-z_]\w*)\s*=\s*(?:\\&)?[\w.()\x22' :&:]*?(?:\.|::|&|method\(:|promisify\([\w.]*)(?:{CALLS})\)?\s*(?:;|$)"
            ))?,
            member: one(r#"([\w)\]])\[\s*["'](\w+)["']\s*\]"#)?,
        })
    })
    .as_ref()
}

/// The text with what its simple variables are worth in their place, line by line.
pub fn followed(language: Language, text: &str) -> String {
    let Some(patterns) = patterns() else { return text.to_owned() };
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut calls: Vec<String> = Vec::new();
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = match language {
            // `cp["exec"]` is `cp.exec`.
            Language::Node => patterns.member.replace_all(line, "$1.$2").into_owned(),
            _ => line.to_owned(),
        };
        let own = put_in(&line, &known, &calls);
        out.push_str(&own);
        out.push('\n');
        if line.len() <= MAX_VALUE {
            remember(patterns, &line, &mut known, &mut calls);
        }
    }
    out
}

fn remember(patterns: &Patterns, line: &str, known: &mut BTreeMap<String, String>, calls: &mut Vec<String>) {
    let text = |captures: &regex_lite::Captures<'_>, at: usize| {
        captures.get(at).map(|found| found.as_str().trim().to_owned())
    };
    if let Some(captures) = patterns.renamed.captures(line).or_else(|| patterns.bound.captures(line)) {
        calls.extend(text(&captures, 1).filter(|_| calls.len() < 32));
    }
    if let Some(captures) = patterns.pushed.captures(line) {
        let name = (1..=3).find_map(|at| text(&captures, at));
        add(known, false, (name, text(&captures, 4)));
    } else if let Some(captures) = patterns.appended.captures(line) {
        add(known, true, (text(&captures, 1), text(&captures, 2)));
    } else if let Some(captures) = patterns.assigned.captures(line)
        && let (Some(name), Some(value)) = (text(&captures, 1), text(&captures, 2))
        && known.len() < MAX_NAMES
    {
        known.insert(name, worth(&value));
    }
}

fn add(known: &mut BTreeMap<String, String>, joined: bool, (name, value): (Option<String>, Option<String>)) {
    let (Some(name), Some(value)) = (name, value) else { return };
    let joins = |text: &str| text.starts_with(['"', '\'', '`']);
    let fits = |own: &&mut String| joined && joins(own) && own.len() + value.len() < MAX_VALUE;
    if let Some(own) = known.get_mut(&name).filter(|own| joins(&value) && fits(own)) {
        // Two texts become one.
        own.pop();
        own.push_str(value.trim_end_matches([';', ' ']).get(1..).unwrap_or_default());
        return;
    }
    if let Some(own) = known.get_mut(&name).filter(|own| own.len() + value.len() < MAX_VALUE) {
        let more = worth(value.trim_end_matches(')'));
        own.push_str(", ");
        own.push_str(&more);
    }
}

/// A value as strings with commas between them: words of `qw(…)` and `%w[…]` each for itself.
fn worth(value: &str) -> String {
    let value = value.trim().trim_end_matches([';', ',']);
    if let Some(joined) = joined(value) {
        return joined;
    }
    let words = value.strip_prefix("qw").or_else(|| value.strip_prefix("%w"));
    if let Some(words) = words {
        let words = words.trim_matches(['(', ')', '[', ']', '{', '}', '/', '|', ' ']);
        return words.split_whitespace().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
    }
    value.trim_matches(['(', ')', '[', ']', ' ']).to_owned()
}

/// `join ' ', 'rm', '-rf', $x` and `["rm", "-rf", x].join(" ")` as one string; names stand as they would in one.
fn joined(value: &str) -> Option<String> {
    let list = match value.strip_prefix("join") {
        Some(rest) => rest.trim_start_matches(['(', ' ']).split_once(',')?.1,
        None => value.rsplit_once(".join").map(|(list, _)| list)?,
    };
    let words = list.split(',').map(|word| word.trim_matches(['(', ')', '[', ']', ' ', '\'', '"']));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    (!words.is_empty()).then(|| format!("\"{}\"", words.join(" ")))
}

/// A line with known names replaced by what they are worth: outside of strings as strings, in strings as their text.
fn put_in(line: &str, known: &BTreeMap<String, String>, calls: &[String]) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    let mut replaced = 0;
    let assigns = line.split('=').next().map_or(0, str::len);
    let assigned = line.contains('=');
    let mut open = Open::default();
    while let Some(at) = rest.find(|c: char| c.is_alphabetic() || matches!(c, '$' | '@' | '_')) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let sign = usize::from(tail.starts_with(['$', '@']));
        let name_len = tail.get(sign..).unwrap_or_default();
        let name_len = name_len.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name_len.len());
        let end = (sign + name_len).max(tail.chars().next().map_or(1, char::len_utf8));
        let name = tail.get(..end).unwrap_or_default();
        let behind = tail.get(end..).unwrap_or_default();
        let left = out.len() < assigns && replaced == 0 && assigned;
        let member =
            before.ends_with(['.', ':', '>']) || behind.starts_with([':', '.']) && !behind.starts_with("...");
        let quoted = open.after(&out);
        let interpolated = sign == 1 || before.ends_with("${") || before.ends_with("#{");
        let value =
            known.get(name).filter(|_| !left && !member && replaced < 16 && (!quoted || interpolated));
        match value {
            Some(value)
                if quoted
                    && (before.ends_with("${") || before.ends_with("#{"))
                    && behind.starts_with('}') =>
            {
                // No quotes are among the two signs.
                out.truncate(out.len() - 2);
                open.counted = out.len();
                out.push_str(bare(value));
                rest = behind.get(1..).unwrap_or_default();
                replaced += 1;
                continue;
            }
            Some(value) if quoted => out.push_str(bare(value)),
            Some(value) => out.push_str(value),
            None if calls.iter().any(|call| call == name.trim_start_matches('$'))
                && behind.trim_start().starts_with(['(', '.', '-'])
                && !quoted =>
            {
                out.push_str("system");
            }
            None => out.push_str(name),
        }
        replaced += usize::from(value.is_some());
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Whether a text that grows ends inside of a string; what was counted is not counted again.
#[derive(Default)]
struct Open {
    counted: usize,
    double: bool,
    single: bool,
}

impl Open {
    fn after(&mut self, text: &str) -> bool {
        let more = text.as_bytes().get(self.counted..).unwrap_or_default();
        for byte in more {
            match byte {
                b'"' | b'`' => self.double = !self.double,
                b'\'' => self.single = !self.single,
                _ => {}
            }
        }
        self.counted = text.len();
        self.double || self.single
    }
}

/// The text of one string.
fn bare(value: &str) -> &str {
    value.trim_matches(['"', '\'', '`'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_piece_by_piece_is_put_together() {
        let perl = "my @c = (\"rm\", \"-rf\");\npush @c, \"/srv\";\nexec @c;\n";
        assert!(followed(Language::Perl, perl).contains("exec \"rm\", \"-rf\", \"/srv\";"));
        let ruby = "dir = \"/srv\"\nsystem(\"rm -rf #{dir}/x\")\n";
        assert!(followed(Language::Ruby, ruby).contains("system(\"rm -rf /srv/x\")"));
        let node =
            "const { exec: run } = require(\"child_process\");\nconst c = `rm`;\nrun(c + \" -rf /srv\");\n";
        assert!(followed(Language::Node, node).contains("system(`rm` + \" -rf /srv\");"));
        let perl = "my $c = join ' ', 'rm', '-rf', '/srv';\nexec $c;\n";
        assert!(followed(Language::Perl, perl).contains("exec \"rm -rf /srv\";"));
        assert!(followed(Language::Node, "cp[\"exec\"](\"x\");\n").contains("cp.exec(\"x\");"));
    }

    #[test]
    fn texts_that_only_hold_a_name_stay() {
        let text = "const c = \"x\";\nconsole.log(\"c is c\");\no.c = 3;\n";
        assert_eq!(followed(Language::Node, text), text);
    }
}
