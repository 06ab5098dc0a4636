//! # A here-document that holds another language is expanded
//!
//! ## What it finds
//! Under `set -u` a script ends at a here-document with a program or text in another language, whose `$2` or `$name` the
//! shell takes for its own.
//!
//! ## Why it fails
//! The shell expands what it knows in a here-document, unless its end marker is quoted.
//!
//! ## Fix
//! The marker is quoted, where nothing in the document is the script's own; else the names that are not the script's get a
//! backslash.
//!
//! ## Example
//! ```sh
//! cat > sum.awk <<EOF
//! { sum += $2 }
//! EOF
//! ```
//! ```sh
//! cat > sum.awk <<'EOF'
//! { sum += $2 }
//! EOF
//! ```
//!
//! ## Safety
//! Only names that neither the script nor the environment sets, and only in documents that hold another language: their
//! target says so by its ending, or the command that reads them does. A variable of the script that somebody forgot to set
//! still fails.

use std::ops::Range;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::shell::{HereDocument, Script, splice, variables};
use crate::text;

rule!(HereDocumentExpands, "here_document_expands", Safe, propose);

/// Endings of files in which `$` means something of their own, and commands that read such a language.
const ENDINGS: &[&str] = &[
    ".awk", ".pl", ".pm", ".php", ".sh", ".bash", ".mk", ".rb", ".tcl", ".ps1", ".conf", ".service", ".tmpl",
];
const READERS: &[&str] =
    &["awk", "gawk", "mawk", "perl", "php", "bash", "sh", "ssh", "make", "tclsh", "envsubst"];

fn propose(case: &Case) -> Vec<Candidate> {
    let name = case.faults().find_map(|fault| match fault {
        Fault::UnsetVariable { name } => Some(name.trim_start_matches('$').to_owned()),
        _ => None,
    });
    let Some(name) = name.filter(|name| !name.is_empty()) else { return Vec::new() };
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell()) else { return Vec::new() };
    let script = Script::new(&file.text);
    let wanted = |document: &&HereDocument| holds_another_language(&script, document, &name);
    let Some(document) = script.here.iter().find(wanted) else { return Vec::new() };
    let body = script.get(&document.body);
    let foreign: Vec<String> = names(body).into_iter().filter(|own| !is_known(case, &script, own)).collect();
    if !foreign.contains(&name) {
        return Vec::new();
    }
    mended(&file, &script, document, &foreign).into_iter().collect()
}

fn mended(
    file: &ScriptFile,
    script: &Script<'_>,
    document: &HereDocument,
    foreign: &[String],
) -> Option<Candidate> {
    let body = script.get(&document.body);
    let nothing_of_ours = names(body).iter().all(|name| foreign.contains(name));
    let plain = !["$(", "`", "\\\\", "\\$", "\\\n"].iter().any(|sign| body.contains(sign));
    let line = script.line_of(document.announced);
    let shown: Vec<String> = foreign.iter().take(4).map(|name| format!("${name}")).collect();
    let (parts, summary) = if nothing_of_ours && plain {
        let marker = document.announced..document.announced + document.marker.len();
        let as_written = script.get(&marker) == document.marker;
        let part = as_written.then(|| (marker, format!("'{}'", document.marker)));
        (part.into_iter().collect(), format!("line {line}: the shell leaves the document as it is"))
    } else {
        (escaped(script, document, foreign), format!("from line {line}: {} stays as it is", shown.join(", ")))
    };
    Draft::new(
        "here_document_expands",
        format!("the shell takes {} in the here-document of line {line} for its own", shown.join(", ")),
        "keep the shell from what is not its own",
    )
    .evidence(format!("{} is set nowhere", shown.join(", ")))
    .rewrite(file, splice(&file.text, parts), summary)
    .done()
}

/// A backslash before each of the names in a document.
fn escaped(script: &Script<'_>, document: &HereDocument, foreign: &[String]) -> Vec<(Range<usize>, String)> {
    let body = script.get(&document.body);
    let start = document.body.start;
    let mine = |(at, _): &(usize, &str)| {
        let bare = !body.get(..*at).is_some_and(|before| before.ends_with('\\'));
        bare && name_after(body.get(at + 1..).unwrap_or_default()).is_some_and(|name| foreign.contains(&name))
    };
    body.match_indices('$').filter(mine).map(|(at, _)| (start + at..start + at, "\\".to_owned())).collect()
}

/// The name of what is expanded behind a `$`.
fn name_after(rest: &str) -> Option<String> {
    let rest = rest.strip_prefix('{').unwrap_or(rest);
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    if !digits.is_empty() {
        return Some(digits.chars().take(1).collect());
    }
    let name: String = rest.chars().take_while(|c| text::is_name(*c)).collect();
    (!name.is_empty()).then_some(name)
}

/// The names that the shell would expand in a text.
fn names(body: &str) -> Vec<String> {
    let mut names: Vec<String> = variables(body);
    for (at, _) in body.match_indices('$') {
        let escaped = body.get(..at).is_some_and(|before| before.ends_with('\\'));
        let name = body.get(at + 1..).and_then(name_after).filter(|_| !escaped);
        names.extend(name.filter(|name| name.starts_with(|c: char| c.is_ascii_digit())));
    }
    names.sort();
    names.dedup();
    names
}

fn is_known(case: &Case, script: &Script<'_>, name: &str) -> bool {
    if name.chars().all(|c| c.is_ascii_digit()) {
        return false;
    }
    let written = script.assignments().any(|(own, ..)| own == name)
        || script.blocks.iter().any(|block| script.changed_in(block).iter().any(|own| own == name));
    written || case.scene.var(name).is_some()
}

fn holds_another_language(script: &Script<'_>, document: &HereDocument, name: &str) -> bool {
    let quoted = script.get(&(document.announced..document.announced + 1)).contains(['\'', '"', '\\']);
    let named = names(script.get(&document.body)).iter().any(|own| own == name);
    let Some(command) = script
        .commands
        .iter()
        .find(|command| command.redirects.iter().any(|(_, target)| target.start == document.announced))
    else {
        return false;
    };
    let reader = READERS.contains(&script.name(command).as_str());
    let target = command
        .redirects
        .iter()
        .map(|(_, target)| script.get(target).trim_matches(['"', '\'']))
        .any(|target| ENDINGS.iter().any(|ending| target.ends_with(ending)));
    document.closed && !quoted && named && (reader || target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, name: &str) -> TestCase {
        TestCase::new("x.sh", text, TestScene::new()).fault(Fault::UnsetVariable { name: name.into() }).at(2)
    }

    #[test]
    fn leaves_another_language_as_it_is() {
        assert_eq!(
            case("set -u\ncat > s.awk <<EOF\n{ s += $2; t += $3 }\nEOF\n", "$2").healed(&HereDocumentExpands),
            "set -u\ncat > s.awk <<'EOF'\n{ s += $2; t += $3 }\nEOF\n"
        );
    }

    #[test]
    fn keeps_what_is_the_scripts_own() {
        let text = "n=3\nperl <<EOF\nmy $x = $n * 2;\nEOF\n";
        assert_eq!(case(text, "x").healed(&HereDocumentExpands), text.replace("my $x", "my \\$x"));
    }

    #[test]
    fn leaves_forgotten_variables_alone() {
        assert!(case("set -u\ncat > note.txt <<EOF\nDear $name\nEOF\n", "name").silent(&HereDocumentExpands));
        assert!(
            case("set -u\ncat > s.awk <<'EOF'\n{ s += $2 }\nEOF\necho $2\n", "2")
                .silent(&HereDocumentExpands)
        );
    }
}
