//! The one question for small models: two sentences, then the script or the lines around the failure once more, repaired.
//!
//! A small model writes prose and code better than code in JSON, copies a text better than it counts its lines, and loses its way
//! in a second question. So the report does the thinking, and one short answer is asked for.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use selfheal_core::diagnosis::{Basis, Diagnosis, What};
use selfheal_core::ports::{Form, Question};
use selfheal_core::proposal::{Proposal, Risk, Source};

use super::citations::Known;
use super::cookbook;
use super::edits::{self, Edit};
use super::hints;
use super::input::{Document, PromptInput};
use super::material::{Detail, Numbers, mark, section, sections};
use super::proposal::{Changed, checked, is_sketch, near_or_said};
use super::{PromptError, clean, render};

/// A script of up to so many lines and characters comes back whole.
const WHOLE_LINES: usize = 70;
const WHOLE_CHARS: usize = 3_200;
/// Of a longer one, so many lines before and behind the failing one.
const AROUND: usize = 12;
/// Tokens of an answer for the sentences, and for each character of the lines that are asked for.
const SENTENCES: usize = 160;
const CHARS_PER_TOKEN: usize = 2;
/// Further tokens for what takes the place of one line.
const ROOM: usize = 160;
/// What a statement needs at least, in characters, to say anything.
const LEAST: usize = 12;
/// So much of the lines that were asked for must be there again, in percent.
const KEPT: usize = 60;

/// Why an answer is refused that repeats the script as it is.
pub const NOTHING_CHANGED: &str = "it changes nothing";

/// Whether there is a failing line for which a question can ask alone.
#[must_use]
pub fn has_failing_line(input: &PromptInput<'_>) -> bool {
    input.script.is_some_and(|script| failing_line(script, input).is_some())
}

/// Asks for a repair in one question.
///
/// # Errors
/// [`PromptError::NothingToEdit`] when there is no script, or when a template cannot be filled in.
pub fn short_question(input: &PromptInput<'_>, temperature: f32) -> Result<Question, PromptError> {
    let script = input.script.ok_or(PromptError::NothingToEdit)?;
    let lines = asked_lines(script, input);
    let usual = asked_lines(script, &PromptInput { only_line: false, ..*input });
    // The system's part stays the same, so that servers need not read it again.
    let whole = *usual.end() - *usual.start() + 1 >= script.text.lines().count();
    let one = (lines.start() == lines.end() && input.only_line).then(|| *lines.start());
    let asked: String = numbered(&script.text, &lines).map(|line| format!("{line}\n")).collect();
    let mut sections = sections(input, Numbers::Hidden, Detail::Brief);
    let solved = cookbook::solved(input);
    if !solved.is_empty() {
        let at = sections.iter().position(|one| one.title == input.words("failure")).unwrap_or(0);
        sections.insert(at, section(input, input.words("solved"), &solved));
    }
    let found = hints::hints(input);
    if !found.is_empty() {
        sections.push(section(input, input.words("stands-out"), &found.join("\n")));
    }
    if !whole && one.is_none() {
        let title = format!("The lines to repair ({} to {} of the script)", lines.start(), lines.end());
        sections.push(section(input, &title, &asked));
    }
    let values = minijinja::context! { whole };
    let closing = match one {
        Some(number) => format!("{} {number}: `{}`", input.words("instead"), shown_line(input, asked.trim())),
        None => input.words(if whole { "short-whole" } else { "short-lines" }).to_owned(),
    };
    Ok(Question {
        system: render::fill(input, "short_system", values)?,
        user: render::case(input, &mark(input.nonce), &sections, &closing)?,
        form: Form::Text,
        max_tokens: u32::try_from(SENTENCES + asked.len() / CHARS_PER_TOKEN + one.map_or(0, |_| ROOM))
            .unwrap_or(u32::MAX),
        temperature,
    })
}

/// The lines that the answer must hold: all of a short script, else those around the failure.
fn asked_lines(script: &Document, input: &PromptInput<'_>) -> RangeInclusive<usize> {
    let count = script.text.lines().count().max(1);
    if input.only_line
        && let Some(line) = failing_line(script, input)
    {
        return line..=line;
    }
    if count <= WHOLE_LINES && script.text.chars().count() <= WHOLE_CHARS {
        return 1..=count;
    }
    let place = input.report.location.as_ref().filter(|place| place.file == script.path);
    let centre = place.map_or(1, |place| place.line as usize).clamp(1, count);
    centre.saturating_sub(AROUND).max(1)..=(centre + AROUND).min(count)
}

