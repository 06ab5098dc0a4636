//! Reading of languages without a grammar here (Perl, Ruby): comments and strings are told apart, statements are taken one
//! by one, and what both sides have in common is left out.

use std::collections::BTreeMap;

use selfheal_core::admission::{Finding, Weight};

use crate::finding::{at, whole};

/// The longest text that is read, in bytes; what is longer is held elsewhere.
const LONGEST: usize = 512 * 1024;

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The line where it begins, from 1.
    pub line: u32,
    /// Its text, white space squeezed, without comments.
    pub text: String,
    /// The same with the contents of strings taken out.
    pub bare: String,
}

/// What ends a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// `;` and braces, as in Perl.
    Semicolons,
    /// The end of the line, and `;`, as in Ruby.
    Lines,
}

/// The statements of a text with `#` comments.
#[must_use]
pub fn statements(text: &str, ends: Ends) -> Vec<Statement> {
    let mut reader = Reader { ends, out: Vec::new(), text: String::new(), bare: String::new(), begun: 1 };
    let text = text.get(..text.len().min(LONGEST)).unwrap_or(text);
    let (mut line, mut quote, mut escaped) = (1_u32, None::<char>, false);
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        match quote {
            Some(open) => {
                let closes = c == open && !escaped;
                reader.text.push(if c == '\n' { ' ' } else { c });
                if closes {
                    quote = None;
                    reader.bare.push(c);
                }
                escaped = c == '\\' && !escaped;
            }
            // `$#list` and `$'` are variables of Perl.
            None if c == '#' && !matches!(before, '$' | '\\' | '&') && !before.is_alphanumeric() => {
                while chars.peek().is_some_and(|next| *next != '\n') {
                    chars.next();
                }
            }
            None if matches!(c, '"' | '\'' | '`') && before != '$' => {
                quote = Some(c);
                escaped = false;
                reader.push(c, line);
            }
            None => reader.plain(c, before, line),
        }
        line += u32::from(c == '\n');
        before = c;
    }
    reader.end();
    reader.out
}

struct Reader {
    ends: Ends,
    out: Vec<Statement>,
    text: String,
    bare: String,
    begun: u32,
}

impl Reader {
    fn push(&mut self, c: char, line: u32) {
        if self.text.trim().is_empty() {
            self.begun = line;
        }
        self.text.push(c);
        self.bare.push(c);
    }

    fn plain(&mut self, c: char, before: char, line: u32) {
        match (self.ends, c) {
            (_, ';') => self.end(),
            (Ends::Semicolons, '{' | '}') => {
                // The braces of `$h{key}` and `@{$x}` are none of a block.
                let block =
                    !(before.is_alphanumeric() || matches!(before, '$' | '@' | '%' | '>' | '}' | ']'));
                self.push(c, line);
                if block || c == '}' && self.bare.matches('{').count() < self.bare.matches('}').count() {
                    self.end();
                }
            }
            (Ends::Lines, '\n') => {
                let open = self.bare.trim_end().ends_with([',', '(', '[', '|', '.', '\\', '&', '+']);
                if open { self.push(' ', line) } else { self.end() }
            }
            (_, '\n') => self.push(' ', line),
            (_, c) => self.push(c, line),
        }
    }

    fn end(&mut self) {
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (text, bare) = (squeeze(&self.text), squeeze(&self.bare));
        self.text.clear();
        self.bare.clear();
        if !text.is_empty() && !text.chars().all(|c| "{}".contains(c)) {
            self.out.push(Statement { line: self.begun, text, bare });
        }
    }
}

