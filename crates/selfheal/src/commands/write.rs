//! `selfheal write`: a script from a stated need, judged and tried, and kept only when a person says so.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use selfheal_core::ports::Clock;

use super::{Ended, print, tell};
use crate::cli::WriteArgs;
use crate::command_error::CommandError;
use crate::context::Context;
use crate::exit_code;
use crate::tasks::writing::{self, Need, Record, Standing};

/// Writes one, shows one, or keeps one.
///
/// # Errors
/// When there is no model, no script does what is needed, or the file is there already.
pub fn run(context: &Context, args: &WriteArgs) -> Ended {
    if let Some(id) = &args.show {
        print(&Record::find(context, id)?.shown());
        return Ok(exit_code::OK);
    }
    if let Some(id) = &args.keep {
        return keep(context, Record::find(context, id)?, args.out.as_deref());
    }
    let Some(need) = args.need.as_deref().filter(|need| !need.trim().is_empty()) else {
        return Err(CommandError::usage("say what is needed")
            .hint("selfheal write \"archive logs older than 30 days\""));
    };
    let language = args.lang.word();
    let id = context.clock.fresh_id();
    let wanted = Need { need, language, folder: &context.cwd, outputs: &[], task: None };
    let record = Record {
        written: writing::write(context, &id, &wanted)?,
        id,
        need: need.to_owned(),
        language: language.to_owned(),
        folder: context.cwd.clone(),
        at: context.clock.now(),
        standing: Standing::Waits,
    };
    record.store(context)?;
    print(&record.shown());
    let texts = context.texts();
    if context.terminal.input && context.terminal.error && asked(&texts.say("write-ask", &[])) {
        return keep(context, record, args.out.as_deref());
    }
    let id = crate::drafts::short(&record.id);
    tell(&format!("selfheal: {}", texts.say("write-waits", &[("id", id)])));
    Ok(exit_code::HELD)
}

fn asked(question: &str) -> bool {
    let _ = write!(std::io::stderr().lock(), "selfheal: {question} [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes" | "是")
}

/// Keeps a script: where it belongs to a step of a task it may be run from now on, else it becomes a file that was not
/// there.
fn keep(context: &Context, mut record: Record, out: Option<&Path>) -> Ended {
    record.standing = Standing::Kept;
    let of_step = record.written.state_update.is_some();
    if !of_step || out.is_some() {
        let file = out.map_or_else(|| record.folder.join(name_of(&record)), |out| context.cwd.join(out));
        put(&file, &record.written.script).map_err(|error| {
            CommandError::new(format!("failed to write {}", file.display()))
                .because(&error)
                .hint("name another file with --out")
        })?;
        let shown = crate::terminal::shown_path(&file);
        print(&format!("{}\n", context.texts().say("write-kept", &[("path", &shown)])));
    } else {
        print(&format!("{}\n", context.texts().say("write-kept-step", &[])));
    }
    record.store(context)?;
    Ok(exit_code::OK)
}

fn put(file: &Path, text: &str) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut file = std::fs::File::options().write(true).create_new(true).mode(0o755).open(file)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// A file name out of the first words of the need.
fn name_of(record: &Record) -> PathBuf {
    let words = record.need.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = words.take(4).collect::<Vec<_>>().join("-").to_lowercase();
    name.truncate(40);
    let ending = if record.language == "python" { "py" } else { "sh" };
    let name = if name.is_empty() { "script".to_owned() } else { name };
    PathBuf::from(format!("{name}.{ending}"))
}
