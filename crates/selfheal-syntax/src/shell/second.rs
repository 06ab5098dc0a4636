//! The second reading of a shell text: what the second parser takes it for, written out plainly again.
//!
//! Two readings that hold the same commands are one. Where they differ, one of the parsers is wrong, and nobody knows
//! which: whoever judges a text then looks at the plain text of the second reading as well ([`Reading::text`]), whose lines
//! lead back to those of the original. Commands in substitutions are written out in front of the command that they stand
//! in, so that nothing has to be found inside of words a second time.

use std::hash::{BuildHasher, Hasher, RandomState};

use brush_parser::ast;
use brush_parser::word::{self, WordPiece, WordPieceWithSource};

use super::ast::CommandKind;
use super::{Script, brush};

/// How deep substitutions in substitutions are read.
const MAX_DEPTH: u32 = 12;
/// How many substitutions of one text are read.
const MAX_SUBSTITUTIONS: usize = 2_000;

/// Names whose operands one of the parsers reads as assignments or as an expression: how they are split says nothing.
const DECLARING: &[&str] = &["declare", "export", "local", "readonly", "typeset", "unset", "["];

/// What the second parser reads.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    text: String,
    /// The original line of each line of `text`.
    lines: Vec<u32>,
    /// Every command in short, sorted.
    commands: Vec<u64>,
    /// The key of what stands for the commands: nobody outside can make two of them the same.
    key: RandomState,
}

impl Reading {
    /// The text, written out plainly.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The original line of a line of the text, both from 1.
    #[must_use]
    pub fn original_line(&self, line: u32) -> u32 {
        let at = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
        self.lines.get(at).or(self.lines.last()).copied().unwrap_or(1).max(1)
    }

    /// Whether the first parser read the same commands, with the same words and redirections.
    #[must_use]
    pub fn agrees_with(&self, first: &Script) -> bool {
        !first.has_error() && self.commands == outline(first, &self.key)
    }
}

/// The second reading of a text; `None` when the second parser does not read it.
#[must_use]
pub fn reading(text: &str) -> Option<Reading> {
    brush::with_program(text, |program, options| {
        let mut writer =
            Writer { options, out: Reading::default(), line: 1, pending: Vec::new(), depth: 0, inner: 0 };
        program.complete_commands.iter().for_each(|list| writer.list(list));
        let mut out = writer.out;
        out.commands.sort_unstable();
        out
    })
}

/// The commands of the first reading in short, sorted.
fn outline(script: &Script, key: &RandomState) -> Vec<u64> {
    let mut out = Vec::with_capacity(script.commands().len());
    for command in script.commands() {
        match command.kind {
            CommandKind::Simple => {
                let before = command.assignments.iter().map(|assignment| script.slice(&assignment.span));
                let words = command.words.iter().map(|word| word.text.as_str());
                out.push(short(key, before.chain(words), command.is("unset")));
            }
            CommandKind::Declaration | CommandKind::Assignment | CommandKind::Test { double: false } => {
                out.push(short(key, std::iter::once(script.slice(&command.span)), true));
            }
            CommandKind::Test { double: true } | CommandKind::Arithmetic => {}
        }
    }
    for redirect in script.redirects() {
        let target = redirect.target.as_ref().map_or("", |word| word.text.as_str());
        out.push(pointed(key, &redirect.operator, target));
    }
    out.sort_unstable();
    out
}

/// What stands for some words without their blanks, told apart unless they are `loose`.
fn short<'a>(key: &RandomState, words: impl Iterator<Item = &'a str>, loose: bool) -> u64 {
    let mut out = key.build_hasher();
    for (at, word) in words.enumerate() {
        if !loose && at > 0 {
            out.write_u8(1);
        }
        joined(word, &mut out);
    }
    out.finish()
}

fn pointed(key: &RandomState, operator: &str, target: &str) -> u64 {
    let mut out = key.build_hasher();
    out.write(operator.as_bytes());
    out.write_u8(2);
    joined(target, &mut out);
    out.finish()
}

/// Puts in the signs of a word but blanks and continuations.
fn joined(word: &str, out: &mut impl Hasher) {
    if word.bytes().any(|byte| byte.is_ascii_whitespace()) {
        let parts = word.split(|c: char| c.is_ascii_whitespace());
        parts.for_each(|part| out.write(part.strip_suffix('\\').unwrap_or(part).as_bytes()));
    } else {
        out.write(word.as_bytes());
    }
}

