//! # A Python 2 program run by Python 3
//!
//! ## What it finds
//! A program with `print x`, `except E, e:`, `has_key`, `iteritems`, `xrange`, `raw_input`, `unicode`, sorting by `cmp`, and
//! other words of Python 2 is run by Python 3.
//!
//! ## Why it fails
//! Python 3 dropped these words. Where the old interpreter is gone, `python` means Python 3.
//!
//! ## Fix
//! Each of them becomes what means the same in Python 3, division of whole numbers included: `/` becomes `//` where the
//! program knows no fractions.
//!
//! ## Example
//! ```python
//! for name, n in counts.iteritems():
//!     print "%s: %d" % (name, n)
//! ```
//! ```python
//! for name, n in counts.items():
//!     print("%s: %d" % (name, n))
//! ```
//!
//! ## Safety
//! Strings and comments stay. Division is translated only when nothing in the program is a fraction. The change is large, so
//! the risk is medium.

use selfheal_core::fault::Fault;
use selfheal_core::proposal::Risk;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, Language};
use crate::python::{code_only, commas, in_brackets};
use crate::text::{is_name, replace_word, whole_words};

rule!(PythonTwo, "python_two", Unsafe, propose);

/// Names with another name in Python 3.
const NAMES: &[(&str, &str)] = &[
    ("xrange", "range"),
    ("raw_input", "input"),
    ("unicode", "str"),
    ("unichr", "chr"),
    ("basestring", "str"),
    ("long", "int"),
    ("StandardError", "Exception"),
];

/// Methods of dictionaries and iterators with another name.
const METHODS: &[(&str, &str)] = &[
    (".iteritems()", ".items()"),
    (".iterkeys()", ".keys()"),
    (".itervalues()", ".values()"),
    (".viewitems()", ".items()"),
    (".viewkeys()", ".keys()"),
    (".viewvalues()", ".values()"),
];

fn propose(case: &Case) -> Vec<Candidate> {
    let words = [
        "xrange",
        "raw_input",
        "unicode",
        "unichr",
        "basestring",
        "long",
        "reduce",
        "file",
        "cmp",
        "iteritems",
    ];
    let old = case.faults().any(|fault| match fault {
        Fault::Syntax { .. } => true,
        Fault::UndefinedName { name } => words.contains(&name.as_str()),
        Fault::MissingName { name, .. } => {
            matches!(
                name.as_str(),
                "has_key" | "iteritems" | "iterkeys" | "itervalues" | "next" | "sort" | "viewitems"
            )
        }
        Fault::WrongType { message } => {
            message.contains("sort") || message.contains("cmp") || message.contains("positional")
        }
        Fault::Other { message } => message.contains("print"),
        _ => false,
    });
    let files = case.files();
    let Some(file) = files.iter().find(|file| old && file.language == Language::Python) else {
        return Vec::new();
    };
    let after = translated(&file.text);
    // The library of Python 2 goes with its words: one without the other fails again.
    let after = if after == file.text { after } else { mended(&after) };
    if after == file.text {
        return Vec::new();
    }
    let mut draft = Draft::new(
        "python_two",
        "the program is written for Python 2, and Python 3 runs it",
        "translate the words of Python 2",
    )
    .rewrite(file, after, "words of Python 2 become those of Python 3");
    draft.raise(Risk::Medium);
    draft.done().into_iter().collect()
}

fn translated(text: &str) -> String {
    let statements = text.lines().any(|line| print_at(line).is_some());
    let fractions = has_fractions(text);
    let mut out = prints(text);
    out = lines(&out, except_clause);
    out = lines(&out, raise_clause);
    out = lines(&out, exec_statement);
    out = operators(&out);
    out = has_key(&out);
    out = words(&out);
    if statements && !fractions {
        out = whole_division(&out);
    }
    out = sorting(&out);
    out = views(&out);
    if statements || text.contains("xrange") {
        out = lines(&out, list_assigned);
    }
    with_helpers(text, &out)
}

/// The program with the names that the library has now.
fn mended(text: &str) -> String {
    let module = selfheal_syntax::python::Module::parse(text).ok().filter(|module| !module.has_error());
    module.and_then(|module| super::python_removed_name::mended(&module)).unwrap_or_else(|| text.to_owned())
}

/// Applies a change to each line.
fn lines(text: &str, change: impl Fn(&str) -> Option<String>) -> String {
    text.split_inclusive('\n')
        .map(|line| {
            let bare = line.trim_end_matches(['\n', '\r']);
            let end = line.get(bare.len()..).unwrap_or_default();
            change(bare).map_or_else(|| line.to_owned(), |new| format!("{new}{end}"))
        })
        .collect()
}

