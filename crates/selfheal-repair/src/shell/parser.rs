//! From tokens to commands and blocks. Tolerant: a script that is broken somewhere still gives what stands before.

use std::ops::Range;

use super::lexer::{Kind, Lexer, Token};
use super::{Block, BlockKind, Command, Script};

/// The most commands that are read: a script with more is generated, and no rule looks at it.
const MOST: usize = 5_000;

/// Reads a whole script.
pub(super) fn parse(text: &str) -> Script<'_> {
    let mut script = Script { text, ..Script::default() };
    let mut waiting: Vec<(Range<usize>, Option<usize>)> = vec![(0..text.len(), None)];
    while let Some((range, parent)) = waiting.pop() {
        let mut parser = Parser::new(text, range, parent, &mut script);
        parser.run();
        let inner = std::mem::take(&mut parser.lexer.inner);
        let here = std::mem::take(&mut parser.lexer.here);
        if parent.is_none() {
            script.here.extend(here);
        }
        for span in outermost(inner) {
            let block = enclosing(&script, &span);
            script.blocks.push(Block {
                kind: BlockKind::Substitution,
                span: span.clone(),
                body: span.start,
                parent: block,
                before: String::new(),
            });
            waiting.push((span, Some(script.blocks.len() - 1)));
        }
        if script.commands.len() > MOST {
            break;
        }
    }
    script.commands.sort_by_key(|command| command.span.start);
    script
}

/// Of nested substitutions the outermost: the others are found again inside of them.
fn outermost(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_by_key(|span| (span.start, usize::MAX - span.end));
    let mut out: Vec<Range<usize>> = Vec::new();
    for span in spans {
        if out.last().is_none_or(|last| span.start >= last.end) {
            out.push(span);
        }
    }
    out
}

fn enclosing(script: &Script<'_>, span: &Range<usize>) -> Option<usize> {
    let holds = |block: &Block| block.span.start <= span.start && span.end <= block.span.end;
    let all = script.blocks.iter().enumerate().filter(|(_, block)| holds(block));
    all.min_by_key(|(_, block)| block.span.len()).map(|(at, _)| at)
}

struct Parser<'t, 's> {
    lexer: Lexer<'t>,
    script: &'s mut Script<'t>,
    open: Vec<usize>,
    parent: Option<usize>,
    current: Command,
    before: String,
    /// Whether a `case` waits for a pattern.
    pattern: bool,
}

impl<'t, 's> Parser<'t, 's> {
    fn new(text: &'t str, range: Range<usize>, parent: Option<usize>, script: &'s mut Script<'t>) -> Self {
        Self {
            lexer: Lexer::new(text, range),
            script,
            open: Vec::new(),
            parent,
            current: Command::default(),
            before: String::new(),
            pattern: false,
        }
    }

    fn run(&mut self) {
        while let Some(token) = self.lexer.next(self.at_start()) {
            self.take(&token);
            if self.script.commands.len() > MOST {
                return;
            }
        }
        self.finish("");
        let end = self.lexer.at;
        for at in std::mem::take(&mut self.open) {
            if let Some(block) = self.script.blocks.get_mut(at) {
                block.span.end = end;
            }
        }
    }

    fn at_start(&self) -> bool {
        self.current.words.is_empty() && self.current.assigns.is_empty() && self.current.redirects.is_empty()
    }

