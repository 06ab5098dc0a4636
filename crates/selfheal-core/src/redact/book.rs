//! The numbers of secrets: the same secret has the same placeholder as long as the process runs, and can be put back.

use std::collections::HashMap;

use super::MASK;

/// How every placeholder of a secret begins.
pub(super) const OPENING: &str = "[secret";
/// How numbered placeholders begin: of secrets, of users.
const SECRET: &str = "[secret-";
const USER: &str = "[user-";

/// So many different secrets get a number; further ones are all alike.
const MOST: usize = 1_000;

/// Which number a secret has. It lives in memory only.
#[derive(Default)]
pub(super) struct Book {
    secrets: Numbers,
    users: Numbers,
}

#[derive(Default)]
struct Numbers {
    values: Vec<String>,
    by_value: HashMap<String, usize>,
}

impl Numbers {
    /// The number of a value, from 1.
    fn of(&mut self, value: &str) -> Option<usize> {
        if let Some(number) = self.by_value.get(value) {
            return Some(*number);
        }
        if self.values.len() >= MOST {
            return None;
        }
        self.values.push(value.to_owned());
        self.by_value.insert(value.to_owned(), self.values.len());
        Some(self.values.len())
    }

    fn value(&self, number: usize) -> Option<&str> {
        self.values.get(number.checked_sub(1)?).map(String::as_str)
    }
}

impl Book {
    pub(super) fn placeholder(&mut self, value: &str) -> String {
        self.secrets.of(value).map_or_else(|| MASK.to_owned(), |number| format!("{SECRET}{number}]"))
    }

    pub(super) fn user(&mut self, name: &str) -> String {
        self.users.of(name).map_or_else(|| "[user]".to_owned(), |number| format!("{USER}{number}]"))
    }

    /// Secrets for their placeholders, where the value may be put back.
    pub(super) fn restored(&self, text: &str, may: impl Fn(&str) -> bool) -> String {
        put_back(text, SECRET, |number| self.secrets.value(number).filter(|value| may(value)))
    }

    pub(super) fn with_users(&self, text: &str) -> String {
        put_back(text, USER, |number| self.users.value(number))
    }
}

/// Replaces `OPENING N ]` where there is a value for N.
fn put_back<'a>(text: &str, opening: &str, value: impl Fn(usize) -> Option<&'a str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(opening) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let inside = found.get(opening.len()..).unwrap_or_default();
        let known = inside
            .split_once(']')
            .filter(|(digits, _)| digits.len() <= 4)
            .and_then(|(digits, after)| Some((value(digits.parse().ok()?)?, after)));
        match known {
            Some((value, after)) => {
                out.push_str(value);
                let line_ends = value.matches('\n').count();
                let left_behind = after.bytes().take(line_ends).take_while(|byte| *byte == b'\n').count();
                rest = after.get(left_behind..).unwrap_or_default();
            }
            None => {
                out.push_str(opening);
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_keeps_its_number_and_comes_back_only_where_it_may() {
        let mut book = Book::default();
        assert_eq!(
            (book.placeholder("a"), book.placeholder("b"), book.placeholder("a")),
            ("[secret-1]".to_owned(), "[secret-2]".to_owned(), "[secret-1]".to_owned())
        );
        let text = "x=[secret-1] y=[secret-2] z=[secret-9] [secret-x] [secret";
        assert_eq!(book.restored(text, |value| value == "a"), text.replace("[secret-1]", "a"));
        assert_eq!(book.user("ada"), "[user-1]");
        assert_eq!(book.with_users("/home/[user-1]/[user-2]"), "/home/ada/[user-2]");
    }

    #[test]
    fn numbers_end() {
        let mut book = Book::default();
        for number in 0..MOST {
            book.placeholder(&number.to_string());
        }
        assert_eq!(book.placeholder("one more"), MASK);
    }
}