/// Where a `print` statement begins on a line.
fn print_at(line: &str) -> Option<usize> {
    let code = code_only(line);
    whole_words(&code, "print").find(|at| {
        let before = code.get(..*at).unwrap_or_default().trim_end();
        let rest = line.get(at + 5..).unwrap_or_default();
        let begins = before.is_empty() || before.ends_with(':') || before.ends_with(';');
        begins && !rest.trim_start().starts_with(['=', '.']) && !is_whole_call(rest)
    })
}

/// Whether what stands behind `print` is one pair of brackets: that is Python 3 already, or means the same.
fn is_whole_call(rest: &str) -> bool {
    let code = code_only(rest);
    let trimmed = code.trim_start();
    if !trimmed.starts_with('(') {
        return false;
    }
    let open = code.len() - trimmed.len();
    match in_brackets(&code, open) {
        Some(inner) => {
            let behind = code.get(inner.end + 1..).unwrap_or_default().trim();
            behind.is_empty() || behind.starts_with(';')
        }
        // The call goes on in the next line.
        None => true,
    }
}

fn prints(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest: &str = text;
    while !rest.is_empty() {
        let line_end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let line = rest.get(..line_end).unwrap_or_default();
        let Some(at) = print_at(line.trim_end_matches(['\n', '\r'])) else {
            out.push_str(line);
            rest = rest.get(line_end..).unwrap_or_default();
            continue;
        };
        let end = statement_end(rest, at);
        out.push_str(rest.get(..at).unwrap_or_default());
        out.push_str(&print_call(rest.get(at + 5..end).unwrap_or_default()));
        rest = rest.get(end..).unwrap_or_default();
    }
    out
}

/// Where the statement that begins at `at` ends: at a line end or `;` outside of brackets.
fn statement_end(text: &str, at: usize) -> usize {
    let code = code_only(text.get(at..).unwrap_or_default());
    let raw = text.get(at..).unwrap_or_default();
    let mut depth = 0_i32;
    let mut previous = ' ';
    for (offset, c) in code.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '\n' if depth <= 0 && previous != '\\' => return at + trimmed(raw, &code, offset),
            ';' if depth <= 0 => return at + trimmed(raw, &code, offset),
            _ => {}
        }
        previous = c;
    }
    at + trimmed(raw, &code, code.len())
}

/// Leaves blanks and a comment at the end out of a statement.
fn trimmed(raw: &str, code: &str, end: usize) -> usize {
    // A comment is blank in the code; a string's closing quote is not.
    let kept = code.get(..end).unwrap_or_default().trim_end().len();
    kept.min(raw.len())
}

fn print_call(arguments: &str) -> String {
    let mut arguments = arguments.trim();
    let mut extra = String::new();
    if let Some(rest) = arguments.strip_prefix(">>") {
        let code = code_only(rest);
        let comma = commas(&code).first().copied();
        let (target, values) = match comma {
            Some(at) => (rest.get(..at).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default()),
            None => (rest, ""),
        };
        extra = format!("file={}", target.trim());
        arguments = values.trim();
    }
    if let Some(rest) = arguments.strip_suffix(',') {
        arguments = rest.trim_end();
        extra = if extra.is_empty() { "end=\" \"".to_owned() } else { format!("end=\" \", {extra}") };
    }
    match (arguments.is_empty(), extra.is_empty()) {
        (_, true) => format!("print({arguments})"),
        (true, false) => format!("print({extra})"),
        (false, false) => format!("print({arguments}, {extra})"),
    }
}

/// `except A, e:` and `except (A, B), e:`.
fn except_clause(line: &str) -> Option<String> {
    let code = code_only(line);
    let start = code.len() - code.trim_start().len();
    let rest = code.get(start..)?.strip_prefix("except ")?;
    let colon = rest.rfind(':')?;
    let clause = rest.get(..colon)?;
    let at = *commas(clause).last()?;
    let name = clause.get(at + 1..)?.trim();
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let begin = start + "except ".len();
    Some(format!(
        "{}{} as {name}{}",
        line.get(..begin)?,
        line.get(begin..begin + at)?.trim_end(),
        line.get(begin + colon..)?
    ))
}

/// `raise E, "text"`.
fn raise_clause(line: &str) -> Option<String> {
    let code = code_only(line);
    let at = whole_words(&code, "raise").next()?;
    let rest = code.get(at + 6..)?;
    let comma = *commas(rest).first()?;
    let kind = line.get(at + 6..at + 6 + comma)?.trim();
    let simple = kind.chars().all(|c| is_name(c) || c == '.');
    let value = line.get(at + 6 + comma + 1..)?.trim();
    simple.then(|| format!("{}raise {kind}({value})", line.get(..at).unwrap_or_default()))
}