    fn text(&self, token: &Token) -> &'t str {
        self.script.text.get(token.span.clone()).unwrap_or_default()
    }

    fn take(&mut self, token: &Token) {
        match token.kind {
            Kind::Newline => self.finish(""),
            Kind::Operator => self.operator(token),
            Kind::Redirect => self.redirect(token),
            Kind::Arithmetic => {
                self.touch(token);
                self.current.words.push(token.span.clone());
            }
            Kind::Word if self.pattern => self.case_word(token),
            Kind::Word if self.at_start() && self.reserved(token) => {}
            Kind::Word => self.word(token),
        }
    }

    fn touch(&mut self, token: &Token) {
        if self.at_start() {
            self.current.span.start = token.span.start;
            self.current.before = std::mem::take(&mut self.before);
            self.current.block = self.open.last().copied().or(self.parent);
        }
        self.current.span.end = token.span.end;
    }

    fn word(&mut self, token: &Token) {
        let assigns = self.current.words.is_empty() && is_assignment(self.text(token));
        self.touch(token);
        if assigns {
            self.current.assigns.push(token.span.clone())
        } else {
            self.current.words.push(token.span.clone())
        }
    }

    fn redirect(&mut self, token: &Token) {
        self.touch(token);
        if let Some(target) = self.lexer.next(false).filter(|target| target.kind == Kind::Word) {
            self.current.redirects.push((token.span.clone(), target.span.clone()));
            self.current.span.end = target.span.end;
        }
    }

    fn operator(&mut self, token: &Token) {
        let text = self.text(token);
        match text {
            "(" if self.pattern => {}
            ")" if self.pattern => self.pattern = false,
            "(" if self.current.words.len() == 1 && self.current.assigns.is_empty() => self.function(),
            "(" => {
                self.finish("");
                self.push(BlockKind::Subshell, token.span.start);
                self.body(token.span.end);
            }
            ")" => {
                self.finish("");
                self.pop(token.span.end, |kind| *kind == BlockKind::Subshell);
            }
            ";;" | ";&" | ";;&" => {
                self.finish("");
                self.pattern = true;
            }
            _ => {
                self.finish(text);
                text.clone_into(&mut self.before);
                if matches!(text, ";" | "&") {
                    self.before.clear();
                }
            }
        }
    }

    /// `name ()`: the next block is its body.
    fn function(&mut self) {
        let name = self
            .current
            .words
            .first()
            .and_then(|span| self.script.text.get(span.clone()))
            .unwrap_or_default();
        let start = self.current.span.start;
        self.current = Command::default();
        if let Some(close) = self.lexer.next(false)
            && self.text(&close) == ")"
        {
            self.push(BlockKind::Function { name: name.to_owned() }, start);
        }
    }

    fn finish(&mut self, after: &str) {
        if !self.at_start() {
            let mut command = std::mem::take(&mut self.current);
            after.clone_into(&mut command.after);
            self.script.commands.push(command);
        }
        // A newline after `&&` or `|` goes on with the same list.
        if after.is_empty() && !matches!(self.before.as_str(), "|" | "|&" | "&&" | "||") {
            self.before.clear();
        }
    }

    fn push(&mut self, kind: BlockKind, start: usize) {
        let parent = self.open.last().copied().or(self.parent);
        let before = std::mem::take(&mut self.before);
        self.script.blocks.push(Block { kind, span: start..start, body: start, parent, before });
        self.open.push(self.script.blocks.len() - 1);
    }

    fn body(&mut self, at: usize) {
        if let Some(block) = self.open.last().and_then(|last| self.script.blocks.get_mut(*last)) {
            block.body = at;
        }
    }

    /// Closes the innermost block of a kind, and a function whose body it was.
    fn pop(&mut self, end: usize, fits: impl Fn(&BlockKind) -> bool) {
        let found =
            self.open.iter().rposition(|at| self.script.blocks.get(*at).is_some_and(|b| fits(&b.kind)));
        let Some(found) = found else { return };
        let mut closed = self.open.split_off(found);
        while let Some(last) = self.open.last().copied() {
            let function = |block: &&Block| matches!(block.kind, BlockKind::Function { .. });
            if self.script.blocks.get(last).filter(function).is_none() {
                break;
            }
            closed.push(last);
            self.open.pop();
        }
        for at in closed {
            if let Some(block) = self.script.blocks.get_mut(at) {
                block.span.end = end;
            }
        }
        self.before.clear();
    }

    /// A reserved word where a command may begin; whether it was one.
    fn reserved(&mut self, token: &Token) -> bool {
        let (start, end) = (token.span.start, token.span.end);
        match self.text(token) {
            "for" | "select" => self.for_head(start),
            "while" | "until" => self.push(BlockKind::While, start),
            "if" => self.push(BlockKind::If, start),
            "case" => self.case_head(start),
            "{" => {
                self.push(BlockKind::Braces, start);
                self.body(end);
            }
            "then" | "do" => {
                let unset = self.open.last().and_then(|last| self.script.blocks.get(*last));
                if unset.is_some_and(|block| block.body == block.span.start) {
                    self.body(end);
                }
            }
            "elif" | "else" | "!" | "time" => {}
            "fi" => self.pop(end, |kind| *kind == BlockKind::If),
            "done" => self.pop(end, |kind| matches!(kind, BlockKind::While | BlockKind::For { .. })),
            "esac" => self.pop(end, |kind| *kind == BlockKind::Case),
            "}" => self.pop(end, |kind| *kind == BlockKind::Braces),
            "function" => {
                if let Some(name) = self.lexer.next(false) {
                    let name = self.text(&name).to_owned();
                    self.push(BlockKind::Function { name }, start);
                    self.skip_parentheses();
                }
            }
            _ => return false,
        }
        true
    }

    fn skip_parentheses(&mut self) {
        let at = self.lexer.at;
        let open = self.lexer.next(false);
        if open.is_none_or(|token| self.text(&token) != "(") {
            self.lexer.at = at;
            return;
        }
        let _ = self.lexer.next(false);
    }

    fn for_head(&mut self, start: usize) {
        let before = std::mem::take(&mut self.before);
        let Some(name) = self.lexer.next(true) else { return };
        let mut items = Vec::new();
        let mut at = self.lexer.at;
        while let Some(token) = self.lexer.next(false) {
            match self.text(&token) {
                ";" | "\n" if items.is_empty() && token.kind == Kind::Newline => {}
                "do" | "{" => {
                    self.lexer.at = token.span.start;
                    break;
                }
                "in" if items.is_empty() => {}
                _ if token.kind == Kind::Word => items.push(token.span.clone()),
                _ => break,
            }
            at = self.lexer.at;
        }
        let _ = at;
        self.before = before;
        self.push(BlockKind::For { name: name.span, items }, start);
    }

    fn case_head(&mut self, start: usize) {
        self.push(BlockKind::Case, start);
        let _ = self.lexer.next(false);
        while let Some(token) = self.lexer.next(false) {
            if self.text(&token) == "in" {
                self.body(token.span.end);
                break;
            }
        }
        self.pattern = true;
    }

    fn case_word(&mut self, token: &Token) {
        if self.text(token) == "esac" {
            self.pattern = false;
            self.pop(token.span.end, |kind| *kind == BlockKind::Case);
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<Vec<String>> {
        let script = Script::new(text);
        script.commands.iter().map(|c| script.words(c).iter().map(|w| (*w).to_owned()).collect()).collect()
    }

    #[test]
    fn reads_loops_conditions_functions_and_substitutions() {
        let text = "f() {\n  for x in \"$A\"/*.log b; do\n    cp \"$x\" $(dirname \"$y\") > z\n  done\n}\nif [ -d q ]; then f; fi\n";
        let script = Script::new(text);
        let names: Vec<String> = script.commands.iter().map(|command| script.name(command)).collect();
        assert_eq!(names, ["cp", "dirname", "[", "f"]);
        let cp = &script.commands[0];
        let around: Vec<&BlockKind> = script.around(cp.block).map(|(_, block)| &block.kind).collect();
        assert!(matches!(around[0], BlockKind::For { items, .. } if items.len() == 2));
        assert!(script.in_function(cp.block));
        assert_eq!(cp.redirects.len(), 1);
        assert!(!script.in_function(script.commands[3].block));
    }

    #[test]
    fn reads_case_and_heredoc_and_lists() {
        let text =
            "case $x in\n  a|b) one ;;\n  (c) two;;\nesac\ncat <<E | sort\nfor x\nE\nx=1 y && z || w\n";
        assert_eq!(
            commands(text),
            [vec!["one"], vec!["two"], vec!["cat"], vec!["sort"], vec!["y"], vec!["z"], vec!["w"]]
        );
    }

    #[test]
    fn a_statement_begins_with_its_pipeline() {
        let text = "a\nb |\n  c > x\nif d | e; then f; fi\ng=$(h | i)\n";
        let script = Script::new(text);
        let start = |name: &str| {
            let command = script.commands.iter().find(|command| script.name(command) == name).unwrap();
            script.line_of(script.statement(command))
        };
        assert_eq!((start("a"), start("c"), start("e"), start("f"), start("i")), (1, 2, 4, 4, 5));
    }

    #[test]
    fn assignments_are_found_with_their_values() {
        let text = "A=1\nexport B=\"x y\"\nf() { local c=$(d); }\n";
        let script = Script::new(text);
        let found: Vec<(&str, &str)> =
            script.assignments().map(|(name, value, _)| (name, script.get(&value))).collect();
        assert_eq!(found, [("A", "1"), ("B", "\"x y\""), ("c", "$(d)")]);
    }
}
