//! Characters that mean something where they should not: a `$` in a text of a here-document, a comma before a closing bracket, a
//! tab before a key.

use selfheal_core::fault::Fault;

use super::Offer;
use super::near::Near;
use crate::case::{Case, ScriptFile};
use crate::text;

pub(super) fn offers(case: &Case, near: &Near) -> Vec<Offer> {
    let mut out: Vec<Offer> = Vec::new();
    for fault in case.faults() {
        if let Fault::UnsetVariable { name } = fault {
            out.extend(
                near.editable
                    .iter()
                    .filter(|file| file.language.is_shell())
                    .filter_map(|file| taken_literally(file, name)),
            );
        }
    }
    if case.report.core_error.contains("\\t") || case.report.core_error.contains("tab") {
        let settings = near.editable.iter().filter(|file| is_yaml(file));
        out.extend(settings.filter_map(without_tabs));
    }
    if case.report.core_error.contains("JSON") || case.report.core_error.contains("Unexpected token") {
        let named = |name: &str| near.editable.iter().any(|file| file.text.contains(name));
        let files = near.files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "json"));
        let files = files.filter(|path| path.file_name().is_some_and(|name| named(&name.to_string_lossy())));
        out.extend(files.filter_map(|path| case.file(path)).filter_map(|file| without_last_comma(&file)));
    }
    out
}

/// The lines of a here-document that have a `$` before a name which nothing sets: what stands there is text.
fn taken_literally(file: &ScriptFile, name: &str) -> Option<Offer> {
    let sign = format!("${name}");
    let line = file.text.lines().find(|line| line.contains(&sign))?;
    let at = file.text.lines().position(|other| other == line)?;
    let inside = file.text.lines().take(at).any(|line| line.contains("<<")) && !line.contains(['"', '=']);
    let sets = |name: &str| {
        file.text.lines().any(|line| {
            let line = line.trim_start().trim_start_matches("export ").trim_start_matches("local ");
            line.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))
                || line.starts_with(&format!("for {name} "))
                || line.contains(&format!("read -r {name}"))
        })
    };
    let mut new = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('$') {
        let (before, behind) = rest.split_at(at);
        let word: String = behind.chars().skip(1).take_while(|c| text::is_name(*c)).collect();
        new.push_str(before);
        let literal = !word.is_empty() && !before.ends_with('\\') && !sets(&word);
        new.push_str(if literal { "\\$" } else { "$" });
        rest = behind.get(1..).unwrap_or_default();
    }
    new.push_str(rest);
    (inside && new != line).then(|| {
        Offer::new(
            file,
            file.text.replacen(line, &new, 1),
            format!("${name} is meant as text, and is taken for a variable"),
        )
    })
}

fn is_yaml(file: &ScriptFile) -> bool {
    file.path.extension().is_some_and(|ending| ending == "yml" || ending == "yaml")
}

/// Tabs before keys, as deep as the line before.
fn without_tabs(file: &ScriptFile) -> Option<Offer> {
    let mut depth = 0;
    let edits = text::edits_by_line(&file.text, |_, line| {
        let bare = line.trim_start();
        let before = line.len() - bare.len();
        if !line.get(..before).is_some_and(|indent| indent.contains('\t')) {
            depth = if bare.is_empty() || bare.starts_with('#') { depth } else { before };
            return None;
        }
        Some(format!("{}{bare}", " ".repeat(depth)))
    });
    let after = selfheal_core::edit::apply(&file.text, &edits).ok().filter(|_| !edits.is_empty())?;
    Some(Offer::new(file, after, "a tab stands before a key"))
}

/// JSON that is read without the commas before closing brackets, and not with them.
fn without_last_comma(file: &ScriptFile) -> Option<Offer> {
    if serde_json::from_str::<serde::de::IgnoredAny>(&file.text).is_ok() {
        return None;
    }
    let mut after = String::with_capacity(file.text.len());
    let mut comma: Option<usize> = None;
    let (mut inside, mut escaped) = (false, false);
    for c in file.text.chars() {
        if !inside
            && matches!(c, ']' | '}')
            && let Some(at) = comma
        {
            after.remove(at);
        }
        if !c.is_whitespace() || inside {
            comma = (c == ',' && !inside).then_some(after.len());
        }
        if c == '"' && !escaped {
            inside = !inside;
        }
        escaped = inside && c == '\\' && !escaped;
        after.push(c);
    }
    let sound = serde_json::from_str::<serde::de::IgnoredAny>(&after).is_ok();
    sound
        .then(|| Offer::new(file, after, "a comma stands before a closing bracket, which JSON does not have"))
}