/// The failing line, where it is one of the script.
fn failing_line(script: &Document, input: &PromptInput<'_>) -> Option<usize> {
    let place = input.report.location.as_ref().filter(|place| place.file == script.path)?;
    Some(place.line as usize).filter(|line| (1..=script.text.lines().count()).contains(line))
}

/// A line of the script as it may stand in a question.
fn shown_line(input: &PromptInput<'_>, line: &str) -> String {
    clean::line(input.redactor.text(line).as_str(), 300).replace(&mark(input.nonce), "")
}

fn numbered<'a>(text: &'a str, lines: &RangeInclusive<usize>) -> impl Iterator<Item = &'a str> {
    text.lines().skip(*lines.start() - 1).take(*lines.end() + 1 - *lines.start())
}

/// Reads an answer to [`short_question`] by the model of this name.
///
/// # Errors
/// Why it is refused, in one line for the model: no lines, lines left out, no change, a text that does not parse, a change that
/// has nothing to do with the failure, invisible characters, or a masked secret.
pub fn read_short(text: &str, input: &PromptInput<'_>, model: &str) -> Result<(Diagnosis, Proposal), String> {
    let script = input.script.ok_or("there is no script that could be changed")?;
    let text = input.redactor.with_users(text);
    let answer = Answer::of(&text);
    let after = answer.applied(script, input)?;
    let changes = checked(vec![Changed { file: script, after }], input)?;
    near_or_said(&changes, input, std::slice::from_ref(&answer.repair))?;
    let change = changes.first().ok_or("it changes nothing")?;
    let line = edits::first_difference(&script.text, &change.after);
    let known = Known::of(input);
    let (root_cause, evidence) = cause(&answer.cause, input, &known);
    let strategy = said(&answer.repair)
        .filter(|repair| known.check_lines(repair).is_ok())
        .unwrap_or_else(|| format!("Change the script from line {line} on, as the patch shows."));
    let summary = vec![format!("line {line}: {strategy}")];
    Ok((
        Diagnosis {
            root_cause,
            evidence,
            change: What::Script,
            strategy,
            verify: Vec::new(),
            basis: Basis::General,
        },
        Proposal {
            source: Source::Model { name: model.to_owned() },
            changes: changes.into_iter().map(Changed::into_file_change).collect(),
            summary,
            risk: Risk::Medium,
            // A small model does not know whether it does.
            changes_meaning: true,
            rollback: "Put the earlier text of the script back.".to_owned(),
            installs: Vec::new(),
        },
    ))
}

/// A statement of the model, if it says anything.
fn said(raw: &str) -> Option<String> {
    let line = clean::line(raw, 400);
    (line.chars().count() >= LEAST).then_some(line)
}

/// The cause and what shows it. Words that name what does not exist are the report's instead: the model has not looked.
fn cause(raw: &str, input: &PromptInput<'_>, known: &Known) -> (String, Vec<String>) {
    let report = input.report;
    let mut evidence: Vec<String> = vec![clean::line(&report.core_error, 300)];
    evidence.extend(report.causes.iter().take(1).flat_map(|cause| &cause.evidence).take(2).cloned());
    let checked = said(raw)
        .ok_or_else(|| "it says nothing".to_owned())
        .and_then(|line| known.check(&line).map(|()| line));
    match checked {
        Ok(cause) => (cause, evidence),
        Err(reason) => {
            evidence.push(clean::line(&format!("the model's own words were left out: {reason}"), 300));
            let place =
                report.location.as_ref().map(|place| format!("line {}: ", place.line)).unwrap_or_default();
            let likely =
                report.causes.first().map_or(report.core_error.as_str(), |cause| cause.text.as_str());
            (clean::line(&format!("{place}{likely}"), 400), evidence)
        }
    }
}

/// An answer in its parts.
struct Answer<'a> {
    cause: String,
    repair: String,
    blocks: Vec<Edit>,
    fence: Option<&'a str>,
}

