//! `selfheal memory`: what selfheal has learnt, to look at, drop, take elsewhere and bring along.

use std::io::Read;
use std::path::Path;

use selfheal_core::ports::{Clock, Memory, Remembered};
use selfheal_store::Store;

use super::{Ended, print};
use crate::cli::{MemoryArgs, MemoryCommand};
use crate::clock::local_time;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::driver::imported;
use crate::exit_code;
use crate::terminal::clean;

/// The largest file that is imported, in bytes.
const LARGEST: u64 = 8 << 20;
/// The most entries of one file.
const MOST: usize = 1_000;
/// The most edits of an entry, and the longest text of one.
const MOST_EDITS: usize = 100;
const LONGEST: usize = 64 << 10;

/// Does what is asked with the memory.
///
/// # Errors
/// When the store cannot be read or written, there is no such entry, or a file is not an export.
pub fn run(context: &Context, args: &MemoryArgs) -> Ended {
    let store = context.store()?;
    match &args.command {
        MemoryCommand::List { json } => list(context, &store, *json),
        MemoryCommand::Show { id } => show(context, &find(&store, id)?),
        MemoryCommand::Forget { id } => {
            let entry = find(&store, id)?;
            store.forget(&entry.entry)?;
            print(&format!("{}\n", context.texts().say("memory-forgotten", &[("id", short(&entry.entry))])));
            Ok(exit_code::OK)
        }
        MemoryCommand::Export => {
            store
                .memories()?
                .iter()
                .try_for_each(|entry| json(entry).map(|line| print(&format!("{line}\n"))))?;
            Ok(exit_code::OK)
        }
        MemoryCommand::Import { file } => import(context, &store, file),
    }
}

fn list(context: &Context, store: &Store, as_json: bool) -> Ended {
    let entries = store.memories()?;
    if as_json {
        let text = serde_json::to_string_pretty(&entries)
            .map_err(|error| CommandError::new("failed to write JSON").because(&error))?;
        print(&format!("{text}\n"));
        return Ok(exit_code::OK);
    }
    if entries.is_empty() {
        print(&format!("{}\n", context.texts().say("memory-none", &[])));
    }
    for entry in &entries {
        print(&format!(
            "{}  {}  {}\n    {}\n",
            short(&entry.entry),
            clean(entry.signature.as_str()),
            clean(&entry.summary),
            standing(context, entry)
        ));
    }
    Ok(exit_code::OK)
}

/// Wins, losses and age in words, with the reason why it is not used any more.
fn standing(context: &Context, entry: &Remembered) -> String {
    let texts = context.texts();
    let (wins, losses) = (entry.wins.to_string(), entry.losses.to_string());
    let when = local_time(entry.conditions.learnt);
    let line = texts.say("memory-line", &[("wins", &wins), ("losses", &losses), ("when", &when)]);
    match &entry.conditions.expired {
        Some(why) => format!("{line}; {}", texts.say("memory-expired", &[("why", &clean(why))])),
        None => line,
    }
}

fn show(context: &Context, entry: &Remembered) -> Ended {
    print(&format!(
        "{}\n{}\n{}\n{}\n",
        entry.entry,
        clean(entry.signature.as_str()),
        clean(&entry.script.display().to_string()),
        clean(&entry.summary)
    ));
    print(&format!("{}\n", standing(context, entry)));
    for (old, new) in &entry.edits {
        let lines = |text: &str, mark: char| {
            text.lines().map(|line| format!("{mark}{}\n", clean(line))).collect::<String>()
        };
        print(&format!("\n{}{}", lines(old, '-'), lines(new, '+')));
    }
    Ok(exit_code::OK)
}

/// The entry that a name, or its end, means.
fn find(store: &Store, id: &str) -> Result<Remembered, CommandError> {
    let mut found: Vec<Remembered> =
        store.memories()?.into_iter().filter(|entry| !id.is_empty() && entry.entry.ends_with(id)).collect();
    match (found.pop(), found.is_empty()) {
        (Some(entry), true) => Ok(entry),
        (Some(_), false) => Err(CommandError::usage(format!("several remembered repairs end with {id}"))
            .hint("give more of the name")),
        (None, _) => {
            Err(CommandError::new(format!("there is no remembered repair {id}")).hint("selfheal memory list"))
        }
    }
}

fn short(entry: &str) -> &str {
    entry.get(entry.len().saturating_sub(8)..).unwrap_or(entry)
}

fn json(entry: &Remembered) -> Result<String, CommandError> {
    serde_json::to_string(entry).map_err(|error| CommandError::new("failed to write JSON").because(&error))
}

fn import(context: &Context, store: &Store, file: &Path) -> Ended {
    let fail = |what: String| {
        CommandError::usage(format!("{}: {what}", file.display()))
            .hint("make it with: selfheal memory export")
    };
    let mut text = String::new();
    std::fs::File::open(file)
        .and_then(|open| open.take(LARGEST).read_to_string(&mut text))
        .map_err(|error| CommandError::new(format!("failed to read {}", file.display())).because(&error))?;
    let lines = text.lines().zip(1_u32..).filter(|(line, _)| !line.trim().is_empty()).take(MOST);
    let mut entries = Vec::new();
    // All are read first: a file that is wrong somewhere changes nothing.
    for (line, number) in lines {
        let entry: Remembered = serde_json::from_str(line)
            .map_err(|error| fail(format!("line {number} is no remembered repair: {error}")))?;
        let small = entry.edits.len() <= MOST_EDITS
            && entry.edits.iter().all(|(old, new)| !old.is_empty() && old.len().max(new.len()) <= LONGEST);
        if entry.edits.is_empty() || !small {
            return Err(fail(format!("line {number} has no edits, or too large ones")));
        }
        entries.push(entry);
    }
    let known = store.memories()?;
    let fresh = |entry: &Remembered| {
        !known.iter().any(|other| {
            other.signature == entry.signature && other.edits == entry.edits && other.script == entry.script
        })
    };
    let mut taken = 0_u32;
    for entry in entries.into_iter().filter(fresh) {
        store.remember(&imported(entry, context.clock.fresh_id(), context.clock.now()))?;
        taken += 1;
    }
    print(&format!("{}\n", context.texts().say("memory-imported", &[("n", &taken.to_string())])));
    Ok(exit_code::OK)
}
