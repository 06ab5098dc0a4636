//! Commands under another name: aliases, copies and links of programs, and scripts of services.

use super::argv::Arg;
use super::{Stdin, Walk};

/// Folders that hold the scripts of services: `/etc/init.d/NAME stop` is `service NAME stop`.
const SERVICES: &[&str] = &["/etc/init.d/", "/etc/rc.d/init.d/", "/etc/rc.d/", "/usr/local/etc/rc.d/"];

/// Folders of programs.
const PROGRAMS: &[&str] = &["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"];

/// How many names are kept.
const MAX_NAMES: usize = 128;

/// Judges a command by what its name stands for; `false` when it stands for itself.
pub fn judge(walk: &mut Walk<'_>, name: &Arg, arguments: &[Arg], stdin: &Stdin, line: u32) -> bool {
    let Some(known) = name.known() else { return false };
    if let Some(service) = SERVICES.iter().find_map(|folder| known.strip_prefix(folder)) {
        let mut list = vec![Arg::text("service"), Arg::text(service)];
        list.extend(arguments.iter().cloned());
        walk.judge(&list, stdin, line);
        return true;
    }
    let base = known.rsplit('/').next().unwrap_or(&known);
    // An alias may begin with its own name: it is taken away while its text is judged.
    let Some(text) = walk.aliases.remove(base) else { return false };
    let words = arguments.iter().map(|arg| match arg.known() {
        Some(word) => format!("'{}'", word.replace('\'', "'\\''")),
        None => "\"$argument_of_an_alias\"".to_owned(),
    });
    let whole = std::iter::once(text.clone()).chain(words).collect::<Vec<_>>().join(" ");
    walk.text(&whole, stdin, Some(line));
    walk.aliases.insert(base.to_owned(), text);
    true
}

/// Remembers what an alias, a copy or a link of a program stands for.
pub fn remember(walk: &mut Walk<'_>, name: &str, arguments: &[Arg]) {
    let words: Vec<String> = arguments.iter().map(Arg::spelled).collect();
    let new: Vec<(String, String)> = match name {
        "alias" => words
            .iter()
            .filter_map(|word| word.split_once('='))
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .collect(),
        "hash" => match words.as_slice() {
            [option, path, name] if option == "-p" => vec![(name.clone(), path.clone())],
            _ => Vec::new(),
        },
        "cp" | "ln" | "install" | "mv" => {
            let operands: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
            match operands.as_slice() {
                [program, target] if PROGRAMS.iter().any(|folder| program.starts_with(folder)) => {
                    let base = target.rsplit('/').next().unwrap_or(target);
                    vec![(base.to_owned(), (*program).clone())]
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    };
    for (name, text) in new.into_iter().filter(|(name, _)| !name.is_empty()) {
        if walk.aliases.len() < MAX_NAMES && !text.contains('\u{1}') {
            walk.aliases.insert(name, text);
        }
    }
}