/// `exec "code"`.
fn exec_statement(line: &str) -> Option<String> {
    let code = code_only(line);
    let start = code.len() - code.trim_start().len();
    let rest = line.get(start..)?.strip_prefix("exec ")?.trim();
    (!rest.starts_with('(') && !code.contains(" in "))
        .then(|| format!("{}exec({rest})", line.get(..start).unwrap_or_default()))
}

/// `<>`, backquotes, `0755`, `10L`, `ur''`.
fn operators(text: &str) -> String {
    let code = code_only(text);
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    edits.extend(code.match_indices("<>").map(|(at, _)| (at..at + 2, "!=".to_owned())));
    let quotes: Vec<usize> = code.match_indices('`').map(|(at, _)| at).collect();
    for pair in quotes.chunks_exact(2) {
        if let [open, close] = pair {
            edits.push((*open..open + 1, "repr(".to_owned()));
            edits.push((*close..close + 1, ")".to_owned()));
        }
    }
    let bytes = code.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let digit = bytes.get(at).is_some_and(u8::is_ascii_digit);
        let begins = at
            .checked_sub(1)
            .and_then(|before| bytes.get(before))
            .is_none_or(|c| !(c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.')));
        if !(digit && begins) {
            at += 1;
            continue;
        }
        let end = at + bytes.iter().skip(at).take_while(|c| c.is_ascii_digit()).count();
        let octal = end - at > 1 && bytes.get(at) == Some(&b'0') && bytes.get(end) != Some(&b'.');
        if octal && code.get(at + 1..end).is_some_and(|digits| digits.chars().any(|c| c != '0')) {
            edits.push((at..at + 1, "0o".to_owned()));
        }
        if matches!(bytes.get(end), Some(b'L' | b'l'))
            && bytes.get(end + 1).is_none_or(|c| !c.is_ascii_alphanumeric())
        {
            edits.push((end..end + 1, String::new()));
        }
        at = end.max(at + 1);
    }
    crate::shell::splice(text, edits)
}

/// `d.has_key(k)` → `k in d`.
fn has_key(text: &str) -> String {
    let mut out = text.to_owned();
    for _ in 0..500 {
        let code = code_only(&out);
        let Some(dot) = code.find(".has_key(") else { break };
        let Some(inner) = in_brackets(&code, dot + ".has_key".len()) else { break };
        let start = expression_start(&code, dot);
        let object = out.get(start..dot).unwrap_or_default().to_owned();
        let key = out.get(inner.clone()).unwrap_or_default().trim().to_owned();
        let lead = code.get(..start).unwrap_or_default();
        let negated = lead.ends_with("not ");
        let (from, word) = if negated { (start - "not ".len(), "not in") } else { (start, "in") };
        out.replace_range(from..inner.end + 1, &format!("{key} {word} {object}"));
    }
    out
}

/// Where the expression that ends at a byte begins: names, dots, and brackets.
fn expression_start(code: &str, end: usize) -> usize {
    let mut depth = 0_u32;
    let mut start = end;
    for (at, c) in code.get(..end).unwrap_or_default().char_indices().rev() {
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' if depth == 0 => break,
            '(' | '[' => depth -= 1,
            c if depth == 0 && !(is_name(c) || c == '.') => break,
            _ => {}
        }
        start = at;
    }
    start
}

/// Replaces in code only, by offsets that strings cannot have.
fn words(text: &str) -> String {
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    let code = code_only(text);
    for (old, new) in METHODS {
        edits.extend(code.match_indices(old).map(|(at, _)| (at..at + old.len(), (*new).to_owned())));
    }
    for (old, new) in NAMES {
        let defined = code.contains(&format!("def {old}")) || code.contains(&format!("{old} ="));
        let spots = whole_words(&code, old)
            .filter(|at| !defined && !code.get(..*at).is_some_and(|before| before.ends_with('.')));
        edits.extend(spots.map(|at| (at..at + old.len(), (*new).to_owned())));
    }
    let opens = whole_words(&code, "file").filter(|at| {
        code.get(at + 4..).is_some_and(|rest| rest.starts_with('('))
            && !code.get(..*at).is_some_and(|b| b.ends_with('.') || b.ends_with("def "))
    });
    edits.extend(opens.map(|at| (at..at + 4, "open".to_owned())));
    crate::shell::splice(text, edits)
}

