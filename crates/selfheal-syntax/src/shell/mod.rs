//! Shell programs: parsed once into [`Script`], which knows commands with their context, loops, assignments, functions,
//! here-documents, options and traps.
//!
//! The text is first joined ([`join`]), then parsed by the tree-sitter grammar and turned into our own shape ([`ast`]).
//! All spans and lines are those of the original text. Where the grammar stumbles ([`Script::has_error`]), callers must
//! treat what they see as incomplete: commands can be absent from the tree.

pub mod ast;
mod brush;
mod build;
pub mod join;
mod options;
mod redirected;
pub mod second;
pub mod word;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

pub use ast::{
    Assignment, Command, CommandKind, Consumer, Context, Function, Heredoc, ListOperator, Loop, LoopKind,
    Redirect, SetOption, Statement, StatementKind, Trap,
};
pub use brush::{Second, second_opinion};
pub use word::{Expansion, Part, Word};

use crate::source::Lines;
use crate::tree::{self, Grammar, Tree, Unparsable};

/// A parsed shell program.
#[derive(Clone, Debug)]
pub struct Script {
    text: String,
    joined: join::Joined,
    lines: Lines,
    tree: Tree,
    body: Vec<Statement>,
    commands: Vec<Command>,
    loops: Vec<Loop>,
    functions: Vec<Function>,
    heredocs: Vec<Heredoc>,
    options: Vec<SetOption>,
    traps: Vec<Trap>,
    incomplete: bool,
}

/// How many texts are kept parsed for [`Script::shared`], and how long they may be, in bytes.
const KEPT: usize = 4;
const KEPT_BYTES: usize = 64 * 1024;

thread_local! {
    /// The texts that were parsed last on this thread, the newest first.
    static RECENT: RefCell<VecDeque<Rc<Script>>> = const { RefCell::new(VecDeque::new()) };
}

impl Script {
    /// Parses a text, or gives it as it was parsed a moment ago: a change is looked at for danger and for what it hides,
    /// both of its sides each time.
    ///
    /// # Errors
    /// As [`Script::parse`].
    pub fn shared(text: &str) -> Result<Rc<Self>, Unparsable> {
        let known = RECENT.with_borrow_mut(|all| {
            let at = all.iter().position(|one| one.text == text)?;
            let found = all.remove(at)?;
            all.push_front(Rc::clone(&found));
            Some(found)
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let script = Rc::new(Self::parse(text)?);
        if text.len() <= KEPT_BYTES {
            RECENT.with_borrow_mut(|all| {
                all.push_front(Rc::clone(&script));
                all.truncate(KEPT);
            });
        }
        Ok(script)
    }

    /// Parses a text. A text with errors still gives a script; see [`Script::has_error`].
    ///
    /// # Errors
    /// When the text is too large or takes too long.
    pub fn parse(text: &str) -> Result<Self, Unparsable> {
        if text.len() > tree::MAX_BYTES {
            return Err(Unparsable { reason: "it is too large".to_owned() });
        }
        let joined = join::join(text);
        let tree = tree::parse(Grammar::Bash, &joined.text)?;
        let lines = Lines::of(text);
        let mut builder = build::Builder {
            joined: &joined,
            original: text,
            lines: &lines,
            commands: Vec::new(),
            loops: Vec::new(),
            functions: Vec::new(),
            heredocs: Vec::new(),
            depth: 0,
            too_deep: false,
        };
        let body = builder.block(&tree::children(tree.root_node()), &Context::default());
        let build::Builder { commands, loops, functions, heredocs, too_deep, .. } = builder;
        let incomplete = too_deep || tree.root_node().has_error();
        let options = options::of(text, &commands);
        let traps = options::traps(&commands);
        let text = text.to_owned();
        Ok(Self {
            text,
            joined,
            lines,
            tree,
            body,
            commands,
            loops,
            functions,
            heredocs,
            options,
            traps,
            incomplete,
        })
    }

    /// The original text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span.
    #[must_use]
    pub fn slice(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The index of its lines.
    #[must_use]
    pub fn lines(&self) -> &Lines {
        &self.lines
    }

    /// The statements at top level.
    #[must_use]
    pub fn body(&self) -> &[Statement] {
        &self.body
    }

    /// Every command, declaration, lone assignment and test, in the order of the text; those inside of substitutions come
    /// right behind the command that holds them.
    #[must_use]
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// The commands that begin on, or stretch over, a line.
    pub fn commands_at(&self, line: u32) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(move |command| command.lines.0 <= line && line <= command.lines.1)
    }

    /// Every loop, in the order of the text.
    #[must_use]
    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// The `for … in …` loops.
    pub fn for_loops(&self) -> impl Iterator<Item = &Loop> {
        self.loops.iter().filter(|one| one.kind == LoopKind::For)
    }

    /// The `while` and `until` loops.
    pub fn while_loops(&self) -> impl Iterator<Item = &Loop> {
        self.loops.iter().filter(|one| matches!(one.kind, LoopKind::While | LoopKind::Until))
    }

    /// Every assignment, in the order of the text.
    pub fn assignments(&self) -> impl Iterator<Item = &Assignment> {
        self.commands.iter().flat_map(|command| &command.assignments)
    }

    /// Every redirection, those of commands first, then those of whole statements.
    #[must_use]
    pub fn redirects(&self) -> Vec<&Redirect> {
        let mut out: Vec<&Redirect> = self.commands.iter().flat_map(|command| &command.redirects).collect();
        self.body.iter().for_each(|statement| statement.visit(&mut |one| out.extend(&one.redirects)));
        out
    }

    /// The functions.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The here-documents.
    #[must_use]
    pub fn heredocs(&self) -> &[Heredoc] {
        &self.heredocs
    }

    /// Every switched option (`set`, `shopt`, and the options on the `#!` line), in the order of the text.
    #[must_use]
    pub fn set_options(&self) -> &[SetOption] {
        &self.options
    }

    /// Whether an option is on at a line of the main program: the last switch before it at top level counts.
    #[must_use]
    pub fn option_at(&self, name: &str, line: u32) -> bool {
        let mut before =
            self.options.iter().filter(|option| option.name == name && option.line < line && !option.local);
        before.next_back().is_some_and(|option| option.on)
    }

    /// The traps.
    #[must_use]
    pub fn traps(&self) -> &[Trap] {
        &self.traps
    }

    /// The `[ … ]`, `[[ … ]]` and `test …` commands.
    pub fn tests(&self) -> impl Iterator<Item = &Command> {
        self.commands
            .iter()
            .filter(|command| matches!(command.kind, CommandKind::Test { .. }) || command.is("test"))
    }

    /// The `(( … ))` commands.
    pub fn arithmetic(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(|command| command.kind == CommandKind::Arithmetic)
    }

    /// Whether the grammar stumbled, or nesting was too deep: commands may be missing here.
    #[must_use]
    pub fn has_error(&self) -> bool {
        self.incomplete
    }

    /// The grammar's tree, over [`Script::joined_text`].
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The text that was parsed: the original with continuations removed.
    #[must_use]
    pub fn joined_text(&self) -> &str {
        &self.joined.text
    }

    /// The original span of a node of [`Script::tree`].
    #[must_use]
    pub fn original_span(&self, node: tree::Node<'_>) -> Range<usize> {
        self.joined.original(node.start_byte())..self.joined.end_of(node.end_byte())
    }
}

#[cfg(test)]
mod tests;
