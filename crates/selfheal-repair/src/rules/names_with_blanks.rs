//! # File names with blanks fall apart
//!
//! ## What it finds
//! A shell script loops over the output of `ls`, or uses a variable without quotes, and a command gets a part of a file name
//! that has a blank in it.
//!
//! ## Why it fails
//! A shell splits the result of `$(…)` and of variables without quotes at blanks, and takes `*`, `?` and `[` in it for
//! patterns.
//!
//! ## Fix
//! The loop goes over the pattern itself, and the variables that hold such names are quoted wherever they are used.
//!
//! ## Example
//! ```sh
//! for scan in $(ls $SCANS/*.pdf); do
//!   mv $scan $FILED/
//! done
//! ```
//! ```sh
//! for scan in "$SCANS"/*.pdf; do
//!   [ -e "$scan" ] || [ -L "$scan" ] || { echo "no file matches $scan" >&2; continue; }
//!   mv "$scan" "$FILED"/
//! done
//! ```
//!
//! ## Safety
//! Only variables that hold the names: the loop's, and those that are made from it, and the words beside them. Variables
//! that hold lists or options keep being split.

use std::ops::Range;
use std::path::Path;

use selfheal_core::fault::Fault;

use crate::candidate::{Candidate, Draft};
use crate::case::{Case, ScriptFile};
use crate::shell::{
    Block, BlockKind, Command, Script, has_pattern, quoted, quoted_word, splice, substitution, unquoted,
    variables,
};

rule!(NamesWithBlanks, "names_with_blanks", Safe, propose);

fn propose(case: &Case) -> Vec<Candidate> {
    let Some(file) = case.failing_file().filter(|file| file.language.is_shell()) else { return Vec::new() };
    let script = Script::new(&file.text);
    let quote = case.faults().any(|fault| match fault {
        Fault::BadValue { message, .. } => message.starts_with("xargs: unmatched"),
        _ => false,
    });
    if quote {
        return for_xargs(case, &file, &script).into_iter().collect();
    }
    let Some(whole) = case.faults().find_map(|fault| whole_name(case, fault)) else { return Vec::new() };
    let ways = [Way::Pattern, Way::Listing];
    let mut out: Vec<Candidate> =
        ways.into_iter().filter_map(|way| mended(case, &file, &script, &whole, way)).collect();
    out.dedup_by(|a, b| a.proposal.changes == b.proposal.changes);
    out
}

/// How a loop over a listing is mended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The loop goes over the pattern itself.
    Pattern,
    /// The loop reads the listing line by line; the listing stays.
    Listing,
}

fn mended(case: &Case, file: &ScriptFile, script: &Script<'_>, whole: &str, way: Way) -> Option<Candidate> {
    let (mut parts, mut names) = loops(script, way);
    parts.extend(arguments(script, &mut names));
    names.extend(read_names(script));
    names.extend(blank_values(case, script));
    spread(script, &mut names);
    parts.extend(quotes(script, &names));
    parts.extend(xargs(script));
    let (first, _) = parts.first()?;
    let line = case.line_in(file).unwrap_or(script.line_of(first.start));
    candidate(file, parts, whole, line, &names)
}

fn for_xargs(case: &Case, file: &ScriptFile, script: &Script<'_>) -> Option<Candidate> {
    let parts = xargs(script);
    let line = case.line_in(file).unwrap_or(script.line_of(parts.first()?.0.start));
    Draft::new(
        "names_with_blanks",
        format!("line {line}: xargs takes quotes and blanks in names for its own"),
        "hand names over to xargs ended by a zero byte",
    )
    .evidence("xargs met a quote that is part of a name")
    .rewrite(file, splice(&file.text, parts), "keep names whole on their way to xargs")
    .done()
}

/// Commands between `find` and `xargs` that know records ended by a zero byte.
const ZERO_BYTE: &[&str] = &["sort", "uniq", "grep", "head", "tail"];