/// Whether anything in a program is a fraction: then `/` may have meant one.
fn has_fractions(text: &str) -> bool {
    let code = code_only(text);
    let literal = code.match_indices('.').any(|(at, _)| {
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        digit(code.get(..at).and_then(|part| part.chars().next_back()))
            || (digit(code.get(at + 1..).and_then(|part| part.chars().next()))
                && !code.get(..at).and_then(|part| part.chars().next_back()).is_some_and(is_name))
    });
    let named = ["float", "Decimal", "division", "math", "time", "Fraction"]
        .iter()
        .any(|name| whole_words(&code, name).next().is_some());
    literal || named
}

fn whole_division(text: &str) -> String {
    let code = code_only(text);
    let bytes = code.as_bytes();
    let single = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        before != Some(&b'/') && bytes.get(at + 1) != Some(&b'/')
    };
    let spots = code.match_indices('/').map(|(at, _)| at).filter(|at| single(*at));
    crate::shell::splice(text, spots.map(|at| (at..at, "/".to_owned())).collect())
}

/// `x.sort(cmp=f)`, `x.sort(lambda a, b: …)`, `sorted(x, cmp=f)`.
fn sorting(text: &str) -> String {
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    let code = code_only(text);
    for (at, found) in code.match_indices("sort(").chain(code.match_indices("sorted(")) {
        let Some(inner) = in_brackets(&code, at + found.len() - 1) else { continue };
        let body = code.get(inner.clone()).unwrap_or_default();
        let starts = std::iter::once(0).chain(commas(body).into_iter().map(|comma| comma + 1));
        for start in starts {
            let argument = body.get(start..).unwrap_or_default();
            let blanks = argument.len() - argument.trim_start().len();
            let argument = argument.trim_start();
            let begin = inner.start + start + blanks;
            let value = if argument.starts_with("cmp=") {
                Some(begin + 4)
            } else {
                let lambda = argument.strip_prefix("lambda ").and_then(|rest| rest.split(':').next());
                lambda.filter(|names| names.matches(',').count() == 1 && !names.contains('=')).map(|_| begin)
            };
            let Some(value) = value else { continue };
            // A lambda goes on to the end of the arguments, commas in it are in brackets.
            let text_here = code.get(value..inner.end).unwrap_or_default();
            let lambda_head =
                if text_here.starts_with("lambda") { text_here.find(':').unwrap_or(0) } else { 0 };
            let tail = text_here.get(lambda_head..).unwrap_or_default();
            let end = commas(tail).first().map_or(inner.end, |comma| value + lambda_head + comma);
            let function = text.get(value..end).unwrap_or_default().trim();
            edits.push((begin..end, format!("key=functools.cmp_to_key({function})")));
            break;
        }
    }
    crate::shell::splice(text, edits)
}

/// `d.keys()[0]`, `d.items()[:3]`: views have no index.
fn views(text: &str) -> String {
    let code = code_only(text);
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for method in [".keys()", ".values()", ".items()"] {
        for (at, _) in code.match_indices(&format!("{method}[")) {
            let start = expression_start(&code, at);
            edits.push((start..start, "list(".to_owned()));
            let end = at + method.len();
            edits.push((end..end, ")".to_owned()));
        }
    }
    crate::shell::splice(text, edits)
}

/// `x = map(f, y)` and `x = d.keys()`: what was a list is none any more.
fn list_assigned(line: &str) -> Option<String> {
    let code = code_only(line);
    let (name, value) = code.split_once(" = ")?;
    let start = name.len() + 3;
    let simple = name.trim().chars().all(|c| is_name(c) || c == '.');
    let trimmed = value.trim_end();
    let call = ["map(", "filter(", "zip("].iter().find(|call| trimmed.starts_with(**call));
    let whole = call
        .and_then(|call| in_brackets(&code, start + call.len() - 1))
        .is_some_and(|inner| inner.end + 1 == start + trimmed.len());
    let view = [".keys()", ".values()", ".items()"].iter().any(|end| trimmed.ends_with(end))
        && !trimmed.contains([' ', ',']);
    let end = start + trimmed.len();
    (simple && (whole || view)).then(|| {
        let source = line.get(start..end).unwrap_or_default();
        format!(
            "{}list({source}){}",
            line.get(..start).unwrap_or_default(),
            line.get(end..).unwrap_or_default()
        )
    })
}