/// The statements that only one side has: gone ones and new ones.
#[must_use]
pub fn differences<'a>(
    old: &'a [Statement],
    new: &'a [Statement],
) -> (Vec<&'a Statement>, Vec<&'a Statement>) {
    let only = |one: &'a [Statement], other: &[Statement]| {
        let mut had: BTreeMap<&str, usize> = BTreeMap::new();
        other.iter().for_each(|statement| *had.entry(statement.text.as_str()).or_default() += 1);
        let fresh = one.iter().filter(|statement| match had.get_mut(statement.text.as_str()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
        fresh.collect::<Vec<_>>()
    };
    (only(old, new), only(new, old))
}

/// Steps that are gone with nothing new in their place. `says` tells statements that only say something.
#[must_use]
pub fn gone(
    (lost, fresh): (&[&Statement], &[&Statement]),
    says: &dyn Fn(&Statement) -> bool,
) -> Option<Finding> {
    let calls = |statement: &&&Statement| {
        let word =
            statement.bare.chars().take_while(|c| c.is_alphanumeric() || "_:.>-!".contains(*c)).count();
        word > 2
            && !says(statement)
            && !statement.bare.starts_with("use ")
            && !statement.bare.starts_with("require")
    };
    let steps: Vec<&&Statement> = lost.iter().filter(calls).collect();
    let first = steps.first()?;
    let replaced = fresh.iter().filter(|statement| !says(statement)).count();
    // A statement that lives on inside of another one was moved, not dropped.
    let core = first.text.trim_end_matches([';', '}', ' ']);
    let moved = fresh.iter().any(|statement| statement.text.contains(core));
    (replaced == 0 && !moved).then(|| {
        let name: String = first.text.chars().take(40).collect();
        whole("masking/step-deleted", Weight::Refuse, format!("the step `{name}` is gone"))
    })
}

/// Variables that were computed and are constants now.
#[must_use]
pub fn constants(old: &[Statement], new: &[Statement]) -> Vec<Finding> {
    let had: BTreeMap<String, bool> =
        assigned(old).into_iter().map(|(name, constant, _)| (name, constant)).collect();
    let now = assigned(new);
    let mut out = Vec::new();
    for (name, constant, line) in &now {
        let computed = had.get(name) == Some(&false);
        let again = now.iter().any(|(other, constant, _)| other == name && !constant);
        if computed && *constant && !again {
            let why = format!("`{name}` was computed and is a constant now");
            out.push(at("masking/constant", *line, Weight::Refuse, why));
        }
    }
    out
}

/// Each assignment: the name, whether its value is a constant, the line.
fn assigned(statements: &[Statement]) -> Vec<(String, bool, u32)> {
    let one = |statement: &Statement| {
        let (left, right) = statement.bare.split_once(" = ")?;
        let name =
            left.trim_start_matches("my ").trim_start_matches("our ").trim_start_matches("local ").trim();
        let plain = name.chars().all(|c| c.is_alphanumeric() || "_$@%".contains(c));
        let right = right.trim_end_matches([';', ' ', '}']);
        let right = of_a_text(right);
        let letters = right.chars().any(|c| c.is_alphabetic() || matches!(c, '$' | '@' | '`'));
        let constant = !letters || matches!(right, "nil" | "undef" | "true" | "false");
        (plain && !name.is_empty()).then(|| (name.to_owned(), constant, statement.line))
    };
    statements.iter().filter_map(one).collect()
}

/// A text without the calls that leave it one: `"x".freeze`, `+"x"`.
fn of_a_text(right: &str) -> &str {
    const SAME: &[&str] =
        &[".freeze", ".dup", ".clone", ".strip", ".chomp", ".b", ".to_s", ".to_sym", ".trim()"];
    let mut rest = right;
    if !rest.trim_start_matches(['+', '-']).starts_with(['"', '\'']) {
        return right;
    }
    while let Some(shorter) = SAME.iter().find_map(|call| rest.strip_suffix(call)) {
        rest = shorter;
    }
    rest
}

/// The text from an offset up to the bracket that closes the one opened there, and the offset behind it.
#[must_use]
pub fn bracketed(text: &str, open: usize) -> (&str, usize) {
    let mut depth = 0_i32;
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (text.get(open..at).unwrap_or_default(), at + c.len_utf8());
        }
    }
    (text.get(open..).unwrap_or_default(), text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_where_the_language_ends_them() {
        let perl =
            statements("my $x = $#a; # note; x\nif ($y) { die 'a;b' }\n$h{k} = 1;\n", Ends::Semicolons);
        let texts: Vec<(u32, &str)> = perl.iter().map(|s| (s.line, s.text.as_str())).collect();
        assert_eq!(texts, [(1, "my $x = $#a"), (2, "if ($y) {"), (2, "die 'a;b' }"), (3, "$h{k} = 1")]);
        let ruby = statements("a(1,\n  2)\nputs 'x # y' # z\n", Ends::Lines);
        let texts: Vec<(u32, &str)> = ruby.iter().map(|s| (s.line, s.bare.as_str())).collect();
        assert_eq!(texts, [(1, "a(1, 2)"), (3, "puts ''")]);
    }

    #[test]
    fn brackets_are_followed() {
        let text = "eval { a { b } } or die";
        assert_eq!(bracketed(text, 5), ("{ a { b } ", 16));
    }
}
