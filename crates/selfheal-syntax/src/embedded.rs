//! The shell inside of other files: recipes of a Makefile, `RUN` of a Dockerfile, steps of a YAML pipeline or playbook,
//! scripts of a `package.json`.
//!
//! [`blocks`] takes it out piece by piece, each line with its number. [`as_script`] puts all pieces together into one
//! script that ends where the host would stop: so whatever judges shell scripts judges these files too.

use crate::language::Language;
use crate::yaml;

/// One piece of shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// What it belongs to: a target, an instruction, a key.
    pub owner: String,
    /// Whether its host runs it so that the first failing command ends it.
    pub strict: bool,
    /// Whether its host ignores its status (`-` in front of a recipe line).
    pub ignored: bool,
    /// Its lines with their numbers.
    pub lines: Vec<(u32, String)>,
}

/// A script made of blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembled {
    /// The script.
    pub text: String,
    /// The line of the host for each line of the script.
    lines: Vec<u32>,
}

impl Assembled {
    /// The line of the host for a line of the script, both from 1.
    #[must_use]
    pub fn host_line(&self, line: u32) -> u32 {
        let at = (line as usize).saturating_sub(1);
        self.lines.get(at).or(self.lines.last()).copied().unwrap_or(1)
    }

    fn push(&mut self, text: &str, line: u32) {
        self.text.push_str(text);
        self.text.push('\n');
        self.lines.push(line);
    }
}

/// Keys of YAML whose values are lines of shell.
const LINE_KEYS: &[&str] = &[
    "run",
    "script",
    "before_script",
    "after_script",
    "shell",
    "bash",
    "sh",
    "pwsh",
    "commands",
    "cmd",
    "cmds",
    "ansible.builtin.shell",
    "ansible.builtin.command",
    "ansible.builtin.raw",
    "raw",
    "build_command",
    "post_install",
    "install",
];

/// Keys of YAML whose values are a line of shell or a list of words.
const WORD_KEYS: &[&str] = &["command", "args", "entrypoint", "test", "argv"];

/// Shells whose `-c` takes a line.
const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh"];

/// The pieces of shell in a file of another language.
#[must_use]
pub fn blocks(language: Language, text: &str) -> Vec<Block> {
    match language {
        Language::Make => make(text),
        Language::Docker => docker(text),
        Language::Yaml => pipeline(text),
        Language::Node => package_scripts(text),
        _ => Vec::new(),
    }
}

/// All pieces as one script. A piece that fails ends it, as it ends the host's work.
#[must_use]
pub fn as_script(language: Language, text: &str) -> Assembled {
    let blocks = blocks(language, text);
    let mut out = Assembled::default();
    if blocks.iter().any(|block| block.strict) {
        out.push("set -e", 1);
    }
    if text.lines().any(|line| sets_pipefail(language, line)) {
        out.push("set -o pipefail", 1);
    }
    for block in &blocks {
        let (first, last) =
            (block.lines.first().map_or(1, |(at, _)| *at), block.lines.last().map_or(1, |(at, _)| *at));
        out.push("(", first);
        block.lines.iter().for_each(|(line, text)| out.push(text, *line));
        let end = match (block.ignored, block.strict) {
            (true, _) => ") || true",
            (false, true) => ")",
            (false, false) => ") || false",
        };
        out.push(end, last);
    }
    out
}

/// `.SHELLFLAGS = -o pipefail -c`, `SHELL ["bash", "-o", "pipefail", "-c"]`, `shell: bash -o pipefail {0}`.
fn sets_pipefail(language: Language, line: &str) -> bool {
    let line = line.trim_start();
    let setting = match language {
        Language::Make => line.starts_with(".SHELLFLAGS") || line.starts_with("SHELL"),
        Language::Docker => line.starts_with("SHELL"),
        Language::Yaml => line.starts_with("shell:") || line.starts_with("- shell:"),
        _ => false,
    };
    setting
        && (line.contains("pipefail")
            || language == Language::Yaml && line.trim_end().ends_with("shell: bash"))
}

fn make(text: &str) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    let mut owner = String::new();
    let one_shell = text.lines().any(|line| line.starts_with(".ONESHELL"));
    let mut lines = text.lines().zip(1_u32..).peekable();
    while let Some((line, number)) = lines.next() {
        let Some(recipe) = line.strip_prefix('\t') else {
            if let Some((targets, _)) = line.split_once(':').filter(|(name, _)| is_target(name)) {
                targets.trim().clone_into(&mut owner);
            }
            continue;
        };
        if recipe.trim_start().starts_with('#') || recipe.trim().is_empty() {
            continue;
        }
        let marks: String = recipe.chars().take_while(|c| "@-+ ".contains(*c)).collect();
        let mut piece = vec![(number, recipe_text(recipe))];
        while piece.last().is_some_and(|(_, text)| text.ends_with('\\')) {
            let Some((next, at)) = lines.next() else { break };
            piece.push((at, recipe_text(next.strip_prefix('\t').unwrap_or(next))));
        }
        let same = one_shell && out.last().is_some_and(|block| block.owner == owner);
        match out.last_mut().filter(|_| same) {
            Some(block) => block.lines.extend(piece),
            None => out.push(Block {
                owner: owner.clone(),
                strict: false,
                ignored: marks.contains('-'),
                lines: piece,
            }),
        }
    }
    out
}

