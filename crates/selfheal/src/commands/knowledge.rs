//! `selfheal knowledge`: the documents that a model is told of when a job fails.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use selfheal_core::knowledge::{Document, Piece};
use selfheal_core::ports::{Clock, Entry, Knowledge, Ledger};
use selfheal_repair::knowledge::{Query, rank};
use selfheal_store::{KnowledgeIndex, KnowledgeSource, KnowledgeSources, Store};
use serde_json::json;

use super::{Ended, print};
use crate::cli::{KnowledgeArgs, KnowledgeCommand, KnowledgeKind};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use crate::knowledge::{Place, beside, indexed, resolved, where_from};
use crate::terminal::clean;

/// Pieces that the index is asked for, before they are ranked with others.
const FROM_INDEX: usize = 100;

/// Does what is asked with the knowledge.
///
/// # Errors
/// When the store or the index cannot be used, or there is no such file or folder.
pub fn run(context: &Context, args: &KnowledgeArgs) -> Ended {
    let store = context.store()?;
    match &args.command {
        KnowledgeCommand::Add { path, kind } => add(context, &store, path, *kind),
        KnowledgeCommand::List { documents, json } => list(context, &store, *documents, *json),
        KnowledgeCommand::Search { words, near, most, json } => {
            let pieces = search(context, &store, &words.join(" "), near.as_deref(), *most)?;
            show(context, &pieces, *json)
        }
        KnowledgeCommand::Refresh { all } => {
            if *all {
                KnowledgeIndex::discard(store.root())?;
            }
            refresh(context, &store)
        }
        KnowledgeCommand::Remove { path } => remove(context, &store, path),
    }
}

fn add(context: &Context, store: &Store, path: &Path, kind: Option<KnowledgeKind>) -> Ended {
    let fail = |error: &dyn std::error::Error| {
        CommandError::new(format!("failed to add {}", path.display())).because(error)
    };
    let path = resolved(&context.cwd, path).map_err(|error| fail(&error))?;
    if !path.is_dir() && !path.is_file() {
        return Err(CommandError::usage(format!("{}: it is no file and no folder", path.display())));
    }
    if path.parent().is_none() {
        return Err(
            CommandError::usage("the whole machine is too much").hint("name the folder with documents")
        );
    }
    KnowledgeSources::of(store.root()).add(KnowledgeSource {
        path: path.clone(),
        kind: kind.map(KnowledgeKind::kind),
        added: context.clock.now(),
    })?;
    record(context, store, "knowledge_added", &path)?;
    refresh(context, store)
}

fn remove(context: &Context, store: &Store, path: &Path) -> Ended {
    let sources = KnowledgeSources::of(store.root());
    // It may be gone, and then its name is all there is.
    let named = selfheal_core::scene::absolute(&context.cwd, path);
    let real = resolved(&context.cwd, path).unwrap_or_else(|_| named.clone());
    let Some(path) = [real, named].into_iter().find_map(|path| match sources.remove(&path) {
        Ok(true) => Some(Ok(path)),
        Ok(false) => None,
        Err(error) => Some(Err(error)),
    }) else {
        return Err(
            CommandError::new(format!("{} was not added", path.display())).hint("selfheal knowledge list")
        );
    };
    record(context, store, "knowledge_removed", &path?)?;
    refresh(context, store)
}

/// What was added and removed decides what a model sees: it is on record.
fn record(context: &Context, store: &Store, kind: &str, path: &Path) -> Result<(), CommandError> {
    let details = json!({ "path": path.display().to_string(), "by": context.uid });
    let body = context
        .redactor()
        .json(&details)
        .map_err(|error| CommandError::new("failed to write a ledger record").because(&error))?;
    store.append(&[Entry { at: context.clock.now(), kind: kind.to_owned(), incident: None, body }])?;
    Ok(())
}

fn refresh(context: &Context, store: &Store) -> Ended {
    let done = indexed::refresh(store.root(), &context.redactor(), None)?;
    let texts = context.texts();
    let said = |id: &str, n: usize| texts.say(id, &[("n", &n.to_string())]);
    print(&format!(
        "{}, {}, {}\n",
        said("knowledge-read", done.read),
        said("knowledge-same", done.same),
        said("knowledge-gone", done.gone)
    ));
    let left_out = [
        ("knowledge-binary", done.binary),
        ("knowledge-secret", done.secret),
        ("knowledge-links", done.links),
        ("knowledge-special", done.special),
        ("knowledge-unreadable", done.unreadable),
        ("knowledge-beyond", done.beyond),
    ];
    let left_out: Vec<String> = left_out.iter().filter(|(_, n)| *n > 0).map(|(id, n)| said(id, *n)).collect();
    if !left_out.is_empty() {
        print(&format!("{}\n", texts.say("knowledge-left-out", &[("what", &left_out.join(", "))])));
    }
    if done.cut {
        print(&format!("{}\n", texts.say("knowledge-cut", &[])));
    }
    for path in &done.missing {
        let path = clean(&path.display().to_string());
        print(&format!("{}\n", texts.say("knowledge-missing", &[("path", &path)])));
    }
    Ok(exit_code::OK)
}

