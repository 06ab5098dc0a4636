//! Lines of texts without a name: what interpreters and clients call a program that came on standard input or in an
//! option.

use super::Found;

/// Which programs say it so.
type Tools = &'static [&'static str];

/// How a message names the line: the words before the number, the words behind it (anything where empty), and whose
/// words they are.
const FORMS: [(&str, &str, Tools); 17] = [
    ("bash: line ", ": ", SHELLS),
    ("sh: line ", ": ", SHELLS),
    ("sh: ", ": ", SHELLS),
    ("dash: ", ": ", SHELLS),
    ("zsh:", ": ", SHELLS),
    ("awk: cmd. line:", ":", AWKS),
    ("awk: line ", ":", AWKS),
    (" at - line ", "", &["perl"]),
    (" at -e line ", "", &["perl"]),
    ("<top-level>, line ", ":", &["jq"]),
    ("rror near line ", ":", &["sqlite3"]),
    ("rror: near line ", ":", &["sqlite3"]),
    ("psql:<stdin>:", ":", &["psql"]),
    (" at line ", ": ", &["mysql", "mariadb"]),
    ("-e:", ":in ", &["ruby"]),
    ("[stdin]:", "", &["node"]),
    ("[eval]:", "", &["node"]),
];
const SHELLS: Tools = &["bash", "sh", "dash", "zsh", "ksh", "ssh"];
const AWKS: Tools = &["awk", "gawk", "mawk", "nawk"];
const PYTHONS: Tools = &["python", "pypy"];
/// What interpreters call a text without a file where they name one.
const NAMES: [(&str, Tools); 7] = [
    ("<stdin>", PYTHONS),
    ("<string>", PYTHONS),
    ("[stdin]", &["node"]),
    ("[eval]", &["node"]),
    ("[eval1]", &["node"]),
    ("-", &["ruby", "perl"]),
    ("-e", &["ruby", "perl"]),
];

/// The tools whose message it may be, and the line of the text that they were given.
pub fn of(found: &Found) -> Option<(Tools, u32)> {
    let named = found.spots.first().filter(|spot| spot.line > 0).and_then(|spot| {
        let name = spot.file.to_str()?;
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, tools)| (*tools, spot.line))
    });
    if named.is_some() {
        return named;
    }
    FORMS.iter().find_map(|(before, behind, tools)| {
        let (lead, rest) = found.text.split_once(before)?;
        // The names of tools begin a message.
        let begins = !before.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
            || before.starts_with("rror")
            || lead.is_empty()
            || lead.ends_with(['/', 'g', 'm']);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = rest.split_at_checked(digits)?;
        let number: u32 = number.parse().ok().filter(|number| *number > 0)?;
        (begins && rest.starts_with(behind)).then_some((*tools, number))
    })
}

/// What python calls a program that has no file.
pub fn is_python(file: &str) -> bool {
    matches!(file, "<stdin>" | "<string>")
}

#[cfg(test)]
mod tests {
    use super::super::read_text;
    use super::*;

    #[test]
    fn lines_of_texts_without_a_name_are_read() {
        // bash 5.2, dash 0.5, gawk 5.2, mawk 1.3, perl 5.36, jq 1.6, sqlite 3.40, python 3.11.
        for (text, tool, line) in [
            ("bash: line 3: pushall: command not found", "bash", 3),
            ("sh: 2: pushall: not found", "sh", 2),
            ("gawk: cmd. line:4: (FILENAME=- FNR=1) fatal: division by zero attempted", "gawk", 4),
            ("mawk: line 2: syntax error at or near )", "mawk", 2),
            ("Illegal division by zero at - line 3.", "perl", 3),
            ("jq: error: totl/0 is not defined at <top-level>, line 1:", "jq", 1),
            ("Parse error near line 7: no such table: orders", "sqlite3", 7),
            ("ERROR 1146 (42S02) at line 9: Table 'a.b' doesn't exist", "mysql", 9),
            (
                "Traceback (most recent call last):\n  File \"<stdin>\", line 3, in <module>\nKeyError: 'b'",
                "python",
                3,
            ),
        ] {
            let found = read_text(text);
            let seen = found.first().and_then(of);
            assert!(seen.is_some_and(|(tools, at)| tools.contains(&tool) && at == line), "{text}: {seen:?}");
        }
        for text in ["job.sh: line 3: x: command not found", "error at line 5 of in.csv: bad"] {
            assert_eq!(read_text(text).first().and_then(of), None, "{text}");
        }
    }
}