/// The words that begin the sentences.
const CAUSE: [&str; 2] = ["CAUSE", "原因"];
const REPAIR: [&str; 2] = ["REPAIR", "修复"];

impl<'a> Answer<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            cause: sentence(text, &CAUSE),
            repair: sentence(text, &REPAIR),
            blocks: blocks(text),
            fence: longest_fence(text).or_else(|| marked(text)),
        }
    }

    /// The script with the answer in it.
    fn applied(&self, script: &Document, input: &PromptInput<'_>) -> Result<String, String> {
        let before = &script.text;
        let unmask = |piece: &str| edits::unmask(piece, before, input.redactor);
        if !self.blocks.is_empty() {
            let list = self
                .blocks
                .iter()
                .map(|edit| Ok(Edit { find: unmask(&edit.find)?, replace: unmask(&edit.replace)? }));
            return edits::apply(before, &list.collect::<Result<Vec<_>, String>>()?);
        }
        let fence = self.fence.ok_or("it holds no fenced block with the repaired lines")?;
        let new = edits::like(before, &unmask(fence)?);
        let lines = asked_lines(script, input);
        let lines = if all_there(&new, before) { 1..=before.lines().count().max(1) } else { lines };
        let alone = input.only_line && lines.start() == lines.end();
        complete(&new, before, if alone { None } else { Some(&lines) })?;
        Ok(spliced(before, &lines, &new))
    }
}

/// What stands behind one of the words at the beginning of a line, up to the next line.
fn sentence(text: &str, words: &[&str]) -> String {
    let plain = |line: &str| line.trim_start_matches(['*', '#', ' ', '-']).to_owned();
    let after = |line: &str| {
        let line = plain(line);
        let word = words.iter().find(|word| line.to_uppercase().starts_with(**word))?;
        let rest = line.get(word.len()..)?.trim_start_matches('*').trim_start();
        let rest = rest.strip_prefix([':', '：'])?.trim_start_matches('*').trim();
        Some(rest.to_owned())
    };
    let mut lines = text.lines();
    let first = lines.by_ref().find_map(after).unwrap_or_default();
    // Some put the sentence on a line of its own.
    if first.is_empty() {
        lines.find(|line| !line.trim().is_empty()).map(plain).unwrap_or_default()
    } else {
        first
    }
}

/// The longest fenced block: what else is fenced are quotations.
fn longest_fence(text: &str) -> Option<&str> {
    let mut found: Option<&str> = None;
    let mut open: Option<usize> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if line.trim_start().starts_with("```") {
            match open.take() {
                None => open = Some(next),
                Some(start) => {
                    let block = text.get(start..at).unwrap_or_default();
                    found = found.filter(|known| known.len() >= block.len()).or(Some(block));
                }
            }
        }
        at = next;
    }
    found
}

