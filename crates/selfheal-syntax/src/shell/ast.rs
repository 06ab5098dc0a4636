//! The shape of a shell program: statements, commands with their context, loops, functions, here-documents.

use std::ops::Range;

use super::word::{Part, Word};

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Where, in bytes of the original text.
    pub span: Range<usize>,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// Redirections of the whole statement.
    pub redirects: Vec<Redirect>,
    /// Whether it is started with `&`.
    pub background: bool,
}

impl Statement {
    /// Calls `see` for this statement and every one inside of it, substitutions of commands not counted.
    pub fn visit<'a>(&'a self, see: &mut dyn FnMut(&'a Self)) {
        see(self);
        let mut all = |statements: &'a [Self]| statements.iter().for_each(|statement| statement.visit(see));
        match &self.kind {
            StatementKind::Command(_) | StatementKind::Unparsed => {}
            StatementKind::List { left, right, .. } => {
                left.visit(see);
                right.visit(see);
            }
            StatementKind::Not(inner) => inner.visit(see),
            StatementKind::Pipeline(body)
            | StatementKind::Function { body, .. }
            | StatementKind::Subshell(body)
            | StatementKind::Group(body) => all(body),
            StatementKind::If { arms, otherwise } => {
                arms.iter().for_each(|(condition, body)| {
                    all(condition);
                    all(body);
                });
                all(otherwise.as_deref().unwrap_or_default());
            }
            StatementKind::Loop { condition, body, .. } => {
                all(condition);
                all(body);
            }
            StatementKind::Case { items, .. } => items.iter().for_each(|(_, body)| all(body)),
        }
    }
}

/// The kinds of statements. Indices lead into the lists of the script.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// A command: index into `commands`.
    Command(usize),
    /// `left && right`, `left || right`.
    List {
        /// Which.
        operator: ListOperator,
        /// What runs first.
        left: Box<Statement>,
        /// What depends on it.
        right: Box<Statement>,
    },
    /// `a | b | c`.
    Pipeline(Vec<Statement>),
    /// `! a`.
    Not(Box<Statement>),
    /// `if`, with all its `elif` arms.
    If {
        /// Condition and body of each arm.
        arms: Vec<(Vec<Statement>, Vec<Statement>)>,
        /// The `else` part.
        otherwise: Option<Vec<Statement>>,
    },
    /// A loop: index into `loops`.
    Loop {
        /// Index into `loops`.
        index: usize,
        /// The condition of `while` and `until`.
        condition: Vec<Statement>,
        /// The body.
        body: Vec<Statement>,
    },
    /// `case`.
    Case {
        /// What is looked at.
        value: Option<Word>,
        /// Patterns as written, and the body behind each.
        items: Vec<(Vec<String>, Vec<Statement>)>,
    },
    /// A function definition: index into `functions`.
    Function {
        /// Index into `functions`.
        index: usize,
        /// The body.
        body: Vec<Statement>,
    },
    /// `( … )`.
    Subshell(Vec<Statement>),
    /// `{ …; }`.
    Group(Vec<Statement>),
    /// Text that the grammar does not understand.
    Unparsed,
}

/// `&&` or `||`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOperator {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// A simple command, a declaration, an assignment on its own, or a test.
#[derive(Clone, Debug)]
pub struct Command {
    /// What it is.
    pub kind: CommandKind,
    /// Where, in bytes of the original text, redirections before and after it not included.
    pub span: Range<usize>,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// Its words, the name first. For a test: what is between the brackets. Empty for assignments on their own.
    pub words: Vec<Word>,
    /// Assignments before it, or the ones that it consists of, or those of a declaration.
    pub assignments: Vec<Assignment>,
    /// Its redirections.
    pub redirects: Vec<Redirect>,
    /// Where it stands.
    pub context: Context,
    /// The statements in its command and process substitutions.
    pub inner: Vec<Statement>,
}