/// Pipes of names into `xargs`, which splits them at blanks and takes quotes in them for its own: the names are ended by
/// a zero byte, or by the line end alone.
fn xargs(script: &Script<'_>) -> Vec<(Range<usize>, String)> {
    let mut parts = Vec::new();
    for command in script.commands.iter().filter(|command| script.name(command) == "xargs") {
        let words = script.words(command);
        let told = words.iter().any(|word| {
            matches!(*word, "-0" | "--null" | "-r0" | "-0r")
                || word.starts_with("-d")
                || word.starts_with("--delimiter")
        });
        let name_end = command.words.first().map_or(command.span.start, |word| word.end);
        let pipe = feeders(script, command);
        let Some((first, middle)) = pipe.split_first().filter(|_| !told) else { continue };
        let given = script.words(first);
        let finds = script.name(first) == "find"
            && !given.iter().any(|w| {
                w.starts_with("-print") || w.starts_with("-exec") || matches!(*w, "-o" | "-ls" | "-or")
            });
        if finds && middle.iter().all(|c| ZERO_BYTE.contains(&script.name(c).as_str())) {
            let end = first.words.last().map_or(first.span.end, |word| word.end);
            parts.push((end..end, " -print0".to_owned()));
            for between in middle {
                let end = between.words.first().map_or(between.span.start, |word| word.end);
                parts.push((end..end, " -z".to_owned()));
            }
            parts.push((name_end..name_end, " -0".to_owned()));
        } else if matches!(script.name(first).as_str(), "find" | "ls")
            || given.starts_with(&["git", "ls-files"])
        {
            parts.push((name_end..name_end, " -d '\\n'".to_owned()));
        }
    }
    parts
}

/// The commands of a pipe before one of its commands, first to last.
fn feeders<'s>(script: &'s Script<'_>, command: &Command) -> Vec<&'s Command> {
    let mut found: Vec<&Command> = Vec::new();
    let (mut start, mut before) = (command.span.start, command.before.clone());
    while before == "|" && found.len() < 20 {
        let gap = |end: usize| {
            script.text.get(end..start).is_some_and(|gap| gap.trim_matches([' ', '\t', '\n', '\\']) == "|")
        };
        let Some(one) = script.commands.iter().rev().find(|c| c.span.end <= start && gap(c.span.end)) else {
            return Vec::new();
        };
        found.push(one);
        (start, before) = (one.span.start, one.before.clone());
    }
    found.reverse();
    found
}

fn candidate(
    file: &ScriptFile,
    parts: Vec<(Range<usize>, String)>,
    whole: &str,
    line: u32,
    names: &[String],
) -> Option<Candidate> {
    let names = names.iter().map(|name| format!("${name}")).collect::<Vec<_>>().join(", ");
    let names = if names.is_empty() { "the names".to_owned() } else { names };
    Draft::new(
        "names_with_blanks",
        format!("line {line}: the name {whole:?} has a blank and was split there"),
        "keep file names whole: quote them, and loop over the pattern itself",
    )
    .evidence(format!("there is a file {whole:?}"))
    .rewrite(file, splice(&file.text, parts), format!("keep {names} whole"))
    .done()
}

/// The file whose name fell apart: a path that was not found is one of its words.
fn whole_name(case: &Case, fault: &Fault) -> Option<String> {
    let path = match fault {
        Fault::NoSuchPath { path } | Fault::NotADirectory { path } => path,
        _ => return None,
    };
    let part = path.file_name()?.to_string_lossy().into_owned();
    let parents = case.places(path).into_iter().filter_map(|place| place.parent().map(Path::to_path_buf));
    let beside = parents
        .flat_map(|parent| case.scene.names(&parent))
        .find(|name| name.contains(' ') && is_word_of(&part, name));
    beside.or_else(|| {
        // The second word of a name lacks the folder: look below the job's folder.
        let folders = case.scene.names(&case.base()).into_iter().map(|name| case.base().join(name));
        folders
            .flat_map(|folder| case.scene.names(&folder))
            .find(|name| name.contains(' ') && is_word_of(&part, name))
    })
}

fn is_word_of(part: &str, name: &str) -> bool {
    name.split([' ', '\t']).any(|word| word == part)
}