fn list(context: &Context, store: &Store, documents: bool, as_json: bool) -> Ended {
    let sources = KnowledgeSources::of(store.root()).all()?;
    let all =
        if sources.is_empty() { Vec::new() } else { KnowledgeIndex::open(store.root())?.documents()? };
    let mut of_source: BTreeMap<&Path, usize> = BTreeMap::new();
    for source in &sources {
        let count = all.iter().filter(|document| document.path.starts_with(&source.path)).count();
        of_source.insert(&source.path, count);
    }
    let count = |path: &Path| of_source.get(path).copied().unwrap_or(0);
    if as_json {
        let sources: Vec<serde_json::Value> = sources
            .iter()
            .map(|source| {
                json!({ "path": source.path.display().to_string(), "kind": source.kind, "added": source.added,
                        "documents": count(&source.path) })
            })
            .collect();
        let rows: Vec<serde_json::Value> = all.iter().map(row).collect();
        return print_json(&json!({ "sources": sources, "documents": rows }));
    }
    let texts = context.texts();
    if sources.is_empty() {
        print(&format!("{}\n", texts.say("knowledge-none", &[])));
    }
    for source in &sources {
        let n = texts.say("knowledge-documents", &[("n", &count(&source.path).to_string())]);
        let kind = source.kind.map(|kind| format!(", {}", kind.word())).unwrap_or_default();
        print(&format!("{}  {n}{kind}\n", clean(&source.path.display().to_string())));
    }
    for document in all.iter().filter(|_| documents) {
        let path = clean(&document.path.display().to_string());
        print(&format!("    {:<10} {:>8}  {path}\n", document.kind.word(), document.len));
    }
    Ok(exit_code::OK)
}

fn row(document: &Document) -> serde_json::Value {
    json!({ "path": document.path.display().to_string(), "kind": document.kind, "bytes": document.len,
            "hash": document.hash })
}

fn search(
    context: &Context,
    store: &Store,
    words: &str,
    near: Option<&Path>,
    most: usize,
) -> Result<Vec<Piece>, CommandError> {
    let redactor = context.redactor();
    let query = Query::words(words);
    let script: Option<PathBuf> = near.map(|path| context.cwd.join(path));
    let text = crate::driver::text_of(script.as_deref()).unwrap_or_default();
    let place = Place {
        store,
        redactor: &redactor,
        script: script.as_deref(),
        text: &text,
        cwd: &context.cwd,
        incident: None,
        data: true,
    };
    let mut pieces = indexed::found(&place, &query, FROM_INDEX)?;
    if script.is_some() {
        pieces.extend(beside(&place));
    }
    let folder = script.as_deref().and_then(Path::parent).unwrap_or(&context.cwd);
    let ranked = rank(&pieces, &query, folder);
    Ok(ranked.iter().take(most).filter_map(|one| pieces.get(one.at)).cloned().collect())
}

fn show(context: &Context, pieces: &[Piece], as_json: bool) -> Ended {
    if as_json {
        let rows: Vec<serde_json::Value> = pieces
            .iter()
            .map(|piece| {
                json!({ "path": piece.path.display().to_string(), "kind": piece.kind, "heading": piece.heading,
                        "first_line": piece.first_line, "last_line": piece.last_line, "text": piece.text })
            })
            .collect();
        return print_json(&json!(rows));
    }
    if pieces.is_empty() {
        print(&format!("{}\n", context.texts().say("knowledge-nothing-fits", &[])));
    }
    for piece in pieces {
        let heading = clean(piece.heading.as_str());
        let place = clean(&where_from(piece, &context.cwd));
        print(&format!("{place}  {}  {heading}\n", piece.kind.word()));
        for line in piece.text.as_str().lines() {
            print(&format!("    {}\n", clean(line)));
        }
    }
    Ok(exit_code::OK)
}

fn print_json(value: &serde_json::Value) -> Ended {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| CommandError::new("failed to write JSON").because(&error))?;
    print(&format!("{text}\n"));
    Ok(exit_code::OK)
}
