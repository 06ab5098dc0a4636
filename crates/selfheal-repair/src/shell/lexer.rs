//! Tokens of a shell script with their places, quoting and here-documents understood. It never fails: of text that does
//! not parse it makes the most.

use std::ops::Range;

/// How deep substitutions may nest before the rest is taken as plain text.
const DEEPEST: u32 = 24;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word with all its quotes and substitutions.
    Word,
    /// A control operator: `;`, `&&`, `|`, `(`, …
    Operator,
    /// A redirection operator, with the descriptor number before it.
    Redirect,
    /// `(( … ))` where a command may stand.
    Arithmetic,
    /// The end of a line.
    Newline,
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
}

/// A here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HereDocument {
    /// The end marker, quotes removed.
    pub(crate) marker: String,
    /// Whether it began with `<<-`.
    pub(crate) tabs: bool,
    /// Where it was announced.
    pub(crate) announced: usize,
    /// The body, without the line of the end marker.
    pub(crate) body: Range<usize>,
    /// Whether the end marker was found.
    pub(crate) closed: bool,
}

/// Reads tokens of a text one after another.
pub(crate) struct Lexer<'t> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
    /// Insides of command and process substitutions that were passed.
    pub(crate) inner: Vec<Range<usize>>,
    pub(crate) here: Vec<HereDocument>,
    pending: Vec<(String, bool, usize)>,
    wants_marker: Option<bool>,
    end: usize,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str, range: Range<usize>) -> Self {
        Self {
            text,
            at: range.start,
            inner: Vec::new(),
            here: Vec::new(),
            pending: Vec::new(),
            wants_marker: None,
            end: range.end,
        }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, what: &str) -> bool {
        let there = self.rest().starts_with(what);
        if there {
            self.at += what.len();
        }
        there
    }

    fn skip_blanks(&mut self) {
        loop {
            let before = self.at;
            while self.peek().is_some_and(|c| c == ' ' || c == '\t' || c == '\r') {
                self.at += 1;
            }
            let _ = self.eat("\\\n");
            if self.peek() == Some('#') {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            }
            if self.at == before {
                return;
            }
        }
    }

    /// The next token; `command` says whether a command may begin here.
    pub(crate) fn next(&mut self, command: bool) -> Option<Token> {
        self.skip_blanks();
        let start = self.at;
        let first = self.peek()?;
        let kind = if first == '\n' {
            self.at += 1;
            self.read_here_documents();
            Kind::Newline
        } else if command && self.rest().starts_with("((") && self.arithmetic() {
            Kind::Arithmetic
        } else if self.redirect() {
            Kind::Redirect
        } else if self.operator() {
            Kind::Operator
        } else {
            self.word(0);
            if let Some(tabs) = self.wants_marker.take() {
                let marker = unquoted(self.text.get(start..self.at).unwrap_or_default());
                self.pending.push((marker, tabs, start));
            }
            Kind::Word
        };
        if self.at == start {
            self.at += first.len_utf8();
        }
        Some(Token { kind, span: start..self.at })
    }

    fn arithmetic(&mut self) -> bool {
        let start = self.at;
        self.at += 2;
        let mut depth = 0_u32;
        while let Some(c) = self.peek() {
            if depth == 0 && self.eat("))") {
                return true;
            }
            match c {
                '(' => depth += 1,
                ')' if depth == 0 => break,
                ')' => depth -= 1,
                _ => {}
            }
            self.at += c.len_utf8();
        }
        self.at = start;
        false
    }

    fn redirect(&mut self) -> bool {
        let start = self.at;
        self.at += self.rest().len() - self.rest().trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let process = self.rest().starts_with("<(") || self.rest().starts_with(">(");
        let operators = ["<<<", "<<-", "<<", "<&", "<>", "&>>", "&>", ">>", ">&", ">|", "<", ">"];
        let found = operators.iter().find(|operator| self.rest().starts_with(**operator));
        match found {
            Some(operator) if !process && (self.at == start || !operator.starts_with('&')) => {
                self.at += operator.len();
                self.wants_marker = match *operator {
                    "<<-" => Some(true),
                    "<<" => Some(false),
                    _ => None,
                };
                true
            }
            _ => {
                self.at = start;
                false
            }
        }
    }

    fn operator(&mut self) -> bool {
        ["&&", "||", ";;&", ";;", ";&", "|&", ";", "|", "&", "(", ")"]
            .iter()
            .any(|operator| self.eat(operator))
    }

    fn word(&mut self, depth: u32) {
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | ')' => return,
                '<' | '>' if self.rest().get(1..2) == Some("(") => {
                    self.at += 1;
                    self.parenthesis(depth);
                }
                '<' | '>' => return,
                // An array's value, or a pattern of an extended glob.
                '(' => {
                    let before = self.text.get(..self.at).and_then(|part| part.chars().next_back());
                    if !before.is_some_and(|c| "=?*+@!".contains(c)) {
                        return;
                    }
                    self.parenthesis(depth);
                }
                _ => self.piece(depth),
            }
        }
    }

    /// One character, quotation or expansion of a word.
    fn piece(&mut self, depth: u32) {
        match self.peek() {
            Some('\\') => {
                self.at += 1;
                self.at += self.peek().map_or(0, char::len_utf8);
            }
            Some('\'') => self.until_quote('\''),
            Some('"') => self.double_quotes(depth),
            Some('`') => self.backquotes(),
            Some('$') => self.dollar(depth),
            Some(c) => self.at += c.len_utf8(),
            None => {}
        }
    }

    fn until_quote(&mut self, quote: char) {
        self.at += 1;
        self.at += self.rest().find(quote).map_or(self.rest().len(), |found| found + 1);
    }

    fn double_quotes(&mut self, depth: u32) {
        self.at += 1;
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.at += 1;
                    return;
                }
                '\'' => self.at += 1,
                _ => self.piece(depth),
            }
        }
    }

    fn backquotes(&mut self) {
        let start = self.at + 1;
        self.at = start;
        while let Some(c) = self.peek() {
            match c {
                '`' => {
                    self.inner.push(start..self.at);
                    self.at += 1;
                    return;
                }
                '\\' => self.at += 1 + self.rest().chars().nth(1).map_or(0, char::len_utf8),
                c => self.at += c.len_utf8(),
            }
        }
    }

    fn dollar(&mut self, depth: u32) {
        self.at += 1;
        if self.rest().starts_with("((") && self.arithmetic() {
            return;
        }
        match self.peek() {
            Some('(') => self.parenthesis(depth),
            Some('{') => self.braces(depth),
            Some('\'') => {
                self.at += 1;
                while let Some(c) = self.peek() {
                    self.at += c.len_utf8();
                    match c {
                        '\'' => return,
                        '\\' => self.at += self.peek().map_or(0, char::len_utf8),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn braces(&mut self, depth: u32) {
        self.at += 1;
        while let Some(c) = self.peek() {
            match c {
                '}' => {
                    self.at += 1;
                    return;
                }
                _ => self.piece(depth),
            }
        }
    }

    /// `( … )` of a substitution: its inside is lexed, so that quotes, comments and `case` in it are understood.
    fn parenthesis(&mut self, depth: u32) {
        self.at += 1;
        let start = self.at;
        if depth >= DEEPEST {
            self.at = self.end;
            return;
        }
        let mut open = 0_u32;
        let mut cases = 0_u32;
        let mut command = true;
        loop {
            self.skip_blanks();
            match self.peek() {
                None => return,
                Some('\n') => {
                    self.at += 1;
                    self.read_here_documents();
                    command = true;
                }
                Some(')') if open == 0 && cases == 0 => {
                    self.inner.push(start..self.at);
                    self.at += 1;
                    return;
                }
                Some('(') => {
                    self.at += 1;
                    open += 1;
                    command = true;
                }
                Some(')') => {
                    self.at += 1;
                    open = open.saturating_sub(1);
                    command = true;
                }
                Some(_) if self.redirect() => {}
                Some(_) if self.operator() => command = true,
                Some(_) => {
                    let word = self.at;
                    self.word(depth + 1);
                    if self.at == word {
                        self.at += self.peek().map_or(1, char::len_utf8);
                    }
                    match self.text.get(word..self.at) {
                        Some("case") if command => cases += 1,
                        Some("esac") if command => cases = cases.saturating_sub(1),
                        _ => {}
                    }
                    if let Some(tabs) = self.wants_marker.take() {
                        let marker = unquoted(self.text.get(word..self.at).unwrap_or_default());
                        self.pending.push((marker, tabs, word));
                    }
                    command = matches!(
                        self.text.get(word..self.at),
                        Some("then" | "do" | "else" | "in" | "{" | "!")
                    );
                }
            }
        }
    }

    fn read_here_documents(&mut self) {
        for (marker, tabs, announced) in std::mem::take(&mut self.pending) {
            let start = self.at;
            let mut closed = false;
            let mut body_end = self.end;
            while self.at < self.end {
                let line_start = self.at;
                let line = self.rest().split('\n').next().unwrap_or_default();
                self.at = (self.at + line.len() + 1).min(self.end);
                let bare = if tabs { line.trim_start_matches('\t') } else { line };
                if bare == marker {
                    closed = true;
                    body_end = line_start;
                    break;
                }
            }
            self.here.push(HereDocument { marker, tabs, announced, body: start..body_end, closed });
        }
    }
}

/// A word without its quotes; substitutions are left as they are.
pub(crate) fn unquoted(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut chars = word.chars();
    let mut single = false;
    while let Some(c) = chars.next() {
        match c {
            '\'' => single = !single,
            '"' if !single => {}
            '\\' if !single => out.extend(chars.next()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut lexer = Lexer::new(text, 0..text.len());
        let mut out = Vec::new();
        while let Some(token) = lexer.next(true) {
            out.push(text[token.span].to_owned());
        }
        out
    }

    #[test]
    fn words_keep_their_quotes_and_substitutions() {
        assert_eq!(
            words(r#"cp "$a b"/*.log "${x:-"q r"}" 'it''s' $(echo ")" | wc) >> "$out" # end"#),
            ["cp", r#""$a b"/*.log"#, r#""${x:-"q r"}""#, "'it''s'", r#"$(echo ")" | wc)"#, ">>", "\"$out\""]
        );
        assert_eq!(words("a=(1 2) && ((n++)); x 2>&1"), ["a=(1 2)", "&&", "((n++))", ";", "x", "2>&", "1"]);
        assert_eq!(words("comm <(a b) <(c)"), ["comm", "<(a b)", "<(c)"]);
    }

    #[test]
    fn here_documents_are_passed_over() {
        let text = "cat <<'EOF' > x\nfor $( \"\nEOF\necho\ncat <<E\nno end\n  E\n";
        let mut lexer = Lexer::new(text, 0..text.len());
        while lexer.next(true).is_some() {}
        assert_eq!(lexer.here.len(), 2);
        assert!(lexer.here[0].closed && !lexer.here[1].closed);
        assert_eq!(&text[lexer.here[0].body.clone()], "for $( \"\n");
    }

    #[test]
    fn any_text_comes_to_an_end() {
        for text in ["$(", "${", "\"", "'", "`", "((", "a=(", "<<", "é\\", "case x in", ")", "$((1", "<<E\nx"]
        {
            assert!(words(text).len() < 10, "{text}");
        }
    }
}