/// Imports and helpers for what is a name no more.
fn with_helpers(before: &str, after: &str) -> String {
    let code = code_only(after);
    let mut out = after.to_owned();
    let calls = |name: &str| {
        whole_words(&code, name).any(|at| {
            code.get(at + name.len()..).is_some_and(|rest| rest.starts_with('('))
                && !code.get(..at).is_some_and(|b| b.ends_with('.'))
        })
    };
    let reduces = calls("reduce") && !code.contains("import reduce");
    let compares = calls("cmp") && !code.contains("def cmp");
    let Ok(module) = selfheal_syntax::python::Module::parse(&out) else { return out };
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    if (code.contains("functools.") || reduces) && !before.contains("import functools") {
        edits.extend(crate::python::import(&module, "functools"));
    }
    if compares {
        let at = crate::python::after_imports(&module);
        edits.push((at..at, "\n\ndef cmp(a, b):\n    return (a > b) - (a < b)\n".to_owned()));
    }
    out = crate::shell::splice(&out, edits);
    if reduces { replace_word(&out, "reduce", "functools.reduce") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    #[test]
    fn translates_statements() {
        let cases = [
            ("print 'a', b # c\n", "print('a', b) # c\n"),
            ("if x: print \"%d\" % (a, b); y()\n", "if x: print(\"%d\" % (a, b)); y()\n"),
            ("print >>sys.stderr, 'x' % y\n", "print('x' % y, file=sys.stderr)\n"),
            ("print x,\nprint\n", "print(x, end=\" \")\nprint()\n"),
            ("print (a), b\nprint (a)\n", "print((a), b)\nprint (a)\n"),
            ("print f(a,\n        b)\n", "print(f(a,\n        b))\n"),
            ("    except (A, B), e:\n", "    except (A, B) as e:\n"),
            ("except ValueError, error: # x\n", "except ValueError as error: # x\n"),
            ("raise E, 'x'\n", "raise E('x')\n"),
            (
                "if not d.has_key(k[0]) and a.b.has_key('x'): pass\n",
                "if k[0] not in d and 'x' in a.b: pass\n",
            ),
            ("x = `y` <> 10L + 0755\n", "x = repr(y) != 10 + 0o755\n"),
            ("xs = map(f, [1])  # x\nprint xs\n", "xs = list(map(f, [1]))  # x\nprint(xs)\n"),
            ("s = unicode(x); r = xrange(3) # unicode\n", "s = str(x); r = range(3) # unicode\n"),
        ];
        for (old, new) in cases {
            assert_eq!(translated(old), new, "{old}");
        }
    }

    #[test]
    fn translates_sorting_and_division() {
        let text = "import sys\nx.sort(cmp=lambda a, b: cmp(b[0], a[0]) or cmp(a[1], b[1]))\nn = (len(x) + 9) / 10\nprint n\n";
        let healed = translated(text);
        assert!(
            healed.contains(
                "x.sort(key=functools.cmp_to_key(lambda a, b: cmp(b[0], a[0]) or cmp(a[1], b[1])))"
            ),
            "{healed}"
        );
        assert!(healed.starts_with("import functools\nimport sys\n\n\ndef cmp(a, b):\n"), "{healed}");
        assert!(healed.contains("(len(x) + 9) // 10"), "{healed}");
        assert!(!translated("print 0.5 * a / b\n").contains("//"));
    }

    #[test]
    fn names_of_the_library_go_with_the_words() {
        let text = "import ConfigParser, string\nfrom urllib import quote\nclass Wrong(StandardError): pass\n\
            rows = map(string.strip, names)\nprint quote(rows[0])\n";
        let case = TestCase::new("x.py", text, TestScene::new())
            .fault(Fault::Syntax { near: None, message: "Missing parentheses in call to 'print'".into() });
        let healed = case.healed(&PythonTwo);
        for part in [
            "import configparser as ConfigParser",
            "from urllib.parse import quote",
            "(Exception)",
            "map(str.strip,",
        ] {
            assert!(healed.contains(part), "{part} in {healed}");
        }
    }

    #[test]
    fn old_words_go_with_the_old_print() {
        let text = "import sys\nd = {}\nif not d.has_key('a'):\n    print >>sys.stderr, 'none'\n";
        let case = TestCase::new("x.py", text, TestScene::new())
            .fault(Fault::Syntax { near: None, message: "Missing parentheses in call to 'print'".into() });
        let healed = case.healed(&PythonTwo);
        assert!(
            healed.contains("'a' not in d") && healed.contains("print('none', file=sys.stderr)"),
            "{healed}"
        );
    }

    #[test]
    fn leaves_python_three_alone() {
        let text = "print('a')\nprint(\n    b)\nfor k, v in d.items():\n    x = a / b\ntry:\n    f()\nexcept (A, B) as e:\n    raise\n";
        assert_eq!(translated(text), text);
        let case = TestCase::new("x.py", text, TestScene::new())
            .fault(Fault::Syntax { near: None, message: "invalid syntax".into() });
        assert!(case.silent(&PythonTwo));
    }
}
