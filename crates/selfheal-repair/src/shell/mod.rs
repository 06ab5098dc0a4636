//! Shell scripts as rules need them: simple commands and loops with their places in the text, and the values of words as
//! far as they can be told.

mod lexer;
mod parser;
mod values;

use std::ops::Range;

pub(crate) use lexer::{HereDocument, unquoted};
pub(crate) use values::{Values, bare, folder_of, has_pattern, quoted, quoted_word, substitution, variables};

/// A script's commands, loops and blocks, in the order in which they begin.
#[derive(Debug, Default)]
pub(crate) struct Script<'t> {
    pub(crate) text: &'t str,
    pub(crate) commands: Vec<Command>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) here: Vec<HereDocument>,
    line_starts: Vec<usize>,
}

/// A simple command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Command {
    /// Assignments before the command's name.
    pub(crate) assigns: Vec<Range<usize>>,
    /// The name and the arguments.
    pub(crate) words: Vec<Range<usize>>,
    /// Redirections: operator and target.
    pub(crate) redirects: Vec<(Range<usize>, Range<usize>)>,
    /// From the first to the last token.
    pub(crate) span: Range<usize>,
    /// The operator before it on its line of commands; empty at the beginning of a statement.
    pub(crate) before: String,
    /// The operator after it: `|`, `&&`, `||`, `;`, `&` or empty.
    pub(crate) after: String,
    /// The innermost block that it lies in.
    pub(crate) block: Option<usize>,
}

/// What kind of block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// `for NAME in ITEMS`.
    For {
        /// The variable.
        name: Range<usize>,
        /// The items.
        items: Vec<Range<usize>>,
    },
    /// `while` and `until`.
    While,
    /// `if`.
    If,
    /// `case`.
    Case,
    /// `{ … }`.
    Braces,
    /// `( … )`.
    Subshell,
    /// A command or process substitution.
    Substitution,
    /// The body of a function.
    Function {
        /// Its name.
        name: String,
    },
}

/// A compound command.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) kind: BlockKind,
    /// From its first word to the end of its last.
    pub(crate) span: Range<usize>,
    /// Where its body begins: after `do`, `then`, `{`, `(`.
    pub(crate) body: usize,
    /// The block around it.
    pub(crate) parent: Option<usize>,
    /// The operator before it.
    pub(crate) before: String,
}

impl<'t> Script<'t> {
    /// Reads a script.
    pub(crate) fn new(text: &'t str) -> Self {
        let mut script = parser::parse(text);
        script.line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        script
    }

    /// The text of a place.
    pub(crate) fn get(&self, span: &Range<usize>) -> &'t str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The line, from 1, of a byte.
    pub(crate) fn line_of(&self, at: usize) -> u32 {
        self.line_starts.partition_point(|start| *start <= at) as u32
    }

    /// The first byte of the line that holds a byte.
    pub(crate) fn line_start(&self, at: usize) -> usize {
        let line = self.line_of(at) as usize;
        self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// The words of a command as written.
    pub(crate) fn words(&self, command: &Command) -> Vec<&'t str> {
        command.words.iter().map(|span| self.get(span)).collect()
    }

    /// The name of a command as written, without quotes.
    pub(crate) fn name(&self, command: &Command) -> String {
        command.words.first().map(|span| unquoted(self.get(span))).unwrap_or_default()
    }

    /// The blocks around something, innermost first.
    pub(crate) fn around(&self, block: Option<usize>) -> impl Iterator<Item = (usize, &Block)> {
        let mut next = block;
        std::iter::from_fn(move || {
            let at = next?;
            let block = self.blocks.get(at)?;
            next = block.parent;
            Some((at, block))
        })
    }

    /// Whether something lies inside of a function.
    pub(crate) fn in_function(&self, block: Option<usize>) -> bool {
        self.around(block).any(|(_, block)| matches!(block.kind, BlockKind::Function { .. }))
    }

    /// The name of the function that a command stands in, unless it stands in a substitution or subshell there.
    pub(crate) fn function_of(&self, command: &Command) -> Option<&str> {
        let mut around = self.around(command.block).map(|(_, block)| &block.kind);
        around.find_map(|kind| match kind {
            BlockKind::Function { name } => Some(Some(name.as_str())),
            BlockKind::Substitution | BlockKind::Subshell => Some(None),
            _ => None,
        })?
    }

