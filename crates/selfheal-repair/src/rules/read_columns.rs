//! # A loop reads the columns of a table that is written in another way now
//!
//! ## What it finds
//! A shell script reads a table with `while read -r NAME …`; the table has a heading in which the same names stand, in another
//! order, with other columns between them, or behind another separator, and the loop may take the heading for a row.
//!
//! ## Why it fails
//! Whoever writes the table added a heading or a column, moved columns, or changed the separator. The loop goes by places, and
//! each variable gets the value of another column.
//!
//! ## Fix
//! The loop names the columns in the order of the heading (`_` for those that it does not use), splits at the separator that the
//! table has, and passes over the heading.
//!
//! ## Example
//! ```sh
//! while read -r user used limit; do
//!   check "$user" "$used" "$limit"
//! done < quotas.txt
//! ```
//! ```sh
//! { read -r _; while read -r user _ used limit; do
//!   check "$user" "$used" "$limit"
//! done; } < quotas.txt
//! ```
//!
//! ## Safety
//! Only when every variable of the loop is exactly one column of the heading, and the first line is a heading beyond doubt: names
//! above numbers. It changes what is read, so the risk is medium.

use std::ops::Range;
use std::path::Path;

use selfheal_core::scene::absolute;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::shell::{Block, BlockKind, Command, Script, Values, splice, unquoted};
use crate::tables::Headed;

rule!(ReadColumns, "read_columns", Unsafe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let files = case.files().into_iter().filter(|file| file.language.is_shell());
    files.filter_map(|file| in_file(case, &file)).take(1).collect()
}

fn in_file(case: &Case, file: &ScriptFile) -> Option<Candidate> {
    let script = Script::new(&file.text);
    let values = Values::new(case, &script, file.folder());
    script.commands.iter().filter(|command| script.name(command) == "read").find_map(|read| {
        let (_, block) = script.around(read.block).find(|(_, block)| block.kind == BlockKind::While)?;
        if read.span.start > block.body {
            return None;
        }
        let source = source(&script, block)?;
        let path = absolute(&case.base(), Path::new(&values.word(script.get(&source.target))?));
        let text = String::from_utf8(case.scene.read(&path, crate::case::LARGEST)?).ok()?;
        let table = Headed::read(&text)?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        mended(file, &script, &Loop { read, block, source, table, name })
    })
}

/// A loop with the table that it reads.
struct Loop<'s> {
    read: &'s Command,
    block: &'s Block,
    source: Source,
    table: Headed,
    name: String,
}

/// Where the input of a loop comes from.
struct Source {
    target: Range<usize>,
    /// Whether something is read before the loop.
    skips: bool,
}

/// The file that is redirected into a loop, or into the braces around it.
fn source(script: &Script<'_>, block: &Block) -> Option<Source> {
    if let Some(target) = redirected(script, block) {
        return Some(Source { target, skips: false });
    }
    if let Some(source) = piped(script, block) {
        return Some(source);
    }
    let (parent, outer) = script.around(block.parent).find(|(_, outer)| outer.kind == BlockKind::Braces)?;
    let skips = script.commands.iter().any(|command| {
        command.block == Some(parent)
            && command.span.end <= block.span.start
            && script.name(command) == "read"
    });
    Some(Source { target: redirected(script, outer)?, skips })
}

/// The file that `cat FILE |` or `tail -n +2 FILE |` feeds to a loop.
fn piped(script: &Script<'_>, block: &Block) -> Option<Source> {
    let feeds = |command: &&Command| {
        let between = script.text.get(command.span.end..block.span.start);
        between.is_some_and(|text| text.trim() == "|")
    };
    let feeder = script.commands.iter().rev().find(feeds)?;
    let words = script.words(feeder);
    let target = feeder.words.last()?.clone();
    let skips = match words.as_slice() {
        ["cat", _] => false,
        ["tail", "-n", "+2", _] | ["tail", "-n+2", _] | ["sed", "1d" | "'1d'", _] => true,
        _ => return None,
    };
    // A heading that is still fed to the loop cannot be passed over by what is read before it.
    skips.then_some(Source { target, skips })
}

fn redirected(script: &Script<'_>, block: &Block) -> Option<Range<usize>> {
    let behind = |command: &&Command| {
        let between = script.text.get(block.span.end..command.span.start);
        command.words.is_empty() && between.is_some_and(|text| text.trim().is_empty() && !text.contains('\n'))
    };
    let command = script.commands.iter().find(behind)?;
    let input = |(operator, _): &&(Range<usize>, Range<usize>)| script.get(operator) == "<";
    command.redirects.iter().find(input).map(|(_, target)| target.clone())
}