/// Writes a program out.
struct Writer<'a> {
    options: &'a brush_parser::ParserOptions,
    out: Reading,
    /// The original line of what is being written.
    line: u32,
    /// Here-documents that begin on the next line: delimiter as written, and body.
    pending: Vec<(String, String)>,
    depth: u32,
    /// How many substitutions were read.
    inner: usize,
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        for _ in text.bytes().filter(|byte| *byte == b'\n') {
            self.out.lines.push(self.line);
        }
        self.out.text.push_str(text);
    }

    fn end_line(&mut self) {
        self.put("\n");
        for (delimiter, body) in std::mem::take(&mut self.pending) {
            self.put(&body);
            if !body.is_empty() && !body.ends_with('\n') {
                self.put("\n");
            }
            let plain: String = delimiter.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
            self.put(&plain);
            self.put("\n");
        }
    }

    fn at(&mut self, word: &ast::Word) {
        let line = word.loc.as_ref().and_then(|span| u32::try_from(span.start.line).ok());
        // Words of substitutions count their lines from their own beginning.
        if let Some(line) = line.filter(|_| self.depth == 0) {
            self.line = line;
        }
    }

    fn list(&mut self, list: &ast::CompoundList) {
        for ast::CompoundListItem(chain, separator) in &list.0 {
            self.substitutions_of_chain(chain);
            self.pipeline(&chain.first);
            for more in &chain.additional {
                let (operator, pipeline) = match more {
                    ast::AndOr::And(pipeline) => (" && ", pipeline),
                    ast::AndOr::Or(pipeline) => (" || ", pipeline),
                };
                self.put(operator);
                self.pipeline(pipeline);
            }
            if matches!(separator, ast::SeparatorOperator::Async) {
                self.put(" &");
            }
            self.end_line();
        }
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline) {
        if pipeline.bang {
            self.put("! ");
        }
        for (at, command) in pipeline.seq.iter().enumerate() {
            if at > 0 {
                self.put(" | ");
            }
            self.command(command);
        }
    }

    fn command(&mut self, command: &ast::Command) {
        match command {
            ast::Command::Simple(simple) => self.simple(simple),
            ast::Command::Compound(compound, redirects) => {
                self.compound(compound);
                self.redirects(redirects.as_ref());
            }
            ast::Command::Function(function) => {
                self.at(&function.fname);
                self.put(&format!("{}() ", function.fname.value));
                self.compound(&function.body.0);
                self.redirects(function.body.1.as_ref());
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.put(&format!("[[ {} ]]", test.expr));
                self.redirects(redirects.as_ref());
            }
        }
    }

    fn block(&mut self, (open, list, close): (&str, &ast::CompoundList, &str)) {
        self.put(open);
        self.end_line();
        self.list(list);
        self.put(close);
    }

    fn compound(&mut self, compound: &ast::CompoundCommand) {
        use ast::CompoundCommand as C;
        match compound {
            C::Arithmetic(arithmetic) => self.put(&format!("(({}))", arithmetic.expr.value)),
            C::ArithmeticForClause(clause) => {
                let part = |part: &Option<ast::UnexpandedArithmeticExpr>| {
                    part.as_ref().map(|part| part.value.clone()).unwrap_or_default()
                };
                let (first, while_, then) =
                    (part(&clause.initializer), part(&clause.condition), part(&clause.updater));
                self.put(&format!("for (({first}; {while_}; {then})); "));
                self.block(("do", &clause.body.list, "done"));
            }
            C::BraceGroup(group) => self.block(("{", &group.list, "}")),
            C::Subshell(subshell) => self.block(("(", &subshell.list, ")")),
            C::ForClause(clause) => {
                self.put(&format!("for {}", clause.variable_name));
                if let Some(values) = &clause.values {
                    self.put(" in");
                    values.iter().for_each(|word| self.word(word));
                }
                self.put("; ");
                self.block(("do", &clause.body.list, "done"));
            }
            C::CaseClause(clause) => self.case(clause),
            C::IfClause(clause) => {
                self.block(("if", &clause.condition, "then"));
                self.end_line();
                self.list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        self.block(("elif", condition, "then"));
                    } else {
                        self.put("else");
                    }
                    self.end_line();
                    self.list(&other.body);
                }
                self.put("fi");
            }
            C::WhileClause(clause) => {
                self.block(("while", &clause.0, ""));
                self.block(("do", &clause.1.list, "done"));
            }
            C::UntilClause(clause) => {
                self.block(("until", &clause.0, ""));
                self.block(("do", &clause.1.list, "done"));
            }
            C::Coprocess(process) => {
                // One that is started beside: what it is called says nothing of what it does.
                self.put("{ ");
                self.command(&process.body);
                self.put(" & }");
            }
        }
    }

    fn case(&mut self, clause: &ast::CaseClauseCommand) {
        self.put("case");
        self.word(&clause.value);
        self.put(" in");
        self.end_line();
        for item in &clause.cases {
            let patterns: Vec<&str> = item.patterns.iter().map(|word| word.value.as_str()).collect();
            self.put(&format!("({})", patterns.join("|")));
            self.end_line();
            item.cmd.iter().for_each(|list| self.list(list));
            self.put(";;");
            self.end_line();
        }
        self.put("esac");
    }

    fn word(&mut self, word: &ast::Word) {
        self.at(word);
        self.put(" ");
        self.put(&word.value);
    }

    fn simple(&mut self, simple: &ast::SimpleCommand) {
        let before = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let after = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let name = simple.word_or_name.as_ref();
        let loose = name.is_none_or(|name| DECLARING.contains(&name.value.as_str()));
        let mut words: Vec<String> = Vec::new();
        before.for_each(|item| self.item(item, &mut words));
        if let Some(name) = name {
            self.word(name);
            words.push(name.value.clone());
        }
        after.for_each(|item| self.item(item, &mut words));
        if !words.is_empty() {
            let own = short(&self.out.key, words.iter().map(String::as_str), loose);
            self.out.commands.push(own);
        }
    }

    fn item(&mut self, item: &ast::CommandPrefixOrSuffixItem, words: &mut Vec<String>) {
        use ast::CommandPrefixOrSuffixItem as I;
        match item {
            I::IoRedirect(redirect) => self.redirect(redirect),
            I::Word(word) | I::AssignmentWord(_, word) => {
                self.word(word);
                words.push(word.value.clone());
            }
            I::ProcessSubstitution(kind, subshell) => {
                // Its commands are written out in front; here only the word is needed.
                let text = format!("{kind}({})", subshell.list);
                self.put(" ");
                self.put(&text);
                words.push(text);
            }
        }
    }

    fn redirects(&mut self, redirects: Option<&ast::RedirectList>) {
        redirects.into_iter().flat_map(|list| &list.0).for_each(|redirect| self.redirect(redirect));
    }

    fn redirect(&mut self, redirect: &ast::IoRedirect) {
        let number = |fd: &Option<i32>| fd.map_or_else(String::new, |fd| fd.to_string());
        let (fd, operator, target) = match redirect {
            ast::IoRedirect::File(fd, kind, target) => {
                let target = match target {
                    ast::IoFileRedirectTarget::ProcessSubstitution(kind, subshell) => {
                        format!("{kind}({})", subshell.list)
                    }
                    other => other.to_string(),
                };
                (number(fd), kind.to_string(), target)
            }
            ast::IoRedirect::HereString(fd, word) => (number(fd), "<<<".to_owned(), word.value.clone()),
            ast::IoRedirect::OutputAndError(word, append) => {
                (String::new(), if *append { "&>>" } else { "&>" }.to_owned(), word.value.clone())
            }
            ast::IoRedirect::HereDocument(fd, document) => {
                let delimiter = document.here_end.value.trim_end_matches('\n').to_owned();
                self.pending.push((delimiter.clone(), document.doc.value.clone()));
                let operator = if document.remove_tabs { "<<-" } else { "<<" };
                self.out.commands.push(pointed(&self.out.key, operator, &delimiter));
                // Tabs are gone from the body already.
                self.put(&format!(" {}<<{delimiter}", number(fd)));
                return;
            }
        };
        self.out.commands.push(pointed(&self.out.key, &operator, &target));
        self.put(&format!(" {fd}{operator} {target}"));
    }

    /// Writes out what the substitutions run that stand in the words of a chain of commands; those in its compound
    /// commands come with their own lists.
    fn substitutions_of_chain(&mut self, chain: &ast::AndOrList) {
        let all = std::iter::once(&chain.first).chain(chain.additional.iter().map(|more| match more {
            ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline) => pipeline,
        }));
        for command in all.flat_map(|pipeline| &pipeline.seq) {
            match command {
                ast::Command::Simple(simple) => self.substitutions_of_simple(simple),
                ast::Command::Compound(compound, redirects) => {
                    self.substitutions_of_head(compound);
                    self.substitutions_of_redirects(redirects.as_ref());
                }
                ast::Command::Function(function) => self.substitutions_of_redirects(function.body.1.as_ref()),
                ast::Command::ExtendedTest(test, redirects) => {
                    self.substitutions(&test.expr.to_string());
                    self.substitutions_of_redirects(redirects.as_ref());
                }
            }
        }
    }

    /// The words in front of the body of a compound command.
    fn substitutions_of_head(&mut self, compound: &ast::CompoundCommand) {
        match compound {
            ast::CompoundCommand::Arithmetic(arithmetic) => self.substitutions(&arithmetic.expr.value),
            ast::CompoundCommand::ArithmeticForClause(clause) => {
                for part in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    self.substitutions(&part.value);
                }
            }
            ast::CompoundCommand::ForClause(clause) => {
                clause.values.iter().flatten().for_each(|word| self.substitutions(&word.value));
            }
            ast::CompoundCommand::CaseClause(clause) => {
                self.substitutions(&clause.value.value);
                clause
                    .cases
                    .iter()
                    .flat_map(|item| &item.patterns)
                    .for_each(|word| self.substitutions(&word.value));
            }
            ast::CompoundCommand::Coprocess(process) => {
                if let ast::Command::Simple(simple) = process.body.as_ref() {
                    self.substitutions_of_simple(simple);
                }
            }
            _ => {}
        }
    }

    fn substitutions_of_simple(&mut self, simple: &ast::SimpleCommand) {
        let items = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let items = items.chain(simple.suffix.iter().flat_map(|suffix| &suffix.0));
        simple.word_or_name.iter().for_each(|name| self.substitutions(&name.value));
        for item in items {
            match item {
                ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                    self.substitutions_of_redirect(redirect)
                }
                ast::CommandPrefixOrSuffixItem::Word(word)
                | ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) => self.substitutions(&word.value),
                ast::CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                    self.aside(&subshell.list)
                }
            }
        }
    }

    fn substitutions_of_redirects(&mut self, redirects: Option<&ast::RedirectList>) {
        redirects.into_iter().flat_map(|list| &list.0).for_each(|one| self.substitutions_of_redirect(one));
    }

    fn substitutions_of_redirect(&mut self, redirect: &ast::IoRedirect) {
        match redirect {
            ast::IoRedirect::File(_, _, target) => match target {
                ast::IoFileRedirectTarget::Filename(word) | ast::IoFileRedirectTarget::Duplicate(word) => {
                    self.substitutions(&word.value);
                }
                ast::IoFileRedirectTarget::ProcessSubstitution(_, subshell) => self.aside(&subshell.list),
                ast::IoFileRedirectTarget::Fd(_) => {}
            },
            ast::IoRedirect::HereString(_, word) | ast::IoRedirect::OutputAndError(word, _) => {
                self.substitutions(&word.value);
            }
            ast::IoRedirect::HereDocument(_, document) if document.requires_expansion => {
                if let Ok(pieces) = word::parse_heredoc(&document.doc.value, self.options) {
                    self.pieces(&document.doc.value, &pieces);
                }
            }
            ast::IoRedirect::HereDocument(..) => {}
        }
    }

    /// Writes out what the substitutions of a word run.
    fn substitutions(&mut self, text: &str) {
        if !text.contains("$(") && !text.contains('`') || self.depth >= MAX_DEPTH {
            return;
        }
        if let Ok(pieces) = word::parse(text, self.options) {
            self.pieces(text, &pieces);
        }
    }

    fn pieces(&mut self, text: &str, pieces: &[WordPieceWithSource]) {
        for piece in pieces {
            match &piece.piece {
                WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                    self.pieces(text, inner);
                }
                WordPiece::CommandSubstitution(commands)
                | WordPiece::BackquotedCommandSubstitution(commands) => {
                    self.substitution(commands);
                }
                WordPiece::ParameterExpansion(_) => {
                    // `${x:-$(…)}`: what stands behind the name is a word.
                    let whole = text.get(piece.start_index..piece.end_index).unwrap_or_default();
                    let inside =
                        whole.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
                    let behind =
                        inside.trim_start_matches(|c: char| c.is_alphanumeric() || "_!#".contains(c));
                    self.substitutions(behind);
                }
                WordPiece::ArithmeticExpression(expression) => self.substitutions(&expression.value),
                _ => {}
            }
        }
    }

    fn substitution(&mut self, commands: &str) {
        self.inner += 1;
        if self.inner > MAX_SUBSTITUTIONS {
            return;
        }
        let program = brush_parser::Parser::new(commands.as_bytes(), self.options).parse_program();
        let Ok(program) = program else { return };
        self.depth += 1;
        self.put("(");
        self.end_line();
        program.complete_commands.iter().for_each(|list| self.list(list));
        self.put(")");
        self.end_line();
        self.depth -= 1;
    }

    /// Writes out the commands of a process substitution.
    fn aside(&mut self, list: &ast::CompoundList) {
        self.block(("(", list, ")"));
        self.end_line();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree(text: &str) -> bool {
        let first = Script::parse(text).unwrap();
        let second = reading(text).unwrap();
        second.agrees_with(&first)
    }

    #[test]
    fn ordinary_programs_are_read_alike() {
        for text in [
            "set -euo pipefail\nfor f in \"$d\"/*.csv; do\n  cp \"$f\" out/ || exit 1\ndone > log 2>&1\n",
            "x=$(wc -l < \"a b\") y=2\nexport P=\"$x\":/bin Q\n[ \"$x\" -gt 0 ] && echo \"${x:-$(date)}\" >> log\n",
            "f() {\n  local a=1 b\n  case $1 in\n    a|b) rm -f \"$2\" ;;\n    *) return 1 ;;\n  esac\n}\nf a | sort -u\n",
            "cat <<'E' | bash -s -- x\necho $x\nE\nwhile read -r l; do echo \"$l\"; done < <(ls -1)\n",
            "if ! grep -q x f; then\n  { echo a; echo b; } >&2\nelif [[ -n $x && $y == a* ]]; then\n  (( x++ ))\nfi\n",
            "rm \\\n  -f x\na=(1 2 \"3 4\")\ndiff <(sort a) <(sort b) &\nwait\n",
        ] {
            assert!(agree(text), "{text}\n{:?}", reading(text));
        }
    }

    #[test]
    fn commands_that_only_one_parser_sees_are_a_difference() {
        for text in ["cat <<A; rm -rf /\nx\nA\n", "coproc rm -rf /\n", "{rm,-rf,/}\n"] {
            assert!(!agree(text), "{text}");
        }
        let second = reading("cat <<A; rm -rf /\nx\nA\necho b\n").unwrap();
        assert!(second.text().contains(" rm -rf /\n"), "{}", second.text());
    }

    #[test]
    fn what_was_written_out_reads_the_same_and_leads_back_to_its_line() {
        let text = "a 1\n\n\nif b; then\n  c \"$(d 2\n  e 3)\"\nfi\nwhile f; do g; done <<E\nbody\nE\nh\n";
        let second = reading(text).unwrap();
        let again = Script::parse(second.text()).unwrap();
        assert!(!again.has_error(), "{}", second.text());
        for (name, line) in [("a", 1), ("b", 4), ("c", 5), ("g", 8), ("h", 11)] {
            let found = again.commands().iter().find(|command| command.is(name)).unwrap();
            assert_eq!(second.original_line(found.lines.0), line, "{name}: {}", second.text());
        }
        assert!(again.commands().iter().any(|command| command.is("e")), "{}", second.text());
    }

    #[test]
    fn what_the_second_parser_does_not_read_has_no_reading() {
        assert!(reading("if x; then\n").is_none());
        assert!(reading(&"<<a ".repeat(1_000)).is_none());
    }
}