impl Command {
    /// Its name, when that does not depend on the run: `cp`, `[`, `local`. Quotes are taken away; a path is kept.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        match self.kind {
            CommandKind::Simple | CommandKind::Declaration => self.words.first().and_then(Word::literal),
            CommandKind::Test { double: true } => Some("[[".to_owned()),
            CommandKind::Test { double: false } => Some("[".to_owned()),
            CommandKind::Arithmetic => Some("((".to_owned()),
            CommandKind::Assignment => None,
        }
    }

    /// The words behind the name.
    #[must_use]
    pub fn arguments(&self) -> &[Word] {
        match self.kind {
            CommandKind::Simple | CommandKind::Declaration => self.words.get(1..).unwrap_or_default(),
            _ => &self.words,
        }
    }

    /// Whether its name is this one, a path before it ignored.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        let fits = |own: &str| own == name || own.rsplit('/').next() == Some(name);
        match self.kind {
            // Asked of every command by every check: mostly it is one part, and nothing needs to be put together.
            CommandKind::Simple | CommandKind::Declaration => {
                match self.words.first().map(|word| word.parts.as_slice()) {
                    Some([Part::Literal { text, .. }]) => fits(text),
                    Some([Part::Literal { .. }, ..]) => self.name().is_some_and(|own| fits(&own)),
                    Some([]) => fits(""),
                    _ => false,
                }
            }
            CommandKind::Test { double: true } => fits("[["),
            CommandKind::Test { double: false } => fits("["),
            CommandKind::Arithmetic => fits("(("),
            CommandKind::Assignment => false,
        }
    }
}

/// The kinds of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// A command with a name.
    Simple,
    /// `declare`, `local`, `export`, `readonly`, `typeset`, `unset`.
    Declaration,
    /// Only assignments.
    Assignment,
    /// `[ … ]` or, `double`, `[[ … ]]`.
    Test {
        /// Whether it is `[[ … ]]`.
        double: bool,
    },
    /// `(( … ))`.
    Arithmetic,
}

/// `name=value`.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The subscript, if an element is assigned.
    pub index: Option<String>,
    /// The value; `None` for `local x` and for arrays.
    pub value: Option<Word>,
    /// The elements of an array.
    pub elements: Option<Vec<Word>>,
    /// Whether it is `+=`.
    pub append: bool,
    /// Where, in bytes of the original text.
    pub span: Range<usize>,
    /// The line, from 1.
    pub line: u32,
    /// The declaring word, if any: `local`, `export`, `readonly`, `declare`, `typeset`.
    pub declared_by: Option<String>,
    /// Whether it stands before a command and lives only for it.
    pub for_command: bool,
    /// The enclosing function.
    pub function: Option<String>,
    /// Whether it may not run: inside a branch, a loop, a function, or behind `&&` or `||`.
    pub conditional: bool,
}

/// A redirection.
#[derive(Clone, Debug)]
pub struct Redirect {
    /// The operator: `>`, `>>`, `<`, `>&`, `&>`, `<<<`, `<<`, `<<-`, `>|`, `<>`.
    pub operator: String,
    /// The descriptor before it, if written.
    pub descriptor: Option<String>,
    /// The target; for a here-document its delimiter word.
    pub target: Option<Word>,
    /// Where, in bytes of the original text.
    pub span: Range<usize>,
}

impl Redirect {
    /// Whether it writes to a file.
    #[must_use]
    pub fn writes(&self) -> bool {
        matches!(self.operator.as_str(), ">" | ">>" | ">|" | "&>" | "&>>" | "<>")
    }
}