/// Loops over `$(ls …)`: the edits that loop over the pattern, and their variables.
fn loops(script: &Script<'_>, way: Way) -> (Vec<(Range<usize>, String)>, Vec<String>) {
    let mut parts = Vec::new();
    let mut names = Vec::new();
    for block in &script.blocks {
        let BlockKind::For { name, items } = &block.kind else { continue };
        let [item] = items.as_slice() else { continue };
        let Some(inner) = substitution(script.get(item)) else {
            if has_pattern(script.get(item)) {
                names.push(script.get(name).to_owned());
            }
            continue;
        };
        let (inner, name_of) = (inner.trim(), script.get(name));
        let edits = match way {
            Way::Pattern => over_pattern(script, block, item, inner, name_of)
                .or_else(|| over_found(script, block, inner, name_of)),
            Way::Listing => over_lines(script, block, inner, name_of),
        };
        if let Some(edits) = edits {
            parts.extend(edits);
            names.push(script.get(name).to_owned());
        }
    }
    (parts, names)
}

/// `$*` and `$@` without quotes, as what a loop goes over or as arguments of a command: `"$@"`. Their words are names.
fn arguments(script: &Script<'_>, names: &mut Vec<String>) -> Vec<(Range<usize>, String)> {
    let all = |span: &&Range<usize>| matches!(script.get(span), "$*" | "$@" | "${*}" | "${@}");
    let mut spans: Vec<&Range<usize>> = Vec::new();
    for block in &script.blocks {
        let BlockKind::For { name, items } = &block.kind else { continue };
        if items.iter().any(|item| all(&item)) {
            spans.extend(items.iter().filter(all));
            names.push(script.get(name).to_owned());
        }
    }
    for command in script.commands.iter().filter(|command| script.name(command) != "[[") {
        spans.extend(command.words.iter().skip(1).filter(all));
    }
    spans.into_iter().map(|span| (span.clone(), "\"$@\"".to_owned())).collect()
}

/// `for f in $(ls …)` reads the listing line by line.
fn over_lines(
    script: &Script<'_>,
    block: &Block,
    inner: &str,
    name: &str,
) -> Option<Vec<(Range<usize>, String)>> {
    let plain = picked(inner) && !inner.contains([';', '\n', '&']);
    let bash = script.text.lines().next().is_none_or(|first| !first.ends_with("/sh"));
    (plain && bash).then(|| {
        let head = format!("while IFS= read -r {name}; do");
        vec![(block.span.start..block.body, head), (block.span.end..block.span.end, format!(" < <({inner})"))]
    })
}

/// `for f in $(find …)` becomes a loop that reads names ended by a zero byte.
fn over_found(
    script: &Script<'_>,
    block: &Block,
    inner: &str,
    name: &str,
) -> Option<Vec<(Range<usize>, String)>> {
    let mut stages = inner.split('|').map(str::trim);
    let found = stages.next().unwrap_or_default();
    let between: Vec<&str> = stages.collect();
    let known = |stage: &&str| stage.split_whitespace().next().is_some_and(|word| ZERO_BYTE.contains(&word));
    let plain = found.starts_with("find ")
        && !inner.contains([';', '\n', '&'])
        && !inner.contains("-print")
        && !inner.contains("-exec")
        && between.iter().all(known);
    let bash = script.text.lines().next().is_none_or(|first| !first.ends_with("/sh"));
    if !plain || !bash {
        return None;
    }
    let head = format!("while IFS= read -r -d '' {name}; do");
    let piped: String = between
        .iter()
        .map(|stage| {
            let (word, rest) = stage.split_once(' ').unwrap_or((stage, ""));
            format!(" | {word} -z {rest}").trim_end().to_owned()
        })
        .collect();
    let feed = format!(" < <({found} -print0{piped})");
    Some(vec![(block.span.start..block.body, head), (block.span.end..block.span.end, feed)])
}

