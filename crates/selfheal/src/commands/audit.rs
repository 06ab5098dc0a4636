//! `selfheal audit`: checks, shows and exports the tamper-evident record, and begins it anew when it is damaged.

use std::io::{Read, Write};
use std::path::Path;

use selfheal_core::ids::IncidentId;
use selfheal_core::ports::{Clock, Journal, Ledger};
use selfheal_store::{Anew, LedgerRecord, RecordFilter, Store};

use super::{Ended, export, print};
use crate::anchor;
use crate::cli::{AuditArgs, AuditCommand};
use crate::clock::local_time;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use crate::terminal::clean;

/// The most that is read of a log of heads, in bytes.
const LARGEST_LOG: u64 = 256 << 20;

/// Does what is asked with the record.
///
/// # Errors
/// When the record was tampered with, cannot be read, or cannot be written.
pub fn run(context: &Context, args: &AuditArgs) -> Ended {
    let store = context.store()?;
    match &args.command {
        AuditCommand::Verify { against } => verify(context, &store, against.as_deref()),
        AuditCommand::Show { incident, most } => show(&store, incident.as_deref(), *most),
        AuditCommand::Export { since } => {
            let since = export::since(context, since.as_deref())?;
            export_records(&store, &RecordFilter { since, ..RecordFilter::default() })
        }
        AuditCommand::Reset { reason } => reset(context, &store, reason),
    }
}

/// Checks the whole chain against its anchor, and against what was sent elsewhere.
fn verify(context: &Context, store: &Store, against: Option<&Path>) -> Ended {
    let texts = context.texts();
    let check = store.verify()?;
    if let Some((record, how)) = check.broken {
        let error = CommandError::new(format!("record {record} of {} is wrong: {how}", check.records));
        return Err(CommandError { code: exit_code::TAMPERED, ..error }
            .hint("what stands before it is whole; compare with a copy kept elsewhere")
            .hint("when you know why: selfheal audit reset --reason TEXT begins a new one"));
    }
    if let Some(path) = against {
        compare(context, store, path)?;
    }
    print(&format!("{}\n", texts.say("audit-good", &[("n", &check.records.to_string())])));
    for note in &check.notes {
        print(&format!("{note}\n"));
    }
    let sent = store.send_head().map_err(CommandError::from);
    for error in [sent, anchor::give(context, store, anchor::PATIENT)].into_iter().filter_map(Result::err) {
        print(&format!("{}\n", error.one_line()));
    }
    Ok(exit_code::OK)
}

fn compare(context: &Context, store: &Store, path: &Path) -> Result<(), CommandError> {
    let log = read(path)
        .map_err(|error| CommandError::new(format!("failed to read {}", path.display())).because(&error))?;
    let compared = store.compare_heads(log.lines())?;
    if let Some(record) = compared.differs {
        let what = format!("record {record} is not the one whose hash stands in {}", path.display());
        return Err(CommandError { code: exit_code::TAMPERED, ..CommandError::new(what) });
    }
    let values = [("n", compared.agree.to_string()), ("others", compared.others.to_string())];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    print(&format!("{}\n", context.texts().say("audit-compared", &values)));
    Ok(())
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(LARGEST_LOG).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(path)?.take(LARGEST_LOG).read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn show(store: &Store, incident: Option<&str>, most: usize) -> Ended {
    let incident = incident.map(|id| store.incident(id).map(|incident| incident.id)).transpose()?;
    let filter = RecordFilter { incident, newest: Some(most), ..RecordFilter::default() };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut written = Ok(());
    store.ledger_records(&filter, &mut |record| {
        written = writeln!(out, "{}", line_of(record));
        written.is_ok()
    })?;
    export::done(written.and_then(|()| out.flush()))
}

/// A record on one line.
fn line_of(record: &LedgerRecord) -> String {
    let incident = record.incident.clone().map(IncidentId::new);
    let short = incident.as_ref().map_or("-", IncidentId::short);
    let body = record.body.as_deref().unwrap_or("(dropped by gc)");
    let (seq, at, kind) = (record.seq, local_time(record.at), clean(&record.kind));
    format!("{seq:>6}  {at}  {kind:<14} {short:<8}  {}", clean(body))
}

fn export_records(store: &Store, filter: &RecordFilter) -> Ended {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut written = Ok(());
    store.ledger_records(filter, &mut |record| {
        let line = serde_json::to_string(record).map_err(std::io::Error::from);
        written = line.and_then(|line| writeln!(out, "{line}"));
        written.is_ok()
    })?;
    export::done(written.and_then(|()| out.flush()))
}

fn reset(context: &Context, store: &Store, reason: &str) -> Ended {
    if reason.trim().is_empty() {
        return Err(CommandError::usage("the reason is empty").hint("say in your words what happened"));
    }
    let reason = context.redactor().text(reason);
    let aside = store.begin_ledger_anew(&Anew { at: context.clock.now(), reason, uid: context.uid })?;
    let shown = aside.display().to_string();
    print(&format!("{}\n", context.texts().say("audit-reset", &[("file", &shown)])));
    Ok(exit_code::OK)
}