    /// Whether nothing of its function is left to run behind a command, which stands in no loop there.
    pub(crate) fn ends_function(&self, command: &Command) -> bool {
        let mut around = self.around(command.block).map(|(_, block)| block);
        let plain = |block: &&Block| matches!(block.kind, BlockKind::Function { .. } | BlockKind::Braces);
        let Some(block) = around.next().filter(plain) else { return false };
        let body = if matches!(block.kind, BlockKind::Braces) { around.next() } else { Some(block) };
        let function = body.filter(|block| matches!(block.kind, BlockKind::Function { .. }));
        let within = |at: usize, block: &Block| command.span.end <= at && at < block.span.end;
        function.is_some_and(|body| {
            !self.commands.iter().any(|other| within(other.span.start, body))
                && !self.blocks.iter().any(|other| within(other.span.start, body))
        })
    }

    /// The commands that call a function.
    pub(crate) fn calls(&self, function: &str) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(move |command| self.name(command) == function)
    }

    /// The command in whose words or assignments a command's substitution stands.
    pub(crate) fn holder(&self, command: &Command) -> Option<&Command> {
        let (_, block) =
            self.around(command.block).find(|(_, block)| block.kind == BlockKind::Substitution)?;
        self.commands
            .iter()
            .find(|other| other.span.start < block.span.start && block.span.end <= other.span.end)
    }

    /// Where the statement that holds a command begins: the beginning of its pipeline or list, outside of any
    /// substitution or condition that it stands in.
    pub(crate) fn statement(&self, command: &Command) -> usize {
        let outer =
            self.around(command.block).filter(|(_, block)| block.kind == BlockKind::Substitution).last();
        let mut start = match outer {
            None => self.list_start(command.span.start, &command.before),
            Some((_, block)) => {
                let at = block.span.start;
                let holders =
                    self.commands.iter().filter(|other| other.span.start <= at && at < other.span.end);
                let holder = holders.min_by_key(|other| other.span.start);
                holder.map_or(at, |other| self.list_start(other.span.start, &other.before))
            }
        };
        // Redirections behind a loop or group belong to it.
        if command.words.is_empty() && command.assigns.is_empty() {
            let glued = |end: usize| {
                self.text.get(end..start).is_some_and(|gap| gap.trim_matches([' ', '\t']).is_empty())
            };
            if let Some((at, _)) =
                self.blocks.iter().enumerate().rfind(|(_, b)| b.span.end <= start && glued(b.span.end))
            {
                start = self.block_statement(at);
            }
        }
        self.out_of_conditions(start)
    }

    /// Where the statement that a compound command is or belongs to begins.
    pub(crate) fn block_statement(&self, block: usize) -> usize {
        let Some(block) = self.blocks.get(block) else { return 0 };
        self.out_of_conditions(self.list_start(block.span.start, &block.before))
    }

    /// A condition (`if cmd; then`) belongs to its compound command.
    fn out_of_conditions(&self, mut start: usize) -> usize {
        while let Some(block) =
            self.blocks.iter().find(|block| block.span.start < start && start < block.body)
        {
            start = self.list_start(block.span.start, &block.before);
        }
        start
    }

    fn list_start(&self, from: usize, before: &str) -> usize {
        let mut start = from;
        let mut before = before.to_owned();
        while matches!(before.as_str(), "|" | "|&" | "&&" | "||") {
            let ends = |end: usize| {
                self.text
                    .get(end..start)
                    .is_some_and(|gap| gap.trim_matches([' ', '\t', '\n', '\\']) == before)
            };
            let command =
                self.commands.iter().rev().find(|other| other.span.end <= start && ends(other.span.end));
            let block =
                self.blocks.iter().rev().find(|other| other.span.end <= start && ends(other.span.end));
            (start, before) = match (command, block) {
                (_, Some(block)) => (block.span.start, block.before.clone()),
                (Some(command), None) => (command.span.start, command.before.clone()),
                (None, None) => return start,
            };
        }
        start
    }

    /// An edit that puts a command before the statement that begins at `at`: on a line of its own where it can be.
    pub(crate) fn put_before(&self, at: usize, command: &str) -> (Range<usize>, String) {
        let line = self.line_start(at);
        let lead = self.text.get(line..at).unwrap_or_default();
        if lead.trim().is_empty() {
            (line..line, format!("{lead}{command}\n"))
        } else {
            (at..at, format!("{command}; "))
        }
    }

    /// An edit that puts a command at the beginning of a block's body.
    pub(crate) fn put_first(&self, block: &Block, command: &str) -> (Range<usize>, String) {
        let rest = self.text.get(block.body..).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default();
        let empty = line.trim().is_empty() || line.trim_start().starts_with('#');
        let next = block.body + line.len() + 1;
        if !empty || next >= self.text.len() {
            return (block.body..block.body, format!(" {command};"));
        }
        let body = self.text.get(next..).unwrap_or_default();
        let model = body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let indent: String = model.chars().take_while(|c| *c == ' ' || *c == '\t').collect();
        (next..next, format!("{indent}{command}\n"))
    }

    /// The first byte of the line after the script's head: its first comments, and the `set`, `shopt` and `umask` (and
    /// `cd`, when asked for) that come before everything else.
    pub(crate) fn after_head(&self, with_cd: bool) -> usize {
        let head = |command: &&Command| {
            let name = self.name(command);
            matches!(name.as_str(), "set" | "shopt" | "umask") || (with_cd && name == "cd")
        };
        let inside = |command: &&Command| {
            self.around(command.block).any(|(_, block)| block.kind == BlockKind::Substitution)
        };
        let own = self.commands.iter().filter(|command| !inside(command));
        let last = own.take_while(|command| head(command)).last();
        let end = last.map_or(0, |command| {
            self.text
                .get(command.span.end..)
                .map_or(0, |rest| command.span.end + rest.find('\n').map_or(rest.len(), |at| at + 1))
        });
        let comments =
            self.text.split_inclusive('\n').take_while(|line| line.starts_with('#')).map(str::len).sum();
        end.max(comments)
    }

    /// Whether a command's status decides something: it stands in a condition, or before `&&` or `||`.
    pub(crate) fn in_condition(&self, command: &Command) -> bool {
        let at = command.span.start;
        let head = self.around(command.block).any(|(_, b)| b.span.start < at && at < b.body)
            || self
                .blocks
                .iter()
                .any(|b| b.span.start < at && at < b.body && b.kind != BlockKind::Substitution)
            || self.text.get(self.line_start(at)..at).is_some_and(|lead| {
                let lead = lead.trim();
                matches!(lead, "elif" | "!") || lead.ends_with(" !") || lead.starts_with("elif ")
            });
        head || matches!(command.after.as_str(), "&&" | "||")
    }

    /// The variables that change while a block runs.
    pub(crate) fn changed_in(&self, block: &Block) -> Vec<String> {
        let inside = |at: usize| block.span.start <= at && at < block.span.end;
        let mut names: Vec<String> = Vec::new();
        let assigned =
            self.assignments().filter(|(_, value, _)| inside(value.start)).map(|(name, ..)| name.to_owned());
        names.extend(assigned);
        for other in self.blocks.iter().filter(|other| inside(other.span.start)) {
            if let BlockKind::For { name, .. } = &other.kind {
                names.push(self.get(name).to_owned());
            }
        }
        for command in self.commands.iter().filter(|command| inside(command.span.start)) {
            if matches!(self.name(command).as_str(), "read" | "mapfile" | "readarray" | "getopts" | "printf")
            {
                names.extend(self.words(command).iter().skip(1).map(|word| unquoted(word)));
            }
        }
        names
    }

    /// All assignments `NAME=value`, of `export`, `local`, `readonly` and `declare` too: name, value, command.
    pub(crate) fn assignments(&self) -> impl Iterator<Item = (&'t str, Range<usize>, &Command)> {
        self.commands.iter().flat_map(move |command| {
            let declares = matches!(
                self.name(command).as_str(),
                "export" | "local" | "readonly" | "declare" | "typeset"
            );
            let words = command.words.iter().skip(1).filter(move |_| declares);
            command.assigns.iter().chain(words).filter_map(move |span| {
                let (name, _) = self.get(span).split_once('=')?;
                let name = name.strip_suffix('+').unwrap_or(name);
                let good = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
                let value = span.start + self.get(span).find('=')? + 1..span.end;
                (good && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
                    .then_some((name, value, command))
            })
        })
    }

    /// Whether a command is the place that a line of a report means.
    pub(crate) fn covers(&self, command: &Command, line: u32) -> bool {
        self.line_of(command.span.start) <= line && line <= self.line_of(command.span.end)
    }

    /// Whether `set -e` (or an option that holds it) is in effect somewhere.
    pub(crate) fn strict(&self, flag: char, long: &str) -> bool {
        let first = self.text.lines().next().unwrap_or_default();
        let shebang =
            first.starts_with("#!") && first.split_whitespace().any(|word| short_option(word, flag));
        shebang
            || self.commands.iter().filter(|command| self.name(command) == "set").any(|command| {
                let words = self.words(command);
                words.iter().any(|word| short_option(word, flag) || *word == long)
            })
    }
}

fn short_option(word: &str, flag: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(flag)
}

/// Replaces parts of a text; parts that overlap an earlier one are left out. Of several at one place an import comes first.
pub(crate) fn splice(text: &str, mut parts: Vec<(Range<usize>, String)>) -> String {
    parts.sort_by_key(|(span, new)| (span.start, span.end, !new.starts_with("import ")));
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (span, new) in parts {
        if span.start < at {
            continue;
        }
        out.push_str(text.get(at..span.start).unwrap_or_default());
        out.push_str(&new);
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
