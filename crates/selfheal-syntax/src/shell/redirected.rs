//! Redirections and here-documents in the grammar's tree, and what stands behind them.

use super::ast::{Consumer, Context, Heredoc, ListOperator, Redirect, Statement, StatementKind};
use super::build::{Builder, consumed, last_command, member_context};
use crate::tree::{Node, children};

impl Builder<'_> {
    /// A statement with redirections of its own.
    pub(super) fn redirected(&mut self, node: Node<'_>, context: &Context) -> Statement {
        let parts = children(node);
        let before = self.commands.len();
        let here = parts.iter().find(|child| child.kind() == "heredoc_redirect").copied();
        let tail = here.and_then(heredoc_tail);
        let piped = tail.filter(|(kind, _)| *kind == "pipeline");
        let mut inside = match tail {
            Some(("&&", _)) => consumed(context, Consumer::And),
            Some(("||", _)) => consumed(context, Consumer::Or),
            _ => context.clone(),
        };
        let members = piped.map_or(0, |(_, node)| node.named_child_count().max(1));
        if members > 0 {
            inside = member_context(context, 0, members + 1);
        }
        let body = node.child_by_field_name("body").and_then(|body| self.one(body, &inside));
        let body = body.unwrap_or_else(|| self.statement(node, StatementKind::Group(Vec::new())));
        let mut body = self.with_redirects(node, body, before, context);
        let Some((kind, more)) = tail else { return body };
        body = Statement { span: self.span(node), ..body };
        self.after_heredoc(node, context, body, (kind, more))
    }

    /// Hangs the redirections of a node on its body: on the command itself where the body is one, or ends in one.
    fn with_redirects(
        &mut self,
        node: Node<'_>,
        mut body: Statement,
        first: usize,
        context: &Context,
    ) -> Statement {
        let mut redirects = Vec::new();
        let mut inner = Vec::new();
        let owner = last_command(&body);
        for child in children(node) {
            match child.kind() {
                "file_redirect" | "herestring_redirect" => redirects.extend(self.redirect(child)),
                "heredoc_redirect" => redirects.extend(self.heredoc(child, owner.or(Some(first)))),
                _ => continue,
            }
            let inside =
                Context { substitution: true, consumers: Vec::new(), after: None, ..context.clone() };
            inner.extend(self.inner(child, &inside));
        }
        match owner.and_then(|index| self.commands.get_mut(index)) {
            Some(command) => {
                command.redirects.extend(redirects);
                command.inner.extend(inner);
                body.span.end = self.joined.end_of(node.end_byte());
            }
            None => {
                body.redirects = redirects;
                if !inner.is_empty() {
                    let group = StatementKind::Group(inner);
                    let extra = self.statement(node, group);
                    body = Statement {
                        kind: StatementKind::Group(vec![body, extra]),
                        ..self.statement(node, StatementKind::Unparsed)
                    };
                }
            }
        }
        body
    }

    /// `cmd <<E | more`, `cmd <<E || more`: the grammar puts what follows inside the here-document.
    fn after_heredoc(
        &mut self,
        node: Node<'_>,
        context: &Context,
        body: Statement,
        (kind, more): (&str, Node<'_>),
    ) -> Statement {
        if kind == "pipeline" {
            let members: Vec<Node<'_>> = children(more).into_iter().filter(Node::is_named).collect();
            let count = members.len() + 1;
            let mut all = vec![body];
            for (at, member) in members.into_iter().enumerate() {
                all.extend(self.one(member, &member_context(context, at + 1, count)));
            }
            return self.statement(node, StatementKind::Pipeline(all));
        }
        let operator = if kind == "&&" { ListOperator::And } else { ListOperator::Or };
        match self.one(more, &Context { after: Some(operator), ..context.clone() }) {
            Some(right) => {
                let kind = StatementKind::List { operator, left: Box::new(body), right: Box::new(right) };
                self.statement(node, kind)
            }
            None => body,
        }
    }

    pub(super) fn redirect(&self, node: Node<'_>) -> Option<Redirect> {
        let descriptor = node.child_by_field_name("descriptor").map(|n| self.text(n).to_owned());
        let operator = children(node).into_iter().find(|child| !child.is_named())?;
        let target = node.child_by_field_name("destination").or_else(|| {
            children(node).into_iter().rfind(|child| child.is_named() && child.kind() != "file_descriptor")
        });
        Some(Redirect {
            operator: self.text(operator).to_owned(),
            descriptor,
            target: target.map(|target| self.word(target)),
            span: self.span(node),
        })
    }

    pub(super) fn heredoc(&mut self, node: Node<'_>, command: Option<usize>) -> Option<Redirect> {
        let parts = children(node);
        let start = parts.iter().find(|child| child.kind() == "heredoc_start").copied()?;
        let word = self.word(start);
        let operator =
            parts.iter().find(|child| child.kind().starts_with("<<")).map_or("<<", |child| child.kind());
        if let Some(body) = parts.iter().find(|child| child.kind() == "heredoc_body") {
            let quoted = word.text.contains(['\'', '"', '\\']);
            let delimiter = word.literal().unwrap_or_else(|| word.text.clone());
            let (text, span) = (self.text(*body).to_owned(), self.span(*body));
            self.heredocs.push(Heredoc { delimiter, quoted, body: text, span, command });
        }
        let span = self.joined.original(node.start_byte())..word.span.end;
        Some(Redirect { operator: operator.to_owned(), descriptor: None, target: Some(word), span })
    }
}

fn heredoc_tail(node: Node<'_>) -> Option<(&'static str, Node<'_>)> {
    let right = node.child_by_field_name("right");
    let operator = node.child_by_field_name("operator").map(|n| n.kind());
    match (operator, right) {
        (Some("&&"), Some(right)) => Some(("&&", right)),
        (Some("||"), Some(right)) => Some(("||", right)),
        _ => children(node)
            .into_iter()
            .find(|child| child.kind() == "pipeline")
            .map(|child| ("pipeline", child)),
    }
}