fn is_target(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(['#', ' ']) && !name.contains('=')
}

/// A recipe line as shell: prefix characters away, `$(X)` as variable, `$$` as `$`, automatic variables as one that
/// nobody knows.
#[must_use]
pub fn recipe_text(line: &str) -> String {
    let line = line.trim_start_matches(['@', '-', '+', ' ', '\t']);
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

fn docker(text: &str) -> Vec<Block> {
    let mut out = Vec::new();
    let mut lines = text.lines().zip(1_u32..).peekable();
    while let Some((line, number)) = lines.next() {
        let trimmed = line.trim_start();
        let (word, rest) = trimmed.split_once(char::is_whitespace).unwrap_or((trimmed, ""));
        let word = word.to_ascii_uppercase();
        if !matches!(word.as_str(), "RUN" | "CMD" | "ENTRYPOINT" | "HEALTHCHECK") {
            continue;
        }
        let rest = without_options(if word == "HEALTHCHECK" { after_cmd(rest) } else { rest });
        let mut piece = vec![(number, rest.to_owned())];
        let document =
            rest.split_once("<<").map(|(_, tag)| tag.trim_matches(['-', '"', '\'', ' ']).to_owned());
        if let Some(tag) = document.filter(|tag| !tag.is_empty() && rest.trim_start().starts_with("<<")) {
            piece.clear();
            while let Some((line, at)) = lines.next().filter(|(line, _)| line.trim() != tag) {
                piece.push((at, line.to_owned()));
            }
        }
        while piece.last().is_some_and(|(_, text)| text.trim_end().ends_with('\\')) {
            let Some((next, at)) = lines.next() else { break };
            // Comments between continued lines are none of the shell's.
            if !next.trim_start().starts_with('#') {
                piece.push((at, next.to_owned()));
            }
        }
        if let [(_, only)] = piece.as_mut_slice()
            && let Some(words) = json_words(only)
        {
            *only = as_line(&words);
        }
        out.push(Block { owner: word, strict: false, ignored: false, lines: piece });
    }
    out
}

fn after_cmd(rest: &str) -> &str {
    rest.split_once("CMD").map_or("", |(_, command)| command.trim_start())
}

/// `--mount=type=cache … make` without the options of the instruction.
fn without_options(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with("--") {
        rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
    }
    rest
}

/// The strings of `["a", "b"]`.
fn json_words(text: &str) -> Option<Vec<String>> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let mut words = Vec::new();
    let mut bare = String::new();
    let mut current: Option<(char, String)> = None;
    let mut escaped = false;
    for c in inner.chars() {
        match &mut current {
            Some((quote, word)) => match c {
                _ if escaped => {
                    word.push(c);
                    escaped = false;
                }
                '\\' => escaped = true,
                c if c == *quote => words.extend(current.take().map(|(_, word)| word)),
                c => word.push(c),
            },
            None if matches!(c, '"' | '\'') => current = Some((c, String::new())),
            None => bare.push(c),
        }
    }
    // Flow lists of YAML need no quotes: `[iptables, -F]`.
    if words.is_empty() {
        words.extend(bare.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned));
    }
    (!words.is_empty()).then_some(words)
}

