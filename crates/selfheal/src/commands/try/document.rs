//! What `try --json FILE` writes. A path that is no text has its bytes beside it, as hexadecimal digits.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use selfheal_core::ports::BoxedRun;
use selfheal_exec::commit::Draft;
use serde::Serialize;

use super::rows::{Row, Rows};
use crate::cli::TryArgs;
use crate::command_error::CommandError;
use crate::commands::print;
use crate::context::Context;
use crate::document::write_json;

/// The version of this form; it grows when a field changes its meaning or goes.
const VERSION: u32 = 1;

/// What happened in one `selfheal try`.
#[derive(Debug, Default, Serialize)]
pub(super) struct TryDocument {
    version: u32,
    /// `committed`, `kept`, `thrown_away`, `refused`, or of what is kept `kept`, `committed`, `undone`.
    status: String,
    /// The identity under which it can be put in place or taken back.
    id: Option<String>,
    /// The command, redacted.
    command: String,
    /// The exit code of the command.
    exit_code: Option<i32>,
    duration_ms: Option<u64>,
    rung: Option<String>,
    /// Why the box, and not the command, may be the reason for how it ended.
    inconclusive: Option<String>,
    /// How often it tried to reach a network that the box does not have.
    network_tries: u64,
    /// Why it was refused.
    reasons: Vec<String>,
    effects: Vec<EffectRow>,
}

#[derive(Debug, Serialize)]
struct EffectRow {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
    change: selfheal_core::effects::Change,
    size_before: Option<u64>,
    size: Option<u64>,
    /// `not_a_file`, `several_names`, `rights_left_out`.
    remark: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

impl EffectRow {
    fn of(row: &Row) -> Self {
        let (path, path_bytes) = both(&row.path);
        Self {
            path,
            path_bytes,
            change: row.change,
            size_before: row.before,
            size: row.after,
            remark: row.remark.map(selfheal_exec::commit::Remark::word),
            diff: row.diff.clone(),
        }
    }
}

fn both(path: &Path) -> (String, Option<String>) {
    let bytes = path.as_os_str().as_bytes();
    let hex = || bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    (path.to_string_lossy().into_owned(), path.to_str().is_none().then(hex))
}

impl TryDocument {
    /// Of a run.
    pub(super) fn of(context: &Context, args: &TryArgs, rows: &Rows, run: &BoxedRun) -> Self {
        let command = crate::driver_command_line(&args.command);
        Self {
            version: VERSION,
            command: context.redactor().text(&command).as_str().to_owned(),
            exit_code: Some(run.run.ended.code()),
            duration_ms: Some(run.run.duration_ms),
            rung: Some(run.rung.clone()),
            inconclusive: run.inconclusive.clone(),
            network_tries: run.network_tries,
            effects: rows.rows.iter().map(EffectRow::of).collect(),
            ..Self::default()
        }
    }

    /// Of what an earlier run left.
    pub(super) fn again(rows: &Rows, draft: &Draft) -> Self {
        Self {
            version: VERSION,
            status: draft.state.word().to_owned(),
            id: Some(draft.id.clone()),
            command: draft.command.clone(),
            effects: rows.rows.iter().map(EffectRow::of).collect(),
            ..Self::default()
        }
    }

    /// How it ended.
    pub(super) fn end(&mut self, status: &str, reason: Option<&str>) {
        status.clone_into(&mut self.status);
        self.reasons.extend(reason.map(str::to_owned));
    }

    /// It is in place.
    pub(super) fn committed(&mut self, draft: &Draft) {
        self.end("committed", None);
        self.kept_as(draft);
    }

    /// It is kept.
    pub(super) fn kept(&mut self, draft: &Draft) {
        self.end("kept", None);
        self.kept_as(draft);
    }

    /// What it is kept under, however it ended.
    pub(super) fn kept_as(&mut self, draft: &Draft) {
        self.id = Some(draft.id.clone());
    }

    /// Writes it where it is wanted: to a file, or with `-` to standard output.
    pub(super) fn write(&self, args: &TryArgs) -> Result<(), CommandError> {
        let Some(file) = &args.json else { return Ok(()) };
        if file == Path::new("-") {
            let text = serde_json::to_string_pretty(self)
                .map_err(|error| CommandError::new("failed to write JSON").because(&error))?;
            print(&format!("{text}\n"));
            return Ok(());
        }
        write_json(self, file)
    }
}
