//! The values of words, as far as they can be told from the script, the environment and what a probe saw.

use std::collections::BTreeMap;
use std::path::Path;

use super::{BlockKind, Script};
use crate::case::Case;

/// How far values may refer to other values.
const DEEPEST: u32 = 12;

/// What is known of a script's variables.
pub(crate) struct Values<'c> {
    case: &'c Case<'c>,
    written: BTreeMap<String, String>,
    home: String,
}

impl<'c> Values<'c> {
    /// Collects the assignments of a script. A name that is assigned more than once, or by a loop, has no value here;
    /// what a probe saw comes first. The folder is that of the script, which it calls its own.
    pub(crate) fn new(case: &'c Case<'c>, script: &Script<'_>, folder: &Path) -> Self {
        let mut written: BTreeMap<String, Option<String>> = BTreeMap::new();
        for (name, value, _) in script.assignments() {
            let value = script.get(&value).to_owned();
            let known = written.entry(name.to_owned()).or_insert_with(|| Some(value.clone()));
            if known.as_ref() != Some(&value) {
                *known = None;
            }
        }
        for block in &script.blocks {
            if let BlockKind::For { name, .. } = &block.kind {
                written.insert(script.get(name).to_owned(), None);
            }
        }
        let written = written.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        Self { case, written, home: folder.to_string_lossy().into_owned() }
    }

    /// What the script assigns to a variable, as written, if it does so once.
    pub(crate) fn written(&self, name: &str) -> Option<&str> {
        self.written.get(name).map(String::as_str)
    }

    /// The value of a variable.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.at_depth(name, 0)
    }

    fn at_depth(&self, name: &str, depth: u32) -> Option<String> {
        if let Some(seen) = self.case.trace.and_then(|trace| trace.value(name)) {
            return Some(seen.to_owned());
        }
        // `A=${A:-default}` refers to the environment's A.
        if let Some(word) = self.written.get(name).filter(|_| depth < DEEPEST) {
            let itself = variables(word).iter().any(|used| used == name);
            return if itself { self.own_default(name, word) } else { self.expand(word, depth + 1) };
        }
        self.case.scene.var(name)
    }

    /// The value of `A=${A:-default}`: the environment's, which the script's default gives way to.
    fn own_default(&self, name: &str, word: &str) -> Option<String> {
        let default = word.trim_matches('"').strip_prefix("${")?.strip_suffix('}')?.strip_prefix(name)?;
        let default = default.strip_prefix(':').unwrap_or(default).strip_prefix(['-', '='])?;
        self.case.scene.var(name).filter(|value| !value.is_empty()).or_else(|| self.expand(default, DEEPEST))
    }

    /// The value of a word as written, quotes removed; `None` when a part of it is not known.
    pub(crate) fn word(&self, word: &str) -> Option<String> {
        self.expand(word, 0)
    }

    fn expand(&self, word: &str, depth: u32) -> Option<String> {
        let mut out = String::new();
        let mut rest = word;
        let mut single = false;
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            match c {
                '\'' => {
                    single = !single;
                    rest = after;
                }
                '"' if !single => rest = after,
                '\\' if !single => {
                    let next = after.chars().next()?;
                    out.push(next);
                    rest = after.get(next.len_utf8()..).unwrap_or_default();
                }
                '$' if !single => {
                    let (value, left) = self.dollar(after, depth)?;
                    out.push_str(&value);
                    rest = left;
                }
                '`' if !single => return None,
                c => {
                    out.push(c);
                    rest = after;
                }
            }
        }
        Some(out)
    }

    /// What stands after a `$`: its value and the rest of the word.
    fn dollar<'w>(&self, text: &'w str, depth: u32) -> Option<(String, &'w str)> {
        if let Some(inner) = text.strip_prefix('(') {
            let end = closing(inner, '(', ')')?;
            let value = self.own_folder(inner.get(..end)?)?;
            return Some((value, inner.get(end + 1..)?));
        }
        if let Some(inner) = text.strip_prefix('{') {
            let end = closing(inner, '{', '}')?;
            return Some((self.parameter(inner.get(..end)?, depth)?, inner.get(end + 1..)?));
        }
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
        let name = text.get(..end).filter(|name| !name.is_empty())?;
        let value = if name == "PWD" {
            self.case.base().to_string_lossy().into_owned()
        } else {
            self.at_depth(name, depth)?
        };
        Some((value, text.get(end..)?))
    }

    /// The inside of `$( … )`, when it is one of the ways to write the script's own folder.
    fn own_folder(&self, inner: &str) -> Option<String> {
        let says = |word: &str| inner.contains(word);
        let this = says("$0") || says("BASH_SOURCE");
        let plain = inner.trim() == "pwd";
        if plain {
            return Some(self.case.base().to_string_lossy().into_owned());
        }
        let up = inner.matches("/..").count();
        let found = this && says("dirname") && !inner.contains('|');
        let home = std::path::Path::new(&self.home).ancestors().nth(up)?;
        found.then(|| home.to_string_lossy().into_owned())
    }

    fn parameter(&self, inner: &str, depth: u32) -> Option<String> {
        let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
        let (name, how) = inner.split_at(end);
        if name.is_empty() {
            return None;
        }
        let value = self.at_depth(name, depth);
        if how.is_empty() {
            return value;
        }
        if let Some(default) = how.strip_prefix(":-").or_else(|| how.strip_prefix(":=")) {
            return value.filter(|value| !value.is_empty()).or_else(|| self.expand(default, depth + 1));
        }
        if let Some(default) = how.strip_prefix('-').or_else(|| how.strip_prefix('=')) {
            return value.or_else(|| self.expand(default, depth + 1));
        }
        if how.starts_with(":?") || how.starts_with('?') {
            return value;
        }
        let value = value?;
        match how {
            "%/*" => Some(value.rsplit_once('/').map_or(value.clone(), |(head, _)| head.to_owned())),
            "##*/" => Some(value.rsplit('/').next().unwrap_or_default().to_owned()),
            "%/" => Some(value.strip_suffix('/').unwrap_or(&value).to_owned()),
            _ => None,
        }
    }
}