/// Words as one line: what stands behind `sh -c`, else the words quoted.
fn as_line(words: &[String]) -> String {
    let words = match words {
        // How compose files say that a check is a list of words.
        [first, rest @ ..] if first == "CMD" && !rest.is_empty() => rest,
        _ => words,
    };
    let shell = words.first().is_some_and(|first| {
        SHELLS.contains(&first.rsplit('/').next().unwrap_or(first)) || first == "CMD-SHELL"
    });
    let flag = words.get(1).is_some_and(|word| word.starts_with('-') && word.contains('c'));
    match words {
        [first, line] if first == "CMD-SHELL" => line.clone(),
        [_, flags, line, ..] if shell && flag => {
            if flags.contains('e') {
                format!("set -e; {line}")
            } else {
                line.clone()
            }
        }
        _ => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

fn quoted(word: &str) -> String {
    let plain = word.chars().all(|c| c.is_alphanumeric() || "/._-+@:=,%${}".contains(c));
    if plain && !word.is_empty() { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

fn pipeline(text: &str) -> Vec<Block> {
    let entries = yaml::entries(text);
    let mut out = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let lines_key = LINE_KEYS.contains(&entry.key.as_str());
        let words_key = WORD_KEYS.contains(&entry.key.as_str());
        if !lines_key && !words_key {
            continue;
        }
        // `shell: bash -e {0}` is a setting, no command.
        if entry.key == "shell" && (entry.value.contains("{0}") || SHELLS.contains(&entry.value.as_str())) {
            continue;
        }
        let mut lines = entry.block.clone();
        if let Some(words) = json_words(&entry.value) {
            lines.push((entry.line, if lines_key { words.join("\n") } else { as_line(&words) }));
        } else if !entry.value.is_empty() && !entry.value.starts_with(['{', '&', '*']) {
            lines.push((entry.line, entry.value.clone()));
        }
        let items: Vec<&yaml::Entry> = yaml::below(&entries, at)
            .iter()
            .filter(|inner| inner.item && inner.key.is_empty() && !inner.value.starts_with('*'))
            .collect();
        if words_key && items.len() > 1 {
            let words: Vec<String> = items
                .iter()
                .map(|item| {
                    let block: Vec<&str> = item.block.iter().map(|(_, line)| line.as_str()).collect();
                    if block.is_empty() { item.value.clone() } else { block.join("\n") }
                })
                .collect();
            lines.extend(as_line(&words).lines().map(|line| (entry.line, line.to_owned())));
        } else if !entry.key.is_empty() && entry.value.is_empty() && entry.block.is_empty() {
            for item in items {
                lines.extend(item.block.iter().cloned());
                lines.extend((!item.value.is_empty()).then(|| (item.line, item.value.clone())));
            }
        }
        if !lines.is_empty() {
            let lines = lines.into_iter().map(|(at, line)| (at, expressions(&line))).collect();
            out.push(Block { owner: entry.key.clone(), strict: true, ignored: false, lines });
        }
    }
    out
}

/// `${{ … }}` and `{{ … }}` are filled in before the shell sees them: a variable that nobody knows stands for them.
fn expressions(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("{{") {
        let (before, tail) = rest.split_at(at);
        let Some(end) = tail.find("}}") else { break };
        out.push_str(before.strip_suffix('$').unwrap_or(before));
        out.push_str("${EXPRESSION}");
        rest = tail.get(end + 2..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The values of `"scripts"` in a `package.json`, or in a part of one.
fn package_scripts(text: &str) -> Vec<Block> {
    if !text.trim_start().starts_with(['{', '"']) {
        return Vec::new();
    }
    let mut out = Vec::new();
    let mut inside = false;
    for (line, number) in text.lines().zip(1_u32..) {
        inside |= line.contains("\"scripts\"");
        if !inside {
            continue;
        }
        let behind = line.split_once("\"scripts\"").map_or(line, |(_, rest)| rest);
        let words = json_words(&format!("[{}]", behind.trim())).unwrap_or_default();
        for pair in words.chunks(2) {
            if let [name, command] = pair {
                let lines = vec![(number, command.clone())];
                out.push(Block { owner: name.clone(), strict: false, ignored: false, lines });
            }
        }
        inside = !behind.contains('}');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(language: Language, text: &str) -> Vec<(u32, String)> {
        blocks(language, text).into_iter().flat_map(|block| block.lines).collect()
    }

    fn owned(all: &[(u32, &str)]) -> Vec<(u32, String)> {
        all.iter().map(|(at, line)| (*at, (*line).to_owned())).collect()
    }

    #[test]
    fn recipes_become_shell() {
        assert_eq!(recipe_text("@rm -rf $(BUILD)/ $$x"), "rm -rf ${BUILD}/ $x");
        assert_eq!(recipe_text("sort $< > $@"), "sort ${MAKE_EXPRESSION} > ${MAKE_EXPRESSION}");
        let text = "a: b\n\t@cp a \\\n\t  b\n\t# no\nc:\n\t-rm x\n";
        assert_eq!(lines(Language::Make, text), owned(&[(2, "cp a \\"), (3, "b"), (6, "rm x")]));
        assert!(blocks(Language::Make, text).last().is_some_and(|block| block.ignored));
    }

    #[test]
    fn instructions_become_shell() {
        let text = "FROM x\nRUN --mount=type=cache a && \\\n  # note\n  b\nCMD [\"sh\", \"-c\", \"x || y\"]\nHEALTHCHECK --interval=5s CMD curl -f h\nRUN <<EOF\na\nb\nEOF\n";
        let expected = [(2, "a && \\"), (4, "  b"), (5, "x || y"), (6, "curl -f h"), (8, "a"), (9, "b")];
        assert_eq!(lines(Language::Docker, text), owned(&expected));
    }

    #[test]
    fn steps_become_shell() {
        let text = "a:\n  script:\n    - make\n    - |\n      x\n      y ${{ z }}\n  command: [\"bash\", \"-c\", \"q\"]\n  shell: bash {0}\n  args:\n    - sh\n    - -c\n    - ls | wc\n";
        let expected = [(3, "make"), (5, "x"), (6, "y ${EXPRESSION}"), (7, "q"), (9, "ls | wc")];
        assert_eq!(lines(Language::Yaml, text), owned(&expected));
    }

    #[test]
    fn package_scripts_become_shell_and_lines_lead_back() {
        let text = "{\n  \"scripts\": {\n    \"test\": \"jest || true\"\n  },\n  \"x\": \"y\"\n}\n";
        assert_eq!(lines(Language::Node, text), owned(&[(3, "jest || true")]));
        let script = as_script(Language::Node, text);
        assert_eq!(script.text, "(\njest || true\n) || false\n");
        assert_eq!((script.host_line(2), script.host_line(99)), (3, 3));
    }
}
