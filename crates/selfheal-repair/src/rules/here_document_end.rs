//! # The end marker of a here-document is not alone on its line
//!
//! ## What it finds
//! A here-document never ends because the line with its end marker is indented, or has blanks, a carriage return or a
//! semicolon behind the marker.
//!
//! ## Why it fails
//! A shell takes only a line that is exactly the marker (after tabs, with `<<-`). Otherwise everything to the end of the
//! file becomes text, and the script ends in the middle, often with a syntax error at its last line.
//!
//! ## Fix
//! The marker is put alone on its line. The text of the document stays as it is.
//!
//! ## Example
//! ```sh
//! cat <<EOF
//! text
//!     EOF
//! ```
//! ```sh
//! cat <<EOF
//! text
//! EOF
//! ```
//!
//! ## Safety
//! Only where the document really has no end, or ends at a later document's marker; and only lines that hold nothing but
//! the marker and blanks.

use selfheal_core::edit::LineEdit;
use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::Case;
use crate::shell::{HereDocument, Script};
use crate::text;

rule!(HereDocumentEnd, "here_document_end", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let said = case.faults().any(|fault| !matches!(fault, Fault::Network { .. } | Fault::NoSpace { .. }));
    let Some(file) = case.failing_file().filter(|file| said && file.language.is_shell()) else {
        return Vec::new();
    };
    let edits = mended(&file.text);
    let Some(first) = edits.first() else { return Vec::new() };
    let draft = Draft::new(
        "here_document_end",
        format!(
            "the here-document before line {} does not end there: its end marker is not alone on the line",
            first.first
        ),
        "put the end marker alone on its line",
    )
    .edit(&file, &edits, format!("{}: the end marker stands alone", text::lines_in_words(&edits)));
    draft.done().into_iter().collect()
}

/// Mends one document after the other: while one is open, those behind it cannot be seen.
fn mended(original: &str) -> Vec<LineEdit> {
    let mut text = original.to_owned();
    for _ in 0..50 {
        let script = Script::new(&text);
        let Some(edit) = script.here.iter().find_map(|here| end_of(&script, here)) else { break };
        match selfheal_core::edit::apply(&text, std::slice::from_ref(&edit)) {
            Ok(next) => text = next,
            Err(_) => break,
        }
    }
    // Lines are replaced one for one, so numbers of both texts agree.
    text::edits_by_line(original, |number, _| text::line(&text, number).map(str::to_owned))
}

/// The line that was meant as the end of a document whose real end is missing or too late.
fn end_of(script: &Script<'_>, here: &HereDocument) -> Option<LineEdit> {
    let body = script.get(&here.body);
    let meant = body.lines().position(|line| {
        let bare = line.trim().trim_end_matches(';').trim_end();
        bare == here.marker
            && line != here.marker
            && !(here.tabs && line.trim_start_matches('\t') == here.marker)
    })?;
    // A closed document that another one begins in has swallowed it; otherwise the line is text that looks like an end.
    let swallowed = body.lines().skip(meant).any(|line| line.contains("<<"));
    if here.closed && !swallowed {
        return None;
    }
    Some(text::replace(script.line_of(here.body.start) + meant as u32, here.marker.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn syntax() -> Fault {
        Fault::Syntax { near: None, message: "unexpected end of file".into() }
    }

    #[test]
    fn mends_an_indented_marker_even_when_a_later_document_hides_it() {
        let text = "f() {\n    cat <<EOF\nDear $x,\n    EOF\n}\nf\ncat <<EOF\nend\nEOF\n";
        let case = TestCase::new("x.sh", text, TestScene::new()).fault(syntax()).at(9);
        assert_eq!(case.healed(&HereDocumentEnd), text.replace("    EOF\n", "EOF\n"));
    }

    #[test]
    fn mends_a_marker_with_blanks_behind_it() {
        let text = "mail <<-'END'\n\thello\n\tEND  \necho done\n";
        let case =
            TestCase::new("x.sh", text, TestScene::new()).fault(Fault::CommandNotFound { name: "q".into() });
        assert_eq!(case.healed(&HereDocumentEnd), "mail <<-'END'\n\thello\nEND\necho done\n");
    }

    #[test]
    fn leaves_good_documents_alone() {
        let text = "cat <<EOF\n  EOF\nEOF\ncat <<-E\n\tx\n\tE\n";
        assert!(TestCase::new("x.sh", text, TestScene::new()).fault(syntax()).silent(&HereDocumentEnd));
    }
}
