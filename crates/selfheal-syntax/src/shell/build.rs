//! From the grammar's tree to our own shape. One function a kind of node; what is unknown becomes
//! [`StatementKind::Unparsed`], its readable children are still walked.

use std::ops::Range;

use super::ast::{
    Assignment, Command, CommandKind, Consumer, Context, Function, Heredoc, ListOperator, Loop, LoopKind,
    Statement, StatementKind,
};
use super::join::Joined;
use super::word::{Word, split};
use crate::source::Lines;
use crate::tree::{Node, children, text_of};

/// How deep statements may be nested before the rest is left out; the grammar's own limits come first in practice.
const MAX_DEPTH: usize = 200;

/// Everything that is collected while the tree is walked.
pub struct Builder<'a> {
    pub joined: &'a Joined,
    pub original: &'a str,
    pub lines: &'a Lines,
    pub commands: Vec<Command>,
    pub loops: Vec<Loop>,
    pub functions: Vec<Function>,
    pub heredocs: Vec<Heredoc>,
    pub depth: usize,
    pub too_deep: bool,
}

impl Builder<'_> {
    pub(super) fn text(&self, node: Node<'_>) -> &str {
        text_of(&self.joined.text, node)
    }

    pub(super) fn span(&self, node: Node<'_>) -> Range<usize> {
        self.joined.original(node.start_byte())..self.joined.end_of(node.end_byte())
    }

    fn line_pair(&self, span: &Range<usize>) -> (u32, u32) {
        (self.lines.line_of(span.start), self.lines.line_of(span.end.saturating_sub(1).max(span.start)))
    }

    pub(super) fn word(&self, node: Node<'_>) -> Word {
        Word::new(self.text(node), self.span(node))
    }

    pub(super) fn statement(&self, node: Node<'_>, kind: StatementKind) -> Statement {
        let span = self.span(node);
        let lines = self.line_pair(&span);
        Statement { kind, span, lines, redirects: Vec::new(), background: false }
    }

    /// The statements among some nodes; `&` behind one puts it into the background.
    pub fn block(&mut self, nodes: &[Node<'_>], context: &Context) -> Vec<Statement> {
        let mut out = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            if !node.is_named() || node.kind() == "comment" {
                continue;
            }
            let background = nodes.get(at + 1).is_some_and(|next| next.kind() == "&");
            let inside = if background { Context { background, ..context.clone() } } else { context.clone() };
            if let Some(mut statement) = self.one(*node, &inside) {
                statement.background |= background;
                out.push(statement);
            }
        }
        out
    }

    pub(super) fn one(&mut self, node: Node<'_>, context: &Context) -> Option<Statement> {
        if self.depth > MAX_DEPTH {
            self.too_deep = true;
            return None;
        }
        self.depth += 1;
        let out = self.dispatch(node, context);
        self.depth -= 1;
        Some(out)
    }

    fn dispatch(&mut self, node: Node<'_>, context: &Context) -> Statement {
        match node.kind() {
            "command" => self.command(node, context),
            "declaration_command" | "unset_command" => self.declaration(node, context),
            "variable_assignment" | "variable_assignments" => self.assignments_only(node, context),
            "test_command" => self.test(node, context),
            "list" => self.list(node, context),
            "pipeline" => self.pipeline(node, context),
            "negated_command" => self.negated(node, context),
            "if_statement" => self.conditional(node, context),
            "for_statement" | "c_style_for_statement" | "while_statement" => self.repeat(node, context),
            "case_statement" => self.case(node, context),
            "function_definition" => self.function(node, context),
            "subshell" => {
                let inside = Context { subshell: true, ..context.clone() };
                let body = self.block(&children(node), &inside);
                self.statement(node, StatementKind::Subshell(body))
            }
            "compound_statement" if self.text(node).starts_with("((") => self.arithmetic(node, context),
            "compound_statement" | "do_group" => {
                let body = self.block(&children(node), context);
                self.statement(node, StatementKind::Group(body))
            }
            "redirected_statement" => self.redirected(node, context),
            _ => self.unknown(node, context),
        }
    }

    /// A node that is no statement: an error, or an expression where a statement should be. Readable commands below it
    /// are still collected.
    fn unknown(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let below: Vec<Node<'_>> =
            children(node).into_iter().filter(|child| is_statement(child.kind())).collect();
        let body = self.block(&below, context);
        if body.is_empty() {
            self.statement(node, StatementKind::Unparsed)
        } else {
            self.statement(node, StatementKind::Group(body))
        }
    }

    fn new_command(&mut self, node: Node<'_>, kind: CommandKind, context: &Context) -> Command {
        let span = self.span(node);
        let lines = self.line_pair(&span);
        Command {
            kind,
            lines,
            span,
            words: Vec::new(),
            assignments: Vec::new(),
            redirects: Vec::new(),
            context: context.clone(),
            inner: Vec::new(),
        }
    }

    /// Puts a command into the list; what is inside its substitutions comes after it.
    fn add(&mut self, node: Node<'_>, command: Command) -> Statement {
        let index = self.commands.len();
        let context = Context {
            substitution: true,
            consumers: Vec::new(),
            after: None,
            pipeline: None,
            ..command.context.clone()
        };
        self.commands.push(command);
        let inner = self.inner(node, &context);
        if let Some(own) = self.commands.get_mut(index) {
            own.inner = inner;
        }
        self.statement(node, StatementKind::Command(index))
    }

    /// The statements of the substitutions below a node, outermost only: deeper ones belong to their own commands.
    pub(super) fn inner(&mut self, node: Node<'_>, context: &Context) -> Vec<Statement> {
        let mut out = Vec::new();
        // Nearly no command has a substitution, and to look at every node below each costs much.
        if !["$(", "`", "<(", ">("].iter().any(|sign| self.text(node).contains(sign)) {
            return out;
        }
        let mut stack = children(node);
        stack.reverse();
        while let Some(next) = stack.pop() {
            if matches!(next.kind(), "command_substitution" | "process_substitution") {
                out.extend(self.block(&children(next), context));
            } else if !is_statement(next.kind()) || next.kind() == "variable_assignment" {
                stack.extend(children(next).into_iter().rev());
            }
        }
        out
    }

    fn command(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let mut command = self.new_command(node, CommandKind::Simple, context);
        let mut cursor = node.walk();
        let mut more = cursor.goto_first_child();
        while more {
            let child = cursor.node();
            match (child.kind(), cursor.field_name()) {
                ("variable_assignment", _) => {
                    command.assignments.push(self.assignment(child, context, None, true))
                }
                ("file_redirect" | "herestring_redirect", _) => {
                    command.redirects.extend(self.redirect(child))
                }
                ("command_name", _) | (_, Some("argument")) => command.words.push(self.word(child)),
                _ => {}
            }
            more = cursor.goto_next_sibling();
        }
        // `[` that the grammar read as a name.
        if command.words.is_empty() && !command.assignments.is_empty() {
            command.kind = CommandKind::Assignment;
        }
        self.add(node, command)
    }

    fn declaration(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let mut command = self.new_command(node, CommandKind::Declaration, context);
        let mut by = String::new();
        for child in children(node) {
            if child.kind() == "variable_assignment" {
                let assignment = self.assignment(child, context, Some(by.clone()), false);
                command.assignments.push(assignment);
            } else if child.kind() == "variable_name" && by != "unset" {
                let span = self.span(child);
                command.assignments.push(Assignment {
                    name: self.text(child).to_owned(),
                    index: None,
                    value: None,
                    elements: None,
                    append: false,
                    line: self.lines.line_of(span.start),
                    span,
                    declared_by: Some(by.clone()),
                    for_command: false,
                    function: context.function.clone(),
                    conditional: context.conditional(),
                });
            }
            if command.words.is_empty() {
                by = self.text(child).to_owned();
            }
            command.words.push(self.word(child));
        }
        self.add(node, command)
    }

    fn assignments_only(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let mut command = self.new_command(node, CommandKind::Assignment, context);
        if node.kind() == "variable_assignment" {
            command.assignments.push(self.assignment(node, context, None, false));
        } else {
            for child in children(node).into_iter().filter(|child| child.kind() == "variable_assignment") {
                command.assignments.push(self.assignment(child, context, None, false));
            }
        }
        self.add(node, command)
    }

    fn assignment(
        &self,
        node: Node<'_>,
        context: &Context,
        by: Option<String>,
        for_command: bool,
    ) -> Assignment {
        let span = self.span(node);
        let name_node = node.child_by_field_name("name");
        let (name, index) = match name_node {
            Some(sub) if sub.kind() == "subscript" => (
                sub.child_by_field_name("name").map_or(String::new(), |n| self.text(n).to_owned()),
                sub.child_by_field_name("index").map(|n| self.text(n).to_owned()),
            ),
            Some(plain) => (self.text(plain).to_owned(), None),
            None => (String::new(), None),
        };
        let value = node.child_by_field_name("value");
        let elements = value.filter(|value| value.kind() == "array").map(|array| {
            children(array)
                .into_iter()
                .filter(Node::is_named)
                .filter(|n| n.kind() != "comment")
                .map(|n| self.word(n))
                .collect()
        });
        let value = match value {
            Some(value) if value.kind() != "array" => Some(self.word(value)),
            Some(_) => None,
            // `x=` with nothing behind it is the empty string.
            None => Some(Word::new("", span.end..span.end)),
        };
        Assignment {
            append: self
                .text(node)
                .get(..self.text(node).find('=').unwrap_or(0))
                .is_some_and(|t| t.ends_with('+')),
            name,
            index,
            value,
            elements,
            line: self.lines.line_of(span.start),
            span,
            declared_by: by.filter(|by| !by.is_empty()),
            for_command,
            function: context.function.clone(),
            conditional: context.conditional(),
        }
    }

    fn test(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let text = self.text(node);
        if text.starts_with("((") {
            return self.arithmetic(node, context);
        }
        let double = text.starts_with("[[");
        let width = if double { 2 } else { 1 };
        let inside = text.get(width..text.len().saturating_sub(width)).unwrap_or_default().to_owned();
        let base = node.start_byte() + width;
        let mut command = self.new_command(node, CommandKind::Test { double }, context);
        command.words = split(&inside)
            .into_iter()
            .map(|span| {
                let whole = self.joined.original(base + span.start)..self.joined.end_of(base + span.end);
                Word::new(inside.get(span).unwrap_or_default(), whole)
            })
            .collect();
        self.add(node, command)
    }

    fn arithmetic(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let text = self.text(node);
        let inside = text.get(2..text.len().saturating_sub(2).max(2)).unwrap_or_default().to_owned();
        let base = node.start_byte() + 2;
        let mut command = self.new_command(node, CommandKind::Arithmetic, context);
        command.words =
            vec![Word::new(&inside, self.joined.original(base)..self.joined.end_of(base + inside.len()))];
        self.add(node, command)
    }

    fn list(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let all = children(node);
        let operator = all.iter().find_map(|child| match child.kind() {
            "&&" => Some(ListOperator::And),
            "||" => Some(ListOperator::Or),
            _ => None,
        });
        let operands: Vec<Node<'_>> =
            all.into_iter().filter(|c| c.is_named() && c.kind() != "comment").collect();
        match (operator, operands.as_slice()) {
            (Some(operator), [left, right]) => self.list_of(node, context, operator, (*left, *right)),
            _ => self.unknown(node, context),
        }
    }

    fn list_of(
        &mut self,
        node: Node<'_>,
        context: &Context,
        operator: ListOperator,
        (left, right): (Node<'_>, Node<'_>),
    ) -> Statement {
        let consumer = if operator == ListOperator::And { Consumer::And } else { Consumer::Or };
        let left = self.one(left, &consumed(context, consumer));
        let right = self.one(right, &Context { after: Some(operator), ..context.clone() });
        match (left, right) {
            (Some(left), Some(right)) => {
                let kind = StatementKind::List { operator, left: Box::new(left), right: Box::new(right) };
                self.statement(node, kind)
            }
            _ => self.statement(node, StatementKind::Unparsed),
        }
    }

    fn pipeline(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let members: Vec<Node<'_>> =
            children(node).into_iter().filter(|c| c.is_named() && c.kind() != "comment").collect();
        // `! a | b` negates the whole pipeline; the grammar hangs the `!` on the first member.
        let negated = members.first().is_some_and(|first| first.kind() == "negated_command");
        let context = if negated { consumed(context, Consumer::Not) } else { context.clone() };
        let count = members.len();
        let mut out = Vec::new();
        for (at, member) in members.into_iter().enumerate() {
            let member = if at == 0 && negated { member.named_child(0).unwrap_or(member) } else { member };
            let inside = member_context(&context, at, count);
            out.extend(self.one(member, &inside));
        }
        let inner = self.statement(node, StatementKind::Pipeline(out));
        if negated { self.statement(node, StatementKind::Not(Box::new(inner))) } else { inner }
    }

    fn negated(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let below = node.named_child(0);
        let inner = below.and_then(|child| self.one(child, &consumed(context, Consumer::Not)));
        match inner {
            Some(inner) => self.statement(node, StatementKind::Not(Box::new(inner))),
            None => self.statement(node, StatementKind::Unparsed),
        }
    }

    /// Condition and body of a node, split at the word `then`.
    fn arm(&mut self, parts: &[Node<'_>], context: &Context) -> (Vec<Statement>, Vec<Statement>) {
        let then = parts.iter().position(|child| child.kind() == "then").unwrap_or(parts.len());
        let condition = self.block(parts.get(..then).unwrap_or_default(), &consumed(context, Consumer::If));
        let inside = Context { branch: true, ..context.clone() };
        let body: Vec<Node<'_>> = parts
            .get(then..)
            .unwrap_or_default()
            .iter()
            .filter(|child| !matches!(child.kind(), "elif_clause" | "else_clause"))
            .copied()
            .collect();
        (condition, self.block(&body, &inside))
    }

    fn conditional(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let parts = children(node);
        let mut arms = vec![self.arm(&parts, context)];
        let mut otherwise = None;
        for child in &parts {
            match child.kind() {
                "elif_clause" => arms.push(self.arm(&children(*child), context)),
                "else_clause" => {
                    let inside = Context { branch: true, ..context.clone() };
                    otherwise = Some(self.block(&children(*child), &inside));
                }
                _ => {}
            }
        }
        self.statement(node, StatementKind::If { arms, otherwise })
    }

    fn repeat(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let index = self.loops.len();
        let parts = children(node);
        let body_node = node.child_by_field_name("body");
        let made = self.loop_of(node, body_node, context);
        self.loops.push(made);
        let body_at = parts.iter().position(|child| Some(child.id()) == body_node.map(|b| b.id()));
        let head = parts.get(..body_at.unwrap_or(parts.len())).unwrap_or_default();
        let condition = if node.kind() == "while_statement" {
            self.block(head, &consumed(context, Consumer::While))
        } else {
            let inside = Context { substitution: true, ..context.clone() };
            head.iter().filter(|n| n.is_named()).flat_map(|n| self.substitutions(*n, &inside)).collect()
        };
        let mut inside = context.clone();
        inside.loops.push(index);
        let body = body_node.map(|body| self.block(&children(body), &inside)).unwrap_or_default();
        let lines = body.first().zip(body.last()).map(|(first, last)| (first.lines.0, last.lines.1));
        let indent = body.first().and_then(|first| self.own_indent(first.span.start));
        if let Some(own) = self.loops.get_mut(index) {
            own.body_lines = lines;
            own.body_indent = indent.unwrap_or_else(|| format!("{}  ", own.indent));
        }
        self.statement(node, StatementKind::Loop { index, condition, body })
    }

    /// The substitutions in the words of a `for`, the node itself included.
    fn substitutions(&mut self, node: Node<'_>, context: &Context) -> Vec<Statement> {
        if matches!(node.kind(), "command_substitution" | "process_substitution") {
            self.block(&children(node), context)
        } else {
            self.inner(node, context)
        }
    }

    fn loop_of(&self, node: Node<'_>, body: Option<Node<'_>>, context: &Context) -> Loop {
        let span = self.span(node);
        let parts = children(node);
        let first = parts.first().map_or("", |child| child.kind());
        let kind = match first {
            "while" => LoopKind::While,
            "until" => LoopKind::Until,
            "select" => LoopKind::Select,
            _ if node.kind() == "c_style_for_statement" => LoopKind::Arithmetic,
            _ => LoopKind::For,
        };
        let mut cursor = node.walk();
        let words = node.children_by_field_name("value", &mut cursor).map(|value| self.word(value)).collect();
        let has_list = parts.iter().any(|child| child.kind() == "in");
        let body_span = body.map_or(span.end..span.end, |body| self.span(body));
        let line = self.lines.line_of(span.start);
        let done_line = self.lines.line_of(span.end.saturating_sub(1));
        Loop {
            kind,
            variable: node.child_by_field_name("variable").map(|name| self.text(name).to_owned()),
            list: has_list.then_some(words),
            line,
            do_line: self.lines.line_of(body_span.start),
            done_line,
            body: body_span.start + 2..body_span.end.saturating_sub(4).max(body_span.start + 2),
            body_lines: None,
            body_indent: String::new(),
            indent: self.indent_of(line),
            one_line: line == done_line,
            span,
            context: context.clone(),
        }
    }

    /// The white space that a line begins with.
    fn indent_of(&self, line: u32) -> String {
        let text = self.lines.range(line).and_then(|range| self.original.get(range)).unwrap_or_default();
        text.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
    }

    /// The white space before an offset, when nothing else stands before it on its line.
    fn own_indent(&self, offset: usize) -> Option<String> {
        let line = self.lines.range(self.lines.line_of(offset))?;
        let before = self.original.get(line.start..offset)?;
        before.chars().all(|c| c == ' ' || c == '\t').then(|| before.to_owned())
    }

    fn case(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let value = node.child_by_field_name("value").map(|value| self.word(value));
        let inside = Context { branch: true, ..context.clone() };
        let mut items = Vec::new();
        for item in children(node).into_iter().filter(|child| child.kind() == "case_item") {
            let mut cursor = item.walk();
            let patterns: Vec<Node<'_>> = item.children_by_field_name("value", &mut cursor).collect();
            let names = patterns.iter().map(|pattern| self.text(*pattern).to_owned()).collect();
            let ids: Vec<usize> = patterns.iter().map(Node::id).collect();
            let below: Vec<Node<'_>> =
                children(item).into_iter().filter(|n| !ids.contains(&n.id())).collect();
            items.push((names, self.block(&below, &inside)));
        }
        self.statement(node, StatementKind::Case { value, items })
    }

    fn function(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let name = node.child_by_field_name("name").map_or(String::new(), |name| self.text(name).to_owned());
        let span = self.span(node);
        let lines = self.line_pair(&span);
        let index = self.functions.len();
        self.functions.push(Function { name: name.clone(), span, lines });
        let inside = Context { function: Some(name), subshell: context.subshell, ..Context::default() };
        let body = node.child_by_field_name("body");
        let body = body.and_then(|body| self.one(body, &inside)).into_iter().collect();
        self.statement(node, StatementKind::Function { index, body })
    }
}

pub(super) fn consumed(context: &Context, by: Consumer) -> Context {
    let mut context = context.clone();
    context.consumers.push(by);
    context
}

pub(super) fn member_context(context: &Context, at: usize, count: usize) -> Context {
    let mut inside = context.clone();
    inside.pipeline = Some((at, count));
    if at + 1 < count {
        inside.consumers.push(Consumer::Pipe);
    }
    inside
}

fn is_statement(kind: &str) -> bool {
    kind.ends_with("_statement")
        || matches!(
            kind,
            "command"
                | "declaration_command"
                | "unset_command"
                | "variable_assignment"
                | "variable_assignments"
                | "test_command"
                | "list"
                | "pipeline"
                | "negated_command"
                | "function_definition"
                | "subshell"
                | "ERROR"
        )
}

/// The command that a redirection behind a statement belongs to: the grammar hangs that of `a || b > f` on the list.
pub(super) fn last_command(statement: &Statement) -> Option<usize> {
    match &statement.kind {
        StatementKind::Command(index) => Some(*index),
        StatementKind::List { right, .. } => last_command(right),
        StatementKind::Pipeline(members) => members.last().and_then(last_command),
        StatementKind::Not(inner) => last_command(inner),
        _ => None,
    }
}