/// Where a bracket that was opened before the text closes, nested ones counted.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        if c == close {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        } else if c == open {
            depth += 1;
        }
    }
    None
}

/// The folder part of a word as written, ready to be used as one word: of `"$A/b/$c"` it is `"$A/b"`. `None` when the word
/// has no slash outside of substitutions.
pub(crate) fn folder_of(word: &str) -> Option<String> {
    let mut depth = 0_u32;
    let mut cut = None;
    let mut previous = ' ';
    for (at, c) in word.char_indices() {
        match c {
            '{' | '(' if previous == '$' || depth > 0 => depth += 1,
            '}' | ')' if depth > 0 => depth -= 1,
            '/' if depth == 0 => cut = Some(at),
            _ => {}
        }
        previous = c;
    }
    let head = word.get(..cut?)?;
    // The cut may leave a quote open: what is closed later does not matter for the head.
    let bare = bare(head);
    if bare.contains('\'') || bare.is_empty() {
        return (!bare.is_empty()).then(|| head.to_owned());
    }
    Some(quoted(&bare))
}

/// A word without its double quotes. A variable that a quote kept apart from what follows gets braces: of `"$a"b` it is
/// `${a}b`.
pub(crate) fn bare(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut pieces = word.split('"').peekable();
    while let Some(piece) = pieces.next() {
        out.push_str(piece);
        let name_goes_on = pieces.peek().is_some_and(|next| next.starts_with(crate::text::is_name));
        let name: usize = out.chars().rev().take_while(|c| crate::text::is_name(*c)).count();
        let start = out.char_indices().rev().nth(name);
        if let Some((at, '$')) = start.filter(|_| name > 0 && name_goes_on) {
            let variable = out.split_off(at + 1);
            out.push_str(&format!("{{{variable}}}"));
        }
    }
    out
}

/// A word, given without double quotes, with them where they are needed.
pub(crate) fn quoted(bare: &str) -> String {
    let plain = bare.chars().all(|c| c.is_ascii_alphanumeric() || "_./-+:@%,=".contains(c));
    if plain { bare.to_owned() } else { format!("\"{bare}\"") }
}