fn mended(file: &ScriptFile, script: &Script<'_>, this: &Loop) -> Option<Candidate> {
    let names: Vec<Range<usize>> = variables(script, this.read);
    let words: Vec<&str> = names.iter().map(|span| script.get(span)).collect();
    let used: Vec<&str> = words.iter().copied().filter(|name| !name.starts_with('_')).collect();
    let columns = this.table.columns_of(&used).filter(|_| used.len() > 1)?;
    if columns.iter().any(|(_, cents)| *cents) {
        return None;
    }
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    let mut said: Vec<&str> = Vec::new();
    let new = order(&this.table, &used, &columns);
    if new != words {
        parts.push((names.first()?.start..names.last()?.end, new.join(" ")));
        said.push("its columns are in another order");
    }
    if let Some(part) = separator(script, this)? {
        parts.push(part);
        said.push("another character separates them");
    }
    let heading = !this.source.skips && !passes_over(script, this);
    if heading {
        parts.push((this.block.span.start..this.block.span.start, "{ read -r _; ".to_owned()));
        parts.push((this.block.span.end..this.block.span.end, "; }".to_owned()));
        said.push("its first line is a heading");
    }
    let line = script.line_of(this.read.span.start);
    let name = &this.name;
    Draft::new(
        "read_columns",
        format!("line {line}: {name} is written in another way than the loop reads it: {}", said.join(", ")),
        "read the columns by the names that the heading gives them",
    )
    .evidence(format!("the heading of {name} is {}", this.table.heading.join(", ")))
    .meaning()
    .rewrite(
        file,
        splice(&file.text, parts),
        format!("line {line}: the columns as the heading of {name} names them"),
    )
    .done()
}

/// The variables that a `read` sets.
fn variables(script: &Script<'_>, read: &Command) -> Vec<Range<usize>> {
    let mut words = read.words.iter().skip(1).peekable();
    while let Some(word) = words.peek().map(|span| script.get(span)).filter(|word| word.starts_with('-')) {
        words.next();
        if word.len() == 2 && "adnNptu".contains(word.trim_start_matches('-')) {
            words.next();
        }
    }
    words.cloned().collect()
}

/// The names in the order of the heading.
fn order(table: &Headed, used: &[&str], columns: &[(usize, bool)]) -> Vec<String> {
    let last = columns.iter().map(|(at, _)| *at).max().unwrap_or(0);
    let mut out = vec!["_".to_owned(); last + 1];
    for (name, (at, _)) in used.iter().zip(columns) {
        if let Some(place) = out.get_mut(*at) {
            (*name).clone_into(place);
        }
    }
    if last + 1 < table.heading.len() {
        out.push("_".to_owned());
    }
    out
}

/// What sets the separator anew; outer `None` where the table cannot be read by `read`.
#[expect(clippy::option_option, reason = "nothing to change is another answer than nothing can be done")]
fn separator(script: &Script<'_>, this: &Loop) -> Option<Option<(Range<usize>, String)>> {
    let set = this.read.assigns.iter().find(|span| script.get(span).starts_with("IFS="));
    let now = set.map(|span| unquoted(script.get(span).trim_start_matches("IFS=")));
    let Some(mark) = this.table.separator else {
        return if now.is_some() { None } else { Some(None) };
    };
    if now.as_deref() == Some(mark.to_string().as_str())
        || mark == '\t' && now.is_some_and(|now| now == "\\t" || now == "$\\t")
    {
        return Some(None);
    }
    let written = if mark == '\t' { "$'\\t'".to_owned() } else { format!("'{mark}'") };
    Some(Some(match set {
        Some(span) => (span.clone(), format!("IFS={written}")),
        None => (this.read.span.start..this.read.span.start, format!("IFS={written} ")),
    }))
}

/// Whether the loop itself passes over the first line: its body names a column of the heading as a text.
fn passes_over(script: &Script<'_>, this: &Loop) -> bool {
    let body = script.text.get(this.block.body..this.block.span.end).unwrap_or_default();
    let first = this.table.heading.first().map(String::as_str).unwrap_or_default();
    [format!("= {first}"), format!("\"{first}\""), format!("'{first}'"), format!("{first})")]
        .iter()
        .any(|text| body.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene};

    fn case(text: &str, table: &str) -> TestCase {
        TestCase::new("x.sh", text, TestScene::new().file("t.txt", table)).at(2)
    }

    #[test]
    fn reads_columns_by_the_names_of_the_heading() {
        let text =
            "set -e\nwhile read -r user used limit; do\n  echo $((used / limit))\ndone < t.txt > out\n";
        let healed = case(text, "USER GROUP USED LIMIT\nanna staff 8 10\n").healed(&ReadColumns);
        assert_eq!(
            healed,
            "set -e\n{ read -r _; while read -r user _ used limit; do\n  echo $((used / limit))\ndone; } < t.txt > out\n"
        );
    }

    #[test]
    fn reads_what_is_fed_through_a_pipe() {
        let text = "tail -n +2 t.txt | while IFS=, read -r name badge floor; do\n  echo $floor\ndone\n";
        let healed = case(text, "name,department,badge,floor\nIda,IT,A1,3\n").healed(&ReadColumns);
        assert_eq!(healed, text.replace("name badge", "name _ badge"));
    }

    #[test]
    fn splits_at_the_separator_of_the_table() {
        let text = "{\n  read -r _heading\n  while IFS=, read -r article name price; do\n    echo \"$price\"\n  done\n} < t.txt\n";
        let healed = case(text, "article;name;price\nA1;Bolt, long;1.20\n").healed(&ReadColumns);
        assert_eq!(healed, text.replace("IFS=,", "IFS=';'"));
    }

    #[test]
    fn leaves_loops_alone_whose_names_are_no_columns_or_fit() {
        let text = "while read -r a b; do\n  echo $a\ndone < t.txt\n";
        assert!(case(text, "USER USED\nanna 8\n").silent(&ReadColumns));
        assert!(
            case("while read -r user used; do :; done < t.txt\n", "anna 8\nbert 9\n").silent(&ReadColumns)
        );
        let passed = "while read -r user used; do\n  [ \"$user\" = USER ] && continue\ndone < t.txt\n";
        assert!(case(passed, "USER USED\nanna 8\n").silent(&ReadColumns));
    }
}
