//! Edit, then approve: the repaired files in the person's editor, then admission and verification again. Only what passes
//! takes the place of the old repair, and nothing is applied by that.

use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use selfheal_core::incident::{Incident, StoredChange};
use selfheal_core::ports::{Clock, Journal, Snapshots};
use selfheal_core::verification::Verdict;
use selfheal_store::Store;
use serde_json::json;

use crate::command_error::CommandError;
use crate::commands::approve::{open, taken};
use crate::commands::tell;
use crate::context::Context;
use crate::driver::{Again, Given, try_again};
use crate::driver_entry as entry;
use crate::texts::Texts;

/// Opens the repair of an incident in an editor and tries what comes of it; in words what became of it.
///
/// # Errors
/// When there is no repair, no editor, or it cannot be tried here.
pub(super) fn edit(
    context: &Context,
    store: &Store,
    texts: &Texts,
    id: &str,
) -> Result<String, CommandError> {
    let incident = open(context, store, id)?;
    let files = incident.rounds.last().map(|round| round.files.clone()).unwrap_or_default();
    let folder = tempfile::Builder::new()
        .prefix("selfheal-edit-")
        .tempdir()
        .map_err(|error| CommandError::new("failed to make a folder for the editor").because(&error))?;
    let edited = edited_files(context, store, &files, folder.path())?;
    let Some(edited) = edited else { return Ok(texts.say("review-not-edited", &[])) };
    tell(&format!("selfheal: {}", texts.say("review-trying", &[])));
    let again = try_again(context, store, texts, (&incident, edited))?;
    let said = match passed(&again) {
        true => keep(context, store, &incident, again).map(|()| texts.say("review-edit-passed", &[]))?,
        false => texts.say("review-edit-failed", &[("why", &why_not(&again))]),
    };
    wait_for_enter(texts, &said);
    Ok(said)
}

fn passed(again: &Again) -> bool {
    again.admitted && again.verdict == Verdict::Passed
}

/// Why an edited repair was not taken, in one sentence.
fn why_not(again: &Again) -> String {
    let round = again.incident.rounds.last();
    let finding = round
        .and_then(|round| round.admission.as_ref())
        .and_then(|judged| judged.findings.iter().max_by_key(|finding| finding.weight))
        .map(|finding| finding.why.clone());
    let failed = round.and_then(|round| round.verification.as_ref()).and_then(|shown| {
        let bad = |check: &&selfheal_core::verification::CheckResult| {
            use selfheal_core::verification::Showed;
            matches!(check.showed, Showed::Failed | Showed::Inconclusive)
        };
        shown.checks.iter().find(bad).map(|check| format!("{}: {}", check.title, check.why))
    });
    failed.filter(|_| again.admitted).or(finding).unwrap_or_default()
}

/// The edited repair takes the place of the old one, as a round of its own.
fn keep(context: &Context, store: &Store, before: &Incident, again: Again) -> Result<(), CommandError> {
    let (_lock, mut incident) = taken(context, store, before)?;
    let Some(mut round) = again.incident.rounds.last().cloned() else { return Ok(()) };
    round.number = u32::try_from(incident.rounds.len()).unwrap_or(u32::MAX).saturating_add(1);
    let files = round.files.clone();
    incident.rounds.push(round);
    incident.updated = context.clock.now();
    let details = json!({ "by": "person", "uid": context.uid, "files": files });
    Ok(store.store(&incident, &[entry(context, &incident, "edited", details)?])?)
}

/// The files as the person left them; `None` when nothing was changed.
fn edited_files(
    context: &Context,
    store: &Store,
    files: &[StoredChange],
    folder: &Path,
) -> Result<Option<Given>, CommandError> {
    let mut given = Vec::new();
    let mut changed = false;
    for (number, file) in files.iter().enumerate() {
        let Some(after) = &file.after else { continue };
        let before = store.load(after)?;
        let place = folder.join(number.to_string());
        let name = place.join(file.path.file_name().unwrap_or_default());
        std::fs::create_dir(&place)
            .and_then(|()| write(&name, &before))
            .map_err(|error| unusable(&name, &error))?;
        run_editor(context, &name)?;
        let content = std::fs::read(&name).map_err(|error| unusable(&name, &error))?;
        changed |= content != before;
        given.push((file.path.clone(), content, file.mode_after.or(file.mode_before).unwrap_or(0o644)));
    }
    Ok(if changed { Some(Given::of(given)) } else { None })
}

fn unusable(name: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(format!("failed to edit {}", name.display())).because(error)
}

fn write(name: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(name)?;
    file.write_all(content)
}

/// Runs the person's editor, which may have arguments: so everybody reads `VISUAL` and `EDITOR`.
fn run_editor(context: &Context, name: &PathBuf) -> Result<(), CommandError> {
    let editor = context.var("VISUAL").or_else(|| context.var("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let mut words: Vec<OsString> = vec!["-c".into(), format!("{editor} \"$1\"").into(), "sh".into()];
    words.push(name.into());
    let status = Command::new("sh")
        .args(words)
        .stdin(Stdio::inherit())
        .status()
        .map_err(|error| CommandError::new(format!("failed to start {editor}")).because(&error))?;
    if status.success() {
        return Ok(());
    }
    Err(CommandError::new(format!("the editor {editor} ended with {status}")).hint("set VISUAL or EDITOR"))
}

fn wait_for_enter(texts: &Texts, said: &str) {
    tell(&format!("selfheal: {}", crate::terminal::clean(said)));
    tell(&texts.say("review-enter", &[]));
    let mut line = String::new();
    // What is typed does not matter, nor that nothing could be.
    let _ = std::io::stdin().lock().read_line(&mut line);
}
