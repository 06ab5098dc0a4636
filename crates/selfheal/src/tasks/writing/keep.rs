//! What is kept of a script that was written: the need, the text, the proof, and where it stands.

use std::path::PathBuf;

use selfheal_core::ids::Timestamp;
use selfheal_core::ports::{Clock, Entry, Ledger};
use serde::{Deserialize, Serialize};

use super::Written;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::tasks::keep;

/// Where a script stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It waits for a person.
    Waits,
    /// It may be run.
    Kept,
}

/// A script that was written, with its need and its proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its name here.
    pub id: String,
    /// What was needed.
    pub need: String,
    /// The language.
    pub language: String,
    /// Where it runs.
    pub folder: PathBuf,
    /// When it was written.
    pub at: Timestamp,
    /// Where it stands.
    pub standing: Standing,
    /// The text and what was seen of it.
    pub written: Written,
}

fn folder(context: &Context) -> PathBuf {
    keep::root(context).join("written")
}

impl Record {
    /// Reads one, by its name or the end of it.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(context: &Context, id: &str) -> Result<Self, CommandError> {
        let entries = std::fs::read_dir(folder(context)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut fits = names.filter(|name| name.strip_suffix(".json").is_some_and(|name| name.ends_with(id)));
        let missing = || CommandError::new(format!("there is no written script {id}"));
        let name = fits.next().filter(|_| id.len() >= 4).ok_or_else(missing)?;
        if fits.next().is_some() {
            return Err(CommandError::new(format!("several written scripts end with {id}")));
        }
        let text = std::fs::read(folder(context).join(name)).map_err(|_| missing())?;
        serde_json::from_slice(&text).map_err(|error| missing().because(&error))
    }

    /// Stores it, and says so in the ledger.
    ///
    /// # Errors
    /// When it cannot be stored.
    pub fn store(&self, context: &Context) -> Result<(), CommandError> {
        let fail =
            |error: &dyn std::error::Error| CommandError::new("failed to keep the script").because(error);
        keep::private_folder(&folder(context)).map_err(|error| fail(&error))?;
        let text = serde_json::to_vec_pretty(self).map_err(|error| fail(&error))?;
        let path = folder(context).join(format!("{}.json", self.id));
        keep::replace(&path, &text).map_err(|error| fail(&error))?;
        let kind = match self.standing {
            Standing::Waits => "script_written",
            Standing::Kept => "script_kept",
        };
        let details = serde_json::json!({
            "script": self.id, "need": self.need, "model": self.written.model, "danger": self.written.danger,
            "digest": crate::tasks::read::digest(&self.written.script), "effects": self.written.effects,
        });
        let body = context.redactor().json(&details).map_err(|error| fail(&error))?;
        let entry = Entry { at: context.clock.now(), kind: kind.to_owned(), incident: None, body };
        Ok(context.store()?.append(&[entry])?)
    }

    /// What people look at before they decide.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut out = format!("need: {}\n\n{}\n", self.need, self.written.script.trim_end());
        let mut list = |title: &str, lines: &[String]| {
            if !lines.is_empty() {
                out.push_str(&format!("\n{title}:\n"));
                lines.iter().for_each(|line| out.push_str(&format!("  {line}\n")));
            }
        };
        list("what it does", std::slice::from_ref(&self.written.summary));
        let nothing = ["nothing".to_owned()];
        let effects = &self.written.effects;
        list("what it did to files in a box", if effects.is_empty() { &nothing } else { effects });
        list("what the guard says", &self.written.findings);
        list("what the trial does not show", self.written.doubt.as_slice());
        let lines: Vec<String> = self.written.said.lines().map(str::to_owned).collect();
        list("what it printed", &lines);
        out.lines().map(|line| crate::terminal::clean(line) + "\n").collect()
    }
}
