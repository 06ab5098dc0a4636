//! # Forms that Perl no longer takes
//!
//! ## What it finds
//! An old Perl script stops before it runs: "Can't use 'defined(@array)'", "Can't use 'defined(%hash)'", or an unescaped brace
//! in a regular expression.
//!
//! ## Why it fails
//! `defined` of a whole array or hash has been an error since Perl 5.22, and a literal `{` in a pattern since 5.26. Both were
//! warned of for years.
//!
//! ## Fix
//! The array or hash itself, which is true when it holds something; the brace with a backslash.
//!
//! ## Example
//! ```perl
//! die "nothing\n" unless defined(@rows);
//! ```
//! ```perl
//! die "nothing\n" unless @rows;
//! ```
//!
//! ## Safety
//! The new forms mean the same. Only the line that Perl names, and others with the same form.

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};
use crate::text;

rule!(OldPerlForms, "old_perl_forms", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let said = |wanted: &str| {
        case.faults().any(|fault| match fault {
            Fault::Other { message } | Fault::Syntax { message, .. } | Fault::BadValue { message, .. } => {
                message.contains(wanted)
            }
            _ => false,
        })
    };
    let (whole, brace) = (said("Can't use 'defined("), said("Unescaped left brace"));
    let Some(file) = case.failing_file().filter(|file| (whole || brace) && file.language == Language::Perl)
    else {
        return Vec::new();
    };
    let edits = if whole {
        text::edits_by_line(&file.text, |_, line| without_defined(line))
    } else {
        let at = case.line_in(&file);
        text::edits_by_line(&file.text, |number, line| escaped(line).filter(|_| at == Some(number)))
    };
    let how = if whole { "ask the array or hash itself" } else { "put a backslash before the brace" };
    Draft::new(
        "old_perl_forms",
        format!("{} of an old form that this Perl no longer takes", text::lines_in_words(&edits)),
        how,
    )
    .edit(&file, &edits, format!("{}: {how}", text::lines_in_words(&edits)))
    .done()
    .into_iter()
    .collect()
}

/// A line without `defined` around whole arrays and hashes.
fn without_defined(line: &str) -> Option<String> {
    let code = line.split_once(" #").map_or(line, |(code, _)| code);
    let mut out = line.to_owned();
    for (at, _) in code.match_indices("defined").collect::<Vec<_>>().into_iter().rev() {
        let rest = line.get(at + "defined".len()..)?;
        let inner = rest.trim_start();
        let blanks = rest.len() - inner.len();
        let (open, name) = match inner.strip_prefix('(') {
            Some(name) => (true, name.trim_start()),
            None => (false, inner),
        };
        let length = name.strip_prefix(['@', '%']).map_or(0, |word| {
            word.chars().take_while(|c| text::is_name(*c) || *c == ':').map(char::len_utf8).sum::<usize>()
        });
        // `@{$list}` and `@$list` are the same fault.
        let reference = name.starts_with("@$") || name.starts_with("%$");
        let length = if reference {
            1 + name.get(2..)?.chars().take_while(|c| text::is_name(*c)).map(char::len_utf8).sum::<usize>()
        } else {
            length
        };
        if length == 0 {
            continue;
        }
        let word = name.get(..=length)?;
        let behind = name.get(length + 1..)?;
        let closing = if open { behind.find(')')? + 1 } else { 0 };
        let end = at + "defined".len() + blanks + (inner.len() - name.len()) + length + 1 + closing;
        out.replace_range(at..end, word);
    }
    Some(out)
}

/// A line in which literal braces of patterns have a backslash: those behind a letter that begin no count.
fn escaped(line: &str) -> Option<String> {
    let start = ["=~ ", "s/", "m/", "qr/"].iter().filter_map(|mark| line.find(mark)).min()?;
    let end = line.get(start..)?.rfind('/').map(|at| start + at)?;
    let mut out = String::with_capacity(line.len() + 4);
    let mut before = [' ', ' '];
    for (at, c) in line.char_indices() {
        let count = line
            .get(at + 1..)
            .and_then(|rest| rest.chars().next())
            .is_some_and(|next| next.is_ascii_digit() || next == ',');
        // `\\x{…}` and its like, variables, and what has its backslash already.
        let marked = matches!(before, [_, '\\' | '$' | '@' | '%'] | ['\\', _]);
        let literal = c == '{' && (start..end).contains(&at) && !marked && !count;
        if literal {
            out.push('\\');
        }
        out.push(c);
        before = [before[1], c];
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, message: &str) -> TestCase {
        TestCase::new("x.pl", text, TestScene::new()).fault(Fault::Other { message: message.into() }).at(1)
    }

    const ARRAY: &str = "Can't use 'defined(@array)' (Maybe you should just omit the defined()?)";

    #[test]
    fn asks_the_array_itself() {
        assert_eq!(
            case("die \"none\" unless defined(@rows);\nif (defined %h) { f() }\n", ARRAY)
                .healed(&OldPerlForms),
            "die \"none\" unless @rows;\nif (%h) { f() }\n"
        );
        assert_eq!(
            case("if (defined( @$list ) && defined($x)) { f() }\n", ARRAY).healed(&OldPerlForms),
            "if (@$list && defined($x)) { f() }\n"
        );
        let brace = "Unescaped left brace in regex is illegal here";
        assert_eq!(
            case("$t =~ s/mark{name}/$n/;\n", brace).healed(&OldPerlForms),
            "$t =~ s/mark\\{name}/$n/;\n"
        );
    }

    #[test]
    fn leaves_the_rest_alone() {
        assert!(case("die unless defined($x);\n", ARRAY).silent(&OldPerlForms));
        assert!(case("die unless defined(@x);\n", "Can't locate A.pm").silent(&OldPerlForms));
    }
}
