//! Where variables get their values.

use std::collections::BTreeMap;

use crate::shell::{Command, LoopKind, Script, Word};

/// What a definition gives.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// This word.
    Word(Word),
    /// What it was, with this word behind it.
    Appended(Word),
    /// One of these words after the other, or one of the arguments of the calls.
    OneOf(Vec<Word>),
    /// These elements.
    Array(Vec<Word>),
    /// What it was, with these elements behind it.
    ArrayAppended(Vec<Word>),
    /// One element of an array, by its index or key.
    Element(String, Word),
    /// What another variable is worth.
    Nameref(String),
    /// The empty text, or nothing.
    Empty,
    /// Something that is given when the script runs.
    Anything,
    /// Something that is read from a file, a pipe or a person.
    Read,
}

/// One place where a variable gets a value.
#[derive(Clone, Debug)]
pub struct Definition {
    pub name: String,
    pub meaning: Meaning,
    /// Where, as an offset into the text.
    pub offset: usize,
    /// The function that it stands in.
    pub function: Option<String>,
    /// Whether it surely runs before what follows it in the same function.
    pub settles: bool,
}

/// All the definitions of a script, in the order of the text.
pub struct Definitions {
    /// By name, each list in the order of the text.
    all: BTreeMap<String, Vec<Definition>>,
    /// Where each function is called last from the main program.
    last_calls: BTreeMap<String, usize>,
}

impl Definitions {
    pub fn of(script: &Script) -> Self {
        let mut all = Vec::new();
        for command in script.commands() {
            all.extend(assigned(command));
            all.extend(by_builtin(command));
        }
        for one in script.loops() {
            let Some(name) = one.variable.clone().filter(|_| one.kind != LoopKind::Arithmetic) else {
                continue;
            };
            let meaning = match &one.list {
                Some(words) if !words.is_empty() && one.kind == LoopKind::For => {
                    Meaning::OneOf(words.clone())
                }
                _ => Meaning::Anything,
            };
            let function = one.context.function.clone();
            all.push(Definition { name, meaning, offset: one.body.start, function, settles: true });
        }
        all.extend(arguments(script));
        all.sort_by_key(|definition| definition.offset);
        let mut by_name: BTreeMap<String, Vec<Definition>> = BTreeMap::new();
        for definition in all {
            by_name.entry(definition.name.clone()).or_default().push(definition);
        }
        Self { all: by_name, last_calls: last_calls(script) }
    }

    /// The definitions that may be in force at an offset, latest first; the last one may settle it.
    pub fn reaching(&self, script: &Script, name: &str, offset: usize) -> Vec<&Definition> {
        let function = enclosing(script, offset);
        let mut out = Vec::new();
        if let Some(function) = function {
            out = self.back_from(name, offset, Some(function));
            if out.last().is_some_and(|last| last.settles) {
                return out;
            }
        }
        let from =
            function.map_or(offset, |function| self.last_calls.get(function).copied().unwrap_or(usize::MAX));
        if !is_positional(name) || function.is_none() {
            out.extend(self.back_from(name, from, None));
        }
        out
    }

    fn back_from(&self, name: &str, offset: usize, function: Option<&str>) -> Vec<&Definition> {
        let mut out = Vec::new();
        for definition in self.all.get(name).into_iter().flatten().rev() {
            if definition.offset >= offset || definition.function.as_deref() != function {
                continue;
            }
            out.push(definition);
            if definition.settles || out.len() > 16 {
                break;
            }
        }
        out
    }
}

fn is_positional(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_digit()) || name == "@" || name == "*"
}

fn enclosing(script: &Script, offset: usize) -> Option<&str> {
    let inside = script.functions().iter().filter(|function| function.span.contains(&offset));
    inside.max_by_key(|function| function.span.start).map(|function| function.name.as_str())
}

fn last_calls(script: &Script) -> BTreeMap<String, usize> {
    let names: std::collections::BTreeSet<&str> =
        script.functions().iter().map(|f| f.name.as_str()).collect();
    let mut out = BTreeMap::new();
    for command in script.commands().iter().filter(|command| command.context.function.is_none()) {
        if let Some(name) = command.name().filter(|name| names.contains(name.as_str())) {
            out.insert(name, command.span.start);
        }
    }
    out
}

fn assigned(command: &Command) -> Vec<Definition> {
    let context = &command.context;
    let settles = !context.branch && context.after.is_none() && context.loops.is_empty();
    let nameref = command.is("declare") || command.is("local") || command.is("typeset");
    let nameref = nameref && command.words.iter().any(|word| word.text == "-n");
    let visible = command.assignments.iter().filter(|assignment| !assignment.for_command);
    visible
        .filter(|a| a.value.is_some() || a.elements.is_some() || a.declared_by.as_deref() == Some("local"))
        .map(|assignment| {
            let meaning = match (&assignment.value, &assignment.elements) {
                (Some(word), _) if assignment.index.is_some() => {
                    Meaning::Element(assignment.index.clone().unwrap_or_default(), word.clone())
                }
                (Some(word), _) if nameref => Meaning::Nameref(word.literal().unwrap_or_default()),
                (Some(word), _) if assignment.append => Meaning::Appended(word.clone()),
                (Some(word), _) => Meaning::Word(word.clone()),
                (None, Some(words)) if assignment.append => Meaning::ArrayAppended(words.clone()),
                (None, Some(words)) => Meaning::Array(words.clone()),
                (None, None) => Meaning::Empty,
            };
            Definition {
                name: assignment.name.clone(),
                meaning,
                offset: assignment.span.end,
                function: assignment.function.clone(),
                // One element says nothing of the others.
                settles: settles && assignment.index.is_none(),
            }
        })
        .collect()
}