fn over_pattern(
    script: &Script<'_>,
    block: &Block,
    item: &Range<usize>,
    inner: &str,
    name: &str,
) -> Option<Vec<(Range<usize>, String)>> {
    let listed = inner.strip_prefix("ls")?.trim_start();
    let listed = listed.strip_prefix("-1 ").unwrap_or(listed).trim();
    if listed.starts_with('-') || listed.contains(['|', ';', '\n', ' ']) {
        return None;
    }
    let check = format!(
        "[ -e \"${name}\" ] || [ -L \"${name}\" ] || {{ echo \"no file matches ${name}\" >&2; continue; }}"
    );
    let mut edits = Vec::new();
    if has_pattern(listed) {
        edits.push((item.clone(), quoted_word(listed)));
        edits.push(script.put_first(block, &check));
    } else {
        // `ls DIR` gives bare names.
        let folder =
            if listed.is_empty() { String::new() } else { format!("{}/", quoted(&listed.replace('"', ""))) };
        edits.push((item.clone(), format!("{folder}*")));
        let (span, first) = script.put_first(block, &check);
        let bare = if folder.is_empty() {
            String::new()
        } else {
            script.put_first(block, &format!("{name}=${{{name}##*/}}")).1
        };
        edits.push((span, format!("{first}{bare}")));
    }
    Some(edits)
}

/// Whether a listing is only picked from and sorted, line by line.
fn picked(inner: &str) -> bool {
    let mut stages = inner.split('|').map(str::trim);
    let listing = stages.next().is_some_and(|stage| stage.starts_with("ls "));
    let picks = ["grep", "sort", "head", "tail"];
    listing && stages.all(|stage| picks.contains(&stage.split_whitespace().next().unwrap_or_default()))
}

/// Variables that `read` fills with whole lines.
fn read_names(script: &Script<'_>) -> Vec<String> {
    let reads = script.commands.iter().filter(|command| script.name(command) == "read");
    let single = reads.filter_map(|command| {
        let names: Vec<&str> =
            script.words(command).into_iter().skip(1).filter(|word| !word.starts_with('-')).collect();
        match names.as_slice() {
            [only] => Some((*only).to_owned()),
            _ => None,
        }
    });
    single.collect()
}

/// Variables whose value has a blank and is a path that exists.
fn blank_values(case: &Case, script: &Script<'_>) -> Vec<String> {
    let known = |name: &str| case.trace.and_then(|trace| trace.value(name)).map(str::to_owned);
    let mut names: Vec<String> = Vec::new();
    for (name, value, _) in script.assignments() {
        let value = known(name).unwrap_or_else(|| unquoted(script.get(&value)));
        if value.contains(' ') && case.find(Path::new(&value)).is_some() {
            names.push(name.to_owned());
        }
    }
    names
}

/// Adds the variables that are made from those that hold names.
fn spread(script: &Script<'_>, names: &mut Vec<String>) {
    for _ in 0..10 {
        let made: Vec<String> = script
            .assignments()
            .filter(|(name, value, _)| {
                let from = variables(script.get(value)).iter().any(|used| names.contains(used));
                let number = script.get(value).starts_with("$((") || script.get(value).contains("wc ");
                from && !number && !names.iter().any(|known| known == name)
            })
            .map(|(name, ..)| name.to_owned())
            .collect();
        if made.is_empty() {
            break;
        }
        names.extend(made);
    }
    names.sort();
    names.dedup();
}

/// Quotes for every word that uses one of the variables without them.
fn quotes(script: &Script<'_>, names: &[String]) -> Vec<(Range<usize>, String)> {
    let mut parts = Vec::new();
    for command in &script.commands {
        let name = script.name(command);
        if matches!(name.as_str(), "[[" | "((" | "local" | "export" | "readonly" | "declare")
            || name.starts_with("((")
        {
            continue;
        }
        let words = command.words.iter().skip(usize::from(!uses(script, command.words.first(), names)));
        for span in words.chain(command.redirects.iter().map(|(_, target)| target)) {
            let word = script.get(span);
            let plain = variables(word).iter().any(|used| names.contains(used))
                && !word.contains("$(")
                && !word.contains('`');
            if plain && splits(word, names) {
                parts.push((span.clone(), quoted_word(word)));
            }
        }
        parts.extend(substitutions(script, command, names));
    }
    parts
}

fn uses(script: &Script<'_>, span: Option<&Range<usize>>, names: &[String]) -> bool {
    span.is_some_and(|span| variables(script.get(span)).iter().any(|used| names.contains(used)))
}