/// Whether a word as written holds a pattern for file names outside of quotes.
pub(crate) fn has_pattern(word: &str) -> bool {
    let (mut single, mut double, mut depth) = (false, false, 0_u32);
    let mut previous = ' ';
    for c in word.chars() {
        match c {
            _ if previous == '\\' && !single => {
                previous = ' ';
                continue;
            }
            '\'' if !double => single = !single,
            '"' if !single => double = !double,
            '{' | '(' if previous == '$' || depth > 0 => depth += 1,
            '}' | ')' if depth > 0 => depth -= 1,
            '*' | '?' if !single && !double && depth == 0 => return true,
            '[' if !single && !double && depth == 0 => return true,
            _ => {}
        }
        previous = c;
    }
    false
}

/// A word with its variables in quotes; patterns stay outside of them.
pub(crate) fn quoted_word(word: &str) -> String {
    if !has_pattern(word) && !word.contains(['\'', '~']) {
        return format!("\"{}\"", bare(word));
    }
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('$') {
        let (before, after) = rest.split_at(at);
        let open = before.matches('"').count() % 2 == 1;
        let end = expansion_end(after);
        out.push_str(before);
        if open {
            out.push_str(after.get(..end).unwrap_or_default());
        } else {
            out.push_str(&format!("\"{}\"", after.get(..end).unwrap_or_default()));
        }
        rest = after.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

fn expansion_end(text: &str) -> usize {
    if text.starts_with("${") {
        return text.find('}').map_or(text.len(), |at| at + 1);
    }
    let body = text.get(1..).unwrap_or_default();
    1 + body.find(|c: char| !crate::text::is_name(c)).unwrap_or(body.len())
}

/// The names of variables that a word uses.
pub(crate) fn variables(word: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in word.match_indices('$') {
        let rest = word.get(at + 1..).unwrap_or_default();
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let rest = rest.strip_prefix(['#', '!']).unwrap_or(rest);
        let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The words inside of `$( … )` or backquotes, if the whole word is such a substitution.
pub(crate) fn substitution(word: &str) -> Option<&str> {
    let word = word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word);
    let inner = word.strip_prefix("$(").and_then(|word| word.strip_suffix(')'));
    inner.or_else(|| word.strip_prefix('`').and_then(|word| word.strip_suffix('`')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    #[test]
    fn words_get_values_from_the_script_and_the_environment() {
        let text = "HERE=$(cd \"$(dirname \"$0\")\" && pwd)\nA=${A:-logs}\nB=\"$HERE/$A\"\nfor f in \"$B\"/*.log; do :; done\n";
        let case = TestCase::new("x.sh", text, TestScene::new().set("A", "other"));
        let case = case.case();
        let script = Script::new(text);
        let values = Values::new(&case, &script, Path::new("/srv/job"));
        assert_eq!(values.word("\"$B\"/*.log").as_deref(), Some("/srv/job/other/*.log"));
        assert_eq!(values.word("$f"), None);
        assert_eq!(values.word("'$A'\\ x").as_deref(), Some("$A x"));
        assert_eq!(values.word("${B##*/}").as_deref(), Some("other"));
    }

    #[test]
    fn folders_of_words_stay_words() {
        assert_eq!(folder_of("\"$A/$n.$(date +%F/x)\"").as_deref(), Some("\"$A\""));
        assert_eq!(folder_of("$A/x").as_deref(), Some("\"$A\""));
        assert_eq!(folder_of("out/x.txt").as_deref(), Some("out"));
        assert_eq!(folder_of("\"$A\"/").as_deref(), Some("\"$A\""));
        assert_eq!(folder_of("\"${A%/*}\""), None);
        assert_eq!(folder_of("\"$s\"pages/*.html").as_deref(), Some("\"${s}pages\""));
        assert_eq!(folder_of("/x"), None);
    }

    #[test]
    fn patterns_are_those_outside_of_quotes() {
        assert!(has_pattern("\"$A\"/*.log") && has_pattern("a?") && has_pattern("[0-9]x"));
        assert!(
            !has_pattern("\"*.log\"")
                && !has_pattern("${a%%*}")
                && !has_pattern("a\\*")
                && !has_pattern("'*'")
        );
        assert_eq!(variables("\"$A/${b:-$c}\""), ["A", "b", "c"]);
    }
}