/// Builtins that give variables values: `read`, `mapfile`, `getopts`, `printf -v`, `unset`, `set --`.
fn by_builtin(command: &Command) -> Vec<Definition> {
    let Some(name) = command.name() else { return Vec::new() };
    let offset = command.span.end;
    let function = command.context.function.clone();
    let settles = !command.context.branch && command.context.after.is_none();
    let make = |name: &str, meaning: Meaning| Definition {
        name: name.to_owned(),
        meaning,
        offset,
        function: function.clone(),
        settles,
    };
    let plain = || {
        let arguments = command.arguments().iter();
        arguments.filter(|word| !word.text.starts_with('-')).filter_map(Word::literal).collect::<Vec<_>>()
    };
    match name.as_str() {
        "read" | "mapfile" | "readarray" | "getopts" => {
            let here = command.redirects.iter().find(|redirect| redirect.operator == "<<<");
            let names = plain();
            // A text that is taken apart at other signs than blanks is not followed.
            let plain_fields = command.assignments.is_empty();
            let given = here.and_then(|redirect| redirect.target.clone());
            let given = given.filter(|_| names.len() == 1 && plain_fields);
            let mut names = names;
            if names.is_empty() {
                names.push("REPLY".to_owned());
            }
            names.iter().map(|name| make(name, given.clone().map_or(Meaning::Read, Meaning::Word))).collect()
        }
        "unset" => plain().iter().map(|name| make(name, Meaning::Empty)).collect(),
        "printf" if command.arguments().first().is_some_and(|word| word.text == "-v") => {
            let variable = command.arguments().get(1).and_then(Word::literal);
            let whole = match command.arguments().get(2..) {
                Some([format]) if !format.text.contains('%') => Meaning::Word(format.clone()),
                Some([format, words @ ..]) if format.expansions().next().is_none() => {
                    filled(format, words).map_or(Meaning::Anything, Meaning::Word)
                }
                _ => Meaning::Anything,
            };
            variable.iter().map(|name| make(name, whole.clone())).collect()
        }
        "set" if command.arguments().first().is_some_and(|word| word.text == "--") => {
            let words = command.arguments().get(1..).unwrap_or_default();
            let mut out: Vec<Definition> = words
                .iter()
                .enumerate()
                .take(9)
                .map(|(at, word)| make(&(at + 1).to_string(), Meaning::Word(word.clone())))
                .collect();
            out.push(make("@", Meaning::Array(words.to_vec())));
            out.push(make("*", Meaning::Array(words.to_vec())));
            out
        }
        _ => Vec::new(),
    }
}

/// A format with its `%s` and `%b` filled in by the words that follow; `None` for other directives.
fn filled(format: &Word, words: &[Word]) -> Option<Word> {
    let text = format.literal()?;
    let mut text_parts = text.split('%');
    let mut out = format!("'{}'", text_parts.next()?.replace('\'', "'\\''"));
    let mut words = words.iter();
    for part in text_parts {
        let rest = part.strip_prefix(['s', 'b'])?;
        out.push_str(words.next().map_or("", |word| word.text.as_str()));
        out.push_str(&format!("'{}'", rest.replace('\'', "'\\''")));
    }
    Some(Word::new(&out, format.span.clone()))
}

/// The positional parameters of functions: one of the words that they are called with.
fn arguments(script: &Script) -> Vec<Definition> {
    let mut out = Vec::new();
    let mut called: BTreeMap<String, Vec<&Command>> =
        script.functions().iter().map(|function| (function.name.clone(), Vec::new())).collect();
    for command in script.commands().iter().filter(|_| !called.is_empty()).collect::<Vec<_>>() {
        if let Some(all) = command.name().and_then(|name| called.get_mut(&name)).filter(|all| all.len() < 32)
        {
            all.push(command);
        }
    }
    for function in script.functions() {
        let calls = called.get(&function.name).map(Vec::as_slice).unwrap_or_default();
        for at in 1..=9_usize {
            let words: Vec<Word> = calls.iter().filter_map(|call| call.words.get(at).cloned()).collect();
            if words.is_empty() {
                break;
            }
            // A call that gives fewer words, or is not seen, leaves it open.
            let settles = words.len() == calls.len();
            out.push(Definition {
                name: at.to_string(),
                meaning: Meaning::OneOf(words),
                offset: function.span.start,
                function: Some(function.name.clone()),
                settles,
            });
        }
    }
    out
}