/// An argument that is a substitution without quotes and gives a name: `mv $(basename $f) x`.
fn substitutions(script: &Script<'_>, command: &Command, names: &[String]) -> Vec<(Range<usize>, String)> {
    let name = script.name(command);
    if matches!(name.as_str(), "for" | "set" | "[[") {
        return Vec::new();
    }
    let targets = command.redirects.iter().map(|(_, target)| target);
    let words = command.words.iter().skip(1).chain(targets).filter(|span| {
        let word = script.get(span);
        let start = ["$(basename ", "$(dirname ", "$(readlink ", "$(realpath "]
            .iter()
            .find_map(|start| word.find(start))
            .filter(|_| word.matches("$(").count() == 1);
        let (head, rest) = start.and_then(|at| word.split_at_checked(at)).unwrap_or_default();
        let tail = rest.split_once(')').map_or("", |(_, tail)| tail);
        // A word that is quoted in part or holds a pattern is left as it is.
        let plain = |part: &str| !part.contains(['"', '\'', '*', '?', '[', '\\', '~', '`', '(', ')']);
        start.is_some()
            && plain(head)
            && plain(tail)
            && variables(word).iter().any(|used| names.contains(used))
    });
    words
        .flat_map(|span| [(span.start..span.start, "\"".to_owned()), (span.end..span.end, "\"".to_owned())])
        .collect()
}

