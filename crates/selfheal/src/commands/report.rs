//! `selfheal report`: what happened in some days, for a terminal, as Markdown, or as HTML with charts.

use std::io::Write;
use std::path::Path;

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::{Clock, Entry, Ledger, Message, Outbox};
use selfheal_store::Store;
use serde_json::json;

use super::{Ended, print};
use crate::cli::{ReportArgs, ReportFormat};
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use crate::report::{gather, html, html_mail, markdown, terminal};
use crate::terminal::Paint;

/// A week, in milliseconds.
const WEEK_MS: i64 = 7 * 86_400_000;
/// The ledger's word for a report that was sent.
const SENT: &str = "report_sent";

/// Prints the report, or writes it into a file.
///
/// # Errors
/// When the store cannot be read, or the file not written.
pub fn run(context: &Context, args: &ReportArgs) -> Ended {
    let store = context.store()?;
    let since = Timestamp(context.clock.now().0 - args.since);
    let week = gather(context, &store, since)?;
    let texts = context.texts();
    let colour = context.terminal.output && context.terminal.colour && args.output.is_none();
    let text = match args.format {
        ReportFormat::Terminal => terminal(&week, &texts, Paint::new(colour)),
        ReportFormat::Markdown => markdown(&week, &texts),
        ReportFormat::Html => html(&week, &texts),
    };
    match &args.output {
        Some(file) => write(&context.cwd.join(file), &text)?,
        None => print(&text),
    }
    Ok(exit_code::OK)
}

/// Whole or not at all.
fn write(file: &Path, text: &str) -> Result<(), CommandError> {
    let failed = |error: &dyn std::error::Error| {
        CommandError::new(format!("failed to write {}", file.display())).because(error)
    };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut fresh = tempfile::NamedTempFile::new_in(folder).map_err(|error| failed(&error))?;
    fresh.write_all(text.as_bytes()).map_err(|error| failed(&error))?;
    fresh.persist(file).map_err(|error| failed(&error))?;
    Ok(())
}

/// Puts the report of the week into the outbox, once a week, where the settings want that. The first one comes a week after
/// the first look.
///
/// # Errors
/// When the store cannot be used.
pub fn send_weekly(context: &Context, store: &Store) -> Result<(), CommandError> {
    if context.settings.notify.weekly != Some(true) {
        return Ok(());
    }
    let now = context.clock.now();
    let last = store.last_record(SENT)?;
    if last.is_some_and(|last| now.0 - last.0 < WEEK_MS) {
        return Ok(());
    }
    let redactor = context.redactor();
    let body = redactor.json(&json!({ "first": last.is_none() })).unwrap_or_default();
    if last.is_some() {
        let texts = context.message_texts();
        let week = gather(context, store, Timestamp(now.0 - WEEK_MS))?;
        let text = terminal(&week, &texts, Paint::new(false));
        let subject = text.lines().next().unwrap_or_default().to_owned();
        store.put(&Message {
            at: now,
            subject: redactor.text(&subject),
            text: redactor.text(&text),
            html: Some(redactor.text(&html_mail(&week, &texts))),
            incident: None,
        })?;
    }
    Ok(store.append(&[Entry { at: now, kind: SENT.to_owned(), incident: None, body }])?)
}