/// Where a command stands.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The enclosing function, innermost.
    pub function: Option<String>,
    /// The enclosing loops, outermost first: indices into `loops`.
    pub loops: Vec<usize>,
    /// What consumes its status, outermost first. Empty: `set -e` applies.
    pub consumers: Vec<Consumer>,
    /// On the right of `&&` or `||`: it runs only depending on what stands left.
    pub after: Option<ListOperator>,
    /// Position in a pipeline: (from 0, number of members).
    pub pipeline: Option<(usize, usize)>,
    /// Inside `( … )`.
    pub subshell: bool,
    /// Inside `$(…)`, `<(…)` or backquotes.
    pub substitution: bool,
    /// Started with `&`, or inside of something that is.
    pub background: bool,
    /// Inside a branch of `if` or `case`.
    pub branch: bool,
}

impl Context {
    /// Whether a failure ends the script under `set -e` (pipelines aside).
    #[must_use]
    pub fn failure_ends(&self) -> bool {
        self.consumers.is_empty() && !self.background
    }

    /// Whether it may not run at all: in a branch, a loop, a function or behind `&&` or `||`.
    #[must_use]
    pub fn conditional(&self) -> bool {
        self.branch || self.after.is_some() || !self.loops.is_empty() || self.function.is_some()
    }
}

/// What consumes the status of a command, so that `set -e` does not see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// The condition of `if` or `elif`.
    If,
    /// The condition of `while` or `until`.
    While,
    /// Left of `&&`.
    And,
    /// Left of `||`.
    Or,
    /// Behind `!`.
    Not,
    /// A member of a pipeline that is not the last; consumed unless `pipefail` is on.
    Pipe,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// What it is.
    pub kind: LoopKind,
    /// The variable of `for` and `select`.
    pub variable: Option<String>,
    /// The words behind `in`; `None` without `in` (the positional parameters).
    pub list: Option<Vec<Word>>,
    /// Where, in bytes of the original text.
    pub span: Range<usize>,
    /// The line of its first word, from 1.
    pub line: u32,
    /// The line of `do`.
    pub do_line: u32,
    /// The line of `done`.
    pub done_line: u32,
    /// The bytes between `do` and `done`.
    pub body: Range<usize>,
    /// The first and last line of the body's statements; `None` when it is empty.
    pub body_lines: Option<(u32, u32)>,
    /// The indentation of the body's first statement, when that begins its line; else of the loop with two blanks more.
    pub body_indent: String,
    /// The indentation of the loop's line.
    pub indent: String,
    /// Whether the loop stands on one line.
    pub one_line: bool,
    /// Where the loop itself stands.
    pub context: Context,
}

/// The kinds of loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// `for x in …`
    For,
    /// `for ((…))`
    Arithmetic,
    /// `select x in …`
    Select,
    /// `while …`
    While,
    /// `until …`
    Until,
}

/// A function definition.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Where, in bytes of the original text.
    pub span: Range<usize>,
    /// First and last line, from 1.
    pub lines: (u32, u32),
}

/// A here-document.
#[derive(Clone, Debug)]
pub struct Heredoc {
    /// The delimiter without quotes.
    pub delimiter: String,
    /// Whether the delimiter is quoted, so that nothing in the body is expanded.
    pub quoted: bool,
    /// The body.
    pub body: String,
    /// Where the body is, in bytes of the original text.
    pub span: Range<usize>,
    /// The command that it belongs to: index into `commands`.
    pub command: Option<usize>,
}

/// A shell option that was switched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetOption {
    /// Its long name: `errexit`, `nounset`, `pipefail`, `nullglob`.
    pub name: String,
    /// Whether it is switched on.
    pub on: bool,
    /// The line, from 1; 1 for options on the `#!` line.
    pub line: u32,
    /// Where, as an offset into the original text.
    pub offset: usize,
    /// Inside a function, a branch or a subshell.
    pub local: bool,
}

/// A `trap`.
#[derive(Clone, Debug)]
pub struct Trap {
    /// The command text, when it does not depend on the run.
    pub action: Option<String>,
    /// The word as written.
    pub word: Word,
    /// The signals: `EXIT`, `ERR`, `INT`.
    pub signals: Vec<String>,
    /// The line, from 1.
    pub line: u32,
}