/// Whether one of the variables stands outside of quotes.
fn splits(word: &str, names: &[String]) -> bool {
    let (mut single, mut double) = (false, false);
    let mut previous = ' ';
    for (at, c) in word.char_indices() {
        match c {
            '\'' if !double => single = !single,
            '"' if !single => double = !double,
            '$' if !single && !double && previous != '\\' => {
                let used = variables(word.get(at..).unwrap_or_default());
                if used.first().is_some_and(|name| names.contains(name)) {
                    return true;
                }
            }
            _ => {}
        }
        previous = c;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestCase, TestScene, no_such};

    #[test]
    fn loops_over_the_pattern_and_quotes_the_names() {
        let text = "SCANS=scans\nfor scan in $(ls $SCANS/*.pdf); do\n  name=$(basename $scan)\n  year=${name:0:4}\n  mkdir -p $OUT/$year\n  \
            echo \"$(wc -c < $scan) $name\" >> $OUT/index\n  mv $scan $OUT/$year/\ndone\n";
        let case = TestCase::new("x.sh", text, TestScene::new().file("scans/2023 invoice.pdf", "x"))
            .fault(no_such("scans/2023"))
            .at(6);
        assert_eq!(
            case.healed(&NamesWithBlanks),
            "SCANS=scans\nfor scan in \"$SCANS\"/*.pdf; do\n  [ -e \"$scan\" ] || [ -L \"$scan\" ] || { echo \"no file matches $scan\" >&2; continue; }\n  \
             name=$(basename \"$scan\")\n  year=${name:0:4}\n  mkdir -p \"$OUT/$year\"\n  echo \"$(wc -c < \"$scan\") $name\" >> $OUT/index\n  \
             mv \"$scan\" \"$OUT/$year/\"\ndone\n"
        );
    }

    #[test]
    fn also_offers_to_read_the_listing_line_by_line() {
        let text = "for f in $(ls in/*.txt); do\n  cp $f out/\ndone\n";
        let case = TestCase::new("x.sh", text, TestScene::new().file("in/a b.txt", "x"))
            .fault(no_such("in/a"))
            .at(2);
        let candidates = case.ask(&NamesWithBlanks);
        assert_eq!(candidates.len(), 2);
        let after = candidates[1].proposal.changes[0].after.clone().unwrap();
        let expected = "while IFS= read -r f; do\n  cp \"$f\" out/\ndone < <(ls in/*.txt)\n";
        assert_eq!(String::from_utf8(after).unwrap(), expected);
    }

    #[test]
    fn quotes_the_names_of_other_loops() {
        let text = "for f in in/*; do\n  gzip -c $f > out/${f##*/}.gz\ndone\nopts='-a -b'\ntar $opts x\n";
        let case =
            TestCase::new("x.sh", text, TestScene::new().file("in/a b", "x")).fault(no_such("in/a")).at(2);
        let healed = case.healed(&NamesWithBlanks);
        assert!(
            healed.contains("gzip -c \"$f\" > \"out/${f##*/}.gz\"") && healed.contains("tar $opts x"),
            "{healed}"
        );
        let text = "for f in $(ls in); do\n  cp in/$f out/\ndone\n";
        let case =
            TestCase::new("x.sh", text, TestScene::new().file("in/a b", "x")).fault(no_such("in/a")).at(2);
        let healed = case.healed(&NamesWithBlanks);
        assert!(
            healed.starts_with("for f in in/*; do\n  [ -e \"$f\" ]")
                && healed.contains("  f=${f##*/}\n  cp \"in/$f\" out/"),
            "{healed}"
        );
    }

    #[test]
    fn reads_found_names_whole() {
        let text = "for f in $(find in -name '*.txt'); do\n  cp $f out/\ndone\n";
        let case = TestCase::new("x.sh", text, TestScene::new().file("in/a b.txt", "x"))
            .fault(no_such("in/a"))
            .at(2);
        assert_eq!(
            case.healed(&NamesWithBlanks),
            "while IFS= read -r -d '' f; do\n  cp \"$f\" out/\ndone < <(find in -name '*.txt' -print0)\n"
        );
    }

    #[test]
    fn ends_names_for_xargs_with_a_zero_byte() {
        let ask = |text: &str| {
            let message = "xargs: unmatched quote; by default quotes are special to xargs";
            let fault = Fault::BadValue { value: Some("single".into()), message: message.into() };
            TestCase::new("x.sh", text, TestScene::new()).fault(fault).at(1)
        };
        assert_eq!(
            ask("find in -type f | sort | xargs tar -rf x.tar\n").healed(&NamesWithBlanks),
            "find in -type f -print0 | sort -z | xargs -0 tar -rf x.tar\n"
        );
        assert_eq!(
            ask("ls in | xargs -n1 echo\n").healed(&NamesWithBlanks),
            "ls in | xargs -d '\\n' -n1 echo\n"
        );
        assert_eq!(
            ask("find a -name x -o -name y | xargs rm\n").healed(&NamesWithBlanks),
            "find a -name x -o -name y | xargs -d '\\n' rm\n"
        );
        assert!(ask("cat words | xargs echo\nfind a -print0 | xargs -0 rm\n").silent(&NamesWithBlanks));
    }

    #[test]
    fn keeps_the_arguments_of_the_script_whole() {
        let text = "for f in $*; do\n  cp $f to/\ndone\n";
        let case = TestCase::new("x.sh", text, TestScene::new().file("in/a b.txt", "x"))
            .fault(no_such("in/a"))
            .at(2);
        assert_eq!(case.healed(&NamesWithBlanks), "for f in \"$@\"; do\n  cp \"$f\" to/\ndone\n");
        let case = TestCase::new("x.sh", "gzip -k $@\n", TestScene::new().file("in/a b.txt", "x"))
            .fault(no_such("in/a"))
            .at(1);
        assert_eq!(case.healed(&NamesWithBlanks), "gzip -k \"$@\"\n");
    }

    #[test]
    fn quotes_targets_that_are_made_by_a_substitution() {
        let text = "for f in in/*; do\n  head -c 3 $f > to/$(basename $f .txt).h\n  cp $f to/$(basename $f)*\ndone\n";
        let case = TestCase::new("x.sh", text, TestScene::new().file("in/a b.txt", "x"))
            .fault(no_such("in/a"))
            .at(2);
        let healed = case.healed(&NamesWithBlanks);
        assert!(
            healed.contains("head -c 3 \"$f\" > \"to/$(basename \"$f\" .txt).h\"\n")
                && healed.contains("to/$(basename \"$f\")*"),
            "{healed}"
        );
    }

    #[test]
    fn leaves_other_missing_files_alone() {
        let case =
            TestCase::new("x.sh", "cp $a b\n", TestScene::new().file("in/ab", "x")).fault(no_such("in/a"));
        assert!(case.silent(&NamesWithBlanks));
    }
}