/// What stands between two lines with a mark: some models copy the form of the question.
fn marked(text: &str) -> Option<&str> {
    let (at, first) = text.match_indices("<<").find_map(|(at, _)| {
        let line = text.get(at + 2..)?.lines().next()?.trim();
        let is_mark = line.len() >= 8 && line.bytes().all(|byte| byte.is_ascii_alphanumeric());
        (is_mark && (at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n'))).then_some((at, line))
    })?;
    let inside = text.get(at + 2 + first.len()..)?.strip_prefix('\n')?;
    inside.find(&format!("{first}>>")).and_then(|end| inside.get(..end))
}

/// Search/replace blocks, as some models write them whatever they are asked for.
fn blocks(text: &str) -> Vec<Edit> {
    let mut out = Vec::new();
    let mut part: Option<(String, Option<String>)> = None;
    for line in text.lines() {
        let is = |sign: &str| line.starts_with(sign);
        part = match part.take() {
            None if is("<<<<<<<") => Some((String::new(), None)),
            None => None,
            Some((find, None)) if is("=======") => Some((find, Some(String::new()))),
            Some((find, Some(replace))) if is(">>>>>>>") => {
                out.push(Edit { find, replace });
                None
            }
            Some((mut find, None)) => {
                let _ = writeln!(find, "{line}");
                Some((find, None))
            }
            Some((find, Some(mut replace))) => {
                let _ = writeln!(replace, "{line}");
                Some((find, Some(replace)))
            }
        };
    }
    out
}

/// Whether a text begins and ends as the whole script does, although only some lines were asked for.
fn all_there(new: &str, before: &str) -> bool {
    let ends = |text: &str| {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        (lines.next().map(str::to_owned), lines.next_back().map(str::to_owned))
    };
    ends(new) == ends(before)
}

/// Refuses lines of which too many are gone, and sketches.
fn complete(new: &str, before: &str, lines: Option<&RangeInclusive<usize>>) -> Result<(), String> {
    if let Some(line) = new.lines().find(|line| is_sketch(line) && !before.contains(line.trim())) {
        return Err(format!("lines are only sketched (`{}`); write every line", clean::line(line, 60)));
    }
    let Some(lines) = lines else { return Ok(()) };
    let old: Vec<&str> = numbered(before, lines).map(str::trim).filter(|line| !line.is_empty()).collect();
    let kept = old.iter().filter(|line| new.lines().any(|other| other.trim() == **line)).count();
    if kept * 100 < old.len() * KEPT {
        return Err(format!("only {kept} of the {} lines are there again; write every line", old.len()));
    }
    Ok(())
}

/// A text with some lines replaced; its last line end stays as it was.
fn spliced(before: &str, lines: &RangeInclusive<usize>, new: &str) -> String {
    let end = if before.contains("\r\n") { "\r\n" } else { "\n" };
    let parts: Vec<&str> = before.split_inclusive('\n').collect();
    let mut out: String = parts.iter().take(*lines.start() - 1).copied().collect();
    out.push_str(new.trim_end_matches(['\r', '\n']));
    out.push_str(end);
    out.extend(parts.iter().skip(*lines.end()).copied());
    if !before.ends_with('\n') && parts.len() <= *lines.end() {
        out.truncate(out.len() - end.len());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_found_in_every_dress() {
        for text in [
            "CAUSE: the folder is missing\nREPAIR: make it\n",
            "**CAUSE:** the folder is missing\n\n**Repair**: make it\n```\nx\n```",
            "### Cause: the folder is missing\n- REPAIR: make it",
            "原因：the folder is missing\n修复: make it",
            "CAUSE:\nthe folder is missing\nREPAIR:\n\nmake it\n",
        ] {
            assert_eq!(sentence(text, &CAUSE), "the folder is missing", "{text}");
            assert_eq!(sentence(text, &REPAIR), "make it", "{text}");
        }
        assert_eq!(sentence("because: no", &CAUSE), "");
    }

    #[test]
    fn the_longest_fence_counts_and_an_open_one_does_not() {
        let text = "```\na\n```\nthen\n```bash\nb\nc\n```\n```\nd\n";
        assert_eq!(longest_fence(text), Some("b\nc\n"));
        assert_eq!(longest_fence("```bash\nb\n"), None);
        let marked_text = "so:\n<<ab12cd34\nx\ny\nab12cd34>>\n";
        assert_eq!((marked(marked_text), marked("cat <<EOF\nx\nEOF\n")), (Some("x\ny\n"), None));
        let edits = blocks("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nx\n");
        assert_eq!(edits, [Edit { find: "a\n".to_owned(), replace: "b\n".to_owned() }]);
    }

    #[test]
    fn lines_are_put_in_their_place() {
        assert_eq!(spliced("a\nb\nc\n", &(2..=2), "B\nB2\n\n"), "a\nB\nB2\nc\n");
        assert_eq!(spliced("a\r\nb", &(1..=2), "x"), "x");
        assert_eq!(spliced("a\nb", &(1..=1), "x\n"), "x\nb");
        assert!(complete("a\nb\nd\n", "a\nb\nc\n", Some(&(1..=3))).is_ok());
        assert!(complete("a\n", "a\nb\nc\n", Some(&(1..=3))).is_err());
        assert!(complete("a\nb\nc\n# ... rest of the script\n", "a\nb\nc\n", Some(&(1..=3))).is_err());
        assert!(all_there("a\n\nx\nc", "a\nb\nc\n") && !all_there("b\nc\n", "a\nb\nc\n"));
    }
}
